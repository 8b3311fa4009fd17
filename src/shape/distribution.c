/* distribution.c - drawing from compiled distributions; parse.c compiles them. */
#include "shape/distribution.h"

#include "base/arena.h"

/* Of the middles of the ranges, by weight: each range is drawn evenly. */
static uint64_t mean_of(const abench__range *ranges, uint32_t count)
{
    __extension__ typedef unsigned __int128 wide;
    wide sum = 0, weights = 0;

    for (uint32_t at = 0; at < count; at++) {
        sum += (wide)ranges[at].weight * (ranges[at].low + ranges[at].high);
        weights += ranges[at].weight;
    }
    return (uint64_t)(sum / (2 * weights));
}

/* Of the squares, likewise, as if a range had no steps; UINT64_MAX when it is more. */
static uint64_t square_mean_of(const abench__range *ranges, uint32_t count)
{
    __extension__ typedef unsigned __int128 wide;
    wide sum = 0, weights = 0;

    for (uint32_t at = 0; at < count; at++) {
        const wide low = ranges[at].low, high = ranges[at].high;
        if (high >= (uint64_t)1 << 31) /* beyond this the sum has no room */
            return UINT64_MAX;
        sum += (low * low + low * high + high * high) / 3 * ranges[at].weight;
        weights += ranges[at].weight;
    }
    return (uint64_t)(sum / weights);
}

abench_status abench__distribution_build(const abench__range *ranges, uint32_t count,
                                         uint64_t digest, abench_distribution **out)
{
    uint64_t weights[ABENCH__ALIAS_MAX];
    const uint64_t bytes = sizeof(abench_distribution) + count * sizeof(abench__column);
    abench__alias table[ABENCH__ALIAS_MAX];
    abench_distribution *d;

    d = abench__map(NULL, bytes, 0);
    if (d == NULL)
        return ABENCH_ERROR_MEMORY;
    d->bytes = bytes;
    d->count = count;
    d->mean = mean_of(ranges, count);
    d->square_mean = square_mean_of(ranges, count);
    d->digest = digest;
    d->minimum = UINT64_MAX;
    for (uint32_t at = 0; at < count; at++) {
        weights[at] = ranges[at].weight;
        if (ranges[at].low < d->minimum)
            d->minimum = ranges[at].low;
        if (ranges[at].high > d->maximum)
            d->maximum = ranges[at].high;
    }
    abench__alias_build(table, weights, count);
    for (uint32_t at = 0; at < count; at++) {
        d->columns[at].alias = table[at];
        d->columns[at].low = ranges[at].low;
        d->columns[at].span = ranges[at].high - ranges[at].low + 1;
    }
    *out = d;
    return ABENCH_OK;
}

uint64_t abench_distribution_draw(const abench_distribution *d, abench_random *random)
{
    const uint64_t bits = abench_random_next(random);
    const abench__column *column = &d->columns[(bits >> 32) * d->count >> 32];

    if ((uint32_t)bits >= column->alias.threshold)
        column = &d->columns[column->alias.alias];
    return column->low + abench_random_below(random, column->span);
}

uint64_t abench_distribution_minimum(const abench_distribution *d)
{
    return d->minimum;
}

uint64_t abench_distribution_maximum(const abench_distribution *d)
{
    return d->maximum;
}

uint64_t abench_distribution_mean(const abench_distribution *d)
{
    return d->mean;
}

void abench_distribution_destroy(abench_distribution *d)
{
    if (d != NULL)
        abench__unmap(NULL, d, d->bytes);
}
