/* The numbers in a directory, in one of the file system's and in the kernel's own. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "system/tasks.h"

#define MANY 400 /* names of more bytes than one read takes */

static char directory[] = "/tmp/test_system_tasks.XXXXXX";

static void with_file(const char *name, int is_made)
{
    char path[128];
    int fd;

    snprintf(path, sizeof path, "%s/%s", directory, name);
    if (!is_made) {
        assert_int_equal(unlink(path), 0);
        return;
    }
    fd = open(path, O_WRONLY | O_CREAT | O_EXCL, 0600);
    assert_true(fd >= 0);
    close(fd);
}

static void with_number(int number, int is_made)
{
    char name[16];

    snprintf(name, sizeof name, "%d", number);
    with_file(name, is_made);
}

/* Reads a directory to its end. Returns how many numbers there are, and their sum. */
static uint32_t read_all(const char *path, uint64_t *sum)
{
    abench__tasks tasks;
    uint32_t count = 0;
    int32_t number;
    int got;

    *sum = 0;
    assert_int_equal(abench__tasks_open(&tasks, AT_FDCWD, path), 0);
    while ((got = abench__tasks_next(&tasks, &number)) > 0) {
        assert_true(number > 0);
        *sum += (uint64_t)number;
        count++;
    }
    assert_int_equal(got, 0);
    assert_int_equal(abench__tasks_next(&tasks, &number), 0); /* it stays so */
    abench__tasks_close(&tasks);
    assert_int_equal(tasks.fd, -1);
    abench__tasks_close(&tasks);
    return count;
}

static void only_numbers_of_tasks_are_found(void **state)
{
    static const char *const others[] = {"0",   "00",      "2147483648", "99999999999999999999",
                                         "7x",  "x7",      "-7",         "+7",
                                         "7 ",  " 7",      "7.0",        "self",
                                         "0x7", "\xd9\xa7"};
    uint64_t sum;

    (void)state;
    assert_int_equal(read_all(directory, &sum), 0);
    for (size_t i = 0; i < sizeof others / sizeof others[0]; i++)
        with_file(others[i], 1);
    assert_int_equal(read_all(directory, &sum), 0);
    with_number(7, 1);
    with_number(INT32_MAX, 1);
    assert_int_equal(read_all(directory, &sum), 2);
    assert_int_equal(sum, 7 + (uint64_t)INT32_MAX);
    with_number(7, 0);
    with_number(INT32_MAX, 0);
    for (size_t i = 0; i < sizeof others / sizeof others[0]; i++)
        with_file(others[i], 0);
}

static void as_many_as_there_are_are_found(void **state)
{
    uint64_t sum;

    (void)state;
    for (int i = 1; i <= MANY; i++)
        with_number(100000 + i, 1);
    assert_int_equal(read_all(directory, &sum), MANY);
    assert_int_equal(sum, 100000 * (uint64_t)MANY + (uint64_t)MANY * (MANY + 1) / 2);
    for (int i = 1; i <= MANY; i++)
        with_number(100000 + i, 0);
}

static void what_is_no_directory_is_an_error(void **state)
{
    abench__tasks tasks;
    int32_t number;

    (void)state;
    assert_int_equal(abench__tasks_open(&tasks, AT_FDCWD, "/proc/self/no-such"), -ENOENT);
    abench__tasks_close(&tasks);
    assert_int_equal(abench__tasks_open(&tasks, AT_FDCWD, "/proc/self/stat"), -ENOTDIR);
    assert_true(abench__tasks_next(&tasks, &number) < 0);
    abench__tasks_close(&tasks);
}

static void the_threads_of_a_process_that_ended_are_none(void **state)
{
    abench__tasks tasks;
    int32_t number;
    char path[32];
    pid_t pid;

    (void)state;
    pid = fork();
    assert_true(pid >= 0);
    if (pid == 0) {
        alarm(20);
        for (;;)
            pause();
    }
    snprintf(path, sizeof path, "/proc/%d/task", (int)pid);
    assert_int_equal(abench__tasks_open(&tasks, AT_FDCWD, path), 0);
    assert_int_equal(abench__tasks_next(&tasks, &number), 1);
    assert_int_equal(number, pid);
    assert_int_equal(abench__tasks_next(&tasks, &number), 0);
    abench__tasks_close(&tasks);
    assert_int_equal(abench__tasks_open(&tasks, AT_FDCWD, path), 0);
    kill(pid, SIGKILL);
    assert_int_equal(waitpid(pid, NULL, 0), pid);
    assert_int_equal(abench__tasks_next(&tasks, &number), -ENOENT);
    abench__tasks_close(&tasks);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(only_numbers_of_tasks_are_found),
        cmocka_unit_test(as_many_as_there_are_are_found),
        cmocka_unit_test(what_is_no_directory_is_an_error),
        cmocka_unit_test(the_threads_of_a_process_that_ended_are_none),
    };
    int failed;

    if (mkdtemp(directory) == NULL)
        return 1;
    failed = cmocka_run_group_tests(tests, NULL, NULL);
    rmdir(directory);
    return failed;
}
