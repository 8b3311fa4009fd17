/* The statistics against values that scipy gave: statistics_scipy.txt, which says what its rows
 * are. statistics_scipy.py compares random ones with a scipy that is installed. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include <math.h>

#include <allocbench/statistics.h>

static int rows; /* that were compared */

static void assert_close(const char *what, uint32_t count, double mine, double wanted)
{
    if (!(fabs(mine - wanted) <= 1e-10 * fabs(wanted)))
        fail_msg("%s of %u rounds: %.17g, and scipy says %.17g", what, count, mine, wanted);
    rows++;
}

static void assert_p(double wanted, double center, const double *ratios, uint32_t count)
{
    double mine[256];

    memcpy(mine, ratios, count * sizeof *ratios);
    assert_close("p", count, abench_signed_rank(mine, count, center), wanted);
}

static void assert_interval(double alpha, const double *wanted, const double *ratios,
                            uint32_t count)
{
    abench_interval in = ABENCH_INTERVAL_INIT;
    double mine[256];

    memcpy(mine, ratios, count * sizeof *ratios);
    assert_int_equal(abench_hodges_lehmann(mine, count, alpha, &in), ABENCH_OK);
    assert_close("estimate", count, in.estimate, wanted[0]);
    assert_close("low", count, in.low, wanted[1]);
    assert_close("high", count, in.high, wanted[2]);
    assert_close("coverage", count, in.coverage, wanted[3]);
}

#define COUNT(...)        (sizeof(const double[]){__VA_ARGS__} / sizeof(double))
#define P(p, center, ...) assert_p(p, center, (const double[]){__VA_ARGS__}, COUNT(__VA_ARGS__));
#define NONE(...)

static void the_p_is_that_of_scipy(void **state)
{
    (void)state;
    rows = 0;
#define SIGNED_RANK P
#define NORMAL      P
#define WITH_TIES   NONE
#define INTERVAL    NONE
#include "statistics_scipy.txt"
#undef SIGNED_RANK
#undef NORMAL
#undef WITH_TIES
#undef INTERVAL
    assert_int_equal(rows, 16);
}

static void the_p_of_ties_is_that_of_whole_numbers(void **state)
{
    (void)state;
    rows = 0;
#define SIGNED_RANK NONE
#define NORMAL      NONE
#define WITH_TIES   P
#define INTERVAL    NONE
#include "statistics_scipy.txt"
#undef WITH_TIES
#undef INTERVAL
    assert_int_equal(rows, 4);
}

static void the_interval_is_that_of_all_pairs(void **state)
{
    (void)state;
    rows = 0;
#define WITH_TIES NONE
#define INTERVAL(alpha, estimate, low, high, coverage, ...)                                        \
    assert_interval(alpha, (const double[]){estimate, low, high, coverage},                        \
                    (const double[]){__VA_ARGS__}, COUNT(__VA_ARGS__));
#include "statistics_scipy.txt"
    assert_int_equal(rows, 4 * 9);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_p_is_that_of_scipy),
        cmocka_unit_test(the_p_of_ties_is_that_of_whole_numbers),
        cmocka_unit_test(the_interval_is_that_of_all_pairs),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
