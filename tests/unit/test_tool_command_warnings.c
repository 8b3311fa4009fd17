/* test_tool_command_warnings.c - what a cell says beside its figures: the warnings, and what a
 * harness adds or fails to add. */
#include "command_cell.h"

static int looks;

static size_t count_warnings(const char *text)
{
    size_t count = 0;

    for (size_t at = 0; at < cell.warnings_count; at++)
        count += strstr(cell.warnings[at], text) != NULL;
    return count;
}

static void what_it_leaves_behind_is_killed_and_said(void **state)
{
    (void)state;
    measure_shell("(setsid sleep 100 &) ; exit 0");
    assert_done();
    assert_warned("processes that outlived the command and were killed: 1: sleep (");
}

static void a_setting_that_the_command_drops_is_a_warning(void **state)
{
    target t = {0};
    char message[256];

    (void)state;
    assert_true(target_parse("glibc-arena2", &t, message, sizeof message));
    measure_under(&t, (const char *[]){"sh", "-c", "sh -c :; :", NULL}, NULL);
    assert_done();
    assert_int_equal(count_warnings("settings"), 0);
    measure_under(&t,
                  (const char *[]){"sh", "-c", "unset MALLOC_ARENA_MAX; sh -c :; sh -c :; :", NULL},
                  NULL);
    assert_done();
    assert_int_equal(count_warnings("the settings of 2 images were changed by the program "
                                    "(MALLOC_ARENA_MAX is gone in /"),
                     1);
    target_clear(&t);
}

static void sleep_at_a_look(uint64_t elapsed_ns, void *user)
{
    (void)elapsed_ns;
    if (++*(int *)user == 1)
        usleep(300000);
}

static void sleep_once(command_options *options)
{
    looks = 0;
    options->tick = sleep_at_a_look;
    options->user = &looks;
}

static void sleep_once_as_often_as_asked(command_options *options)
{
    sleep_once(options);
    options->period_us = 200000;
}

static void a_stretch_without_a_look_is_a_warning(void **state)
{
    (void)state;
    /* before another look, and before the end */
    measure_under(&libc_target, (const char *[]){"sleep", "0.4", NULL}, sleep_once);
    assert_done();
    assert_true(looks > 1);
    assert_warned("the tool could not look for 3");
    assert_int_equal(count_warnings(" ms: what ran only then is not proven"), 1);
    measure_under(&libc_target, (const char *[]){"sleep", "0.28", NULL}, sleep_once);
    assert_done();
    assert_int_equal(looks, 1);
    assert_warned("the tool could not look for 2");
    /* looks are asked for that seldom */
    measure_under(&libc_target, (const char *[]){"sleep", "0.28", NULL},
                  sleep_once_as_often_as_asked);
    assert_done();
    assert_int_equal(count_warnings("could not look"), 0);
}

/* ---- harnesses ------------------------------------------------------------------------------- */

#define MANIFEST "printf '{\"record\":\"manifest\",\"schema\":1,\"nonce\":\"%s\"}\\n' "
#define METRIC(name)                                                                               \
    "printf '{\"record\":\"metric\",\"name\":\"" name "\",\"unit\":\"ns\",\"direction\":"          \
    "\"higher\",\"value\":%s}\\n' $ALLOCBENCH_SEED; "
#define END "printf '{\"record\":\"end\"}\\n'; "

static void seed_42(command_options *options)
{
    options->seed = 42;
}

static void measure_harness(const char *script)
{
    char *whole = xasprintf("{ %s } >\"$ALLOCBENCH_RESULT\"", script);

    measure_under(&libc_target, (const char *[]){"sh", "-c", whole, NULL}, seed_42);
    free(whole);
    assert_done();
}

static void a_harness_adds_its_metrics(void **state)
{
    (void)state;
    measure_harness(MANIFEST "$ALLOCBENCH_NONCE; " METRIC("requests") METRIC("wall_ns") END);
    assert_true(metric("requests") == 42.0);
    assert_int_equal(model_cell_metric(&cell, "requests")->direction, ABENCH_DIRECTION_HIGHER);
    assert_true(metric("harness_wall_ns") == 42.0);
    assert_true(metric("wall_ns") == (double)result.wall_ns);
    for (size_t at = 0; at < cell.warnings_count; at++)
        assert_null(strstr(cell.warnings[at], "harness"));
}

static void a_harness_adds_its_latencies(void **state)
{
    (void)state;
    measure_harness(MANIFEST "$ALLOCBENCH_NONCE; "
                             "echo '{\"record\":\"histogram\",\"name\":\"request\",\"unit\":\"ns\","
                             "\"interval\":1,\"count\":3,\"minimum\":7,\"maximum\":9,\"buckets\":"
                             "[[7,7,2],[9,9,1]]}';" END);
    assert_int_equal(cell.histograms_count, 1);
    assert_string_equal(cell.histograms[0].name, "request");
    assert_string_equal(cell.histograms[0].unit, "ns");
    assert_int_equal(cell.histograms[0].interval, 1);
    assert_int_equal(cell.histograms[0].count, 3);
    assert_int_equal(cell.histograms[0].minimum, 7);
    assert_int_equal(cell.histograms[0].maximum, 9);
    assert_int_equal(cell.histograms[0].buckets[0].count, 2);
}

static void a_harness_that_died_is_a_warning(void **state)
{
    (void)state;
    measure_harness(MANIFEST "$ALLOCBENCH_NONCE; " METRIC("requests"));
    assert_null(model_cell_metric(&cell, "requests"));
    assert_warned("the harness's result is not whole");
}

static void a_failing_harness_leaves_no_result(void **state)
{
    (void)state;
    measure_shell("echo >\"$ALLOCBENCH_RESULT\"; exit 3");
    assert_not_done(COMMAND_FAILED, "exited with status 3");
    assert_int_equal(count_files(), 2);
}

static void a_result_of_another_run_is_a_warning(void **state)
{
    (void)state;
    measure_harness(MANIFEST "other; " METRIC("requests") END);
    assert_null(model_cell_metric(&cell, "requests"));
    assert_warned("its nonce is not ALLOCBENCH_NONCE");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(what_it_leaves_behind_is_killed_and_said),
        TEST(a_setting_that_the_command_drops_is_a_warning),
        TEST(a_stretch_without_a_look_is_a_warning),
        TEST(a_harness_adds_its_metrics),
        TEST(a_harness_adds_its_latencies),
        TEST(a_harness_that_died_is_a_warning),
        TEST(a_failing_harness_leaves_no_result),
        TEST(a_result_of_another_run_is_a_warning),
    };
    int failed;

    if (!begin())
        return 99;
    failed = cmocka_run_group_tests_name("tool_command_warnings", tests, NULL, NULL);
    end();
    return failed;
}
