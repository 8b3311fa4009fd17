#include "base/root.h"

/* Digit by digit, from the highest bit. */
uint64_t abench__square_root(uint64_t value)
{
    uint64_t root = 0;

    for (uint64_t bit = (uint64_t)1 << 31; bit > 0; bit /= 2)
        if ((root | bit) * (root | bit) <= value)
            root |= bit;
    return root;
}
