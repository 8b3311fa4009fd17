/* Checked play: allocators that break one rule each are found, and an honest one is not. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "checked.h"

/* ---- honest ---------------------------------------------------------------------------------- */

static void an_honest_allocator_has_no_fault(void **state)
{
    (void)state;
    for (uint32_t touch = 0; touch < 4; touch++) {
        const abench_allocator allocator = honest_allocator();
        abench_tape *tape = every_kind(touch);
        const uint64_t digest = abench_tape_digest(tape);
        assert_good(tape, &allocator);
        assert_int_equal(receipt.checked, 5); /* four are freed, one of them was moved before */
        assert_int_equal(receipt.work_digest, digest);
        assert_int_equal(receipt.checksum, receipt.checksum_planned);
        for (uint32_t kind = 0; kind < ABENCH_OP_KINDS; kind++)
            assert_int_equal(receipt.executed[kind], receipt.planned[kind]);
        assert_int_equal(receipt.bytes_requested, 10000 + 5000 + 1024 + 300 + 9000);
        assert_int_equal(calls[ABENCH_OP_MALLOC] + calls[ABENCH_OP_CALLOC] +
                             calls[ABENCH_OP_ALIGNED_ALLOC] + calls[ABENCH_OP_REALLOC],
                         5);
    }
}

/* A block made by one lane, grown by a second, freed by a third. */
static void a_block_may_change_hands(void **state)
{
    (void)state;
    for (uint32_t touch = 0; touch < 4; touch++) {
        abench_allocator process = ABENCH_ALLOCATOR_INIT;
        abench_tape_builder *b = make_builder(3, 4, touch);
        abench_allocator_process(&process);
        for (uint32_t round = 0; round < 2000; round++) {
            const uint32_t slot = SHARED | round % 4;
            abench_tape_builder_malloc(b, 0, slot, 1 + round % 300);
            abench_tape_builder_realloc(b, 1, slot, 1 + round % 500);
            abench_tape_builder_free(b, 2, slot);
        }
        assert_good(finish(b), &process);
        assert_int_equal(receipt.checked, 4000);
    }
}

static void blocks_of_no_bytes_hold_nothing(void **state)
{
    const abench_allocator allocator = honest_allocator();
    abench_tape_builder *b = make_builder(1, 2, ABENCH_TOUCH_ALL);

    (void)state;
    abench_tape_builder_malloc(b, 0, 0, 0);
    abench_tape_builder_calloc(b, 0, 1, 0);
    abench_tape_builder_touch(b, 0, 1);
    abench_tape_builder_realloc(b, 0, 0, 50);
    abench_tape_builder_free(b, 0, 0);
    abench_tape_builder_free(b, 0, 1);
    assert_good(finish(b), &allocator);
    assert_int_equal(receipt.checked, 1);
}

static void where_blocks_may_overlap_contents_mean_nothing(void **state)
{
    abench_allocator allocator = ABENCH_ALLOCATOR_INIT;

    (void)state;
    assert_int_equal(abench_allocator_null(1 << 20, &allocator), ABENCH_OK);
    assert_good(every_kind(ABENCH_TOUCH_ALL), &allocator);
    assert_int_equal(receipt.checked, 0);
}

/* ---- overlap --------------------------------------------------------------------------------- */

/* Every second block begins so many bytes behind the block before it, in the same memory. */
static size_t shift;
static unsigned char *under;

static void *shifted_malloc(size_t size)
{
    unsigned char *block = under == NULL ? honest_malloc(size) : under + shift;

    under = under == NULL ? block : NULL;
    return block;
}

static abench_tape *two_blocks(uint32_t touch, uint64_t size)
{
    abench_tape_builder *b = make_builder(1, 2, touch);

    abench_tape_builder_malloc(b, 0, 0, size);
    abench_tape_builder_malloc(b, 0, 1, size);
    abench_tape_builder_free(b, 0, 1);
    abench_tape_builder_free(b, 0, 0);
    return finish(b);
}

static void two_live_blocks_in_one_place_are_found(void **state)
{
    static const size_t shifts[] = {0, 16, 80, 992}; /* the last: 8 bytes of 1000 */

    (void)state;
    for (uint32_t touch = 0; touch < 4; touch++)
        for (size_t at = 0; at < 4; at++) {
            abench_allocator allocator = honest_allocator();
            allocator.malloc = shifted_malloc;
            allocator.usable_size = NULL;
            under = NULL;
            shift = shifts[at];
            assert_int_equal(play(two_blocks(touch, 1000), &allocator), ABENCH_ERROR_RECEIPT);
            assert_fault(ABENCH_FAULT_OVERLAP, ABENCH_OP_FREE, 0, 1000, shift);
            assert_int_equal(receipt.checked, 2);
            assert_int_equal(faults[0].address, (uintptr_t)(arena + HEADER_BYTES));
            assert_non_null(strstr(error.message, "free of 1000 bytes in lane 0, slot 0 (its "
                                                  "operation 4), at 0x"));
            assert_non_null(strstr(error.message, "was changed while the block lived"));
        }
}

static void one_byte_that_was_changed_is_found(void **state)
{
    static const uint64_t sizes[] = {1, 2, 7, 8, 9, 15, 16, 17, 63, 4096, 4099, 100000};

    (void)state;
    for (uint32_t touch = 0; touch < 4; touch++)
        for (size_t at = 0; at < sizeof sizes / sizeof sizes[0]; at++) {
            abench_allocator allocator = honest_allocator();
            allocator.malloc = scribbling_malloc;
            before = NULL;
            assert_int_equal(play(two_blocks(touch, sizes[at]), &allocator), ABENCH_ERROR_RECEIPT);
            assert_fault(ABENCH_FAULT_OVERLAP, ABENCH_OP_FREE, 0, sizes[at], sizes[at] - 1);
        }
}

/* The same seen by whatever comes next to the block. */
static void it_is_found_by_realloc_touch_and_at_the_end(void **state)
{
    static const uint32_t kinds[] = {ABENCH_OP_REALLOC, ABENCH_OP_TOUCH, ABENCH_OP_FREE_SIZED,
                                     ABENCH_OP_END};
    static const uint32_t slots[] = {0, SHARED | 0};

    (void)state;
    for (size_t at = 0; at < 8; at++) {
        abench_allocator allocator = honest_allocator();
        abench_tape_builder *b = make_builder(1, 2, ABENCH_TOUCH_FIRST);
        const uint32_t kind = kinds[at % 4], slot = slots[at / 4];
        allocator.malloc = scribbling_malloc;
        before = NULL;
        abench_tape_builder_malloc(b, 0, slot, 100);
        abench_tape_builder_malloc(b, 0, 1, 100);
        if (kind == ABENCH_OP_REALLOC)
            abench_tape_builder_realloc(b, 0, slot, 200);
        else if (kind == ABENCH_OP_TOUCH)
            abench_tape_builder_touch(b, 0, slot);
        else if (kind == ABENCH_OP_FREE_SIZED)
            abench_tape_builder_free_sized(b, 0, slot);
        assert_int_equal(play(finish(b), &allocator), ABENCH_ERROR_RECEIPT);
        assert_fault(ABENCH_FAULT_OVERLAP, kind, slot, 100, 99);
    }
}

static void a_touch_writes_another_stamp(void **state)
{
    abench_allocator allocator = honest_allocator();
    abench_tape_builder *b = make_builder(1, 1, ABENCH_TOUCH_PAGES);

    (void)state;
    abench_tape_builder_malloc(b, 0, 0, 100);
    abench_tape_builder_touch(b, 0, 0);
    abench_tape_builder_touch(b, 0, 0);
    abench_tape_builder_realloc(b, 0, 0, 1000);
    abench_tape_builder_touch(b, 0, 0);
    abench_tape_builder_free(b, 0, 0);
    assert_good(finish(b), &allocator);
}

/* ---- alignment ------------------------------------------------------------------------------- */

static size_t misplaced; /* by so many bytes */

static void *misplaced_malloc(size_t size)
{
    return (unsigned char *)honest_malloc(size + misplaced) + misplaced;
}

static void *misplaced_aligned(size_t alignment, size_t size)
{
    return (unsigned char *)honest_aligned_alloc(alignment, size + misplaced) + misplaced;
}

static void *misplaced_calloc(size_t count, size_t size)
{
    return (unsigned char *)honest_calloc(1, count * size + misplaced) + misplaced;
}

static void *misplaced_realloc(void *block, size_t size)
{
    return (unsigned char *)honest_realloc(block, size + misplaced) + misplaced;
}

/* C wants of malloc what any object of that size may want, and no more. */
static void an_address_that_no_object_of_its_size_may_have_is_found(void **state)
{
    static const struct {
        uint64_t size;
        size_t misplaced, wanted; /* 0: it is good so */
    } rows[] = {{1, 1, 0},  {2, 1, 2},   {3, 2, 0},   {4, 2, 4},     {7, 4, 0},     {8, 4, 8},
                {15, 8, 0}, {16, 8, 16}, {17, 8, 16}, {1000, 1, 16}, {1000, 8, 16}, {1000, 16, 0}};

    (void)state;
    for (size_t at = 0; at < sizeof rows / sizeof rows[0]; at++) {
        abench_allocator allocator = honest_allocator();
        allocator.malloc = misplaced_malloc;
        allocator.usable_size = NULL;
        misplaced = rows[at].misplaced;
        if (rows[at].wanted == 0) {
            assert_good(malloc_and_free(ABENCH_TOUCH_ALL, rows[at].size), &allocator);
            continue;
        }
        assert_int_equal(play(malloc_and_free(ABENCH_TOUCH_ALL, rows[at].size), &allocator),
                         ABENCH_ERROR_RECEIPT);
        assert_fault(ABENCH_FAULT_ALIGN, ABENCH_OP_MALLOC, 0, rows[at].size, rows[at].wanted);
        assert_non_null(strstr(error.message, "the address is no multiple of"));
    }
}

static void every_allocating_call_must_align(void **state)
{
    static const uint32_t kinds[] = {ABENCH_OP_CALLOC, ABENCH_OP_ALIGNED_ALLOC, ABENCH_OP_REALLOC};

    (void)state;
    for (size_t at = 0; at < 3; at++) {
        abench_allocator allocator = honest_allocator();
        abench_tape_builder *b = make_builder(1, 1, ABENCH_TOUCH_FIRST);
        allocator.calloc = misplaced_calloc;
        allocator.aligned_alloc = misplaced_aligned;
        allocator.realloc = misplaced_realloc;
        allocator.usable_size = NULL;
        misplaced = kinds[at] == ABENCH_OP_ALIGNED_ALLOC ? 256 : 8;
        if (kinds[at] == ABENCH_OP_CALLOC)
            abench_tape_builder_calloc(b, 0, 0, 64);
        else if (kinds[at] == ABENCH_OP_ALIGNED_ALLOC)
            abench_tape_builder_aligned(b, 0, 0, 512, 64);
        else
            abench_tape_builder_malloc(b, 0, 0, 0);
        if (kinds[at] == ABENCH_OP_REALLOC)
            abench_tape_builder_realloc(b, 0, 0, 64);
        abench_tape_builder_free(b, 0, 0);
        assert_int_equal(play(finish(b), &allocator), ABENCH_ERROR_RECEIPT);
        assert_fault(ABENCH_FAULT_ALIGN, kinds[at], 0, 64,
                     kinds[at] == ABENCH_OP_ALIGNED_ALLOC ? 512 : 16);
    }
}

/* ---- calloc ---------------------------------------------------------------------------------- */

static size_t dirty_at;

static void *dirty_calloc(size_t count, size_t size)
{
    unsigned char *block = honest_calloc(count, size);

    block[dirty_at] = 1;
    return block;
}

static void a_byte_of_calloc_that_is_not_zero_is_found(void **state)
{
    static const size_t places[] = {0, 1, 7, 8, 500, 4095, 4096, 4098};

    (void)state;
    for (uint32_t touch = 0; touch < 4; touch++)
        for (size_t at = 0; at < sizeof places / sizeof places[0]; at++) {
            abench_allocator allocator = honest_allocator();
            abench_tape_builder *b = make_builder(1, 1, touch);
            allocator.calloc = dirty_calloc;
            dirty_at = places[at];
            abench_tape_builder_calloc(b, 0, 0, 4099);
            abench_tape_builder_free(b, 0, 0);
            assert_int_equal(play(finish(b), &allocator), ABENCH_ERROR_RECEIPT);
            assert_fault(ABENCH_FAULT_NOT_ZERO, ABENCH_OP_CALLOC, 0, 4099, places[at]);
            assert_non_null(strstr(error.message, "is not 0"));
        }
}

/* ---- usable size ----------------------------------------------------------------------------- */

static void a_usable_size_below_what_was_asked_for_is_found(void **state)
{
    abench_allocator allocator = honest_allocator();

    (void)state;
    allocator.usable_size = short_usable_size;
    assert_int_equal(play(malloc_and_free(ABENCH_TOUCH_FIRST, 100), &allocator),
                     ABENCH_ERROR_RECEIPT);
    assert_fault(ABENCH_FAULT_SHORT, ABENCH_OP_MALLOC, 0, 100, 99);
    assert_non_null(strstr(error.message, "malloc of 100 bytes in lane 0, slot 0 (its operation 1"
                                          "), at 0x"));
    assert_non_null(strstr(error.message, "its usable size is 99"));
    assert_int_equal(arena[HEADER_BYTES + 99], POISON); /* it may be the allocator's own */
    assert_int_not_equal(arena[HEADER_BYTES + 98], POISON);
}

static size_t no_usable_size(void *block)
{
    (void)block;
    return 0;
}

static void a_usable_size_of_nothing_is_found(void **state)
{
    abench_allocator allocator = honest_allocator();

    (void)state;
    allocator.usable_size = no_usable_size;
    assert_int_equal(play(malloc_and_free(ABENCH_TOUCH_ALL, 8), &allocator), ABENCH_ERROR_RECEIPT);
    assert_fault(ABENCH_FAULT_SHORT, ABENCH_OP_MALLOC, 0, 8, 0);
    assert_int_equal(arena[HEADER_BYTES], POISON);
}

/* ---- realloc --------------------------------------------------------------------------------- */

static size_t lost_at;

static void *losing_realloc(void *block, size_t size)
{
    unsigned char *moved = honest_realloc(block, size);

    moved[lost_at]++;
    return moved;
}

static void contents_that_realloc_lost_are_found(void **state)
{
    static const struct {
        uint64_t from, to;
        size_t lost;
    } rows[] = {{100, 200, 99}, {100, 200, 0}, {200, 100, 99}, {200, 100, 8},
                {100, 100, 50}, {1, 5000, 0},  {5000, 3, 2},   {9000, 10000, 8999}};
    static const uint32_t slots[] = {0, SHARED | 0};

    (void)state;
    for (uint32_t touch = 0; touch < 4; touch++)
        for (size_t at = 0; at < 2 * sizeof rows / sizeof rows[0]; at++) {
            abench_allocator allocator = honest_allocator();
            abench_tape_builder *b = make_builder(1, 1, touch);
            const size_t row = at / 2;
            allocator.realloc = losing_realloc;
            lost_at = rows[row].lost;
            abench_tape_builder_malloc(b, 0, slots[at % 2], rows[row].from);
            abench_tape_builder_realloc(b, 0, slots[at % 2], rows[row].to);
            abench_tape_builder_free(b, 0, slots[at % 2]);
            assert_int_equal(play(finish(b), &allocator), ABENCH_ERROR_RECEIPT);
            assert_fault(ABENCH_FAULT_REALLOC, ABENCH_OP_REALLOC, slots[at % 2], rows[row].from,
                         rows[row].lost);
            assert_non_null(strstr(error.message, "of its contents was lost"));
        }
}

/* Gives every second time the block back that it had given before. */
static unsigned char *stale;

static void *stale_realloc(void *block, size_t size)
{
    unsigned char *moved = stale == NULL ? honest_realloc(block, size) : stale;

    stale = stale == NULL ? block : NULL;
    return moved;
}

/* The same slot and size: the contents of the block before are not its own. */
static void contents_of_an_earlier_block_are_found(void **state)
{
    abench_allocator allocator = honest_allocator();
    abench_tape_builder *b = make_builder(1, 1, ABENCH_TOUCH_FIRST);

    (void)state;
    allocator.realloc = stale_realloc;
    stale = NULL;
    abench_tape_builder_malloc(b, 0, 0, 100);
    abench_tape_builder_realloc(b, 0, 0, 100);
    abench_tape_builder_realloc(b, 0, 0, 100);
    abench_tape_builder_free(b, 0, 0);
    assert_int_equal(play(finish(b), &allocator), ABENCH_ERROR_RECEIPT);
    assert_fault(ABENCH_FAULT_REALLOC, ABENCH_OP_REALLOC, 0, 100, 1);
}

/* What lies behind the old contents is nobody's. */
static void what_realloc_adds_may_be_anything(void **state)
{
    abench_allocator allocator = honest_allocator();
    abench_tape_builder *b = make_builder(1, 1, ABENCH_TOUCH_ALL);

    (void)state;
    allocator.realloc = losing_realloc;
    lost_at = 100;
    abench_tape_builder_malloc(b, 0, 0, 100);
    abench_tape_builder_realloc(b, 0, 0, 200);
    abench_tape_builder_free(b, 0, 0);
    assert_good(finish(b), &allocator);
    assert_int_equal(receipt.checked, 2);
}

/* ---- failure --------------------------------------------------------------------------------- */

static void *null_malloc(size_t size)
{
    (void)size;
    return NULL;
}

static void *null_realloc(void *block, size_t size)
{
    (void)block;
    return null_malloc(size);
}

static void null_for_a_size_is_found(void **state)
{
    abench_allocator allocator = honest_allocator();

    (void)state;
    allocator.malloc = null_malloc;
    assert_int_equal(play(malloc_and_free(ABENCH_TOUCH_ALL, 100), &allocator),
                     ABENCH_ERROR_RECEIPT);
    assert_fault(ABENCH_FAULT_FAILED, ABENCH_OP_MALLOC, 0, 100, 0);
    assert_int_equal(faults[0].address, 0);
    assert_non_null(strstr(error.message, "returned NULL"));
    assert_int_equal(receipt.failed, 1);
    assert_int_equal(receipt.executed[ABENCH_OP_FREE], 1);
    assert_good(malloc_and_free(ABENCH_TOUCH_ALL, 0), &allocator);
}

static void *null_aligned(size_t alignment, size_t size)
{
    (void)alignment;
    return null_malloc(size);
}

/* C11 leaves open what becomes of a size that is no multiple of the alignment. */
static void an_aligned_size_that_c_leaves_open_may_fail(void **state)
{
    (void)state;
    for (uint64_t size = 100; size <= 128; size += 28) {
        abench_allocator allocator = honest_allocator();
        abench_tape_builder *b = make_builder(1, 1, ABENCH_TOUCH_ALL);
        allocator.aligned_alloc = null_aligned;
        abench_tape_builder_aligned(b, 0, 0, 64, size);
        abench_tape_builder_free(b, 0, 0);
        assert_int_equal(play(finish(b), &allocator), ABENCH_ERROR_RECEIPT);
        assert_int_equal(receipt.failed, 1);
        if (size == 128)
            assert_fault(ABENCH_FAULT_FAILED, ABENCH_OP_ALIGNED_ALLOC, 0, 128, 0);
        else
            assert_int_equal(receipt.faults, 0);
    }
}

static void a_realloc_that_fails_must_leave_its_block(void **state)
{
    abench_allocator allocator = honest_allocator();
    abench_tape_builder *b = make_builder(1, 1, ABENCH_TOUCH_ALL);

    (void)state;
    allocator.realloc = null_realloc;
    abench_tape_builder_malloc(b, 0, 0, 100);
    abench_tape_builder_realloc(b, 0, 0, 200);
    abench_tape_builder_free(b, 0, 0);
    assert_int_equal(play(finish(b), &allocator), ABENCH_ERROR_RECEIPT);
    assert_fault(ABENCH_FAULT_FAILED, ABENCH_OP_REALLOC, 0, 200, 0);
    assert_int_equal(receipt.checked, 2); /* as 100 bytes, before and after */
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_honest_allocator_has_no_fault),
        cmocka_unit_test(a_block_may_change_hands),
        cmocka_unit_test(blocks_of_no_bytes_hold_nothing),
        cmocka_unit_test(where_blocks_may_overlap_contents_mean_nothing),
        cmocka_unit_test(two_live_blocks_in_one_place_are_found),
        cmocka_unit_test(one_byte_that_was_changed_is_found),
        cmocka_unit_test(it_is_found_by_realloc_touch_and_at_the_end),
        cmocka_unit_test(a_touch_writes_another_stamp),
        cmocka_unit_test(an_address_that_no_object_of_its_size_may_have_is_found),
        cmocka_unit_test(every_allocating_call_must_align),
        cmocka_unit_test(a_byte_of_calloc_that_is_not_zero_is_found),
        cmocka_unit_test(a_usable_size_below_what_was_asked_for_is_found),
        cmocka_unit_test(a_usable_size_of_nothing_is_found),
        cmocka_unit_test(contents_that_realloc_lost_are_found),
        cmocka_unit_test(contents_of_an_earlier_block_are_found),
        cmocka_unit_test(what_realloc_adds_may_be_anything),
        cmocka_unit_test(null_for_a_size_is_found),
        cmocka_unit_test(an_aligned_size_that_c_leaves_open_may_fail),
        cmocka_unit_test(a_realloc_that_fails_must_leave_its_block),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
