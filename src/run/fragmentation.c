/*
 * fragmentation.c - fragmentation by each definition in use, under its own name.
 *
 * "Used" is RSS less the baseline. Behind each slice of a tape it stands beside what is live there,
 * which gives the four measures of Johnstone and Wilson, The Memory Fragmentation Problem: Solved?
 * (ISMM 1998): memory used by the allocator, relative to memory requested by the program
 * (1) averaged over all points in time, (2) at the point of most live memory, (3) at the point of
 * most memory used, (4) the most of the one to the most of the other. They are given as excess: 0
 * is none. Points in time are operations, as in the paper; the average is that of used by that of
 * live, so that the first and last few blocks do not outweigh all others.
 */
#include <string.h>

#include "run/metrics.h"

/* ---- at the measured point ------------------------------------------------------------------- */

static void work_out_point(abench_run *run)
{
    const double *m = run->metrics;

    if (!abench__run_has(run, LIVE) || m[LIVE] <= 0)
        return;
    if (abench__run_has(run, USABLE)) {
        abench__run_set(run, INTERNAL_PER_LIVE, (m[USABLE] - m[LIVE]) / m[LIVE]);
        if (m[USABLE] > 0)
            abench__run_set(run, INTERNAL_PER_USABLE, (m[USABLE] - m[LIVE]) / m[USABLE]);
    }
    if (!abench__run_has(run, RSS))
        return;
    if (abench__run_has(run, USABLE))
        abench__run_set(run, EXTERNAL, m[RSS] - m[USABLE]);
    if (m[RSS] > 0)
        abench__run_set(run, OVERHEAD_PER_RSS, (m[RSS] - m[LIVE]) / m[RSS]);
}

/* ---- over the slices ------------------------------------------------------------------------- */

/* Used and live memory behind one slice. */
typedef struct point {
    double used;
    double live;
} point;

static double excess(point p)
{
    return p.used / p.live - 1;
}

/* Slices are of about as many operations each: they are the points in time. */
static void work_out_slices(abench_run *run, double baseline)
{
    point sum = {0, 0}, live_peak = {0, 0}, used_peak = {0, 0};

    for (uint32_t at = 0; at < run->slices_count; at++) {
        const double operations = (double)run->slices[at].operations;
        point p = {(double)run->slices_rss[at] - baseline, (double)run->slices[at].live_bytes};
        if (run->slices_rss[at] == RUN_RSS_UNKNOWN)
            return; /* a hole could be the peak */
        if (p.used < 0)
            p.used = 0;
        sum.used += p.used * operations;
        sum.live += p.live * operations;
        if (p.live > live_peak.live)
            live_peak = p;
        if (p.used > used_peak.used)
            used_peak = p;
    }
    if (live_peak.live <= 0)
        return;
    abench__run_set(run, FRAGMENTATION_AVERAGE, excess(sum));
    abench__run_set(run, FRAGMENTATION_AT_LIVE_PEAK, excess(live_peak));
    if (used_peak.live > 0)
        abench__run_set(run, FRAGMENTATION_AT_RSS_PEAK, excess(used_peak));
    abench__run_set(run, FRAGMENTATION_OF_PEAKS, used_peak.used / live_peak.live - 1);
}

void abench__run_work_out_fragmentation(abench_run *run)
{
    const abench_memory *base = &run->phases[0].memory;

    if (!run->has_tape)
        return;
    work_out_point(run);
    if (run->receipt.live_bytes_peak > 0) {
        abench__run_set(run, LIVE_PEAK, (double)run->receipt.live_bytes_peak);
        if (abench__run_has(run, RSS_PEAK))
            abench__run_set(run, HEAP_BLOWUP,
                            run->metrics[RSS_PEAK] / (double)run->receipt.live_bytes_peak);
    }
    if (base->valid & ABENCH_MEMORY_RSS && run->slices_lost == 0)
        work_out_slices(run, (double)base->rss_bytes);
}

/* ---- what comes back ------------------------------------------------------------------------- */

void abench__run_work_out_after(abench_run *run)
{
    static const struct {
        const char *name;
        uint32_t metric;
    } places[] = {{"1s", RSS_AFTER_1S},
                  {"2s", RSS_AFTER_2S},
                  {"4s", RSS_AFTER_4S},
                  {"8s", RSS_AFTER_8S},
                  {RUN_PURGED, RSS_PURGED}};
    const abench_memory *base = &run->phases[0].memory;

    for (uint32_t at = 0; at < run->after_count; at++)
        for (size_t place = 0; place < sizeof places / sizeof places[0]; place++) {
            const abench_memory *m = &run->after[at].memory;
            if (strcmp(places[place].name, run->after[at].name) == 0)
                abench__run_set_growth(run, places[place].metric, ABENCH_MEMORY_RSS, m, base,
                                       m->rss_bytes, base->rss_bytes);
        }
    if (run->after_count > 0 && strcmp(run->after[run->after_count - 1].name, RUN_PURGED) == 0)
        abench__run_set(run, PURGE, (double)run->purge_ns);
}
