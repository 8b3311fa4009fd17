/*
 * support.h - what property tests share: a seed that is printed, numbers from it that owe nothing
 * to the library, and the digest and word format of tape.h, written a second time from its text.
 *
 * A test that fails prints its seed; ALLOCBENCH_TEST_SEED=SEED repeats it.
 */
#ifndef TESTS_PROPERTY_SUPPORT_H
#define TESTS_PROPERTY_SUPPORT_H

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

/* ---- random numbers -------------------------------------------------------------------------- */

typedef struct prng {
    uint64_t state;
} prng;

/* SplitMix64, as Steele, Lea and Flood print it. */
static inline uint64_t prng_next(prng *random)
{
    uint64_t z = random->state += 0x9e3779b97f4a7c15u;

    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return z ^ (z >> 31);
}

/* 0 ... bound - 1; nearly evenly, which is enough to choose cases. */
static inline uint64_t prng_below(prng *random, uint64_t bound)
{
    return prng_next(random) % bound;
}

/* The seed of this test run, printed once a test. */
static inline uint64_t test_seed(const char *test)
{
    const char *text = getenv("ALLOCBENCH_TEST_SEED");
    struct timespec now;
    uint64_t seed;

    clock_gettime(CLOCK_REALTIME, &now);
    seed = text != NULL ? strtoull(text, NULL, 0)
                        : (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
    printf("%s: ALLOCBENCH_TEST_SEED=%llu\n", test, (unsigned long long)seed);
    fflush(stdout);
    return seed;
}

/* ---- the digests, from the text of tape.h ---------------------------------------------------- */

static inline uint64_t spec_fold(uint64_t h, uint64_t w)
{
    prng generator = {h ^ w}; /* SplitMix64 adds the constant, then finalises */

    return prng_next(&generator);
}

static inline uint64_t spec_lane_digest(uint32_t lane, const uint64_t *words, uint64_t count)
{
    uint64_t h = lane;

    for (uint64_t at = 0; at < count; at++)
        h = spec_fold(h, words[at]);
    return spec_fold(h, count);
}

/* ---- the word, from the text of tape.h ------------------------------------------------------- */

typedef struct spec_op {
    unsigned kind, extended, shared, empty;
    uint64_t slot, size, generation, alignment_log2;
} spec_op;

static inline uint64_t spec_bits(uint64_t word, unsigned high, unsigned low)
{
    return (word >> low) & (UINT64_MAX >> (63 - (high - low)));
}

/* Decodes the operation at words; returns how many words it takes. */
static inline unsigned spec_decode(const uint64_t *words, spec_op *op)
{
    const uint64_t first = words[0];
    uint64_t low, extra = 0;
    int generation_first;

    op->kind = (unsigned)spec_bits(first, 63, 59);
    op->extended = (unsigned)spec_bits(first, 58, 58);
    op->shared = (unsigned)spec_bits(first, 57, 57);
    op->empty = (unsigned)spec_bits(first, 56, 56);
    low = spec_bits(first, 31, 0);
    if (op->extended)
        extra = words[1];
    /* free 5, free_sized 6, touch 7 */
    generation_first = op->shared && (op->kind == 5 || op->kind == 6 || op->kind == 7);
    op->slot = spec_bits(first, 55, 32) + (spec_bits(extra, 55, 48) << 24);
    op->size =
        (generation_first ? spec_bits(extra, 31, 0) : low) + (spec_bits(extra, 47, 32) << 32);
    op->generation = !op->shared ? 0 : generation_first ? low : spec_bits(extra, 31, 0);
    op->alignment_log2 = spec_bits(extra, 61, 56);
    return op->extended ? 2 : 1;
}

#endif
