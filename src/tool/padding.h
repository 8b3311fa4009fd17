/*
 * padding.h - an environment of random length for each cell. The environment stands above the
 * stack: its length moves the stack, and where the stack and the heap lie decides which of their
 * lines share a cache set or a 4 KiB alias. A fixed one would favour one target by chance, in every
 * round alike (Mytkowicz et al. 2009); a random one makes of this bias a noise that the intervals
 * tell of.
 */
#ifndef ABENCH_TOOL_PADDING_H
#define ABENCH_TOOL_PADDING_H

#include "tool/matrix.h"

#define PADDING_MOST 4095u

/* How many bytes the cell gets: the same for the same seed, workload, round and place. It is drawn
 * anew in each round, with --same-seed too. 0 without m->padding. */
uint32_t padding_bytes(const matrix *m, size_t workload, uint32_t round, const arm *a);

/* "ALLOCBENCH_PADDING=xxx..."; free() it. */
char *padding_variable(const matrix *m, size_t workload, uint32_t round, const arm *a);

#endif
