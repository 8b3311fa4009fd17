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

#include "tool/oom.h"
#include "tool/spawner.h"
#include "tool/util.h"

extern char **environ;

static void the_machines_count_is_that_of_vmstat(void **state)
{
    char *text = util_read_file("/proc/vmstat", 1 << 20, NULL);
    const char *line = text == NULL ? NULL : strstr(text, "\noom_kill ");
    unsigned long long expected = 0;
    oom_counts counts;

    (void)state;
    oom_read(&counts);
    if (line != NULL)
        expected = strtoull(line + strlen("\noom_kill "), NULL, 10);
    free(text);
    assert_int_equal(counts.has_machine, line != NULL);
    assert_true(counts.machine >= expected); /* another may have died since */
    assert_true(counts.machine < expected + 1000);
}

static void what_grew_is_said(void **state)
{
    const oom_counts before = {.group = 3, .machine = 7, .has_group = true, .has_machine = true};
    oom_counts after = before;

    (void)state;
    assert_string_equal(oom_between(&before, &after), "");
    after.machine = 8;
    assert_string_equal(oom_between(&before, &after),
                        " - out of memory: the machine counts 1 oom kill");
    after.group = 5;
    assert_string_equal(oom_between(&before, &after),
                        " - out of memory: the cgroup counts 2 oom kills");
}

static void a_count_that_could_not_be_read_says_nothing(void **state)
{
    const oom_counts nothing = {0}, something = {.group = 3, .machine = 7, .has_group = true};

    (void)state;
    assert_string_equal(oom_between(&nothing, &something), "");
    assert_string_equal(oom_between(&something, &nothing), "");
}

static bool put(const char *group, const char *name, const char *text)
{
    char *path = xasprintf("%s/%s", group, name);
    const int fd = open(path, O_WRONLY | O_CLOEXEC);
    const bool written = fd >= 0 && util_write_all(fd, text, strlen(text));

    if (fd >= 0)
        close(fd);
    free(path);
    return written;
}

/* A memory control group below our own, with 64 MiB and no swap. NULL: none can be made here. */
static char *make_group(void)
{
    char *text = util_read_file("/proc/self/cgroup", 1 << 16, NULL);
    const char *first = text == NULL ? NULL : strstr(text, ":memory:/");
    const char *second = text == NULL ? NULL : strstr(text, "0::/");
    char *group = NULL;
    bool made = false;

    if (first != NULL)
        group = xasprintf("/sys/fs/cgroup/memory%.*s/allocbench-%ld", (int)strcspn(first + 8, "\n"),
                          first + 8, (long)getpid());
    else if (second != NULL)
        group = xasprintf("/sys/fs/cgroup%.*s/allocbench-%ld", (int)strcspn(second + 3, "\n"),
                          second + 3, (long)getpid());
    if (group != NULL && mkdir(group, 0755) == 0) {
        made = first != NULL
                   ? put(group, "memory.limit_in_bytes", "67108864") &&
                         put(group, "memory.swappiness", "0")
                   : put(group, "memory.max", "67108864") && put(group, "memory.swap.max", "0");
        if (!made)
            rmdir(group);
    }
    free(text);
    if (made)
        return group;
    free(group);
    return NULL;
}

/* Inside the group: what is said of a command that the kernel killed there. */
static void run_out_of_memory(const char *group, char *text, size_t size)
{
    const char *const argv[] = {"tail", "/dev/zero", NULL};
    launch how = {0};
    oom_counts before, after;
    spawner_begun begun;
    spawner_end end;
    spawner *s;

    how.argv = (char **)(uintptr_t)argv;
    how.envp = environ;
    how.input = how.output = how.errors = -1;
    if (!put(group, "cgroup.procs", "0") || (s = spawner_start()) == NULL)
        return;
    oom_read(&before);
    if (spawner_run(s, &how, &begun, text, size) && spawner_wait(s, &end, text, size)) {
        oom_read(&after);
        snprintf(text, size, "signal %d%s", WIFSIGNALED(end.status) ? WTERMSIG(end.status) : 0,
                 oom_between(&before, &after));
    }
    spawner_destroy(s);
}

static void a_kill_for_want_of_memory_is_counted_by_the_group(void **state)
{
    char *group = make_group(), text[256] = "";
    int ends[2];
    pid_t pid;

    (void)state;
    if (group == NULL)
        skip();
    assert_int_equal(pipe2(ends, O_CLOEXEC), 0);
    pid = fork();
    if (pid == 0) {
        run_out_of_memory(group, text, sizeof text);
        util_write_all(ends[1], text, strlen(text));
        _exit(0);
    }
    close(ends[1]);
    assert_true(util_read_all(ends[0], text, sizeof text - 1) >= 0);
    close(ends[0]);
    waitpid(pid, NULL, 0);
    rmdir(group);
    free(group);
    assert_string_equal(text, "signal 9 - out of memory: the cgroup counts 1 oom kill");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_machines_count_is_that_of_vmstat),
        cmocka_unit_test(what_grew_is_said),
        cmocka_unit_test(a_count_that_could_not_be_read_says_nothing),
        cmocka_unit_test(a_kill_for_want_of_memory_is_counted_by_the_group),
    };

    alarm(60); /* a test that hangs is a failure */
    return cmocka_run_group_tests_name("tool_oom", tests, NULL, NULL);
}
