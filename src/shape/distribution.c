/* distribution.c - drawing from compiled distributions; parse.c compiles them. */
#include "shape/distribution.h"

#include "base/arena.h"

abench_status abench__distribution_build(const abench__range *ranges, uint32_t count,
                                         abench_distribution **out)
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

void abench_distribution_destroy(abench_distribution *d)
{
    if (d != NULL)
        abench__unmap(NULL, d, d->bytes);
}
