/* even.c - the kinds whose parts are even: fixed: uniform: mix: boundaries: */
#include "shape/parser.h"

#include "base/text.h"

abench_status abench__parse_fixed(abench__parser *p)
{
    uint64_t size;
    const abench_status status = abench__parser_value(p, &size);

    return status != ABENCH_OK ? status : abench__parser_put(p, size, size, 1);
}

abench_status abench__parse_uniform(abench__parser *p)
{
    uint64_t low, high;
    const abench_status status = abench__parser_range(p, 1, &low, &high);

    return status != ABENCH_OK ? status : abench__parser_put(p, low, high, 1);
}

#define PERCENT     1000000u /* one percent, in parts of 10^-6 percent */
#define PERCENT_ALL (100 * (uint64_t)PERCENT)

/* 70% or 12.5%, in parts of 10^-6 percent. */
static abench_status parse_percent(abench__parser *p, uint64_t *weight)
{
    uint64_t unit = PERCENT;

    if (!abench__parse_u64(&p->at, weight) || *weight > 100)
        return abench__parser_fail(p, "a percentage is wanted here, for instance 70%");
    *weight *= PERCENT;
    if (*p->at == '.') {
        for (p->at++; *p->at >= '0' && *p->at <= '9'; p->at++) {
            unit /= 10;
            if (unit == 0)
                return abench__parser_fail(p, "a percentage has at most 6 decimals");
            *weight += (uint64_t)(*p->at - '0') * unit;
        }
    }
    if (*p->at != '%')
        return abench__parser_fail(p, "'%' is wanted here");
    p->at++;
    return *weight == 0 ? abench__parser_fail(p, "a part of 0 % does nothing: leave it out")
                        : ABENCH_OK;
}

abench_status abench__parse_mix(abench__parser *p)
{
    uint64_t sum = 0;

    for (;;) {
        uint64_t weight, low, high;
        abench_status status = parse_percent(p, &weight);
        if (status == ABENCH_OK)
            status = abench__parser_range(p, 0, &low, &high);
        if (status == ABENCH_OK)
            status = abench__parser_put(p, low, high, weight);
        if (status != ABENCH_OK)
            return status;
        sum += weight;
        if (*p->at != ',')
            break;
        p->at++;
    }
    return sum == PERCENT_ALL ? ABENCH_OK
                              : abench__parser_fail(p, "the percentages do not sum up to 100 %");
}

#define OFFSET 8u /* the probe's sizes lie at most so far from a boundary */

/* One boundary's window [boundary - 8, boundary + 8], each size of it with weight 1, what lies
 * outside [low, high] moved to the edge. */
static abench_status put_window(abench__parser *p, uint64_t boundary, uint64_t low, uint64_t high)
{
    const uint64_t first = boundary - OFFSET, last = boundary + OFFSET;
    const uint64_t inner_first = first < low ? low : first;
    const uint64_t inner_last = last > high ? high : last;
    abench_status status =
        abench__parser_put(p, inner_first, inner_last, inner_last - inner_first + 1);

    if (status == ABENCH_OK && first < low)
        status = abench__parser_put(p, low, low, low - first);
    if (status == ABENCH_OK && last > high)
        status = abench__parser_put(p, high, high, last - high);
    return status;
}

abench_status abench__parse_boundaries(abench__parser *p)
{
    const char *start = p->at;
    uint64_t low, high;
    abench_status status = abench__parser_range(p, 1, &low, &high);

    if (status != ABENCH_OK)
        return status;
    for (uint64_t doubling = 32; doubling - OFFSET <= high; doubling *= 2) {
        for (uint64_t step = 0; step < 4; step++) {
            const uint64_t boundary = doubling + step * (doubling / 4);
            if (boundary + OFFSET < low || boundary - OFFSET > high)
                continue;
            status = put_window(p, boundary, low, high);
            if (status != ABENCH_OK)
                return status;
        }
    }
    return p->count != 0
               ? ABENCH_OK
               : abench__parser_fail_at(p, start, "no size-class boundary lies in this range");
}
