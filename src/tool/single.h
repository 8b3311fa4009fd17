/*
 * single.h - one round of a command: its cells one after the other, in shuffled order.
 */
#ifndef ABENCH_TOOL_SINGLE_H
#define ABENCH_TOOL_SINGLE_H

#include "tool/matrix.h"

/* Runs the arms; each ends with its file in place, or with a reason. */
void single_round(matrix *m, size_t workload, uint32_t round, arm *arms, size_t count);

#endif
