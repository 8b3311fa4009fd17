#include "tool/arguments.h"

#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tool/commands.h"
#include "tool/util.h"

#define ROUNDS_PRESET    5
#define ROUNDS_MAX       10000
#define TIMEOUT_PRESET_S 600
#define SECONDS_MAX      (366.0 * 86400)
#define LATENCY_PRESET   1024
#define LATENCY_MAX      1000000000
#define RERUNS_PRESET    1
#define RERUNS_MAX       100
#define SETTLE_MAX_S     128

static const char usage[] =
    "usage: allocbench run WORKLOAD... [options]\n"
    "       allocbench run [WORKLOAD...] [options] -- COMMAND ARGS...\n"
    "\n"
    "WORKLOAD: NAME or NAME:KEY=VALUE,... (allocbench list workloads), or tape:FILE.\n"
    "\n"
    "  -t, --target TARGET   an allocator and its settings; may be repeated. Default: every\n"
    "                        built-in one that is found (allocbench list targets)\n"
    "                          jemalloc                  a built-in one\n"
    "                          glibc:MALLOC_ARENA_MAX=1  a variant: environment variables, and\n"
    "                                                    thp=never, aslr=off, cpus=0-1\n"
    "                          mine=/path/lib.so,K=V     any library\n"
    "      --quick           the small scale of each workload (scale=quick), and turns of 50000\n"
    "                        operations unless --slice says otherwise: a first look\n"
    "  -r, --rounds N        times that every target runs, in shuffled order (default 5)\n"
    "  -s, --seed S          first seed; round r uses S + r (default 1)\n"
    "      --same-seed       every round uses S\n"
    "  -l, --lanes T         threads, where a workload's spec names none\n"
    "  -o, --output DIR      result directory; the same command goes on with what is there\n"
    "                        (default: allocbench-results)\n"
    "      --baseline TARGET what the others are compared with; runs twice a round (default "
    "glibc)\n"
    "      --slice N         operations that a target plays at its turn (default 400000)\n"
    "      --duration D      how long a workload's timed part shall take under the baseline: its\n"
    "                        length is chosen for that once, and is the same work for every "
    "target;\n"
    "                        for a command that is a harness: its time. 500ms, 10s, 2m, 1h\n"
    "      --paced           in real time, for allocators that purge by the clock: workloads that\n"
    "                        can (paced=1), for time=1m unless they or --duration say otherwise\n"
    "      --latency N       time one operation in N by itself (default 1024; 0: none)\n"
    "      --tails           a pass more a round that times every operation, for far quantiles\n"
    "      --settle D        read memory 1, 2, 4, 8 ... s after everything was freed, up to D\n"
    "                        (at most 128s): what comes back by itself\n"
    "      --strict          refuse a machine that the doctor refuses (allocbench doctor), and\n"
    "                        rounds in which it changed\n"
    "      --reruns N        run a round again, up to N times, in which the machine changed:\n"
    "                        swapping, throttling, stolen time, another THP mode... (default 1)\n"
    "      --cooldown D      sleep between cells or rounds (default 0)\n"
    "      --timeout D       longest silence of a workload's cell, longest time of a command\n"
    "                        (default 600s; 0: none)\n"
    "      --skip-bad        go on without targets that are missing or not what they should be\n"
    "      --keep-env        keep LD_PRELOAD and the variables that steer allocators\n"
    "      --retry-failed    run finished rounds again in which a cell failed\n"
    "      --ignore-failure  a command's exit status other than 0 is no failure\n"
    "      --sequential      play a workload's cells one after the other instead of in lockstep:\n"
    "                        what the difference in noise is (tests/bench/lockstep.py)\n"
    "      --no-floor        do not run the null allocator beside the targets\n"
    "      --color WHEN      auto, always, never\n"
    "\n"
    "Exit status: 0 done, 2 usage, 3 the machine refused, 4 a target or the command failed,\n"
    "130 interrupted: the same command goes on.\n";

enum {
    OPT_SAME_SEED = 256,
    OPT_QUICK,
    OPT_BASELINE,
    OPT_SLICE,
    OPT_DURATION,
    OPT_PACED,
    OPT_LATENCY,
    OPT_TAILS,
    OPT_SETTLE,
    OPT_STRICT,
    OPT_RERUNS,
    OPT_COOLDOWN,
    OPT_TIMEOUT,
    OPT_SKIP_BAD,
    OPT_KEEP_ENV,
    OPT_IGNORE_FAILURE,
    OPT_RETRY_FAILED,
    OPT_NO_FLOOR,
    OPT_SEQUENTIAL,
    OPT_COLOR
};

static const struct option options[] = {
    {"target", required_argument, NULL, 't'},
    {"quick", no_argument, NULL, OPT_QUICK},
    {"rounds", required_argument, NULL, 'r'},
    {"seed", required_argument, NULL, 's'},
    {"same-seed", no_argument, NULL, OPT_SAME_SEED},
    {"lanes", required_argument, NULL, 'l'},
    {"output", required_argument, NULL, 'o'},
    {"baseline", required_argument, NULL, OPT_BASELINE},
    {"slice", required_argument, NULL, OPT_SLICE},
    {"duration", required_argument, NULL, OPT_DURATION},
    {"paced", no_argument, NULL, OPT_PACED},
    {"latency", required_argument, NULL, OPT_LATENCY},
    {"tails", no_argument, NULL, OPT_TAILS},
    {"settle", required_argument, NULL, OPT_SETTLE},
    {"strict", no_argument, NULL, OPT_STRICT},
    {"reruns", required_argument, NULL, OPT_RERUNS},
    {"cooldown", required_argument, NULL, OPT_COOLDOWN},
    {"timeout", required_argument, NULL, OPT_TIMEOUT},
    {"skip-bad", no_argument, NULL, OPT_SKIP_BAD},
    {"keep-env", no_argument, NULL, OPT_KEEP_ENV},
    {"ignore-failure", no_argument, NULL, OPT_IGNORE_FAILURE},
    {"retry-failed", no_argument, NULL, OPT_RETRY_FAILED},
    {"no-floor", no_argument, NULL, OPT_NO_FLOOR},
    {"sequential", no_argument, NULL, OPT_SEQUENTIAL},
    {"color", required_argument, NULL, OPT_COLOR},
    {"help", no_argument, NULL, 'h'},
    {0},
};

/* Of up to a year. */
static bool read_seconds(const char *option, const char *text, double *seconds)
{
    if (command_seconds(text, 1, seconds) && *seconds <= SECONDS_MAX)
        return true;
    command_fail(EXIT_USAGE, "%s '%s': a time like 500ms, 10s, 2m or 1h is wanted", option, text);
    return false;
}

static void add(const char ***list, size_t *count, const char *item)
{
    *list = xrealloc(*list, (*count + 1) * sizeof **list);
    (*list)[(*count)++] = item;
}

/* Readings are taken after whole seconds. */
static bool read_settle(arguments *a, const char *value)
{
    double seconds;

    if (!read_seconds("--settle", value, &seconds))
        return false;
    a->settle_s = (uint64_t)seconds;
    if (seconds == 0 || (seconds >= 1 && seconds <= SETTLE_MAX_S))
        return true;
    command_fail(EXIT_USAGE, "--settle '%s': 1s to %ds is wanted, or 0", value, SETTLE_MAX_S);
    return false;
}

/* One known option. false: its value is wrong, and that is said. */
static bool take_option(arguments *a, int option, const char *value)
{
    switch (option) {
    case 't':
        add(&a->targets, &a->targets_count, value);
        return true;
    case OPT_QUICK:
        return a->quick = true;
    case 'r':
        return command_number("--rounds", value, 1, ROUNDS_MAX, &a->rounds);
    case 's':
        return command_number("--seed", value, 0, UINT64_MAX, &a->seed);
    case 'l':
        return command_number("--lanes", value, 1, ABENCH_LANES_MAX, &a->lanes);
    case 'o':
        a->directory = value;
        return value[0] != '\0' || command_fail(EXIT_USAGE, "-o wants a directory") == EXIT_OK;
    case OPT_BASELINE:
        a->baseline = value;
        return true;
    case OPT_SLICE:
        return command_number("--slice", value, 1, (uint64_t)1 << 40, &a->slice_operations);
    case OPT_DURATION:
        if (!read_seconds("--duration", value, &a->duration_s))
            return false;
        if (a->duration_s >= 0.001)
            return true;
        command_fail(EXIT_USAGE, "--duration '%s': at least 1ms is wanted", value);
        return false;
    case OPT_PACED:
        return a->paced = true;
    case OPT_LATENCY:
        return command_number("--latency", value, 0, LATENCY_MAX, &a->latency);
    case OPT_TAILS:
        return a->tails = true;
    case OPT_SETTLE:
        return read_settle(a, value);
    case OPT_STRICT:
        return a->strict = true;
    case OPT_RERUNS:
        return command_number("--reruns", value, 0, RERUNS_MAX, &a->reruns);
    case OPT_COOLDOWN:
        return read_seconds("--cooldown", value, &a->cooldown_s);
    case OPT_TIMEOUT:
        return read_seconds("--timeout", value, &a->timeout_s);
    case OPT_SAME_SEED:
        return a->same_seed = true;
    case OPT_SKIP_BAD:
        return a->skip_bad = true;
    case OPT_KEEP_ENV:
        return a->keep_environment = true;
    case OPT_IGNORE_FAILURE:
        return a->ignore_failure = true;
    case OPT_RETRY_FAILED:
        return a->retry_failed = true;
    case OPT_NO_FLOOR:
        return a->no_floor = true;
    case OPT_SEQUENTIAL:
        return a->sequential = true;
    default:
        return command_color(value, &a->color) ||
               command_fail(EXIT_USAGE, "--color is auto, always or never") == EXIT_OK;
    }
}

int arguments_read(int argc, char **argv, arguments *a)
{
    int own = 1, option;

    memset(a, 0, sizeof *a);
    a->seed = 1;
    a->rounds = ROUNDS_PRESET;
    a->timeout_s = TIMEOUT_PRESET_S;
    a->latency = LATENCY_PRESET;
    a->reruns = RERUNS_PRESET;
    a->directory = "allocbench-results";
    command_color(NULL, &a->color);
    while (own < argc && strcmp(argv[own], "--") != 0)
        own++;
    if (own < argc)
        a->command = argv + own + 1;
    opterr = 0;
    while ((option = getopt_long(own, argv, ":t:r:s:l:o:h", options, NULL)) != -1) {
        if (option == 'h') {
            fputs(usage, stdout);
            return EXIT_OK;
        }
        if (option == '?' || option == ':')
            return command_bad_option(argv, option, options);
        if (!take_option(a, option, optarg))
            return EXIT_USAGE;
    }
    for (int at = optind; at < own; at++)
        add(&a->workloads, &a->workloads_count, argv[at]);
    if (a->command != NULL && a->command[0] == NULL)
        return command_fail(EXIT_USAGE, "a command is wanted behind '--'");
    if (a->workloads_count == 0 && a->command == NULL) {
        fputs(usage, stderr);
        return EXIT_USAGE;
    }
    return -1;
}

void arguments_clear(arguments *a)
{
    free(a->targets);
    free(a->workloads);
    memset(a, 0, sizeof *a);
}
