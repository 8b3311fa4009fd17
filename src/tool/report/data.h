/*
 * data.h - the numbers for other programs: one header line, then a line a value. What is absent is
 * an empty field. The null allocator's cells are of target "(floor)".
 */
#ifndef ABENCH_TOOL_REPORT_DATA_H
#define ABENCH_TOOL_REPORT_DATA_H

#include <stdio.h>

#include "tool/report/verdict.h"

/* raw.tsv: a line a metric of a cell, as it was recorded, with the machine that it ran on. */
void data_raw(const model *m, FILE *out);

/* summary.tsv: a line a workload, target and metric.
 *
 *   n median min max spread   of its rounds' values; spread is (max - min) / median
 *   ratio                     to the baseline: of a judged metric the Hodges-Lehmann middle, else
 *                             the median of the rounds' ratios
 *   ratio_low ratio_high      its interval
 *   verdict                   better, worse, same, not told apart, not enough rounds, refused;
 *                             empty for the baseline and where nothing is judged
 *   threshold                 that was applied: 0.01 is 1 %
 *   rounds rounds_needed      behind the verdict; that it would take, 4294967295: beyond a million
 *   rank_low rank_high        1 is the best
 *   cliff                     Cliff's delta against the baseline
 *   drift                     of one that is not steady: from half to half of its runs
 *   aa_ratio aa_low aa_high   the baseline against itself: how far apart equal things read
 *   refused                   1: A/A separates, so that nothing is ranked; 0; empty: not judged */
void data_summary(const verdicts *v, FILE *out);

/* samples.csv: a line a reading, with all fields of abench_memory. */
void data_samples(const model *m, FILE *out);

#endif
