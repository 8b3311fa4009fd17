/* normal.c - the normal distribution's tail and the logarithm, without libm. */
#include "statistics/statistics.h"

#define LN_2      0.693147180559945309417
#define SQRT_2_PI 2.506628274631000502416
#define NEAR      3.0  /* up to it the series, beyond it the fraction */
#define FAR       38.5 /* beyond it a double holds 0 */
#define DEPTH     150  /* of the fraction: at NEAR its error is below 1e-15 */
#define TERMS     16   /* of e^-r, r <= ln 2 */
#define LN_TERMS  14   /* of ln, the square of whose argument is at most 0.04 */

/* e^-x, 0 <= x < 745 */
static double exp_minus(double x)
{
    const int halvings = (int)(x / LN_2);
    const double r = x - halvings * LN_2;
    double sum = 1;

    for (int term = TERMS; term > 0; term--) /* e^r, whose terms are all above 0 */
        sum = 1 + sum * r / term;
    sum = 1 / sum;
    for (int at = 0; at < halvings; at++)
        sum /= 2;
    return sum;
}

/* 1/2 - density * (z + z^3/3 + z^5/(3*5) + ...) */
static double tail_near(double z, double density)
{
    double term = z, sum = z;

    for (int odd = 3; term > sum * DBL_EPSILON / 8; odd += 2) {
        term *= z * z / odd;
        sum += term;
    }
    return 0.5 - density * sum;
}

/* density / (z + 1/(z + 2/(z + 3/(z + ...)))), Laplace 1805 */
static double tail_far(double z, double density)
{
    double below = z;

    for (int depth = DEPTH; depth > 0; depth--)
        below = z + depth / below;
    return density / below;
}

double abench__normal_tail(double z)
{
    double density;

    if (z > FAR)
        return 0;
    density = exp_minus(z * z / 2) / SQRT_2_PI;
    return z < NEAR ? tail_near(z, density) : tail_far(z, density);
}

/* ln(m * 2^e) with m near 1: 2 atanh((m - 1) / (m + 1)) + e ln 2. */
double abench__ln_reach(double ratio)
{
    int exponent = 0;
    double s, power, sum = 0;

    for (; ratio > 1.5; ratio /= 2)
        exponent++;
    for (; ratio < 0.75; ratio *= 2)
        exponent--;
    s = (ratio - 1) / (ratio + 1);
    power = s;
    for (int term = 0; term < LN_TERMS; term++, power *= s * s)
        sum += power / (2 * term + 1);
    sum = 2 * sum + exponent * LN_2;
    return sum < 0 ? -sum : sum;
}
