/* values.c - order, and what it says: the median and other quantiles; Cliff's delta. */
#include "statistics/statistics.h"

#define MILLION 1000000u

int abench__are_ratios(const double *ratios, uint32_t count)
{
    for (uint32_t at = 0; at < count; at++)
        if (!abench__is_ratio(ratios[at]))
            return 0;
    return count != 0;
}

static int are_finite(const double *values, uint32_t count)
{
    for (uint32_t at = 0; at < count; at++)
        if (!abench__is_finite(values[at]))
            return 0;
    return count != 0;
}

/* ---- order ----------------------------------------------------------------------------------- */

/* The value at root sinks below the larger ones under it; heap of count. */
static void sink(double *heap, uint64_t root, uint64_t count)
{
    const double value = heap[root];
    uint64_t child;

    while ((child = 2 * root + 1) < count) {
        if (child + 1 < count && heap[child + 1] > heap[child])
            child++;
        if (heap[child] <= value)
            break;
        heap[root] = heap[child];
        root = child;
    }
    heap[root] = value;
}

/* Heap sort (Williams 1964): in place, and never slow. */
void abench__sort(double *values, uint32_t count)
{
    for (uint32_t root = count / 2; root-- > 0;)
        sink(values, root, count);
    for (uint32_t end = count; end-- > 1;) {
        const double largest = values[0];
        values[0] = values[end];
        values[end] = largest;
        sink(values, 0, end);
    }
}

/* ---- quantiles ------------------------------------------------------------------------------- */

double abench__quantile_of_sorted(const double *sorted, uint32_t count, uint32_t parts_per_million)
{
    const uint64_t place = (uint64_t)(count - 1) * parts_per_million;
    const uint64_t below = place / MILLION, rest = place % MILLION;
    const double part = (double)rest / MILLION;

    if (rest == 0 || sorted[below] == sorted[below + 1])
        return sorted[below];
    return sorted[below] * (1 - part) + sorted[below + 1] * part;
}

double abench_quantile(double *values, uint32_t count, uint32_t parts_per_million)
{
    if (parts_per_million > MILLION || !are_finite(values, count))
        return ABENCH__NAN;
    abench__sort(values, count);
    return abench__quantile_of_sorted(values, count, parts_per_million);
}

double abench_median(double *values, uint32_t count)
{
    return abench_quantile(values, count, MILLION / 2);
}

/* ---- two samples ----------------------------------------------------------------------------- */

double abench_cliff(double *a, uint32_t a_count, double *b, uint32_t b_count)
{
    uint32_t less = 0, not_above = 0; /* of b: below the value of a, and not above it */
    uint64_t wins = 0, losses = 0;

    if (!are_finite(a, a_count) || !are_finite(b, b_count))
        return ABENCH__NAN;
    abench__sort(a, a_count);
    abench__sort(b, b_count);
    for (uint32_t at = 0; at < a_count; at++) {
        while (less < b_count && b[less] < a[at])
            less++;
        while (not_above < b_count && b[not_above] <= a[at])
            not_above++;
        wins += less;
        losses += b_count - not_above;
    }
    return ((double)wins - (double)losses) / ((double)a_count * b_count);
}
