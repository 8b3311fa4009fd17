/* Verdicts, the rounds that they ask for, and the places that many of them leave. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include <math.h>

#include <allocbench/statistics.h>

#define ROUNDS 40

/* Rounds around a middle, evenly spread over spread of it on either side. */
static abench_comparison compare(double middle, double spread, uint32_t count,
                                 const abench_compare_options *options)
{
    abench_comparison out = ABENCH_COMPARISON_INIT;
    double ratios[1000];

    for (uint32_t at = 0; at < count; at++)
        ratios[at] = middle * exp(spread * (2 * (at + 0.5) / count - 1));
    assert_int_equal(abench_compare(ratios, count, options, &out), ABENCH_OK);
    assert_int_equal(out.rounds, count);
    assert_true(fabs(out.ratio - middle) < 1e-12);
    return out;
}

static uint32_t verdict_of(double middle, double spread, const abench_compare_options *options)
{
    const abench_comparison c = compare(middle, spread, ROUNDS, options);

    assert_true(c.low < c.ratio && c.ratio < c.high);
    return c.verdict;
}

static void less_is_better_unless_more_is(void **state)
{
    abench_compare_options more = ABENCH_COMPARE_OPTIONS_INIT;

    (void)state;
    more.higher_is_better = 1;
    assert_int_equal(verdict_of(0.9, 0.05, NULL), ABENCH_COMPARED_BETTER);
    assert_int_equal(verdict_of(1.1, 0.05, NULL), ABENCH_COMPARED_WORSE);
    assert_int_equal(verdict_of(0.9, 0.05, &more), ABENCH_COMPARED_WORSE);
    assert_int_equal(verdict_of(1.1, 0.05, &more), ABENCH_COMPARED_BETTER);
    assert_int_equal(verdict_of(1, 0.01, NULL), ABENCH_COMPARED_SAME);
    assert_int_equal(verdict_of(1, 0.01, &more), ABENCH_COMPARED_SAME);
    assert_int_equal(verdict_of(1, 0.2, NULL), ABENCH_COMPARED_OPEN);
}

/* Surely off, and surely by less than matters, is the same; surely off and perhaps by more is open.
   */
static void a_verdict_is_about_the_threshold(void **state)
{
    abench_compare_options o = ABENCH_COMPARE_OPTIONS_INIT;

    (void)state;
    assert_int_equal(verdict_of(1.005, 0.005, NULL), ABENCH_COMPARED_SAME);
    assert_int_equal(verdict_of(1.0099, 0.005, NULL), ABENCH_COMPARED_OPEN);
    assert_int_equal(verdict_of(1.0101, 0.005, NULL), ABENCH_COMPARED_OPEN);
    assert_int_equal(verdict_of(1.02, 0.005, NULL), ABENCH_COMPARED_WORSE);
    o.threshold = 0.03;
    assert_int_equal(verdict_of(1.02, 0.005, &o), ABENCH_COMPARED_SAME);
    assert_true(compare(1.02, 0.005, ROUNDS, &o).threshold == 0.03);
    assert_true(compare(1.02, 0.005, ROUNDS, NULL).threshold == 0.01);
    o.threshold = 0.25; /* it reaches down to 1 / 1.25 = 0.8, not to 0.75 */
    assert_int_equal(verdict_of(0.81, 0.005, &o), ABENCH_COMPARED_SAME);
    assert_int_equal(verdict_of(0.79, 0.005, &o), ABENCH_COMPARED_BETTER);
    assert_int_equal(verdict_of(1.24, 0.005, &o), ABENCH_COMPARED_SAME);
    assert_int_equal(verdict_of(1.26, 0.005, &o), ABENCH_COMPARED_WORSE);
}

static void too_few_rounds_have_no_bounds_and_say_how_many_it_takes(void **state)
{
    abench_compare_options o = ABENCH_COMPARE_OPTIONS_INIT;
    abench_comparison c = compare(0.5, 0.001, 5, NULL);

    (void)state;
    assert_int_equal(c.verdict, ABENCH_COMPARED_TOO_FEW);
    assert_int_equal(c.rounds_needed, 6);
    assert_true(isnan(c.low) && isnan(c.high));
    c = compare(0.5, 0.001, 6, NULL);
    assert_int_equal(c.verdict, ABENCH_COMPARED_BETTER);
    assert_int_equal(c.rounds_needed, 0);
    o.comparisons = 15;
    assert_int_equal(compare(0.5, 0.001, 9, &o).rounds_needed, 10);
    assert_int_equal(compare(0.5, 0.001, 10, &o).verdict, ABENCH_COMPARED_BETTER);
    o.looks = 3; /* 0.05 / 45 = 0.00111, and 2^-10 = 0.00098 */
    assert_int_equal(compare(0.5, 0.001, 10, &o).rounds_needed, 11);
    o.alpha = 0.01; /* 0.00022, and 2^-13 = 0.00012 */
    assert_int_equal(compare(0.5, 0.001, 10, &o).rounds_needed, 14);
}

/* What shares alpha makes the interval the one of so much less of it. */
static void comparisons_and_looks_share_alpha(void **state)
{
    abench_compare_options shared = ABENCH_COMPARE_OPTIONS_INIT,
                           alone = ABENCH_COMPARE_OPTIONS_INIT;
    abench_comparison c, all = compare(1.1, 0.3, ROUNDS, NULL);

    (void)state;
    alone.alpha = 0.05 / 12;
    shared.comparisons = 4;
    shared.looks = 3;
    c = compare(1.1, 0.3, ROUNDS, &shared);
    assert_true(c.low == compare(1.1, 0.3, ROUNDS, &alone).low);
    assert_true(c.high == compare(1.1, 0.3, ROUNDS, &alone).high);
    assert_true(c.low < all.low && c.high > all.high);
}

/* As many rounds as it asked for tell, and half of them do not. */
static void the_rounds_needed_tell(void **state)
{
    static const double middles[] = {1, 1.004, 0.996, 1.02, 0.98, 1.03, 0.97};

    (void)state;
    for (size_t at = 0; at < sizeof middles / sizeof *middles; at++) {
        const abench_comparison few = compare(middles[at], 0.08, 20, NULL);
        assert_int_equal(few.verdict, ABENCH_COMPARED_OPEN);
        assert_true(few.rounds_needed > 20 && few.rounds_needed < 1000);
        assert_int_not_equal(compare(middles[at], 0.08, few.rounds_needed, NULL).verdict,
                             ABENCH_COMPARED_OPEN);
        assert_int_equal(compare(middles[at], 0.08, few.rounds_needed / 2, NULL).verdict,
                         ABENCH_COMPARED_OPEN);
    }
}

static void rounds_needed_are_more_than_there_are_and_have_an_end(void **state)
{
    double skewed[] = {1, 1, 1, 1, 1, 1, 1, 1.0001, 1.0001, 1.03, 1.03, 1.03};
    abench_comparison c = compare(1.01, 0.1, ROUNDS, NULL);

    (void)state;
    assert_int_equal(c.verdict, ABENCH_COMPARED_OPEN);
    assert_int_equal(c.rounds_needed, UINT32_MAX); /* the middle lies on the threshold */
    assert_int_equal(compare(1.0101, 0.5, ROUNDS, NULL).rounds_needed, UINT32_MAX);
    assert_int_equal(abench_compare(skewed, 12, NULL, &c), ABENCH_OK);
    assert_int_equal(c.verdict, ABENCH_COMPARED_OPEN);
    assert_int_equal(c.rounds_needed, 13); /* by its width alone it would be 8 */
}

static void options_that_mean_nothing_are_refused(void **state)
{
    static const double bad[] = {NAN, INFINITY, -INFINITY, -0.01};
    double ratios[] = {1, 2};
    unsigned char larger[sizeof(abench_compare_options) + 8] = {0};
    abench_compare_options o = ABENCH_COMPARE_OPTIONS_INIT;
    abench_comparison c = {sizeof c, 9, 9, 9, 9, 9, 9, 9};

    (void)state;
    o.higher_is_better = 2;
    assert_int_equal(abench_compare(ratios, 2, &o, &c), ABENCH_ERROR_ARGUMENT);
    for (size_t at = 0; at < sizeof bad / sizeof *bad; at++) {
        abench_compare_options_init(&o);
        o.alpha = bad[at];
        assert_int_equal(abench_compare(ratios, 2, &o, &c), ABENCH_ERROR_ARGUMENT);
        abench_compare_options_init(&o);
        o.threshold = bad[at];
        assert_int_equal(abench_compare(ratios, 2, &o, &c), ABENCH_ERROR_ARGUMENT);
    }
    abench_compare_options_init(&o);
    o.alpha = 1;
    assert_int_equal(abench_compare(ratios, 2, &o, &c), ABENCH_ERROR_ARGUMENT);
    o.comparisons = 2; /* which would make it 0.5 */
    assert_int_equal(abench_compare(ratios, 2, &o, &c), ABENCH_ERROR_ARGUMENT);
    o.alpha = 0;
    o.struct_size = 24;
    assert_int_equal(abench_compare(ratios, 2, &o, &c), ABENCH_ERROR_ARGUMENT);
    o.struct_size = sizeof larger;
    memcpy(larger, &o, sizeof o);
    assert_int_equal(abench_compare(ratios, 2, (void *)larger, &c), ABENCH_OK);
    larger[sizeof o] = 1; /* what this library does not know */
    c.verdict = 9;
    assert_int_equal(abench_compare(ratios, 2, (void *)larger, &c), ABENCH_ERROR_ARGUMENT);
    assert_int_equal(c.verdict, 9);
    c.struct_size = 40;
    assert_int_equal(abench_compare(ratios, 2, NULL, &c), ABENCH_ERROR_ARGUMENT);
    assert_int_equal(c.verdict, 9);
}

static void structs_begin_empty(void **state)
{
    const abench_compare_options options = ABENCH_COMPARE_OPTIONS_INIT;
    const abench_comparison comparison = ABENCH_COMPARISON_INIT;
    const abench_interval interval = ABENCH_INTERVAL_INIT;
    abench_compare_options o;
    abench_comparison c;
    abench_interval in;

    (void)state;
    memset(&o, 0xff, sizeof o);
    memset(&c, 0xff, sizeof c);
    memset(&in, 0xff, sizeof in);
    abench_compare_options_init(&o);
    abench_comparison_init(&c);
    abench_interval_init(&in);
    assert_memory_equal(&o, &options, sizeof o);
    assert_memory_equal(&c, &comparison, sizeof c);
    assert_memory_equal(&in, &interval, sizeof in);
    assert_int_equal(o.struct_size, 32);
    assert_int_equal(c.struct_size, 48);
    assert_int_equal(in.struct_size, 40);
}

static void verdicts_have_names(void **state)
{
    (void)state;
    assert_string_equal(abench_compared_name(ABENCH_COMPARED_TOO_FEW), "not enough rounds");
    assert_string_equal(abench_compared_name(ABENCH_COMPARED_BETTER), "better");
    assert_string_equal(abench_compared_name(ABENCH_COMPARED_WORSE), "worse");
    assert_string_equal(abench_compared_name(ABENCH_COMPARED_SAME), "same");
    assert_string_equal(abench_compared_name(ABENCH_COMPARED_OPEN), "not told apart");
    assert_null(abench_compared_name(5));
}

/* ---- many ------------------------------------------------------------------------------------ */

/* The example of Holm 1979: 0.01, 0.02, 0.03 and 0.04 leave 0.01 <= 0.05 / 4 and no other. */
static void holm_stops_at_the_first_that_is_too_large(void **state)
{
    const double four[] = {0.04, 0.01, 0.03, 0.02}, falling[] = {0.05, 0.025, 0.05 / 3},
                 second[] = {0.03, 0.04, 0.001};
    uint32_t order[4];
    uint8_t rejected[4];

    (void)state;
    assert_int_equal(abench_holm(four, 4, 0.05, order, rejected), ABENCH_OK);
    assert_memory_equal(rejected, ((uint8_t[]){0, 1, 0, 0}), 4);
    assert_int_equal(abench_holm(falling, 3, 0.05, order, rejected), ABENCH_OK);
    assert_memory_equal(rejected, ((uint8_t[]){1, 1, 1}), 3);
    assert_int_equal(abench_holm(second, 3, 0.05, order, rejected), ABENCH_OK);
    assert_memory_equal(rejected, ((uint8_t[]){0, 0, 1}), 3); /* 0.04 <= 0.05, and not asked */
    assert_int_equal(abench_holm(four, 0, 0.05, order, rejected), ABENCH_OK);
}

#define BETTER ABENCH_COMPARED_BETTER
#define WORSE  ABENCH_COMPARED_WORSE
#define SAME   ABENCH_COMPARED_SAME
#define OPEN   ABENCH_COMPARED_OPEN

/* The first is better than the third; of the second nothing is proven. */
static void places_overlap_where_nothing_is_proven(void **state)
{
    const uint32_t verdicts[] = {SAME, OPEN, BETTER, OPEN, SAME, SAME, WORSE, SAME, SAME};
    uint32_t low[3], high[3];

    (void)state;
    assert_int_equal(abench_ranks(verdicts, 3, low, high), ABENCH_OK);
    assert_memory_equal(low, ((uint32_t[]){1, 1, 2}), sizeof low);
    assert_memory_equal(high, ((uint32_t[]){2, 3, 3}), sizeof high);
}

static void pairs_that_contradict_themselves_have_no_places(void **state)
{
    static const uint32_t bad[][4] = {{SAME, BETTER, BETTER, SAME},
                                      {SAME, WORSE, WORSE, SAME},
                                      {BETTER, OPEN, OPEN, SAME}, /* than itself */
                                      {SAME, 5, OPEN, SAME},
                                      {SAME, OPEN, SAME, WORSE}};
    uint32_t low[2], high[2];

    (void)state;
    for (size_t at = 0; at < sizeof bad / sizeof *bad; at++)
        assert_int_equal(abench_ranks(bad[at], 2, low, high), ABENCH_ERROR_ARGUMENT);
}

/* The bounds' own ratio is no double. */
static void bounds_may_lie_further_apart_than_doubles_reach(void **state)
{
    double ratios[] = {1e-200, 1e200, 1e-200, 1e200, 1e-190, 1e190, 1e-100, 1e100};
    abench_comparison c = ABENCH_COMPARISON_INIT;

    (void)state;
    assert_int_equal(abench_compare(ratios, 8, NULL, &c), ABENCH_OK);
    assert_int_equal(c.verdict, OPEN);
    assert_int_equal(c.rounds_needed, UINT32_MAX);
    assert_true(c.low < 1e-150 && c.high > 1e150);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(less_is_better_unless_more_is),
        cmocka_unit_test(a_verdict_is_about_the_threshold),
        cmocka_unit_test(too_few_rounds_have_no_bounds_and_say_how_many_it_takes),
        cmocka_unit_test(comparisons_and_looks_share_alpha),
        cmocka_unit_test(the_rounds_needed_tell),
        cmocka_unit_test(rounds_needed_are_more_than_there_are_and_have_an_end),
        cmocka_unit_test(bounds_may_lie_further_apart_than_doubles_reach),
        cmocka_unit_test(options_that_mean_nothing_are_refused),
        cmocka_unit_test(structs_begin_empty),
        cmocka_unit_test(verdicts_have_names),
        cmocka_unit_test(holm_stops_at_the_first_that_is_too_large),
        cmocka_unit_test(places_overlap_where_nothing_is_proven),
        cmocka_unit_test(pairs_that_contradict_themselves_have_no_places),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
