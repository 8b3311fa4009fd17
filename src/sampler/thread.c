/*
 * One lock around wanted and state. The thread gives it up to sleep and to read, so that its owner
 * is heard even where each reading takes longer than a period; that no reading is under way is what
 * its answer says. It is created, warmed up and asleep before create returns.
 */
#include "sampler/thread.h"

#include <errno.h>
#include <signal.h>
#include <sys/prctl.h>
#include <time.h>

/* Below 2 MB, so that no huge page can serve it. */
#define STACK_BYTES ((size_t)256 * 1024)

/* ---- the thread ------------------------------------------------------------------------------ */

static void answer(abench__thread *thread, enum abench__thread_state state)
{
    thread->state = state;
    pthread_cond_signal(&thread->answered);
}

static void sleep_until(abench__thread *thread, uint64_t system_ns)
{
    struct timespec deadline;

    deadline.tv_sec = (time_t)(system_ns / 1000000000u);
    deadline.tv_nsec = (long)(system_ns % 1000000000u);
    pthread_cond_timedwait(&thread->asked, &thread->lock, &deadline);
}

static void sample(abench__thread *thread)
{
    while (thread->wanted == ABENCH__THREAD_RUNNING) {
        const uint64_t system_ns = abench_clock_ns();
        const uint64_t wait_ns = abench__pace_wait_ns(thread->pace, system_ns);
        if (wait_ns > 0) {
            sleep_until(thread, system_ns + wait_ns);
            continue;
        }
        pthread_mutex_unlock(&thread->lock);
        abench__pace_read(thread->pace);
        pthread_mutex_lock(&thread->lock);
    }
}

static void *run_thread(void *argument)
{
    abench__thread *thread = argument;
    abench_memory memory;

    prctl(PR_SET_NAME, "abench-sampler");
    pthread_mutex_lock(&thread->lock);
    /* Thrown away: it makes the stack resident that later readings need. */
    abench__reader_take(&thread->pace->reader, thread->pace->tiers, &memory);
    answer(thread, ABENCH__THREAD_IDLE);
    while (thread->wanted != ABENCH__THREAD_ENDING) {
        if (thread->wanted == ABENCH__THREAD_IDLE) {
            pthread_cond_wait(&thread->asked, &thread->lock);
            continue;
        }
        abench__timeline_run(&thread->pace->timeline, abench_clock_ns());
        answer(thread, ABENCH__THREAD_RUNNING);
        sample(thread);
        answer(thread, ABENCH__THREAD_IDLE);
    }
    pthread_mutex_unlock(&thread->lock);
    return NULL;
}

/* ---- its owner ------------------------------------------------------------------------------- */

static void ask(abench__thread *thread, enum abench__thread_state wanted)
{
    pthread_mutex_lock(&thread->lock);
    thread->wanted = wanted;
    pthread_cond_signal(&thread->asked);
    while (thread->state != wanted)
        pthread_cond_wait(&thread->answered, &thread->lock);
    pthread_mutex_unlock(&thread->lock);
}

/* The thread takes no signal: the program's handlers must run where they did before. */
static int start_thread(abench__thread *thread)
{
    pthread_attr_t attributes;
    sigset_t all, before;
    int failed;

    sigfillset(&all);
    pthread_attr_init(&attributes);
    pthread_attr_setstacksize(&attributes, STACK_BYTES);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    failed = pthread_create(&thread->id, &attributes, run_thread, thread);
    if (failed ==
        EINVAL) /* the program's thread-local variables do not fit into so small a stack */
        failed = pthread_create(&thread->id, NULL, run_thread, thread);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    pthread_attr_destroy(&attributes);
    return failed;
}

static void init_locks(abench__thread *thread)
{
    pthread_condattr_t attributes;

    pthread_mutex_init(&thread->lock, NULL);
    pthread_condattr_init(&attributes);
    pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
    pthread_cond_init(&thread->asked, &attributes);
    pthread_cond_init(&thread->answered, &attributes);
    pthread_condattr_destroy(&attributes);
}

static void destroy_locks(abench__thread *thread)
{
    pthread_cond_destroy(&thread->answered);
    pthread_cond_destroy(&thread->asked);
    pthread_mutex_destroy(&thread->lock);
}

abench_status abench__thread_create(abench__thread *thread, abench__pace *pace)
{
    const abench_status status = abench__reader_open(&pace->reader, 0, abench__pace_tiers(pace));

    if (status != ABENCH_OK)
        return status;
    thread->pace = pace;
    thread->wanted = ABENCH__THREAD_IDLE;
    thread->state = ABENCH__THREAD_STARTING;
    init_locks(thread);
    if (start_thread(thread) != 0) {
        destroy_locks(thread);
        abench__reader_close(&pace->reader);
        return ABENCH_ERROR_SYSTEM;
    }
    ask(thread, ABENCH__THREAD_IDLE);
    return ABENCH_OK;
}

void abench__thread_start(abench__thread *thread)
{
    ask(thread, ABENCH__THREAD_RUNNING);
}

void abench__thread_stop(abench__thread *thread)
{
    /* At once: a dear reading that is under way is not the run's time. */
    abench__timeline_halt(&thread->pace->timeline, abench_clock_ns());
    ask(thread, ABENCH__THREAD_IDLE);
}

void abench__thread_end(abench__thread *thread)
{
    pthread_mutex_lock(&thread->lock);
    thread->wanted = ABENCH__THREAD_ENDING;
    pthread_cond_signal(&thread->asked);
    pthread_mutex_unlock(&thread->lock);
    pthread_join(thread->id, NULL);
    destroy_locks(thread);
    abench__reader_close(&thread->pace->reader);
}
