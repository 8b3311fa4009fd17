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
#define RUN_METRICS_MAX  96
#define RUN_AFTER_MAX    9 /* 1, 2, ... 128 s, purged */
#define RUN_SETTLE_MAX   128u
#define RUN_PURGED       "purged" /* the name of the reading behind a purge */
#define RUN_QUANTILES    4

#define RUN_RSS_UNKNOWN UINT64_MAX

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
    uint64_t account_ns;    /* what reading it took */
    uint64_t account_valid; /* a bit for each name of the run's account */
    uint64_t account[ABENCH_STATISTICS_MAX];
} abench__run_phase;

/* The statistics of the allocator's own account that were ever read, by their names. */
typedef struct abench__run_account {
    abench_account *account; /* NULL: this run keeps none */
    uint32_t count;
    char names[ABENCH_STATISTICS_MAX][sizeof((abench_statistic *)0)->name];
} abench__run_account;

/* What is known of the work before it begins: bounds, where the tape is streamed. */
typedef struct abench__run_plan {
    uint64_t operations;
    uint64_t live_bytes;   /* at their peak, or a bound of it */
    uint64_t memory_bytes; /* of the tape, or of its stream */
    uint32_t pauses;       /* real time passes in it */
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
    uint32_t timeline_lost; /* its helper process was killed */
    abench__run_plan plan;  /* of a tape */
    abench__run_phase phases[RUN_PHASES_MAX];
    uint32_t phases_count;
    uint32_t slices_count;
    abench__run_phase after[RUN_AFTER_MAX]; /* readings behind the last phase */
    uint32_t after_count;
    uint32_t has_drained; /* a tape: everything is freed at its end */
    uint64_t drained_ns;  /* abench_clock_ns at the last phase's end */
    uint64_t purge_ns;    /* where there is a reading RUN_PURGED */
    abench__run_account account;
    abench_machine machine_before;
    abench_machine machine_after;
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
    uint64_t *slices_rss; /* behind each slice; RUN_RSS_UNKNOWN */
    double *scratch;      /* as many as slices or readings, whichever is more */
    uint64_t scratch_bytes;
    uint64_t slices_bytes;
    abench_receipt receipt;
    double metrics[RUN_METRICS_MAX];
    uint8_t metrics_valid[RUN_METRICS_MAX];
    uint32_t warnings_count;
    char warnings[RUN_WARNINGS_MAX][200];
};

/* Takes the dear reading that ends a phase (or is the baseline) and keeps it. Returns the phase, or
 * NULL when there are too many. */
abench__run_phase *abench__run_end_phase(abench_run *run, const char *name);

/* Takes the dear reading and the account into *phase. */
void abench__run_read(abench_run *run, const char *name, abench__run_phase *phase);

/* Checks state, reads host and identity, makes reader and sampler, resets VmHWM. */
abench_status abench__run_prepare(abench_run *run);

/* Works out the metrics and finishes the result file. */
abench_status abench__run_finish(abench_run *run);

/* The timeline runs, or stands. A helper process that was killed ends it, with a warning, and is no
 * failure. */
abench_status abench__run_timeline_start(abench_run *run);
abench_status abench__run_timeline_stop(abench_run *run);

/* account.c: opens the account of the process's malloc, reads it into a phase, closes it. Where the
 * caller's own allocator is played, the run keeps none. */
abench_status abench__run_account_open(abench_run *run);
void abench__run_account_read(abench_run *run, abench__run_phase *phase);
void abench__run_account_close(abench_run *run);

/* after.c: what comes back when everything is freed - the readings of settle_s, then a purge.
 * Called when the last phase's reading was taken; blocks for settle_s. */
void abench__run_after(abench_run *run);

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
