/*
 * checker.h - runs allocbench-cell --check under a target and understands what it says. A check in
 * which the process dies, or falls silent, is faulty; the ones behind it are run in a new process.
 */
#ifndef ABENCH_TOOL_CHECKER_H
#define ABENCH_TOOL_CHECKER_H

#include <signal.h>
#include <stdbool.h>
#include <stddef.h>

#include "tool/target.h"

typedef struct checker {
    const char *cell;
    const char *only; /* what the names of the checks begin with; "": all of them */
    bool keep_environment;
    double silence_s;                  /* longest time of one check */
    const volatile sig_atomic_t *stop; /* not 0: give up; may be NULL */
} checker;

typedef enum checker_kind {
    CHECKER_OK,
    CHECKER_NOTE, /* what C allows, but programs may not expect */
    CHECKER_FAULT,
} checker_kind;

typedef struct checker_line {
    checker_kind kind;
    char *name;   /* of the check */
    char *detail; /* what it has shown, or what was wrong */
} checker_line;

typedef struct checker_result {
    size_t checks; /* that were begun */
    size_t faulty; /* of them */
    checker_line *lines;
    size_t lines_count;
} checker_result;

/* Runs every check. false with one line in message when the cell could not be run, or was stopped;
 * faults are no failure. Free *result with checker_clear, also then. */
bool checker_run(const checker *c, const target *t, checker_result *result, char *message,
                 size_t message_size);

void checker_clear(checker_result *result);

#endif
