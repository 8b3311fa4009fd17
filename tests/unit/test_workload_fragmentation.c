/*
 * The workloads about fragmentation and the data-centre mixture: what lives in each phase, and
 * which sizes there are. test_workload_literature.c has what is common to all of the literature's.
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

static void the_sweep_has_every_size(void **state)
{
    abench_tape *tape = make_tape("sizeclass-sweep:blocks=1,bytes=4096,rounds=1", 1);
    unsigned char *seen = calloc(MIB + 2, 1);
    abench_operation op = ABENCH_OPERATION_INIT;
    abench_tape_cursor *cursor = NULL;

    (void)state;
    assert_non_null(seen);
    assert_int_equal(abench_tape_cursor_create(tape, &cursor), ABENCH_OK);
    while (abench_tape_next(cursor, &op) == ABENCH_OK)
        if (op.kind == ABENCH_OP_MALLOC) {
            assert_in_range(op.size, 1, MIB);
            seen[op.size]++;
        }
    for (size_t size = 1; size <= 4096; size++)
        assert_int_equal(seen[size], 1);
    for (size_t band = 4096; band < MIB; band *= 2)
        for (size_t eighth = 1; eighth <= 8; eighth++) {
            const size_t size = band + eighth * band / 8;
            assert_true(seen[size - 1] && seen[size]);
            assert_true(size == MIB || seen[size + 1]);
        }
    abench_tape_cursor_destroy(cursor);
    abench_tape_destroy(tape);
    free(seen);
}

/* A band's blocks and no others live when its phase ends. */
static void the_sweep_has_a_phase_a_doubling(void **state)
{
    abench_tape *tape = make_tape("sizeclass-sweep:scale=quick", 1);
    abench_phase phase = ABENCH_PHASE_INIT;

    (void)state;
    assert_int_equal(summary_of(tape).phases, 40);
    for (uint32_t band = 0; band < 20; band++) {
        assert_int_equal(abench_tape_phase_at(tape, 2 * band, &phase), ABENCH_OK);
        assert_int_equal(phase.flags, ABENCH_PHASE_TIMED);
        assert_in_range(phase.live_bytes_end / phase.live_blocks_end, (uint64_t)1 << band,
                        (uint64_t)2 << band);
        assert_int_equal(abench_tape_phase_at(tape, 2 * band + 1, &phase), ABENCH_OK);
        assert_int_equal(phase.flags, 0);
        assert_int_equal(phase.live_blocks_end, 0);
    }
    assert_int_equal(phase_of(tape, "to-4k").live_blocks_end, 2048);
    assert_true(phase_of(tape, "to-1m").live_blocks_end > 0);
    abench_tape_destroy(tape);
}

/* The live bytes stay, the blocks become fewer and more again; 5 % of them are older. */
static void size_shift_keeps_its_live_bytes(void **state)
{
    static const struct {
        const char *phase;
        uint64_t high;
    } rows[] = {
        {"fill", 64},           {"shift-1-256", 256},   {"shift-2-1k", 1024},
        {"shift-3-4k", 4096},   {"shift-4-16k", 16384}, {"shift-5-64k", 65536},
        {"shift-6-16k", 16384}, {"shift-7-4k", 4096},   {"shift-8-1k", 1024},
        {"shift-9-256", 256},   {"shift-10-64", 64},
    };
    abench_tape *tape = make_tape("size-shift:live=16m,shifts=10", 5);

    (void)state;
    for (size_t at = 0; at < sizeof rows / sizeof rows[0]; at++) {
        const abench_phase phase = phase_of(tape, rows[at].phase);
        const uint64_t mean = phase.live_bytes_end / phase.live_blocks_end;
        assert_in_range(phase.live_bytes_end, 16 * MIB - rows[at].high, 16 * MIB);
        /* A band's mean is 5/8 of its largest size; survivors are far smaller or larger. */
        assert_in_range(mean, rows[at].high / 4, rows[at].high * 3 / 4);
    }
    abench_tape_destroy(tape);
}

static void size_shift_lets_die_what_it_is_told(void **state)
{
    static const struct {
        const char *spec;
        uint64_t per_mille; /* of the fill's blocks that live when the first shift ends */
    } rows[] = {{"size-shift:live=4m,shifts=1", 50},
                {"size-shift:live=4m,shifts=1,die=100", 0},
                {"size-shift:live=4m,shifts=1,die=40", 600}};

    (void)state;
    for (size_t at = 0; at < sizeof rows / sizeof rows[0]; at++) {
        abench_tape *tape = make_tape(rows[at].spec, 5);
        const uint64_t filled = phase_of(tape, "fill").live_blocks_end;
        abench_operation op = ABENCH_OPERATION_INIT;
        abench_tape_cursor *cursor = NULL;
        uint64_t died = 0;
        assert_int_equal(abench_tape_cursor_create(tape, &cursor), ABENCH_OK);
        while (abench_tape_next(cursor, &op) == ABENCH_OK)
            died += op.kind == ABENCH_OP_FREE && op.phase == 1;
        assert_in_range((filled - died) * 1000 / filled, rows[at].per_mille,
                        rows[at].per_mille + 1);
        abench_tape_cursor_destroy(cursor);
        abench_tape_destroy(tape);
    }
}

/* After class k of size s, the class j before has bytes >> (k - j) alive. */
static void robson_halves_each_class_before_the_next(void **state)
{
    abench_tape *tape = make_tape("robson:bytes=1m,rounds=2,smallest=32", 1);
    const abench_phase before = phase_of(tape, "before");

    (void)state;
    assert_int_equal(before.flags, 0);
    assert_int_equal(before.live_bytes_end, 0);
    assert_int_equal(phase_of(tape, "to-32").live_bytes_end, MIB);
    assert_int_equal(phase_of(tape, "to-64").live_bytes_end, MIB + MIB / 2);
    assert_int_equal(phase_of(tape, "to-128").live_bytes_end, MIB + MIB / 2 + MIB / 4);
    assert_int_equal(phase_of(tape, "to-1m").live_bytes_end, 2 * MIB - 32);
    /* 32768 + 16384 + ... blocks of 16 classes, one left of each. */
    assert_int_equal(phase_of(tape, "to-1m").live_blocks_end, 16);
    abench_tape_destroy(tape);
}

static void every_other_keeps_its_live_bytes(void **state)
{
    abench_tape *tape = make_tape("every-other:bytes=1m,rounds=2", 1);
    abench_phase phase = ABENCH_PHASE_INIT;
    uint64_t size = 32;

    (void)state;
    for (uint32_t at = 0; abench_tape_phase_at(tape, at, &phase) == ABENCH_OK; at++) {
        if (phase.flags != ABENCH_PHASE_TIMED) {
            assert_int_equal(phase.live_bytes_end, 0);
            continue;
        }
        assert_int_equal(phase.live_bytes_end, MIB);
        assert_int_equal(phase.live_blocks_end, MIB / size * 3 / 4);
        size *= 2;
    }
    assert_int_equal(size, 32 << 10);
    abench_tape_destroy(tape);
}

static void fleet_has_the_published_quantiles(void **state)
{
    abench_tape *tape = make_tape("fleet:scale=quick", 11);
    const abench_phase fill = phase_of(tape, "fill"), steady = phase_of(tape, "steady");
    abench_operation op = ABENCH_OPERATION_INIT;
    abench_tape_cursor *cursor = NULL;
    uint64_t births = 0, bytes = 0, to_48 = 0, to_64 = 0, above_4k = 0, above_8k = 0;

    (void)state;
    assert_int_equal(abench_tape_cursor_create(tape, &cursor), ABENCH_OK);
    while (abench_tape_next(cursor, &op) == ABENCH_OK) {
        if (op.kind != ABENCH_OP_MALLOC || op.phase != 1)
            continue;
        births++;
        bytes += op.size;
        to_48 += op.size <= 48;
        to_64 += op.size <= 64;
        above_4k += op.size > 4096;
        above_8k += op.size > 8192;
    }
    assert_int_equal(births, 200000);
    assert_true(to_48 * 2 < births && births < to_64 * 2);
    assert_true(above_8k * 100 < births && births < above_4k * 100);
    assert_in_range(bytes / births, 420, 520);
    assert_in_range(steady.live_bytes_end / steady.live_blocks_end, 900, 1400);
    assert_in_range(fill.live_bytes_end / fill.live_blocks_end, 900, 1400);
    assert_in_range(steady.live_blocks_end, 15500, 16500); /* nothing had to settle */
    abench_tape_cursor_destroy(cursor);
    abench_tape_destroy(tape);
}

static void fleet_crosses_as_often_as_it_is_told(void **state)
{
    static const uint64_t percents[] = {0, 1, 30, 100};

    (void)state;
    for (size_t at = 0; at < 4; at++) {
        char spec[] = "fleet:scale=quick,steps=30000,cross=000";
        abench_tape_summary s;
        abench_tape *tape;
        spec[sizeof spec - 4] = (char)('0' + percents[at] / 100);
        spec[sizeof spec - 3] = (char)('0' + percents[at] / 10 % 10);
        spec[sizeof spec - 2] = (char)('0' + percents[at] % 10);
        tape = make_tape(spec, 1);
        s = summary_of(tape);
        assert_in_range(s.cross_lane_frees * 1000 / s.by_kind[ABENCH_OP_FREE],
                        percents[at] * 10 - percents[at] / 10 - (percents[at] == 1),
                        percents[at] * 10 + percents[at] / 10 + (percents[at] == 1));
        abench_tape_destroy(tape);
    }
}

/* Forty thousand times as many blocks as places, and no meeting: no slot may get too many. */
static void fleet_spreads_its_blocks_over_the_shared_slots(void **state)
{
    abench_workload *workload = parse("fleet:lanes=1,blocks=1,steps=3000000,cross=100", 1, 0);
    abench_error error = ABENCH_ERROR_INIT;
    abench_tape *tape = NULL;

    (void)state;
    assert_int_equal(abench_workload_stream(workload, NULL, &tape, &error), ABENCH_OK);
    assert_int_equal(summary_of(tape).by_kind[ABENCH_OP_MALLOC], 3000001);
    assert_int_equal(summary_of(tape).by_kind[ABENCH_OP_BARRIER], 0);
    abench_tape_destroy(tape);
    abench_workload_destroy(workload);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_sweep_has_every_size),
        cmocka_unit_test(the_sweep_has_a_phase_a_doubling),
        cmocka_unit_test(size_shift_keeps_its_live_bytes),
        cmocka_unit_test(size_shift_lets_die_what_it_is_told),
        cmocka_unit_test(robson_halves_each_class_before_the_next),
        cmocka_unit_test(every_other_keeps_its_live_bytes),
        cmocka_unit_test(fleet_has_the_published_quantiles),
        cmocka_unit_test(fleet_crosses_as_often_as_it_is_told),
        cmocka_unit_test(fleet_spreads_its_blocks_over_the_shared_slots),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
