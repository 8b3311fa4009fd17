/*
 * model.h - a result directory in memory: what was asked, and every cell that was measured.
 *
 *   DIR/matrix.json       what was asked: workloads, targets, options, host; the resume key
 *   DIR/plan.json         the command that wrote here last, for run --plan (tool/plan.h)
 *   DIR/lock              held while a tool writes here
 *   DIR/rounds/W.R.json   one finished round: its cells and their state. It is renamed into place
 *                         when the whole round is there; cells without it do not count
 *   DIR/cells/NAME.jsonl  one cell each (schema: allocbench/run.h)
 *   DIR/samples.csv raw.tsv summary.tsv REPORT.md rss-W.svg   made from the above, at any time
 *
 * Everything read from the directory is hostile: wrong types, missing keys, negative counts, huge
 * files and control characters give an error "FILE:LINE:COLUMN: what is wrong", never a crash.
 */
#ifndef ABENCH_TOOL_MODEL_H
#define ABENCH_TOOL_MODEL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <allocbench/run.h>

#include "tool/model_machine.h"

typedef struct model_metric {
    char *name;
    char *unit;
    uint32_t direction; /* ABENCH_DIRECTION_... */
    double value;
} model_metric;

typedef struct model_reading {
    uint64_t time_ns;
    abench_memory memory;
} model_reading;

/* What an allocator said of itself at one reading: its own names, in units that it knows. */
typedef struct model_statistic {
    char *name;
    uint64_t value;
} model_statistic;

typedef struct model_account {
    model_statistic *items; /* in the allocator's order */
    size_t count;
    uint64_t cost_ns; /* of the reading */
} model_account;

typedef struct model_phase {
    char *name; /* "baseline" first */
    bool timed;
    uint64_t time_ns; /* when it ended */
    uint64_t operations;
    uint64_t live_bytes; /* at its end */
    uint64_t live_blocks;
    uint64_t usable_bytes;
    bool has_usable;
    abench_memory memory;
    model_account account;
} model_phase;

/* A reading behind the last phase, when everything was freed. */
typedef struct model_after {
    char *name; /* "1s", "2s" ... or "purged"; no two of a cell are the same */
    abench_memory memory;
    model_account account;
    char *call; /* of a purge; "" when the record tells none */
    uint64_t call_ns;
    bool has_call_ns;
} model_after;

/* A setting in force, as the allocator tells it. */
typedef struct model_setting {
    char *name;
    char *value;
} model_setting;

typedef struct model_slice {
    char *phase;
    uint64_t operations;
    uint64_t wall_ns;
    uint64_t cpu_ns;
    uint64_t busy_ns;
    uint64_t wait_ns;
    uint64_t rss_bytes; /* at its end */
    bool has_rss;
} model_slice;

typedef struct model_bucket {
    uint64_t low; /* its smallest value */
    uint64_t high;
    uint64_t count;
} model_bucket;

/* Latencies of one kind. */
typedef struct model_histogram {
    char *name;        /* "malloc", "control" ... */
    char *unit;        /* "ns" */
    uint64_t interval; /* one operation in so many was timed; 0: not told */
    uint64_t count;
    uint64_t minimum;
    uint64_t maximum;
    model_bucket *buckets; /* in rising order, none empty */
    size_t buckets_count;
} model_histogram;

typedef struct model_cell {
    size_t workload; /* index */
    size_t target;   /* index; MODEL_FLOOR for the null allocator's cell */
    uint32_t round;
    size_t place; /* of model.places, where there are any: the machine that it ran on */
    bool again;   /* the baseline's second cell of the round (A/A) */
    bool failed;
    bool in_lockstep; /* how its round was run */
    bool interleaved; /* likewise: a command's cell that took turns with the others */
    bool is_harness;  /* a command that left a result of its own */
    char *reason;     /* why it failed: one line; else NULL */
    char *file;       /* relative to DIR; NULL when the cell failed before it wrote one */
    uint32_t lanes;   /* 0 when the file does not say */
    char *plan_digest;
    char *work_digest;
    abench_identity identity;
    model_metric *metrics;
    size_t metrics_count;
    model_reading *readings;
    size_t readings_count;
    model_phase *phases;
    size_t phases_count;
    model_slice *slices;
    size_t slices_count;
    char **warnings;
    size_t warnings_count;
    model_histogram *histograms;
    size_t histograms_count;
    model_after *afters;
    size_t afters_count;
    model_setting *settings;
    size_t settings_count;
} model_cell;

#define MODEL_FLOOR ((size_t)-1)

typedef struct model_workload {
    char *id;        /* "w00": used in file names */
    char *label;     /* the spec, or the command line, as the user gave it */
    char *spec;      /* canonical, as it was played; "" when it is not known */
    uint32_t rounds; /* asked for it; 0: as for all */
    bool is_command;
} model_workload;

typedef struct model_target {
    char *name;
    char *spec;
    char *library; /* "" for the C library */
    char *family;
    char *version;  /* "" when not known */
    char *build_id; /* "" when not known */
    char *settings; /* "MALLOC_ARENA_MAX=2 thp=never"; "" when there are none */
    char *missing;  /* NULL, or why it was left out */
} model_target;

typedef struct model {
    char *directory;
    char *tool_version;
    char *command_line;
    char *unix_s;
    uint64_t seed;
    uint32_t rounds;      /* asked */
    uint32_t looks;       /* at the rounds as they come in: 3 of a run --until-decided, else 1 */
    uint32_t look_rounds; /* the first of them is at so many; 0 where there is one */
    size_t baseline;      /* index of a target */
    abench_host host;
    model_machine machine; /* its fitness */
    model_place *places;   /* of a merge: the machines that the rounds ran on */
    size_t places_count;   /* 0: there is one, host */
    char **notes;          /* what the run said: cleared environment, sequential rounds, ... */
    size_t notes_count;
    model_workload *workloads;
    size_t workloads_count;
    model_target *targets; /* missing ones too */
    size_t targets_count;
    model_cell *cells; /* of finished rounds, sorted by workload, round, target, again */
    size_t cells_count;
    model_cell *tails; /* of the pass that timed every operation, sorted likewise: their histograms
                          count, their times and memory do not */
    size_t tails_count;
    char **dead; /* .part files: runs that died, or one that is still busy */
    size_t dead_count;
    bool is_busy; /* a run holds the directory; model_load does not look */
} model;

/* Reads DIR. On failure returns NULL and writes one line to message. */
model *model_load(const char *directory, char *message, size_t message_size);

/* accepts NULL */
void model_free(model *m);

/* How many rounds were asked for; one that is decided (--until-decided) gets fewer than another. */
uint32_t model_rounds(const model *m, size_t workload);

/* The metric of a cell, or NULL. */
const model_metric *model_cell_metric(const model_cell *cell, const char *name);

#endif
