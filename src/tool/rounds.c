#include "tool/rounds.h"

#include <dirent.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tool/util.h"

#define ROUND_MOST 99999999u /* a file beyond that is none of ours */

/* A round's file. */
typedef struct entry {
    uint32_t round;
    bool counts;
    bool again; /* it is to be run again */
} entry;

typedef struct listing {
    entry *items; /* by round */
    size_t count;
    size_t capacity;
} listing;

/* ---- one file -------------------------------------------------------------------------------- */

static bool holds(const json_t *cells, const char *wanted)
{
    const json_t *item;
    size_t index;

    json_array_foreach(cells, index, item)
    {
        const char *name = json_string_value(json_object_get(item, "target"));
        if (name != NULL && strcmp(name, wanted) == 0)
            return true;
    }
    return false;
}

static bool is_named(const matrix *m, const char *name)
{
    for (size_t at = 0; at < m->targets_count; at++)
        if (m->targets[at].missing == NULL && strcmp(m->targets[at].name, name) == 0)
            return true;
    return false;
}

/* Has it a cell that failed, and would nothing be lost if it were run again? */
static bool wants_retry(const matrix *m, const json_t *cells)
{
    const json_t *item;
    size_t index;
    bool failed = false;

    json_array_foreach(cells, index, item)
    {
        const char *name = json_string_value(json_object_get(item, "target"));
        const char *status = json_string_value(json_object_get(item, "status"));
        failed = failed || status == NULL || strcmp(status, "ok") != 0;
        if (name != NULL && !is_named(m, name))
            return false;
    }
    return failed;
}

static entry read_entry(const matrix *m, const char *path, uint32_t round)
{
    json_t *root = json_load_file(path, 0, NULL);
    const json_t *cells = json_object_get(root, "cells");
    entry e = {.round = round, .counts = true};

    /* One that cannot be read is told of by the report; to run it again would hide it. */
    for (size_t at = 0; at < m->targets_count && root != NULL && e.counts; at++)
        e.counts = m->targets[at].missing != NULL || holds(cells, m->targets[at].name);
    e.again = m->retry_failed && e.counts && (root == NULL || wants_retry(m, cells));
    json_decref(root);
    return e;
}

/* ---- the folder ------------------------------------------------------------------------------ */

/* "w00.r012.json": is it a round of this workload, under the one name that it may have? */
static bool parse_name(const char *file, const char *id, uint32_t *round)
{
    const size_t length = strlen(id);
    unsigned long number;
    char *own, *end;
    bool same;

    if (strncmp(file, id, length) != 0 || strncmp(file + length, ".r", 2) != 0 ||
        file[length + 2] < '0' || file[length + 2] > '9')
        return false;
    number = strtoul(file + length + 2, &end, 10);
    if (number > ROUND_MOST)
        return false;
    *round = (uint32_t)number;
    own = xasprintf("%s.r%03u.json", id, *round);
    same = strcmp(own, file) == 0;
    free(own);
    return same;
}

static int by_round(const void *a, const void *b)
{
    const entry *x = a, *y = b;

    return (x->round > y->round) - (x->round < y->round);
}

static listing list_rounds(const matrix *m, size_t workload)
{
    char *folder = xasprintf("%s/rounds", m->directory);
    DIR *directory = opendir(folder);
    const struct dirent *item;
    listing l = {0};

    while (directory != NULL && (item = readdir(directory)) != NULL) {
        uint32_t round;
        char *path;
        if (!parse_name(item->d_name, m->workloads[workload].id, &round))
            continue;
        path = xasprintf("%s/%s", folder, item->d_name);
        l.items = util_grow(l.items, l.count, &l.capacity, sizeof *l.items);
        l.items[l.count++] = read_entry(m, path, round);
        free(path);
    }
    if (directory != NULL)
        closedir(directory);
    if (l.count > 0)
        qsort(l.items, l.count, sizeof *l.items, by_round);
    free(folder);
    return l;
}

/* ---- the plan -------------------------------------------------------------------------------- */

static void add_task(rounds_plan *plan, size_t *capacity, size_t workload, uint32_t round)
{
    plan->tasks = util_grow(plan->tasks, plan->count, capacity, sizeof *plan->tasks);
    plan->tasks[plan->count++] = (rounds_task){workload, round};
}

/* New rounds under the least free numbers. */
static void add_new(rounds_plan *plan, size_t *capacity, size_t workload, const listing *l,
                    size_t wanted)
{
    uint32_t round = 0;
    size_t at = 0;

    for (; wanted > 0; round++) {
        if (at < l->count && l->items[at].round == round) {
            at++;
            continue;
        }
        add_task(plan, capacity, workload, round);
        wanted--;
    }
}

/* That round alone, if it is not there. */
static void add_one(const matrix *m, rounds_plan *plan, size_t *capacity, size_t workload,
                    const listing *l)
{
    for (size_t at = 0; at < l->count; at++)
        if (l->items[at].round == m->round)
            return;
    add_task(plan, capacity, workload, m->round);
}

static void plan_workload(matrix *m, size_t workload, rounds_plan *plan, size_t *capacity)
{
    matrix_workload *w = &m->workloads[workload];
    listing l = list_rounds(m, workload);
    const size_t before = plan->count;
    size_t again, counted = 0;

    for (size_t at = 0; at < l.count; at++) {
        counted += l.items[at].counts;
        if (l.items[at].again && (!m->one_round || l.items[at].round == m->round))
            add_task(plan, capacity, workload, l.items[at].round);
    }
    again = plan->count - before;
    plan->kept += counted - again;
    if (counted > plan->most)
        plan->most = (uint32_t)counted;
    if (w->hopeless || w->is_decided)
        plan->count = before;
    else if (m->one_round)
        add_one(m, plan, capacity, workload, &l);
    else if (counted < m->rounds)
        add_new(plan, capacity, workload, &l, m->rounds - counted);
    w->rounds = (uint32_t)(l.count + (plan->count - before) - (plan->count > before ? again : 0));
    if (m->one_round && w->rounds < m->rounds)
        w->rounds = m->rounds; /* the others are run elsewhere */
    free(l.items);
}

static int by_place(const void *a, const void *b)
{
    const rounds_task *x = a, *y = b;

    if (x->round != y->round)
        return x->round < y->round ? -1 : 1;
    return (x->workload > y->workload) - (x->workload < y->workload);
}

rounds_plan rounds_make_plan(matrix *m)
{
    rounds_plan plan = {0};
    size_t capacity = 0;

    for (size_t w = 0; w < m->workloads_count; w++)
        plan_workload(m, w, &plan, &capacity);
    if (plan.count > 0)
        qsort(plan.tasks, plan.count, sizeof *plan.tasks, by_place);
    return plan;
}

void rounds_clear(rounds_plan *plan)
{
    free(plan->tasks);
    *plan = (rounds_plan){0};
}

uint32_t rounds_all(const matrix *m)
{
    uint32_t all = 0;

    for (size_t w = 0; w < m->workloads_count; w++)
        if (m->workloads[w].rounds > all)
            all = m->workloads[w].rounds;
    return all;
}
