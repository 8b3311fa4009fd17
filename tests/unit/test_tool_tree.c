#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <allocbench/base.h>

#include "tool/tree.h"
#include "tool/util.h"

#define MIB ((uint64_t)1 << 20)

/* Every process of a test writes one byte when it is where it should be. */
static int ready[2];

static void say_ready(void)
{
    if (write(ready[1], "", 1) != 1)
        _exit(1);
}

static void await(int count)
{
    char bytes[16];

    assert_int_equal(util_read_all(ready[0], bytes, (size_t)count), count);
}

static _Noreturn void stay(void)
{
    prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0);
    say_ready();
    for (;;)
        pause();
}

static int set_up(void **state)
{
    (void)state;
    return pipe2(ready, O_CLOEXEC);
}

static pid_t group; /* that a test has made */

static void end_group(pid_t pid)
{
    kill(-pid, SIGKILL);
    waitpid(pid, NULL, 0);
    group = 0;
}

static int tear_down(void **state)
{
    (void)state;
    if (group > 0)
        end_group(group);
    close(ready[0]);
    close(ready[1]);
    return 0;
}

/* A child that leads a group of its own and does body. */
static pid_t start(void (*body)(void))
{
    pid_t pid;

    fflush(NULL);
    pid = fork();
    if (pid == 0) {
        prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0);
        setpgid(0, 0);
        body();
        _exit(0);
    }
    assert_true(pid > 0);
    group = pid;
    return pid;
}

static char *touched(size_t size)
{
    char *memory = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

    if (memory == MAP_FAILED)
        _exit(1);
    memset(memory, 1, size);
    return memory;
}

/* ---- processes ------------------------------------------------------------------------------- */

static void a_process_is_read_as_it_is(void **state)
{
    tree_process self;

    (void)state;
    assert_true(tree_read_process(getpid(), &self));
    assert_int_equal(self.pid, getpid());
    assert_int_equal(self.parent, getppid());
    assert_int_equal(self.threads, 1);
    assert_int_equal(self.state, 'R');
    assert_true(self.start_time > 0);
    assert_true(self.start_code <= (uintptr_t)&a_process_is_read_as_it_is);
    assert_true(self.start_stack >= (uintptr_t)&self);
}

static void be_badly_named(void)
{
    prctl(PR_SET_NAME, ") R 1 (1 2 3", 0, 0, 0);
    stay();
}

static void a_name_with_parentheses_does_not_confuse(void **state)
{
    const pid_t pid = start(be_badly_named);
    tree_process process;

    (void)state;
    await(1);
    assert_true(tree_read_process(pid, &process));
    assert_int_equal(process.parent, getpid());
    assert_int_equal(process.threads, 1);
    end_group(pid);
    assert_false(tree_read_process(pid, &process));
}

static void be_three_deep(void)
{
    if (fork() == 0) {
        for (int at = 0; at < 2; at++)
            if (fork() == 0)
                stay();
        stay();
    }
    stay();
}

static void both_ways_find_the_same_tree(void **state)
{
    const pid_t pid = start(be_three_deep);
    tree_list list = {NULL, 0, 0};

    (void)state;
    await(4);
    for (int plain = 0; plain < 2; plain++) {
        tree_walk(getpid(), plain != 0, &list);
        assert_int_equal(list.count, 4);
        assert_int_equal(list.items[0].pid, pid);
        assert_true(list.items[0].above == TREE_TOP);
        assert_int_equal(list.items[1].parent, pid);
        for (size_t at = 1; at < list.count; at++) {
            assert_true(list.items[at].above < at);
            assert_int_equal(list.items[list.items[at].above].pid, list.items[at].parent);
        }
        tree_walk(pid, plain != 0, &list);
        assert_int_equal(list.count, 3);
    }
    end_group(pid);
    tree_walk(getpid(), false, &list);
    assert_int_equal(list.count, 0);
    free(list.items);
}

static void *fork_in_thread(void *unused)
{
    (void)unused;
    if (fork() == 0)
        stay();
    stay();
}

static void be_threaded(void)
{
    pthread_t thread;

    if (pthread_create(&thread, NULL, fork_in_thread, NULL) != 0)
        _exit(1);
    stay();
}

static void children_of_other_threads_are_found(void **state)
{
    const pid_t pid = start(be_threaded);
    tree_list list = {NULL, 0, 0};

    (void)state;
    await(3);
    tree_walk(pid, false, &list);
    assert_int_equal(list.count, 1);
    assert_int_equal(list.items[0].parent, pid);
    free(list.items);
    end_group(pid);
}

enum { MANY = 1200 }; /* their pids do not fit one page of text */

static void be_many(void)
{
    for (int at = 0; at < MANY; at++)
        if (fork() == 0)
            stay();
    stay();
}

static void a_thousand_children_are_all_found(void **state)
{
    const pid_t pid = start(be_many);
    tree_list list = {NULL, 0, 0};

    (void)state;
    for (int at = 0; at < MANY + 1; at += 10) /* await takes a few */
        await(at + 10 <= MANY + 1 ? 10 : MANY + 1 - at);
    tree_walk(pid, false, &list);
    assert_int_equal(list.count, MANY);
    free(list.items);
    end_group(pid);
}

/* ---- images ---------------------------------------------------------------------------------- */

static void be_forked(void)
{
    if (fork() == 0)
        stay();
    stay();
}

static void a_fork_is_the_same_image(void **state)
{
    const pid_t pid = start(be_forked);
    tree *t = tree_create(getpid(), abench_clock_ns(), 0, false);
    struct stat self;

    (void)state;
    await(2);
    tree_look(t);
    tree_look(t);
    assert_int_equal(stat("/proc/self/exe", &self), 0);
    assert_int_equal(t->images_count, 1);
    assert_int_equal(t->processes_seen, 2);
    assert_int_equal(t->images[0].device, self.st_dev);
    assert_int_equal(t->images[0].inode, self.st_ino);
    assert_non_null(strstr(t->images[0].path, "test_tool_tree"));
    assert_int_equal(t->images[0].pid, pid);
    assert_false(t->images[0].hidden);
    tree_destroy(t);
    end_group(pid);
}

static int go[2];

static void exec_when_told(void)
{
    char byte;

    say_ready();
    if (read(go[0], &byte, 1) == 1)
        execlp("sh", "sh", "-c", "echo; sleep 100 & wait", (char *)NULL);
}

static void rename_when_told(void)
{
    char byte;

    say_ready();
    if (read(go[0], &byte, 1) != 1 || prctl(PR_SET_NAME, "another) (name") != 0)
        _exit(1);
    stay();
}

static void an_image_has_the_name_that_its_process_had_last(void **state)
{
    tree *t = tree_create(getpid(), abench_clock_ns(), 0, false);
    char own[16];
    pid_t pid;

    (void)state;
    assert_int_equal(pipe2(go, O_CLOEXEC), 0);
    assert_int_equal(prctl(PR_GET_NAME, own), 0);
    pid = start(rename_when_told);
    await(1);
    tree_look(t);
    assert_int_equal(t->images_count, 1);
    assert_string_equal(t->images[0].name, own);
    assert_int_equal(write(go[1], "", 1), 1);
    await(1);
    tree_look(t);
    assert_int_equal(t->images_count, 1);
    assert_string_equal(t->images[0].name, "another) (name");
    tree_destroy(t);
    end_group(pid);
    close(go[0]);
    close(go[1]);
}

/* The same process, before its exec and after; and what that one starts. */
static void an_exec_is_another_image(void **state)
{
    tree *t = tree_create(getpid(), abench_clock_ns(), 0, false);
    int output[2];
    char byte;
    pid_t pid;

    (void)state;
    assert_int_equal(pipe2(go, O_CLOEXEC), 0);
    assert_int_equal(pipe2(output, O_CLOEXEC), 0);
    fflush(NULL);
    pid = fork();
    if (pid == 0) {
        setpgid(0, 0);
        dup2(output[1], 1);
        exec_when_told();
        _exit(1);
    }
    group = pid;
    await(1);
    tree_look(t);
    assert_int_equal(t->images_count, 1);
    assert_int_equal(write(go[1], "", 1), 1);
    assert_int_equal(util_read_all(output[0], &byte, 1), 1); /* the shell runs */
    tree_look(t);
    assert_true(t->images_count >= 2);
    assert_int_equal(t->images[1].pid, pid);
    assert_true(t->images[0].inode != t->images[1].inode);
    assert_true(t->images[0].start_stack != t->images[1].start_stack);
    end_group(pid);
    tree_destroy(t);
    close(go[0]);
    close(go[1]);
    close(output[0]);
    close(output[1]);
}

/* ---- memory ---------------------------------------------------------------------------------- */

static void be_large_with_workers(void)
{
    touched(64 * MIB);
    for (int at = 0; at < 2; at++)
        if (fork() == 0)
            stay();
    stay();
}

static void pss_counts_what_workers_share_once(void **state)
{
    const pid_t pid = start(be_large_with_workers);
    tree *t = tree_create(getpid(), abench_clock_ns(), 0, false);

    (void)state;
    await(3);
    tree_look(t);
    assert_int_equal(t->readings_count, 1);
    assert_int_equal(t->readings[0].processes, 3);
    assert_true(t->readings[0].has_pss && t->has_pss);
    assert_true(t->peak_rss_bytes >= 192 * MIB);
    assert_int_equal(t->rss_then_bytes, t->readings[0].rss_bytes);
    assert_true(t->peak_pss_bytes >= 64 * MIB);
    assert_true(t->peak_pss_bytes < 128 * MIB);
    assert_true(t->peak_hwm_bytes >= 64 * MIB);
    assert_true(t->peak_hwm_bytes < 128 * MIB);
    tree_destroy(t);
    end_group(pid);
}

static void be_large_in_vfork(void)
{
    touched(64 * MIB);
    if (vfork() == 0) {
        (void)!write(ready[1], "", 1);
        sleep(100);
        _exit(0);
    }
}

/* posix_spawn does this between its fork and its exec. */
static void a_vfork_child_is_not_counted_twice(void **state)
{
    const pid_t pid = start(be_large_in_vfork);
    tree_process parent;

    (void)state;
    await(1);
    do
        assert_true(tree_read_process(pid, &parent));
    while (parent.state != 'D'); /* it sleeps until its child calls exec */
    for (int plain = 0; plain < 2; plain++) {
        tree *t = tree_create(getpid(), abench_clock_ns(), 0, plain != 0);
        tree_look(t);
        assert_int_equal(t->processes_seen, 2);
        assert_true(t->peak_rss_bytes >= 64 * MIB);
        assert_true(t->peak_rss_bytes < 96 * MIB);
        assert_true(t->peak_pss_bytes < 96 * MIB);
        tree_destroy(t);
    }
    end_group(pid);
}

static void pss_is_seldom_and_rss_always(void **state)
{
    const pid_t pid = start(be_forked);
    tree *t = tree_create(getpid(), abench_clock_ns(), 0, false);

    (void)state;
    await(2);
    for (int at = 0; at < 5; at++)
        tree_look(t);
    assert_int_equal(t->readings_count, 5);
    assert_true(t->readings[0].has_pss);
    for (int at = 0; at < 5; at++)
        assert_true(t->readings[at].rss_bytes > 0);
    for (int at = 1; at < 5; at++) /* however slow this machine is */
        assert_true(!t->readings[at].has_pss ||
                    t->readings[at].time_ns - t->readings[0].time_ns >= 100000000u);
    assert_true(t->due_ns > abench_clock_ns());
    tree_destroy(t);
    end_group(pid);
}

static void a_tree_that_is_gone_gives_no_reading(void **state)
{
    const pid_t pid = start(be_forked);
    tree *t = tree_create(pid, abench_clock_ns(), 0, false);

    (void)state;
    await(2);
    end_group(pid);
    tree_look(t);
    assert_int_equal(t->readings_count, 0);
    assert_int_equal(t->images_count, 0);
    assert_false(t->has_pss);
    tree_destroy(t);
    tree_destroy(NULL);
}

static void a_zombie_is_no_image_and_no_memory(void **state)
{
    tree *t = tree_create(getpid(), abench_clock_ns(), 0, false);
    siginfo_t info;
    pid_t pid;

    (void)state;
    fflush(NULL);
    pid = fork();
    if (pid == 0)
        _exit(0);
    assert_int_equal(waitid(P_PID, (id_t)pid, &info, WEXITED | WNOWAIT), 0);
    tree_look(t);
    assert_int_equal(t->processes_seen, 1);
    assert_int_equal(t->images_count, 0);
    assert_int_equal(t->readings_count, 0);
    waitpid(pid, NULL, 0);
    tree_destroy(t);
}

static void a_long_timeline_is_thinned_out(void **state)
{
    const pid_t pid = start(be_forked);
    tree *t = tree_create(pid, abench_clock_ns(), 1, false);

    (void)state;
    await(2);
    for (unsigned at = 0; at <= TREE_READINGS; at++)
        tree_look(t);
    assert_int_equal(t->readings_count, TREE_READINGS / 2 + 1);
    for (size_t at = 1; at < t->readings_count; at++)
        assert_true(t->readings[at - 1].time_ns < t->readings[at].time_ns);
    assert_true(t->readings[0].has_pss);
    tree_destroy(t);
    end_group(pid);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(a_process_is_read_as_it_is),
        TEST(a_name_with_parentheses_does_not_confuse),
        TEST(both_ways_find_the_same_tree),
        TEST(children_of_other_threads_are_found),
        TEST(a_thousand_children_are_all_found),
        TEST(a_fork_is_the_same_image),
        TEST(an_exec_is_another_image),
        TEST(an_image_has_the_name_that_its_process_had_last),
        TEST(pss_counts_what_workers_share_once),
        TEST(a_vfork_child_is_not_counted_twice),
        TEST(pss_is_seldom_and_rss_always),
        TEST(a_tree_that_is_gone_gives_no_reading),
        TEST(a_zombie_is_no_image_and_no_memory),
        TEST(a_long_timeline_is_thinned_out),
    };

    alarm(100); /* a test that hangs is a failure */
    return cmocka_run_group_tests_name("tool_tree", tests, NULL, NULL);
}
