/*
 * fake_result.h - a small result directory with numbers chosen to be checked by hand.
 *
 *   w00  a tape, one lane: 2 rounds x 3 targets, the baseline again, the floor; target 2 failed in
 *        round 1. Slices of 1000 operations: fill, then 4 of the timed phase "steady", then drain
 *   w01  a command: 1 round of 2, metrics only
 *
 * ns an operation in the three slices of "steady" that are not cold:
 *
 *             round 0             ratios          round 1          ratios
 *   target 0  40 50 60                            60 60 60
 *   again     44 50 54   1.1 1.0 0.9 -> 1.0       66 66 72   1.1 1.1 1.2 -> 1.1
 *   target 1  20 40 42   0.5 0.8 0.7 -> 0.7       48 54 60   0.8 0.9 1.0 -> 0.9
 *   target 2  20 25 30   0.5 0.5 0.5 -> 0.5       failed
 *   floor     10 10 15   .25 0.2 .25 -> .25       15 15 15   .25 .25 .25 -> .25
 */
#ifndef FAKE_RESULT_H
#define FAKE_RESULT_H

#include <ftw.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <jansson.h>

#include "tool/model.h"
#include "tool/report/summary.h"
#include "tool/report/verdict.h"

#define FAKE_MIB (1024 * 1024)

typedef struct fake {
    const char *names[3];
    const char *label;   /* of w00 */
    const char *command; /* of w01 */
    const char *note;
    const char *reason;  /* why target 2 failed */
    const char *warning; /* of both rounds' cells of target 1 */
    int lanes;
    bool other_work;  /* target 1 has another work digest in round 1 */
    bool base_failed; /* the baseline's first cell failed in round 1 */
    char path[64];    /* where it is */
} fake;

static const fake fake_plain = {
    .names = {"glibc", "jemalloc", "tcmalloc"},
    .label = "churn-local:lanes=1",
    .command = "sqlite3 :memory: 'create index'",
    .note = "LD_PRELOAD was cleared",
    .reason = "killed by signal 11 (Segmentation fault)",
    .warning = "the sampler missed 3 deadlines",
    .lanes = 1,
};

static inline void fake_write(const fake *f, const char *name, const char *text, size_t size)
{
    char path[512];
    snprintf(path, sizeof path, "%s/%s", f->path, name);
    FILE *out = fopen(path, "w");
    if (out == NULL || fwrite(text, 1, size, out) != size || fclose(out) != 0) {
        perror(path);
        exit(1);
    }
}

static inline char *fake_read(const fake *f, const char *name, size_t *size)
{
    char path[512];
    static char buffer[1 << 20];
    snprintf(path, sizeof path, "%s/%s", f->path, name);
    FILE *in = fopen(path, "r");
    if (in == NULL)
        return NULL;
    *size = fread(buffer, 1, sizeof buffer - 1, in);
    buffer[*size] = '\0';
    fclose(in);
    return buffer;
}

/* Replaces the first `from` in a file, which must be there. */
static inline void fake_edit(const fake *f, const char *name, const char *from, const char *to)
{
    size_t size;
    char *text = fake_read(f, name, &size);
    char *at = text == NULL ? NULL : strstr(text, from);
    char *changed;
    size_t changed_size;
    FILE *out = open_memstream(&changed, &changed_size);
    if (at == NULL) {
        fprintf(stderr, "%s is not in %s\n", from, name);
        exit(1);
    }
    fprintf(out, "%.*s%s%s", (int)(at - text), text, to, at + strlen(from));
    fclose(out);
    fake_write(f, name, changed, changed_size);
    free(changed);
}

static inline void fake_write_json(const fake *f, const char *name, json_t *value)
{
    char *text = json_dumps(value, JSON_INDENT(1));
    fake_write(f, name, text, strlen(text));
    free(text);
    json_decref(value);
}

/* ---- one cell -------------------------------------------------------------------------------- */

typedef struct fake_cell {
    int round;
    int target; /* -1: the floor */
    bool again;
    int ns[3];      /* an operation, in the slices that count */
    double rss_mib; /* 0: the metric is absent */
    double peak_mib;
} fake_cell;

static const fake_cell fake_cells[] = {
    {0, 0, false, {40, 50, 60}, 20.0, 30}, {0, 0, true, {44, 50, 54}, 20.0, 30},
    {0, 1, false, {20, 40, 42}, 15.0, 0},  {0, 2, false, {20, 25, 30}, 40.0, 60},
    {0, -1, false, {10, 10, 15}, 0, 0},    {1, 0, false, {60, 60, 60}, 22.0, 33},
    {1, 0, true, {66, 66, 72}, 22.0, 33},  {1, 1, false, {48, 54, 60}, 24.2, 0},
    {1, 2, false, {0, 0, 0}, 0, 0},        {1, -1, false, {15, 15, 15}, 0, 0},
};

static inline void fake_file_name(char *name, size_t size, const fake_cell *c)
{
    snprintf(name, size, "cells/w00.r%03d.t%02d%s.jsonl", c->round, c->target + 1,
             c->again ? "a" : "");
}

static inline void fake_put(FILE *out, json_t *record)
{
    char *text = json_dumps(record, JSON_COMPACT);
    fprintf(out, "%s\n", text);
    free(text);
    json_decref(record);
}

static inline void fake_put_metric(FILE *out, const char *name, const char *unit,
                                   const char *direction, double value)
{
    fake_put(out, json_pack("{s:s, s:s, s:s, s:s, s:f}", "record", "metric", "name", name, "unit",
                            unit, "direction", direction, "value", value));
}

static inline void fake_put_slices(FILE *out, const fake_cell *c)
{
    const char *phases[] = {"fill", "steady", "steady", "steady", "steady", "drain"};
    int ns[] = {500, 900, c->ns[0], c->ns[1], c->ns[2], 300};
    for (int i = 0; i < 6; i++)
        fake_put(out,
                 json_pack("{s:s, s:i, s:s, s:i, s:i, s:i, s:i, s:i}", "record", "slice", "index",
                           i, "phase", phases[i], "operations", 1000, "wall_ns", ns[i] * 2000,
                           "cpu_ns", ns[i] * 1000, "busy_ns", ns[i] * 3000, "wait_ns", 0));
}

static inline void fake_put_phases(FILE *out, const fake_cell *c)
{
    const char *names[] = {"baseline", "fill", "steady", "drain"};
    json_int_t ends[] = {0, 500000000, 1800000000, 2000000000};
    json_int_t live[] = {0, 12 * FAKE_MIB, 12 * FAKE_MIB, 0};
    for (int i = 0; i < 4; i++)
        fake_put(out,
                 json_pack("{s:s, s:i, s:s, s:b, s:i, s:I, s:I, s:i, s:{s:I}}", "record", "phase",
                           "index", i - 1, "name", names[i], "timed", i == 2, "operations", 1000,
                           "time_ns", ends[i], "live_bytes", live[i], "live_blocks", 10, "memory",
                           "rss_bytes", (json_int_t)((i == 0 ? 2 : 2 + c->rss_mib) * FAKE_MIB)));
}

static inline void fake_put_readings(FILE *out, const fake_cell *c)
{
    for (int i = 0; i <= 40; i++) {
        double part = i < 10 ? i / 10.0 : i < 36 ? 1 : 0.1;
        fake_put(out,
                 json_pack("{s:s, s:I, s:I, s:i}", "record", "reading", "time_ns",
                           (json_int_t)i * 50000000, "rss_bytes",
                           (json_int_t)((2 + c->rss_mib * part) * FAKE_MIB), "minor_faults", i));
    }
}

static inline void fake_write_cell(const fake *f, const fake_cell *c)
{
    char *text;
    size_t size;
    char name[64];
    FILE *out = open_memstream(&text, &size);
    bool other = f->other_work && c->target == 1 && c->round == 1;
    fake_put(out, json_pack("{s:s, s:i, s:s, s:s, s:i, s:{s:s, s:s, s:s, s:b}}", "record",
                            "manifest", "schema", 1, "library", "0.1.0", "plan_digest",
                            "00000000000000aa", "lanes", f->lanes, "allocator", "family", "glibc",
                            "version", "2.36", "build_id", "abcd", "mixed", 0));
    fake_put_slices(out, c);
    fake_put_phases(out, c);
    if (c->target >= 0)
        fake_put_readings(out, c);
    fake_put_metric(out, "time_ns_per_operation", "ns", "lower", 1000);
    fake_put_metric(out, "live_bytes", "bytes", "none", 12 * FAKE_MIB);
    if (c->rss_mib > 0) {
        fake_put_metric(out, "rss_bytes", "bytes", "lower", c->rss_mib * FAKE_MIB);
        fake_put_metric(out, "rss_per_live", "ratio", "lower", c->rss_mib / 12);
        fake_put_metric(out, "usable_per_live", "ratio", "lower", 1 + c->rss_mib / 100);
        fake_put_metric(out, "rss_drained_bytes", "bytes", "lower", c->rss_mib * FAKE_MIB / 8);
    }
    if (c->peak_mib > 0)
        fake_put_metric(out, "rss_peak_bytes", "bytes", "lower", c->peak_mib * FAKE_MIB);
    if (c->target == 1)
        fake_put(out, json_pack("{s:s, s:s}", "record", "warning", "message", f->warning));
    /* Checksums take all 64 bits. */
    fprintf(out,
            "{\"record\":\"end\",\"work_digest\":\"00000000000000%s\","
            "\"receipt\":{\"checksum\":18446744073709551615}}\n",
            other ? "cc" : "bb");
    fclose(out);
    fake_file_name(name, sizeof name, c);
    fake_write(f, name, text, size);
    free(text);
}

static inline void fake_write_command_cell(const fake *f, const char *name, double seconds)
{
    char *text;
    size_t size;
    FILE *out = open_memstream(&text, &size);
    fake_put(out, json_pack("{s:s, s:i}", "record", "manifest", "schema", 1));
    fake_put_metric(out, "wall_ns", "ns", "lower", seconds * 1e9);
    fake_put_metric(out, "user_ns", "ns", "lower", seconds * 8e8);
    fake_put_metric(out, "peak_rss_bytes", "bytes", "lower", 50 * FAKE_MIB);
    fake_put(out, json_pack("{s:s}", "record", "end"));
    fclose(out);
    fake_write(f, name, text, size);
    free(text);
}

/* ---- the directory --------------------------------------------------------------------------- */

static inline json_t *fake_target(const char *name, const char *settings, const char *missing)
{
    return json_pack("{s:s, s:s, s:s, s:s, s:s, s:s, s:s, s:s?}", "name", name, "spec", name,
                     "library", "", "family", "glibc", "version", "2.36", "build_id", "abcd",
                     "settings", settings, "missing", missing);
}

static inline void fake_write_matrix(const fake *f)
{
    json_t *targets = json_pack("[o, o, o, o]", fake_target(f->names[0], "", NULL),
                                fake_target(f->names[1], "MALLOC_ARENA_MAX=2", NULL),
                                fake_target(f->names[2], "", NULL),
                                fake_target("mimalloc3", "", "install libmimalloc3"));
    json_t *workloads =
        json_pack("[{s:s, s:s, s:s}, {s:s, s:s, s:s}]", "id", "w00", "label", f->label, "kind",
                  "tape", "id", "w01", "label", f->command, "kind", "command");
    json_t *host = json_pack("{s:s, s:s, s:s, s:i, s:i, s:I}", "kernel", "6.1.0", "machine",
                             "x86_64", "cpu", "Some CPU", "cpus_online", 2, "page_bytes", 4096,
                             "memory_bytes", (json_int_t)4096 * FAKE_MIB);
    fake_write_json(f, "matrix.json",
                    json_pack("{s:i, s:s, s:s, s:s, s:s, s:i, s:s, s:o, s:[s], s:o, s:o}", "schema",
                              1, "tool_version", "0.1.0", "command_line",
                              "allocbench run churn-local:lanes=1 --rounds 2", "unix_s",
                              "1796000000", "seed", "7", "rounds", 2, "baseline", f->names[0],
                              "host", host, "notes", f->note, "workloads", workloads, "targets",
                              targets));
}

static inline void fake_write_round(const fake *f, int round)
{
    char name[64];
    json_t *cells = json_array();
    for (size_t i = 0; i < sizeof fake_cells / sizeof *fake_cells; i++) {
        const fake_cell *c = &fake_cells[i];
        bool failed = c->target == 2 && c->round == 1;
        failed = failed || (f->base_failed && c->target == 0 && !c->again && c->round == 1);
        if (c->round != round)
            continue;
        fake_file_name(name, sizeof name, c);
        json_array_append_new(cells,
                              json_pack("{s:s?, s:b, s:s, s:s?, s:s?}", "target",
                                        c->target >= 0 ? f->names[c->target] : NULL, "again",
                                        c->again, "status", failed ? "failed" : "ok", "reason",
                                        failed ? f->reason : NULL, "file", failed ? NULL : name));
        if (!failed)
            fake_write_cell(f, c);
    }
    snprintf(name, sizeof name, "rounds/w00.r%03d.json", round);
    fake_write_json(f, name,
                    json_pack("{s:i, s:s, s:i, s:s, s:s, s:o}", "schema", 1, "workload", "w00",
                              "round", round, "seed", "7", "mode", "lockstep", "cells", cells));
}

static inline void fake_write_command_round(const fake *f)
{
    fake_write_command_cell(f, "cells/w01.r000.t00.jsonl", 2);
    fake_write_command_cell(f, "cells/w01.r000.t01.jsonl", 1);
    fake_write_json(
        f, "rounds/w01.r000.json",
        json_pack("{s:i, s:s, s:i, s:s, s:s, s:[{s:s, s:b, s:s, s:s}, {s:s, s:b, s:s, s:s}]}",
                  "schema", 1, "workload", "w01", "round", 0, "seed", "7", "mode", "sequential",
                  "cells", "target", f->names[0], "again", 0, "status", "ok", "file",
                  "cells/w01.r000.t00.jsonl", "target", f->names[1], "again", 0, "status", "ok",
                  "file", "cells/w01.r000.t01.jsonl"));
}

static inline void fake_make(fake *f)
{
    char path[128];
    snprintf(f->path, sizeof f->path, "/tmp/allocbench-test-XXXXXX");
    if (mkdtemp(f->path) == NULL) {
        perror("mkdtemp");
        exit(1);
    }
    const char *folders[] = {"rounds", "cells"};
    for (int i = 0; i < 2; i++) {
        snprintf(path, sizeof path, "%s/%s", f->path, folders[i]);
        mkdir(path, 0700);
    }
    fake_write_matrix(f);
    fake_write_round(f, 0);
    fake_write_round(f, 1);
    fake_write_command_round(f);
}

static inline int fake_remove_one(const char *path, const struct stat *status, int kind,
                                  struct FTW *at)
{
    (void)status;
    (void)kind;
    (void)at;
    return remove(path);
}

static inline void fake_remove(const fake *f)
{
    nftw(f->path, fake_remove_one, 8, FTW_DEPTH | FTW_PHYS);
}

/* ---- loaded ---------------------------------------------------------------------------------- */

typedef struct world {
    fake f;
    model *m;
    summary *s;
    verdicts *judged;
} world;

static inline world open_world(const fake *from)
{
    char message[512];
    world w = {.f = *from};
    fake_make(&w.f);
    w.m = model_load(w.f.path, message, sizeof message);
    if (w.m == NULL) {
        fprintf(stderr, "%s\n", message);
        exit(1);
    }
    w.s = summary_make(w.m);
    w.judged = verdicts_make(w.s);
    return w;
}

static inline void close_world(world *w)
{
    verdicts_free(w->judged);
    summary_free(w->s);
    model_free(w->m);
    fake_remove(&w->f);
}

/* Setup and teardown of a test: *state is a plain fake. */
static inline int fake_setup(void **state)
{
    fake *f = malloc(sizeof *f);
    if (f == NULL)
        return -1;
    *f = fake_plain;
    fake_make(f);
    *state = f;
    return 0;
}

static inline int fake_teardown(void **state)
{
    fake_remove(*state);
    free(*state);
    return 0;
}

/* What a part of the report prints of a world; free() it. */
typedef void (*printer)(const world *w, FILE *out);

static inline char *print(const world *w, printer from)
{
    char *text = NULL;
    size_t size;
    FILE *out = open_memstream(&text, &size);
    if (out == NULL)
        return NULL;
    from(w, out);
    fclose(out);
    return text;
}

#endif
