/* What the verdicts look like: on a terminal, in REPORT.md and in summary.tsv. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "../data/report/has_text.h"
#include "../data/report/judged.h"

#include "tool/report/data.h"
#include "tool/report/format.h"
#include "tool/report/markdown.h"
#include "tool/report/notes.h"
#include "tool/report/report.h"
#include "tool/report/view.h"

#define TIME "time_ns_per_operation"
#define RSS  "rss_bytes"

static const double even[JUDGED_TARGETS + 1] = {1, 1, 1, 1, 1, 1, 1, 1, 1};

static void begin(judged *j, size_t workloads, size_t targets, uint32_t rounds)
{
    judged_begin(j, workloads, targets, rounds);
    j->m.command_line = judged_text("allocbench run mixed");
    j->m.directory = judged_text("here");
    j->m.tool_version = judged_text("0");
    j->m.unix_s = judged_text("0");
    for (size_t i = 0; i < targets; i++)
        j->targets[i].version = j->targets[i].build_id = j->targets[i].library =
            j->targets[i].settings = j->targets[i].spec = judged_text("");
}

typedef void (*printer)(const judged *j, FILE *out);

static void print_table(const judged *j, FILE *out)
{
    report_table(&j->m, out, false);
}

static void print_color(const judged *j, FILE *out)
{
    report_table(&j->m, out, true);
}

static void print_markdown(const judged *j, FILE *out)
{
    char *charts[JUDGED_WORKLOADS] = {NULL};
    markdown_report(j->v, charts, out);
}

static void print_summary(const judged *j, FILE *out)
{
    data_summary(j->v, out);
}

/* free() it */
/* noinline: gcc 12 takes the text for dangling where it is inlined. */
__attribute__((noinline)) static char *print(const judged *j, printer from)
{
    char *text;
    size_t size;
    FILE *out = open_memstream(&text, &size);
    assert_non_null(out);
    from(j, out);
    fclose(out);
    return text;
}

static void assert_prints(const judged *j, printer from, const char *part)
{
    char *text = print(j, from);
    assert_has(text, part);
    free(text);
}

/* The file beside this one. */
static char *read_golden(const char *name)
{
    static char buffer[1 << 16];
    char path[4096];
    const char *slash = strrchr(__FILE__, '/');
    const int length = slash != NULL ? (int)(slash - __FILE__) : 0;
    snprintf(path, sizeof path, "%.*s/../data/report/%s", length, __FILE__, name);
    FILE *in = fopen(path, "r");
    if (in == NULL)
        fail_msg("%s cannot be read", path);
    buffer[fread(buffer, 1, sizeof buffer - 1, in)] = '\0';
    fclose(in);
    return buffer;
}

/* Two that tie on memory, one that wins on speed and pays for it. */
static void begin_tie(judged *j)
{
    begin(j, 1, 4, 10);
    judged_fill(j, 0, TIME, "ns", (double[]){1, 1, 0.8, 0.26, 1});
    judged_fill(j, 0, RSS, "bytes", (double[]){1, 1, 0.75, 1.24, 0.75});
    judged_finish(j);
}

static void begin_refused(judged *j)
{
    begin(j, 1, 3, 12);
    judged_fill(j, 0, TIME, "ns", (double[]){1, 1.031, 0.8, 0.5});
    judged_fill(j, 0, RSS, "bytes", (double[]){1, 1, 0.7, 0.8});
    judged_finish(j);
}

/* ---- the terminal ---------------------------------------------------------------------------- */

/* Values, intervals, marks and ranks line up; where A/A separates there are values only. */
static void the_tables_are_as_they_were(void **state)
{
    judged j;
    (void)state;
    begin_tie(&j);
    char *tie = print(&j, print_table);
    judged_end(&j);
    begin_refused(&j);
    char *refused = print(&j, print_table);
    judged_end(&j);
    char *text = NULL;
    assert_true(asprintf(&text, "%s\n%s", tie, refused) > 0);
    if (strcmp(text, read_golden("verdicts.txt")) != 0)
        fail_msg("the tables differ from tests/data/report/verdicts.txt:\n%s\n%s", tie, refused);
    free(text);
    free(refused);
    free(tie);
}

static void a_refused_metric_shows_values_and_no_ratios(void **state)
{
    judged j;
    (void)state;
    begin_refused(&j);
    char *text = print(&j, print_table);
    const char *row = strstr(text, "\njemalloc ");
    assert_non_null(row);
    assert_int_equal(strncmp(row, "\njemalloc       0.80                          700 x0.7", 48),
                     0);
    free(text);
    assert_prints(
        &j, print_table,
        "\ntime: A/A separates (glibc differs from itself by 3.1 %): not ranked; see what "
        "allocbench doctor\n  finds, then measure again\n");
    assert_prints(&j, print_table, "so nothing is ranked by speed.");
    assert_prints(&j, print_table, "\n  allocbench doctor\n");
    judged_end(&j);
}

static void too_few_rounds_show_a_ratio_and_no_interval(void **state)
{
    judged j;
    (void)state;
    begin(&j, 1, 3, 3);
    judged_fill_noisy(&j, 0, TIME, "ns", ABENCH_DIRECTION_LOWER, (double[]){1, 1, 0.8, 0.5}, 0.05);
    judged_finish(&j);
    char *text = print(&j, print_table);
    assert_has(text, "±");
    assert_has(text, "verdict: Not enough rounds for speed: 7 needed for a verdict (3 here): use "
                     "--rounds 7.");
    assert_has(text, "\n  allocbench run mixed --rounds 7 -o here\n");
    const char *row = strstr(text, "\njemalloc ");
    assert_non_null(row);
    char *line = strndup(row + 1, strcspn(row + 1, "\n"));
    assert_has(line, " x0.");
    assert_lacks(line, "[");
    assert_lacks(line, "+");
    assert_lacks(text, "rank:");
    assert_lacks(text, "~");
    free(line);
    free(text);
    judged_end(&j);
}

static void lines_fit_a_terminal(void **state)
{
    judged j;
    (void)state;
    begin(&j, 1, 8, 12);
    j.targets[3].name = judged_text("a-name-that-goes-on-and-on-and-on-beyond-all-measure");
    judged_fill(&j, 0, TIME, "ns", (double[]){1, 1, .8, .5, .4, 1.2, 1, 1, 3});
    judged_fill(&j, 0, RSS, "bytes", (double[]){1, 1, .8, .5, 40, 1.2, 1, 1, 3});
    judged_fill(&j, 0, "rss_peak_bytes", "bytes", even);
    judged_fill(&j, 0, "rss_drained_bytes", "bytes", even);
    judged_fill(&j, 0, "malloc_touch_p99_ns", "ns", even);
    judged_fill(&j, 0, "request_p99_ns", "ns", even);
    judged_finish(&j);
    char *text = print(&j, print_table);
    assert_has(text, "request p99");
    assert_has(text, "malloc+touch p99");
    for (char *line = strtok(text, "\n"); line != NULL; line = strtok(NULL, "\n")) {
        if (format_width(line) > 100)
            fail_msg("wider than a terminal: %s", line);
        assert_true(line[strlen(line) - 1] != ' ');
    }
    free(text);
    judged_end(&j);
}

/* Others have ranks too, but no room. */
static void ranks_are_of_the_main_metrics(void **state)
{
    judged j;
    (void)state;
    begin(&j, 1, 2, 10);
    judged_fill(&j, 0, RSS, "bytes", (double[]){1, 1, 0.8});
    judged_fill(&j, 0, "rss_peak_bytes", "bytes", (double[]){1, 1, 0.8});
    judged_finish(&j);
    view *v = view_make(j.v, 0);
    assert_int_equal(v->columns_count, 2);
    assert_string_equal(v->columns[0].metric, RSS);
    assert_string_equal(view_at(v, 2, 0).rank, "1");
    assert_true(v->columns[1].judged->items[0].has_rank);
    assert_string_equal(view_at(v, 2, 1).rank, "");
    assert_string_equal(view_at(v, 2, 1).mark, "+");
    view_free(v);
    judged_end(&j);
}

static void colour_says_what_the_mark_says(void **state)
{
    judged j;
    (void)state;
    begin_tie(&j);
    assert_prints(&j, print_color, "\033[32mx0.260 [0.259 0.261]\033[0m \033[32m+\033[0m");
    assert_prints(&j, print_color, "\033[31mx1.240 [1.237 1.243]\033[0m \033[31m-\033[0m");
    assert_prints(&j, print_color, " x1.000 [0.999 1.002] =");
    judged_end(&j);
}

/* A harness names its metrics as it likes. */
static void metrics_of_a_harness_have_columns(void **state)
{
    judged j;
    (void)state;
    begin(&j, 1, 2, 10);
    j.workloads[0].is_command = true;
    for (size_t i = 0; i < j.m.cells_count; i++)
        j.m.cells[i].is_harness = true;
    judged_fill(&j, 0, "wall_ns", "ns", even);
    judged_fill(&j, 0, "frames\x1b[2J_missed", "frames", (double[]){1, 1, 2});
    judged_finish(&j);
    char *text = print(&j, print_table);
    assert_has(text, "frames\\x1b[2J_missed");
    assert_has(text, "x2.000 [1.99");
    assert_lacks(text, "\x1b");
    free(text);
    judged_end(&j);
}

static void what_is_not_steady_is_told_with_its_slope(void **state)
{
    judged j;
    (void)state;
    begin_tie(&j);
    verdict *item = &j.v->metrics[0].items[1];
    item->has_drift = true;
    item->drift = 0.93;
    j.v->metrics[0].base.has_drift = true;
    j.v->metrics[0].base.drift = 1.05;
    note_list list = notes_verdicts(j.v, 0);
    assert_int_equal(list.count, 1);
    assert_string_equal(list.items[0].text,
                        "not steady in time, from the first half of a run to its second: "
                        "glibc (+5 %) and tcmalloc (-7 %); longer runs may read otherwise");
    notes_free(&list);
    judged_end(&j);
}

/* ---- REPORT.md ------------------------------------------------------------------------------- */

static void the_report_begins_with_the_verdict(void **state)
{
    judged j;
    (void)state;
    begin_tie(&j);
    char *text = print(&j, print_markdown);
    const char *verdict_at = strstr(text, "\n## Verdict\n\ntcmalloc wins on speed: x0.260 ");
    const char *table_at = strstr(text, "\n| target | time, us/op | RSS, KiB |\n");
    assert_non_null(verdict_at);
    assert_non_null(table_at);
    assert_true(verdict_at < table_at);
    assert_has(text, "| tcmalloc | 0.26 **x0.260 [0.259 0.261]** better, rank 1 | 1.21 "
                     "**x1.240 [1.237 1.243]** worse, rank 4 |\n");
    assert_has(text, "| glibc (base) | 1.00 rank 3-4 | 0.98 rank 3 |\n");
    assert_has(text, "\nRanks by time: 1 tcmalloc; 2 jemalloc; 3-4 glibc, mimalloc (a tie).\n");
    assert_has(text, "\nRanks by RSS: 1-2 jemalloc, mimalloc (a tie); 3 glibc; 4 tcmalloc.\n");
    assert_has(text, "| time | lower | x1.000 [0.999 1.001] | 1 % | 10 | 7 |  |\n");
    assert_has(text, "jemalloc and mimalloc tie on memory");
    assert_lacks(text, "There is no interval yet");
    assert_has(text, "\n## Next\n\nAll is told");
    assert_has(text, "```\nallocbench compare here NEW-DIRECTORY\n```");
    free(text);
    judged_end(&j);
}

static void the_report_refuses_to_rank(void **state)
{
    judged j;
    (void)state;
    begin_refused(&j);
    char *text = print(&j, print_markdown);
    assert_has(text, "so nothing is ranked by speed.");
    assert_has(text, "| 1.03 ±0.3% x1.031 [1.030 1.032] A/A separates | ");
    assert_has(text, "| time | lower | x1.031 [1.030 1.032] | 3.2 % | 12 | 7 | refused: A/A "
                     "separates |\n");
    assert_has(text, "\nBeware:\n\n- time: A/A separates (glibc differs from itself by 3.1 %)");
    assert_lacks(text, "Ranks by time");
    assert_has(text, "Ranks by RSS: 1 jemalloc; 2 tcmalloc; 3 glibc.");
    assert_lacks(text, "0.80 ±0.4% x");
    free(text);
    judged_end(&j);
}

static void many_workloads_have_a_line_each(void **state)
{
    judged j;
    (void)state;
    begin(&j, 2, 2, 10);
    j.workloads[1].label = judged_text("a|b*<i>");
    j.targets[1].name = judged_text("<script>|*");
    for (size_t i = 0; i < 2; i++)
        judged_fill(&j, i, TIME, "ns", (double[]){1, 1, i == 0 ? 0.5 : 1});
    judged_finish(&j);
    char *text = print(&j, print_markdown);
    assert_has(text, "\n## Verdict\n\nSpeed: &lt;script&gt;\\|\\* wins on 1 of 2 workloads; ");
    assert_has(text, "\n- *mixed*: &lt;script&gt;\\|\\* wins on speed: ");
    assert_has(text, "\n- *a\\|b\\*&lt;i&gt;*: No difference above 1 % in speed.");
    assert_lacks(text, "<script>");
    free(text);
    judged_end(&j);
}

/* ---- summary.tsv ----------------------------------------------------------------------------- */

/* The field of a row; free() it. */
static char *field_of(const char *table, const char *target, const char *metric, const char *name)
{
    char *key, *found = NULL;
    size_t column = 0;
    for (const char *at = table;
         strncmp(at, name, strlen(name)) != 0 || strchr("\t\n", at[strlen(name)]) == NULL;
         column++) {
        at += strcspn(at, "\t\n");
        assert_int_equal(*at, '\t');
        at++;
    }
    if (asprintf(&key, "\nmixed\t%s\t%s\t", target, metric) < 0)
        fail();
    const char *row = strstr(table, key);
    assert_non_null(row);
    row++;
    for (; column > 0; column--)
        row += strcspn(row, "\t") + 1;
    found = strndup(row, strcspn(row, "\t\n"));
    free(key);
    return found;
}

static void assert_field(const judged *j, const char *target, const char *metric, const char *name,
                         const char *wanted)
{
    char *table = print(j, print_summary);
    char *found = field_of(table, target, metric, name);
    assert_string_equal(found, wanted);
    free(found);
    free(table);
}

static void assert_near(const judged *j, const char *target, const char *metric, const char *name,
                        double wanted)
{
    char *table = print(j, print_summary);
    char *found = field_of(table, target, metric, name);
    assert_true(*found != '\0');
    assert_float_equal(strtod(found, NULL), wanted, 0.004);
    free(found);
    free(table);
}

static void the_summary_file_has_the_verdicts(void **state)
{
    judged j;
    (void)state;
    begin_tie(&j);
    assert_near(&j, "tcmalloc", TIME, "ratio", 0.26);
    assert_near(&j, "tcmalloc", TIME, "ratio_low", 0.26);
    assert_near(&j, "tcmalloc", TIME, "ratio_high", 0.26);
    assert_field(&j, "tcmalloc", TIME, "verdict", "better");
    assert_field(&j, "tcmalloc", RSS, "verdict", "worse");
    assert_field(&j, "mimalloc", TIME, "verdict", "same");
    assert_field(&j, "mimalloc", TIME, "threshold", "0.01");
    assert_field(&j, "mimalloc", TIME, "rounds", "10");
    assert_field(&j, "mimalloc", TIME, "rounds_needed", "");
    assert_field(&j, "mimalloc", TIME, "rank_low", "3");
    assert_field(&j, "mimalloc", TIME, "rank_high", "4");
    assert_field(&j, "tcmalloc", TIME, "cliff", "-1");
    assert_field(&j, "tcmalloc", TIME, "drift", "");
    assert_near(&j, "tcmalloc", TIME, "aa_ratio", 1);
    assert_near(&j, "tcmalloc", TIME, "aa_low", 1);
    assert_near(&j, "tcmalloc", TIME, "aa_high", 1);
    assert_field(&j, "tcmalloc", TIME, "refused", "0");
    assert_field(&j, "glibc", TIME, "rank_low", "3");
    assert_field(&j, "glibc", TIME, "verdict", "");
    assert_field(&j, "glibc", TIME, "ratio", "");
    j.v->metrics[0].items[1].has_drift = true;
    j.v->metrics[0].items[1].drift = 1.25;
    assert_field(&j, "tcmalloc", TIME, "drift", "1.25");
    judged_end(&j);
    begin_refused(&j);
    assert_field(&j, "jemalloc", TIME, "verdict", "refused");
    assert_field(&j, "jemalloc", TIME, "rank_low", "");
    assert_field(&j, "jemalloc", TIME, "refused", "1");
    assert_field(&j, "jemalloc", RSS, "refused", "0");
    judged_end(&j);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_tables_are_as_they_were),
        cmocka_unit_test(a_refused_metric_shows_values_and_no_ratios),
        cmocka_unit_test(too_few_rounds_show_a_ratio_and_no_interval),
        cmocka_unit_test(lines_fit_a_terminal),
        cmocka_unit_test(ranks_are_of_the_main_metrics),
        cmocka_unit_test(colour_says_what_the_mark_says),
        cmocka_unit_test(metrics_of_a_harness_have_columns),
        cmocka_unit_test(what_is_not_steady_is_told_with_its_slope),
        cmocka_unit_test(the_report_begins_with_the_verdict),
        cmocka_unit_test(the_report_refuses_to_rank),
        cmocka_unit_test(many_workloads_have_a_line_each),
        cmocka_unit_test(the_summary_file_has_the_verdicts),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
