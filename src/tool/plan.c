/* plan.c - between a call of run and its plan. */
#include "tool/plan.h"

#include <errno.h>
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <allocbench/allocbench.h>

#include "tool/arguments.h"
#include "tool/commands.h"
#include "tool/plan_options.h"
#include "tool/target.h"
#include "tool/util.h"

/* ---- from words to a document ---------------------------------------------------------------- */

/* Sets key, behind what is there already: as a list, when it is given more than once. */
static void add_value(json_t *object, const char *key, json_t *value, bool list)
{
    json_t *there = json_object_get(object, key);

    if (there == NULL && list) {
        json_t *one = json_array();
        json_array_append_new(one, value);
        json_object_set_new(object, key, one);
    } else if (there == NULL) {
        json_object_set_new(object, key, value);
    } else if (json_is_array(there)) {
        json_array_append_new(there, value);
    } else {
        json_t *both = json_array();
        json_array_append(both, there);
        json_array_append_new(both, value);
        json_object_set_new(object, key, both);
    }
}

/* As a number where it reads like one. NULL: no UTF-8. */
static json_t *value_of(const char *text, bool number)
{
    uint64_t value;

    /* "007" would come back as another text, which matters to nobody but a reader. */
    return number && plan_read_number(text, &value) ? plan_integer(value) : json_string(text);
}

/* One option of the words. false: no UTF-8. */
static bool keep_option(json_t *root, json_t *options, const struct option *option,
                        const char *value)
{
    const char *field = plan_option_field(option->name);
    const bool is_target = strcmp(option->name, "target") == 0;
    const bool is_text = is_target || strcmp(option->name, "baseline") == 0;
    json_t *item = option->has_arg == no_argument ? json_true() : value_of(value, !is_text);

    if (item == NULL)
        return false;
    if (is_target)
        add_value(root, field, item, true);
    else if (field != NULL)
        json_object_set_new(root, field, item); /* the last one holds */
    else if (option->has_arg == no_argument)
        json_object_set_new(options, option->name, item);
    else
        add_value(options, option->name, item, false);
    return true;
}

static const struct option *option_of(int letter)
{
    for (const struct option *at = arguments_options(); at->name != NULL; at++)
        if (at->val == letter)
            return at;
    return NULL;
}

static json_t *texts_of(char **words, int count)
{
    json_t *list = json_array();

    for (int at = 0; at < count; at++) {
        json_t *text = json_string(words[at]);
        if (text == NULL) {
            json_decref(list);
            return NULL;
        }
        json_array_append_new(list, text);
    }
    return list;
}

/* Puts options in run's own order. */
static json_t *in_order(json_t *options)
{
    json_t *sorted = json_object();

    for (const struct option *at = arguments_options(); at->name != NULL; at++)
        if (json_object_get(options, at->name) != NULL)
            json_object_set(sorted, at->name, json_object_get(options, at->name));
    json_decref(options);
    return sorted;
}

/* One option of the words, wherever it belongs. false: no UTF-8. */
static bool sort_option(json_t *root, json_t *options, plan_call *call, const struct option *option,
                        const char *value)
{
    if (plan_option_stays(option->name))
        return keep_option(root, options, option, value);
    if (strcmp(option->name, "output") == 0)
        call->output = value;
    else if (strcmp(option->name, "plan") == 0)
        call->from = value;
    else
        return keep_option(root, call->passing, option, value);
    return true;
}

/* What stands in front of "--". false: no UTF-8. words are permuted: the workloads come last. */
static bool keep_words(json_t *root, json_t *options, int own, char **words, plan_call *call)
{
    json_t *workloads;
    int letter;
    bool good = true;

    opterr = 0;
    optind = 0; /* from the start, whatever was read before */
    while ((letter = getopt_long(own, words, arguments_letters, arguments_options(), NULL)) != -1) {
        const struct option *option = letter == '?' || letter == ':' ? NULL : option_of(letter);
        if (option != NULL)
            good = sort_option(root, options, call, option, optarg) && good;
    }
    workloads = texts_of(words + optind, own - optind);
    optind = 0;
    if (workloads != NULL)
        json_object_set_new(root, "workloads", workloads);
    return good && workloads != NULL;
}

json_t *plan_of_words(int argc, char **argv, plan_call *call)
{
    char **words = xcalloc((size_t)argc + 1, sizeof *words);
    json_t *root = json_object(), *options = json_object();
    plan_call found = {.passing = json_object()};
    int own = 1;
    bool good;

    memcpy(words, argv, (size_t)argc * sizeof *words);
    while (own < argc && strcmp(argv[own], "--") != 0)
        own++;
    json_object_set_new(root, "schema", json_integer(PLAN_SCHEMA));
    json_object_set_new(root, "tool_version", json_string(abench_version_string()));
    good = keep_words(root, options, own, words, &found);
    if (own < argc) {
        json_t *command = texts_of(argv + own + 1, argc - own - 1);
        good = good && command != NULL;
        if (command != NULL)
            json_object_set_new(root, "command", command);
    }
    options = in_order(options);
    if (json_object_size(options) > 0)
        json_object_set(root, "options", options);
    json_decref(options);
    free(words);
    if (call != NULL)
        *call = found;
    else
        json_decref(found.passing);
    if (good)
        return root;
    json_decref(root);
    return NULL;
}

/* ---- from a document to words ---------------------------------------------------------------- */

typedef struct word_list {
    char **words;
    size_t count;
    size_t capacity;
} word_list;

static void add_word(word_list *list, char *word)
{
    list->words = util_grow(list->words, list->count, &list->capacity, sizeof *list->words);
    list->words[list->count++] = word;
}

static void add_option(word_list *list, const char *name, const json_t *value)
{
    const json_t *item;
    size_t index;

    if (json_is_array(value)) {
        json_array_foreach(value, index, item) add_option(list, name, item);
    } else if (json_is_true(value)) {
        add_word(list, xasprintf("--%s", name));
    } else if (json_is_string(value)) {
        add_word(list, xasprintf("--%s=%s", name, json_string_value(value)));
    } else if (json_is_integer(value)) {
        add_word(list, xasprintf("--%s=%" JSON_INTEGER_FORMAT, name, json_integer_value(value)));
    }
}

static void add_texts(word_list *list, const json_t *texts)
{
    const json_t *item;
    size_t index;

    json_array_foreach(texts, index, item) add_word(list, xstrdup(json_string_value(item)));
}

char **plan_words(const json_t *root, const char *verb, const json_t *more, int *count)
{
    const json_t *options = json_object_get(root, "options");
    const json_t *command = json_object_get(root, "command");
    word_list list = {NULL, 0, 0};

    add_word(&list, xstrdup(verb));
    for (const struct option *at = arguments_options(); at->name != NULL; at++) {
        const char *field = plan_option_field(at->name);
        add_option(&list, at->name,
                   field != NULL ? json_object_get(root, field)
                                 : json_object_get(options, at->name));
        add_option(&list, at->name, json_object_get(more, at->name));
    }
    add_texts(&list, json_object_get(root, "workloads"));
    if (json_array_size(command) > 0)
        add_word(&list, xstrdup("--"));
    add_texts(&list, command);
    *count = (int)list.count;
    add_word(&list, NULL);
    return list.words;
}

void plan_words_free(char **words)
{
    for (size_t at = 0; words != NULL && words[at] != NULL; at++)
        free(words[at]);
    free(words);
}

/* ---- what a document says -------------------------------------------------------------------- */

uint32_t plan_rounds(const json_t *root)
{
    const json_t *value = json_object_get(root, "rounds");
    uint64_t rounds = 0;

    if (json_is_integer(value))
        rounds = (uint64_t)json_integer_value(value);
    else if (json_is_string(value) && !plan_read_number(json_string_value(value), &rounds))
        rounds = 0;
    return rounds > UINT32_MAX ? 0 : (uint32_t)rounds;
}

bool plan_enter(const json_t *root, const char *file, char *message, size_t message_size)
{
    const char *folder = json_string_value(json_object_get(root, "folder"));

    if (folder == NULL || folder[0] == '\0' || chdir(folder) == 0)
        return true;
    snprintf(message, message_size,
             "%s: its folder \"%.200s\" cannot be entered: %s; set \"folder\" to where it is here",
             file, folder, strerror(errno));
    return false;
}

void plan_lengths(const json_t *root, matrix *m)
{
    const json_t *lengths = json_object_get(root, "lengths");

    for (size_t at = 0; at < m->workloads_count; at++) {
        matrix_workload *w = &m->workloads[at];
        const char *text = json_string_value(json_array_get(lengths, at));
        if (w->spec != NULL && w->argument == NULL && text != NULL)
            w->argument = xstrdup(text);
    }
}

/* ---- what was left to the tool --------------------------------------------------------------- */

/* Every built-in target that is here; of one library once. */
static json_t *found_targets(void)
{
    json_t *list = json_array();
    size_t count;
    target *all = target_all(&count);

    for (size_t at = 0; at < count; at++) {
        bool again = all[at].missing != NULL;
        for (size_t before = 0; before < at && !again; before++)
            again = all[at].library != NULL && all[before].library != NULL &&
                    strcmp(all[at].library, all[before].library) == 0;
        if (!again)
            json_array_append_new(list, json_string(all[at].name));
    }
    target_list_free(all, count);
    return list;
}

/* Paths that are not from the root, and commands, belong to a folder. */
static bool needs_folder(const json_t *root)
{
    static const char *const lists[] = {"workloads", "targets"};
    const json_t *item;
    size_t index;

    if (json_array_size(json_object_get(root, "command")) > 0)
        return true;
    for (size_t at = 0; at < sizeof lists / sizeof *lists; at++)
        json_array_foreach(json_object_get(root, lists[at]), index, item)
        {
            const char *text = json_string_value(item);
            if (strncmp(text, "tape:", 5) == 0 || (at == 1 && strchr(text, '/') != NULL) ||
                (at == 1 && strstr(text, ".so") != NULL))
                return true;
        }
    return false;
}

static void settle_lengths(json_t *root, const matrix *m)
{
    json_t *lengths = json_array();
    bool has_one = false;

    for (size_t at = 0; at < m->workloads_count; at++) {
        const matrix_workload *w = &m->workloads[at];
        const bool chosen = m->duration_ms != 0 && w->spec != NULL && w->argument != NULL &&
                            strcmp(w->argument, w->label) != 0;
        json_t *text = chosen ? json_string(w->argument) : NULL;
        has_one = has_one || text != NULL;
        json_array_append_new(lengths, text == NULL ? json_null() : text);
    }
    if (has_one)
        json_object_set(root, "lengths", lengths);
    json_decref(lengths);
}

/* The document's fields in the order of plan.h. */
static void put_in_order(json_t *root)
{
    static const char *const fields[] = {"schema", "tool_version", "workloads", "command",
                                         "folder", "targets",      "baseline",  "seed",
                                         "rounds", "lengths",      "options"};

    for (size_t at = 0; at < sizeof fields / sizeof *fields; at++) {
        json_t *value = json_incref(json_object_get(root, fields[at]));
        if (value == NULL)
            continue;
        json_object_del(root, fields[at]);
        json_object_set_new(root, fields[at], value);
    }
}

void plan_settle(json_t *root, const matrix *m)
{
    const bool is_open = json_object_get(json_object_get(root, "options"), "until-decided") != NULL;
    char *folder;

    if (json_object_get(root, "targets") == NULL)
        json_object_set_new(root, "targets", found_targets());
    if (json_object_get(root, "baseline") == NULL && m->targets_count > 0)
        json_object_set_new(root, "baseline", json_string(m->targets[m->baseline].spec));
    if (json_object_get(root, "seed") == NULL)
        json_object_set_new(root, "seed", plan_integer(m->seed));
    if (plan_rounds(root) == 0 && !is_open)
        json_object_set_new(root, "rounds",
                            json_integer(m->rounds != 0 ? m->rounds : ROUNDS_PRESET));
    if (json_object_get(root, "folder") == NULL && needs_folder(root)) {
        folder = getcwd(NULL, 0);
        if (folder != NULL)
            json_object_set_new(root, "folder", json_string(folder));
        free(folder);
    }
    settle_lengths(root, m);
    put_in_order(root);
}

char *plan_text(const json_t *root)
{
    char *text = json_dumps(root, JSON_INDENT(1));
    char *line = xasprintf("%s\n", text == NULL ? "" : text);

    free(text);
    return line;
}
