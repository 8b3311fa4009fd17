/* Which files of a result directory a killed tool has left behind, and that only they go. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tool/leftover.h"

static void test_names(void **state)
{
    static const char *const others[] = {
        "",
        ".tmp",
        "x.tmp",
        "12-0.tmp",
        ".12-0.tmp",
        "x.12.tmp",
        "x.-0.tmp",
        "x.12-.tmp",
        "x.0-0.tmp",
        "x.+12-0.tmp",
        "x.12-0.tmq",
        "x.12-0.tmp.x",
        "x.12-0x.tmp",
        "x.99999999999-0.tmp",
        "x.12--1.tmp",
        "x. 12-0.tmp",
        "x.12-0",
        "x.123456789012345678901234567890-0.tmp",
    };
    pid_t pid = 0;

    (void)state;
    for (size_t i = 0; i < sizeof others / sizeof *others; i++)
        if (leftover_name(others[i], &pid))
            fail_msg("'%s' is taken for a leftover", others[i]);
    assert_true(leftover_name("REPORT.md.12-3.tmp", &pid));
    assert_int_equal(pid, 12);
    assert_true(leftover_name("x.2147483647-4294967295.tmp", &pid));
    assert_int_equal(pid, 2147483647);
}

static void put(const char *folder, const char *format, long pid)
{
    char name[64], path[256];
    int fd;

    snprintf(name, sizeof name, format, pid);
    snprintf(path, sizeof path, "%s/%s", folder, name);
    fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    assert_true(fd >= 0);
    close(fd);
}

static bool is_there(const char *folder, const char *format, long pid)
{
    char name[64], path[512];

    snprintf(name, sizeof name, format, pid);
    snprintf(path, sizeof path, "%s/%s", folder, name);
    return access(path, F_OK) == 0;
}

/* Of a process that has been, and been waited for. */
static long gone(void)
{
    const pid_t child = fork();

    if (child == 0)
        _exit(0);
    assert_true(child > 0);
    assert_int_equal(waitpid(child, NULL, 0), child);
    return child;
}

static void test_removed(void **state)
{
    static const char *const folders[] = {"", "/rounds", "/cells", "/hgrm"};
    char directory[] = "/tmp/allocbench-leftover.XXXXXX", outside[] = "/tmp/allocbench-out.XXXXXX";
    const long dead = gone(), own = getpid();
    char path[256], command[600];

    (void)state;
    leftover_remove("/nowhere/at/all");
    assert_non_null(mkdtemp(directory));
    assert_non_null(mkdtemp(outside));
    put(outside, "x.%ld-0.tmp", dead);
    for (size_t i = 0; i < 4; i++) {
        snprintf(path, sizeof path, "%s%s", directory, folders[i]);
        if (i == 3)
            assert_int_equal(symlink(outside, path), 0); /* is not followed */
        else if (i > 0)
            assert_int_equal(mkdir(path, 0700), 0);
        if (i == 3)
            break;
        put(path, "raw.tsv.%ld-0.tmp", dead);
        put(path, "raw.tsv.%ld-0.tmp", own);
        put(path, "x.%ld.jsonl", dead);
    }
    leftover_remove(directory);
    for (size_t i = 0; i < 3; i++) {
        snprintf(path, sizeof path, "%s%s", directory, folders[i]);
        assert_false(is_there(path, "raw.tsv.%ld-0.tmp", dead));
        assert_true(is_there(path, "raw.tsv.%ld-0.tmp", own));
        assert_true(is_there(path, "x.%ld.jsonl", dead));
    }
    assert_true(is_there(outside, "x.%ld-0.tmp", dead));
    snprintf(command, sizeof command, "rm -rf '%s' '%s'", directory, outside);
    assert_int_equal(system(command), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_names),
        cmocka_unit_test(test_removed),
    };

    return cmocka_run_group_tests_name("tool_leftover", tests, NULL, NULL);
}
