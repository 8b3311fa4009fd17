/*
 * notes.h - what a reader must know beside the numbers: each thing once, with who said it.
 */
#ifndef ABENCH_TOOL_REPORT_NOTES_H
#define ABENCH_TOOL_REPORT_NOTES_H

#include <stdbool.h>
#include <stddef.h>

#include "tool/report/verdict.h"

/* One sentence; text and who are not escaped. */
typedef struct note {
    char *text;
    char *who; /* "3 cells: glibc, jemalloc"; NULL for a note of the whole run */
} note;

typedef struct note_list {
    note *items;
    size_t count;
} note_list;

/* The run's notes, work that differed within a round, output that differed between runs, allocators
 * that give back only when they are called, where --settle waited; the cells' warnings (grouped,
 * with the workloads' labels where there are several), dead runs. */
note_list notes_make(const model *m);

void notes_free(note_list *list);

/* What the verdicts of a workload lack, each with what to do: too few rounds, metrics that are
 * refused because A/A separates, targets that are not steady. */
note_list notes_verdicts(const verdicts *v, size_t workload);

/* "round 1, jemalloc, workload: reason" for each failed cell of a workload. */
note_list notes_failures(const model *m, size_t workload);

/* "name: why it was left out" for each missing target. */
note_list notes_missing(const model *m);

/* The name of a cell's target; "no allocator" for the floor. */
const char *notes_target(const model *m, const model_cell *cell);

#endif
