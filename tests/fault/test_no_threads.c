/* A thread, or a descriptor, cannot be had: the right status, no hang, and nothing stays behind. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <sys/resource.h>

#include <allocbench/allocbench.h>

#include "faults.h"

static void a_lane_whose_thread_does_not_start_ends_the_play(void **state)
{
    abench_workload *workload = NULL;
    abench_tape *tape = NULL;

    (void)state;
    assert_int_equal(abench_workload_parse("churn-cross:lanes=4,slots=20", 1, 0, &workload, NULL),
                     ABENCH_OK);
    assert_int_equal(abench_workload_tape(workload, NULL, &tape, NULL), ABENCH_OK);
    assert_int_equal(abench_play(tape, NULL, NULL, NULL, NULL), ABENCH_OK);
    for (uint32_t lane = 1; lane < 4; lane++) {
        abench_receipt receipt = ABENCH_RECEIPT_INIT;
        abench_error error = ABENCH_ERROR_INIT;
        const held before = held_now();
        char message[64];
        fault_in[FAULT_THREAD] = lane;
        assert_int_equal(abench_play(tape, NULL, NULL, &receipt, &error), ABENCH_ERROR_SYSTEM);
        assert_int_equal(error.sys_errno, EAGAIN);
        snprintf(message, sizeof message, "cannot start the thread of lane %u: ", lane);
        assert_non_null(strstr(error.message, message));
        assert_int_equal(receipt.executed[ABENCH_OP_MALLOC], 0);
        assert_nothing_new_is_held(before);
    }
    abench_tape_destroy(tape);
    abench_workload_destroy(workload);
}

static void a_sampler_without_a_thread_is_an_error(void **state)
{
    abench_sampler *sampler = NULL;
    abench_run *run = NULL;
    held before;

    (void)state;
    assert_int_equal(abench_sampler_create(NULL, &sampler), ABENCH_OK);
    abench_sampler_destroy(sampler);
    before = held_now();
    fault_in[FAULT_THREAD] = 1;
    assert_int_equal(abench_sampler_create(NULL, &sampler), ABENCH_ERROR_SYSTEM);
    assert_null(sampler);
    assert_nothing_new_is_held(before);
    assert_int_equal(abench_run_create(NULL, &run), ABENCH_OK);
    fault_in[FAULT_THREAD] = 1;
    assert_int_equal(abench_run_start(run), ABENCH_ERROR_SYSTEM);
    assert_non_null(strstr(abench_run_error(run)->message, "the sampler cannot start"));
    abench_run_destroy(run);
    assert_nothing_new_is_held(before);
}

static void a_run_without_descriptors_is_an_error(void **state)
{
    abench_run *run = NULL;
    struct rlimit limit, none;
    abench_status status;
    held before;

    (void)state;
    before = held_now();
    assert_int_equal(abench_run_create(NULL, &run), ABENCH_OK);
    getrlimit(RLIMIT_NOFILE, &limit);
    none = limit;
    none.rlim_cur = 0; /* what is open stays open */
    setrlimit(RLIMIT_NOFILE, &none);
    status = abench_run_start(run);
    setrlimit(RLIMIT_NOFILE, &limit);
    assert_int_equal(status, ABENCH_ERROR_SYSTEM);
    assert_non_null(strstr(abench_run_error(run)->message, "memory cannot be read"));
    abench_run_destroy(run);
    assert_nothing_new_is_held(before);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_lane_whose_thread_does_not_start_ends_the_play),
        cmocka_unit_test(a_sampler_without_a_thread_is_an_error),
        cmocka_unit_test(a_run_without_descriptors_is_an_error),
    };
    if (!FAULTS_POSSIBLE) {
        puts("skipped under ThreadSanitizer");
        return 0;
    }
    return cmocka_run_group_tests(tests, NULL, NULL);
}
