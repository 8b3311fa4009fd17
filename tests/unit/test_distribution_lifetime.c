/* Lifetimes: durations or operations, and what bad text is told. All seeds are fixed. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <allocbench/distribution.h>

static void the_values_say_the_unit(void **state)
{
    static const struct {
        const char *spec;
        uint32_t unit;
        uint64_t minimum, maximum;
    } rows[] = {
        {"fixed:3", ABENCH_LIFETIME_OPERATIONS, 3, 3},
        {"fixed:0", ABENCH_LIFETIME_OPERATIONS, 0, 0},
        {"fixed:3us", ABENCH_LIFETIME_NS, 3000, 3000},
        {"uniform:100us-5s", ABENCH_LIFETIME_NS, 100000, 5000000000},
        {"uniform:5-7", ABENCH_LIFETIME_OPERATIONS, 5, 7},
        {"loguniform:100us-5s", ABENCH_LIFETIME_NS, 100000, 5000000000},
        {"invsq:1ns-2m", ABENCH_LIFETIME_NS, 1, 120000000000},
        {"exp:1000,1-20000", ABENCH_LIFETIME_OPERATIONS, 1, 20000},
        {"exp:1000", ABENCH_LIFETIME_OPERATIONS, 1, 20000},
        {"exp:1ms", ABENCH_LIFETIME_NS, 1, 20000000},
        {"pareto:1.2,16ns-1h", ABENCH_LIFETIME_NS, 16, 3600000000000},
        {"lognormal:1ms,1.5,1us-10ms", ABENCH_LIFETIME_NS, 1000, 10000000},
        {"lognormal:64,1.25,1-6400", ABENCH_LIFETIME_OPERATIONS, 1, 6400},
        {"uniform:0-72057594037927935", ABENCH_LIFETIME_OPERATIONS, 0, 72057594037927935},
        {"loguniform:1ns-20015h", ABENCH_LIFETIME_NS, 1, 72054000000000000},
    };

    (void)state;
    for (size_t at = 0; at < sizeof rows / sizeof rows[0]; at++) {
        abench_distribution *lifetimes = NULL;
        abench_error error = ABENCH_ERROR_INIT;
        uint32_t unit = 9;
        if (abench_lifetime_parse(rows[at].spec, &lifetimes, &unit, &error) != ABENCH_OK)
            fail_msg("%s", error.message);
        if (unit != rows[at].unit || abench_distribution_minimum(lifetimes) != rows[at].minimum ||
            abench_distribution_maximum(lifetimes) != rows[at].maximum)
            fail_msg("%s: unit %u, %llu-%llu", rows[at].spec, unit,
                     (unsigned long long)abench_distribution_minimum(lifetimes),
                     (unsigned long long)abench_distribution_maximum(lifetimes));
        abench_distribution_destroy(lifetimes);
    }
}

/* The same numbers as sizes: nanoseconds are drawn from the same table. */
static void lifetimes_are_drawn_as_sizes_are(void **state)
{
    abench_distribution *lifetimes, *sizes;
    abench_random random, same;
    uint32_t unit;

    (void)state;
    assert_int_equal(abench_lifetime_parse("loguniform:1us-1ms", &lifetimes, &unit, NULL), 0);
    assert_int_equal(abench_distribution_parse("loguniform:1000-1000000", &sizes, NULL), 0);
    abench_random_seed(&random, 42, 0, ABENCH_PURPOSE_LIFETIME);
    same = random;
    for (int draw = 0; draw < 1000; draw++)
        assert_int_equal(abench_distribution_draw(lifetimes, &random),
                         abench_distribution_draw(sizes, &same));
    assert_memory_equal(&random, &same, sizeof random);
    abench_distribution_destroy(lifetimes);
    abench_distribution_destroy(sizes);
}

static void a_malformed_lifetime_is_told_the_column_and_what_is_wanted(void **state)
{
    static const struct {
        const char *spec;
        uint32_t column;
        const char *message; /* a part of it */
    } rows[] = {
        {"fixed:", 7, "a lifetime is wanted"},
        {"fixed:4k", 8, "a unit is wanted"},
        {"fixed:4S", 8, "a unit is wanted"},
        {"fixed:4 s", 8, "nothing more"},
        {"fixed:20016h", 7, "20015 h"},
        {"fixed:99999999999h", 7, "20015 h"},
        {"fixed:72057594037927936", 7, "2^56 operations"},
        {"fixed:99999999999999999999", 7, "a lifetime is wanted"},
        {"uniform:1us-5", 13, "operations after a duration"},
        {"uniform:1-5us", 11, "a duration after"},
        {"uniform:5s-5ms", 12, "below the shortest"},
        {"uniform:5s", 11, "longest lifetime"},
        {"loguniform:0-5", 12, "begins at 1"},
        {"exp:1ms,1-20", 9, "operations after a duration"},
        {"exp:1000,1us-20us", 10, "a duration after"},
        {"exp:1ms;", 8, "',' and the range"},
        {"exp:0ms", 5, "above 0"},
        {"pareto:1.2ms,1us-2us", 11, "',' and the range"},
        {"lognormal:1ms,1s,1us-2us", 16, "',' and the range"},
        {"lognormal:1ms,1,1-2", 17, "operations after a duration"},
    };

    (void)state;
    for (size_t at = 0; at < sizeof rows / sizeof rows[0]; at++) {
        abench_distribution *lifetimes = (abench_distribution *)&lifetimes;
        abench_error error = ABENCH_ERROR_INIT;
        uint32_t unit = 9;
        assert_int_equal(abench_lifetime_parse(rows[at].spec, &lifetimes, &unit, &error),
                         ABENCH_ERROR_SYNTAX);
        assert_null(lifetimes);
        assert_int_equal(unit, 9);
        assert_int_equal(error.line, 1);
        if (error.column != rows[at].column || strstr(error.message, rows[at].message) == NULL ||
            strstr(error.message, rows[at].spec) == NULL ||
            strstr(error.message, "lifetime distribution") == NULL)
            fail_msg("'%s' gives column %u: %s", rows[at].spec, error.column, error.message);
    }
}

static void kinds_of_sizes_only_are_no_lifetimes(void **state)
{
    static const struct {
        const char *spec, *nearest;
    } rows[] = {{"mix:100%1", "'fixed:'"},
                {"boundaries:24-4095", "'"},
                {"histogram:@/dev/null", "'"},
                {"expo:5s", "'exp:'"},
                {"unifrom:1s-2s", "'uniform:'"}};

    (void)state;
    for (size_t at = 0; at < sizeof rows / sizeof rows[0]; at++) {
        abench_distribution *lifetimes = NULL;
        abench_error error = ABENCH_ERROR_INIT;
        uint32_t unit;
        assert_int_equal(abench_lifetime_parse(rows[at].spec, &lifetimes, &unit, &error),
                         ABENCH_ERROR_NOT_FOUND);
        assert_null(lifetimes);
        assert_non_null(strstr(error.message, rows[at].nearest));
        assert_null(strstr(error.message, "'mix:'"));
        assert_null(strstr(error.message, "'boundaries:'"));
        assert_null(strstr(error.message, "'histogram:'"));
    }
}

static void nothing_is_no_lifetime(void **state)
{
    abench_distribution *lifetimes = NULL;
    uint32_t unit;

    (void)state;
    assert_int_equal(abench_lifetime_parse(NULL, &lifetimes, &unit, NULL), ABENCH_ERROR_ARGUMENT);
    assert_int_equal(abench_lifetime_parse("fixed:1", NULL, &unit, NULL), ABENCH_ERROR_ARGUMENT);
    assert_int_equal(abench_lifetime_parse("fixed:1", &lifetimes, NULL, NULL),
                     ABENCH_ERROR_ARGUMENT);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_values_say_the_unit),
        cmocka_unit_test(lifetimes_are_drawn_as_sizes_are),
        cmocka_unit_test(a_malformed_lifetime_is_told_the_column_and_what_is_wanted),
        cmocka_unit_test(kinds_of_sizes_only_are_no_lifetimes),
        cmocka_unit_test(nothing_is_no_lifetime),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
