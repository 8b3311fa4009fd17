/* model_load: a whole result directory, and directories that are hostile. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "../data/report/fake_result.h"

#include "tool/model.h"
#include "tool/records.h"
#include "tool/report/chart.h"
#include "tool/report/data.h"
#include "tool/report/markdown.h"
#include "tool/report/report.h"
#include "tool/report/summary.h"

static char message[1024];

static model *load(const fake *f)
{
    return model_load(f->path, message, sizeof message);
}

static void assert_refused(const fake *f, const char *why)
{
    model *m = load(f);
    assert_null(m);
    if (strstr(message, why) == NULL)
        fail_msg("\"%s\" does not say \"%s\"", message, why);
}

/* The directory loads, cell 0 of w00 has failed, and its reason says why. */
static void assert_cell_failed(const fake *f, const char *why)
{
    model *m = load(f);
    assert_non_null(m);
    assert_true(m->cells[0].failed);
    if (strstr(m->cells[0].reason, why) == NULL)
        fail_msg("\"%s\" does not say \"%s\"", m->cells[0].reason, why);
    assert_int_equal(m->cells[0].metrics_count, 0);
    assert_int_equal(m->cells[0].readings_count, 0);
    assert_false(m->cells[1].failed);
    model_free(m);
}

static const char cell0[] = "cells/w00.r000.t01.jsonl";

/* ---- whole directories ----------------------------------------------------------------------- */

static void a_whole_directory_loads(void **state)
{
    model *m = load(*state);
    assert_non_null(m);
    assert_int_equal(m->seed, 7);
    assert_int_equal(m->rounds, 2);
    assert_int_equal(m->baseline, 0);
    assert_int_equal(m->targets_count, 4);
    assert_string_equal(m->targets[1].settings, "MALLOC_ARENA_MAX=2");
    assert_null(m->targets[1].missing);
    assert_string_equal(m->targets[3].missing, "install libmimalloc3");
    assert_int_equal(m->workloads_count, 2);
    assert_true(m->workloads[1].is_command);
    assert_int_equal(m->host.cpus_online, 2);
    assert_string_equal(m->notes[0], "LD_PRELOAD was cleared");
    assert_int_equal(m->cells_count, 12);
    assert_int_equal(m->dead_count, 0);
    model_free(m);
}

static void a_cell_has_what_its_file_says(void **state)
{
    model *m = load(*state);
    assert_non_null(m);
    const model_cell *cell = &m->cells[0];
    assert_false(cell->failed);
    assert_string_equal(cell->file, cell0);
    assert_string_equal(cell->plan_digest, "00000000000000aa");
    assert_string_equal(cell->work_digest, "00000000000000bb");
    assert_string_equal(cell->identity.build_id, "abcd");
    assert_int_equal(cell->lanes, 1);
    assert_int_equal(cell->slices_count, 6);
    assert_int_equal(cell->slices[2].cpu_ns, 40000);
    assert_int_equal(cell->phases_count, 4);
    assert_true(cell->phases[2].timed);
    assert_int_equal(cell->phases[2].live_bytes, 12 * FAKE_MIB);
    assert_false(cell->phases[2].has_usable);
    assert_int_equal(cell->readings_count, 41);
    assert_int_equal(cell->readings[40].time_ns, 2000000000);
    assert_int_equal(cell->readings[40].memory.minor_faults, 40);
    assert_int_equal(cell->readings[40].memory.valid,
                     ABENCH_MEMORY_RSS | ABENCH_MEMORY_MINOR_FAULTS);
    const model_metric *rss = model_cell_metric(cell, "rss_bytes");
    assert_non_null(rss);
    assert_int_equal(rss->direction, ABENCH_DIRECTION_LOWER);
    assert_true(rss->value > 20.0 * FAKE_MIB - 1 && rss->value < 20.0 * FAKE_MIB + 1);
    assert_null(model_cell_metric(cell, "no_such_metric"));
    model_free(m);
}

static void cells_are_sorted_and_the_floor_is_last_in_its_round(void **state)
{
    model *m = load(*state);
    assert_non_null(m);
    assert_false(m->cells[0].again);
    assert_true(m->cells[1].again);
    assert_int_equal(m->cells[1].target, 0);
    assert_int_equal(m->cells[4].target, MODEL_FLOOR);
    assert_int_equal(m->cells[4].round, 0);
    assert_int_equal(m->cells[5].round, 1);
    assert_int_equal(m->cells[10].workload, 1);
    model_free(m);
}

static void a_failed_cell_keeps_its_reason(void **state)
{
    model *m = load(*state);
    assert_non_null(m);
    assert_true(m->cells[8].failed);
    assert_int_equal(m->cells[8].target, 2);
    assert_string_equal(m->cells[8].reason, "killed by signal 11 (Segmentation fault)");
    model_free(m);
}

static void cells_of_a_round_that_is_not_finished_do_not_count(void **state)
{
    const fake *f = *state;
    char from[128];
    char to[128];
    snprintf(from, sizeof from, "%s/rounds/w00.r001.json", f->path);
    snprintf(to, sizeof to, "%s/rounds/w00.r001.json.part", f->path);
    assert_int_equal(rename(from, to), 0);
    model *m = load(f);
    assert_non_null(m);
    assert_int_equal(m->cells_count, 7);
    model_free(m);
}

static void a_directory_without_rounds_is_empty(void **state)
{
    const fake *f = *state;
    char from[128];
    char to[128];
    snprintf(from, sizeof from, "%s/rounds", f->path);
    snprintf(to, sizeof to, "%s/elsewhere", f->path);
    assert_int_equal(rename(from, to), 0);
    model *m = load(f);
    assert_non_null(m);
    assert_int_equal(m->cells_count, 0);
    model_free(m);
}

static void runs_that_died_are_listed(void **state)
{
    fake_write(*state, "cells/w00.r002.t01.jsonl.part", "{", 1);
    model *m = load(*state);
    assert_non_null(m);
    assert_int_equal(m->dead_count, 1);
    assert_string_equal(m->dead[0], "cells/w00.r002.t01.jsonl.part");
    model_free(m);
}

/* ---- cells that are not whole ---------------------------------------------------------------- */

static void a_cell_without_its_end_record_failed(void **state)
{
    fake_edit(*state, cell0, "\"record\":\"end\"", "\"record\":\"unknown kind\"");
    assert_cell_failed(*state, "cells/w00.r000.t01.jsonl:61:1: has no end record");
}

static void a_cell_that_ends_inside_a_record_failed(void **state)
{
    size_t size;
    char *text = fake_read(*state, cell0, &size);
    fake_write(*state, cell0, text, size - 1);
    assert_cell_failed(*state, ":60:1: ends inside a record: the run died here");
}

static void a_cell_whose_file_is_gone_failed(void **state)
{
    const fake *f = *state;
    char path[128];
    snprintf(path, sizeof path, "%s/%s", f->path, cell0);
    assert_int_equal(unlink(path), 0);
    assert_cell_failed(f, "cells/w00.r000.t01.jsonl: cannot be read: No such file");
}

static void a_pipe_in_place_of_a_cell_does_not_stop_the_tool(void **state)
{
    const fake *f = *state;
    char path[128];
    snprintf(path, sizeof path, "%s/%s", f->path, cell0);
    assert_int_equal(unlink(path), 0);
    assert_int_equal(mkfifo(path, 0600), 0);
    assert_cell_failed(f, "is not a regular file");
}

static void a_file_or_line_that_is_too_large_is_not_read(void **state)
{
    const fake *f = *state;
    char path[128];
    snprintf(path, sizeof path, "%s/%s", f->path, cell0);
    assert_int_equal(truncate(path, (257 << 20)), 0); /* a hole: takes no room */
    assert_cell_failed(f, "is larger than 256 MiB");
    size_t size = ((size_t)1 << 20) + 2;
    char *line = malloc(size);
    assert_non_null(line);
    memset(line, ' ', size);
    line[size - 1] = '\n';
    fake_write(f, cell0, line, size);
    free(line);
    assert_cell_failed(f, ":1:1: a line longer than 1048576 bytes");
}

static void records_that_lie_fail_their_cell(void **state)
{
    static const struct {
        const char *from;
        const char *to;
        const char *why;
    } lies[] = {
        {"\"index\":3", "\"index\":4", "slice 4 where slice 3 must come"},
        {"\"cpu_ns\":40000", "\"cpu_ns\":-1", ":4:89: cpu_ns: -1 is not from 0"},
        {"\"cpu_ns\":40000", "\"cpu_ns\":9223372036854775808", "cpu_ns: 9.2233720368547758e+18"},
        {"\"cpu_ns\":40000", "\"cpu_ns\":\"40\"", "an integer is needed, this is a string"},
        {"\"schema\":1", "\"schema\":2", "schema 2; this tool reads 1"},
        {"\"record\":\"manifest\"", "\"record\":\"metric\"", "first record must be the manifest"},
        {"\"record\":\"slice\"", "\"record\":\"end\"", "a record after the end record"},
        {"\"record\":\"slice\"", "\"record\":\"manifest\",\"schema\":1", "a second manifest"},
        {"\"name\":\"rss_bytes\"", "\"name\":\"live_bytes\"", "a second value of metric"},
        {"\"direction\":\"lower\"", "\"direction\":\"up\"", "not \"lower\", \"higher\" or"},
        {"\"direction\":\"lower\",\"value\":1000.0", "\"value\":\"x\"", "a number is needed"},
        {"\"time_ns\":100000000", "\"time_ns\":1", "before the reading above it"},
        {"{\"record\"", "[\"record\"", "cells/w00.r000.t01.jsonl:1:"},
    };
    size_t size;
    char *text = fake_read(*state, cell0, &size);
    char *good = malloc(size);
    assert_non_null(good);
    memcpy(good, text, size);
    for (size_t i = 0; i < sizeof lies / sizeof *lies; i++) {
        fake_write(*state, cell0, good, size);
        fake_edit(*state, cell0, lies[i].from, lies[i].to);
        assert_cell_failed(*state, lies[i].why);
    }
    free(good);
}

static void a_metric_of_null_is_absent(void **state)
{
    fake_edit(*state, cell0, "\"value\":1000.0", "\"value\":null");
    model *m = load(*state);
    assert_non_null(m);
    assert_false(m->cells[0].failed);
    assert_null(model_cell_metric(&m->cells[0], "time_ns_per_operation"));
    model_free(m);
}

/* ---- directories that are refused ------------------------------------------------------------ */

static void a_wrong_matrix_is_refused_with_its_place(void **state)
{
    static const struct {
        const char *from;
        const char *to;
        const char *why;
    } lies[] = {
        {"\"rounds\": 2", "\"rounds\": \"2\"",
         "/matrix.json:7:12: rounds: an integer is needed, this is a string"},
        {"\"rounds\": 2", "\"rounds\": -2", "/matrix.json:7:12: rounds: -2 is not from 0 to"},
        {"\"rounds\": 2", "\"rounds\": 4294967296", "4294967296 is not from 0 to 4294967295"},
        {"\"rounds\": 2,", "", "/matrix.json:1:1: \"rounds\" is missing"},
        {"\"rounds\": 2", "\"rounds\" 2", "/matrix.json:7:11: ':' expected near '2'"},
        {"\"seed\": \"7\"", "\"seed\": \"18446744073709551616\"", "seed: not an unsigned integer"},
        {"\"seed\": \"7\"", "\"seed\": \"-7\"", "seed: not an unsigned integer"},
        {"\"schema\": 1", "\"schema\": 2", "schema 2; this tool reads 1"},
        {"\"baseline\": \"glibc\"", "\"baseline\": \"musl\"", "baseline: none of the targets"},
        {"\"name\": \"jemalloc\"", "\"name\": \"glibc\"",
         "targets[1].name: targets[0] has this name already"},
        {"\"name\": \"jemalloc\"", "\"name\": null", "targets[1].name: a string is needed"},
        {"\"id\": \"w01\"", "\"id\": \"../x\"", "workloads[1].id: an id is"},
        {"\"id\": \"w01\"", "\"id\": \"w00\"", "workloads[0] has this id already"},
        {"\"kind\": \"command\"", "\"kind\": \"song\"", "not \"tape\" or \"command\""},
        {"\"notes\": [", "\"notes\": [5,", "notes: item 0 is no text"},
    };
    size_t size;
    char *text = fake_read(*state, "matrix.json", &size);
    char *good = malloc(size);
    assert_non_null(good);
    memcpy(good, text, size);
    for (size_t i = 0; i < sizeof lies / sizeof *lies; i++) {
        fake_write(*state, "matrix.json", good, size);
        fake_edit(*state, "matrix.json", lies[i].from, lies[i].to);
        assert_refused(*state, lies[i].why);
    }
    free(good);
}

static void a_wrong_round_is_refused_with_its_place(void **state)
{
    static const struct {
        const char *from;
        const char *to;
        const char *why;
    } lies[] = {
        {"cells/w00.r000.t01.jsonl", "../../etc/passwd", "cells[0].file: not of the form cells/"},
        {"cells/w00.r000.t01.jsonl", "cells/../matrix.json", "not of the form cells/NAME"},
        {"cells/w00.r000.t01.jsonl", "cells/..", "not of the form cells/NAME"},
        {"cells/w00.r000.t01.jsonl", "/etc/passwd", "not of the form cells/NAME"},
        {"cells/w00.r000.t01.jsonl", "cells/w00.r001.t01.jsonl",
         "cells[0].file: a cell of this round is called cells/w00.r000...."},
        {"cells/w00.r000.t01.jsonl", "cells/w00.r000.t02.jsonl",
         "another cell of this round has it already"},
        {"\"target\": \"jemalloc\"", "\"target\": \"musl\"", "none of the targets of matrix"},
        {"\"target\": \"jemalloc\"", "\"target\": \"glibc\"", "a second cell of this target"},
        {"\"target\": \"jemalloc\",", "", "/rounds/w00.r000.json:22:3: cells[2]: \"target\" is"},
        {"\"again\": true", "\"again\": true, \"target\": \"glibc\"", "duplicate object key"},
        {"\"workload\": \"w00\"", "\"workload\": \"w09\"", "none of the workloads of matrix"},
        {"\"round\": 0", "\"round\": 1", "this round belongs into rounds/w00.r001.json"},
        {"\"status\": \"ok\"", "\"status\": \"fine\"", "not \"ok\" or \"failed\""},
    };
    size_t size;
    char *text = fake_read(*state, "rounds/w00.r000.json", &size);
    char *good = malloc(size);
    assert_non_null(good);
    memcpy(good, text, size);
    for (size_t i = 0; i < sizeof lies / sizeof *lies; i++) {
        fake_write(*state, "rounds/w00.r000.json", good, size);
        fake_edit(*state, "rounds/w00.r000.json", lies[i].from, lies[i].to);
        assert_refused(*state, lies[i].why);
    }
    free(good);
}

static void a_directory_that_is_not_there_is_refused(void **state)
{
    (void)state;
    assert_null(model_load("/nonexistent/result", message, sizeof message));
    assert_string_equal(message, "/nonexistent/result/matrix.json: cannot be read: No such file "
                                 "or directory");
}

/* ---- damage ---------------------------------------------------------------------------------- */

/* Whatever is there, loading and reporting end, and a refusal says something. */
static bool load_and_report(const fake *f)
{
    message[0] = '\0';
    model *m = load(f);
    if (m == NULL) {
        assert_true(strlen(message) > strlen(f->path));
        return false;
    }
    char *text;
    size_t size;
    FILE *out = open_memstream(&text, &size);
    summary *sums = summary_make(m);
    verdicts *judged = verdicts_make(sums);
    char **charts = calloc(m->workloads_count + 1, sizeof *charts);
    assert_non_null(charts);
    report_table(m, out, true);
    for (size_t i = 0; i < m->workloads_count; i++)
        chart_rss(m, i, out);
    markdown_report(judged, charts, out);
    data_summary(judged, out);
    data_raw(m, out);
    data_samples(m, out);
    free(charts);
    verdicts_free(judged);
    summary_free(sums);
    fclose(out);
    free(text);
    model_free(m);
    return true;
}

static const char *const damaged[] = {"matrix.json", "rounds/w00.r000.json", "rounds/w01.r000.json",
                                      "cells/w00.r000.t01.jsonl", "cells/w00.r001.t02.jsonl"};

static void a_cut_file_is_refused_or_fails_its_cell(void **state)
{
    const fake *f = *state;
    size_t refused = 0;
    for (size_t i = 0; i < sizeof damaged / sizeof *damaged; i++) {
        size_t size;
        char *text = fake_read(f, damaged[i], &size);
        char *good = malloc(size);
        assert_non_null(good);
        memcpy(good, text, size);
        for (size_t length = 0; length < size - 1; length += 1 + size / 40) {
            fake_write(f, damaged[i], good, length);
            refused += !load_and_report(f);
        }
        fake_write(f, damaged[i], good, size);
        free(good);
    }
    assert_true(load_and_report(f));
    assert_true(refused > 90); /* every cut of the first three files */
}

static void flipped_bytes_do_no_harm(void **state)
{
    const fake *f = *state;
    uint32_t random = 12345;
    for (size_t i = 0; i < sizeof damaged / sizeof *damaged; i++) {
        size_t size;
        char *text = fake_read(f, damaged[i], &size);
        char *good = malloc(size);
        char *bad = malloc(size);
        assert_non_null(good);
        assert_non_null(bad);
        memcpy(good, text, size);
        for (int n = 0; n < 60; n++) {
            memcpy(bad, good, size);
            for (int flips = 0; flips < 1 + n % 4; flips++) {
                random = random * 1664525 + 1013904223;
                bad[random % size] = (char)(random >> 24);
            }
            fake_write(f, damaged[i], bad, size);
            load_and_report(f);
        }
        fake_write(f, damaged[i], good, size);
        free(good);
        free(bad);
    }
    assert_true(load_and_report(f));
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, fake_setup, fake_teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(a_whole_directory_loads),
        TEST(a_cell_has_what_its_file_says),
        TEST(cells_are_sorted_and_the_floor_is_last_in_its_round),
        TEST(a_failed_cell_keeps_its_reason),
        TEST(cells_of_a_round_that_is_not_finished_do_not_count),
        TEST(a_directory_without_rounds_is_empty),
        TEST(runs_that_died_are_listed),
        TEST(a_cell_without_its_end_record_failed),
        TEST(a_cell_that_ends_inside_a_record_failed),
        TEST(a_cell_whose_file_is_gone_failed),
        TEST(a_pipe_in_place_of_a_cell_does_not_stop_the_tool),
        TEST(a_file_or_line_that_is_too_large_is_not_read),
        TEST(records_that_lie_fail_their_cell),
        TEST(a_metric_of_null_is_absent),
        TEST(a_wrong_matrix_is_refused_with_its_place),
        TEST(a_wrong_round_is_refused_with_its_place),
        cmocka_unit_test(a_directory_that_is_not_there_is_refused),
        TEST(a_cut_file_is_refused_or_fails_its_cell),
        TEST(flipped_bytes_do_no_harm),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
