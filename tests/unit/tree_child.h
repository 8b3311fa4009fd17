/* tree_child.h - trees of processes that end with the test, for tests of readings of trees. */
#ifndef ABENCH_TESTS_TREE_CHILD_H
#define ABENCH_TESTS_TREE_CHILD_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include <signal.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "sampler/tree.h"
#include "touched.h"

#define MB ((uint64_t)1 << 20)
#define ALL                                                                                        \
    (ABENCH_TIER_STATM | ABENCH_TIER_STATUS | ABENCH_TIER_ROLLUP | ABENCH_TIER_FAULTS |            \
     ABENCH_TIER_SCHEDULE)

__attribute__((unused)) static int is_near(uint64_t value, uint64_t expected, uint64_t tolerance)
{
    return value + tolerance >= expected && value <= expected + tolerance;
}

/* ---- trees ----------------------------------------------------------------------------------- */

/* Where the processes of a tree say that they are ready: a byte each. */
static int ready[2];

__attribute__((unused)) static void say_ready(void)
{
    if (write(ready[1], "r", 1) != 1)
        _exit(1);
}

__attribute__((unused)) static void wait_ready(uint32_t count)
{
    char byte;

    for (uint32_t i = 0; i < count; i++)
        assert_int_equal(read(ready[0], &byte, 1), 1);
}

__attribute__((unused)) static void stay(void)
{
    for (;;)
        pause();
}

/* A child that ends with its parent, also when that ended before the child could say so. */
__attribute__((unused)) static pid_t fork_bound(void)
{
    const pid_t parent = getpid(), pid = fork();

    if (pid == 0) {
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        if (getppid() != parent)
            _exit(1);
    }
    return pid;
}

/* A child that does what act does, for ever. */
__attribute__((unused)) static pid_t start(void (*act)(void))
{
    const pid_t pid = fork_bound();

    if (pid == 0) {
        act();
        _exit(0);
    }
    return pid;
}

__attribute__((unused)) static void be_ready_and_stay(void)
{
    say_ready();
    stay();
}

__attribute__((unused)) static void end_tree(pid_t pid)
{
    kill(pid, SIGKILL);
    waitpid(pid, NULL, 0);
}

__attribute__((unused)) static abench_tree *create(pid_t root, int plain)
{
    abench_tree *tree;

    assert_int_equal(abench__tree_create(root, plain, NULL, &tree), ABENCH_OK);
    return tree;
}

__attribute__((unused)) static abench_memory read_tree(abench_tree *tree, uint32_t tiers)
{
    abench_memory sum = ABENCH_MEMORY_INIT;

    assert_int_equal(abench_tree_read(tree, tiers, &sum), ABENCH_OK);
    return sum;
}

/* Whether the last reading has the process. */
__attribute__((unused)) static int has(const abench_tree *tree, pid_t wanted)
{
    abench_memory memory = ABENCH_MEMORY_INIT;
    int32_t pid;

    for (uint32_t i = 0; abench_tree_at(tree, i, &pid, NULL, &memory) == ABENCH_OK; i++)
        if (pid == wanted)
            return 1;
    return 0;
}

#endif
