/* metrics.c - the metrics of a run: their names, units and formulas, and the arithmetic. */
#include <string.h>

#include "base/options.h"
#include "run/lane.h"
#include "run/metrics.h"

#define INFO_FIRST_RELEASE 32u
#define QUANTILES          RUN_QUANTILES
#define TAIL_BEYOND        990000u /* ppm */

const uint32_t abench__run_quantiles[RUN_QUANTILES] = {500000, 990000, 999000, 999900};

_Static_assert(sizeof(abench_metric_info) == INFO_FIRST_RELEASE, "first release");

#define LOWER  ABENCH_DIRECTION_LOWER
#define HIGHER ABENCH_DIRECTION_HIGHER
#define NONE   ABENCH_DIRECTION_NONE

/* The metrics of one kind of latency; a quantile with fewer than 100 samples above it is none. */
#define LATENCY(first, name, what)                                                                 \
    [first] = {name "_p50_ns", "ns", LOWER, "median latency of " what},                            \
    [first + 1] = {name "_p99_ns", "ns", LOWER, "99th percentile of the latency of " what},        \
    [first + 2] = {name "_p999_ns", "ns", LOWER, "99.9th percentile of the latency of " what},     \
    [first + 3] = {name "_p9999_ns", "ns", LOWER, "99.99th percentile of the latency of " what},   \
    [first + 4] = {name "_max_ns", "ns", LOWER, "largest latency, of those timed, of " what}

/* "measured point": the end of the last timed phase. "own": the baseline reading taken off. */
static const struct {
    const char *name;
    const char *unit;
    uint32_t direction;
    const char *summary;
} metrics[METRICS] = {
    [TIME_PER_OPERATION] = {"time_ns_per_operation", "ns", LOWER,
                            "median over the slices of a timed phase (its first apart) of thread "
                            "CPU time at one lane, of wall time without waits summed over the "
                            "lanes at more, by operation; of several phases the mean by their "
                            "operations"},
    [OPERATIONS] = {"operations", "count", NONE, "operations of the timed phases, over all lanes"},
    [DURATION] = {"duration_ns", "ns", NONE, "the timeline's clock at the end of the run"},
    [WALL] = {"wall_ns", "ns", LOWER,
              "wall time of the slices of timed phases; of own work: of these phases"},
    [CPU] = {"cpu_ns", "ns", LOWER,
             "thread CPU time of the same, over all lanes, waits included; of own work: of the "
             "process"},
    [BUSY] = {"busy_ns", "ns", LOWER, "wall time of the same, over all lanes, without waits"},
    [WAIT] = {"wait_ns", "ns", NONE, "time in which lanes waited for each other in them"},
    [LIVE] = {"live_bytes", "bytes", NONE,
              "bytes requested and not freed, at the end of the last "
              "timed phase"},
    [LIVE_PEAK] = {"live_peak_bytes", "bytes", NONE,
                   "most bytes requested and not freed, at any operation"},
    [USABLE] = {"usable_bytes", "bytes", LOWER, "sum of malloc_usable_size over the same blocks"},
    [USABLE_PER_LIVE] = {"usable_per_live", "ratio", LOWER,
                         "usable_bytes / live_bytes: internal fragmentation"},
    [RSS] = {"rss_bytes", "bytes", LOWER,
             "RSS at the end of the last timed phase less the baseline"},
    [RSS_PER_LIVE] = {"rss_per_live", "ratio", LOWER, "rss_bytes / live_bytes: all fragmentation"},
    [PSS] = {"pss_bytes", "bytes", LOWER, "PSS at the same point less the baseline"},
    [PRIVATE_DIRTY] = {"private_dirty_bytes", "bytes", LOWER,
                       "private dirty pages at the same point less the baseline"},
    [LAZYFREE] = {"lazyfree_bytes", "bytes", NONE,
                  "pages at the same point that are in RSS but given back (MADV_FREE)"},
    [HUGE] = {"huge_bytes", "bytes", NONE,
              "pages at the same point that huge pages serve (AnonHugePages), less the baseline"},
    [INTERNAL_PER_LIVE] = {"fragmentation_internal_per_live", "ratio", LOWER,
                           "(usable_bytes - live_bytes) / live_bytes"},
    [INTERNAL_PER_USABLE] = {"fragmentation_internal_per_usable", "ratio", LOWER,
                             "(usable_bytes - live_bytes) / usable_bytes"},
    [EXTERNAL] = {"fragmentation_external_bytes", "bytes", LOWER,
                  "rss_bytes - usable_bytes: external fragmentation, caches and tables"},
    [OVERHEAD_PER_RSS] = {"fragmentation_per_rss", "ratio", LOWER,
                          "(rss_bytes - live_bytes) / rss_bytes"},
    [HEAP_BLOWUP] = {"heap_blowup", "ratio", LOWER,
                     "rss_peak_bytes / live_peak_bytes: heap blowup over the tape's own peak"},
    [FRAGMENTATION_AVERAGE] = {"fragmentation_average", "ratio", LOWER,
                               "mean over the operations of RSS less the baseline / mean of live "
                               "bytes, less 1, at the slices' ends (Johnstone and Wilson 1998, "
                               "measure 1)"},
    [FRAGMENTATION_AT_LIVE_PEAK] = {"fragmentation_at_live_peak", "ratio", LOWER,
                                    "RSS less the baseline / live bytes, less 1, where most is "
                                    "live (measure 2)"},
    [FRAGMENTATION_AT_RSS_PEAK] = {"fragmentation_at_rss_peak", "ratio", LOWER,
                                   "the same where RSS is largest (measure 3)"},
    [FRAGMENTATION_OF_PEAKS] = {"fragmentation_of_peaks", "ratio", LOWER,
                                "largest RSS less the baseline / most live bytes, less 1 "
                                "(measure 4)"},
    [RSS_DRAINED] = {"rss_drained_bytes", "bytes", LOWER,
                     "RSS at the end of the run, everything freed, less the baseline; of own work: "
                     "when its last phase is not timed"},
    [LAZYFREE_DRAINED] = {"lazyfree_drained_bytes", "bytes", NONE,
                          "pages at the same point that are in RSS but given back (MADV_FREE)"},
    [RSS_AFTER_1S] = {"rss_after_1s_bytes", "bytes", LOWER,
                      "RSS 1 s after everything was freed, less the baseline; nothing is asked of "
                      "the allocator meanwhile"},
    [RSS_AFTER_2S] = {"rss_after_2s_bytes", "bytes", LOWER, "the same after 2 s"},
    [RSS_AFTER_4S] = {"rss_after_4s_bytes", "bytes", LOWER, "the same after 4 s"},
    [RSS_AFTER_8S] = {"rss_after_8s_bytes", "bytes", LOWER, "the same after 8 s"},
    [RSS_PURGED] = {"rss_purged_bytes", "bytes", LOWER,
                    "RSS after one thread asked the allocator to give back all that it can, "
                    "everything freed, less the baseline"},
    [PURGE] = {"purge_ns", "ns", NONE, "what that took"},
    [RSS_PEAK] =
        {"rss_peak_bytes", "bytes", LOWER,
         "VmHWM, or the largest reading of RSS where that lies above it, less the baseline RSS"},
    [RSS_MEDIAN] = {"rss_median_bytes", "bytes", LOWER,
                    "median RSS of the timeline less the baseline"},
    [RSS_BASELINE] = {"rss_baseline_bytes", "bytes", NONE,
                      "RSS before the work: program, library and tape"},
    [PEAK_RECOVERED] =
        {"peak_recovered_ratio", "ratio", HIGHER,
         "median over the phases called peak-N, with recovery-N behind: the share of "
         "RSS's growth in the peak that is gone when the recovery ends"},
    [PAGE_TABLES] = {"page_tables_bytes", "bytes", LOWER,
                     "page tables (VmPTE, not in RSS) at the measured point less the baseline"},
    [MINOR_FAULTS] = {"minor_faults", "count", LOWER, "minor faults from baseline to end"},
    [MAJOR_FAULTS] = {"major_faults", "count", LOWER, "major faults from baseline to end"},
    [VOLUNTARY_SWITCHES] = {"voluntary_switches", "count", NONE,
                            "context switches by waiting, from baseline to end"},
    [INVOLUNTARY_SWITCHES] = {"involuntary_switches", "count", NONE,
                              "context switches by preemption, from baseline to end"},
    [RUN_WAIT] = {"run_wait_ns", "ns", NONE,
                  "time in which threads could run and waited for a CPU, from baseline to end"},
    [READINGS_MISSED] = {"readings_missed", "count", NONE,
                         "readings of the timeline that were late by a whole period or more"},
    [REQUESTS] = {"requests", "count", NONE, "own work: requests that ended in timed phases"},
    [REQUESTS_PER_SECOND] = {"requests_per_second", "1/s", HIGHER,
                             "requests by the wall time of the timed phases"},
    LATENCY(MALLOC_P50, "malloc", "malloc, calloc and aligned_alloc: the call alone"),
    LATENCY(MALLOC_TOUCH_P50, "malloc_touch",
            "malloc, calloc and aligned_alloc, and the first touch behind them"),
    LATENCY(FREE_P50, "free", "free and free_sized"),
    LATENCY(REQUEST_P50, "request", "own work: from the intended start to the end"),
};

_Static_assert(METRICS <= RUN_METRICS_MAX, "a place for each");
_Static_assert(QUANTILES == 4, "as LATENCY has them");

void abench_metric_info_init(abench_metric_info *info)
{
    memset(info, 0, sizeof *info);
    info->struct_size = sizeof *info;
}

abench_status abench_metric_at(uint32_t index, abench_metric_info *out)
{
    abench_metric_info info = ABENCH_METRIC_INFO_INIT;

    if (index >= METRICS)
        return ABENCH_ERROR_NOT_FOUND;
    info.direction = metrics[index].direction;
    info.name = metrics[index].name;
    info.unit = metrics[index].unit;
    info.summary = metrics[index].summary;
    return abench__options_write(out, &info, sizeof info, INFO_FIRST_RELEASE);
}

abench_status abench_run_metric(const abench_run *run, const char *name, double *value)
{
    if (run->state != RUN_STOPPED)
        return ABENCH_ERROR_STATE;
    for (uint32_t at = 0; at < METRICS; at++)
        if (strcmp(metrics[at].name, name) == 0 && abench__run_has(run, at)) {
            *value = run->metrics[at];
            return ABENCH_OK;
        }
    return ABENCH_ERROR_NOT_FOUND;
}

void abench__run_set(abench_run *run, uint32_t metric, double value)
{
    run->metrics[metric] = value;
    run->metrics_valid[metric] = 1;
}

int abench__run_has(const abench_run *run, uint32_t metric)
{
    return run->metrics_valid[metric] != 0;
}

/* ---- medians --------------------------------------------------------------------------------- */

static void sift_down(double *values, uint32_t root, uint32_t count)
{
    for (;;) {
        uint32_t child = 2 * root + 1;
        double kept;
        if (child >= count)
            return;
        if (child + 1 < count && values[child] < values[child + 1])
            child++;
        if (values[root] >= values[child])
            return;
        kept = values[root];
        values[root] = values[child];
        values[child] = kept;
        root = child;
    }
}

/* Heapsort: qsort allocates. */
static double median(double *values, uint32_t count)
{
    for (uint32_t root = count / 2; root-- > 0;)
        sift_down(values, root, count);
    for (uint32_t left = count; left-- > 1;) {
        const double kept = values[0];
        values[0] = values[left];
        values[left] = kept;
        sift_down(values, 0, left);
    }
    return count % 2 != 0 ? values[count / 2] : (values[count / 2 - 1] + values[count / 2]) / 2;
}

/* ---- the arithmetic -------------------------------------------------------------------------- */

static int is_timed(const abench_run *run, const abench_slice *slice)
{
    return run->phases[slice->phase + 1].timed != 0; /* 0 is the baseline */
}

/* Own work has phases only. */
static void work_out_own_times(abench_run *run)
{
    double wall = 0, cpu = 0;

    for (uint32_t at = 1; at < run->phases_count; at++) {
        if (!run->phases[at].timed)
            continue;
        wall += (double)run->phases[at].wall_ns;
        cpu += (double)run->phases[at].cpu_ns;
    }
    abench__run_set(run, WALL, wall);
    abench__run_set(run, CPU, cpu);
    if (run->own_merged == NULL)
        return;
    abench__run_set(run, REQUESTS, (double)run->own_merged->request.count);
    if (wall > 0)
        abench__run_set(run, REQUESTS_PER_SECOND,
                        (double)run->own_merged->request.count / wall * 1e9);
}

/* A pass that times every operation is one for tails: below them it measures itself. */
static void work_out_latency(abench_run *run, uint32_t kind, uint32_t metric)
{
    const abench_histogram *histogram = abench_run_histogram(run, kind);
    const int tails_only = run->has_tape && run->options.latency_interval == 1;

    if (histogram == NULL)
        return;
    for (uint32_t at = 0; at < QUANTILES; at++) {
        uint64_t value;
        if ((!tails_only || abench__run_quantiles[at] > TAIL_BEYOND) &&
            abench_histogram_quantile(histogram, abench__run_quantiles[at], &value) == ABENCH_OK)
            abench__run_set(run, metric + at, (double)value);
    }
    abench__run_set(run, metric + QUANTILES, (double)abench_histogram_maximum(histogram));
}

/* Sums over the slices of timed phases. */
typedef struct times {
    double operations, wall, cpu, busy, wait;
    double median_ns; /* what the operations take at their phases' medians */
    uint32_t phases;
    uint32_t cold_phases; /* of one slice alone */
} times;

/* Adds the slices at ... end - 1, which are one phase's. The first of several is cold and stays
 * apart from the median. */
static void add_phase(const abench_run *run, uint32_t at, uint32_t end, times *t)
{
    const uint32_t first_warm = end - at > 1 ? at + 1 : at;
    double operations = 0;
    uint32_t count = 0;

    for (uint32_t index = at; index < end; index++) {
        const abench_slice *slice = &run->slices[index];
        operations += (double)slice->operations;
        t->wall += (double)slice->wall_ns;
        t->cpu += (double)slice->cpu_ns;
        t->busy += (double)slice->busy_ns;
        t->wait += (double)slice->wait_ns;
        if (index >= first_warm && slice->operations > 0)
            run->scratch[count++] = (double)(run->lanes == 1 ? slice->cpu_ns : slice->busy_ns) /
                                    (double)slice->operations;
    }
    if (count == 0)
        return;
    t->operations += operations;
    t->median_ns += operations * median(run->scratch, count);
    t->phases++;
    t->cold_phases += end - at == 1;
}

/* More than this share of the lanes' time spent in waits for each other is worth a word. */
#define WAIT_SHARE 0.25

static void work_out_times(abench_run *run)
{
    times t = {0};

    for (uint32_t at = 0, end; at < run->slices_count; at = end) {
        for (end = at + 1;
             end < run->slices_count && run->slices[end].phase == run->slices[at].phase; end++)
            ;
        if (is_timed(run, &run->slices[at]))
            add_phase(run, at, end, &t);
    }
    if (t.phases == 0)
        return;
    if (t.cold_phases == t.phases)
        abench__run_warn(run, "a timed phase has one slice, which is cold: its time says little; "
                              "take more operations or smaller slices");
    if (!run->plan.pauses && t.wait > WAIT_SHARE * (t.wait + t.busy))
        abench__run_warn(run,
                         "the lanes waited for each other in more than a quarter of their time, "
                         "which is not in the time: trust its memory more");
    abench__run_set(run, OPERATIONS, t.operations);
    abench__run_set(run, WALL, t.wall);
    abench__run_set(run, CPU, t.cpu);
    abench__run_set(run, BUSY, t.busy);
    abench__run_set(run, WAIT, t.wait);
    abench__run_set(run, TIME_PER_OPERATION, t.median_ns / t.operations);
}

void abench__run_set_growth(abench_run *run, uint32_t metric, uint64_t bits,
                            const abench_memory *at, const abench_memory *base, uint64_t value,
                            uint64_t base_value)
{
    if ((at->valid & base->valid & bits) == bits)
        abench__run_set(run, metric, (double)value - (double)base_value);
}

static void work_out_point(abench_run *run, const abench__run_phase *point)
{
    const abench_memory *m = &point->memory, *base = &run->phases[0].memory;

    if (run->has_tape) {
        abench__run_set(run, LIVE, (double)point->live_bytes);
        if (point->has_usable)
            abench__run_set(run, USABLE, (double)point->usable_bytes);
        if (point->has_usable && point->live_bytes > 0)
            abench__run_set(run, USABLE_PER_LIVE,
                            (double)point->usable_bytes / (double)point->live_bytes);
    }
    abench__run_set_growth(run, RSS, ABENCH_MEMORY_RSS, m, base, m->rss_bytes, base->rss_bytes);
    abench__run_set_growth(run, PSS, ABENCH_MEMORY_PSS, m, base, m->pss_bytes, base->pss_bytes);
    abench__run_set_growth(run, PRIVATE_DIRTY, ABENCH_MEMORY_PRIVATE_DIRTY, m, base,
                           m->private_dirty_bytes, base->private_dirty_bytes);
    abench__run_set_growth(run, HUGE, ABENCH_MEMORY_HUGE, m, base, m->huge_bytes, base->huge_bytes);
    abench__run_set_growth(run, PAGE_TABLES, ABENCH_MEMORY_PAGE_TABLES, m, base,
                           m->page_tables_bytes, base->page_tables_bytes);
    if (m->valid & ABENCH_MEMORY_LAZYFREE)
        abench__run_set(run, LAZYFREE, (double)m->lazyfree_bytes);
    if (run->has_tape && point->live_bytes > 0 && abench__run_has(run, RSS))
        abench__run_set(run, RSS_PER_LIVE, run->metrics[RSS] / (double)point->live_bytes);
}

/* What a peak cost and what of it came back, from the phase before it to the one behind it. */
static void work_out_peaks(abench_run *run)
{
    uint32_t count = 0;

    for (uint32_t at = 1; at + 1 < run->phases_count; at++) {
        const abench__run_phase *before = &run->phases[at - 1], *peak = &run->phases[at],
                                *after = &run->phases[at + 1];
        if (strncmp(peak->name, "peak-", 5) != 0 || strncmp(after->name, "recovery-", 9) != 0 ||
            !(before->memory.valid & peak->memory.valid & after->memory.valid & ABENCH_MEMORY_RSS))
            continue;
        if (peak->memory.rss_bytes > before->memory.rss_bytes)
            run->scratch[count++] =
                ((double)peak->memory.rss_bytes - (double)after->memory.rss_bytes) /
                (double)(peak->memory.rss_bytes - before->memory.rss_bytes);
    }
    if (count > 0)
        abench__run_set(run, PEAK_RECOVERED, median(run->scratch, count));
}

/* More than this share of the timeline's readings missed is worth a word. */
#define MISSED_SHARE 0.1
#define MISSED_LEAST 10u

static void work_out_timeline(abench_run *run)
{
    const abench_memory *base = &run->phases[0].memory;
    const uint32_t readings = abench_sampler_count(run->sampler);
    const uint64_t missed = abench_sampler_missed(run->sampler);
    uint32_t count = 0;

    abench__run_set(run, READINGS_MISSED, (double)missed);
    if (missed >= MISSED_LEAST && (double)missed * run->options.sample_us * 1000 >
                                      MISSED_SHARE * (double)abench_sampler_time_ns(run->sampler))
        abench__run_warn(run, "more than a tenth of the timeline's readings were missed: who takes "
                              "them had no CPU in time");
    for (uint32_t at = 0; at < readings && count < run->scratch_bytes / sizeof(double); at++) {
        abench_memory reading;
        abench_memory_init(&reading);
        if (abench_sampler_at(run->sampler, at, &reading) == ABENCH_OK &&
            (reading.valid & ABENCH_MEMORY_RSS))
            run->scratch[count++] = (double)reading.rss_bytes;
    }
    if (count > 0 && (base->valid & ABENCH_MEMORY_RSS))
        abench__run_set(run, RSS_MEDIAN, median(run->scratch, count) - (double)base->rss_bytes);
}

/* Threads that have ended meanwhile took their waits with them: a sum that fell is none. */
static void work_out_schedule(abench_run *run, const abench_memory *last, const abench_memory *base)
{
    abench__run_set_growth(run, VOLUNTARY_SWITCHES, ABENCH_MEMORY_VOLUNTARY_SWITCHES, last, base,
                           last->voluntary_switches, base->voluntary_switches);
    abench__run_set_growth(run, INVOLUNTARY_SWITCHES, ABENCH_MEMORY_INVOLUNTARY_SWITCHES, last,
                           base, last->involuntary_switches, base->involuntary_switches);
    if (last->run_wait_ns >= base->run_wait_ns)
        abench__run_set_growth(run, RUN_WAIT, ABENCH_MEMORY_RUN_WAIT, last, base, last->run_wait_ns,
                               base->run_wait_ns);
}

/* The kernel notes its mark from counters that lag behind (by up to some 100 KB a CPU), so that an
 * exact reading may lie above it. */
static uint64_t highest_rss(const abench_run *run, uint64_t hwm_bytes)
{
    uint64_t highest = hwm_bytes;

    for (uint32_t at = 1; at < run->phases_count; at++) {
        const abench_memory *m = &run->phases[at].memory;
        if (m->valid & ABENCH_MEMORY_RSS && m->rss_bytes > highest)
            highest = m->rss_bytes;
        if (m->valid & ABENCH_MEMORY_HWM && m->hwm_bytes > highest)
            highest = m->hwm_bytes;
    }
    for (uint32_t at = 0; at < run->slices_count; at++)
        if (run->slices_rss[at] != RUN_RSS_UNKNOWN && run->slices_rss[at] > highest)
            highest = run->slices_rss[at];
    return highest;
}

void abench__run_work_out(abench_run *run)
{
    const abench__run_phase *point = NULL, *end = &run->phases[run->phases_count - 1];
    const abench_memory *base = &run->phases[0].memory, *last = &end->memory;

    if (run->has_tape && run->slices_lost == 0)
        work_out_times(run);
    else if (!run->has_tape)
        work_out_own_times(run);
    for (uint32_t at = 1; at < run->phases_count; at++)
        if (run->phases[at].timed)
            point = &run->phases[at];
    if (point != NULL)
        work_out_point(run, point);
    if (run->has_tape ? run->receipt.live_blocks_end == 0 : !end->timed) {
        abench__run_set_growth(run, RSS_DRAINED, ABENCH_MEMORY_RSS, last, base, last->rss_bytes,
                               base->rss_bytes);
        if (last->valid & ABENCH_MEMORY_LAZYFREE)
            abench__run_set(run, LAZYFREE_DRAINED, (double)last->lazyfree_bytes);
    }
    abench__run_set_growth(run, RSS_PEAK, ABENCH_MEMORY_RSS | ABENCH_MEMORY_HWM, last, base,
                           highest_rss(run, last->hwm_bytes), base->rss_bytes);
    abench__run_set_growth(run, MINOR_FAULTS, ABENCH_MEMORY_MINOR_FAULTS, last, base,
                           last->minor_faults, base->minor_faults);
    abench__run_set_growth(run, MAJOR_FAULTS, ABENCH_MEMORY_MAJOR_FAULTS, last, base,
                           last->major_faults, base->major_faults);
    work_out_schedule(run, last, base);
    if (base->valid & ABENCH_MEMORY_RSS)
        abench__run_set(run, RSS_BASELINE, (double)base->rss_bytes);
    abench__run_work_out_fragmentation(run);
    abench__run_work_out_after(run);
    work_out_peaks(run);
    work_out_latency(run, ABENCH_LATENCY_MALLOC, MALLOC_P50);
    work_out_latency(run, ABENCH_LATENCY_TOUCH, MALLOC_TOUCH_P50);
    work_out_latency(run, ABENCH_LATENCY_FREE, FREE_P50);
    work_out_latency(run, ABENCH_LATENCY_REQUEST, REQUEST_P50);
    abench__run_set(run, DURATION, (double)abench_sampler_time_ns(run->sampler));
    work_out_timeline(run);
}
