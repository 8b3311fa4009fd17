/* cmd_doctor.c - allocbench doctor: is this machine fit for a comparison of allocators? */
#include <errno.h>
#include <getopt.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <allocbench/machine.h>

#include "tool/commands.h"
#include "tool/doctor_print.h"
#include "tool/terminal.h"
#include "tool/util.h"

static const char usage[] =
    "usage: allocbench doctor [--strict] [--json] [options]\n"
    "\n"
    "Looks at all of this machine that is known to make a comparison of allocators wrong. Each\n"
    "finding has a verdict: ok; warn: results may mislead; refuse: they would; unknown: this\n"
    "machine does not tell. What it warns of it explains, and it says what to do.\n"
    "\n"
    "      --strict          exit with 3 when a finding refuses\n"
    "      --json            a list of objects with every field, for another program\n"
    "      --window D        how long waits, steal and pressure are watched (default 200ms;\n"
    "                        500ms, 2s; without a unit: ms)\n"
    "  -v, --verbose         each unknown one too, and why each finding matters\n"
    "      --color WHEN      auto, always, never\n"
    "  -h, --help            this text\n"
    "\n"
    "Exit status: 0 done, 2 usage, 3 --strict and a finding refuses, or it cannot look.\n";

enum { OPT_STRICT = 256, OPT_JSON, OPT_WINDOW, OPT_COLOR };

#define WINDOW_MOST_MS 60000u

static const struct option options[] = {
    {"strict", no_argument, NULL, OPT_STRICT},
    {"json", no_argument, NULL, OPT_JSON},
    {"window", required_argument, NULL, OPT_WINDOW},
    {"verbose", no_argument, NULL, 'v'},
    {"color", required_argument, NULL, OPT_COLOR},
    {"help", no_argument, NULL, 'h'},
    {0},
};

typedef struct asked {
    uint32_t window_ms; /* 0: the library's */
    bool strict;
    bool json;
    bool verbose;
    bool color;
} asked;

static bool read_window(const char *text, uint32_t *window_ms)
{
    double seconds;

    if (command_seconds(text, 0.001, &seconds) && seconds >= 0.001 &&
        seconds * 1000 <= WINDOW_MOST_MS) {
        *window_ms = (uint32_t)(seconds * 1000 + 0.5);
        return true;
    }
    command_fail(EXIT_USAGE, "--window '%s': a time from 1ms to 60s is wanted", text);
    return false;
}

static bool take_option(asked *a, int option, const char *value)
{
    switch (option) {
    case OPT_STRICT:
        return a->strict = true;
    case OPT_JSON:
        return a->json = true;
    case OPT_WINDOW:
        return read_window(value, &a->window_ms);
    case 'v':
        return a->verbose = true;
    default:
        return command_color(value, &a->color) ||
               command_fail(EXIT_USAGE, "--color is auto, always or never") == EXIT_OK;
    }
}

/* -1: go on; else an exit status. */
static int read_arguments(asked *a, int argc, char **argv)
{
    int option;

    a->color = terminal_has_color(STDOUT_FILENO);
    opterr = 0;
    while ((option = getopt_long(argc, argv, ":vh", options, NULL)) != -1) {
        if (option == 'h') {
            fputs(usage, stdout);
            return EXIT_OK;
        }
        if (option == '?' || option == ':')
            return command_bad_option(argv, option, options);
        if (!take_option(a, option, optarg))
            return EXIT_USAGE;
    }
    if (optind < argc)
        return command_fail(EXIT_USAGE, "'%s' is no option (allocbench doctor --help)",
                            argv[optind]);
    return -1;
}

static void print_json(const abench_finding *findings, size_t count)
{
    json_t *list = doctor_json(findings, count);

    json_dumpf(list, stdout, JSON_INDENT(2));
    putchar('\n');
    json_decref(list);
}

static void print_table(const asked *a, const abench_finding *findings, size_t count)
{
    const doctor_style style = {
        .width = terminal_width(STDOUT_FILENO), .color = a->color, .is_verbose = a->verbose};

    doctor_print(findings, count, &style, stdout);
    putchar('\n');
    doctor_print_counts(findings, count, stdout);
}

static int tell(const asked *a, const abench_doctor *doctor)
{
    size_t count;
    abench_finding *findings = doctor_findings(doctor, &count);
    const size_t refused = doctor_count(findings, count).refuse;

    if (a->json)
        print_json(findings, count);
    else
        print_table(a, findings, count);
    free(findings);
    /* A reader that goes away has seen enough. */
    if ((fflush(stdout) != 0 || ferror(stdout)) && errno != EPIPE)
        return command_fail(EXIT_ENVIRONMENT, "standard output cannot be written");
    if (a->strict && refused > 0)
        return command_fail(EXIT_ENVIRONMENT, "%zu finding%s refuse%s a comparison here (--strict)",
                            refused, refused == 1 ? "" : "s", refused == 1 ? "s" : "");
    return EXIT_OK;
}

int cmd_doctor(int argc, char **argv)
{
    abench_doctor_options how = ABENCH_DOCTOR_OPTIONS_INIT;
    abench_doctor *doctor = NULL;
    asked a = {0};
    abench_status status;
    int answer = read_arguments(&a, argc, argv);

    if (answer != -1)
        return answer;
    how.window_ms = a.window_ms;
    status = abench_doctor_create(&how, &doctor);
    if (status != ABENCH_OK)
        return command_fail(EXIT_ENVIRONMENT, "the machine cannot be looked at: %s",
                            abench_status_message(status));
    answer = tell(&a, doctor);
    abench_doctor_destroy(doctor);
    return answer;
}
