/*
 * fuzz_workload.c - specs of workloads. A spec that is read has a canonical one that says the same;
 * a short one is compiled, whatever its parameters, and its tape is sound.
 */
#include "fuzz.h"

#include <allocbench/workload.h>

#define OPERATIONS_MOST 5000u
#define LIVE_MOST       ((uint64_t)1 << 50)

/* A short workload may still have a million slots. */
static void check_tape(const abench_workload *workload)
{
    abench_error error = ABENCH_ERROR_INIT;
    abench_tape_summary summary = ABENCH_TAPE_SUMMARY_INIT;
    abench_tape *tape = NULL;
    const abench_status status = abench_workload_tape(workload, NULL, &tape, &error);

    if (status == ABENCH_OK) {
        FUZZ_CHECK(abench_tape_get_summary(tape, &summary) == ABENCH_OK);
        FUZZ_CHECK(summary.operations <= 2 * (uint64_t)OPERATIONS_MOST);
        FUZZ_CHECK(summary.live_bytes_end == 0 && summary.live_blocks_end == 0);
    } else {
        FUZZ_CHECK(tape == NULL && error.message[0] != '\0');
        FUZZ_CHECK(status == ABENCH_ERROR_MEMORY || status == ABENCH_ERROR_LIMIT);
    }
    abench_tape_destroy(tape);
}

static void check_canonical(const abench_workload *workload, uint64_t seed)
{
    const char *spec = abench_workload_spec(workload);
    abench_workload *again = NULL;

    FUZZ_CHECK(abench_workload_parse(spec, seed, 3, &again, NULL) == ABENCH_OK);
    FUZZ_CHECK(strcmp(abench_workload_spec(again), spec) == 0);
    FUZZ_CHECK(abench_workload_plan_digest(again) == abench_workload_plan_digest(workload));
    FUZZ_CHECK(abench_workload_operations(again) == abench_workload_operations(workload));
    FUZZ_CHECK(abench_workload_live_bytes(again) == abench_workload_live_bytes(workload));
    abench_workload_destroy(again);
}

static void check(const char *spec)
{
    abench_error error = ABENCH_ERROR_INIT;
    abench_workload *workload = NULL;
    const abench_status status = abench_workload_parse(spec, 7, 2, &workload, &error);

    if (status == ABENCH_OK) {
        check_canonical(workload, 7);
        if (abench_workload_operations(workload) <= OPERATIONS_MOST &&
            abench_workload_live_bytes(workload) <= LIVE_MOST)
            check_tape(workload);
    } else {
        FUZZ_CHECK(workload == NULL && error.message[0] != '\0');
        FUZZ_CHECK(memchr(error.message, '\0', sizeof error.message) != NULL);
        FUZZ_CHECK(error.column <= strlen(spec) + 1);
    }
    abench_workload_destroy(workload);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char *spec = fuzz_string_of(data, size);

    if (strchr(spec, '@') == NULL || strstr(spec, "histogram:") == NULL) /* any file here */
        check(spec);
    free(spec);
    return 0;
}
