/*
 * hash.h - the digest that tape.h specifies, and nothing else.
 */
#ifndef ABENCH_BASE_HASH_H
#define ABENCH_BASE_HASH_H

#include <stdint.h>

/* SplitMix64's finaliser. */
static inline uint64_t abench__mix(uint64_t x)
{
    x ^= x >> 30;
    x *= 0xbf58476d1ce4e5b9u;
    x ^= x >> 27;
    x *= 0x94d049bb133111ebu;
    x ^= x >> 31;
    return x;
}

static inline uint64_t abench__fold(uint64_t hash, uint64_t word)
{
    return abench__mix((hash ^ word) + 0x9e3779b97f4a7c15u);
}

/* Folds count words. */
static inline uint64_t abench__fold_words(uint64_t hash, const uint64_t *words, uint64_t count)
{
    for (uint64_t at = 0; at < count; at++)
        hash = abench__fold(hash, words[at]);
    return hash;
}

/* Folds the bytes of a text, eight a word, little-endian, the last padded with 0; then its length.
 */
uint64_t abench__fold_text(uint64_t hash, const char *text);

#endif
