/*
 * real.h - numbers above or equal to 0 with 64 bits of mantissa, in integers only: what a curve's
 * weights are worked out in, alike on every machine.
 *
 * Each operation's result is off by some units of its last bit, 2^-63 of itself: there are no
 * differences of nearly equal numbers in it.
 */
#ifndef ABENCH_SHAPE_REAL_H
#define ABENCH_SHAPE_REAL_H

#include <stdint.h>

/* mantissa * 2^exponent. The mantissa's top bit is set; or it is 0, and the number is. */
typedef struct abench__real {
    uint64_t mantissa;
    int32_t exponent;
    uint32_t reserved;
} abench__real;

abench__real abench__real_of(uint64_t number);

/* above / below; below is not 0. */
abench__real abench__real_ratio(uint64_t above, uint64_t below);

abench__real abench__real_add(abench__real a, abench__real b);
abench__real abench__real_multiply(abench__real a, abench__real b);

/* b is not 0. */
abench__real abench__real_divide(abench__real a, abench__real b);

int abench__real_less(abench__real a, abench__real b);

/* x * 2^shift, to the nearest integer; UINT64_MAX when it is too large. */
uint64_t abench__real_round(abench__real x, int32_t shift);

/* ln(above / below); 1 <= below <= above < 2^62. */
abench__real abench__real_ln(uint64_t above, uint64_t below);

/* e^-x; 0 when x is above 2^20. */
abench__real abench__real_exp_minus(abench__real x);

/* 1 - e^-x, exact for small x too. */
abench__real abench__real_one_less_exp_minus(abench__real x);

#endif
