/*
 * single.h - one round of a command: its cells one after the other, in shuffled order, or in turns
 * (interleave.h).
 */
#ifndef ABENCH_TOOL_SINGLE_H
#define ABENCH_TOOL_SINGLE_H

#include "tool/command.h"
#include "tool/matrix.h"

/* A cell of a command: what it is run with, and what came of it. It stays where it is. */
typedef struct single_cell {
    const matrix *m;
    arm *arm;
    char *file;
    char *output;
    char *errors;
    launch how;
    command_options options;
    command_result result;
} single_cell;

/* Fills the options; the caller may add to them. conclude must follow. */
void single_prepare(single_cell *cell, const matrix *m, size_t workload, uint32_t round, arm *a);

/* Is the target what it was? false: that is the result, and nothing is to be run. */
bool single_may_run(single_cell *cell);

/* Takes the result over into the arm. */
void single_conclude(single_cell *cell);

/* Runs the arms; each ends with its file in place, or with a reason. Returns how they were run:
 * "sequential", or "interleaved". Static text. */
const char *single_round(matrix *m, size_t workload, uint32_t round, arm *arms, size_t count);

#endif
