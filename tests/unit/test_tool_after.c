/* What a report says of memory that comes back, and of fragmentation. */
#include "../data/report/cells.h"

#include "tool/report/accounts.h"
#include "tool/report/after.h"
#include "tool/report/format.h"
#include "tool/report/fragmentation.h"
#include "tool/util.h"

static void print_terminal(const world *w, FILE *out)
{
    after_terminal(w->v, out, "", "");
}

static void print_after(const world *w, FILE *out)
{
    after_markdown(w->v, out);
}

static void print_fragmentation(const world *w, FILE *out)
{
    fragmentation_markdown(w->v, out);
}

static void print_accounts(const world *w, FILE *out)
{
    accounts_markdown(&w->m, out);
}

static void print_all(const world *w, FILE *out)
{
    print_terminal(w, out);
    print_after(w, out);
    print_fragmentation(w, out);
    print_accounts(w, out);
}

/* ---- what comes back ------------------------------------------------------------------------- */

static void a_run_that_did_not_wait_has_its_table_in_the_report_only(void **state)
{
    static world w;
    (void)state;
    begin(&w);
    add_drained(add_cell(&w, 0, 0), 20, 5);
    add_drained(add_cell(&w, 1, 0), 30, -0.001);
    add_metric(&w.cells[1], "rss_peak_bytes", "bytes", 40 * MIB);
    finish(&w);
    assert_prints_nothing(&w, print_terminal);
    char *text = print(&w, print_after);
    assert_has(text, "\n| target | measured MiB | peak MiB | drained MiB |\n"
                     "|---|---:|---:|---:|\n"
                     "| glibc (base) | 20.0 | n/a | 5.00 |\n"
                     "| jemalloc | 30.0 | 40.0 | 0.00 |\n");
    assert_lacks(text, "In the seconds");
    free(text);
    clear(&w);
}

static void nothing_is_said_of_work_that_never_drained(void **state)
{
    static world w;
    (void)state;
    begin(&w);
    add_metric(add_cell(&w, 0, 0), "rss_bytes", "bytes", 20 * MIB);
    finish(&w);
    assert_prints_nothing(&w, print_terminal);
    assert_prints_nothing(&w, print_after);
    clear(&w);
}

static void readings_stand_by_time_less_the_baseline(void **state)
{
    static world w;
    (void)state;
    begin(&w);
    model_cell *cell = add_cell(&w, 0, 0);
    add_drained(cell, 20, 15);
    add_after(cell, "16s", 3, "");
    add_after(cell, "8s", 4, "");
    add_after(cell, "1s", 12, "");
    add_after(cell, "purged", 2.5, "malloc_trim(0)");
    add_metric(cell, "rss_purged_bytes", "bytes", 0.5 * MIB);
    add_metric(cell, "purge_ns", "ns", 81000);
    finish(&w);
    assert_prints(&w, print_after,
                  "\n| target | measured MiB | drained MiB | 1 s later MiB | 8 s later MiB | "
                  "16 s later MiB | purged MiB | purge took | purged by |\n"
                  "|---|---:|---:|---:|---:|---:|---:|---:|---:|\n"
                  "| glibc (base) | 20.0 | 15.0 | 10.0 | 2.00 | 1.00 | 0.50 | 81.0us | "
                  "malloc_trim(0) |\n");
    clear(&w);
}

static void names_that_are_no_time_make_no_column(void **state)
{
    static world w;
    static const char *const odd[] = {"s",   "0s", "1 s",       "1.5s",  "-1s",
                                      "+1s", "1h", "99999999s", "later", ""};
    (void)state;
    begin(&w);
    model_cell *cell = add_cell(&w, 0, 0);
    add_drained(cell, 20, 15);
    for (size_t at = 0; at < sizeof odd / sizeof *odd; at++)
        add_after(cell, odd[at], 3, "");
    finish(&w);
    assert_prints_nothing(&w, print_terminal);
    assert_prints(&w, print_after, "\n| target | measured MiB | drained MiB |\n");
    clear(&w);
}

static void more_times_than_columns_do_no_harm(void **state)
{
    static world w;
    static char names[ITEMS_MOST][8];
    (void)state;
    begin(&w);
    model_cell *cell = add_cell(&w, 0, 0);
    for (size_t at = 0; at < ITEMS_MOST; at++) {
        snprintf(names[at], sizeof names[at], "%zus", ITEMS_MOST - at);
        add_after(cell, names[at], 3, "");
    }
    finish(&w);
    char *text = print(&w, print_after);
    size_t columns = 0;
    for (const char *at = text; (at = strstr(at, " s later MiB |")) != NULL; at++)
        columns++;
    assert_int_equal(columns, 16);
    free(text);
    clear(&w);
}

/* A harness's records are not kept, its metrics are. */
static void a_harness_tells_by_its_metrics(void **state)
{
    static world w;
    (void)state;
    begin(&w);
    w.workload.is_command = true;
    model_cell *cell = add_cell(&w, 0, 0);
    cell->phases_count = 0;
    add_metric(cell, "rss_after_4s_bytes", "bytes", 7 * MIB);
    finish(&w);
    assert_prints(&w, print_terminal, "\n              4 s later\ntarget              MiB\n");
    assert_prints(&w, print_after,
                  "| target | 4 s later MiB |\n|---|---:|\n| glibc (base) | 7.00 |\n");
    clear(&w);
}

static void medians_are_over_good_rounds_and_have_their_spread(void **state)
{
    static world w;
    (void)state;
    begin(&w);
    for (uint32_t round = 0; round < 3; round++) {
        model_cell *cell = add_cell(&w, 0, round);
        add_drained(cell, 20, 4 + round);
        add_after(cell, "1s", 3 + round, "");
    }
    model_cell *failed = add_cell(&w, 0, 3);
    add_drained(failed, 20, 400);
    failed->failed = true;
    add_drained(add_cell(&w, 1, 0), 20, 9);
    finish(&w);
    char *text = print(&w, print_after);
    assert_has(text, "| glibc (base) | 20.0 ±0.0% | 5.00 ±40% | 2.00 ±100% |");
    assert_has(text, "| jemalloc | 20.0 | 9.00 | n/a |");
    free(text);
    /* On a terminal the spread of a steady column is left out, and values line up. */
    text = print(&w, print_terminal);
    assert_has(text, "\nglibc (base)  5.00 ±40%  2.00 ±100%\n"
                     "jemalloc      9.00        n/a\n");
    free(text);
    clear(&w);
}

static void seconds_that_are_equal_for_all_become_one_column(void **state)
{
    static world w;
    static const char *const names[] = {"1s", "2s", "4s", "8s", "16s"};
    /* above the baseline; within 1 % of what was there at 1 s, and not any more at 8 s */
    static const double first[] = {10, 10.05, 9.95, 9.87, 9.87}, second[] = {20, 20, 20, 20, 20};
    (void)state;
    begin(&w);
    add_drained(add_cell(&w, 0, 0), 20, 10);
    add_drained(add_cell(&w, 1, 0), 20, 20);
    for (size_t at = 0; at < 5; at++) {
        add_after(&w.cells[0], names[at], 2 + first[at], "");
        add_after(&w.cells[1], names[at], 2 + second[at], "");
    }
    finish(&w);
    assert_prints(&w, print_terminal,
                  "\n              drained  1 s to 4 s later  8 s to 16 s later\n"
                  "target            MiB               MiB                MiB\n"
                  "glibc (base)     10.0              10.0               9.87\n"
                  "jemalloc         20.0              20.0               20.0\n");
    /* The report has all of them. */
    assert_prints(&w, print_after, "| 1 s later MiB | 2 s later MiB | 4 s later MiB | 8 s later");
    clear(&w);
    /* One that was not read is not equal to one that was. */
    w.cells[1].afters[1].memory.valid = 0;
    finish(&w);
    assert_prints(&w, print_terminal, "drained  1 s later  2 s later  4 s to 16 s later\n");
    clear(&w);
}

static void nothing_left_is_equal_to_nothing_left(void **state)
{
    static world w;
    (void)state;
    begin(&w);
    model_cell *cell = add_cell(&w, 0, 0);
    add_drained(cell, 20, 10);
    add_after(cell, "1s", 2.004, "");
    add_after(cell, "2s", 1.999, "");
    add_after(cell, "4s", 2.02, "");
    finish(&w);
    assert_prints(&w, print_terminal, "drained  1 s to 2 s later  4 s later\n");
    clear(&w);
}

static void a_terminal_compares_what_a_purge_leaves_and_names_the_calls(void **state)
{
    static world w;
    static const char *const calls[] = {"malloc_trim(0)", "mi_collect(true)", "malloc_trim(0)"};
    (void)state;
    begin(&w);
    for (uint32_t round = 0; round < 2; round++)
        for (size_t target = 0; target < 3; target++) {
            model_cell *cell = add_cell(&w, target, round);
            add_drained(cell, 20, 10);
            add_metric(cell, "rss_peak_bytes", "bytes", 30 * MIB);
            add_metric(cell, "lazyfree_drained_bytes", "bytes", target == 1 ? 6 * MIB : 40000);
            add_after(cell, "1s", 12, "");
            add_after(cell, "purged", 3, calls[target]);
            add_metric(cell, "rss_purged_bytes", "bytes", (1 + (double)target) * MIB);
            add_metric(cell, "purge_ns", "ns", 81000);
        }
    finish(&w);
    char *text = print(&w, print_terminal);
    assert_has(text, "\nRSS after everything was freed, less the baseline: what comes back\n"
                     "              drained  1 s later      purged\n"
                     "target            MiB        MiB         MiB\n"
                     "glibc (base)     10.0       10.0  1.00\n"
                     "jemalloc         10.0       10.0  2.00 x2.00\n"
                     "tcmalloc         10.0       10.0  3.00 x3.00\n"
                     "purged by: malloc_trim(0) (glibc, tcmalloc); mi_collect(true) (jemalloc)\n"
                     "in RSS when drained, but given back (MADV_FREE): 6.00 MiB (jemalloc)\n");
    free(text);
    assert_prints(&w, print_after, "| 2.00 ±0.0% x2.00 | 81.0us ±0.0% | mi_collect(true) |\n");
    clear(&w);
}

static void calls_are_no_more_than_text(void **state)
{
    static world w;
    (void)state;
    begin(&w);
    model_cell *cell = add_cell(&w, 0, 0);
    add_drained(cell, 20, 10);
    add_after(cell, "1s", 12, "");
    add_after(cell, "purged", 3, "\033[31mred\n");
    finish(&w);
    assert_prints(&w, print_terminal, "purged by: \\x1b[31mred\\n (glibc)\n");
    clear(&w);
}

static void the_baseline_and_the_harness_stand_beside_it(void **state)
{
    static world w;
    (void)state;
    begin(&w);
    add_drained(add_cell(&w, 0, 0), 20, 5);
    add_metric(&w.cells[0], "rss_baseline_bytes", "bytes", 12.3 * MIB);
    finish(&w);
    char *text = print(&w, print_after);
    assert_has(text, "| target | baseline MiB | measured MiB | drained MiB |\n"
                     "|---|---:|---:|---:|\n"
                     "| glibc (base) | 12.3 | 20.0 | 5.00 |\n");
    assert_has(text, "\n*baseline*: RSS before the work");
    assert_lacks(text, "The harness itself");
    free(text);
    clear(&w);
    add_drained(add_cell(&w, MODEL_FLOOR, 0), 1, 0.25);
    finish(&w);
    assert_prints(&w, print_after, "the same work ends 0.25 MiB above its baseline. A small ");
    clear(&w);
    add_metric(&w.cells[1], "rss_baseline_bytes", "bytes", 11.5 * MIB);
    finish(&w);
    assert_prints(&w, print_after, " 0.25 MiB above its baseline of 11.5 MiB. A small ");
    clear(&w);
}

/* ---- fragmentation --------------------------------------------------------------------------- */

static void each_definition_has_its_column_and_formula(void **state)
{
    static world w;
    (void)state;
    begin(&w);
    model_cell *cell = add_cell(&w, 0, 0);
    add_metric(cell, "fragmentation_internal_per_live", "ratio", 0.25);
    add_metric(cell, "fragmentation_internal_per_usable", "ratio", 0.2);
    add_metric(cell, "fragmentation_external_bytes", "bytes", 1.5 * MIB);
    add_metric(cell, "fragmentation_per_rss", "ratio", -0.0001);
    add_metric(cell, "heap_blowup", "ratio", 1.9996);
    add_metric(cell, "fragmentation_average", "ratio", 0.5);
    add_metric(cell, "fragmentation_at_live_peak", "ratio", 0.25);
    add_metric(cell, "fragmentation_at_rss_peak", "ratio", 12.5);
    add_metric(cell, "fragmentation_of_peaks", "ratio", 0.3);
    add_metric(add_cell(&w, 1, 0), "heap_blowup", "ratio", 1.2);
    finish(&w);
    char *text = print(&w, print_fragmentation);
    assert_has(text, "| target | internal /live | internal /usable | external MiB | overhead /RSS "
                     "| heap blowup | JW 1 average | JW 2 at most live | JW 3 at most RSS | JW 4 "
                     "of the peaks |\n");
    assert_has(text, "| glibc (base) | 0.250 | 0.200 | 1.50 | 0.000 | 2.00 | 0.500 | 0.250 | 12.5 "
                     "| 0.300 |\n");
    assert_has(text, "| jemalloc | n/a | n/a | n/a | n/a | 1.20 | n/a | n/a | n/a | n/a |\n");
    assert_has(text, "\n- *internal /usable*: (usable - live) / usable");
    assert_has(text, "\n- *JW 4 of the peaks*: largest RSS / most live - 1\n");
    assert_has(text, "\nLower is better. ");
    assert_has(text, "glibc's header, 8 bytes a block, lies outside of usable");
    assert_has(text, "*heap blowup* is of the exact peaks");
    free(text);
    clear(&w);
    w.targets[0].family = text_of("musl");
    finish(&w);
    text = print(&w, print_fragmentation);
    assert_lacks(text, "glibc's header");
    free(text);
    clear(&w);
}

static void the_readings_of_a_cell_are_counted(void **state)
{
    static world w;
    static const size_t counts[] = {10, 24, 14};
    (void)state;
    begin(&w);
    for (uint32_t round = 0; round < 3; round++) {
        model_cell *cell = add_cell(&w, 0, round);
        add_metric(cell, "fragmentation_average", "ratio", 0.5);
        add_slices(&w, cell, counts[round]);
    }
    add_slices(&w, add_cell(&w, 1, 0), 3); /* one of them had no RSS: it has no such measure */
    finish(&w);
    assert_prints(&w, print_fragmentation, "behind each slice: 14 of them in a cell (median).\n");
    clear(&w);
    add_metric(&w.cells[3], "fragmentation_average", "ratio", 0.5);
    finish(&w);
    assert_prints(&w, print_fragmentation,
                  "behind each slice: 3 to 14 of them in a cell (medians of the targets).\n");
    clear(&w);
    /* A harness keeps none. */
    for (size_t at = 0; at < 4; at++)
        w.cells[at].slices_count = 0;
    finish(&w);
    assert_prints(&w, print_fragmentation, "the readings behind each slice.\n");
    clear(&w);
}

static void a_definition_that_nobody_has_is_left_out(void **state)
{
    static world w;
    (void)state;
    begin(&w);
    model_cell *cell = add_cell(&w, 0, 0);
    finish(&w);
    assert_prints_nothing(&w, print_fragmentation);
    clear(&w);
    add_metric(cell, "heap_blowup", "ratio", 1.5);
    finish(&w);
    char *text = print(&w, print_fragmentation);
    assert_has(text, "| target | heap blowup |\n");
    assert_lacks(text, "internal");
    assert_lacks(text, "JW");
    assert_lacks(text, "header");
    free(text);
    clear(&w);
}

/* ---- all of it ------------------------------------------------------------------------------- */

/* The file beside this one. free() it. */
static char *read_golden(const char *name)
{
    const char *slash = strrchr(__FILE__, '/');
    char *path = xasprintf("%.*s/../data/report/%s", slash != NULL ? (int)(slash - __FILE__) : 0,
                           __FILE__, name);
    char *text = util_read_file(path, 1 << 16, NULL);
    if (text == NULL)
        fail_msg("%s cannot be read", path);
    free(path);
    return text;
}

/* Two rounds of three targets; what target 1 has, the second lacks in part. */
static void make_full(world *w)
{
    begin(w);
    for (uint32_t round = 0; round < 2; round++) {
        for (size_t target = 0; target < 3; target++) {
            const double size = 20 + 3 * (double)target + (double)round;
            model_cell *cell = add_cell(w, target, round);
            add_drained(cell, size, size / 2);
            add_metric(cell, "rss_baseline_bytes", "bytes", 2 * MIB);
            add_metric(cell, "rss_peak_bytes", "bytes", size * 2 * MIB);
            add_metric(cell, "lazyfree_drained_bytes", "bytes", target == 1 ? size / 4 * MIB : 0);
            add_after(cell, "1s", 2 + size / 3, "");
            add_after(cell, "2s", 2 + size / 4, "");
            add_after(cell, "4s", 2 + size / 5, "");
            add_after(cell, "8s", 2 + size / 5, "");
            add_metric(cell, "fragmentation_internal_per_live", "ratio", size / 100);
            add_metric(cell, "heap_blowup", "ratio", size / 10);
            add_metric(cell, "fragmentation_average", "ratio", size / 50);
            add_slices(w, cell, 12);
            if (target == 2)
                continue;
            add_metric(cell, "rss_purged_bytes", "bytes", size / 40 * MIB);
            add_metric(cell, "purge_ns", "ns", size * 1000);
            tell(cell);
        }
    }
    finish(w);
}

static void the_tables_are_as_they_were(void **state)
{
    static world w;
    (void)state;
    make_full(&w);
    char *text = print(&w, print_all);
    char *golden = read_golden("after.txt");
    if (strcmp(text, golden) != 0)
        fail_msg("the tables differ from tests/data/report/after.txt:\n%s", text);
    free(golden);
    free(text);
    clear(&w);
}

static void no_line_is_wider_than_a_terminal_or_ends_in_blanks(void **state)
{
    static world w;
    (void)state;
    make_full(&w);
    char *text = print(&w, print_terminal);
    size_t lines = 0;
    for (char *line = strtok(text, "\n"); line != NULL; line = strtok(NULL, "\n"), lines++) {
        assert_true(format_width(line) <= 100);
        assert_true(line[strlen(line) - 1] != ' ');
    }
    assert_true(lines > 5);
    free(text);
    clear(&w);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_run_that_did_not_wait_has_its_table_in_the_report_only),
        cmocka_unit_test(nothing_is_said_of_work_that_never_drained),
        cmocka_unit_test(readings_stand_by_time_less_the_baseline),
        cmocka_unit_test(names_that_are_no_time_make_no_column),
        cmocka_unit_test(more_times_than_columns_do_no_harm),
        cmocka_unit_test(a_harness_tells_by_its_metrics),
        cmocka_unit_test(medians_are_over_good_rounds_and_have_their_spread),
        cmocka_unit_test(seconds_that_are_equal_for_all_become_one_column),
        cmocka_unit_test(nothing_left_is_equal_to_nothing_left),
        cmocka_unit_test(a_terminal_compares_what_a_purge_leaves_and_names_the_calls),
        cmocka_unit_test(calls_are_no_more_than_text),
        cmocka_unit_test(the_baseline_and_the_harness_stand_beside_it),
        cmocka_unit_test(each_definition_has_its_column_and_formula),
        cmocka_unit_test(the_readings_of_a_cell_are_counted),
        cmocka_unit_test(a_definition_that_nobody_has_is_left_out),
        cmocka_unit_test(the_tables_are_as_they_were),
        cmocka_unit_test(no_line_is_wider_than_a_terminal_or_ends_in_blanks),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
