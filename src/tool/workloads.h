/*
 * workloads.h - from the words of the command line to what a cell plays: scales, paces, and tapes
 * in files.
 */
#ifndef ABENCH_TOOL_WORKLOADS_H
#define ABENCH_TOOL_WORKLOADS_H

#include "tool/arguments.h"
#include "tool/matrix.h"
#include "tool/sweep.h"

#define WORKLOAD_TAPE "tape:" /* a tape in a file: tape:FILE */

/* Adds one workload; takes over the strings. spec is NULL for a command. */
matrix_workload *workloads_add(matrix *m, char *label, char *spec);

/* Reads every WORKLOAD of the command line and adds it to m, once for each value of what is swept.
 * What is wrong is said; returns the status to exit with, or EXIT_OK. */
int workloads_read(matrix *m, const arguments *a, sweeps *swept);

/* Does the spec give this parameter a value? */
bool workloads_names(const char *spec, const char *parameter);

/* Has the workload of the catalogue that the spec is of such a parameter? */
bool workloads_has_parameter(const char *spec, const char *parameter);

/* Makes of *spec the same with more parameters in front: "KEY=VALUE,KEY=VALUE". */
void workloads_set(char **spec, const char *words);

/* The lanes that it is played with; 0: it is a command, or a tape in a file. */
uint32_t workloads_lanes(const matrix *m, const matrix_workload *w);

#endif
