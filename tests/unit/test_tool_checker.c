/* What a cell says of its checks, and what its death or silence says. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tool/checker.h"
#include "tool/util.h"

static char folder[] = "/tmp/allocbench-test-XXXXXX";
static char message[2048];
static checker_result result;

static int make_folder(void **state)
{
    (void)state;
    return mkdtemp(folder) == NULL ? -1 : 0;
}

static int remove_folder(void **state)
{
    char *command = xasprintf("rm -rf '%s'", folder);
    const int status = system(command);

    (void)state;
    free(command);
    return status;
}

static int clear(void **state)
{
    (void)state;
    checker_clear(&result);
    return 0;
}

/* Runs the checker with a program of the shell in place of the cell: $2 is --only, $3 the first
 * check's number. */
static bool run(const char *script, double silence_s, const volatile sig_atomic_t *stop)
{
    char *path = xasprintf("%s/cell", folder);
    char *text = xasprintf("#!/bin/sh\n%s\n", script);
    checker c = {.cell = path, .only = "x", .silence_s = silence_s, .stop = stop};
    target t;
    bool good;

    assert_true(util_write_file(path, text, strlen(text), message, sizeof message));
    assert_int_equal(chmod(path, 0755), 0);
    assert_true(target_parse("glibc", &t, message, sizeof message));
    message[0] = '\0';
    good = checker_run(&c, &t, &result, message, sizeof message);
    assert_int_equal(waitpid(-1, NULL, WNOHANG), -1); /* nothing is left */
    target_clear(&t);
    free(path);
    free(text);
    return good;
}

static void assert_line(size_t at, checker_kind kind, const char *name, const char *detail)
{
    assert_true(at < result.lines_count);
    assert_int_equal(result.lines[at].kind, kind);
    assert_string_equal(result.lines[at].name, name);
    if (strstr(result.lines[at].detail, detail) == NULL)
        fail_msg("'%s' does not say '%s'", result.lines[at].detail, detail);
}

static void assert_counts(size_t checks, size_t faulty, size_t lines)
{
    assert_int_equal(result.checks, checks);
    assert_int_equal(result.faulty, faulty);
    assert_int_equal(result.lines_count, lines);
}

static void lines_are_counted_by_check(void **state)
{
    (void)state;
    assert_true(run("echo check a; echo \"ok a all is well: $1 $2 $3\"\n"
                    "echo check b; echo FAULT b one; echo FAULT b two\n"
                    "echo check c; echo note c by the way; echo ok c\n"
                    "echo done; exit 4",
                    10, NULL));
    assert_counts(3, 1, 5);
    assert_line(0, CHECKER_OK, "a", "all is well: --check x 0");
    assert_line(1, CHECKER_FAULT, "b", "one");
    assert_line(2, CHECKER_FAULT, "b", "two");
    assert_line(3, CHECKER_NOTE, "c", "by the way");
    assert_line(4, CHECKER_OK, "c", "");
}

static void what_the_allocator_prints_is_no_line(void **state)
{
    (void)state;
    assert_true(run("echo my allocator 1.0; echo check a; echo ok b stolen; echo ok ab longer\n"
                    "echo FAULT; echo FAULT a; echo check; echo ok a; echo done\n"
                    "echo 'check late'",
                    10, NULL));
    assert_counts(2, 1, 2);
    assert_line(0, CHECKER_FAULT, "a", "");
    assert_line(1, CHECKER_OK, "a", "");
}

static void a_death_is_the_fault_of_its_check_and_the_rest_is_run(void **state)
{
    (void)state;
    assert_true(run("case $3 in\n"
                    "0) echo check a; echo ok a; echo check b; echo 'heap is broken' >&2\n"
                    "   kill -SEGV $$;;\n"
                    "2) echo check c; echo FAULT c first; exit 3;;\n"
                    "3) echo check d; echo ok d; echo done;;\n"
                    "esac",
                    10, NULL));
    assert_counts(4, 2, 5);
    assert_line(0, CHECKER_OK, "a", "");
    assert_line(1, CHECKER_FAULT, "b", "killed by SIGSEGV; it said: heap is broken");
    assert_line(2, CHECKER_FAULT, "c", "first");
    assert_line(3, CHECKER_FAULT, "c", "the process ended with status 3");
    assert_line(4, CHECKER_OK, "d", "");
}

static void a_death_before_the_first_check_ends_it(void **state)
{
    (void)state;
    assert_true(run("kill -ABRT $$", 10, NULL));
    assert_counts(1, 1, 1);
    assert_line(0, CHECKER_FAULT, "start", "killed by SIGABRT");
}

static void a_death_behind_the_last_check_is_one_more(void **state)
{
    (void)state;
    assert_true(run("echo check a; echo ok a; echo done; kill -BUS $$", 10, NULL));
    assert_counts(2, 1, 2);
    assert_line(1, CHECKER_FAULT, "exit", "killed by SIGBUS");
}

static void a_silence_is_the_fault_of_its_check(void **state)
{
    (void)state;
    assert_true(run("case $3 in\n"
                    "0) echo check a; exec sleep 100;;\n"
                    "1) echo check b; echo ok b; echo done; exec sleep 100;;\n"
                    "esac",
                    0.2, NULL));
    assert_counts(3, 2, 3);
    assert_line(0, CHECKER_FAULT, "a", "hung: no end after 0.2 s");
    assert_line(1, CHECKER_OK, "b", "");
    assert_line(2, CHECKER_FAULT, "exit", "hung");
}

/* Its output is closed; the silence is told all the same. */
static void a_process_that_closes_its_output_is_not_waited_for(void **state)
{
    (void)state;
    assert_true(run("echo check a; echo ok a; echo done; exec sleep 100 >&-", 0.2, NULL));
    assert_counts(2, 1, 2);
    assert_line(1, CHECKER_FAULT, "exit", "killed by SIGKILL");
}

static void a_cell_without_end_is_stopped(void **state)
{
    (void)state;
    assert_true(run("while :; do echo check again; echo ok again; done", 10, NULL));
    assert_in_range(result.checks, 1000, 5000);
    assert_true(result.faulty > 0);
}

static void endless_lines_are_left_out(void **state)
{
    (void)state;
    assert_true(run("echo check a; head -c 100000 /dev/zero | tr '\\0' x; echo\n"
                    "printf 'ok a \\033[31mred\\n'; echo done",
                    10, NULL));
    assert_counts(1, 0, 1);
    assert_line(0, CHECKER_OK, "a", "?[31mred");
}

static void an_interrupt_ends_it(void **state)
{
    const volatile sig_atomic_t stop = 1;

    (void)state;
    assert_false(run("echo check a; exec sleep 100", 100, &stop));
    assert_string_equal(message, "interrupted");
}

static void a_cell_that_is_none_is_told(void **state)
{
    const checker c = {.cell = "/nowhere/cell", .only = "", .silence_s = 1};
    target t;

    (void)state;
    assert_true(target_parse("glibc", &t, message, sizeof message));
    assert_false(checker_run(&c, &t, &result, message, sizeof message));
    assert_non_null(strstr(message, "the cell cannot be started (exec): No such file"));
    target_clear(&t);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_teardown(lines_are_counted_by_check, clear),
        cmocka_unit_test_teardown(what_the_allocator_prints_is_no_line, clear),
        cmocka_unit_test_teardown(a_death_is_the_fault_of_its_check_and_the_rest_is_run, clear),
        cmocka_unit_test_teardown(a_death_before_the_first_check_ends_it, clear),
        cmocka_unit_test_teardown(a_death_behind_the_last_check_is_one_more, clear),
        cmocka_unit_test_teardown(a_silence_is_the_fault_of_its_check, clear),
        cmocka_unit_test_teardown(a_process_that_closes_its_output_is_not_waited_for, clear),
        cmocka_unit_test_teardown(a_cell_without_end_is_stopped, clear),
        cmocka_unit_test_teardown(endless_lines_are_left_out, clear),
        cmocka_unit_test_teardown(an_interrupt_ends_it, clear),
        cmocka_unit_test_teardown(a_cell_that_is_none_is_told, clear),
    };
    return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
