#include "tape/word.h"

/* Frees and touches of a shared slot carry its generation where others carry the size. */
static int generation_first(const abench__op *op)
{
    return op->shared && (op->kind == ABENCH_OP_FREE || op->kind == ABENCH_OP_FREE_SIZED ||
                          op->kind == ABENCH_OP_TOUCH);
}

uint32_t abench__word_pack(const abench__op *op, uint64_t words[2])
{
    const int swapped = generation_first(op);
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

uint32_t abench__word_unpack(const uint64_t *words, abench__op *op)
{
    const uint64_t word = words[0];
    const uint64_t extra = word & WORD_EXTENDED ? words[1] : 0;
    const uint32_t first = (uint32_t)word, second = (uint32_t)extra;

    op->kind = abench__word_kind(word);
    op->shared = (word & WORD_SHARED) != 0;
    op->empty = (word & WORD_EMPTY) != 0;
    op->slot = abench__word_slot(word) | (uint32_t)(extra >> 48 & 0xff) << 24;
    op->alignment_log2 = (uint32_t)(extra >> 56 & 0x3f);
    op->generation = generation_first(op) ? first : second;
    op->size = (generation_first(op) ? second : first) | (extra >> 32 & 0xffff) << 32;
    if (!op->shared)
        op->generation = 0;
    return word & WORD_EXTENDED ? 2 : 1;
}
