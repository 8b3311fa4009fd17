/* Estimates of sums, and the evenly spread values that means are made of. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "workload/estimate.h"

static void a_sum_is_its_mean_five_deviations_and_two_of_the_largest(void **state)
{
    (void)state;
    assert_int_equal(abench__likely_sum(10000, 10, 400, 100), 100000 + 5 * 2000 + 200);
    assert_int_equal(abench__likely_sum(10, 10, 100, 10), 100); /* no more than all can be */
    assert_int_equal(abench__likely_sum(1, 10, 400, 100), 100);
    assert_int_equal(abench__likely_sum(0, 10, 400, 100), 0);
    /* Without a mean square it is taken for mean * most. */
    assert_int_equal(abench__likely_sum(99 * 99, 16, UINT64_MAX, 400),
                     99 * 99 * 16 + 5 * 100 * 80 + 800);
}

static void large_numbers_saturate(void **state)
{
    const uint64_t large = (uint64_t)1 << 47;

    (void)state;
    assert_int_equal(abench__likely_sum(UINT64_MAX, large, UINT64_MAX, large), UINT64_MAX);
    assert_int_equal(abench__likely_sum(2, large, UINT64_MAX, large), 2 * large);
    assert_true(abench__likely_sum(1 << 12, large / 2, UINT64_MAX, large) > large / 2 << 12);
    assert_true(abench__likely_sum(1 << 12, large / 2, UINT64_MAX, large) < large << 12);
}

static void strata_have_the_mean_of_their_distribution(void **state)
{
    static const char *const specs[] = {
        "fixed:64",
        "uniform:1-1000000",
        "mix:99%1-10,1%100000-200000",
        "loguniform:16-1m",
        "pareto:0.7,16-1g",
        "invsq:4-32768",
        "lognormal:40,2,1-1m",
        "mix:99.9999%8,0.0001%1g-1g",
    };

    (void)state;
    for (size_t at = 0; at < sizeof specs / sizeof specs[0]; at++) {
        abench__strata strata = {0};
        abench_distribution *d = NULL;
        abench_error error = ABENCH_ERROR_INIT;
        double sum = 0, weights = 0, mean;
        uint32_t count = 0;
        if (abench_distribution_parse(specs[at], &d, &error) != ABENCH_OK)
            fail_msg("%s: %s", specs[at], error.message);
        mean = (double)abench_distribution_mean(d);
        strata.distribution = d;
        for (; abench__strata_next(&strata); count++) {
            assert_true(strata.value >= abench_distribution_minimum(d));
            assert_true(strata.value <= abench_distribution_maximum(d));
            sum += (double)strata.weight * (double)strata.value;
            weights += (double)strata.weight;
        }
        assert_in_range(count, 512, 4096);
        assert_true(weights < 1.8e13); /* 2^44 */
        if (sum / weights < mean * 0.999 - 0.5 || sum / weights > mean * 1.001 + 1.5)
            fail_msg("%s: %f, mean %f", specs[at], sum / weights, mean);
        abench_distribution_destroy(d);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_sum_is_its_mean_five_deviations_and_two_of_the_largest),
        cmocka_unit_test(large_numbers_saturate),
        cmocka_unit_test(strata_have_the_mean_of_their_distribution),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
