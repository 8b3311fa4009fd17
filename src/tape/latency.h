/*
 * latency.h - sampled operations: a lane stops its loop before one in so many, and reads the clock
 * around that one alone.
 *
 * The loop knows nothing of it. Gaps are drawn at random, so that they do not follow a tape's
 * rhythm, from a stream of the seed: the same operations are timed under every allocator. They are
 * counted in words; an operation is timed when a gap ends before its first one, so that those of
 * two words are timed no more often than others. Only phases that are timed are sampled.
 */
#ifndef ABENCH_TAPE_LATENCY_H
#define ABENCH_TAPE_LATENCY_H

#include <allocbench/random.h>

#include "histogram/histogram.h"
#include "tape/lane.h"

#define LATENCY_LANE_KINDS (ABENCH_LATENCY_CONTROL + 1) /* what a lane can measure */

/* A lane's part. */
typedef struct abench__lane_latency {
    abench_random random;
    uint64_t left; /* words to play before the next operation that is timed */
    abench_histogram of_kind[LATENCY_LANE_KINDS];
} __attribute__((aligned(128))) abench__lane_latency;

typedef struct abench__play_latency {
    uint64_t bytes;    /* of this mapping */
    uint64_t interval; /* one operation in so many */
    abench__lane_latency lanes[];
} abench__play_latency;

/* All that the lanes need, touched. On failure *out is NULL. */
abench_status abench__latency_create(const abench_player_options *options, uint32_t lanes,
                                     const abench_memory_hooks *hooks, abench__play_latency **out,
                                     abench_error *error);

/* accepts NULL. */
void abench__latency_destroy(abench__play_latency *latency, const abench_memory_hooks *hooks);

/* 1 when the present stretch is sampled. */
static inline int abench__latency_is_on(const abench__play *play)
{
    return play->latency != NULL && (play->chunk.info->flags & ABENCH_PHASE_TIMED) != 0;
}

/* Up to where the loop may go: to end, or to where an operation is to be timed. */
const uint64_t *abench__latency_stop(abench__lane *lane, const uint64_t *end);

/* The loop has come to stop, or one word beyond it: then the gap ended within an operation, and
 * none is timed. Else plays and times the operation at which the lane stands; one that calls no
 * allocator is left to the loop. */
void abench__latency_operation(abench__lane *lane, const uint64_t *stop);

/* Adds what the lanes measured to *into. */
void abench__latency_merge(const abench__play_latency *latency, uint32_t lanes,
                           abench_latency *into);

#endif
