#include "machine/spin.h"

#include <allocbench/base.h>

#define TIMES 5u
#define STEPS 1000000u /* some six cycles each: 2 ms at 3 GHz */

/* One chain in which every step waits for the one before (Marsaglia's xorshift64). The empty asm
 * makes each value one that the compiler must compute. */
static uint64_t work(uint64_t x)
{
    for (uint32_t step = 0; step < STEPS; step++) {
        x ^= x << 13;
        x ^= x >> 7;
        x ^= x << 17;
        __asm__ volatile("" : "+r"(x));
    }
    return x;
}

uint64_t abench__spin_ns(void)
{
    uint64_t best = UINT64_MAX, x = 88172645463325252u;

    for (uint32_t time = 0; time < TIMES; time++) {
        const uint64_t begun_ns = abench_clock_ns();
        uint64_t taken_ns;
        x = work(x);
        taken_ns = abench_clock_ns() - begun_ns;
        if (taken_ns < best)
            best = taken_ns;
    }
    return best > 0 ? best : 1; /* a clock that stood still */
}
