/* What a cell's allocator and machine said, and the readings behind the last phase: from its
 * records to the report. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "../data/report/fake_result.h"

#include "tool/model.h"
#include "tool/report/markdown.h"
#include "tool/report/report.h"

static const char cell0[] = "cells/w00.r000.t01.jsonl";
static char message[1024];

/* The directory; its first cell is good. */
static model *load(const fake *f)
{
    model *m = model_load(f->path, message, sizeof message);
    if (m == NULL)
        fail_msg("%s", message);
    if (m->cells[0].failed)
        fail_msg("%s", m->cells[0].reason);
    return m;
}

/* The directory loads, its first cell has failed with nothing left of it, and says why. */
static void assert_cell_failed(const fake *f, const char *why)
{
    model *m = model_load(f->path, message, sizeof message);
    assert_non_null(m);
    assert_true(m->cells[0].failed);
    if (strstr(m->cells[0].reason, why) == NULL)
        fail_msg("\"%s\" does not say \"%s\"", m->cells[0].reason, why);
    assert_int_equal(m->cells[0].afters_count, 0);
    assert_int_equal(m->cells[0].settings_count, 0);
    assert_false(m->cells[1].failed);
    model_free(m);
}

#define AFTER                                                                                      \
    "{\"record\":\"after\",\"name\":\"1s\",\"memory\":{\"rss_bytes\":5242880},\"new key\":[]}\n"   \
    "{\"record\":\"after\",\"name\":\"purged\",\"call\":\"malloc_trim(0)\",\"call_ns\":81000,"     \
    "\"memory\":{\"rss_bytes\":3145728},\"account\":{\"arena\":135168,\"fordblks\":0},"            \
    "\"account_ns\":1200}\n"

/* Puts all that is new into the first cell. */
static void put_all(const fake *f)
{
    fake_edit(f, cell0, "\"lanes\":1,",
              "\"lanes\":1,\"sampler\":\"process\",\"settings\":{\"opt.narenas\":\"8\","
              "\"opt.dirty_decay_ms\":\"10000\"},");
    fake_edit(f, cell0, "\"name\":\"drain\",",
              "\"name\":\"drain\",\"account\":{\"stats.resident\":70000,\"stats.active\":0},"
              "\"account_ns\":900,");
    fake_edit(f, cell0, "{\"record\":\"reading\"", AFTER "{\"record\":\"reading\"");
}

static void all_that_a_cell_says_is_read(void **state)
{
    put_all(*state);
    model *m = load(*state);
    const model_cell *cell = &m->cells[0];
    assert_int_equal(cell->settings_count, 2);
    assert_string_equal(cell->settings[0].name, "opt.narenas");
    assert_string_equal(cell->settings[1].value, "10000");
    assert_string_equal(cell->identity.build_id, "abcd");
    const model_account *drained = &cell->phases[3].account;
    assert_int_equal(drained->count, 2);
    assert_string_equal(drained->items[0].name, "stats.resident");
    assert_int_equal(drained->items[0].value, 70000);
    assert_int_equal(drained->cost_ns, 900);
    assert_int_equal(cell->phases[3].memory.valid, ABENCH_MEMORY_RSS);
    assert_int_equal(cell->phases[2].account.count, 0);
    assert_int_equal(cell->afters_count, 2);
    assert_string_equal(cell->afters[0].name, "1s");
    assert_int_equal(cell->afters[0].memory.rss_bytes, 5242880);
    assert_false(cell->afters[0].has_call_ns);
    assert_string_equal(cell->afters[0].call, "");
    assert_string_equal(cell->afters[1].call, "malloc_trim(0)");
    assert_true(cell->afters[1].has_call_ns);
    assert_int_equal(cell->afters[1].call_ns, 81000);
    assert_int_equal(cell->afters[1].account.items[0].value, 135168);
    model_free(m);
}

static void a_cell_of_an_older_library_has_none_of_it(void **state)
{
    model *m = load(*state);
    assert_int_equal(m->cells[0].afters_count, 0);
    assert_int_equal(m->cells[0].settings_count, 0);
    assert_int_equal(m->cells[0].phases[2].account.count, 0);
    model_free(m);
}

/* An allocator that counts below 0 costs its cell nothing. */
static void a_statistic_that_no_count_holds_is_left_out(void **state)
{
    put_all(*state);
    fake_edit(*state, cell0, "\"stats.active\":0", "\"stats.active\":18446744073709551615");
    model *m = load(*state);
    assert_int_equal(m->cells[0].phases[3].account.count, 1);
    assert_int_equal(m->cells[0].phases[3].account.items[0].value, 70000);
    assert_int_equal(m->cells[0].phases[3].account.cost_ns, 900);
    model_free(m);
}

static void records_that_lie_fail_their_cell(void **state)
{
    static const struct {
        const char *from;
        const char *to;
        const char *why;
    } lies[] = {
        {"\"name\":\"purged\"", "\"name\":\"1s\"", "name: a second reading of this name"},
        {"\"after\",\"name\":\"1s\",", "\"after\",", "\"name\" is missing"},
        {"\"name\":\"1s\"", "\"name\":5", "a string is needed, this is an integer"},
        {"\"call_ns\":81000", "\"call_ns\":-1", "call_ns: -1 is not from 0"},
        {"\"call\":\"malloc_trim(0)\"", "\"call\":[]", "a string is needed, this is an array"},
        {"\"arena\":135168", "\"arena\":-135168", "account.arena: -135168 is not from 0"},
        {"\"arena\":135168", "\"arena\":\"x\"", "account.arena: an integer is needed, this is a"},
        {"\"arena\":135168", "\"arena\":null", "account.arena: an integer is needed, this is nu"},
        {"\"arena\":135168", "\"arena\":1e3", "account.arena: an integer is needed, this is a re"},
        {"\"arena\":135168", "\"arena\":1,\"arena\":2", "duplicate object key"},
        {"\"account\":{\"arena\":135168,\"fordblks\":0}", "\"account\":7", "an object is needed"},
        {"\"account_ns\":1200", "\"account_ns\":9223372036854775808", "account_ns: 9.22"},
        {"\"rss_bytes\":3145728", "\"rss_bytes\":-3", "memory.rss_bytes: -3 is not from 0"},
        {"\"opt.narenas\":\"8\"", "\"opt.narenas\":8", "opt.narenas: a string is needed"},
        {"\"settings\":{", "\"settings\":[],\"x\":{", "settings: an object is needed"},
    };
    size_t size = 0;
    put_all(*state);
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

/* Text before and behind count copies of "FORMAT" with their number; free() it. */
static char *many(const char *before, const char *format, int count, const char *behind)
{
    char *text;
    size_t size = 0;
    FILE *out = open_memstream(&text, &size);
    assert_non_null(out);
    fputs(before, out);
    for (int i = 0; i < count; i++) {
        const char *at = strchr(format, '#');
        fprintf(out, "%.*s%d%s", (int)(at - format), format, i, at + 1);
    }
    fputs(behind, out);
    fclose(out);
    return text;
}

static void more_than_any_run_writes_is_refused(void **state)
{
    static char name[131];
    memset(name, 'n', sizeof name - 1);
    const struct {
        const char *from;
        char *to;
        const char *why;
    } floods[] = {
        {"\"arena\":135168", many("", "\"s#\":1,", 63, "\"a\":1"), "account: more than 64 names"},
        {"\"opt.narenas\":\"8\"", many("", "\"s#\":\"\",", 1000, "\"a\":\"\""),
         "settings: more than 1000 names"},
        {"{\"record\":\"after\",\"name\":\"1s\"",
         many("", "{\"record\":\"after\",\"name\":\"x#\"}\n", 64,
              "{\"record\":\"after\",\"name\":\"1s\""),
         "more than 64 afters"},
        {"opt.narenas", many(name, "#", 1, ""), "settings: a name longer than 128 bytes"},
        {"\"name\":\"1s\"", many("\"name\":\"", "#", 1000, "\""), "name: longer than 128 bytes"},
    };
    size_t size = 0;
    put_all(*state);
    char *text = fake_read(*state, cell0, &size);
    char *good = malloc(size);
    assert_non_null(good);
    memcpy(good, text, size);
    for (size_t i = 0; i < sizeof floods / sizeof *floods; i++) {
        fake_write(*state, cell0, good, size);
        fake_edit(*state, cell0, floods[i].from, floods[i].to);
        free(floods[i].to);
        assert_cell_failed(*state, floods[i].why);
    }
    free(good);
}

static void as_much_as_a_run_may_write_is_read(void **state)
{
    put_all(*state);
    char *most = many("", "\"s#\":1,", 62, "\"a\":1");
    fake_edit(*state, cell0, "\"arena\":135168", most);
    free(most);
    model *m = load(*state);
    assert_int_equal(m->cells[0].afters[1].account.count, 64);
    assert_string_equal(m->cells[0].afters[1].account.items[63].name, "fordblks");
    model_free(m);
}

/* All that a report prints of a model. */
static void show(const model *m)
{
    char *text, *charts[] = {NULL, NULL};
    size_t size;
    FILE *out = open_memstream(&text, &size);
    summary *sums = summary_make(m);
    verdicts *judged = verdicts_make(sums);
    assert_non_null(out);
    report_table(m, out, true);
    markdown_report(judged, charts, out);
    verdicts_free(judged);
    summary_free(sums);
    fclose(out);
    assert_true(size > 1000);
    free(text);
}

/* Whatever stands there, loading and reporting end. */
static void flipped_bytes_do_no_harm(void **state)
{
    uint32_t random = 54321;
    size_t size = 0;
    put_all(*state);
    char *text = fake_read(*state, cell0, &size);
    char *good = malloc(size), *bad = malloc(size);
    assert_non_null(good);
    assert_non_null(bad);
    memcpy(good, text, size);
    for (int n = 0; n < 60; n++) {
        memcpy(bad, good, size);
        for (int flips = 0; flips < 1 + n % 4; flips++) {
            random = random * 1664525 + 1013904223;
            bad[random % size] = (char)(random >> 24);
        }
        fake_write(*state, cell0, bad, size);
        model *m = model_load(((const fake *)*state)->path, message, sizeof message);
        assert_non_null(m);
        show(m);
        model_free(m);
    }
    free(good);
    free(bad);
}

/* ---- in the report --------------------------------------------------------------------------- */

static void assert_has(const char *text, const char *part)
{
    if (strstr(text, part) == NULL)
        fail_msg("\"%s\" is not in:\n%s", part, text);
}

/* The report of the directory, in fake_read's buffer. */
static const char *report_of(const fake *f)
{
    size_t size = 0;
    model *m = load(f);
    if (!report_write_all(m, message, sizeof message))
        fail_msg("%s", message);
    model_free(m);
    return fake_read(f, "REPORT.md", &size);
}

static void the_report_shows_what_a_cell_says(void **state)
{
    put_all(*state);
    fake_edit(*state, cell0, "\"opt.narenas\":\"8\"", "\"opt.narenas\":\"8|\"");
    fake_edit(*state, cell0, "{\"record\":\"metric\"",
              "{\"record\":\"metric\",\"name\":\"heap_blowup\",\"unit\":\"ratio\",\"value\":1.5}\n"
              "{\"record\":\"metric\"");
    const char *text = report_of(*state);
    assert_has(text, "| settings | in force, as it tells |\n|---|---|---|---|---|---|---|\n");
    assert_has(text, "| none | opt.narenas=8\\|, opt.dirty_decay_ms=10000 |\n");
    assert_has(text, "| MALLOC_ARENA_MAX=2 | n/a |\n");
    assert_has(text, "| target | measured MiB | peak MiB | drained MiB | 1 s later MiB | purged by "
                     "|\n");
    assert_has(text, "| glibc (base) | 21.0 ±9.5% | 31.5 ±9.5% | 2.62 ±9.5% | 3.00 | "
                     "malloc_trim(0) |\n");
    assert_has(text, "| target | heap blowup |\n|---|---:|\n| glibc (base) | 1.50 |\n");
    assert_has(text, "\nglibc on churn-local:lanes=1, round 1; reading it took 900ns, 1.20us:\n\n"
                     "| statistic | drained | purged |\n|---|---:|---:|\n"
                     "| RSS (kernel), less baseline | 20,971,520 | 1,048,576 |\n"
                     "| stats.resident | 70,000 | \xe2\x80\x93 |\n");
    /* The results first, commentary last. */
    assert_true(strstr(text, "What comes back") < strstr(text, "## How to read it"));
    assert_true(strstr(text, "## How to read it") < strstr(text, "## What the allocators say"));
}

static void a_report_without_any_of_it_has_no_such_part(void **state)
{
    const char *text = report_of(*state);
    assert_has(text, "| library | settings |\n|---|---|---|---|---|---|\n");
    assert_null(strstr(text, "What the allocators say"));
    assert_null(strstr(text, "Fragmentation by definition"));
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, fake_setup, fake_teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(all_that_a_cell_says_is_read),
        TEST(a_cell_of_an_older_library_has_none_of_it),
        TEST(a_statistic_that_no_count_holds_is_left_out),
        TEST(records_that_lie_fail_their_cell),
        TEST(more_than_any_run_writes_is_refused),
        TEST(as_much_as_a_run_may_write_is_read),
        TEST(flipped_bytes_do_no_harm),
        TEST(the_report_shows_what_a_cell_says),
        TEST(a_report_without_any_of_it_has_no_such_part),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
