/*
 * timeline.h - readings at fixed distances on a clock that can be stopped, in fixed memory.
 *
 * Deadlines are multiples of the period on the timeline's own clock, whatever happens in between:
 * a late reading does not shift the next, and a stopped clock misses none. Nothing here waits or
 * reads a clock: the sampler does.
 */
#ifndef ABENCH_SAMPLER_TIMELINE_H
#define ABENCH_SAMPLER_TIMELINE_H

#include <stdatomic.h>

#include <allocbench/sampler.h>

typedef struct abench__timeline {
    abench_memory *readings;
    uint32_t capacity; /* even, so that what stays after a halving lies on the doubled period */
    _Atomic uint32_t count;
    uint64_t period_ns;
    uint64_t due_ns; /* the next deadline; at first 0 */
    _Atomic uint64_t missed;
    /* Running: the time of the system's clock at which this one would have shown 0, with RUNNING
     * set. Stopped: what it shows. One word, so that any thread can read it at any time. */
    _Atomic uint64_t clock;
} abench__timeline;

/* capacity: even, at least 2. readings: memory for as many. */
void abench__timeline_init(abench__timeline *timeline, abench_memory *readings, uint32_t capacity,
                           uint64_t period_ns);

/* The word clock, and what it shows when the system's clock shows system_ns. Any thread. */
uint64_t abench__timeline_clock(const abench__timeline *timeline);
uint64_t abench__clock_shows(uint64_t clock, uint64_t system_ns);

/* Both in one, for those who know that the clock is not started or stopped now. */
uint64_t abench__timeline_time(const abench__timeline *timeline, uint64_t system_ns);

/* Start and stop the clock. One thread at a time. */
void abench__timeline_run(abench__timeline *timeline, uint64_t system_ns);
void abench__timeline_halt(abench__timeline *timeline, uint64_t system_ns);

/* Keeps a reading that was begun at time_ns of the timeline's clock, and sets the next deadline.
 * When there is no room, every second reading is dropped first and the period doubles, whose
 * multiples are the deadlines from then on; of a pair with one dear reading that one stays. One
 * thread at a time. */
void abench__timeline_keep(abench__timeline *timeline, const abench_memory *reading,
                           uint64_t time_ns);

#endif
