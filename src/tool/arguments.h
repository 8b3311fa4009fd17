/*
 * arguments.h - the command line of `allocbench run`, read into a matrix.
 */
#ifndef ABENCH_TOOL_ARGUMENTS_H
#define ABENCH_TOOL_ARGUMENTS_H

#include "tool/matrix.h"

typedef struct arguments {
    const char **targets; /* -t, as written */
    size_t targets_count;
    const char *baseline; /* as written; NULL: glibc */
    const char *directory;
    const char **workloads;
    size_t workloads_count;
    char **command; /* after "--"; NULL: none */
    uint64_t seed;
    uint64_t rounds;
    uint64_t lanes;
    uint64_t slice_operations;
    uint64_t latency; /* one operation in so many is timed by itself; 0: none */
    double duration_s;
    double cooldown_s;
    double timeout_s;
    uint64_t settle_s; /* memory is read for so long after everything was freed */
    uint64_t reruns;   /* of a round in which the machine changed */
    bool strict;
    bool quick;
    bool paced;
    bool tails;
    bool same_seed;
    bool keep_environment;
    bool ignore_failure;
    bool retry_failed;
    bool skip_bad;
    bool no_floor;
    bool sequential;
    bool color;
} arguments;

/* Reads argv. Returns -1 to go on, or the status to exit with: what was wrong is said, help is
 * printed. */
int arguments_read(int argc, char **argv, arguments *out);

void arguments_clear(arguments *a);

#endif
