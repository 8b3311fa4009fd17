/*
 * merge_pair.h - two result directories of one plan, and what becomes of them when they are merged.
 * Included after cmocka.h.
 */
#ifndef MERGE_PAIR_H
#define MERGE_PAIR_H

#include "../data/report/fake_result.h"

#include <fcntl.h>

#include "tool/merge.h"
#include "tool/model.h"
#include "tool/util.h"

static char message[2048];

/* Two result directories of one plan, each of rounds 1 and 2, and where they go. */
typedef struct pair {
    fake a;
    fake b;
    char out[80];
} pair;

/* ---- matrix.json as json --------------------------------------------------------------------- */

static inline json_t *read_json(const char *directory, const char *name)
{
    char *path = xasprintf("%s/%s", directory, name);
    json_t *root = json_load_file(path, 0, NULL);

    if (root == NULL)
        fail_msg("%s cannot be read", path);
    free(path);
    return root;
}

static inline void write_json(const char *directory, const char *name, json_t *root)
{
    char *path = xasprintf("%s/%s", directory, name);

    assert_int_equal(json_dump_file(root, path, JSON_INDENT(1)), 0);
    json_decref(root);
    free(path);
}

/* Sets a value that lies at "key.host.hostname" or "targets[1].version". */
static inline void set(const fake *f, const char *path, json_t *value)
{
    json_t *root = read_json(f->path, "matrix.json"), *at = root;
    char *words = xstrdup(path), *rest = words, *word;

    while ((word = strsep(&rest, ".")) != NULL && rest != NULL) {
        char *bracket = strchr(word, '[');
        if (bracket != NULL)
            *bracket = '\0';
        at = json_object_get(at, word);
        if (bracket != NULL)
            at = json_array_get(at, strtoul(bracket + 1, NULL, 10));
        assert_non_null(at);
    }
    json_object_set_new(at, word, value);
    free(words);
    write_json(f->path, "matrix.json", root);
}

static inline void make_one(fake *f)
{
    json_t *root, *key;

    *f = fake_plain;
    fake_make(f);
    root = read_json(f->path, "matrix.json");
    key =
        json_pack("{s:s, s:O, s:s, s:s, s:O, s:{s:s}}", "seed", "7", "workloads",
                  json_object_get(root, "workloads"), "program", "/bin/x 100 5.000000001", "folder",
                  "/home/x", "host", json_object_get(root, "host"), "machine", "thp", "always");
    json_object_set_new(root, "key", json_deep_copy(key));
    json_decref(key);
    json_object_set_new(root, "machine",
                        json_pack("[{s:s, s:s, s:s, s:b}, {s:s, s:s, s:s, s:b}]", "name", "thp",
                                  "value", "always", "verdict", "ok", "is_key", 1, "name", "load",
                                  "value", "0.1", "verdict", "ok", "is_key", 0));
    json_object_set_new(json_object_get(root, "host"), "hostname", json_string("alpha"));
    json_object_set_new(json_object_get(json_object_get(root, "key"), "host"), "hostname",
                        json_string("alpha"));
    write_json(f->path, "matrix.json", root);
}

static inline void on_host(const fake *f, const char *name)
{
    set(f, "host.hostname", json_string(name));
    set(f, "key.host.hostname", json_string(name));
}

static inline void remove_file(const char *directory, const char *name)
{
    char *path = xasprintf("%s/%s", directory, name);

    assert_int_equal(remove(path), 0);
    free(path);
}

/* Makes round r of the fake (from 0) round r + by. */
static inline void shift(const fake *f, int by)
{
    for (int r = 0; r < 2; r++) {
        char from[64], to[64];
        json_t *round, *cell;
        size_t index;
        snprintf(from, sizeof from, "rounds/w00.r%03d.json", r);
        snprintf(to, sizeof to, "rounds/w00.r%03d.json", r + by);
        round = read_json(f->path, from);
        json_object_set_new(round, "round", json_integer(r + by));
        json_array_foreach(json_object_get(round, "cells"), index, cell)
        {
            const char *file = json_string_value(json_object_get(cell, "file"));
            char *name, *old, *new;
            if (file == NULL)
                continue;
            name = xasprintf("cells/w00.r%03d%s", r + by, file + strlen("cells/w00.r000"));
            old = xasprintf("%s/%s", f->path, file);
            new = xasprintf("%s/%s", f->path, name);
            assert_int_equal(rename(old, new), 0);
            json_object_set_new(cell, "file", json_string(name));
            free(old);
            free(new);
            free(name);
        }
        write_json(f->path, to, round);
        remove_file(f->path, from);
    }
}

static inline int setup(void **state)
{
    pair *p = calloc(1, sizeof *p);

    make_one(&p->a);
    make_one(&p->b);
    snprintf(p->out, sizeof p->out, "%s.out", p->a.path);
    *state = p;
    return 0;
}

static inline void put_path(fake *f, const char *path)
{
    assert_true(strlen(path) < sizeof f->path);
    memcpy(f->path, path, strlen(path) + 1);
}

static inline void remove_tree(const char *path)
{
    fake f = {.path = ""};

    put_path(&f, path);
    fake_remove(&f);
}

static inline int teardown(void **state)
{
    pair *p = *state;
    char part[96];

    fake_remove(&p->a);
    fake_remove(&p->b);
    remove_tree(p->out);
    snprintf(part, sizeof part, "%s.merging", p->out);
    remove_tree(part);
    free(p);
    return 0;
}

/* ---- merging --------------------------------------------------------------------------------- */

static inline bool merge_two(pair *p, merge *m)
{
    char *sources[] = {p->a.path, p->b.path};

    message[0] = '\0';
    return merge_directories(p->out, sources, 2, m, message, sizeof message);
}

static inline merge merged(pair *p)
{
    merge m;

    if (!merge_two(p, &m))
        fail_msg("%s", message);
    return m;
}

/* Refused for that reason; nothing was made. */
static inline void assert_refused(pair *p, const char *why)
{
    char part[96];
    merge m;

    if (merge_two(p, &m))
        fail_msg("it was merged, though %s", why);
    merge_clear(&m);
    if (strstr(message, why) == NULL)
        fail_msg("\"%s\" does not say \"%s\"", message, why);
    snprintf(part, sizeof part, "%s.merging", p->out);
    assert_int_not_equal(access(p->out, F_OK), 0);
    assert_int_not_equal(access(part, F_OK), 0);
}

static inline bool has_note(const char *directory, const char *text)
{
    json_t *root = read_json(directory, "matrix.json"), *note;
    size_t index;
    bool found = false;

    json_array_foreach(json_object_get(root, "notes"), index, note) found =
        found || strstr(json_string_value(note), text) != NULL;
    json_decref(root);
    return found;
}

static inline model *load(const char *directory)
{
    model *m = model_load(directory, message, sizeof message);

    if (m == NULL)
        fail_msg("%s", message);
    return m;
}

#endif
