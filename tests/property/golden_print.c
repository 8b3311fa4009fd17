/*
 * golden_print.c - prints the digests of the workloads in golden.txt, in the form of golden.txt.
 *
 * It needs the measured side's base, shape, tape and workload only, so that golden_compilers.sh can
 * build it in a moment with one compiler after the other. After a change of a workload, which needs
 * a new version of it, its output is the new golden.txt.
 */
#include <stdio.h>

#include <allocbench/workload.h>

static int print(const char *spec, uint64_t seed)
{
    abench_error error = ABENCH_ERROR_INIT;
    abench_workload *workload = NULL;
    abench_tape *tape = NULL;
    abench_status status = abench_workload_parse(spec, seed, 0, &workload, &error);

    if (status == ABENCH_OK)
        status = abench_workload_tape(workload, NULL, &tape, &error);
    if (status == ABENCH_OK)
        printf("GOLDEN(\"%s\", %lluu, 0x%016llxu, 0x%016llxu)\n", spec, (unsigned long long)seed,
               (unsigned long long)abench_workload_plan_digest(workload),
               (unsigned long long)abench_tape_digest(tape));
    else
        fprintf(stderr, "%s: %s\n", spec, error.message);
    abench_tape_destroy(tape);
    abench_workload_destroy(workload);
    return status != ABENCH_OK;
}

int main(void)
{
    int failed = 0;

#define GOLDEN(spec, seed, plan, work) failed |= print(spec, seed);
#include "golden.txt"
    return failed;
}
