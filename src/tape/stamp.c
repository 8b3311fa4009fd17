#include "tape/stamp.h"

#include <string.h>

#define WORD ((uint64_t)sizeof(uint64_t))
/* 2^64 over the golden ratio (Knuth's), odd: the multiples of it are all different. */
#define STEP 0x9e3779b97f4a7c15u

/* A run of bytes of a block; begins at a whole word. */
typedef struct range {
    uint64_t from;
    uint64_t to;
} range;

static range first_range(uint64_t size)
{
    return (range){0, size <= STAMP_WHOLE ? size : STAMP_STEP};
}

/* One that is empty, at size, behind the last. */
static range next_range(range before, uint64_t size)
{
    const uint64_t from = before.from + STAMP_STEP;
    const uint64_t tail = (size - STAMP_STEP) & ~(WORD - 1);

    if (before.to == size)
        return (range){size, size};
    return from < tail ? (range){from, from + WORD} : (range){tail, size};
}

static uint64_t word_at(const abench__stamp *stamp, uint64_t offset)
{
    return stamp->key + offset / WORD * STEP;
}

void abench__stamp_write(unsigned char *block, const abench__stamp *stamp)
{
    for (range r = first_range(stamp->size); r.from < stamp->size; r = next_range(r, stamp->size)) {
        uint64_t at = r.from, word;
        for (; at + WORD <= r.to; at += WORD) {
            word = word_at(stamp, at);
            memcpy(block + at, &word, WORD);
        }
        word = word_at(stamp, at);
        memcpy(block + at, &word, r.to - at);
    }
}

/* The first of count bytes that differs; STAMP_GOOD for none. */
static uint64_t different(const unsigned char *bytes, uint64_t wanted, uint64_t count)
{
    unsigned char word[sizeof wanted];

    memcpy(word, &wanted, WORD);
    for (uint64_t at = 0; at < count; at++)
        if (bytes[at] != word[at])
            return at;
    return STAMP_GOOD;
}

static uint64_t verify_range(const unsigned char *block, const abench__stamp *stamp, range r)
{
    uint64_t at = r.from, word, wrong;

    for (; at + WORD <= r.to; at += WORD) {
        memcpy(&word, block + at, WORD);
        if (word != word_at(stamp, at))
            return at + different(block + at, word_at(stamp, at), WORD);
    }
    wrong = different(block + at, word_at(stamp, at), r.to - at);
    return wrong == STAMP_GOOD ? STAMP_GOOD : at + wrong;
}

uint64_t abench__stamp_verify(const unsigned char *block, const abench__stamp *stamp, uint64_t kept)
{
    for (range r = first_range(stamp->size); r.from < stamp->size && r.from < kept;
         r = next_range(r, stamp->size)) {
        const range known = {r.from, r.to < kept ? r.to : kept};
        const uint64_t wrong = verify_range(block, stamp, known);
        if (wrong != STAMP_GOOD)
            return wrong;
    }
    return STAMP_GOOD;
}

uint64_t abench__stamp_verify_zero(const unsigned char *block, uint64_t size)
{
    uint64_t at = 0, word, wrong;

    for (; at + WORD <= size; at += WORD) {
        memcpy(&word, block + at, WORD);
        if (word != 0)
            return at + different(block + at, 0, WORD);
    }
    wrong = different(block + at, 0, size - at);
    return wrong == STAMP_GOOD ? STAMP_GOOD : at + wrong;
}
