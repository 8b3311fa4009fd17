/* The pictures and tables of verdicts in report.html: order, ties, what is refused, and numbers. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "../data/report/has_text.h"
#include "../data/report/judged.h"

#include "tool/report/html_parts.h"
#include "tool/report/plot.h"
#include "tool/report/plots.h"

#define ROUNDS 12

typedef void (*printer)(const judged *j, FILE *out);

__attribute__((noinline)) static char *print(const judged *j, printer from)
{
    char *text;
    size_t size;
    FILE *out = open_memstream(&text, &size);
    assert_non_null(out);
    from(j, out);
    assert_int_equal(fclose(out), 0);
    return text;
}

static void print_table(const judged *j, FILE *out)
{
    html_verdicts(j->v, 0, out);
}

static void print_board(const judged *j, FILE *out)
{
    html_board(j->v, out);
}

static void print_forest(const judged *j, FILE *out)
{
    assert_true(plot_forest(j->v, 0, out));
}

static void print_scaling(const judged *j, FILE *out)
{
    assert_true(plot_scaling(j->s, out));
}

/* glibc and the same again; jemalloc a tenth less, tcmalloc as much, mimalloc a fifth more. */
static const double plain[] = {1, 1, 0.9, 0.9, 1.2};

static void begin(judged *j, const double *values)
{
    judged_begin(j, 1, 4, ROUNDS);
    judged_fill(j, 0, "rss_bytes", "bytes", values);
    judged_finish(j);
}

/* The parts stand in that order. */
static void assert_order(const char *text, const char *const *parts, size_t count)
{
    const char *at = text;
    for (size_t i = 0; i < count; i++) {
        const char *next = strstr(at, parts[i]);
        if (next == NULL)
            fail_msg("\"%s\" is not behind \"%s\" in:\n%s", parts[i], i > 0 ? parts[i - 1] : "",
                     text);
        at = next + 1;
    }
}

static void the_best_come_first_and_who_is_equal_ties(void **state)
{
    static const char *const order[] = {
        "less is better",
        ">glibc<",
        "class=\"num\">3</td><td>baseline",
        "</small></td><td class=\"num\">1–2 <small>tie</small></td>",
        "class=\"good\"><i>+</i> better",
        "</small></td><td class=\"num\">1–2 <small>tie</small></td>",
        "class=\"good\"><i>+</i> better",
        ">mimalloc<",
        "<b>x1.2",
        "class=\"num\">4",
        "class=\"bad\"><i>−</i> worse"};
    judged j;
    (void)state;
    begin(&j, plain);
    char *text = print(&j, print_table);
    assert_order(text, order, sizeof order / sizeof *order);
    free(text);
    judged_end(&j);
}

static void a_refused_metric_ranks_nothing(void **state)
{
    static const double apart[] = {1, 1.1, 0.9, 0.8, 1.2}; /* the baseline against itself */
    static const char *const order[] = {"A/A separates", ">jemalloc<", ">tcmalloc<", ">mimalloc<"};
    judged j;
    (void)state;
    begin(&j, apart);
    assert_true(j.v->metrics[0].refused);
    char *text = print(&j, print_table);
    assert_order(text, order, 4);
    assert_lacks(text, "better</td>");
    assert_lacks(text, "class=\"good\"");
    assert_lacks(text, "class=\"bad\"");
    assert_lacks(text, "tie");
    free(text);
    text = print(&j, print_forest);
    assert_has(text, "A/A separates: not ranked");
    assert_lacks(text, "point good");
    assert_lacks(text, "point bad");
    free(text);
    text = print(&j, print_board);
    assert_has(text, "<i>×</i>");
    assert_lacks(text, "class=\"good\"");
    free(text);
    judged_end(&j);
}

static void too_few_rounds_have_no_interval(void **state)
{
    judged j;
    (void)state;
    judged_begin(&j, 1, 4, 3);
    judged_fill(&j, 0, "rss_bytes", "bytes", plain);
    judged_finish(&j);
    char *text = print(&j, print_forest);
    assert_has(text, "data-ratio=");
    assert_lacks(text, "data-low=");
    assert_lacks(text, "interval good");
    free(text);
    text = print(&j, print_table);
    assert_has(text, "not enough rounds");
    free(text);
    judged_end(&j);
}

/* How many times part is in text. */
static size_t count(const char *text, const char *part)
{
    size_t n = 0;
    for (const char *at = strstr(text, part); at != NULL; at = strstr(at + 1, part))
        n++;
    return n;
}

static void a_forest_has_a_row_a_target_and_the_exact_numbers(void **state)
{
    judged j;
    char exact[64];
    (void)state;
    begin(&j, plain);
    char *text = print(&j, print_forest);
    assert_int_equal(count(text, "<g class=\"m\""), 3 + 1); /* and A/A */
    assert_int_equal(count(text, "point good"), 2);
    assert_int_equal(count(text, "point bad"), 1);
    assert_int_equal(count(text, "class=\"band\""), 1);
    const char *at = strstr(text, "data-ratio=\"");
    snprintf(exact, sizeof exact, "%.17g", strtod(at + strlen("data-ratio=\""), NULL));
    const double ratio = strtod(exact, NULL);
    assert_true(ratio == j.v->metrics[0].items[0].result.ratio ||
                ratio == j.v->metrics[0].items[1].result.ratio);
    free(text);
    judged_end(&j);
}

static void a_board_has_every_workload(void **state)
{
    judged j;
    (void)state;
    judged_begin(&j, 2, 4, ROUNDS);
    for (size_t w = 0; w < 2; w++) {
        judged_fill(&j, w, "time_ns_per_operation", "ns", plain);
        judged_fill(&j, w, "rss_bytes", "bytes", plain);
        judged_fill(&j, w, "rss_peak_bytes", "bytes", plain); /* judged, but not a main one */
    }
    judged_finish(&j);
    char *text = print(&j, print_board);
    assert_has(text, "<a href=\"#w00\">mixed</a>");
    assert_has(text, "<a href=\"#w01\">larson</a>");
    assert_int_equal(count(text, "colspan=\"2\""), 2);
    assert_lacks(text, "peak");
    assert_int_equal(count(text, "<i>+</i>"), 2 * 2 * 2);
    assert_int_equal(count(text, "<i>−</i>"), 2 * 2);
    free(text);
    judged_end(&j);
}

/* ---- scaling --------------------------------------------------------------------------------- */

/* One, four and two lanes of the same, and another workload. */
static void begin_lanes(judged *j)
{
    static const char *const specs[] = {"mixed/1:lanes=1,slots=8", "mixed/1:lanes=4,slots=8",
                                        "mixed/1:lanes=2,slots=8", "larson/1:lanes=2,slots=8"};
    static const double lanes_1[] = {1, 1, 1, 1}, lanes_4[] = {2, 2, 1, 4},
                        lanes_2[] = {1, 1, 1, 2};
    const double *const values[] = {lanes_1, lanes_4, lanes_2, lanes_1};
    judged_begin(j, 4, 3, 2);
    for (size_t w = 0; w < 4; w++) {
        j->workloads[w].spec = judged_text(specs[w]);
        judged_fill_noisy(j, w, "time_ns_per_operation", "ns", ABENCH_DIRECTION_LOWER, values[w],
                          0);
    }
    judged_finish(j);
}

static void lanes_are_compared_with_the_fewest(void **state)
{
    static const char *const order[] = {"data-lanes=\"1\" data-target=\"glibc\"",
                                        "data-lanes=\"2\" data-target=\"glibc\"",
                                        "data-lanes=\"4\" data-target=\"glibc\""};
    judged j;
    (void)state;
    begin_lanes(&j);
    char *text = print(&j, print_scaling);
    assert_int_equal(count(text, "<figure"), 2);
    assert_order(text, order, 3);
    /* Four lanes at twice the cost: twice the throughput of one. */
    assert_has(text,
               "data-value=\"2\" data-lanes=\"4\" data-target=\"glibc\"><title>glibc, 4 lanes: "
               "throughput x2.000");
    assert_has(text, "data-value=\"4\" data-lanes=\"4\" data-target=\"jemalloc\"");
    assert_has(text, "data-value=\"1\" data-lanes=\"4\" data-target=\"tcmalloc\"");
    assert_has(text, "<title>tcmalloc, 4 lanes: time an operation x4.000");
    assert_lacks(text, "larson");
    free(text);
    judged_end(&j);
}

static void workloads_that_differ_in_more_do_not_scale(void **state)
{
    char *text;
    size_t size;
    judged j;
    (void)state;
    begin_lanes(&j);
    j.workloads[1].spec = judged_text("mixed/1:lanes=4,slots=9");
    j.workloads[2].spec = judged_text("mixed/1:lanes=2,slots=10");
    FILE *out = open_memstream(&text, &size);
    assert_false(plot_scaling(j.s, out));
    fclose(out);
    assert_string_equal(text, "");
    free(text);
    judged_end(&j);
}

/* ---- parts of pictures ----------------------------------------------------------------------- */

static void assert_name(const char *name, size_t limit, const char *expected)
{
    char *text;
    size_t size;
    FILE *out = open_memstream(&text, &size);
    plot_name(out, name, limit);
    fclose(out);
    assert_string_equal(text, expected);
    free(text);
}

static void long_names_keep_both_ends(void **state)
{
    (void)state;
    assert_name("jemalloc", 14, "jemalloc");
    assert_name("jemalloc:dirty_decay_ms:10000", 14, "jemallo…:10000");
    assert_name("jemalloc:dirty_decay_ms:0", 14, "jemallo…y_ms:0");
    assert_name("éééééééééé", 5, "éé…éé");
    assert_name("<>&\"'", 5, "&lt;&gt;&amp;&quot;&#39;");
    assert_name("a\xe2\x80\xae"
                "b",
                0, "a\\u202eb");
    assert_name("", 5, "");
}

static void assert_ticks(plot_axis axis, double parts, const double *expected, size_t expected_n)
{
    double ticks[PLOT_TICKS];
    const size_t n = plot_ticks(&axis, parts, ticks);
    assert_int_equal(n, expected_n);
    for (size_t i = 0; i < n; i++)
        assert_true(fabs(ticks[i] - expected[i]) < 1e-9 * fabs(expected[i]) + 1e-12);
}

static void ticks_are_round_numbers_on_the_axis(void **state)
{
    (void)state;
    assert_ticks((plot_axis){0, 53, false, 0, 1}, 5, (double[]){0, 20, 40}, 3);
    assert_ticks((plot_axis){0.95, 1.12, true, 0, 1}, 4, (double[]){0.95, 1, 1.05, 1.1}, 4);
    assert_ticks((plot_axis){0.15, 14, true, 0, 1}, 5, (double[]){0.2, 0.5, 1, 2, 5, 10}, 6);
    assert_ticks((plot_axis){10, 2e6, true, 0, 1}, 9, (double[]){10, 100, 1e3, 1e4, 1e5, 1e6}, 6);
    double ticks[PLOT_TICKS];
    const plot_axis huge = {1, 1e300, true, 0, 1};
    assert_true(plot_ticks(&huge, 5, ticks) <= PLOT_TICKS);
}

static void what_is_beyond_an_axis_is_drawn_at_its_end(void **state)
{
    const plot_axis linear = {0, 10, false, 100, 200}, logarithmic = {1, 100, true, 100, 200};
    (void)state;
    assert_true(fabs(plot_at(&linear, 5) - 150) < 1e-9);
    assert_true(fabs(plot_at(&linear, 20) - 200) < 1e-9);
    assert_true(fabs(plot_at(&logarithmic, 10) - 150) < 1e-9);
    assert_true(fabs(plot_at(&logarithmic, 0) - 100) < 1e-9);
}

static void labels_keep_off_each_other(void **state)
{
    plot_label labels[] = {{0, "a", "", 0, 50, 0},
                           {1, "b", "", 0, 50, 0},
                           {2, "c", "", 0, 99, 0},
                           {3, "d", "", 0, 99, 0}};
    char *text;
    size_t size;
    FILE *out = open_memstream(&text, &size);
    (void)state;
    plot_labels(out, labels, 4, 10, 20, 100);
    fclose(out);
    for (size_t i = 0; i < 4; i++) {
        assert_true(labels[i].at >= 20 && labels[i].at <= 100);
        assert_true(i == 0 || labels[i].at >= labels[i - 1].at + 12);
    }
    free(text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_best_come_first_and_who_is_equal_ties),
        cmocka_unit_test(a_refused_metric_ranks_nothing),
        cmocka_unit_test(too_few_rounds_have_no_interval),
        cmocka_unit_test(a_forest_has_a_row_a_target_and_the_exact_numbers),
        cmocka_unit_test(a_board_has_every_workload),
        cmocka_unit_test(lanes_are_compared_with_the_fewest),
        cmocka_unit_test(workloads_that_differ_in_more_do_not_scale),
        cmocka_unit_test(long_names_keep_both_ends),
        cmocka_unit_test(ticks_are_round_numbers_on_the_axis),
        cmocka_unit_test(what_is_beyond_an_axis_is_drawn_at_its_end),
        cmocka_unit_test(labels_keep_off_each_other),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
