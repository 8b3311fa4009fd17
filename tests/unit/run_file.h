/*
 * run_file.h - what the tests of runs and their result files share: short runs, their files, and
 * metrics that must be what a formula gives. Included after cmocka.h.
 */
#ifndef TESTS_UNIT_RUN_FILE_H
#define TESTS_UNIT_RUN_FILE_H

#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include <allocbench/run.h>

#include "result.h"

static inline abench_run *make_run(uint64_t slice_operations)
{
    abench_run_options o = ABENCH_RUN_OPTIONS_INIT;
    abench_run *run = NULL;

    o.seed = 11;
    o.slice_operations = slice_operations;
    o.sample_us = 1000;
    o.nonce = "n\"1";
    assert_int_equal(abench_run_create(&o, &run), ABENCH_OK);
    return run;
}

static inline abench_run *play(const char *spec, const abench_allocator *allocator)
{
    abench_run *run = make_run(8000);

    if (abench_run_play(run, spec, allocator) != ABENCH_OK)
        fail_msg("%s", abench_run_error(run)->message);
    return run;
}

/* What abench_run_write writes. */
static inline void write_result(abench_run *run, result *r)
{
    const int fd = memfd_create("result", MFD_CLOEXEC);

    assert_true(fd >= 0);
    assert_int_equal(abench_run_write(run, fd, ABENCH_FORMAT_JSONL), ABENCH_OK);
    read_result(fd, r);
    close(fd);
}

static inline double metric(const abench_run *run, const char *name)
{
    double value = 0;

    if (abench_run_metric(run, name, &value) != ABENCH_OK)
        fail_msg("no metric '%s'", name);
    return value;
}

static inline void assert_metric(const abench_run *run, const char *name, double wanted)
{
    const double value = metric(run, name), off = value - wanted;
    const double bound = (wanted < 0 ? -wanted : wanted) * 1e-12;

    if (off > bound || -off > bound)
        fail_msg("%s is %.17g, its formula gives %.17g", name, value, wanted);
}

#define LOCAL "mixed:slots=256,steps=50000"
#define TWO   "mixed:lanes=2,slots=256,steps=20000"

static inline int compare(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;

    return x < y ? -1 : x > y;
}

static inline double median(double *values, size_t count)
{
    assert_true(count > 0);
    qsort(values, count, sizeof *values, compare);
    return count % 2 == 1 ? values[count / 2] : (values[count / 2 - 1] + values[count / 2]) / 2;
}

#endif
