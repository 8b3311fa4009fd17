/* A run's life: options, environment, the claim of a result file, own work, calls out of order. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <sys/mman.h>
#include <sys/stat.h>
#include <time.h>

#include <allocbench/run.h>

#include "result.h"

static const char *const variables[] = {
    "ALLOCBENCH_RESULT",      "ALLOCBENCH_NONCE",     "ALLOCBENCH_SEED",
    "ALLOCBENCH_LANES",       "ALLOCBENCH_SLICE",     "ALLOCBENCH_SAMPLE_US",
    "ALLOCBENCH_DURATION_MS", "ALLOCBENCH_WARMUP_MS", "ALLOCBENCH_TURN",
};

#define VARIABLES (sizeof variables / sizeof variables[0])

static int clear_environment(void **state)
{
    (void)state;
    for (size_t at = 0; at < VARIABLES; at++)
        unsetenv(variables[at]);
    return 0;
}

/* A folder of the test's own; *state is its path. */
static int make_folder(void **state)
{
    static char folder[64];

    clear_environment(state);
    strcpy(folder, "/tmp/allocbench-run-XXXXXX");
    *state = mkdtemp(folder);
    return *state == NULL;
}

static int remove_folder(void **state)
{
    char path[128];

    snprintf(path, sizeof path, "%s/result", (const char *)*state);
    unlink(path);
    return rmdir(*state);
}

/* ---- the environment ------------------------------------------------------------------------- */

static void the_environment_sets_the_options(void **state)
{
    abench_run_options o = ABENCH_RUN_OPTIONS_INIT;
    abench_error error = ABENCH_ERROR_INIT;

    (void)state;
    setenv("ALLOCBENCH_RESULT", "/nowhere/result", 1);
    setenv("ALLOCBENCH_NONCE", "n-1", 1);
    setenv("ALLOCBENCH_SEED", "18446744073709551615", 1);
    setenv("ALLOCBENCH_LANES", "1024", 1);
    setenv("ALLOCBENCH_DURATION_MS", "1500", 1);
    setenv("ALLOCBENCH_WARMUP_MS", "200", 1);
    setenv("ALLOCBENCH_SLICE", "5000", 1);
    setenv("ALLOCBENCH_SAMPLE_US", "4294967295", 1);
    setenv("ALLOCBENCH_TURN", "5,7", 1);
    assert_int_equal(abench_run_options_from_environment(&o, &error), ABENCH_OK);
    assert_string_equal(o.result_path, "/nowhere/result");
    assert_string_equal(o.nonce, "n-1");
    assert_int_equal(o.seed, UINT64_MAX);
    assert_int_equal(o.lanes, 1024);
    assert_int_equal(o.duration_ms, 1500);
    assert_int_equal(o.warmup_ms, 200);
    assert_int_equal(o.slice_operations, 5000);
    assert_int_equal(o.sample_us, UINT32_MAX);
    assert_int_equal(o.turn_in, 5);
    assert_int_equal(o.turn_out, 7);
    /* What belongs to this process alone is not handed on to its children. */
    assert_null(getenv("ALLOCBENCH_RESULT"));
    assert_null(getenv("ALLOCBENCH_NONCE"));
    assert_null(getenv("ALLOCBENCH_TURN"));
    assert_string_equal(getenv("ALLOCBENCH_SEED"), "18446744073709551615");
    assert_string_equal(getenv("ALLOCBENCH_LANES"), "1024");
}

static void what_the_environment_does_not_say_is_left_alone(void **state)
{
    abench_run_options o = ABENCH_RUN_OPTIONS_INIT, before;

    (void)state;
    o.seed = 3;
    o.lanes = 4;
    o.sample_us = 5000;
    o.slice_operations = 6;
    o.turn_in = 7;
    o.turn_out = 8;
    o.result_path = "mine";
    o.nonce = "mine too";
    before = o;
    assert_int_equal(abench_run_options_from_environment(&o, NULL), ABENCH_OK);
    assert_memory_equal(&o, &before, sizeof o);
    for (size_t at = 0; at < VARIABLES; at++) /* an empty variable says nothing */
        setenv(variables[at], "", 1);
    assert_int_equal(abench_run_options_from_environment(&o, NULL), ABENCH_OK);
    assert_memory_equal(&o, &before, sizeof o);
}

static void a_nonce_is_taken_without_a_result_too(void **state)
{
    abench_run_options o = ABENCH_RUN_OPTIONS_INIT;

    (void)state;
    setenv("ALLOCBENCH_NONCE", "n-2", 1);
    assert_int_equal(abench_run_options_from_environment(&o, NULL), ABENCH_OK);
    assert_string_equal(o.nonce, "n-2");
    assert_null(o.result_path);
    assert_null(getenv("ALLOCBENCH_NONCE"));
}

static void a_bad_value_names_its_variable(void **state)
{
    static const char *const numbers[] = {"ALLOCBENCH_SEED",        "ALLOCBENCH_LANES",
                                          "ALLOCBENCH_DURATION_MS", "ALLOCBENCH_WARMUP_MS",
                                          "ALLOCBENCH_SLICE",       "ALLOCBENCH_SAMPLE_US"};
    static const char *const values[] = {"x", "-1", "1x", " 1", "1.5", "18446744073709551616"};
    static const char *const turns[] = {"5",   "5,",  ",5",  "5,6,7",
                                        "5,5", "a,b", "5;6", "5,2147483648"};

    for (size_t name = 0; name < sizeof numbers / sizeof numbers[0]; name++)
        for (size_t at = 0; at < sizeof values / sizeof values[0]; at++) {
            abench_run_options o = ABENCH_RUN_OPTIONS_INIT;
            abench_error error = ABENCH_ERROR_INIT;
            setenv(numbers[name], values[at], 1);
            assert_int_equal(abench_run_options_from_environment(&o, &error), ABENCH_ERROR_SYNTAX);
            assert_int_equal(error.status, ABENCH_ERROR_SYNTAX);
            assert_non_null(strstr(error.message, numbers[name]));
            assert_non_null(strstr(error.message, values[at]));
            clear_environment(state);
        }
    for (size_t at = 0; at < sizeof turns / sizeof turns[0]; at++) {
        abench_run_options o = ABENCH_RUN_OPTIONS_INIT;
        abench_error error = ABENCH_ERROR_INIT;
        setenv("ALLOCBENCH_TURN", turns[at], 1);
        assert_int_equal(abench_run_options_from_environment(&o, &error), ABENCH_ERROR_SYNTAX);
        assert_non_null(strstr(error.message, "ALLOCBENCH_TURN"));
    }
}

static void numbers_that_do_not_fit_are_bad_values(void **state)
{
    static const struct {
        const char *name, *value;
    } rows[] = {{"ALLOCBENCH_LANES", "1025"}, {"ALLOCBENCH_SAMPLE_US", "4294967296"}};

    for (size_t at = 0; at < sizeof rows / sizeof rows[0]; at++) {
        abench_run_options o = ABENCH_RUN_OPTIONS_INIT;
        abench_error error = ABENCH_ERROR_INIT;
        setenv(rows[at].name, rows[at].value, 1);
        assert_int_equal(abench_run_options_from_environment(&o, &error), ABENCH_ERROR_SYNTAX);
        assert_non_null(strstr(error.message, rows[at].name));
        clear_environment(state);
    }
}

/* ---- create ---------------------------------------------------------------------------------- */

static void options_out_of_their_domain_are_refused(void **state)
{
    abench_run_options o = ABENCH_RUN_OPTIONS_INIT;
    abench_memory_hooks hooks = ABENCH_MEMORY_HOOKS_INIT;
    abench_run *run = (abench_run *)&o;

    (void)state;
    o.lanes = ABENCH_LANES_MAX + 1;
    assert_int_equal(abench_run_create(&o, &run), ABENCH_ERROR_ARGUMENT);
    assert_null(run);
    abench_run_options_init(&o);
    o.turn_in = -1;
    assert_int_equal(abench_run_create(&o, &run), ABENCH_ERROR_ARGUMENT);
    abench_run_options_init(&o);
    o.turn_out = -1;
    assert_int_equal(abench_run_create(&o, &run), ABENCH_ERROR_ARGUMENT);
    abench_run_options_init(&o);
    o.struct_size -= 8;
    assert_int_equal(abench_run_create(&o, &run), ABENCH_ERROR_ARGUMENT);
    abench_run_options_init(&o);
    hooks.flags = 1;
    o.hooks = &hooks;
    assert_int_equal(abench_run_create(&o, &run), ABENCH_ERROR_ARGUMENT);
    assert_int_equal(abench_run_create(NULL, &run), ABENCH_OK);
    assert_string_equal(abench_run_error(run)->message, "");
    abench_run_destroy(run);
    abench_run_destroy(NULL);
}

#define SMALL "mixed:slots=64,steps=2000"

static void the_first_that_creates_a_result_file_owns_it(void **state)
{
    abench_run_options o = ABENCH_RUN_OPTIONS_INIT;
    abench_run *first = NULL, *second = NULL;
    char path[128], nonce[8] = "first";
    result r;

    snprintf(path, sizeof path, "%s/result", (const char *)*state);
    o.result_path = path;
    o.nonce = nonce;
    assert_int_equal(abench_run_create(&o, &first), ABENCH_OK);
    strcpy(nonce, "other"); /* strings are copied */
    assert_int_equal(abench_run_create(&o, &second), ABENCH_OK);
    assert_int_equal(abench_run_play(second, SMALL, NULL), ABENCH_OK);
    read_result_at(path, &r);
    assert_int_equal(r.count, 0);
    free_result(&r);
    assert_int_equal(abench_run_play(first, SMALL, NULL), ABENCH_OK);
    read_result_at(path, &r);
    assert_text(r.lines[0], "nonce", "first");
    assert_null(record_at(&r, "manifest", 1));
    assert_text(r.lines[r.count - 1], "record", "end");
    free_result(&r);
    abench_run_destroy(first);
    abench_run_destroy(second);
}

static void a_result_file_that_cannot_be_created_is_an_error(void **state)
{
    abench_run_options o = ABENCH_RUN_OPTIONS_INIT;
    abench_run *run = (abench_run *)&o;

    (void)state;
    o.result_path = "/nowhere/at/all/result";
    assert_int_equal(abench_run_create(&o, &run), ABENCH_ERROR_SYSTEM);
    assert_null(run);
}

static void a_bad_workload_is_the_runs_error(void **state)
{
    abench_run *run = NULL;

    (void)state;
    assert_int_equal(abench_run_create(NULL, &run), ABENCH_OK);
    assert_int_equal(abench_run_play(run, "mixd", NULL), ABENCH_ERROR_NOT_FOUND);
    assert_non_null(strstr(abench_run_error(run)->message, "did you mean 'mixed'?"));
    assert_int_equal(abench_run_error(run)->column, 1);
    abench_run_destroy(run);
}

/* ---- own work -------------------------------------------------------------------------------- */

#define MB ((double)(1 << 20))

static double metric(const abench_run *run, const char *name)
{
    double value = 0;

    if (abench_run_metric(run, name, &value) != ABENCH_OK)
        fail_msg("no metric '%s'", name);
    return value;
}

static void own_work_shows_the_growth_between_its_marks(void **state)
{
    const size_t bytes = (size_t)20 << 20;
    abench_run_options o = ABENCH_RUN_OPTIONS_INIT;
    abench_run *run = NULL;
    void *memory;
    char path[128];
    const char *steady, *after;
    result r;

    snprintf(path, sizeof path, "%s/result", (const char *)*state);
    o.result_path = path;
    o.name = "own \"work\"";
    assert_int_equal(abench_run_create(&o, &run), ABENCH_OK);
    assert_int_equal(abench_run_start(run), ABENCH_OK);
    memory = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_POPULATE,
                  -1, 0); /* resident without a write, which a sanitizer would shadow */
    assert_true(memory != MAP_FAILED);
    nanosleep(&(struct timespec){0, 3000000}, NULL);
    assert_int_equal(abench_run_phase(run, "after-it", 0), ABENCH_OK); /* ends "steady" */
    nanosleep(&(struct timespec){0, 30000000}, NULL);
    munmap(memory, bytes);
    assert_int_equal(abench_run_stop(run), ABENCH_OK);

    assert_true(metric(run, "rss_peak_bytes") > 19.5 * MB);
    assert_true(metric(run, "rss_peak_bytes") < 24 * MB);
    assert_true(metric(run, "rss_bytes") > 19.5 * MB);      /* of the last timed phase */
    assert_true(metric(run, "rss_drained_bytes") < 4 * MB); /* of the last: it is back */
    read_result_at(path, &r);
    assert_text(r.lines[0], "name", "own \\\"work\\\"");
    assert_text(record_at(&r, "phase", 0), "name", "baseline");
    steady = record_of(&r, "phase", "name", "steady");
    after = record_of(&r, "phase", "name", "after-it");
    assert_true(number(steady, "memory.rss_bytes") - metric(run, "rss_baseline_bytes") > 19.5 * MB);
    assert_true(number(steady, "memory.rss_bytes") - metric(run, "rss_baseline_bytes") < 24 * MB);
    assert_true(number(after, "time_ns") >= number(steady, "time_ns"));
    /* The clocks of the timed phase, not of the 30 ms behind it. */
    assert_true(metric(run, "wall_ns") >= 3000000);
    assert_true(metric(run, "wall_ns") <= number(after, "time_ns") - 30000000);
    assert_true(metric(run, "cpu_ns") <= metric(run, "wall_ns") * 64);
    assert_null(json_find(record_at(&r, "end", 0), "receipt"));
    assert_null(json_find(record_at(&r, "end", 0), "work_digest"));
    free_result(&r);
    abench_run_destroy(run);
}

/* Two peaks of 20 MiB: of the first nothing comes back, of the second a half. */
static void a_peak_shows_what_of_its_growth_came_back(void **state)
{
    const size_t bytes = (size_t)20 << 20;
    abench_run *run = NULL;
    void *memory[2];
    double value = 0;

    (void)state;
    assert_int_equal(abench_run_create(NULL, &run), ABENCH_OK);
    assert_int_equal(abench_run_start(run), ABENCH_OK);
    for (int peak = 0; peak < 2; peak++) {
        assert_int_equal(abench_run_phase(run, peak == 0 ? "peak-1" : "peak-2", ABENCH_PHASE_TIMED),
                         ABENCH_OK);
        memory[peak] = mmap(NULL, bytes, PROT_READ | PROT_WRITE,
                            MAP_PRIVATE | MAP_ANONYMOUS | MAP_POPULATE, -1, 0);
        assert_true(memory[peak] != MAP_FAILED);
        assert_int_equal(
            abench_run_phase(run, peak == 0 ? "recovery-1" : "recovery-2", ABENCH_PHASE_TIMED),
            ABENCH_OK);
        if (peak == 1)
            munmap(memory[1], bytes / 2);
    }
    assert_int_equal(abench_run_stop(run), ABENCH_OK);
    value = metric(run, "peak_recovered_ratio"); /* the median of 0 and a half */
    if (value < 0.2 || value > 0.3)
        fail_msg("%g of the growth came back", value);
    abench_run_destroy(run);
    munmap(memory[0], bytes);
    munmap((char *)memory[1] + bytes / 2, bytes / 2);
}

static void calls_that_do_not_fit_the_state_are_refused(void **state)
{
    abench_run *run = NULL;
    double value;

    (void)state;
    assert_int_equal(abench_run_create(NULL, &run), ABENCH_OK);
    assert_int_equal(abench_run_phase(run, "x", ABENCH_PHASE_TIMED), ABENCH_ERROR_STATE);
    assert_int_equal(abench_run_stop(run), ABENCH_ERROR_STATE);
    assert_int_equal(abench_run_metric(run, "duration_ns", &value), ABENCH_ERROR_STATE);
    assert_int_equal(abench_run_write(run, 1, ABENCH_FORMAT_JSONL), ABENCH_ERROR_STATE);
    assert_non_null(strstr(abench_run_error(run)->message, "no result"));
    assert_int_equal(abench_run_start(run), ABENCH_OK);
    assert_int_equal(abench_run_start(run), ABENCH_ERROR_STATE);
    abench_run_destroy(run);

    assert_int_equal(abench_run_create(NULL, &run), ABENCH_OK);
    assert_int_equal(abench_run_start(run), ABENCH_OK);
    assert_int_equal(abench_run_stop(run), ABENCH_OK);
    assert_int_equal(abench_run_stop(run), ABENCH_ERROR_STATE);
    assert_int_equal(abench_run_play(run, SMALL, NULL), ABENCH_ERROR_STATE);
    assert_non_null(strstr(abench_run_error(run)->message, "a run runs once"));
    assert_int_equal(abench_run_write(run, 1, 2), ABENCH_ERROR_ARGUMENT);
    assert_int_equal(abench_run_metric(run, "duration_ns", &value), ABENCH_OK);
    abench_run_destroy(run);
}

static void phases_of_own_work_have_names_of_the_same_kind(void **state)
{
    static const char *const names[] = {NULL,  "",    "Peak",
                                        "a b", "a_b", "abcdefghijklmnopqrstuvwxyz-01234"};
    abench_run *run = NULL;

    (void)state;
    assert_int_equal(abench_run_create(NULL, &run), ABENCH_OK);
    assert_int_equal(abench_run_start(run), ABENCH_OK);
    for (size_t at = 0; at < sizeof names / sizeof names[0]; at++)
        assert_int_equal(abench_run_phase(run, names[at], ABENCH_PHASE_TIMED),
                         ABENCH_ERROR_ARGUMENT);
    assert_int_equal(abench_run_phase(run, "abcdefghijklmnopqrstuvwxyz-0123", ABENCH_PHASE_TIMED),
                     ABENCH_OK);
    assert_int_equal(abench_run_stop(run), ABENCH_OK);
    abench_run_destroy(run);
}

static void a_run_with_too_many_phases_can_still_stop(void **state)
{
    abench_run_options o = ABENCH_RUN_OPTIONS_INIT;
    abench_run *run = NULL;
    char path[128];
    result r;

    snprintf(path, sizeof path, "%s/result", (const char *)*state);
    o.result_path = path;
    assert_int_equal(abench_run_create(&o, &run), ABENCH_OK);
    assert_int_equal(abench_run_start(run), ABENCH_OK);
    for (int at = 0; at < ABENCH_PHASES_MAX - 1; at++)
        assert_int_equal(abench_run_phase(run, "next", ABENCH_PHASE_TIMED), ABENCH_OK);
    assert_int_equal(abench_run_phase(run, "too-many", ABENCH_PHASE_TIMED), ABENCH_ERROR_LIMIT);
    assert_non_null(strstr(abench_run_error(run)->message, "more than 64 phases"));
    assert_int_equal(abench_run_stop(run), ABENCH_OK);
    read_result_at(path, &r);
    assert_non_null(record_at(&r, "phase", ABENCH_PHASES_MAX)); /* the baseline too */
    assert_null(record_at(&r, "phase", ABENCH_PHASES_MAX + 1));
    assert_text(record_at(&r, "phase", ABENCH_PHASES_MAX), "name", "next");
    free_result(&r);
    abench_run_destroy(run);
}

/* ---- hooks ----------------------------------------------------------------------------------- */

typedef struct ledger {
    uint64_t blocks, calls;
} ledger;

static void *ledger_map(uint64_t bytes, void *user)
{
    void *memory = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

    ((ledger *)user)->calls++;
    ((ledger *)user)->blocks++;
    return memory == MAP_FAILED ? NULL : memory;
}

static void ledger_unmap(void *memory, uint64_t bytes, void *user)
{
    ((ledger *)user)->blocks--;
    munmap(memory, bytes);
}

static void the_callers_hooks_give_the_memory_and_get_it_back(void **state)
{
    ledger l = {0};
    abench_memory_hooks hooks = ABENCH_MEMORY_HOOKS_INIT;
    abench_run_options o = ABENCH_RUN_OPTIONS_INIT;
    abench_run *run = NULL;

    (void)state;
    hooks.map = ledger_map;
    hooks.unmap = ledger_unmap;
    hooks.user = &l;
    o.hooks = &hooks;
    assert_int_equal(abench_run_create(&o, &run), ABENCH_OK);
    memset(&hooks, 0, sizeof hooks); /* they were copied */
    assert_int_equal(abench_run_play(run, SMALL, NULL), ABENCH_OK);
    assert_true(l.calls >= 6); /* run, tape and its lists, slices, sampler, lanes */
    abench_run_destroy(run);
    assert_int_equal(l.blocks, 0);
}

#define WITH_FOLDER(test) cmocka_unit_test_setup_teardown(test, make_folder, remove_folder)
#define WITHOUT(test)     cmocka_unit_test_setup_teardown(test, clear_environment, clear_environment)

int main(void)
{
    const struct CMUnitTest tests[] = {
        WITHOUT(the_environment_sets_the_options),
        WITHOUT(what_the_environment_does_not_say_is_left_alone),
        WITHOUT(a_nonce_is_taken_without_a_result_too),
        WITHOUT(a_bad_value_names_its_variable),
        WITHOUT(numbers_that_do_not_fit_are_bad_values),
        WITHOUT(options_out_of_their_domain_are_refused),
        WITH_FOLDER(the_first_that_creates_a_result_file_owns_it),
        WITHOUT(a_result_file_that_cannot_be_created_is_an_error),
        WITHOUT(a_bad_workload_is_the_runs_error),
        WITH_FOLDER(own_work_shows_the_growth_between_its_marks),
        WITHOUT(a_peak_shows_what_of_its_growth_came_back),
        WITHOUT(calls_that_do_not_fit_the_state_are_refused),
        WITHOUT(phases_of_own_work_have_names_of_the_same_kind),
        WITH_FOLDER(a_run_with_too_many_phases_can_still_stop),
        WITHOUT(the_callers_hooks_give_the_memory_and_get_it_back),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
