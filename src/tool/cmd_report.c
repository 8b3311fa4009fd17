/* cmd_report.c - allocbench report DIR: the tables and files of a result directory, made anew. */
#include <getopt.h>
#include <stdio.h>

#include "tool/commands.h"

static const char usage[] = "usage: allocbench report [--color auto|always|never] DIR\n";

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
