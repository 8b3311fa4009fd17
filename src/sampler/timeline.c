#include "sampler/timeline.h"

#define RUNNING ((uint64_t)1 << 63)

void abench__timeline_init(abench__timeline *timeline, abench_memory *readings, uint32_t capacity,
                           uint64_t period_ns)
{
    timeline->readings = readings;
    timeline->capacity = capacity;
    timeline->period_ns = period_ns;
    timeline->due_ns = 0;
    atomic_init(&timeline->count, 0);
    atomic_init(&timeline->missed, 0);
    atomic_init(&timeline->clock, 0);
}

uint64_t abench__timeline_clock(const abench__timeline *timeline)
{
    return atomic_load_explicit(&timeline->clock, memory_order_acquire);
}

uint64_t abench__clock_shows(uint64_t clock, uint64_t system_ns)
{
    return (clock & RUNNING) != 0 ? system_ns - (clock & ~RUNNING) : clock;
}

uint64_t abench__timeline_time(const abench__timeline *timeline, uint64_t system_ns)
{
    return abench__clock_shows(abench__timeline_clock(timeline), system_ns);
}

static void set_clock(abench__timeline *timeline, uint64_t clock)
{
    atomic_store_explicit(&timeline->clock, clock, memory_order_release);
}

void abench__timeline_run(abench__timeline *timeline, uint64_t system_ns)
{
    set_clock(timeline, (system_ns - abench__timeline_time(timeline, system_ns)) | RUNNING);
}

void abench__timeline_halt(abench__timeline *timeline, uint64_t system_ns)
{
    set_clock(timeline, abench__timeline_time(timeline, system_ns));
}

/* Of two readings the first stays, but a dear one before a cheap one: there are few of them. */
static uint32_t drop_every_second(abench__timeline *timeline)
{
    const uint32_t half = timeline->capacity / 2;

    for (uint32_t i = 0; i < half; i++) {
        const abench_memory *pair = &timeline->readings[2 * i];
        const int second = (pair[1].valid & ~pair[0].valid & ABENCH_MEMORY_PSS) != 0;
        if (i > 0 || second)
            timeline->readings[i] = pair[second];
    }
    timeline->period_ns *= 2;
    timeline->due_ns -= timeline->due_ns % timeline->period_ns;
    return half;
}

void abench__timeline_keep(abench__timeline *timeline, const abench_memory *reading,
                           uint64_t time_ns)
{
    uint32_t count = atomic_load_explicit(&timeline->count, memory_order_relaxed);
    uint64_t late;

    if (count == timeline->capacity)
        count = drop_every_second(timeline);
    timeline->readings[count] = *reading;
    timeline->readings[count].time_ns = time_ns;
    atomic_store_explicit(&timeline->count, count + 1, memory_order_relaxed);

    late = time_ns > timeline->due_ns ? (time_ns - timeline->due_ns) / timeline->period_ns : 0;
    atomic_fetch_add_explicit(&timeline->missed, late, memory_order_relaxed);
    timeline->due_ns += (late + 1) * timeline->period_ns;
}
