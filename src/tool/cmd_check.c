/* cmd_check.c - allocbench check: does the malloc of each target do what C asks of it? */
#include <getopt.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <allocbench/allocbench.h>

#include "tool/checker.h"
#include "tool/commands.h"
#include "tool/preflight.h"
#include "tool/util.h"

static const char usage[] =
    "usage: allocbench check [-t TARGET]... [options]\n"
    "\n"
    "Checks a malloc by direct calls (alignment, calloc's zeroes, usable size, realloc's\n"
    "contents, huge and overflowing requests, blocks that overlap, change hands or outlive their\n"
    "thread, fork) and by checked play of the catalogue at its quick scale, which stamps every\n"
    "block and verifies it before it is freed. A FAULT is what C forbids, or POSIX of a call of\n"
    "its own; a note is what C allows, but programs may not expect.\n"
    "\n"
    "  -t, --target TARGET   what to check, as of allocbench run; default: all that are found\n"
    "      --only NAME       the checks whose names begin so: alignment, play:larson, ...\n"
    "  -v, --verbose         every check, with what it has shown\n"
    "      --timeout D       longest time of one check (default 60s)\n"
    "      --keep-env        keep the user's own MALLOC_..., LD_PRELOAD and so on\n"
    "  -h, --help            this text\n"
    "\n"
    "Exit status: 0 all is well, 2 usage, 3 the machine refused, 4 a target has a fault.\n";

#define TIMEOUT_PRESET_S 60.0
#define TIMEOUT_MOST_S   86400.0
#define NAME_WIDTH       40

static const struct option options[] = {{"target", required_argument, NULL, 't'},
                                        {"only", required_argument, NULL, 'o'},
                                        {"verbose", no_argument, NULL, 'v'},
                                        {"timeout", required_argument, NULL, 'T'},
                                        {"keep-env", no_argument, NULL, 'k'},
                                        {"help", no_argument, NULL, 'h'},
                                        {0}};

typedef struct checking {
    checker checker;
    target *targets;
    size_t count;
    size_t failed; /* targets */
    bool verbose;
    int width; /* of the names */
} checking;

static volatile sig_atomic_t interrupted;

static void on_signal(int number)
{
    (void)number;
    interrupted = 1;
}

/* ---- targets --------------------------------------------------------------------------------- */

static int add_target(checking *c, const char *spec)
{
    char message[1024];
    target t;

    if (!target_parse(spec, &t, message, sizeof message))
        return command_fail(EXIT_USAGE, "%s", message);
    for (size_t at = 0; at < c->count; at++)
        if (strcmp(c->targets[at].name, t.name) == 0) {
            const bool is_same = strcmp(c->targets[at].spec, t.spec) == 0;
            target_clear(&t);
            return is_same ? EXIT_OK
                           : command_fail(EXIT_USAGE, "two targets are called '%s'",
                                          c->targets[at].name);
        }
    c->targets = xrealloc(c->targets, (c->count + 1) * sizeof *c->targets);
    c->targets[c->count++] = t;
    return EXIT_OK;
}

/* A built-in target that is the same library as one before it says nothing new. */
static bool is_repeated(const checking *c, const target *t)
{
    for (size_t at = 0; at < c->count && t->library != NULL; at++)
        if (c->targets[at].library != NULL && strcmp(c->targets[at].library, t->library) == 0)
            return true;
    return false;
}

static int add_all_found(checking *c)
{
    size_t count;
    target *all = target_all(&count);
    int status = EXIT_OK;

    for (size_t at = 0; at < count && status == EXIT_OK; at++)
        if (all[at].missing == NULL && !is_repeated(c, &all[at]))
            status = add_target(c, all[at].name);
    target_list_free(all, count);
    return status;
}

/* ---- one target ------------------------------------------------------------------------------ */

static void print_lines(const checker_result *r, bool verbose)
{
    static const char *const kinds[] = {"ok", "note", "FAULT"};

    for (size_t at = 0; at < r->lines_count; at++) {
        const checker_line *line = &r->lines[at];
        if (verbose || line->kind != CHECKER_OK)
            printf("    %-5s %-22s %s\n", kinds[line->kind], line->name, line->detail);
    }
}

static void print_result(const checking *c, const target *t, const checker_result *r)
{
    printf("%-*s %6zu %6zu %6zu  %s (%s%s%s)\n", c->width, t->name, r->checks,
           r->checks - r->faulty, r->faulty, t->identity.file, t->identity.family,
           t->identity.version[0] == '\0' ? "" : " ", t->identity.version);
    print_lines(r, c->verbose);
    fflush(stdout);
}

/* What runs the target's malloc is what is asked for. */
static bool is_proven(const checking *c, target *t, char *message, size_t message_size)
{
    if (t->missing != NULL) {
        snprintf(message, message_size, "%s", t->missing);
        return false;
    }
    return preflight_target(t, c->checker.cell, c->checker.keep_environment, &interrupted, message,
                            message_size);
}

static int check_target(checking *c, target *t)
{
    char message[2048];
    checker_result result;
    int status = EXIT_OK;

    if (!is_proven(c, t, message, sizeof message)) {
        c->failed++;
        return interrupted ? EXIT_OK : command_fail(EXIT_TARGET, "target %s: %s", t->name, message);
    }
    if (!checker_run(&c->checker, t, &result, message, sizeof message)) {
        if (!interrupted)
            status = command_fail(EXIT_ENVIRONMENT, "target %s: %s", t->name, message);
    } else if (result.checks == 0) {
        status = command_fail(EXIT_USAGE,
                              "there is no check whose name begins with '%s' (allocbench check "
                              "--verbose names them)",
                              c->checker.only);
    } else {
        c->failed += result.faulty > 0;
        print_result(c, t, &result);
    }
    checker_clear(&result);
    return status;
}

/* A target that fails is no reason to leave the others out. */
static bool is_going_on(int status)
{
    return status == EXIT_OK || status == EXIT_TARGET;
}

static int check_all(checking *c)
{
    int status = EXIT_OK;

    for (size_t at = 0; at < c->count; at++) {
        const int length = (int)strlen(c->targets[at].name);
        c->width = length > c->width ? length : c->width;
    }
    c->width = c->width > NAME_WIDTH ? NAME_WIDTH : c->width;
    printf("%-*s %6s %6s %6s  %s\n", c->width, "target", "checks", "passed", "faulty", "served by");
    fflush(stdout);
    for (size_t at = 0; at < c->count && !interrupted && is_going_on(status); at++)
        status = check_target(c, &c->targets[at]);
    if (interrupted)
        return command_fail(EXIT_INTERRUPTED, "interrupted");
    if (!is_going_on(status))
        return status;
    if (fflush(stdout) != 0 || ferror(stdout))
        return command_fail(EXIT_ENVIRONMENT, "standard output cannot be written");
    if (c->failed > 0)
        return command_fail(EXIT_TARGET, "%zu of %zu targets failed", c->failed, c->count);
    return EXIT_OK;
}

/* ---- arguments ------------------------------------------------------------------------------- */

static bool read_timeout(const char *text, double *seconds)
{
    return command_seconds(text, 1, seconds) && *seconds > 0 && *seconds <= TIMEOUT_MOST_S;
}

/* -1: go on; else an exit status. */
static int read_arguments(checking *c, int argc, char **argv)
{
    int option, status = EXIT_OK;

    opterr = 0;
    while (status == EXIT_OK && (option = getopt_long(argc, argv, ":t:vh", options, NULL)) != -1) {
        if (option == 'h') {
            fputs(usage, stdout);
            return EXIT_OK;
        }
        if (option == 't')
            status = add_target(c, optarg);
        else if (option == 'v')
            c->verbose = true;
        else if (option == 'o')
            c->checker.only = optarg;
        else if (option == 'k')
            c->checker.keep_environment = true;
        else if (option != 'T')
            return command_bad_option(argv, option, options);
        else if (!read_timeout(optarg, &c->checker.silence_s))
            return command_fail(EXIT_USAGE,
                                "--timeout '%s': a time like 500ms, 10s or 2m is wanted", optarg);
    }
    if (status != EXIT_OK)
        return status;
    if (optind < argc)
        return command_fail(EXIT_USAGE,
                            "'%s' is no option: a target is given with -t (allocbench check "
                            "--help)",
                            argv[optind]);
    return -1;
}

static void catch_signals(void)
{
    struct sigaction action = {.sa_handler = on_signal}; /* no SA_RESTART: waits end */

    sigaction(SIGINT, &action, NULL);
    sigaction(SIGTERM, &action, NULL);
}

int cmd_check(int argc, char **argv)
{
    checking c = {.checker = {.only = "", .silence_s = TIMEOUT_PRESET_S, .stop = &interrupted}};
    char *cell = command_find_part("allocbench-cell");
    int status = read_arguments(&c, argc, argv);

    c.checker.cell = cell;
    if (status == -1 && cell == NULL)
        status = command_fail(EXIT_ENVIRONMENT, "allocbench-cell is not beside this command: is it "
                                                "installed whole?");
    if (status == -1 && c.count == 0) {
        const int added = add_all_found(&c);
        status = added == EXIT_OK ? -1 : added;
    }
    if (status == -1) {
        catch_signals();
        status = check_all(&c);
    }
    target_list_free(c.targets, c.count);
    target_cleanup();
    free(cell);
    return status;
}
