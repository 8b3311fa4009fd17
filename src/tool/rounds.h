/*
 * rounds.h - which rounds a result directory has, and which are still to be run.
 *
 * A round of a workload counts when its file in rounds/ is there and it holds every target that is
 * named now, whether its cells failed or not. One that holds only some of them stays as it is, and
 * serves the pairs that it holds; its number is taken. New rounds get the least numbers that are
 * free, so that an interrupted one is run again under its own.
 */
#ifndef ABENCH_TOOL_ROUNDS_H
#define ABENCH_TOOL_ROUNDS_H

#include "tool/matrix.h"

typedef struct rounds_task {
    size_t workload;
    uint32_t round;
} rounds_task;

typedef struct rounds_plan {
    rounds_task *tasks; /* in the order in which they are to be run: by round, then workload */
    size_t count;
    size_t kept;   /* rounds that count and stay */
    uint32_t most; /* that a workload has, of those that count */
} rounds_plan;

/* What is missing to m->rounds rounds of every workload that is neither decided nor hopeless; with
 * m->one_round, that round of each where it is not there. With m->retry_failed a round that counts
 * and has a failed cell is run again, unless it holds targets that are not named now: what it has
 * of those would be lost. Sets each workload's rounds: how many it will have, those too that do not
 * count. Free it with rounds_clear. */
rounds_plan rounds_make_plan(matrix *m);

void rounds_clear(rounds_plan *plan);

/* The most rounds that any workload has. */
uint32_t rounds_all(const matrix *m);

#endif
