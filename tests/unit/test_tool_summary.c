/* The arithmetic of a report, on numbers that are checked by hand (see fake_result.h). */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "../data/report/fake_result.h"

#include "tool/model.h"
#include "tool/report/summary.h"

enum { GLIBC, JEMALLOC, TCMALLOC };

static void assert_near(double value, double wanted)
{
    if (!(fabs(value - wanted) <= 1e-9 * fabs(wanted)))
        fail_msg("%.17g is not %.17g", value, wanted);
}

static const summary_row *row_of(const world *w, size_t target, bool again, const char *metric)
{
    const summary_row *row = summary_find(w->s, 0, target, again, metric);
    assert_non_null(row);
    return row;
}

/* ---- arithmetic ------------------------------------------------------------------------------ */

static void time_is_the_median_over_warm_slices_of_timed_phases(void **state)
{
    (void)state;
    world w = open_world(&fake_plain);
    const summary_row *row = row_of(&w, GLIBC, false, SUMMARY_TIME);
    assert_int_equal(row->n, 2);
    assert_near(row->values[0].value, 50);
    assert_near(row->values[1].value, 60);
    assert_near(row->median, 55);
    assert_near(row->minimum, 50);
    assert_near(row->maximum, 60);
    assert_true(row->has_spread);
    assert_near(row->spread, 10.0 / 55);
    assert_string_equal(row->unit, "ns");
    close_world(&w);
}

static void time_at_more_lanes_is_wall_time_without_waits(void **state)
{
    (void)state;
    fake f = fake_plain;
    f.lanes = 2;
    world w = open_world(&f);
    assert_near(row_of(&w, GLIBC, false, SUMMARY_TIME)->median, 3 * 55);
    close_world(&w);
}

static void time_without_slices_is_the_metric(void **state)
{
    (void)state;
    fake f = fake_plain;
    f.lanes = 0; /* then it is not known which clock counts */
    world w = open_world(&f);
    assert_near(row_of(&w, GLIBC, false, SUMMARY_TIME)->median, 1000);
    assert_near(row_of(&w, JEMALLOC, false, SUMMARY_TIME)->ratio, 1);
    close_world(&w);
}

static void a_ratio_of_times_is_taken_slice_by_slice(void **state)
{
    (void)state;
    world w = open_world(&fake_plain);
    const summary_row *row = row_of(&w, JEMALLOC, false, SUMMARY_TIME);
    assert_near(row->values[0].value, 40);
    assert_near(row->values[0].ratio, 0.7); /* 40 / 50 would be 0.8 */
    assert_near(row->values[1].ratio, 0.9);
    assert_int_equal(row->ratios, 2);
    assert_near(row->ratio, 0.8);
    close_world(&w);
}

/* The last of four steady slices and the drain become a second timed phase, of other cost. */
static void split_steady(world *w)
{
    for (size_t i = 0; i < w->m->cells_count; i++) {
        model_cell *cell = &w->m->cells[i];
        if (cell->workload != 0 || cell->failed)
            continue;
        for (size_t j = 0; j < cell->phases_count; j++)
            cell->phases[j].timed |= strcmp(cell->phases[j].name, "drain") == 0;
        cell->slices[5].operations = 500; /* 600 ns each: 300 us, the only slice counts */
        if (cell->target == JEMALLOC)
            cell->slices[5].cpu_ns *= 2;
    }
}

static void phases_weigh_as_much_as_their_operations(void **state)
{
    (void)state;
    world w = open_world(&fake_plain);
    split_steady(&w);
    summary *s = summary_make(w.m);
    const summary_row *row = summary_find(s, 0, GLIBC, false, SUMMARY_TIME);
    /* 4000 operations at 50 and 60 ns, 500 at 600; the median of all slices would be 55 and 60 */
    assert_near(row->values[0].value, (4000 * 50.0 + 500 * 600.0) / 4500);
    assert_near(row->values[1].value, (4000 * 60.0 + 500 * 600.0) / 4500);
    row = summary_find(s, 0, JEMALLOC, false, SUMMARY_TIME);
    assert_near(row->values[0].value, (4000 * 40.0 + 500 * 1200.0) / 4500);
    /* 0.7 in steady, 2 in the drain, by the baseline's 200 and 300 us */
    assert_near(row->values[0].ratio, (200 * 0.7 + 300 * 2.0) / 500);
    assert_near(row->values[1].ratio, (240 * 0.9 + 300 * 2.0) / 540);
    assert_true(row->ratio > 1);
    summary_free(s);
    close_world(&w);
}

static void slices_that_do_not_pair_are_compared_by_their_medians(void **state)
{
    (void)state;
    world w = open_world(&fake_plain);
    assert_int_equal(w.m->cells[2].target, JEMALLOC);
    w.m->cells[2].slices_count--; /* round 0: without its drain */
    summary *again = summary_make(w.m);
    assert_near(summary_find(again, 0, JEMALLOC, false, SUMMARY_TIME)->values[0].ratio, 0.8);
    summary_free(again);
    w.m->cells[2].slices_count++;
    close_world(&w);
}

static void the_baseline_has_no_ratio_to_itself(void **state)
{
    (void)state;
    world w = open_world(&fake_plain);
    assert_int_equal(row_of(&w, GLIBC, false, SUMMARY_TIME)->ratios, 0);
    close_world(&w);
}

static void the_second_cell_of_the_baseline_gives_the_noise(void **state)
{
    (void)state;
    world w = open_world(&fake_plain);
    const summary_row *row = row_of(&w, GLIBC, true, SUMMARY_TIME);
    assert_near(row->values[0].ratio, 1.0);
    assert_near(row->values[1].ratio, 1.1);
    assert_near(row->ratio, 1.05);
    close_world(&w);
}

static void a_failed_cell_gives_no_value(void **state)
{
    (void)state;
    world w = open_world(&fake_plain);
    const summary_row *row = row_of(&w, TCMALLOC, false, SUMMARY_TIME);
    assert_int_equal(row->n, 1);
    assert_false(row->has_spread);
    assert_int_equal(row->ratios, 1);
    assert_near(row->ratio, 0.5);
    /* Even when it has some. */
    w.m->cells[2].failed = true;
    assert_int_equal(w.m->cells[2].target, JEMALLOC);
    summary *again = summary_make(w.m);
    assert_int_equal(summary_find(again, 0, JEMALLOC, false, "rss_bytes")->n, 1);
    summary_free(again);
    close_world(&w);
}

static void only_cells_of_one_round_are_paired(void **state)
{
    (void)state;
    fake f = fake_plain;
    f.base_failed = true; /* in round 1 */
    world w = open_world(&f);
    const summary_row *row = row_of(&w, JEMALLOC, false, SUMMARY_TIME);
    assert_int_equal(row->n, 2);
    assert_int_equal(row->ratios, 1);
    assert_near(row->ratio, 0.7);
    close_world(&w);
}

static void cells_that_did_other_work_are_not_compared(void **state)
{
    (void)state;
    fake f = fake_plain;
    f.other_work = true; /* jemalloc, round 1 */
    world w = open_world(&f);
    assert_int_equal(row_of(&w, JEMALLOC, false, SUMMARY_TIME)->ratios, 1);
    assert_int_equal(row_of(&w, JEMALLOC, false, "rss_bytes")->ratios, 1);
    close_world(&w);
}

static void the_floor_gives_the_allocators_share(void **state)
{
    (void)state;
    world w = open_world(&fake_plain);
    double share;
    assert_true(summary_share(w.s, 0, &share));
    assert_near(share, 0.75);
    assert_false(summary_share(w.s, 1, &share));
    close_world(&w);
}

static void a_metric_that_nobody_measured_has_no_row(void **state)
{
    (void)state;
    world w = open_world(&fake_plain);
    assert_null(summary_find(w.s, 0, JEMALLOC, false, "rss_peak_bytes"));
    assert_null(summary_find(w.s, 1, TCMALLOC, false, "wall_ns"));
    close_world(&w);
}

static void a_median_is_the_middle_or_the_mean_of_two(void **state)
{
    (void)state;
    assert_near(summary_median((double[]){3, 1, 2}, 3), 2);
    assert_near(summary_median((double[]){4, 1, 2, 3}, 4), 2.5);
    assert_near(summary_median((double[]){7}, 1), 7);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(time_is_the_median_over_warm_slices_of_timed_phases),
        cmocka_unit_test(time_at_more_lanes_is_wall_time_without_waits),
        cmocka_unit_test(time_without_slices_is_the_metric),
        cmocka_unit_test(a_ratio_of_times_is_taken_slice_by_slice),
        cmocka_unit_test(phases_weigh_as_much_as_their_operations),
        cmocka_unit_test(slices_that_do_not_pair_are_compared_by_their_medians),
        cmocka_unit_test(the_baseline_has_no_ratio_to_itself),
        cmocka_unit_test(the_second_cell_of_the_baseline_gives_the_noise),
        cmocka_unit_test(a_failed_cell_gives_no_value),
        cmocka_unit_test(only_cells_of_one_round_are_paired),
        cmocka_unit_test(cells_that_did_other_work_are_not_compared),
        cmocka_unit_test(the_floor_gives_the_allocators_share),
        cmocka_unit_test(a_metric_that_nobody_measured_has_no_row),
        cmocka_unit_test(a_median_is_the_middle_or_the_mean_of_two),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
