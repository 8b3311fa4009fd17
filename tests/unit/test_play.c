/* The player: what it calls and writes, and what it calls back. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <pthread.h>
#include <signal.h>
#include <unistd.h>

#include "player.h"
#include "tape/tape.h"

/* ---- what is called and written -------------------------------------------------------------- */

static void each_operation_calls_its_function_once(void **state)
{
    abench_allocator allocator = honest_allocator();
    abench_receipt receipt = ABENCH_RECEIPT_INIT;
    abench_tape *tape = every_kind(ABENCH_TOUCH_ALL);

    (void)state;
    allocator.free_sized = honest_free_sized;
    assert_int_equal(abench_play(tape, &allocator, NULL, &receipt, NULL), ABENCH_OK);
    assert_int_equal(calls[ABENCH_OP_MALLOC], 2);
    assert_int_equal(calls[ABENCH_OP_CALLOC], 1);
    assert_int_equal(calls[ABENCH_OP_ALIGNED_ALLOC], 1);
    assert_int_equal(calls[ABENCH_OP_REALLOC], 1);
    assert_int_equal(calls[ABENCH_OP_FREE], 2);
    assert_int_equal(calls[ABENCH_OP_FREE_SIZED], 2);
    assert_int_equal(sized_bytes, 5000 + 9000);
    assert_int_equal(receipt.bytes_requested, 10000 + 5000 + 1024 + 300 + 9000);
    assert_true(receipt.pause_ns >= 1000);
    abench_tape_destroy(tape);
}

static void free_is_called_where_there_is_no_free_sized(void **state)
{
    const abench_allocator allocator = honest_allocator();
    abench_tape *tape = every_kind(ABENCH_TOUCH_NOTHING);

    (void)state;
    assert_int_equal(abench_play(tape, &allocator, NULL, NULL, NULL), ABENCH_OK);
    assert_int_equal(calls[ABENCH_OP_FREE], 4);
    assert_int_equal(calls[ABENCH_OP_FREE_SIZED], 0);
    abench_tape_destroy(tape);
}

/* Compares every block that is freed with what touch says of slot 0. */
static uint32_t touch_wanted;
static uint64_t bytes_amiss, blocks_seen;

static int is_written(uint64_t at, uint64_t size)
{
    switch (touch_wanted) {
    case ABENCH_TOUCH_NOTHING:
        return 0;
    case ABENCH_TOUCH_FIRST:
        return at == 0;
    case ABENCH_TOUCH_PAGES:
        return at % 4096 == 0;
    default:
        return at < size;
    }
}

static void checking_free(void *block)
{
    const uint64_t size = size_of(block);

    for (uint64_t at = 0; at < size; at++) {
        const unsigned char wanted = is_written(at, size) ? (unsigned char)size : POISON;
        bytes_amiss += ((unsigned char *)block)[at] != wanted;
    }
    blocks_seen++;
    honest_free(block);
}

static void each_touch_writes_its_bytes_and_no_other(void **state)
{
    static const uint64_t sizes[] = {0, 1, 100, 4095, 4096, 4097, 8193, 70000};

    (void)state;
    for (touch_wanted = 0; touch_wanted < 4; touch_wanted++) {
        abench_tape_builder *b = make_builder(1, 1, touch_wanted);
        abench_allocator allocator = honest_allocator();
        abench_tape *tape;
        allocator.free = checking_free;
        bytes_amiss = blocks_seen = 0;
        for (size_t at = 0; at < sizeof sizes / sizeof sizes[0]; at++) {
            abench_tape_builder_malloc(b, 0, 0, sizes[at]);
            abench_tape_builder_free(b, 0, 0);
            abench_tape_builder_aligned(b, 0, SHARED, 64, sizes[at]);
            abench_tape_builder_free(b, 0, SHARED);
        }
        tape = finish(b);
        assert_int_equal(abench_play(tape, &allocator, NULL, NULL, NULL), ABENCH_OK);
        assert_int_equal(blocks_seen, 2 * sizeof sizes / sizeof sizes[0]);
        assert_int_equal(bytes_amiss, 0);
        abench_tape_destroy(tape);
    }
}

static unsigned char *first_block;

/* Spoils the block before when it is asked for one of 77 bytes. */
static void *spoiling_malloc(size_t size)
{
    unsigned char *block = honest_malloc(size);

    if (size == 77)
        first_block[0] = POISON;
    else
        first_block = block;
    return block;
}

static void a_touch_writes_the_block_again(void **state)
{
    (void)state;
    for (uint32_t shared = 0; shared < 2; shared++) {
        abench_tape_builder *b = make_builder(1, 2, ABENCH_TOUCH_FIRST);
        abench_allocator allocator = honest_allocator();
        abench_tape *tape;
        allocator.malloc = spoiling_malloc;
        abench_tape_builder_malloc(b, 0, shared ? SHARED : 0, 10);
        abench_tape_builder_malloc(b, 0, 1, 77);
        abench_tape_builder_touch(b, 0, shared ? SHARED : 0);
        abench_tape_builder_free(b, 0, shared ? SHARED : 0);
        abench_tape_builder_free(b, 0, 1);
        tape = finish(b);
        assert_int_equal(abench_play(tape, &allocator, NULL, NULL, NULL), ABENCH_OK);
        abench_tape_destroy(tape);
    }
}

static _Atomic int thread_of_lane_0, thread_of_lane_1, usr1_is_blocked;

/* Sizes tell the lanes apart. */
static void *watching_malloc(size_t size)
{
    sigset_t mask;

    if (size == 100) {
        atomic_store(&thread_of_lane_0, gettid());
    } else {
        pthread_sigmask(SIG_SETMASK, NULL, &mask);
        atomic_store(&usr1_is_blocked, sigismember(&mask, SIGUSR1));
        atomic_store(&thread_of_lane_1, gettid());
    }
    return honest_malloc(size);
}

static void lane_0_is_the_caller_and_others_take_no_signals(void **state)
{
    abench_tape_builder *b = make_builder(2, 1, ABENCH_TOUCH_FIRST);
    abench_allocator allocator = honest_allocator();
    sigset_t before, after;
    abench_tape *tape;

    (void)state;
    allocator.malloc = watching_malloc;
    abench_tape_builder_malloc(b, 0, 0, 100);
    abench_tape_builder_malloc(b, 1, 0, 200);
    tape = finish(b);
    pthread_sigmask(SIG_SETMASK, NULL, &before);
    assert_int_equal(abench_play(tape, &allocator, NULL, NULL, NULL), ABENCH_OK);
    pthread_sigmask(SIG_SETMASK, NULL, &after);
    assert_int_equal(thread_of_lane_0, gettid());
    assert_int_not_equal(thread_of_lane_1, gettid());
    assert_int_equal(usr1_is_blocked, 1);
    assert_int_equal(sigismember(&after, SIGUSR1), sigismember(&before, SIGUSR1));
    abench_tape_destroy(tape);
}

/* ---- callbacks ------------------------------------------------------------------------------- */

#define EVENTS_MAX 64

typedef struct event {
    abench_mark mark; /* struct_size 0: a slice */
    abench_slice slice;
    uint64_t usable;
    abench_status usable_status;
} event;

typedef struct diary {
    event events[EVENTS_MAX];
    uint32_t count;
    uint32_t stop_at; /* the event that stops the play, from 1; 0: none */
} diary;

static int32_t note_mark(const abench_mark *mark, void *user)
{
    diary *d = user;
    event *e = &d->events[d->count++];

    e->mark = *mark;
    e->usable_status = abench_mark_usable(mark, &e->usable);
    return d->count == d->stop_at;
}

static int32_t note_slice(const abench_slice *slice, void *user)
{
    diary *d = user;

    d->events[d->count++].slice = *slice;
    return d->count == d->stop_at;
}

/* Phases of 1, 5 and 1 cuts. */
static abench_tape *three_phases(void)
{
    abench_tape_builder *b = make_builder(2, 2, ABENCH_TOUCH_FIRST);

    abench_tape_builder_phase(b, "fill", 0);
    for (uint32_t lane = 0; lane < 2; lane++) {
        abench_tape_builder_malloc(b, lane, 0, 100);
        abench_tape_builder_malloc(b, lane, 1, 10 + lane);
        abench_tape_builder_malloc(b, lane, SHARED | lane, 1000);
    }
    abench_tape_builder_phase(b, "steady", ABENCH_PHASE_TIMED);
    for (int at = 0; at < 1250; at++)
        for (uint32_t lane = 0; lane < 2; lane++) {
            abench_tape_builder_free(b, lane, 0);
            abench_tape_builder_malloc(b, lane, 0, 200);
        }
    abench_tape_builder_phase(b, "drain", 0);
    for (uint32_t lane = 0; lane < 2; lane++) {
        abench_tape_builder_free(b, lane, 0);
        abench_tape_builder_free(b, lane, 1);
        abench_tape_builder_free(b, lane, SHARED | (1 - lane));
    }
    return finish(b);
}

static abench_status play_with_diary(const abench_tape *tape, uint64_t slice_operations, diary *d,
                                     abench_receipt *receipt, abench_error *error)
{
    const abench_allocator allocator = honest_allocator();
    abench_player_options options = ABENCH_PLAYER_OPTIONS_INIT;

    options.slice_operations = slice_operations;
    options.mark = note_mark;
    options.slice = note_slice;
    options.user = d;
    return abench_play(tape, &allocator, &options, receipt, error);
}

static void marks_and_slices_come_in_order(void **state)
{
    /* m: mark; s: slice; digits: its phase. */
    static const char *const wanted[] = {"m0 m0 s0 m1 s1 m2 s2 ", "m0 m0 s0 s1 s1 m1 s1 m2 s2 "};
    abench_tape *tape = three_phases();

    (void)state;
    for (int round = 0; round < 2; round++) {
        char order[3 * EVENTS_MAX + 1] = "";
        diary d = {0};
        assert_int_equal(play_with_diary(tape, round == 0 ? 0 : 2048, &d, NULL, NULL), ABENCH_OK);
        for (uint32_t at = 0; at < d.count; at++) {
            const event *e = &d.events[at];
            const int is_mark = e->mark.struct_size != 0;
            snprintf(order + 3 * at, 4, "%c%u ", is_mark ? 'm' : 's',
                     is_mark ? e->mark.phase : e->slice.phase);
            assert_int_equal(e->mark.begin, at == 0);
            assert_int_equal(e->mark.end, at == d.count - 2);
            assert_int_equal(e->slice.last, at == d.count - 1);
        }
        assert_string_equal(order, wanted[round]);
    }
    abench_tape_destroy(tape);
}

static void a_mark_knows_what_lives_and_how_much_of_it_is_usable(void **state)
{
    static const uint64_t live[] = {0, 2 * 100 + 10 + 11 + 2 * 1000, 2 * 200 + 10 + 11 + 2 * 1000,
                                    0};
    static const uint64_t usable[] = {0, 2 * 128 + 2 * 64 + 2 * 1024, 2 * 256 + 2 * 64 + 2 * 1024,
                                      0};
    abench_tape *tape = three_phases();
    uint32_t marks = 0;
    diary d = {0};

    (void)state;
    assert_int_equal(play_with_diary(tape, 0, &d, NULL, NULL), ABENCH_OK);
    for (uint32_t at = 0; at < d.count; at++) {
        if (d.events[at].mark.struct_size == 0)
            continue;
        assert_true(marks < 4);
        assert_int_equal(d.events[at].mark.live_bytes, live[marks]);
        assert_int_equal(d.events[at].mark.live_blocks, live[marks] == 0 ? 0 : 6);
        assert_int_equal(d.events[at].usable_status, ABENCH_OK);
        assert_int_equal(d.events[at].usable, usable[marks]);
        marks++;
    }
    assert_int_equal(marks, 4);
    abench_tape_destroy(tape);
}

static void usable_bytes_of_an_allocator_without_such_a_call_are_unsupported(void **state)
{
    abench_player_options options = ABENCH_PLAYER_OPTIONS_INIT;
    abench_allocator allocator = honest_allocator();
    abench_tape *tape = three_phases();
    diary d = {0};

    (void)state;
    allocator.usable_size = NULL;
    options.mark = note_mark;
    options.user = &d;
    assert_int_equal(abench_play(tape, &allocator, &options, NULL, NULL), ABENCH_OK);
    assert_int_equal(d.count, 4);
    assert_int_equal(d.events[1].usable_status, ABENCH_ERROR_UNSUPPORTED);
    abench_tape_destroy(tape);
}

static void slices_cover_every_operation_once(void **state)
{
    static const uint64_t lengths[] = {0, 1, 1024, 1025, 2048, 3000, 1000000, UINT64_MAX};
    abench_tape *tape = three_phases();
    abench_tape_summary summary = ABENCH_TAPE_SUMMARY_INIT;

    (void)state;
    abench_tape_get_summary(tape, &summary);
    for (size_t round = 0; round < sizeof lengths / sizeof lengths[0]; round++) {
        /* rounded up to whole cuts of 1024 */
        const uint64_t cuts = (lengths[round] / 1024 + (lengths[round] % 1024 != 0));
        const uint64_t wanted = cuts == 0 || cuts > 5 ? 5 : cuts;
        uint64_t by_phase[3] = {0};
        uint32_t slices = 0;
        diary d = {0};
        assert_int_equal(play_with_diary(tape, lengths[round], &d, NULL, NULL), ABENCH_OK);
        for (uint32_t at = 0; at < d.count; at++) {
            const abench_slice *slice = &d.events[at].slice;
            if (slice->struct_size == 0)
                continue;
            assert_int_equal(slice->index, slices++);
            assert_true(slice->operations > 0);
            assert_true(slice->phase < 3);
            assert_true(slice->busy_ns <= 2 * slice->wall_ns);
            by_phase[slice->phase] += slice->operations;
        }
        for (uint32_t phase = 0; phase < 3; phase++)
            assert_int_equal(by_phase[phase], tape->phases[phase].info.operations);
        assert_int_equal(by_phase[0] + by_phase[1] + by_phase[2], summary.operations);
        assert_int_equal(slices, 2 + (5 + wanted - 1) / wanted);
    }
    abench_tape_destroy(tape);
}

/* Cuts are of 1024 operations, of which the first is the phase's begin. */
static void slices_tell_what_is_alive_behind_them(void **state)
{
    abench_tape_builder *b = make_builder(1, 6000, ABENCH_TOUCH_FIRST);
    abench_tape *tape;
    diary d = {0};
    uint64_t operations = 0;
    uint32_t slices = 0;

    (void)state;
    abench_tape_builder_phase(b, "fill", ABENCH_PHASE_TIMED);
    for (uint32_t slot = 0; slot < 6000; slot++)
        abench_tape_builder_malloc(b, 0, slot, 8);
    abench_tape_builder_phase(b, "drain", 0);
    for (uint32_t slot = 0; slot < 6000; slot++)
        abench_tape_builder_free(b, 0, slot);
    tape = finish(b);
    assert_int_equal(play_with_diary(tape, 2000, &d, NULL, NULL), ABENCH_OK);
    for (uint32_t at = 0; at < d.count; at++) {
        const abench_slice *slice = &d.events[at].slice;
        if (slice->struct_size == 0)
            continue;
        operations += slice->operations;
        assert_int_equal(slice->live_bytes, slice->phase == 0 ? 8 * (operations - 1)
                                            : slice->last     ? 0
                                                              : 8 * (12002 - operations));
        slices++;
    }
    assert_int_equal(slices, 6); /* of 2048, 2048, 1905, and the same again */
    abench_tape_destroy(tape);
}

static void a_callback_stops_the_play(void **state)
{
    abench_tape *tape = three_phases();
    diary whole = {0};

    (void)state;
    assert_int_equal(play_with_diary(tape, 1024, &whole, NULL, NULL), ABENCH_OK);
    for (uint32_t at = 1; at <= whole.count; at++) {
        abench_receipt receipt = ABENCH_RECEIPT_INIT;
        abench_error error = ABENCH_ERROR_INIT;
        uint64_t operations = 0, executed = 0;
        diary d = {.stop_at = at};
        assert_int_equal(play_with_diary(tape, 1024, &d, &receipt, &error), ABENCH_ERROR_STOPPED);
        assert_int_equal(error.status, ABENCH_ERROR_STOPPED);
        assert_int_equal(d.count, at); /* and none is called afterwards */
        for (uint32_t index = 0; index < at; index++)
            operations += d.events[index].slice.operations;
        for (uint32_t kind = 0; kind < ABENCH_OP_KINDS; kind++)
            executed += receipt.executed[kind];
        assert_true(executed >= operations);
        if (d.events[at - 1].slice.struct_size != 0) /* stopped between two slices */
            assert_int_equal(executed, operations);
    }
    abench_tape_destroy(tape);
}

static void blocks_that_are_alive_at_the_end_are_freed_behind_the_last_mark(void **state)
{
    abench_tape_builder *b = make_builder(2, 1, ABENCH_TOUCH_FIRST);
    const abench_allocator allocator = honest_allocator();
    abench_receipt receipt = ABENCH_RECEIPT_INIT;
    const uint64_t frees = calls[ABENCH_OP_FREE];
    abench_tape *tape;

    (void)state;
    abench_tape_builder_malloc(b, 0, 0, 10);
    abench_tape_builder_malloc(b, 1, 0, 20);
    abench_tape_builder_malloc(b, 1, SHARED, 30);
    tape = finish(b);
    assert_int_equal(abench_play(tape, &allocator, NULL, &receipt, NULL), ABENCH_OK);
    assert_int_equal(receipt.executed[ABENCH_OP_FREE], 0);
    assert_int_equal(receipt.live_blocks_end, 3);
    assert_int_equal(calls[ABENCH_OP_FREE] - frees, 3);
    abench_tape_destroy(tape);
}

static void arguments_that_make_no_sense_are_refused(void **state)
{
    abench_player_options options = ABENCH_PLAYER_OPTIONS_INIT;
    abench_receipt receipt = ABENCH_RECEIPT_INIT;
    abench_error error = ABENCH_ERROR_INIT;
    abench_tape *tape = every_kind(ABENCH_TOUCH_FIRST);

    (void)state;
    for (int missing = 0; missing < 6; missing++) {
        abench_allocator allocator = honest_allocator();
        if (missing == 0)
            allocator.malloc = NULL;
        else if (missing == 1)
            allocator.calloc = NULL;
        else if (missing == 2)
            allocator.aligned_alloc = NULL;
        else if (missing == 3)
            allocator.realloc = NULL;
        else if (missing == 4)
            allocator.free = NULL;
        else
            allocator.struct_size = 8;
        assert_int_equal(abench_play(tape, &allocator, NULL, NULL, &error), ABENCH_ERROR_ARGUMENT);
        assert_int_equal(error.status, ABENCH_ERROR_ARGUMENT);
    }
    options.flags = 2;
    assert_int_equal(abench_play(tape, NULL, &options, NULL, NULL), ABENCH_ERROR_ARGUMENT);
    receipt.struct_size = 8;
    assert_int_equal(abench_play(tape, NULL, NULL, &receipt, NULL), ABENCH_ERROR_ARGUMENT);
    abench_tape_destroy(tape);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_operation_calls_its_function_once),
        cmocka_unit_test(free_is_called_where_there_is_no_free_sized),
        cmocka_unit_test(each_touch_writes_its_bytes_and_no_other),
        cmocka_unit_test(a_touch_writes_the_block_again),
        cmocka_unit_test(lane_0_is_the_caller_and_others_take_no_signals),
        cmocka_unit_test(marks_and_slices_come_in_order),
        cmocka_unit_test(a_mark_knows_what_lives_and_how_much_of_it_is_usable),
        cmocka_unit_test(usable_bytes_of_an_allocator_without_such_a_call_are_unsupported),
        cmocka_unit_test(slices_cover_every_operation_once),
        cmocka_unit_test(slices_tell_what_is_alive_behind_them),
        cmocka_unit_test(a_callback_stops_the_play),
        cmocka_unit_test(blocks_that_are_alive_at_the_end_are_freed_behind_the_last_mark),
        cmocka_unit_test(arguments_that_make_no_sense_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
