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
 *   invsq:4-32k                    density ~ 1 / size^2 over the range (inverse square)
 *   loguniform:16-64k              density ~ 1 / size over the range
 *   pareto:1.2,16-64k              shape alpha (up to 3 decimals), cut off at the range
 *   exp:128,1-64k                  exponential with this mean before the cut at the range; exp:128
 *                                  is cut at 1 ... 20 times the mean
 *   lognormal:64,1.25,1-64k        median, sigma of the natural logarithm (up to 3 decimals), cut
 *                                  off at the range
 *   histogram:@FILE                lines "SIZE WEIGHT" or "LOW-HIGH WEIGHT"; '#' begins a comment
 *
 * Sizes may carry a suffix: k, m, g (1024 each).
 *
 * The curves, which begin at 1 or above, are real numbers from LOW up to HIGH + 1, cut to whole
 * ones. They are compiled to at most 1024 parts that grow geometrically, even within each (up to
 * 1024 values: a part each), whose weights are worked out in integers of 64 bits to within 10^-9 of
 * themselves. Parts that weigh less than 2^-54 of all are left out.
 *
 * A histogram's file is a regular file of at most 256 KiB. Up to 1024 lines have a weight, from 1
 * to 2^32, of their whole range; they may come in any order, and where ranges overlap they add up.
 * A weight of 0 is an empty bin. The spec may end with '#' and the 16 hexadecimal digits of the
 * file's digest, as a workload's spec is printed: histogram:@sizes.txt#0123456789abcdef is refused
 * if the file would draw something else now.
 *
 * Lifetimes have the same kinds (without mix, boundaries and histogram): all values are durations
 * with a unit (ns, us, ms, s, m, h), for instance loguniform:100us-5s, or none has, for instance
 * exp:1000,1-20000: then they count operations of the lane.
 */
#ifndef ALLOCBENCH_DISTRIBUTION_H
#define ALLOCBENCH_DISTRIBUTION_H

#include <allocbench/base.h>
#include <allocbench/random.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct abench_distribution abench_distribution;

/* Compiles spec. On failure *out is NULL and *error (may be NULL) names the column; for a fault in
 * a histogram's file, the line and column there. ABENCH_ERROR_SYNTAX, _NOT_FOUND (no such kind),
 * _SYSTEM (the file cannot be read), _MEMORY. Any thread. */
ABENCH_API abench_status abench_distribution_parse(const char *spec, abench_distribution **out,
                                                   abench_error *error);

#define ABENCH_LIFETIME_OPERATIONS 0
#define ABENCH_LIFETIME_NS         1

/* Compiles a distribution of lifetimes: what is drawn are nanoseconds of virtual time or
 * operations, as *unit says (ABENCH_LIFETIME_...). Otherwise as abench_distribution_parse. Any
 * thread. */
ABENCH_API abench_status abench_lifetime_parse(const char *spec, abench_distribution **out,
                                               uint32_t *unit, abench_error *error);

/* Draws one size, in bytes; takes two numbers from random. Any thread; one thread per random. */
ABENCH_API uint64_t abench_distribution_draw(const abench_distribution *distribution,
                                             abench_random *random);

/* The smallest size that can be drawn, in bytes. Any thread. */
ABENCH_API uint64_t abench_distribution_minimum(const abench_distribution *distribution);

/* The largest size that can be drawn, in bytes. Any thread. */
ABENCH_API uint64_t abench_distribution_maximum(const abench_distribution *distribution);

/* The mean of what is drawn, rounded down. Any thread. */
ABENCH_API uint64_t abench_distribution_mean(const abench_distribution *distribution);

/* accepts NULL. One thread per object. */
ABENCH_API void abench_distribution_destroy(abench_distribution *distribution);

#ifdef __cplusplus
}
#endif
#endif
