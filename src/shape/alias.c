#include "shape/alias.h"

/* floor(part * 2^32 / whole) for part <= whole, without overflow. */
static uint64_t threshold_of(uint64_t part, uint64_t whole)
{
    __extension__ typedef unsigned __int128 wide;

    return (uint64_t)(((wide)part << 32) / whole);
}

void abench__alias_build(abench__alias *table, uint64_t *weights, uint32_t count)
{
    uint32_t small[ABENCH__ALIAS_MAX], large[ABENCH__ALIAS_MAX];
    uint32_t smalls = 0, larges = 0;
    uint64_t total = 0;

    for (uint32_t at = 0; at < count; at++)
        total += weights[at];
    for (uint32_t at = 0; at < count; at++) {
        weights[at] *= count; /* a column is full at total */
        if (weights[at] < total)
            small[smalls++] = at;
        else
            large[larges++] = at;
    }
    while (smalls > 0 && larges > 0) {
        const uint32_t s = small[--smalls], l = large[larges - 1];
        table[s] = (abench__alias){threshold_of(weights[s], total), l, 0};
        weights[l] -= total - weights[s];
        if (weights[l] < total) {
            larges--;
            small[smalls++] = l;
        }
    }
    while (larges > 0) {
        const uint32_t l = large[--larges];
        table[l] = (abench__alias){(uint64_t)1 << 32, l, 0};
    }
    while (smalls > 0) { /* exact arithmetic leaves none; kept for a sum that is not exact */
        const uint32_t s = small[--smalls];
        table[s] = (abench__alias){(uint64_t)1 << 32, s, 0};
    }
}
