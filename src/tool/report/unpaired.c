#include "tool/report/unpaired.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "tool/util.h"

#define EXACT_STEPS 3e7 /* additions that an exact distribution may take: some 30 ms */

static bool is_level(double alpha)
{
    return alpha > 0 && alpha < 1;
}

/* ---- the rank-sum distribution --------------------------------------------------------------- */

/* The largest k whose two tails together, of fewer than k on each side, have no more than alpha; 0:
 * none. tail[u]: how probable exactly u is. */
static uint64_t critical(const double *tail, uint64_t most, double alpha)
{
    double sum = 0;
    uint64_t k = 0;

    while (k < most && 2 * (sum + tail[k]) <= alpha)
        sum += tail[k++];
    return k;
}

/* How many of the C(m + n, m) ways to give m of the ranks to one side have each value of U: the
 * ranks come in rising order, and one that is the k-th given has rank - k of the other side's below
 * it. Only sums of positive numbers: nothing cancels. */
static double *rank_sum_counts(uint64_t m, uint64_t n)
{
    const uint64_t width = m * n + 1;
    double *ways = xcalloc((m + 1) * width, sizeof *ways);
    double *last = xcalloc(width, sizeof *last);

    ways[0] = 1;
    for (uint64_t rank = 1; rank <= m + n; rank++)
        for (uint64_t k = rank < m ? rank : m; k > 0; k--) {
            const uint64_t below = rank - k;
            const double *fewer = ways + (k - 1) * width;
            for (uint64_t u = below; u < width; u++)
                ways[k * width + u] += fewer[u - below];
        }
    memcpy(last, ways + m * width, width * sizeof *last);
    free(ways);
    return last;
}

static uint64_t critical_exact(uint64_t m, uint64_t n, double alpha)
{
    double *tail = rank_sum_counts(m, n);
    double all = 0;
    uint64_t k;

    for (uint64_t u = 0; u <= m * n; u++)
        all += tail[u];
    for (uint64_t u = 0; u <= m * n; u++)
        tail[u] /= all;
    k = critical(tail, m * n / 2 + 1, alpha);
    free(tail);
    return k;
}

/* P(U <= k - 1) is that of a normal value below k - 1/2. */
static uint64_t critical_normal(double m, double n, double alpha)
{
    const double deviation = sqrt(m * n * (m + n + 1) / 12);
    uint64_t low = 0, high = (uint64_t)(m * n / 2);

    while (low < high) {
        const uint64_t middle = low + (high - low + 1) / 2;
        const double z = (m * n / 2 - ((double)middle - 0.5)) / deviation;
        if (erfc(z / sqrt(2)) <= alpha)
            low = middle;
        else
            high = middle - 1;
    }
    return low;
}

static uint64_t rank_sum_critical(uint64_t a, uint64_t b, double alpha)
{
    const uint64_t m = a < b ? a : b, n = a < b ? b : a;

    return (double)m * (double)(m + n) * (double)(m * n) <= EXACT_STEPS
               ? critical_exact(m, n, alpha)
               : critical_normal((double)m, (double)n, alpha);
}

uint32_t unpaired_least(double alpha)
{
    double orders = 1;
    uint32_t n = 0;

    if (!is_level(alpha))
        return 0;
    while (2 / orders > alpha) {
        n++;
        orders *= (4.0 * n - 2) / n; /* C(2n, n) from C(2n - 2, n - 1) */
    }
    return n;
}

/* ---- the k-th of all differences ------------------------------------------------------------- */

static int by_value(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;

    return (x > y) - (x < y);
}

/* Sorts the logarithms of the values into their place. */
static bool take_logarithms(double *values, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++) {
        if (!(values[i] > 0) || !isfinite(values[i]))
            return false;
        values[i] = log(values[i]);
    }
    if (count > 0)
        qsort(values, count, sizeof *values, by_value);
    return count > 0;
}

typedef struct sides {
    const double *a; /* sorted */
    uint32_t a_count;
    const double *b;
    uint32_t b_count;
} sides;

/* How many b[j] - a[i] are at most limit. The subtraction rounds, but never out of order. */
static uint64_t count_up_to(const sides *s, double limit)
{
    uint64_t count = 0;
    uint32_t j = 0;

    for (uint32_t i = 0; i < s->a_count; i++) {
        while (j < s->b_count && s->b[j] - s->a[i] <= limit)
            j++;
        count += j;
    }
    return count;
}

/* Doubles as integers of the same order. */
static uint64_t key_of(double value)
{
    const uint64_t sign = (uint64_t)1 << 63;
    uint64_t bits;

    memcpy(&bits, &value, sizeof bits);
    return bits & sign ? ~bits : bits | sign;
}

static double value_of(uint64_t key)
{
    const uint64_t sign = (uint64_t)1 << 63;
    const uint64_t bits = key & sign ? key ^ sign : ~key;
    double value;

    memcpy(&value, &bits, sizeof value);
    return value;
}

/* The k-th smallest, from 1: the least double that k of them do not exceed. */
static double difference_at(const sides *s, uint64_t k)
{
    uint64_t low = key_of(s->b[0] - s->a[s->a_count - 1]);
    uint64_t high = key_of(s->b[s->b_count - 1] - s->a[0]);

    while (low < high) {
        const uint64_t middle = low + (high - low) / 2;
        if (count_up_to(s, value_of(middle)) >= k)
            high = middle;
        else
            low = middle + 1;
    }
    return value_of(low);
}

/* ---- intervals ------------------------------------------------------------------------------- */

bool unpaired_ratio(double *a, uint32_t a_count, double *b, uint32_t b_count, double alpha,
                    abench_interval *out)
{
    const uint64_t pairs = (uint64_t)a_count * b_count;
    const sides s = {a, a_count, b, b_count};
    uint64_t k;

    abench_interval_init(out);
    out->low = out->high = NAN;
    if (!is_level(alpha) || !take_logarithms(a, a_count) || !take_logarithms(b, b_count))
        return false;
    out->count = a_count < b_count ? a_count : b_count;
    out->estimate =
        exp(difference_at(&s, (pairs + 1) / 2) / 2 + difference_at(&s, pairs / 2 + 1) / 2);
    k = rank_sum_critical(a_count, b_count, alpha);
    if (k == 0)
        return true;
    out->low = exp(difference_at(&s, k));
    out->high = exp(difference_at(&s, pairs + 1 - k));
    out->coverage = 1 - alpha;
    return true;
}

bool unpaired_median(double *values, uint32_t count, double alpha, abench_interval *out)
{
    double tail = ldexp(1, -(int)(count < 1000 ? count : 1000)); /* of exactly k below the middle */
    double sum = 0;
    uint32_t k = 0;

    abench_interval_init(out);
    out->low = out->high = NAN;
    if (!is_level(alpha) || count == 0)
        return false;
    for (uint32_t i = 0; i < count; i++)
        if (!isfinite(values[i]))
            return false;
    out->count = count;
    qsort(values, count, sizeof *values, by_value);
    out->estimate = values[(count - 1) / 2] / 2 + values[count / 2] / 2;
    if (count > 1000) { /* 2^-count is no double any more */
        const double z = sqrt(2) * 0.5 * sqrt(count);
        while (k < count / 2 && erfc((count / 2.0 - (k + 0.5)) / z) <= alpha)
            k++;
    }
    for (; count <= 1000 && k < count / 2 && 2 * (sum + tail) <= alpha; k++) {
        sum += tail;
        tail *= (double)(count - k) / (k + 1);
    }
    if (k == 0)
        return true;
    out->low = values[k - 1];
    out->high = values[count - k];
    out->coverage = 1 - alpha;
    return true;
}
