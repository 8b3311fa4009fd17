/* Latency in the player: what is timed, how often, and that nothing else changes by it. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <sys/mman.h>
#include <time.h>

#include <allocbench/workload.h>

#include "latency.h"
#include "player.h"

#include "../property/script.h"

#define US ((uint64_t)1000)
#define MS (1000 * US)

static uint64_t minimum_of(abench_latency *latency, uint32_t kind)
{
    return abench_histogram_minimum(abench_latency_histogram(latency, kind));
}

static uint64_t maximum_of(abench_latency *latency, uint32_t kind)
{
    return abench_histogram_maximum(abench_latency_histogram(latency, kind));
}

static abench_receipt play_with(const abench_tape *tape, const abench_allocator *allocator,
                                abench_player_options options)
{
    abench_receipt receipt = ABENCH_RECEIPT_INIT;
    abench_error error = ABENCH_ERROR_INIT;

    if (abench_play(tape, allocator, &options, &receipt, &error) != ABENCH_OK)
        fail_msg("%s", error.message);
    return receipt;
}

/* ---- the receipt ----------------------------------------------------------------------------- */

static script random_script;

static abench_tape *random_tape(prng *random, uint32_t lanes, uint32_t touch)
{
    script *s = &random_script;
    abench_error error = ABENCH_ERROR_INIT;
    abench_tape *tape;

    s->stride = 1;
    s->lanes = lanes;
    s->touch = touch;
    s->size_limit = 20000;
    script_random(s, random, 3000, 1);
    tape = script_tape(s, NULL, &error);
    if (tape == NULL)
        fail_msg("%s", error.message);
    return tape;
}

/* All but what depends on the clock and on who came first. */
static void assert_same_work(const abench_receipt *a, const abench_receipt *b)
{
    assert_memory_equal(a->planned, b->planned, sizeof a->planned);
    assert_memory_equal(a->executed, b->executed, sizeof a->executed);
    assert_int_equal(a->failed, b->failed);
    assert_int_equal(a->bytes_requested, b->bytes_requested);
    assert_int_equal(a->live_blocks_end, b->live_blocks_end);
    assert_int_equal(a->live_bytes_end, b->live_bytes_end);
    assert_int_equal(a->checksum, b->checksum);
    assert_int_equal(a->work_digest, b->work_digest);
}

static uint64_t allocations(const abench_receipt *r)
{
    return r->executed[ABENCH_OP_MALLOC] + r->executed[ABENCH_OP_CALLOC] +
           r->executed[ABENCH_OP_ALIGNED_ALLOC];
}

static uint64_t frees(const abench_receipt *r)
{
    return r->executed[ABENCH_OP_FREE] + r->executed[ABENCH_OP_FREE_SIZED];
}

/* Every operation, and one in 2, in 7: each touch, shared slots, one lane and three, in slices and
 * under a bound of skew. */
static void the_receipt_is_the_same(void **state)
{
    static const uint64_t intervals[] = {1, 2, 7, 1000000};
    prng random = {test_seed("receipt")};

    (void)state;
    for (uint32_t round = 0; round < 16; round++) {
        abench_tape *tape = random_tape(&random, round < 8 ? 1 : 3, round % 4);
        const abench_receipt plain = play_with(tape, NULL, sampling(NULL, 0, 0));
        for (size_t at = 0; at < 4; at++) {
            abench_latency *latency = make_latency();
            abench_player_options options = sampling(latency, intervals[at], round);
            abench_receipt receipt;
            options.slice_operations = round % 2 * 1024;
            options.skew_operations = round % 3 * 1024;
            receipt = play_with(tape, NULL, options);
            assert_same_work(&receipt, &plain);
            abench_latency_destroy(latency);
        }
        abench_tape_destroy(tape);
    }
}

static _Atomic int32_t until_failure;

/* Fails now and then; what does not fail is honest. */
static void *failing_malloc(size_t size)
{
    return atomic_fetch_add(&until_failure, 1) % 100 == 99 ? NULL : honest_malloc(size);
}

static void *failing_realloc(void *block, size_t size)
{
    if (block == NULL) /* what failed before */
        return failing_malloc(size);
    return atomic_fetch_add(&until_failure, 1) % 100 == 99 ? NULL : honest_realloc(block, size);
}

static void the_receipt_is_the_same_when_allocations_fail(void **state)
{
    prng random = {test_seed("failing")};
    abench_receipt receipts[2];

    (void)state;
    for (uint32_t touch = 0; touch < 4; touch++) {
        abench_tape *tape = random_tape(&random, 1, touch);
        abench_latency *latency = make_latency();
        for (uint32_t timed = 0; timed < 2; timed++) {
            const abench_player_options options = sampling(timed ? latency : NULL, 2, touch);
            abench_allocator allocator = honest_allocator();
            allocator.malloc = failing_malloc;
            allocator.realloc = failing_realloc;
            atomic_store(&until_failure, 0);
            abench_receipt_init(&receipts[timed]);
            assert_int_equal(abench_play(tape, &allocator, &options, &receipts[timed], NULL),
                             ABENCH_ERROR_RECEIPT);
        }
        assert_true(receipts[0].failed > 0);
        assert_same_work(&receipts[0], &receipts[1]);
        abench_latency_destroy(latency);
        abench_tape_destroy(tape);
    }
}

/* A streamed tape is played chunk by chunk. */
static void the_receipt_is_the_same_of_a_stream(void **state)
{
    abench_workload *workload = NULL;
    abench_tape *tapes[2] = {NULL, NULL};
    abench_receipt receipts[2];
    uint64_t counts[2];

    (void)state;
    assert_int_equal(abench_workload_parse("mixed:slots=500,steps=200000", 1, 2, &workload, NULL),
                     ABENCH_OK);
    assert_int_equal(abench_workload_tape(workload, NULL, &tapes[0], NULL), ABENCH_OK);
    assert_int_equal(abench_workload_stream(workload, NULL, &tapes[1], NULL), ABENCH_OK);
    for (uint32_t at = 0; at < 2; at++) {
        abench_latency *latency = make_latency();
        receipts[at] = play_with(tapes[at], NULL, sampling(latency, 50, 4));
        counts[at] = count_of(latency, ABENCH_LATENCY_FREE);
        abench_latency_destroy(latency);
    }
    assert_same_work(&receipts[0], &receipts[1]);
    assert_int_equal(counts[0], counts[1]); /* a chunk's end moves no gap */
    abench_tape_destroy(tapes[0]);
    abench_tape_destroy(tapes[1]);
    abench_workload_destroy(workload);
}

/* ---- how often ------------------------------------------------------------------------------- */

static void an_interval_of_1_times_every_call(void **state)
{
    prng random = {test_seed("every call")};

    (void)state;
    for (uint32_t touch = 0; touch < 4; touch++) {
        abench_tape *tape = random_tape(&random, 1 + touch % 2 * 2, touch);
        abench_latency *latency = make_latency();
        abench_receipt r;
        for (uint64_t plays = 1; plays < 3; plays++) { /* they add up */
            r = play_with(tape, NULL, sampling(latency, 1, 0));
            assert_int_equal(count_of(latency, ABENCH_LATENCY_MALLOC), plays * allocations(&r));
            assert_int_equal(count_of(latency, ABENCH_LATENCY_TOUCH),
                             touch == ABENCH_TOUCH_NOTHING ? 0 : plays * allocations(&r));
            assert_int_equal(count_of(latency, ABENCH_LATENCY_REALLOC),
                             plays * r.executed[ABENCH_OP_REALLOC]);
            assert_int_equal(count_of(latency, ABENCH_LATENCY_FREE), plays * frees(&r));
            assert_int_equal(count_of(latency, ABENCH_LATENCY_CONTROL),
                             plays * (allocations(&r) + frees(&r) + r.executed[ABENCH_OP_REALLOC]));
        }
        assert_int_equal(count_of(latency, ABENCH_LATENCY_REQUEST), 0);
        assert_int_equal(count_of(latency, ABENCH_LATENCY_SERVICE), 0);
        abench_latency_destroy(latency);
        abench_tape_destroy(tape);
    }
}

/* A mean of N, and each kind as often as it is on the tape, which even gaps would not see. */
static void gaps_are_drawn_around_the_interval(void **state)
{
    static const uint64_t intervals[] = {2, 16, 64, 0}; /* 0: 1024 */

    (void)state;
    for (uint32_t lanes = 1; lanes < 3; lanes++) {
        abench_tape *tape = rhythm(lanes, 0);
        for (size_t at = 0; at < 4; at++) {
            const uint64_t interval = intervals[at] == 0 ? 1024 : intervals[at];
            const uint64_t wanted = PAIRS / interval;
            abench_latency *latency = make_latency();
            play_with(tape, NULL, sampling(latency, intervals[at], 5));
            assert_in_range(count_of(latency, ABENCH_LATENCY_MALLOC), wanted - wanted / 3,
                            wanted + wanted / 3);
            assert_in_range(count_of(latency, ABENCH_LATENCY_FREE), wanted - wanted / 3,
                            wanted + wanted / 3);
            abench_latency_destroy(latency);
        }
        abench_tape_destroy(tape);
    }
}

/* A malloc into a shared slot has two words, its free has one: each is timed as often. */
static void operations_of_two_words_are_timed_no_more_often(void **state)
{
    abench_tape_builder *b = make_builder(1, 4, ABENCH_TOUCH_FIRST);
    abench_latency *latency = make_latency();
    abench_tape *tape;
    uint64_t mallocs, frees;

    (void)state;
    for (uint32_t at = 0; at < 60000; at++) {
        if (at % 20000 == 0)
            abench_tape_builder_barrier(b);
        abench_tape_builder_malloc(b, 0, SHARED | at % 4, 64);
        abench_tape_builder_free(b, 0, SHARED | at % 4);
    }
    tape = finish(b);
    play_with(tape, NULL, sampling(latency, 16, 1));
    mallocs = count_of(latency, ABENCH_LATENCY_MALLOC);
    frees = count_of(latency, ABENCH_LATENCY_FREE);
    if (mallocs < 3500 || mallocs > 4000 || frees < 3500 || frees > 4000)
        fail_msg("%llu of 60000 mallocs and %llu frees at one in 16", (unsigned long long)mallocs,
                 (unsigned long long)frees);
    abench_tape_destroy(tape);
    abench_latency_destroy(latency);
}

static void the_seed_says_what_is_timed(void **state)
{
    abench_tape *tape = rhythm(2, 0);
    abench_latency *latency[3] = {make_latency(), make_latency(), make_latency()};

    (void)state;
    play_with(tape, NULL, sampling(latency[0], 16, 1));
    play_with(tape, NULL, sampling(latency[1], 16, 1));
    play_with(tape, NULL, sampling(latency[2], 16, 2));
    for (uint32_t kind = 0; kind < ABENCH_LATENCY_KINDS; kind++)
        assert_int_equal(count_of(latency[0], kind), count_of(latency[1], kind));
    assert_int_not_equal(count_of(latency[0], ABENCH_LATENCY_MALLOC),
                         count_of(latency[2], ABENCH_LATENCY_MALLOC));
    for (uint32_t at = 0; at < 3; at++)
        abench_latency_destroy(latency[at]);
    abench_tape_destroy(tape);
}

static void an_interval_beyond_the_tape_times_nothing(void **state)
{
    static const uint64_t intervals[] = {(uint64_t)1 << 40, ((uint64_t)1 << 63) + 1, UINT64_MAX};
    abench_tape *tape = rhythm(1, 0);
    abench_latency *latency = make_latency();

    (void)state;
    for (size_t at = 0; at < 3; at++)
        play_with(tape, NULL, sampling(latency, intervals[at], 1));
    assert_int_equal(count_of(latency, ABENCH_LATENCY_CONTROL), 0);
    abench_latency_destroy(latency);
    abench_tape_destroy(tape);
}

static void phases_that_are_not_timed_are_left_out(void **state)
{
    abench_tape *tape = rhythm(1, 1);
    abench_latency *latency = make_latency();

    (void)state;
    play_with(tape, NULL, sampling(latency, 1, 1));
    assert_int_equal(count_of(latency, ABENCH_LATENCY_CONTROL), 0);
    abench_latency_destroy(latency);
    abench_tape_destroy(tape);
}

static int32_t stop_at_once(const abench_slice *slice, void *user)
{
    (void)user;
    return slice->index == 0;
}

static void a_play_that_is_stopped_gives_what_it_has(void **state)
{
    abench_tape *tape = rhythm(1, 0);
    abench_latency *latency = make_latency();
    abench_player_options options = sampling(latency, 1, 1);
    abench_receipt receipt = ABENCH_RECEIPT_INIT;

    (void)state;
    options.slice = stop_at_once;
    options.slice_operations = 10240;
    assert_int_equal(abench_play(tape, NULL, &options, &receipt, NULL), ABENCH_ERROR_STOPPED);
    assert_in_range(allocations(&receipt), 5000, 5120);
    assert_int_equal(count_of(latency, ABENCH_LATENCY_MALLOC), allocations(&receipt));
    assert_int_equal(count_of(latency, ABENCH_LATENCY_FREE), frees(&receipt));
    abench_latency_destroy(latency);
    abench_tape_destroy(tape);
}

/* ---- what is timed --------------------------------------------------------------------------- */

static void spin(uint64_t ns)
{
    const uint64_t until = abench_clock_ns() + ns;

    while (abench_clock_ns() < until)
        ;
}

static void *slow_malloc(size_t size)
{
    spin(20 * US);
    return honest_malloc(size);
}

static void *slow_calloc(size_t count, size_t size)
{
    spin(30 * US);
    return honest_calloc(count, size);
}

static void *slow_aligned_alloc(size_t alignment, size_t size)
{
    spin(40 * US);
    return honest_aligned_alloc(alignment, size);
}

static void *slow_realloc(void *block, size_t size)
{
    spin(300 * US);
    return honest_realloc(block, size);
}

static void slow_free(void *block)
{
    spin(200 * US);
    honest_free(block);
}

static void slow_free_sized(void *block, size_t size)
{
    spin(100 * US);
    honest_free_sized(block, size);
}

/* Each call shows in its own kind, with its own time. */
static void a_call_is_timed_in_its_kind(void **state)
{
    abench_tape *tape = every_kind(ABENCH_TOUCH_ALL);
    abench_allocator allocator = honest_allocator();
    abench_latency *latency = make_latency();

    (void)state;
    allocator.malloc = slow_malloc;
    allocator.calloc = slow_calloc;
    allocator.aligned_alloc = slow_aligned_alloc;
    allocator.realloc = slow_realloc;
    allocator.free = slow_free;
    allocator.free_sized = slow_free_sized;
    play_with(tape, &allocator, sampling(latency, 1, 0));
    assert_true(minimum_of(latency, ABENCH_LATENCY_MALLOC) >= 20 * US);
    assert_true(maximum_of(latency, ABENCH_LATENCY_MALLOC) >= 40 * US);
    assert_true(minimum_of(latency, ABENCH_LATENCY_TOUCH) >=
                minimum_of(latency, ABENCH_LATENCY_MALLOC));
    assert_true(minimum_of(latency, ABENCH_LATENCY_REALLOC) >= 300 * US);
    assert_true(minimum_of(latency, ABENCH_LATENCY_FREE) >= 100 * US);
    assert_true(maximum_of(latency, ABENCH_LATENCY_FREE) >= 200 * US);
    assert_int_equal(count_of(latency, ABENCH_LATENCY_MALLOC), 4);
    assert_int_equal(count_of(latency, ABENCH_LATENCY_REALLOC), 1);
    assert_int_equal(count_of(latency, ABENCH_LATENCY_FREE), 4);
    abench_latency_destroy(latency);
    abench_tape_destroy(tape);
}

/* Lane 1 waits a long time for lane 0, which pauses, before each of its three calls. */
static void the_wait_for_another_lane_is_not_the_allocators(void **state)
{
    const uint64_t long_time = 150 * MS;
    abench_tape_builder *b = make_builder(2, 1, ABENCH_TOUCH_ALL);
    const abench_allocator allocator = honest_allocator();
    abench_latency *latency = make_latency();
    abench_receipt receipt;
    abench_tape *tape;

    (void)state;
    abench_tape_builder_pause(b, 0, (uint32_t)(long_time / US));
    abench_tape_builder_malloc(b, 0, SHARED, 10);
    abench_tape_builder_realloc(b, 1, SHARED, 20);
    abench_tape_builder_pause(b, 0, (uint32_t)(long_time / US));
    abench_tape_builder_free(b, 0, SHARED);
    abench_tape_builder_malloc(b, 1, SHARED, 10);
    abench_tape_builder_free(b, 1, SHARED);
    tape = finish(b);
    receipt = play_with(tape, &allocator, sampling(latency, 1, 0));
    assert_true(receipt.wait_ns > long_time);
    assert_true(maximum_of(latency, ABENCH_LATENCY_MALLOC) < long_time);
    assert_true(maximum_of(latency, ABENCH_LATENCY_TOUCH) < long_time);
    assert_true(maximum_of(latency, ABENCH_LATENCY_REALLOC) < long_time);
    assert_true(maximum_of(latency, ABENCH_LATENCY_FREE) < long_time);
    assert_int_equal(count_of(latency, ABENCH_LATENCY_CONTROL), 5);
    abench_latency_destroy(latency);
    abench_tape_destroy(tape);
}

/* A block of fresh pages: writing to each takes time, and it is not in the call. */
static void *fresh_malloc(size_t size)
{
    void *memory = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

    return memory == MAP_FAILED ? NULL : memory;
}

static void leak(void *block)
{
    (void)block;
}

static void page_faults_show_in_the_touch(void **state)
{
    abench_tape_builder *b = make_builder(1, 1, ABENCH_TOUCH_PAGES);
    abench_allocator allocator = honest_allocator();
    abench_latency *latency = make_latency();
    abench_tape *tape;

    (void)state;
    allocator.malloc = fresh_malloc;
    allocator.free = leak;
    abench_tape_builder_malloc(b, 0, 0, 16 << 20);
    abench_tape_builder_free(b, 0, 0);
    tape = finish(b);
    play_with(tape, &allocator, sampling(latency, 1, 0));
    assert_true(minimum_of(latency, ABENCH_LATENCY_TOUCH) >
                minimum_of(latency, ABENCH_LATENCY_MALLOC) + 4096); /* 1 ns a page */
    abench_latency_destroy(latency);
    abench_tape_destroy(tape);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_receipt_is_the_same),
        cmocka_unit_test(the_receipt_is_the_same_when_allocations_fail),
        cmocka_unit_test(the_receipt_is_the_same_of_a_stream),
        cmocka_unit_test(an_interval_of_1_times_every_call),
        cmocka_unit_test(gaps_are_drawn_around_the_interval),
        cmocka_unit_test(operations_of_two_words_are_timed_no_more_often),
        cmocka_unit_test(the_seed_says_what_is_timed),
        cmocka_unit_test(an_interval_beyond_the_tape_times_nothing),
        cmocka_unit_test(phases_that_are_not_timed_are_left_out),
        cmocka_unit_test(a_play_that_is_stopped_gives_what_it_has),
        cmocka_unit_test(a_call_is_timed_in_its_kind),
        cmocka_unit_test(the_wait_for_another_lane_is_not_the_allocators),
        cmocka_unit_test(page_faults_show_in_the_touch),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
