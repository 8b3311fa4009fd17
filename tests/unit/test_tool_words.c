/* What a report says in words: legends, notes, the head, the help. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <unistd.h>

#include "../data/report/fake_result.h"
#include "../data/report/has_text.h"

#include "tool/commands.h"
#include "tool/model.h"
#include "tool/report/format.h"
#include "tool/report/markdown.h"
#include "tool/report/report.h"
#include "tool/report/summary.h"

/* Tables for machines are opened in terminals and spreadsheets too. */
static void tables_of_values_hold_no_controls(void **state)
{
    char *text;
    size_t size;
    FILE *out = open_memstream(&text, &size);

    (void)state;
    assert_non_null(out);
    format_tsv(out, "a\tb\\\x1b\xc2\x9b\xe2\x80\xae\xff\xc3\xa9");
    fclose(out);
    assert_string_equal(text, "a\\tb\\\\\\x1b\\u009b\\u202e\\xff\xc3\xa9");
    free(text);
}

static void print_table(const world *w, FILE *out)
{
    report_table(w->m, out, false);
}

static void print_markdown(const world *w, FILE *out)
{
    char *charts[] = {NULL, NULL};
    markdown_report(w->judged, charts, out);
}

static size_t count_of(const char *text, const char *part)
{
    size_t count = 0;
    for (const char *at = text; (at = strstr(at, part)) != NULL; at++)
        count++;
    return count;
}

/* Where the run waited, time is not what was missing. */
static void the_legend_points_at_the_seconds_where_there_are_some(void **state)
{
    (void)state;
    world w = open_world(&fake_plain);
    model_after after = {.name = (char[]){"1s"}};
    model_cell *cell = &w.m->cells[0];
    free(cell->afters); /* empty, but there */
    cell->afters = &after;
    cell->afters_count = 1;
    char *text = print(&w, print_table);
    assert_has(text, "drained: read at once when everything was freed; the table of what comes ");
    assert_lacks(text, "has had no time");
    free(text);
    text = print(&w, print_markdown);
    assert_has(text, "read at once; *What comes back* has the seconds after that.\n- Peaks: ");
    assert_lacks(text, "has had no time");
    free(text);
    cell->failed = true;
    text = print(&w, print_table);
    assert_has(text, "has had no time");
    free(text);
    cell->afters = NULL;
    cell->afters_count = 0;
    close_world(&w);
}

static void the_head_says_when_it_was_begun_and_the_end_how_rounds_count(void **state)
{
    (void)state;
    world w = open_world(&fake_plain);
    char *text = print(&w, print_markdown);
    assert_has(text, "\nbegun on 2026-11-30 00:53:20 UTC by allocbench 0.1.0: 2 rounds, seed 7,");
    assert_has(text, "(raw.tsv): a line a metric of each cell, as recorded; rounds count from 0\n");
    assert_has(text,
               "(samples.csv): a line a reading of the memory counters; rounds count from 0\n");
    free(text);
    close_world(&w);
}

static model_setting told[] = {{(char[]){"opt.dirty_decay_ms"}, (char[]){"10000"}},
                               {(char[]){"opt.background_thread"}, (char[]){"false"}}};

static void who_decays_only_when_it_is_called_is_told(void **state)
{
    (void)state;
    world w = open_world(&fake_plain);
    model_after after = {.name = (char[]){"2s"}};
    const char *note = "gives back by its decay only when it is called";
    for (size_t i = 0; i < w.m->cells_count; i++) {
        model_cell *cell = &w.m->cells[i];
        if (cell->workload != 0 || (cell->target != 1 && cell->target != 2) || cell->failed)
            continue;
        free(cell->settings); /* empty, but there */
        free(cell->afters);
        cell->afters = NULL;
        cell->settings = told;
        cell->settings_count = 2;
    }
    char *text = print(&w, print_markdown);
    assert_lacks(text, note); /* nobody waited */
    free(text);
    for (size_t i = 0; i < w.m->cells_count; i++) {
        if (w.m->cells[i].settings_count == 0)
            continue;
        w.m->cells[i].afters = &after;
        w.m->cells[i].afters_count = 1;
    }
    text = print(&w, print_markdown);
    assert_has(text, note);
    assert_has(text, "all of it not before 10 s (opt.dirty_decay_ms)");
    assert_has(text, "nobody calls it (jemalloc, tcmalloc)\n");
    assert_int_equal(count_of(text, note), 1);
    free(text);
    const char *other[][2] = {
        {"-1", "false"}, {"0", "false"}, {"10000", "true"}, {"", "false"}, {"10s", "false"}};
    for (size_t i = 0; i < sizeof other / sizeof *other; i++) {
        told[0].value = (char *)(uintptr_t)other[i][0];
        told[1].value = (char *)(uintptr_t)other[i][1];
        text = print(&w, print_markdown);
        assert_lacks(text, note);
        free(text);
    }
    for (size_t i = 0; i < w.m->cells_count; i++) {
        if (w.m->cells[i].settings_count == 0)
            continue;
        w.m->cells[i].settings = NULL;
        w.m->cells[i].afters = NULL;
        w.m->cells[i].settings_count = w.m->cells[i].afters_count = 0;
    }
    close_world(&w);
}

/* What cmd_report prints; in a buffer that the next call takes. */
static const char *ask_report(const char *argument)
{
    static char text[4096];
    char *argv[] = {(char[]){"report"}, (char *)(uintptr_t)argument, NULL};
    FILE *to = tmpfile();
    fflush(stdout);
    int kept = dup(STDOUT_FILENO);
    assert_non_null(to);
    assert_true(kept >= 0 && dup2(fileno(to), STDOUT_FILENO) >= 0);
    int status = cmd_report(2, argv);
    fflush(stdout);
    dup2(kept, STDOUT_FILENO);
    close(kept);
    rewind(to);
    text[fread(text, 1, sizeof text - 1, to)] = '\0';
    fclose(to);
    assert_int_equal(status, EXIT_OK);
    return text;
}

static void help_names_the_files(void **state)
{
    (void)state;
    const char *names[] = {"REPORT.md",   "summary.tsv", "raw.tsv",
                           "samples.csv", "rss-*.svg",   "hgrm/"};
    const char *text = ask_report("--help");
    assert_has(text, "usage: allocbench report [options] DIR\n\nPrints ");
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        assert_has(text, names[i]);
    assert_has(text, "\nExit status: ");
    for (const char *line = text; *line != '\0'; line += strcspn(line, "\n") + 1)
        assert_true(strcspn(line, "\n") <= 100);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(tables_of_values_hold_no_controls),
        cmocka_unit_test(the_legend_points_at_the_seconds_where_there_are_some),
        cmocka_unit_test(the_head_says_when_it_was_begun_and_the_end_how_rounds_count),
        cmocka_unit_test(who_decays_only_when_it_is_called_is_told),
        cmocka_unit_test(help_names_the_files),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
