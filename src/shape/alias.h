/*
 * alias.h - integer alias tables: one of n entries by its integer weight, in constant time.
 * Source: Walker 1977; Vose, IEEE TSE 17 (1991), here with 64-bit integers throughout.
 */
#ifndef ABENCH_SHAPE_ALIAS_H
#define ABENCH_SHAPE_ALIAS_H

#include <allocbench/base.h>

#define ABENCH__ALIAS_MAX 1024u /* entries */

/* One column of the table: below threshold (of 2^32) it stands for itself, else for alias. */
typedef struct abench__alias {
    uint64_t threshold;
    uint32_t alias;
    uint32_t reserved;
} abench__alias;

/* Builds table[0 ... count - 1] from weights, which are used up. Their sum must be above 0 and,
 * times count, below 2^64. */
void abench__alias_build(abench__alias *table, uint64_t *weights, uint32_t count);

/* The entry that 64 random bits choose. */
static inline uint32_t abench__alias_pick(const abench__alias *table, uint32_t count, uint64_t bits)
{
    const uint32_t column = (uint32_t)((bits >> 32) * count >> 32);

    return (uint32_t)bits < table[column].threshold ? column : table[column].alias;
}

#endif
