/*
 * doctor_print.h - what the doctor found, for a person and for another program.
 */
#ifndef ABENCH_TOOL_DOCTOR_PRINT_H
#define ABENCH_TOOL_DOCTOR_PRINT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#include <jansson.h>

#include <allocbench/machine.h>

/* How many of each verdict there are. */
typedef struct doctor_counts {
    size_t ok;
    size_t unknown;
    size_t warn;
    size_t refuse;
} doctor_counts;

/* How findings are printed. */
typedef struct doctor_style {
    size_t width;    /* columns of a line */
    bool color;      /* the verdict's word is coloured; it is always a word */
    bool is_verbose; /* each unknown one by itself, and why it matters for every finding */
} doctor_style;

/* All findings of doctor, in its order; free() it. */
abench_finding *doctor_findings(const abench_doctor *doctor, size_t *count);

doctor_counts doctor_count(const abench_finding *findings, size_t count);

/* Prints one line a finding: its verdict, its name, its value; for warn and refuse also why it
 * matters and what to do. Those that are unknown share one line unless the style says otherwise.
 * The text comes from the machine's files: what is no plain character is escaped. */
void doctor_print(const abench_finding *findings, size_t count, const doctor_style *style,
                  FILE *out);

/* "18 ok, 2 warn, 0 refuse, 5 unknown" and a newline. */
void doctor_print_counts(const abench_finding *findings, size_t count, FILE *out);

/* A list of objects with every field: name, verdict (its word), is_key, value, why, advice. */
json_t *doctor_json(const abench_finding *findings, size_t count);

#endif
