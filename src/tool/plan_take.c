/* plan_take.c - the words of run, with what stands behind --plan. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tool/commands.h"
#include "tool/plan.h"
#include "tool/util.h"

char **plan_copy_words(int argc, char **argv)
{
    char **words = xcalloc((size_t)argc + 1, sizeof *words);

    for (int at = 0; at < argc; at++)
        words[at] = xstrdup(argv[at]);
    return words;
}

/* Beside a plan stands nothing that says what is measured, but for more or fewer rounds. */
static int refuse_others(const json_t *words, const char *file)
{
    static const char *const lists[] = {"workloads", "command", "targets"};
    static const char *const texts[] = {"baseline", "seed"};
    const char *name = NULL;

    for (size_t at = 0; at < sizeof lists / sizeof *lists && name == NULL; at++)
        if (json_array_size(json_object_get(words, lists[at])) > 0)
            name = lists[at];
    for (size_t at = 0; at < sizeof texts / sizeof *texts && name == NULL; at++)
        if (json_object_get(words, texts[at]) != NULL)
            name = texts[at];
    if (name == NULL)
        name = json_object_iter_key(json_object_iter(json_object_get(words, "options")));
    if (name == NULL)
        return EXIT_OK;
    return command_fail(EXIT_USAGE,
                        "--plan %s says what is measured, and its %s too; beside it stand -o, "
                        "--rounds, --color and --retry-failed (or edit a copy of the plan)",
                        file, name);
}

/* A relative -o belongs to where the command was typed, not to the plan's folder. */
static json_t *output_of(const char *output, bool has_moved)
{
    const char *name = output == NULL ? "allocbench-results" : output;
    char *here = name[0] == '/' || !has_moved ? NULL : getcwd(NULL, 0);
    char *path = here == NULL ? xstrdup(name) : xasprintf("%s/%s", here, name);
    json_t *value = json_string(path);

    free(here);
    free(path);
    return value;
}

/* And so do the files of exports. */
static void move_exports(json_t *passing, bool moves)
{
    static const char *const names[] = {"export-json", "export-csv", "export-markdown"};

    for (size_t at = 0; at < sizeof names / sizeof *names; at++) {
        const char *file = json_string_value(json_object_get(passing, names[at]));
        if (file != NULL && strcmp(file, "-") != 0)
            json_object_set_new(passing, names[at], output_of(file, moves));
    }
}

/* Is the folder of a plan another than this? */
static bool moves(const json_t *root)
{
    const char *folder = json_string_value(json_object_get(root, "folder"));
    char *here = getcwd(NULL, 0);
    const bool other = folder != NULL && (here == NULL || strcmp(here, folder) != 0);

    free(here);
    return other;
}

/* Puts the plan's words in the place of those of a call. words: the call's own. */
static int expand(const char *verb, json_t *words, const plan_call *call, plan *out)
{
    json_t *rounds = json_object_get(words, "rounds"), *where = NULL;
    char message[1024];
    int status = refuse_others(words, call->from);

    if (status == EXIT_OK && (out->root = plan_read(call->from, message, sizeof message)) == NULL)
        status = command_fail(EXIT_USAGE, "%s", message);
    if (status == EXIT_OK) {
        out->has_moved = moves(out->root);
        where = output_of(call->output, out->has_moved);
        move_exports(call->passing, json_object_get(out->root, "folder") != NULL);
        if (where == NULL)
            status = command_fail(EXIT_USAGE, "-o: beside a plan its path must be UTF-8");
    }
    if (status == EXIT_OK && !plan_enter(out->root, call->from, message, sizeof message))
        status = command_fail(EXIT_ENVIRONMENT, "%s", message);
    if (status == EXIT_OK) {
        json_object_set(call->passing, "output", where);
        if (rounds != NULL)
            json_object_set(call->passing, "rounds", rounds);
        out->words = plan_words(out->root, verb, call->passing, &out->count);
        if (json_is_integer(rounds))
            json_object_set(out->root, "rounds", rounds);
    }
    json_decref(where);
    return status == EXIT_OK ? -1 : status;
}

int plan_take(int argc, char **argv, plan *out)
{
    plan_call call;
    json_t *words = plan_of_words(argc, argv, &call);
    int status = -1;

    *out = (plan){0};
    if (call.from == NULL) {
        out->root = words;
        out->words = plan_copy_words(argc, argv);
        out->count = argc;
    } else if (words == NULL) {
        status = command_fail(EXIT_USAGE, "--plan: what stands beside it must be UTF-8");
    } else {
        status = expand(argv[0], words, &call, out);
        json_decref(words);
    }
    json_decref(call.passing);
    return status;
}

void plan_clear(plan *p)
{
    json_decref(p->root);
    plan_words_free(p->words);
    free(p->typed);
    *p = (plan){0};
}
