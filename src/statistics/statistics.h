/*
 * statistics.h - what the files of this folder share: order, pairs of ratios, the signed-rank
 * distribution. Without libm: ratios are multiplied where a book adds their logarithms, and the
 * square root is an instruction (these files are compiled with -fno-math-errno).
 */
#ifndef ABENCH_STATISTICS_STATISTICS_H
#define ABENCH_STATISTICS_STATISTICS_H

#include <allocbench/statistics.h>

#include <float.h>

#define ABENCH__INTERVAL_FIRST_RELEASE 40u

#define ABENCH__NAN (__builtin_nan(""))

static inline int abench__is_finite(double value)
{
    return value >= -DBL_MAX && value <= DBL_MAX;
}

static inline int abench__is_ratio(double value)
{
    return value > 0 && value <= DBL_MAX;
}

static inline int abench__is_alpha(double alpha)
{
    return alpha > 0 && alpha < 1;
}

/* Is each of them above 0 and finite, and is there one? */
int abench__are_ratios(const double *ratios, uint32_t count);

/* Ascending, in place: qsort may call malloc. None is not a number. */
void abench__sort(double *values, uint32_t count);

/* abench_quantile of values that are sorted and checked; count is not 0. */
double abench__quantile_of_sorted(const double *sorted, uint32_t count, uint32_t parts_per_million);

/* Of count values, how many pairs there are, each with itself too. */
static inline uint64_t abench__pairs(uint32_t count)
{
    const uint64_t n = count;

    return n % 2 == 0 ? n / 2 * (n + 1) : (n + 1) / 2 * n;
}

/* The rank-th smallest (from 1) of the geometric means of all pairs of sorted ratios. */
double abench__walsh(const double *sorted, uint32_t count, uint64_t rank);

/* The middle one of those, or the geometric mean of the two. */
double abench__walsh_middle(const double *sorted, uint32_t count);

/* How many of the rank sum's values W, from 0 up, are so far out that twice the probability of W or
 * less is at most alpha; *outside: twice that of the last of them. 0: none is. */
uint64_t abench__signed_rank_critical(uint32_t count, double alpha, double *outside);

/* abench_hodges_lehmann of sorted, checked ratios. */
void abench__interval_of_sorted(const double *sorted, uint32_t count, double alpha,
                                abench_interval *out);

/* The probability that a normal variable is z or more above its mean; z >= 0. Off by less than
 * 1e-12 of itself up to z = 37, the last whose probability a double can hold in full. */
double abench__normal_tail(double z);

/* |ln(ratio)|, off by some units of its last bit; ratio is above 0 and finite. */
double abench__ln_reach(double ratio);

#endif
