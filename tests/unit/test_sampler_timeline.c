/* The timeline's arithmetic. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "sampler/pace.h"

static void keep_at(abench__timeline *timeline, uint64_t time_ns)
{
    abench_memory memory = ABENCH_MEMORY_INIT;

    memory.rss_bytes = time_ns; /* to see that a reading stays whole */
    abench__timeline_keep(timeline, &memory, time_ns);
}

static void a_late_reading_does_not_shift_the_next_deadline(void **state)
{
    abench_memory readings[8];
    abench__timeline timeline;

    (void)state;
    abench__timeline_init(&timeline, readings, 8, 100);
    assert_int_equal(timeline.due_ns, 0);
    keep_at(&timeline, 7);
    assert_int_equal(timeline.due_ns, 100);
    keep_at(&timeline, 199); /* late, by less than a period */
    assert_int_equal(timeline.due_ns, 200);
    assert_int_equal(timeline.missed, 0);
    keep_at(&timeline, 510); /* the deadlines 300, 400 and 500 are gone */
    assert_int_equal(timeline.due_ns, 600);
    assert_int_equal(timeline.missed, 3);
    keep_at(&timeline, 600);
    assert_int_equal(timeline.due_ns, 700);
    assert_int_equal(timeline.missed, 3);
    assert_int_equal(timeline.count, 4);
}

static void a_full_timeline_drops_every_second_reading_and_doubles_its_period(void **state)
{
    abench_memory readings[8];
    abench__timeline timeline;

    (void)state;
    abench__timeline_init(&timeline, readings, 8, 100);
    for (uint32_t i = 0; i < 8; i++)
        keep_at(&timeline, timeline.due_ns);
    assert_int_equal(timeline.count, 8);
    assert_int_equal(timeline.period_ns, 100);
    keep_at(&timeline, timeline.due_ns);
    assert_int_equal(timeline.count, 5);
    assert_int_equal(timeline.period_ns, 200);
    assert_int_equal(timeline.due_ns, 1000);
    for (uint32_t i = 0; i < 5; i++) {
        assert_int_equal(readings[i].time_ns, 200 * i);
        assert_int_equal(readings[i].rss_bytes, 200 * i);
    }
    for (uint32_t i = 0; i < 100; i++)
        keep_at(&timeline, timeline.due_ns);
    assert_in_range(timeline.count, 5, 8);
    assert_true(timeline.period_ns > 100 * 1000000);
    for (uint32_t i = 0; i < timeline.count; i++)
        assert_int_equal(readings[i].time_ns, timeline.period_ns * i);
    assert_int_equal(timeline.missed, 0);
}

/* Whatever was missed before: a doubled period has its own multiples, and what is only late by less
 * than it is not missed. */
static void a_doubled_period_has_its_own_deadlines(void **state)
{
    abench_memory readings[2];
    abench__timeline timeline;

    (void)state;
    abench__timeline_init(&timeline, readings, 2, 100);
    keep_at(&timeline, 0);
    keep_at(&timeline, 210); /* the deadline 200 is gone */
    assert_int_equal(timeline.missed, 1);
    assert_int_equal(timeline.due_ns, 300);
    keep_at(&timeline, 310);
    assert_int_equal(timeline.period_ns, 200);
    assert_int_equal(timeline.due_ns, 400);
    assert_int_equal(timeline.missed, 1);
    keep_at(&timeline, 410);
    assert_int_equal(timeline.period_ns, 400);
    assert_int_equal(timeline.due_ns, 800);
    assert_int_equal(timeline.missed, 1);
}

static void a_dear_reading_stays_when_its_neighbour_is_dropped(void **state)
{
    static const uint64_t kept[4] = {100, 200, 500, 600};
    abench_memory readings[8];
    abench__timeline timeline;

    (void)state;
    abench__timeline_init(&timeline, readings, 8, 100);
    for (uint64_t i = 0; i < 8; i++) {
        abench_memory memory = ABENCH_MEMORY_INIT;
        if (i == 1 || i == 2 || i == 5) /* second, first, second of their pairs */
            memory.valid = ABENCH_MEMORY_PSS;
        abench__timeline_keep(&timeline, &memory, 100 * i);
    }
    keep_at(&timeline, 800);
    assert_int_equal(timeline.count, 5);
    for (uint32_t i = 0; i < 4; i++) {
        assert_int_equal(readings[i].time_ns, kept[i]);
        assert_int_equal(readings[i].valid, i < 3 ? ABENCH_MEMORY_PSS : 0);
    }
}

static void a_dear_reading_is_due_after_a_thousand_times_its_cost(void **state)
{
    (void)state;
    assert_int_equal(abench__rollup_due(50, 3, 3000), 3050);
    assert_int_equal(abench__rollup_due(50, 4, 3000), 4050);
    assert_int_equal(abench__rollup_due(50, 2, 3000), 3050);
    assert_int_equal(abench__rollup_due(7000000000, 200000000, 1000), 207000000000);
}

static void a_stopped_clock_stands_and_goes_on_from_there(void **state)
{
    abench_memory readings[2];
    abench__timeline timeline;

    (void)state;
    abench__timeline_init(&timeline, readings, 2, 100);
    assert_int_equal(abench__timeline_time(&timeline, 5000), 0);
    abench__timeline_run(&timeline, 5000);
    assert_int_equal(abench__timeline_time(&timeline, 5040), 40);
    abench__timeline_halt(&timeline, 5050);
    assert_int_equal(abench__timeline_time(&timeline, 9000), 50);
    abench__timeline_run(&timeline, 10000);
    assert_int_equal(abench__timeline_time(&timeline, 10000), 50);
    assert_int_equal(abench__timeline_time(&timeline, 10007), 57);
    abench__timeline_halt(&timeline, 10010);
    assert_int_equal(abench__timeline_time(&timeline, 0), 60);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_late_reading_does_not_shift_the_next_deadline),
        cmocka_unit_test(a_full_timeline_drops_every_second_reading_and_doubles_its_period),
        cmocka_unit_test(a_doubled_period_has_its_own_deadlines),
        cmocka_unit_test(a_dear_reading_stays_when_its_neighbour_is_dropped),
        cmocka_unit_test(a_dear_reading_is_due_after_a_thousand_times_its_cost),
        cmocka_unit_test(a_stopped_clock_stands_and_goes_on_from_there),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
