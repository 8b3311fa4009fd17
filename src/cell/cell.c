/*
 * cell.c - the harness that plays one workload in one process: `allocbench run WORKLOAD` starts it
 * once for each target and round. It needs the library only, so that nothing but the target's
 * allocator and the work is in the process.
 *
 *   allocbench-cell WORKLOAD          plays it; options by ALLOCBENCH_... (see run.h)
 *   allocbench-cell --null WORKLOAD   plays it against the null allocator: the floor
 *   allocbench-cell --identify        prints who serves malloc here: key=value lines
 *   allocbench-cell --check [PREFIX [FIRST]]  checks that malloc does what C asks (see check.h)
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <allocbench/allocbench.h>

#include "cell/check.h"

#define EXIT_USAGE  2
#define EXIT_FAILED 4

static int fail(const char *message)
{
    fprintf(stderr, "allocbench-cell: %s\n", message);
    return EXIT_FAILED;
}

static int identify(void)
{
    abench_identity identity = ABENCH_IDENTITY_INIT;

    if (abench_allocator_identify(&identity) != ABENCH_OK)
        return fail("who serves malloc could not be found out");
    printf("family=%s\nversion=%s\nbuild_id=%s\nfile=%s\ndevice=%llu\ninode=%llu\nmixed=%d\n"
           "static=%d\nothers=%s\n",
           identity.family, identity.version, identity.build_id, identity.file,
           (unsigned long long)identity.device, (unsigned long long)identity.inode,
           (identity.flags & ABENCH_IDENTITY_MIXED) != 0,
           (identity.flags & ABENCH_IDENTITY_STATIC) != 0, identity.others);
    return fflush(stdout) == 0 ? 0 : fail("standard output cannot be written");
}

/* The largest request of the null allocator: what any workload of the catalogue asks for. */
#define NULL_SIZE_MAXIMUM ((uint64_t)1 << 32)

static int play(const char *workload, int floor)
{
    abench_run_options options = ABENCH_RUN_OPTIONS_INIT;
    abench_error error = ABENCH_ERROR_INIT;
    abench_allocator null_allocator = ABENCH_ALLOCATOR_INIT;
    abench_run *run = NULL;
    abench_status status;
    int has_result, result = 0;

    status = abench_run_options_from_environment(&options, &error);
    if (status != ABENCH_OK)
        return fail(error.message);
    if (floor && abench_allocator_null(NULL_SIZE_MAXIMUM, &null_allocator) != ABENCH_OK)
        return fail("no address space for the null allocator");
    has_result = options.result_path != NULL;
    status = abench_run_create(&options, &run);
    if (status != ABENCH_OK)
        return fail(has_result ? "the result file cannot be created" : "no run could be made");
    status = abench_run_play(run, workload, floor ? &null_allocator : NULL);
    if (status == ABENCH_OK && !has_result)
        status = abench_run_write(run, STDOUT_FILENO, ABENCH_FORMAT_JSONL);
    if (status != ABENCH_OK)
        result = fail(abench_run_error(run)->message);
    abench_run_destroy(run);
    return result;
}

int main(int argc, char **argv)
{
    if (argc == 2 && strcmp(argv[1], "--identify") == 0)
        return identify();
    if (argc == 3 && strcmp(argv[1], "--null") == 0)
        return play(argv[2], 1);
    if (argc == 2 && argv[1][0] != '-')
        return play(argv[1], 0);
    if (argc >= 2 && argc <= 4 && strcmp(argv[1], "--check") == 0)
        return check_run(argc > 2 ? argv[2] : "", argc > 3 ? strtoul(argv[3], NULL, 10) : 0);
    fprintf(stderr, "usage: allocbench-cell [--null] WORKLOAD | --identify | "
                    "--check [PREFIX [FIRST]]\n");
    return EXIT_USAGE;
}
