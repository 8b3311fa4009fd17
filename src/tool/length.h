/*
 * length.h - run --duration: how much work of a workload takes so long.
 *
 * Time-limited work would differ between targets. So the length is chosen once, from what the
 * baseline takes, and is written down: it is fixed work then, the same for every target, and the
 * same when the directory is gone on with.
 */
#ifndef ABENCH_TOOL_LENGTH_H
#define ABENCH_TOOL_LENGTH_H

#include "tool/matrix.h"

typedef enum length_kind {
    LENGTH_OPEN,  /* --duration may choose it, where the workload has one */
    LENGTH_SET,   /* it was set: in real time */
    LENGTH_FIXED, /* there is none: a tape in a file */
} length_kind;

/* Decides what a cell of *w is told to play, where that needs no measuring. What is wrong is said;
 * returns the status to exit with. */
int length_plan(matrix *m, matrix_workload *w, length_kind kind);

/* In an open directory: chooses the lengths that are still to be chosen; those that an earlier call
 * chose were read from the directory, and are checked. What is wrong is said; returns the status to
 * exit with. */
int length_choose(matrix *m);

#endif
