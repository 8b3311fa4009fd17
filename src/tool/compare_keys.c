/* compare_keys.c - how two result directories differ: what was asked, machines, targets. */
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tool/compare.h"
#include "tool/record_json.h"
#include "tool/util.h"

#define KEY_BYTES   ((size_t)16 << 20) /* of matrix.json */
#define VALUE_SHOWN 60                 /* characters of one */

/* ---- what was asked -------------------------------------------------------------------------- */

typedef enum meaning {
    IGNORED, /* it is compared elsewhere, or changes nothing that is compared */
    TOLD,
    REFUSED, /* of commands: they did other work */
} meaning;

/* What is not named here is told by its name. */
static const struct {
    const char *name;
    meaning meaning;
    const char *what; /* "WHAT differs: AFTER" */
    const char *after;
} members[] = {
    {"tool_version", TOLD, "allocbench's version", "it may measure otherwise"},
    {"workloads", IGNORED, NULL, NULL},
    {"targets", IGNORED, NULL, NULL},
    {"baseline", IGNORED, NULL, NULL},
    {"host", IGNORED, NULL, NULL},
    {"machine", IGNORED, NULL, NULL},
    {"command", IGNORED, NULL, NULL},
    {"folder", IGNORED, NULL, NULL},
    {"floor", IGNORED, NULL, NULL},
    {"tails", IGNORED, NULL, NULL},
    {"ignore_failure", IGNORED, NULL, NULL},
    {"program", TOLD, "the program behind the command",
     "what B/A shows may be the program's, not the allocator's"},
    {"seed", TOLD, "the seed", "other tapes of the same workloads were played"},
    {"same_seed", TOLD, "--same-seed", "rounds differ by the tape in one and not in the other"},
    {"lanes", REFUSED, "--lanes", "another number of threads is other work"},
    {"duration_ms", REFUSED, "--duration", "another length is other work"},
    {"slice_operations", TOLD, "--slice", "turns of another length find other caches"},
    {"latency", TOLD, "--latency", "timing single operations costs time, for all targets alike"},
    {"sequential", TOLD, "--sequential",
     "cells one after the other are far noisier than in lockstep"},
    {"interleave", TOLD, "--interleave", "commands that take turns are measured otherwise"},
    {"padding", TOLD, "--no-padding", "the stack's place was drawn at random in one of them only"},
    {"cpus", TOLD, "--cpus", "they ran on other CPUs"},
    {"settle_s", TOLD, "--settle", "memory was read for another time after the end"},
    {"keep_environment", TOLD, "--keep-env", "allocators may have had other settings"},
    {"kept", TOLD, "the environment that was kept", "allocators may have had other settings"},
};

static json_t *load_key(const char *directory, char *message, size_t message_size)
{
    json_source source = {.file = "matrix.json", .line = 1};
    char *path = xasprintf("%s/matrix.json", directory);
    char *text = json_source_read(&source, path, KEY_BYTES);
    json_t *root = text == NULL ? NULL : json_source_parse(&source);
    json_t *key = root == NULL ? NULL : json_incref(json_object_get(root, "key"));

    if (root == NULL)
        snprintf(message, message_size, "%s/%.400s", directory, source.message);
    else if (!json_is_object(key)) { /* of an older tool: nothing is known to differ */
        json_decref(key);
        key = json_object();
    }
    json_decref(root);
    free(text);
    free(path);
    return key;
}

/* free() it */
static char *value_text(const json_t *value)
{
    char *text = json_is_string(value) ? xstrdup(json_string_value(value))
                 : value == NULL       ? xstrdup("none")
                                       : json_dumps(value, JSON_COMPACT | JSON_ENCODE_ANY);
    char *cut;

    if (text == NULL || strlen(text) <= VALUE_SHOWN)
        return text == NULL ? xstrdup("?") : text;
    cut = xstrndup(text, VALUE_SHOWN - 3);
    free(text);
    text = xasprintf("%s...", cut);
    free(cut);
    return text;
}

static bool has_commands(const comparison *c)
{
    for (size_t i = 0; i < c->pairs_count; i++)
        if (c->side[COMPARE_A].m->workloads[c->pairs[i].workload[COMPARE_A]].is_command)
            return true;
    return false;
}

static bool tell_member(comparison *c, const char *name, const json_t *a, const json_t *b,
                        char *message, size_t message_size)
{
    char *old, *new, *text;
    bool refused = false;
    size_t at = 0;

    while (at < sizeof members / sizeof *members && strcmp(members[at].name, name) != 0)
        at++;
    if (at == sizeof members / sizeof *members)
        at = SIZE_MAX;
    if (at != SIZE_MAX && members[at].meaning == IGNORED)
        return true;
    if (at != SIZE_MAX && members[at].meaning == REFUSED) {
        if (!has_commands(c))
            return true; /* a tape's spec holds it */
        refused = true;
    }
    old = value_text(a);
    new = value_text(b);
    if (at == SIZE_MAX)
        text = xasprintf("%.60s differs (%s in A, %s in B)", name, old, new);
    else
        text = xasprintf("%s differs (%s in A, %s in B): %s", members[at].what, old, new,
                         members[at].after);
    free(old);
    free(new);
    if (!refused) {
        compare_note(c, text);
        return true;
    }
    snprintf(message, message_size, "A and B cannot be compared: %s", text);
    free(text);
    return false;
}

/* An object that lacks a member (of an older tool) says nothing of it. */
static bool compare_asked(comparison *c, char *message, size_t message_size)
{
    json_t *key[2];
    const char *name;
    json_t *value;
    bool good = true;

    for (int side = 0; side < 2; side++) {
        key[side] = load_key(c->side[side].m->directory, message, message_size);
        if (key[side] == NULL) {
            json_decref(side == 1 ? key[0] : NULL);
            return false;
        }
    }
    json_object_foreach(key[COMPARE_A], name, value)
    {
        const json_t *other = json_object_get(key[COMPARE_B], name);
        if (good && other != NULL && !json_equal(value, other))
            good = tell_member(c, name, value, other, message, message_size);
    }
    json_decref(key[0]);
    json_decref(key[1]);
    return good;
}

/* ---- the machines ---------------------------------------------------------------------------- */

/* "kernel (6.1.0 in A, 6.2.0 in B), ..." */
static void add_difference(char **list, const char *name, const char *a, const char *b)
{
    char *more;

    if (strcmp(a, b) == 0)
        return;
    more = xasprintf("%s%s%s (%.80s in A, %.80s in B)", *list, (*list)[0] == '\0' ? "" : ", ", name,
                     a[0] == '\0' ? "not known" : a, b[0] == '\0' ? "not known" : b);
    free(*list);
    *list = more;
}

static void add_count(char **list, const char *name, uint64_t a, uint64_t b)
{
    char old[24], new[24];

    snprintf(old, sizeof old, "%llu", (unsigned long long)a);
    snprintf(new, sizeof new, "%llu", (unsigned long long)b);
    add_difference(list, name, old, new);
}

static const char *finding_of(const model *m, const char *name)
{
    for (size_t i = 0; i < m->machine.findings_count; i++)
        if (m->machine.findings[i].is_key && strcmp(m->machine.findings[i].name, name) == 0)
            return m->machine.findings[i].value;
    return NULL;
}

/* Rounds of several machines have values of several. false: a side has such rounds, and that is
 * told. */
static bool is_of_one_machine(comparison *c, int side)
{
    const model *m = c->side[side].m;

    if (m->places_count <= 1)
        return true;
    compare_note(c, xasprintf("%s holds rounds of %zu machines: times and memory do not compare, "
                              "ratios to the baseline do",
                              compare_side_name(side), m->places_count));
    return false;
}

static void compare_machines(comparison *c)
{
    const model *a = c->side[COMPARE_A].m, *b = c->side[COMPARE_B].m;
    const abench_host *x = &a->host, *y = &b->host;
    char *list = xstrdup("");

    add_difference(&list, "kernel", x->kernel, y->kernel);
    add_difference(&list, "architecture", x->machine, y->machine);
    add_difference(&list, "CPU", x->cpu, y->cpu);
    add_difference(&list, "C library", x->libc, y->libc);
    add_difference(&list, "huge pages", x->thp, y->thp);
    add_count(&list, "CPUs online", x->cpus_online, y->cpus_online);
    add_count(&list, "CPUs allowed", x->cpus_allowed, y->cpus_allowed);
    add_count(&list, "page size", x->page_bytes, y->page_bytes);
    add_count(&list, "memory", x->memory_bytes, y->memory_bytes);
    add_count(&list, "memory limit", x->memory_limit_bytes, y->memory_limit_bytes);
    for (size_t i = 0; i < a->machine.findings_count; i++) {
        const model_finding *finding = &a->machine.findings[i];
        const char *other = finding_of(b, finding->name);
        if (finding->is_key && other != NULL && strcmp(finding->name, "thp") != 0)
            add_difference(&list, finding->name, finding->value, other);
    }
    c->same_machine = list[0] == '\0';
    if (!is_of_one_machine(c, COMPARE_A) || !is_of_one_machine(c, COMPARE_B))
        c->same_machine = false;
    else if (!c->same_machine)
        compare_note(c, xasprintf("the machines differ in %s: times and memory do not compare, "
                                  "ratios to the baseline do",
                                  list));
    else if (strcmp(x->hostname, y->hostname) != 0)
        compare_note(c, xasprintf("the host is called %.80s in A and %.80s in B, and is otherwise "
                                  "the same machine as far as was looked",
                                  x->hostname, y->hostname));
    free(list);
}

/* ---- workloads ------------------------------------------------------------------------------- */

/* The canonical spec tells what was played; of a command, and where no spec is known, the label. */
static bool is_same_workload(const model_workload *a, const model_workload *b)
{
    if (a->is_command != b->is_command)
        return false;
    if (!a->is_command && a->spec[0] != '\0' && b->spec[0] != '\0')
        return strcmp(a->spec, b->spec) == 0;
    return strcmp(a->label, b->label) == 0;
}

static const model_cell *good_cell(const model *m, size_t workload, size_t from)
{
    for (size_t i = from; i < m->cells_count; i++)
        if (m->cells[i].workload == workload && !m->cells[i].failed)
            return &m->cells[i];
    return NULL;
}

/* Rounds of the same plan did the same work, or the tapes in files of one name are two. */
static bool did_same_work(const comparison *c, const compare_pair *pair)
{
    const model *a = c->side[COMPARE_A].m, *b = c->side[COMPARE_B].m;

    for (size_t i = 0; i < a->cells_count; i++) {
        const model_cell *one = &a->cells[i], *other;
        if (one->workload != pair->workload[COMPARE_A] || one->failed || one->plan_digest == NULL)
            continue;
        other = summary_baseline(b, pair->workload[COMPARE_B], one->round);
        if (other != NULL && other->plan_digest != NULL &&
            strcmp(one->plan_digest, other->plan_digest) == 0 && !summary_same_work(one, other))
            return false;
    }
    return true;
}

static void add_pair(comparison *c, compare_pair pair)
{
    const char *label = c->side[COMPARE_A].m->workloads[pair.workload[COMPARE_A]].label;

    for (int side = 0; side < 2; side++)
        if (good_cell(c->side[side].m, pair.workload[side], 0) == NULL) {
            compare_note(c, xasprintf("workload %s: no cell of it is good in %s", label,
                                      compare_side_name(side)));
            return;
        }
    if (!did_same_work(c, &pair)) {
        compare_note(c, xasprintf("workload %s: the same plan did other work in A and in B (the "
                                  "work digests differ): not compared",
                                  label));
        return;
    }
    c->pairs = xrealloc(c->pairs, (c->pairs_count + 1) * sizeof *c->pairs);
    c->pairs[c->pairs_count++] = pair;
}

static void tell_lonely(comparison *c, int side, const model_workload *w)
{
    const model *other = c->side[1 - side].m;

    for (size_t i = 0; i < other->workloads_count; i++)
        if (strcmp(other->workloads[i].label, w->label) == 0) {
            if (side == COMPARE_A)
                compare_note(c, xasprintf("workload %.200s was played as %.200s in A and as %.200s "
                                          "in B: other work, not compared",
                                          w->label, w->spec, other->workloads[i].spec));
            return;
        }
    compare_note(c, xasprintf("workload %.200s is in %s only", w->label, compare_side_name(side)));
}

static void pair_workloads(comparison *c)
{
    const model *m[2] = {c->side[COMPARE_A].m, c->side[COMPARE_B].m};

    for (int side = COMPARE_B; side >= COMPARE_A; side--)
        for (size_t i = 0; i < m[side]->workloads_count; i++) {
            const model *other = m[1 - side];
            size_t j = 0;
            while (j < other->workloads_count &&
                   !is_same_workload(&m[side]->workloads[i], &other->workloads[j]))
                j++;
            if (j == other->workloads_count)
                tell_lonely(c, side, &m[side]->workloads[i]);
            else if (side == COMPARE_B)
                add_pair(c, (compare_pair){{j, i}});
        }
}

/* ---- targets --------------------------------------------------------------------------------- */

static const model_target *target_called(const model *m, const char *name)
{
    for (size_t i = 0; i < m->targets_count; i++)
        if (strcmp(m->targets[i].name, name) == 0)
            return &m->targets[i];
    return NULL;
}

/* What one wants to see, before and after: it is told, and compared. */
static void tell_target(comparison *c, const model_target *a, const model_target *b)
{
    const model *m = c->side[COMPARE_A].m;
    const bool is_baseline = strcmp(a->name, m->targets[m->baseline].name) == 0;
    char *list = xstrdup("");

    add_difference(&list, "family", a->family, b->family);
    add_difference(&list, "version", a->version, b->version);
    add_difference(&list, "settings", a->settings, b->settings);
    add_difference(&list, "library", a->library, b->library);
    add_difference(&list, "build id", a->build_id, b->build_id);
    if (list[0] != '\0')
        compare_note(c, xasprintf("target %.200s differs in %s%s", a->name, list,
                                  is_baseline ? ": it is the baseline, and every ratio to it "
                                                "changes with it"
                                              : ""));
    free(list);
}

static void compare_targets(comparison *c)
{
    for (int side = 0; side < 2; side++) {
        const model *m = c->side[side].m;
        for (size_t i = 0; i < m->targets_count; i++) {
            const model_target *other = target_called(c->side[1 - side].m, m->targets[i].name);
            const bool is_there = other != NULL && other->missing == NULL;
            if (m->targets[i].missing != NULL)
                continue;
            if (!is_there)
                compare_note(c, xasprintf("target %.200s is in %s only", m->targets[i].name,
                                          compare_side_name(side)));
            else if (side == COMPARE_A)
                tell_target(c, &m->targets[i], other);
        }
    }
}

/* ---- all of it ------------------------------------------------------------------------------- */

bool compare_keys(comparison *c, char *message, size_t message_size)
{
    const model *a = c->side[COMPARE_A].m, *b = c->side[COMPARE_B].m;
    const char *x = a->targets[a->baseline].name, *y = b->targets[b->baseline].name;

    if (strcmp(x, y) != 0) {
        snprintf(message, message_size,
                 "A and B cannot be compared: the baseline is %.200s in A and %.200s in B; run one "
                 "of them again with --baseline",
                 x, y);
        util_one_line(message);
        return false;
    }
    compare_machines(c);
    pair_workloads(c);
    if (c->pairs_count == 0) {
        snprintf(message, message_size, "A and B cannot be compared: %.600s",
                 c->notes_count == 0 ? "there is no workload in them"
                                     : c->notes[c->notes_count - 1]);
        util_one_line(message);
        return false;
    }
    compare_targets(c);
    if (compare_asked(c, message, message_size))
        return true;
    util_one_line(message);
    return false;
}
