/* Tapes: the words of one made by hand, its phases, its options, whose memory it is. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <sys/mman.h>

#include <allocbench/tape.h>

#include "tape/tape.h"

#define SHARED ABENCH_SLOT_SHARED

static abench_tape_builder *make_builder(uint32_t lanes, uint32_t local, uint32_t shared)
{
    abench_tape_options options = ABENCH_TAPE_OPTIONS_INIT;
    abench_tape_builder *builder = NULL;

    options.lanes = lanes;
    options.local_slots = local;
    options.shared_slots = shared;
    options.touch = ABENCH_TOUCH_PAGES;
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

/* ---- the format ------------------------------------------------------------------------------ */

static abench_tape *tape_by_hand(void)
{
    abench_tape_builder *b = make_builder(2, 3, 2);

    abench_tape_builder_phase(b, "fill", 0);
    abench_tape_builder_malloc(b, 0, 2, 100);
    abench_tape_builder_calloc(b, 1, 0, 7);
    abench_tape_builder_malloc(b, 0, SHARED | 1, 5000);
    abench_tape_builder_barrier(b);
    abench_tape_builder_aligned(b, 1, 1, 64, 128);
    abench_tape_builder_realloc(b, 1, SHARED | 1, 6000);
    abench_tape_builder_touch(b, 0, SHARED | 1);
    abench_tape_builder_free_sized(b, 0, 2);
    abench_tape_builder_phase(b, "drain", ABENCH_PHASE_TIMED);
    abench_tape_builder_pause(b, 0, 250);
    abench_tape_builder_barrier(b);
    abench_tape_builder_free(b, 0, SHARED | 1);
    abench_tape_builder_free(b, 1, 0);
    abench_tape_builder_free(b, 1, 1);
    abench_tape_builder_malloc(b, 1, 2, 0);
    abench_tape_builder_free(b, 1, 2);
    return finish(b);
}

static void a_tape_by_hand_has_the_words_of_the_header(void **state)
{
    static const uint64_t lane0[] = {
        0x4000000000000000u, /* phase 0 */
        0x0800000200000064u, /* malloc, slot 2, 100 bytes */
        0x0e00000100001388u, /* malloc, extended, shared slot 1, 5000 bytes */
        0x0000000000000001u, /*     generation 1 */
        0x4800000000000000u, /* barrier 0 */
        0x3e00000100000003u, /* touch, extended, shared slot 1, generation 3 */
        0x0000000000001770u, /*     6000 bytes */
        0x3000000200000064u, /* free_sized, slot 2, 100 bytes */
        0x4000000000000001u, /* phase 1 */
        0x50000000000000fau, /* pause, 250 us */
        0x4800000000000001u, /* barrier 1 */
        0x2a00000100000003u, /* free, shared slot 1, generation 3 */
        0x5800000000000000u, /* end */
    };
    static const uint64_t lane1[] = {
        0x4000000000000000u, /* phase 0 */
        0x1000000000000007u, /* calloc, slot 0, 7 bytes */
        0x4800000000000000u, /* barrier 0 */
        0x1c00000100000080u, /* aligned_alloc, extended, slot 1, 128 bytes */
        0x0600000000000000u, /*     alignment 2^6 */
        0x2600000100001770u, /* realloc, extended, shared slot 1, 6000 bytes */
        0x0000000000000003u, /*     generation 3 of 1 */
        0x4000000000000001u, /* phase 1 */
        0x4800000000000001u, /* barrier 1 */
        0x2800000000000000u, /* free, slot 0 */
        0x2800000100000000u, /* free, slot 1 */
        0x0900000200000000u, /* malloc, empty, slot 2, 0 bytes */
        0x2900000200000000u, /* free, empty, slot 2 */
        0x5800000000000000u, /* end */
    };
    abench_tape *tape = tape_by_hand();

    (void)state;
    assert_int_equal(tape->lanes[0].words.count, sizeof lane0 / sizeof lane0[0]);
    assert_memory_equal(abench__lane_data(tape, 0), lane0, sizeof lane0);
    assert_int_equal(tape->lanes[1].words.count, sizeof lane1 / sizeof lane1[0]);
    assert_memory_equal(abench__lane_data(tape, 1), lane1, sizeof lane1);
    /* Computed from these words and the text of tape.h by a program in another language. */
    assert_int_equal(abench_tape_digest(tape), 0xda58c5ba145a93a1u);
    abench_tape_destroy(tape);
}

static void what_does_not_fit_into_a_word_takes_a_second(void **state)
{
    static const uint64_t words[] = {
        0x4000000000000000u, /* phase 0 */
        0x0c00000140000000u, /* malloc, extended, slot 1, low half of 5 GiB */
        0x0000000100000000u, /*     the rest of it */
        0x1e0000038fffffffu, /* aligned_alloc, extended, shared slot 3 of 2^24 + 3 */
        0x2e017fff00000001u, /*     2^46, 1 of slot, 0x7fff of size, generation 1 */
        0x2e00000300000001u, /* free, extended, shared, generation 1 */
        0x0001000000000000u, /*     1 of slot */
        0x5800000000000000u, /* end */
    };
    abench_tape_builder *b = make_builder(1, 2, (1u << 24) + 4);
    abench_tape *tape;

    (void)state;
    abench_tape_builder_malloc(b, 0, 1, (uint64_t)5 << 30);
    abench_tape_builder_aligned(b, 0, SHARED | ((1u << 24) + 3), (uint64_t)1 << 46,
                                0x7fff8fffffffu);
    abench_tape_builder_free(b, 0, SHARED | ((1u << 24) + 3));
    tape = finish(b);
    assert_int_equal(tape->lanes[0].words.count, sizeof words / sizeof words[0]);
    assert_memory_equal(abench__lane_data(tape, 0), words, sizeof words);
    abench_tape_destroy(tape);
}

static void kinds_and_touches_have_names(void **state)
{
    static const char *const kinds[] = {NULL,      "malloc",  "calloc",     "aligned_alloc",
                                        "realloc", "free",    "free_sized", "touch",
                                        "phase",   "barrier", "pause",      "end"};
    static const char *const touches[] = {"nothing", "first byte", "a byte per page", "all"};

    (void)state;
    assert_null(abench_op_name(0));
    for (uint32_t kind = 1; kind < ABENCH_OP_KINDS; kind++)
        assert_string_equal(abench_op_name(kind), kinds[kind]);
    assert_null(abench_op_name(ABENCH_OP_KINDS));
    for (uint32_t touch = 0; touch < 4; touch++)
        assert_string_equal(abench_touch_name(touch), touches[touch]);
    assert_null(abench_touch_name(4));
}

static void a_tape_says_what_its_phases_are(void **state)
{
    abench_tape *tape = tape_by_hand();
    abench_phase phase = ABENCH_PHASE_INIT;

    (void)state;
    assert_int_equal(abench_tape_phase_at(tape, 0, &phase), ABENCH_OK);
    assert_string_equal(phase.name, "fill");
    assert_int_equal(phase.flags, 0);
    assert_int_equal(phase.operations, 11);
    assert_int_equal(phase.live_bytes_end, 6000 + 7 + 128);
    assert_int_equal(phase.live_blocks_end, 3);
    assert_int_equal(abench_tape_phase_at(tape, 1, &phase), ABENCH_OK);
    assert_string_equal(phase.name, "drain");
    assert_int_equal(phase.flags, ABENCH_PHASE_TIMED);
    assert_int_equal(phase.live_bytes_end, 0);
    assert_int_equal(phase.live_blocks_end, 0);
    assert_int_equal(abench_tape_phase_at(tape, 2, &phase), ABENCH_ERROR_NOT_FOUND);
    phase.struct_size = 8;
    assert_int_equal(abench_tape_phase_at(tape, 0, &phase), ABENCH_ERROR_ARGUMENT);
    abench_tape_destroy(tape);
}

static void work_without_a_phase_lies_in_a_timed_one(void **state)
{
    abench_tape_builder *b = make_builder(1, 1, 0);
    abench_phase phase = ABENCH_PHASE_INIT;
    abench_tape *tape;

    (void)state;
    abench_tape_builder_malloc(b, 0, 0, 8);
    tape = finish(b);
    assert_int_equal(abench_tape_phase_at(tape, 0, &phase), ABENCH_OK);
    assert_string_equal(phase.name, "work");
    assert_int_equal(phase.flags, ABENCH_PHASE_TIMED);
    assert_int_equal(abench_tape_phase_at(tape, 1, &phase), ABENCH_ERROR_NOT_FOUND);
    abench_tape_destroy(tape);
}

/* Words of a kind among the first count of a lane. */
static uint32_t words_of(const abench_tape *tape, uint32_t lane, uint64_t count, uint32_t kind)
{
    uint32_t found = 0;

    for (uint64_t at = 0; at < count; at++)
        found += abench__lane_data(tape, lane)[at] >> 59 == kind;
    return found;
}

static void a_barrier_at_the_edge_of_a_cut_lies_in_one(void **state)
{
    (void)state;
    for (uint32_t before = 1024 - 2 * 4; before <= 1024; before++) {
        abench_tape_builder *b = make_builder(4, 0, 0);
        abench_tape *tape;
        for (uint32_t at = 4; at < before; at++) /* beside the phase of each lane */
            abench_tape_builder_pause(b, at % 4, 1);
        abench_tape_builder_barrier(b);
        for (uint32_t at = 0; at < 1024; at++)
            abench_tape_builder_pause(b, at % 4, 1);
        tape = finish(b);
        for (uint32_t lane = 0; lane < 4; lane++)
            assert_int_equal(
                words_of(tape, lane, abench__cut_end(tape, 0, lane), ABENCH_OP_BARRIER),
                before < 1024);
        abench_tape_destroy(tape);
    }
}

/* ---- options --------------------------------------------------------------------------------- */

static void options_out_of_their_domain_are_refused(void **state)
{
    static const struct {
        uint32_t lanes, local, shared, touch, flags;
        abench_status status;
    } rows[] = {
        {0, 0, 0, 0, 0, ABENCH_OK}, /* one lane without slots */
        {ABENCH_LANES_MAX, 1, 1, ABENCH_TOUCH_ALL, 0, ABENCH_OK},
        {ABENCH_LANES_MAX + 1, 1, 1, 0, 0, ABENCH_ERROR_ARGUMENT},
        {1, 1, 1, ABENCH_TOUCH_ALL + 1, 0, ABENCH_ERROR_ARGUMENT},
        {1, 1, 1, 0, 1, ABENCH_ERROR_ARGUMENT},
        {1, SHARED, 0, 0, 0, ABENCH_ERROR_ARGUMENT},
        {1, 0, SHARED, 0, 0, ABENCH_ERROR_ARGUMENT},
        {ABENCH_LANES_MAX, SHARED - 1, 0, 0, 0, ABENCH_ERROR_ARGUMENT},
    };
    abench_tape_options options = ABENCH_TAPE_OPTIONS_INIT;
    abench_tape_builder *builder;

    (void)state;
    for (size_t at = 0; at < sizeof rows / sizeof rows[0]; at++) {
        builder = (abench_tape_builder *)&options;
        abench_tape_options_init(&options);
        options.lanes = rows[at].lanes;
        options.local_slots = rows[at].local;
        options.shared_slots = rows[at].shared;
        options.touch = rows[at].touch;
        options.flags = rows[at].flags;
        assert_int_equal(abench_tape_builder_create(&options, &builder), rows[at].status);
        assert_int_equal(builder == NULL, rows[at].status != ABENCH_OK);
        abench_tape_builder_destroy(builder);
    }
    options.struct_size = 4;
    assert_int_equal(abench_tape_builder_create(&options, &builder), ABENCH_ERROR_ARGUMENT);
    assert_int_equal(abench_tape_builder_create(NULL, &builder), ABENCH_OK);
    abench_tape_builder_destroy(builder);
}

/* ---- memory ---------------------------------------------------------------------------------- */

typedef struct ledger {
    uint64_t blocks, bytes; /* given and not back */
    uint64_t calls;
} ledger;

static void *ledger_map(uint64_t bytes, void *user)
{
    ledger *l = user;
    void *memory = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

    l->calls++;
    l->blocks++;
    l->bytes += bytes;
    return memory == MAP_FAILED ? NULL : memory;
}

static void ledger_unmap(void *memory, uint64_t bytes, void *user)
{
    ledger *l = user;

    l->blocks--;
    l->bytes -= bytes;
    munmap(memory, bytes);
}

static void the_callers_hooks_give_all_memory_and_get_it_back(void **state)
{
    ledger l = {0};
    abench_memory_hooks hooks = ABENCH_MEMORY_HOOKS_INIT;
    abench_tape_options options = ABENCH_TAPE_OPTIONS_INIT;
    abench_tape_summary summary = ABENCH_TAPE_SUMMARY_INIT;
    abench_tape_builder *b = NULL;
    abench_tape *tape = NULL;

    (void)state;
    hooks.map = ledger_map;
    hooks.unmap = ledger_unmap;
    hooks.user = &l;
    options.lanes = 2;
    options.local_slots = 1;
    options.hooks = &hooks;
    assert_int_equal(abench_tape_builder_create(&options, &b), ABENCH_OK);
    for (int at = 0; at < 20000; at++) { /* enough for the lists to grow */
        abench_tape_builder_malloc(b, 1, 0, 8);
        abench_tape_builder_free(b, 1, 0);
    }
    assert_true(l.calls > 5);
    assert_int_equal(abench_tape_builder_finish(b, &tape), ABENCH_OK);
    abench_tape_builder_destroy(b);
    assert_int_equal(abench_tape_get_summary(tape, &summary), ABENCH_OK);
    assert_true(l.bytes >= summary.memory_bytes);
    assert_true(l.bytes < summary.memory_bytes + 4096 * l.blocks);
    abench_tape_destroy(tape);
    assert_int_equal(l.blocks, 0);
    assert_int_equal(l.bytes, 0);
    /* and a builder that is given up */
    assert_int_equal(abench_tape_builder_create(&options, &b), ABENCH_OK);
    abench_tape_builder_malloc(b, 0, 0, 8);
    abench_tape_builder_destroy(b);
    assert_int_equal(l.blocks, 0);
    assert_int_equal(l.bytes, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_tape_by_hand_has_the_words_of_the_header),
        cmocka_unit_test(what_does_not_fit_into_a_word_takes_a_second),
        cmocka_unit_test(kinds_and_touches_have_names),
        cmocka_unit_test(a_tape_says_what_its_phases_are),
        cmocka_unit_test(work_without_a_phase_lies_in_a_timed_one),
        cmocka_unit_test(a_barrier_at_the_edge_of_a_cut_lies_in_one),
        cmocka_unit_test(options_out_of_their_domain_are_refused),
        cmocka_unit_test(the_callers_hooks_give_all_memory_and_get_it_back),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
