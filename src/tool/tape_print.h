/*
 * tape_print.h - what allocbench tape prints of a tape: its operations, its summary.
 */
#ifndef ABENCH_TOOL_TAPE_PRINT_H
#define ABENCH_TOOL_TAPE_PRINT_H

#include <stdint.h>
#include <stdio.h>

#include <allocbench/tape.h>

/* Where a tape comes from. */
typedef struct tape_origin {
    const char *text;     /* the workload's spec, or the file's name */
    int is_workload;      /* 0: a file */
    uint64_t plan_digest; /* of a workload */
    uint64_t seed;        /* of a workload */
} tape_origin;

/* The first limit operations (0: all), one a line, fields between tabs, a line of their names
 * first. Ends early, and returns ABENCH_OK, when out takes no more. */
abench_status tape_print_operations(const abench_tape *tape, uint64_t limit, FILE *out);

/* For people. */
abench_status tape_print_summary(const abench_tape *tape, const tape_origin *origin, FILE *out);

/* One JSON object. */
abench_status tape_print_json(const abench_tape *tape, const tape_origin *origin, FILE *out);

#endif
