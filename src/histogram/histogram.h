/*
 * histogram.h - the inside of a histogram, for what records in a loop that is timed.
 */
#ifndef ABENCH_HISTOGRAM_HISTOGRAM_H
#define ABENCH_HISTOGRAM_HISTOGRAM_H

#include <allocbench/histogram.h>

#define HISTOGRAM_BITS    7u /* of a value that its bucket keeps */
#define HISTOGRAM_HALF    64u
#define HISTOGRAM_LARGEST (((uint64_t)1 << 40) - 1)
#define HISTOGRAM_BUCKETS 2240u /* the index of HISTOGRAM_LARGEST, and one */

struct abench_histogram {
    uint64_t count;
    uint64_t minimum; /* UINT64_MAX when there is none */
    uint64_t maximum;
    uint64_t counts[HISTOGRAM_BUCKETS];
    abench_memory_hooks hooks; /* of one that has its own mapping */
};

struct abench_latency {
    abench_histogram of_kind[ABENCH_LATENCY_KINDS];
    abench_memory_hooks hooks;
};

static inline uint32_t abench__histogram_index(uint64_t value)
{
    const uint64_t told = value < HISTOGRAM_LARGEST ? value : HISTOGRAM_LARGEST;
    const uint32_t length = 64u - (uint32_t)__builtin_clzll(told | (2 * HISTOGRAM_HALF - 1));
    const uint32_t shift = length - HISTOGRAM_BITS;

    return shift * HISTOGRAM_HALF + (uint32_t)(told >> shift);
}

static inline void abench__histogram_record(abench_histogram *histogram, uint64_t value)
{
    histogram->counts[abench__histogram_index(value)]++;
    histogram->count++;
    if (value < histogram->minimum)
        histogram->minimum = value;
    if (value > histogram->maximum)
        histogram->maximum = value;
}

/* Makes *histogram empty, in memory that is zero. Leaves its hooks alone. */
static inline void abench__histogram_begin(abench_histogram *histogram)
{
    histogram->minimum = UINT64_MAX;
}

/* The next bucket that is not empty, from index *at on; moves *at behind it. 0: there is none. */
int abench__histogram_next(const abench_histogram *histogram, uint32_t *at, abench_bucket *out);

/* The rank of a quantile: how many of count values lie below or at it. */
uint64_t abench__quantile_rank(uint64_t count, uint32_t parts_per_million);

#endif
