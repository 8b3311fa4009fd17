/* What the builder refuses, and what it says then. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "player.h"

static abench_status free_of_nothing(abench_tape_builder *b)
{
    return abench_tape_builder_free(b, 1, 2);
}

static abench_status free_twice(abench_tape_builder *b)
{
    abench_tape_builder_malloc(b, 0, SHARED | 4, 10);
    abench_tape_builder_free(b, 1, SHARED | 4);
    return abench_tape_builder_free(b, 0, SHARED | 4);
}

static abench_status free_sized_of_nothing(abench_tape_builder *b)
{
    return abench_tape_builder_free_sized(b, 0, 0);
}

static abench_status touch_of_nothing(abench_tape_builder *b)
{
    return abench_tape_builder_touch(b, 0, SHARED);
}

static abench_status malloc_over_live(abench_tape_builder *b)
{
    abench_tape_builder_malloc(b, 0, SHARED | 4, 10);
    return abench_tape_builder_malloc(b, 1, SHARED | 4, 20);
}

static abench_status calloc_over_live(abench_tape_builder *b)
{
    abench_tape_builder_malloc(b, 1, 2, 0);
    return abench_tape_builder_calloc(b, 1, 2, 20);
}

static abench_status aligned_over_live(abench_tape_builder *b)
{
    abench_tape_builder_malloc(b, 1, 2, 8);
    return abench_tape_builder_aligned(b, 1, 2, 16, 16);
}

static abench_status realloc_of_freed(abench_tape_builder *b)
{
    abench_tape_builder_malloc(b, 1, 2, 8);
    abench_tape_builder_free(b, 1, 2);
    return abench_tape_builder_realloc(b, 1, 2, 9);
}

static abench_status realloc_to_nothing(abench_tape_builder *b)
{
    abench_tape_builder_malloc(b, 1, 2, 8);
    return abench_tape_builder_realloc(b, 1, 2, 0);
}

static abench_status realloc_too_large(abench_tape_builder *b)
{
    abench_tape_builder_malloc(b, 1, 2, 8);
    return abench_tape_builder_realloc(b, 1, 2, (uint64_t)1 << 47);
}

static abench_status malloc_too_large(abench_tape_builder *b)
{
    return abench_tape_builder_malloc(b, 1, 2, (uint64_t)1 << 47);
}

static abench_status no_such_lane(abench_tape_builder *b)
{
    return abench_tape_builder_malloc(b, 2, 0, 8);
}

static abench_status no_such_lane_to_pause(abench_tape_builder *b)
{
    return abench_tape_builder_pause(b, UINT32_MAX, 8);
}

static abench_status no_such_local_slot(abench_tape_builder *b)
{
    return abench_tape_builder_malloc(b, 1, 5, 8);
}

static abench_status no_such_shared_slot(abench_tape_builder *b)
{
    return abench_tape_builder_malloc(b, 1, SHARED | 5, 8);
}

static abench_status alignment_of_0(abench_tape_builder *b)
{
    return abench_tape_builder_aligned(b, 0, 0, 0, 8);
}

static abench_status alignment_of_24(abench_tape_builder *b)
{
    return abench_tape_builder_aligned(b, 0, 0, 24, 48);
}

static abench_status alignment_too_large(abench_tape_builder *b)
{
    return abench_tape_builder_aligned(b, 0, 0, (uint64_t)1 << 47, 8);
}

static abench_status phase_without_a_name(abench_tape_builder *b)
{
    return abench_tape_builder_phase(b, "", 0);
}

static abench_status phase_with_a_capital(abench_tape_builder *b)
{
    return abench_tape_builder_phase(b, "Fill", 0);
}

static abench_status phase_with_32_letters(abench_tape_builder *b)
{
    return abench_tape_builder_phase(b, "abcdefghijklmnopqrstuvwxyz-01234", 0);
}

static abench_status phase_with_an_unknown_flag(abench_tape_builder *b)
{
    return abench_tape_builder_phase(b, "fill", 2);
}

static abench_status free_beside_a_touch(abench_tape_builder *b)
{
    abench_tape_builder_malloc(b, 0, SHARED | 4, 10);
    abench_tape_builder_touch(b, 1, SHARED | 4);
    abench_tape_builder_touch(b, 1, SHARED | 4); /* the same lane may */
    return abench_tape_builder_free(b, 0, SHARED | 4);
}

static abench_status realloc_beside_a_touch(abench_tape_builder *b)
{
    abench_tape_builder_malloc(b, 0, SHARED | 4, 10);
    abench_tape_builder_touch(b, 1, SHARED | 4);
    abench_tape_builder_realloc(b, 1, SHARED | 4, 20); /* the same lane may */
    abench_tape_builder_touch(b, 0, SHARED | 4);
    return abench_tape_builder_realloc(b, 1, SHARED | 4, 30);
}

static abench_status touch_beside_a_touch(abench_tape_builder *b)
{
    abench_tape_builder_malloc(b, 0, SHARED | 4, 10);
    abench_tape_builder_touch(b, 0, SHARED | 4);
    abench_tape_builder_barrier(b);
    abench_tape_builder_touch(b, 1, SHARED | 4); /* they have met */
    return abench_tape_builder_touch(b, 0, SHARED | 4);
}

static abench_status too_many_phases(abench_tape_builder *b)
{
    for (int at = 0; at < ABENCH_PHASES_MAX; at++)
        assert_int_equal(abench_tape_builder_phase(b, "fill", 0), ABENCH_OK);
    return abench_tape_builder_phase(b, "fill", 0);
}

static void what_no_program_can_do_is_refused_by_name(void **state)
{
    static const struct {
        abench_status (*call)(abench_tape_builder *b);
        abench_status status;
        const char *message;
    } rows[] = {
        {free_of_nothing, ABENCH_ERROR_TAPE,
         "operation 3 (lane 1): free slot 2: no block lives there"},
        {free_twice, ABENCH_ERROR_TAPE,
         "operation 5 (lane 0): free shared slot 4: no block lives there"},
        {free_sized_of_nothing, ABENCH_ERROR_TAPE,
         "operation 3 (lane 0): free_sized slot 0: no block lives there"},
        {touch_of_nothing, ABENCH_ERROR_TAPE,
         "operation 3 (lane 0): touch shared slot 0: no block lives there"},
        {malloc_over_live, ABENCH_ERROR_TAPE,
         "operation 4 (lane 1): malloc shared slot 4: a block lives there already"},
        {calloc_over_live, ABENCH_ERROR_TAPE,
         "operation 4 (lane 1): calloc slot 2: a block lives there already"},
        {aligned_over_live, ABENCH_ERROR_TAPE,
         "operation 4 (lane 1): aligned_alloc slot 2: a block lives there already"},
        {realloc_of_freed, ABENCH_ERROR_TAPE,
         "operation 5 (lane 1): realloc slot 2: no block lives there"},
        {realloc_to_nothing, ABENCH_ERROR_TAPE,
         "operation 4 (lane 1): realloc slot 2: a size of 0"},
        {realloc_too_large, ABENCH_ERROR_TAPE, "or of 2^47 or more"},
        {malloc_too_large, ABENCH_ERROR_TAPE,
         "operation 3 (lane 1): malloc slot 2: a size of 2^47 or more"},
        {no_such_lane, ABENCH_ERROR_ARGUMENT, "there is no lane 2: the tape has 2"},
        {no_such_lane_to_pause, ABENCH_ERROR_ARGUMENT, "there is no lane 4294967295"},
        {no_such_local_slot, ABENCH_ERROR_TAPE,
         "operation 3 (lane 1): malloc slot 5: there is no such slot"},
        {no_such_shared_slot, ABENCH_ERROR_TAPE,
         "operation 3 (lane 1): malloc shared slot 5: there is no such slot"},
        {alignment_of_0, ABENCH_ERROR_ARGUMENT, "an alignment of 0 is not a power of two"},
        {alignment_of_24, ABENCH_ERROR_ARGUMENT, "an alignment of 24 is not a power of two"},
        {alignment_too_large, ABENCH_ERROR_ARGUMENT, "below 2^47"},
        {phase_without_a_name, ABENCH_ERROR_ARGUMENT, "1 to 31 of a-z, 0-9 and '-'"},
        {phase_with_a_capital, ABENCH_ERROR_ARGUMENT, "1 to 31 of a-z, 0-9 and '-'"},
        {phase_with_32_letters, ABENCH_ERROR_ARGUMENT, "1 to 31 of a-z, 0-9 and '-'"},
        {phase_with_an_unknown_flag, ABENCH_ERROR_ARGUMENT, "a phase's"},
        {free_beside_a_touch, ABENCH_ERROR_TAPE,
         "operation 6 (lane 0): free shared slot 4: another lane touches the block"},
        {realloc_beside_a_touch, ABENCH_ERROR_TAPE,
         "operation 7 (lane 1): realloc shared slot 4: another lane touches the block"},
        {touch_beside_a_touch, ABENCH_ERROR_TAPE,
         "operation 8 (lane 0): touch shared slot 4: another lane touches the block"},
        {too_many_phases, ABENCH_ERROR_LIMIT, "more than 64 phases"},
    };

    (void)state;
    for (size_t at = 0; at < sizeof rows / sizeof rows[0]; at++) {
        abench_tape_builder *b = make_builder(2, 5, ABENCH_TOUCH_FIRST);
        abench_tape *tape = (abench_tape *)b;
        assert_int_equal(rows[at].call(b), rows[at].status);
        assert_int_equal(abench_tape_builder_error(b)->status, rows[at].status);
        if (strstr(abench_tape_builder_error(b)->message, rows[at].message) == NULL)
            fail_msg("'%s' does not say '%s'", abench_tape_builder_error(b)->message,
                     rows[at].message);
        assert_int_equal(abench_tape_builder_finish(b, &tape), rows[at].status);
        assert_null(tape);
        abench_tape_builder_destroy(b);
    }
}

static void the_first_error_is_kept(void **state)
{
    abench_tape_builder *b = make_builder(1, 1, ABENCH_TOUCH_FIRST);
    char message[sizeof(abench_error)];
    abench_tape *tape = NULL;

    (void)state;
    assert_int_equal(abench_tape_builder_error(b)->status, ABENCH_OK);
    assert_string_equal(abench_tape_builder_error(b)->message, "");
    assert_int_equal(abench_tape_builder_free(b, 0, 0), ABENCH_ERROR_TAPE);
    strcpy(message, abench_tape_builder_error(b)->message);
    assert_int_equal(abench_tape_builder_malloc(b, 0, 0, 8), ABENCH_ERROR_TAPE); /* were good */
    assert_int_equal(abench_tape_builder_aligned(b, 0, 0, 16, 16), ABENCH_ERROR_TAPE);
    assert_int_equal(abench_tape_builder_realloc(b, 9, 0, 8), ABENCH_ERROR_TAPE);
    assert_int_equal(abench_tape_builder_touch(b, 0, 0), ABENCH_ERROR_TAPE);
    assert_int_equal(abench_tape_builder_phase(b, "x", 0), ABENCH_ERROR_TAPE);
    assert_int_equal(abench_tape_builder_barrier(b), ABENCH_ERROR_TAPE);
    assert_int_equal(abench_tape_builder_pause(b, 0, 1), ABENCH_ERROR_TAPE);
    assert_int_equal(abench_tape_builder_finish(b, &tape), ABENCH_ERROR_TAPE);
    assert_string_equal(abench_tape_builder_error(b)->message, message);
    abench_tape_builder_destroy(b);
}

static void a_finished_builder_takes_nothing_more(void **state)
{
    abench_tape_builder *b = make_builder(1, 1, ABENCH_TOUCH_FIRST);
    abench_tape *tape = NULL, *second = NULL;

    (void)state;
    assert_int_equal(abench_tape_builder_finish(b, &tape), ABENCH_OK);
    assert_int_equal(abench_tape_builder_malloc(b, 0, 0, 8), ABENCH_ERROR_STATE);
    assert_int_equal(abench_tape_builder_finish(b, &second), ABENCH_ERROR_STATE);
    assert_null(second);
    abench_tape_builder_destroy(b);
    b = make_builder(1, 1, ABENCH_TOUCH_FIRST);
    abench_tape_destroy(tape);
    assert_int_equal(abench_tape_builder_finish(b, &tape), ABENCH_OK);
    assert_int_equal(abench_tape_builder_phase(b, "x", 0), ABENCH_ERROR_STATE);
    abench_tape_builder_destroy(b);
    abench_tape_destroy(tape);
    abench_tape_destroy(NULL);
    abench_tape_builder_destroy(NULL);
}

/* malloc and free a shared slot's block so many times; a realloc counts as both. */
static abench_status pass_blocks(abench_tape_builder *b, uint32_t blocks)
{
    abench_status status = ABENCH_OK;

    for (uint32_t at = 0; at < blocks && status == ABENCH_OK; at++) {
        status = abench_tape_builder_malloc(b, 0, SHARED, 8);
        if (status == ABENCH_OK)
            status = abench_tape_builder_free(b, 0, SHARED);
    }
    return status;
}

static void a_shared_slot_passes_32767_blocks_between_two_meetings(void **state)
{
    abench_tape_builder *b = make_builder(1, 1, ABENCH_TOUCH_FIRST);

    (void)state;
    assert_int_equal(pass_blocks(b, 32767), ABENCH_OK);
    abench_tape_builder_barrier(b);
    assert_int_equal(pass_blocks(b, 32767), ABENCH_OK);
    abench_tape_builder_phase(b, "next", 0);
    assert_int_equal(pass_blocks(b, 32766), ABENCH_OK);
    assert_int_equal(abench_tape_builder_malloc(b, 0, SHARED, 8), ABENCH_OK);
    assert_int_equal(abench_tape_builder_realloc(b, 0, SHARED, 8), ABENCH_ERROR_TAPE);
    assert_non_null(strstr(abench_tape_builder_error(b)->message,
                           "(lane 0): use of shared slot 0: more than 32767 blocks"));
    abench_tape_builder_destroy(b);
    b = make_builder(1, 1, ABENCH_TOUCH_FIRST);
    assert_int_equal(pass_blocks(b, 32768), ABENCH_ERROR_TAPE);
    abench_tape_builder_destroy(b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_no_program_can_do_is_refused_by_name),
        cmocka_unit_test(the_first_error_is_kept),
        cmocka_unit_test(a_finished_builder_takes_nothing_more),
        cmocka_unit_test(a_shared_slot_passes_32767_blocks_between_two_meetings),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
