/* model_load: latencies in a result directory, and the pass that timed every operation. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "../data/report/fake_result.h"

#include "tool/model.h"
#include "tool/report/report.h"

static const char cell0[] = "cells/w00.r000.t01.jsonl";
static char message[1024];

static model *load(const fake *f)
{
    return model_load(f->path, message, sizeof message);
}

static void assert_refused(const fake *f, const char *why)
{
    assert_null(load(f));
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
    assert_int_equal(m->cells[0].histograms_count, 0);
    assert_false(m->cells[1].failed);
    model_free(m);
}

#define HISTOGRAM                                                                                  \
    "{\"record\":\"histogram\",\"name\":\"malloc\",\"unit\":\"ns\",\"interval\":1024,\"count\":7," \
    "\"minimum\":21,\"maximum\":4100,\"buckets\":[[20,21,5],[4096,4159,2]]}\n"

/* Puts a histogram into the first cell, behind its manifest. */
static void put_histogram(const fake *f)
{
    fake_edit(f, cell0, "{\"record\":\"slice\"", HISTOGRAM "{\"record\":\"slice\"");
}

static void a_histogram_is_read(void **state)
{
    put_histogram(*state);
    model *m = load(*state);
    assert_non_null(m);
    const model_cell *cell = &m->cells[0];
    if (cell->failed)
        fail_msg("%s", cell->reason);
    assert_int_equal(cell->histograms_count, 1);
    const model_histogram *h = &cell->histograms[0];
    assert_string_equal(h->name, "malloc");
    assert_string_equal(h->unit, "ns");
    assert_int_equal(h->interval, 1024);
    assert_int_equal(h->count, 7);
    assert_int_equal(h->minimum, 21);
    assert_int_equal(h->maximum, 4100);
    assert_int_equal(h->buckets_count, 2);
    assert_int_equal(h->buckets[1].low, 4096);
    assert_int_equal(h->buckets[1].high, 4159);
    assert_int_equal(h->buckets[1].count, 2);
    model_free(m);
}

static void histograms_that_lie_fail_their_cell(void **state)
{
    static const struct {
        const char *from;
        const char *to;
        const char *why;
    } lies[] = {
        {"\"count\":7", "\"count\":8", "count: not the sum of its buckets"},
        {"\"count\":7", "\"count\":281474976710657", "is not from 0 to 281474976710656"},
        {"\"minimum\":21", "\"minimum\":22", "minimum: not in its first bucket"},
        {"\"maximum\":4100", "\"maximum\":5000", "maximum: not in its last bucket"},
        {"[20,21,5]", "[20,21]", "buckets: item 0 is not [low, high, count]"},
        {"[20,21,5]", "[20,21,5.5]", "buckets: item 0 is not [low, high, count]"},
        {"[20,21,5]", "[20,21,-5]", "buckets: item 0 is not [low, high, count]"},
        {"[20,21,5]", "\"x\"", "buckets: item 0 is not [low, high, count]"},
        {"[20,21,5]", "[21,20,5]", "buckets: item 0 is no bucket"},
        {"[20,21,5]", "[20,21,0]", "buckets: item 0 is no bucket"},
        {"[20,21,5]", "[20,4096,5]", "buckets: item 1 is not above the one before"},
        {"\"buckets\":[[20,21,5],[4096,4159,2]]", "\"buckets\":5", "buckets: an array"},
        {"\"name\":\"malloc\"", "\"name\":5", "name: a string is needed"},
    };
    size_t size;
    put_histogram(*state);
    char *text = fake_read(*state, cell0, &size);
    char *good = malloc(size);
    assert_non_null(good);
    memcpy(good, text, size);
    for (size_t i = 0; i < sizeof lies / sizeof *lies; i++) {
        fake_write(*state, cell0, good, size);
        fake_edit(*state, cell0, lies[i].from, lies[i].to);
        assert_cell_failed(*state, lies[i].why);
    }
    fake_write(*state, cell0, good, size);
    put_histogram(*state);
    assert_cell_failed(*state, "a second histogram of this name");
    free(good);
}

/* The cell of target 2 becomes target 1's tail pass. */
static void make_tails(const fake *f)
{
    fake_edit(f, "rounds/w00.r000.json", "\"target\": \"tcmalloc\"",
              "\"target\": \"jemalloc\", \"tails\": true");
}

static void a_tail_pass_stands_apart(void **state)
{
    make_tails(*state);
    model *m = load(*state);
    assert_non_null(m);
    assert_int_equal(m->cells_count, 11);
    assert_int_equal(m->tails_count, 1);
    assert_int_equal(m->tails[0].target, 1);
    assert_false(m->tails[0].failed);
    assert_int_equal(m->tails[0].round, 0);
    for (size_t i = 0; i < m->cells_count; i++)
        assert_false(m->cells[i].round == 0 && m->cells[i].target == 2);
    model_free(m);
    fake_edit(*state, "rounds/w00.r000.json", "\"tails\": true", "\"tails\": 7");
    assert_refused(*state, "cells[3].tails: 7 is not from 0 to 1");
    fake_edit(*state, "rounds/w00.r000.json", "\"tails\": 7", "\"tails\": true");
    fake_edit(*state, "rounds/w00.r000.json", "\"again\": true",
              "\"again\": true, \"tails\": true");
    assert_refused(*state, "tails: only a target's first cell has a tail pass");
}

static void a_tail_pass_that_failed_is_told(void **state)
{
    const fake *f = *state;
    char path[128];
    make_tails(f);
    snprintf(path, sizeof path, "%s/cells/w00.r000.t03.jsonl", f->path);
    assert_int_equal(unlink(path), 0);
    model *m = load(f);
    assert_non_null(m);
    assert_true(m->tails[0].failed);
    char *text;
    size_t size;
    FILE *out = open_memstream(&text, &size);
    report_table(m, out, false);
    fclose(out);
    assert_non_null(strstr(text, "failed: jemalloc (tails), round 1: cells/w00.r000.t03.jsonl"));
    free(text);
    model_free(m);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, fake_setup, fake_teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(a_histogram_is_read),
        TEST(histograms_that_lie_fail_their_cell),
        TEST(a_tail_pass_stands_apart),
        TEST(a_tail_pass_that_failed_is_told),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
