/* command_cell.h - for the tests of tool/command.h: a command is measured in a folder of its own,
 * and its cell is read back. */
#ifndef ABENCH_TESTS_UNIT_COMMAND_CELL_H
#define ABENCH_TESTS_UNIT_COMMAND_CELL_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tool/command.h"
#include "tool/records.h"
#include "tool/util.h"

/* From the environment; without one all is skipped. */
static const char *probe;
static spawner *shared;
static char folder[64];
static target libc_target;
static command_result result;
static model_cell cell;

static inline int set_up(void **state)
{
    (void)state;
    if (probe == NULL)
        return 0;
    snprintf(folder, sizeof folder, "/tmp/allocbench-command-XXXXXX");
    return mkdtemp(folder) == NULL || chdir(folder) != 0;
}

static inline size_t count_files(void)
{
    DIR *dir = opendir(folder);
    const struct dirent *entry;
    size_t count = 0;

    while ((entry = readdir(dir)) != NULL)
        count += entry->d_name[0] != '.';
    closedir(dir);
    return count;
}

static inline void forget(void)
{
    free(result.reason);
    memset(&result, 0, sizeof result);
    records_clear(&cell);
}

static inline int tear_down(void **state)
{
    DIR *dir;
    const struct dirent *entry;

    (void)state;
    forget();
    if (probe == NULL)
        return 0;
    dir = opendir(folder);
    while ((entry = readdir(dir)) != NULL)
        (void)unlinkat(dirfd(dir), entry->d_name, 0);
    closedir(dir);
    return chdir("/") != 0 || rmdir(folder) != 0;
}

/* Measures a command under t; change (may be NULL) changes the options before. */
static inline void measure_under(const target *t, const char *const *argv,
                                 void (*change)(command_options *options))
{
    char **envp;
    launch how = {0};
    command_options options = {0};

    if (probe == NULL)
        skip();
    forget();
    envp = target_environment(t, false, NULL, 0);
    how.argv = (char **)(uintptr_t)argv;
    how.envp = envp;
    target_launch(t, &how);
    options.spawner = shared;
    options.how = &how;
    options.target = t;
    options.probe = probe;
    options.file = "cell.jsonl"; /* relative, on purpose */
    options.output = "cell.out";
    options.errors = "cell.err";
    options.timeout_ms = 30000;
    if (change != NULL)
        change(&options);
    command_measure(&options, &result);
    target_environment_free(envp);
}

static inline void measure(const char *const *argv)
{
    measure_under(&libc_target, argv, NULL);
}

static inline void measure_shell(const char *script)
{
    measure((const char *[]){"sh", "-c", script, NULL});
}

/* The cell is whole, nothing else is left but the output, and it can be read back. */
static inline void assert_done(void)
{
    char message[512];

    if (result.state != COMMAND_DONE)
        fail_msg("state %d: %s", (int)result.state, result.reason);
    assert_null(result.reason);
    assert_int_equal(count_files(), 3);
    records_clear(&cell);
    if (!records_read(folder, "cell.jsonl", &cell, message, sizeof message))
        fail_msg("%s", message);
}

static inline void assert_not_done(command_state state, const char *reason)
{
    if (result.state != state)
        fail_msg("state %d: %s", (int)result.state,
                 result.reason == NULL ? "(no reason)" : result.reason);
    if (strstr(result.reason, reason) == NULL)
        fail_msg("\"%s\" does not say \"%s\"", result.reason, reason);
    assert_null(strchr(result.reason, '\n'));
    assert_int_equal(access("cell.jsonl", F_OK), -1);
    assert_int_equal(access("cell.jsonl.part", F_OK), -1);
}

static inline double metric(const char *name)
{
    const model_metric *found = model_cell_metric(&cell, name);

    if (found == NULL)
        fail_msg("no metric %s", name);
    return found->value;
}

static inline void assert_warned(const char *text)
{
    for (size_t at = 0; at < cell.warnings_count; at++)
        if (strstr(cell.warnings[at], text) != NULL)
            return;
    fail_msg("no warning says \"%s\"", text);
}

/* What main does before the tests and after them. */
static inline bool begin(void)
{
    char message[256];

    alarm(100); /* a test that hangs is a failure */
    probe = getenv("ALLOCBENCH_TEST_PROBE");
    shared = spawner_start();
    return shared != NULL && target_parse("glibc", &libc_target, message, sizeof message);
}

static inline void end(void)
{
    spawner_destroy(shared);
    target_clear(&libc_target);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

#endif
