/* cmd_plan.c - allocbench plan: a call of run as a file; nothing is measured. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tool/commands.h"
#include "tool/outputs.h"
#include "tool/plan.h"
#include "tool/plan_options.h"
#include "tool/util.h"

static const char usage[] =
    "usage: allocbench plan WORKLOAD... [options of run] [-o PLAN.json]\n"
    "       allocbench plan [WORKLOAD...] [options of run] [-o PLAN.json] -- COMMAND ARGS...\n"
    "\n"
    "Writes down what allocbench run would do with the same words: workloads, targets (every\n"
    "built-in one that is found here, where none is named), seed, rounds, options, and the folder\n"
    "of a command. Nothing is measured. Without -o the plan goes to standard output.\n"
    "\n"
    "  allocbench run --plan PLAN.json [-o DIR] [--rounds N]   runs it\n"
    "  allocbench round PLAN.json N -o DIR.N                   runs round N of it, from 1: of the\n"
    "                                                          rounds each can be elsewhere\n"
    "  allocbench merge -o DIR DIR.1 DIR.2 ...                 brings them together\n"
    "\n"
    "allocbench run leaves such a file behind, too: DIR/plan.json. A plan can be edited; the same\n"
    "plan makes the same work everywhere. allocbench run --help tells the options.\n"
    "\n"
    "Exit status: 0 done, 2 usage, 3 a file that cannot be written.\n";

/* Neither may a plan take another plan's place, nor say less than how many rounds there are. */
static int check_words(const json_t *root, const plan_call *call)
{
    const json_t *rounds = json_object_get(root, "rounds");

    if (root == NULL)
        return command_fail(EXIT_USAGE, "a plan holds UTF-8 only, and a word of these is none");
    if (call->from != NULL)
        return command_fail(EXIT_USAGE, "--plan: %s is a plan already: copy it", call->from);
    if (rounds != NULL && plan_rounds(root) == 0)
        return command_fail(EXIT_USAGE,
                            "--rounds '%s': a plan says how many rounds there are in all",
                            json_string_value(rounds) == NULL ? "" : json_string_value(rounds));
    return EXIT_OK;
}

static int put(const plan *p, const char *file)
{
    char *text = plan_text(p->root);
    const bool good = outputs_write(file == NULL ? "-" : file, text, strlen(text));

    free(text);
    return good ? EXIT_OK : EXIT_ENVIRONMENT;
}

static void tell_of_lengths(const plan *p)
{
    if (json_object_get(json_object_get(p->root, "options"), "duration") != NULL &&
        json_object_get(p->root, "lengths") == NULL)
        util_say("the lengths that --duration chooses are not in this plan, they are measured: "
                 "allocbench run --rounds 1 with the same words leaves them in its plan.json, and "
                 "rounds that are to be run apart need them");
}

static bool wants_help(int argc, char **argv)
{
    for (int at = 1; at < argc && strcmp(argv[at], "--") != 0; at++)
        if (strcmp(argv[at], "--help") == 0 || strcmp(argv[at], "-h") == 0)
            return true;
    return false;
}

int cmd_plan(int argc, char **argv)
{
    plan p = {.is_dry = true, .words = NULL};
    plan_call call;
    int status;

    if (wants_help(argc, argv)) {
        fputs(usage, stdout);
        return EXIT_OK;
    }
    if (argc < 2) {
        fputs(usage, stderr);
        return EXIT_USAGE;
    }
    p.root = plan_of_words(argc, argv, &call);
    status = check_words(p.root, &call);
    if (status == EXIT_OK) {
        p.words = plan_copy_words(argc, argv);
        p.count = argc;
        status = run_plan(&p, NULL);
    }
    if (status == EXIT_OK) {
        tell_of_lengths(&p);
        status = put(&p, call.output);
    }
    json_decref(call.passing);
    plan_clear(&p);
    return status;
}
