/* verdict.h: what is judged of a command that is a harness. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "../data/report/judged.h"

static const verdict *find(const judged *j, const char *metric, size_t target)
{
    const verdict_metric *found = verdicts_find(j->v, 0, metric);
    assert_non_null(found);
    const verdict *item = verdict_of(found, target);
    assert_non_null(item);
    return item;
}

static void a_harness_is_judged_by_its_own_metrics_too(void **state)
{
    judged j;
    (void)state;
    judged_begin(&j, 1, 2, 10);
    j.workloads[0].is_command = true;
    judged_fill(&j, 0, "wall_ns", "ns", (double[]){1, 1, 0.5});
    judged_fill(&j, 0, "peak_rss_bytes", "bytes", (double[]){1, 1, 1.5});
    judged_fill(&j, 0, "minor_faults", "count", (double[]){1, 1, 1});
    judged_fill(&j, 0, "gc_pause_ns", "ns", (double[]){1, 1, 2});
    judged_finish(&j);
    assert_true(verdicts_find(j.v, 0, "wall_ns")->is_main);
    assert_true(verdicts_find(j.v, 0, "peak_rss_bytes")->is_main);
    assert_false(verdicts_find(j.v, 0, "gc_pause_ns")->is_main);
    assert_int_equal(find(&j, "gc_pause_ns", 1)->result.verdict, ABENCH_COMPARED_WORSE);
    assert_null(verdicts_find(j.v, 0, "minor_faults"));
    assert_true(verdict_is_judged("gc_pause_ns", true));
    assert_false(verdict_is_judged("gc_pause_ns", false));
    assert_false(verdict_is_judged("minor_faults", true));
    judged_end(&j);
}

/* Nor more than eight of them, and none of which nobody knows what is better. */
static void not_all_of_a_harness_is_judged(void **state)
{
    static const char *const names[] = {"c0", "c1", "c2", "c3", "c4", "c5", "c6", "c7", "c8"};
    judged j;
    (void)state;
    judged_begin(&j, 1, 2, 10);
    j.workloads[0].is_command = true;
    judged_fill_noisy(&j, 0, "odd_count", "count", ABENCH_DIRECTION_NONE, (double[]){1, 1, 2}, 0);
    for (size_t i = 0; i < 9; i++)
        judged_fill(&j, 0, names[i], "ns", (double[]){1, 1, 2});
    judged_finish(&j);
    assert_null(verdicts_find(j.v, 0, "odd_count"));
    assert_non_null(verdicts_find(j.v, 0, "c7"));
    assert_null(verdicts_find(j.v, 0, "c8"));
    judged_end(&j);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_harness_is_judged_by_its_own_metrics_too),
        cmocka_unit_test(not_all_of_a_harness_is_judged),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
