#include "tool/report/machines.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "tool/report/advice.h"
#include "tool/report/format.h"
#include "tool/util.h"

#define ALPHA 0.05

bool machines_any(const model *m)
{
    return m->places_count > 1;
}

/* Shared by all intervals of a metric. */
static double alpha_of(const model *m, const verdict_metric *metric)
{
    return ALPHA / ((double)metric->count * (double)m->places_count);
}

abench_interval machines_ratio(const verdicts *v, const verdict_metric *metric, const verdict *item,
                               size_t place)
{
    const model *m = v->s->m;
    const summary_row *row = item->row;
    double *ratios = xcalloc(row->n, sizeof *ratios);
    uint32_t count = 0;
    abench_interval interval = ABENCH_INTERVAL_INIT;

    for (size_t i = 0; i < row->n; i++) {
        const summary_value *value = &row->values[i];
        if (value->has_ratio && m->cells[value->cell].place == place)
            ratios[count++] = value->ratio;
    }
    if (count == 0 ||
        abench_hodges_lehmann(ratios, count, alpha_of(m, metric), &interval) != ABENCH_OK) {
        abench_interval_init(&interval);
        interval.low = interval.high = NAN;
    }
    free(ratios);
    return interval;
}

/* ---- where they disagree --------------------------------------------------------------------- */

/* The two machines whose intervals lie farthest apart. false: all overlap, or have none. */
static bool find_apart(const verdicts *v, const verdict_metric *metric, const verdict *item,
                       size_t *least, size_t *most)
{
    const size_t places = v->s->m->places_count;
    double low = INFINITY, high = 0; /* the lowest upper and the highest lower bound */

    for (size_t place = 0; place < places; place++) {
        const abench_interval ratio = machines_ratio(v, metric, item, place);
        if (ratio.count == 0 || isnan(ratio.low))
            continue;
        if (ratio.high < low) {
            low = ratio.high;
            *least = place;
        }
        if (ratio.low > high) {
            high = ratio.low;
            *most = place;
        }
    }
    return low < high;
}

static char *ratio_text(const abench_interval *ratio)
{
    return advice_ratio(ratio->estimate, ratio->low, ratio->high);
}

static char *disagreement(const verdicts *v, const verdict_metric *metric, const verdict *item,
                          size_t least, size_t most)
{
    const model *m = v->s->m;
    const abench_interval low = machines_ratio(v, metric, item, least);
    const abench_interval high = machines_ratio(v, metric, item, most);
    char *low_text = ratio_text(&low), *high_text = ratio_text(&high);
    char *sentence =
        xasprintf("%s: the machines disagree on %s, %s on %s and %s on %s: what holds on "
                  "one of them need not hold on the other",
                  metric->title, m->targets[item->row->target].name, low_text,
                  m->places[least].name, high_text, m->places[most].name);

    free(low_text);
    free(high_text);
    return sentence;
}

/* Of one metric; adds to the list. */
static void add_sentences(const verdicts *v, const verdict_metric *metric, char ***list,
                          size_t *count)
{
    for (size_t i = 0; i < metric->count; i++) {
        size_t least = 0, most = 0;
        if (!find_apart(v, metric, &metric->items[i], &least, &most))
            continue;
        *list = xrealloc(*list, (*count + 1) * sizeof **list);
        (*list)[(*count)++] = disagreement(v, metric, &metric->items[i], least, most);
    }
}

char **machines_sentences(const verdicts *v, size_t workload, size_t *count)
{
    char **list = NULL;

    *count = 0;
    for (size_t i = 0; i < v->count && machines_any(v->s->m); i++)
        if (v->metrics[i].workload == workload)
            add_sentences(v, &v->metrics[i], &list, count);
    return list;
}

/* ---- tables ---------------------------------------------------------------------------------- */

/* Rounds of a machine that the baseline has a value in: the most that a ratio can have. */
static uint32_t rounds_of(const verdicts *v, const verdict_metric *metric, size_t place)
{
    uint32_t count = 0;

    for (size_t i = 0; i < metric->baseline->n; i++)
        count += v->s->m->cells[metric->baseline->values[i].cell].place == place;
    return count;
}

static void put_ratio(const abench_interval *ratio, uint32_t rounds, FILE *out)
{
    if (ratio->count == 0) {
        fputs(" n/a |", out);
    } else if (isnan(ratio->low)) {
        fprintf(out, " x%.3f", ratio->estimate);
    } else {
        char *text = ratio_text(ratio);
        fprintf(out, " %s", text);
        free(text);
    }
    if (ratio->count > 0 && ratio->count != rounds)
        fprintf(out, " (%" PRIu32 " rounds)", ratio->count);
    if (ratio->count > 0)
        fputs(" |", out);
}

static void put_table(const verdicts *v, const verdict_metric *metric, FILE *out)
{
    const model *m = v->s->m;
    const uint32_t least = abench_rounds_least(alpha_of(m, metric));
    bool has_few = false;

    fputs("\n| machine | rounds |", out);
    for (size_t i = 0; i < metric->count; i++) {
        fputc(' ', out);
        format_markdown(out, m->targets[metric->items[i].row->target].name);
        fputs(" |", out);
    }
    fputs("\n|---|---:|", out);
    for (size_t i = 0; i < metric->count; i++)
        fputs("---:|", out);
    fputc('\n', out);
    for (size_t place = 0; place < m->places_count; place++) {
        const uint32_t rounds = rounds_of(v, metric, place);
        has_few = has_few || rounds < least;
        fputs("| ", out);
        format_markdown(out, m->places[place].name);
        fprintf(out, " | %" PRIu32 " |", rounds);
        for (size_t i = 0; i < metric->count; i++) {
            const abench_interval ratio = machines_ratio(v, metric, &metric->items[i], place);
            put_ratio(&ratio, rounds, out);
        }
        fputc('\n', out);
    }
    if (has_few)
        fprintf(out, "\nFor an interval of its own a machine needs %" PRIu32 " rounds.\n", least);
}

void machines_markdown(const verdicts *v, size_t workload, FILE *out)
{
    bool begun = false;

    for (size_t i = 0; i < v->count && machines_any(v->s->m); i++) {
        const verdict_metric *metric = &v->metrics[i];
        if (metric->workload != workload || metric->count == 0)
            continue;
        if (!begun)
            fputs("\nBy machine (the ratio to the baseline over each machine's own rounds; all "
                  "intervals of a table hold together at 95 %):\n",
                  out);
        begun = true;
        fputs("\n**", out);
        format_markdown(out, metric->title);
        fputs("**\n", out);
        put_table(v, metric, out);
    }
}

static void put_text(const char *text, FILE *out)
{
    fputc(' ', out);
    format_markdown(out, *text != '\0' ? text : "n/a");
    fputs(" |", out);
}

/* Rounds of all workloads that ran there. */
static size_t all_rounds(const model *m, size_t place)
{
    size_t count = 0;

    for (size_t i = 0; i < m->cells_count; i++) {
        const model_cell *cell = &m->cells[i];
        const bool is_first = i == 0 || m->cells[i - 1].round != cell->round ||
                              m->cells[i - 1].workload != cell->workload;
        count += is_first && cell->place == place;
    }
    return count;
}

void machines_list_markdown(const model *m, FILE *out)
{
    if (!machines_any(m))
        return;
    fputs("\nThe rounds were run on these machines; what is told above is of the first:\n\n"
          "| machine | rounds | CPU | kernel | C library | THP | governor | doctor refuses |\n"
          "|---|---:|---|---|---|---|---|---|\n",
          out);
    for (size_t place = 0; place < m->places_count; place++) {
        const model_place *p = &m->places[place];
        const char *between = " ";
        fputs("| ", out);
        format_markdown(out, p->name);
        fprintf(out, " | %zu |", all_rounds(m, place));
        put_text(p->host.cpu, out);
        put_text(p->host.kernel, out);
        put_text(p->host.libc, out);
        put_text(p->host.thp, out);
        put_text(p->host.governor, out);
        for (size_t i = 0; i < p->machine.findings_count; i++) {
            if (p->machine.findings[i].verdict != ABENCH_VERDICT_REFUSE)
                continue;
            fputs(between, out);
            format_markdown(out, p->machine.findings[i].name);
            between = ", ";
        }
        fputs(between[0] == ' ' ? " nothing |\n" : " |\n", out);
    }
}
