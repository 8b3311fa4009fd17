/* Two runs slice by slice, and a run that is still moving: on noise of which the truth is known. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include <math.h>

#include <allocbench/statistics.h>

#include "../property/support.h"

#define SLICES   150
#define SESSIONS 1000
#define SEED     20 /* fixed: a share of 1000 sessions that is off by chance is no defect */

/* Nearly normal, with a standard deviation of 1. */
static double noise(prng *random)
{
    double sum = -6;

    for (int at = 0; at < 12; at++)
        sum += (double)(prng_next(random) >> 11) / 9007199254740992.0;
    return sum;
}

typedef struct coverage {
    double share; /* of the sessions whose bounds hold the truth */
    double width; /* mean, in standard deviations of a slice's ratio */
    double blocks;
} coverage;

/* Sessions whose slices keep rho of what drives them, and of which some (per cent) are slow. */
static coverage cover(double rho, uint64_t slow)
{
    prng random = {SEED};
    coverage found = {0, 0, 0};

    for (int session = 0; session < SESSIONS; session++) {
        double slices[SLICES], base[SLICES], scratch[SLICES], drive = noise(&random);
        abench_interval in = ABENCH_INTERVAL_INIT;
        for (uint32_t at = 0; at < SLICES; at++) {
            base[at] = 5e6;
            slices[at] = base[at] * 1.1 * (1 + 0.02 * drive);
            if (prng_below(&random, 100) < slow)
                slices[at] *= 1.5;
            if (prng_below(&random, 100) < slow)
                base[at] *= 1.5;
            drive = rho * drive + sqrt(1 - rho * rho) * noise(&random);
        }
        assert_int_equal(abench_slices_ratio(slices, base, SLICES, scratch, &in), ABENCH_OK);
        assert_true(in.low <= in.estimate && in.estimate <= in.high);
        found.share += (in.low <= 1.1 && in.high >= 1.1) / (double)SESSIONS;
        found.width += (in.high - in.low) / 0.022 / SESSIONS;
        found.blocks += (double)in.count / SESSIONS;
    }
    return found;
}

static void bounds_hold_the_truth_of_independent_slices(void **state)
{
    const coverage c = cover(0, 0);

    (void)state;
    assert_true(c.share >= 0.94 && c.share < 0.985);
    assert_true(c.width < 0.5); /* 0.45 was measured */
    assert_true(c.blocks > 15);
}

static void bounds_hold_the_truth_of_slices_that_resemble_their_neighbours(void **state)
{
    const coverage half = cover(0.5, 0), most = cover(0.9, 0);

    (void)state;
    assert_true(half.share >= 0.93 && half.share < 0.98);
    assert_true(most.share >= 0.91 && most.share < 0.98);
    assert_true(half.width < 0.9 && half.blocks > most.blocks);
    assert_true(most.blocks >= 6 && most.blocks < 8);
}

static void bounds_hold_the_truth_where_some_slices_are_slow(void **state)
{
    const coverage c = cover(0.5, 5);

    (void)state;
    assert_true(c.share >= 0.93 && c.share < 0.98);
    assert_true(c.width < 0.95);
}

/* ---- by hand --------------------------------------------------------------------------------- */

static void the_estimate_is_the_median_of_the_ratios(void **state)
{
    const double slices[] = {2, 3, 4, NAN, 60, 7}, base[] = {1, 1, 1, 1, 2, NAN};
    double scratch[6];
    abench_interval in = ABENCH_INTERVAL_INIT;

    (void)state;
    assert_int_equal(abench_slices_ratio(slices, base, 6, scratch, &in), ABENCH_OK);
    assert_true(in.estimate == 3.5); /* of 2, 3, 4 and 30 */
    assert_true(in.coverage == 0 && isnan(in.low) && isnan(in.high));
    assert_int_equal(in.count, 4);
    assert_int_equal(abench_slices_ratio(slices, base, 1, scratch, &in), ABENCH_OK);
    assert_true(in.estimate == 2);
}

/* From 6 on there are bounds: of single slices up to 11, of six blocks up to 17; of 18 the medians
 * of three and three. */
static void six_slices_have_bounds(void **state)
{
    double slices[24], base[24], scratch[24];
    abench_interval in = ABENCH_INTERVAL_INIT;

    (void)state;
    for (uint32_t at = 0; at < 24; at++) {
        slices[at] = at + 1;
        base[at] = 1;
    }
    assert_int_equal(abench_slices_ratio(slices, base, 5, scratch, &in), ABENCH_OK);
    assert_true(in.coverage == 0);
    assert_int_equal(abench_slices_ratio(slices, base, 6, scratch, &in), ABENCH_OK);
    assert_true(in.low == 1 && in.high == 6 && in.coverage == 1 - 2.0 / 64);
    assert_int_equal(abench_slices_ratio(slices, base, 18, scratch, &in), ABENCH_OK);
    assert_int_equal(in.count, 6);
    assert_true(in.low == 2 && in.high == 17);
    /* of 20 the last block has what is left over: 16 to 20 */
    assert_int_equal(abench_slices_ratio(slices, base, 20, scratch, &in), ABENCH_OK);
    assert_true(in.low == 2 && in.high == 18);
}

/* More than half of 60 slices are 1, and six of the eight blocks of seven have a median of 50: two
 * of 1 make three pairs of 1, and the bound is the fourth. */
static void bounds_are_never_off_the_estimate(void **state)
{
    double slices[60], base[60], scratch[60];
    abench_interval in = ABENCH_INTERVAL_INIT;

    (void)state;
    for (uint32_t at = 0; at < 60; at++) {
        const int all_ones = at / 7 == 2 || at / 7 == 5;
        slices[at] = all_ones || at % 7 % 2 == 1 ? 1 : 50;
        base[at] = 1;
    }
    assert_int_equal(abench_slices_ratio(slices, base, 60, scratch, &in), ABENCH_OK);
    assert_int_equal(in.count, 8);
    assert_true(in.estimate == 1 && in.low == 1 && in.high == 50);
    assert_int_equal(abench_slices_ratio(base, slices, 60, scratch, &in), ABENCH_OK);
    assert_int_equal(in.count, 8);
    assert_true(in.estimate == 1 && in.low == 0.02 && in.high == 1);
}

static void slices_that_took_no_time_are_refused(void **state)
{
    static const double bad[] = {0, -1, INFINITY, -INFINITY};
    const double good[] = {1, 2, 3}, none[] = {NAN, NAN, NAN}, negative[] = {-1, -2, -3};
    double scratch[3];
    abench_interval in = {sizeof in, 7, 7, 7, 7, 7};

    (void)state;
    for (size_t at = 0; at < sizeof bad / sizeof *bad; at++) {
        double values[] = {1, bad[at], 3};
        assert_int_equal(abench_slices_ratio(good, values, 3, scratch, &in), ABENCH_ERROR_ARGUMENT);
        assert_int_equal(abench_slices_ratio(values, good, 3, scratch, &in), ABENCH_ERROR_ARGUMENT);
    }
    assert_int_equal(abench_slices_ratio(negative, negative, 3, scratch, &in),
                     ABENCH_ERROR_ARGUMENT);
    assert_int_equal(abench_slices_ratio(good, none, 3, scratch, &in), ABENCH_ERROR_ARGUMENT);
    assert_int_equal(abench_slices_ratio(good, good, 0, scratch, &in), ABENCH_ERROR_ARGUMENT);
    assert_int_equal(in.count, 7);
    in.struct_size = 8;
    assert_int_equal(abench_slices_ratio(good, good, 3, scratch, &in), ABENCH_ERROR_ARGUMENT);
}

/* ---- drift ----------------------------------------------------------------------------------- */

static void drift_is_the_second_half_by_the_first(void **state)
{
    double eight[] = {1, 2, 4, 8, 3, 6, 12, 24}, nine[] = {1, 2, 4, 8, 1e9, 3, 6, 12, 24},
           steady[] = {5, 5, 5, 5, 5, 5, 5, 5}, scratch[9];

    (void)state;
    assert_true(fabs(abench_drift(eight, 8, scratch) - 3) < 1e-12);
    assert_true(fabs(abench_drift(nine, 9, scratch) - 3) <
                1e-12);                                           /* the middle one is of neither */
    assert_true(nine[4] == 1e9 && nine[0] == 1 && nine[8] == 24); /* in their order */
    assert_true(abench_drift(steady, 8, scratch) == 1);
    eight[7] = 1e6; /* the middle of a half does not follow one of it */
    assert_true(abench_drift(eight, 8, scratch) < 60);
}

static void few_or_bad_values_have_no_drift(void **state)
{
    static const double bad[] = {NAN, INFINITY, -INFINITY, 0, -1};
    double eight[] = {1, 2, 3, 4, 5, 6, 7, 8}, scratch[8];

    (void)state;
    assert_true(isnan(abench_drift(eight, 7, scratch)));
    assert_true(isnan(abench_drift(eight, 0, scratch)));
    for (size_t at = 0; at < sizeof bad / sizeof *bad; at++) {
        eight[3] = bad[at];
        assert_true(isnan(abench_drift(eight, 8, scratch)));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(bounds_hold_the_truth_of_independent_slices),
        cmocka_unit_test(bounds_hold_the_truth_of_slices_that_resemble_their_neighbours),
        cmocka_unit_test(bounds_hold_the_truth_where_some_slices_are_slow),
        cmocka_unit_test(the_estimate_is_the_median_of_the_ratios),
        cmocka_unit_test(six_slices_have_bounds),
        cmocka_unit_test(bounds_are_never_off_the_estimate),
        cmocka_unit_test(slices_that_took_no_time_are_refused),
        cmocka_unit_test(drift_is_the_second_half_by_the_first),
        cmocka_unit_test(few_or_bad_values_have_no_drift),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
