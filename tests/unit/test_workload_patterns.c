/* The classic programs of the allocator suites, operation by operation: who allocates, who frees,
 * and in which order. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <allocbench/workload.h>

#include "catalogue_tape.h"

static uint64_t allocations_of(const abench_tape_summary *s)
{
    return s->by_kind[ABENCH_OP_MALLOC] + s->by_kind[ABENCH_OP_CALLOC] +
           s->by_kind[ABENCH_OP_ALIGNED_ALLOC];
}

typedef void (*visitor)(const abench_operation *operation, void *user);

static void visit(const char *spec, visitor see, void *user)
{
    abench_tape *tape = make_tape(spec, 1);
    abench_operation op = ABENCH_OPERATION_INIT;
    abench_tape_cursor *cursor = NULL;

    assert_int_equal(abench_tape_cursor_create(tape, &cursor), ABENCH_OK);
    while (abench_tape_next(cursor, &op) == ABENCH_OK)
        see(&op, user);
    abench_tape_cursor_destroy(cursor);
    abench_tape_destroy(tape);
}

static uint32_t is_free(const abench_operation *op)
{
    return op->kind == ABENCH_OP_FREE || op->kind == ABENCH_OP_FREE_SIZED;
}

static uint32_t is_allocation(const abench_operation *op)
{
    return op->kind == ABENCH_OP_MALLOC || op->kind == ABENCH_OP_CALLOC ||
           op->kind == ABENCH_OP_ALIGNED_ALLOC;
}

/* 50 slots are all used in 5000 replacements: in the first round lane 1 frees what lane 0 had
 * filled for it; later, and when they are drained, both free what the other one left. */
static void a_round_of_larson_is_inherited_by_the_next_lane(void **state)
{
    abench_tape *tape = make_tape("larson:slots=50,round=5000,rounds=3", 1);

    (void)state;
    assert_int_equal(summary_of(tape).cross_lane_frees, 50 + 2 * 100 + 100);
    assert_int_equal(summary_of(tape).by_kind[ABENCH_OP_FREE_SIZED], 0);
    assert_int_equal(phase_of(tape, "rounds").live_blocks_end, 100);
    abench_tape_destroy(tape);
    tape = make_tape("larson:slots=50,round=5000,rounds=3,sized=1", 1);
    assert_int_equal(summary_of(tape).by_kind[ABENCH_OP_FREE], 0);
    abench_tape_destroy(tape);
}

/* Only what is inherited lies in shared slots. */
static void see_larson(const abench_operation *op, void *user)
{
    uint64_t *shared = user;

    if (op->kind == ABENCH_OP_MALLOC && op->phase == 1)
        *shared += (op->slot & ABENCH_SLOT_SHARED) != 0;
}

static void larson_shares_what_is_inherited_only(void **state)
{
    uint64_t shared = 0;

    (void)state;
    visit("larson:slots=50,round=5000,rounds=3", see_larson, &shared);
    assert_int_equal(shared, 3 * 100);
}

/* Producers only allocate: a structure, then its objects. Consumers only free: the last object,
 * the others in order, the structure. */
typedef struct xmalloc_seen {
    uint64_t done[4]; /* a lane: blocks */
} xmalloc_seen;

static void see_xmalloc(const abench_operation *op, void *user)
{
    static const uint32_t freed[] = {5, 1, 2, 3, 4, 0}; /* of the slots of a batch */
    xmalloc_seen *seen = user;
    const uint32_t slot = op->slot & ~ABENCH_SLOT_SHARED;
    uint64_t *done = &seen->done[op->lane];

    if (!is_allocation(op) && !is_free(op))
        return;
    assert_int_equal(is_allocation(op), op->lane < 2);
    if (op->lane < 2) {
        assert_int_equal(slot % 6, *done % 6);
        assert_int_equal(op->size, slot % 6 == 0 ? 48 : 64);
    } else {
        assert_int_equal(slot % 6, freed[*done % 6]);
    }
    ++*done;
}

static void xmalloc_passes_whole_batches_from_producers_to_consumers(void **state)
{
    static const char spec[] = "xmalloc:objects=5,window=8,batches=30";
    xmalloc_seen seen = {{0}};
    abench_tape *tape = make_tape(spec, 1);

    (void)state;
    visit(spec, see_xmalloc, &seen);
    for (uint32_t lane = 0; lane < 4; lane++)
        assert_int_equal(seen.done[lane], (4 + 30) * 6);
    assert_int_equal(phase_of(tape, "fill").live_blocks_end, 8 * 6);
    assert_int_equal(phase_of(tape, "steady").live_blocks_end, 8 * 6);
    abench_tape_destroy(tape);
}

/* A shared slot's block is freed by another lane, or after the phase (two meetings each) in which
 * it was allocated. */
typedef struct mstress_seen {
    struct {
        uint32_t lane;
        uint32_t meetings;
    } shared[4096];
    uint32_t meetings[4]; /* a lane */
    uint64_t blocks;      /* in shared slots */
    uint64_t arrays;
    uint64_t array_bytes[4]; /* a lane */
} mstress_seen;

static void see_mstress(const abench_operation *op, void *user)
{
    mstress_seen *seen = user;
    const uint32_t slot = op->slot & ~ABENCH_SLOT_SHARED;
    const uint32_t phase = (seen->meetings[op->lane] + 1) / 2;

    if (op->kind == ABENCH_OP_BARRIER || op->kind == ABENCH_OP_PHASE)
        seen->meetings[op->lane]++;
    seen->arrays += op->kind == ABENCH_OP_CALLOC;
    seen->array_bytes[op->lane] += op->kind == ABENCH_OP_CALLOC ? op->size : 0;
    if (!(op->slot & ABENCH_SLOT_SHARED))
        return;
    assert_true(slot < 4096);
    if (is_allocation(op)) {
        seen->shared[slot].lane = op->lane;
        seen->shared[slot].meetings = phase;
        seen->blocks++;
    } else if (seen->shared[slot].lane == op->lane) {
        /* what is left of the phase is freed by the main thread, before the next */
        assert_true(phase > seen->shared[slot].meetings || seen->meetings[op->lane] % 2 == 0);
    }
}

static void mstress_shares_what_another_lane_frees_only(void **state)
{
    static const char spec[] = "mstress:blocks=500,phases=12,transfers=100,lanes=3";
    static mstress_seen seen;
    abench_tape_summary s;
    abench_tape *tape = make_tape(spec, 1);

    (void)state;
    s = summary_of(tape);
    visit(spec, see_mstress, &seen);
    assert_int_equal(seen.arrays, 3 * 12);
    /* each lane has had each part four times */
    for (uint32_t lane = 0; lane < 3; lane++)
        assert_int_equal(seen.array_bytes[lane], 4 * 8 * (250 + 500 + 750));
    assert_true(s.cross_lane_frees <= seen.blocks);
    assert_true(s.cross_lane_frees > seen.blocks / 2);
    /* 500, 1000 and 1500 local blocks, half as many retained ones, two arrays a thread */
    assert_int_equal(allocations_of(&s), 12 * (3000 + 1500 + 6));
    abench_tape_destroy(tape);
}

/* What a ring of 10 slots does, by hand: 'm' and 'f' with the slot's number. */
typedef struct ring_seen {
    char text[512];
    uint32_t length;
} ring_seen;

static void see_ring(const abench_operation *op, void *user)
{
    ring_seen *seen = user;

    if ((!is_allocation(op) && !is_free(op)) || op->phase != 0 || seen->length > 200)
        return;
    seen->text[seen->length++] = is_free(op) ? 'f' : 'm';
    seen->text[seen->length++] = (char)('0' + op->slot); /* ':' is 10, ';' 11 */
}

static void assert_ring(const char *spec, const char *text)
{
    ring_seen seen = {"", 0};

    visit(spec, see_ring, &seen);
    seen.text[strlen(text)] = '\0';
    assert_string_equal(seen.text, text);
}

static void the_ring_of_sh6_keeps_a_window(void **state)
{
    (void)state;
    assert_ring("sh6:lanes=1,calls=10,passes=1", "m0m1m2m3m4m5m6m7m8m9"
                                                 "f9f8f7f6f5f4f3f2m2m3m4m5m6m7m8m9"
                                                 "f0f1f9f8f7f6f5f4m0m1m4m5m6m7m8m9"
                                                 "f0f1f2f3f9f8f7f6m0m1m2m3m6m7m8m9");
}

/* At the first turn, and at every fifth from there, the window at the front is written over. */
static void the_ring_of_sh6_leaks_when_it_is_asked_to(void **state)
{
    abench_tape *tight, *leaky;

    (void)state;
    assert_ring("sh6:lanes=1,calls=10,passes=1,leak=1", "m0m1m2m3m4m5m6m7m8m9"
                                                        "f9f8f7f6f5f4f3f2m:m;m2m3m4m5m6m7m8m9"
                                                        "f:f;f9f8f7f6f5f4m:m;m4m5m6m7m8m9");
    tight = make_tape("sh6:lanes=1,calls=1000,passes=10", 1);
    leaky = make_tape("sh6:lanes=1,calls=1000,passes=10,leak=1", 1);
    assert_true(phase_of(tight, "passes").live_blocks_end <= 1000);
    /* 200 of 4200 blocks */
    assert_in_range(phase_of(leaky, "passes").live_blocks_end, 193000 / 21 - 200,
                    193000 / 21 + 1200);
    abench_tape_destroy(tight);
    abench_tape_destroy(leaky);
}

typedef struct sh8_seen {
    uint64_t made;
    uint64_t own[4]; /* blocks that each lane allocated */
    uint64_t freed[4];
    uint64_t first[4]; /* the first that each lane freed */
} sh8_seen;

static void see_sh8(const abench_operation *op, void *user)
{
    sh8_seen *seen = user;

    if (op->lane == 0) {
        assert_false(is_free(op));
        if (is_allocation(op))
            assert_int_equal(op->size, 8);
        seen->made += is_allocation(op);
        return;
    }
    seen->own[op->lane] += is_allocation(op);
    if (is_free(op) && (op->slot & ABENCH_SLOT_SHARED)) {
        if (seen->freed[op->lane]++ == 0)
            seen->first[op->lane] = op->slot & ~ABENCH_SLOT_SHARED;
        assert_true(seen->freed[op->lane] * 7321 < (seen->own[op->lane] + 44) * 170); /* evenly */
    }
}

static void sh8_has_a_lane_whose_blocks_the_others_free(void **state)
{
    sh8_seen seen = {0, {0}, {0}, {0}};

    (void)state;
    visit("sh8:lanes=4,ring=3000,passes=3,handed=170", see_sh8, &seen);
    assert_int_equal(seen.made, 3 * 3 * 170);
    for (uint32_t lane = 1; lane < 4; lane++) {
        assert_int_equal(seen.freed[lane], 3 * 170);
        assert_int_equal(seen.first[lane], (lane - 1) * 170); /* a third of the first third */
    }
}

static void cache_writes_as_often_as_it_is_asked_to(void **state)
{
    abench_tape *scratch = make_tape("cache-scratch:lanes=3,rounds=7,writes=40", 1);
    abench_tape *thrash = make_tape("cache-thrash:lanes=3,rounds=7,writes=40", 1);
    abench_tape_summary s = summary_of(scratch), t = summary_of(thrash);

    (void)state;
    assert_int_equal(s.by_kind[ABENCH_OP_MALLOC], 3 + 3 * 7);
    assert_int_equal(t.by_kind[ABENCH_OP_MALLOC], 3 * 7);
    assert_int_equal(s.by_kind[ABENCH_OP_TOUCH], 3 * 7 * 39); /* malloc's touch is one */
    assert_int_equal(t.by_kind[ABENCH_OP_TOUCH], 3 * 7 * 39);
    assert_int_equal(s.cross_lane_frees, 2);
    assert_int_equal(t.cross_lane_frees, 0);
    abench_tape_destroy(scratch);
    abench_tape_destroy(thrash);
}

/* The rule, nested six times: 0.0064 % of the slots get 26.2 % of the steps, 0.16 % of them 65.5 %,
 * 1.7 % of them 90.1 %.
 * Half of the sizes are 5-8 bytes, and lanes draw their own. */
typedef struct alloctest_seen {
    uint64_t steps;
    uint64_t hot[3]; /* of them */
    uint64_t blocks;
    uint64_t tiny; /* of them */
    uint64_t sums[2];
} alloctest_seen;

static void see_alloctest(const abench_operation *op, void *user)
{
    alloctest_seen *seen = user;

    if (op->phase != 1 || (!is_allocation(op) && !is_free(op)))
        return;
    seen->steps++;
    seen->hot[0] += op->slot < 6;
    seen->hot[1] += op->slot < 160;
    seen->hot[2] += op->slot < 1696;
    if (!is_allocation(op))
        return;
    seen->blocks++;
    seen->tiny += op->size <= 8;
    seen->sums[op->lane] += op->slot;
}

static void alloctest_has_hot_slots_and_tiny_blocks(void **state)
{
    alloctest_seen seen = {0, {0}, 0, 0, {0}};

    (void)state;
    visit("alloc-test:lanes=2,slots=200000,steps=100000", see_alloctest, &seen);
    assert_int_equal(seen.steps, 200000);
    assert_in_range(seen.hot[0], 51000, 54000);
    assert_in_range(seen.hot[1], 129000, 133000);
    assert_in_range(seen.hot[2], 178000, 182000);
    assert_in_range(seen.tiny * 100 / seen.blocks, 48, 52);
    assert_int_not_equal(seen.sums[0], seen.sums[1]);
}

/* A third of the small blocks each is zeroed and aligned to 8 and to 16; larger ones are zeroed. */
typedef struct rptest_seen {
    uint64_t small[3];
    uint64_t shared[2]; /* blocks that were handed on: allocated by lane, */
    uint64_t freed[2];  /* freed by lane */
} rptest_seen;

static void see_rptest(const abench_operation *op, void *user)
{
    rptest_seen *seen = user;

    if (op->slot & ABENCH_SLOT_SHARED) {
        seen->shared[op->lane] += is_allocation(op);
        seen->freed[op->lane] += is_free(op);
    } else if (op->kind == ABENCH_OP_CALLOC && op->size < 4096) {
        seen->small[0]++;
    } else if (op->kind == ABENCH_OP_ALIGNED_ALLOC) {
        assert_true(op->size <= 4096);
        assert_true(op->alignment == 8 || op->alignment == 16);
        assert_int_equal(op->size % op->alignment, 0);
        seen->small[op->alignment / 8]++;
    }
}

static void rptest_zeroes_and_aligns_in_turn_and_hands_on(void **state)
{
    rptest_seen seen = {{0}, {0}, {0}};
    uint64_t small_blocks;

    (void)state;
    visit("rptest:scale=quick", see_rptest, &seen);
    small_blocks = seen.small[0] + seen.small[1] + seen.small[2];
    for (uint32_t kind = 0; kind < 3; kind++)
        assert_in_range(seen.small[kind] * 100 / small_blocks, 31, 35);
    for (uint32_t lane = 0; lane < 2; lane++)
        assert_int_equal(seen.freed[lane], seen.shared[1 - lane]);
    assert_true(seen.shared[0] > 10000);
}

static void a_lane_of_rptest_alone_hands_nothing_on(void **state)
{
    abench_tape *tape = make_tape("rptest:lanes=1,rounds=1", 1);

    (void)state;
    assert_int_equal(summary_of(tape).shared_slots, 0);
    abench_tape_destroy(tape);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_round_of_larson_is_inherited_by_the_next_lane),
        cmocka_unit_test(larson_shares_what_is_inherited_only),
        cmocka_unit_test(xmalloc_passes_whole_batches_from_producers_to_consumers),
        cmocka_unit_test(mstress_shares_what_another_lane_frees_only),
        cmocka_unit_test(the_ring_of_sh6_keeps_a_window),
        cmocka_unit_test(the_ring_of_sh6_leaks_when_it_is_asked_to),
        cmocka_unit_test(sh8_has_a_lane_whose_blocks_the_others_free),
        cmocka_unit_test(cache_writes_as_often_as_it_is_asked_to),
        cmocka_unit_test(alloctest_has_hot_slots_and_tiny_blocks),
        cmocka_unit_test(rptest_zeroes_and_aligns_in_turn_and_hands_on),
        cmocka_unit_test(a_lane_of_rptest_alone_hands_nothing_on),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
