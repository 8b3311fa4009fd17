/* Texts about the whole machine: their pieces, and what they come to. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "system/pressure.h"
#include "system/scan.h"
#include "system/stat.h"

/* A copy without a byte to spare: what reads beyond it is seen by a sanitizer. */
typedef struct exact {
    char *text;
    size_t length;
} exact;

static exact copy_of(const char *text, size_t length)
{
    exact e = {malloc(length > 0 ? length : 1), length};

    assert_non_null(e.text);
    memcpy(e.text, text, length);
    return e;
}

/* ---- pieces ---------------------------------------------------------------------------------- */

static void a_number_is_whole_or_none(void **state)
{
    static const char text[] = "18446744073709551615 18446744073709551616 x";
    const char *at = text, *const end = text + sizeof text - 1;
    uint64_t value = 7;

    (void)state;
    assert_true(abench__scan_number(&at, end, &value));
    assert_true(value == UINT64_MAX);
    assert_ptr_equal(at, text + 20);
    assert_false(abench__scan_number(&at, end, &value)); /* at the blank */
    at++;
    assert_false(abench__scan_number(&at, end, &value)); /* too many */
    assert_ptr_equal(at, text + 21);
    assert_true(value == UINT64_MAX);
    at = end;
    assert_false(abench__scan_number(&at, end, &value));
}

static void a_key_is_found_as_a_whole_word(void **state)
{
    static const char text[] = "oom_kill_disable 1\nunder_oom 2\noom_kill 3\noom_kill 4\ncut 5";
    uint64_t value = 0;

    (void)state;
    assert_true(abench__scan_keyed_number(text, sizeof text - 1, "oom_kill", &value));
    assert_int_equal(value, 3);
    assert_false(abench__scan_keyed_number(text, sizeof text - 1, "cut", &value));
    assert_false(abench__scan_keyed_number(text, sizeof text - 1, "oom", &value));
    assert_false(abench__scan_keyed_number("a\nb x\nc 1y\n", 11, "b", &value));
    assert_false(abench__scan_keyed_number("a\nb x\nc 1y\n", 11, "c", &value));
    assert_false(abench__scan_keyed_number("a\nb x\nc 1y\n", 11, "a", &value));
    assert_int_equal(value, 3);
    assert_true(abench__scan_keyed_number("MemTotal:   12 kB\n", 18, "MemTotal:", &value));
    assert_int_equal(value, 12);
}

static void only_a_number_is_one_with_its_newline(void **state)
{
    uint64_t value = 7;

    (void)state;
    assert_true(abench__scan_only_number("42\n", 3, &value));
    assert_int_equal(value, 42);
    assert_false(abench__scan_only_number("42", 2, &value)); /* cut, perhaps */
    assert_false(abench__scan_only_number("-1\n", 3, &value));
    assert_false(abench__scan_only_number("max\n", 4, &value));
    assert_false(abench__scan_only_number("", 0, &value));
    assert_int_equal(value, 42);
}

static uint64_t list_count(const char *text)
{
    const exact e = copy_of(text, strlen(text));
    uint64_t count = 0;

    if (!abench__scan_list(e.text, e.length, &count))
        count = UINT64_MAX;
    free(e.text);
    return count;
}

static void a_list_counts_what_it_names(void **state)
{
    static const char *const bad[] = {
        "",       "\n",  "0-3",   "0-3,\n",         "3-0\n", "0-3,3\n", "0-3,2-5\n",
        "0--3\n", "a\n", "0 1\n", "0-4294967295\n", "-1\n",  "0,0\n",   "99999999999999999999\n",
    };

    (void)state;
    assert_int_equal(list_count("0\n"), 1);
    assert_int_equal(list_count("0-3,8\n"), 5);
    assert_int_equal(list_count("0,2,4-7\n"), 6);
    assert_int_equal(list_count("0-4294967294\n"), 4294967295u);
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++)
        assert_true(list_count(bad[i]) == UINT64_MAX);
}

/* ---- /proc/stat, loadavg, vmstat, swaps, limits ---------------------------------------------- */

static void ticks_are_added_up_without_those_of_guests(void **state)
{
    static const char text[] = "cpu  10 20 30 40 50 60 70 80 900 900\ncpu0 1 2 3 4 5 6 7 8 0 0\n";
    uint64_t values[ABENCH__TICKS_FIELDS];

    (void)state;
    assert_int_equal(abench__parse_ticks(text, sizeof text - 1, values), 7);
    assert_int_equal(values[ABENCH__TICKS_TOTAL], 360);
    assert_int_equal(values[ABENCH__TICKS_IDLE], 90);
    assert_int_equal(values[ABENCH__TICKS_STEAL], 80);
    for (size_t length = 0; length < 37; length++) { /* up to the newline */
        const exact e = copy_of(text, length);
        assert_int_equal(abench__parse_ticks(e.text, e.length, values), 0);
        assert_int_equal(values[ABENCH__TICKS_TOTAL], 0);
        free(e.text);
    }
}

static void ticks_that_make_no_sense_are_none(void **state)
{
    static const char *const texts[] = {
        "cpu  1 2 3 4 5 6 7\n", /* without steal: no such kernel */
        "cpu  1 2 3 4 5 6 7 x\n",
        "cpu0 1 2 3 4 5 6 7 8\n",
        "cpu  18446744073709551615 1 0 0 0 0 0 0\n",
        "cpu  18446744073709551616 0 0 0 0 0 0 0\n",
        "cpu  1,2 3 4 5 6 7 8 9\n",
    };
    uint64_t values[ABENCH__TICKS_FIELDS];

    (void)state;
    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++)
        assert_int_equal(abench__parse_ticks(texts[i], strlen(texts[i]), values), 0);
}

static void the_load_is_the_number_of_tasks_that_could_run(void **state)
{
    static const char *const bad[] = {"",
                                      "0.60 0.54 1.74 2/106",
                                      "0.60 0.54 1.74 2 106 1\n",
                                      "0 0 0 /1 1\n",
                                      "0 0 0 1/ 1\n",
                                      "0 0 0 1/2x 1\n"};
    uint64_t values[ABENCH__LOAD_FIELDS];

    (void)state;
    assert_int_equal(abench__parse_load("0.60 0.54 1.74 2/106 11852\n", 27, values), 3);
    assert_int_equal(values[ABENCH__LOAD_RUNNABLE], 2);
    assert_int_equal(values[ABENCH__LOAD_TASKS], 106);
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        const exact e = copy_of(bad[i], strlen(bad[i]));
        assert_int_equal(abench__parse_load(e.text, e.length, values), 0);
        free(e.text);
    }
}

static void each_counter_of_vmstat_is_there_or_not(void **state)
{
    static const char text[] = "nr_free_pages 9\npswpin 11\npswpout 12\noom_kill 13\n";
    uint64_t values[ABENCH__VMSTAT_FIELDS];

    (void)state;
    assert_int_equal(abench__parse_vmstat(text, sizeof text - 1, values), 7);
    assert_int_equal(values[ABENCH__VMSTAT_SWAPPED_IN], 11);
    assert_int_equal(values[ABENCH__VMSTAT_SWAPPED_OUT], 12);
    assert_int_equal(values[ABENCH__VMSTAT_OOM_KILLS], 13);
    assert_int_equal(abench__parse_vmstat(text, sizeof text - 2, values), 3); /* cut */
    assert_int_equal(values[ABENCH__VMSTAT_OOM_KILLS], 0);
    assert_int_equal(abench__parse_vmstat("oom_kill 5\n", 11, values),
                     1u << ABENCH__VMSTAT_OOM_KILLS);
}

static void swap_areas_are_added_up(void **state)
{
    static const char text[] = "Filename\t\t\t\tType\t\tSize\t\tUsed\t\tPriority\n"
                               "/dev/dm-1          partition\t8\t\t3\t\t-2\n"
                               "/swap\\040file      file\t\t4\t1\t5\n";
    uint64_t values[ABENCH__SWAPS_FIELDS];

    (void)state;
    assert_int_equal(abench__parse_swaps(text, sizeof text - 1, values), 7);
    assert_int_equal(values[ABENCH__SWAPS_AREAS], 2);
    assert_int_equal(values[ABENCH__SWAPS_SIZE], 12 * 1024);
    assert_int_equal(values[ABENCH__SWAPS_USED], 4 * 1024);
    assert_int_equal(abench__parse_swaps("Filename x\n", 11, values), 7); /* none is known too */
    assert_int_equal(values[ABENCH__SWAPS_AREAS], 0);
    assert_int_equal(abench__parse_swaps("", 0, values), 0);
    assert_int_equal(abench__parse_swaps(text, sizeof text - 2, values), 0); /* cut */
    assert_int_equal(abench__parse_swaps("Filename x\na b c d\n", 19, values), 0);
    assert_int_equal(abench__parse_swaps("Filename x\na b 18446744073709551615 1 -2\n", 41, values),
                     0);
    assert_int_equal(values[ABENCH__SWAPS_SIZE], 0);
}

static void a_limit_is_a_number_or_unlimited(void **state)
{
    static const char text[] =
        "Limit                     Soft Limit           Hard Limit           Units     \n"
        "Max data size             unlimited            unlimited            bytes     \n"
        "Max locked memory         8388608              8388608              bytes     \n"
        "Max address space         12x                  unlimited            bytes     \n";
    uint64_t value = 0;

    (void)state;
    assert_true(abench__parse_limit(text, sizeof text - 1, "Max data size", &value));
    assert_true(value == UINT64_MAX);
    assert_true(abench__parse_limit(text, sizeof text - 1, "Max locked memory", &value));
    assert_int_equal(value, 8388608);
    assert_false(abench__parse_limit(text, sizeof text - 1, "Max address space", &value));
    assert_false(abench__parse_limit(text, sizeof text - 1, "Max cpu time", &value));
}

static void a_flag_is_a_whole_word_of_the_first_cpu(void **state)
{
    static const char text[] = "processor\t: 0\nflags\t\t: fpu hypervisor_x tsc\n"
                               "processor\t: 1\nflags\t\t: hypervisor\n";

    (void)state;
    assert_int_equal(abench__parse_cpu_flag(text, sizeof text - 1, "tsc"), 1);
    assert_int_equal(abench__parse_cpu_flag(text, sizeof text - 1, "hypervisor"), 0);
    assert_int_equal(abench__parse_cpu_flag("Features\t: fp asimd\n", 20, "asimd"), -1);
    assert_int_equal(abench__parse_cpu_flag("processor\t: 0\n", 14, "tsc"), -1);
    assert_int_equal(abench__parse_cpu_flag("flags tsc\n", 10, "tsc"), -1);
}

/* ---- pressure -------------------------------------------------------------------------------- */

static const char stalls[] = "some avg10=1.86 avg60=1.08 avg300=1.93 total=5987272953\n"
                             "full avg10=0.07 avg60=0.00 avg300=0.00 total=42\n";

static void pressure_is_read_from_both_lines(void **state)
{
    uint64_t values[ABENCH__PRESSURE_FIELDS];

    (void)state;
    assert_int_equal(abench__parse_pressure(stalls, sizeof stalls - 1, values), 15);
    assert_true(values[ABENCH__PRESSURE_SOME] == 5987272953u);
    assert_int_equal(values[ABENCH__PRESSURE_FULL], 42);
    assert_int_equal(values[ABENCH__PRESSURE_SOME_AVG10], 186);
    assert_int_equal(values[ABENCH__PRESSURE_FULL_AVG10], 7);
}

static void pressure_that_is_cut_or_damaged_is_absent_not_less(void **state)
{
    static const char *const bad[] = {
        "some\n",
        "some total\n",
        "some total=\n",
        "some total=-1\n",
        "some total=1x\n",
        "some total=18446744073709551616\n",
        "sometotal=1\n",
        "some avg10=1 avg60=1.00\n",
        "some avg10=1.234\n",
        "some avg10=.12\n",
        "full\n",
    };
    uint64_t values[ABENCH__PRESSURE_FIELDS];

    (void)state;
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++)
        assert_int_equal(abench__parse_pressure(bad[i], strlen(bad[i]), values), 0);
    for (size_t length = 0; length < sizeof stalls - 1; length++) {
        const exact e = copy_of(stalls, length);
        const uint32_t mask = abench__parse_pressure(e.text, e.length, values);
        const uint32_t some = 1u << ABENCH__PRESSURE_SOME | 1u << ABENCH__PRESSURE_SOME_AVG10;
        assert_int_equal(mask, length < 56 ? 0 : some);
        assert_true(values[ABENCH__PRESSURE_SOME] == (length < 56 ? 0 : 5987272953u));
        free(e.text);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_number_is_whole_or_none),
        cmocka_unit_test(a_key_is_found_as_a_whole_word),
        cmocka_unit_test(only_a_number_is_one_with_its_newline),
        cmocka_unit_test(a_list_counts_what_it_names),
        cmocka_unit_test(ticks_are_added_up_without_those_of_guests),
        cmocka_unit_test(ticks_that_make_no_sense_are_none),
        cmocka_unit_test(the_load_is_the_number_of_tasks_that_could_run),
        cmocka_unit_test(each_counter_of_vmstat_is_there_or_not),
        cmocka_unit_test(swap_areas_are_added_up),
        cmocka_unit_test(a_limit_is_a_number_or_unlimited),
        cmocka_unit_test(a_flag_is_a_whole_word_of_the_first_cpu),
        cmocka_unit_test(pressure_is_read_from_both_lines),
        cmocka_unit_test(pressure_that_is_cut_or_damaged_is_absent_not_less),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
