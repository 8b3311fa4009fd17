/*
 * estimate.h - what a workload's parameters come to: sums of many drawn values, and means of what
 * is made of them.
 */
#ifndef ABENCH_WORKLOAD_ESTIMATE_H
#define ABENCH_WORKLOAD_ESTIMATE_H

#include <allocbench/distribution.h>

/* What the sum of count values may come to that are drawn anew again and again: their mean, five
 * standard deviations (with the mean square, UINT64_MAX: unknown, for the variance), and two of the
 * largest, which is what chance adds when those are rare. Never more than all can be. */
uint64_t abench__likely_sum(uint64_t count, uint64_t mean, uint64_t square_mean, uint64_t most);

/* Values of a distribution with their weights, evenly spread over what it can draw: unlike drawn
 * ones they miss no rare large value. Zeroed but for the distribution: before the first. */
typedef struct abench__strata {
    const abench_distribution *distribution;
    uint64_t value;
    uint64_t weight; /* up to 2^32; the sum is below 2^44 */
    uint32_t part;
    uint32_t point; /* of the part */
} abench__strata;

/* Goes to the next value; 0: there is none. */
int abench__strata_next(abench__strata *strata);

#endif
