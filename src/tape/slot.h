/*
 * slot.h - what lies in a shared slot: a 16-bit generation over a 48-bit pointer, and how a block
 * comes there. Shared by the loop that is timed and by checked play.
 */
#ifndef ABENCH_TAPE_SLOT_H
#define ABENCH_TAPE_SLOT_H

#include "tape/lane.h"
#include "tape/wait.h"
#include "tape/word.h"

#define SLOT_POINTER_MASK (((uint64_t)1 << 48) - 1)

static inline unsigned char *abench__slot_pointer(uint64_t word)
{
    return (unsigned char *)(uintptr_t)(word & SLOT_POINTER_MASK); /* NOLINT: that is the format */
}

/* The word for block. An address that does not fit ends the play, and leaves the slot without a
 * block: nobody must come upon half of a pointer. */
static inline uint64_t abench__slot_word(abench__lane *lane, const void *block, uint32_t generation)
{
    const uint64_t address = (uint64_t)(uintptr_t)block;
    const uint64_t empty = (uint64_t)(generation & 0xffff) << 48;

    if (__builtin_expect((address & ~SLOT_POINTER_MASK) == 0, 1))
        return empty | address;
    abench__play_fail(lane->play, ABENCH_ERROR_UNSUPPORTED,
                      "the allocator returned an address above 2^48, which a shared slot cannot "
                      "hold");
    return empty;
}

/* Makes the block of an allocating operation; old: what a realloc moves. */
static inline unsigned char *abench__slot_allocate(const abench_allocator *a, const abench__op *op,
                                                   unsigned char *old)
{
    const size_t size = (size_t)op->size;

    switch (op->kind) {
    case ABENCH_OP_CALLOC:
        return a->calloc(1, size);
    case ABENCH_OP_ALIGNED_ALLOC:
        return a->aligned_alloc((size_t)1 << op->alignment_log2, size);
    case ABENCH_OP_REALLOC:
        return a->realloc(old, size);
    default:
        return a->malloc(size);
    }
}

#endif
