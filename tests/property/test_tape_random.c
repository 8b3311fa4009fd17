/* Words and tapes at random: format, digest, summary and cuts against naive oracles. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "script.h"
#include "tape/tape.h"
#include "tape/word.h"

#define ROUNDS 60

/* Spaced so that the last slot needs 25 bits. */
#define WIDE_STRIDE ((uint32_t)1 << 21)

static script random_script;

/* A tape of 1 to 4 lanes; every third has slots above 2^24 and sizes above 2^32. */
static abench_tape *random_tape(prng *random, int round)
{
    script *s = &random_script;
    abench_error error = ABENCH_ERROR_INIT;
    abench_tape *tape;

    s->stride = round % 3 == 0 ? WIDE_STRIDE : 1;
    s->lanes = 1 + (uint32_t)prng_below(random, round % 3 == 0 ? 2 : SCRIPT_LANES_MAX);
    s->touch = (uint32_t)prng_below(random, 4);
    s->size_limit = round % 3 == 0 ? (uint64_t)1 << 47 : 40000;
    script_random(s, random, (uint32_t)prng_below(random, SCRIPT_OPS_MAX - 5 * SCRIPT_SLOTS),
                  prng_below(random, 2) == 0);
    tape = script_tape(s, NULL, &error);
    if (tape == NULL)
        fail_msg("%s: %s", abench_status_name(error.status), error.message);
    return tape;
}

/* ---- words ----------------------------------------------------------------------------------- */

static void random_op(prng *random, abench__op *op)
{
    memset(op, 0, sizeof *op);
    op->kind = 1 + (uint32_t)prng_below(random, ABENCH_OP_KINDS - 1);
    op->shared = (uint32_t)prng_below(random, 2);
    op->empty = (uint32_t)prng_below(random, 2);
    op->slot = (uint32_t)(prng_next(random) >> (33 + prng_below(random, 31)));
    op->size = prng_next(random) >> (17 + prng_below(random, 47));
    op->generation = op->shared ? (uint32_t)(prng_next(random) >> 32) : 0;
    if (op->kind == ABENCH_OP_ALIGNED_ALLOC)
        op->alignment_log2 = (uint32_t)prng_below(random, 47);
}

static void any_operation_survives_packing(void **state)
{
    prng random = {test_seed(__func__)};

    (void)state;
    for (int round = 0; round < 100000; round++) {
        uint64_t words[2] = {0, 0xdead};
        abench__op op, back;
        uint32_t count;
        random_op(&random, &op);
        count = abench__word_pack(&op, words);
        assert_in_range(count, 1, 2);
        memset(&back, 0xff, sizeof back);
        assert_int_equal(abench__word_unpack(words, &back), count);
        assert_memory_equal(&back, &op, sizeof op);
        assert_int_equal(abench__word_kind(words[0]), op.kind);
        if (count == 1) {
            assert_int_equal(words[1], 0xdead); /* not written */
            assert_int_equal(abench__word_slot(words[0]), op.slot);
        }
    }
}

static void any_packed_word_reads_as_the_header_says(void **state)
{
    prng random = {test_seed(__func__)};

    (void)state;
    for (int round = 0; round < 100000; round++) {
        uint64_t words[2] = {0, 0};
        abench__op op;
        spec_op read;
        uint32_t count;
        random_op(&random, &op);
        count = abench__word_pack(&op, words);
        assert_int_equal(spec_decode(words, &read), count);
        assert_int_equal(read.kind, op.kind);
        assert_int_equal(read.shared, op.shared);
        assert_int_equal(read.empty, op.empty);
        assert_int_equal(read.slot, op.slot);
        assert_int_equal(read.size, op.size);
        assert_int_equal(read.generation, op.generation);
        assert_int_equal(read.alignment_log2, op.alignment_log2);
        assert_int_equal(words[1] >> 62, 0);
        assert_int_equal(count == 2, words[1] != 0); /* no word that says nothing */
    }
}

/* ---- tapes ----------------------------------------------------------------------------------- */

static void assert_word(const spec_op *read, uint32_t kind, uint64_t size)
{
    assert_int_equal(read->kind, kind);
    assert_int_equal(read->size, size);
    assert_int_equal(read->slot, 0);
    assert_int_equal(read->shared, 0);
    assert_int_equal(read->empty, 0);
    assert_int_equal(read->alignment_log2, 0);
}

/* Compares the words of an operation on a block with the script's, before the state takes it. */
static void assert_block_word(const spec_op *read, const script *s, script_state *state,
                              const script_op *op)
{
    const script_block *block = script_block_of(s, state, op);
    const int allocates = op->kind <= ABENCH_OP_REALLOC;
    uint64_t generation = block->generation, alignment = 1;

    if (allocates)
        generation += op->kind == ABENCH_OP_REALLOC ? 2 : 1;
    assert_int_equal(read->kind, op->kind);
    assert_int_equal(read->shared, (op->slot & ABENCH_SLOT_SHARED) != 0);
    assert_int_equal(read->slot, op->slot & ~ABENCH_SLOT_SHARED);
    assert_int_equal(read->generation, read->shared ? generation : 0);
    if (op->kind == ABENCH_OP_FREE)
        assert_int_equal(read->size, 0);
    else
        assert_int_equal(read->size, allocates ? op->size : block->size);
    /* a realloc's is about the block that was there, which it reads */
    assert_int_equal(read->empty, (op->kind < ABENCH_OP_REALLOC ? op->size : block->size) == 0);
    if (op->kind == ABENCH_OP_ALIGNED_ALLOC)
        alignment = op->alignment;
    assert_int_equal((uint64_t)1 << read->alignment_log2, alignment);
}

/* Walks the lanes' words in the script's order. */
typedef struct walk {
    const abench_tape *tape;
    uint64_t at[SCRIPT_LANES_MAX];
    uint64_t phases, barriers;
} walk;

static void read_next(walk *w, uint32_t lane, spec_op *read)
{
    w->at[lane] += spec_decode(abench__lane_data(w->tape, lane) + w->at[lane], read);
}

/* Every lane has a word of this kind and size. */
static void assert_word_of_all(walk *w, uint32_t kind, uint64_t size)
{
    spec_op read;

    for (uint32_t lane = 0; lane < w->tape->summary.lanes; lane++) {
        read_next(w, lane, &read);
        assert_word(&read, kind, size);
    }
}

static void assert_next_words(walk *w, const script *s, script_state *state, const script_op *op)
{
    spec_op read;

    if (op->kind == ABENCH_OP_PHASE || state->summary.phases == 0)
        assert_word_of_all(w, ABENCH_OP_PHASE, w->phases++);
    if (op->kind == ABENCH_OP_BARRIER)
        assert_word_of_all(w, ABENCH_OP_BARRIER, w->barriers++);
    if (op->kind == ABENCH_OP_BARRIER || op->kind == ABENCH_OP_PHASE)
        return;
    read_next(w, op->lane, &read);
    if (op->kind == ABENCH_OP_PAUSE)
        assert_word(&read, ABENCH_OP_PAUSE, op->microseconds);
    else
        assert_block_word(&read, s, state, op);
}

static void the_words_of_a_tape_are_its_operations(void **state)
{
    prng random = {test_seed(__func__)};

    (void)state;
    for (int round = 0; round < ROUNDS; round++) {
        abench_tape *tape = random_tape(&random, round);
        const script *s = &random_script;
        walk w = {.tape = tape};
        static script_state expected;

        script_begin(s, &expected);
        for (uint32_t index = 0; index < s->count; index++) {
            assert_next_words(&w, s, &expected, &s->ops[index]);
            script_step(s, &expected, &s->ops[index]);
        }
        if (expected.summary.phases == 0) /* nothing but the end */
            assert_word_of_all(&w, ABENCH_OP_PHASE, 0);
        assert_word_of_all(&w, ABENCH_OP_END, 0);
        for (uint32_t lane = 0; lane < s->lanes; lane++)
            assert_int_equal(w.at[lane], tape->lanes[lane].words.count);
        abench_tape_destroy(tape);
    }
}

static void the_digest_is_the_one_of_the_header(void **state)
{
    prng random = {test_seed(__func__)};

    (void)state;
    for (int round = 0; round < ROUNDS; round++) {
        abench_tape *tape = random_tape(&random, round);
        uint64_t digest = spec_fold(1, random_script.lanes);
        for (uint32_t lane = 0; lane < random_script.lanes; lane++)
            digest = spec_fold(digest, spec_lane_digest(lane, abench__lane_data(tape, lane),
                                                        tape->lanes[lane].words.count));
        assert_int_equal(abench_tape_digest(tape), digest);
        abench_tape_destroy(tape);
    }
}

static int compare(const void *a, const void *b)
{
    const uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

    return x < y ? -1 : x > y;
}

/* Within 1.6 % above the middle value; 0 without values. */
static void assert_median(uint64_t median, uint64_t *values, uint32_t count)
{
    uint64_t middle = 0;

    if (count > 0) {
        qsort(values, count, sizeof *values, compare);
        middle = values[(count + 1) / 2 - 1];
    }
    if (median < middle || median > middle + middle / 62)
        fail_msg("median %llu, not %llu", (unsigned long long)median, (unsigned long long)middle);
}

static void the_summary_counts_what_is_on_the_tape(void **state)
{
    prng random = {test_seed(__func__)};

    (void)state;
    for (int round = 0; round < ROUNDS; round++) {
        abench_tape *tape = random_tape(&random, round);
        abench_tape_summary summary = ABENCH_TAPE_SUMMARY_INIT;
        abench_phase phase = ABENCH_PHASE_INIT;
        static script_state expected;

        script_play_naively(&random_script, &expected);
        assert_int_equal(abench_tape_get_summary(tape, &summary), ABENCH_OK);
        expected.summary.struct_size = sizeof summary;
        for (uint32_t lane = 0; lane < random_script.lanes; lane++)
            expected.summary.words += tape->lanes[lane].words.count;
        assert_true(summary.memory_bytes >= summary.words * sizeof(uint64_t));
        expected.summary.memory_bytes = summary.memory_bytes;
        assert_median(summary.size_median, expected.sizes, expected.sizes_count);
        assert_median(summary.lifetime_median, expected.lifetimes, expected.lifetimes_count);
        expected.summary.size_median = summary.size_median;
        expected.summary.lifetime_median = summary.lifetime_median;
        assert_memory_equal(&summary, &expected.summary, sizeof summary);
        assert_int_equal(tape->checksum, expected.checksum);
        for (uint32_t at = 0; at < summary.phases; at++) {
            assert_int_equal(abench_tape_phase_at(tape, at, &phase), ABENCH_OK);
            assert_int_equal(phase.operations, expected.phase_operations[at]);
            assert_int_equal(phase.live_bytes_end, expected.phase_live_bytes[at]);
        }
        assert_int_equal(abench_tape_phase_at(tape, summary.phases, &phase),
                         ABENCH_ERROR_NOT_FOUND);
        abench_tape_destroy(tape);
    }
}

/* ---- cuts ------------------------------------------------------------------------------------ */

/* Operations of a kind among the words [from, to) of a lane; kind 0: of any. */
static uint64_t operations_in(const abench_tape *tape, uint32_t lane, uint64_t from, uint64_t to,
                              uint32_t kind)
{
    const uint64_t *words = abench__lane_data(tape, lane);
    uint64_t count = 0;
    spec_op op;

    while (from < to) {
        from += spec_decode(words + from, &op);
        count += kind == 0 || op.kind == kind;
    }
    assert_int_equal(from, to); /* no cut between two words of one operation */
    return count;
}

static void a_cut_holds_1024_operations_and_splits_no_group(void **state)
{
    prng random = {test_seed(__func__)};

    (void)state;
    for (int round = 0; round < ROUNDS; round++) {
        abench_tape *tape = random_tape(&random, round);
        const uint32_t lanes = random_script.lanes;
        uint64_t cut = 0;

        for (uint32_t phase = 0; phase < tape->summary.phases; phase++) {
            const uint64_t end = tape->phases[phase].first_cut + tape->phases[phase].cuts;
            assert_int_equal(tape->phases[phase].first_cut, cut);
            for (; cut < end; cut++) {
                uint64_t operations = 0, barriers = 0;
                for (uint32_t lane = 0; lane < lanes; lane++) {
                    const uint64_t from = abench__cut_end(tape, cut - 1, lane);
                    const uint64_t to = abench__cut_end(tape, cut, lane);
                    const uint64_t meets = operations_in(tape, lane, from, to, ABENCH_OP_BARRIER);
                    if (lane > 0)
                        assert_int_equal(meets, barriers);
                    barriers = meets;
                    operations += operations_in(tape, lane, from, to, 0);
                }
                assert_true(operations > 0);
                assert_true(operations < ABENCH_TAPE_CUT + lanes);
                if (cut + 1 < end)
                    assert_true(operations >= ABENCH_TAPE_CUT);
            }
        }
        assert_int_equal(cut, tape->cut_count);
        for (uint32_t lane = 0; lane < lanes; lane++)
            assert_int_equal(abench__cut_end(tape, cut - 1, lane), tape->lanes[lane].words.count);
        abench_tape_destroy(tape);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(any_operation_survives_packing),
        cmocka_unit_test(any_packed_word_reads_as_the_header_says),
        cmocka_unit_test(the_words_of_a_tape_are_its_operations),
        cmocka_unit_test(the_digest_is_the_one_of_the_header),
        cmocka_unit_test(the_summary_counts_what_is_on_the_tape),
        cmocka_unit_test(a_cut_holds_1024_operations_and_splits_no_group),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
