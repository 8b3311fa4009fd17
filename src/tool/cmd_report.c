/* cmd_report.c - allocbench report DIR: the tables and files of a result directory, made anew. */
#include <getopt.h>
#include <stdio.h>

#include "tool/commands.h"

static const char usage[] =
    "usage: allocbench report [--color auto|always|never] DIR\n"
    "\n"
    "Prints the tables of a result directory (allocbench run -o DIR) again, also of one in which "
    "a\n"
    "run is still writing or was interrupted: of the rounds that are whole. It measures nothing.\n"
    "What is made from the records is made anew, and replaced:\n"
    "\n"
    "  DIR/REPORT.md         all tables, how to read them, the machine, targets, notes\n"
    "  DIR/summary.tsv       a line a workload, target and metric, over the rounds\n"
    "  DIR/raw.tsv           a line a metric of each cell, as recorded\n"
    "  DIR/samples.csv       a line a reading of the memory counters\n"
    "  DIR/rss-*.svg         RSS over time, one chart a workload\n"
    "  DIR/hgrm/             latencies, for HdrHistogram's plotters; where any were measured\n"
    "\n"
    "      --color WHEN      auto, always, never\n"
    "  -h, --help            this text\n"
    "\n"
    "Exit status: 0 done, 2 usage, 3 a directory that cannot be read or written.\n";

int cmd_report(int argc, char **argv)
{
    static const struct option options[] = {
        {"color", required_argument, NULL, 'c'}, {"help", no_argument, NULL, 'h'}, {0}};
    const char *word = NULL;
    bool color;
    int option;

    opterr = 0;
    while ((option = getopt_long(argc, argv, ":h", options, NULL)) != -1) {
        if (option == 'h') {
            fputs(usage, stdout);
            return EXIT_OK;
        }
        if (option != 'c')
            return command_bad_option(argv, option, options);
        word = optarg;
    }
    if (!command_color(word, &color))
        return command_fail(EXIT_USAGE, "--color is auto, always or never");
    if (argc - optind != 1) {
        fputs(usage, stderr);
        return EXIT_USAGE;
    }
    return command_show(argv[optind], color, NULL);
}
