#include "workload/estimate.h"

#include "base/root.h"
#include "shape/distribution.h"
#include "workload/workload.h"

#define POINTS 1024u /* of a distribution, at least */

__extension__ typedef unsigned __int128 wide;

/* The square root of a * b, at most a little above. */
static uint64_t root_of_product(uint64_t a, uint64_t b)
{
    uint64_t product;

    if (!__builtin_mul_overflow(a, b, &product))
        return abench__square_root(product);
    return abench__saturating_multiply(abench__square_root(a) + 1, abench__square_root(b) + 1);
}

uint64_t abench__likely_sum(uint64_t count, uint64_t mean, uint64_t square_mean, uint64_t most)
{
    const uint64_t all = abench__saturating_multiply(count, most);
    /* no mean square is above mean * most */
    const uint64_t deviation = square_mean == UINT64_MAX
                                   ? abench__saturating_multiply(abench__square_root(count) + 1,
                                                                 root_of_product(mean, most))
                                   : root_of_product(count, square_mean);
    const uint64_t chance = abench__saturating_add(abench__saturating_multiply(5, deviation),
                                                   abench__saturating_multiply(2, most));
    const uint64_t likely =
        abench__saturating_add(abench__saturating_multiply(count, mean), chance);

    return all < likely ? all : likely;
}

/* A part is what one column of the alias table stands for: itself (even parts) or its alias. */
int abench__strata_next(abench__strata *s)
{
    const abench_distribution *d = s->distribution;
    const uint32_t points = d->count < POINTS ? POINTS / d->count : 1;

    for (; s->part < 2 * d->count; s->part++, s->point = 0) {
        const abench__column *own = &d->columns[s->part / 2];
        const abench__column *column = s->part % 2 == 0 ? own : &d->columns[own->alias.alias];
        const uint64_t own_weight = own->alias.threshold;

        s->weight = s->part % 2 == 0 ? own_weight : ((uint64_t)1 << 32) - own_weight;
        if (s->weight == 0 || s->point == points)
            continue;
        s->value = column->low + (uint64_t)((wide)column->span * (2 * s->point + 1) / (2 * points));
        s->point++;
        return 1;
    }
    return 0;
}
