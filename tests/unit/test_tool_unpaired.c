/* Intervals of what does not pair, against all that can be enumerated. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <allocbench/random.h>

#include "tool/report/unpaired.h"

#define MOST 8

static void assert_near(double value, double wanted)
{
    if (isnan(wanted) ? !isnan(value) : !(fabs(value - wanted) <= 1e-9 * fabs(wanted)))
        fail_msg("%.17g is not %.17g", value, wanted);
}

static int by_value(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;

    return (x > y) - (x < y);
}

/* ---- brute force ----------------------------------------------------------------------------- */

/* How many of all ways to choose m of m + n ranks give U at most u, and how many there are. */
static double count_orders(unsigned m, unsigned n, unsigned u, double *all)
{
    double count = 0;

    *all = 0;
    for (uint32_t chosen = 0; chosen < (uint32_t)1 << (m + n); chosen++) {
        unsigned others = 0, own = 0, sum = 0;
        for (unsigned rank = 0; rank < m + n; rank++) {
            const unsigned is_own = chosen >> rank & 1;
            own += is_own;
            sum += is_own != 0 ? others : 0;
            others += is_own == 0;
        }
        *all += own == m;
        count += own == m && sum <= u;
    }
    return count;
}

/* The largest k with 2 P(U <= k - 1) <= alpha. */
static unsigned brute_critical(unsigned m, unsigned n, double alpha)
{
    unsigned k = 0;
    double all;

    while (k < m * n && 2 * count_orders(m, n, k, &all) / all <= alpha + 1e-15)
        k++;
    return k;
}

static void brute_force(const double *a, unsigned m, const double *b, unsigned n, double alpha,
                        double *low, double *middle, double *high)
{
    double ratios[MOST * MOST];
    const unsigned pairs = m * n, k = brute_critical(m, n, alpha);

    for (unsigned i = 0; i < pairs; i++)
        ratios[i] = b[i % n] / a[i / n];
    qsort(ratios, pairs, sizeof *ratios, by_value);
    *middle = sqrt(ratios[(pairs - 1) / 2] * ratios[pairs / 2]);
    *low = k == 0 ? NAN : ratios[k - 1];
    *high = k == 0 ? NAN : ratios[pairs - k];
}

/* ---- the shift ------------------------------------------------------------------------------- */

static void the_shift_is_that_of_all_pairs(void **state)
{
    static const double alphas[] = {0.05, 0.01, 0.1, 0.3};
    abench_random random;

    (void)state;
    abench_random_seed(&random, 7, 0, 0);
    for (unsigned m = 1; m <= MOST; m++)
        for (unsigned n = 1; n <= MOST && m + n <= 13; n++) {
            const double alpha = alphas[(m + n) % 4];
            double a[MOST], b[MOST], low, middle, high;
            abench_interval out;
            for (unsigned i = 0; i < m; i++)
                a[i] = 1 + (double)(abench_random_next(&random) % 1000) / 500;
            for (unsigned i = 0; i < n; i++)
                b[i] = 1 + (double)(abench_random_next(&random) % 10) / 3; /* with ties */
            brute_force(a, m, b, n, alpha, &low, &middle, &high);
            assert_true(unpaired_ratio(a, m, b, n, alpha, &out));
            assert_near(out.estimate, middle);
            assert_near(out.low, low);
            assert_near(out.high, high);
            assert_int_equal(out.count, m < n ? m : n);
        }
}

/* Tables of the rank-sum test: the largest U that is significant at 5 %, two-sided. */
static void critical_values_are_those_of_the_tables(void **state)
{
    static const struct {
        uint32_t m, n, u;
    } rows[] = {{4, 4, 0},    {5, 5, 2},    {5, 8, 6},    {8, 8, 13},
                {10, 10, 23}, {10, 15, 39}, {20, 20, 127}};

    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        double a[20], b[20];
        double *ratios = calloc(400, sizeof *ratios);
        abench_interval out;
        uint32_t pairs = 0;
        assert_non_null(ratios);
        for (uint32_t j = 0; j < rows[i].m; j++)
            a[j] = exp(0.01 * j * j);
        for (uint32_t j = 0; j < rows[i].n; j++)
            b[j] = exp(0.037 * j);
        for (uint32_t j = 0; j < rows[i].m; j++)
            for (uint32_t k = 0; k < rows[i].n; k++)
                ratios[pairs++] = b[k] / a[j];
        qsort(ratios, pairs, sizeof *ratios, by_value);
        assert_true(unpaired_ratio(a, rows[i].m, b, rows[i].n, 0.05, &out));
        assert_near(out.low, ratios[rows[i].u]); /* the bound is the next behind it */
        assert_near(out.high, ratios[pairs - 1 - rows[i].u]);
        free(ratios);
    }
}

/* Which of all ratios in rising order the lower bound is, of n values a side: the logarithms of the
 * ratios are all the whole numbers from -n (n - 1) to n - 1, in thousandths. */
static double place_of_low(uint32_t n)
{
    double *a = calloc(n, sizeof *a), *b = calloc(n, sizeof *b);
    abench_interval out;

    assert_non_null(a);
    assert_non_null(b);
    for (uint32_t i = 0; i < n; i++) {
        a[i] = exp(0.001 * i * n);
        b[i] = exp(0.001 * i);
    }
    assert_true(unpaired_ratio(a, n, b, n, 0.05, &out));
    assert_near(out.low * out.high, exp(0.001 * (n - 1) * (1 - (double)n)));
    free(a);
    free(b);
    return log(out.low) * 1000 + (double)n * (n - 1) + 1;
}

/* Beyond the exact distribution the normal one goes on where it ends. */
static void many_values_go_on_as_few(void **state)
{
    (void)state;
    for (uint32_t n = 40; n <= 90; n += 2) {
        const double pairs = (double)n * n;
        const double normal = pairs / 2 - 1.959964 * sqrt(pairs * (2 * n + 1) / 12);
        const double place = place_of_low(n);
        if (fabs(place - normal) > 1.6)
            fail_msg("%u: %g, not %g", n, place, normal);
    }
}

static void turned_round_the_ratio_is_turned_too(void **state)
{
    double a[] = {1.1, 1.3, 1.2, 1.5, 1.05}, b[] = {2.1, 2.6, 2.2, 2.0, 3.1, 2.5};
    double c[5], d[6];
    abench_interval one, other;

    (void)state;
    memcpy(c, a, sizeof a);
    memcpy(d, b, sizeof b);
    assert_true(unpaired_ratio(a, 5, b, 6, 0.05, &one));
    assert_true(unpaired_ratio(d, 6, c, 5, 0.05, &other));
    assert_near(one.estimate * other.estimate, 1);
    assert_near(one.low * other.high, 1);
    assert_near(one.high * other.low, 1);
}

static void extreme_values_neither_overflow_nor_vanish(void **state)
{
    double a[] = {1e-300, 1e-300, 1e-300, 1e-300}, b[] = {1e300, 1e300, 1e300, 1e300};
    double c[] = {1e300, 1e300, 1e300, 1e300}, d[] = {1e300, 1e300, 1e300, 1e300};
    abench_interval out;

    (void)state;
    assert_true(unpaired_ratio(a, 4, b, 4, 0.05, &out));
    assert_true(isinf(out.estimate)); /* 1e600 is no double */
    assert_true(unpaired_ratio(c, 4, d, 4, 0.05, &out));
    assert_near(out.estimate, 1);
    assert_near(out.low, 1);
}

static void what_is_no_ratio_is_refused(void **state)
{
    static const double wrong[] = {0, -1, NAN, INFINITY};
    abench_interval out;
    double good[] = {1, 2};

    (void)state;
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        double bad[] = {1, wrong[i]}, fresh[] = {1, 2};
        assert_false(unpaired_ratio(bad, 2, fresh, 2, 0.05, &out));
        bad[0] = 1;
        bad[1] = wrong[i];
        fresh[0] = 1;
        fresh[1] = 2;
        assert_false(unpaired_ratio(fresh, 2, bad, 2, 0.05, &out));
    }
    assert_false(unpaired_ratio(good, 0, good, 1, 0.05, &out));
    assert_false(unpaired_ratio(good, 1, good, 0, 0.05, &out));
    assert_false(unpaired_ratio(good, 1, good + 1, 1, 0, &out));
    assert_false(unpaired_ratio(good, 1, good + 1, 1, 1, &out));
}

static void the_fewest_rounds_have_an_interval_and_one_fewer_has_none(void **state)
{
    static const double alphas[] = {0.5, 0.1, 0.05, 0.01, 0.05 / 7, 1e-4};

    (void)state;
    assert_int_equal(unpaired_least(0.05), 4); /* 2 of 70 */
    assert_int_equal(unpaired_least(0), 0);
    assert_int_equal(unpaired_least(1), 0);
    for (size_t i = 0; i < sizeof alphas / sizeof *alphas; i++) {
        const uint32_t n = unpaired_least(alphas[i]);
        abench_interval out;
        double a[16] = {0}, b[16] = {0};
        assert_in_range(n, 1, 16);
        for (uint32_t few = 0; few < 2 && n > few; few++) {
            for (uint32_t j = 0; j < n; j++) {
                a[j] = 1 + j;
                b[j] = 2 + j;
            }
            assert_true(unpaired_ratio(a, n - few, b, n - few, alphas[i], &out));
            assert_int_equal(isnan(out.low), few != 0);
        }
    }
}

/* ---- the median ------------------------------------------------------------------------------ */

static void the_median_lies_between_order_statistics(void **state)
{
    /* Of the sign test at 5 %, two-sided: the values from 1 that are the lower bounds. */
    static const struct {
        uint32_t n, k;
    } rows[] = {{5, 0}, {6, 1}, {8, 1}, {9, 2}, {12, 3}, {20, 6}, {25, 8}, {50, 18}, {100, 40}};

    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        double values[100];
        abench_interval out;
        for (uint32_t j = 0; j < rows[i].n; j++)
            values[j] = (double)j - 3;
        assert_true(unpaired_median(values, rows[i].n, 0.05, &out));
        assert_near(out.estimate + 10, (rows[i].n - 1) / 2.0 - 3 + 10);
        if (rows[i].k == 0) {
            assert_true(isnan(out.low) && isnan(out.high));
            continue;
        }
        assert_near(out.low + 10, rows[i].k - 1.0 - 3 + 10);
        assert_near(out.high + 10, rows[i].n - rows[i].k - 3.0 + 10);
    }
}

static void the_median_of_very_many_is_like_that_of_many(void **state)
{
    double *values = calloc(1002, sizeof *values);
    abench_interval below, above;

    (void)state;
    assert_non_null(values);
    for (uint32_t i = 0; i < 1002; i++)
        values[i] = i;
    assert_true(unpaired_median(values, 1000, 0.05, &below));
    assert_true(unpaired_median(values, 1002, 0.05, &above));
    assert_near(below.low, 468); /* 500 - 1.96 sqrt(1000) / 2, one less for the count from 0 */
    assert_true(fabs(above.low - below.low - 1) <= 1);
    assert_false(unpaired_median(values, 0, 0.05, &below));
    values[3] = NAN;
    assert_false(unpaired_median(values, 10, 0.05, &below));
    free(values);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_shift_is_that_of_all_pairs),
        cmocka_unit_test(critical_values_are_those_of_the_tables),
        cmocka_unit_test(many_values_go_on_as_few),
        cmocka_unit_test(turned_round_the_ratio_is_turned_too),
        cmocka_unit_test(extreme_values_neither_overflow_nor_vanish),
        cmocka_unit_test(what_is_no_ratio_is_refused),
        cmocka_unit_test(the_fewest_rounds_have_an_interval_and_one_fewer_has_none),
        cmocka_unit_test(the_median_lies_between_order_statistics),
        cmocka_unit_test(the_median_of_very_many_is_like_that_of_many),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
