#include "tool/report/phase_plan.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "tool/util.h"

#define READINGS_MIN 4u             /* of a recovery: fewer do not tell when half of it was there */
#define GROWTH_LEAST (256 * 1024.0) /* of a peak: of less no share is worth telling */

/* ---- names ----------------------------------------------------------------------------------- */

const char *plan_number(const char *name, const char *kind)
{
    const size_t length = strlen(kind);
    return strncmp(name, kind, length) == 0 && name[length] != '\0' ? name + length : NULL;
}

static bool is_recovery_of(const char *name, const char *peak_number)
{
    const char *number = plan_number(name, "recovery-");
    return number != NULL && strcmp(number, peak_number) == 0;
}

static void find_peaks(plan *p)
{
    const model_cell *cell = p->model;
    for (size_t i = 1; i < cell->phases_count && p->peaks_count < PEAKS_MAX; i++) {
        const char *number = plan_number(cell->phases[i].name, "peak-");
        size_t after = i + 1;
        if (number == NULL || i < 2) /* 0 is the baseline: nothing was before it */
            continue;
        while (after < cell->phases_count && !is_recovery_of(cell->phases[after].name, number))
            after++;
        if (after < cell->phases_count)
            p->peaks[p->peaks_count++] = (peak){i - 1, i, after};
    }
}

bool plan_has(const view *v, const model_cell *cell, size_t target, bool again)
{
    return cell->workload == v->workload && cell->target == target && cell->again == again &&
           !cell->failed;
}

static bool has_same_phases(const model_cell *a, const model_cell *b)
{
    bool same = a->phases_count == b->phases_count;
    for (size_t i = 0; i < a->phases_count && same; i++)
        same = strcmp(a->phases[i].name, b->phases[i].name) == 0;
    return same;
}

plan plan_make(const view *v)
{
    const model *m = v->s->m;
    plan p = {.v = v};
    if (m->workloads[v->workload].is_command)
        return p;
    for (size_t i = 0; i < m->cells_count && p.model == NULL; i++) {
        const model_cell *cell = &m->cells[i];
        if (cell->workload == v->workload && !cell->failed && cell->target != MODEL_FLOOR &&
            cell->phases_count > 1)
            p.model = cell;
    }
    if (p.model != NULL)
        find_peaks(&p);
    return p;
}

/* ---- numbers of one cell: NAN where there is none -------------------------------------------- */

double plan_rss_above(const model_cell *cell, const abench_memory *memory)
{
    const abench_memory *base = &cell->phases[0].memory;
    if ((memory->valid & base->valid & ABENCH_MEMORY_RSS) == 0)
        return NAN;
    return (double)memory->rss_bytes - (double)base->rss_bytes;
}

double phase_rss(const model_cell *cell, size_t phase)
{
    return plan_rss_above(cell, &cell->phases[phase].memory);
}

double phase_rss_per_live(const model_cell *cell, size_t phase)
{
    const uint64_t live = cell->phases[phase].live_bytes;
    return live == 0 ? NAN : phase_rss(cell, phase) / (double)live;
}

double phase_usable_per_live(const model_cell *cell, size_t phase)
{
    const model_phase *p = &cell->phases[phase];
    return p->live_bytes == 0 || !p->has_usable ? NAN
                                                : (double)p->usable_bytes / (double)p->live_bytes;
}

double peak_recovered(const model_cell *cell, const peak *k)
{
    const double top = phase_rss(cell, k->peak), growth = top - phase_rss(cell, k->before);
    return growth < GROWTH_LEAST ? NAN : (top - phase_rss(cell, k->after)) / growth;
}

double peak_half_back(const model_cell *cell, const peak *k)
{
    const uint64_t from = cell->phases[k->peak].time_ns, to = cell->phases[k->after].time_ns;
    const double top = phase_rss(cell, k->peak), end = phase_rss(cell, k->after);
    double found = (double)to - (double)from; /* behind the last reading, at the latest */
    bool is_found = false;
    size_t seen = 0;
    if (!(top - end >= GROWTH_LEAST))
        return NAN;
    for (size_t i = 0; i < cell->readings_count; i++) {
        const model_reading *reading = &cell->readings[i];
        if (reading->time_ns <= from || reading->time_ns > to)
            continue;
        seen++;
        if (!is_found && plan_rss_above(cell, &reading->memory) <= (top + end) / 2) {
            found = (double)(reading->time_ns - from);
            is_found = true;
        }
    }
    return seen < READINGS_MIN ? INFINITY : found;
}

/* ---- medians over the rounds ----------------------------------------------------------------- */

/* What is asked of each cell: one of the two. */
typedef struct question {
    of_phase phase_number;
    of_peak peak_number;
    size_t phase;
    const peak *k;
} question;

static double ask(const question *q, const model_cell *cell)
{
    return q->phase_number != NULL ? q->phase_number(cell, q->phase) : q->peak_number(cell, q->k);
}

static double median_of(const plan *p, size_t row, const question *q)
{
    const model *m = p->v->s->m;
    const view_row *r = &p->v->rows[row];
    double *values = xcalloc(m->cells_count + 1, sizeof *values);
    double median = NAN;
    size_t n = 0;
    for (size_t i = 0; i < m->cells_count; i++) {
        const model_cell *cell = &m->cells[i];
        if (!plan_has(p->v, cell, r->target, r->again) || !has_same_phases(cell, p->model))
            continue;
        values[n] = ask(q, cell);
        n += isnan(values[n]) ? 0 : 1;
    }
    if (n > 0)
        median = summary_median(values, n);
    free(values);
    return median;
}

double plan_at_phase(const plan *p, size_t row, of_phase number, size_t phase)
{
    return median_of(p, row, &(question){.phase_number = number, .phase = phase});
}

double plan_at_peak(const plan *p, size_t row, of_peak number, const peak *k)
{
    return median_of(p, row, &(question){.peak_number = number, .k = k});
}

size_t plan_phase_of(const peak *k, place where)
{
    return where == BEFORE ? k->before : where == AT_END ? k->peak : k->after;
}

static double median_of_those(double *values, size_t count)
{
    size_t n = 0;
    for (size_t i = 0; i < count; i++) {
        values[n] = values[i];
        n += isnan(values[i]) ? 0 : 1;
    }
    return n > 0 ? summary_median(values, n) : NAN;
}

double plan_phases_of_peaks(const plan *p, size_t row, of_phase number, place where)
{
    double values[PEAKS_MAX];
    for (size_t i = 0; i < p->peaks_count; i++)
        values[i] = plan_at_phase(p, row, number, plan_phase_of(&p->peaks[i], where));
    return median_of_those(values, p->peaks_count);
}

double plan_over_peaks(const plan *p, size_t row, of_peak number)
{
    double values[PEAKS_MAX];
    for (size_t i = 0; i < p->peaks_count; i++)
        values[i] = plan_at_peak(p, row, number, &p->peaks[i]);
    return median_of_those(values, p->peaks_count);
}
