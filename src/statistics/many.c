/* many.c - several answers at once: Holm's procedure, and the places that pairs leave open. */
#include "statistics/statistics.h"

#include <string.h>

/* ---- Holm ------------------------------------------------------------------------------------ */

static void sink(const double *p, uint32_t *order, uint64_t root, uint64_t count)
{
    const uint32_t test = order[root];
    uint64_t child;

    while ((child = 2 * root + 1) < count) {
        if (child + 1 < count && p[order[child + 1]] > p[order[child]])
            child++;
        if (p[order[child]] <= p[test])
            break;
        order[root] = order[child];
        root = child;
    }
    order[root] = test;
}

/* The tests by p, ascending: a heap sort of their numbers. */
static void order_by_p(const double *p, uint32_t count, uint32_t *order)
{
    for (uint32_t at = 0; at < count; at++)
        order[at] = at;
    for (uint32_t root = count / 2; root-- > 0;)
        sink(p, order, root, count);
    for (uint32_t end = count; end-- > 1;) {
        const uint32_t largest = order[0];
        order[0] = order[end];
        order[end] = largest;
        sink(p, order, 0, end);
    }
}

abench_status abench_holm(const double *p, uint32_t count, double alpha, uint32_t *order,
                          uint8_t *rejected)
{
    if (!abench__is_alpha(alpha))
        return ABENCH_ERROR_ARGUMENT;
    for (uint32_t at = 0; at < count; at++)
        if (!(p[at] >= 0 && p[at] <= 1))
            return ABENCH_ERROR_ARGUMENT;
    if (count == 0)
        return ABENCH_OK;
    order_by_p(p, count, order);
    memset(rejected, 0, count);
    for (uint32_t at = 0; at < count && p[order[at]] <= alpha / (count - at); at++)
        rejected[order[at]] = 1;
    return ABENCH_OK;
}

/* ---- ranks ----------------------------------------------------------------------------------- */

/* A pair may be told by either of its two verdicts, or by both. */
static int is_better(const uint32_t *verdicts, uint64_t count, uint64_t i, uint64_t j)
{
    return verdicts[i * count + j] == ABENCH_COMPARED_BETTER ||
           verdicts[j * count + i] == ABENCH_COMPARED_WORSE;
}

abench_status abench_ranks(const uint32_t *verdicts, uint32_t count, uint32_t *low, uint32_t *high)
{
    for (uint64_t at = 0; at < (uint64_t)count * count; at++)
        if (abench_compared_name(verdicts[at]) == NULL)
            return ABENCH_ERROR_ARGUMENT;
    for (uint32_t i = 0; i < count; i++) /* also i against itself, where each is a contradiction */
        for (uint32_t j = i; j < count; j++)
            if (is_better(verdicts, count, i, j) && is_better(verdicts, count, j, i))
                return ABENCH_ERROR_ARGUMENT;
    for (uint32_t i = 0; i < count; i++) {
        low[i] = 1;
        high[i] = count;
        for (uint32_t j = 0; j < count; j++) {
            low[i] += is_better(verdicts, count, j, i) ? 1 : 0;
            high[i] -= is_better(verdicts, count, i, j) ? 1 : 0;
        }
    }
    return ABENCH_OK;
}
