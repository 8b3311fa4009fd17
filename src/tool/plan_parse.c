/* plan_parse.c - the text of a plan: what may stand in it, and where it is wrong. */
#include "tool/plan.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <allocbench/allocbench.h>

#include "tool/arguments.h"
#include "tool/plan_options.h"
#include "tool/record_json.h"
#include "tool/util.h"

#define PLAN_BYTES    ((size_t)4 << 20)
#define ITEMS_MAX     1000u
#define WORDS_MAX     100000u
#define TEXT_BYTES    131071u /* of one word: what exec takes */
#define ROUNDS_MAX    1000000u
#define INTEGER_EXACT ((uint64_t)1 << 53)

/* ---- names ----------------------------------------------------------------------------------- */

static const char *const fields[] = {"schema", "tool_version", "workloads", "command",
                                     "folder", "targets",      "baseline",  "seed",
                                     "rounds", "lengths",      "options",   NULL};

static bool is_field(const char *name)
{
    for (size_t at = 0; fields[at] != NULL; at++)
        if (strcmp(fields[at], name) == 0)
            return true;
    return false;
}

static void nearer(const char *candidate, const char *name, const char **nearest)
{
    if (*nearest == NULL ||
        abench_text_distance(candidate, name) < abench_text_distance(*nearest, name))
        *nearest = candidate;
}

/* A misspelt name would be a plan that says less than its writer meant. */
static void check_fields(json_source *source, json_t *root)
{
    const char *name, *nearest = NULL;
    json_t *value;

    json_object_foreach(root, name, value)
    {
        if (is_field(name))
            continue;
        for (size_t at = 0; fields[at] != NULL; at++)
            nearer(fields[at], name, &nearest);
        if (plan_option_find(name) != NULL)
            json_source_fail(source, name, "an option of run: it belongs into \"options\"");
        else
            json_source_fail(source, name, "a plan has no such field; did you mean \"%s\"?",
                             nearest);
    }
}

/* ---- values ---------------------------------------------------------------------------------- */

static bool is_text(const json_t *value)
{
    return json_is_string(value) && json_string_length(value) <= TEXT_BYTES;
}

static bool is_word(const json_t *value)
{
    return is_text(value) || (json_is_integer(value) && json_integer_value(value) >= 0);
}

/* A list of texts. dash: may one of them begin with '-'? gap: may it be null? */
static void check_texts(json_source *source, const json_t *root, const char *key, size_t maximum,
                        bool dash, bool gap)
{
    const json_t *list = json_get_list(source, root, key, maximum, JSON_MAY_LACK);
    const json_t *item;
    size_t index;

    json_array_foreach(list, index, item)
    {
        char where[64];
        snprintf(where, sizeof where, "%s[%zu]", key, index);
        if (gap && json_is_null(item))
            continue;
        if (!is_text(item))
            json_source_fail(source, where, "a string of at most %u bytes is needed", TEXT_BYTES);
        else if (!dash && (json_string_value(item)[0] == '-' || json_string_length(item) == 0))
            json_source_fail(source, where, "\"%.40s\" is no name: options belong into \"options\"",
                             json_string_value(item));
    }
}

/* A whole number, as an integer or, for those that JSON's readers round, as text. */
static void check_number(json_source *source, const json_t *root, const char *key, uint64_t minimum,
                         uint64_t maximum)
{
    const json_t *value = json_object_get(root, key);
    const char *text = json_string_value(value);
    uint64_t number;

    if (value == NULL)
        return;
    if (json_is_integer(value) && json_integer_value(value) >= 0) {
        number = (uint64_t)json_integer_value(value);
    } else if (text == NULL || !plan_read_number(text, &number)) {
        json_source_fail(source, key, "a whole number is needed, from %llu to %llu",
                         (unsigned long long)minimum, (unsigned long long)maximum);
        return;
    }
    if (number < minimum || number > maximum)
        json_source_fail(source, key, "%llu is not from %llu to %llu", (unsigned long long)number,
                         (unsigned long long)minimum, (unsigned long long)maximum);
}

/* One value of an option: true, or what stands behind its name. */
static void check_option_value(json_source *source, const char *where, const struct option *option,
                               const json_t *value)
{
    if (option->has_arg == no_argument && !json_is_true(value))
        json_source_fail(source, where, "true is needed; leave it out for false");
    else if (option->has_arg != no_argument && !is_word(value))
        json_source_fail(source, where, "a text or a whole number is needed");
}

static void check_option(json_source *source, const char *name, const json_t *value)
{
    const struct option *option = plan_option_find(name);
    const char *nearest = NULL;
    const json_t *item;
    size_t index;

    if (option != NULL && plan_option_field(name) != NULL) {
        json_source_fail(source, name, "it is \"%s\", and stands beside \"options\", not in it",
                         plan_option_field(name));
    } else if (option == NULL || !plan_option_stays(name)) {
        for (size_t at = 0; plan_options()[at].name != NULL; at++)
            if (plan_option_stays(plan_options()[at].name))
                nearer(plan_options()[at].name, name, &nearest);
        if (is_field(name)) /* "folder" */
            json_source_fail(source, name, "it stands beside \"options\", not in it");
        else if (option != NULL)
            json_source_fail(source, name, "--%s is not part of a plan", name);
        else
            json_source_fail(source, name, "run has no option --%s; did you mean \"%s\"?", name,
                             nearest);
    } else if (json_is_array(value)) {
        if (json_array_size(value) > ITEMS_MAX)
            json_source_fail(source, name, "more than %u items", ITEMS_MAX);
        json_array_foreach(value, index, item)
        {
            char *where = xasprintf("%.60s[%zu]", name, index);
            check_option_value(source, where, option, item);
            free(where);
        }
    } else {
        check_option_value(source, name, option, value);
    }
}

static void check_options(json_source *source, const json_t *root)
{
    json_t *options = json_get_object(source, root, "options", JSON_MAY_LACK);
    const char *name;
    json_t *value;

    snprintf(source->path, sizeof source->path, "options");
    json_object_foreach(options, name, value) check_option(source, name, value);
    source->path[0] = '\0';
}

/* ---- the whole ------------------------------------------------------------------------------- */

static void check(json_source *source, json_t *root)
{
    const uint64_t schema = json_get_count(source, root, "schema", INT64_MAX, JSON_NEEDED);

    if (!source->failed && schema != PLAN_SCHEMA)
        json_source_fail(source, "schema", "schema %llu; this tool reads %d",
                         (unsigned long long)schema, PLAN_SCHEMA);
    check_fields(source, root);
    json_get_text(source, root, "tool_version", TEXT_BYTES, JSON_MAY_LACK);
    check_texts(source, root, "workloads", ITEMS_MAX, false, false);
    check_texts(source, root, "command", WORDS_MAX, true, false);
    json_get_text(source, root, "folder", TEXT_BYTES, JSON_MAY_LACK);
    check_texts(source, root, "targets", ITEMS_MAX, false, false);
    json_get_text(source, root, "baseline", TEXT_BYTES, JSON_MAY_LACK);
    check_number(source, root, "seed", 0, UINT64_MAX);
    check_number(source, root, "rounds", 1, ROUNDS_MAX);
    check_texts(source, root, "lengths", ITEMS_MAX * ITEMS_MAX, false, true);
    check_options(source, root);
    if (json_array_size(json_object_get(root, "workloads")) == 0 &&
        json_array_size(json_object_get(root, "command")) == 0)
        json_source_fail(source, NULL, "\"workloads\" or \"command\" is needed");
}

json_t *plan_parse(const char *file, const char *text, size_t size, char *message,
                   size_t message_size)
{
    json_source source = {.file = file, .text = text, .size = size, .line = 1};
    json_t *root = json_source_parse(&source);

    if (root != NULL)
        check(&source, root);
    if (!source.failed)
        return root;
    snprintf(message, message_size, "%s", source.message);
    util_one_line(message);
    json_decref(root);
    return NULL;
}

json_t *plan_read(const char *file, char *message, size_t message_size)
{
    json_source source = {.file = file, .line = 1};
    char *text = json_source_read(&source, file, PLAN_BYTES);
    json_t *root;

    if (text == NULL) {
        snprintf(message, message_size, "%s", source.message);
        return NULL;
    }
    root = plan_parse(file, text, source.size, message, message_size);
    free(text);
    return root;
}

json_t *plan_integer(uint64_t value)
{
    char text[24];

    if (value < INTEGER_EXACT)
        return json_integer((json_int_t)value);
    snprintf(text, sizeof text, "%llu", (unsigned long long)value);
    return json_string(text);
}
