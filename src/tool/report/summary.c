#include "tool/report/summary.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "tool/records.h"
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

/* ---- time of a cell -------------------------------------------------------------------------- */

/* The slices from..to - 1, which are those of one timed phase. */
typedef struct part {
    size_t from;
    size_t to;
    double operations; /* of all of them, the cold one too */
    double median;     /* ns an operation of those that count */
} part;

/* What counts of a cell's slices: ns an operation by index, NAN where a slice does not count. */
typedef struct timing {
    double *slices;
    size_t count;
    part *parts; /* with a slice that counts; none: the cell has no time of its slices */
    size_t parts_count;
    double ns; /* an operation: the parts' medians, each as often as it has operations */
} timing;

static bool is_timed(const model_cell *cell, const char *phase)
{
    for (size_t i = 0; i < cell->phases_count; i++) {
        if (cell->phases[i].timed && strcmp(cell->phases[i].name, phase) == 0)
            return true;
    }
    return false;
}

/* One of the phase's slices alone counts, of several not the first, which is cold. */
static void add_part(timing *t, const model_cell *cell, size_t from, size_t to, double *scratch)
{
    part p = {from, to, 0, 0};
    size_t n = 0;
    for (size_t i = from; i < to; i++) {
        const model_slice *slice = &cell->slices[i];
        uint64_t ns = cell->lanes == 1 ? slice->cpu_ns : slice->busy_ns;
        p.operations += (double)slice->operations;
        if ((i == from && to - from > 1) || slice->operations == 0)
            continue;
        t->slices[i] = (double)ns / (double)slice->operations;
        scratch[n++] = t->slices[i];
    }
    if (n == 0)
        return;
    p.median = summary_median(scratch, n);
    t->parts[t->parts_count++] = p;
}

static timing timing_make(const model_cell *cell)
{
    timing t = {.count = cell->slices_count};
    if (cell->failed || cell->lanes == 0 || t.count == 0)
        return t;
    t.slices = xcalloc(t.count, sizeof *t.slices);
    t.parts = xcalloc(t.count, sizeof *t.parts);
    double *scratch = xcalloc(t.count, sizeof *scratch);
    double operations = 0;
    for (size_t i = 0; i < t.count; i++)
        t.slices[i] = NAN;
    size_t end;
    for (size_t i = 0; i < t.count; i = end) {
        const char *phase = cell->slices[i].phase;
        for (end = i + 1; end < t.count && strcmp(cell->slices[end].phase, phase) == 0;)
            end++;
        if (is_timed(cell, phase))
            add_part(&t, cell, i, end, scratch);
    }
    for (size_t i = 0; i < t.parts_count; i++) {
        t.ns += t.parts[i].operations * t.parts[i].median;
        operations += t.parts[i].operations;
    }
    if (t.parts_count == 1)
        t.ns = t.parts[0].median;
    else if (t.parts_count > 1)
        t.ns /= operations;
    free(scratch);
    return t;
}

static bool has_same_parts(const timing *t, const timing *base)
{
    if (t->parts_count == 0 || t->count != base->count || t->parts_count != base->parts_count)
        return false;
    for (size_t i = 0; i < t->parts_count; i++) {
        if (t->parts[i].from != base->parts[i].from || t->parts[i].to != base->parts[i].to)
            return false;
    }
    return true;
}

/* The median of a part's slice-by-slice ratios. false when the baseline has none above 0. */
static bool part_ratio(const timing *t, const timing *base, const part *p, double *ratio)
{
    double *ratios = xcalloc(p->to - p->from, sizeof *ratios);
    size_t n = 0;
    for (size_t i = p->from; i < p->to; i++) {
        if (base->slices[i] > 0 && t->slices[i] >= 0) /* false for NAN */
            ratios[n++] = t->slices[i] / base->slices[i];
    }
    if (n > 0)
        *ratio = summary_median(ratios, n);
    free(ratios);
    return n > 0;
}

/* The parts' ratios, each weighing what the baseline's time in it does: a phase of cheap operations
 * has as many slices as one of dear ones, and says little. false when the slices do not pair. */
static bool timing_ratio(const timing *t, const timing *base, double *ratio)
{
    double sum = 0, weights = 0, single = 0;
    size_t n = 0;
    if (!has_same_parts(t, base))
        return false;
    for (size_t i = 0; i < base->parts_count; i++) {
        const part *p = &base->parts[i];
        if (!part_ratio(t, base, p, &single))
            continue;
        sum += p->operations * p->median * single;
        weights += p->operations * p->median;
        n++;
    }
    if (n == 1)
        *ratio = single;
    else if (weights > 0)
        *ratio = sum / weights;
    return n == 1 || weights > 0;
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
    timing *timings;    /* by cell */
    const size_t *base; /* by cell: index of the baseline's cell of its round, or NONE */
    summary *s;
    size_t capacity;
} maker;

#define NONE ((size_t)-1)

static bool is_time(const char *metric)
{
    return strcmp(metric, SUMMARY_TIME) == 0;
}

static bool value_of(const maker *k, size_t index, const char *metric, double *value)
{
    if (is_time(metric) && k->timings[index].parts_count > 0) {
        *value = k->timings[index].ns;
        return true;
    }
    const model_metric *found = model_cell_metric(&k->m->cells[index], metric);
    if (found != NULL)
        *value = found->value;
    return found != NULL;
}

static bool ratio_of(const maker *k, size_t index, const char *metric, double value, double *ratio)
{
    size_t base = k->base[index];
    double under;
    if (base == NONE || base == index ||
        !summary_same_work(&k->m->cells[index], &k->m->cells[base]))
        return false;
    if (is_time(metric) && timing_ratio(&k->timings[index], &k->timings[base], ratio))
        return true;
    if (!value_of(k, base, metric, &under) || under <= 0 || value < 0)
        return false;
    *ratio = value / under;
    return isfinite(*ratio);
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
        row->ratio_minimum = sorted[0];
        row->ratio_maximum = sorted[row->ratios - 1];
        row->straddles = row->ratio_minimum <= 1 && row->ratio_maximum >= 1;
    }
    free(sorted);
}

/* One row: the cells from..to of one workload that are of this target. Without a value: no row. */
static void add_row(maker *k, size_t from, size_t to, const summary_row *key)
{
    summary_row row = *key;
    size_t capacity = 0;
    for (size_t i = from; i < to; i++) {
        const model_cell *cell = &k->m->cells[i];
        summary_value v = {.round = cell->round};
        if (cell->target != key->target || cell->again != key->again || cell->failed ||
            !value_of(k, i, key->metric, &v.value))
            continue;
        v.has_ratio = ratio_of(k, i, key->metric, v.value, &v.ratio);
        row.values = util_grow(row.values, row.n, &capacity, sizeof v);
        row.values[row.n++] = v;
    }
    if (row.n == 0)
        return;
    finish_row(&row);
    k->s->rows = util_grow(k->s->rows, k->s->count, &k->capacity, sizeof row);
    k->s->rows[k->s->count++] = row;
}

static void add_targets(maker *k, size_t from, size_t to, summary_row key)
{
    for (size_t target = 0; target < k->m->targets_count; target++) {
        key.target = target;
        key.again = false;
        add_row(k, from, to, &key);
        key.again = true;
        if (target == k->m->baseline)
            add_row(k, from, to, &key);
    }
    key.target = MODEL_FLOOR;
    key.again = false;
    add_row(k, from, to, &key);
}

static void add_workload(maker *k, size_t from, size_t to)
{
    const summary_row *rows = k->s->rows;
    size_t first = k->s->count;
    size_t workload = k->m->cells[from].workload;
    bool warm = false;
    for (size_t i = from; i < to; i++)
        warm = warm || k->timings[i].parts_count > 0;
    if (warm)
        add_targets(k, from, to,
                    (summary_row){.workload = workload,
                                  .metric = SUMMARY_TIME,
                                  .unit = "ns",
                                  .direction = ABENCH_DIRECTION_LOWER});
    for (size_t i = from; i < to; i++) {
        const model_cell *cell = &k->m->cells[i];
        for (size_t j = 0; j < cell->metrics_count; j++) {
            const model_metric *metric = &cell->metrics[j];
            bool known = false;
            rows = k->s->rows;
            for (size_t r = first; r < k->s->count && !known; r++)
                known = strcmp(rows[r].metric, metric->name) == 0;
            if (!known)
                add_targets(k, from, to,
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

/* How far from 1 the baseline's ratios to itself go, whichever way: its second cell reads 5 % less
 * by the same chance by which a target reads 5 % more. */
static double noise_of(const summary_row *again)
{
    double low = again->ratio_minimum > 0 ? 1 / again->ratio_minimum : INFINITY;
    return fmax(1, fmax(low, again->ratio_maximum));
}

static void compare_with_noise(summary *s)
{
    for (size_t i = 0; i < s->count; i++) {
        summary_row *row = &s->rows[i];
        const summary_row *again =
            summary_find(s, row->workload, s->m->baseline, true, row->metric);
        if (again == NULL || again == row || again->ratios == 0 || row->ratios == 0)
            continue;
        double noise = noise_of(again);
        row->in_noise = row->ratio_minimum <= noise && row->ratio_maximum >= 1 / noise;
    }
}

summary *summary_make(const model *m)
{
    maker k = {.m = m, .s = xcalloc(1, sizeof(summary))};
    size_t *base = find_bases(m);
    k.s->m = m;
    k.base = base;
    k.timings = xcalloc(m->cells_count + 1, sizeof *k.timings);
    for (size_t i = 0; i < m->cells_count; i++)
        k.timings[i] = timing_make(&m->cells[i]);
    size_t end;
    for (size_t i = 0; i < m->cells_count; i = end) {
        for (end = i; end < m->cells_count && m->cells[end].workload == m->cells[i].workload;)
            end++;
        add_workload(&k, i, end);
    }
    compare_with_noise(k.s);
    for (size_t i = 0; i < m->cells_count; i++) {
        free(k.timings[i].slices);
        free(k.timings[i].parts);
    }
    free(k.timings);
    free(base);
    return k.s;
}

void summary_free(summary *s)
{
    if (s == NULL)
        return;
    for (size_t i = 0; i < s->count; i++)
        free(s->rows[i].values);
    free(s->rows);
    free(s);
}

const summary_row *summary_find(const summary *s, size_t workload, size_t target, bool again,
                                const char *metric)
{
    for (size_t i = 0; i < s->count; i++) {
        const summary_row *row = &s->rows[i];
        if (row->workload == workload && row->target == target && row->again == again &&
            strcmp(row->metric, metric) == 0)
            return row;
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
