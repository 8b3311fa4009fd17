/*
 * sampler.h - timelines: cheap readings of memory (memory.h) at a fixed rate, dear ones now and
 * then.
 *
 * They are taken by a thread of this process, or by a helper process. An in-process thread makes
 * every munmap and madvise of the others interrupt its CPU (measured: 1.0 -> 3.5 us for a
 * madvise), makes glibc's malloc take its path for many threads, and is itself among the threads,
 * switches and waits that a reading of this process tells; a helper does none of these.
 */
#ifndef ALLOCBENCH_SAMPLER_H
#define ALLOCBENCH_SAMPLER_H

#include <allocbench/base.h>
#include <allocbench/memory.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Takes readings of this process at a fixed rate. */
typedef struct abench_sampler abench_sampler;

/* Flags of the options. */
#define ABENCH_SAMPLER_PROCESS 1u /* a helper process takes the readings */

typedef struct abench_sampler_options {
    uint32_t struct_size;
    uint32_t tiers;     /* 0: STATM | FAULTS; ROLLUP needs rollup_period_us */
    uint32_t period_us; /* 0: 10000; at least 1000 */
    uint32_t capacity;  /* readings kept, rounded up to even, at most 1048576; when full, every
                           second one is dropped (of a pair with one dear reading the cheap one) and
                           the period doubles; 0: 8192 */
    uint32_t flags;     /* ABENCH_SAMPLER_... */
    /* 0: no dear readings. Else the first reading reads ROLLUP too, and takes that much longer, and
     * so does each one when so long has passed since the last one that did, and a thousand times
     * what that one took: in a long run the dear readings have 0.1 % of the time at most. */
    uint32_t rollup_period_us;
    const abench_memory_hooks *hooks; /* not for a helper, whose memory two processes share */
} abench_sampler_options;

#define ABENCH_SAMPLER_OPTIONS_INIT                                                                \
    {                                                                                              \
        sizeof(abench_sampler_options), 0, 0, 0, 0, 0, 0                                           \
    }

/* Sets struct_size, the rest to 0. Any thread. */
ABENCH_API void abench_sampler_options_init(abench_sampler_options *options);

/* Makes the thread or the helper, which sleeps until start. options may be NULL.
 * ABENCH_ERROR_ARGUMENT, _MEMORY, _SYSTEM. pthread_create allocates: call it before what is
 * measured. The helper is a clone of this process that gives up all of its memory that it does not
 * need, is no child that wait() could see, and ends with this process, or when this process
 * executes another program. As after a fork, this process has a fault at the next write to each
 * page that it had (measured: 1.4 us a page): make it while there is little. Where there can be no
 * helper (before Linux 5.9, no /proc, no process or socket to be had, AddressSanitizer,
 * ThreadSanitizer, valgrind) a thread takes its place: abench_sampler_is_process. Any thread; with
 * a helper: before any thread, or in a process whose threads stand. */
ABENCH_API abench_status abench_sampler_create(const abench_sampler_options *options,
                                               abench_sampler **out);
/* Begins, or goes on after a stop. The timeline's clock runs only between start and stop, so a run
 * that waits for its turn has no gap in it. Returns when the thread or the helper is awake;
 * allocates nothing. ABENCH_ERROR_STATE: it runs already, its helper was killed, or this is a
 * forked child. One thread per object. */
ABENCH_API abench_status abench_sampler_start(abench_sampler *sampler);
/* Pauses: the clock stands at once; returns when no reading is under way. ABENCH_ERROR_STATE: it
 * does not run, its helper was killed, or this is a forked child; the readings are there all the
 * same. One thread per object. */
ABENCH_API abench_status abench_sampler_stop(abench_sampler *sampler);
/* The timeline's clock now: nanoseconds between starts and stops so far. Any thread. */
ABENCH_API uint64_t abench_sampler_time_ns(const abench_sampler *sampler);
/* Readings kept; stable only while stopped. One thread per object. */
ABENCH_API uint32_t abench_sampler_count(const abench_sampler *sampler);
/* 1: a helper process takes the readings, 0: a thread. One thread per object. */
ABENCH_API int32_t abench_sampler_is_process(const abench_sampler *sampler);
/* Deadlines that were missed by a whole period or more. One thread per object. */
ABENCH_API uint64_t abench_sampler_missed(const abench_sampler *sampler);
/* Reading index; ABENCH_ERROR_NOT_FOUND beyond the last, ABENCH_ERROR_STATE while it runs. One
 * thread per object. */
ABENCH_API abench_status abench_sampler_at(const abench_sampler *sampler, uint32_t index,
                                           abench_memory *out);
/* Ends the thread or the helper and waits for its end. accepts NULL. One thread per object. */
ABENCH_API void abench_sampler_destroy(abench_sampler *sampler);

#ifdef __cplusplus
}
#endif
#endif
