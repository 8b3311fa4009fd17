/*
 * cells.h - cells in memory, as a test adds them, and what a report says of them.
 */
#ifndef ABENCH_TEST_CELLS_H
#define ABENCH_TEST_CELLS_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "has_text.h"

#include "tool/report/summary.h"
#include "tool/report/view.h"

#define MIB        1048576.0
#define CELLS_MOST 8
#define ITEMS_MOST 24 /* of a kind in a cell */

/* A result directory in memory: one workload, three targets, cells as a test adds them. */
typedef struct world {
    model m;
    model_workload workload;
    model_target targets[3];
    model_cell cells[CELLS_MOST];
    model_metric metrics[CELLS_MOST][ITEMS_MOST];
    model_phase phases[CELLS_MOST][4];
    model_after afters[CELLS_MOST][ITEMS_MOST];
    model_setting settings[CELLS_MOST][ITEMS_MOST];
    model_slice slices[CELLS_MOST][ITEMS_MOST];
    summary *s;
    verdicts *judged;
    view *v;
} world;

static inline char *text_of(const char *constant)
{
    return (char *)(uintptr_t)constant;
}

static inline void begin(world *w)
{
    static const char *const names[] = {"glibc", "jemalloc", "tcmalloc"};

    memset(w, 0, sizeof *w);
    w->workload = (model_workload){
        .id = text_of("w00"), .label = text_of("mixed"), .spec = text_of("mixed:lanes=1")};
    for (size_t at = 0; at < 3; at++)
        w->targets[at].name = w->targets[at].family = text_of(names[at]);
    w->m.workloads = &w->workload;
    w->m.workloads_count = 1;
    w->m.targets = w->targets;
    w->m.targets_count = 3;
    w->m.rounds = 1;
    w->m.cells = w->cells;
}

static inline void add_metric(model_cell *cell, const char *name, const char *unit, double value)
{
    cell->metrics[cell->metrics_count++] =
        (model_metric){text_of(name), text_of(unit), ABENCH_DIRECTION_LOWER, value};
}

static inline abench_memory rss(double mib)
{
    abench_memory memory = ABENCH_MEMORY_INIT;
    memory.valid = ABENCH_MEMORY_RSS;
    memory.rss_bytes = (uint64_t)(mib * MIB);
    return memory;
}

/* A cell with a baseline of 2 MiB, a timed phase and a drain. */
static inline model_cell *add_cell(world *w, size_t target, uint32_t round)
{
    const size_t at = w->m.cells_count++;
    model_cell *cell = &w->cells[at];
    static const char *const names[] = {"baseline", "steady", "drain"};

    assert_true(at < CELLS_MOST);
    *cell = (model_cell){.target = target, .round = round, .in_lockstep = true, .lanes = 1};
    cell->metrics = w->metrics[at];
    cell->phases = w->phases[at];
    cell->afters = w->afters[at];
    cell->settings = w->settings[at];
    cell->phases_count = 3;
    for (size_t i = 0; i < 3; i++)
        cell->phases[i] =
            (model_phase){.name = text_of(names[i]), .timed = i == 1, .memory = rss(2)};
    return cell;
}

/* Slices that say nothing but how many they are. */
static inline void add_slices(world *w, model_cell *cell, size_t count)
{
    cell->slices = w->slices[cell - w->cells];
    cell->slices_count = count;
    for (size_t i = 0; i < count; i++)
        cell->slices[i].phase = text_of("steady");
}

static inline void add_drained(model_cell *cell, double measured, double drained)
{
    add_metric(cell, "rss_bytes", "bytes", measured * MIB);
    add_metric(cell, "rss_drained_bytes", "bytes", drained * MIB);
}

/* RSS as the kernel says it, the 2 MiB of the baseline in it. */
static inline void add_after(model_cell *cell, const char *name, double mib, const char *call)
{
    cell->afters[cell->afters_count++] =
        (model_after){.name = text_of(name), .memory = rss(mib), .call = text_of(call)};
}

static inline void finish(world *w)
{
    w->s = summary_make(&w->m);
    w->judged = verdicts_make(w->s);
    w->v = view_make(w->judged, 0);
}

static inline void clear(world *w)
{
    view_free(w->v);
    verdicts_free(w->judged);
    summary_free(w->s);
}

/* What an allocator tells at two points, and cells that have it. */
static model_statistic measured[] = {{(char[]){"uordblks"}, 1234567},
                                     {(char[]){"keepcost"}, 999},
                                     {(char[]){"a|b_*"}, 18446744073709551615u}};
static model_statistic purged[] = {{(char[]){"uordblks"}, 0}, {(char[]){"trimmed"}, 1000}};

static inline void tell(model_cell *cell)
{
    cell->phases[1].account = (model_account){measured, 3, 21000};
    add_after(cell, "purged", 3, "malloc_trim(0)");
    cell->afters[cell->afters_count - 1].account = (model_account){purged, 2, 1500};
}

typedef void (*printer)(const world *w, FILE *out);

/* free() it */
static inline char *print(const world *w, printer from)
{
    char *text;
    size_t size;
    FILE *out = open_memstream(&text, &size);
    assert_non_null(out);
    from(w, out);
    fclose(out);
    return text;
}

static inline void assert_prints(const world *w, printer from, const char *part)
{
    char *text = print(w, from);
    assert_has(text, part);
    free(text);
}

static inline void assert_prints_nothing(const world *w, printer from)
{
    char *text = print(w, from);
    assert_string_equal(text, "");
    free(text);
}

#endif
