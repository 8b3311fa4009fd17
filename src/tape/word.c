#include "tape/word.h"

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
    op->generation = abench__generation_first(op) ? first : second;
    op->size = (abench__generation_first(op) ? second : first) | (extra >> 32 & 0xffff) << 32;
    if (!op->shared)
        op->generation = 0;
    return word & WORD_EXTENDED ? 2 : 1;
}
