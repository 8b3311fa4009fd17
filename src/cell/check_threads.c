/* check_threads.c - blocks that outlive their thread or change hands, and a fork between them. */
#include "cell/check.h"

#include <pthread.h>
#include <signal.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define HELD_MOST 3000

static check_block held[HELD_MOST];

static size_t size_of(size_t at)
{
    return at % 100 == 0 ? 100000 + at : 1 + at * 7 % 5000;
}

static void *make_all(void *unused)
{
    for (size_t at = 0; at < HELD_MOST; at++)
        check_make(&held[at], check_malloc.malloc(size_of(at)), size_of(at),
                   check_alignment(size_of(at)), "malloc");
    return unused;
}

static void *free_all(void *unused)
{
    for (size_t at = 0; at < HELD_MOST; at++)
        check_free(&held[at], "malloc");
    return unused;
}

static void in_thread(void *(*work)(void *))
{
    pthread_t thread;

    if (pthread_create(&thread, NULL, work, NULL) != 0)
        check_fault("no thread could be started");
    else
        pthread_join(thread, NULL);
}

static void free_elsewhere(void)
{
    for (int round = 0; round < 20; round++) {
        make_all(NULL);
        in_thread(free_all);
    }
}

/* The thread is gone, with whatever the allocator kept for it, while its blocks live. */
static void thread_exit(void)
{
    for (int round = 0; round < 20; round++) {
        in_thread(make_all);
        free_all(NULL);
    }
    for (int round = 0; round < 20; round++) {
        in_thread(make_all);
        in_thread(free_all);
    }
}

/* ---- fork ------------------------------------------------------------------------------------ */

#define CHILD_SECONDS 20

/* Everything that was held before, and more, is the child's. */
static bool use_heap_of_child(void)
{
    static const char made[] = "malloc in the child of a fork";
    bool good = true;
    check_block b;

    for (size_t at = 0; at < HELD_MOST && good; at++)
        good = check_make(&b, check_malloc.malloc(size_of(at)), size_of(at),
                          check_alignment(size_of(at)), made) &&
               check_free(&b, made) &&
               check_free(&held[at], "a block of before the fork, in its child");
    return good;
}

static void wait_for(pid_t child)
{
    const uint64_t begun = abench_clock_ns();
    int status;
    pid_t ended;

    while ((ended = waitpid(child, &status, WNOHANG)) == 0) {
        if (abench_clock_ns() - begun > (uint64_t)CHILD_SECONDS * 1000000000u) {
            check_fault("the child of a fork hangs in malloc or free");
            kill(child, SIGKILL);
            waitpid(child, &status, 0);
            return;
        }
        nanosleep(&(struct timespec){0, 2000000}, NULL);
    }
    if (ended == child && WIFSIGNALED(status))
        check_fault("the child of a fork was killed by signal %d in malloc or free",
                    WTERMSIG(status));
    else if (ended == child && WEXITSTATUS(status) != 0)
        check_fault("the child of a fork could not use its heap");
}

static void fork_held(void)
{
    for (int round = 0; round < 3; round++) {
        pid_t child;
        make_all(NULL);
        child = fork();
        if (child == 0)
            _exit(use_heap_of_child() ? 0 : CHECK_FAULTY);
        if (child < 0)
            check_fault("no child could be forked");
        else
            wait_for(child);
        free_all(NULL);
    }
}

const check check_threads[] = {
    {"free-elsewhere", "blocks freed by another thread", free_elsewhere},
    {"thread-exit", "blocks of a thread that has ended, freed later", thread_exit},
    {"fork", "the child of a fork can use, free and make blocks; the parent's stay", fork_held},
};
const size_t check_threads_count = sizeof check_threads / sizeof check_threads[0];
