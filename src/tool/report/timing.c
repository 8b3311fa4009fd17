#include "tool/report/timing.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "tool/util.h"

#define ITERATIONS 5u      /* the fewest that a quartile says more of than the median does */
#define QUARTILE   250000u /* parts per million */

static bool is_timed(const model_cell *cell, const char *phase)
{
    for (size_t i = 0; i < cell->phases_count; i++) {
        if (cell->phases[i].timed && strcmp(cell->phases[i].name, phase) == 0)
            return true;
    }
    return false;
}

/* One of the phase's slices alone counts, of several not the first, which is cold. */
static void add_part(timing *t, size_t from, size_t to, double *scratch)
{
    const model_cell *cell = t->cell;
    timing_part p = {from, to, 0, 0};
    uint32_t n = 0;
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
    p.ns = !cell->in_lockstep && n >= ITERATIONS ? abench_quantile(scratch, n, QUARTILE)
                                                 : abench_median(scratch, n);
    t->parts[t->parts_count++] = p;
}

timing timing_make(const model_cell *cell)
{
    timing t = {.cell = cell, .count = cell->slices_count};
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
            add_part(&t, i, end, scratch);
    }
    for (size_t i = 0; i < t.parts_count; i++) {
        t.ns += t.parts[i].operations * t.parts[i].ns;
        operations += t.parts[i].operations;
    }
    if (t.parts_count == 1)
        t.ns = t.parts[0].ns;
    else if (t.parts_count > 1)
        t.ns /= operations;
    free(scratch);
    return t;
}

void timing_clear(timing *t)
{
    free(t->slices);
    free(t->parts);
    memset(t, 0, sizeof *t);
}

/* ---- two of them ----------------------------------------------------------------------------- */

/* Cut alike, and played in turn. */
static bool is_paired(const timing *t, const timing *base)
{
    if (t->parts_count == 0 || t->count != base->count || t->parts_count != base->parts_count ||
        !t->cell->in_lockstep || !base->cell->in_lockstep)
        return false;
    for (size_t i = 0; i < t->parts_count; i++) {
        if (t->parts[i].from != base->parts[i].from || t->parts[i].to != base->parts[i].to)
            return false;
    }
    return true;
}

/* The slice-by-slice ratios of a part where both have one: how many. */
static uint32_t part_ratios(const timing *t, const timing *base, const timing_part *p,
                            double *ratios)
{
    uint32_t n = 0;
    for (size_t i = p->from; i < p->to; i++) {
        if (base->slices[i] > 0 && t->slices[i] >= 0) /* false for NAN */
            ratios[n++] = t->slices[i] / base->slices[i];
    }
    return n;
}

/* A phase of cheap operations has as many slices as one of dear ones, and says little. */
bool timing_ratio(const timing *t, const timing *base, double *ratio)
{
    double sum = 0, weights = 0, single = 0;
    size_t n = 0;
    if (!is_paired(t, base))
        return false;
    double *ratios = xcalloc(t->count, sizeof *ratios);
    for (size_t i = 0; i < base->parts_count; i++) {
        const timing_part *p = &base->parts[i];
        uint32_t count = part_ratios(t, base, p, ratios);
        if (count == 0)
            continue;
        single = abench_median(ratios, count);
        sum += p->operations * p->ns * single;
        weights += p->operations * p->ns;
        n++;
    }
    free(ratios);
    if (n == 1)
        *ratio = single;
    else if (weights > 0)
        *ratio = sum / weights;
    return n == 1 || weights > 0;
}

bool timing_interval(const timing *t, const timing *base, abench_interval *out)
{
    const timing_part *most = NULL;
    bool good;
    if (!is_paired(t, base))
        return false;
    for (size_t i = 0; i < base->parts_count; i++) {
        const timing_part *p = &base->parts[i];
        if (most == NULL || p->operations * p->ns > most->operations * most->ns)
            most = p;
    }
    double *scratch = xcalloc(t->count, sizeof *scratch);
    abench_interval_init(out);
    good = abench_slices_ratio(t->slices + most->from, base->slices + most->from,
                               (uint32_t)(most->to - most->from), scratch, out) == ABENCH_OK;
    free(scratch);
    return good;
}

/* ---- steady, or moving ----------------------------------------------------------------------- */

static const timing_part *longest(const timing *t)
{
    const timing_part *found = NULL;
    for (size_t i = 0; i < t->parts_count; i++) {
        const timing_part *p = &t->parts[i];
        if (found == NULL || p->to - p->from > found->to - found->from)
            found = p;
    }
    return found;
}

/* abench_drift of n values. */
static double drift_of(const double *values, uint32_t n)
{
    double *scratch = xcalloc((size_t)n + 1, sizeof *scratch);
    double drift = abench_drift(values, n, scratch);
    free(scratch);
    return drift;
}

double timing_drift(const timing *t)
{
    const timing_part *p = longest(t);
    uint32_t n = 0;
    if (p == NULL)
        return NAN;
    double *values = xcalloc(p->to - p->from, sizeof *values);
    for (size_t i = p->from; i < p->to; i++) {
        if (t->slices[i] > 0)
            values[n++] = t->slices[i];
    }
    double drift = drift_of(values, n);
    free(values);
    return drift;
}

double timing_memory_drift(const timing *t)
{
    const timing_part *p = longest(t);
    uint32_t n = 0;
    if (p == NULL || t->cell->phases_count == 0 ||
        (t->cell->phases[0].memory.valid & ABENCH_MEMORY_RSS) == 0)
        return NAN;
    double *values = xcalloc(p->to - p->from, sizeof *values);
    const uint64_t baseline = t->cell->phases[0].memory.rss_bytes;
    for (size_t i = p->from; i < p->to; i++) {
        const model_slice *slice = &t->cell->slices[i];
        if (slice->has_rss && slice->rss_bytes > baseline)
            values[n++] = (double)(slice->rss_bytes - baseline);
    }
    double drift = n == p->to - p->from ? drift_of(values, n) : NAN;
    free(values);
    return drift;
}
