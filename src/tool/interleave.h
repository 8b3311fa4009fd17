/*
 * interleave.h - one round of a command with all its cells alive at once: each runs for 20 ms while
 * the others are stopped, in an order that is shuffled at each pass, until all have ended.
 *
 * A command cannot be cut into slices of equal work, as a tape can; but what the machine does to
 * its speed for longer than a few turns then falls on all alike. Their work being the same, CPU
 * time is the measure; wall time is none and is left out. What it gains: tests/bench/interleave.py.
 *
 * Limits: freeze.h says what a program may notice. A command that waits for time to pass - sleeps,
 * timers, timeouts - or serves another outside of its tree does so while it is stopped, too.
 */
#ifndef ABENCH_TOOL_INTERLEAVE_H
#define ABENCH_TOOL_INTERLEAVE_H

#include "tool/matrix.h"

/* Runs the arms; each ends with its file in place, or with a reason. false: the commands cannot run
 * side by side (they would pass half of the memory, may not be stopped, or are harnesses, whose own
 * clocks go on), which is noted; nothing of them is left then, and they are to be run one after the
 * other. */
bool interleave_round(matrix *m, size_t workload, uint32_t round, arm *arms, size_t count);

#endif
