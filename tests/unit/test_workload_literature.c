/*
 * The workloads of the literature and of glibc's benchtests: what is on their tapes, against what
 * their sources say.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <allocbench/workload.h>

#include "catalogue_tape.h"

/* ---- each at its quick scale ----------------------------------------------------------------- */

typedef struct span {
    uint64_t least;
    uint64_t most;
} span;

typedef struct expected {
    const char *name;
    uint64_t mallocs;
    uint64_t live_blocks; /* at the peak */
    span live_bytes;      /* at the peak */
    span size;            /* smallest and largest */
    span size_median;
    span size_mean_tenths;
    span lifetime_median;
    uint32_t cross_percent;
    uint32_t touch;
} expected;

static const expected table[] = {
    /* 4 passes x 3 sizes x 4 x 8000 blocks, 1600 at once; mean (16 + 32 + 64) / 3 */
    {"glibc-simple",
     384000,
     1600,
     {102400, 102400},
     {16, 64},
     {32, 32},
     {373, 374},
     {100, 200},
     0,
     ABENCH_TOUCH_ALL},
    /* Inverse square in 4-32768 with a mean of 39 (36.05 without rounding), half up to 7. A block
     * lives for 1024 steps on average, half of them for ln 2 times that, of 4 operations each. */
    {"glibc-thread",
     200000,
     2048,
     {60000, 250000},
     {4, 32768},
     {6, 8},
     {320, 420},
     {2700, 2980},
     0,
     ABENCH_TOUCH_ALL},
    /* All is freed by another lane, one ring later. */
    {"blowup",
     16384 * 17,
     16384,
     {16384 * 256, 16384 * 256},
     {256, 256},
     {256, 256},
     {2560, 2560},
     {32250, 32768},
     100,
     ABENCH_TOUCH_PAGES},
    {"blowup-rotate",
     8192 * 25,
     8192,
     {8192 * 256, 8192 * 256},
     {256, 256},
     {256, 256},
     {2560, 2560},
     {8192, 8400},
     100,
     ABENCH_TOUCH_PAGES},
    /* Two rounds of 20 bands: at most 8192 blocks or 2 MiB, at least one of each size. */
    {"sizeclass-sweep",
     2 * 77312,
     8192,
     {38010880, 38010880},
     {1, 1048576},
     {25, 32},
     {12120, 12130},
     {6000, 9000},
     0,
     ABENCH_TOUCH_PAGES},
    /* 4 MiB whatever the size; most blocks are those of the bands 17-64 and 65-256. */
    {"size-shift",
     0,
     0,
     {4194304 - 64, 4194304},
     {17, 65536},
     {40, 60},
     {1500, 1800},
     {80000, 120000},
     0,
     ABENCH_TOUCH_PAGES},
    /* 4 MiB of every size from 32 bytes to 4 MiB: 2^18 - 1 blocks of 18 sizes, 16 bytes short of
     * 18 x 16 x 2^18; the live bytes come near 8 MiB and never there. */
    {"robson",
     262143,
     131072,
     {8388576, 8388576},
     {32, 4194304},
     {32, 32},
     {2880, 2881},
     {50000, 200000},
     0,
     ABENCH_TOUCH_PAGES},
    /* For ten sizes: 4 MiB, and a quarter as many of twice the size. */
    {"every-other",
     327360,
     131072,
     {4194304, 4194304},
     {32, 32768},
     {64, 64},
     {1921, 1922},
     {50000, 200000},
     0,
     ABENCH_TOUCH_PAGES},
    /* Medians of 48-64 and means of 197-1334 bytes a birth, 124-8753 a live block. */
    {"fleet",
     216000,
     0,
     {15000000, 24000000},
     {1, 262144},
     {48, 64},
     {1970, 13340},
     {13000, 15000},
     0,
     ABENCH_TOUCH_PAGES},
};

static void assert_in(const char *name, const char *what, uint64_t value, span in)
{
    if (value < in.least || value > in.most)
        fail_msg("%s: %s is %llu, not %llu - %llu", name, what, (unsigned long long)value,
                 (unsigned long long)in.least, (unsigned long long)in.most);
}

static void assert_expected(const expected *e, const abench_tape_summary *s)
{
    const uint64_t mallocs = s->by_kind[ABENCH_OP_MALLOC];
    const span extremes = {e->size.least, e->size.most};

    if (e->mallocs != 0)
        assert_in(e->name, "mallocs", mallocs, (span){e->mallocs, e->mallocs});
    if (e->live_blocks != 0)
        assert_in(e->name, "live blocks", s->live_blocks_peak,
                  (span){e->live_blocks, e->live_blocks});
    assert_int_equal(s->by_kind[ABENCH_OP_FREE], mallocs);
    assert_int_equal(s->live_bytes_end, 0);
    assert_int_equal(s->live_blocks_end, 0);
    assert_int_equal(s->touch, e->touch);
    assert_in(e->name, "live bytes", s->live_bytes_peak, e->live_bytes);
    assert_in(e->name, "the smallest size", s->size_minimum, extremes);
    assert_in(e->name, "the largest size", s->size_maximum, extremes);
    assert_in(e->name, "the median size", s->size_median, e->size_median);
    assert_in(e->name, "ten times the mean size", s->bytes_requested * 10 / mallocs,
              e->size_mean_tenths);
    assert_in(e->name, "the median lifetime", s->lifetime_median, e->lifetime_median);
    assert_int_equal(s->cross_lane_frees * 100, mallocs * e->cross_percent);
}

static void each_is_as_its_source_says(void **state)
{
    (void)state;
    for (size_t at = 0; at < sizeof table / sizeof table[0]; at++) {
        char spec[64] = "";
        abench_tape *tape;
        abench_tape_summary s;
        strcat(strcat(spec, table[at].name), ":scale=quick");
        tape = make_tape(spec, 7);
        s = summary_of(tape);
        assert_expected(&table[at], &s);
        abench_tape_destroy(tape);
    }
}

/* ---- bounds, lanes and seeds ----------------------------------------------------------------- */

/* Small, in every number of lanes. */
static const char *const small[] = {
    "glibc-simple:iterations=1600",
    "glibc-thread:steps=20000",
    "blowup:slots=1000,parts=3,rounds=2",
    "blowup-rotate:slots=500,parts=5,rounds=2",
    "sizeclass-sweep:bands=15,spaced=16,blocks=300,bytes=256k,rounds=2",
    "size-shift:live=1m,shifts=4",
    "robson:bytes=1m,rounds=3",
    "every-other:bytes=1m,rounds=2",
    "fleet:blocks=1500,steps=6000",
    "fleet:blocks=1500,steps=6000,cross=30",
};

static void assert_bounds(const abench_workload *workload, const abench_tape_summary *s)
{
    const uint64_t operations = abench_workload_operations(workload);
    const uint64_t live = abench_workload_live_bytes(workload);

    if (operations < s->operations || operations >= 2 * s->operations)
        fail_msg("%s: %llu operations, said to be %llu", abench_workload_spec(workload),
                 (unsigned long long)s->operations, (unsigned long long)operations);
    if (live < s->live_bytes_peak)
        fail_msg("%s: %llu live bytes, said to be %llu", abench_workload_spec(workload),
                 (unsigned long long)s->live_bytes_peak, (unsigned long long)live);
}

static void assert_plays(const abench_tape *tape, const char *spec)
{
    const abench_player_options options = ABENCH_PLAYER_OPTIONS_INIT;
    abench_receipt receipt = ABENCH_RECEIPT_INIT;
    abench_error error = ABENCH_ERROR_INIT;

    if (abench_play(tape, NULL, &options, &receipt, &error) != ABENCH_OK)
        fail_msg("%s: %s", spec, error.message);
    for (uint32_t kind = 0; kind < ABENCH_OP_KINDS; kind++)
        assert_int_equal(receipt.executed[kind], receipt.planned[kind]);
    assert_int_equal(receipt.checksum, receipt.checksum_planned);
    assert_int_equal(receipt.work_digest, abench_tape_digest(tape));
    assert_int_equal(receipt.failed, 0);
    assert_int_equal(receipt.live_blocks_end, 0);
}

/* 4 GiB of blocks of one byte would be more than can be counted. */
static void the_blocks_of_every_other_can_be_counted(void **state)
{
    abench_error error = ABENCH_ERROR_INIT;
    abench_workload *workload = NULL;

    (void)state;
    assert_int_equal(
        abench_workload_parse("every-other:bytes=4g,smallest=7", 1, 0, &workload, &error),
        ABENCH_ERROR_SYNTAX);
    assert_non_null(strstr(error.message, "smallest is a whole number from 8 to 65536"));
    assert_int_equal(
        abench_workload_parse("every-other:bytes=4g,smallest=8,sizes=1", 1, 0, &workload, &error),
        ABENCH_OK);
    assert_int_equal(abench_workload_live_bytes(workload), (uint64_t)4 << 30);
    abench_workload_destroy(workload);
}

static void each_plays_in_any_number_of_lanes(void **state)
{
    static const uint32_t lanes[] = {1, 2, 3, 7};

    (void)state;
    for (size_t at = 0; at < sizeof small / sizeof small[0]; at++)
        for (size_t which = 0; which < sizeof lanes / sizeof lanes[0]; which++) {
            abench_workload *workload;
            abench_tape_summary s;
            abench_tape *tape;
            if (lanes[which] == 1 && strncmp(small[at], "blowup", 6) == 0)
                continue; /* takes two */
            workload = parse(small[at], 3, lanes[which]);
            tape = compile(workload);
            s = summary_of(tape);
            assert_int_equal(s.lanes, lanes[which]);
            assert_bounds(workload, &s);
            assert_plays(tape, abench_workload_spec(workload));
            abench_tape_destroy(tape);
            abench_workload_destroy(workload);
        }
}

static void the_bounds_hold_at_both_scales(void **state)
{
    (void)state;
    for (size_t at = 0; at < sizeof table / sizeof table[0]; at++) {
        char spec[64] = "";
        abench_workload *quick, *full = parse(table[at].name, 1, 0);
        abench_tape_summary s;
        abench_tape *tape;
        strcat(strcat(spec, table[at].name), ":scale=quick");
        quick = parse(spec, 1, 0);
        tape = compile(quick);
        s = summary_of(tape);
        assert_bounds(quick, &s);
        assert_true(abench_workload_live_bytes(quick) < 2 * s.live_bytes_peak);
        assert_true(s.operations < 1000000);
        assert_true(s.live_bytes_peak < 64 * MIB);
        assert_true(abench_workload_operations(full) > 10000000);
        assert_true(abench_workload_operations(full) < 100000000);
        assert_true(abench_workload_live_bytes(full) < (uint64_t)1024 * MIB);
        abench_tape_destroy(tape);
        abench_workload_destroy(quick);
        abench_workload_destroy(full);
    }
}

static uint32_t is_near(uint64_t a, uint64_t b)
{
    const uint64_t difference = a > b ? a - b : b - a;

    return difference <= a / 5;
}

static void another_seed_gives_the_like_of_it(void **state)
{
    /* Whatever the seed: nothing is drawn, or sizes that are all alike. */
    static const char *const same[] = {"glibc-simple", "blowup", "blowup-rotate", "robson",
                                       "every-other"};

    (void)state;
    for (size_t at = 0; at < sizeof small / sizeof small[0]; at++) {
        abench_tape *one = make_tape(small[at], 1), *other = make_tape(small[at], 2);
        const abench_tape_summary s = summary_of(one), t = summary_of(other);
        uint32_t is_same = 0;
        for (size_t which = 0; which < sizeof same / sizeof same[0]; which++)
            is_same |= strncmp(small[at], same[which], strlen(same[which])) == 0;
        assert_int_equal(abench_tape_digest(one) == abench_tape_digest(other), is_same);
        assert_true(is_near(s.operations, t.operations));
        assert_true(is_near(s.size_median, t.size_median));
        assert_true(is_near(s.lifetime_median, t.lifetime_median));
        abench_tape_destroy(one);
        abench_tape_destroy(other);
    }
}

/* ---- one by one ------------------------------------------------------------------------------ */

/* 25 blocks: 12 die in the order of allocation, 13 in reverse. */
static void glibc_simple_frees_half_in_order_and_half_in_reverse(void **state)
{
    abench_tape *tape = make_tape("glibc-simple:iterations=1600,lanes=1", 1);
    abench_operation op = ABENCH_OPERATION_INIT;
    abench_tape_cursor *cursor = NULL;

    (void)state;
    assert_int_equal(abench_tape_cursor_create(tape, &cursor), ABENCH_OK);
    assert_int_equal(abench_tape_next(cursor, &op), ABENCH_OK);
    assert_string_equal(op.phase_name, "warm-16");
    for (uint32_t at = 0; at < 50; at++) {
        assert_int_equal(abench_tape_next(cursor, &op), ABENCH_OK);
        assert_int_equal(op.kind, at < 25 ? ABENCH_OP_MALLOC : ABENCH_OP_FREE);
        assert_int_equal(op.slot, at < 25 ? at : at < 37 ? at - 25 : 24 - (at - 37));
    }
    abench_tape_cursor_destroy(cursor);
    abench_tape_destroy(tape);
}

static void glibc_simple_works_in_one_lane_at_a_time(void **state)
{
    abench_tape *tape = make_tape("glibc-simple:iterations=1600,lanes=3", 1);
    abench_operation op = ABENCH_OPERATION_INIT;
    abench_tape_cursor *cursor = NULL;
    uint64_t seen[2][3] = {{0}};

    (void)state;
    assert_int_equal(abench_tape_cursor_create(tape, &cursor), ABENCH_OK);
    while (abench_tape_next(cursor, &op) == ABENCH_OK)
        if (op.kind == ABENCH_OP_MALLOC)
            seen[op.phase % 4 == 2][op.lane]++; /* warm, first, other, again */
    assert_int_equal(seen[0][0], 3 * 3 * 6400);
    assert_int_equal(seen[0][1] + seen[0][2] + seen[1][0], 0);
    assert_int_equal(seen[1][1], 3 * 6400);
    assert_int_equal(seen[1][2], 3 * 6400);
    abench_tape_cursor_destroy(cursor);
    abench_tape_destroy(tape);
}

/* Not one sequence for all threads, as in the original. */
static void glibc_thread_draws_for_each_lane(void **state)
{
    abench_tape *tape = make_tape("glibc-thread:lanes=2,steps=1000", 1);
    abench_operation op = ABENCH_OPERATION_INIT;
    abench_tape_cursor *cursor = NULL;
    uint64_t sums[2] = {0}, slots[2] = {0};

    (void)state;
    assert_int_equal(abench_tape_cursor_create(tape, &cursor), ABENCH_OK);
    while (abench_tape_next(cursor, &op) == ABENCH_OK)
        if (op.kind == ABENCH_OP_MALLOC) {
            sums[op.lane] += op.size;
            slots[op.lane] += op.slot;
        }
    assert_int_not_equal(sums[0], sums[1]);
    assert_int_not_equal(slots[0], slots[1]);
    abench_tape_cursor_destroy(cursor);
    abench_tape_destroy(tape);
}

static void blowup_keeps_its_live_set(void **state)
{
    static const char *const specs[] = {"blowup:slots=1000,parts=5,rounds=2",
                                        "blowup-rotate:slots=1000,parts=5,rounds=2"};

    (void)state;
    for (size_t at = 0; at < 2; at++) {
        abench_tape *tape = make_tape(specs[at], 1);
        abench_phase phase = ABENCH_PHASE_INIT;
        uint32_t timed = 0;
        for (uint32_t index = 0; abench_tape_phase_at(tape, index, &phase) == ABENCH_OK; index++) {
            if (phase.flags == ABENCH_PHASE_TIMED)
                assert_int_equal(phase.live_blocks_end, 1000);
            timed += phase.flags == ABENCH_PHASE_TIMED;
        }
        assert_int_equal(timed, 5);
        abench_tape_destroy(tape);
    }
}

/* One lane allocates everything; or each as much as every other. */
static void blowup_is_produced_by_one_lane_or_by_all_in_turn(void **state)
{
    static const char *const specs[] = {"blowup:lanes=4,slots=100,parts=3,rounds=4",
                                        "blowup-rotate:lanes=4,slots=100,parts=3,rounds=5"};

    (void)state;
    for (size_t at = 0; at < 2; at++) {
        abench_tape *tape = make_tape(specs[at], 1);
        abench_operation op = ABENCH_OPERATION_INIT;
        abench_tape_cursor *cursor = NULL;
        uint64_t mallocs[4] = {0}, frees[4] = {0};
        assert_int_equal(abench_tape_cursor_create(tape, &cursor), ABENCH_OK);
        while (abench_tape_next(cursor, &op) == ABENCH_OK) {
            mallocs[op.lane] += op.kind == ABENCH_OP_MALLOC;
            frees[op.lane] += op.kind == ABENCH_OP_FREE;
        }
        assert_int_equal(mallocs[0], at == 0 ? 1300 : 400);
        assert_int_equal(frees[0], at == 0 ? 0 : 400);
        for (uint32_t lane = 1; lane < 4; lane++) {
            assert_int_equal(mallocs[lane], at == 0 ? 0 : 400);
            assert_true(at == 1 ? frees[lane] == 400 : frees[lane] >= 13 * 33);
        }
        abench_tape_cursor_destroy(cursor);
        abench_tape_destroy(tape);
    }
}

/* More than can pass through one shared slot between two meetings. */
static void blowup_meets_before_a_slot_is_used_up(void **state)
{
    abench_tape *tape = make_tape("blowup:slots=2,parts=1,rounds=70000", 1);

    (void)state;
    assert_int_equal(summary_of(tape).by_kind[ABENCH_OP_BARRIER], 2 * 2);
    abench_tape_destroy(tape);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_blocks_of_every_other_can_be_counted),
        cmocka_unit_test(each_is_as_its_source_says),
        cmocka_unit_test(each_plays_in_any_number_of_lanes),
        cmocka_unit_test(the_bounds_hold_at_both_scales),
        cmocka_unit_test(another_seed_gives_the_like_of_it),
        cmocka_unit_test(glibc_simple_frees_half_in_order_and_half_in_reverse),
        cmocka_unit_test(glibc_simple_works_in_one_lane_at_a_time),
        cmocka_unit_test(glibc_thread_draws_for_each_lane),
        cmocka_unit_test(blowup_keeps_its_live_set),
        cmocka_unit_test(blowup_is_produced_by_one_lane_or_by_all_in_turn),
        cmocka_unit_test(blowup_meets_before_a_slot_is_used_up),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
