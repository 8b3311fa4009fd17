/*
 * lane.c - the loop that is timed.
 *
 * Two kinds of operation make nearly all of a tape, malloc and free of blocks that are not empty;
 * they are played here with their counts in registers. Everything else goes through play_rare,
 * which looks for the same of shared slots first. The loop is instantiated once for each touch, so
 * that a block's touch costs no decision, and once more for a lane whose allocator has failed: only
 * there may a slot be NULL.
 */
#include "tape/lane.h"

#include <string.h>
#include <time.h>

#include "base/text.h"
#include "tape/check.h"
#include "tape/latency.h"
#include "tape/slot.h"
#include "tape/wait.h"
#include "tape/word.h"

#define ALWAYS static inline __attribute__((always_inline))

/* What the loop dispatches on: kind, and none of extended, shared and empty. */
#define SHAPE_SHIFT    56
#define SHAPE(kind)    ((uint32_t)(kind) << 3)
#define SHAPE_EXTENDED ((uint32_t)(WORD_EXTENDED >> SHAPE_SHIFT))
#define SHAPE_SHARED   ((uint32_t)(WORD_SHARED >> SHAPE_SHIFT))

/* Stores that the compiler must keep; size is above 0. */
ALWAYS void touch_block(unsigned char *block, uint64_t size, uint8_t byte, uint32_t touch)
{
    volatile unsigned char *bytes = block;

    if (touch == ABENCH_TOUCH_FIRST)
        bytes[0] = byte;
    else if (touch == ABENCH_TOUCH_PAGES)
        for (uint64_t at = 0; at < size; at += 4096)
            bytes[at] = byte;
    else if (touch == ABENCH_TOUCH_ALL)
        memset(block, byte, size);
}

/* The word of a shared slot once it has the wanted generation; 0: given up. */
ALWAYS uint64_t shared_word(abench__lane *lane, uint32_t slot, uint32_t generation, uint32_t what)
{
    const uint64_t word = atomic_load_explicit(&lane->shared[slot], memory_order_acquire);

    if (__builtin_expect(word >> 48 == (generation & 0xffff), 1))
        return word;
    return abench__wait_slot(lane, slot, generation & 0xffff, what);
}

/* ---- what is rare ---------------------------------------------------------------------------- */

/* moments: NULL where nothing is timed, and then a constant: it costs nothing. */
ALWAYS void allocate(abench__lane *lane, const abench__op *op, uint32_t touch,
                     abench__moments *moments)
{
    const int moves = op->kind == ABENCH_OP_REALLOC;
    unsigned char *old = NULL, *block;
    uint8_t first = 0; /* what must be at the block's start before it is touched */

    if (op->shared) {
        const uint64_t word = shared_word(lane, op->slot, op->generation - (moves ? 2 : 1),
                                          moves ? WAIT_ALLOCATED : WAIT_FREED);
        if (atomic_load_explicit(&lane->play->abort, memory_order_relaxed))
            return;
        old = abench__slot_pointer(word);
    } else if (moves) {
        old = lane->slots[op->slot];
    }
    if (moments != NULL)
        moments->begun_ns = abench_clock_ns();
    block = abench__slot_allocate(&lane->play->allocator, op, old);
    if (moments != NULL)
        moments->ended_ns = moments->touched_ns = abench_clock_ns();
    if (block == NULL && op->size > 0) {
        lane->failed++;
        block = old; /* a realloc that fails leaves the block as it was */
    } else if (op->size > 0 && touch != ABENCH_TOUCH_NOTHING) {
        if ((moves && !op->empty) || op->kind == ABENCH_OP_CALLOC)
            first = block[0];
        touch_block(block, op->size, (uint8_t)(op->size ^ op->slot), touch);
        if (moments != NULL)
            moments->touched_ns = abench_clock_ns();
    }
    lane->checksum += first;
    lane->bytes += op->size;
    lane->executed[op->kind]++;
    if (op->shared)
        atomic_store_explicit(&lane->shared[op->slot],
                              abench__slot_word(lane, block, op->generation), memory_order_release);
    else
        lane->slots[op->slot] = block;
}

ALWAYS void release(abench__lane *lane, const abench__op *op, uint32_t touch,
                    abench__moments *moments)
{
    const abench_allocator *a = &lane->play->allocator;
    unsigned char *block;

    if (op->shared) {
        block = abench__slot_pointer(shared_word(lane, op->slot, op->generation, WAIT_ALLOCATED));
        if (atomic_load_explicit(&lane->play->abort, memory_order_relaxed))
            return;
    } else {
        block = lane->slots[op->slot];
    }
    lane->executed[op->kind]++;
    if (op->kind == ABENCH_OP_TOUCH) {
        if (block != NULL && op->size > 0)
            touch_block(block, op->size, (uint8_t)(op->size ^ op->slot), touch);
        return;
    }
    if (touch != ABENCH_TOUCH_NOTHING && block != NULL && !op->empty)
        lane->checksum += block[0];
    if (moments != NULL)
        moments->begun_ns = abench_clock_ns();
    if (op->kind == ABENCH_OP_FREE_SIZED && a->free_sized != NULL)
        a->free_sized(block, (size_t)op->size);
    else
        a->free(block);
    if (moments != NULL)
        moments->ended_ns = abench_clock_ns();
    if (op->shared)
        atomic_store_explicit(&lane->shared[op->slot],
                              (uint64_t)((op->generation + 1) & 0xffff) << 48,
                              memory_order_release);
    else
        lane->slots[op->slot] = NULL;
}

static void sleep_until(abench__lane *lane, uint64_t due_ns)
{
    const uint64_t begun = abench_clock_ns();
    const struct timespec due = {(time_t)(due_ns / 1000000000u), (long)(due_ns % 1000000000u)};

    if (due_ns <= begun)
        return;
    atomic_store_explicit(&lane->waits_for, WAIT_PAUSE, memory_order_relaxed);
    while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &due, NULL) != 0)
        ;
    atomic_store_explicit(&lane->waits_for, WAIT_NOTHING, memory_order_relaxed);
    lane->pause_ns += abench_clock_ns() - begun;
}

/* A pause counts from now, a pace from the pace before. */
static void pause_for(abench__lane *lane, const abench__op *op)
{
    const uint64_t now = abench_clock_ns(), wanted = op->size * 1000;

    if (!op->shared) {
        sleep_until(lane, now + wanted);
        return;
    }
    lane->pace_ns = (lane->pace_ns == 0 ? lane->play->begin_ns : lane->pace_ns) + wanted;
    if (now > lane->pace_ns && now - lane->pace_ns > lane->late_ns)
        lane->late_ns = now - lane->pace_ns;
    sleep_until(lane, lane->pace_ns);
}

void abench__lane_meet(abench__lane *lane, const abench__op *op)
{
    if (op->kind == ABENCH_OP_BARRIER)
        abench__wait_barrier(lane);
    else if (op->kind == ABENCH_OP_PAUSE)
        pause_for(lane, op);
    lane->executed
        [op->kind]++; /* a phase's edge is a slice's edge: the lanes stood there already */
}

/* The two below return 0, with nothing done, when the slot is not in the state that they want: then
 * there is something to wait for. */
ALWAYS uint32_t free_shared(abench__lane *lane, uint64_t word, uint32_t touch)
{
    const uint32_t slot = abench__word_slot(word), generation = (uint32_t)word;
    const uint64_t held = atomic_load_explicit(&lane->shared[slot], memory_order_acquire);
    unsigned char *block = abench__slot_pointer(held);

    if (__builtin_expect(held >> 48 != (generation & 0xffff), 0))
        return 0;
    if (touch != ABENCH_TOUCH_NOTHING && block != NULL)
        lane->checksum += *block;
    lane->play->allocator.free(block);
    atomic_store_explicit(&lane->shared[slot], (uint64_t)((generation + 1) & 0xffff) << 48,
                          memory_order_release);
    lane->executed[ABENCH_OP_FREE]++;
    return 1;
}

ALWAYS uint32_t malloc_shared(abench__lane *lane, const uint64_t *words, uint32_t touch)
{
    const uint32_t slot = abench__word_slot(words[0]), size = (uint32_t)words[0];
    const uint32_t generation = (uint32_t)words[1];
    const uint64_t held = atomic_load_explicit(&lane->shared[slot], memory_order_acquire);
    void *block;

    if (__builtin_expect(words[1] >> 32 != 0 || held >> 48 != ((generation - 1) & 0xffff), 0))
        return 0;
    block = lane->play->allocator.malloc(size);
    if (__builtin_expect(block == NULL, 0))
        lane->failed++;
    else
        touch_block(block, size, (uint8_t)(words[0] ^ words[0] >> WORD_SLOT_SHIFT), touch);
    atomic_store_explicit(&lane->shared[slot], abench__slot_word(lane, block, generation),
                          memory_order_release);
    lane->bytes += size;
    lane->executed[ABENCH_OP_MALLOC]++;
    return 2;
}

/* malloc and free of shared slots, when there is nothing to wait for: the words that they take, or
 * 0 when it is something else. */
ALWAYS uint32_t play_shared(abench__lane *lane, const uint64_t *words, uint32_t touch)
{
    const uint32_t shape = (uint32_t)(words[0] >> SHAPE_SHIFT);

    if (shape == (SHAPE(ABENCH_OP_FREE) | SHAPE_SHARED))
        return free_shared(lane, words[0], touch);
    if (shape == (SHAPE(ABENCH_OP_MALLOC) | SHAPE_SHARED | SHAPE_EXTENDED))
        return malloc_shared(lane, words, touch);
    return 0;
}

/* Any operation; returns the words that it takes. */
static __attribute__((noinline)) uint32_t play_rare(abench__lane *lane, const uint64_t *words,
                                                    uint32_t touch)
{
    abench__op op;
    uint32_t count = play_shared(lane, words, touch);

    if (count != 0)
        return count;
    count = abench__word_unpack(words, &op);
    lane->at = words;
    switch (op.kind) {
    case ABENCH_OP_MALLOC:
    case ABENCH_OP_CALLOC:
    case ABENCH_OP_ALIGNED_ALLOC:
    case ABENCH_OP_REALLOC:
        allocate(lane, &op, touch, NULL);
        return count;
    case ABENCH_OP_FREE:
    case ABENCH_OP_FREE_SIZED:
    case ABENCH_OP_TOUCH:
        release(lane, &op, touch, NULL);
        return count;
    default:
        abench__lane_meet(lane, &op);
        return count;
    }
}

void abench__lane_call(abench__lane *lane, const abench__op *op, abench__moments *moments)
{
    const uint32_t touch = lane->play->tape->summary.touch;

    if (op->kind <= ABENCH_OP_REALLOC)
        allocate(lane, op, touch, moments);
    else
        release(lane, op, touch, moments);
}

/* ---- the loop -------------------------------------------------------------------------------- */

ALWAYS void play_words(abench__lane *lane, const uint64_t *end, uint32_t touch, int may_be_null)
{
    void *(*const do_malloc)(size_t) = lane->play->allocator.malloc;
    void (*const do_free)(void *) = lane->play->allocator.free;
    void **const slots = lane->slots;
    const uint64_t *at = lane->at;
    uint64_t bytes = 0, checksum = 0, mallocs = 0, frees = 0;

    while (at < end) {
        const uint64_t word = *at;
        const uint32_t shape = (uint32_t)(word >> SHAPE_SHIFT);

        if (shape == SHAPE(ABENCH_OP_FREE)) {
            void **slot = &slots[abench__word_slot(word)];
            unsigned char *block = *slot;
            if (touch != ABENCH_TOUCH_NOTHING && (!may_be_null || block != NULL))
                checksum += *block;
            *slot = NULL;
            do_free(block);
            frees++;
            at++;
        } else if (shape == SHAPE(ABENCH_OP_MALLOC)) {
            const uint32_t size = (uint32_t)word;
            void *block = do_malloc(size);
            slots[abench__word_slot(word)] = block;
            bytes += size;
            mallocs++;
            at++;
            if (__builtin_expect(block == NULL, 0)) {
                lane->failed++;
                if (!may_be_null)
                    break; /* goes on in the other loop */
            } else {
                touch_block(block, size, (uint8_t)(word ^ word >> WORD_SLOT_SHIFT), touch);
            }
        } else {
            at += play_rare(lane, at, touch);
            if (__builtin_expect(
                    (!may_be_null && lane->failed != 0) ||
                        atomic_load_explicit(&lane->play->abort, memory_order_relaxed) != 0,
                    0))
                break;
        }
    }
    lane->at = at;
    lane->bytes += bytes;
    lane->checksum += checksum;
    lane->executed[ABENCH_OP_MALLOC] += mallocs;
    lane->executed[ABENCH_OP_FREE] += frees;
}

ALWAYS void play_touching(abench__lane *lane, const uint64_t *end, uint32_t touch)
{
    if (lane->failed == 0)
        play_words(lane, end, touch, 0);
    if (lane->failed != 0)
        play_words(lane, end, touch, 1);
}

static void play_plainly(abench__lane *lane, const uint64_t *end)
{
    switch (lane->play->tape->summary.touch) {
    case ABENCH_TOUCH_NOTHING:
        play_touching(lane, end, ABENCH_TOUCH_NOTHING);
        break;
    case ABENCH_TOUCH_FIRST:
        play_touching(lane, end, ABENCH_TOUCH_FIRST);
        break;
    case ABENCH_TOUCH_PAGES:
        play_touching(lane, end, ABENCH_TOUCH_PAGES);
        break;
    default:
        play_touching(lane, end, ABENCH_TOUCH_ALL);
        break;
    }
}

static int given_up(const abench__lane *lane)
{
    return atomic_load_explicit(&lane->play->abort, memory_order_relaxed) != 0;
}

static void play_until(abench__lane *lane, const uint64_t *end)
{
    if (lane->play->check != NULL)
        abench__check_until(lane, end);
    else if (!abench__latency_is_on(lane->play))
        play_plainly(lane, end);
    else
        while (lane->at < end && !given_up(lane)) {
            const uint64_t *stop = abench__latency_stop(lane, end);
            play_plainly(lane, stop);
            if (lane->at < end && !given_up(lane))
                abench__latency_operation(lane, stop);
        }
}

static uint64_t thread_cpu_ns(void)
{
    struct timespec now;

    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

static const uint64_t *cut_end(const abench__lane *lane, uint64_t cut)
{
    const abench__play *play = lane->play;

    return lane->words + play->chunk.cut_ends[cut * play->lanes_count + lane->index];
}

void abench__lane_stretch(abench__lane *lane)
{
    abench__play *play = lane->play;
    const uint64_t idle = lane->wait_ns + lane->pause_ns;
    const uint64_t cpu = thread_cpu_ns();

    lane->stretch_begin_ns = abench_clock_ns();
    if (play->skew_cuts == 0) {
        play_until(lane, cut_end(lane, play->last_cut - 1));
    } else {
        for (uint64_t cut = play->first_cut; cut < play->last_cut; cut++) {
            atomic_store_explicit(&lane->cut, cut, memory_order_relaxed);
            abench__wait_skew(lane, cut);
            if (atomic_load_explicit(&play->abort, memory_order_relaxed))
                break;
            play_until(lane, cut_end(lane, cut));
        }
        atomic_store_explicit(&lane->cut, UINT64_MAX / 2, memory_order_relaxed);
    }
    lane->stretch_end_ns = abench_clock_ns();
    lane->stretch_cpu_ns = thread_cpu_ns() - cpu;
    lane->stretch_idle_ns = lane->wait_ns + lane->pause_ns - idle;
}
