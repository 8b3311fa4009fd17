/*
 * metrics.h - the numbers of the metrics, for the files that work them out.
 */
#ifndef ABENCH_RUN_METRICS_H
#define ABENCH_RUN_METRICS_H

#include "run/run.h"

enum {
    TIME_PER_OPERATION,
    OPERATIONS,
    DURATION,
    WALL,
    CPU,
    BUSY,
    WAIT,
    LIVE,
    LIVE_PEAK,
    USABLE,
    USABLE_PER_LIVE,
    RSS,
    RSS_PER_LIVE,
    PSS,
    PRIVATE_DIRTY,
    LAZYFREE,
    HUGE,
    INTERNAL_PER_LIVE,
    INTERNAL_PER_USABLE,
    EXTERNAL,
    OVERHEAD_PER_RSS,
    HEAP_BLOWUP,
    FRAGMENTATION_AVERAGE,
    FRAGMENTATION_AT_LIVE_PEAK,
    FRAGMENTATION_AT_RSS_PEAK,
    FRAGMENTATION_OF_PEAKS,
    RSS_DRAINED,
    LAZYFREE_DRAINED,
    RSS_AFTER_1S,
    RSS_AFTER_2S,
    RSS_AFTER_4S,
    RSS_AFTER_8S,
    RSS_PURGED,
    PURGE,
    RSS_PEAK,
    RSS_MEDIAN,
    RSS_BASELINE,
    PEAK_RECOVERED,
    PAGE_TABLES,
    MINOR_FAULTS,
    MAJOR_FAULTS,
    VOLUNTARY_SWITCHES,
    INVOLUNTARY_SWITCHES,
    RUN_WAIT,
    READINGS_MISSED,
    REQUESTS,
    REQUESTS_PER_SECOND,
    MALLOC_P50, /* and the other quantiles, and the largest; so for each kind below */
    MALLOC_TOUCH_P50 = MALLOC_P50 + RUN_QUANTILES + 1,
    FREE_P50 = MALLOC_TOUCH_P50 + RUN_QUANTILES + 1,
    REQUEST_P50 = FREE_P50 + RUN_QUANTILES + 1,
    METRICS = REQUEST_P50 + RUN_QUANTILES + 1
};

void abench__run_set(abench_run *run, uint32_t metric, double value);
int abench__run_has(const abench_run *run, uint32_t metric);

/* value - base of a field that both readings have. */
void abench__run_set_growth(abench_run *run, uint32_t metric, uint64_t bits,
                            const abench_memory *at, const abench_memory *base, uint64_t value,
                            uint64_t base_value);

/* fragmentation.c: by each definition in use; the metrics of the measured point and of RSS's peak
 * are there already. after.c's readings: what comes back. */
void abench__run_work_out_fragmentation(abench_run *run);
void abench__run_work_out_after(abench_run *run);

#endif
