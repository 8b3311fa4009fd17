/* Sizes drawn at random: the odds of each kind, and what bad text is told. All seeds are fixed. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <allocbench/distribution.h>

#include "base/text.h"

#define SIZES 8192 /* the tests' distributions stay below */

static abench_distribution *parse(const char *spec)
{
    abench_distribution *distribution = NULL;
    abench_error error = ABENCH_ERROR_INIT;

    if (abench_distribution_parse(spec, &distribution, &error) != ABENCH_OK)
        fail_msg("%s", error.message);
    return distribution;
}

/* Draws and compares with the odds: weights[size] of their sum. Chi-square in integers: a cell's
 * (drawn - wanted)^2 / wanted in thousandths; limit is for the sum of the cells. */
static void assert_odds(const char *spec, const uint32_t *weights, uint32_t draws, uint64_t limit)
{
    static uint32_t counts[SIZES];
    abench_distribution *distribution = parse(spec);
    abench_random random;
    uint64_t total = 0, sum = 0;

    memset(counts, 0, sizeof counts);
    abench_random_seed(&random, 2026, 1, ABENCH_PURPOSE_SIZE);
    for (uint32_t draw = 0; draw < draws; draw++) {
        const uint64_t size = abench_distribution_draw(distribution, &random);
        assert_true(size < SIZES);
        counts[size]++;
    }
    for (uint32_t size = 0; size < SIZES; size++)
        total += weights[size];
    for (uint32_t size = 0; size < SIZES; size++) {
        const uint64_t wanted = (uint64_t)draws * weights[size] / total;
        const int64_t off = (int64_t)counts[size] - (int64_t)wanted;
        if (weights[size] == 0)
            assert_int_equal(counts[size], 0);
        else
            sum += (uint64_t)(off * off) * 1000 / wanted;
    }
    if (sum >= limit * 1000)
        fail_msg("%s: chi-square %llu/1000, limit %llu", spec, (unsigned long long)sum,
                 (unsigned long long)limit);
    abench_distribution_destroy(distribution);
}

static void fixed_is_always_the_same(void **state)
{
    static uint32_t weights[SIZES];
    abench_distribution *distribution = parse("fixed:4k");

    (void)state;
    weights[64] = 1;
    assert_odds("fixed:64", weights, 1000, 1);
    assert_int_equal(abench_distribution_minimum(distribution), 4096);
    assert_int_equal(abench_distribution_maximum(distribution), 4096);
    abench_distribution_destroy(distribution);
}

/* Limits here and below: the value of chi-square that chance passes once in 10000. */
static void uniform_draws_each_size_alike(void **state)
{
    static uint32_t weights[SIZES];
    abench_distribution *distribution = parse("uniform:3-258");

    (void)state;
    for (uint32_t size = 3; size <= 258; size++)
        weights[size] = 1;
    assert_odds("uniform:3-258", weights, 256 * 400, 347);
    assert_int_equal(abench_distribution_minimum(distribution), 3);
    assert_int_equal(abench_distribution_maximum(distribution), 258);
    abench_distribution_destroy(distribution);
}

static void mix_draws_each_part_by_its_percentage_and_evenly_within(void **state)
{
    static uint32_t weights[SIZES];
    abench_distribution *distribution = parse("mix:62.5%1-10,25%100,12.5%5-14");

    (void)state;
    for (uint32_t size = 1; size <= 10; size++)
        weights[size] += 625;
    for (uint32_t size = 5; size <= 14; size++) /* parts may overlap */
        weights[size] += 125;
    weights[100] += 2500;
    assert_odds("mix:62.5%1-10,25%100,12.5%5-14", weights, 200000, 43);
    assert_int_equal(abench_distribution_minimum(distribution), 1);
    assert_int_equal(abench_distribution_maximum(distribution), 100);
    abench_distribution_destroy(distribution);
}

/* The rare size is too rare to be drawn here; that it can be shows in the minimum. */
static void six_decimals_of_a_percentage_count(void **state)
{
    abench_distribution *distribution = parse("mix:0.000001%7,99.999999%8");

    (void)state;
    assert_int_equal(abench_distribution_minimum(distribution), 7);
    assert_int_equal(abench_distribution_maximum(distribution), 8);
    abench_distribution_destroy(distribution);
}

/* jemalloc's spacing from 32 to 4096, written out: four a doubling. */
static const uint32_t boundaries[] = {32,   40,   48,   56,   64,   80,   96,   112,  128, 160,
                                      192,  224,  256,  320,  384,  448,  512,  640,  768, 896,
                                      1024, 1280, 1536, 1792, 2048, 2560, 3072, 3584, 4096};

static void boundaries_draws_29_boundaries_with_17_offsets_each_clamped(void **state)
{
    static uint32_t weights[SIZES];
    abench_distribution *distribution = parse("boundaries:24-4095");

    (void)state;
    assert_int_equal(sizeof boundaries / sizeof boundaries[0], 29);
    for (size_t at = 0; at < 29; at++)
        for (uint32_t size = boundaries[at] - 8; size <= boundaries[at] + 8; size++)
            weights[size > 4095 ? 4095 : size]++;
    assert_int_equal(weights[4095], 10);
    assert_odds("boundaries:24-4095", weights, 29 * 17 * 400, 600);
    assert_int_equal(abench_distribution_minimum(distribution), 24);
    assert_int_equal(abench_distribution_maximum(distribution), 4095);
    abench_distribution_destroy(distribution);
}

/* 88 is the last of 80's window and the first of 96's; 70 is outside every one. */
static void boundaries_are_clamped_at_both_ends(void **state)
{
    static uint32_t weights[SIZES];

    (void)state;
    for (uint32_t size = 72; size <= 88; size++)
        weights[size < 86 ? 86 : size]++;
    for (uint32_t size = 88; size <= 104; size++)
        weights[size > 90 ? 90 : size]++;
    assert_odds("boundaries:86-90", weights, 34 * 3000, 24);
}

static void a_draw_takes_two_numbers(void **state)
{
    static const char *const specs[] = {"fixed:64", "uniform:1-256", "boundaries:24-4095"};

    (void)state;
    for (size_t at = 0; at < sizeof specs / sizeof specs[0]; at++) {
        abench_distribution *distribution = parse(specs[at]);
        abench_random random, other;
        abench_random_seed(&random, 4, 4, 4);
        other = random;
        abench_distribution_draw(distribution, &random);
        abench_random_next(&other);
        abench_random_next(&other);
        assert_memory_equal(&random, &other, sizeof random);
        abench_distribution_destroy(distribution);
    }
}

static void the_largest_sizes_can_be_drawn(void **state)
{
    abench_distribution *distribution = parse("uniform:140737488355326-140737488355327");
    abench_random random;

    (void)state;
    abench_random_seed(&random, 4, 4, 4);
    for (int draw = 0; draw < 100; draw++)
        assert_in_range(abench_distribution_draw(distribution, &random), ((uint64_t)1 << 47) - 2,
                        ((uint64_t)1 << 47) - 1);
    abench_distribution_destroy(distribution);
}

/* ---- text ------------------------------------------------------------------------------------ */

static void a_malformed_spec_is_told_the_column_and_what_is_wanted(void **state)
{
    static const struct {
        const char *spec;
        uint32_t column;
        const char *message; /* a part of it */
    } rows[] = {
        {"fixed", 6, "':' is wanted"},
        {"fixed:", 7, "a size is wanted"},
        {"fixed:x", 7, "a size is wanted"},
        {"fixed:-1", 7, "a size is wanted"},
        {"fixed:64x", 9, "nothing more"},
        {"fixed:64 ", 9, "nothing more"},
        {"fixed:1-2", 8, "nothing more"},
        {"fixed:140737488355328", 7, "too large"},
        {"fixed:99999999999999999999", 7, "a size is wanted"},
        {"uniform:1", 10, "'-' and the largest"},
        {"uniform:1-", 11, "a size is wanted"},
        {"uniform:9-8", 11, "below the smallest"},
        {"uniform:1-140737488355328", 11, "too large"},
        {"uniform:1-2-3", 12, "nothing more"},
        {"mix:", 5, "a percentage is wanted"},
        {"mix:x%1", 5, "a percentage is wanted"},
        {"mix:101%1", 8, "a percentage is wanted"},
        {"mix:100", 8, "'%' is wanted"},
        {"mix:100%", 9, "a size is wanted"},
        {"mix:50%1,40%2", 14, "do not sum up to 100 %"},
        {"mix:60%1,60%2", 14, "do not sum up to 100 %"},
        {"mix:50%1,", 10, "a percentage is wanted"},
        {"mix:50%1,0%2,50%3", 12, "0 %"},
        {"mix:50.0000001%1", 14, "6 decimals"},
        {"mix:50%1;50%2", 9, "do not sum up to 100 %"},
        {"mix:100%1;", 10, "nothing more"},
        {"boundaries:24", 14, "'-' and the largest"},
        {"boundaries:1-23", 12, "no size-class boundary"},
        {"boundaries:41-47x", 17, "nothing more"},
    };

    (void)state;
    for (size_t at = 0; at < sizeof rows / sizeof rows[0]; at++) {
        abench_distribution *distribution = (abench_distribution *)&distribution;
        abench_error error = ABENCH_ERROR_INIT;
        assert_int_equal(abench_distribution_parse(rows[at].spec, &distribution, &error),
                         ABENCH_ERROR_SYNTAX);
        assert_null(distribution);
        assert_int_equal(error.status, ABENCH_ERROR_SYNTAX);
        assert_int_equal(error.line, 1);
        if (error.column != rows[at].column || strstr(error.message, rows[at].message) == NULL ||
            strstr(error.message, rows[at].spec) == NULL)
            fail_msg("'%s' gives column %u: %s", rows[at].spec, error.column, error.message);
    }
}

static void an_unknown_kind_suggests_the_nearest(void **state)
{
    static const struct {
        const char *spec, *nearest;
    } rows[] = {
        {"fixd:64", "'fixed:'"},
        {"unifrom:1-2", "'uniform:'"},
        {"mxi:100%1", "'mix:'"},
        {"boundary:24-4095", "'boundaries:'"},
        {"", "'"},
        {"a-name-that-is-far-too-long-for-any-kind-of-distribution:1", "'"},
    };

    (void)state;
    for (size_t at = 0; at < sizeof rows / sizeof rows[0]; at++) {
        abench_distribution *distribution = NULL;
        abench_error error = ABENCH_ERROR_INIT;
        assert_int_equal(abench_distribution_parse(rows[at].spec, &distribution, &error),
                         ABENCH_ERROR_NOT_FOUND);
        assert_null(distribution);
        assert_int_equal(error.column, 1);
        assert_non_null(strstr(error.message, rows[at].nearest));
    }
}

static void more_parts_than_a_table_holds_are_refused(void **state)
{
    static char spec[32768];
    abench_distribution *distribution = NULL;
    abench_error error = ABENCH_ERROR_INIT;
    abench__text text;

    (void)state;
    abench__text_init(&text, spec, sizeof spec);
    abench__text_put(&text, "mix:");
    for (int part = 0; part < 1024; part++)
        abench__text_printf(&text, "%s%s%%%d", part == 0 ? "" : ",", part == 0 ? "89.77" : "0.01",
                            part + 1);
    assert_int_equal(abench_distribution_parse(spec, &distribution, &error), ABENCH_OK);
    assert_int_equal(abench_distribution_maximum(distribution), 1024);
    abench_distribution_destroy(distribution);
    abench__text_put(&text, ",0.01%7");
    assert_int_equal(abench_distribution_parse(spec, &distribution, &error), ABENCH_ERROR_SYNTAX);
    assert_int_equal(error.column, text.length + 1);
    assert_non_null(strstr(error.message, "too many parts")); /* however long the spec is */
}

static void nothing_is_no_distribution(void **state)
{
    abench_distribution *distribution = NULL;
    abench_error error = ABENCH_ERROR_INIT;

    (void)state;
    assert_int_equal(abench_distribution_parse(NULL, &distribution, &error), ABENCH_ERROR_ARGUMENT);
    assert_int_equal(error.status, ABENCH_ERROR_ARGUMENT);
    assert_int_equal(abench_distribution_parse("fixed:1", NULL, &error), ABENCH_ERROR_ARGUMENT);
    assert_int_equal(abench_distribution_parse("fixed:", &distribution, NULL), ABENCH_ERROR_SYNTAX);
    abench_distribution_destroy(NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(fixed_is_always_the_same),
        cmocka_unit_test(uniform_draws_each_size_alike),
        cmocka_unit_test(mix_draws_each_part_by_its_percentage_and_evenly_within),
        cmocka_unit_test(six_decimals_of_a_percentage_count),
        cmocka_unit_test(boundaries_draws_29_boundaries_with_17_offsets_each_clamped),
        cmocka_unit_test(boundaries_are_clamped_at_both_ends),
        cmocka_unit_test(a_draw_takes_two_numbers),
        cmocka_unit_test(the_largest_sizes_can_be_drawn),
        cmocka_unit_test(a_malformed_spec_is_told_the_column_and_what_is_wanted),
        cmocka_unit_test(an_unknown_kind_suggests_the_nearest),
        cmocka_unit_test(more_parts_than_a_table_holds_are_refused),
        cmocka_unit_test(nothing_is_no_distribution),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
