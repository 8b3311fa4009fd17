/*
 * targets.h - from the -t of the command line, and what is swept, to the targets of a matrix.
 */
#ifndef ABENCH_TOOL_TARGETS_H
#define ABENCH_TOOL_TARGETS_H

#include "tool/arguments.h"
#include "tool/matrix.h"
#include "tool/sweep.h"

/* Adds every target of the command line to m, and the baseline. What is wrong is said; returns the
 * status to exit with, or EXIT_OK. */
int targets_read(matrix *m, const arguments *a, const sweeps *swept);

#endif
