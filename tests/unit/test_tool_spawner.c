#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <allocbench/base.h>

#include "tool/spawner.h"
#include "tool/util.h"

#define MIB ((uint64_t)1 << 20)

extern char **environ;

static spawner *shared; /* of all tests but those that end it */

/* A shell that runs script; argv has room for four. */
static launch shell(const char **argv, const char *script)
{
    launch how = {0};

    argv[0] = "sh";
    argv[1] = "-c";
    argv[2] = script;
    argv[3] = NULL;
    how.argv = (char **)(uintptr_t)argv;
    how.envp = environ;
    how.input = how.output = how.errors = -1;
    return how;
}

static spawner_end run(const launch *how, spawner_begun *begun)
{
    char message[256] = "";
    spawner_end end = {0};

    if (!spawner_run(shared, how, begun, message, sizeof message) ||
        !spawner_wait(shared, &end, message, sizeof message))
        fail_msg("%s", message);
    return end;
}

static spawner_end run_shell(const char *script)
{
    const char *argv[4];
    const launch how = shell(argv, script);
    spawner_begun begun;

    return run(&how, &begun);
}

/* Runs script with its output in a pipe, which is returned. */
static int start_shell(spawner *s, const char *script)
{
    const char *argv[4];
    launch how = shell(argv, script);
    char message[256] = "";
    spawner_begun begun;
    int ends[2];

    assert_int_equal(pipe2(ends, O_CLOEXEC), 0);
    how.output = ends[1];
    if (!spawner_run(s, &how, &begun, message, sizeof message))
        fail_msg("%s", message);
    close(ends[1]);
    return ends[0];
}

static void assert_says(int fd, const char *expected)
{
    char text[256] = "";

    assert_int_equal(util_read_all(fd, text, strlen(expected)), strlen(expected));
    assert_string_equal(text, expected);
}

/* Nobody holds the other end any more. */
static void assert_ends_soon(int fd)
{
    struct pollfd end = {fd, POLLIN, 0};
    char byte;

    assert_int_equal(poll(&end, 1, 20000), 1);
    assert_int_equal(read(fd, &byte, 1), 0);
    close(fd);
}

static void it_reports_the_last_name(void **state)
{
    (void)state;
    assert_string_equal(run_shell("exit 3").last_name, "sh");
    assert_string_equal(run_shell("exec env -i sleep 0").last_name, "sleep");
    assert_string_equal(run_shell("kill -KILL $$").last_name, "sh");
    assert_string_equal(run_shell("(sleep 0.05 &); sleep 0; exit 0").last_name, "sh");
}

static void it_reports_status_and_usage(void **state)
{
    const char *argv[4];
    launch how = shell(argv, "exit 3");
    const uint64_t before_ns = abench_clock_ns();
    spawner_begun begun;
    const spawner_end end = run(&how, &begun);

    (void)state;
    assert_true(WIFEXITED(end.status));
    assert_int_equal(WEXITSTATUS(end.status), 3);
    assert_true(before_ns <= begun.start_ns && begun.start_ns < end.end_ns);
    assert_true(end.end_ns <= abench_clock_ns());
    assert_true(end.minor_faults > 0);
    assert_true(end.user_ns + end.system_ns <= end.end_ns - begun.start_ns + 20000000u);
    assert_true(begun.floor_bytes > 0);
    assert_true(begun.floor_bytes <= end.peak_rss_bytes + end.peak_rss_bytes / 10);
    assert_int_equal(end.orphans + end.leftovers + end.survivors + end.killed, 0);
}

static void it_reports_the_signal_that_killed(void **state)
{
    const spawner_end end = run_shell("kill -SEGV $$");

    (void)state;
    assert_true(WIFSIGNALED(end.status));
    assert_int_equal(WTERMSIG(end.status), SIGSEGV);
    assert_int_equal(end.killed, 0);
}

/* The trap that the spawner is for: beside it, the same child of this process, which is large. */
static void a_large_tool_does_not_show_in_the_peak(void **state)
{
    const size_t size = 200 * MIB;
    const char *argv[4], *what;
    const launch how = shell(argv, "exit 0");
    char *memory = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    struct rusage usage;
    spawner_begun begun;
    spawner_end end;
    pid_t pid;

    (void)state;
    assert_ptr_not_equal(memory, MAP_FAILED);
    memset(memory, 1, size);
    pid = launch_start(&how, &what);
    assert_int_equal(wait4(pid, NULL, 0, &usage), pid);
    end = run(&how, &begun);
    munmap(memory, size);
    assert_true((uint64_t)usage.ru_maxrss * 1024 >= size); /* else the trap is not there */
    assert_true(end.peak_rss_bytes < 50 * MIB);
    assert_true(begun.floor_bytes < 50 * MIB);
}

static void a_megabyte_of_environment_arrives(void **state)
{
    enum { COUNT = 40, LENGTH = 50000 };
    const char *argv[4];
    launch how = shell(argv, "printf %s \"$V39\" | wc -c");
    char *envp[COUNT + 2], message[256] = "";
    spawner_begun before, begun;
    spawner_end end;
    int ends[2];

    (void)state;
    run(&how, &before);
    for (int at = 0; at < COUNT; at++)
        envp[at] = xasprintf("V%d=%0*d", at, LENGTH, at);
    envp[COUNT] = xstrdup("PATH=/usr/bin:/bin");
    envp[COUNT + 1] = NULL;
    how.envp = envp;
    assert_int_equal(pipe2(ends, O_CLOEXEC), 0);
    how.output = ends[1];
    assert_true(spawner_run(shared, &how, &begun, message, sizeof message));
    close(ends[1]);
    assert_says(ends[0], "50000\n");
    close(ends[0]);
    assert_true(spawner_wait(shared, &end, message, sizeof message));
    assert_int_equal(end.status, 0);
    for (int at = 0; at <= COUNT; at++)
        free(envp[at]);
    /* and it is gone from the spawner afterwards */
    how.envp = environ;
    how.output = -1;
    assert_true(begun.floor_bytes > before.floor_bytes + MIB);
    run(&how, &begun);
    assert_true(begun.floor_bytes < before.floor_bytes + MIB);
}

static void a_failing_exec_is_one_line(void **state)
{
    const char *argv[] = {"/nonexistent/program", NULL};
    launch how = {0};
    char message[256] = "";
    spawner_begun begun;

    (void)state;
    how.argv = (char **)(uintptr_t)argv;
    how.envp = environ;
    how.input = how.output = how.errors = -1;
    assert_false(spawner_run(shared, &how, &begun, message, sizeof message));
    assert_string_equal(message, "cannot run /nonexistent/program: No such file or directory");
    assert_int_equal(run_shell("exit 0").status, 0); /* and it goes on */
}

static void a_failing_setting_is_named(void **state)
{
    const char *argv[4];
    launch how = shell(argv, "exit 0");
    char message[256] = "";
    spawner_begun begun;

    (void)state;
    how.has_cpus = true;
    assert_false(spawner_run(shared, &how, &begun, message, sizeof message));
    assert_string_equal(message, "cannot run sh: cpus: Invalid argument");
}

/* Numbers that the spawner itself uses, and some that it does not. */
static void inherited_descriptors_keep_their_numbers(void **state)
{
    const char *argv[4];
    launch how = shell(argv, "for n in 3 4 5 6 7; do [ -e /proc/$$/fd/$n ] && echo $n; done; "
                             "echo four >&4; echo six >&6");
    char message[256] = "";
    const int inherit[] = {4, 6};
    int ends[2], spare[2];
    spawner_begun begun;
    spawner_end end;

    (void)state;
    assert_int_equal(pipe2(ends, O_CLOEXEC), 0);
    spare[0] = fcntl(ends[0], F_DUPFD_CLOEXEC, 20);
    spare[1] = fcntl(ends[1], F_DUPFD_CLOEXEC, 20);
    close(ends[0]);
    close(ends[1]);
    for (int at = 0; at < 2; at++)
        assert_int_equal(fcntl(inherit[at], F_GETFD), -1); /* nobody else's here */
    assert_int_equal(dup3(spare[1], 4, O_CLOEXEC), 4);
    assert_int_equal(dup3(spare[1], 6, O_CLOEXEC), 6);
    how.output = spare[1];
    how.inherit = inherit;
    how.inherits = 2;
    assert_true(spawner_run(shared, &how, &begun, message, sizeof message));
    close(spare[1]);
    close(4);
    close(6);
    assert_says(spare[0], "4\n6\nfour\nsix\n");
    assert_true(spawner_wait(shared, &end, message, sizeof message));
    assert_ends_soon(spare[0]); /* the spawner keeps none of them */
}

/* A process that ends when its parent has ended; and a shell that waits for that without being its
 * parent, until somebody has reaped it. */
static void orphans_are_reaped_while_the_command_runs(void **state)
{
    const spawner_end end = run_shell(
        "pid=$(sh -c 'sh -c \"while [ -e /proc/$$ ]; do :; done\" >/dev/null & echo $!'); "
        "while [ -e /proc/$pid ]; do :; done");

    (void)state;
    assert_int_equal(end.status, 0);
    assert_int_equal(end.orphans, 1);
    assert_true(end.orphans_peak_rss_bytes > 0);
    assert_int_equal(end.leftovers, 0);
}

static void what_outlives_the_command_is_named_and_killed(void **state)
{
    char message[256] = "";
    spawner_end end;
    const int fd = start_shell(shared, "(setsid sh -c 'trap \"\" TERM HUP; echo up; sleep 100' &); "
                                       "exit 0");

    (void)state;
    assert_says(fd, "up\n");
    assert_true(spawner_wait(shared, &end, message, sizeof message));
    assert_ends_soon(fd);
    assert_int_equal(end.status, 0);
    assert_true(end.leftovers >= 1 && end.leftovers <= 2);
    assert_non_null(strstr(end.leftover_names, "sh ("));
    assert_int_equal(end.survivors, 0);
}

static void kill_reaches_every_descendant(void **state)
{
    char message[256] = "";
    spawner_end end;
    const int fd = start_shell(shared, "trap '' TERM; setsid sh -c 'sleep 100 & sleep 100' & "
                                       "(setsid sleep 100 &); echo up; sleep 100");

    (void)state;
    assert_says(fd, "up\n");
    spawner_kill(shared);
    assert_true(spawner_wait(shared, &end, message, sizeof message));
    assert_ends_soon(fd);
    assert_int_equal(end.killed, 1);
    assert_int_equal(end.survivors, 0);
    assert_true(WIFSIGNALED(end.status));
    assert_int_equal(WTERMSIG(end.status), SIGKILL);
}

static void a_kill_that_comes_too_late_does_no_harm(void **state)
{
    char message[256] = "";
    struct pollfd ended = {spawner_fd(shared), POLLIN, 0};
    spawner_end end;

    (void)state;
    close(start_shell(shared, "exit 5"));
    assert_int_equal(poll(&ended, 1, 20000), 1); /* the answer is on its way already */
    spawner_kill(shared);
    assert_true(spawner_wait(shared, &end, message, sizeof message));
    assert_int_equal(WEXITSTATUS(end.status), 5);
    assert_int_equal(WEXITSTATUS(run_shell("exit 6").status), 6);
}

/* In a process that has one: exits with 0 when its command has none. */
static _Noreturn void run_below_a_terminal(void)
{
    const int master = posix_openpt(O_RDWR | O_NOCTTY);
    const char *argv[4];
    const launch how = shell(argv, "exec 3</dev/tty");
    char message[256];
    spawner_begun begun;
    spawner_end end;
    spawner *s;

    if (master < 0 || grantpt(master) != 0 || unlockpt(master) != 0)
        _exit(77);
    if (setsid() < 0 || open(ptsname(master), O_RDWR) < 0 || open("/dev/tty", O_RDWR) < 0)
        _exit(77);
    s = spawner_start();
    if (s == NULL || !spawner_run(s, &how, &begun, message, sizeof message) ||
        !spawner_wait(s, &end, message, sizeof message))
        _exit(2);
    _exit(WIFEXITED(end.status) && WEXITSTATUS(end.status) != 0 ? 0 : 1);
}

static void a_command_has_no_terminal(void **state)
{
    int status;
    pid_t pid;

    (void)state;
    fflush(NULL);
    pid = fork();
    if (pid == 0)
        run_below_a_terminal();
    assert_int_equal(waitpid(pid, &status, 0), pid);
    assert_true(WIFEXITED(status));
    if (WEXITSTATUS(status) == 77)
        skip();
    assert_int_equal(WEXITSTATUS(status), 0);
}

static _Noreturn void be_a_tool(int output)
{
    const char *argv[4];
    launch how = shell(argv, "(setsid sleep 100 &); setsid sleep 100 & echo up; sleep 100");
    spawner *s = spawner_start();
    char message[256];
    spawner_begun begun;

    how.output = output;
    if (s == NULL || !spawner_run(s, &how, &begun, message, sizeof message))
        _exit(1);
    for (;;)
        pause();
}

static void everything_dies_with_the_tool(void **state)
{
    int ends[2], status;
    pid_t tool;

    (void)state;
    assert_int_equal(pipe2(ends, O_CLOEXEC), 0);
    tool = fork();
    if (tool == 0)
        be_a_tool(ends[1]);
    close(ends[1]);
    assert_says(ends[0], "up\n");
    kill(tool, SIGKILL);
    assert_int_equal(waitpid(tool, &status, 0), tool);
    assert_ends_soon(ends[0]);
}

static void a_spawner_that_died_is_an_error(void **state)
{
    spawner *s = spawner_start();
    const char *argv[4];
    const launch how = shell(argv, "exit 0");
    char message[256] = "";
    spawner_begun begun;
    spawner_end end;
    int fd;

    (void)state;
    fd = start_shell(s, "echo up; sleep 100; :");
    assert_says(fd, "up\n");
    kill(spawner_pid(s), SIGKILL);
    assert_false(spawner_wait(s, &end, message, sizeof message));
    assert_non_null(strstr(message, "has died"));
    assert_ends_soon(fd); /* the command went with it */
    assert_false(spawner_run(s, &how, &begun, message, sizeof message));
    spawner_destroy(s);
}

static void destroy_ends_it_and_its_command(void **state)
{
    spawner *s = spawner_start();
    const pid_t pid = spawner_pid(s);
    const int fd = start_shell(s, "setsid sleep 100 & echo up; sleep 100");

    (void)state;
    assert_says(fd, "up\n");
    spawner_destroy(s);
    assert_ends_soon(fd);
    assert_int_equal(kill(pid, 0), -1);
    spawner_destroy(NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(inherited_descriptors_keep_their_numbers),
        cmocka_unit_test(it_reports_status_and_usage),
        cmocka_unit_test(it_reports_the_last_name),
        cmocka_unit_test(it_reports_the_signal_that_killed),
        cmocka_unit_test(a_large_tool_does_not_show_in_the_peak),
        cmocka_unit_test(a_megabyte_of_environment_arrives),
        cmocka_unit_test(a_failing_exec_is_one_line),
        cmocka_unit_test(a_failing_setting_is_named),
        cmocka_unit_test(orphans_are_reaped_while_the_command_runs),
        cmocka_unit_test(what_outlives_the_command_is_named_and_killed),
        cmocka_unit_test(kill_reaches_every_descendant),
        cmocka_unit_test(a_kill_that_comes_too_late_does_no_harm),
        cmocka_unit_test(a_command_has_no_terminal),
        cmocka_unit_test(everything_dies_with_the_tool),
        cmocka_unit_test(a_spawner_that_died_is_an_error),
        cmocka_unit_test(destroy_ends_it_and_its_command),
    };
    int failed;

    alarm(100); /* a test that hangs is a failure */
    for (int fd = 3; fd < 20; fd++)
        close(fd); /* numbers are tested here: none from outside */
    shared = spawner_start();
    if (shared == NULL)
        return 99;
    failed = cmocka_run_group_tests_name("tool_spawner", tests, NULL, NULL);
    spawner_destroy(shared);
    return failed;
}
