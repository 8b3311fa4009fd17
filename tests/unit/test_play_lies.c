/* Receipts: allocators that lie or fail are refused. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "player.h"

/* ---- allocators that lie --------------------------------------------------------------------- */

static void *same_block_malloc(size_t size)
{
    (void)honest_malloc(size);
    return arena + HEADER_BYTES;
}

static void *forgetful_realloc(void *block, size_t size)
{
    (void)block;
    return honest_malloc(size);
}

static void *dirty_calloc(size_t count, size_t size)
{
    return honest_malloc(count * size);
}

/* Clears the block before, as if its pages were mapped anew. */
static unsigned char *washed;

static void *washing_malloc(size_t size)
{
    if (washed != NULL)
        washed[0] = 0;
    washed = honest_malloc(size);
    return washed;
}

static void assert_refused(abench_tape *tape, const abench_allocator *allocator)
{
    abench_receipt receipt = ABENCH_RECEIPT_INIT;
    abench_error error = ABENCH_ERROR_INIT;

    assert_int_equal(abench_play(tape, allocator, NULL, &receipt, &error), ABENCH_ERROR_RECEIPT);
    assert_int_equal(error.status, ABENCH_ERROR_RECEIPT);
    assert_non_null(strstr(error.message, "blocks did not keep their contents"));
    assert_int_not_equal(receipt.checksum, receipt.checksum_planned);
    assert_int_equal(receipt.failed, 0);
}

static void blocks_that_overlap_are_refused(void **state)
{
    abench_allocator allocator = honest_allocator();
    abench_tape_builder *b = make_builder(1, 2, ABENCH_TOUCH_FIRST);
    abench_tape *tape;

    (void)state;
    allocator.malloc = same_block_malloc;
    abench_tape_builder_malloc(b, 0, 0, 100);
    abench_tape_builder_malloc(b, 0, 1, 100);
    abench_tape_builder_free(b, 0, 0);
    abench_tape_builder_free(b, 0, 1);
    tape = finish(b);
    assert_refused(tape, &allocator);
    /* unless the allocator says that they do */
    allocator.flags = ABENCH_ALLOCATOR_OVERLAPS;
    assert_int_equal(abench_play(tape, &allocator, NULL, NULL, NULL), ABENCH_OK);
    abench_tape_destroy(tape);
}

static void a_realloc_that_loses_bytes_is_refused(void **state)
{
    static const uint32_t slots[] = {0, SHARED};

    (void)state;
    for (size_t at = 0; at < 2; at++) {
        abench_allocator allocator = honest_allocator();
        abench_tape_builder *b = make_builder(1, 1, ABENCH_TOUCH_FIRST);
        abench_tape *tape;
        allocator.realloc = forgetful_realloc;
        abench_tape_builder_malloc(b, 0, slots[at], 100);
        abench_tape_builder_realloc(b, 0, slots[at], 200);
        abench_tape_builder_free(b, 0, slots[at]);
        tape = finish(b);
        assert_refused(tape, &allocator);
        abench_tape_destroy(tape);
    }
}

static void a_calloc_that_is_not_zero_is_refused(void **state)
{
    abench_allocator allocator = honest_allocator();
    abench_tape_builder *b = make_builder(1, 1, ABENCH_TOUCH_FIRST);
    abench_tape *tape;

    (void)state;
    allocator.calloc = dirty_calloc;
    abench_tape_builder_calloc(b, 0, 0, 100);
    abench_tape_builder_free(b, 0, 0);
    tape = finish(b);
    assert_refused(tape, &allocator);
    abench_tape_destroy(tape);
}

static void memory_that_forgets_what_was_written_is_refused(void **state)
{
    abench_allocator allocator = honest_allocator();
    abench_tape_builder *b = make_builder(1, 2, ABENCH_TOUCH_FIRST);
    abench_tape *tape;

    (void)state;
    washed = NULL;
    allocator.malloc = washing_malloc;
    abench_tape_builder_malloc(b, 0, 0, 100);
    abench_tape_builder_malloc(b, 0, 1, 100);
    abench_tape_builder_free(b, 0, 0);
    abench_tape_builder_free(b, 0, 1);
    tape = finish(b);
    assert_refused(tape, &allocator);
    abench_tape_destroy(tape);
}

/* Every allocating call number fail_every, 2 fail_every ... returns NULL. */
static uint64_t fail_every, calls_to_fail;

static int fails_now(void)
{
    return ++calls_to_fail % fail_every == 0;
}

static void *failing_malloc(size_t size)
{
    return fails_now() ? NULL : honest_malloc(size);
}

static void *failing_calloc(size_t count, size_t size)
{
    return fails_now() ? NULL : honest_calloc(count, size);
}

static void *failing_aligned_alloc(size_t alignment, size_t size)
{
    return fails_now() ? NULL : honest_aligned_alloc(alignment, size);
}

static void *failing_realloc(void *block, size_t size)
{
    if (fails_now())
        return NULL;
    return block == NULL ? honest_malloc(size) : honest_realloc(block, size);
}

static void allocations_that_fail_are_counted_and_refused(void **state)
{
    static const uint32_t allocations = 5; /* of every_kind */

    (void)state;
    for (fail_every = 1; fail_every <= allocations; fail_every++)
        for (uint32_t touch = 0; touch < 4; touch++) {
            abench_receipt receipt = ABENCH_RECEIPT_INIT;
            abench_error error = ABENCH_ERROR_INIT;
            abench_allocator allocator = honest_allocator();
            abench_tape *tape = every_kind(touch);
            calls_to_fail = 0;
            allocator.malloc = failing_malloc;
            allocator.calloc = failing_calloc;
            allocator.aligned_alloc = failing_aligned_alloc;
            allocator.realloc = failing_realloc;
            assert_int_equal(abench_play(tape, &allocator, NULL, &receipt, &error),
                             ABENCH_ERROR_RECEIPT);
            assert_int_equal(receipt.failed, allocations / fail_every);
            assert_non_null(strstr(error.message, "allocations failed"));
            assert_int_equal(receipt.work_digest, abench_tape_digest(tape)); /* all was tried */
            abench_tape_destroy(tape);
        }
}

static void a_lane_goes_on_after_a_failed_malloc(void **state)
{
    abench_tape_builder *b = make_builder(1, 8, ABENCH_TOUCH_FIRST);
    abench_receipt receipt = ABENCH_RECEIPT_INIT;
    abench_allocator allocator = honest_allocator();
    abench_tape *tape;

    (void)state;
    for (int round = 0; round < 100; round++) {
        for (uint32_t slot = 0; slot < 8; slot++)
            abench_tape_builder_malloc(b, 0, slot, 100);
        for (uint32_t slot = 0; slot < 8; slot++)
            abench_tape_builder_free(b, 0, slot);
    }
    tape = finish(b);
    fail_every = 7;
    calls_to_fail = 0;
    allocator.malloc = failing_malloc;
    assert_int_equal(abench_play(tape, &allocator, NULL, &receipt, NULL), ABENCH_ERROR_RECEIPT);
    assert_int_equal(receipt.failed, 800 / 7);
    assert_int_equal(receipt.executed[ABENCH_OP_MALLOC], 800);
    assert_int_equal(receipt.executed[ABENCH_OP_FREE], 800);
    assert_int_equal(receipt.bytes_requested, 80000);
    assert_int_equal(calls[ABENCH_OP_MALLOC], 800 - 800 / 7);
    abench_tape_destroy(tape);
}

static void *null_realloc(void *block, size_t size)
{
    (void)block;
    (void)size;
    return NULL;
}

static void *freed;

static void noting_free(void *block)
{
    freed = block;
}

static void a_realloc_that_fails_leaves_its_block(void **state)
{
    static const uint32_t slots[] = {0, SHARED};

    (void)state;
    for (size_t at = 0; at < 2; at++) {
        abench_tape_builder *b = make_builder(1, 1, ABENCH_TOUCH_FIRST);
        abench_allocator allocator = honest_allocator();
        abench_receipt receipt = ABENCH_RECEIPT_INIT;
        abench_tape *tape;
        allocator.realloc = null_realloc;
        allocator.free = noting_free;
        abench_tape_builder_malloc(b, 0, slots[at], 100);
        abench_tape_builder_realloc(b, 0, slots[at], 200);
        abench_tape_builder_free(b, 0, slots[at]);
        tape = finish(b);
        freed = NULL;
        assert_int_equal(abench_play(tape, &allocator, NULL, &receipt, NULL), ABENCH_ERROR_RECEIPT);
        assert_int_equal(receipt.failed, 1);
        assert_non_null(freed);
        assert_int_equal(size_of(freed), 100);
        abench_tape_destroy(tape);
    }
}

static void *high_malloc(size_t size)
{
    (void)size;
    return (void *)(uintptr_t)((uint64_t)1 << 48); /* never looked into: nothing is touched */
}

static void an_address_that_a_shared_slot_cannot_hold_is_unsupported(void **state)
{
    abench_allocator allocator = honest_allocator();
    abench_error error = ABENCH_ERROR_INIT;

    (void)state;
    allocator.malloc = high_malloc;
    for (uint32_t local = 0; local < 2; local++) {
        abench_tape_builder *b = make_builder(1, 1, ABENCH_TOUCH_NOTHING);
        abench_tape *tape;
        abench_tape_builder_malloc(b, 0, local ? 0 : SHARED, 100);
        abench_tape_builder_free(b, 0, local ? 0 : SHARED);
        tape = finish(b);
        assert_int_equal(abench_play(tape, &allocator, NULL, NULL, &error),
                         local ? ABENCH_OK : ABENCH_ERROR_UNSUPPORTED);
        assert_non_null(strstr(error.message, "above 2^48"));
        abench_tape_destroy(tape);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(blocks_that_overlap_are_refused),
        cmocka_unit_test(a_realloc_that_loses_bytes_is_refused),
        cmocka_unit_test(a_calloc_that_is_not_zero_is_refused),
        cmocka_unit_test(memory_that_forgets_what_was_written_is_refused),
        cmocka_unit_test(allocations_that_fail_are_counted_and_refused),
        cmocka_unit_test(a_lane_goes_on_after_a_failed_malloc),
        cmocka_unit_test(a_realloc_that_fails_leaves_its_block),
        cmocka_unit_test(an_address_that_a_shared_slot_cannot_hold_is_unsupported),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
