/*
 * word.h - the bits of an operation, as tape.h of the public headers specifies them.
 */
#ifndef ABENCH_TAPE_WORD_H
#define ABENCH_TAPE_WORD_H

#include <allocbench/tape.h>

#define WORD_KIND_SHIFT 59
#define WORD_EXTENDED   ((uint64_t)1 << 58)
#define WORD_SHARED     ((uint64_t)1 << 57)
#define WORD_EMPTY      ((uint64_t)1 << 56)
#define WORD_SLOT_SHIFT 32
#define WORD_SLOT_MASK  0xffffffu

static inline uint32_t abench__word_kind(uint64_t word)
{
    return (uint32_t)(word >> WORD_KIND_SHIFT);
}

/* The slot of a word without a second one. */
static inline uint32_t abench__word_slot(uint64_t word)
{
    return (uint32_t)(word >> WORD_SLOT_SHIFT) & WORD_SLOT_MASK;
}

/* An operation with everything unpacked. */
typedef struct abench__op {
    uint32_t kind;
    uint32_t shared;     /* 0 or 1 */
    uint32_t slot;       /* without ABENCH_SLOT_SHARED */
    uint32_t generation; /* 0 for a local slot */
    uint64_t size;       /* or index, microseconds, ordinal */
    uint32_t alignment_log2;
    uint32_t empty;
} abench__op;

/* Writes the one or two words of op; returns how many. */
uint32_t abench__word_pack(const abench__op *op, uint64_t words[2]);

/* Reads the operation at words and returns how many words it takes. */
uint32_t abench__word_unpack(const uint64_t *words, abench__op *op);

#endif
