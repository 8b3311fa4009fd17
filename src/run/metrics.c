/* metrics.c - the metrics of a run: their names, units and formulas, and the arithmetic. */
#include <string.h>

#include "base/options.h"
#include "run/lane.h"

#define INFO_FIRST_RELEASE 32u
#define QUANTILES          RUN_QUANTILES
#define TAIL_BEYOND        990000u /* ppm */

const uint32_t abench__run_quantiles[RUN_QUANTILES] = {500000, 990000, 999000, 999900};

_Static_assert(sizeof(abench_metric_info) == INFO_FIRST_RELEASE, "first release");

enum {
    TIME_PER_OPERATION,
    OPERATIONS,
    DURATION,
    WALL,
    CPU,
    BUSY,
    WAIT,
    LIVE,
    USABLE,
    USABLE_PER_LIVE,
    RSS,
    RSS_PER_LIVE,
    PSS,
    PRIVATE_DIRTY,
    LAZYFREE,
    RSS_DRAINED,
    RSS_PEAK,
    RSS_MEDIAN,
    RSS_BASELINE,
    PEAK_RECOVERED,
    MINOR_FAULTS,
    MAJOR_FAULTS,
    REQUESTS,
    REQUESTS_PER_SECOND,
    MALLOC_P50, /* and the other QUANTILES, and the largest; so for each kind below */
    MALLOC_TOUCH_P50 = MALLOC_P50 + QUANTILES + 1,
    FREE_P50 = MALLOC_TOUCH_P50 + QUANTILES + 1,
    REQUEST_P50 = FREE_P50 + QUANTILES + 1,
    METRICS = REQUEST_P50 + QUANTILES + 1
};

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
    [RSS_DRAINED] = {"rss_drained_bytes", "bytes", LOWER,
                     "RSS at the end of the run, everything freed, less the baseline; of own work: "
                     "when its last phase is not timed"},
    [RSS_PEAK] = {"rss_peak_bytes", "bytes", LOWER, "VmHWM at the end less the baseline RSS"},
    [RSS_MEDIAN] = {"rss_median_bytes", "bytes", LOWER,
                    "median RSS of the timeline less the baseline"},
    [RSS_BASELINE] = {"rss_baseline_bytes", "bytes", NONE,
                      "RSS before the work: program, library and tape"},
    [PEAK_RECOVERED] =
        {"peak_recovered_ratio", "ratio", HIGHER,
         "median over the phases called peak-N, with recovery-N behind: the share of "
         "RSS's growth in the peak that is gone when the recovery ends"},
    [MINOR_FAULTS] = {"minor_faults", "count", LOWER, "minor faults from baseline to end"},
    [MAJOR_FAULTS] = {"major_faults", "count", LOWER, "major faults from baseline to end"},
    [REQUESTS] = {"requests", "count", NONE, "own work: requests that ended in timed phases"},
    [REQUESTS_PER_SECOND] = {"requests_per_second", "1/s", HIGHER,
                             "requests by the wall time of the timed phases"},
    LATENCY(MALLOC_P50, "malloc", "malloc, calloc and aligned_alloc: the call alone"),
    LATENCY(MALLOC_TOUCH_P50, "malloc_touch",
            "malloc, calloc and aligned_alloc, and the first touch behind them"),
    LATENCY(FREE_P50, "free", "free and free_sized"),
    LATENCY(REQUEST_P50, "request", "own work: from the intended start to the end"),
};

_Static_assert(METRICS <= RUN_METRICS_MAX && RUN_METRICS_MAX <= 64, "a bit for each");
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
        if (strcmp(metrics[at].name, name) == 0 && (run->metrics_valid >> at & 1) != 0) {
            *value = run->metrics[at];
            return ABENCH_OK;
        }
    return ABENCH_ERROR_NOT_FOUND;
}

static void set(abench_run *run, uint32_t metric, double value)
{
    run->metrics[metric] = value;
    run->metrics_valid |= (uint64_t)1 << metric;
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
    set(run, WALL, wall);
    set(run, CPU, cpu);
    if (run->own_merged == NULL)
        return;
    set(run, REQUESTS, (double)run->own_merged->request.count);
    if (wall > 0)
        set(run, REQUESTS_PER_SECOND, (double)run->own_merged->request.count / wall * 1e9);
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
            set(run, metric + at, (double)value);
    }
    set(run, metric + QUANTILES, (double)abench_histogram_maximum(histogram));
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
                         "which is not in the time: rank this workload by memory");
    set(run, OPERATIONS, t.operations);
    set(run, WALL, t.wall);
    set(run, CPU, t.cpu);
    set(run, BUSY, t.busy);
    set(run, WAIT, t.wait);
    set(run, TIME_PER_OPERATION, t.median_ns / t.operations);
}

/* value - base of a field that both readings have. */
static void set_growth(abench_run *run, uint32_t metric, uint32_t bits, const abench_memory *at,
                       const abench_memory *base, uint64_t value, uint64_t base_value)
{
    if ((at->valid & base->valid & bits) == bits)
        set(run, metric, (double)value - (double)base_value);
}

static void work_out_point(abench_run *run, const abench__run_phase *point)
{
    const abench_memory *m = &point->memory, *base = &run->phases[0].memory;

    if (run->has_tape) {
        set(run, LIVE, (double)point->live_bytes);
        if (point->has_usable)
            set(run, USABLE, (double)point->usable_bytes);
        if (point->has_usable && point->live_bytes > 0)
            set(run, USABLE_PER_LIVE, (double)point->usable_bytes / (double)point->live_bytes);
    }
    set_growth(run, RSS, ABENCH_MEMORY_RSS, m, base, m->rss_bytes, base->rss_bytes);
    set_growth(run, PSS, ABENCH_MEMORY_PSS, m, base, m->pss_bytes, base->pss_bytes);
    set_growth(run, PRIVATE_DIRTY, ABENCH_MEMORY_PRIVATE_DIRTY, m, base, m->private_dirty_bytes,
               base->private_dirty_bytes);
    if (m->valid & ABENCH_MEMORY_LAZYFREE)
        set(run, LAZYFREE, (double)m->lazyfree_bytes);
    if (run->has_tape && point->live_bytes > 0 && (run->metrics_valid >> RSS & 1) != 0)
        set(run, RSS_PER_LIVE, run->metrics[RSS] / (double)point->live_bytes);
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
        set(run, PEAK_RECOVERED, median(run->scratch, count));
}

static void work_out_timeline(abench_run *run)
{
    const abench_memory *base = &run->phases[0].memory;
    const uint32_t readings = abench_sampler_count(run->sampler);
    uint32_t count = 0;

    for (uint32_t at = 0; at < readings && count < run->scratch_bytes / sizeof(double); at++) {
        abench_memory reading;
        abench_memory_init(&reading);
        if (abench_sampler_at(run->sampler, at, &reading) == ABENCH_OK &&
            (reading.valid & ABENCH_MEMORY_RSS))
            run->scratch[count++] = (double)reading.rss_bytes;
    }
    if (count > 0 && (base->valid & ABENCH_MEMORY_RSS))
        set(run, RSS_MEDIAN, median(run->scratch, count) - (double)base->rss_bytes);
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
    if (run->has_tape ? run->receipt.live_blocks_end == 0 : !end->timed)
        set_growth(run, RSS_DRAINED, ABENCH_MEMORY_RSS, last, base, last->rss_bytes,
                   base->rss_bytes);
    set_growth(run, RSS_PEAK, ABENCH_MEMORY_RSS | ABENCH_MEMORY_HWM, last, base, last->hwm_bytes,
               base->rss_bytes);
    set_growth(run, MINOR_FAULTS, ABENCH_MEMORY_MINOR_FAULTS, last, base, last->minor_faults,
               base->minor_faults);
    set_growth(run, MAJOR_FAULTS, ABENCH_MEMORY_MAJOR_FAULTS, last, base, last->major_faults,
               base->major_faults);
    if (base->valid & ABENCH_MEMORY_RSS)
        set(run, RSS_BASELINE, (double)base->rss_bytes);
    work_out_peaks(run);
    work_out_latency(run, ABENCH_LATENCY_MALLOC, MALLOC_P50);
    work_out_latency(run, ABENCH_LATENCY_TOUCH, MALLOC_TOUCH_P50);
    work_out_latency(run, ABENCH_LATENCY_FREE, FREE_P50);
    work_out_latency(run, ABENCH_LATENCY_REQUEST, REQUEST_P50);
    set(run, DURATION, (double)abench_sampler_time_ns(run->sampler));
    work_out_timeline(run);
}
