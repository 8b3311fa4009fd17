/*
 * histogram.h - latencies: a log-linear histogram of fixed memory, and the set of them that a play
 * fills.
 *
 * Buckets: values below 128 are exact; above, each doubling has 64 buckets, at most 1.6 % wide.
 *   shift = max(0, bit length of value - 7); index = shift * 64 + (value >> shift)
 * Values up to 2^40 - 1 (18 minutes in ns) are told apart, larger ones fall into the last bucket;
 * minimum and maximum are exact. (The layout is that of HdrHistogram, G. Tene, with 7 bits.)
 */
#ifndef ALLOCBENCH_HISTOGRAM_H
#define ALLOCBENCH_HISTOGRAM_H

#include <allocbench/base.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct abench_histogram abench_histogram;

/* An empty histogram: about 18 KB, touched. hooks: NULL, or where its memory comes from (must
 * outlive it). ABENCH_ERROR_ARGUMENT, _MEMORY. Any thread. */
ABENCH_API abench_status abench_histogram_create(const abench_memory_hooks *hooks,
                                                 abench_histogram **out);

/* Counts one value. Allocates nothing, takes about 2 ns. One thread per object. */
ABENCH_API void abench_histogram_record(abench_histogram *histogram, uint64_t value);

/* Counts value so many times. One thread per object. */
ABENCH_API void abench_histogram_record_many(abench_histogram *histogram, uint64_t value,
                                             uint64_t count);

/* Adds what from counted to into. One thread per object. */
ABENCH_API void abench_histogram_merge(abench_histogram *into, const abench_histogram *from);

/* Makes it empty. One thread per object. */
ABENCH_API void abench_histogram_clear(abench_histogram *histogram);

/* How many values were counted. Any thread, here and below: while none records. */
ABENCH_API uint64_t abench_histogram_count(const abench_histogram *histogram);

/* The smallest value; 0 when there is none. Any thread. */
ABENCH_API uint64_t abench_histogram_minimum(const abench_histogram *histogram);

/* The largest value; 0 when there is none. Any thread. */
ABENCH_API uint64_t abench_histogram_maximum(const abench_histogram *histogram);

#define ABENCH_QUANTILE_SAMPLES 100 /* values that a quantile must have above it */

/* The value below or at which parts_per_million of all values lie (nearest rank; the upper edge of
 * its bucket, at most the maximum). ABENCH_ERROR_NOT_FOUND when fewer than
 * ABENCH_QUANTILE_SAMPLES values lie above that rank: such a quantile says nothing.
 * ABENCH_ERROR_ARGUMENT: above 1000000. Any thread. */
ABENCH_API abench_status abench_histogram_quantile(const abench_histogram *histogram,
                                                   uint32_t parts_per_million, uint64_t *value);

/* A bucket that is not empty. */
typedef struct abench_bucket {
    uint32_t struct_size;
    uint32_t reserved;
    uint64_t low;   /* its smallest value */
    uint64_t high;  /* its largest value */
    uint64_t count; /* values in it */
} abench_bucket;

#define ABENCH_BUCKET_INIT                                                                         \
    {                                                                                              \
        sizeof(abench_bucket), 0, 0, 0, 0                                                          \
    }

/* Sets struct_size, the rest to 0. Any thread. */
ABENCH_API void abench_bucket_init(abench_bucket *bucket);

/* Fills *out with the index-th bucket that is not empty, in rising order; ABENCH_ERROR_NOT_FOUND
 * beyond the last. Any thread. */
ABENCH_API abench_status abench_histogram_bucket_at(const abench_histogram *histogram,
                                                    uint32_t index, abench_bucket *out);

/* Writes HdrHistogram's percentile text (.hgrm): value, percentile, count, 1/(1 - percentile), each
 * value divided by unit (1000: ns are written as us). Blocks. Allocates nothing.
 * ABENCH_ERROR_SYSTEM, _ARGUMENT (a unit of 0). Any thread. */
ABENCH_API abench_status abench_histogram_write_hgrm(const abench_histogram *histogram, int32_t fd,
                                                     uint64_t unit, abench_error *error);

/* accepts NULL. One thread per object. */
ABENCH_API void abench_histogram_destroy(abench_histogram *histogram);

/* ---- the latencies of a play ----------------------------------------------------------------- */

#define ABENCH_LATENCY_MALLOC  0 /* malloc, calloc, aligned_alloc: the call alone */
#define ABENCH_LATENCY_TOUCH   1 /* the same with the touch behind it: where page faults show */
#define ABENCH_LATENCY_REALLOC 2 /* the call alone */
#define ABENCH_LATENCY_FREE    3 /* free, free_sized */
#define ABENCH_LATENCY_CONTROL 4 /* nothing between two clocks: the machine's own noise */
#define ABENCH_LATENCY_REQUEST 5 /* own work: from the intended start to the end */
#define ABENCH_LATENCY_SERVICE 6 /* own work: from the real start to the end */
#define ABENCH_LATENCY_KINDS   7

/* "malloc", "malloc_touch", "realloc", "free", "control", "request", "service"; NULL for none. Any
 * thread. */
ABENCH_API const char *abench_latency_name(uint32_t kind);

/* One histogram a kind, in nanoseconds. */
typedef struct abench_latency abench_latency;

/* An empty set. ABENCH_ERROR_ARGUMENT, _MEMORY. Any thread. */
ABENCH_API abench_status abench_latency_create(const abench_memory_hooks *hooks,
                                               abench_latency **out);

/* The histogram of a kind; NULL for no kind. Lives as long as the set. Any thread. */
ABENCH_API abench_histogram *abench_latency_histogram(abench_latency *latency, uint32_t kind);

/* 1 when a quantile of kind lies at the machine's own floor: it is not above twice the same
 * quantile of the control histogram. 0 when it is, or either cannot be told. Any thread. */
ABENCH_API int32_t abench_latency_at_floor(const abench_latency *latency, uint32_t kind,
                                           uint32_t parts_per_million);

/* accepts NULL. One thread per object. */
ABENCH_API void abench_latency_destroy(abench_latency *latency);

#ifdef __cplusplus
}
#endif
#endif
