/*
 * curve.c - the kinds with a curved density: invsq: loguniform: pareto: exp: lognormal:
 *
 * The value v stands for the stretch [v, v + 1) of the density, as if a real number had been drawn
 * from [low, high + 1) and cut to a whole one. So each part [from, to) has the difference of the
 * distribution function at its ends, in a form that has no difference of near numbers.
 */
#include <stddef.h>

#include "base/text.h"
#include "shape/parser.h"
#include "shape/real.h"

#define THOUSAND    1000u
#define ALPHA_MAX   100u
#define SIGMA_MAX   10u
#define WEIGHT_BITS 53 /* the sum of a table's weights: 2^53, times 1024 below 2^64 */

/* Beyond so many multiples of the scale, less than 2^-53 of an exponential or a normal is left. */
#define TAIL_EXP    37u
#define TAIL_NORMAL 9u

typedef struct curve {
    abench__real (*weight)(const struct curve *curve, uint64_t from, uint64_t to);
    uint64_t low; /* the range */
    uint64_t high;
    uint64_t center;    /* mean or median */
    abench__real shape; /* alpha or sigma */
} curve;

/* ---- densities ------------------------------------------------------------------------------- */

/* 1 / from - 1 / to */
static abench__real weight_invsq(const curve *c, uint64_t from, uint64_t to)
{
    (void)c;
    return abench__real_divide(abench__real_ratio(to - from, from), abench__real_of(to));
}

static abench__real weight_loguniform(const curve *c, uint64_t from, uint64_t to)
{
    (void)c;
    return abench__real_ln(to, from);
}

/* e^-from - e^-to with from = before, to = before + width */
static abench__real exp_difference(abench__real before, abench__real width)
{
    return abench__real_multiply(abench__real_exp_minus(before),
                                 abench__real_one_less_exp_minus(width));
}

/* (from / low)^-alpha - (to / low)^-alpha */
static abench__real weight_pareto(const curve *c, uint64_t from, uint64_t to)
{
    return exp_difference(abench__real_multiply(c->shape, abench__real_ln(from, c->low)),
                          abench__real_multiply(c->shape, abench__real_ln(to, from)));
}

/* e^-((from - low) / mean) - e^-((to - low) / mean) */
static abench__real weight_exp(const curve *c, uint64_t from, uint64_t to)
{
    return exp_difference(abench__real_ratio(from - c->low, c->center),
                          abench__real_ratio(to - from, c->center));
}

/* Gauss and Legendre's four points on [0, 1] and their weights (Abramowitz and Stegun, 25.4.30). */
static const abench__real gauss_points[] = {{0x8e32486138cf5f39u, -67, 0},
                                            {0xa8f700988b080f75u, -65, 0},
                                            {0xab847fb3ba7bf845u, -64, 0},
                                            {0xee39b6f3d8e61418u, -64, 0}};
static const abench__real gauss_weights[] = {{0xb21a07bf3db3591au, -66, 0},
                                             {0xa6f2fc2061265372u, -65, 0},
                                             {0xa6f2fc2061265372u, -65, 0},
                                             {0xb21a07bf3db3591au, -66, 0}};

/* The integral of e^(-z^2 / 2) from z to z + width. */
static abench__real normal_piece(abench__real z, abench__real width)
{
    static const abench__real half = {(uint64_t)1 << 63, -64, 0};
    abench__real sum = {0, 0, 0};

    for (uint32_t at = 0; at < sizeof gauss_points / sizeof gauss_points[0]; at++) {
        const abench__real point =
            abench__real_add(z, abench__real_multiply(width, gauss_points[at]));
        const abench__real power = abench__real_multiply(half, abench__real_multiply(point, point));
        sum = abench__real_add(
            sum, abench__real_multiply(gauss_weights[at], abench__real_exp_minus(power)));
    }
    return abench__real_multiply(sum, width);
}

/* The same for any width, in pieces so narrow that four points do: 1 / (4 + z). What lies more than
 * 8, or 32 / z, beyond z is below 2^-40 of the rest. */
static abench__real normal_integral(abench__real z, abench__real width)
{
    const uint64_t whole = abench__real_round(z, 0);
    const abench__real most = whole <= 4 ? abench__real_of(8) : abench__real_ratio(32, whole);
    abench__real sum = {0, 0, 0}, piece;
    uint64_t pieces;

    if (whole > (uint64_t)2 * THOUSAND) /* e^-2000000: nothing is drawn there */
        return sum;
    if (abench__real_less(most, width))
        width = most;
    pieces = 1 + abench__real_round(abench__real_multiply(width, abench__real_of(12 + whole)), 0);
    piece = abench__real_divide(width, abench__real_of(pieces));
    for (uint64_t at = 0; at < pieces; at++) {
        sum = abench__real_add(sum, normal_piece(z, piece));
        z = abench__real_add(z, piece);
    }
    return sum;
}

/* A part on either side of the median, or across it; the normal's other half is the same. */
static abench__real weight_lognormal(const curve *c, uint64_t from, uint64_t to)
{
    const uint64_t median = c->center;
    abench__real near, width;

    if (from < median && median < to)
        return abench__real_add(weight_lognormal(c, from, median), weight_lognormal(c, median, to));
    near = from >= median ? abench__real_ln(from, median) : abench__real_ln(median, to);
    width = abench__real_ln(to, from);
    return normal_integral(abench__real_divide(near, c->shape),
                           abench__real_divide(width, c->shape));
}

/* ---- parts ----------------------------------------------------------------------------------- */

/* Where the part that begins at from ends, when parts are left for [from, end): so that they grow
 * alike, and that few values have a part each. */
static uint64_t part_end(uint64_t from, uint64_t end, uint64_t parts)
{
    abench__real growth;
    uint64_t to;

    if (end - from <= parts)
        return from + 1;
    if (parts == 1)
        return end;
    growth = abench__real_exp_minus(
        abench__real_divide(abench__real_ln(end, from), abench__real_of(parts)));
    to = abench__real_round(abench__real_divide(abench__real_of(from), growth), 0);
    return to > from ? to : from + 1;
}

/* Cuts the range into parts and gives each its weight. */
static abench_status put_curve(abench__parser *p, const curve *c, const char *range)
{
    const uint64_t end = c->high + 1;
    abench__real weights[ABENCH__ALIAS_MAX], sum = {0, 0, 0};
    uint32_t count = 0, kept = 0;

    for (uint64_t from = c->low, to; from < end; from = to) {
        to = part_end(from, end, ABENCH__ALIAS_MAX - count);
        weights[count] = c->weight(c, from, to);
        sum = abench__real_add(sum, weights[count]);
        p->ranges[count++] = (abench__range){from, to - 1, 0};
    }
    if (sum.mantissa == 0)
        return abench__parser_fail_at(p, range, "the curve is 0 in all of this range");
    for (uint32_t at = 0; at < count; at++) {
        abench__range part = p->ranges[at];
        part.weight = abench__real_round(abench__real_divide(weights[at], sum), WEIGHT_BITS);
        if (part.weight != 0)
            p->ranges[kept++] = part;
    }
    p->count = kept;
    return ABENCH_OK;
}

/* ---- text ------------------------------------------------------------------------------------ */

/* Reads LOW-HIGH, low at least 1. */
static abench_status parse_range(abench__parser *p, curve *c)
{
    const char *start = p->at;
    const abench_status status = abench__parser_range(p, 1, &c->low, &c->high);

    if (status == ABENCH_OK && c->low == 0)
        return abench__parser_fail_at(p, start, "this curve begins at 1 or above");
    return status;
}

/* Reads a comma, then the range. */
static abench_status parse_comma_range(abench__parser *p, curve *c)
{
    if (*p->at != ',')
        return abench__parser_fail(p, p->is_lifetime
                                          ? "',' and the range are wanted here, for instance "
                                            ",1us-5s or ,1-1000"
                                          : "',' and the range are wanted here, for instance "
                                            ",1-64k");
    p->at++;
    return parse_range(p, c);
}

/* Reads the mean or the median. */
static abench_status parse_center(abench__parser *p, uint64_t *center)
{
    const char *start = p->at;
    const abench_status status = abench__parser_value(p, center);

    if (status == ABENCH_OK && *center == 0)
        return abench__parser_fail_at(p, start, "a value above 0 is wanted here");
    return status;
}

/* Reads a number above 0, at most maximum, with up to 3 decimals. */
static abench_status parse_number(abench__parser *p, const char *what, uint64_t maximum,
                                  abench__real *number)
{
    const char *start = p->at;
    uint64_t value, unit = THOUSAND;

    if (!abench__parse_u64(&p->at, &value) || value > maximum)
        return abench__parser_fail_at(p, start, what);
    value *= THOUSAND;
    if (*p->at == '.') {
        p->at++;
        if (*p->at < '0' || *p->at > '9')
            return abench__parser_fail(p, "a decimal is wanted here");
        for (; *p->at >= '0' && *p->at <= '9'; p->at++) {
            unit /= 10;
            if (unit == 0)
                return abench__parser_fail(p, "at most 3 decimals are read");
            value += (uint64_t)(*p->at - '0') * unit;
        }
    }
    if (value == 0 || value > maximum * THOUSAND)
        return abench__parser_fail_at(p, start, what);
    *number = abench__real_ratio(value, THOUSAND);
    return ABENCH_OK;
}

static abench_status parse_plain(abench__parser *p, curve *c)
{
    const char *range = p->at;
    const abench_status status = parse_range(p, c);

    return status != ABENCH_OK ? status : put_curve(p, c, range);
}

abench_status abench__parse_invsq(abench__parser *p)
{
    curve c = {.weight = weight_invsq};

    return parse_plain(p, &c);
}

abench_status abench__parse_loguniform(abench__parser *p)
{
    curve c = {.weight = weight_loguniform};

    return parse_plain(p, &c);
}

/* value * e^power, at most limit */
static uint64_t grown(uint64_t value, abench__real power, uint64_t limit)
{
    const abench__real shrunk = abench__real_exp_minus(power);
    uint64_t result;

    if (shrunk.mantissa == 0)
        return limit;
    result = abench__real_round(abench__real_divide(abench__real_of(value), shrunk), 0);
    return result < limit ? result : limit;
}

abench_status abench__parse_pareto(abench__parser *p)
{
    curve c = {.weight = weight_pareto};
    const char *range;
    abench_status status =
        parse_number(p, "the shape alpha is wanted here, from 0.001 to 100, for instance 1.2",
                     ALPHA_MAX, &c.shape);

    if (status != ABENCH_OK)
        return status;
    range = p->at + 1;
    status = parse_comma_range(p, &c);
    if (status != ABENCH_OK)
        return status;
    c.high = grown(c.low, abench__real_divide(abench__real_of(TAIL_EXP), c.shape), c.high);
    return put_curve(p, &c, range);
}

abench_status abench__parse_exp(abench__parser *p)
{
    curve c = {.weight = weight_exp};
    const char *range = p->at;
    abench_status status = parse_center(p, &c.center);

    if (status != ABENCH_OK)
        return status;
    if (*p->at == '\0') {
        c.low = 1;
        c.high = c.center < p->limit / 20 ? 20 * c.center : p->limit - 1;
        return put_curve(p, &c, range);
    }
    range = p->at + 1;
    status = parse_comma_range(p, &c);
    if (status != ABENCH_OK)
        return status;
    if ((c.high - c.low) / TAIL_EXP > c.center)
        c.high = c.low + TAIL_EXP * (c.center + 1);
    return put_curve(p, &c, range);
}

/* Leaves out what lies so far from a median in the range that it is never drawn. */
static void trim_lognormal(curve *c, uint64_t limit)
{
    const abench__real tail = abench__real_multiply(abench__real_of(TAIL_NORMAL), c->shape);
    const uint64_t last = grown(c->center, tail, limit - 1);
    const uint64_t first = abench__real_round(
        abench__real_multiply(abench__real_of(c->center), abench__real_exp_minus(tail)), 0);

    if (c->center < c->low || c->center > c->high)
        return;
    c->low = first > c->low ? first : c->low;
    c->high = last < c->high ? last : c->high;
}

abench_status abench__parse_lognormal(abench__parser *p)
{
    curve c = {.weight = weight_lognormal};
    const char *range;
    abench_status status = parse_center(p, &c.center);

    if (status == ABENCH_OK && *p->at != ',')
        status = abench__parser_fail(p, "',' and sigma are wanted here, for instance ,1.25");
    if (status != ABENCH_OK)
        return status;
    p->at++;
    status = parse_number(p, "sigma is wanted here, from 0.001 to 10, for instance 1.25", SIGMA_MAX,
                          &c.shape);
    range = p->at + 1;
    if (status == ABENCH_OK)
        status = parse_comma_range(p, &c);
    if (status != ABENCH_OK)
        return status;
    trim_lognormal(&c, p->limit);
    return put_curve(p, &c, range);
}
