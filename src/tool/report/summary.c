#include "tool/report/summary.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "tool/util.h"

static int by_value(const void *a, const void *b)
{
    double x = *(const double *)a;
    double y = *(const double *)b;
    return (x > y) - (x < y);
}

double summary_median(double *values, size_t count)
{
    qsort(values, count, sizeof *values, by_value);
    double high = values[count / 2];
    return count % 2 == 1 ? high : high / 2 + values[count / 2 - 1] / 2;
}

/* ---- pairing --------------------------------------------------------------------------------- */

bool summary_same_work(const model_cell *a, const model_cell *b)
{
    if (a->plan_digest != NULL && b->plan_digest != NULL &&
        strcmp(a->plan_digest, b->plan_digest) != 0)
        return false;
    return a->work_digest == NULL || b->work_digest == NULL ||
           strcmp(a->work_digest, b->work_digest) == 0;
}

const model_cell *summary_baseline(const model *m, size_t workload, uint32_t round)
{
    for (size_t i = 0; i < m->cells_count; i++) {
        const model_cell *cell = &m->cells[i];
        if (cell->workload == workload && cell->round == round && cell->target == m->baseline &&
            !cell->again)
            return cell->failed ? NULL : cell;
    }
    return NULL;
}

size_t summary_rounds(const model *m, size_t workload)
{
    size_t rounds = 0;
    const model_cell *last = NULL;
    for (size_t i = 0; i < m->cells_count; i++) {
        const model_cell *cell = &m->cells[i];
        if (cell->workload != workload)
            continue;
        rounds += last == NULL || last->round != cell->round;
        last = cell;
    }
    return rounds;
}

/* ---- rows ------------------------------------------------------------------------------------ */

typedef struct maker {
    const model *m;
    const size_t *base; /* by cell: index of the baseline's cell of its round, or NONE */
    size_t *order;      /* a workload's cells, of each target one behind the other */
    summary *s;
    size_t capacity;
    size_t block_capacity;
} maker;

#define NONE ((size_t)-1)

static bool is_time(const char *metric)
{
    return strcmp(metric, SUMMARY_TIME) == 0;
}

static bool value_of(const maker *k, size_t index, const char *metric, double *value)
{
    if (is_time(metric) && k->s->timings[index].parts_count > 0) {
        *value = k->s->timings[index].ns;
        return true;
    }
    const model_metric *found = model_cell_metric(&k->m->cells[index], metric);
    if (found != NULL)
        *value = found->value;
    return found != NULL;
}

/* The value of one cell by that of another of its round. false: they did other work, or the second
 * is not above 0. */
static bool ratio_between(const summary *s, size_t cell, double value, size_t base, double under,
                          const char *metric, double *ratio)
{
    if (!summary_same_work(&s->m->cells[cell], &s->m->cells[base]))
        return false;
    if (is_time(metric) && timing_ratio(&s->timings[cell], &s->timings[base], ratio))
        return true;
    if (under <= 0 || value < 0)
        return false;
    *ratio = value / under;
    return isfinite(*ratio);
}

static bool ratio_of(const maker *k, size_t index, const char *metric, double value, double *ratio)
{
    size_t base = k->base[index];
    double under;
    return base != NONE && base != index && value_of(k, base, metric, &under) &&
           ratio_between(k->s, index, value, base, under, metric, ratio);
}

uint32_t summary_pairs(const summary *s, const summary_row *a, const summary_row *b, double *ratios,
                       uint32_t *undefined)
{
    uint32_t n = 0;
    *undefined = 0;
    for (size_t i = 0, j = 0; i < a->n && j < b->n;) {
        const summary_value *x = &a->values[i], *y = &b->values[j];
        if (x->round != y->round) {
            *(x->round < y->round ? &i : &j) += 1;
            continue;
        }
        double ratio;
        if (ratio_between(s, x->cell, x->value, y->cell, y->value, a->metric, &ratio) && ratio > 0)
            ratios[n++] = ratio;
        else if (summary_same_work(&s->m->cells[x->cell], &s->m->cells[y->cell]))
            *undefined += 1;
        i++;
        j++;
    }
    return n;
}

static void finish_row(summary_row *row)
{
    double *sorted = xcalloc(row->n, sizeof *sorted);
    for (size_t i = 0; i < row->n; i++)
        sorted[i] = row->values[i].value;
    row->median = summary_median(sorted, row->n);
    row->minimum = sorted[0];
    row->maximum = sorted[row->n - 1];
    if (row->n > 1 && row->median > 0)
        row->spread = (row->maximum - row->minimum) / row->median;
    row->has_spread = row->n > 1 && row->median > 0 && isfinite(row->spread);
    for (size_t i = 0; i < row->n; i++) {
        if (row->values[i].has_ratio)
            sorted[row->ratios++] = row->values[i].ratio;
    }
    if (row->ratios > 0) {
        row->ratio = summary_median(sorted, row->ratios);
    }
    free(sorted);
}

/* One row, of some cells of one target. Without a value: no row. */
static void add_row(maker *k, const size_t *cells, size_t count, const summary_row *key)
{
    summary_row row = *key;
    size_t capacity = 0;
    for (size_t i = 0; i < count; i++) {
        const model_cell *cell = &k->m->cells[cells[i]];
        summary_value v = {.round = cell->round, .cell = cells[i]};
        row.failed += cell->failed;
        if (cell->failed || !value_of(k, v.cell, key->metric, &v.value))
            continue;
        v.has_ratio = ratio_of(k, v.cell, key->metric, v.value, &v.ratio);
        row.values = util_grow(row.values, row.n, &capacity, sizeof v);
        row.values[row.n++] = v;
    }
    if (row.n == 0)
        return;
    finish_row(&row);
    k->s->rows = util_grow(k->s->rows, k->s->count, &k->capacity, sizeof row);
    k->s->rows[k->s->count++] = row;
}

static bool is_of_one_row(const model_cell *a, const model_cell *b)
{
    return a->target == b->target && a->again == b->again;
}

/* The rows of a metric: of each target, and of the baseline's second cells. */
static void add_metric(maker *k, size_t count, summary_row key)
{
    summary_block block = {key.workload, key.metric, k->s->count, 0};
    size_t end;
    for (size_t i = 0; i < count; i = end) {
        const model_cell *first = &k->m->cells[k->order[i]];
        for (end = i + 1; end < count && is_of_one_row(first, &k->m->cells[k->order[end]]);)
            end++;
        key.target = first->target;
        key.again = first->again;
        if (!key.again || key.target == k->m->baseline)
            add_row(k, k->order + i, end - i, &key);
    }
    block.to = k->s->count;
    k->s->blocks = util_grow(k->s->blocks, k->s->blocks_count, &k->block_capacity, sizeof block);
    k->s->blocks[k->s->blocks_count++] = block;
}

static bool is_known(const summary *s, size_t first, const char *metric)
{
    for (size_t i = first; i < s->blocks_count; i++) {
        if (strcmp(s->blocks[i].metric, metric) == 0)
            return true;
    }
    return false;
}

/* By target, then by again, then as they were: by round. */
static int by_arm(const void *a, const void *b, void *cells)
{
    const size_t i = *(const size_t *)a, j = *(const size_t *)b;
    const model_cell *x = (const model_cell *)cells + i, *y = (const model_cell *)cells + j;
    if (x->target != y->target)
        return x->target < y->target ? -1 : 1;
    if (x->again != y->again)
        return x->again ? 1 : -1;
    return (i > j) - (i < j);
}

static void add_workload(maker *k, size_t from, size_t to)
{
    const size_t first = k->s->blocks_count, workload = k->m->cells[from].workload;
    bool warm = false;
    for (size_t i = from; i < to; i++) {
        k->order[i - from] = i;
        warm = warm || k->s->timings[i].parts_count > 0;
    }
    qsort_r(k->order, to - from, sizeof *k->order, by_arm, k->m->cells);
    k->s->starts[workload] = first;
    if (warm)
        add_metric(k, to - from,
                   (summary_row){.workload = workload,
                                 .metric = SUMMARY_TIME,
                                 .unit = "ns",
                                 .direction = ABENCH_DIRECTION_LOWER});
    for (size_t i = from; i < to; i++) {
        const model_cell *cell = &k->m->cells[i];
        for (size_t j = 0; j < cell->metrics_count; j++) {
            const model_metric *metric = &cell->metrics[j];
            if (!is_known(k->s, first, metric->name))
                add_metric(k, to - from,
                           (summary_row){.workload = workload,
                                         .metric = metric->name,
                                         .unit = metric->unit,
                                         .direction = metric->direction});
        }
    }
}

/* By cell: where its round's baseline stands. The cells are sorted by workload and round. */
static size_t *find_bases(const model *m)
{
    size_t *base = xcalloc(m->cells_count + 1, sizeof *base);
    size_t end;
    for (size_t i = 0; i < m->cells_count; i = end) {
        size_t found = NONE;
        for (end = i; end < m->cells_count && m->cells[end].workload == m->cells[i].workload &&
                      m->cells[end].round == m->cells[i].round;
             end++) {
            const model_cell *cell = &m->cells[end];
            if (cell->target == m->baseline && !cell->again && !cell->failed)
                found = end;
        }
        for (size_t j = i; j < end; j++)
            base[j] = found;
    }
    return base;
}

summary *summary_make(const model *m)
{
    maker k = {.m = m, .s = xcalloc(1, sizeof(summary))};
    size_t *base = find_bases(m);
    k.s->m = m;
    k.base = base;
    k.order = xcalloc(m->cells_count + 1, sizeof *k.order);
    k.s->timings = xcalloc(m->cells_count + 1, sizeof *k.s->timings);
    k.s->starts = xcalloc(m->workloads_count + 1, sizeof *k.s->starts);
    for (size_t i = 0; i < m->cells_count; i++)
        k.s->timings[i] = timing_make(&m->cells[i]);
    size_t end;
    for (size_t i = 0; i < m->cells_count; i = end) {
        for (end = i; end < m->cells_count && m->cells[end].workload == m->cells[i].workload;)
            end++;
        add_workload(&k, i, end);
    }
    free(base);
    free(k.order);
    return k.s;
}

void summary_free(summary *s)
{
    if (s == NULL)
        return;
    for (size_t i = 0; i < s->count; i++)
        free(s->rows[i].values);
    for (size_t i = 0; i < s->m->cells_count; i++)
        timing_clear(&s->timings[i]);
    free(s->timings);
    free(s->starts);
    free(s->blocks);
    free(s->rows);
    free(s);
}

const summary_row *summary_find(const summary *s, size_t workload, size_t target, bool again,
                                const char *metric)
{
    const size_t from = workload < s->m->workloads_count ? s->starts[workload] : s->blocks_count;
    for (size_t i = from; i < s->blocks_count && s->blocks[i].workload == workload; i++) {
        if (strcmp(s->blocks[i].metric, metric) != 0)
            continue;
        for (size_t at = s->blocks[i].from; at < s->blocks[i].to; at++) {
            if (s->rows[at].target == target && s->rows[at].again == again)
                return &s->rows[at];
        }
        return NULL;
    }
    return NULL;
}

bool summary_share(const summary *s, size_t workload, double *share)
{
    const summary_row *floor = summary_find(s, workload, MODEL_FLOOR, false, SUMMARY_TIME);
    if (floor == NULL || floor->ratios == 0)
        return false;
    *share = 1 - floor->ratio;
    return true;
}
