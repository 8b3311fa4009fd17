/* merge_key.c - do results belong together, and what is true of all of them? */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tool/json_text.h"
#include "tool/merge.h"
#include "tool/util.h"

#define VALUE_SHOWN 40 /* characters of one */

static const char *text_in(const json_t *object, const char *key)
{
    const char *text = json_string_value(json_object_get(object, key));

    return text == NULL ? "" : text;
}

void merge_note(merge *m, const char *format, ...)
{
    json_t *notes = json_object_get(m->root, "notes");
    const json_t *note;
    size_t index;
    va_list list;
    char *text;
    bool known = false;

    va_start(list, format);
    text = util_one_line(xvasprintf(format, list));
    va_end(list);
    json_array_foreach(notes, index, note) known =
        known || strcmp(json_string_value(note), text) == 0;
    if (!known)
        json_array_append_new(notes, json_text(text));
    free(text);
}

/* ---- the first difference of two values ------------------------------------------------------ */

static char *shown(const json_t *value)
{
    char *text =
        value == NULL ? xstrdup("none") : json_dumps(value, JSON_COMPACT | JSON_ENCODE_ANY);
    char *cut;

    if (text == NULL || strlen(text) <= VALUE_SHOWN)
        return text == NULL ? xstrdup("?") : text;
    cut = xasprintf("%.*s...", VALUE_SHOWN, text);
    free(text);
    return cut;
}

/* "slice_operations (5 there, 7 in part.2)" of the first member that differs; NULL: none does. */
static char *difference(const char *path, const json_t *first, const json_t *other)
{
    const char *member, *dot = path[0] == '\0' ? "" : ".";
    json_t *value;
    char *found = NULL, *a, *b;

    if (first != NULL && other != NULL && json_equal(first, other))
        return NULL;
    if (json_is_object(first) && json_is_object(other)) {
        json_object_foreach((json_t *)(uintptr_t)first, member, value)
        {
            char *inner = xasprintf("%s%s%s", path, dot, member);
            found = difference(inner, value, json_object_get(other, member));
            free(inner);
            if (found != NULL)
                return found;
        }
        json_object_foreach((json_t *)(uintptr_t)other, member, value)
        {
            if (json_object_get(first, member) == NULL)
                return xasprintf("%s%s%s, which only one has", path, dot, member);
        }
    }
    a = shown(first);
    b = shown(other);
    found = xasprintf("%s: %s against %s", path, a, b);
    free(a);
    free(b);
    return found;
}

static bool refuse(const merge *m, const merge_source *source, const char *what, char *message,
                   size_t message_size)
{
    snprintf(message, message_size, "%s and %s are of different matrices: %s", m->sources[0].path,
             source->path, what);
    util_one_line(message);
    return false;
}

/* ---- keys ------------------------------------------------------------------------------------ */

/* What two machines may differ in. */
static json_t *without_machine(const json_t *key)
{
    static const char *const own[] = {"host", "machine", "targets", "folder", "program"};
    json_t *copy = json_deep_copy(key);

    for (size_t at = 0; at < sizeof own / sizeof *own; at++)
        json_object_del(copy, own[at]);
    return copy;
}

/* "PATH SIZE TIME; ..." without the times. free() it. */
static char *without_times(const char *program)
{
    char *text = xcalloc(strlen(program) + 1, 1), *to = text;

    while (*program != '\0') {
        const size_t length = strcspn(program, ";");
        size_t kept = length;
        while (kept > 0 && program[kept - 1] != ' ')
            kept--;
        memcpy(to, program, kept);
        to += kept;
        program += length;
        if (*program == ';')
            *to++ = *program++;
    }
    return text;
}

static bool same_host(const json_t *a, const json_t *b)
{
    return json_equal(json_object_get(a, "host"), json_object_get(b, "host"));
}

/* The program behind a command: on another machine its file may have another time. */
static bool check_program(merge *m, const merge_source *source, const json_t *first,
                          const json_t *other, char *message, size_t message_size)
{
    const char *old = text_in(first, "program"), *new = text_in(other, "program");
    char *a, *b;
    bool same;

    if (strcmp(old, new) == 0)
        return true;
    a = without_times(old);
    b = without_times(new);
    same = strcmp(a, b) == 0 && !same_host(first, other);
    if (same)
        merge_note(m,
                   "the program of the command has another time stamp in %s: it is taken for "
                   "the same, as its size is",
                   source->path);
    free(a);
    free(b);
    return same ||
           refuse(m, source, "another program is behind the command", message, message_size);
}

static bool check_key(merge *m, const merge_source *source, char *message, size_t message_size)
{
    const json_t *first = json_object_get(m->sources[0].root, "key");
    const json_t *other = json_object_get(source->root, "key");
    json_t *a = without_machine(first), *b = without_machine(other);
    char *what = difference("", a, b);
    bool good = what == NULL;

    if (!good)
        refuse(m, source, what, message, message_size);
    free(what);
    json_decref(a);
    json_decref(b);
    if (!good || !check_program(m, source, first, other, message, message_size))
        return false;
    if (strcmp(text_in(first, "folder"), text_in(other, "folder")) != 0)
        merge_note(m, "the command ran in %s in %s", text_in(other, "folder"), source->path);
    return true;
}

/* What stands beside the key and must be the same, too. */
static bool check_looks(const merge *m, const merge_source *source, char *message,
                        size_t message_size)
{
    static const char *const names[] = {"looks", "look_rounds"};

    for (size_t at = 0; at < sizeof names / sizeof *names; at++) {
        char *what = difference(names[at], json_object_get(m->root, names[at]),
                                json_object_get(source->root, names[at]));
        const bool none = json_object_get(m->root, names[at]) == NULL &&
                          json_object_get(source->root, names[at]) == NULL;
        if (what != NULL && !none) {
            refuse(m, source, what, message, message_size);
            free(what);
            return false;
        }
        free(what);
    }
    return true;
}

/* ---- workloads ------------------------------------------------------------------------------- */

/* A length that --duration chose is not in the key: another one is other work. */
static bool check_lengths(const merge *m, const merge_source *source, char *message,
                          size_t message_size)
{
    static const char *const names[] = {"argument", "played"};
    const json_t *others = json_object_get(source->root, "workloads");
    json_t *list = json_object_get(m->root, "workloads"), *item;
    size_t index;

    json_array_foreach(list, index, item)
    {
        const json_t *other = json_array_get(others, index);
        for (size_t at = 0; at < sizeof names / sizeof *names; at++) {
            const json_t *old = json_object_get(item, names[at]);
            json_t *new = json_object_get(other, names[at]);
            if (!json_is_string(old) && json_is_string(new)) {
                json_object_set(item, names[at], new);
            } else if (json_is_string(old) && json_is_string(new) && !json_equal(old, new)) {
                char *what =
                    xasprintf("%.60s was played as %.60s and as %.60s", text_in(item, "label"),
                              json_string_value(old), json_string_value(new));
                refuse(m, source, what, message, message_size);
                free(what);
                return false;
            }
        }
    }
    return true;
}

/* ---- targets --------------------------------------------------------------------------------- */

static bool is_missing(const json_t *target)
{
    return json_is_string(json_object_get(target, "missing"));
}

/* "SIZE TIME" of a library without a build id: another machine's time is another. */
static bool same_size(const char *a, const char *b)
{
    const size_t length = strcspn(a, " ");

    return length == strcspn(b, " ") && strncmp(a, b, length) == 0;
}

/* Is a target the same allocator in both? NULL, or what differs; free() it. */
static char *target_difference(merge *m, const merge_source *source, const json_t *old,
                               const json_t *new)
{
    static const char *const facts[] = {"spec", "settings", "family", "version"};
    const char *name = text_in(old, "name");
    const size_t count = is_missing(old) || is_missing(new) ? 2 : sizeof facts / sizeof *facts;
    const bool has_version = text_in(old, "version")[0] != '\0';

    for (size_t at = 0; at < count; at++)
        if (strcmp(text_in(old, facts[at]), text_in(new, facts[at])) != 0)
            return xasprintf("target %s is another allocator, its %s is \"%.60s\" and \"%.60s\"",
                             name, facts[at], text_in(old, facts[at]), text_in(new, facts[at]));
    if (count == 2)
        return NULL;
    if (strcmp(text_in(old, "build_id"), text_in(new, "build_id")) != 0) {
        if (!has_version)
            return xasprintf("target %s has another build id, and no version that is the same",
                             name);
        merge_note(m, "target %s is another build of %s %s in %s", name, text_in(old, "family"),
                   text_in(old, "version"), source->path);
    } else if (strcmp(text_in(old, "modified"), text_in(new, "modified")) != 0) {
        if (!same_size(text_in(old, "modified"), text_in(new, "modified")))
            return xasprintf("target %s is another library: its size differs", name);
        merge_note(m,
                   "target %s has another time stamp in %s: it is taken for the same, as its "
                   "size is",
                   name, source->path);
    }
    return NULL;
}

static bool add_targets(merge *m, const merge_source *source, char *message, size_t message_size)
{
    json_t *list = json_object_get(m->root, "targets"), *item;
    size_t index;

    json_array_foreach(json_object_get(source->root, "targets"), index, item)
    {
        size_t at = 0;
        char *what;
        while (at < json_array_size(list) &&
               strcmp(text_in(json_array_get(list, at), "name"), text_in(item, "name")) != 0)
            at++;
        if (at == json_array_size(list)) {
            json_array_append(list, item);
            continue;
        }
        what = target_difference(m, source, json_array_get(list, at), item);
        if (what != NULL) {
            refuse(m, source, what, message, message_size);
            free(what);
            return false;
        }
        if (is_missing(json_array_get(list, at)) && !is_missing(item))
            json_array_set(list, at, item);
    }
    return true;
}

/* ---- machines -------------------------------------------------------------------------------- */

/* A machine of a source: as a merge wrote it, or the only one of a run. */
static json_t *machine_at(const json_t *root, size_t index)
{
    json_t *there = json_array_get(json_object_get(root, "machines"), index), *machine;

    if (there != NULL)
        return json_incref(there);
    machine = json_object();
    json_object_set_new(machine, "name",
                        json_text(text_in(json_object_get(root, "host"), "hostname")));
    json_object_set(machine, "host", json_object_get(root, "host"));
    json_object_set(machine, "machine", json_object_get(root, "machine"));
    return machine;
}

/* {name: value} of the findings that results do not compare over. */
static json_t *key_findings(const json_t *machine)
{
    json_t *key = json_object(), *item;
    size_t index;

    json_array_foreach(json_object_get(machine, "machine"), index, item)
    {
        if (json_is_true(json_object_get(item, "is_key")))
            json_object_set(key, text_in(item, "name"), json_object_get(item, "value"));
    }
    return key;
}

static bool same_machine(const json_t *a, const json_t *b)
{
    json_t *x = key_findings(a), *y = key_findings(b);
    const bool same = same_host(a, b) && json_equal(x, y);

    json_decref(x);
    json_decref(y);
    return same;
}

/* Gives a machine a name that no other has: "alpha (2)". */
static json_t *named_apart(const json_t *machines, const json_t *machine)
{
    json_t *copy = json_deep_copy(machine);
    const json_t *other;
    size_t index, number = 1;
    bool is_free = false;

    while (!is_free) {
        const char *name = text_in(machine, "name");
        char *text = number == 1 ? xstrdup(name[0] == '\0' ? "?" : name)
                                 : xasprintf("%s (%zu)", name, number);
        is_free = true;
        json_array_foreach(machines, index, other) is_free =
            is_free && strcmp(text_in(other, "name"), text) != 0;
        json_object_set_new(copy, "name", json_text(text));
        free(text);
        number++;
    }
    return copy;
}

/* The place of each of a source's machines in the result's list. */
static void add_machines(merge *m, merge_source *source)
{
    json_t *list = json_object_get(m->root, "machines");
    const size_t own = json_array_size(json_object_get(source->root, "machines"));
    const size_t count = own == 0 ? 1 : own;

    source->places = xcalloc(count, sizeof *source->places);
    for (size_t at = 0; at < count; at++) {
        json_t *machine = machine_at(source->root, at);
        size_t place = 0;
        while (place < json_array_size(list) && !same_machine(json_array_get(list, place), machine))
            place++;
        if (place == json_array_size(list))
            json_array_append_new(list, named_apart(list, machine));
        source->places[at] = place;
        json_decref(machine);
    }
}

/* ---- all of them ----------------------------------------------------------------------------- */

static void add_notes(merge *m, const merge_source *source)
{
    const json_t *note;
    size_t index;

    json_array_foreach(json_object_get(source->root, "notes"), index, note)
        merge_note(m, "%s", json_string_value(note));
}

/* The earliest beginning, and the most rounds that any asked for. */
static void add_numbers(merge *m, const merge_source *source)
{
    const char *old = text_in(m->root, "unix_s"), *new = text_in(source->root, "unix_s");
    json_t *rounds = json_object_get(source->root, "rounds");

    if (strtoull(new, NULL, 10) < strtoull(old, NULL, 10))
        json_object_set(m->root, "unix_s", json_object_get(source->root, "unix_s"));
    if (json_integer_value(rounds) > json_integer_value(json_object_get(m->root, "rounds")))
        json_object_set(m->root, "rounds", rounds);
}

bool merge_roots(merge *m, char *message, size_t message_size)
{
    m->root = json_deep_copy(m->sources[0].root);
    json_object_set_new(m->root, "machines", json_array());
    json_object_del(m->root, "unfinished"); /* what a call that was interrupted had in mind */
    if (!json_is_array(json_object_get(m->root, "notes")))
        json_object_set_new(m->root, "notes", json_array());
    for (size_t at = 0; at < m->count; at++) {
        merge_source *source = &m->sources[at];
        if (at > 0 && (!check_key(m, source, message, message_size) ||
                       !check_looks(m, source, message, message_size) ||
                       !check_lengths(m, source, message, message_size) ||
                       !add_targets(m, source, message, message_size)))
            return false;
        add_machines(m, source);
        add_notes(m, source);
        add_numbers(m, source);
    }
    if (json_object_get(json_object_get(m->root, "key"), "targets") != NULL)
        json_object_set(json_object_get(m->root, "key"), "targets",
                        json_object_get(m->root, "targets"));
    return true;
}
