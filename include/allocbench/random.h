/*
 * random.h - seeded streams of random integers: the same numbers on every machine.
 *
 * Generator: xoshiro256++ (Blackman and Vigna, "Scrambled linear pseudorandom number generators",
 * ACM TOMS 47, 2021). Seeding: SplitMix64 (Steele, Lea and Flood, OOPSLA 2014) over a hash of
 * (seed, stream, purpose), so that two lanes, or two purposes of one lane, never share a sequence.
 */
#ifndef ALLOCBENCH_RANDOM_H
#define ALLOCBENCH_RANDOM_H

#include <allocbench/base.h>

#ifdef __cplusplus
extern "C" {
#endif

/* The state. Its layout is the algorithm's own and will not change; copy it to fork a stream. */
typedef struct abench_random {
    uint64_t state[4];
} abench_random;

/* Purposes: a lane draws each kind of decision from a stream of its own. */
#define ABENCH_PURPOSE_SLOT        1u
#define ABENCH_PURPOSE_SIZE        2u
#define ABENCH_PURPOSE_PERMUTATION 3u
#define ABENCH_PURPOSE_LIFETIME    4u
#define ABENCH_PURPOSE_SCHEDULE    5u
#define ABENCH_PURPOSE_LATENCY     6u
#define ABENCH_PURPOSE_USER        1000u /* and above: yours */

/* Starts the stream that belongs to (seed, stream, purpose). Any thread. */
ABENCH_API void abench_random_seed(abench_random *random, uint64_t seed, uint64_t stream,
                                   uint64_t purpose);

/* The next 64 random bits. One thread per object. */
ABENCH_API uint64_t abench_random_next(abench_random *random);

/* An integer drawn evenly from 0 ... bound - 1; 0 when bound is 0. Exact: Lemire's multiplication
 * with rejection ("Fast random integer generation in an interval", ACM TOMACS 29, 2019).
 * One thread per object. */
ABENCH_API uint64_t abench_random_below(abench_random *random, uint64_t bound);

/* Shuffles items[0 ... count - 1] evenly (Fisher and Yates). One thread per object. */
ABENCH_API void abench_random_shuffle(abench_random *random, uint32_t *items, uint32_t count);

#ifdef __cplusplus
}
#endif
#endif
