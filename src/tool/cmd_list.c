/* cmd_list.c - allocbench list: workloads, targets and metrics that there are. */
#include <getopt.h>
#include <stdio.h>
#include <string.h>

#include <allocbench/allocbench.h>

#include "tool/commands.h"
#include "tool/target.h"

static const char usage[] = "usage: allocbench list [workloads|targets|metrics] [--verbose]\n";

static void list_workloads(bool verbose)
{
    abench_workload_info info;

    abench_workload_info_init(&info);
    for (uint32_t at = 0; abench_workload_at(at, &info) == ABENCH_OK; at++) {
        abench_workload_parameter parameter;
        printf("%-14s %s\n", info.name, info.summary);
        if (verbose) {
            printf("    version %u\n    source: %s\n    timed:  %s\n", info.version, info.source,
                   info.timed);
        }
        abench_workload_parameter_init(&parameter);
        for (uint32_t p = 0; abench_workload_parameter_at(info.name, p, &parameter) == ABENCH_OK;
             p++)
            printf("    %s=%s%s%s\n", parameter.name, parameter.preset, verbose ? "    " : "",
                   verbose ? parameter.summary : "");
    }
}

static void list_targets(void)
{
    size_t count;
    target *all = target_all(&count);

    for (size_t at = 0; at < count; at++) {
        const target *t = &all[at];
        printf("%-16s %s\n", t->name, target_summary(t->name));
        if (t->missing != NULL)
            printf("%-16s   %s\n", "", t->missing);
        else if (t->library != NULL)
            printf("%-16s   %s\n", "", t->library);
    }
    printf("\nAny other library: -t NAME=/path/lib.so, a variant: -t 'jemalloc:MALLOC_CONF=...'\n");
    target_list_free(all, count);
    target_cleanup();
}

static void list_metrics(void)
{
    static const char *const directions[] = {"", "lower is better", "higher is better"};
    abench_metric_info info;

    abench_metric_info_init(&info);
    for (uint32_t at = 0; abench_metric_at(at, &info) == ABENCH_OK; at++)
        printf("%-24s %-6s %-16s %s\n", info.name, info.unit, directions[info.direction],
               info.summary);
}

int cmd_list(int argc, char **argv)
{
    static const struct option options[] = {
        {"verbose", no_argument, NULL, 'v'}, {"help", no_argument, NULL, 'h'}, {0}};
    bool verbose = false;
    const char *what;
    int option;

    opterr = 0;
    while ((option = getopt_long(argc, argv, ":vh", options, NULL)) != -1) {
        if (option == 'h') {
            fputs(usage, stdout);
            return EXIT_OK;
        }
        if (option != 'v')
            return command_bad_option(argv, option, options);
        verbose = true;
    }
    what = optind < argc ? argv[optind] : NULL;
    if (what == NULL) {
        puts("Workloads\n");
        list_workloads(verbose);
        puts("\nTargets\n");
        list_targets();
        puts("\nMetrics of a workload\n");
        list_metrics();
    } else if (strcmp(what, "workloads") == 0) {
        list_workloads(verbose);
    } else if (strcmp(what, "targets") == 0) {
        list_targets();
    } else if (strcmp(what, "metrics") == 0) {
        list_metrics();
    } else {
        fputs(usage, stderr);
        return EXIT_USAGE;
    }
    return fflush(stdout) == 0
               ? EXIT_OK
               : command_fail(EXIT_ENVIRONMENT, "standard output cannot be written");
}
