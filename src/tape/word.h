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

/* Frees and touches of a shared slot carry its generation where others carry the size. */
static inline int abench__generation_first(const abench__op *op)
{
    return op->shared && (op->kind == ABENCH_OP_FREE || op->kind == ABENCH_OP_FREE_SIZED ||
                          op->kind == ABENCH_OP_TOUCH);
}

/* Writes the one or two words of op; returns how many. */
static inline uint32_t abench__word_pack(const abench__op *op, uint64_t words[2])
{
    const int swapped = abench__generation_first(op);
    const uint32_t first = swapped ? op->generation : (uint32_t)op->size;
    const uint32_t second = swapped ? (uint32_t)op->size : op->generation;
    const uint64_t extra = second | (op->size >> 32 & 0xffff) << 32 |
                           (uint64_t)(op->slot >> 24 & 0xff) << 48 |
                           (uint64_t)op->alignment_log2 << 56;

    words[0] = (uint64_t)op->kind << WORD_KIND_SHIFT | (op->shared ? WORD_SHARED : 0) |
               (op->empty ? WORD_EMPTY : 0) |
               (uint64_t)(op->slot & WORD_SLOT_MASK) << WORD_SLOT_SHIFT | first;
    if (extra == 0)
        return 1;
    words[0] |= WORD_EXTENDED;
    words[1] = extra;
    return 2;
}

/* Reads the operation at words and returns how many words it takes. */
uint32_t abench__word_unpack(const uint64_t *words, abench__op *op);

#endif
