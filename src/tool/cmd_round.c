/* cmd_round.c - allocbench round: one round of a plan, wherever it is run. */
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tool/commands.h"
#include "tool/machine_lock.h"
#include "tool/model.h"
#include "tool/plan.h"
#include "tool/util.h"

#define ROUNDS_MAX 1000000

static const char usage[] =
    "usage: allocbench round PLAN.json N -o DIR [--no-wait] [--retry-failed]\n"
    "\n"
    "Runs round N of a plan (allocbench plan), of each of its workloads, into DIR. Rounds count\n"
    "from 1 here and in reports, from 0 in files. Each may be run by itself, on any machine, in\n"
    "any order; one that is there already is left as it is. On one machine one round is measured\n"
    "at a time: another waits (but not allocbench run). So GNU parallel may start them, or a\n"
    "Slurm array:\n"
    "\n"
    "  allocbench plan mixed -t glibc -t jemalloc --rounds 10 -o plan.json\n"
    "  parallel allocbench round plan.json {} -o part.{} ::: $(seq 10)\n"
    "  allocbench merge -o results part.*\n"
    "  allocbench report results\n"
    "\n"
    "  -o, --output DIR      a result directory; several rounds of a plan may share one, but not\n"
    "                        at one time\n"
    "      --no-wait         refuse (exit 3) when another round is measured on this machine\n"
    "      --retry-failed    run the round again when it is there and a cell of it failed\n"
    "  -h, --help            this text\n"
    "\n"
    "Exit status: 0 done, 2 usage, 3 the machine refused, 4 a target or the command failed,\n"
    "130 interrupted.\n";

typedef struct round_call {
    const char *file;
    const char *directory;
    uint64_t round; /* from 1 */
    bool no_wait;
    bool retry_failed;
} round_call;

/* Returns -1 to go on, or the status to exit with. */
static int read_call(int argc, char **argv, round_call *call)
{
    static const struct option options[] = {{"output", required_argument, NULL, 'o'},
                                            {"no-wait", no_argument, NULL, 'w'},
                                            {"retry-failed", no_argument, NULL, 'f'},
                                            {"help", no_argument, NULL, 'h'},
                                            {0}};
    int option;

    *call = (round_call){NULL, NULL, 0, false, false};
    opterr = 0;
    while ((option = getopt_long(argc, argv, ":o:h", options, NULL)) != -1) {
        if (option == 'h') {
            fputs(usage, stdout);
            return EXIT_OK;
        }
        if (option == '?' || option == ':')
            return command_bad_option(argv, option, options);
        call->no_wait = call->no_wait || option == 'w';
        call->retry_failed = call->retry_failed || option == 'f';
        if (option == 'o')
            call->directory = optarg;
    }
    if (argc - optind != 2) {
        fputs(usage, stderr);
        return EXIT_USAGE;
    }
    call->file = argv[optind];
    if (call->directory == NULL || call->directory[0] == '\0')
        return command_fail(EXIT_USAGE, "-o DIR is wanted: where the round goes");
    return command_number("round", argv[optind + 1], 1, ROUNDS_MAX, &call->round) ? -1 : EXIT_USAGE;
}

/* Can its rounds be run apart? */
static int check_plan(const json_t *root, const round_call *call)
{
    const json_t *options = json_object_get(root, "options");

    if (json_object_get(options, "until-decided") != NULL)
        return command_fail(EXIT_USAGE,
                            "%s: \"options.until-decided\" looks at all rounds together, so they "
                            "cannot be run apart: leave it out and set \"rounds\"",
                            call->file);
    if (json_object_get(options, "duration") != NULL && json_object_get(root, "lengths") == NULL &&
        json_array_size(json_object_get(root, "workloads")) > 0)
        return command_fail(
            EXIT_USAGE,
            "%s: \"options.duration\" would choose another length in each round: "
            "take the plan.json of allocbench run --plan %s --rounds 1, which holds "
            "\"lengths\"",
            call->file, call->file);
    if (plan_rounds(root) == 0)
        return command_fail(EXIT_USAGE, "%s: \"rounds\" is missing: how many there are in all",
                            call->file);
    if (call->round > plan_rounds(root))
        return command_fail(EXIT_USAGE, "%s: there is no round %llu, it has %u (\"rounds\")",
                            call->file, (unsigned long long)call->round, plan_rounds(root));
    return EXIT_OK;
}

/* The words of `run --plan FILE -o DIR`, as the plan has it. Returns -1 to go on, or the status to
 * exit with. */
static int take(const round_call *call, plan *p)
{
    char *from = xasprintf("--plan=%s", call->file),
         *to = xasprintf("--output=%s", call->directory);
    char *words[] = {"round", from, to, "--retry-failed", NULL};
    int status = plan_take(call->retry_failed ? 4 : 3, words, p);

    free(from);
    free(to);
    if (status == -1)
        status = check_plan(p->root, call);
    p->round = (uint32_t)call->round;
    return status == EXIT_OK ? -1 : status;
}

/* What makes all rounds: what the result calls its command. */
static char *command_of(const char *file)
{
    char *name = xstrdup(file);
    char *words[] = {"run", "--plan", name, NULL}, *line = run_join(words);

    free(name);
    return line;
}

/* The round itself; the lock goes with the process. */
static int run_round(const round_call *call, plan *p, spawner *s)
{
    char message[1024];

    if (machine_lock_take(!call->no_wait, message, sizeof message) < 0) {
        spawner_destroy(s);
        return command_fail(EXIT_ENVIRONMENT, "%s", message);
    }
    p->typed = command_of(call->file);
    return run_plan(p, s);
}

int cmd_round(int argc, char **argv, spawner *s)
{
    round_call call;
    plan p = {.round = 0};
    int status = read_call(argc, argv, &call);

    if (status == -1)
        status = take(&call, &p);
    if (status == -1)
        status = run_round(&call, &p, s);
    else
        spawner_destroy(s);
    plan_clear(&p);
    return status;
}

/* The first target that is wanted and has no cell in the round; NULL: all have one. */
static const char *lacking(const matrix *m, const model *found)
{
    for (size_t t = 0; t < m->targets_count; t++) {
        bool there = m->targets[t].missing != NULL;
        for (size_t at = 0; at < found->cells_count && !there; at++) {
            const model_cell *cell = &found->cells[at];
            there = cell->round == m->round && cell->target != MODEL_FLOOR &&
                    strcmp(found->targets[cell->target].name, m->targets[t].name) == 0;
        }
        if (!there)
            return m->targets[t].name;
    }
    return NULL;
}

int round_show(const matrix *m, size_t *failed)
{
    char message[1024];
    model *found = model_load(m->directory, message, sizeof message);
    const char *absent;
    size_t cells = 0;

    *failed = 0;
    if (found == NULL)
        return command_fail(EXIT_ENVIRONMENT, "%s", message);
    absent = matrix_interrupted ? NULL : lacking(m, found);
    if (absent != NULL) {
        model_free(found);
        return command_fail(EXIT_ENVIRONMENT,
                            "round %u in %s is of another plan: it has no cell of target %s; "
                            "-o OTHER for this one",
                            m->round + 1, m->directory, absent);
    }
    for (size_t at = 0; at < found->cells_count; at++) {
        const bool is_own = found->cells[at].round == m->round;
        cells += is_own;
        *failed += is_own && found->cells[at].failed;
    }
    for (size_t at = 0; at < found->tails_count; at++)
        *failed += found->tails[at].round == m->round && found->tails[at].failed;
    model_free(found);
    printf("Round %u: %zu cell%s in %s\n", m->round + 1, cells, cells == 1 ? "" : "s",
           m->directory);
    return fflush(stdout) == 0
               ? EXIT_OK
               : command_fail(EXIT_ENVIRONMENT, "standard output cannot be written");
}
