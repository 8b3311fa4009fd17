/*
 * timing.h - the time of a cell from its slices.
 *
 * Of the timed phases count those slices after each phase's first (cold) one, or the only one that
 * it has; thread CPU time an operation at one lane, wall time without waits and pauses at more. A
 * phase's time is the median over its slices when they were played in lockstep. Played one cell
 * after the other, slices of two cells met different seconds of the machine: then it is the 25th
 * percentile, where there are 5 slices or more, because the slow ones are the machine's
 * (notes: measured against the median, mean and least). A cell's time is the mean of its phases'
 * times, weighed by their operations (the first slice's too).
 *
 * In lockstep the ratio of two cells is, for a phase, the median of the slice-by-slice ratios:
 * slices pair by index, because the same tape was cut at the same places and played in turn. Ratios
 * of several phases are averaged by what the phase weighs in the second cell's time.
 */
#ifndef ABENCH_TOOL_REPORT_TIMING_H
#define ABENCH_TOOL_REPORT_TIMING_H

#include <stdbool.h>
#include <stddef.h>

#include <allocbench/statistics.h>

#include "tool/model.h"

/* The slices from..to - 1, which are those of one timed phase. */
typedef struct timing_part {
    size_t from;
    size_t to;
    double operations; /* of all of them, the cold one too */
    double ns;         /* an operation of those that count */
} timing_part;

/* What counts of a cell's slices. */
typedef struct timing {
    const model_cell *cell;
    double *slices; /* ns an operation by index, NAN where a slice does not count */
    size_t count;
    timing_part *parts; /* with a slice that counts; none: the cell has no time of its slices */
    size_t parts_count;
    double ns; /* an operation */
} timing;

timing timing_make(const model_cell *cell);

void timing_clear(timing *t);

/* t's time by base's, slice by slice. false when their slices do not pair, or were not played in
 * turn. */
bool timing_ratio(const timing *t, const timing *base, double *ratio);

/* The same of the phase that weighs most, with the interval that its slices give within the round
 * (abench_slices_ratio). false when there is none. */
bool timing_interval(const timing *t, const timing *base, abench_interval *out);

/* How the phase with most slices moves from its first half to its second (abench_drift): its time,
 * and RSS less the baseline reading. NAN: it has too few slices, or no RSS. */
double timing_drift(const timing *t);
double timing_memory_drift(const timing *t);

#endif
