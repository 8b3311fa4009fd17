/* 01_quickstart.c - play a workload of the catalogue in this process and print three metrics.
 *
 *   cc 01_quickstart.c $(pkg-config --cflags --libs allocbench) && ./a.out
 *       (installed where the loader does not look: add -Wl,-rpath,PREFIX/lib)
 *   LD_PRELOAD=libjemalloc.so.2 ./a.out       the same work under another malloc
 */
#include <allocbench/allocbench.h>
#include <stdio.h>

int main(void)
{
    static const char *const wanted[] = {"time_ns_per_operation", "usable_per_live", "rss_bytes"};
    abench_run_options options = ABENCH_RUN_OPTIONS_INIT;
    abench_identity who = ABENCH_IDENTITY_INIT;
    abench_run *run = NULL;
    double value;
    int failed;

    options.seed = 42; /* the same seed, the same work: on every machine, under every allocator */
    failed = abench_run_create(&options, &run) != ABENCH_OK ||
             abench_run_play(run, "mixed:steps=1000000", NULL) != ABENCH_OK;
    if (failed)
        fprintf(stderr, "%s\n", run == NULL ? "no run" : abench_run_error(run)->message);
    if (!failed && abench_allocator_identify(&who) == ABENCH_OK)
        printf("malloc is %s %s\n", who.family, who.version);
    for (unsigned at = 0; !failed && at < 3; at++)
        if (abench_run_metric(run, wanted[at], &value) == ABENCH_OK)
            printf("%-22s %.2f\n", wanted[at], value);
    abench_run_destroy(run);
    return failed;
}
