/*
 * workloads.h - from the words of the command line to what a cell plays: scales, paces, and tapes
 * in files.
 */
#ifndef ABENCH_TOOL_WORKLOADS_H
#define ABENCH_TOOL_WORKLOADS_H

#include "tool/arguments.h"
#include "tool/matrix.h"

#define WORKLOAD_TAPE "tape:" /* a tape in a file: tape:FILE */

/* Adds one workload; takes over the strings. spec is NULL for a command. */
matrix_workload *workloads_add(matrix *m, char *label, char *spec);

/* Reads every WORKLOAD of the command line and adds it to m. What is wrong is said; returns the
 * status to exit with, or EXIT_OK. */
int workloads_read(matrix *m, const arguments *a);

/* Does the spec give this parameter a value? */
bool workloads_names(const char *spec, const char *parameter);

#endif
