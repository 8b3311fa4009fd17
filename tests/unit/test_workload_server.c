/*
 * The server workload: its timetable, its peaks, its pace and its slots.
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
#include "workload/server.h"

typedef struct span {
    uint64_t least;
    uint64_t most;
} span;

static void assert_in(const char *what, uint64_t value, span in)
{
    if (value < in.least || value > in.most)
        fail_msg("%s: %llu, not %llu - %llu", what, (unsigned long long)value,
                 (unsigned long long)in.least, (unsigned long long)in.most);
}

/* ---- the timetable --------------------------------------------------------------------------- */

#define SECOND ((uint64_t)1000000000)

static void assert_edges(const abench__timetable *table_, const abench__edge *edges, uint32_t count)
{
    assert_int_equal(table_->count, count);
    for (uint32_t at = 0; at < count; at++) {
        assert_int_equal(table_->edges[at].at_ns, edges[at].at_ns);
        assert_int_equal(table_->edges[at].kind, edges[at].kind);
        assert_int_equal(table_->edges[at].number, edges[at].number);
    }
}

static void a_period_is_steady_then_a_peak_then_its_recovery(void **state)
{
    const abench__peak peak = {2000000, 30 * SECOND, 5 * SECOND / 2};
    abench__timetable t;

    (void)state;
    /* What is left of 68 s behind two periods and a recovery is steady. */
    abench__timetable_make(&t, &peak, 68 * SECOND, 5 * SECOND, 5 * SECOND);
    assert_edges(&t,
                 (const abench__edge[]){{0, EDGE_WARMUP, 0},
                                        {5 * SECOND, EDGE_STEADY, 1},
                                        {65 * SECOND / 2, EDGE_PEAK, 1},
                                        {35 * SECOND, EDGE_RECOVERY, 1},
                                        {40 * SECOND, EDGE_STEADY, 2},
                                        {125 * SECOND / 2, EDGE_PEAK, 2},
                                        {65 * SECOND, EDGE_RECOVERY, 2},
                                        {70 * SECOND, EDGE_STEADY, 3},
                                        {73 * SECOND, EDGE_DRAIN, 0}},
                 9);
    /* The last recovery is played whatever the time; a rest ends before the next peak. */
    abench__timetable_make(&t, &peak, 30 * SECOND, 5 * SECOND, 5 * SECOND);
    assert_int_equal(t.count, 5);
    assert_int_equal(t.end_ns, 40 * SECOND);
    abench__timetable_make(&t, &peak, 59 * SECOND, 5 * SECOND, 5 * SECOND);
    assert_int_equal(t.count, 6);
    assert_int_equal(t.end_ns, 125 * SECOND / 2);
    /* Recoveries that meet the next peak leave nothing steady. */
    abench__timetable_make(&t, &peak, 90 * SECOND, 50 * SECOND, 50 * SECOND);
    assert_int_equal(t.count, 1 + 3 + 2 * 2 + 1);
    assert_int_equal(t.edges[4].kind, EDGE_PEAK);
    assert_int_equal(t.edges[4].at_ns, t.edges[3].at_ns + 55 * SECOND / 2);
    /* The warm-up is no longer than the time. */
    abench__timetable_make(&t, &peak, 31 * SECOND, 99 * SECOND, SECOND);
    assert_int_equal(t.warmup_ns, 31 * SECOND);
}

static void many_periods_share_phases_and_none_are_even_stretches(void **state)
{
    abench__peak peak = {2000000, 30 * SECOND, 5 * SECOND / 2};
    abench__timetable t;

    (void)state;
    for (uint64_t periods = 1; periods < 500; periods++) {
        abench__timetable_make(&t, &peak, periods * 30 * SECOND, SECOND, SECOND);
        assert_true(t.count <= ABENCH_PHASES_MAX);
        assert_int_equal(t.peaks, periods);
        assert_int_equal(t.edges[t.count - 2].kind, EDGE_RECOVERY);
        assert_int_equal(t.edges[t.count - 2].at_ns, (1 + periods * 30) * SECOND);
        if (periods <= 20)
            assert_int_equal(t.count, 2 + 3 * periods);
        for (uint32_t at = 1; at < t.count; at++)
            assert_true(t.edges[at].at_ns > t.edges[at - 1].at_ns);
    }
    abench__timetable_make(&t, &peak, 24 * SECOND, SECOND, SECOND); /* less than a period */
    assert_int_equal(t.peaks, 0);
    assert_int_equal(t.count, 14);
    assert_int_equal(t.edges[12].at_ns, 23 * SECOND);
    assert_int_equal(t.edges[13].at_ns, 25 * SECOND);
    peak.factor_ppm = 0;
    abench__timetable_make(&t, &peak, 600 * SECOND, SECOND, SECOND);
    assert_int_equal(t.count, 14);
}

static void a_peak_doubles_the_rate_and_leaves_nothing(void **state)
{
    abench_tape *tape = make_tape("server:scale=quick", 5);
    const abench_phase before = phase_of(tape, "steady-2"), in = phase_of(tape, "peak-2"),
                       after = phase_of(tape, "recovery-2");

    (void)state;
    /* 75 ms and 25 ms; in a peak, which frees what steady time made, there are fewer frees. */
    assert_in("operations of a peak", in.operations * 3,
              (span){before.operations * 17 / 10, before.operations * 2});
    /* Of a mean life of 20.5 ms 9.5 are up to 25 ms. */
    assert_in("blocks in a peak", in.live_blocks_end * 100 / before.live_blocks_end,
              (span){138, 155});
    assert_in("blocks after a peak", after.live_blocks_end * 100 / before.live_blocks_end,
              (span){94, 106});
    assert_int_equal(phase_of(tape, "warmup").flags, 0);
    assert_int_equal(phase_of(tape, "drain").flags, 0);
    assert_int_equal(in.flags, ABENCH_PHASE_TIMED);
    assert_int_equal(summary_of(tape).phases, 8);
    abench_tape_destroy(tape);
}

static void a_peak_scales_lives_and_bodies(void **state)
{
    static const char plain[] = "server:scale=quick,sizes=fixed:8";
    abench_tape *tape = make_tape(plain, 1);
    abench_tape *lives = make_tape("server:scale=quick,sizes=fixed:8,peak_lifetime=300", 1);
    abench_tape *bodies = make_tape("server:scale=quick,sizes=fixed:8,peak_body=300", 1);
    const abench_phase in = phase_of(tape, "peak-1");

    (void)state;
    /* Mean lives in ms up to the end of a peak: 11 of what was there before, 9.5 of the peak's own,
     * which come at twice the rate, or 13.3 of those when they are three times as long. Of a
     * request's 2731 bytes 2551 are the body's. */
    assert_in("blocks that live for 300 %",
              phase_of(lives, "peak-1").live_blocks_end * 100 / in.live_blocks_end,
              (span){118, 132});
    assert_in("bytes of bodies of 300 %",
              phase_of(bodies, "peak-1").live_bytes_end * 10 / in.live_bytes_end, (span){20, 24});
    assert_int_equal(phase_of(bodies, "steady-1").live_bytes_end,
                     phase_of(tape, "steady-1").live_bytes_end);
    abench_tape_destroy(tape);
    abench_tape_destroy(lives);
    abench_tape_destroy(bodies);
}

/* A request of 20000 objects among thousands of one: more than room was made for. */
static void what_finds_no_slot_is_freed_at_once(void **state)
{
    abench_tape *tape = make_tape("server:time=50ms,lifetime=fixed:10ms,peak=none,cross=0,"
                                  "objects=mix:99.5%1,0.5%20000",
                                  1);
    const abench_tape_summary s = summary_of(tape);
    abench_operation op = ABENCH_OPERATION_INIT;
    abench_tape_cursor *cursor = NULL;
    uint64_t at_once = 0;

    (void)state;
    assert_int_equal(abench_tape_cursor_create(tape, &cursor), ABENCH_OK);
    while (abench_tape_next(cursor, &op) == ABENCH_OK)
        at_once += op.kind == ABENCH_OP_MALLOC && op.slot == s.local_slots - 1;
    assert_true(at_once > 0);
    assert_true(at_once < s.by_kind[ABENCH_OP_MALLOC] * 3 / 4);
    assert_int_equal(s.live_blocks_end, 0);
    abench_tape_cursor_destroy(cursor);
    abench_tape_destroy(tape);

    tape = make_tape("server:scale=quick", 1); /* and where the mean says enough nothing is */
    assert_int_equal(abench_tape_cursor_create(tape, &cursor), ABENCH_OK);
    while (abench_tape_next(cursor, &op) == ABENCH_OK)
        assert_false(op.kind == ABENCH_OP_MALLOC && op.slot == summary_of(tape).local_slots - 1);
    abench_tape_cursor_destroy(cursor);
    abench_tape_destroy(tape);
}

/* A slot's generation must not go round between two meetings. */
static void lanes_that_hand_much_over_meet(void **state)
{
    abench_tape *tape = make_tape("server:scale=quick,cross=100,peak=none", 1);

    (void)state;
    /* 35000 objects of each of two lanes in the warm-up, 10000 in every stretch behind it. */
    assert_int_equal(summary_of(tape).by_kind[ABENCH_OP_BARRIER], 2);
    abench_tape_destroy(tape);
}

static void a_paced_server_has_a_pace_a_millisecond(void **state)
{
    abench_tape *tape = make_tape("server:scale=quick,paced=1", 1);
    const abench_tape_summary s = summary_of(tape);
    abench_operation op = ABENCH_OPERATION_INIT;
    abench_tape_cursor *cursor = NULL;
    uint64_t paces = 0, mallocs = 0, most = 0;

    (void)state;
    assert_int_equal(s.by_kind[ABENCH_OP_PAUSE], 2 * 799); /* 150 + 500 + 150, none at the end */
    assert_int_equal(abench_tape_cursor_create(tape, &cursor), ABENCH_OK);
    while (abench_tape_next(cursor, &op) == ABENCH_OK) {
        mallocs += op.kind == ABENCH_OP_MALLOC && op.lane == 0;
        if (op.kind != ABENCH_OP_PAUSE || op.lane != 0)
            continue;
        assert_true(op.pace);
        assert_int_equal(op.microseconds, 1000);
        most = mallocs > most ? mallocs : most;
        mallocs = 0;
        paces++;
    }
    assert_int_equal(paces, 799);
    /* 10 requests of a lane a millisecond, 20 in a peak, of 31 objects at most */
    assert_in("mallocs between two paces", most, (span){20 * 20, 20 * 31});
    abench_tape_cursor_destroy(cursor);
    abench_tape_destroy(tape);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_period_is_steady_then_a_peak_then_its_recovery),
        cmocka_unit_test(many_periods_share_phases_and_none_are_even_stretches),
        cmocka_unit_test(a_peak_doubles_the_rate_and_leaves_nothing),
        cmocka_unit_test(a_peak_scales_lives_and_bodies),
        cmocka_unit_test(what_finds_no_slot_is_freed_at_once),
        cmocka_unit_test(lanes_that_hand_much_over_meet),
        cmocka_unit_test(a_paced_server_has_a_pace_a_millisecond),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
