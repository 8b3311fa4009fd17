/* main.c - the allocbench command: picks the verb. */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include <allocbench/allocbench.h>

#include "tool/commands.h"

static const char usage[] =
    "allocbench measures what another malloc would do to a program.\n"
    "\n"
    "  allocbench run WORKLOAD... [options]            workloads of the catalogue\n"
    "  allocbench run [WORKLOAD...] [options] -- COMMAND ARGS...   any program\n"
    "  allocbench plan WORKLOAD... [options]           the same as a file, to run it later:\n"
    "  allocbench round PLAN.json N -o DIR             one round of it, here or elsewhere\n"
    "  allocbench merge -o DIR DIR...                  rounds that were run apart, as one result\n"
    "  allocbench report DIR                           the tables of a result directory again\n"
    "  allocbench compare A B                          two result directories: before and after\n"
    "  allocbench check [-t TARGET]...                 does a malloc do what C asks of it?\n"
    "  allocbench doctor [--strict] [--json]           is this machine fit for a comparison?\n"
    "  allocbench watch PID | -- COMMAND ARGS...       the memory of a process, as it goes\n"
    "  allocbench list [workloads|targets|metrics]     what there is\n"
    "  allocbench tape show|digest|summary|save ...    what a workload does, step by step\n"
    "  allocbench --version\n"
    "\n"
    "allocbench run --help tells the options. Start with:\n"
    "  allocbench run mixed -t glibc -t jemalloc\n";

static const char *const verbs[] = {"run",     "plan", "round", "merge",  "check", "report",
                                    "compare", "list", "tape",  "doctor", "watch"};

static int unknown_verb(const char *verb)
{
    size_t nearest = 0;

    for (size_t at = 1; at < sizeof verbs / sizeof verbs[0]; at++)
        if (abench_text_distance(verb, verbs[at]) < abench_text_distance(verb, verbs[nearest]))
            nearest = at;
    return command_fail(EXIT_USAGE, "there is no command '%s'; did you mean '%s'? (--help)", verb,
                        verbs[nearest]);
}

/* A descriptor 0, 1 or 2 that was closed would go to the next file that is opened, and what is
 * printed into it. */
static void hold_standard(void)
{
    int fd;

    do
        fd = open("/dev/null", O_RDWR);
    while (fd >= 0 && fd <= STDERR_FILENO);
    if (fd >= 0)
        close(fd);
}

int main(int argc, char **argv)
{
    const bool runs = argc > 1 && (strcmp(argv[1], "run") == 0 || strcmp(argv[1], "round") == 0);
    spawner *s;

    hold_standard();
    /* First of all: what is forked later would inherit this process's size. */
    s = runs ? spawner_start() : NULL;
    if (runs && s == NULL)
        return command_fail(EXIT_ENVIRONMENT, "the spawner cannot be forked: %s", strerror(errno));
    signal(SIGXFSZ, SIG_IGN); /* a limit on a file's size is told by write */
    signal(SIGPIPE, SIG_IGN); /* a child that dies is told by its pipe's end */
    if (argc < 2) {
        fputs(usage, stderr);
        return EXIT_USAGE;
    }
    if (strcmp(argv[1], "--help") == 0 || strcmp(argv[1], "-h") == 0 ||
        strcmp(argv[1], "help") == 0) {
        fputs(usage, stdout);
        return EXIT_OK;
    }
    if (strcmp(argv[1], "--version") == 0) {
        printf("allocbench %s\n", abench_version_string());
        return EXIT_OK;
    }
    if (runs)
        return (strcmp(argv[1], "run") == 0 ? cmd_run : cmd_round)(argc - 1, argv + 1, s);
    if (strcmp(argv[1], "plan") == 0)
        return cmd_plan(argc - 1, argv + 1);
    if (strcmp(argv[1], "merge") == 0)
        return cmd_merge(argc - 1, argv + 1);
    if (strcmp(argv[1], "check") == 0)
        return cmd_check(argc - 1, argv + 1);
    if (strcmp(argv[1], "report") == 0)
        return cmd_report(argc - 1, argv + 1);
    if (strcmp(argv[1], "compare") == 0)
        return cmd_compare(argc - 1, argv + 1);
    if (strcmp(argv[1], "tape") == 0)
        return cmd_tape(argc - 1, argv + 1);
    if (strcmp(argv[1], "list") == 0)
        return cmd_list(argc - 1, argv + 1);
    if (strcmp(argv[1], "doctor") == 0)
        return cmd_doctor(argc - 1, argv + 1);
    if (strcmp(argv[1], "watch") == 0)
        return cmd_watch(argc - 1, argv + 1);
    return unknown_verb(argv[1]);
}
