/* The statistics' numbers that are published or can be worked out by hand, and what is refused. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include <float.h>
#include <math.h>

#include <allocbench/statistics.h>

#include "statistics/statistics.h"

#define EIGHT 1.1, 1.2, 1.05, 1.15, 1.08, 1.3, 1.02, 1.12

static const double not_ratios[] = {NAN, INFINITY, -INFINITY, 0, -1};

static void assert_near(double mine, double wanted)
{
    if (!(fabs(mine - wanted) <= 1e-12 * fabs(wanted)))
        fail_msg("%.17g is not %.17g", mine, wanted);
}

/* ---- values of one run ----------------------------------------------------------------------- */

static void a_median_is_the_middle_value_or_the_mean_of_two(void **state)
{
    double odd[] = {3, -1, 2}, even[] = {4, 1, 3, 2}, same[] = {0.1, 0.1}, one[] = {7},
           huge[] = {DBL_MAX, DBL_MAX / 2, -DBL_MAX};

    (void)state;
    assert_true(abench_median(odd, 3) == 2);
    assert_true(odd[0] == -1 && odd[1] == 2 && odd[2] == 3); /* the values stay */
    assert_true(abench_median(even, 4) == 2.5);
    assert_true(abench_median(same, 2) == 0.1);
    assert_true(abench_median(one, 1) == 7);
    assert_true(abench_median(huge, 2) == DBL_MAX * 0.75);
    assert_true(isnan(abench_median(one, 0)));
}

static void a_quantile_lies_between_two_values_in_proportion(void **state)
{
    double values[] = {40, 10, 30, 20, 50};

    (void)state;
    assert_true(abench_quantile(values, 5, 0) == 10);
    assert_true(abench_quantile(values, 5, 250000) == 20);
    assert_true(abench_quantile(values, 5, 1000000) == 50);
    assert_near(abench_quantile(values, 5, 900000), 46);
    assert_true(isnan(abench_quantile(values, 5, 1000001)));
}

static void cliff_is_the_wins_less_the_losses(void **state)
{
    double low[] = {2, 1, 3}, high[] = {5, 4}, with_ties[] = {1, 2, 2, 9};

    (void)state;
    assert_true(abench_cliff(high, 2, low, 3) == 1);
    assert_true(abench_cliff(low, 3, high, 2) == -1);
    assert_true(abench_cliff(low, 3, low, 3) == 0);
    assert_true(abench_cliff(with_ties, 4, low, 3) == (5.0 - 4) / 12);
    assert_true(abench_cliff(with_ties, 4, high, 2) == (2.0 - 6) / 8);
    assert_true(isnan(abench_cliff(low, 3, high, 0)) && isnan(abench_cliff(low, 0, high, 2)));
}

static void values_that_are_no_numbers_have_no_median_and_no_cliff(void **state)
{
    (void)state;
    for (int at = 0; at < 3; at++) {
        double bad[] = {1, not_ratios[at], 2}, good[] = {1, 2};
        assert_true(isnan(abench_median(bad, 3)));
        assert_true(isnan(abench_quantile(bad, 3, 250000)));
        assert_true(isnan(abench_cliff(bad, 3, good, 2)));
        assert_true(isnan(abench_cliff(good, 2, bad, 3)));
    }
}

/* ---- the signed-rank distribution ------------------------------------------------------------ */

/* The two-sided critical values at 5 % and 1 % that statistics books print (Wilcoxon and Wilcox
 * 1964) for 6 to 25 pairs: the largest smaller rank sum that is significant. -1: none is. */
static void critical_values_are_those_of_the_tables(void **state)
{
    static const int at_5[] = {0,  2,  3,  5,  8,  10, 13, 17, 21, 25,
                               29, 34, 40, 46, 52, 58, 65, 73, 81, 89};
    static const int at_1[] = {-1, -1, 0,  1,  3,  5,  7,  9,  12, 15,
                               19, 23, 27, 32, 37, 42, 48, 54, 61, 68};

    (void)state;
    for (uint32_t n = 6; n <= 25; n++) {
        double outside = 0;
        assert_int_equal((int)abench__signed_rank_critical(n, 0.05, &outside) - 1, at_5[n - 6]);
        assert_true(outside > 0.02 && outside <= 0.05);
        assert_int_equal((int)abench__signed_rank_critical(n, 0.01, &outside) - 1, at_1[n - 6]);
    }
}

/* The exact distribution and the normal one meet where one follows the other: 128 and 129 pairs. */
static void the_normal_goes_on_where_the_exact_ends(void **state)
{
    static const double alphas[] = {0.2, 0.05, 0.01, 0.001, 0.0001};

    (void)state;
    for (size_t at = 0; at < sizeof alphas / sizeof *alphas; at++) {
        double exact = 0, normal = 0;
        const uint64_t c = abench__signed_rank_critical(128, alphas[at], &exact),
                       next = abench__signed_rank_critical(129, alphas[at], &normal);
        /* a pair more moves the critical value by 1/64 of it, and there or so it is */
        assert_true(next > c && next - c < c / 24);
        assert_true(normal > alphas[at] * 0.97 && normal <= alphas[at]);
    }
}

static void the_normal_tail_is_the_one_of_libm(void **state)
{
    (void)state;
    for (double z = 0; z < 37; z += 0.01) {
        const double wanted = erfc(z / sqrt(2)) / 2;
        if (!(fabs(abench__normal_tail(z) - wanted) <= 1e-12 * wanted))
            fail_msg("z %g: %.17g is not %.17g", z, abench__normal_tail(z), wanted);
    }
    assert_true(abench__normal_tail(50) == 0 && abench__normal_tail(1e6) == 0);
    assert_true(abench__normal_tail(1e300) == 0);
}

static void the_logarithm_is_the_one_of_libm(void **state)
{
    (void)state;
    for (double ratio = 1e-300; ratio < 1e300; ratio *= 1.37)
        assert_near(abench__ln_reach(ratio), fabs(log(ratio)));
    for (double off = 1e-9; off < 1; off *= 1.1)
        assert_true(fabs(abench__ln_reach(1 + off) - log1p(off)) < 1e-15);
    assert_true(abench__ln_reach(1) == 0);
    assert_near(abench__ln_reach(DBL_MAX), log(DBL_MAX));
    assert_near(abench__ln_reach(DBL_MIN / 16), -log(DBL_MIN / 16));
}

/* ---- rounds ---------------------------------------------------------------------------------- */

/* Bonferroni: arms of which all pairs are compared, and arms compared with the baseline only. */
static void so_many_rounds_are_the_least(void **state)
{
    static const struct {
        uint32_t arms, all_pairs, baseline;
    } rows[] = {{2, 6, 6}, {3, 7, 7}, {4, 8, 7}, {5, 9, 8}, {6, 10, 8}, {8, 11, 9}};

    (void)state;
    for (size_t at = 0; at < sizeof rows / sizeof *rows; at++) {
        const uint32_t arms = rows[at].arms;
        assert_int_equal(abench_rounds_least(0.05 / (arms * (arms - 1) / 2)), rows[at].all_pairs);
        assert_int_equal(abench_rounds_least(0.05 / (arms - 1)), rows[at].baseline);
    }
    assert_int_equal(abench_rounds_least(0.5), 2);
    assert_int_equal(abench_rounds_least(0.03125), 6); /* 2^-5 */
    assert_int_equal(abench_rounds_least(0.03124), 7);
    assert_int_equal(abench_rounds_least(DBL_MIN), 1023);
    assert_int_equal(abench_rounds_least(0), 0);
    assert_int_equal(abench_rounds_least(1), 0);
    assert_int_equal(abench_rounds_least(-1), 0);
    assert_int_equal(abench_rounds_least(NAN), 0);
}

static void an_interval_begins_with_the_least_rounds(void **state)
{
    double ratios[400];

    (void)state;
    for (double alpha = 0.4; alpha > 1e-60; alpha /= 3) {
        const uint32_t least = abench_rounds_least(alpha);
        abench_interval in = ABENCH_INTERVAL_INIT;
        for (uint32_t at = 0; at < least; at++)
            ratios[at] = 1 + at * 0.01;
        assert_int_equal(abench_hodges_lehmann(ratios, least - 1, alpha, &in), ABENCH_OK);
        assert_true(in.coverage == 0 && isnan(in.low) && isnan(in.high));
        assert_int_equal(abench_hodges_lehmann(ratios, least, alpha, &in), ABENCH_OK);
        assert_true(in.coverage >= 1 - alpha);
        if (least <= 128) /* the smallest pair is the first ratio with itself */
            assert_true(in.low == 1 && in.high == ratios[least - 1]);
        else
            assert_true(in.low >= 1 && in.low < in.estimate && in.high > in.estimate);
    }
}

static void an_interval_of_eight_rounds(void **state)
{
    double ratios[] = {EIGHT};
    abench_interval in = ABENCH_INTERVAL_INIT;

    (void)state;
    assert_int_equal(abench_hodges_lehmann(ratios, 8, 0.05, &in), ABENCH_OK);
    assert_int_equal(in.count, 8);
    /* c = 4: the fourth of 1.02^2, 1.02 * 1.05, 1.02 * 1.08, 1.05^2, and from the other end of
     * 1.3^2, 1.3 * 1.2, 1.3 * 1.15, 1.3 * 1.12; P(W <= 3) = 5/256 */
    assert_near(in.low, 1.05);
    assert_near(in.high, sqrt(1.3 * 1.12));
    assert_near(in.coverage, 1 - 2 * 5.0 / 256);
    /* of 36 the 18th, 1.15 * 1.08, and the 19th, 1.12^2 */
    assert_near(in.estimate, pow(1.15 * 1.08 * 1.12 * 1.12, 0.25));
    assert_near(abench_signed_rank(ratios, 8, 1), 2.0 / 256);
}

static void equal_rounds_have_an_interval_of_their_value(void **state)
{
    double ratios[300];
    abench_interval in = ABENCH_INTERVAL_INIT;

    (void)state;
    for (uint32_t count = 1; count <= 300; count++) {
        for (uint32_t at = 0; at < count; at++)
            ratios[at] = 1.1;
        assert_int_equal(abench_hodges_lehmann(ratios, count, 0.05, &in), ABENCH_OK);
        assert_true(in.estimate == 1.1);
        assert_int_equal(in.coverage > 0, count >= 6);
        assert_true(count < 6 || (in.low == 1.1 && in.high == 1.1));
        assert_true(abench_signed_rank(ratios, count, 1.1) == 1);
        if (count <= 128)
            assert_near(abench_signed_rank(ratios, count, 1), ldexp(2, -(int)count));
        else
            assert_true(abench_signed_rank(ratios, count, 1) < 1e-20);
    }
}

/* 100 by 97 is a little nearer to 1 than 97 by 100, and 100 by 91 a little farther than 91 by 100,
 * by what division makes of them. Three of either say nothing. */
static void rounding_makes_no_difference_of_equal_distances(void **state)
{
    static const double others[] = {97, 91};

    (void)state;
    assert_true(100.0 / 97 < 1 / (97 / 100.0) && 100.0 / 91 > 1 / (91 / 100.0));
    for (int at = 0; at < 2; at++) {
        const double up = 100 / others[at], down = others[at] / 100;
        double ratios[] = {up, down, up, down, up, down};
        assert_true(abench_signed_rank(ratios, 6, 1) == 1);
    }
}

/* And what it makes of a ratio that is the center does not count. */
static void rounding_makes_no_difference_of_none(void **state)
{
    static const double nearly[] = {0.3 / (0.1 * 3), 0.1 * 3 / 0.3};

    (void)state;
    assert_true(nearly[0] < 1 && nearly[1] > 1);
    for (int at = 0; at < 2; at++) {
        double ratios[] = {nearly[at], nearly[at], nearly[at], nearly[at], nearly[at], 2};
        assert_true(abench_signed_rank(ratios, 5, 1) == 1);
        assert_true(abench_signed_rank(ratios, 0, 1) == 1);
        for (uint32_t each = 0; each < 5; each++)
            ratios[each] = 1 + 1e-9 * (at == 0 ? -1 : 1); /* more than rounding */
        assert_near(abench_signed_rank(ratios, 5, 1), 2.0 / 32);
    }
}

/* Powers of two, of which everything is exact, where products of two are out of a double's range.
   */
static void ratios_may_be_of_any_size(void **state)
{
    for (int sign = -1; sign <= 1; sign += 2) {
        double ratios[] = {ldexp(1, sign * 600), ldexp(1, sign * 604), ldexp(1, sign * 600),
                           ldexp(1, sign * 600), ldexp(1, sign * 608), ldexp(1, sign * 600)};
        abench_interval in = ABENCH_INTERVAL_INIT;
        (void)state;
        assert_int_equal(abench_hodges_lehmann(ratios, 6, 0.05, &in), ABENCH_OK);
        assert_true(in.estimate == ldexp(1, sign * 602));
        assert_true(in.low == ldexp(1, sign > 0 ? 600 : -608));
        assert_true(in.high == ldexp(1, sign > 0 ? 608 : -600));
    }
}

static void what_is_no_ratio_is_refused(void **state)
{
    double p[] = {0.5, 0.01}, good[] = {EIGHT};
    uint8_t rejected[2];
    uint32_t order[2];
    abench_interval in = {sizeof in, 7, 7, 7, 7, 7}, small = {36, 7, 7, 7, 7, 7};
    abench_comparison compared = ABENCH_COMPARISON_INIT;

    (void)state;
    for (size_t at = 0; at < sizeof not_ratios / sizeof *not_ratios; at++) {
        double bad[] = {EIGHT};
        bad[5] = not_ratios[at];
        assert_int_equal(abench_hodges_lehmann(bad, 8, 0.05, &in), ABENCH_ERROR_ARGUMENT);
        assert_int_equal(abench_compare(bad, 8, NULL, &compared), ABENCH_ERROR_ARGUMENT);
        assert_true(isnan(abench_signed_rank(bad, 8, 1)));
        assert_true(isnan(abench_signed_rank(good, 8, not_ratios[at])));
        p[0] = not_ratios[at] == 0 ? 1.01 : not_ratios[at];
        assert_int_equal(abench_holm(p, 2, 0.05, order, rejected), ABENCH_ERROR_ARGUMENT);
        p[0] = 0.5;
        if (not_ratios[at] != 0)
            assert_int_equal(abench_holm(p, 2, not_ratios[at], order, rejected),
                             ABENCH_ERROR_ARGUMENT);
        assert_int_equal(abench_hodges_lehmann(good, 8, not_ratios[at], &in),
                         ABENCH_ERROR_ARGUMENT);
    }
    assert_int_equal(abench_hodges_lehmann(good, 8, 1, &in), ABENCH_ERROR_ARGUMENT);
    assert_int_equal(abench_hodges_lehmann(good, 0, 0.05, &in), ABENCH_ERROR_ARGUMENT);
    assert_int_equal(abench_compare(good, 0, NULL, &compared), ABENCH_ERROR_ARGUMENT);
    assert_int_equal(abench_holm(p, 2, 0, order, rejected), ABENCH_ERROR_ARGUMENT);
    assert_int_equal(in.count, 7); /* as it was */
    assert_int_equal(abench_hodges_lehmann(good, 8, 0.05, &small), ABENCH_ERROR_ARGUMENT);
    assert_int_equal(small.count, 7);
}

static void a_reach_is_that_of_the_farther_bound(void **state)
{
    abench_interval in = {sizeof in, 9, 1, 1 / 1.05, 1.02, 0.95};

    (void)state;
    assert_near(abench_interval_reach(&in), 0.05);
    in.high = 1.07;
    assert_near(abench_interval_reach(&in), 0.07);
    in.low = 1.03;
    assert_near(abench_interval_reach(&in), 0.07);
    in.low = NAN;
    assert_true(isnan(abench_interval_reach(&in)));
    abench_interval_init(&in);
    assert_int_equal(in.struct_size, sizeof in);
    assert_true(isnan(abench_interval_reach(&in)));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_median_is_the_middle_value_or_the_mean_of_two),
        cmocka_unit_test(a_quantile_lies_between_two_values_in_proportion),
        cmocka_unit_test(cliff_is_the_wins_less_the_losses),
        cmocka_unit_test(values_that_are_no_numbers_have_no_median_and_no_cliff),
        cmocka_unit_test(critical_values_are_those_of_the_tables),
        cmocka_unit_test(the_normal_goes_on_where_the_exact_ends),
        cmocka_unit_test(the_normal_tail_is_the_one_of_libm),
        cmocka_unit_test(the_logarithm_is_the_one_of_libm),
        cmocka_unit_test(so_many_rounds_are_the_least),
        cmocka_unit_test(an_interval_begins_with_the_least_rounds),
        cmocka_unit_test(an_interval_of_eight_rounds),
        cmocka_unit_test(equal_rounds_have_an_interval_of_their_value),
        cmocka_unit_test(rounding_makes_no_difference_of_equal_distances),
        cmocka_unit_test(rounding_makes_no_difference_of_none),
        cmocka_unit_test(ratios_may_be_of_any_size),
        cmocka_unit_test(what_is_no_ratio_is_refused),
        cmocka_unit_test(a_reach_is_that_of_the_farther_bound),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
