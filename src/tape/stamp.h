/*
 * stamp.h - what checked play writes into a block, and how it reads it back.
 *
 * Word i of a block is key + i * an odd constant, so that neither a block over another one, at
 * whatever distance, nor contents of an earlier block are taken for its own. A block of up to
 * STAMP_WHOLE bytes is stamped over its whole length. Of a larger one, which allocators map on its
 * own and get wrong at its ends, the first and the last STAMP_STEP bytes are, and a word every
 * STAMP_STEP bytes between: it need not be resident, and a block of GiBs takes no seconds.
 */
#ifndef ABENCH_TAPE_STAMP_H
#define ABENCH_TAPE_STAMP_H

#include <stdint.h>

#define STAMP_WHOLE ((uint64_t)16 << 20)
#define STAMP_STEP  ((uint64_t)64 << 10)
#define STAMP_GOOD  UINT64_MAX /* no byte is wrong */

/* All that is needed to verify a block, by whichever lane frees it. */
typedef struct abench__stamp {
    uint64_t key;
    uint64_t size; /* bytes from the block's start that the stamp may use */
} abench__stamp;

void abench__stamp_write(unsigned char *block, const abench__stamp *stamp);

/* The offset of the first byte below kept that is not what was written, or STAMP_GOOD. */
uint64_t abench__stamp_verify(const unsigned char *block, const abench__stamp *stamp,
                              uint64_t kept);

/* The offset of the first byte that is not 0, or STAMP_GOOD. */
uint64_t abench__stamp_verify_zero(const unsigned char *block, uint64_t size);

#endif
