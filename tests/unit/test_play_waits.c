/* Lanes that wait for each other: the watchdog, the skew bound, what is counted. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <fcntl.h>
#include <time.h>
#include <unistd.h>

#include "player.h"

#define BLOCKING_SIZE 77u
#define PATIENCE_NS   ((uint64_t)10000000000u) /* then a test fails rather than hangs */

static void sleep_ms(long ms)
{
    nanosleep(&(struct timespec){0, ms * 1000000}, NULL);
}

/* The state of the main thread as the kernel says it: 'R' also while it waits for a core. */
static char state_of_main_thread(void)
{
    char path[64], text[512];
    const char *at;
    ssize_t got;
    int fd;

    snprintf(path, sizeof path, "/proc/self/task/%d/stat", getpid());
    fd = open(path, O_RDONLY);
    if (fd < 0)
        return '?';
    got = read(fd, text, sizeof text - 1);
    close(fd);
    text[got > 0 ? got : 0] = '\0';
    at = strrchr(text, ')');
    return at == NULL ? '?' : at[2];
}

/* A lane that waits spins or yields, so it sleeps only when it has given up and stands at the gate:
 * then, and not after some time, the call that it waited for may return. */
static void wait_until_lane_0_gave_up(void)
{
    const uint64_t begun = abench_clock_ns();

    for (int asleep = 0; asleep < 4 && abench_clock_ns() - begun < PATIENCE_NS;) {
        sleep_ms(2);
        asleep = state_of_main_thread() == 'S' ? asleep + 1 : 0;
    }
}

static void *blocking_malloc(size_t size)
{
    if (size == BLOCKING_SIZE)
        wait_until_lane_0_gave_up();
    return honest_malloc(size);
}

static void blocking_free(void *block)
{
    if (size_of(block) == BLOCKING_SIZE + 1)
        wait_until_lane_0_gave_up();
    honest_free(block);
}

static void assert_stuck(abench_tape_builder *b, uint64_t skew_operations, const char *message)
{
    abench_tape *tape = finish(b);
    abench_allocator allocator = honest_allocator();
    abench_player_options options = ABENCH_PLAYER_OPTIONS_INIT;
    abench_receipt receipt = ABENCH_RECEIPT_INIT;
    abench_error error = ABENCH_ERROR_INIT;

    allocator.malloc = blocking_malloc;
    allocator.free = blocking_free;
    options.watchdog_ms = 20;
    options.skew_operations = skew_operations;
    assert_int_equal(abench_play(tape, &allocator, &options, &receipt, &error), ABENCH_ERROR_STUCK);
    assert_int_equal(error.status, ABENCH_ERROR_STUCK);
    if (strcmp(error.message, message) != 0)
        fail_msg("'%s'\ninstead of '%s'", error.message, message);
    assert_int_not_equal(receipt.work_digest, abench_tape_digest(tape));
    abench_tape_destroy(tape);
}

static void the_watchdog_names_a_lane_at_a_barrier(void **state)
{
    abench_tape_builder *b = make_builder(2, 1, ABENCH_TOUCH_FIRST);

    (void)state;
    abench_tape_builder_malloc(b, 0, 0, 10);
    abench_tape_builder_malloc(b, 1, 0, BLOCKING_SIZE);
    abench_tape_builder_barrier(b);
    assert_stuck(b, 0, "stuck for 20 ms; lane 0 waits at a barrier (word 2: barrier); lane 1 runs");
}

static void the_watchdog_names_a_lane_that_waits_for_a_block(void **state)
{
    abench_tape_builder *b = make_builder(2, 4, ABENCH_TOUCH_FIRST);

    (void)state;
    abench_tape_builder_malloc(b, 1, 0, BLOCKING_SIZE);
    abench_tape_builder_malloc(b, 1, SHARED | 3, 10);
    abench_tape_builder_free(b, 0, SHARED | 3);
    assert_stuck(b, 0,
                 "stuck for 20 ms; lane 0 waits until a block is allocated (word 1: free shared "
                 "slot 3 generation 1); lane 1 runs");
}

static void the_watchdog_names_a_lane_that_waits_for_a_free(void **state)
{
    abench_tape_builder *b = make_builder(2, 4, ABENCH_TOUCH_FIRST);

    (void)state;
    abench_tape_builder_malloc(b, 0, SHARED | 2, BLOCKING_SIZE + 1);
    abench_tape_builder_free(b, 1, SHARED | 2);
    abench_tape_builder_malloc(b, 0, SHARED | 2, 20);
    assert_stuck(b, 0,
                 "stuck for 20 ms; lane 0 waits until a block is freed (word 3: malloc shared slot "
                 "2 generation 3); lane 1 runs");
}

static void the_watchdog_names_a_lane_that_is_too_far_ahead(void **state)
{
    abench_tape_builder *b = make_builder(2, 1, ABENCH_TOUCH_FIRST);

    (void)state;
    abench_tape_builder_malloc(b, 1, 0, BLOCKING_SIZE);
    for (int at = 0; at < 2000; at++) {
        abench_tape_builder_malloc(b, 0, 0, 10);
        abench_tape_builder_free(b, 0, 0);
    }
    abench_tape_builder_free(b, 1, 0);
    assert_stuck(b, 1024,
                 "stuck for 20 ms; lane 0 waits for slower lanes (before word 2046); lane 1 runs");
}

static void waits_are_counted(void **state)
{
    abench_tape_builder *b = make_builder(2, 1, ABENCH_TOUCH_FIRST);
    const abench_allocator allocator = honest_allocator();
    abench_receipt receipt = ABENCH_RECEIPT_INIT;
    abench_tape *tape;

    (void)state;
    abench_tape_builder_pause(b, 1, 20000);
    abench_tape_builder_malloc(b, 1, SHARED, 10);
    abench_tape_builder_free(b, 0, SHARED);
    tape = finish(b);
    assert_int_equal(abench_play(tape, &allocator, NULL, &receipt, NULL), ABENCH_OK);
    assert_int_equal(receipt.waits, 1);
    assert_true(receipt.wait_ns > 0);
    assert_true(receipt.pause_ns >= 20000000);
    abench_tape_destroy(tape);
}

static void a_pause_longer_than_the_watchdog_is_no_deadlock(void **state)
{
    abench_tape_builder *b = make_builder(2, 1, ABENCH_TOUCH_FIRST);
    const abench_allocator allocator = honest_allocator();
    abench_player_options options = ABENCH_PLAYER_OPTIONS_INIT;
    abench_tape *tape;

    (void)state;
    abench_tape_builder_pause(b, 1, 120000);
    abench_tape_builder_barrier(b);
    tape = finish(b);
    options.watchdog_ms = 20;
    assert_int_equal(abench_play(tape, &allocator, &options, NULL, NULL), ABENCH_OK);
    abench_tape_destroy(tape);
}

static _Atomic uint64_t lane_1_done, lane_1_at_end_of_wait;

/* Lane 0's first call: waits until lane 1 has come as far as it may, and then some. */
static void *leading_malloc(size_t size)
{
    if (size == BLOCKING_SIZE) {
        const uint64_t begun = abench_clock_ns();
        while (atomic_load(&lane_1_done) < 1000 && abench_clock_ns() - begun < PATIENCE_NS)
            sleep_ms(1);
        sleep_ms(20);
        atomic_store(&lane_1_at_end_of_wait, atomic_load(&lane_1_done));
    } else if (size == 20) {
        atomic_fetch_add(&lane_1_done, 1);
    }
    return honest_malloc(size);
}

/* While lane 0 is in cut 0, lane 1 may play cuts 0 to 4 and no more. */
static void a_lane_runs_ahead_by_the_skew_bound_and_no_further(void **state)
{
    static const uint64_t sizes[2][2] = {{BLOCKING_SIZE, 10}, {20, 20}}; /* first, later */
    abench_tape_builder *b = make_builder(2, 1, ABENCH_TOUCH_FIRST);
    abench_player_options options = ABENCH_PLAYER_OPTIONS_INIT;
    abench_allocator allocator = honest_allocator();
    abench_tape *tape;

    (void)state; /* lane 1 has 256 mallocs a cut */
    for (uint32_t at = 0; at < 4000; at++) {
        for (uint32_t lane = 0; lane < 2; lane++)
            abench_tape_builder_malloc(b, lane, 0, sizes[lane][at > 0]);
        for (uint32_t lane = 0; lane < 2; lane++)
            abench_tape_builder_free(b, lane, 0);
    }
    tape = finish(b);
    allocator.malloc = leading_malloc;
    options.skew_operations = 3 * 1024 + 1; /* rounded up to 4 cuts */
    atomic_store(&lane_1_done, 0);
    assert_int_equal(abench_play(tape, &allocator, &options, NULL, NULL), ABENCH_OK);
    assert_in_range(atomic_load(&lane_1_at_end_of_wait), 1000, 5 * 256);
    assert_int_equal(lane_1_done, 4000);
    abench_tape_destroy(tape);
}

/* ---- paces
 * ------------------------------------------------------------------------------------ */

/* A pace counts from the one before: what the work took is not slept again, and who is late does
 * not sleep. */
static void a_pace_counts_from_the_pace_before(void **state)
{
    const abench_allocator allocator = honest_allocator();
    abench_tape_builder *b = make_builder(1, 1, ABENCH_TOUCH_NOTHING);
    abench_receipt receipt = ABENCH_RECEIPT_INIT;
    abench_tape *tape;
    uint64_t begun, took;

    (void)state;
    abench_tape_builder_pace(b, 0, 20000);
    abench_tape_builder_pause(b, 0, 30000);
    abench_tape_builder_pace(b, 0, 40000); /* 60 ms: 10 are left */
    tape = finish(b);
    begun = abench_clock_ns();
    assert_int_equal(abench_play(tape, &allocator, NULL, &receipt, NULL), ABENCH_OK);
    took = abench_clock_ns() - begun;
    assert_true(took >= 60000000);
    assert_true(receipt.pause_ns >= 59000000); /* the clock begins a little before */
    abench_tape_destroy(tape);

    b = make_builder(1, 1, ABENCH_TOUCH_NOTHING);
    abench_tape_builder_pause(b, 0, 30000);
    abench_tape_builder_pace(b, 0, 10000); /* 20 ms too late */
    abench_tape_builder_pace(b, 0, 1000);
    tape = finish(b);
    assert_int_equal(abench_play(tape, &allocator, NULL, &receipt, NULL), ABENCH_OK);
    assert_true(receipt.late_ns >= 19000000);
    assert_true(receipt.pause_ns >= 29000000);
    abench_tape_destroy(tape);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_watchdog_names_a_lane_at_a_barrier),
        cmocka_unit_test(the_watchdog_names_a_lane_that_waits_for_a_block),
        cmocka_unit_test(the_watchdog_names_a_lane_that_waits_for_a_free),
        cmocka_unit_test(the_watchdog_names_a_lane_that_is_too_far_ahead),
        cmocka_unit_test(waits_are_counted),
        cmocka_unit_test(a_pause_longer_than_the_watchdog_is_no_deadlock),
        cmocka_unit_test(a_lane_runs_ahead_by_the_skew_bound_and_no_further),
        cmocka_unit_test(a_pace_counts_from_the_pace_before),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
