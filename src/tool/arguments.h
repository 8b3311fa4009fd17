/*
 * arguments.h - the command line of `allocbench run`, read into a matrix.
 */
#ifndef ABENCH_TOOL_ARGUMENTS_H
#define ABENCH_TOOL_ARGUMENTS_H

#include <getopt.h>

#include "tool/matrix.h"
#include "tool/outputs.h"

#define ROUNDS_PRESET 10 /* where nobody says */

typedef struct arguments {
    const char **targets; /* -t, as written */
    size_t targets_count;
    const char *baseline; /* as written; NULL: glibc */
    const char *directory;
    const char **workloads;
    size_t workloads_count;
    char **command; /* after "--"; NULL: none */
    uint64_t seed;
    uint64_t rounds;      /* 0: --rounds did not say; of "+N": 0 */
    uint64_t more_rounds; /* of --rounds +N */
    uint64_t max_rounds;  /* 0: no bound */
    uint64_t lanes;       /* 0: none was asked, or a list of them */
    uint32_t *lane_list;  /* of --lanes 1,2,5: two or more */
    size_t lane_count;
    const char **sweeps; /* --sweep, as written */
    size_t sweeps_count;
    const char *cpus; /* of every target that names none; NULL: all */
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
    bool until_decided;
    bool no_padding;
    bool interleave; /* commands stopped and continued in turn */
    bool color;
    outputs outputs; /* thresholds and exports */
} arguments;

/* What getopt_long knows: the long options, to an empty one, and the letters. */
const struct option *arguments_options(void);
extern const char arguments_letters[];

/* Reads argv. Returns -1 to go on, or the status to exit with: what was wrong is said, help is
 * printed. */
int arguments_read(int argc, char **argv, arguments *out);

void arguments_clear(arguments *a);

#endif
