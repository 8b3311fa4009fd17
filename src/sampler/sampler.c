/*
 * sampler.c - the timeline's owner: options, memory, state; a thread or a helper does the reading.
 */
#include <allocbench/sampler.h>

#include <stddef.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/arena.h"
#include "base/options.h"
#include "sampler/helper.h"
#include "sampler/pace.h"
#include "sampler/thread.h"

#define OPTIONS_FIRST_RELEASE                                                                      \
    ((uint32_t)(offsetof(abench_sampler_options, hooks) + sizeof(const abench_memory_hooks *)))

#define TIERS_DEFAULT     (ABENCH_TIER_STATM | ABENCH_TIER_FAULTS)
#define PERIOD_US_DEFAULT 10000u
#define PERIOD_US_MINIMUM 1000u
#define CAPACITY_DEFAULT  8192u
#define CAPACITY_MAXIMUM  (1u << 20)
#define PATIENCE_MS       30000u /* a dear reading of a terabyte takes 15 s */

struct abench_sampler {
    abench_memory_hooks hooks;
    uint64_t bytes; /* of this block, readings included */
    pid_t owner;    /* after a fork the child has this object and no reader of its own */
    int32_t is_process;
    uint32_t runs;
    uint32_t reserved;
    abench__thread thread;
    abench__helper helper;
    abench__pace pace;
    abench_memory readings[];
};

void abench_sampler_options_init(abench_sampler_options *options)
{
    memset(options, 0, sizeof *options);
    options->struct_size = sizeof *options;
}

/* ---- options --------------------------------------------------------------------------------- */

static abench_status read_options(const abench_sampler_options *options,
                                  abench_sampler_options *mine, abench_memory_hooks *hooks)
{
    abench_status status;

    abench_sampler_options_init(mine);
    status = abench__options_read(mine, sizeof *mine, options, OPTIONS_FIRST_RELEASE);
    if (status != ABENCH_OK)
        return status;
    if ((mine->tiers & ~ABENCH__TIERS) != 0 || (mine->flags & ~ABENCH_SAMPLER_PROCESS) != 0 ||
        ((mine->tiers & ABENCH_TIER_ROLLUP) != 0 && mine->rollup_period_us == 0))
        return ABENCH_ERROR_ARGUMENT;
    mine->tiers &= ~ABENCH_TIER_ROLLUP; /* from here on the period says it */
    if (mine->tiers == 0)
        mine->tiers = TIERS_DEFAULT;
    if (mine->period_us == 0)
        mine->period_us = PERIOD_US_DEFAULT;
    if (mine->capacity == 0)
        mine->capacity = CAPACITY_DEFAULT;
    if (mine->capacity > CAPACITY_MAXIMUM || mine->period_us < PERIOD_US_MINIMUM)
        return ABENCH_ERROR_ARGUMENT;
    mine->capacity += mine->capacity & 1;
    return abench__hooks_copy(mine->hooks, hooks);
}

/* The block is zero but for this. */
static void fill(abench_sampler *sampler, const abench_sampler_options *options, uint64_t bytes)
{
    sampler->bytes = bytes;
    sampler->owner = getpid();
    sampler->pace.tiers = options->tiers;
    sampler->pace.rollup_period_ns = (uint64_t)options->rollup_period_us * 1000;
    abench__timeline_init(&sampler->pace.timeline, sampler->readings, options->capacity,
                          (uint64_t)options->period_us * 1000);
}

/* ---- with a thread --------------------------------------------------------------------------- */

static abench_status create_with_thread(const abench_sampler_options *options,
                                        const abench_memory_hooks *hooks, uint64_t bytes,
                                        abench_sampler **out)
{
    abench_sampler *sampler = abench__map(hooks, bytes, 1);
    abench_status status;

    if (sampler == NULL)
        return ABENCH_ERROR_MEMORY;
    sampler->hooks = *hooks;
    fill(sampler, options, bytes);
    status = abench__thread_create(&sampler->thread, &sampler->pace);
    if (status != ABENCH_OK) {
        abench__unmap(hooks, sampler, bytes);
        return status;
    }
    *out = sampler;
    return ABENCH_OK;
}

/* ---- with a helper --------------------------------------------------------------------------- */

/* Shared memory: a guard page, the helper's stack, the sampler, a guard page. The owner touches all
 * but the stack now, so that its RSS does not move later. */
static uint64_t whole_of(uint64_t shared_bytes)
{
    return shared_bytes + 2 * ABENCH__PAGE;
}

static unsigned char *map_shared(uint64_t bytes)
{
    const uint64_t whole = whole_of(bytes);
    unsigned char *base, *memory;

    base = mmap(NULL, whole, PROT_NONE, MAP_SHARED | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (base == MAP_FAILED)
        return NULL;
    memory = base + ABENCH__PAGE;
    if (mprotect(memory, bytes, PROT_READ | PROT_WRITE) != 0) {
        munmap(base, whole);
        return NULL;
    }
    madvise(memory, bytes, MADV_NOHUGEPAGE);
    for (uint64_t at = ABENCH__HELPER_STACK_BYTES; at < bytes; at += ABENCH__PAGE)
        ((volatile unsigned char *)memory)[at] = 0;
    return memory;
}

static void unmap_shared(unsigned char *memory, uint64_t bytes)
{
    munmap(memory - ABENCH__PAGE, whole_of(bytes));
}

static abench_status create_with_helper(const abench_sampler_options *options, uint64_t bytes,
                                        abench_sampler **out)
{
    const uint64_t shared_bytes =
        (ABENCH__HELPER_STACK_BYTES + bytes + ABENCH__PAGE - 1) & ~(uint64_t)(ABENCH__PAGE - 1);
    unsigned char *shared = map_shared(shared_bytes);
    abench_sampler *sampler;
    abench_status status;

    if (shared == NULL)
        return ABENCH_ERROR_MEMORY;
    sampler = (abench_sampler *)(void *)(shared + ABENCH__HELPER_STACK_BYTES);
    fill(sampler, options, bytes);
    sampler->is_process = 1;
    sampler->helper.pace = &sampler->pace;
    sampler->helper.shared = shared;
    sampler->helper.shared_bytes = shared_bytes;
    sampler->helper.patience_ms = PATIENCE_MS;
    status = abench__helper_create(&sampler->helper);
    if (status != ABENCH_OK) {
        unmap_shared(shared, shared_bytes);
        return status;
    }
    *out = sampler;
    return ABENCH_OK;
}

/* ---- the calls ------------------------------------------------------------------------------- */

abench_status abench_sampler_create(const abench_sampler_options *options, abench_sampler **out)
{
    abench_sampler_options mine;
    abench_memory_hooks hooks;
    abench_status status;
    uint64_t bytes;

    *out = NULL;
    status = read_options(options, &mine, &hooks);
    if (status != ABENCH_OK)
        return status;
    bytes = sizeof **out + (uint64_t)mine.capacity * sizeof(*out)->readings[0];
    if ((mine.flags & ABENCH_SAMPLER_PROCESS) != 0) {
        status = create_with_helper(&mine, bytes, out);
        if (status != ABENCH_ERROR_UNSUPPORTED)
            return status;
    }
    return create_with_thread(&mine, &hooks, bytes, out);
}

abench_status abench_sampler_start(abench_sampler *sampler)
{
    if (sampler->owner != getpid() || sampler->runs)
        return ABENCH_ERROR_STATE;
    if (sampler->is_process) {
        const abench_status status = abench__helper_start(&sampler->helper);
        if (status != ABENCH_OK)
            return status;
    } else {
        abench__thread_start(&sampler->thread);
    }
    sampler->runs = 1;
    return ABENCH_OK;
}

abench_status abench_sampler_stop(abench_sampler *sampler)
{
    if (sampler->owner != getpid() || !sampler->runs)
        return ABENCH_ERROR_STATE;
    sampler->runs = 0;
    if (sampler->is_process)
        return abench__helper_stop(&sampler->helper);
    abench__thread_stop(&sampler->thread);
    return ABENCH_OK;
}

uint64_t abench_sampler_time_ns(const abench_sampler *sampler)
{
    const abench__timeline *timeline = &sampler->pace.timeline;
    uint64_t clock, system_ns;

    do { /* again when the clock was started or stopped in between */
        clock = abench__timeline_clock(timeline);
        system_ns = abench_clock_ns();
    } while (clock != abench__timeline_clock(timeline));
    return abench__clock_shows(clock, system_ns);
}

uint32_t abench_sampler_count(const abench_sampler *sampler)
{
    return atomic_load_explicit(&sampler->pace.timeline.count, memory_order_relaxed);
}

int32_t abench_sampler_is_process(const abench_sampler *sampler)
{
    return sampler->is_process;
}

uint64_t abench_sampler_missed(const abench_sampler *sampler)
{
    return atomic_load_explicit(&sampler->pace.timeline.missed, memory_order_relaxed);
}

abench_status abench_sampler_at(const abench_sampler *sampler, uint32_t index, abench_memory *out)
{
    if (sampler->runs)
        return ABENCH_ERROR_STATE;
    if (index >= abench_sampler_count(sampler))
        return ABENCH_ERROR_NOT_FOUND;
    return abench__options_write(out, &sampler->readings[index], sizeof sampler->readings[0],
                                 ABENCH__MEMORY_FIRST_RELEASE);
}

static void destroy_with_thread(abench_sampler *sampler, int is_owner)
{
    const abench_memory_hooks hooks = sampler->hooks;

    if (is_owner)
        abench__thread_end(&sampler->thread);
    else
        abench__reader_close(&sampler->pace.reader);
    abench__unmap(&hooks, sampler, sampler->bytes);
}

static void destroy_with_helper(abench_sampler *sampler, int is_owner)
{
    if (is_owner)
        abench__helper_end(&sampler->helper);
    else /* what is shared is the owner's: nothing is written there */
        abench__helper_forget(&sampler->helper);
    unmap_shared(sampler->helper.shared, sampler->helper.shared_bytes);
}

void abench_sampler_destroy(abench_sampler *sampler)
{
    if (sampler == NULL)
        return;
    if (sampler->is_process)
        destroy_with_helper(sampler, sampler->owner == getpid());
    else
        destroy_with_thread(sampler, sampler->owner == getpid());
}
