/* Latency in a run: the option and its variable, the metrics, the records. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <sys/mman.h>

#include <allocbench/run.h>

#include "result.h"

#define WORK "mixed:slots=1000,steps=400000"

/* A run that has played and its result. */
typedef struct played {
    abench_run *run;
    result r;
} played;

static void play(played *p, uint32_t interval)
{
    const int fd = memfd_create("result", MFD_CLOEXEC);
    abench_run_options o = ABENCH_RUN_OPTIONS_INIT;

    assert_true(fd >= 0);
    o.latency_interval = interval;
    o.seed = 3;
    assert_int_equal(abench_run_create(&o, &p->run), ABENCH_OK);
    assert_int_equal(abench_run_play(p->run, WORK, NULL), ABENCH_OK);
    assert_int_equal(abench_run_write(p->run, fd, ABENCH_FORMAT_JSONL), ABENCH_OK);
    read_result(fd, &p->r);
    close(fd);
}

static void drop(played *p)
{
    free_result(&p->r);
    abench_run_destroy(p->run);
}

static int has_metric(const played *p, const char *name)
{
    double value;

    return abench_run_metric(p->run, name, &value) == ABENCH_OK;
}

static void assert_metric(const played *p, const char *name, uint64_t wanted)
{
    double value = 0;

    if (abench_run_metric(p->run, name, &value) != ABENCH_OK)
        fail_msg("no metric '%s'", name);
    assert_true(value == (double)wanted);
}

/* ---- the option ------------------------------------------------------------------------------ */

static void the_variable_sets_the_option(void **state)
{
    static const struct {
        const char *text;
        uint32_t before;
        uint32_t wanted;
    } rows[] = {
        {"0", 55, ABENCH_LATENCY_OFF}, {"1", 55, 1}, {"777", 0, 777}, {"", 55, 55}, {"", 0, 0}};

    (void)state;
    for (size_t at = 0; at < sizeof rows / sizeof rows[0]; at++) {
        abench_run_options o = ABENCH_RUN_OPTIONS_INIT;
        o.latency_interval = rows[at].before;
        setenv("ALLOCBENCH_LATENCY", rows[at].text, 1);
        assert_int_equal(abench_run_options_from_environment(&o, NULL), ABENCH_OK);
        assert_int_equal(o.latency_interval, rows[at].wanted);
    }
    unsetenv("ALLOCBENCH_LATENCY");
}

static void a_bad_value_names_the_variable(void **state)
{
    static const char *const values[] = {"x", "-1", "1k", "4294967296"};

    (void)state;
    for (size_t at = 0; at < sizeof values / sizeof values[0]; at++) {
        abench_run_options o = ABENCH_RUN_OPTIONS_INIT;
        abench_error error = ABENCH_ERROR_INIT;
        setenv("ALLOCBENCH_LATENCY", values[at], 1);
        assert_int_equal(abench_run_options_from_environment(&o, &error), ABENCH_ERROR_SYNTAX);
        assert_non_null(strstr(error.message, "ALLOCBENCH_LATENCY"));
        assert_int_equal(o.latency_interval, 0);
    }
    unsetenv("ALLOCBENCH_LATENCY");
}

/* ---- what comes of it ------------------------------------------------------------------------ */

static void off_is_off(void **state)
{
    played p;

    (void)state;
    play(&p, ABENCH_LATENCY_OFF);
    assert_true(number(p.r.lines[0], "latency_interval") == 0);
    assert_null(record_at(&p.r, "histogram", 0));
    assert_false(has_metric(&p, "malloc_max_ns"));
    assert_null(abench_run_histogram(p.run, ABENCH_LATENCY_MALLOC));
    drop(&p);
}

static void one_in_1024_is_the_preset(void **state)
{
    played p;
    double calls;

    (void)state;
    play(&p, 0);
    assert_true(number(p.r.lines[0], "latency_interval") == 1024);
    calls = number(record_of(&p.r, "histogram", "name", "control"), "count");
    assert_true(calls > 800000 / 1024 / 2); /* two calls a step */
    assert_true(calls < 800000 / 1024 * 2);
    assert_true(number(record_of(&p.r, "histogram", "name", "malloc"), "interval") == 1024);
    assert_true(has_metric(&p, "malloc_max_ns"));
    assert_false(has_metric(&p, "malloc_p9999_ns")); /* fewer than 100 lie above it */
    drop(&p);
}

/* The quantiles of the histogram, where enough samples lie above them. */
static void metrics_are_the_quantiles(void **state)
{
    static const struct {
        const char *name;
        uint32_t kind;
        uint32_t parts_per_million;
    } rows[] = {{"malloc_p50_ns", ABENCH_LATENCY_MALLOC, 500000},
                {"malloc_p99_ns", ABENCH_LATENCY_MALLOC, 990000},
                {"malloc_touch_p50_ns", ABENCH_LATENCY_TOUCH, 500000},
                {"malloc_touch_p99_ns", ABENCH_LATENCY_TOUCH, 990000},
                {"free_p50_ns", ABENCH_LATENCY_FREE, 500000},
                {"free_p99_ns", ABENCH_LATENCY_FREE, 990000}};
    played p;

    (void)state;
    play(&p, 20); /* some 20000 calls of each kind */
    for (size_t at = 0; at < sizeof rows / sizeof rows[0]; at++) {
        uint64_t value = 0;
        assert_int_equal(abench_histogram_quantile(abench_run_histogram(p.run, rows[at].kind),
                                                   rows[at].parts_per_million, &value),
                         ABENCH_OK);
        assert_metric(&p, rows[at].name, value);
    }
    assert_metric(&p, "malloc_max_ns",
                  abench_histogram_maximum(abench_run_histogram(p.run, ABENCH_LATENCY_MALLOC)));
    assert_false(has_metric(&p, "malloc_p999_ns"));
    assert_false(has_metric(&p, "request_p50_ns"));
    assert_non_null(record_of(&p.r, "metric", "name", "free_p99_ns"));
    drop(&p);
}

static void a_pass_for_tails_has_tails_only(void **state)
{
    const char *record;
    played p;

    (void)state;
    play(&p, 1);
    record = record_of(&p.r, "histogram", "name", "free");
    assert_true(number(record, "interval") == 1);
    assert_true(number(record, "count") >= 400000);
    assert_false(has_metric(&p, "free_p50_ns"));
    assert_false(has_metric(&p, "free_p99_ns"));
    assert_true(has_metric(&p, "free_p999_ns"));
    assert_true(has_metric(&p, "free_max_ns"));
    drop(&p);
}

/* The marker of a quantile at the machine's floor: of control itself, each that there is. */
static void quantiles_at_the_floor_are_marked(void **state)
{
    static const char wanted[] = "[500000,990000]";
    const char *floor;
    played p;

    (void)state;
    play(&p, 20);
    floor = json_find(record_of(&p.r, "histogram", "name", "control"), "floor_ppm");
    assert_non_null(floor);
    assert_memory_equal(floor, wanted, strlen(wanted) - 1);
    floor = json_find(record_of(&p.r, "histogram", "name", "malloc_touch"), "floor_ppm");
    assert_non_null(floor);
    assert_true(*floor == '[');
    drop(&p);
}

/* The same operations are timed whatever the allocator: the seed says which. */
static void the_seed_says_how_many_of_each_kind(void **state)
{
    static const char *const names[] = {"malloc", "malloc_touch", "free", "control"};
    played a, b;

    (void)state;
    play(&a, 100);
    play(&b, 100);
    for (size_t at = 0; at < 4; at++)
        assert_true(number(record_of(&a.r, "histogram", "name", names[at]), "count") ==
                    number(record_of(&b.r, "histogram", "name", names[at]), "count"));
    drop(&a);
    drop(&b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_variable_sets_the_option),
        cmocka_unit_test(a_bad_value_names_the_variable),
        cmocka_unit_test(off_is_off),
        cmocka_unit_test(one_in_1024_is_the_preset),
        cmocka_unit_test(metrics_are_the_quantiles),
        cmocka_unit_test(a_pass_for_tails_has_tails_only),
        cmocka_unit_test(quantiles_at_the_floor_are_marked),
        cmocka_unit_test(the_seed_says_how_many_of_each_kind),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
