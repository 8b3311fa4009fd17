/* cmd_list.c - allocbench list: workloads, targets and metrics that there are. */
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <allocbench/allocbench.h>

#include "tool/command_metrics.h"
#include "tool/commands.h"
#include "tool/report/format.h"
#include "tool/target.h"
#include "tool/util.h"

static const char usage[] =
    "usage: allocbench list [workloads [NAME...]|targets|metrics] [--verbose]\n"
    "\n"
    "list workloads NAME... describes these, with all their parameters.\n";

/* ---- lines ----------------------------------------------------------------------------------- */

/* Prints head, then text from column `indent` on, and wraps that on a terminal; another program
 * finds what belongs together in one line. */
static void put_line(const char *head, const char *text, size_t indent)
{
    const size_t column = strlen(head);

    if (isatty(STDOUT_FILENO) == 1) {
        char *wrapped = util_wrap(text, column, indent);
        printf("%s%s\n", head, wrapped);
        free(wrapped);
    } else {
        printf("%s%s\n", head, text);
    }
}

/* ---- workloads ------------------------------------------------------------------------------- */

/* Prints text up to where the line ends; a word that does not fit is left out with what follows. */
static void put_summary(const char *text, size_t width)
{
    size_t end = strlen(text);

    if (end > width) {
        end = width - 4; /* " ..." */
        while (end > 0 && text[end] != ' ')
            end--;
        while (end > 0 && strchr(" ,;:", text[end - 1]) != NULL)
            end--;
        printf("%.*s ...\n", (int)end, text);
    } else {
        printf("%s\n", text);
    }
}

static char *bytes_text(uint64_t bytes)
{
    const format_unit scale = format_scale("bytes", (double)bytes);
    const double shown = (double)bytes / scale.divisor;

    return xasprintf("%.*f %s", shown < 9.95 && scale.divisor > 1 ? 1 : 0, shown, scale.name);
}

/* What a scale comes to: "12.6M", "512 MiB", 4 lanes. false when the spec does not read. */
static bool weigh(const char *spec, char **operations, char **live, uint64_t *lanes)
{
    abench_workload *workload = NULL;

    if (abench_workload_parse(spec, 1, 0, &workload, NULL) != ABENCH_OK)
        return false;
    *operations = format_count((double)abench_workload_operations(workload));
    *live = bytes_text(abench_workload_live_bytes(workload));
    *lanes = abench_workload_integer(workload, "lanes");
    abench_workload_destroy(workload);
    return true;
}

/* "what it does: what it shows" */
static const char *what_it_shows(const char *text)
{
    const char *colon = strstr(text, ": ");

    return colon == NULL ? text : colon + 2;
}

static void list_workload(const abench_workload_info *info)
{
    char *operations, *live;
    uint64_t lanes;

    if (!weigh(info->name, &operations, &live, &lanes))
        return;
    printf("%-16s %10s %8s %5llu  ", info->name, operations, live, (unsigned long long)lanes);
    put_summary(what_it_shows(info->summary), UTIL_LINE_WIDTH - 44);
    free(operations);
    free(live);
}

static void put_scale(const char *name, const char *scale)
{
    char *spec = xasprintf("%s:scale=%s", name, scale);
    char *operations, *live;
    uint64_t lanes;

    if (weigh(spec, &operations, &live, &lanes)) {
        printf("    %-8s %s operations, %s live at most, %llu lane%s\n", scale, operations, live,
               (unsigned long long)lanes, lanes == 1 ? "" : "s");
        free(operations);
        free(live);
    }
    free(spec);
}

static void put_fact(const char *name, const char *text)
{
    char *head = xasprintf("    %-8s ", name);

    if (text != NULL && text[0] != '\0')
        put_line(head, text, strlen(head));
    free(head);
}

static void put_parameter(const abench_workload_parameter *p)
{
    char *preset = strcmp(p->preset, p->quick) == 0
                       ? xasprintf("%s=%s", p->name, p->preset)
                       : xasprintf("%s=%s (quick: %s)", p->name, p->preset, p->quick);

    char *text = xasprintf("%-40s %s%s", preset, p->summary,
                           p->is_length ? " [its length: --duration sets it]" : "");

    put_line("      ", text, 10);
    free(text);
    free(preset);
}

static void describe_workload(const abench_workload_info *info)
{
    abench_workload_parameter parameter = ABENCH_WORKLOAD_PARAMETER_INIT;

    char *head = xasprintf("%s: ", info->name);

    put_line(head, info->summary, 4);
    printf("    version  %u\n", info->version);
    free(head);
    put_fact("source", info->source);
    put_fact("timed", info->timed);
    put_fact("touched", info->touched);
    put_scale(info->name, "full");
    put_scale(info->name, "quick");
    for (uint32_t at = 0; abench_workload_parameter_at(info->name, at, &parameter) == ABENCH_OK;
         at++)
        put_parameter(&parameter);
    putchar('\n');
}

static bool find_workload(const char *name, abench_workload_info *info)
{
    for (uint32_t at = 0; abench_workload_at(at, info) == ABENCH_OK; at++)
        if (strcmp(info->name, name) == 0)
            return true;
    return false;
}

static const char *nearest_workload(const char *name)
{
    abench_workload_info info = ABENCH_WORKLOAD_INFO_INIT;
    const char *nearest = "";

    for (uint32_t at = 0; abench_workload_at(at, &info) == ABENCH_OK; at++)
        if (nearest[0] == '\0' ||
            abench_text_distance(info.name, name) < abench_text_distance(nearest, name))
            nearest = info.name; /* static */
    return nearest;
}

/* These, when all of them are there. */
static int describe_workloads(char **names)
{
    abench_workload_info info = ABENCH_WORKLOAD_INFO_INIT;

    for (char **name = names; *name != NULL; name++)
        if (!find_workload(*name, &info))
            return command_fail(EXIT_USAGE,
                                "there is no workload '%.200s'; did you mean '%s'? (allocbench "
                                "list workloads)",
                                *name, nearest_workload(*name));
    for (char **name = names; *name != NULL; name++)
        if (find_workload(*name, &info))
            describe_workload(&info);
    return EXIT_OK;
}

static void list_workloads(bool verbose)
{
    abench_workload_info info = ABENCH_WORKLOAD_INFO_INIT;

    if (!verbose)
        printf("%-16s %10s %8s %5s  %s\n", "workload", "operations", "live", "lanes",
               "what it shows");
    for (uint32_t at = 0; abench_workload_at(at, &info) == ABENCH_OK; at++) {
        if (verbose)
            describe_workload(&info);
        else
            list_workload(&info);
    }
    printf("%sNAME:KEY=VALUE,... sets a parameter (list workloads NAME names them), "
           "NAME:scale=quick makes it\nsmall; tape:FILE plays a tape in a file.\n",
           verbose ? "" : "\n");
}

/* ---- targets --------------------------------------------------------------------------------- */

static void list_targets(void)
{
    size_t count;
    target *all = target_all(&count);

    for (size_t at = 0; at < count; at++) {
        const target *t = &all[at];
        char *head = xasprintf("%-16s ", t->name);
        put_line(head, target_summary(t->name), 17);
        free(head);
        head = xasprintf("%-16s   ", "");
        if (t->missing != NULL)
            put_line(head, t->missing, 19);
        else if (t->library != NULL)
            put_line(head, t->library, 19);
        free(head);
    }
    printf("\nAny other library: -t NAME=/path/lib.so, a variant: -t 'jemalloc:MALLOC_CONF=...'\n");
    target_list_free(all, count);
    target_cleanup();
}

/* ---- metrics --------------------------------------------------------------------------------- */

static void put_metric(const char *name, const char *unit, uint32_t direction, const char *text)
{
    static const char *const directions[] = {"", "lower is better", "higher is better"};
    char *head = xasprintf("%-34s %-6s %-16s ", name, unit, directions[direction]);

    put_line(head, text, 25);
    free(head);
}

static void list_metrics(void)
{
    abench_metric_info info;
    const command_metric_info *m;

    puts("Metrics of a workload, and of a command that is a harness\n");
    abench_metric_info_init(&info);
    for (uint32_t at = 0; abench_metric_at(at, &info) == ABENCH_OK; at++)
        put_metric(info.name, info.unit, info.direction, info.summary);
    puts("\nMetrics of any command, from outside\n");
    for (uint32_t at = 0; (m = command_metric_at(at)) != NULL; at++)
        put_metric(m->name, m->unit, m->direction, m->summary);
}

/* What there is of one kind, or of all of them. -1: there is no such kind. */
static int list(const char *what, char **names, bool verbose)
{
    if (what == NULL) {
        puts("Workloads\n");
        list_workloads(verbose);
        puts("\nTargets\n");
        list_targets();
        puts("");
        list_metrics();
    } else if (strcmp(what, "workloads") == 0 && names[0] != NULL) {
        return describe_workloads(names);
    } else if (strcmp(what, "workloads") == 0) {
        list_workloads(verbose);
    } else if (strcmp(what, "targets") != 0 && strcmp(what, "metrics") != 0) {
        return -1;
    } else if (names[0] != NULL) {
        return command_fail(EXIT_USAGE,
                            "list %s takes no more words: '%.200s' (allocbench list --help)", what,
                            names[0]);
    } else if (strcmp(what, "targets") == 0) {
        list_targets();
    } else {
        list_metrics();
    }
    return EXIT_OK;
}

int cmd_list(int argc, char **argv)
{
    static const struct option options[] = {
        {"verbose", no_argument, NULL, 'v'}, {"help", no_argument, NULL, 'h'}, {0}};
    bool verbose = false;
    const char *what;
    int option, status;

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
    status = list(what, argv + (what == NULL ? optind : optind + 1), verbose);
    if (status == -1) {
        fputs(usage, stderr);
        return EXIT_USAGE;
    }
    if (status != EXIT_OK)
        return status;
    return fflush(stdout) == 0
               ? EXIT_OK
               : command_fail(EXIT_ENVIRONMENT, "standard output cannot be written");
}
