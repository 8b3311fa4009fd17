#include "tool/watch_arguments.h"

#include <errno.h>
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tool/commands.h"

static const char usage[] =
    "usage: allocbench watch PID [options]\n"
    "       allocbench watch [options] -- COMMAND ARGS...\n"
    "\n"
    "Shows the memory of a process and its descendants, from now or from the command's start to\n"
    "the process's end: on a terminal drawn anew, for a PID a block of lines, for a COMMAND one\n"
    "line (sizes in units of 1024); in a pipe comma-separated values. PSS and what else the\n"
    "kernel has to walk every page for (uss, rss-lazy: RSS less lazily freed, huge) are read at\n"
    "once, and then so seldom that the process loses less than 0.1 % of its time by it. Between\n"
    "two such looks they are empty in the CSV; on a terminal they stand with their age, and as\n"
    "'-' once RSS has moved by more than 10 % since.\n"
    "\n"
    "      --period D       from one look to the next (default 100ms; 20ms, 2s; without a unit:\n"
    "                       ms)\n"
    "      --duration D     ends after so long (10s, 2m, 1h; without a unit: seconds); a\n"
    "                       command's end is still waited for\n"
    "      --dear           read PSS and so on at each look, whatever it costs the process\n"
    "      --mappings       a table by category: of a PID once, as it is now; of a command at\n"
    "                       its end, as it was at the largest of what was read, and what share\n"
    "                       of its peak that is (--dear reads it at each look)\n"
    "      --csv            comma-separated values on standard output, also on a terminal\n"
    "      --live           for a person, also where there is no terminal: then a line a look\n"
    "  -o, --output FILE    the comma-separated values go there\n"
    "  -h, --help           this text\n"
    "\n"
    "A command keeps its standard input, output and error; the live line and the summary at its\n"
    "end are on standard error. Its CSV on standard output has whole lines between the command's\n"
    "own: -o FILE keeps them apart. Ctrl-C ends the command, and the watch with it.\n"
    "\n"
    "Exit status: the command's own, or 128 and the signal that killed it; of a PID: 0 it ended,\n"
    "or the time is over, or nobody reads on, 130 interrupted; 2 usage, 3 the machine refused, 4\n"
    "there is no such process or command.\n";

enum { OPT_PERIOD = 256, OPT_DURATION, OPT_DEAR, OPT_MAPPINGS, OPT_CSV, OPT_LIVE };

static const struct option options[] = {
    {"period", required_argument, NULL, OPT_PERIOD},
    {"duration", required_argument, NULL, OPT_DURATION},
    {"dear", no_argument, NULL, OPT_DEAR},
    {"mappings", no_argument, NULL, OPT_MAPPINGS},
    {"csv", no_argument, NULL, OPT_CSV},
    {"live", no_argument, NULL, OPT_LIVE},
    {"output", required_argument, NULL, 'o'},
    {"help", no_argument, NULL, 'h'},
    {0},
};

#define PERIOD_PRESET_NS 100000000u
#define PERIOD_MOST_S    3600.0
#define DURATION_MOST_S  (366.0 * 86400)

/* From 1 ms on; a number alone is in plain seconds each. */
static bool read_time(const char *text, double plain, double most_s, uint64_t *ns)
{
    double seconds;

    if (!command_seconds(text, plain, &seconds) || seconds < 0.001 || seconds > most_s)
        return false;
    *ns = (uint64_t)(seconds * 1e9);
    return true;
}

static bool take_option(watch_arguments *a, int option, const char *value)
{
    switch (option) {
    case OPT_PERIOD:
        return read_time(value, 0.001, PERIOD_MOST_S, &a->period_ns) ||
               command_fail(EXIT_USAGE, "--period '%s': a time from 1ms to 1h is wanted", value) ==
                   EXIT_OK;
    case OPT_DURATION:
        return read_time(value, 1, DURATION_MOST_S, &a->duration_ns) ||
               command_fail(EXIT_USAGE,
                            "--duration '%s': a time like 500ms, 10s, 2m or 1h is "
                            "wanted",
                            value) == EXIT_OK;
    case OPT_DEAR:
        return a->dear = true;
    case OPT_MAPPINGS:
        return a->mappings = true;
    case OPT_CSV:
        return a->csv = true;
    case OPT_LIVE:
        return a->live = true;
    default:
        a->output = value;
        return value[0] != '\0' || command_fail(EXIT_USAGE, "-o wants a file") == EXIT_OK;
    }
}

static bool read_pid(const char *text, int32_t *pid)
{
    char *end;
    long number;

    errno = 0;
    number = strtol(text, &end, 10);
    *pid = (int32_t)number;
    return text[0] >= '0' && text[0] <= '9' && *end == '\0' && errno == 0 && number >= 1 &&
           number <= INT32_MAX;
}

/* What is watched: one word before "--", or what is behind it. */
static int take_words(watch_arguments *a, char **words, int count)
{
    if (a->command != NULL && a->command[0] == NULL)
        return command_fail(EXIT_USAGE, "a command is wanted behind '--'");
    if (a->command != NULL && count > 0)
        return command_fail(EXIT_USAGE, "'%s' and a command: one of them can be watched", words[0]);
    if (a->command == NULL && count == 0) {
        fputs(usage, stderr);
        return EXIT_USAGE;
    }
    if (count > 1)
        return command_fail(
            EXIT_USAGE, "'%s': one process can be watched; a command stands behind '--'", words[1]);
    if (count == 1 && !read_pid(words[0], &a->pid))
        return command_fail(EXIT_USAGE,
                            "'%s' is no process's number; a command stands behind '--' (allocbench "
                            "watch -- %s)",
                            words[0], words[0]);
    if (a->csv && a->live && a->output == NULL && a->command == NULL)
        return command_fail(EXIT_USAGE, "--csv and --live both go to standard output: -o FILE "
                                        "keeps them apart");
    return -1;
}

int watch_arguments_read(int argc, char **argv, watch_arguments *a)
{
    int own = 1, option;

    memset(a, 0, sizeof *a);
    a->period_ns = PERIOD_PRESET_NS;
    while (own < argc && strcmp(argv[own], "--") != 0)
        own++;
    if (own < argc)
        a->command = argv + own + 1;
    opterr = 0;
    while ((option = getopt_long(own, argv, ":o:h", options, NULL)) != -1) {
        if (option == 'h') {
            fputs(usage, stdout);
            return EXIT_OK;
        }
        if (option == '?' || option == ':')
            return command_bad_option(argv, option, options);
        if (!take_option(a, option, optarg))
            return EXIT_USAGE;
    }
    return take_words(a, argv + optind, own - optind);
}
