#include "tool/extend.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tool/key.h"
#include "tool/util.h"

#define TARGETS_MOST 1000 /* what a reader of results takes: model.c */
#define NOT_NAMED    "not named by the last call"

static const char *name_of(const json_t *item)
{
    return json_string_value(json_object_get(item, "name"));
}

static bool was_missing(const json_t *item)
{
    return json_is_string(json_object_get(item, "missing"));
}

/* Its place in m->targets, or their number. */
static size_t find(const matrix *m, const char *name)
{
    size_t at = 0;

    while (at < m->targets_count && strcmp(m->targets[at].name, name) != 0)
        at++;
    return at;
}

static bool is_list(const matrix *m, json_t *there, char *message, size_t message_size)
{
    json_t *item;
    size_t index;

    if (!json_is_array(there) || json_array_size(there) > TARGETS_MOST) {
        snprintf(message, message_size,
                 "%s/matrix.json has no list of targets; choose another directory with -o",
                 m->directory);
        return false;
    }
    json_array_foreach(there, index, item)
    {
        const char *name = name_of(item);
        bool again = name == NULL;
        for (size_t at = 0; at < index && !again; at++)
            again = strcmp(name_of(json_array_get(there, at)), name) == 0;
        if (!again)
            continue;
        snprintf(message, message_size,
                 "%s/matrix.json: targets.%zu %s; choose another directory with -o", m->directory,
                 index + 1, name == NULL ? "has no name" : "is there twice");
        return false;
    }
    return true;
}

/* Without what may differ. */
static json_t *comparable(const json_t *item)
{
    json_t *copy = json_copy((json_t *)(uintptr_t)item);

    json_object_del(copy, "missing");
    return copy;
}

bool extend_pairs(const matrix *m, json_t *there, json_t **old, json_t **new, char *message,
                  size_t message_size)
{
    json_t *asked, *item;
    size_t index;

    if (!is_list(m, there, message, message_size))
        return false;
    asked = key_targets(m);
    *old = json_array();
    *new = json_array();
    json_array_foreach(there, index, item)
    {
        const size_t at = find(m, name_of(item));
        if (at == m->targets_count || m->targets[at].missing != NULL || was_missing(item))
            continue;
        json_array_append_new(*old, comparable(item));
        json_array_append_new(*new, comparable(json_array_get(asked, at)));
    }
    json_decref(asked);
    return true;
}

/* One that is there and was not named now. */
static target idle_target(json_t *item)
{
    const char *spec = json_string_value(json_object_get(item, "spec"));
    target t = {.name = xstrdup(name_of(item)),
                .spec = xstrdup(spec == NULL ? "" : spec),
                .missing = xstrdup(NOT_NAMED),
                .earlier = json_incref(item)};

    abench_identity_init(&t.identity);
    return t;
}

bool extend_targets(matrix *m, json_t *there, char *message, size_t message_size)
{
    const size_t count = json_array_size(there);
    bool *placed = xcalloc(m->targets_count, sizeof *placed);
    target *all;
    size_t next = 0, baseline = 0, more = 0;
    json_t *item;
    size_t index;

    for (size_t at = 0; at < count; at++)
        more += find(m, name_of(json_array_get(there, at))) == m->targets_count;
    if (m->targets_count + more > TARGETS_MOST) {
        snprintf(message, message_size,
                 "%s would hold more than %d targets; -o OTHER for a new one", m->directory,
                 TARGETS_MOST);
        free(placed);
        return false;
    }
    all = xcalloc(m->targets_count + more, sizeof *all);
    json_array_foreach(there, index, item)
    {
        const size_t at = find(m, name_of(item));
        if (at == m->targets_count) {
            all[next++] = idle_target(item);
            continue;
        }
        placed[at] = true;
        if (at == m->baseline)
            baseline = next;
        all[next] = m->targets[at];
        /* What it was when it was measured stays told. */
        if (all[next].missing != NULL && all[next].earlier == NULL && !was_missing(item))
            all[next].earlier = json_incref(item);
        next++;
    }
    for (size_t at = 0; at < m->targets_count; at++) {
        if (placed[at])
            continue;
        if (at == m->baseline)
            baseline = next;
        all[next++] = m->targets[at];
    }
    free(placed);
    free(m->targets);
    m->targets = all;
    m->targets_count = next;
    m->baseline = baseline;
    return true;
}
