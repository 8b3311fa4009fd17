/* real.c - arithmetic, logarithm and exponential in 64-bit mantissas; see real.h. */
#include "shape/real.h"

__extension__ typedef unsigned __int128 wide;

#define ONE_Q62 ((uint64_t)1 << 62)
#define TERMS   24u /* of a series, more than 64 bits need: the next is below 2^-64 */

static const abench__real ln2 = {0xb17217f7d1cf79abu, -64, 0};
static const abench__real log2_e = {0xb8aa3b295c17f0bbu, -63, 0};

/* number * 2^exponent, number not 0 */
static abench__real normal(wide number, int32_t exponent)
{
    const uint64_t high = (uint64_t)(number >> 64);
    int32_t shift;

    if (high == 0) {
        shift = __builtin_clzll((uint64_t)number);
        return (abench__real){(uint64_t)number << shift, exponent - shift, 0};
    }
    shift = 64 - __builtin_clzll(high);
    return (abench__real){(uint64_t)(number >> shift), exponent + shift, 0};
}

abench__real abench__real_of(uint64_t number)
{
    return number == 0 ? (abench__real){0, 0, 0} : normal(number, 0);
}

abench__real abench__real_ratio(uint64_t above, uint64_t below)
{
    return abench__real_divide(abench__real_of(above), abench__real_of(below));
}

int abench__real_less(abench__real a, abench__real b)
{
    if (a.mantissa == 0 || b.mantissa == 0)
        return b.mantissa != 0 && a.mantissa == 0;
    return a.exponent != b.exponent ? a.exponent < b.exponent : a.mantissa < b.mantissa;
}

abench__real abench__real_add(abench__real a, abench__real b)
{
    if (abench__real_less(a, b)) {
        const abench__real smaller = a;
        a = b;
        b = smaller;
    }
    if (b.mantissa == 0 || a.exponent - b.exponent >= 64)
        return a;
    return normal((wide)a.mantissa + (b.mantissa >> (a.exponent - b.exponent)), a.exponent);
}

abench__real abench__real_multiply(abench__real a, abench__real b)
{
    if (a.mantissa == 0 || b.mantissa == 0)
        return (abench__real){0, 0, 0};
    return normal((wide)a.mantissa * b.mantissa, a.exponent + b.exponent);
}

abench__real abench__real_divide(abench__real a, abench__real b)
{
    if (a.mantissa == 0)
        return a;
    return normal(((wide)a.mantissa << 64) / b.mantissa, a.exponent - 64 - b.exponent);
}

uint64_t abench__real_round(abench__real x, int32_t shift)
{
    const int32_t exponent = x.exponent + shift;

    if (x.mantissa == 0 || exponent < -64)
        return 0;
    if (exponent >= 0)
        return exponent == 0 ? x.mantissa : UINT64_MAX;
    return (uint64_t)(((wide)x.mantissa + ((wide)1 << (-exponent - 1))) >> -exponent);
}

/* With above / below = 2^k * r, 1 <= r < 2, it is k ln 2 + 2 artanh(t), t = (r - 1) / (r + 1). */
abench__real abench__real_ln(uint64_t above, uint64_t below)
{
    const int32_t below_shift = __builtin_clzll(below) - 1;
    int32_t above_shift = __builtin_clzll(above) - 1, doublings = below_shift - above_shift;
    const uint64_t b = below << below_shift; /* a and b are below 2^63: their sum fits */
    uint64_t a = above << above_shift, t, square, power, sum;
    abench__real part;

    if (a < b) {
        a <<= 1;
        doublings--;
    }
    if (a == b)
        return abench__real_multiply(abench__real_of((uint64_t)doublings), ln2);
    part = abench__real_ratio(a - b, a / 2 + b / 2 + (a & b & 1)); /* 2 t */
    t = (uint64_t)(((wide)(a - b) << 62) / ((wide)a + b));         /* at most 1/3; Q62 */
    square = (uint64_t)((wide)t * t >> 62);
    sum = power = ONE_Q62;
    for (uint32_t term = 3; term < 2 * TERMS; term += 2) {
        power = (uint64_t)((wide)power * square >> 62);
        sum += power / term;
    }
    part = abench__real_multiply(part, normal(sum, -62));
    return abench__real_add(abench__real_multiply(abench__real_of((uint64_t)doublings), ln2), part);
}

/* 2^-y = 2^-(n + 1) * e^((1 - f) ln 2), with n and f the whole part and the rest of y */
abench__real abench__real_exp_minus(abench__real x)
{
    const abench__real y = abench__real_multiply(x, log2_e);
    uint64_t whole = 0, rest = 0, z, term = ONE_Q62, sum = ONE_Q62; /* rest, z...: Q62 */

    if (y.mantissa == 0)
        return abench__real_of(1);
    if (y.exponent > 20 - 63)
        return (abench__real){0, 0, 0};
    if (y.exponent > -64) /* at least 1 */
        whole = y.mantissa >> -y.exponent;
    if (y.exponent > -126) {
        const wide fixed = (wide)y.mantissa << 62; /* its unit is 2^(exponent - 62) */
        rest = (uint64_t)(fixed >> -y.exponent) & (ONE_Q62 - 1);
    }
    z = (uint64_t)((wide)(ONE_Q62 - rest) * ln2.mantissa >> 64);
    for (uint32_t n = 1; n <= TERMS; n++) {
        term = (uint64_t)((wide)term * z >> 62) / n;
        sum += term;
    }
    return normal(sum, -62 - (int32_t)whole - 1);
}

/* Below 1/2: x (1 - x/2 (1 - x/3 (1 - ...))), which has no difference of near numbers. */
abench__real abench__real_one_less_exp_minus(abench__real x)
{
    const uint64_t fixed = abench__real_round(x, 62); /* Q62 */
    uint64_t factor = ONE_Q62;

    if (x.mantissa == 0)
        return x;
    if (fixed >= ONE_Q62 / 2) {
        const uint64_t power = abench__real_round(abench__real_exp_minus(x), 63);
        return normal(2 * (wide)ONE_Q62 - power, -63);
    }
    for (uint32_t n = TERMS; n >= 2; n--)
        factor = ONE_Q62 - (uint64_t)((wide)fixed * factor >> 62) / n;
    return abench__real_multiply(x, normal(factor, -62));
}
