/*
 * unpaired.h - intervals for what ran at different times, where no round of one side belongs to a
 * round of the other: the second sample by the first, and the middle of one sample.
 *
 * Exact distributions, no normal one assumed. Pure functions; arrays are reordered.
 */
#ifndef ABENCH_TOOL_REPORT_UNPAIRED_H
#define ABENCH_TOOL_REPORT_UNPAIRED_H

#include <stdbool.h>
#include <stdint.h>

#include <allocbench/statistics.h>

/* b by a: the median of all ratios b[j] / a[i] (Hodges and Lehmann 1963), between the bounds that
 * invert the two-sided rank-sum test (Mann and Whitney 1947; Moses 1965) at 1 - alpha. The
 * distribution is exact for up to about 60 values a side, beyond it normal with a continuity
 * correction. low and high are NaN when there are too few for alpha; count is the smaller side's.
 * false: a value that is not above 0 or not finite, no value on a side, or an alpha that is not
 * between 0 and 1. */
bool unpaired_ratio(double *a, uint32_t a_count, double *b, uint32_t b_count, double alpha,
                    abench_interval *out);

/* The fewest values a side, as many on both, whose interval at alpha exists: the smallest n for
 * which 2 of the C(2n, n) orders are no more than alpha of them. 0 when alpha is not between 0 and
 * 1. */
uint32_t unpaired_least(double alpha);

/* The median of values of any sign, between the bounds that invert the sign test at 1 - alpha; NaN
 * when there are too few. false: none, one that is not finite, or such an alpha. */
bool unpaired_median(double *values, uint32_t count, double alpha, abench_interval *out);

#endif
