/*
 * catalogue_tape.h - tapes of the catalogue's workloads, for tests. Included after cmocka.h.
 */
#ifndef TESTS_UNIT_CATALOGUE_TAPE_H
#define TESTS_UNIT_CATALOGUE_TAPE_H

#include <stdint.h>
#include <string.h>

#include <allocbench/workload.h>

#define MIB (1024 * 1024)

static inline abench_workload *parse(const char *spec, uint64_t seed, uint32_t lanes)
{
    abench_workload *workload = NULL;
    abench_error error = ABENCH_ERROR_INIT;

    if (abench_workload_parse(spec, seed, lanes, &workload, &error) != ABENCH_OK)
        fail_msg("%s", error.message);
    return workload;
}

static inline abench_tape *compile(const abench_workload *workload)
{
    abench_error error = ABENCH_ERROR_INIT;
    abench_tape *tape = NULL;

    if (abench_workload_tape(workload, NULL, &tape, &error) != ABENCH_OK)
        fail_msg("%s: %s", abench_workload_spec(workload), error.message);
    return tape;
}

static inline abench_tape *make_tape(const char *spec, uint64_t seed)
{
    abench_workload *workload = parse(spec, seed, 0);
    abench_tape *tape = compile(workload);

    abench_workload_destroy(workload);
    return tape;
}

static inline abench_tape_summary summary_of(const abench_tape *tape)
{
    abench_tape_summary summary = ABENCH_TAPE_SUMMARY_INIT;

    assert_int_equal(abench_tape_get_summary(tape, &summary), ABENCH_OK);
    return summary;
}

static inline abench_phase phase_of(const abench_tape *tape, const char *name)
{
    abench_phase phase = ABENCH_PHASE_INIT;

    for (uint32_t at = 0; abench_tape_phase_at(tape, at, &phase) == ABENCH_OK; at++)
        if (strcmp(phase.name, name) == 0)
            return phase;
    fail_msg("there is no phase '%s'", name);
    return phase;
}

#endif
