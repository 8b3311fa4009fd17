/*
 * checked.h - what the tests of checked play share: a play that collects its faults, and lies.
 * Included after cmocka.h.
 */
#ifndef TESTS_UNIT_CHECKED_H
#define TESTS_UNIT_CHECKED_H

#include "player.h"

/* ---- playing --------------------------------------------------------------------------------- */

#define FAULTS_MOST 64

static abench_fault faults[FAULTS_MOST];
static _Atomic uint32_t faults_count;
static uint32_t stop_at; /* the callback says stop at this fault, from 1; 0: never */

static inline int32_t on_fault(const abench_fault *fault, void *user)
{
    const uint32_t at = atomic_fetch_add(&faults_count, 1);

    assert_ptr_equal(user, faults);
    if (at < FAULTS_MOST)
        faults[at] = *fault;
    return at + 1 == stop_at;
}

static abench_receipt receipt;
static abench_error error;

static inline abench_status play(abench_tape *tape, const abench_allocator *allocator)
{
    abench_player_options options = ABENCH_PLAYER_OPTIONS_INIT;
    abench_status status;

    options.flags = ABENCH_PLAY_CHECK;
    options.fault = on_fault;
    options.user = faults;
    atomic_store(&faults_count, 0);
    memset(faults, 0, sizeof faults);
    abench_receipt_init(&receipt);
    abench_error_init(&error);
    status = abench_play(tape, allocator, &options, &receipt, &error);
    if (status != ABENCH_ERROR_STOPPED)
        assert_int_equal(receipt.faults, atomic_load(&faults_count));
    abench_tape_destroy(tape);
    return status;
}

static inline void assert_good(abench_tape *tape, const abench_allocator *allocator)
{
    if (play(tape, allocator) != ABENCH_OK)
        fail_msg("%s", error.message);
    assert_int_equal(receipt.faults, 0);
}

/* One fault of this kind, at fault number 0. */
static inline void assert_fault(uint32_t fault, uint32_t kind, uint32_t slot, uint64_t size,
                                uint64_t offset)
{
    if (receipt.faults != 1)
        fail_msg("%d faults: %s", (int)receipt.faults, error.message);
    assert_int_equal(faults[0].struct_size, sizeof faults[0]);
    assert_string_equal(abench_fault_name(faults[0].fault), abench_fault_name(fault));
    assert_int_equal(faults[0].kind, kind);
    assert_int_equal(faults[0].slot, slot);
    assert_int_equal(faults[0].size, size);
    assert_int_equal(faults[0].offset, offset);
    assert_int_equal(error.status, ABENCH_ERROR_RECEIPT);
}

static inline abench_tape *malloc_and_free(uint32_t touch, uint64_t size)
{
    abench_tape_builder *b = make_builder(1, 1, touch);

    abench_tape_builder_malloc(b, 0, 0, size);
    abench_tape_builder_free(b, 0, 0);
    return finish(b);
}

/* ---- lies that both files need --------------------------------------------------------------- */

/* Writes into the block that it gave before: at its last byte. */
static unsigned char *before;
static size_t before_size;

static inline void *scribbling_malloc(size_t size)
{
    if (before != NULL)
        before[before_size - 1]++;
    before = honest_malloc(size);
    before_size = size;
    return before;
}

static inline size_t short_usable_size(void *block)
{
    return size_of(block) - 1;
}

#endif
