/* Plays of random tapes: the receipt is what was planned, whatever the lanes, slices and skew. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "script.h"
#include "tape/tape.h"

#define ROUNDS 40

static script random_script;

static abench_tape *random_tape(prng *random, uint32_t lanes, uint32_t touch, int drained)
{
    script *s = &random_script;
    abench_error error = ABENCH_ERROR_INIT;
    abench_tape *tape;

    s->stride = 1;
    s->lanes = lanes;
    s->touch = touch;
    s->size_limit = 40000;
    script_random(s, random, (uint32_t)prng_below(random, 5000), drained);
    tape = script_tape(s, NULL, &error);
    if (tape == NULL)
        fail_msg("%s: %s", abench_status_name(error.status), error.message);
    return tape;
}

/* Sums up slices and looks at the order of marks. */
typedef struct seen {
    uint64_t operations;
    uint32_t marks, slices, lasts;
    uint64_t live_amiss;
    const script_state *expected;
} seen;

static int32_t see_mark(const abench_mark *mark, void *user)
{
    seen *s = user;

    if (mark->begin)
        s->live_amiss += mark->live_bytes != 0;
    else
        s->live_amiss += mark->live_bytes != s->expected->phase_live_bytes[mark->phase];
    s->marks++;
    return 0;
}

static int32_t see_slice(const abench_slice *slice, void *user)
{
    seen *s = user;

    s->operations += slice->operations;
    s->lasts += slice->last;
    s->slices++;
    return 0;
}

static void assert_receipt(const abench_receipt *r, const abench_tape *tape,
                           const script_state *expected)
{
    for (uint32_t kind = 0; kind < ABENCH_OP_KINDS; kind++) {
        assert_int_equal(r->planned[kind], expected->summary.by_kind[kind]);
        assert_int_equal(r->executed[kind], expected->summary.by_kind[kind]);
    }
    assert_int_equal(r->failed, 0);
    assert_int_equal(r->bytes_requested, expected->summary.bytes_requested);
    assert_int_equal(r->live_bytes_end, expected->live_bytes);
    assert_int_equal(r->live_blocks_end, expected->live_blocks);
    assert_int_equal(r->checksum_planned, expected->checksum);
    assert_int_equal(r->checksum, expected->checksum);
    assert_int_equal(r->work_digest, abench_tape_digest(tape));
}

static void play(const abench_tape *tape, const abench_allocator *allocator, prng *random)
{
    abench_player_options options = ABENCH_PLAYER_OPTIONS_INIT;
    abench_receipt receipt = ABENCH_RECEIPT_INIT;
    abench_error error = ABENCH_ERROR_INIT;
    static script_state expected;
    seen s = {.expected = &expected};

    script_play_naively(&random_script, &expected);
    options.slice_operations = prng_below(random, 3) * prng_below(random, 4000);
    options.skew_operations = prng_below(random, 2) * prng_below(random, 4000);
    options.watchdog_ms = 30000;
    options.slice = see_slice;
    options.mark = see_mark;
    options.user = &s;
    if (abench_play(tape, allocator, &options, &receipt, &error) != ABENCH_OK)
        fail_msg("slices of %llu, skew %llu: %s", (unsigned long long)options.slice_operations,
                 (unsigned long long)options.skew_operations, error.message);
    assert_receipt(&receipt, tape, &expected);
    assert_int_equal(s.operations, expected.summary.operations);
    assert_int_equal(s.marks, expected.summary.phases + 1);
    assert_true(s.slices >= expected.summary.phases);
    assert_int_equal(s.lasts, 1);
    assert_int_equal(s.live_amiss, 0);
}

/* Against the process's malloc, which a sanitizer watches where there is one. */
static void receipts_equal_plans(void **state)
{
    prng random = {test_seed(__func__)};

    (void)state;
    for (int round = 0; round < ROUNDS; round++) {
        const uint32_t lanes = 1 + (uint32_t)round % SCRIPT_LANES_MAX;
        const uint32_t touch = (uint32_t)round / SCRIPT_LANES_MAX % 4;
        abench_tape *tape = random_tape(&random, lanes, touch, 1);
        play(tape, NULL, &random);
        abench_tape_destroy(tape);
    }
}

/* ---- blocks that are left -------------------------------------------------------------------- */

/* An allocator that can take back what a tape leaves: its blocks are in a list. */
typedef struct kept_block {
    struct kept_block *next;
    uint64_t size;
} kept_block;

static kept_block *kept;

static void *keeping_malloc(size_t size)
{
    kept_block *block = calloc(1, sizeof *block + size);

    if (block == NULL)
        abort();
    block->size = size;
    block->next = kept;
    kept = block;
    return block + 1;
}

static void *keeping_calloc(size_t count, size_t size)
{
    return keeping_malloc(count * size);
}

static void *keeping_aligned_alloc(size_t alignment, size_t size)
{
    (void)alignment; /* nobody looks */
    return keeping_malloc(size);
}

static void *keeping_realloc(void *old, size_t size)
{
    const kept_block *block = (kept_block *)old - 1;
    void *moved = keeping_malloc(size);

    memcpy(moved, old, block->size < size ? block->size : size);
    return moved;
}

static void keeping_free(void *block)
{
    (void)block;
}

static void give_back(void)
{
    while (kept != NULL) {
        kept_block *block = kept;
        kept = block->next;
        free(block);
    }
}

static void blocks_that_a_tape_leaves_are_in_the_receipt(void **state)
{
    const abench_allocator keeping = {
        .struct_size = sizeof keeping,
        .malloc = keeping_malloc,
        .calloc = keeping_calloc,
        .aligned_alloc = keeping_aligned_alloc,
        .realloc = keeping_realloc,
        .free = keeping_free,
    };
    prng random = {test_seed(__func__)};

    (void)state;
    for (int round = 0; round < ROUNDS / 2; round++) {
        abench_tape *tape = random_tape(&random, 1, (uint32_t)round % 4, 0);
        play(tape, &keeping, &random);
        give_back();
        abench_tape_destroy(tape);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(receipts_equal_plans),
        cmocka_unit_test(blocks_that_a_tape_leaves_are_in_the_receipt),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
