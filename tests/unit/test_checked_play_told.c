/* Checked play: what is told of faults, and the stamps that show them. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "checked.h"
#include "tape/stamp.h"

/* ---- what is said of faults ------------------------------------------------------------------ */

static void every_fault_is_counted_and_the_first_is_told(void **state)
{
    abench_allocator allocator = honest_allocator();
    abench_tape_builder *b = make_builder(1, 1, ABENCH_TOUCH_FIRST);

    (void)state;
    allocator.usable_size = short_usable_size;
    for (uint32_t size = 100; size < 120; size++) {
        abench_tape_builder_malloc(b, 0, 0, size);
        abench_tape_builder_free(b, 0, 0);
    }
    assert_int_equal(play(finish(b), &allocator), ABENCH_ERROR_RECEIPT);
    assert_int_equal(receipt.faults, 20);
    assert_int_equal(faults[19].size, 119);
    assert_non_null(strstr(error.message, "20 faults; the first: malloc of 100 bytes in lane 0"));
    assert_int_equal(receipt.executed[ABENCH_OP_FREE], 20);
}

/* Each lane counts its own; the receipt has them all. */
static void faults_of_all_lanes_are_counted(void **state)
{
    abench_allocator allocator = honest_allocator();
    abench_tape_builder *b = make_builder(3, 1, ABENCH_TOUCH_FIRST);

    (void)state;
    allocator.usable_size = short_usable_size;
    for (uint32_t lane = 0; lane < 3; lane++) {
        abench_tape_builder_malloc(b, lane, 0, 100);
        abench_tape_builder_free(b, lane, 0);
    }
    assert_int_equal(play(finish(b), &allocator), ABENCH_ERROR_RECEIPT);
    assert_int_equal(receipt.faults, 3);
    assert_int_equal(receipt.checked, 3);
    assert_int_equal(1u << faults[0].lane | 1u << faults[1].lane | 1u << faults[2].lane, 7);
}

static void a_callback_stops_the_play(void **state)
{
    abench_allocator allocator = honest_allocator();
    abench_tape_builder *b = make_builder(1, 1, ABENCH_TOUCH_FIRST);

    (void)state;
    allocator.usable_size = short_usable_size;
    for (uint32_t round = 0; round < 10; round++) {
        abench_tape_builder_malloc(b, 0, 0, 100);
        abench_tape_builder_free(b, 0, 0);
    }
    stop_at = 3;
    assert_int_equal(play(finish(b), &allocator), ABENCH_ERROR_STOPPED);
    stop_at = 0;
    assert_int_equal(error.status, ABENCH_ERROR_STOPPED);
    assert_non_null(strstr(error.message, "its usable size is 99"));
    assert_int_equal(receipt.faults, 3);
    assert_int_equal(calls[ABENCH_OP_MALLOC], 3);
    assert_int_equal(calls[ABENCH_OP_FREE], 3); /* the one that was alive, too */
}

static void a_callback_may_stop_at_the_last_block(void **state)
{
    abench_allocator allocator = honest_allocator();
    abench_tape_builder *b = make_builder(1, 2, ABENCH_TOUCH_FIRST);

    (void)state;
    allocator.malloc = scribbling_malloc;
    before = NULL;
    abench_tape_builder_malloc(b, 0, 0, 100);
    abench_tape_builder_malloc(b, 0, 1, 100);
    stop_at = 1;
    assert_int_equal(play(finish(b), &allocator), ABENCH_ERROR_STOPPED);
    stop_at = 0;
    assert_int_equal(receipt.faults, 1);
}

static int32_t stop_at_first_slice(const abench_slice *slice, void *user)
{
    (void)slice;
    (void)user;
    return 1;
}

/* Faults are told of a play that was stopped for another reason, too. */
static void a_stopped_play_tells_its_faults(void **state)
{
    abench_player_options options = ABENCH_PLAYER_OPTIONS_INIT;
    abench_allocator allocator = honest_allocator();
    abench_tape *tape = malloc_and_free(ABENCH_TOUCH_FIRST, 100);

    (void)state;
    allocator.usable_size = short_usable_size;
    options.flags = ABENCH_PLAY_CHECK;
    options.slice = stop_at_first_slice;
    abench_error_init(&error);
    assert_int_equal(abench_play(tape, &allocator, &options, NULL, &error), ABENCH_ERROR_STOPPED);
    assert_int_equal(error.status, ABENCH_ERROR_STOPPED);
    assert_non_null(strstr(error.message, "its usable size is 99"));
    abench_tape_destroy(tape);
}

/* Without a callback too; and a play that is not checked sees nothing of it. */
static void only_a_checked_play_checks(void **state)
{
    abench_player_options options = ABENCH_PLAYER_OPTIONS_INIT;
    abench_allocator allocator = honest_allocator();
    abench_tape *tape = malloc_and_free(ABENCH_TOUCH_FIRST, 100);

    (void)state;
    allocator.usable_size = short_usable_size;
    abench_error_init(&error);
    abench_receipt_init(&receipt);
    assert_int_equal(abench_play(tape, &allocator, NULL, &receipt, &error), ABENCH_OK);
    assert_int_equal(receipt.checked, 0);
    options.flags = ABENCH_PLAY_CHECK;
    assert_int_equal(abench_play(tape, &allocator, &options, &receipt, &error),
                     ABENCH_ERROR_RECEIPT);
    assert_int_equal(receipt.faults, 1);
    assert_non_null(strstr(error.message, "its usable size is 99"));
    options.flags = 2;
    assert_int_equal(abench_play(tape, &allocator, &options, NULL, NULL), ABENCH_ERROR_ARGUMENT);
    abench_tape_destroy(tape);
}

static void faults_have_names(void **state)
{
    (void)state;
    assert_null(abench_fault_name(0));
    assert_null(abench_fault_name(ABENCH_FAULT_FAILED + 1));
    assert_string_equal(abench_fault_name(ABENCH_FAULT_OVERLAP), "overlap");
    assert_string_equal(abench_fault_name(ABENCH_FAULT_FAILED), "failed");
    for (uint32_t fault = 1; fault <= ABENCH_FAULT_FAILED; fault++)
        for (uint32_t other = 1; other < fault; other++)
            assert_string_not_equal(abench_fault_name(fault), abench_fault_name(other));
}

/* ---- stamps ---------------------------------------------------------------------------------- */

#define LARGE ((size_t)STAMP_WHOLE + 3 * STAMP_STEP + 5)

/* Of a large block both ends are stamped, and a word every STAMP_STEP. */
static void a_large_block_is_known_by_its_ends_and_by_samples(void **state)
{
    static const struct {
        size_t at;
        int is_seen;
    } rows[] = {{0, 1},
                {STAMP_STEP - 1, 1},
                {STAMP_STEP, 1},
                {STAMP_STEP + 7, 1},
                {STAMP_STEP + 8, 0},
                {100 * STAMP_STEP + 3, 1},
                {LARGE - STAMP_STEP, 1},
                {LARGE - 1, 1}};
    unsigned char *block = calloc(1, LARGE);
    const abench__stamp stamp = {0x123456789abcdef0, LARGE};

    (void)state;
    assert_non_null(block);
    abench__stamp_write(block, &stamp);
    assert_true(abench__stamp_verify(block, &stamp, LARGE) == STAMP_GOOD);
    assert_int_equal(block[STAMP_STEP + 8], 0); /* not written: it need not be resident */
    for (size_t row = 0; row < sizeof rows / sizeof rows[0]; row++) {
        const uint64_t wanted = rows[row].is_seen ? rows[row].at : STAMP_GOOD;
        block[rows[row].at]++;
        assert_true(abench__stamp_verify(block, &stamp, LARGE) == wanted);
        assert_true(abench__stamp_verify(block, &stamp, rows[row].at) == STAMP_GOOD);
        block[rows[row].at]--;
    }
    free(block);
}

static void stamps_stay_within_their_block(void **state)
{
    unsigned char memory[200];

    (void)state;
    for (uint64_t size = 0; size < 100; size++)
        for (size_t start = 1; start < 9; start++) { /* at any address */
            const abench__stamp stamp = {0xfedcba9876543210 + size, size};
            memset(memory, POISON, sizeof memory);
            abench__stamp_write(memory + start, &stamp);
            assert_int_equal(memory[start - 1], POISON);
            assert_int_equal(memory[start + size], POISON);
            assert_true(abench__stamp_verify(memory + start, &stamp, size) == STAMP_GOOD);
            for (uint64_t at = 0; at < size; at++) {
                memory[start + at] ^= 0x80;
                assert_int_equal(abench__stamp_verify(memory + start, &stamp, size), at);
                memory[start + at] ^= 0x80;
            }
        }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_fault_is_counted_and_the_first_is_told),
        cmocka_unit_test(faults_of_all_lanes_are_counted),
        cmocka_unit_test(a_callback_stops_the_play),
        cmocka_unit_test(a_callback_may_stop_at_the_last_block),
        cmocka_unit_test(a_stopped_play_tells_its_faults),
        cmocka_unit_test(only_a_checked_play_checks),
        cmocka_unit_test(faults_have_names),
        cmocka_unit_test(a_large_block_is_known_by_its_ends_and_by_samples),
        cmocka_unit_test(stamps_stay_within_their_block),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
