/*
 * run.h - the inside of a run: what it keeps between start and result file.
 */
#ifndef ABENCH_RUN_RUN_H
#define ABENCH_RUN_RUN_H

#include <stdatomic.h>

#include <allocbench/run.h>

#include "base/arena.h"

#define RUN_PHASES_MAX   (ABENCH_PHASES_MAX + 1) /* the baseline too */
#define RUN_WARNINGS_MAX 16
#define RUN_METRICS_MAX  64
#define RUN_QUANTILES    4

enum { RUN_NEW, RUN_RUNNING, RUN_STOPPED, RUN_FAILED };

/* A phase that has ended; the first is the baseline. */
typedef struct abench__run_phase {
    char name[32];
    uint32_t timed;
    uint32_t has_usable;
    uint64_t operations;
    uint64_t time_ns; /* the timeline's clock when it ended */
    uint64_t wall_ns; /* own work: without the reading at its end */
    uint64_t cpu_ns;  /* own work: of the process, likewise */
    uint64_t live_bytes;
    uint64_t live_blocks;
    uint64_t usable_bytes;
    abench_memory memory;
} abench__run_phase;

/* What is known of the work before it begins: bounds, where the tape is streamed. */
typedef struct abench__run_plan {
    uint64_t operations;
    uint64_t live_bytes;   /* at their peak */
    uint64_t memory_bytes; /* of the tape, or of its stream */
    uint32_t pauses;       /* real time passes in it */
    uint32_t reserved;
} abench__run_plan;

struct abench_run {
    abench_memory_hooks hooks;
    uint64_t bytes; /* of this mapping */
    abench_run_options options;
    _Atomic uint32_t state; /* RUN_... */
    int32_t result_fd;      /* -1: none */
    abench_error error;
    /* what the manifest says */
    char name[ABENCH__PAGE / 4];
    char nonce[72];
    char workload[ABENCH__PAGE / 4];
    uint64_t plan_digest;
    uint64_t unix_s;
    uint32_t lanes;
    uint32_t touch;
    uint32_t has_tape;
    uint32_t has_allocator; /* the caller's own vtable: identity says what it can */
    abench_identity identity;
    abench_host host;
    /* what was measured */
    abench_memory_reader *reader;
    abench_sampler *sampler;
    abench__run_plan plan; /* of a tape */
    abench__run_phase phases[RUN_PHASES_MAX];
    uint32_t phases_count;
    uint32_t slices_count;
    char phase_open[32]; /* own work: the phase that has begun */
    uint32_t phase_open_flags;
    uint64_t phase_open_wall_ns; /* clocks at its begin */
    uint64_t phase_open_cpu_ns;
    /* own work: its lanes */
    _Atomic uint32_t own_timed; /* requests count now */
    _Atomic uint32_t own_lanes_count;
    abench_lane *_Atomic own_lanes[ABENCH_LANES_MAX];
    abench_lane *own_merged; /* the first, once all were added up in it */
    abench_latency *latency; /* of a tape; NULL: off */
    abench_slice *slices;
    uint64_t slices_capacity;
    uint64_t slices_lost; /* beyond it */
    double *scratch;      /* as many as slices or readings, whichever is more */
    uint64_t scratch_bytes;
    uint64_t slices_bytes;
    abench_receipt receipt;
    double metrics[RUN_METRICS_MAX];
    uint64_t metrics_valid; /* a bit each */
    uint32_t warnings_count;
    char warnings[RUN_WARNINGS_MAX][200];
};

/* Takes the dear reading that ends a phase (or is the baseline) and keeps it. Returns the phase, or
 * NULL when there are too many. */
abench__run_phase *abench__run_end_phase(abench_run *run, const char *name);

/* Checks state, reads host and identity, makes reader and sampler, resets VmHWM. */
abench_status abench__run_prepare(abench_run *run);

/* Works out the metrics and finishes the result file. */
abench_status abench__run_finish(abench_run *run);

/* Keeps one line for the result; too many are dropped. */
void abench__run_warn(abench_run *run, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* metrics.c: parts per million of the quantiles that are metrics, in rising order. */
extern const uint32_t abench__run_quantiles[RUN_QUANTILES];
void abench__run_work_out(abench_run *run);

/* record.c: the manifest, and all that follows it. */
abench_status abench__run_write_manifest(const abench_run *run, int fd, abench_error *error);
abench_status abench__run_write_rest(const abench_run *run, int fd, abench_error *error);

#endif
