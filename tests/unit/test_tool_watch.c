#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <fcntl.h>
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <allocbench/allocbench.h>

#include "tool/commands.h"
#include "tool/report/format.h"
#include "tool/watch_arguments.h"
#include "tool/watch_format.h"
#include "tool/watch_tree.h"

#define MIB ((uint64_t)1 << 20)

/* ---- text ------------------------------------------------------------------------------------ */

static void bytes_take_five_letters(void **state)
{
    static const struct {
        uint64_t bytes;
        const char *text;
    } cases[] = {
        {0, "0"},
        {1, "1"},
        {1023, "1023"},
        {1024, "1.00K"},
        {10234, "9.99K"},
        {10240, "10.0K"},
        {102400, "100K"},
        {1048063, "1023K"},
        {1048167, "1.00M"},
        {1048576, "1.00M"},
        {(uint64_t)5 << 30, "5.00G"},
        {UINT64_MAX, "16.0E"},
    };
    char text[16];

    (void)state;
    for (size_t at = 0; at < sizeof cases / sizeof cases[0]; at++)
        assert_string_equal(watch_bytes(text, cases[at].bytes), cases[at].text);
}

static watch_look some_look(void)
{
    watch_look look = {.time_ns = 61500000000, .processes = 3, .memory = ABENCH_MEMORY_INIT};

    look.memory.valid = ABENCH_MEMORY_RSS | ABENCH_MEMORY_SWAP;
    look.memory.rss_bytes = 412 * MIB;
    look.rates.is_known = WATCH_FAULTS | WATCH_WAIT;
    look.rates.faults_per_s = 12345;
    look.rates.wait_share = 0.256;
    return look;
}

static watch_look some_dear_look(void)
{
    watch_look look = some_look();

    look.is_dear = true;
    look.time_ns -= 3000000000;
    look.memory.valid |= ABENCH_MEMORY_PSS | ABENCH_MEMORY_ROLLUP_RSS | ABENCH_MEMORY_LAZYFREE;
    look.memory.pss_bytes = 200 * MIB;
    look.memory.rollup_rss_bytes = 400 * MIB;
    look.memory.lazyfree_bytes = 100 * MIB;
    return look;
}

/* text holds name, blanks, value and then a blank or the end. */
static bool has_cell(const char *text, const char *name, const char *value)
{
    const size_t length = strlen(name);

    for (const char *at = strstr(text, name); at != NULL; at = strstr(at + 1, name)) {
        const char *shown = at + length + strspn(at + length, " ");
        const bool is_word = at == text || at[-1] == ' ' || at[-1] == '\n';
        if (is_word && strncmp(shown, value, strlen(value)) == 0 &&
            strchr(" \n", shown[strlen(value)]) != NULL)
            return true;
    }
    return false;
}

static void rows_show_what_was_read_and_a_dash_for_the_rest(void **state)
{
    static const char *const expected[][2] = {
        {"time", "1m01s"},     {"procs", "3"},      {"rss", "412M"},      {"swap", "0"},
        {"anon", "-"},         {"pss", "200M"},     {"rss-lazy", "300M"}, {"huge", "-"},
        {"faults/s", "12.3k"}, {"switches/s", "-"}, {"wait", "25.6 %"},   {"peak", "500M"},
        {"hwm", "-"},          {"age", "3.0s"},
    };
    const watch_look look = some_look(), dear = some_dear_look();
    const watch_peaks peaks = {.valid = ABENCH_MEMORY_RSS, .rss_bytes = 500 * MIB};
    size_t lines;
    char *text = watch_rows(&look, &dear, &peaks, 100000, 1, false, &lines);

    (void)state;
    assert_int_equal(lines, 1);
    for (size_t at = 0; at < sizeof expected / sizeof expected[0]; at++)
        if (!has_cell(text, expected[at][0], expected[at][1]))
            fail_msg("'%s' is not '%s' in: %s", expected[at][0], expected[at][1], text);
    free(text);
    text = watch_rows(&look, NULL, &peaks, 100000, 1, false, &lines);
    assert_true(has_cell(text, "pss", "-"));
    assert_true(has_cell(text, "age", "-"));
    free(text);
}

static char *one_line(const watch_look *look, const watch_look *dear, size_t width)
{
    const watch_peaks peaks = {.valid = ABENCH_MEMORY_RSS, .rss_bytes = 500 * MIB};
    size_t lines;

    return watch_rows(look, dear, &peaks, width, 1, false, &lines);
}

static void what_was_dear_is_shown_as_long_as_rss_is_what_it_was(void **state)
{
    static const char *const gone[] = {"pss", "rss-lazy", "uss", "huge", "age"};
    static const struct {
        uint64_t mib;
        bool is_true;
    } cases[] = {{412, true}, {457, true}, {460, false}, {371, true}, {370, false}, {8, false}};
    watch_look look = some_look(), dear = some_dear_look();

    (void)state;
    dear.memory.valid |= ABENCH_MEMORY_USS | ABENCH_MEMORY_HUGE;
    for (size_t at = 0; at < sizeof cases / sizeof cases[0]; at++) {
        char *text;
        look.memory.rss_bytes = cases[at].mib * MIB;
        text = one_line(&look, &dear, 100000);
        for (size_t name = 0; name < sizeof gone / sizeof gone[0]; name++)
            if (has_cell(text, gone[name], "-") == cases[at].is_true)
                fail_msg("%s at %d MiB: %s", gone[name], (int)cases[at].mib, text);
        free(text);
    }
    /* Of the look itself, whatever there is of RSS. */
    dear.memory.valid &= ~(uint64_t)ABENCH_MEMORY_RSS;
    for (int of_itself = 0; of_itself < 2; of_itself++) {
        char *text = one_line(of_itself ? &dear : &look, &dear, 100000);
        assert_int_equal(has_cell(text, "pss", "200M"), of_itself);
        assert_int_equal(has_cell(text, "age", "0.0s"), of_itself);
        free(text);
    }
}

/* Beside a command there is one line: the age has room in it wherever rss-lazy has. */
static void a_line_of_80_columns_has_the_age(void **state)
{
    const watch_look look = some_look(), dear = some_dear_look();
    char *text = one_line(&look, &dear, 79);

    (void)state;
    assert_true(has_cell(text, "age", "3.0s"));
    assert_true(has_cell(text, "rss-lazy", "300M"));
    assert_true(strstr(text, "age") < strstr(text, "rss-lazy"));
    free(text);
}

static void lazily_freed_is_taken_off_the_rss_of_its_own_reading(void **state)
{
    watch_look dear = some_dear_look();
    char *text;

    (void)state;
    dear.memory.valid &= ~(uint64_t)ABENCH_MEMORY_ROLLUP_RSS;
    text = one_line(&dear, &dear, 100000);
    assert_true(has_cell(text, "rss", "412M"));
    assert_true(has_cell(text, "rss-lazy", "-"));
    free(text);
}

static void rows_fit_into_any_width(void **state)
{
    const watch_look look = some_look(), dear = some_dear_look();
    const watch_peaks peaks = {.valid = ABENCH_MEMORY_RSS, .rss_bytes = 500 * MIB};

    (void)state;
    for (size_t width = 1; width < 260; width++)
        for (size_t most = 1; most <= 8; most += 7) {
            size_t lines, counted = 0;
            char *rest, *text = rest = watch_rows(&look, &dear, &peaks, width, most, false, &lines);
            for (char *line; (line = strsep(&rest, "\n")) != NULL; counted++)
                if (format_width(line) > width)
                    fail_msg("more than %zu columns: '%s'", width, line);
            assert_int_equal(counted, lines);
            assert_true(lines <= most);
            assert_int_equal(strncmp(text, "time", width < 4 ? width : 4), 0);
            free(text);
        }
}

static void dimming_takes_no_columns(void **state)
{
    const watch_look look = some_look();
    const watch_peaks peaks = {.valid = 0};
    size_t lines, dim_lines;
    char *text = watch_rows(&look, NULL, &peaks, 80, 8, false, &lines);
    char *dim = watch_rows(&look, NULL, &peaks, 80, 8, true, &dim_lines);
    char *to = dim;

    (void)state;
    assert_non_null(strstr(dim, "\033[2mrss\033[0m"));
    for (const char *from = dim; *from != '\0';)
        if (*from == '\033')
            from = strchr(from, 'm') + 1;
        else
            *to++ = *from++;
    *to = '\0';
    assert_string_equal(dim, text);
    assert_int_equal(lines, dim_lines);
    free(text);
    free(dim);
}

static void csv_has_every_field_and_nothing_for_an_absent_one(void **state)
{
    abench_memory_field field = ABENCH_MEMORY_FIELD_INIT;
    watch_look look = some_look();
    char *head = watch_csv_head(), *line, *heads = head, *values;
    uint32_t count = 0;

    (void)state;
    look.memory.cost_ns = 77;
    line = values = watch_csv_line(&look);
    assert_int_equal(line[strlen(line) - 1], '\n');
    assert_string_equal(strsep(&heads, ","), "time_ns");
    assert_string_equal(strsep(&values, ","), "61500000000");
    assert_string_equal(strsep(&heads, ","), "processes");
    assert_string_equal(strsep(&values, ","), "3");
    for (; abench_memory_field_at(count, &field) == ABENCH_OK; count++) {
        const char *value = strsep(&values, ",");
        assert_string_equal(strsep(&heads, ","), field.name);
        assert_string_equal(value, field.bit == ABENCH_MEMORY_RSS    ? "432013312"
                                   : field.bit == ABENCH_MEMORY_SWAP ? "0"
                                                                     : "");
    }
    assert_true(count > 20);
    assert_string_equal(heads, "cgroup_current_bytes,cost_ns\n");
    assert_string_equal(values, ",77\n");
    free(head);
    free(line);
    look.has_cgroup = true;
    look.cgroup_bytes = 5;
    line = watch_csv_line(&look);
    assert_non_null(strstr(line, ",5,77\n"));
    free(line);
}

static void the_summary_names_the_peaks(void **state)
{
    const watch_peaks peaks = {.valid = ABENCH_MEMORY_RSS | ABENCH_MEMORY_PSS | ABENCH_MEMORY_HWM,
                               .rss_bytes = 412 * MIB,
                               .pss_bytes = 210 * MIB,
                               .hwm_bytes = 300 * MIB,
                               .looks = 12,
                               .dear_looks = 3,
                               .dear_rss_bytes = 371 * MIB};
    const watch_peaks none = {.looks = 1};
    char *text = watch_summary(2130000000, &peaks, 301 * MIB);

    (void)state;
    assert_string_equal(text, "2.13 s, peak RSS 412M (12 looks), peak PSS 210M (3 looks), largest "
                              "process 301M by the kernel's own mark");
    free(text);
    text = watch_summary(0, &none, 0);
    assert_string_equal(text, "0.00 s, peak RSS -, peak PSS -, largest process -");
    free(text);
}

static void a_peak_of_pss_that_was_not_seen_is_not_told(void **state)
{
    watch_peaks peaks = {.valid = ABENCH_MEMORY_RSS | ABENCH_MEMORY_PSS,
                         .rss_bytes = 117 * MIB,
                         .pss_bytes = 5 * MIB,
                         .looks = 4,
                         .dear_looks = 1,
                         .dear_rss_bytes = 7 * MIB};
    char *text = watch_summary(1000000000, &peaks, 122 * MIB);

    (void)state;
    assert_string_equal(text, "1.00 s, peak RSS 117M (4 looks), peak PSS not seen near the peak, "
                              "largest process 122M by the kernel's own mark (more than the looks "
                              "saw)");
    free(text);
    /* All looks were far from the peak. */
    peaks.rss_bytes = 7 * MIB;
    text = watch_summary(1000000000, &peaks, 122 * MIB);
    assert_non_null(strstr(text, "peak PSS not seen near the peak"));
    free(text);
    text = watch_summary(1000000000, &peaks, 7 * MIB);
    assert_non_null(strstr(text, "peak PSS 5.00M (1 look)"));
    free(text);
    /* What a process that runs already was before the watch is no peak of the watch's. */
    peaks.hwm_bytes = 500 * MIB;
    text = watch_summary(1000000000, &peaks, 0);
    assert_non_null(strstr(text, "peak PSS 5.00M (1 look), largest process 500M"));
    free(text);
}

static void near_is_a_tenth_of_the_larger(void **state)
{
    (void)state;
    assert_true(watch_is_near(0, 0));
    assert_true(watch_is_near(90, 100));
    assert_true(watch_is_near(100, 90));
    assert_false(watch_is_near(89, 100));
    assert_false(watch_is_near(100, 89));
    assert_false(watch_is_near(0, UINT64_MAX));
}

/* ---- rates and pace -------------------------------------------------------------------------- */

#define ALL_KNOWN (WATCH_FAULTS | WATCH_SWITCHES | WATCH_WAIT)

static void assert_near(double value, double expected)
{
    if (value < expected - 1e-9 || value > expected + 1e-9)
        fail_msg("%g is not %g", value, expected);
}

static void rates_follow_each_process(void **state)
{
    watch_counts before[] = {{9, ALL_KNOWN, 100, 10, 1000000000},
                             {5, ALL_KNOWN, 1000, 0, 0},
                             {7, ALL_KNOWN, 5000, 500, 0}}; /* has ended since */
    watch_counts now[] = {{5, ALL_KNOWN, 1010, 0, 0},
                          {11, ALL_KNOWN, 40, 6, 0},           /* is new */
                          {9, ALL_KNOWN, 150, 4, 2000000000}}; /* a thread has ended */
    const watch_rates rates = watch_rates_between(before, 3, now, 3, 2);

    (void)state;
    assert_int_equal(rates.is_known, ALL_KNOWN);
    assert_near(rates.faults_per_s, (10 + 40 + 50) / 2.0);
    assert_near(rates.switches_per_s, 6 / 2.0);
    assert_near(rates.wait_share, 0.5);
}

static void a_rate_is_known_when_it_is_of_every_process(void **state)
{
    watch_counts before[] = {{1, ALL_KNOWN, 1, 1, 1}, {2, ALL_KNOWN & ~WATCH_WAIT, 1, 1, 0}};
    watch_counts now[] = {{1, ALL_KNOWN & ~WATCH_SWITCHES, 2, 0, 2}, {2, ALL_KNOWN, 2, 2, 2}};

    (void)state;
    assert_int_equal(watch_rates_between(before, 2, now, 2, 1).is_known, WATCH_FAULTS);
    assert_int_equal(watch_rates_between(before, 2, now, 2, 0).is_known, 0);
    assert_int_equal(watch_rates_between(NULL, 0, NULL, 0, 1).is_known, ALL_KNOWN);
}

static void dear_looks_take_a_thousandth_of_the_time(void **state)
{
    const uint64_t ms = 1000000, gib = (uint64_t)1 << 30;

    (void)state;
    assert_int_equal(watch_dear_wait_ns(ms, gib, gib, 100 * ms), 1000 * ms);
    assert_int_equal(watch_dear_wait_ns(ms, gib, 0, 100 * ms), 1000 * ms);
    assert_int_equal(watch_dear_wait_ns(1000, 0, 0, 100 * ms), 100 * ms);
    /* It has grown: the next one takes longer than the last. */
    assert_int_equal(watch_dear_wait_ns(ms, 0, gib, 100 * ms), 15000 * ms);
    assert_int_equal(watch_dear_wait_ns(UINT64_MAX, 0, 0, 1), UINT64_MAX);
}

/* ---- the command line ------------------------------------------------------------------------ */

/* Reads "watch" and the words, which a blank separates. What is said is not looked at. */
static int read_words(const char *text, watch_arguments *out)
{
    static char copy[512], watch[] = "watch";
    static char *argv[32];
    char *rest = copy, *word;
    int argc = 0, status, nothing = open("/dev/null", O_WRONLY);
    const int errors = dup(STDERR_FILENO);

    snprintf(copy, sizeof copy, "%s", text);
    argv[argc++] = watch;
    while ((word = strsep(&rest, " ")) != NULL)
        if (*word != '\0')
            argv[argc++] = word;
    argv[argc] = NULL;
    optind = 0; /* getopt begins anew */
    dup2(nothing, STDERR_FILENO);
    status = watch_arguments_read(argc, argv, out);
    dup2(errors, STDERR_FILENO);
    close(errors);
    close(nothing);
    return status;
}

static void arguments_are_read(void **state)
{
    watch_arguments a;

    (void)state;
    assert_int_equal(read_words("17", &a), -1);
    assert_int_equal(a.pid, 17);
    assert_null(a.command);
    assert_int_equal(a.period_ns, 100000000);
    assert_int_equal(a.duration_ns, 0);
    assert_int_equal(read_words("--period 20 17 --duration 3 --dear --csv -o x", &a), -1);
    assert_int_equal(a.period_ns, 20000000);
    assert_int_equal(a.duration_ns, 3000000000);
    assert_true(a.dear && a.csv && !a.live && !a.mappings);
    assert_string_equal(a.output, "x");
    assert_int_equal(read_words("--period 1.5s --duration 2m --mappings --live -- ls --csv 3", &a),
                     -1);
    assert_int_equal(a.period_ns, 1500000000);
    assert_int_equal(a.duration_ns, 120000000000);
    assert_true(!a.csv && a.live && a.mappings);
    assert_int_equal(a.pid, 0);
    assert_string_equal(a.command[0], "ls");
    assert_string_equal(a.command[1], "--csv");
}

static void wrong_arguments_are_refused(void **state)
{
    static const char *const wrong[] = {
        "",
        "x",
        "0",
        "-5",
        "1 2",
        "1x",
        "2147483648",
        "1 -- ls",
        "--",
        "1 --period 0",
        "1 --period",
        "1 -o",
        "1 --perod 5",
        "1 --period 2h",
        "1 --period nan",
        "1 -z",
        "1 --csv --live",
        "1 --duration 0",
        "99999999999999999999",
    };
    watch_arguments a;

    (void)state;
    for (size_t at = 0; at < sizeof wrong / sizeof wrong[0]; at++)
        if (read_words(wrong[at], &a) != EXIT_USAGE)
            fail_msg("'%s' is taken", wrong[at]);
    assert_int_equal(read_words("1 --csv --live -o x", &a), -1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(bytes_take_five_letters),
        cmocka_unit_test(rows_show_what_was_read_and_a_dash_for_the_rest),
        cmocka_unit_test(what_was_dear_is_shown_as_long_as_rss_is_what_it_was),
        cmocka_unit_test(a_line_of_80_columns_has_the_age),
        cmocka_unit_test(lazily_freed_is_taken_off_the_rss_of_its_own_reading),
        cmocka_unit_test(rows_fit_into_any_width),
        cmocka_unit_test(dimming_takes_no_columns),
        cmocka_unit_test(csv_has_every_field_and_nothing_for_an_absent_one),
        cmocka_unit_test(the_summary_names_the_peaks),
        cmocka_unit_test(a_peak_of_pss_that_was_not_seen_is_not_told),
        cmocka_unit_test(near_is_a_tenth_of_the_larger),
        cmocka_unit_test(rates_follow_each_process),
        cmocka_unit_test(a_rate_is_known_when_it_is_of_every_process),
        cmocka_unit_test(dear_looks_take_a_thousandth_of_the_time),
        cmocka_unit_test(arguments_are_read),
        cmocka_unit_test(wrong_arguments_are_refused),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
