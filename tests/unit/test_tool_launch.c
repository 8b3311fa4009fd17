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
#include <sys/wait.h>
#include <unistd.h>

#include "tool/launch.h"
#include "tool/tree.h"
#include "tool/util.h"

extern char **environ;

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

/* Starts it with its output in a pipe and returns what it printed; its status in *status. */
static char *run(launch *how, int *status)
{
    static char text[4096];
    const char *what;
    int ends[2];
    ssize_t got;
    pid_t pid;

    assert_int_equal(pipe2(ends, O_CLOEXEC), 0);
    how->output = ends[1];
    pid = launch_start(how, &what);
    close(ends[1]);
    assert_true(pid > 0);
    got = util_read_all(ends[0], text, sizeof text - 1);
    close(ends[0]);
    assert_true(got >= 0);
    text[got] = '\0';
    assert_int_equal(waitpid(pid, status, 0), pid);
    return text;
}

static char *run_shell(const char *script)
{
    const char *argv[4];
    launch how = shell(argv, script);
    int status;

    return run(&how, &status);
}

/* true: every holder of the other end is gone. */
static bool ends_soon(int fd)
{
    struct pollfd end = {fd, POLLIN, 0};
    char byte;

    return poll(&end, 1, 20000) == 1 && read(fd, &byte, 1) == 0;
}

static void a_failing_exec_is_reported_and_no_exit_status(void **state)
{
    const char *argv[] = {"/nonexistent/program", NULL}, *what = "";
    launch how = {0};

    (void)state;
    how.argv = (char **)(uintptr_t)argv;
    how.envp = environ;
    how.input = how.output = how.errors = -1;
    errno = 0;
    assert_int_equal(launch_start(&how, &what), -1);
    assert_int_equal(errno, ENOENT);
    assert_string_equal(what, "exec");
    assert_int_equal(waitpid(-1, NULL, WNOHANG), -1); /* and no child is left */
    assert_int_equal(errno, ECHILD);
}

static void a_failing_setting_names_its_step(void **state)
{
    const char *argv[4], *what = "";
    launch how = shell(argv, "true");

    (void)state;
    how.has_cpus = true; /* none of them */
    assert_int_equal(launch_start(&how, &what), -1);
    assert_int_equal(errno, EINVAL);
    assert_string_equal(what, "cpus");
}

static void a_program_is_found_by_the_tools_path(void **state)
{
    const char *argv[4], *envp[] = {"PATH=/nowhere", "MARK=yes", NULL};
    launch how = shell(argv, "echo $PATH $MARK");
    int status;

    (void)state;
    how.envp = (char **)(uintptr_t)envp;
    assert_string_equal(run(&how, &status), "/nowhere yes\n");
    assert_int_equal(status, 0);
}

static void only_what_is_inherited_stays_open(void **state)
{
    const int kept = fcntl(0, F_DUPFD, 70), lost = fcntl(0, F_DUPFD, 80);
    const char *argv[] = {"sh", "-c",
                          "for n in 3 4 5 6 7 8 9 70 80; do "
                          "[ -e /proc/$$/fd/$n ] && printf '%s ' $n; done; readlink /proc/$$/fd/0",
                          NULL};
    launch how = {0};
    int status;

    (void)state;
    how.argv = (char **)(uintptr_t)argv;
    how.envp = environ;
    how.input = how.errors = -1;
    how.inherit = &kept;
    how.inherits = 1;
    assert_int_equal(kept, 70);
    assert_int_equal(lost, 80);
    assert_string_equal(run(&how, &status), "70 /dev/null\n");
    close(kept);
    close(lost);
}

/* Standard output given as descriptor 2 and standard error as 1, in a process of its own. */
static void crossed_descriptors_are_put_right(void **state)
{
    char text[64] = "";
    int output[2], errors[2];
    pid_t pid;

    (void)state;
    assert_int_equal(pipe2(output, O_CLOEXEC), 0);
    assert_int_equal(pipe2(errors, O_CLOEXEC), 0);
    pid = fork();
    if (pid == 0) {
        const char *argv[4], *what;
        launch how = shell(argv, "echo out; echo err >&2");
        dup2(output[1], 2);
        dup2(errors[1], 1);
        how.output = 2;
        how.errors = 1;
        _exit(waitpid(launch_start(&how, &what), NULL, 0) < 0);
    }
    close(output[1]);
    close(errors[1]);
    assert_int_equal(util_read_all(output[0], text, 4), 4);
    assert_string_equal(text, "out\n");
    assert_int_equal(util_read_all(errors[0], text, 4), 4);
    assert_string_equal(text, "err\n");
    close(output[0]);
    close(errors[0]);
    waitpid(pid, NULL, 0);
}

static void signals_are_as_after_login(void **state)
{
    sigset_t blocked;
    const char *text;

    (void)state;
    sigemptyset(&blocked);
    sigaddset(&blocked, SIGUSR1);
    sigprocmask(SIG_BLOCK, &blocked, NULL);
    signal(SIGPIPE, SIG_IGN);
    text = run_shell("exec grep -E '^Sig(Blk|Ign):' /proc/self/status");
    signal(SIGPIPE, SIG_DFL);
    sigprocmask(SIG_UNBLOCK, &blocked, NULL);
    assert_string_equal(text, "SigBlk:\t0000000000000000\nSigIgn:\t0000000000000000\n");
}

static void the_child_leads_its_own_group(void **state)
{
    const char *argv[4], *what;
    launch how = shell(argv, "sleep 100");
    pid_t pid;

    (void)state;
    pid = launch_start(&how, &what);
    assert_true(pid > 0);
    assert_int_equal(getpgid(pid), pid);
    launch_kill(pid);
}

static void factors_are_applied(void **state)
{
    const char *argv[4];
    launch how = shell(argv, "cat /proc/self/personality; exec grep -E "
                             "'^(THP_enabled|Cpus_allowed_list):' /proc/self/status");
    char expected[128];
    cpu_set_t mine;
    size_t cpu = 0;
    int status;

    (void)state;
    assert_int_equal(sched_getaffinity(0, sizeof mine, &mine), 0);
    while (!CPU_ISSET(cpu, &mine))
        cpu++;
    how.thp_never = true;
    how.aslr_off = true;
    how.has_cpus = true;
    CPU_SET(cpu, &how.cpus);
    snprintf(expected, sizeof expected, "00040000\nTHP_enabled:\t0\nCpus_allowed_list:\t%zu\n",
             cpu);
    assert_string_equal(run(&how, &status), expected);
}

static void kill_takes_the_whole_group(void **state)
{
    const char *argv[4], *what;
    launch how = shell(argv, "trap '' TERM; sleep 100 & echo; sleep 100");
    int ends[2];
    char byte;
    pid_t pid;

    (void)state;
    assert_int_equal(pipe2(ends, O_CLOEXEC), 0);
    how.output = ends[1];
    pid = launch_start(&how, &what);
    close(ends[1]);
    assert_true(pid > 0);
    assert_int_equal(util_read_all(ends[0], &byte, 1), 1); /* the group is complete */
    launch_kill(pid);
    assert_true(ends_soon(ends[0]));
    close(ends[0]);
}

static void the_child_dies_with_its_parent(void **state)
{
    int ends[2], status;
    pid_t pid;

    (void)state;
    assert_int_equal(pipe2(ends, O_CLOEXEC), 0);
    pid = fork();
    if (pid == 0) {
        const char *argv[4], *what;
        launch how = shell(argv, "exec sleep 100");
        how.output = ends[1];
        if (launch_start(&how, &what) > 0)
            raise(SIGKILL);
        _exit(1);
    }
    close(ends[1]);
    assert_true(ends_soon(ends[0]));
    assert_int_equal(waitpid(pid, &status, 0), pid);
    assert_true(WIFSIGNALED(status));
    close(ends[0]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_failing_exec_is_reported_and_no_exit_status),
        cmocka_unit_test(a_failing_setting_names_its_step),
        cmocka_unit_test(a_program_is_found_by_the_tools_path),
        cmocka_unit_test(only_what_is_inherited_stays_open),
        cmocka_unit_test(crossed_descriptors_are_put_right),
        cmocka_unit_test(signals_are_as_after_login),
        cmocka_unit_test(the_child_leads_its_own_group),
        cmocka_unit_test(factors_are_applied),
        cmocka_unit_test(kill_takes_the_whole_group),
        cmocka_unit_test(the_child_dies_with_its_parent),
    };

    alarm(60); /* a test that hangs is a failure */
    return cmocka_run_group_tests_name("tool_launch", tests, NULL, NULL);
}
