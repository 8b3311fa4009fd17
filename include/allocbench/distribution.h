/*
 * distribution.h - sizes drawn at random, in integers only.
 *
 * A distribution is compiled to an alias table (Walker 1977; Vose, "A linear algorithm for
 * generating random numbers with a given distribution", IEEE TSE 17, 1991) whose weights and
 * thresholds are integers: no floating point and no libm decide an operation, so every compiler
 * and every optimisation level draws the same sizes.
 *
 *   fixed:64                       always 64
 *   uniform:1-256                  each of 1 ... 256 alike
 *   mix:70%1-256,30%257-4096       a part first (percent, up to 6 decimals, sum 100), then evenly
 *                                  within it
 *   boundaries:24-4095             a size-class probe: a boundary drawn evenly from jemalloc's
 *                                  spacing (four a doubling from 32: 32 40 48 56 64 80 ...) plus
 *                                  an offset drawn evenly from -8 ... +8, clamped to the range
 *
 * Sizes may carry a suffix: k, m, g (1024 each).
 */
#ifndef ALLOCBENCH_DISTRIBUTION_H
#define ALLOCBENCH_DISTRIBUTION_H

#include <allocbench/base.h>
#include <allocbench/random.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct abench_distribution abench_distribution;

/* Compiles spec. On failure *out is NULL and *error (may be NULL) names the column.
 * ABENCH_ERROR_SYNTAX, _NOT_FOUND (no such kind), _MEMORY. Any thread. */
ABENCH_API abench_status abench_distribution_parse(const char *spec, abench_distribution **out,
                                                   abench_error *error);

/* Draws one size, in bytes; takes two numbers from random. Any thread; one thread per random. */
ABENCH_API uint64_t abench_distribution_draw(const abench_distribution *distribution,
                                             abench_random *random);

/* The smallest size that can be drawn, in bytes. Any thread. */
ABENCH_API uint64_t abench_distribution_minimum(const abench_distribution *distribution);

/* The largest size that can be drawn, in bytes. Any thread. */
ABENCH_API uint64_t abench_distribution_maximum(const abench_distribution *distribution);

/* accepts NULL. One thread per object. */
ABENCH_API void abench_distribution_destroy(abench_distribution *distribution);

#ifdef __cplusplus
}
#endif
#endif
