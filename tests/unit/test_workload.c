/* The catalogue: specs, digests and errors of workloads, and what is on their tapes. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <allocbench/workload.h>

#include "../property/support.h"
#include "tape/tape.h"

static abench_workload *parse(const char *spec, uint64_t seed, uint32_t lanes)
{
    abench_workload *workload = NULL;
    abench_error error = ABENCH_ERROR_INIT;

    if (abench_workload_parse(spec, seed, lanes, &workload, &error) != ABENCH_OK)
        fail_msg("%s", error.message);
    return workload;
}

static abench_tape *make_tape(const char *spec, uint64_t seed)
{
    abench_workload *workload = parse(spec, seed, 0);
    abench_error error = ABENCH_ERROR_INIT;
    abench_tape *tape = NULL;

    if (abench_workload_tape(workload, NULL, &tape, &error) != ABENCH_OK)
        fail_msg("%s", error.message);
    abench_workload_destroy(workload);
    return tape;
}

/* ---- the catalogue ------------------------------------------------------------------------- */

static void the_catalogue_can_be_listed(void **state)
{
    static const char *const names[] = {"churn-local",
                                        "churn-cross",
                                        "mixed",
                                        "server",
                                        "burst-idle",
                                        "rails-synth",
                                        "retained-strings",
                                        "tokio-fanout",
                                        "vec-growth",
                                        "retain-third",
                                        "larson",
                                        "xmalloc",
                                        "mstress",
                                        "sh6",
                                        "sh8",
                                        "cache-scratch",
                                        "cache-thrash",
                                        "alloc-test",
                                        "rptest",
                                        "glibc-simple",
                                        "glibc-thread",
                                        "blowup",
                                        "blowup-rotate",
                                        "sizeclass-sweep",
                                        "size-shift",
                                        "robson",
                                        "every-other",
                                        "fleet"};
    abench_workload_info info = ABENCH_WORKLOAD_INFO_INIT;
    uint32_t at = 0;

    (void)state;
    for (; abench_workload_at(at, &info) == ABENCH_OK; at++) {
        assert_true(at < sizeof names / sizeof names[0]);
        assert_string_equal(info.name, names[at]);
        assert_int_equal(info.version, 1);
        assert_true(strlen(info.summary) > 0);
        assert_true(strlen(info.source) > 0);
        assert_true(strlen(info.timed) > 0);
    }
    assert_int_equal(at, sizeof names / sizeof names[0]);
    assert_int_equal(abench_workload_at(at, &info), ABENCH_ERROR_NOT_FOUND);
    assert_int_equal(abench_workload_at(UINT32_MAX, &info), ABENCH_ERROR_NOT_FOUND);
    info.struct_size = 8;
    assert_int_equal(abench_workload_at(0, &info), ABENCH_ERROR_ARGUMENT);
}

static void every_parameter_has_a_preset_that_can_be_given(void **state)
{
    abench_workload_info info = ABENCH_WORKLOAD_INFO_INIT;
    abench_workload_parameter parameter = ABENCH_WORKLOAD_PARAMETER_INIT;

    (void)state;
    for (uint32_t at = 0; abench_workload_at(at, &info) == ABENCH_OK; at++) {
        abench_workload *preset = parse(info.name, 1, 0);
        uint32_t index = 0;
        for (; abench_workload_parameter_at(info.name, index, &parameter) == ABENCH_OK; index++) {
            char spec[256];
            abench_workload *given;
            assert_true(strlen(parameter.summary) > 0);
            snprintf(spec, sizeof spec, "%s:%s=%s", info.name, parameter.name, parameter.preset);
            given = parse(spec, 1, 0);
            assert_string_equal(abench_workload_spec(given), abench_workload_spec(preset));
            abench_workload_destroy(given);
        }
        assert_true(index >= 3);
        assert_int_equal(abench_workload_parameter_at(info.name, UINT32_MAX, &parameter),
                         ABENCH_ERROR_NOT_FOUND);
        abench_workload_destroy(preset);
    }
    assert_int_equal(abench_workload_parameter_at("none", 0, &parameter), ABENCH_ERROR_NOT_FOUND);
    abench_workload_destroy(NULL);
}

/* ---- specs --------------------------------------------------------------------------------- */

static void a_spec_is_canonical(void **state)
{
    static const struct {
        const char *given, *canonical;
    } rows[] = {
        {"churn-local",
         "churn-local/1:lanes=4,slots=60000,rounds=6,sizes=boundaries:24-4095,touch=pages"},
        {"churn-cross:touch=all,slots=15000",
         "churn-cross/1:lanes=4,slots=15000,rounds=6,sizes=boundaries:24-4095,touch=all"},
        {"mixed", "mixed/1:lanes=1,slots=4096,steps=2000000,sizes=mix:70%1-256,20%257-4096,"
                  "10%4097-65536,touch=pages"},
        {"mixed:slots=4k,steps=0002m,lanes=01",
         "mixed/1:lanes=1,slots=4096,steps=2097152,sizes=mix:70%1-256,20%257-4096,"
         "10%4097-65536,touch=pages"},
        {"mixed:sizes=mix:60%1-2,40%3,lanes=3,touch=first",
         "mixed/1:lanes=3,slots=4096,steps=2000000,sizes=mix:60%1-2,40%3,touch=first"},
        {"mixed:lanes=3,sizes=mix:60%1-2,40%3",
         "mixed/1:lanes=3,slots=4096,steps=2000000,sizes=mix:60%1-2,40%3,touch=pages"},
    };

    (void)state;
    for (size_t at = 0; at < sizeof rows / sizeof rows[0]; at++) {
        abench_workload *workload = parse(rows[at].given, 1, 0);
        assert_string_equal(abench_workload_spec(workload), rows[at].canonical);
        abench_workload_destroy(workload);
    }
}

static void lanes_are_those_of_the_spec_or_of_the_caller(void **state)
{
    abench_workload *workload = parse("churn-local", 1, 7);
    abench_error error = ABENCH_ERROR_INIT;

    (void)state;
    assert_non_null(strstr(abench_workload_spec(workload), ":lanes=7,"));
    abench_workload_destroy(workload);
    workload = parse("churn-local:lanes=2", 1, 7);
    assert_non_null(strstr(abench_workload_spec(workload), ":lanes=2,"));
    abench_workload_destroy(workload);
    assert_int_equal(abench_workload_parse("mixed", 1, 1025, &workload, &error),
                     ABENCH_ERROR_SYNTAX);
    assert_non_null(strstr(error.message, "from 1 to 1024"));
}

/* fold of the header, over bytes, eight a word. */
static uint64_t plan_of_the_header(const char *spec, uint64_t seed)
{
    const size_t length = strlen(spec);
    uint64_t h = 1;

    for (size_t from = 0; from < length; from += 8) {
        uint64_t word = 0;
        for (size_t at = from + 8; at-- > from;)
            word = word << 8 | (at < length ? (unsigned char)spec[at] : 0);
        h = spec_fold(h, word);
    }
    return spec_fold(spec_fold(h, length), seed);
}

static void the_plan_digest_is_that_of_spec_and_seed(void **state)
{
    static const char *const specs[] = {"churn-local", "churn-cross:slots=15000", "mixed",
                                        "mixed:lanes=16", "mixed:touch=all"};
    static const uint64_t seeds[] = {0, 1, UINT64_MAX};

    (void)state;
    for (size_t at = 0; at < sizeof specs / sizeof specs[0]; at++)
        for (size_t seed = 0; seed < 3; seed++) {
            abench_workload *workload = parse(specs[at], seeds[seed], 0);
            assert_int_equal(abench_workload_plan_digest(workload),
                             plan_of_the_header(abench_workload_spec(workload), seeds[seed]));
            abench_workload_destroy(workload);
        }
}

static void a_bad_spec_is_told_the_column_and_the_nearest_name(void **state)
{
    static const struct {
        const char *spec;
        uint32_t column;
        abench_status status;
        const char *message; /* a part of it */
    } rows[] = {
        {"mixd", 1, ABENCH_ERROR_NOT_FOUND, "no workload 'mixd'; did you mean 'mixed'?"},
        {"churn-corss:lanes=2", 1, ABENCH_ERROR_NOT_FOUND, "did you mean 'churn-cross'?"},
        {"chrun-local", 1, ABENCH_ERROR_NOT_FOUND, "did you mean 'churn-local'?"},
        {"a-name-of-more-than-thirty-two-letters-in-all", 1, ABENCH_ERROR_NOT_FOUND, "did you"},
        {":lanes=2", 1, ABENCH_ERROR_NOT_FOUND, "did you mean"},
        {"mixed:", 7, ABENCH_ERROR_SYNTAX, "KEY=VALUE is wanted"},
        {"mixed:lanes", 7, ABENCH_ERROR_SYNTAX, "KEY=VALUE is wanted"},
        {"mixed:=2", 7, ABENCH_ERROR_SYNTAX, "KEY=VALUE is wanted"},
        {"mixed:,lanes=2", 7, ABENCH_ERROR_SYNTAX, "KEY=VALUE is wanted"},
        {"mixed:lane=2", 7, ABENCH_ERROR_NOT_FOUND,
         "mixed has no parameter 'lane'; did you mean 'lanes'?"},
        {"mixed:lanes=2,stpes=3", 15, ABENCH_ERROR_NOT_FOUND, "did you mean 'steps'?"},
        {"mixed:rounds=2", 7, ABENCH_ERROR_NOT_FOUND, "no parameter 'rounds'"},
        {"mixed:lanes=", 13, ABENCH_ERROR_SYNTAX, "a value is wanted"},
        {"mixed:lanes=,slots=4", 13, ABENCH_ERROR_SYNTAX, "a value is wanted"},
        {"mixed:lanes=x", 13, ABENCH_ERROR_SYNTAX, "lanes is a whole number from 1 to 1024"},
        {"mixed:lanes=0", 13, ABENCH_ERROR_SYNTAX, "from 1 to 1024"},
        {"mixed:lanes=1025", 13, ABENCH_ERROR_SYNTAX, "from 1 to 1024"},
        {"mixed:lanes=2 ", 13, ABENCH_ERROR_SYNTAX, "from 1 to 1024"},
        {"mixed:lanes=2,", 13, ABENCH_ERROR_SYNTAX, "from 1 to 1024"},
        {"mixed:slots=99999999999999999999", 13, ABENCH_ERROR_SYNTAX, "from 1 to 16777216"},
        {"mixed:lanes=2,lanes=3", 21, ABENCH_ERROR_SYNTAX, "given twice"},
        {"mixed:touch=some", 13, ABENCH_ERROR_SYNTAX, "nothing, first, pages, all"},
        {"mixed:sizes=uniform:9-8", 23, ABENCH_ERROR_SYNTAX, "below the smallest"},
        {"mixed:sizes=unifrom:1-2", 13, ABENCH_ERROR_NOT_FOUND, "'uniform:'"},
        {"mixed:lanes=2,sizes=mix:50%1,40%2,slots=8", 34, ABENCH_ERROR_SYNTAX, "100 %"},
    };

    (void)state;
    for (size_t at = 0; at < sizeof rows / sizeof rows[0]; at++) {
        abench_workload *workload = (abench_workload *)&workload;
        abench_error error = ABENCH_ERROR_INIT;
        assert_int_equal(abench_workload_parse(rows[at].spec, 1, 0, &workload, &error),
                         rows[at].status);
        assert_null(workload);
        assert_int_equal(error.status, rows[at].status);
        if (error.column != rows[at].column || strstr(error.message, rows[at].message) == NULL)
            fail_msg("'%s' gives column %u: %s", rows[at].spec, error.column, error.message);
    }
}

static void no_spec_and_too_long_a_value_are_refused(void **state)
{
    abench_workload *workload = NULL;
    abench_error error = ABENCH_ERROR_INIT;
    char spec[512] = "mixed:sizes=mix:50%1";

    (void)state;
    assert_int_equal(abench_workload_parse(NULL, 1, 0, &workload, &error), ABENCH_ERROR_ARGUMENT);
    assert_int_equal(abench_workload_parse("", 1, 0, &workload, &error), ABENCH_ERROR_ARGUMENT);
    assert_int_equal(abench_workload_parse("mixd", 1, 0, &workload, NULL), ABENCH_ERROR_NOT_FOUND);
    while (strlen(spec) < 200)
        strcat(spec, ",1%1");
    assert_int_equal(abench_workload_parse(spec, 1, 0, &workload, &error), ABENCH_ERROR_SYNTAX);
    assert_int_equal(error.column, 13);
    assert_non_null(strstr(error.message, "too long"));
}

/* ---- churn --------------------------------------------------------------------------------- */

#define LANES  3u
#define SLOTS  700u
#define ROUNDS 4u

static void assert_churn_counts(const abench_tape *tape, uint64_t cross_lane_frees)
{
    abench_tape_summary s = ABENCH_TAPE_SUMMARY_INIT;
    abench_phase fill = ABENCH_PHASE_INIT, rounds = ABENCH_PHASE_INIT, drain = ABENCH_PHASE_INIT;

    abench_tape_get_summary(tape, &s);
    assert_int_equal(s.lanes, LANES);
    assert_int_equal(s.touch, ABENCH_TOUCH_PAGES);
    assert_int_equal(s.by_kind[ABENCH_OP_MALLOC], LANES * SLOTS * (ROUNDS + 1));
    assert_int_equal(s.by_kind[ABENCH_OP_FREE], LANES * SLOTS * (ROUNDS + 1));
    assert_int_equal(s.by_kind[ABENCH_OP_BARRIER], LANES * 2 * ROUNDS);
    assert_int_equal(s.cross_lane_frees, cross_lane_frees);
    assert_true(s.size_minimum >= 24);
    assert_true(s.size_maximum <= 4095);
    assert_int_equal(s.live_blocks_peak, LANES * SLOTS);
    assert_int_equal(s.live_bytes_end, 0);
    assert_int_equal(s.live_blocks_end, 0);
    assert_int_equal(s.phases, 3);
    abench_tape_phase_at(tape, 0, &fill);
    abench_tape_phase_at(tape, 1, &rounds);
    abench_tape_phase_at(tape, 2, &drain);
    assert_string_equal(fill.name, "fill");
    assert_string_equal(rounds.name, "rounds");
    assert_string_equal(drain.name, "drain");
    assert_int_equal(fill.flags, 0);
    assert_int_equal(rounds.flags, ABENCH_PHASE_TIMED);
    assert_int_equal(drain.flags, 0);
    assert_int_equal(fill.live_blocks_end, LANES * SLOTS);
    assert_int_equal(rounds.live_blocks_end, LANES * SLOTS);
}

static void churn_cross_frees_across_lanes_only_and_churn_local_never(void **state)
{
    abench_tape *local = make_tape("churn-local:lanes=3,slots=700,rounds=4", 5);
    abench_tape *cross = make_tape("churn-cross:lanes=3,slots=700,rounds=4", 5);

    (void)state;
    assert_churn_counts(local, 0);
    assert_churn_counts(cross, ROUNDS * LANES * SLOTS);
    abench_tape_destroy(local);
    abench_tape_destroy(cross);
}

/* One half of a round: SLOTS operations of one kind, each slot of owner's once. Returns how many
 * stand where they do in order. */
static uint32_t assert_half(const uint64_t **at, uint32_t kind, int shared, uint32_t owner)
{
    unsigned char seen[SLOTS] = {0};
    uint32_t in_place = 0;
    spec_op op;

    for (uint32_t index = 0; index < SLOTS; index++) {
        uint64_t slot;
        *at += spec_decode(*at, &op);
        assert_int_equal(op.kind, kind);
        assert_int_equal(op.shared, shared);
        slot = op.slot - (shared ? owner * SLOTS : 0);
        assert_true(slot < SLOTS);
        assert_int_equal(seen[slot]++, 0);
        in_place += slot == index;
        if (shared && kind == ABENCH_OP_FREE)
            assert_int_equal(op.generation % 2, 1);
    }
    return in_place;
}

static void assert_rounds(const abench_tape *tape, uint32_t lane, int cross)
{
    const uint64_t *at = abench__lane_data(tape, lane);
    const uint32_t other = cross ? (lane + 1) % LANES : lane;
    spec_op op;

    at += spec_decode(at, &op); /* phase */
    assert_int_equal(assert_half(&at, ABENCH_OP_MALLOC, cross, lane), SLOTS);
    at += spec_decode(at, &op);
    assert_int_equal(op.kind, ABENCH_OP_PHASE);
    for (uint32_t round = 0; round < ROUNDS; round++) {
        at += spec_decode(at, &op);
        assert_int_equal(op.kind, ABENCH_OP_BARRIER);
        assert_true(assert_half(&at, ABENCH_OP_FREE, cross, other) < SLOTS / 10); /* shuffled */
        at += spec_decode(at, &op);
        assert_int_equal(op.kind, ABENCH_OP_BARRIER);
        assert_int_equal(assert_half(&at, ABENCH_OP_MALLOC, cross, lane), SLOTS); /* in order */
    }
    at += spec_decode(at, &op);
    assert_int_equal(op.kind, ABENCH_OP_PHASE);
    assert_int_equal(assert_half(&at, ABENCH_OP_FREE, cross, lane), SLOTS);
    spec_decode(at, &op);
    assert_int_equal(op.kind, ABENCH_OP_END);
}

static void a_round_of_churn_frees_all_in_random_order_then_allocates_all(void **state)
{
    (void)state;
    for (int cross = 0; cross < 2; cross++) {
        abench_tape *tape = make_tape(cross ? "churn-cross:lanes=3,slots=700,rounds=4"
                                            : "churn-local:lanes=3,slots=700,rounds=4",
                                      6);
        for (uint32_t lane = 0; lane < LANES; lane++)
            assert_rounds(tape, lane, cross);
        abench_tape_destroy(tape);
    }
}

static void a_churn_that_slot_numbers_cannot_say_is_refused(void **state)
{
    abench_workload *workload = parse("churn-cross:lanes=1024,slots=16m", 1, 0);
    abench_error error = ABENCH_ERROR_INIT;
    abench_tape *tape = (abench_tape *)workload;

    (void)state;
    assert_int_equal(abench_workload_tape(workload, NULL, &tape, &error), ABENCH_ERROR_ARGUMENT);
    assert_null(tape);
    assert_non_null(strstr(error.message, "no tape for 'churn-cross/1:lanes=1024,"));
    abench_workload_destroy(workload);
}

/* ---- mixed --------------------------------------------------------------------------------- */

static void mixed_frees_and_allocates_a_random_slot_each_step(void **state)
{
    enum { STEPS = 30000 };
    abench_tape *tape = make_tape("mixed:slots=64,steps=30000", 3);
    abench_tape_summary s = ABENCH_TAPE_SUMMARY_INIT;
    const uint64_t *at = abench__lane_data(tape, 0);
    uint32_t uses[64] = {0}, small = 0, medium = 0, large = 0;
    spec_op op, again;

    (void)state;
    abench_tape_get_summary(tape, &s);
    assert_int_equal(s.by_kind[ABENCH_OP_MALLOC], 64 + STEPS);
    assert_int_equal(s.by_kind[ABENCH_OP_FREE], 64 + STEPS);
    assert_int_equal(s.live_bytes_end, 0);
    assert_int_equal(s.live_blocks_peak, 64);
    assert_int_equal(s.cross_lane_frees, 0);
    for (int word = 0; word < 1 + 64 + 1; word++) /* fill */
        at += spec_decode(at, &op);
    for (int step = 0; step < STEPS; step++) {
        at += spec_decode(at, &op);
        at += spec_decode(at, &again);
        assert_int_equal(op.kind, ABENCH_OP_FREE);
        assert_int_equal(again.kind, ABENCH_OP_MALLOC);
        assert_int_equal(again.slot, op.slot);
        assert_true(op.slot < 64);
        assert_in_range(again.size, 1, 65536);
        uses[op.slot]++;
        small += again.size <= 256;
        medium += again.size > 256 && again.size <= 4096;
        large += again.size > 4096;
    }
    /* five standard deviations of 30000 draws; the seed is fixed */
    assert_in_range(small, 21000 - 397, 21000 + 397);
    assert_in_range(medium, 6000 - 346, 6000 + 346);
    assert_in_range(large, 3000 - 260, 3000 + 260);
    for (int slot = 0; slot < 64; slot++)
        assert_in_range(uses[slot], 468 - 108, 468 + 108);
    abench_tape_destroy(tape);
}

static void lanes_do_different_work(void **state)
{
    static const char *const specs[] = {"mixed:lanes=2,slots=64,steps=100",
                                        "churn-local:lanes=2,slots=100,rounds=1"};

    (void)state;
    for (size_t at = 0; at < 2; at++) {
        abench_tape *tape = make_tape(specs[at], 3);
        uint64_t same = 0, count = tape->lanes[0].words.count;
        assert_int_equal(count, tape->lanes[1].words.count);
        for (uint64_t word = 0; word < count; word++)
            same += abench__lane_data(tape, 0)[word] == abench__lane_data(tape, 1)[word];
        assert_true(same < count / 2); /* the drain is the same */
        abench_tape_destroy(tape);
    }
}

static void the_seed_decides_the_work(void **state)
{
    static const char *const specs[] = {"mixed:slots=64,steps=100",
                                        "churn-local:slots=100,rounds=1",
                                        "churn-cross:slots=100,rounds=1"};

    (void)state;
    for (size_t at = 0; at < sizeof specs / sizeof specs[0]; at++) {
        abench_tape *one = make_tape(specs[at], 1), *again = make_tape(specs[at], 1);
        abench_tape *two = make_tape(specs[at], 2);
        assert_int_equal(abench_tape_digest(one), abench_tape_digest(again));
        assert_int_not_equal(abench_tape_digest(one), abench_tape_digest(two));
        abench_tape_destroy(one);
        abench_tape_destroy(again);
        abench_tape_destroy(two);
    }
}

static void the_operations_are_known_before_the_tape(void **state)
{
    static const char *const specs[] = {"churn-local:lanes=3,slots=50,rounds=4",
                                        "churn-cross:lanes=2,slots=70,rounds=1",
                                        "mixed:lanes=3,slots=9,steps=1000"};

    (void)state;
    for (size_t at = 0; at < sizeof specs / sizeof specs[0]; at++) {
        abench_tape_summary summary = ABENCH_TAPE_SUMMARY_INIT;
        abench_workload *workload = NULL;
        abench_tape *tape = NULL;
        assert_int_equal(abench_workload_parse(specs[at], 1, 0, &workload, NULL), ABENCH_OK);
        assert_int_equal(abench_workload_tape(workload, NULL, &tape, NULL), ABENCH_OK);
        assert_int_equal(abench_tape_get_summary(tape, &summary), ABENCH_OK);
        assert_true(abench_workload_operations(workload) == summary.operations);
        abench_tape_destroy(tape);
        abench_workload_destroy(workload);
    }
}

/* ---- sizes from a file
 * ------------------------------------------------------------------------ */

static void write_file(const char *path, const char *text)
{
    FILE *file = fopen(path, "w");

    assert_non_null(file);
    assert_true(fputs(text, file) >= 0);
    assert_int_equal(fclose(file), 0);
}

/* The plan is that of the contents, whatever the file is called. */
static void a_histogram_file_is_in_the_canonical_spec(void **state)
{
    static const char path[] = "test_workload_histogram.txt";
    abench_error error = ABENCH_ERROR_INIT;
    abench_workload *first, *second, *refused = NULL;
    char spec[256];

    (void)state;
    snprintf(spec, sizeof spec, "mixed:scale=quick,sizes=histogram:@%s", path);
    write_file(path, "16 1\n32-64 3\n");
    first = parse(spec, 1, 0);
    assert_non_null(strstr(abench_workload_spec(first), "histogram.txt#"));
    second = parse(spec, 1, 0);
    assert_int_equal(abench_workload_plan_digest(first), abench_workload_plan_digest(second));
    abench_workload_destroy(second);
    write_file(path, "16 1\n32-64 4\n");
    second = parse(spec, 1, 0);
    assert_true(abench_workload_plan_digest(first) != abench_workload_plan_digest(second));
    abench_workload_destroy(second);
    abench_workload_destroy(first);
    write_file(path, "16 1\n\n  32-x 4\n");
    assert_int_equal(abench_workload_parse(spec, 1, 0, &refused, &error), ABENCH_ERROR_SYNTAX);
    assert_int_equal(error.line, 3);
    assert_int_equal(error.column, 6);
    assert_non_null(strstr(error.message, "line 3, column 6"));
    assert_null(refused);
    remove(path);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_operations_are_known_before_the_tape),
        cmocka_unit_test(the_catalogue_can_be_listed),
        cmocka_unit_test(every_parameter_has_a_preset_that_can_be_given),
        cmocka_unit_test(a_spec_is_canonical),
        cmocka_unit_test(lanes_are_those_of_the_spec_or_of_the_caller),
        cmocka_unit_test(the_plan_digest_is_that_of_spec_and_seed),
        cmocka_unit_test(a_bad_spec_is_told_the_column_and_the_nearest_name),
        cmocka_unit_test(no_spec_and_too_long_a_value_are_refused),
        cmocka_unit_test(churn_cross_frees_across_lanes_only_and_churn_local_never),
        cmocka_unit_test(a_round_of_churn_frees_all_in_random_order_then_allocates_all),
        cmocka_unit_test(a_churn_that_slot_numbers_cannot_say_is_refused),
        cmocka_unit_test(mixed_frees_and_allocates_a_random_slot_each_step),
        cmocka_unit_test(lanes_do_different_work),
        cmocka_unit_test(the_seed_decides_the_work),
        cmocka_unit_test(a_histogram_file_is_in_the_canonical_spec),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
