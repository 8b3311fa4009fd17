#include "tape/wait.h"

#include <sched.h>

#include "base/text.h"
#include "tape/word.h"

#define PAUSES 200u
#define YIELDS 64u /* between two looks at the clock */

static void pause_cpu(void)
{
#if defined(__x86_64__) || defined(__i386__)
    __builtin_ia32_pause();
#elif defined(__aarch64__)
    __asm__ volatile("yield");
#endif
}

/* ---- the watchdog ---------------------------------------------------------------------------- */

void abench__play_fail(abench__play *play, abench_status status, const char *message)
{
    pthread_mutex_lock(&play->error_mutex);
    if (play->error.status == ABENCH_OK)
        abench__fail(&play->error, status, "%s", message);
    pthread_mutex_unlock(&play->error_mutex);
    atomic_store(&play->abort, 1);
}

static void describe_lane(abench__text *text, const abench__play *play, uint32_t index)
{
    static const char *const what[] = {"runs",
                                       "waits until a block is freed",
                                       "waits until a block is allocated",
                                       "waits at a barrier",
                                       "waits for slower lanes",
                                       "pauses"};
    const abench__lane *lane = &play->lanes[index];
    const uint32_t waits_for = atomic_load(&lane->waits_for);
    abench__op op;

    abench__text_printf(text, "; lane %u %s", index, what[waits_for]);
    if (waits_for == WAIT_NOTHING || waits_for == WAIT_PAUSE)
        return;
    if (waits_for == WAIT_SKEW) { /* before a cut, in which the lane need have no operation */
        abench__text_printf(text, " (before word %llu)",
                            (unsigned long long)atomic_load(&lane->waits_at));
        return;
    }
    abench__word_unpack(lane->words + atomic_load(&lane->waits_at), &op);
    abench__text_printf(text, " (word %llu: %s", (unsigned long long)atomic_load(&lane->waits_at),
                        abench_op_name(op.kind));
    if (op.shared)
        abench__text_printf(text, " shared slot %u generation %u", op.slot, op.generation);
    abench__text_put_char(text, ')');
}

/* A lane that sleeps as its tape says is not stuck, and neither are those that wait for it. */
static int is_pausing(const abench__play *play)
{
    for (uint32_t index = 0; index < play->lanes_count; index++)
        if (atomic_load_explicit(&play->lanes[index].waits_for, memory_order_relaxed) == WAIT_PAUSE)
            return 1;
    return 0;
}

static void give_up(abench__play *play)
{
    char message[sizeof play->error.message];
    abench__text text;

    abench__text_init(&text, message, sizeof message);
    abench__text_printf(&text, "stuck for %llu ms",
                        (unsigned long long)(play->watchdog_ns / 1000000));
    for (uint32_t index = 0; index < play->lanes_count && !text.truncated; index++)
        describe_lane(&text, play, index);
    abench__play_fail(play, ABENCH_ERROR_STUCK, message);
}

/* ---- one wait -------------------------------------------------------------------------------- */

typedef struct wait_state {
    uint64_t begun_ns;
    uint64_t moved_ns; /* the watchdog counts from here */
    uint32_t rounds;
} wait_state;

static void wait_begin(abench__lane *lane, wait_state *wait, uint32_t what)
{
    wait->begun_ns = wait->moved_ns = abench_clock_ns();
    wait->rounds = 0;
    lane->waits++;
    atomic_store_explicit(&lane->waits_at, (uint64_t)(lane->at - lane->words),
                          memory_order_relaxed);
    atomic_store_explicit(&lane->waits_for, what, memory_order_relaxed);
}

/* One step; 0 when the play is given up. */
static int wait_step(abench__lane *lane, wait_state *wait)
{
    abench__play *play = lane->play;

    if (++wait->rounds <= PAUSES) {
        pause_cpu();
        return 1;
    }
    sched_yield();
    if (atomic_load_explicit(&play->abort, memory_order_relaxed))
        return 0;
    if (wait->rounds % YIELDS != 0)
        return 1;
    if (is_pausing(play))
        wait->moved_ns = abench_clock_ns();
    if (abench_clock_ns() - wait->moved_ns <= play->watchdog_ns)
        return 1;
    give_up(play);
    return 0;
}

static void wait_end(abench__lane *lane, const wait_state *wait)
{
    atomic_store_explicit(&lane->waits_for, WAIT_NOTHING, memory_order_relaxed);
    lane->wait_ns += abench_clock_ns() - wait->begun_ns;
}

uint64_t abench__wait_slot(abench__lane *lane, uint32_t slot, uint32_t generation, uint32_t what)
{
    uint64_t word;
    wait_state wait;

    wait_begin(lane, &wait, what);
    for (;;) {
        word = atomic_load_explicit(&lane->shared[slot], memory_order_acquire);
        if (word >> 48 == generation)
            break;
        if (!wait_step(lane, &wait)) {
            word = 0;
            break;
        }
    }
    wait_end(lane, &wait);
    return word;
}

void abench__wait_barrier(abench__lane *lane)
{
    abench__play *play = lane->play;
    const uint32_t generation = atomic_load(&play->barrier_generation);
    wait_state wait;

    if (play->lanes_count == 1)
        return;
    if (atomic_fetch_add(&play->barrier_arrived, 1) + 1 == play->lanes_count) {
        atomic_store(&play->barrier_arrived, 0);
        atomic_store(&play->barrier_generation, generation + 1);
        return;
    }
    wait_begin(lane, &wait, WAIT_BARRIER);
    while (atomic_load_explicit(&play->barrier_generation, memory_order_acquire) == generation)
        if (!wait_step(lane, &wait))
            break;
    wait_end(lane, &wait);
}

static uint64_t slowest_cut(const abench__play *play)
{
    uint64_t slowest = UINT64_MAX;

    for (uint32_t index = 0; index < play->lanes_count; index++) {
        const uint64_t cut = atomic_load_explicit(&play->lanes[index].cut, memory_order_relaxed);
        slowest = cut < slowest ? cut : slowest;
    }
    return slowest;
}

void abench__wait_skew(abench__lane *lane, uint64_t cut)
{
    abench__play *play = lane->play;
    wait_state wait;

    if (cut <= slowest_cut(play) + play->skew_cuts)
        return;
    wait_begin(lane, &wait, WAIT_SKEW);
    while (cut > slowest_cut(play) + play->skew_cuts)
        if (!wait_step(lane, &wait))
            break;
    wait_end(lane, &wait);
}
