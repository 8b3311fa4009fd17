/* The sampler's helper process: its end, and what there is where it cannot be made. */
#include "helper_owner.h"

#include <poll.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>

#include "base/arena.h"
#include "sampler/helper.h"

/* ---- its end --------------------------------------------------------------------------------- */

static void signals_of_the_terminal_do_not_end_it(void **state)
{
    abench_sampler *sampler = create();
    const pid_t helper = only_child();

    (void)state;
    assert_int_equal(abench_sampler_start(sampler), ABENCH_OK);
    kill(helper, SIGINT);
    kill(helper, SIGTERM);
    kill(helper, SIGTSTP);
    wait_for_some(sampler);
    assert_int_equal(abench_sampler_stop(sampler), ABENCH_OK);
    abench_sampler_destroy(sampler);
}

/* 1: it ended, though nobody may have waited for it yet. */
static int ends_soon(int pidfd)
{
    struct pollfd end = {pidfd, POLLIN, 0};

    return poll(&end, 1, 20000) == 1;
}

static int open_process(pid_t pid)
{
    const int fd = (int)syscall(SYS_pidfd_open, pid, 0);

    assert_true(fd >= 0);
    return fd;
}

static void a_killed_helper_is_an_error_and_keeps_its_readings(void **state)
{
    abench_sampler *sampler = create();
    const pid_t helper = only_child();
    const int pidfd = open_process(helper);
    uint32_t count;

    (void)state;
    assert_int_equal(abench_sampler_start(sampler), ABENCH_OK);
    wait_for_some(sampler);
    kill(helper, SIGKILL);
    assert_true(ends_soon(pidfd));
    assert_int_equal(abench_sampler_stop(sampler), ABENCH_ERROR_STATE);
    assert_int_equal(only_child(), 0);
    count = abench_sampler_count(sampler);
    assert_true(count >= 2 && last_of(sampler).rss_bytes > 0);
    assert_int_equal(abench_sampler_start(sampler), ABENCH_ERROR_STATE);
    assert_int_equal(abench_sampler_stop(sampler), ABENCH_ERROR_STATE);
    abench_sampler_destroy(sampler);
    close(pidfd);

    sampler = create(); /* idle, and waited for by the host */
    kill(only_child(), SIGKILL);
    assert_true(waitpid(-1, NULL, __WALL) > 0);
    assert_int_equal(abench_sampler_start(sampler), ABENCH_ERROR_STATE);
    abench_sampler_destroy(sampler);
}

static void a_helper_that_does_not_answer_is_killed(void **state)
{
    static const uint64_t bytes = ABENCH__HELPER_STACK_BYTES + 16 * 4096;
    unsigned char *shared = map(bytes, MAP_SHARED);
    abench__helper *helper = (void *)(shared + ABENCH__HELPER_STACK_BYTES);
    abench__pace *pace = (void *)(shared + ABENCH__HELPER_STACK_BYTES + 4096);
    abench_memory *readings = (void *)(shared + ABENCH__HELPER_STACK_BYTES + 8 * 4096);
    uint64_t clock;

    (void)state;
    assert_true(sizeof *helper <= 4096 && sizeof *pace <= 7 * 4096);
    pace->tiers = ABENCH_TIER_STATM;
    abench__timeline_init(&pace->timeline, readings, 2, 1000000);
    helper->pace = pace;
    helper->shared = shared;
    helper->shared_bytes = bytes;
    helper->patience_ms = 20000;
    assert_int_equal(abench__helper_create(helper), ABENCH_OK);
    helper->patience_ms = 50;
    kill(only_child(), SIGSTOP);
    /* As if it had stopped between the clock's start and its answer. */
    abench__timeline_run(&pace->timeline, abench_clock_ns());
    assert_int_equal(abench__helper_start(helper), ABENCH_ERROR_STATE);
    assert_int_equal(only_child(), 0);
    clock = abench__timeline_clock(&pace->timeline);
    assert_int_equal(abench__clock_shows(clock, 0), abench__clock_shows(clock, LONG_NS));
    abench__helper_end(helper);
    munmap(shared, bytes);
}

#define RUNS     1
#define EXECUTES 2 /* becomes another program */
#define FORKS    4 /* and its child, which has its descriptors, lives on */

/* In a child: makes a helper, tells its number, and does one of these. */
static void tell_and_wait(int tell, int does)
{
    char *const words[] = {(char *)"sleep", (char *)"60", NULL};
    abench_sampler *sampler = create();
    const pid_t helper = only_child();

    alarm(60);
    if ((does & RUNS) != 0 && abench_sampler_start(sampler) != ABENCH_OK)
        _exit(1);
    if ((does & FORKS) != 0 && fork() == 0)
        alarm(60);
    else if (write(tell, &helper, sizeof helper) != sizeof helper)
        _exit(1);
    if ((does & EXECUTES) != 0)
        execvp("sleep", words);
    for (;;)
        pause();
}

static void a_helper_ends_with_its_owner(void **state)
{
    static const int ways[] = {0, RUNS, EXECUTES, EXECUTES | RUNS, FORKS, FORKS | RUNS};

    (void)state;
    assert_int_equal(prctl(PR_SET_CHILD_SUBREAPER, 1), 0); /* what they leave is waited for here */
    for (size_t way = 0; way < sizeof ways / sizeof ways[0]; way++) {
        int told[2], pidfd;
        pid_t owner, helper;
        assert_int_equal(pipe(told), 0);
        owner = fork();
        assert_true(owner >= 0);
        if (owner == 0) {
            setpgid(0, 0); /* to end its child too */
            tell_and_wait(told[1], ways[way]);
        }
        assert_int_equal(read(told[0], &helper, sizeof helper), sizeof helper);
        pidfd = open_process(helper);
        if ((ways[way] & EXECUTES) == 0)
            kill(owner, SIGKILL);
        assert_true(ends_soon(pidfd));
        kill(-owner, SIGKILL);
        while (waitpid(-owner, NULL, __WALL) > 0) /* the helper is in its group */
            continue;
        close(pidfd);
        close(told[0]);
        close(told[1]);
    }
}

/* ---- where there can be none ----------------------------------------------------------------- */

static void without_descriptors_a_thread_would_fail_too(void **state)
{
    abench_sampler_options options = ABENCH_SAMPLER_OPTIONS_INIT;
    abench_sampler *sampler;
    struct rlimit limit, none;
    abench_status status;

    (void)state;
    options.flags = ABENCH_SAMPLER_PROCESS;
    getrlimit(RLIMIT_NOFILE, &limit);
    none = limit;
    none.rlim_cur = 0;
    setrlimit(RLIMIT_NOFILE, &none);
    status = abench_sampler_create(&options, &sampler);
    setrlimit(RLIMIT_NOFILE, &limit);
    assert_int_equal(status, ABENCH_ERROR_SYSTEM);
    assert_null(sampler);
    assert_int_equal(only_child(), 0);
}

static int lowest_free_descriptor(void)
{
    const int fd = dup(2);

    close(fd);
    return fd;
}

static void without_a_process_there_is_a_thread(void **state)
{
    abench_sampler_options options = ABENCH_SAMPLER_OPTIONS_INIT;
    struct rlimit limit = {0, 0};
    abench_sampler *sampler;
    int status;
    pid_t pid;

    (void)state;
    pid = fork(); /* whose limits are its own */
    assert_true(pid >= 0);
    if (pid == 0) {
        alarm(60);
        /* The descriptors suffice for a thread's files, not for the sockets beside them. */
        options.flags = ABENCH_SAMPLER_PROCESS;
        options.period_us = 1000;
        limit.rlim_cur = limit.rlim_max = (rlim_t)lowest_free_descriptor() + 2;
        if (setrlimit(RLIMIT_NOFILE, &limit) != 0)
            _exit(1);
        if (abench_sampler_create(&options, &sampler) != ABENCH_OK)
            _exit(2);
        if (abench_sampler_is_process(sampler))
            _exit(3);
        if (abench_sampler_start(sampler) != ABENCH_OK)
            _exit(4);
        wait_for_some(sampler);
        if (abench_sampler_stop(sampler) != ABENCH_OK)
            _exit(5);
        abench_sampler_destroy(sampler);
        _exit(0);
    }
    assert_int_equal(waitpid(pid, &status, 0), pid);
    assert_int_equal(status, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(signals_of_the_terminal_do_not_end_it),
        cmocka_unit_test(a_killed_helper_is_an_error_and_keeps_its_readings),
        cmocka_unit_test(a_helper_that_does_not_answer_is_killed),
        cmocka_unit_test(a_helper_ends_with_its_owner),
        cmocka_unit_test(without_descriptors_a_thread_would_fail_too),
        cmocka_unit_test(without_a_process_there_is_a_thread),
    };
    const int made = helpers_are_made();

    if (made <= 0) {
        puts("a thread takes the place of the helper in a build with this sanitizer");
        return made != 0;
    }
    return cmocka_run_group_tests(tests, NULL, NULL);
}
