#include <allocbench/random.h>

#include "base/hash.h"

static uint64_t rotate_left(uint64_t x, unsigned by)
{
    return x << by | x >> (64 - by);
}

void abench_random_seed(abench_random *random, uint64_t seed, uint64_t stream, uint64_t purpose)
{
    uint64_t state = abench__fold(abench__fold(abench__fold(0, seed), stream), purpose);

    for (unsigned at = 0; at < 4; at++) { /* SplitMix64 */
        state += 0x9e3779b97f4a7c15u;
        random->state[at] = abench__mix(state);
    }
}

uint64_t abench_random_next(abench_random *random)
{
    uint64_t *s = random->state;
    const uint64_t result = rotate_left(s[0] + s[3], 23) + s[0];
    const uint64_t t = s[1] << 17;

    s[2] ^= s[0];
    s[3] ^= s[1];
    s[1] ^= s[2];
    s[0] ^= s[3];
    s[2] ^= t;
    s[3] = rotate_left(s[3], 45);
    return result;
}

uint64_t abench_random_below(abench_random *random, uint64_t bound)
{
    __extension__ typedef unsigned __int128 wide;
    wide product = (wide)abench_random_next(random) * bound;

    if ((uint64_t)product < bound) {
        const uint64_t threshold = (0 - bound) % bound;
        while ((uint64_t)product < threshold)
            product = (wide)abench_random_next(random) * bound;
    }
    return (uint64_t)(product >> 64);
}

void abench_random_shuffle(abench_random *random, uint32_t *items, uint32_t count)
{
    for (uint32_t left = count; left > 1; left--) {
        const uint32_t other = (uint32_t)abench_random_below(random, left);
        const uint32_t kept = items[left - 1];
        items[left - 1] = items[other];
        items[other] = kept;
    }
}
