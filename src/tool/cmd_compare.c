/* cmd_compare.c - allocbench compare A B: what changed between two result directories. */
#include <getopt.h>
#include <stdio.h>

#include "tool/commands.h"
#include "tool/compare.h"
#include "tool/outputs.h"
#include "tool/report/compare_text.h"
#include "tool/util.h"

static const char usage[] =
    "usage: allocbench compare [options] A B\n"
    "\n"
    "Compares two result directories (allocbench run -o DIR): before and after a change, or two\n"
    "machines. It measures nothing and writes nothing into them. The same target in the same\n"
    "workload is compared: its ratio to the baseline, which was measured beside it on both sides;\n"
    "memory by its values where both machines are the same. How A and B differ is said; what did\n"
    "other work is not compared. A limit on a ratio (--fail-if) is on B's by A's, one on a value "
    "on\n"
    "B's.\n"
    "\n" OUTPUTS_USAGE "      --color WHEN      auto, always, never\n"
    "  -h, --help            this text\n"
    "\n"
    "Exit status: 0 done, 1 a threshold failed (--fail-if), 2 usage, 3 a directory that cannot be\n"
    "read, or two that must not be compared.\n";

static int compare(const char *a, const char *b, const outputs *o, bool color)
{
    char message[2048];
    comparison *c = compare_make(a, b, message, sizeof message);
    int status;

    if (c == NULL)
        return command_fail(EXIT_ENVIRONMENT, "%s", message);
    if (!outputs_own_stdout(o))
        compare_terminal(c, stdout, color);
    status = outputs_compare(o, c);
    compare_free(c);
    if (fflush(stdout) != 0)
        return command_fail(EXIT_ENVIRONMENT, "standard output cannot be written");
    return status;
}

int cmd_compare(int argc, char **argv)
{
    static const struct option options[] = {OUTPUTS_OPTIONS,
                                            {"color", required_argument, NULL, 'c'},
                                            {"help", no_argument, NULL, 'h'},
                                            {0}};
    const char *word = NULL;
    outputs o = {0};
    bool color, good = true;
    int option, status = EXIT_USAGE;

    opterr = 0;
    while (good && (option = getopt_long(argc, argv, ":h", options, NULL)) != -1) {
        if (option == 'h') {
            fputs(usage, stdout);
            outputs_clear(&o);
            return EXIT_OK;
        }
        if (outputs_has(option))
            good = outputs_take(&o, option, optarg);
        else if (option == 'c')
            word = optarg;
        else
            good = command_bad_option(argv, option, options) == EXIT_OK;
    }
    if (good && !command_color(word, &color))
        command_fail(EXIT_USAGE, "--color is auto, always or never");
    else if (good && argc - optind != 2)
        fputs(usage, stderr);
    else if (good)
        status = compare(argv[optind], argv[optind + 1], &o, color);
    outputs_clear(&o);
    return status;
}
