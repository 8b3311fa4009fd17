/* Times of a run: phases of unlike cost, and lanes that wait for each other. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <allocbench/run.h>

#include "run_file.h"

/* Two timed phases: many small blocks, then some large ones that are written all over. */
static abench_tape *unlike_phases(void)
{
    abench_tape_options options = ABENCH_TAPE_OPTIONS_INIT;
    abench_tape_builder *b = NULL;
    abench_tape *tape = NULL;

    options.local_slots = 1;
    options.touch = ABENCH_TOUCH_ALL;
    assert_int_equal(abench_tape_builder_create(&options, &b), ABENCH_OK);
    abench_tape_builder_phase(b, "cheap", ABENCH_PHASE_TIMED);
    for (uint32_t at = 0; at < 6 * ABENCH_TAPE_CUT; at++) {
        abench_tape_builder_malloc(b, 0, 0, 16);
        abench_tape_builder_free(b, 0, 0);
    }
    abench_tape_builder_phase(b, "dear", ABENCH_PHASE_TIMED);
    for (uint32_t at = 0; at < 2 * ABENCH_TAPE_CUT; at++) {
        abench_tape_builder_malloc(b, 0, 0, 50000);
        abench_tape_builder_free(b, 0, 0);
    }
    assert_int_equal(abench_tape_builder_finish(b, &tape), ABENCH_OK);
    abench_tape_builder_destroy(b);
    return tape;
}

/* Each phase weighs as much as its operations: the median over all slices would be that of one. */
static void phases_of_unlike_cost_are_weighed(void **state)
{
    static const char *const names[] = {"cheap", "dear"};
    abench_tape *tape = unlike_phases();
    abench_run *run = make_run(ABENCH_TAPE_CUT);
    double sum = 0, operations = 0;
    result r;

    (void)state;
    assert_int_equal(abench_run_play_tape(run, tape, NULL), ABENCH_OK);
    write_result(run, &r);
    for (int phase = 0; phase < 2; phase++) {
        double each[64], in_phase = 0;
        uint32_t count = 0, seen = 0;
        const char *record;
        for (uint32_t at = 0; (record = record_at(&r, "slice", at)) != NULL; at++) {
            if (!is_text(record, "phase", names[phase]))
                continue;
            in_phase += number(record, "operations");
            if (seen++ > 0)
                each[count++] = number(record, "cpu_ns") / number(record, "operations");
        }
        sum += in_phase * median(each, count);
        operations += in_phase;
    }
    assert_metric(run, "time_ns_per_operation", sum / operations);
    free_result(&r);
    abench_run_destroy(run);
    abench_tape_destroy(tape);
}

/* Lane 0 has nothing to do but to wait at barriers for lane 1. */
static void lanes_that_wait_for_each_other_are_warned_of(void **state)
{
    abench_tape_options options = ABENCH_TAPE_OPTIONS_INIT;
    abench_tape_builder *b = NULL;
    abench_tape *tape = NULL;
    abench_run *run = make_run(0);
    result r;

    (void)state;
    options.lanes = 2;
    options.local_slots = 1;
    options.touch = ABENCH_TOUCH_ALL;
    assert_int_equal(abench_tape_builder_create(&options, &b), ABENCH_OK);
    for (uint32_t round = 0; round < 50; round++) {
        for (uint32_t at = 0; at < 20; at++) {
            abench_tape_builder_malloc(b, 1, 0, 50000);
            abench_tape_builder_free(b, 1, 0);
        }
        abench_tape_builder_barrier(b);
    }
    assert_int_equal(abench_tape_builder_finish(b, &tape), ABENCH_OK);
    abench_tape_builder_destroy(b);
    assert_int_equal(abench_run_play_tape(run, tape, NULL), ABENCH_OK);
    write_result(run, &r);
    assert_non_null(record_of(&r, "warning", "message",
                              "the lanes waited for each other in more than a quarter of their "
                              "time, which is not in the time: trust its memory more"));
    free_result(&r);
    abench_run_destroy(run);
    abench_tape_destroy(tape);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(lanes_that_wait_for_each_other_are_warned_of),
        cmocka_unit_test(phases_of_unlike_cost_are_weighed),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
