/*
 * The classic programs of the allocator suites: what is on their tapes, against what their sources
 * say.
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

static uint64_t allocations_of(const abench_tape_summary *s)
{
    return s->by_kind[ABENCH_OP_MALLOC] + s->by_kind[ABENCH_OP_CALLOC] +
           s->by_kind[ABENCH_OP_ALIGNED_ALLOC];
}

static uint64_t frees_of(const abench_tape_summary *s)
{
    return s->by_kind[ABENCH_OP_FREE] + s->by_kind[ABENCH_OP_FREE_SIZED];
}

/* ---- each at its quick scale ----------------------------------------------------------------- */

typedef struct span {
    uint64_t least;
    uint64_t most;
} span;

typedef struct expected {
    const char *spec;
    span operations;
    span live_bytes; /* at the peak */
    span size_minimum;
    span size_maximum;
    span size_median;
    span size_mean_tenths;
    span lifetime_median;
    span cross_permille; /* of the frees */
    uint32_t touch;
} expected;

static const expected table[] = {
    /* Even over 8-999, 2000 blocks. Of 1000 slots one is replaced in a step: half of the blocks
     * live for ln 2 times 1000 steps, of 4 operations. Beside each round's survivors, 1 %, the fill
     * of the second lane and the drain are freed by another lane. */
    {"larson:scale=quick",
     {820012, 820012},
     {980000, 1060000},
     {8, 8},
     {999, 999},
     {490, 517},
     {4990, 5070},
     {2650, 2850},
     {10, 14},
     ABENCH_TOUCH_FIRST},
    /* 20 batches of 32776 + 4096 * 64 bytes, and what the producers are at; all is freed by another
     * lane, a queue later. */
    {"xmalloc:scale=quick",
     {491656, 491656},
     {5898400, 6060000},
     {64, 64},
     {32776, 32776},
     {64, 64},
     {719, 720},
     {82000, 164000},
     {1000, 1000},
     ABENCH_TOUCH_ALL},
    /* 9.77-9.92 MB live, 3.6-3.7 % across threads and 531 bytes on average with one seed for all
     * phases; the average of many seeds is 723. Local blocks: median 32 bytes. */
    {"mstress:scale=quick",
     {360098, 360098},
     {8500000, 24000000},
     {8, 8},
     {1280000, 5120000},
     {32, 32},
     {4000, 9500},
     {8000, 20000},
     {30, 56},
     ABENCH_TOUCH_ALL},
    /* 19300 blocks a pass, 23 bytes on average, the median 6. Four rings of 2500 blocks; a block
     * lives for a turn of the ring or less, 2000 blocks and frees in each lane. */
    {"sh6:scale=quick",
     {772012, 772012},
     {400000, 960000},
     {1, 1},
     {709, 709},
     {6, 6},
     {229, 230},
     {6000, 12000},
     {0, 0},
     ABENCH_TOUCH_FIRST},
    /* 7321 blocks a pass, 56 bytes on average, and 171 of 8 bytes that the first lane makes: 2.3 %
     * of the frees. Four rings of 20000 blocks. */
    {"sh8:scale=quick",
     {839119, 839119},
     {4400000, 6700000},
     {8, 8},
     {168524, 168524},
     {16, 16},
     {550, 556},
     {48000, 96000},
     {22, 23},
     ABENCH_TOUCH_FIRST},
    /* One byte, 100 rounds of 3000 writes. Of 202 blocks one was the other lane's. */
    {"cache-scratch:scale=quick",
     {600210, 600210},
     {2, 2},
     {1, 1},
     {1, 1},
     {1, 1},
     {10, 10},
     {5900, 6000},
     {4, 5},
     ABENCH_TOUCH_FIRST},
    {"cache-thrash:scale=quick",
     {600204, 600204},
     {2, 2},
     {1, 1},
     {1, 1},
     {1, 1},
     {10, 10},
     {5900, 6000},
     {0, 0},
     ABENCH_TOUCH_FIRST},
    /* Half of 2^18 slots with 27.6 bytes each; half of the sizes are 5-8. */
    {"alloc-test:scale=quick",
     {655000, 670000},
     {3400000, 3850000},
     {5, 5},
     {1024, 1024},
     {8, 9},
     {272, 280},
     {100, 400000},
     {0, 0},
     ABENCH_TOUCH_ALL},
    /* 378-386 thousand blocks in four rounds, 2772 bytes on average, 31-32 % across threads, peak
     * 14.9-18.4 MB; tables of another draw. Half of the blocks lie in slots, which live for some
     * 1000 / (52 + 65) loops of 200 operations of two lanes, half in batches. */
    {"rptest:scale=quick",
     {360000, 410000},
     {14000000, 19000000},
     {8, 10},
     {12000, 16000},
     {1500, 2000},
     {25000, 28500},
     {3000, 9000},
     {300, 360},
     ABENCH_TOUCH_ALL},
};

#define ENTRIES (sizeof table / sizeof table[0])

static void assert_in(const char *spec, const char *what, uint64_t value, span in)
{
    if (value < in.least || value > in.most)
        fail_msg("%s: %s is %llu, not %llu - %llu", spec, what, (unsigned long long)value,
                 (unsigned long long)in.least, (unsigned long long)in.most);
}

static void assert_expected(const expected *e, const abench_tape_summary *s)
{
    const uint64_t allocations = allocations_of(s);

    assert_int_equal(frees_of(s), allocations);
    assert_int_equal(s->live_bytes_end, 0);
    assert_int_equal(s->live_blocks_end, 0);
    assert_int_equal(s->touch, e->touch);
    assert_in(e->spec, "operations", s->operations, e->operations);
    assert_in(e->spec, "live bytes", s->live_bytes_peak, e->live_bytes);
    assert_in(e->spec, "the smallest size", s->size_minimum, e->size_minimum);
    assert_in(e->spec, "the largest size", s->size_maximum, e->size_maximum);
    assert_in(e->spec, "the median size", s->size_median, e->size_median);
    assert_in(e->spec, "ten times the mean size", s->bytes_requested * 10 / allocations,
              e->size_mean_tenths);
    assert_in(e->spec, "the median lifetime", s->lifetime_median, e->lifetime_median);
    assert_in(e->spec, "frees across lanes in a thousand", s->cross_lane_frees * 1000 / frees_of(s),
              e->cross_permille);
}

/* One stretch of work is timed, and what it leaves alive is freed behind it. */
static void assert_phases(const abench_tape *tape)
{
    abench_phase phase = ABENCH_PHASE_INIT;
    uint32_t timed = 0, at = 0;

    for (; abench_tape_phase_at(tape, at, &phase) == ABENCH_OK; at++)
        timed += phase.flags == ABENCH_PHASE_TIMED;
    assert_int_equal(timed, 1);
    abench_tape_phase_at(tape, at - 1, &phase);
    assert_int_equal(phase.live_blocks_end, 0);
}

static void each_is_as_its_source_says(void **state)
{
    (void)state;
    for (size_t at = 0; at < ENTRIES; at++) {
        abench_tape *tape = make_tape(table[at].spec, 7);
        const abench_tape_summary s = summary_of(tape);
        assert_expected(&table[at], &s);
        assert_phases(tape);
        abench_tape_destroy(tape);
    }
}

/* ---- bounds, lanes and seeds ----------------------------------------------------------------- */

static void assert_bounds(const abench_workload *workload, const abench_tape_summary *s)
{
    const uint64_t operations = abench_workload_operations(workload);
    const uint64_t live = abench_workload_live_bytes(workload);

    if (operations < s->operations || operations >= 2 * s->operations)
        fail_msg("%s: %llu operations, said to be %llu", abench_workload_spec(workload),
                 (unsigned long long)s->operations, (unsigned long long)operations);
    if (live < s->live_bytes_peak || live >= 2 * s->live_bytes_peak)
        fail_msg("%s: %llu live bytes, said to be %llu", abench_workload_spec(workload),
                 (unsigned long long)s->live_bytes_peak, (unsigned long long)live);
}

static void the_bounds_hold_at_both_scales(void **state)
{
    (void)state;
    for (size_t at = 0; at < ENTRIES; at++) {
        abench_workload *quick = parse(table[at].spec, 1, 0), *full;
        abench_tape *tape = compile(quick);
        const abench_tape_summary s = summary_of(tape);
        char name[64] = "";
        strncat(name, table[at].spec, strcspn(table[at].spec, ":"));
        full = parse(name, 1, 0);
        assert_bounds(quick, &s);
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

/* The last lane to be done hands over what it kept back; who gets it may have nothing to do just
 * then. */
static void rptest_frees_what_the_last_lane_hands_over(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed <= 200; seed++) {
        abench_tape *tape =
            make_tape("rptest:rounds=2,loops=9,slots=20,operations=10,pending=3,lanes=3", seed);
        if (summary_of(tape).live_blocks_end != 0)
            fail_msg("seed %u: %u blocks are left", (unsigned)seed,
                     (unsigned)summary_of(tape).live_blocks_end);
        abench_tape_destroy(tape);
    }
}

static abench_tape_summary streamed(const char *spec)
{
    abench_tape_summary summary = ABENCH_TAPE_SUMMARY_INIT;
    abench_error error = ABENCH_ERROR_INIT;
    abench_workload *workload = NULL;
    abench_tape *tape = NULL;

    if (abench_workload_parse(spec, 1, 0, &workload, &error) != ABENCH_OK ||
        abench_workload_stream(workload, NULL, &tape, &error) != ABENCH_OK)
        fail_msg("%s", error.message);
    assert_int_equal(abench_tape_get_summary(tape, &summary), ABENCH_OK);
    abench_tape_destroy(tape);
    abench_workload_destroy(workload);
    return summary;
}

/* 171 blocks a pass, shared out by the 32 passes: 64 passes need as many slots as 300. */
static void the_slots_of_sh8_go_round(void **state)
{
    const abench_tape_summary shorter = streamed("sh8:lanes=2,ring=600,passes=64");
    const abench_tape_summary longer = streamed("sh8:lanes=2,ring=600,passes=300");

    (void)state;
    assert_int_equal(shorter.shared_slots, 64 * 171);
    assert_int_equal(longer.shared_slots, shorter.shared_slots);
    assert_int_equal(longer.memory_bytes, shorter.memory_bytes);
    assert_int_equal(longer.cross_lane_frees, 300 * 171);
    assert_int_equal(longer.live_blocks_end, 0);
    assert_true(longer.live_bytes_peak < shorter.live_bytes_peak + shorter.live_bytes_peak / 8);
}

/* Small, in every number of lanes. */
static const char *const small[] = {
    "larson:slots=100,round=3000,rounds=4",
    "larson:slots=1,round=3,rounds=2",
    "xmalloc:objects=50,window=6,batches=20",
    "xmalloc:objects=1,window=1,batches=9",
    "mstress:blocks=200,phases=6,transfers=50",
    "sh6:passes=1,calls=2000",
    "sh6:passes=2,calls=2000,leak=1",
    "sh6:passes=1,calls=1,limit=2",
    "sh8:passes=2,ring=6000",
    "sh8:passes=1,ring=1,handed=7321",
    "sh8:passes=97,ring=6,handed=2",
    "sh8:passes=1,ring=100000,handed=0",
    "cache-scratch:rounds=5,writes=20",
    "cache-thrash:rounds=5,writes=1",
    "alloc-test:slots=3000,steps=5000",
    "alloc-test:slots=1,steps=10",
    "rptest:rounds=3,loops=40,slots=200",
    "rptest:rounds=2,loops=9,slots=1,pending=0,operations=4,cross=1,dropoff=2",
    "rptest:rounds=2,loops=9,slots=7,cross=0,dropoff=0,min=10,max=10",
};

#define SMALL (sizeof small / sizeof small[0])

static uint32_t least_lanes(const char *spec)
{
    return strncmp(spec, "xmalloc", 7) == 0 || strncmp(spec, "sh8", 3) == 0 ? 2 : 1;
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

static void each_plays_in_any_number_of_lanes(void **state)
{
    static const uint32_t lanes[] = {1, 2, 3, 7};

    (void)state;
    for (size_t at = 0; at < SMALL; at++)
        for (size_t which = 0; which < sizeof lanes / sizeof lanes[0]; which++) {
            abench_workload *workload;
            abench_tape_summary s;
            abench_tape *tape;
            if (lanes[which] < least_lanes(small[at]))
                continue;
            workload = parse(small[at], 3, lanes[which]);
            tape = compile(workload);
            s = summary_of(tape);
            assert_int_equal(s.lanes, lanes[which]);
            assert_int_equal(s.live_blocks_end, 0);
            assert_int_equal(frees_of(&s), allocations_of(&s));
            assert_true(abench_workload_operations(workload) >= s.operations);
            assert_true(abench_workload_operations(workload) < 2 * s.operations);
            assert_plays(tape, abench_workload_spec(workload));
            abench_tape_destroy(tape);
            abench_workload_destroy(workload);
        }
}

static uint32_t is_near(uint64_t a, uint64_t b)
{
    const uint64_t difference = a > b ? a - b : b - a;

    return difference <= a / 5 + 1;
}

static void another_seed_gives_the_like_of_it(void **state)
{
    /* Nothing is drawn, or sizes that are all alike: the same whatever the seed. */
    static const char *const same[] = {"xmalloc", "cache-thrash"};

    (void)state;
    for (size_t at = 0; at < ENTRIES; at++) {
        abench_tape *one = make_tape(table[at].spec, 1), *other = make_tape(table[at].spec, 4);
        const abench_tape_summary s = summary_of(one), t = summary_of(other);
        uint32_t is_same = 0;
        for (size_t which = 0; which < sizeof same / sizeof same[0]; which++)
            is_same |= strncmp(table[at].spec, same[which], strlen(same[which])) == 0;
        assert_int_equal(abench_tape_digest(one) == abench_tape_digest(other), is_same);
        assert_true(is_near(s.operations, t.operations));
        assert_true(is_near(s.size_median, t.size_median));
        assert_true(is_near(s.cross_lane_frees, t.cross_lane_frees));
        abench_tape_destroy(one);
        abench_tape_destroy(other);
    }
}

static void too_few_lanes_are_refused(void **state)
{
    static const char *const specs[] = {"xmalloc:lanes=1", "sh8:lanes=1"};

    (void)state;
    for (size_t at = 0; at < 2; at++) {
        abench_workload *workload = NULL;
        abench_error error = ABENCH_ERROR_INIT;
        assert_int_equal(abench_workload_parse(specs[at], 1, 0, &workload, &error),
                         ABENCH_ERROR_SYNTAX);
        assert_non_null(strstr(error.message, "from 2 to 1024"));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(rptest_frees_what_the_last_lane_hands_over),
        cmocka_unit_test(the_slots_of_sh8_go_round),
        cmocka_unit_test(each_is_as_its_source_says),
        cmocka_unit_test(the_bounds_hold_at_both_scales),
        cmocka_unit_test(each_plays_in_any_number_of_lanes),
        cmocka_unit_test(another_seed_gives_the_like_of_it),
        cmocka_unit_test(too_few_lanes_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
