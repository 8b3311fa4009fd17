/* walsh.c - the geometric means of all pairs of ratios, by rank, without making them all; the
 * Hodges-Lehmann middle and its interval. */
#include "statistics/statistics.h"

#include <string.h>

#include "base/options.h"

_Static_assert(sizeof(abench_interval) == ABENCH__INTERVAL_FIRST_RELEASE, "first release");

/* What products of two ratios may reach without leaving the range of full precision. */
#define PRODUCTS_FROM 1e-150
#define PRODUCTS_TO   1e150

/* The pairs' products take their means' place, whose order is the same; their roots where a product
 * might not fit a double (is_wide), which costs precision and time. */
typedef struct pairs {
    const double *sorted;
    uint32_t count;
    int is_wide;
} pairs;

static double pair_at(const pairs *p, uint32_t i, uint32_t j)
{
    if (p->is_wide)
        return __builtin_sqrt(p->sorted[i]) * __builtin_sqrt(p->sorted[j]);
    return p->sorted[i] * p->sorted[j];
}

/* How many are not above the limit. As i grows, the j that still belong to it only fall. */
static uint64_t count_to(const pairs *p, double limit)
{
    uint32_t end = p->count; /* the j below it belong to i */
    uint64_t found = 0;

    for (uint32_t i = 0; i < end; i++) {
        while (end > i && pair_at(p, i, end - 1) > limit)
            end--;
        found += end - i;
    }
    return found;
}

/* Doubles above 0 are in the order of their bits. */
static uint64_t bits_of(double value)
{
    uint64_t bits;

    memcpy(&bits, &value, sizeof bits);
    return bits;
}

static double of_bits(uint64_t bits)
{
    double value;

    memcpy(&value, &bits, sizeof value);
    return value;
}

/* Halves the doubles between the smallest pair and the largest, at most 64 times, down to the first
 * with rank pairs that are not above it: that pair itself. */
double abench__walsh(const double *sorted, uint32_t count, uint64_t rank)
{
    const pairs p = {sorted, count, sorted[0] < PRODUCTS_FROM || sorted[count - 1] > PRODUCTS_TO};
    uint64_t low = bits_of(pair_at(&p, 0, 0));
    uint64_t high = bits_of(pair_at(&p, count - 1, count - 1));

    while (low < high) {
        const uint64_t middle = low + (high - low) / 2;
        if (count_to(&p, of_bits(middle)) >= rank)
            high = middle;
        else
            low = middle + 1;
    }
    return p.is_wide ? of_bits(low) : __builtin_sqrt(of_bits(low));
}

double abench__walsh_middle(const double *sorted, uint32_t count)
{
    const uint64_t all = abench__pairs(count);
    const double lower = abench__walsh(sorted, count, (all + 1) / 2);
    const double upper = all % 2 == 1 ? lower : abench__walsh(sorted, count, all / 2 + 1);

    return lower == upper ? lower : __builtin_sqrt(lower) * __builtin_sqrt(upper);
}

void abench__interval_of_sorted(const double *sorted, uint32_t count, double alpha,
                                abench_interval *out)
{
    double outside = 1;
    const uint64_t critical = abench__signed_rank_critical(count, alpha, &outside);

    abench_interval_init(out);
    out->count = count;
    out->estimate = abench__walsh_middle(sorted, count);
    out->low = out->high = ABENCH__NAN;
    if (critical == 0)
        return;
    out->low = abench__walsh(sorted, count, critical);
    out->high = abench__walsh(sorted, count, abench__pairs(count) + 1 - critical);
    out->coverage = 1 - outside;
}

abench_status abench_hodges_lehmann(double *ratios, uint32_t count, double alpha,
                                    abench_interval *out)
{
    abench_interval mine;

    if (!abench__is_alpha(alpha) || !abench__are_ratios(ratios, count))
        return ABENCH_ERROR_ARGUMENT;
    abench__sort(ratios, count);
    abench__interval_of_sorted(ratios, count, alpha, &mine);
    return abench__options_write(out, &mine, sizeof mine, ABENCH__INTERVAL_FIRST_RELEASE);
}

void abench_interval_init(abench_interval *interval)
{
    memset(interval, 0, sizeof *interval);
    interval->struct_size = sizeof *interval;
}

double abench_interval_reach(const abench_interval *interval)
{
    double up, down;

    if (interval->struct_size < ABENCH__INTERVAL_FIRST_RELEASE ||
        !abench__is_ratio(interval->low) || !abench__is_ratio(interval->high))
        return ABENCH__NAN;
    up = interval->high - 1;
    down = 1 / interval->low - 1;
    return up > down ? up : down;
}
