#include "tool/arguments.h"

#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tool/commands.h"
#include "tool/run_usage.h"
#include "tool/util.h"

#define ROUNDS_MAX       10000
#define TIMEOUT_PRESET_S 600
#define SECONDS_MAX      (366.0 * 86400)
#define LATENCY_PRESET   1024
#define LATENCY_MAX      1000000000
#define RERUNS_PRESET    1
#define RERUNS_MAX       100
#define SETTLE_MAX_S     128

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
    OPT_CPUS,
    OPT_SWEEP,
    OPT_UNTIL_DECIDED,
    OPT_MAX_ROUNDS,
    OPT_NO_PADDING,
    OPT_INTERLEAVE,
    OPT_PLAN,
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
    {"cpus", required_argument, NULL, OPT_CPUS},
    {"sweep", required_argument, NULL, OPT_SWEEP},
    {"until-decided", no_argument, NULL, OPT_UNTIL_DECIDED},
    {"max-rounds", required_argument, NULL, OPT_MAX_ROUNDS},
    {"no-padding", no_argument, NULL, OPT_NO_PADDING},
    {"interleave", no_argument, NULL, OPT_INTERLEAVE},
    {"plan", required_argument, NULL, OPT_PLAN},
    OUTPUTS_OPTIONS,
    {"color", required_argument, NULL, OPT_COLOR},
    {"help", no_argument, NULL, 'h'},
    {0},
};

const char arguments_letters[] = ":t:r:s:l:o:h";

const struct option *arguments_options(void)
{
    return options;
}

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

/* "N", or "+N": more than are there. */
static bool read_rounds(arguments *a, const char *value)
{
    const bool more = value[0] == '+';

    a->rounds = a->more_rounds = 0;
    return command_number("--rounds", value + more, 1, ROUNDS_MAX,
                          more ? &a->more_rounds : &a->rounds);
}

/* "T", or "T,T,...": a lane count each. */
static bool read_lanes(arguments *a, const char *value)
{
    const char *at = value;
    uint64_t lanes;

    free(a->lane_list);
    a->lane_list = NULL;
    a->lane_count = 0;
    a->lanes = 0;
    for (;;) {
        const size_t length = strcspn(at, ",");
        char *one = xstrndup(at, length);
        const bool good = command_number("--lanes", one, 1, ABENCH_LANES_MAX, &lanes);
        free(one);
        if (!good)
            return false;
        for (size_t seen = 0; seen < a->lane_count; seen++)
            if (a->lane_list[seen] == lanes)
                return command_fail(EXIT_USAGE, "--lanes '%s' names %llu twice", value,
                                    (unsigned long long)lanes) == EXIT_OK;
        a->lane_list = xrealloc(a->lane_list, (a->lane_count + 1) * sizeof *a->lane_list);
        a->lane_list[a->lane_count++] = (uint32_t)lanes;
        if (at[length] == '\0')
            break;
        at += length + 1;
    }
    if (a->lane_count > 1)
        return true;
    free(a->lane_list);
    a->lane_list = NULL;
    a->lane_count = 0;
    a->lanes = lanes;
    return true;
}

/* One known option. false: its value is wrong, and that is said. */
static bool take_option(arguments *a, int option, const char *value)
{
    if (outputs_has(option))
        return outputs_take(&a->outputs, option, value);
    switch (option) {
    case 't':
        add(&a->targets, &a->targets_count, value);
        return true;
    case OPT_QUICK:
        return a->quick = true;
    case 'r':
        return read_rounds(a, value);
    case 's':
        return command_number("--seed", value, 0, UINT64_MAX, &a->seed);
    case 'l':
        return read_lanes(a, value);
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
    case OPT_CPUS:
        a->cpus = value;
        return true;
    case OPT_SWEEP:
        add(&a->sweeps, &a->sweeps_count, value);
        return true;
    case OPT_UNTIL_DECIDED:
        return a->until_decided = true;
    case OPT_MAX_ROUNDS:
        return command_number("--max-rounds", value, 1, ROUNDS_MAX, &a->max_rounds);
    case OPT_NO_PADDING:
        return a->no_padding = true;
    case OPT_INTERLEAVE:
        return a->interleave = true;
    case OPT_PLAN:
        return true; /* plan_take put its words in its place */
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
    while ((option = getopt_long(own, argv, arguments_letters, options, NULL)) != -1) {
        if (option == 'h') {
            run_usage_print(stdout);
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
    if (a->max_rounds != 0 && !a->until_decided)
        return command_fail(EXIT_USAGE, "--max-rounds is for --until-decided");
    if (a->more_rounds != 0 && a->until_decided)
        return command_fail(EXIT_USAGE,
                            "--until-decided looks at rounds of its own: leave out "
                            "--rounds +%llu",
                            (unsigned long long)a->more_rounds);
    if (a->lane_count > 0 && a->command != NULL)
        return command_fail(EXIT_USAGE, "--lanes with several numbers is for workloads: a command "
                                        "is told one");
    if (a->interleave && a->sequential && a->workloads_count == 0)
        return command_fail(EXIT_USAGE, "--interleave and --sequential are two ways to run a "
                                        "command: one of them");
    if (a->interleave && a->command == NULL && a->workloads_count > 0)
        return command_fail(EXIT_USAGE, "--interleave is for a command (-- COMMAND): tapes are "
                                        "played in lockstep");
    if (a->workloads_count == 0 && a->command == NULL) {
        run_usage_print(stderr);
        return EXIT_USAGE;
    }
    return -1;
}

void arguments_clear(arguments *a)
{
    free(a->targets);
    free(a->workloads);
    free(a->sweeps);
    free(a->lane_list);
    outputs_clear(&a->outputs);
    memset(a, 0, sizeof *a);
}
