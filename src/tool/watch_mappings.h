/*
 * watch_mappings.h - the mappings of a process tree by category.
 */
#ifndef ABENCH_TOOL_WATCH_MAPPINGS_H
#define ABENCH_TOOL_WATCH_MAPPINGS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <allocbench/memory.h>

/* The sums over the processes of a tree that could be read. */
typedef struct watch_mappings {
    abench_mappings_sum of[ABENCH_MAPPINGS_COUNT];
    uint32_t processes;  /* that were added */
    uint32_t unreadable; /* that were there, and could not be read */
    abench_status root;  /* how the reading of the root process ended */
    uint64_t time_ns;    /* since the watch began; set by the caller */
    uint64_t cost_ns;
} watch_mappings;

/* Reads those of count processes and adds them up; one that has ended is left out. root: the one
 * among them whose tree it is (out->root: ABENCH_ERROR_NOT_FOUND where it has ended or is none of
 * them). An error when there is no memory for it. */
abench_status watch_mappings_read(int32_t root, const int32_t *pids, size_t count,
                                  watch_mappings *out);

/* "mappings of SUBJECT: 2 of 3 processes (the rest could not be read), sizes in units of 1024".
 * free() it. */
char *watch_mappings_title(const watch_mappings *m, const char *subject);

#define WATCH_SHARE_LEAST 80u /* percent: a table of less does not tell about the peak */

/* How much of the largest RSS that is known the table shows: "its RSS of 7.20M is 5 % of the
 * largest, 122M by the kernel's own mark". looks_bytes: the highest RSS of the tree at a look;
 * mark_bytes: of a single process, by the kernel (VmHWM, ru_maxrss); 0: not known. *percent:
 * rounded down. free() it. */
char *watch_mappings_share(const watch_mappings *m, uint64_t looks_bytes, uint64_t mark_bytes,
                           uint32_t *percent);

/* Comma-separated values with a line of names. */
void watch_mappings_print_csv(const watch_mappings *m, FILE *out);

/* A table, and a line that explains its columns. */
void watch_mappings_print(const watch_mappings *m, FILE *out);

#endif
