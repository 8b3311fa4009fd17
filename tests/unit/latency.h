/*
 * latency.h - what the tests of latencies share: sets, options and a tape. Included after player.h.
 */
#ifndef TESTS_UNIT_LATENCY_H
#define TESTS_UNIT_LATENCY_H

#include <allocbench/histogram.h>

#include "player.h"

static inline abench_latency *make_latency(void)
{
    abench_latency *latency = NULL;

    assert_int_equal(abench_latency_create(NULL, &latency), ABENCH_OK);
    return latency;
}

static inline uint64_t count_of(abench_latency *latency, uint32_t kind)
{
    return abench_histogram_count(abench_latency_histogram(latency, kind));
}

static inline abench_player_options sampling(abench_latency *latency, uint64_t interval,
                                             uint64_t seed)
{
    abench_player_options options = ABENCH_PLAYER_OPTIONS_INIT;

    options.latency = latency;
    options.latency_interval = interval;
    options.seed = seed;
    return options;
}

#define PAIRS 100000u

/* A malloc and its free, again and again: a rhythm of two. */
static inline abench_tape *rhythm(uint32_t lanes, uint32_t untimed)
{
    abench_tape_builder *b = make_builder(lanes, 1, ABENCH_TOUCH_FIRST);

    if (untimed)
        abench_tape_builder_phase(b, "untimed", 0);
    for (uint32_t at = 0; at < PAIRS; at++) {
        abench_tape_builder_malloc(b, at % lanes, 0, 32);
        abench_tape_builder_free(b, at % lanes, 0);
    }
    return finish(b);
}

#endif
