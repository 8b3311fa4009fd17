/* lane.c - own work: one lane a thread, whose requests are timed from begin to end. */
#include "run/lane.h"

#include "base/text.h"

/* ---- memory ---------------------------------------------------------------------------------- */

static abench_lane *map_lane(const abench_run *run)
{
    abench_lane *lane = abench__map(&run->hooks, sizeof *lane, 1);

    if (lane == NULL)
        return NULL;
    lane->run = run;
    abench__histogram_begin(&lane->request);
    abench__histogram_begin(&lane->service);
    return lane;
}

/* Lane at, mapped when it is not there yet; two threads may ask for it at once. */
static abench_lane *lane_at(abench_run *run, uint32_t at)
{
    abench_lane *there = atomic_load(&run->own_lanes[at]);
    abench_lane *made;

    if (there != NULL)
        return there;
    made = map_lane(run);
    if (made == NULL || atomic_compare_exchange_strong(&run->own_lanes[at], &there, made))
        return made;
    abench__unmap(&run->hooks, made, sizeof *made);
    return there;
}

abench_status abench__run_lanes_prepare(abench_run *run)
{
    for (uint32_t at = 0; at < run->options.lanes; at++)
        if (lane_at(run, at) == NULL)
            return abench__fail(&run->error, ABENCH_ERROR_MEMORY, "no memory for lane %u", at);
    return ABENCH_OK;
}

void abench__run_lanes_destroy(abench_run *run)
{
    for (uint32_t at = 0; at < ABENCH_LANES_MAX; at++)
        abench__unmap(&run->hooks, atomic_load(&run->own_lanes[at]), sizeof(abench_lane));
}

/* ---- the lanes ------------------------------------------------------------------------------- */

abench_status abench_run_lane_add(abench_run *run, abench_lane **out)
{
    const uint32_t state = atomic_load(&run->state);
    uint32_t at;

    *out = NULL;
    if (state != RUN_NEW && state != RUN_RUNNING)
        return ABENCH_ERROR_STATE;
    do {
        at = atomic_load(&run->own_lanes_count);
        if (at == ABENCH_LANES_MAX)
            return ABENCH_ERROR_LIMIT;
    } while (!atomic_compare_exchange_weak(&run->own_lanes_count, &at, at + 1));
    *out = lane_at(run, at);
    return *out == NULL ? ABENCH_ERROR_MEMORY : ABENCH_OK; /* its number stays empty */
}

uint64_t abench_lane_begin(const abench_lane *lane)
{
    (void)lane;
    return abench_clock_ns();
}

static int is_timed(const abench_lane *lane)
{
    return atomic_load_explicit(&lane->run->own_timed, memory_order_relaxed) != 0;
}

static uint64_t elapsed(uint64_t from_ns, uint64_t to_ns)
{
    return to_ns > from_ns ? to_ns - from_ns : 0;
}

void abench_lane_end(abench_lane *lane, uint64_t begun_ns)
{
    const uint64_t now = abench_clock_ns();

    if (is_timed(lane))
        abench__histogram_record(&lane->request, elapsed(begun_ns, now));
}

void abench_lane_end_at(abench_lane *lane, uint64_t intended_ns, uint64_t begun_ns)
{
    const uint64_t now = abench_clock_ns();

    if (!is_timed(lane))
        return;
    abench__histogram_record(&lane->request, elapsed(intended_ns, now));
    abench__histogram_record(&lane->service, elapsed(begun_ns, now));
}

/* ---- what came of it ------------------------------------------------------------------------- */

void abench__run_lanes_merge(abench_run *run)
{
    const uint32_t count = atomic_load(&run->own_lanes_count);
    abench_lane *first = NULL;

    for (uint32_t at = 0; at < count; at++) {
        const abench_lane *lane = atomic_load(&run->own_lanes[at]);
        if (lane == NULL)
            continue;
        if (first == NULL) {
            first = atomic_load(&run->own_lanes[at]);
            continue;
        }
        abench_histogram_merge(&first->request, &lane->request);
        abench_histogram_merge(&first->service, &lane->service);
    }
    run->own_merged = first;
}

const abench_histogram *abench_run_histogram(const abench_run *run, uint32_t kind)
{
    const abench_histogram *histogram = NULL;

    if (atomic_load(&run->state) != RUN_STOPPED)
        return NULL;
    if (kind == ABENCH_LATENCY_REQUEST && run->own_merged != NULL)
        histogram = &run->own_merged->request;
    else if (kind == ABENCH_LATENCY_SERVICE && run->own_merged != NULL)
        histogram = &run->own_merged->service;
    else if (run->latency != NULL)
        histogram = abench_latency_histogram(run->latency, kind);
    return histogram == NULL || abench_histogram_count(histogram) == 0 ? NULL : histogram;
}
