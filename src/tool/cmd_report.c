/* cmd_report.c - allocbench report DIR: the tables and files of a result directory, made anew. */
#include <getopt.h>
#include <stdio.h>

#include "tool/commands.h"
#include "tool/outputs.h"

static const char usage[] =
    "usage: allocbench report [options] DIR\n"
    "\n"
    "Prints the tables of a result directory (allocbench run -o DIR) again, also of one in which "
    "a\n"
    "run is still writing or was interrupted: of the rounds that are whole. It measures nothing.\n"
    "What is made from the records is made anew, and replaced:\n"
    "\n"
    "  DIR/REPORT.md         all tables, how to read them, the machine, targets, notes\n"
    "  DIR/report.html       the same as a page, with all plots; no network, no script needed\n"
    "  DIR/summary.tsv       a line a workload, target and metric, over the rounds\n"
    "  DIR/raw.tsv           a line a metric of each cell, as recorded\n"
    "  DIR/samples.csv       a line a reading of the memory counters\n"
    "  DIR/rss-*.svg         RSS over time, one chart a workload\n"
    "  DIR/hgrm/             latencies, for HdrHistogram's plotters; where any were measured\n"
    "\n" OUTPUTS_USAGE "      --color WHEN      auto, always, never\n"
    "  -h, --help            this text\n"
    "\n"
    "Exit status: 0 done, 1 a threshold failed (--fail-if), 2 usage, 3 a directory that cannot be\n"
    "read or written.\n";

int cmd_report(int argc, char **argv)
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
    else if (good && argc - optind != 1)
        fputs(usage, stderr);
    else if (good)
        status = command_show(argv[optind], color, &o, NULL);
    outputs_clear(&o);
    return status;
}
