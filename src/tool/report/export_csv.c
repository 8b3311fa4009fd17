/* export_csv.c - --export-csv of a result directory. */
#include <inttypes.h>
#include <math.h>

#include "tool/report/export.h"
#include "tool/report/format.h"

static void put_text(FILE *out, const char *text)
{
    format_csv(out, text);
    fputc(',', out);
}

static void put_number(FILE *out, double value)
{
    if (isfinite(value))
        format_number(out, value);
    fputc(',', out);
}

/* 0, and more than anybody would run, are empty. */
static void put_count(FILE *out, uint32_t count)
{
    if (count > 0 && count < UINT32_MAX)
        fprintf(out, "%" PRIu32, count);
    fputc(',', out);
}

void export_rounds_text(FILE *out, const summary_row *row)
{
    for (size_t i = 0; i < row->n; i++) {
        fprintf(out, "%s%" PRIu32 ":", i > 0 ? " " : "", row->values[i].round);
        format_number(out, row->values[i].value);
    }
}

static void put_verdict(FILE *out, const verdict_metric *metric, const verdict *item)
{
    const abench_comparison *c = &item->result;

    put_number(out, c->ratio);
    put_number(out, c->low);
    put_number(out, c->high);
    put_text(out, abench_compared_name(c->verdict));
    put_number(out, metric->threshold);
    put_count(out, c->rounds);
    put_count(out, c->rounds_needed);
    put_count(out, item->has_rank ? item->rank_low : 0);
    put_count(out, item->has_rank ? item->rank_high : 0);
    put_number(out, item->cliff);
    put_number(out, item->has_drift ? item->drift : NAN);
}

static void put_row(FILE *out, const verdicts *v, const summary_row *row)
{
    const model *m = v->s->m;
    const verdict_metric *metric = verdicts_find(v, row->workload, row->metric);
    const verdict *item = metric == NULL || row->again ? NULL : verdict_of(metric, row->target);

    put_text(out, m->workloads[row->workload].label);
    put_text(out, row->target == MODEL_FLOOR ? "(floor)" : m->targets[row->target].name);
    fprintf(out, "%d,", row->again);
    put_text(out, row->metric);
    put_text(out, row->unit);
    put_text(out, export_direction(row->direction));
    fprintf(out, "%zu,", row->n);
    put_number(out, row->median);
    put_number(out, row->minimum);
    put_number(out, row->maximum);
    if (item != NULL) {
        put_verdict(out, metric, item);
    } else {
        put_number(out, row->ratios > 0 ? row->ratio : NAN);
        fputs(",,,,,,,,,,", out);
    }
    put_number(out, metric != NULL && metric->aa.count > 0 ? metric->aa.estimate : NAN);
    put_number(out, metric != NULL && metric->aa.count > 0 ? metric->aa.low : NAN);
    put_number(out, metric != NULL && metric->aa.count > 0 ? metric->aa.high : NAN);
    fprintf(out, "%s,", metric == NULL ? "" : metric->refused ? "1" : "0");
    export_rounds_text(out, row);
    fputc('\n', out);
}

void export_csv(const verdicts *v, FILE *out)
{
    fputs("workload,target,again,metric,unit,direction,n,median,minimum,maximum,ratio,ratio_low,"
          "ratio_high,verdict,threshold,rounds,rounds_needed,rank_low,rank_high,cliff,drift,"
          "aa_ratio,aa_low,aa_high,refused,values\n",
          out);
    for (size_t i = 0; i < v->s->count; i++)
        put_row(out, v, &v->s->rows[i]);
}
