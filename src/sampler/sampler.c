/*
 * sampler.c - the thread behind a timeline.
 *
 * One lock, held by whoever is awake: the thread gives it up only to sleep, so that whoever holds
 * it knows that no reading is under way. It is created, warmed up and asleep before create returns.
 */
#include <allocbench/sampler.h>

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <string.h>
#include <sys/prctl.h>
#include <time.h>
#include <unistd.h>

#include "base/arena.h"
#include "base/options.h"
#include "sampler/memory.h"
#include "sampler/timeline.h"

#define OPTIONS_FIRST_RELEASE                                                                      \
    ((uint32_t)(offsetof(abench_sampler_options, hooks) + sizeof(const abench_memory_hooks *)))

#define PERIOD_US_DEFAULT 10000u
#define PERIOD_US_MINIMUM 1000u
#define CAPACITY_DEFAULT  8192u
#define CAPACITY_MAXIMUM  (1u << 20)
/* Below 2 MB, so that no huge page can serve it. */
#define STACK_BYTES ((size_t)256 * 1024)

enum state { STATE_STARTING, STATE_IDLE, STATE_RUNNING, STATE_ENDING };

struct abench_sampler {
    abench_memory_hooks hooks;
    uint64_t bytes; /* of this block, readings included */
    uint32_t tiers;
    pid_t owner; /* after a fork the child has this object and no thread */
    pthread_t thread;
    pthread_mutex_t lock;
    pthread_cond_t asked;    /* for the thread: wanted has changed */
    pthread_cond_t answered; /* by the thread: state has changed */
    enum state wanted;
    enum state state;
    abench__timeline timeline;
    abench_memory_reader reader;
    abench_memory readings[];
};

void abench_sampler_options_init(abench_sampler_options *options)
{
    memset(options, 0, sizeof *options);
    options->struct_size = sizeof *options;
}

/* ---- the thread ------------------------------------------------------------------------------ */

static void answer(abench_sampler *sampler, enum state state)
{
    sampler->state = state;
    pthread_cond_signal(&sampler->answered);
}

static void take_reading(abench_sampler *sampler)
{
    abench_memory memory;

    abench__reader_take(&sampler->reader, sampler->tiers, &memory);
    abench__timeline_keep(&sampler->timeline, &memory,
                          abench__timeline_time(&sampler->timeline, memory.time_ns));
}

static void sleep_until(abench_sampler *sampler, uint64_t system_ns)
{
    struct timespec deadline;

    deadline.tv_sec = (time_t)(system_ns / 1000000000u);
    deadline.tv_nsec = (long)(system_ns % 1000000000u);
    pthread_cond_timedwait(&sampler->asked, &sampler->lock, &deadline);
}

static void sample(abench_sampler *sampler)
{
    abench__timeline *timeline = &sampler->timeline;

    while (sampler->wanted == STATE_RUNNING) {
        const uint64_t system_ns = abench_clock_ns();
        const uint64_t now_ns = abench__timeline_time(timeline, system_ns);
        if (now_ns >= timeline->due_ns)
            take_reading(sampler);
        else
            sleep_until(sampler, system_ns + (timeline->due_ns - now_ns));
    }
}

static void *run_thread(void *argument)
{
    abench_sampler *sampler = argument;
    abench_memory memory;

    prctl(PR_SET_NAME, "abench-sampler");
    pthread_mutex_lock(&sampler->lock);
    /* Thrown away: it makes the stack resident that later readings need. */
    abench__reader_take(&sampler->reader, sampler->tiers, &memory);
    answer(sampler, STATE_IDLE);
    while (sampler->wanted != STATE_ENDING) {
        if (sampler->wanted == STATE_IDLE) {
            pthread_cond_wait(&sampler->asked, &sampler->lock);
            continue;
        }
        abench__timeline_run(&sampler->timeline, abench_clock_ns());
        answer(sampler, STATE_RUNNING);
        sample(sampler);
        answer(sampler, STATE_IDLE);
    }
    pthread_mutex_unlock(&sampler->lock);
    return NULL;
}

/* ---- its owner ------------------------------------------------------------------------------- */

/* The lock is held. */
static void ask(abench_sampler *sampler, enum state wanted)
{
    sampler->wanted = wanted;
    pthread_cond_signal(&sampler->asked);
    while (sampler->state != wanted)
        pthread_cond_wait(&sampler->answered, &sampler->lock);
}

static abench_status read_options(const abench_sampler_options *options,
                                  abench_sampler_options *mine, abench_memory_hooks *hooks)
{
    abench_status status;

    abench_sampler_options_init(mine);
    status = abench__options_read(mine, sizeof *mine, options, OPTIONS_FIRST_RELEASE);
    if (status != ABENCH_OK)
        return status;
    if (mine->tiers == 0)
        mine->tiers = ABENCH_TIER_STATM | ABENCH_TIER_FAULTS;
    if (mine->period_us == 0)
        mine->period_us = PERIOD_US_DEFAULT;
    if (mine->capacity == 0)
        mine->capacity = CAPACITY_DEFAULT;
    if (mine->capacity > CAPACITY_MAXIMUM || mine->period_us < PERIOD_US_MINIMUM)
        return ABENCH_ERROR_ARGUMENT;
    mine->capacity += mine->capacity & 1;
    if ((mine->tiers & ~(ABENCH__TIERS & ~ABENCH_TIER_ROLLUP)) != 0)
        return ABENCH_ERROR_ARGUMENT;
    return abench__hooks_copy(mine->hooks, hooks);
}

/* The thread takes no signal: the program's handlers must run where they did before. */
static int create_thread(abench_sampler *sampler)
{
    pthread_attr_t attributes;
    sigset_t all, before;
    int failed;

    sigfillset(&all);
    pthread_attr_init(&attributes);
    pthread_attr_setstacksize(&attributes, STACK_BYTES);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    failed = pthread_create(&sampler->thread, &attributes, run_thread, sampler);
    if (failed ==
        EINVAL) /* the program's thread-local variables do not fit into so small a stack */
        failed = pthread_create(&sampler->thread, NULL, run_thread, sampler);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    pthread_attr_destroy(&attributes);
    return failed;
}

static void init_locks(abench_sampler *sampler)
{
    pthread_condattr_t attributes;

    pthread_mutex_init(&sampler->lock, NULL);
    pthread_condattr_init(&attributes);
    pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
    pthread_cond_init(&sampler->asked, &attributes);
    pthread_cond_init(&sampler->answered, &attributes);
    pthread_condattr_destroy(&attributes);
}

static void release(abench_sampler *sampler)
{
    const abench_memory_hooks hooks = sampler->hooks;

    abench__reader_close(&sampler->reader);
    abench__unmap(&hooks, sampler, sampler->bytes);
}

abench_status abench_sampler_create(const abench_sampler_options *options, abench_sampler **out)
{
    abench_sampler_options mine;
    abench_memory_hooks hooks;
    abench_sampler *sampler;
    abench_status status;
    uint64_t bytes;

    *out = NULL;
    status = read_options(options, &mine, &hooks);
    if (status != ABENCH_OK)
        return status;
    bytes = sizeof *sampler + (uint64_t)mine.capacity * sizeof sampler->readings[0];
    sampler = abench__map(&hooks, bytes, 1);
    if (sampler == NULL)
        return ABENCH_ERROR_MEMORY;
    sampler->hooks = hooks;
    sampler->bytes = bytes;
    sampler->tiers = mine.tiers;
    sampler->owner = getpid();
    sampler->wanted = STATE_IDLE;
    sampler->state = STATE_STARTING;
    abench__timeline_init(&sampler->timeline, sampler->readings, mine.capacity,
                          (uint64_t)mine.period_us * 1000);
    status = abench__reader_open(&sampler->reader, 0, mine.tiers);
    if (status != ABENCH_OK) {
        abench__unmap(&hooks, sampler, bytes);
        return status;
    }
    init_locks(sampler);
    if (create_thread(sampler) != 0) {
        release(sampler);
        return ABENCH_ERROR_SYSTEM;
    }
    pthread_mutex_lock(&sampler->lock);
    ask(sampler, STATE_IDLE);
    pthread_mutex_unlock(&sampler->lock);
    *out = sampler;
    return ABENCH_OK;
}

abench_status abench_sampler_start(abench_sampler *sampler)
{
    if (sampler->owner != getpid() || sampler->wanted != STATE_IDLE)
        return ABENCH_ERROR_STATE;
    pthread_mutex_lock(&sampler->lock);
    ask(sampler, STATE_RUNNING);
    pthread_mutex_unlock(&sampler->lock);
    return ABENCH_OK;
}

abench_status abench_sampler_stop(abench_sampler *sampler)
{
    if (sampler->owner != getpid() || sampler->wanted != STATE_RUNNING)
        return ABENCH_ERROR_STATE;
    pthread_mutex_lock(&sampler->lock);
    abench__timeline_halt(&sampler->timeline, abench_clock_ns());
    ask(sampler, STATE_IDLE);
    pthread_mutex_unlock(&sampler->lock);
    return ABENCH_OK;
}

uint64_t abench_sampler_time_ns(const abench_sampler *sampler)
{
    uint64_t clock, system_ns;

    do { /* again when the clock was started or stopped in between */
        clock = abench__timeline_clock(&sampler->timeline);
        system_ns = abench_clock_ns();
    } while (clock != abench__timeline_clock(&sampler->timeline));
    return abench__clock_shows(clock, system_ns);
}

uint32_t abench_sampler_count(const abench_sampler *sampler)
{
    return atomic_load_explicit(&sampler->timeline.count, memory_order_relaxed);
}

uint64_t abench_sampler_missed(const abench_sampler *sampler)
{
    return atomic_load_explicit(&sampler->timeline.missed, memory_order_relaxed);
}

abench_status abench_sampler_at(const abench_sampler *sampler, uint32_t index, abench_memory *out)
{
    if (sampler->wanted != STATE_IDLE)
        return ABENCH_ERROR_STATE;
    if (index >= abench_sampler_count(sampler))
        return ABENCH_ERROR_NOT_FOUND;
    return abench__options_write(out, &sampler->readings[index], sizeof sampler->readings[0],
                                 ABENCH__MEMORY_FIRST_RELEASE);
}

void abench_sampler_destroy(abench_sampler *sampler)
{
    if (sampler == NULL)
        return;
    if (sampler->owner == getpid()) {
        pthread_mutex_lock(&sampler->lock);
        sampler->wanted = STATE_ENDING;
        pthread_cond_signal(&sampler->asked);
        pthread_mutex_unlock(&sampler->lock);
        pthread_join(sampler->thread, NULL);
        pthread_cond_destroy(&sampler->answered);
        pthread_cond_destroy(&sampler->asked);
        pthread_mutex_destroy(&sampler->lock);
    }
    release(sampler);
}
