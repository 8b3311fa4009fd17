#include "tool/report/data.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "tool/report/format.h"

#define FIELDS_MAX 64u /* of abench_memory, each a bit of its valid */

static const char *target_name(const model *m, size_t target)
{
    return target == MODEL_FLOOR ? "(floor)" : m->targets[target].name;
}

static const char *direction_name(uint32_t direction)
{
    return direction == ABENCH_DIRECTION_LOWER    ? "lower"
           : direction == ABENCH_DIRECTION_HIGHER ? "higher"
                                                  : "none";
}

static void put_tsv(FILE *out, const char *text)
{
    format_tsv(out, text);
    fputc('\t', out);
}

/* Where it ran. */
static const char *machine_of(const model *m, const model_cell *cell)
{
    return cell->place < m->places_count ? m->places[cell->place].name : m->host.hostname;
}

void data_raw(const model *m, FILE *out)
{
    fputs("workload\tround\ttarget\tagain\tmetric\tunit\tvalue\tfile\tmachine\n", out);
    for (size_t i = 0; i < m->cells_count; i++) {
        const model_cell *cell = &m->cells[i];
        for (size_t j = 0; j < cell->metrics_count; j++) {
            const model_metric *metric = &cell->metrics[j];
            put_tsv(out, m->workloads[cell->workload].label);
            fprintf(out, "%" PRIu32 "\t", cell->round);
            put_tsv(out, target_name(m, cell->target));
            fprintf(out, "%d\t", cell->again);
            put_tsv(out, metric->name);
            put_tsv(out, metric->unit);
            format_number(out, metric->value);
            fputc('\t', out);
            put_tsv(out, cell->file != NULL ? cell->file : "");
            format_tsv(out, machine_of(m, cell));
            fputc('\n', out);
        }
    }
}

/* Worked out, so not every bit of it means something. */
static void put_number(FILE *out, bool there, double value)
{
    if (there)
        fprintf(out, "%.15g", value);
    fputc('\t', out);
}

static void put_count(FILE *out, bool there, uint32_t count)
{
    if (there)
        fprintf(out, "%" PRIu32, count);
    fputc('\t', out);
}

/* From ratio to drift. judged and item may be NULL: then the ratio is the rounds' median. */
static void put_verdict(FILE *out, const summary_row *row, const verdict_metric *judged,
                        const verdict *item)
{
    const bool is_compared = item != NULL && item != &judged->base;
    const abench_comparison none = {0};
    const abench_comparison *c = is_compared ? &item->result : &none;
    const bool has_ranks = item != NULL && item->has_rank;
    const bool is_judged = is_compared && c->rounds > 0;
    if (is_compared)
        put_number(out, is_judged && isfinite(c->ratio), c->ratio);
    else
        put_number(out, row->ratios > 0 && item == NULL, row->ratio);
    put_number(out, is_judged && isfinite(c->low), c->low);
    put_number(out, is_judged && isfinite(c->high), c->high);
    put_tsv(out, !is_compared      ? ""
                 : judged->refused ? "refused"
                                   : abench_compared_name(c->verdict));
    put_number(out, is_compared, is_compared ? judged->threshold : 0);
    put_count(out, is_compared, c->rounds);
    put_count(out, is_compared && c->rounds_needed > 0, c->rounds_needed);
    put_count(out, has_ranks, has_ranks ? item->rank_low : 0);
    put_count(out, has_ranks, has_ranks ? item->rank_high : 0);
    put_number(out, is_compared && isfinite(item->cliff), is_compared ? item->cliff : 0);
    put_number(out, item != NULL && item->has_drift, item != NULL ? item->drift : 0);
}

/* judged may be NULL: then it is the median of A/A's rounds. */
static void put_noise(FILE *out, const summary *s, const summary_row *row,
                      const verdict_metric *judged)
{
    const summary_row *again = summary_find(s, row->workload, s->m->baseline, true, row->metric);
    if (judged == NULL) {
        const bool there = again != NULL && again->ratios > 0;
        put_number(out, there, there ? again->ratio : 0);
        fputs("\t\t", out);
        return;
    }
    put_number(out, judged->aa.count > 0, judged->aa.estimate);
    put_number(out, judged->aa.count > 0 && isfinite(judged->aa.low), judged->aa.low);
    put_number(out, judged->aa.count > 0 && isfinite(judged->aa.high), judged->aa.high);
    fprintf(out, "%d", judged->refused);
}

void data_summary(const verdicts *v, FILE *out)
{
    const summary *s = v->s;
    const model *m = s->m;
    fputs("workload\ttarget\tmetric\tunit\tdirection\tn\tmedian\tmin\tmax\tspread\tratio\t"
          "ratio_low\tratio_high\tverdict\tthreshold\trounds\trounds_needed\trank_low\t"
          "rank_high\tcliff\tdrift\taa_ratio\taa_low\taa_high\trefused\n",
          out);
    for (size_t i = 0; i < s->count; i++) {
        const summary_row *row = &s->rows[i];
        if (row->again)
            continue;
        const verdict_metric *judged = verdicts_find(v, row->workload, row->metric);
        put_tsv(out, m->workloads[row->workload].label);
        put_tsv(out, target_name(m, row->target));
        put_tsv(out, row->metric);
        put_tsv(out, row->unit);
        put_tsv(out, direction_name(row->direction));
        fprintf(out, "%zu\t", row->n);
        put_number(out, true, row->median);
        put_number(out, true, row->minimum);
        put_number(out, true, row->maximum);
        put_number(out, row->has_spread, row->spread);
        put_verdict(out, row, judged, judged != NULL ? verdict_of(judged, row->target) : NULL);
        put_noise(out, s, row, judged);
        fputc('\n', out);
    }
}

static void put_csv(FILE *out, const char *text)
{
    format_csv(out, text);
    fputc(',', out);
}

static void put_reading(FILE *out, const model_reading *reading, const abench_memory_field *fields,
                        size_t count)
{
    fprintf(out, "%" PRIu64, reading->time_ns);
    for (size_t i = 0; i < count; i++) {
        uint64_t value;
        memcpy(&value, (const char *)&reading->memory + fields[i].offset, sizeof value);
        fputc(',', out);
        if (reading->memory.valid & fields[i].bit)
            fprintf(out, "%" PRIu64, value);
    }
    fputc('\n', out);
}

void data_samples(const model *m, FILE *out)
{
    abench_memory_field fields[FIELDS_MAX];
    size_t count = 0;
    fputs("workload,round,target,again,time_ns", out);
    for (; count < FIELDS_MAX; count++) {
        abench_memory_field_init(&fields[count]);
        if (abench_memory_field_at((uint32_t)count, &fields[count]) != ABENCH_OK)
            break;
        fprintf(out, ",%s", fields[count].name);
    }
    fputc('\n', out);
    for (size_t i = 0; i < m->cells_count; i++) {
        const model_cell *cell = &m->cells[i];
        for (size_t j = 0; j < cell->readings_count; j++) {
            put_csv(out, m->workloads[cell->workload].label);
            fprintf(out, "%" PRIu32 ",", cell->round);
            put_csv(out, target_name(m, cell->target));
            fprintf(out, "%d,", cell->again);
            put_reading(out, &cell->readings[j], fields, count);
        }
    }
}
