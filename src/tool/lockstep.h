/*
 * lockstep.h - one round of a tape. All its children live at once, each with the same tape; the
 * tool hands a token round, the holder plays one slice while the others sleep, in an order that is
 * shuffled at each pass. Where their live sets together would pass half of the machine's memory, or
 * the tape pauses in real time, the children run one after the other instead.
 */
#ifndef ABENCH_TOOL_LOCKSTEP_H
#define ABENCH_TOOL_LOCKSTEP_H

#include "tool/matrix.h"

/* Runs the arms; each ends with its file in place, or with a reason. Returns how they were run:
 * "lockstep" or "sequential". */
const char *lockstep_round(matrix *m, size_t workload, uint32_t round, arm *arms, size_t count);

#endif
