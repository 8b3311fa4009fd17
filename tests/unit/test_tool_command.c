#include "command_cell.h"

#include <errno.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include "tool/program.h"

static int looks;

/* ---- what is measured ------------------------------------------------------------------------ */

static void a_command_becomes_a_whole_cell(void **state)
{
    char *text;

    (void)state;
    measure_shell("echo out; echo err >&2; sleep 0.2");
    assert_done();
    assert_int_equal(result.exit_status, 0);
    assert_true(result.has_end);
    assert_true(metric("wall_ns") >= 200000000.0);
    assert_true(metric("wall_ns") == (double)result.wall_ns);
    assert_true(metric("cpu_ns") == metric("user_ns") + metric("system_ns"));
    assert_true(metric("peak_rss_bytes") >= metric("rss_floor_bytes") * 0.9);
    assert_true(metric("rss_floor_bytes") > 100000.0);
    assert_true(metric("minor_faults") > 0.0);
    assert_true(metric("hwm_bytes") > 0.0); /* the probe reports it at each exit */
    assert_true(metric("images_reported") == 2.0);
    assert_true(metric("exit_status") == 0.0);
    assert_true(metric("output_bytes") == 8.0);
    assert_string_equal(cell.identity.family, "glibc");
    assert_non_null(strstr(cell.identity.file, "libc.so"));
    assert_true(cell.readings_count > 0);
    for (size_t at = 0; at < cell.readings_count; at++)
        assert_true(cell.readings[at].time_ns <= result.wall_ns);
    text = util_read_file("cell.out", 100, NULL);
    assert_string_equal(text, "out\n");
    free(text);
    text = util_read_file("cell.err", 100, NULL);
    assert_string_equal(text, "err\n");
    free(text);
}

static void the_manifest_says_what_ran_and_how(void **state)
{
    target t = {0};
    char message[256], *text;

    (void)state;
    assert_true(target_parse("glibc-arena2:MINE=yes", &t, message, sizeof message));
    measure_under(&t, (const char *[]){"sh", "-c", "exit 0", "\xff quoted\"", NULL}, NULL);
    assert_done();
    text = util_read_file("cell.jsonl", 1 << 20, NULL);
    assert_non_null(strstr(text, "\"kind\":\"command\""));
    assert_non_null(strstr(text, "\"command\":[\"sh\",\"-c\",\"exit 0\",\"\\\\xff quoted\\\"\"]"));
    assert_non_null(strstr(text, "\"MALLOC_ARENA_MAX\":\"2\""));
    assert_non_null(strstr(text, "\"MINE\":\"yes\"")); /* a setting, though no allocator knows it */
    assert_null(strstr(text, "\"HOME\""));
    assert_non_null(strstr(text, "\"spec\":\"glibc-arena2:MINE=yes\""));
    assert_non_null(strstr(text, "\"LD_PRELOAD\":\"/"));
    free(text);
    target_clear(&t);
}

static void a_tree_of_processes_is_watched(void **state)
{
    (void)state;
    measure_shell("for i in 1 2 3 4 5 6; do (sleep 0.5; :) & done; wait");
    assert_done();
    assert_true(metric("processes_seen") >= 7.0);
    /* With a sanitizer in it the spawner, and so the mark of its child, is as large as three. */
    assert_true(metric("peak_tree_rss_bytes") > metric("peak_rss_bytes"));
    if (model_cell_metric(&cell, "peak_tree_pss_bytes") == NULL) /* a slow machine: it is seldom */
        assert_warned("no peak_tree_pss_bytes: none of the PSS readings");
    else
        assert_true(metric("peak_tree_pss_bytes") < metric("peak_tree_rss_bytes"));
    assert_true(metric("images_reported") == 7.0); /* the shell and six sleeps: forks are none */
}

static void look_once(command_options *options)
{
    options->period_us = 60000000;
}

/* It grows after the only look, and is gone before another. */
static void a_peak_that_nobody_saw_is_reported_by_the_probe(void **state)
{
    (void)state;
    measure_under(&libc_target,
                  (const char *[]){"dd", "if=/dev/zero", "of=/dev/null", "bs=30M", "count=1", NULL},
                  look_once);
    assert_done();
    assert_true(metric("hwm_bytes") >= 30.0 * 1048576.0);
    assert_true(metric("peak_rss_bytes") >= metric("hwm_bytes") * 0.9);
    assert_null(model_cell_metric(&cell, "peak_tree_rss_bytes")); /* and is no tree peak */
    assert_null(model_cell_metric(&cell, "peak_tree_pss_bytes"));
}

/* ---- identity -------------------------------------------------------------------------------- */

static void wrappers_and_a_re_exec_are_proven_inside(void **state)
{
    (void)state;
    measure((const char *[]){"env", "MARK=1", "sh", "-c", "exec sh -c 'exec sh -c true'", NULL});
    assert_done();
    assert_true(metric("images_reported") == 4.0);
}

static void a_program_that_closes_descriptors_and_moves_is_proven(void **state)
{
    (void)state;
    measure((const char *[]){"/usr/bin/env", "-C", "/", "bash", "-c",
                             "for fd in {3..250}; do eval \"exec $fd>&-\"; done; exec sh -c true",
                             NULL});
    assert_done();
    assert_true(metric("images_reported") == 3.0);
}

static void the_probe_has_a_descriptor_of_its_file(void **state)
{
    (void)state;
    measure_shell("[ \"$(readlink /proc/$$/fd/${ALLOCBENCH_PROBE%%:*})\" = "
                  "\"${ALLOCBENCH_PROBE#*:*:*:}\" ]");
    assert_done();
}

static void an_emptied_environment_is_refused(void **state)
{
    (void)state;
    measure_shell("env -i /bin/sh -c '/bin/sleep 1; :'");
    assert_not_done(COMMAND_REFUSED, "did not report who serves its malloc: its environment was "
                                     "emptied");
    assert_non_null(strstr(result.reason, "(pid "));
}

static const char *static_program(void)
{
    static program p;

    program_clear(&p);
    program_inspect("busybox", &p);
    if (p.state != PROGRAM_UNREACHED || strstr(p.reason, "is static") == NULL)
        skip();
    return p.path;
}

static void a_static_child_is_refused(void **state)
{
    char *script = xasprintf("%s sleep 1; :", static_program());

    (void)state;
    measure_shell(script);
    free(script);
    assert_not_done(COMMAND_REFUSED, "is static: a preloaded allocator cannot reach it");
    assert_non_null(strstr(result.reason, "busybox (pid "));
}

static void allow_unreached(command_options *options)
{
    options->unreached = true;
}

static void a_static_command_is_measured_from_outside_when_allowed(void **state)
{
    const char *const argv[] = {static_program(), "sleep", "0.3", NULL};

    (void)state;
    measure(argv);
    assert_not_done(COMMAND_REFUSED, "did not report");
    measure_under(&libc_target, argv, allow_unreached);
    assert_done();
    assert_true(metric("wall_ns") >= 300000000.0);
    assert_true(metric("images_reported") == 0.0);
    assert_warned("images that are not proven: 1; the first: ");
}

static bool parse_jemalloc(target *t)
{
    char message[256];

    memset(t, 0, sizeof *t);
    return target_parse("jemalloc", t, message, sizeof message) && t->missing == NULL;
}

static void a_preloaded_allocator_is_proven(void **state)
{
    target t;

    (void)state;
    if (!parse_jemalloc(&t))
        skip();
    measure_under(&t, (const char *[]){"sh", "-c", "sh -c true; sleep 0.1", NULL}, NULL);
    assert_done();
    assert_string_equal(cell.identity.family, "jemalloc");
    assert_string_equal(cell.identity.file, t.library);
    target_clear(&t);
}

static void a_child_that_drops_the_allocator_is_refused(void **state)
{
    target t;
    char *script;

    (void)state;
    if (!parse_jemalloc(&t))
        skip();
    script = xasprintf("LD_PRELOAD=%s sh -c true", probe == NULL ? "" : probe);
    measure_under(&t, (const char *[]){"sh", "-c", script, NULL}, NULL);
    assert_not_done(COMMAND_REFUSED, "malloc is served by ");
    assert_non_null(strstr(result.reason, "libc.so.6 (glibc"));
    assert_non_null(strstr(result.reason, "not by "));
    assert_non_null(strstr(result.reason, t.library));
    free(script);
    target_clear(&t);
}

static void garbage_from_the_command_is_named_by_line(void **state)
{
    (void)state;
    measure_shell("echo garbage >>\"${ALLOCBENCH_PROBE#*:*:*:}\"");
    assert_not_done(COMMAND_REFUSED, "/cell.jsonl.probe:2:");
    assert_int_equal(access("cell.jsonl.probe", F_OK), 0); /* to look at */
}

/* ---- failures -------------------------------------------------------------------------------- */

static void a_command_that_cannot_run_says_why(void **state)
{
    (void)state;
    measure((const char *[]){"/no/such/program", NULL});
    assert_not_done(COMMAND_FAILED, "cannot run /no/such/program: No such file or directory");
    assert_false(result.has_end);
}

static void ignore_failure(command_options *options)
{
    options->ignore_failure = true;
}

static void a_failing_command_fails_the_cell(void **state)
{
    const char *const argv[] = {"sh", "-c",
                                "echo first >&2; printf 'no\\033 luck\\n\\n' >&2; exit 3", NULL};

    (void)state;
    measure(argv);
    assert_not_done(COMMAND_FAILED, "exited with status 3; its last words: no? luck");
    assert_int_equal(result.exit_status, 3);
    assert_true(result.has_end);
    measure_under(&libc_target, argv, ignore_failure);
    assert_done();
    assert_true(metric("exit_status") == 3.0);
    assert_warned("exited with status 3");
}

static void a_killed_command_names_the_signal(void **state)
{
    (void)state;
    measure_shell("kill -SEGV $$");
    assert_not_done(COMMAND_FAILED, "killed by SIGSEGV");
    assert_int_equal(result.exit_status, 128 + SIGSEGV);
}

static void short_timeout(command_options *options)
{
    options->timeout_ms = 200;
}

static void a_hanging_command_is_killed_with_all_it_made(void **state)
{
    char *text;
    pid_t pid;

    (void)state;
    measure_under(&libc_target,
                  (const char *[]){"sh", "-c",
                                   "trap '' TERM INT HUP; setsid sleep 100 & echo $!; sleep 100",
                                   NULL},
                  short_timeout);
    assert_not_done(COMMAND_FAILED, "hung: no end after 0.2 s");
    text = util_read_file("cell.out", 100, NULL);
    pid = (pid_t)atoi(text);
    assert_true(pid > 1);
    assert_int_equal(kill(pid, 0), -1);
    free(text);
}

static volatile sig_atomic_t stop;

static void stop_at_first_look(uint64_t elapsed_ns, void *user)
{
    (void)elapsed_ns;
    ++*(int *)user;
    stop = 1;
}

static void stop_soon(command_options *options)
{
    looks = 0;
    stop = 0;
    options->stop = &stop;
    options->tick = stop_at_first_look;
    options->user = &looks;
}

static void a_stopped_command_is_killed_and_no_failure(void **state)
{
    (void)state;
    measure_under(&libc_target, (const char *[]){"sleep", "100", NULL}, stop_soon);
    assert_not_done(COMMAND_STOPPED, "stopped");
    assert_int_equal(looks, 1);
}

static void a_folder_that_is_not_there(command_options *options)
{
    options->file = "/no/such/folder/cell.jsonl";
}

static void a_cell_that_cannot_be_created_is_one_line(void **state)
{
    (void)state;
    measure_under(&libc_target, (const char *[]){"true", NULL}, a_folder_that_is_not_there);
    assert_not_done(COMMAND_FAILED, "cannot create /no/such/folder/cell.jsonl.part: No such file");
}

static void a_full_disk_marks_the_cell(void **state)
{
    const struct rlimit unlimited = {RLIM_INFINITY, RLIM_INFINITY}, small = {100, RLIM_INFINITY};

    (void)state;
    if (probe == NULL)
        skip();
    signal(SIGXFSZ, SIG_IGN);
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &small), 0); /* of the tool: the command has its own */
    measure((const char *[]){"true", NULL});
    setrlimit(RLIMIT_FSIZE, &unlimited);
    assert_not_done(COMMAND_FAILED, "cell.jsonl.part: File too large");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(a_command_becomes_a_whole_cell),
        TEST(the_manifest_says_what_ran_and_how),
        TEST(a_tree_of_processes_is_watched),
        TEST(a_peak_that_nobody_saw_is_reported_by_the_probe),
        TEST(wrappers_and_a_re_exec_are_proven_inside),
        TEST(a_program_that_closes_descriptors_and_moves_is_proven),
        TEST(the_probe_has_a_descriptor_of_its_file),
        TEST(an_emptied_environment_is_refused),
        TEST(a_static_child_is_refused),
        TEST(a_static_command_is_measured_from_outside_when_allowed),
        TEST(a_preloaded_allocator_is_proven),
        TEST(a_child_that_drops_the_allocator_is_refused),
        TEST(garbage_from_the_command_is_named_by_line),
        TEST(a_command_that_cannot_run_says_why),
        TEST(a_failing_command_fails_the_cell),
        TEST(a_killed_command_names_the_signal),
        TEST(a_hanging_command_is_killed_with_all_it_made),
        TEST(a_stopped_command_is_killed_and_no_failure),
        TEST(a_cell_that_cannot_be_created_is_one_line),
        TEST(a_full_disk_marks_the_cell),
    };
    int failed;

    if (!begin())
        return 99;
    failed = cmocka_run_group_tests_name("tool_command", tests, NULL, NULL);
    end();
    return failed;
}
