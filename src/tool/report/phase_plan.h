/*
 * phase_plan.h - the phases of a workload as its cells recorded them: where its peaks are, and what
 * each number was in the middle of the rounds. phases.h says how the numbers are meant.
 */
#ifndef ABENCH_TOOL_REPORT_PHASE_PLAN_H
#define ABENCH_TOOL_REPORT_PHASE_PLAN_H

#include <stdbool.h>

#include "tool/report/view.h"

#define PEAKS_MAX 64u

/* The phases around one peak; indices of a cell's phases. */
typedef struct peak {
    size_t before;
    size_t peak;
    size_t after;
} peak;

/* What the phases of a workload are; taken from the first cell that has them. */
typedef struct plan {
    const view *v;
    const model_cell *model; /* NULL: no cell has phases */
    peak peaks[PEAKS_MAX];
    size_t peaks_count;
} plan;

typedef enum place { BEFORE, AT_END, AFTER } place;

plan plan_make(const view *v);

/* Of a phase called KIND-NUMBER: "3" of "peak-3" for "peak-"; NULL for another name. */
const char *plan_number(const char *name, const char *kind);

/* Is the cell one of this target's, and good? */
bool plan_has(const view *v, const model_cell *cell, size_t target, bool again);

/* Numbers of one cell; NAN where there is none. */
typedef double (*of_phase)(const model_cell *cell, size_t phase);
typedef double (*of_peak)(const model_cell *cell, const peak *k);

double phase_rss(const model_cell *cell, size_t phase); /* bytes above the baseline */
double phase_rss_per_live(const model_cell *cell, size_t phase);
double phase_usable_per_live(const model_cell *cell, size_t phase);

/* The share of a peak's growth that came back; NAN: it did not grow. */
double peak_recovered(const model_cell *cell, const peak *k);

/* Nanoseconds from the peak's end until half of what came back by the end of its recovery was back.
 * NAN: nothing came back; INFINITY: the timeline is too coarse to tell. */
double peak_half_back(const model_cell *cell, const peak *k);

/* RSS of a reading above the cell's baseline, which must be there: phases_count is not 0. */
double plan_rss_above(const model_cell *cell, const abench_memory *memory);

/* Medians over the rounds of the view's row. */
double plan_at_phase(const plan *p, size_t row, of_phase number, size_t phase);
double plan_at_peak(const plan *p, size_t row, of_peak number, const peak *k);

/* The medians over all peaks of those. */
double plan_phases_of_peaks(const plan *p, size_t row, of_phase number, place where);
double plan_over_peaks(const plan *p, size_t row, of_peak number);

/* Which phase of a peak that is. */
size_t plan_phase_of(const peak *k, place where);

#endif
