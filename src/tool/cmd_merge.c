/* cmd_merge.c - allocbench merge: rounds that were run apart, as one result directory. */
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>

#include "tool/commands.h"
#include "tool/merge.h"

static const char usage[] =
    "usage: allocbench merge -o DIR DIR...\n"
    "\n"
    "Brings the rounds of one plan that were run apart (allocbench round), or on several "
    "machines,\n"
    "into a new result directory. The others are only read. Each round stays paired within the\n"
    "machine that ran it; the report shows what each machine says (allocbench report DIR).\n"
    "\n"
    "All must ask the same: workloads, seed, options, and the same version of each allocator. A\n"
    "round that two have alike counts once; of two that differ the first stays, and a note tells.\n"
    "\n"
    "  -o, --output DIR      the result; it must not be there yet\n"
    "  -h, --help            this text\n"
    "\n"
    "Exit status: 0 done, 2 usage, 3 directories that do not belong together, or cannot be read "
    "or\n"
    "written. An interrupted merge leaves DIR.merging behind, and the same command begins anew.\n";

static void tell(const merge *m, const char *directory)
{
    const size_t machines = json_array_size(json_object_get(m->root, "machines"));

    printf("%zu round%s of %zu machine%s in %s\n", m->rounds, m->rounds == 1 ? "" : "s", machines,
           machines == 1 ? "" : "s", directory);
    if (m->twice > 0)
        printf("%zu that %s there twice %s once.\n", m->twice, m->twice == 1 ? "was" : "were",
               m->twice == 1 ? "counts" : "count");
    if (m->left_out > 0)
        printf("%zu of a number that was taken already, and not the same, left out: see the notes "
               "of the report.\n",
               m->left_out);
    printf("Next: allocbench report %s\n", directory);
}

int cmd_merge(int argc, char **argv)
{
    static const struct option options[] = {
        {"output", required_argument, NULL, 'o'}, {"help", no_argument, NULL, 'h'}, {0}};
    const char *directory = NULL;
    char message[2048] = "";
    merge m;
    int option, status = EXIT_OK;

    opterr = 0;
    while ((option = getopt_long(argc, argv, ":o:h", options, NULL)) != -1) {
        if (option == 'h') {
            fputs(usage, stdout);
            return EXIT_OK;
        }
        if (option != 'o')
            return command_bad_option(argv, option, options);
        directory = optarg;
    }
    if (argc == optind) {
        fputs(usage, stderr);
        return EXIT_USAGE;
    }
    if (directory == NULL || directory[0] == '\0')
        return command_fail(EXIT_USAGE, "-o DIR is wanted: where the result goes");
    if (!merge_directories(directory, argv + optind, (size_t)(argc - optind), &m, message,
                           sizeof message))
        status = command_fail(EXIT_ENVIRONMENT, "%s", message);
    else
        tell(&m, directory);
    merge_clear(&m);
    if (fflush(stdout) != 0)
        return command_fail(EXIT_ENVIRONMENT, "standard output cannot be written");
    return status;
}
