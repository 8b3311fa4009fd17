/* The statistics against what their definitions say, worked out by trying everything: all pairs,
 * all signs, all orders. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <math.h>

#include <allocbench/statistics.h>

#include "support.h"

#define MOST     12u /* 2^12 ways to sign them */
#define MANY     200u
#define CLOSE    1e-11
#define MEANS(n) ((n) * ((n) + 1) / 2)

static double unit(prng *random)
{
    return ((double)(prng_next(random) >> 11) + 0.5) / 9007199254740992.0;
}

/* Off by 10 % or so; or one of few, so that there are ties and ones. */
static double any_ratio(prng *random, int of_few)
{
    static const double few[] = {0.5, 0.8, 1, 1, 1.25, 2, 2, 1.02, 100.0 / 102};

    if (of_few)
        return few[prng_below(random, sizeof few / sizeof *few)];
    return exp(0.3 * (unit(random) + unit(random) - 0.9));
}

static void fill(prng *random, double *ratios, uint32_t count, int of_few)
{
    for (uint32_t at = 0; at < count; at++)
        ratios[at] = any_ratio(random, of_few);
}

static void assert_close(double mine, double wanted)
{
    if (!(fabs(mine - wanted) <= CLOSE * fabs(wanted)))
        fail_msg("%.17g is not %.17g", mine, wanted);
}

static int ascending(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;

    return x < y ? -1 : x > y;
}

/* ---- the interval ---------------------------------------------------------------------------- */

/* How many of the 2^count ways to choose ranks have a sum of w or less. */
static uint32_t ways_to(uint32_t count, uint32_t w)
{
    uint32_t ways = 0;

    for (uint32_t chosen = 0; chosen < (uint32_t)1 << count; chosen++) {
        uint32_t sum = 0;
        for (uint32_t rank = 1; rank <= count; rank++)
            sum += chosen >> (rank - 1) & 1 ? rank : 0;
        ways += sum <= w;
    }
    return ways;
}

static abench_interval naive_interval(const double *ratios, uint32_t count, double alpha)
{
    abench_interval in = {sizeof in, count, 0, NAN, NAN, 0};
    double means[MEANS(MOST)];
    const uint32_t all = MEANS(count);
    uint32_t made = 0, c = 0;

    for (uint32_t i = 0; i < count; i++)
        for (uint32_t j = i; j < count; j++)
            means[made++] = (log(ratios[i]) + log(ratios[j])) / 2;
    qsort(means, all, sizeof *means, ascending);
    in.estimate = exp((means[(all - 1) / 2] + means[all / 2]) / 2);
    while (2 * ldexp(ways_to(count, c), -(int)count) <= alpha) {
        in.coverage = 1 - 2 * ldexp(ways_to(count, c), -(int)count);
        in.low = exp(means[c]);
        in.high = exp(means[all - 1 - c]);
        c++;
    }
    return in;
}

static void an_interval_is_the_one_of_all_pairs_and_all_signs(void **state)
{
    prng random = {test_seed(__func__)};

    (void)state;
    for (int round = 0; round < 400; round++) {
        const uint32_t count = 1 + (uint32_t)prng_below(&random, MOST);
        const double alpha = pow(10, -3.5 * unit(&random));
        abench_interval mine = ABENCH_INTERVAL_INIT, wanted;
        double ratios[MOST];
        fill(&random, ratios, count, round % 4 == 0);
        if (round % 5 == 0) /* beyond what a product of two may be */
            for (uint32_t at = 0; at < count; at++)
                ratios[at] = pow(ratios[at], round % 4 == 0 ? 1000 : 2000);
        wanted = naive_interval(ratios, count, alpha);
        assert_int_equal(abench_hodges_lehmann(ratios, count, alpha, &mine), ABENCH_OK);
        assert_int_equal(mine.count, count);
        assert_close(mine.estimate, wanted.estimate);
        assert_int_equal(mine.coverage == 0, wanted.coverage == 0);
        if (wanted.coverage == 0) {
            assert_true(isnan(mine.low) && isnan(mine.high));
            continue;
        }
        assert_close(mine.coverage, wanted.coverage);
        assert_close(mine.low, wanted.low);
        assert_close(mine.high, wanted.high);
    }
}

/* A center just outside the interval is one that the test rejects, just inside one that it does
 * not; both where the distribution is exact and where it is the normal one. */
static void an_interval_holds_what_the_test_does_not_reject(void **state)
{
    prng random = {test_seed(__func__)};

    (void)state;
    for (int round = 0; round < 60; round++) {
        const uint32_t count = 12 + (uint32_t)prng_below(&random, MANY - 12);
        const double alpha = 0.001 + 0.2 * unit(&random);
        abench_interval in = ABENCH_INTERVAL_INIT;
        double ratios[MANY];
        fill(&random, ratios, count, 0);
        assert_int_equal(abench_hodges_lehmann(ratios, count, alpha, &in), ABENCH_OK);
        assert_true(in.low <= in.estimate && in.estimate <= in.high);
        assert_true(in.coverage >= 1 - alpha && in.coverage < 1);
        assert_true(abench_signed_rank(ratios, count, in.low * (1 - 1e-9)) <= alpha);
        assert_true(abench_signed_rank(ratios, count, in.low * (1 + 1e-9)) > alpha);
        assert_true(abench_signed_rank(ratios, count, in.high * (1 + 1e-9)) <= alpha);
        assert_true(abench_signed_rank(ratios, count, in.high * (1 - 1e-9)) > alpha);
    }
}

static void order_scale_and_direction_change_nothing(void **state)
{
    prng random = {test_seed(__func__)};

    (void)state;
    for (int round = 0; round < 100; round++) {
        const uint32_t count = 6 + (uint32_t)prng_below(&random, 60);
        abench_interval a = ABENCH_INTERVAL_INIT, b = ABENCH_INTERVAL_INIT,
                        c = ABENCH_INTERVAL_INIT;
        double ratios[MANY], other[MANY], p;
        fill(&random, ratios, count, round % 3 == 0);
        for (uint32_t at = 0; at < count; at++)
            other[at] = ratios[count - 1 - at];
        p = abench_signed_rank(other, count, 1);
        abench_hodges_lehmann(ratios, count, 0.05, &a);
        abench_hodges_lehmann(other, count, 0.05, &b);
        assert_memory_equal(&a, &b, sizeof a);
        for (uint32_t at = 0; at < count; at++)
            other[at] = ratios[at] * 4;
        abench_hodges_lehmann(other, count, 0.05, &b);
        assert_true(b.low == 4 * a.low && b.high == 4 * a.high && b.estimate == 4 * a.estimate);
        for (uint32_t at = 0; at < count; at++)
            other[at] = 1 / ratios[at];
        assert_close(abench_signed_rank(other, count, 1), p);
        abench_hodges_lehmann(other, count, 0.05, &c);
        assert_close(1 / c.high, a.low);
        assert_close(1 / c.low, a.high);
        assert_close(1 / c.estimate, a.estimate);
        assert_true(c.coverage == a.coverage);
    }
}

/* ---- the test -------------------------------------------------------------------------------- */

/* Of count ratios, those equal to center left out, in *left: the doubled mean ranks of their
 * distances, with the ratio's side as the sign. */
static void signed_ranks(const double *ratios, uint32_t count, double center, int *ranks,
                         uint32_t *left)
{
    double far[MOST];
    int side[MOST];

    *left = 0;
    for (uint32_t at = 0; at < count; at++) {
        const double distance = log(ratios[at] / center);
        if (fabs(distance) < 1e-9)
            continue;
        far[*left] = fabs(distance);
        side[(*left)++] = distance > 0 ? 1 : -1;
    }
    for (uint32_t i = 0; i < *left; i++) {
        int rank = 1;
        for (uint32_t j = 0; j < *left; j++)
            rank += fabs(far[j] - far[i]) < 1e-9 ? 1 : far[j] < far[i] ? 2 : 0;
        ranks[i] = side[i] * rank;
    }
}

static double naive_p(const double *ratios, uint32_t count, double center)
{
    int ranks[MOST], seen = 0;
    uint32_t left, ways = 0;

    signed_ranks(ratios, count, center, ranks, &left);
    for (uint32_t at = 0; at < left; at++)
        seen += ranks[at];
    for (uint32_t chosen = 0; chosen < (uint32_t)1 << left; chosen++) {
        int sum = 0;
        for (uint32_t at = 0; at < left; at++)
            sum += chosen >> at & 1 ? abs(ranks[at]) : -abs(ranks[at]);
        ways += abs(sum) >= abs(seen);
    }
    return ldexp(ways, -(int)left);
}

static void a_p_is_the_share_of_all_signs(void **state)
{
    prng random = {test_seed(__func__)};

    (void)state;
    for (int round = 0; round < 400; round++) {
        const uint32_t count = 1 + (uint32_t)prng_below(&random, MOST);
        const double center = round % 3 == 0 ? 1 : any_ratio(&random, 1);
        double ratios[MOST], wanted;
        fill(&random, ratios, count, round % 2);
        wanted = naive_p(ratios, count, center);
        assert_close(abench_signed_rank(ratios, count, center), wanted);
    }
}

/* ---- values ---------------------------------------------------------------------------------- */

static void quantiles_and_cliff_are_those_of_all_values(void **state)
{
    prng random = {test_seed(__func__)};

    (void)state;
    for (int round = 0; round < 300; round++) {
        const uint32_t n = 1 + (uint32_t)prng_below(&random, 50),
                       m = 1 + (uint32_t)prng_below(&random, 50);
        const uint32_t ppm = (uint32_t)prng_below(&random, 1000001);
        const double place = (n - 1) * (ppm / 1e6);
        const uint32_t below = (uint32_t)place, next = below + 1 < n ? below + 1 : below;
        double a[50], b[50], sorted[50];
        int wins = 0;
        fill(&random, a, n, round % 2);
        fill(&random, b, m, round % 2);
        memcpy(sorted, a, sizeof a);
        qsort(sorted, n, sizeof *sorted, ascending);
        for (uint32_t i = 0; i < n; i++)
            for (uint32_t j = 0; j < m; j++)
                wins += (a[i] > b[j]) - (a[i] < b[j]);
        assert_true(fabs(abench_cliff(a, n, b, m) - (double)wins / (n * m)) < 1e-12);
        assert_memory_equal(a, sorted, n * sizeof *a);
        assert_close(abench_quantile(a, n, ppm),
                     sorted[below] + (sorted[next] - sorted[below]) * (place - below));
    }
}

/* ---- many ------------------------------------------------------------------------------------ */

/* Rejects the smallest p that is left, as long as it is small enough for those that are left. */
static void naive_holm(const double *p, uint32_t count, double alpha, uint8_t *rejected)
{
    memset(rejected, 0, count);
    for (uint32_t left = count; left > 0; left--) {
        uint32_t least = UINT32_MAX;
        for (uint32_t at = 0; at < count; at++)
            if (!rejected[at] && (least == UINT32_MAX || p[at] < p[least]))
                least = at;
        if (p[least] * left > alpha)
            return;
        rejected[least] = 1;
    }
}

static void holm_rejects_one_after_the_other(void **state)
{
    prng random = {test_seed(__func__)};
    int some = 0;

    (void)state;
    for (int round = 0; round < 500; round++) {
        const uint32_t count = (uint32_t)prng_below(&random, 40);
        double p[40];
        uint32_t order[40];
        uint8_t mine[40] = {0}, wanted[40] = {0};
        for (uint32_t at = 0; at < count; at++)
            p[at] = prng_below(&random, 3) == 0 ? unit(&random) : unit(&random) * 0.01;
        assert_int_equal(abench_holm(p, count, 0.05, order, mine), ABENCH_OK);
        naive_holm(p, count, 0.05, wanted);
        assert_memory_equal(mine, wanted, sizeof mine);
        for (uint32_t at = 0; at < count; at++)
            some += mine[at];
    }
    assert_true(some > 100);
}

static void ranks_count_what_is_proven(void **state)
{
    prng random = {test_seed(__func__)};

    (void)state;
    for (int round = 0; round < 300; round++) {
        const uint32_t n = (uint32_t)prng_below(&random, 9);
        uint32_t verdicts[81] = {0}, low[9], high[9], better[9] = {0}, worse[9] = {0};
        for (uint32_t i = 0; i < n; i++)
            for (uint32_t j = 0; j < i; j++) {
                const uint32_t verdict = (uint32_t)prng_below(&random, 5);
                const uint32_t mirror = verdict == ABENCH_COMPARED_BETTER  ? ABENCH_COMPARED_WORSE
                                        : verdict == ABENCH_COMPARED_WORSE ? ABENCH_COMPARED_BETTER
                                                                           : verdict;
                const uint64_t told = prng_below(&random, 3); /* by the one, the other or both */
                if (told != 0)
                    verdicts[i * n + j] = verdict;
                if (told != 1)
                    verdicts[j * n + i] = mirror;
                better[i] += verdict == ABENCH_COMPARED_WORSE;
                better[j] += verdict == ABENCH_COMPARED_BETTER;
                worse[i] += verdict == ABENCH_COMPARED_BETTER;
                worse[j] += verdict == ABENCH_COMPARED_WORSE;
            }
        assert_int_equal(abench_ranks(verdicts, n, low, high), ABENCH_OK);
        for (uint32_t i = 0; i < n; i++) {
            assert_int_equal(low[i], 1 + better[i]);
            assert_int_equal(high[i], n - worse[i]);
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_interval_is_the_one_of_all_pairs_and_all_signs),
        cmocka_unit_test(an_interval_holds_what_the_test_does_not_reject),
        cmocka_unit_test(order_scale_and_direction_change_nothing),
        cmocka_unit_test(a_p_is_the_share_of_all_signs),
        cmocka_unit_test(quantiles_and_cliff_are_those_of_all_values),
        cmocka_unit_test(holm_rejects_one_after_the_other),
        cmocka_unit_test(ranks_count_what_is_proven),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
