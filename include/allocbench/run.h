/*
 * run.h - one measured execution in one process, from options to result file.
 *
 *     abench_run_options o = ABENCH_RUN_OPTIONS_INIT;
 *     abench_run *run;
 *     abench_run_options_from_environment(&o, NULL);
 *     if (abench_run_create(&o, &run) == ABENCH_OK &&
 *         abench_run_play(run, "mixed", NULL) == ABENCH_OK)
 *         abench_run_write(run, 1, ABENCH_FORMAT_JSONL);
 *     abench_run_destroy(run);
 *
 * Around work of your own: abench_run_start, abench_run_phase..., abench_run_stop. Between start
 * and stop the library calls no function of the malloc family.
 *
 * A program that honours the environment below is a harness; `allocbench run -- HARNESS` reads its
 * result file in addition to what it measures from outside.
 *
 *   ALLOCBENCH_RESULT       path of the result file. The first process that creates it owns it; the
 *                           variable is taken out of the environment, so children do not write it
 *   ALLOCBENCH_NONCE        copied to the manifest: proof that this file answers this question
 *   ALLOCBENCH_SEED         unsigned integer
 *   ALLOCBENCH_LANES        unsigned integer
 *   ALLOCBENCH_DURATION_MS  for harnesses with time-limited work; a tape is fixed work
 *   ALLOCBENCH_WARMUP_MS    likewise
 *   ALLOCBENCH_SLICE        operations a slice
 *   ALLOCBENCH_SAMPLE_US    period of the memory timeline
 *   ALLOCBENCH_SETTLE_S     readings 1, 2, 4, 8 ... s after everything was freed, up to so many
 *   ALLOCBENCH_PURGE        1: then the allocator is asked to give back what it can, and read again
 *   ALLOCBENCH_LATENCY      one operation in so many is timed; 1: each, for tails only; 0: none
 *   ALLOCBENCH_TURN         "IN,OUT": two descriptors. The run writes one line "ready ..." to OUT
 *                           when it could begin, then reads one byte from IN before each slice and
 *                           writes "slice\n" to OUT after each but the last, after which the
 *                           tool waits for the harness to end: how runs are played in lockstep.
 *                           One that settles or purges writes "last\n" after the last slice and
 *                           reads one byte before it does
 *
 * Result file, schema 1: JSON Lines, one object a line, {"record": KIND, ...}. A file without its
 * end record is a run that died. Readers skip kinds and keys that they do not know.
 *
 *   manifest  first: schema, library, name, nonce, unix_s, pid, command (list), workload,
 *             plan_digest (16 hex digits), seed, lanes, touch, slice_operations,
 *             latency_interval (0: none), sample_us, sampler ("process", "thread"),
 *             own_allocator (a vtable of the caller's was played), allocator {family, version,
 *             build_id, file, device, inode, mixed, static, others},
 *             environment {NAME: VALUE of what steers an allocator}, settings {NAME: VALUE as the
 *             allocator tells them}, host {...}
 *   phase     at each phase's end: index (-1: the baseline, before anything), name, timed,
 *             operations, time_ns (the timeline's clock), live_bytes, live_blocks, usable_bytes,
 *             memory {field: value} of the fields that could be read, and account {statistic:
 *             value} under the allocator's own names; account_ns (what reading that took)
 *   after     behind the last phase, when everything is freed: name ("1s", "2s", ... or "purged"),
 *             memory and account as of a phase; call and call_ns of a purge. One whose seconds went
 *             by before the run's turn came is left out, with a warning
 *   machine   before and after {counter: value}, changes [{name, verdict, value}]: what the machine
 *             did meanwhile that may have disturbed the run (abench_machine_changes)
 *   reading   time_ns, cost_ns and the fields that could be read
 *   slice     index, phase, operations, wall_ns, cpu_ns, busy_ns, wait_ns, live_bytes, rss_bytes
 *   histogram for each kind of latency that was measured in timed phases: name (of
 *             abench_latency_name), unit "ns", interval (one operation in so many was timed; own
 *             work: 1), count, minimum, maximum, floor_ppm (a list: of the quantiles that are
 *             metrics, in parts per million, those at the machine's own floor), buckets (a list of
 *             [low, high, count] of those that are not empty)
 *   metric    name, unit, direction ("lower", "higher", "none"), value
 *   warning   message
 *   end       work_digest and receipt {planned, executed, failed, bytes_requested,
 *             live_bytes_end, live_blocks_end, checksum, checksum_planned, waits, wait_ns,
 *             pause_ns, late_ns, by_kind {KIND: [planned, executed]}}; both absent without a tape
 */
#ifndef ALLOCBENCH_RUN_H
#define ALLOCBENCH_RUN_H

#include <allocbench/allocator.h>
#include <allocbench/base.h>
#include <allocbench/histogram.h>
#include <allocbench/machine.h>
#include <allocbench/sampler.h>
#include <allocbench/tape.h>

#ifdef __cplusplus
extern "C" {
#endif

#define ABENCH_FORMAT_JSONL 1u /* JSON Lines, schema version 1 */

#define ABENCH_SLICES_MAX  1000000u    /* work of more slices is refused before it begins */
#define ABENCH_LATENCY_OFF 0xffffffffu /* a latency_interval: no operation is timed */

/* Flags of the options. */
#define ABENCH_RUN_PURGE 1u /* at the end, the allocator is asked to give back what it can */
/* Who reads the timeline. Unasked: of a tape a helper process, so that one lane stays the process's
 * only thread; of own work a thread, because a clone of a large process lets each of its pages take
 * a minor fault at the next write. */
#define ABENCH_RUN_SAMPLER_THREAD  2u
#define ABENCH_RUN_SAMPLER_PROCESS 4u

typedef struct abench_run_options {
    uint32_t struct_size;
    uint32_t lanes;       /* 0: what the workload says */
    uint64_t seed;        /* any value */
    uint64_t duration_ms; /* 0: not limited by time */
    uint64_t warmup_ms;
    uint64_t slice_operations; /* 0: 400000; a run keeps up to ABENCH_SLICES_MAX slices */
    uint32_t sample_us;        /* 0: 10000; at least 1000 */
    int32_t turn_in;           /* both 0: not in lockstep */
    int32_t turn_out;
    uint32_t latency_interval; /* of a tape: one operation in so many is timed. 0: 1024; 1: each, in
                                  a pass for tails: its metrics begin above p99 */
    uint32_t settle_s;         /* readings 1, 2, 4, 8 ... s after everything was freed, up to so
                                  many, at most 128; 0: none */
    uint32_t flags;            /* ABENCH_RUN_... */
    const char *name;          /* of the run, for the manifest; NULL: the workload's spec */
    const char *result_path;   /* NULL: none; created by abench_run_create, must not exist */
    const char *nonce;         /* NULL: none */
    const abench_memory_hooks *hooks;
} abench_run_options;

#define ABENCH_RUN_OPTIONS_INIT                                                                    \
    {                                                                                              \
        sizeof(abench_run_options), 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0                    \
    }

/* Sets struct_size, the rest to 0. Any thread. */
ABENCH_API void abench_run_options_init(abench_run_options *options);

/* Reads the variables above into *options and takes ALLOCBENCH_RESULT, _NONCE and _TURN out of the
 * environment. The strings stay the environment's own. ABENCH_ERROR_SYNTAX names the variable in
 * *error (may be NULL). Before any thread. */
ABENCH_API abench_status abench_run_options_from_environment(abench_run_options *options,
                                                             abench_error *error);

typedef struct abench_run abench_run;

/* A run that has not begun. With result_path the file is created (O_EXCL): when it is there
 * already another process owns it, and this run writes none. options may be NULL. On failure *out
 * is NULL. ABENCH_ERROR_ARGUMENT, _MEMORY, _SYSTEM. Any thread. */
ABENCH_API abench_status abench_run_create(const abench_run_options *options, abench_run **out);

/* Plays a workload of the catalogue, or of a file that abench_tape_save wrote ("tape:FILE"),
 * against allocator (NULL: the process's malloc) from start to stop. Refused afterwards, with
 * ABENCH_ERROR_RECEIPT, when the receipt is short. Blocks until done. One thread per object. */
ABENCH_API abench_status abench_run_play(abench_run *run, const char *workload,
                                         const abench_allocator *allocator);

/* The same for a tape of your own. One thread per object. */
ABENCH_API abench_status abench_run_play_tape(abench_run *run, const abench_tape *tape,
                                              const abench_allocator *allocator);

/* Takes the baseline reading, starts the clock and the sampler, for work that you do yourself, and
 * begins a timed phase called "steady". Such a run has the metrics of memory, wall_ns and cpu_ns
 * (of the whole process, over the timed phases), and of requests where there are lanes; it knows
 * nothing of what is live. One thread per object. */
ABENCH_API abench_status abench_run_start(abench_run *run);

/* Ends the phase before and begins the named one; takes a dear reading: call it while your threads
 * stand. name and flags as in abench_tape_builder_phase: rss_bytes is read at the end of the last
 * timed phase, rss_drained_bytes at the end of a last phase that is not timed. One thread per
 * object. */
ABENCH_API abench_status abench_run_phase(abench_run *run, const char *name, uint32_t flags);

/* A lane: one thread of your own work, and the latencies of its requests. Lives as long as its
 * run. */
typedef struct abench_lane abench_lane;

/* Hands out a lane, before or after abench_run_start; each thread takes one of its own. As many as
 * options.lanes says are mapped by abench_run_start and move no RSS; more take 40 KB each when they
 * are added. On failure *out is NULL. ABENCH_ERROR_STATE (stopped), _LIMIT (more than
 * ABENCH_LANES_MAX), _MEMORY. Any thread; with memory hooks: if they are. */
ABENCH_API abench_status abench_run_lane_add(abench_run *run, abench_lane **out);

/* The time at which a request begins: abench_clock_ns. One thread per object. */
ABENCH_API uint64_t abench_lane_begin(const abench_lane *lane);

/* A request that abench_lane_begin began at begun_ns has ended: one sample of "request". Those that
 * end in phases that are not timed do not count. Allocates nothing. One thread per object. */
ABENCH_API void abench_lane_end(abench_lane *lane, uint64_t begun_ns);

/* The same for work that comes by a schedule: "request" is the time since intended_ns, when it was
 * due, so that a stall shows in all requests that it held up (coordinated omission); "service" the
 * time since begun_ns. One thread per object. */
ABENCH_API void abench_lane_end_at(abench_lane *lane, uint64_t intended_ns, uint64_t begun_ns);

/* Ends the last phase, stops the sampler, works out the metrics and, where there is a result_path,
 * finishes that file. Your threads have ended their last requests. One thread per object. */
ABENCH_API abench_status abench_run_stop(abench_run *run);

/* The latencies of a kind (ABENCH_LATENCY_...) of a stopped run, over all lanes; NULL when there
 * are none. Lives as long as the run. One thread per object. */
ABENCH_API const abench_histogram *abench_run_histogram(const abench_run *run, uint32_t kind);

/* Writes the whole result of a stopped run to fd, whether or not it has a result_path. With
 * ABENCH_ERROR_SYSTEM the file is not whole: it lacks the end record that a reader asks for.
 * ABENCH_ERROR_STATE, _ARGUMENT (no such format). Blocks. One thread per object. */
ABENCH_API abench_status abench_run_write(abench_run *run, int32_t fd, uint32_t format);

/* The last error of this run in detail. Lives as long as the run. One thread per object. */
ABENCH_API const abench_error *abench_run_error(const abench_run *run);

/* accepts NULL. One thread per object. */
ABENCH_API void abench_run_destroy(abench_run *run);

/* ---- metrics --------------------------------------------------------------------------------- */

#define ABENCH_DIRECTION_NONE   0 /* neither is better */
#define ABENCH_DIRECTION_LOWER  1 /* lower is better */
#define ABENCH_DIRECTION_HIGHER 2

/* A metric of the library. The strings are static. */
typedef struct abench_metric_info {
    uint32_t struct_size;
    uint32_t direction;
    const char *name;    /* "rss_per_live" */
    const char *unit;    /* "bytes", "ns", "ratio", "count", "1/s" */
    const char *summary; /* one sentence with its formula */
} abench_metric_info;

#define ABENCH_METRIC_INFO_INIT                                                                    \
    {                                                                                              \
        sizeof(abench_metric_info), 0, 0, 0, 0                                                     \
    }

/* Sets struct_size, the rest to 0. Any thread. */
ABENCH_API void abench_metric_info_init(abench_metric_info *info);

/* Metric index; ABENCH_ERROR_NOT_FOUND beyond the last. Any thread. */
ABENCH_API abench_status abench_metric_at(uint32_t index, abench_metric_info *out);

/* The value of a metric of a stopped run; ABENCH_ERROR_STATE before that, ABENCH_ERROR_NOT_FOUND
 * when there is none of that name or this run could not measure it (never a 0 in its place). One
 * thread per object. */
ABENCH_API abench_status abench_run_metric(const abench_run *run, const char *name, double *value);

#ifdef __cplusplus
}
#endif
#endif
