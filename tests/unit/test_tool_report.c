/* Every kind of output that is made from a result directory. */
#include <ctype.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "../data/report/fake_result.h"
#include "../data/report/has_text.h"

#include "tool/model.h"
#include "tool/report/chart.h"
#include "tool/report/chart_data.h"
#include "tool/report/data.h"
#include "tool/report/format.h"
#include "tool/report/markdown.h"
#include "tool/report/report.h"
#include "tool/report/summary.h"
#include "tool/util.h"

#define CELLS_OF_A_TAPE 10u /* w00's, which come first */

/* ---- text ------------------------------------------------------------------------------------ */

static void print_table(const world *w, FILE *out)
{
    report_table(w->m, out, false);
}

static void print_color(const world *w, FILE *out)
{
    report_table(w->m, out, true);
}

static void print_markdown(const world *w, FILE *out)
{
    char *charts[] = {NULL, NULL};
    markdown_report(w->judged, charts, out);
}

static void print_raw(const world *w, FILE *out)
{
    data_raw(w->m, out);
}

static void print_summary(const world *w, FILE *out)
{
    data_summary(w->judged, out);
}

static void print_samples(const world *w, FILE *out)
{
    data_samples(w->m, out);
}

static void print_chart(const world *w, FILE *out)
{
    assert_true(chart_rss(w->m, 0, out));
}

/* The file beside this one. */
static char *read_golden(const char *name)
{
    char path[4096];
    const char *slash = strrchr(__FILE__, '/');
    int length = slash != NULL ? (int)(slash - __FILE__) : 0;
    snprintf(path, sizeof path, "%.*s/../data/report/%s", length, __FILE__, name);
    FILE *in = fopen(path, "r");
    if (in == NULL)
        fail_msg("%s cannot be read", path);
    static char buffer[1 << 16];
    size_t size = fread(buffer, 1, sizeof buffer - 1, in);
    buffer[size] = '\0';
    fclose(in);
    return buffer;
}

static void the_table_is_as_it_was(void **state)
{
    (void)state;
    world w = open_world(&fake_plain);
    free(w.m->directory);
    w.m->directory = xstrdup("here");
    char *text = print(&w, print_table);
    const char *golden = read_golden("table.txt");
    if (strcmp(text, golden) != 0)
        fail_msg("the table differs from tests/data/report/table.txt:\n%s", text);
    free(text);
    close_world(&w);
}

static const fake nasty = {
    .names = {"<script>", "a|b\"c\t,\n*x*", "\x1b[31mred\xc2\x9b\xe2\x80\xae"},
    .label = "tape:<b>&\"'`|\n# [X](y)",
    .command = "printf '\ta,b\n'",
    .note = "- <img src=x> `code` _it_\x1b[2J",
    .reason = "crashed\nbadly | <b>",
    .warning = "odd\x07 \"warning\"",
    .lanes = 1,
};

static void no_line_of_the_table_is_wider_than_a_terminal_or_ends_in_blanks(void **state)
{
    (void)state;
    world w = open_world(&fake_plain);
    char *text = print(&w, print_table);
    for (char *line = strtok(text, "\n"); line != NULL; line = strtok(NULL, "\n")) {
        assert_true(format_width(line) <= 100);
        assert_true(line[strlen(line) - 1] != ' ');
    }
    free(text);
    close_world(&w);
}

static void the_table_says_what_is_missing_and_what_failed(void **state)
{
    (void)state;
    fake f = fake_plain;
    f.other_work = true;
    world w = open_world(&f);
    char *text = print(&w, print_table);
    assert_has(text, "n/a");
    assert_has(text, "missing: mimalloc3: install libmimalloc3\n");
    assert_has(text, "failed: tcmalloc, round 2: killed by signal 11 (Segmentation fault)\n");
    assert_has(text, "jemalloc did other work than");
    assert_has(text,
               "note: churn-local:lanes=1: the sampler missed 3 deadlines [2 cells: jemalloc]\n");
    free(text);
    /* One workload alone needs no name. */
    const size_t workloads = w.m->workloads_count, cells = w.m->cells_count;
    w.m->workloads_count = 1;
    while (w.m->cells[w.m->cells_count - 1].workload == 1)
        w.m->cells_count--;
    text = print(&w, print_table);
    assert_has(text, "note: the sampler missed 3 deadlines [2 cells: jemalloc]\n");
    free(text);
    w.m->workloads_count = workloads;
    w.m->cells_count = cells;
    close_world(&w);
}

static void the_legend_says_what_drained_is_and_what_time(void **state)
{
    (void)state;
    world w = open_world(&fake_plain);
    char *text = print(&w, print_table);
    assert_has(text, "drained: read at once when everything was freed; ");
    assert_lacks(text, "time: of several phases");
    free(text);
    w.m->cells[0].phases[1].timed = true; /* fill beside steady */
    text = print(&w, print_table);
    assert_has(text, "time: of several phases the mean of their medians, weighed by their");
    free(text);
    text = print(&w, print_markdown);
    assert_has(text, "read at once; what gives memory back by the clock has had no time");
    free(text);
    close_world(&w);
}

static void the_report_names_the_work(void **state)
{
    (void)state;
    world w = open_world(&fake_plain);
    free(w.m->workloads[0].spec);
    w.m->workloads[0].spec = xstrdup("churn-local:lanes=1,slots=60000");
    char *text = print(&w, print_markdown);
    assert_has(text, "\nPlayed: churn-local:lanes=1,slots=60000\n");
    assert_has(text, "\nWork digest of round 1: 00000000000000bb\n");
    assert_lacks(text, "Work digest of round 2"); /* once */
    free(text);
    close_world(&w);
}

static void names_cannot_steer_the_terminal(void **state)
{
    (void)state;
    world w = open_world(&nasty);
    char *text = print(&w, print_table);
    for (const char *c = text; *c != '\0'; c++)
        assert_true(*c == '\n' || !iscntrl((unsigned char)*c));
    assert_lacks(text, "\xc2\x9b");     /* CSI in one character */
    assert_lacks(text, "\xe2\x80\xae"); /* right-to-left override */
    assert_has(text, "\\x1b[31mred\\u009b\\u202e");
    assert_has(text, "a|b\"c\\t,\\n*x*");
    free(text);
    close_world(&w);
}

static void colour_is_only_used_when_asked(void **state)
{
    (void)state;
    world w = open_world(&fake_plain);
    char *text = print(&w, print_table);
    assert_lacks(text, "\033");
    free(text);
    text = print(&w, print_color);
    assert_has(text, "\033[31mfailed: \033[0mtcmalloc");
    assert_has(text, "\033[1mnext: \033[0m");
    assert_lacks(text, "\033[32m"); /* two rounds prove nothing */
    free(text);
    close_world(&w);
}

static void markdown_shows_names_and_nothing_else(void **state)
{
    (void)state;
    world w = open_world(&nasty);
    char *text = print(&w, print_markdown);
    assert_lacks(text, "<script");
    assert_lacks(text, "<b>");
    assert_lacks(text, "<img");
    assert_has(text, "| &lt;script&gt; (base) |");
    assert_has(text, "| a\\|b\"c , \\*x\\* |");
    assert_has(text, "## tape:&lt;b&gt;&amp;\"'\\`\\| # \\[X\\](y)\n");
    assert_has(text, "- \\- &lt;img src=x&gt; \\`code\\` \\_it\\_");
    assert_has(text, "round 2: crashed badly \\| &lt;b&gt;\n");
    /* Each line of a table has the cells of its heading. */
    size_t bars = 0;
    for (char *line = strtok(text, "\n"); line != NULL; line = strtok(NULL, "\n")) {
        size_t own = 0;
        for (const char *c = line; *c != '\0'; c++)
            own += *c == '|' && (c == line || c[-1] != '\\');
        if (line[0] != '|')
            bars = 0;
        else if (bars == 0)
            bars = own;
        else
            assert_int_equal(own, bars);
    }
    free(text);
    close_world(&w);
}

static void a_fence_cannot_be_closed_from_inside(void **state)
{
    (void)state;
    char *text;
    size_t size;
    FILE *out = open_memstream(&text, &size);
    format_markdown_block(out, "a\n````\nb");
    fclose(out);
    assert_string_equal(text, "`````\na\n````\nb\n`````\n");
    free(text);
}

/* Every line has as many fields as the first. */
static void assert_rectangle(char *text, char separator)
{
    size_t wanted = 0;
    size_t lines = 0;
    for (char *line = strtok(text, "\n"); line != NULL; line = strtok(NULL, "\n"), lines++) {
        size_t fields = 1;
        bool quoted = false;
        for (const char *c = line; *c != '\0'; c++) {
            quoted ^= *c == '"' && separator == ',';
            fields += *c == separator && !quoted;
        }
        wanted = lines == 0 ? fields : wanted;
        assert_int_equal(fields, wanted);
    }
    assert_true(lines > 20);
}

static void tsv_keeps_its_columns_whatever_the_names(void **state)
{
    (void)state;
    world w = open_world(&nasty);
    char *text = print(&w, print_raw);
    assert_has(text, "\ta|b\"c\\t,\\n*x*\t");
    assert_rectangle(text, '\t');
    free(text);
    text = print(&w, print_summary);
    assert_rectangle(text, '\t');
    free(text);
    close_world(&w);
}

static void the_summary_file_has_the_numbers(void **state)
{
    (void)state;
    world w = open_world(&fake_plain);
    char *text = print(&w, print_summary);
    assert_has(text, "\nchurn-local:lanes=1\tjemalloc\trss_bytes\tbytes\tlower\t2\t20552089.6\t"
                     "15728640\t25375539.2\t0.469387755102041\t0.908295106229247\t\t\t"
                     "not enough rounds\t0.01\t2\t7\t\t\t0\t\t1\t\t\t0\n");
    assert_has(text, "\tglibc\trss_bytes\tbytes\tlower\t2\t22020096\t20971520\t23068672\t"
                     "0.0952380952380952\t\t\t\t\t\t\t\t\t\t\t\t1\t\t\t0\n");
    assert_has(text,
               "\t(floor)\ttime_ns_per_operation\tns\tlower\t2\t12.5\t10\t15\t0.4\t0.25\t\t\t\t");
    assert_has(text, "\tjemalloc\tlive_bytes\tbytes\tnone\t2\t12582912\t12582912\t12582912\t0\t1\t"
                     "\t\t\t\t\t\t\t\t\t\t1\t\t\t\n"); /* not judged */
    assert_has(text,
               "\ttcmalloc\trss_bytes\tbytes\tlower\t1\t41943040\t41943040\t41943040\t\t2\t\t\tnot "
               "enough rounds\t0.01\t1\t7\t");
    free(text);
    close_world(&w);
}

static void csv_quotes_and_leaves_absent_fields_empty(void **state)
{
    (void)state;
    fake f = fake_plain;
    f.names[1] = "a\"b,c";
    world w = open_world(&f);
    char *text = print(&w, print_samples);
    assert_has(text, "workload,round,target,again,time_ns,size_bytes,rss_bytes,");
    assert_has(text, "\nchurn-local:lanes=1,0,\"a\"\"b,c\",0,50000000,,3670016,,");
    assert_has(text, "\nchurn-local:lanes=1,1,glibc,1,2000000000,,");
    assert_rectangle(text, ',');
    free(text);
    close_world(&w);
}

static void numbers_read_back_as_themselves(void **state)
{
    (void)state;
    const double values[] = {0.1, 1.0 / 3, 1e300, 18446744073709551616.0, 0, -2.5};
    for (size_t i = 0; i < sizeof values / sizeof *values; i++) {
        char *text;
        size_t size;
        FILE *out = open_memstream(&text, &size);
        format_number(out, values[i]);
        fclose(out);
        assert_true(memcmp(&(double){strtod(text, NULL)}, &values[i], sizeof values[i]) == 0);
        free(text);
    }
}

static void units_fit_the_largest_value(void **state)
{
    (void)state;
    assert_string_equal(format_scale("ns", 999).name, "ns");
    assert_string_equal(format_scale("ns", 2500).name, "us");
    assert_string_equal(format_scale("ns", 3e9).name, "s");
    assert_string_equal(format_scale("bytes", 1023).name, "B");
    assert_string_equal(format_scale("bytes", 1024).name, "KiB");
    assert_string_equal(format_scale("bytes", 5e9).name, "GiB");
    assert_string_equal(format_scale("parsecs", 5e9).name, "parsecs");
    assert_int_equal(format_decimals(123), 0);
    assert_int_equal(format_decimals(99.97), 0); /* it reads 100 */
    assert_int_equal(format_decimals(12.3), 1);
    assert_int_equal(format_decimals(0.12), 2);
}

static void a_text_that_is_cut_keeps_its_characters_whole(void **state)
{
    (void)state;
    char *text = format_terminal("äöüäöüäöü", 6);
    assert_string_equal(text, "äöü...");
    assert_int_equal(format_width(text), 6);
    free(text);
    text = format_terminal("a\xff\xe2\x82", 0);
    assert_string_equal(text, "a\\xff\\xe2\\x82");
    free(text);
}

/* ---- the chart ------------------------------------------------------------------------------- */

/* Elements nest and close, attributes are quoted, entities are XML's own, no bare '<' or '&'. */
static void assert_well_formed(const char *xml)
{
    char names[64][16];
    size_t depth = 0;
    size_t roots = 0;
    for (const char *c = xml; *c != '\0'; c++) {
        assert_true((unsigned char)*c >= 0x20 || *c == '\n');
        if (*c == '&')
            assert_true(strncmp(c, "&lt;", 4) == 0 || strncmp(c, "&gt;", 4) == 0 ||
                        strncmp(c, "&amp;", 5) == 0 || strncmp(c, "&quot;", 6) == 0 ||
                        strncmp(c, "&#39;", 5) == 0);
        if (*c != '<')
            continue;
        const char *begin = ++c;
        bool quoted = false;
        for (; *c != '>' || quoted; c++) {
            assert_true(*c != '\0' && *c != '<');
            quoted ^= *c == '"';
        }
        size_t length = strcspn(begin, " />");
        if (*begin == '/') {
            assert_true(depth > 0);
            depth--;
            assert_true(strncmp(begin + 1, names[depth], strlen(names[depth])) == 0);
            assert_true(begin[1 + strlen(names[depth])] == '>');
        } else if (c[-1] != '/') {
            assert_true(depth < 64 && length > 0 && length < 16);
            roots += depth == 0;
            snprintf(names[depth++], 16, "%.*s", (int)length, begin);
        }
    }
    assert_int_equal(depth, 0);
    assert_int_equal(roots, 1);
}

static void a_chart_is_well_formed_whatever_the_names(void **state)
{
    (void)state;
    const fake *both[] = {&fake_plain, &nasty};
    for (int i = 0; i < 2; i++) {
        world w = open_world(both[i]);
        char *text = print(&w, print_chart);
        assert_well_formed(text);
        assert_lacks(text, "<script");
        assert_has(text, "role=\"img\"");
        assert_has(text, "prefers-color-scheme:dark");
        assert_lacks(text, "xlink");
        free(text);
        close_world(&w);
    }
}

static void a_chart_shows_what_it_should(void **state)
{
    (void)state;
    world w = open_world(&fake_plain);
    char *text = print(&w, print_chart);
    /* Of the two rounds, only the first has all three targets. */
    assert_has(text, "Round 1, above the baseline reading.");
    assert_has(text, ">40 MiB</text>");
    assert_has(text, ">0</text>");
    assert_has(text, ">2.0 s</text>");
    assert_has(text, ">steady</text>");
    assert_has(text, "<tspan class=\"name\">jemalloc</tspan> 1.50 MiB</text>");
    free(text);
    close_world(&w);
}

static void labels_of_a_chart_do_not_overlap(void **state)
{
    (void)state;
    world w = open_world(&fake_plain);
    char *text = print(&w, print_chart);
    double places[3];
    size_t count = 0;
    for (const char *at = text; (at = strstr(at, "\"><tspan class=\"name\">")) != NULL; at++) {
        const char *y = at;
        while (strncmp(y, "y=\"", 3) != 0)
            y--;
        assert_true(count < 3);
        places[count++] = atof(y + 3);
    }
    assert_int_equal(count, 3);
    for (size_t i = 0; i < count; i++) {
        assert_true(places[i] > 60 && places[i] < 380);
        for (size_t j = i + 1; j < count; j++)
            assert_true(fabs(places[i] - places[j]) > 15);
    }
    free(text);
    close_world(&w);
}

static void a_long_line_is_thinned_and_keeps_its_extremes(void **state)
{
    (void)state;
    static double values[50000];
    size_t indices[CHART_POINTS];
    for (size_t i = 0; i < 50000; i++)
        values[i] = (double)(i % 97);
    values[12345] = 1000;
    values[45678] = -1000;
    size_t n = chart_thin(values, 50000, indices);
    assert_true(n <= CHART_POINTS && n > CHART_POINTS / 2);
    bool high = false;
    bool low = false;
    for (size_t i = 0; i < n; i++) {
        assert_true(i == 0 || indices[i] > indices[i - 1]);
        high = high || indices[i] == 12345;
        low = low || indices[i] == 45678;
    }
    assert_true(high && low);
    assert_int_equal(indices[0], 0);
    assert_int_equal(indices[n - 1], 49999);
    assert_int_equal(chart_thin(values, 5, indices), 5);
}

static void a_workload_without_readings_has_no_chart(void **state)
{
    (void)state;
    world w = open_world(&fake_plain);
    assert_false(chart_rss(w.m, 1, stdout));
    close_world(&w);
}

/* Two dots a target tell nothing of what lay between them. */
static void runs_that_were_hardly_read_have_no_chart(void **state)
{
    (void)state;
    world w = open_world(&fake_plain);
    size_t counts[CELLS_OF_A_TAPE];
    for (size_t i = 0; i < CELLS_OF_A_TAPE; i++) {
        counts[i] = w.m->cells[i].readings_count;
        w.m->cells[i].readings_count = counts[i] < 2 ? counts[i] : 2;
    }
    assert_false(chart_rss(w.m, 0, stdout));
    for (size_t i = 0; i < CELLS_OF_A_TAPE; i++)
        w.m->cells[i].readings_count = counts[i];
    close_world(&w);
}

static void a_chart_has_a_name_for_a_file(void **state)
{
    (void)state;
    world w = open_world(&nasty);
    char *name = chart_name(w.m, 0);
    assert_string_equal(name, "rss-w00-tape-b-x-y.svg");
    free(name);
    close_world(&w);
}

/* ---- files ----------------------------------------------------------------------------------- */

static void all_files_are_written(void **state)
{
    (void)state;
    char message[512];
    size_t size;
    world w = open_world(&fake_plain);
    assert_true(report_write_all(w.m, message, sizeof message));
    const char *names[] = {"samples.csv", "raw.tsv", "summary.tsv",
                           "rss-w00-churn-local-lanes-1.svg"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        assert_non_null(fake_read(&w.f, names[i], &size));
    const char *report = fake_read(&w.f, "REPORT.md", &size);
    assert_non_null(report);
    assert_has(report, "](rss-w00-churn-local-lanes-1.svg)");
    assert_has(report, "```\nallocbench run churn-local:lanes=1 --rounds 2\n```");
    assert_has(report, "| glibc | glibc | 2.36 | abcd | the C library | none |");
    assert_has(report, "| jemalloc | glibc | 2.36 | abcd | the C library | MALLOC_ARENA_MAX=2 |");
    assert_has(report, "75 %");
    assert_has(report, "| time | lower | x1.05 | 1 % | 2 | 7 |  |\n");
    close_world(&w);
}

static void a_directory_that_cannot_be_written_is_an_error(void **state)
{
    (void)state;
    char message[512] = "";
    world w = open_world(&fake_plain);
    free(w.m->directory);
    w.m->directory = strdup("/nonexistent/result");
    assert_false(report_write_all(w.m, message, sizeof message));
    assert_has(message, "/nonexistent/result/");
    close_world(&w);
}

static void a_matrix_without_a_round_is_reported_too(void **state)
{
    (void)state;
    char message[512];
    char from[128];
    char to[128];
    fake f = fake_plain;
    fake_make(&f);
    snprintf(from, sizeof from, "%s/rounds", f.path);
    snprintf(to, sizeof to, "%s/elsewhere", f.path);
    assert_int_equal(rename(from, to), 0);
    world w = {.f = f, .m = model_load(f.path, message, sizeof message)};
    assert_non_null(w.m);
    w.s = summary_make(w.m);
    w.judged = verdicts_make(w.s);
    char *text = print(&w, print_table);
    assert_has(text, "churn-local:lanes=1  (tape, 0 of 2 rounds, seed 7)\nno round is finished\n");
    assert_true(report_write_all(w.m, message, sizeof message));
    free(text);
    close_world(&w);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_table_is_as_it_was),
        cmocka_unit_test(no_line_of_the_table_is_wider_than_a_terminal_or_ends_in_blanks),
        cmocka_unit_test(the_table_says_what_is_missing_and_what_failed),
        cmocka_unit_test(the_legend_says_what_drained_is_and_what_time),
        cmocka_unit_test(the_report_names_the_work),
        cmocka_unit_test(names_cannot_steer_the_terminal),
        cmocka_unit_test(colour_is_only_used_when_asked),
        cmocka_unit_test(markdown_shows_names_and_nothing_else),
        cmocka_unit_test(a_fence_cannot_be_closed_from_inside),
        cmocka_unit_test(tsv_keeps_its_columns_whatever_the_names),
        cmocka_unit_test(the_summary_file_has_the_numbers),
        cmocka_unit_test(csv_quotes_and_leaves_absent_fields_empty),
        cmocka_unit_test(numbers_read_back_as_themselves),
        cmocka_unit_test(units_fit_the_largest_value),
        cmocka_unit_test(a_text_that_is_cut_keeps_its_characters_whole),
        cmocka_unit_test(a_chart_is_well_formed_whatever_the_names),
        cmocka_unit_test(a_chart_shows_what_it_should),
        cmocka_unit_test(labels_of_a_chart_do_not_overlap),
        cmocka_unit_test(a_long_line_is_thinned_and_keeps_its_extremes),
        cmocka_unit_test(a_workload_without_readings_has_no_chart),
        cmocka_unit_test(runs_that_were_hardly_read_have_no_chart),
        cmocka_unit_test(a_chart_has_a_name_for_a_file),
        cmocka_unit_test(all_files_are_written),
        cmocka_unit_test(a_directory_that_cannot_be_written_is_an_error),
        cmocka_unit_test(a_matrix_without_a_round_is_reported_too),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
