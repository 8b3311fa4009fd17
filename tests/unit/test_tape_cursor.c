/* A tape's operations one by one: what each says, and an order that can be played. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <allocbench/tape.h>

#include "../property/script.h"
#include "tape/source.h"
#include "tape/tape.h"

#define SHARED ABENCH_SLOT_SHARED
#define ROUNDS 30

static abench_tape_builder *make_builder(uint32_t lanes)
{
    abench_tape_options options = ABENCH_TAPE_OPTIONS_INIT;
    abench_tape_builder *builder = NULL;

    options.lanes = lanes;
    options.local_slots = options.shared_slots = 4;
    assert_int_equal(abench_tape_builder_create(&options, &builder), ABENCH_OK);
    return builder;
}

static abench_tape *finish(abench_tape_builder *builder)
{
    abench_tape *tape = NULL;

    if (abench_tape_builder_finish(builder, &tape) != ABENCH_OK)
        fail_msg("%s", abench_tape_builder_error(builder)->message);
    abench_tape_builder_destroy(builder);
    return tape;
}

static abench_tape_cursor *begin(const abench_tape *tape)
{
    abench_tape_cursor *cursor = NULL;

    assert_int_equal(abench_tape_cursor_create(tape, &cursor), ABENCH_OK);
    return cursor;
}

static abench_operation next(abench_tape_cursor *cursor)
{
    abench_operation op = ABENCH_OPERATION_INIT;

    assert_int_equal(abench_tape_next(cursor, &op), ABENCH_OK);
    return op;
}

static void assert_end(abench_tape_cursor *cursor)
{
    abench_operation op = ABENCH_OPERATION_INIT;

    for (int again = 0; again < 3; again++)
        assert_int_equal(abench_tape_next(cursor, &op), ABENCH_ERROR_NOT_FOUND);
}

/* "lane kind" of each operation, one letter a kind; "P0P1m0f1" ... */
static void assert_order(const abench_tape *tape, const char *expected)
{
    static const char letters[] = "?mcarfstPB.E";
    abench_tape_cursor *cursor = begin(tape);
    abench_operation op = ABENCH_OPERATION_INIT;
    char order[256] = "";
    size_t length = 0;

    while (abench_tape_next(cursor, &op) == ABENCH_OK) {
        assert_int_equal(op.ordinal, length / 2);
        assert_true(length + 3 < sizeof order);
        order[length++] = letters[op.kind];
        order[length++] = (char)('0' + op.lane);
    }
    order[length] = '\0';
    assert_string_equal(order, expected);
    abench_tape_cursor_destroy(cursor);
}

/* ---- what an operation says ------------------------------------------------------------------ */

static void each_kind_says_what_its_call_was_told(void **state)
{
    abench_tape_builder *b = make_builder(1);
    abench_tape *tape;
    abench_tape_cursor *cursor;
    abench_operation op;

    (void)state;
    abench_tape_builder_phase(b, "fill", 0);
    abench_tape_builder_malloc(b, 0, 3, 100);
    abench_tape_builder_calloc(b, 0, SHARED | 2, (uint64_t)5 << 32);
    abench_tape_builder_aligned(b, 0, 1, 4096, 8192);
    abench_tape_builder_realloc(b, 0, SHARED | 2, 6000);
    abench_tape_builder_touch(b, 0, SHARED | 2);
    abench_tape_builder_free_sized(b, 0, SHARED | 2);
    abench_tape_builder_free(b, 0, 3);
    abench_tape_builder_pause(b, 0, 250);
    abench_tape_builder_pace(b, 0, 4000000000u);
    abench_tape_builder_barrier(b);
    abench_tape_builder_phase(b, "drain-2", ABENCH_PHASE_TIMED);
    abench_tape_builder_free_sized(b, 0, 1);
    tape = finish(b);
    cursor = begin(tape);

    op = next(cursor);
    assert_int_equal(op.kind, ABENCH_OP_PHASE);
    assert_string_equal(op.phase_name, "fill");
    assert_int_equal(op.flags, 0);
    assert_int_equal(op.phase, 0);
    op = next(cursor);
    assert_int_equal(op.kind, ABENCH_OP_MALLOC);
    assert_int_equal(op.slot, 3);
    assert_int_equal(op.size, 100);
    assert_int_equal(op.alignment, 0);
    assert_int_equal(op.generation, 0);
    assert_string_equal(op.phase_name, "");
    op = next(cursor);
    assert_int_equal(op.kind, ABENCH_OP_CALLOC);
    assert_int_equal(op.slot, SHARED | 2);
    assert_int_equal(op.size, (uint64_t)5 << 32);
    assert_int_equal(op.generation, 1);
    op = next(cursor);
    assert_int_equal(op.kind, ABENCH_OP_ALIGNED_ALLOC);
    assert_int_equal(op.alignment, 4096);
    assert_int_equal(op.size, 8192);
    op = next(cursor);
    assert_int_equal(op.kind, ABENCH_OP_REALLOC);
    assert_int_equal(op.size, 6000);
    assert_int_equal(op.generation, 3);
    op = next(cursor);
    assert_int_equal(op.kind, ABENCH_OP_TOUCH);
    assert_int_equal(op.size, 6000);
    assert_int_equal(op.generation, 3);
    op = next(cursor);
    assert_int_equal(op.kind, ABENCH_OP_FREE_SIZED);
    assert_int_equal(op.size, 6000);
    assert_int_equal(op.generation, 3);
    op = next(cursor);
    assert_int_equal(op.kind, ABENCH_OP_FREE);
    assert_int_equal(op.size, 0);
    assert_int_equal(op.slot, 3);
    op = next(cursor);
    assert_int_equal(op.kind, ABENCH_OP_PAUSE);
    assert_int_equal(op.microseconds, 250);
    assert_int_equal(op.pace, 0);
    op = next(cursor);
    assert_int_equal(op.kind, ABENCH_OP_PAUSE);
    assert_int_equal(op.microseconds, 4000000000u);
    assert_int_equal(op.pace, 1);
    op = next(cursor);
    assert_int_equal(op.kind, ABENCH_OP_BARRIER);
    assert_int_equal(op.size, 0);
    assert_int_equal(op.phase, 0);
    op = next(cursor);
    assert_int_equal(op.kind, ABENCH_OP_PHASE);
    assert_string_equal(op.phase_name, "drain-2");
    assert_int_equal(op.flags, ABENCH_PHASE_TIMED);
    assert_int_equal(op.phase, 1);
    assert_int_equal(op.size, 0);
    op = next(cursor);
    assert_int_equal(op.kind, ABENCH_OP_FREE_SIZED);
    assert_int_equal(op.size, 8192);
    assert_int_equal(op.phase, 1);
    op = next(cursor);
    assert_int_equal(op.kind, ABENCH_OP_END);
    assert_int_equal(op.ordinal, 13);
    assert_end(cursor);
    abench_tape_cursor_destroy(cursor);
    abench_tape_destroy(tape);
}

static void a_caller_of_another_age_is_told_or_served(void **state)
{
    abench_tape *tape = finish(make_builder(1));
    abench_tape_cursor *cursor = begin(tape);
    struct {
        abench_operation op;
        unsigned char more[8];
    } later;
    abench_operation op = ABENCH_OPERATION_INIT;

    (void)state;
    op.struct_size = sizeof op - 1;
    assert_int_equal(abench_tape_next(cursor, &op), ABENCH_ERROR_ARGUMENT);
    assert_int_equal(abench_tape_next(cursor, NULL), ABENCH_ERROR_ARGUMENT);
    memset(&later, 0xee, sizeof later);
    later.op.struct_size = sizeof later;
    assert_int_equal(abench_tape_next(cursor, &later.op), ABENCH_OK);
    assert_int_equal(later.op.kind, ABENCH_OP_PHASE); /* the first: nothing was lost */
    assert_int_equal(later.op.struct_size, sizeof later);
    assert_int_equal(later.more[0], 0xee);
    abench_tape_cursor_destroy(cursor);
    abench_tape_cursor_destroy(NULL);
    abench_tape_destroy(tape);
}

/* ---- the order ------------------------------------------------------------------------------- */

static void a_lane_runs_until_it_needs_another(void **state)
{
    abench_tape_builder *b = make_builder(3);
    abench_tape *tape;

    (void)state;
    abench_tape_builder_malloc(b, 1, SHARED | 0, 10); /* lane 1 makes it, */
    abench_tape_builder_free(b, 0, SHARED | 0);       /* lane 0 frees it, */
    abench_tape_builder_malloc(b, 2, SHARED | 0, 20); /* lane 2 takes its place */
    abench_tape_builder_malloc(b, 0, 0, 1);
    abench_tape_builder_realloc(b, 1, SHARED | 0, 30);
    abench_tape_builder_malloc(b, 2, 0, 1);
    abench_tape_builder_free(b, 2, SHARED | 0);
    tape = finish(b);
    /* 0 waits; 1 makes it, then waits; 2 waits; 0 ...; 1 waits still; 2 makes it, waits; 1; 2 */
    assert_order(tape, "P0P1P2"
                       "m1"
                       "f0m0E0"
                       "m2m2"
                       "r1E1"
                       "f2E2");
    abench_tape_destroy(tape);
}

static void all_lanes_meet_at_once(void **state)
{
    abench_tape_builder *b = make_builder(3);
    abench_tape *tape;

    (void)state;
    abench_tape_builder_malloc(b, 2, 0, 1);
    abench_tape_builder_barrier(b);
    abench_tape_builder_barrier(b);
    abench_tape_builder_malloc(b, 1, 0, 1);
    abench_tape_builder_malloc(b, 0, SHARED | 1, 1);
    abench_tape_builder_malloc(b, 2, 1, 1);
    abench_tape_builder_phase(b, "two", 0);
    abench_tape_builder_free(b, 1, SHARED | 1);
    abench_tape_builder_free(b, 2, 0);
    abench_tape_builder_malloc(b, 0, 0, 1);
    tape = finish(b);
    assert_order(tape, "P0P1P2m2B0B1B2B0B1B2m0m1m2P0P1P2m0E0f1E1f2E2");
    abench_tape_destroy(tape);
}

/* Generations are told apart by 16 bits, here as in the player. */
static void a_slot_goes_round_its_generations(void **state)
{
    abench_tape_builder *b = make_builder(2);
    abench_tape *tape;
    abench_tape_cursor *cursor;
    abench_operation op = ABENCH_OPERATION_INIT;
    uint64_t blocks = 0;

    (void)state;
    for (uint32_t block = 0; block < 70000; block++) {
        abench_tape_builder_malloc(b, block % 2, SHARED | 3, 8);
        abench_tape_builder_free(b, block / 2 % 2, SHARED | 3);
        if (block % 30000 == 0)
            abench_tape_builder_barrier(b);
    }
    tape = finish(b);
    cursor = begin(tape);
    while (abench_tape_next(cursor, &op) == ABENCH_OK) {
        if (op.kind == ABENCH_OP_MALLOC)
            assert_int_equal(op.generation, 2 * blocks + 1);
        if (op.kind == ABENCH_OP_FREE)
            assert_int_equal(op.generation, 2 * blocks++ + 1);
    }
    assert_int_equal(blocks, 70000);
    abench_tape_cursor_destroy(cursor);
    abench_tape_destroy(tape);
}

/* ---- at random ------------------------------------------------------------------------------- */

static script one;

static void random_script(prng *random, int round)
{
    one.stride = 1;
    one.lanes = 1 + (uint32_t)round % SCRIPT_LANES_MAX;
    one.touch = (uint32_t)prng_below(random, 4);
    one.size_limit = (uint64_t)1 << 40;
    script_random(&one, random, (uint32_t)prng_below(random, SCRIPT_OPS_MAX - 5 * SCRIPT_SLOTS),
                  round % 2);
}

static void call_again(abench_tape_builder *b, const abench_operation *op)
{
    script_op call = {op->kind, op->lane,     op->slot, (uint32_t)op->microseconds,
                      op->size, op->alignment};

    if (op->kind == ABENCH_OP_END)
        return;
    if (op->kind == ABENCH_OP_PHASE && op->lane == 0)
        abench_tape_builder_phase(b, op->phase_name, op->flags);
    if (op->kind == ABENCH_OP_BARRIER && op->lane == 0)
        abench_tape_builder_barrier(b);
    if (op->kind != ABENCH_OP_PHASE && op->kind != ABENCH_OP_BARRIER)
        script_call(b, &call);
}

/* A tape of the same operations in the cursor's order. */
static abench_tape *again(const abench_tape *tape)
{
    abench_tape_options options = ABENCH_TAPE_OPTIONS_INIT;
    abench_tape_cursor *cursor = begin(tape);
    abench_operation op = ABENCH_OPERATION_INIT;
    abench_tape_builder *b = NULL;
    abench_status status;

    options.lanes = tape->summary.lanes;
    options.local_slots = tape->summary.local_slots;
    options.shared_slots = tape->summary.shared_slots;
    options.touch = tape->summary.touch;
    assert_int_equal(abench_tape_builder_create(&options, &b), ABENCH_OK);
    while ((status = abench_tape_next(cursor, &op)) == ABENCH_OK)
        call_again(b, &op);
    assert_int_equal(status, ABENCH_ERROR_NOT_FOUND);
    abench_tape_cursor_destroy(cursor);
    return finish(b);
}

static void a_builder_takes_the_order_and_makes_the_same_tape(void **state)
{
    prng random = {test_seed(__func__)};

    (void)state;
    for (int round = 0; round < ROUNDS; round++) {
        abench_error error = ABENCH_ERROR_INIT;
        abench_tape *tape, *same;

        random_script(&random, round);
        tape = script_tape(&one, NULL, &error);
        assert_non_null(tape);
        same = again(tape);
        assert_int_equal(abench_tape_digest(same), abench_tape_digest(tape));
        assert_int_equal(same->cut_count, tape->cut_count);
        assert_memory_equal(same->cuts.data, tape->cuts.data, tape->cuts.count * sizeof(uint32_t));
        abench_tape_destroy(same);
        abench_tape_destroy(tape);
    }
}

/* ---- a stream -------------------------------------------------------------------------------- */

static abench_status begin_nothing(const void *context, void *state, abench_error *error)
{
    (void)context;
    (void)state;
    (void)error;
    return ABENCH_OK;
}

static int32_t fill_some(const void *context, void *state, abench_tape_builder *builder,
                         abench_error *error)
{
    const script *s = context;
    uint32_t *at = state;
    const uint32_t end = *at + 700 < s->count ? *at + 700 : s->count;

    (void)error;
    for (; *at < end; ++*at)
        script_call(builder, &s->ops[*at]);
    return *at == s->count;
}

static abench_tape *stream_of(const script *s)
{
    const abench__generator g = {s, sizeof(uint32_t), begin_nothing, fill_some, NULL, NULL};
    abench_tape_options options = ABENCH_TAPE_OPTIONS_INIT;
    abench_tape *tape = NULL;

    options.lanes = s->lanes;
    options.local_slots = options.shared_slots = SCRIPT_SLOTS;
    options.touch = s->touch;
    assert_int_equal(abench__tape_stream(&options, &g, &tape, NULL), ABENCH_OK);
    return tape;
}

static void a_stream_says_the_same_as_a_tape_in_memory(void **state)
{
    prng random = {test_seed(__func__)};

    (void)state;
    for (int round = 0; round < ROUNDS; round++) {
        abench_error error = ABENCH_ERROR_INIT;
        abench_operation in_memory = ABENCH_OPERATION_INIT, streamed = ABENCH_OPERATION_INIT;
        abench_tape *tape, *stream;
        abench_tape_cursor *a, *b;

        random_script(&random, round);
        tape = script_tape(&one, NULL, &error);
        stream = stream_of(&one);
        assert_non_null(tape);
        a = begin(tape);
        b = begin(stream);
        while (abench_tape_next(a, &in_memory) == ABENCH_OK) {
            assert_int_equal(abench_tape_next(b, &streamed), ABENCH_OK);
            assert_memory_equal(&streamed, &in_memory, sizeof streamed);
        }
        assert_int_equal(in_memory.ordinal + 1, tape->summary.operations);
        assert_end(a);
        assert_end(b);
        abench_tape_cursor_destroy(a);
        abench_tape_cursor_destroy(b);
        abench_tape_destroy(stream);
        abench_tape_destroy(tape);
    }
}

/* ---- what no builder makes ------------------------------------------------------------------- */

static void lanes_that_wait_for_ever_are_found(void **state)
{
    abench_tape_builder *b = make_builder(2);
    abench_tape *tape;
    abench_tape_cursor *cursor;
    abench_operation op = ABENCH_OPERATION_INIT;
    uint64_t *words;

    (void)state;
    abench_tape_builder_malloc(b, 0, SHARED | 0, 10);
    abench_tape_builder_free(b, 1, SHARED | 0);
    tape = finish(b);
    words = (uint64_t *)tape->lanes[1].words.data;
    words[1] += 2; /* the free of a generation that never comes */
    cursor = begin(tape);
    for (int at = 0; at < 4; at++) /* P0 P1 m0 E0 */
        assert_int_equal(abench_tape_next(cursor, &op), ABENCH_OK);
    assert_int_equal(abench_tape_next(cursor, &op), ABENCH_ERROR_TAPE);
    assert_int_equal(abench_tape_next(cursor, &op), ABENCH_ERROR_TAPE);
    abench_tape_cursor_destroy(cursor);
    abench_tape_destroy(tape);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_kind_says_what_its_call_was_told),
        cmocka_unit_test(a_caller_of_another_age_is_told_or_served),
        cmocka_unit_test(a_lane_runs_until_it_needs_another),
        cmocka_unit_test(all_lanes_meet_at_once),
        cmocka_unit_test(a_slot_goes_round_its_generations),
        cmocka_unit_test(a_builder_takes_the_order_and_makes_the_same_tape),
        cmocka_unit_test(a_stream_says_the_same_as_a_tape_in_memory),
        cmocka_unit_test(lanes_that_wait_for_ever_are_found),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
