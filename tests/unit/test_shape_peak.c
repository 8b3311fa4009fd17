/* Peaks of load: when they are, and what bad text is told. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "shape/peak.h"

static void a_peak_ends_each_period(void **state)
{
    abench__peak peak;

    (void)state;
    assert_int_equal(abench__peak_parse("2x@30s/2500ms", &peak, NULL), ABENCH_OK);
    assert_int_equal(peak.factor_ppm, 2000000);
    assert_int_equal(peak.every_ns, 30000000000);
    assert_int_equal(peak.for_ns, 2500000000);
    assert_int_equal(abench__peak_at(&peak, 0), 0);
    assert_int_equal(abench__peak_at(&peak, 27499999999), 0);
    assert_int_equal(abench__peak_at(&peak, 27500000000), 1);
    assert_int_equal(abench__peak_at(&peak, 29999999999), 1);
    assert_int_equal(abench__peak_at(&peak, 30000000000), 0);
    assert_int_equal(abench__peak_at(&peak, 57500000000), 1);
}

static void no_peaks_are_never(void **state)
{
    abench__peak peak;

    (void)state;
    memset(&peak, 0xff, sizeof peak);
    assert_int_equal(abench__peak_parse("none", &peak, NULL), ABENCH_OK);
    assert_int_equal(peak.factor_ppm, 0);
    assert_int_equal(abench__peak_at(&peak, 0), 0);
    assert_int_equal(abench__peak_at(&peak, UINT64_MAX), 0);
}

static void a_factor_has_up_to_six_decimals(void **state)
{
    static const struct {
        const char *text;
        uint64_t ppm;
    } rows[] = {{"1.5x@2ns/1ns", 1500000},
                {"0.000001x@1h/59m", 1},
                {"999.999999x@2ns/1ns", 999999999},
                {"1000x@2ns/1ns", 1000000000},
                {"01.10x@1m/1ms", 1100000}};

    (void)state;
    for (size_t at = 0; at < sizeof rows / sizeof rows[0]; at++) {
        abench__peak peak;
        assert_int_equal(abench__peak_parse(rows[at].text, &peak, NULL), ABENCH_OK);
        assert_int_equal(peak.factor_ppm, rows[at].ppm);
    }
}

static void a_malformed_peak_is_told_the_column_and_what_is_wanted(void **state)
{
    static const struct {
        const char *text;
        uint32_t column;
        const char *message; /* a part of it */
    } rows[] = {
        {"", 1, "'none' or a factor"},
        {"nonee", 1, "'none' or a factor"},
        {"-2x@30s/1s", 1, "'none' or a factor"},
        {"99999999999999999999x@30s/1s", 1, "'none' or a factor"},
        {"0x@30s/1s", 1, "above 0"},
        {"0.000000x@30s/1s", 1, "above 0"},
        {"1001x@30s/1s", 1, "too large"},
        {"1000.000001x@30s/1s", 1, "too large"},
        {"2.x@30s/1s", 3, "a decimal"},
        {"2.0000001x@30s/1s", 9, "6 decimals"},
        {"2", 2, "'x@'"},
        {"2@30s/1s", 2, "'x@'"},
        {"2x30s/1s", 2, "'x@'"},
        {"2x@", 4, "a duration above 0"},
        {"2x@30/1s", 4, "a duration above 0"},
        {"2x@0s/1s", 4, "a duration above 0"},
        {"2x@99999999999h/1s", 4, "a duration above 0"},
        {"2x@30s", 7, "'/'"},
        {"2x@30s/", 8, "a duration above 0"},
        {"2x@30s/0ms", 8, "a duration above 0"},
        {"2x@30s/30s", 8, "shorter"},
        {"2x@30s/1m", 8, "shorter"},
        {"2x@30s/2500ms ", 14, "nothing more"},
        {"2x@30s/1s,2x@1s/1ms", 10, "nothing more"},
    };

    (void)state;
    for (size_t at = 0; at < sizeof rows / sizeof rows[0]; at++) {
        abench__peak peak = {7, 7, 7};
        abench_error error = ABENCH_ERROR_INIT;
        assert_int_equal(abench__peak_parse(rows[at].text, &peak, &error), ABENCH_ERROR_SYNTAX);
        assert_int_equal(peak.factor_ppm, 0);
        if (error.column != rows[at].column || strstr(error.message, rows[at].message) == NULL ||
            strstr(error.message, rows[at].text) == NULL)
            fail_msg("'%s' gives column %u: %s", rows[at].text, error.column, error.message);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_peak_ends_each_period),
        cmocka_unit_test(no_peaks_are_never),
        cmocka_unit_test(a_factor_has_up_to_six_decimals),
        cmocka_unit_test(a_malformed_peak_is_told_the_column_and_what_is_wanted),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
