#include "tool/key.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "tool/json_text.h"
#include "tool/util.h"

extern char **environ;

/* ---- what was asked, as JSON ----------------------------------------------------------------- */

json_t *key_u64(uint64_t value)
{
    char text[24];

    snprintf(text, sizeof text, "%llu", (unsigned long long)value);
    return json_string(text);
}

/* Tells two builds of a library apart that carries no build id: its size and time. */
static json_t *modified_json(const target *t)
{
    char text[64] = "";
    struct stat info;

    if (t->identity.build_id[0] == '\0' && t->library != NULL && stat(t->library, &info) == 0)
        snprintf(text, sizeof text, "%lld %lld.%09ld", (long long)info.st_size,
                 (long long)info.st_mtim.tv_sec, info.st_mtim.tv_nsec);
    return json_string(text);
}

static json_t *target_json(const target *t)
{
    char *settings = target_settings_text(t);
    json_t *item = json_object();

    json_object_set_new(item, "name", json_text(t->name));
    json_object_set_new(item, "spec", json_text(t->spec));
    json_object_set_new(item, "library", json_text(t->library == NULL ? "" : t->library));
    json_object_set_new(item, "family", json_text(t->identity.family));
    json_object_set_new(item, "version", json_text(t->identity.version));
    json_object_set_new(item, "build_id", json_text(t->identity.build_id));
    json_object_set_new(item, "modified", modified_json(t));
    json_object_set_new(item, "settings", json_text(settings));
    json_object_set_new(item, "missing", t->missing == NULL ? json_null() : json_text(t->missing));
    free(settings);
    return item;
}

json_t *key_targets(const matrix *m)
{
    json_t *list = json_array();

    for (size_t at = 0; at < m->targets_count; at++) {
        const target *t = &m->targets[at];
        json_array_append_new(list, t->earlier != NULL ? json_incref(t->earlier) : target_json(t));
    }
    return list;
}

static json_t *command_json(const matrix *m)
{
    json_t *list = json_array();

    for (size_t at = 0; m->command != NULL && m->command[at] != NULL; at++)
        json_array_append_new(list, json_text(m->command[at]));
    return list;
}

static json_t *text_or_null(const char *text)
{
    return text == NULL ? json_null() : json_text(text);
}

json_t *key_workloads(const matrix *m, bool is_key)
{
    json_t *list = json_array();

    for (size_t at = 0; at < m->workloads_count; at++) {
        const matrix_workload *w = &m->workloads[at];
        json_t *item = json_object();
        json_object_set_new(item, "id", json_string(w->id));
        json_object_set_new(item, "label", json_text(w->label));
        json_object_set_new(item, "kind", json_string(w->spec == NULL ? "command" : "tape"));
        json_object_set_new(item, "spec", json_text(w->spec == NULL ? "" : w->spec));
        if (w->digest[0] != '\0')
            json_object_set_new(item, "digest", json_string(w->digest));
        if (!is_key) {
            json_object_set_new(item, "argument", text_or_null(w->argument));
            json_object_set_new(item, "played", text_or_null(w->played));
            json_object_set_new(item, "rounds", json_integer(w->rounds));
        }
        json_array_append_new(list, item);
    }
    return list;
}

/* What --keep-env leaves in every child's environment. */
static json_t *kept_json(const matrix *m)
{
    json_t *kept = json_object();

    for (char **entry = environ; m->keep_environment && *entry != NULL; entry++) {
        const size_t length = strcspn(*entry, "=");
        char *name = xstrndup(*entry, length);
        if (abench_allocator_environment(name) && (*entry)[length] == '=')
            json_object_set_new(kept, name, json_text(*entry + length + 1));
        free(name);
    }
    return kept;
}

json_t *key_json(const matrix *m)
{
    json_t *key = json_object();

    json_object_set_new(key, "tool_version", json_string(abench_version_string()));
    json_object_set_new(key, "workloads", key_workloads(m, true));
    json_object_set_new(key, "command", command_json(m));
    json_object_set_new(key, "program", json_text(m->program == NULL ? "" : m->program));
    json_object_set_new(key, "folder", json_text(m->folder == NULL ? "" : m->folder));
    json_object_set_new(key, "baseline", json_text(m->targets[m->baseline].name));
    json_object_set_new(key, "seed", key_u64(m->seed));
    json_object_set_new(key, "same_seed", json_boolean(m->same_seed));
    json_object_set_new(key, "lanes", json_integer(m->lanes));
    json_object_set_new(key, "slice_operations", key_u64(m->slice_operations));
    json_object_set_new(key, "duration_ms", key_u64(m->duration_ms));
    json_object_set_new(key, "latency", key_u64(m->latency));
    json_object_set_new(key, "tails", json_boolean(m->tails));
    json_object_set_new(key, "keep_environment", json_boolean(m->keep_environment));
    json_object_set_new(key, "kept", kept_json(m));
    json_object_set_new(key, "ignore_failure", json_boolean(m->ignore_failure));
    json_object_set_new(key, "floor", json_boolean(m->floor));
    json_object_set_new(key, "sequential", json_boolean(m->sequential));
    json_object_set_new(key, "interleave", json_boolean(m->interleave));
    json_object_set_new(key, "padding", json_boolean(m->padding));
    json_object_set_new(key, "cpus", json_text(m->cpus == NULL ? "" : m->cpus));
    json_object_set_new(key, "settle_s", json_integer(m->settle_s));
    json_object_set_new(key, "host", json_host(&m->host));
    json_object_set_new(key, "machine", fitness_key(&m->fitness));
    return key;
}

/* ---- what differs ---------------------------------------------------------------------------- */

#define VALUES_SHOWN 2
#define VALUE_SHOWN  20  /* characters of one */
#define REFUSAL_MOST 180 /* of the sentence: two lines of a terminal, which "allocbench: " opens */

#define REFUSAL "%s holds the results of another matrix: it differs in %s; -o OTHER for a new one"

/* What differs, as far as it fits. */
typedef struct differences {
    char text[512];
    size_t room; /* of text: what the sentence leaves */
    size_t length;
    size_t values;
    size_t more; /* that did not fit */
} differences;

/* The beginning of a value. free() it. */
static char *value_text(const json_t *value)
{
    char *text = value == NULL
                     ? xstrdup("none")
                     : json_dumps(value, JSON_COMPACT | JSON_ENCODE_ANY | JSON_ENSURE_ASCII);
    char *cut;

    if (text == NULL || strlen(text) <= VALUE_SHOWN)
        return text == NULL ? xstrdup("?") : text;
    cut = xasprintf("%.*s...", VALUE_SHOWN, text);
    free(text);
    return cut;
}

/* Puts a text of the list there when it fits, with what may follow. */
static bool put_difference(differences *d, const char *text)
{
    static const char last[] = " + 99 more";

    if (d->length + strlen(", ") + strlen(text) + strlen(last) > d->room)
        return false;
    d->length += (size_t)snprintf(d->text + d->length, sizeof d->text - d->length, "%s%s",
                                  d->length == 0 ? "" : ", ", text);
    return true;
}

static void add_difference(differences *d, const char *path, const json_t *there,
                           const json_t *asked)
{
    char *old = value_text(there), *new = value_text(asked);
    char *both = xasprintf("%s (%s there, %s asked)", path, old, new);
    const bool tells = d->values < VALUES_SHOWN && strcmp(old, new) != 0;

    if (d->more == 0 && tells && put_difference(d, both))
        d->values++;
    else if (d->more > 0 || !put_difference(d, path))
        d->more++;
    free(both);
    free(old);
    free(new);
}

/* "targets.jemalloc.build_id": an item of a list goes by its name, where it has one. */
static void find_differences(differences *d, const char *path, json_t *there, json_t *asked)
{
    const char *member;
    json_t *value;
    size_t index;

    if (there != NULL && json_equal(there, asked))
        return;
    if (json_is_object(there) && json_is_object(asked)) {
        json_object_foreach(asked, member, value)
        {
            char *inner = xasprintf("%s%s%s", path, path[0] == '\0' ? "" : ".", member);
            find_differences(d, inner, json_object_get(there, member), value);
            free(inner);
        }
        json_object_foreach(there, member, value)
        {
            char *inner = xasprintf("%s%s%s", path, path[0] == '\0' ? "" : ".", member);
            if (json_object_get(asked, member) == NULL)
                add_difference(d, inner, value, NULL);
            free(inner);
        }
    } else if (json_is_array(there) && json_is_array(asked) &&
               json_array_size(there) == json_array_size(asked)) {
        json_array_foreach(asked, index, value)
        {
            const char *name = json_string_value(json_object_get(value, "name"));
            char *inner = name != NULL ? xasprintf("%s.%s", path, name)
                                       : xasprintf("%s.%zu", path, index + 1);
            find_differences(d, inner, json_array_get(there, index), value);
            free(inner);
        }
    } else {
        add_difference(d, path, there, asked);
    }
}

/* A name that is longer than the sentence may be still tells the first difference. */
void key_refuse(const matrix *m, json_t *there, json_t *asked, char *message, size_t message_size)
{
    const size_t used = strlen(REFUSAL) - strlen("%s%s") + strlen(m->directory);
    differences d = {.room = used + 60 < REFUSAL_MOST ? REFUSAL_MOST - used : 60};

    find_differences(&d, "", there, asked);
    if (d.length == 0)
        snprintf(d.text, sizeof d.text, "%zu of its keys", d.more);
    else if (d.more > 0)
        snprintf(d.text + d.length, sizeof d.text - d.length, " + %zu more", d.more);
    snprintf(message, message_size, REFUSAL, m->directory, d.text);
}
