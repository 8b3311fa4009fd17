/* timing.h: a cell's time from its slices, in lockstep and one cell after the other. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <math.h>
#include <stdlib.h>

#include "tool/report/timing.h"

#define SLICES 41u

typedef struct fixture {
    model_cell cell;
    model_phase phases[2];
    model_slice slices[SLICES];
} fixture;

/* One timed phase; ns[0] is the cold slice. 10 operations a slice. */
static void make(fixture *f, const double *ns, size_t count, bool in_lockstep)
{
    *f = (fixture){.cell = {.lanes = 1, .in_lockstep = in_lockstep}};
    static char baseline[] = "baseline", steady[] = "steady";
    f->phases[0].name = baseline;
    f->phases[1].name = steady;
    f->phases[1].timed = true;
    f->cell.phases = f->phases;
    f->cell.phases_count = 2;
    f->cell.slices = f->slices;
    f->cell.slices_count = count;
    for (size_t i = 0; i < count; i++)
        f->slices[i] =
            (model_slice){.phase = steady, .operations = 10, .cpu_ns = (uint64_t)(10 * ns[i])};
}

static double time_of(const double *ns, size_t count, bool in_lockstep)
{
    fixture f;
    make(&f, ns, count, in_lockstep);
    timing t = timing_make(&f.cell);
    assert_int_equal(t.parts_count, 1);
    double found = t.ns;
    timing_clear(&t);
    return found;
}

static void in_lockstep_the_median_counts_and_the_cold_slice_does_not(void **state)
{
    (void)state;
    assert_float_equal(time_of((double[]){900, 10, 20, 30, 40, 50}, 6, true), 30, 1e-9);
}

/* The slow half is the machine's. */
static void in_sequence_the_quartile_counts_of_five_slices_or_more(void **state)
{
    (void)state;
    assert_float_equal(time_of((double[]){900, 10, 20, 30, 40, 50}, 6, false), 20, 1e-9);
    assert_float_equal(time_of((double[]){900, 10, 20, 30, 40}, 5, false), 25, 1e-9);
}

static void slices_that_were_not_played_in_turn_do_not_pair(void **state)
{
    const double ns[] = {900, 10, 20, 30};
    fixture a, b;
    double ratio;
    (void)state;
    make(&a, ns, 4, true);
    make(&b, ns, 4, true);
    timing s = timing_make(&a.cell), t = timing_make(&b.cell);
    assert_true(timing_ratio(&s, &t, &ratio));
    assert_float_equal(ratio, 1, 1e-12);
    b.cell.in_lockstep = false;
    assert_false(timing_ratio(&s, &t, &ratio));
    assert_false(timing_ratio(&t, &s, &ratio));
    timing_clear(&s);
    timing_clear(&t);
}

/* All slices of one are 1.25 times the other's, whatever the machine did to both. */
static void a_round_has_an_interval_of_its_own(void **state)
{
    double slow[SLICES], fast[SLICES];
    fixture a, b;
    abench_interval interval;
    (void)state;
    for (size_t i = 0; i < SLICES; i++) {
        fast[i] = 100 + 40 * (double)(i * 7 % 11);
        slow[i] = 1.25 * fast[i];
    }
    make(&a, slow, SLICES, true);
    make(&b, fast, SLICES, true);
    timing s = timing_make(&a.cell), t = timing_make(&b.cell);
    assert_true(timing_interval(&s, &t, &interval));
    assert_float_equal(interval.estimate, 1.25, 1e-9);
    assert_float_equal(interval.low, 1.25, 1e-9);
    assert_float_equal(interval.high, 1.25, 1e-9);
    assert_in_range(interval.count, 6, SLICES - 1);
    timing_clear(&s);
    timing_clear(&t);
}

static void drift_is_told_of_eight_slices_or_more(void **state)
{
    double ns[SLICES];
    fixture f;
    (void)state;
    for (size_t i = 0; i < SLICES; i++)
        ns[i] = i <= 20 ? 100 : 150;
    make(&f, ns, SLICES, true);
    timing t = timing_make(&f.cell);
    assert_float_equal(timing_drift(&t), 1.5, 1e-9);
    assert_true(isnan(timing_memory_drift(&t))); /* no slice tells RSS */
    timing_clear(&t);
    make(&f, ns, ABENCH_DRIFT_SLICES, true); /* the first is cold */
    t = timing_make(&f.cell);
    assert_true(isnan(timing_drift(&t)));
    timing_clear(&t);
}

/* Before the work the process holds 1 MB, which is not the allocator's. */
static void memory_moves_less_the_baseline(void **state)
{
    double ns[SLICES];
    fixture f;
    (void)state;
    for (size_t i = 0; i < SLICES; i++)
        ns[i] = 100;
    make(&f, ns, SLICES, true);
    f.phases[0].memory.valid = ABENCH_MEMORY_RSS;
    f.phases[0].memory.rss_bytes = 1000000;
    for (size_t i = 0; i < SLICES; i++) {
        f.slices[i].has_rss = true;
        f.slices[i].rss_bytes = i <= 20 ? 1500000 : 1600000;
    }
    timing t = timing_make(&f.cell);
    assert_float_equal(timing_memory_drift(&t), 1.2, 0.03);
    f.slices[30].rss_bytes = 0; /* a reading that is none leaves the whole untold */
    assert_true(isnan(timing_memory_drift(&t)));
    timing_clear(&t);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(in_lockstep_the_median_counts_and_the_cold_slice_does_not),
        cmocka_unit_test(in_sequence_the_quartile_counts_of_five_slices_or_more),
        cmocka_unit_test(slices_that_were_not_played_in_turn_do_not_pair),
        cmocka_unit_test(a_round_has_an_interval_of_its_own),
        cmocka_unit_test(drift_is_told_of_eight_slices_or_more),
        cmocka_unit_test(memory_moves_less_the_baseline),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
