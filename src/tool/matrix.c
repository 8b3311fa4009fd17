#include "tool/matrix.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <jansson.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "tool/json_text.h"
#include "tool/lockstep.h"
#include "tool/model.h"
#include "tool/padding.h"
#include "tool/progress.h"
#include "tool/rounds.h"
#include "tool/single.h"
#include "tool/util.h"

#define ROOM_BYTES (4 << 20) /* more than a cell takes */

volatile sig_atomic_t matrix_interrupted;

static void keep_note(matrix *m, char *note)
{
    progress_say(note);
    m->notes = xrealloc(m->notes, (m->notes_count + 1) * sizeof *m->notes);
    m->notes[m->notes_count++] = note;
}

void matrix_note(matrix *m, const char *format, ...)
{
    va_list list;

    va_start(list, format);
    keep_note(m, util_one_line(xvasprintf(format, list)));
    va_end(list);
}

void matrix_note_once(matrix *m, const char *format, ...)
{
    va_list list;
    char *note;

    va_start(list, format);
    note = util_one_line(xvasprintf(format, list));
    va_end(list);
    for (size_t at = 0; at < m->notes_count; at++)
        if (strcmp(m->notes[at], note) == 0) {
            free(note);
            return;
        }
    keep_note(m, note);
}

void matrix_clear_work(matrix *m)
{
    for (size_t at = 0; at < m->workloads_count; at++) {
        free(m->workloads[at].id);
        free(m->workloads[at].label);
        free(m->workloads[at].spec);
        free(m->workloads[at].argument);
        free(m->workloads[at].played);
    }
    for (size_t at = 0; at < m->notes_count; at++)
        free(m->notes[at]);
    free(m->notes);
    free(m->workloads);
}

char *matrix_path(const matrix *m, const char *folder, const char *name, const char *suffix)
{
    return xasprintf("%s/%s/%s%s", m->directory, folder, name, suffix);
}

uint64_t matrix_memory(const matrix *m)
{
    const uint64_t all = m->host.memory_bytes, limit = m->host.memory_limit_bytes;

    if (all == 0)
        return UINT64_MAX;
    return limit != 0 && limit < all ? limit : all;
}

uint64_t matrix_seed(const matrix *m, uint32_t round)
{
    return m->same_seed ? m->seed : m->seed + round;
}

const char *matrix_arm_title(const matrix *m, const arm *a)
{
    static char title[256];

    if (a->target == MODEL_FLOOR)
        return "floor";
    snprintf(title, sizeof title, "%s%s%s", m->targets[a->target].name, a->again ? " (again)" : "",
             a->tails ? " (tails)" : "");
    return title;
}

/* ---- one round ------------------------------------------------------------------------------- */

/* The arms of a round: the first *count, then those of its tail pass up to *all. */
static arm *make_arms(const matrix *m, size_t workload, uint32_t round, size_t *count, size_t *all)
{
    const bool is_tape = m->workloads[workload].spec != NULL;
    arm *arms = xcalloc(2 * m->targets_count + 2, sizeof *arms);
    const char *id = m->workloads[workload].id;
    size_t next = 0;

    for (size_t at = 0; at < m->targets_count; at++) {
        if (m->targets[at].missing != NULL)
            continue;
        arms[next++] = (arm){.target = at, .name = xasprintf("%s.r%03u.t%02zu", id, round, at)};
        if (at == m->baseline)
            arms[next++] = (arm){
                .target = at, .again = true, .name = xasprintf("%s.r%03u.t%02zub", id, round, at)};
    }
    if (m->floor && is_tape)
        arms[next++] = (arm){.target = MODEL_FLOOR, .name = xasprintf("%s.r%03u.floor", id, round)};
    *count = next;
    for (size_t at = 0; at < m->targets_count && m->tails && is_tape; at++)
        if (m->targets[at].missing == NULL)
            arms[next++] = (arm){.target = at,
                                 .tails = true,
                                 .name = xasprintf("%s.r%03u.t%02zu-tails", id, round, at)};
    *all = next;
    return arms;
}

static void free_arms(arm *arms, size_t count)
{
    for (size_t at = 0; at < count; at++) {
        fitness_watch_clear(&arms[at].watch);
        free(arms[at].name);
        free(arms[at].reason);
    }
    free(arms);
}

/* Removes what earlier tries at this round left, whatever targets they had. One that is run again
 * goes first: without its cells it would be a lie. */
static void remove_remains(const matrix *m, size_t workload, uint32_t round)
{
    char *name = xasprintf("%s.r%03u", m->workloads[workload].id, round);
    char *finished = matrix_path(m, "rounds", name, ".json");
    char *start = xasprintf("%s.r%03u.", m->workloads[workload].id, round);
    char *folder = xasprintf("%s/cells", m->directory);
    DIR *directory = opendir(folder);
    const struct dirent *entry;

    unlink(finished);
    while (directory != NULL && (entry = readdir(directory)) != NULL)
        if (strncmp(entry->d_name, start, strlen(start)) == 0)
            unlinkat(dirfd(directory), entry->d_name, 0);
    if (directory != NULL)
        closedir(directory);
    free(folder);
    free(start);
    free(finished);
    free(name);
}

static json_t *arm_json(const matrix *m, size_t workload, uint32_t round, const arm *a)
{
    json_t *item = json_object();
    char *file = xasprintf("cells/%s.jsonl", a->name);

    json_object_set_new(item, "target",
                        a->target == MODEL_FLOOR ? json_null()
                                                 : json_text(m->targets[a->target].name));
    json_object_set_new(item, "again", json_boolean(a->again));
    if (a->tails)
        json_object_set_new(item, "tails", json_true());
    json_object_set_new(item, "status", json_string(a->reason == NULL ? "ok" : "failed"));
    json_object_set_new(item, "reason", a->reason == NULL ? json_null() : json_text(a->reason));
    json_object_set_new(item, "file", a->reason == NULL ? json_string(file) : json_null());
    if (m->padding)
        json_object_set_new(item, "padding", json_integer(padding_bytes(m, workload, round, a)));
    if (json_array_size(a->watch.changes) > 0)
        json_object_set(item, "machine", a->watch.changes);
    free(file);
    return item;
}

/* How a round was run. */
typedef struct attempt {
    const char *mode;
    uint32_t tries;
    fitness_watch watch;
} attempt;

static bool publish_round(const matrix *m, size_t workload, uint32_t round, const arm *arms,
                          size_t count, const attempt *how, char *message, size_t message_size)
{
    char *name = xasprintf("%s.r%03u", m->workloads[workload].id, round);
    char *path = matrix_path(m, "rounds", name, ".json");
    char *seed = xasprintf("%llu", (unsigned long long)matrix_seed(m, round));
    json_t *root = json_object(), *cells = json_array();
    char *text;
    bool good;

    for (size_t at = 0; at < count; at++)
        json_array_append_new(cells, arm_json(m, workload, round, &arms[at]));
    json_object_set_new(root, "schema", json_integer(1));
    json_object_set_new(root, "workload", json_string(m->workloads[workload].id));
    json_object_set_new(root, "round", json_integer(round));
    json_object_set_new(root, "seed", json_string(seed));
    json_object_set_new(root, "mode", json_string(how->mode));
    json_object_set_new(root, "tries", json_integer(how->tries));
    json_object_set(root, "machine", how->watch.changes);
    json_object_set_new(root, "cells", cells);
    text = json_dumps(root, JSON_INDENT(1));
    if (text == NULL)
        snprintf(message, message_size, "no memory for %s", path);
    good = text != NULL && util_write_file(path, text, strlen(text), message, message_size);
    free(text);
    json_decref(root);
    free(seed);
    free(path);
    free(name);
    return good;
}

static void report_failures(const matrix *m, size_t workload, uint32_t round, const arm *arms,
                            size_t count)
{
    for (size_t at = 0; at < count; at++) {
        char *line;
        if (arms[at].reason == NULL)
            continue;
        line = xasprintf("failed: %.80s, round %u, %s: %s", m->workloads[workload].label, round + 1,
                         matrix_arm_title(m, &arms[at]), arms[at].reason);
        progress_say(line);
        free(line);
    }
}

static size_t count_failed(const arm *arms, size_t count)
{
    size_t failed = 0;

    for (size_t at = 0; at < count; at++)
        failed += arms[at].reason != NULL;
    return failed;
}

/* Whether the result directory takes more, asked when a cell has failed: of a full disk, or a quota
 * that is used up, the machine is to blame and not the target. */
static bool has_room(const matrix *m, char *message, size_t message_size)
{
    char *path = matrix_path(m, "cells", "room", ".tmp");
    const int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
    int error = fd < 0 ? errno : posix_fallocate(fd, 0, ROOM_BYTES);

    if (fd >= 0)
        close(fd);
    unlink(path);
    free(path);
    if (error != ENOSPC && error != EDQUOT)
        return true;
    snprintf(message, message_size,
             "%s: a cell failed and there is no room left for it (%s): its round is not kept; make "
             "room, then the same command goes on",
             m->directory, strerror(error));
    return false;
}

static bool has_failed(const arm *arms, size_t count, size_t index)
{
    for (size_t at = 0; at < count; at++)
        if (arms[at].target == index && arms[at].reason != NULL)
            return true;
    return false;
}

/* The pass that times every operation, of the targets that could play. Returns how many arms the
 * round has now. */
static size_t run_tails(matrix *m, size_t workload, uint32_t round, arm *arms, size_t count,
                        size_t all)
{
    size_t kept = count;

    for (size_t at = count; at < all; at++) {
        if (has_failed(arms, count, arms[at].target))
            free(arms[at].name);
        else
            arms[kept++] = arms[at];
    }
    if (kept > count)
        lockstep_round(m, workload, round, arms + count, kept - count);
    return kept;
}

/* What spoilt a round, or one of its cells; NULL: nothing did. */
static const char *what_spoilt(const attempt *how, const arm *arms, size_t count)
{
    for (size_t at = 0; at < count; at++)
        if (arms[at].watch.worst != NULL)
            return arms[at].watch.worst;
    return how->watch.worst;
}

/* Plays the round once. Returns how many arms it has. */
static size_t try_round(matrix *m, size_t workload, uint32_t round, arm *arms, size_t count,
                        size_t all, attempt *how)
{
    how->tries++;
    fitness_watch_clear(&how->watch);
    fitness_begin(&how->watch);
    if (m->workloads[workload].spec != NULL)
        how->mode = lockstep_round(m, workload, round, arms, count);
    else
        how->mode = single_round(m, workload, round, arms, count);
    if (!matrix_interrupted && m->starved == 0)
        all = run_tails(m, workload, round, arms, count, all);
    fitness_end(&how->watch);
    return all;
}

/* May what was played count? false: the round is to be played again, or, with a message, not at
 * all. A cell that failed is told as it is: what it did to the machine may be why. */
static bool judge_round(matrix *m, size_t workload, uint32_t round, const arm *arms, size_t all,
                        const attempt *how, char *message, size_t message_size)
{
    const char *spoilt = what_spoilt(how, arms, all);
    char *line;

    if (spoilt == NULL || matrix_interrupted || count_failed(arms, all) > 0)
        return true;
    if (how->tries > m->reruns && !m->strict)
        return true;
    if (how->tries > m->reruns) {
        snprintf(message, message_size,
                 "round %u of %.80s: the machine changed while it ran, %u time%s (%s): it is not "
                 "kept (--strict); the same command goes on",
                 round + 1, m->workloads[workload].label, how->tries, how->tries == 1 ? "" : "s",
                 spoilt);
        return false;
    }
    line = xasprintf("again: %.80s, round %u: the machine changed while it ran (%s)",
                     m->workloads[workload].label, round + 1, spoilt);
    progress_say(line);
    free(line);
    return false;
}

/* Plays the round until it may count. The arms are the last try's. */
static arm *play_round(matrix *m, size_t workload, uint32_t round, attempt *how, size_t *count,
                       size_t *all, char *message, size_t message_size)
{
    arm *arms = make_arms(m, workload, round, count, all);

    remove_remains(m, workload, round);
    *all = try_round(m, workload, round, arms, *count, *all, how);
    while (m->starved == 0 &&
           !judge_round(m, workload, round, arms, *all, how, message, message_size) &&
           message[0] == '\0') {
        remove_remains(m, workload, round);
        free_arms(arms, *all);
        arms = make_arms(m, workload, round, count, all);
        *all = try_round(m, workload, round, arms, *count, *all, how);
    }
    return arms;
}

static bool run_round(matrix *m, size_t workload, uint32_t round, char *message,
                      size_t message_size)
{
    size_t count, all;
    attempt how = {0};
    arm *arms;
    bool good;

    message[0] = '\0';
    arms = play_round(m, workload, round, &how, &count, &all, message, message_size);
    good = message[0] == '\0';
    if (!matrix_interrupted && m->starved != 0) {
        snprintf(
            message, message_size,
            "a cell could not be started (%s): its round is not kept; the same command goes on",
            strerror(m->starved));
        good = false;
    } else if (!matrix_interrupted && good && count_failed(arms, all) > 0)
        good = has_room(m, message, message_size);
    if (matrix_interrupted || !good) {
        remove_remains(m, workload, round);
    } else {
        report_failures(m, workload, round, arms, all);
        m->workloads[workload].hopeless = count_failed(arms, count) == count;
        good = publish_round(m, workload, round, arms, all, &how, message, message_size);
    }
    fitness_watch_clear(&how.watch);
    free_arms(arms, all);
    return good;
}

/* ---- all rounds ------------------------------------------------------------------------------ */

void matrix_cool_down(const matrix *m)
{
    struct timespec left;

    left.tv_sec = (time_t)m->cooldown_s;
    left.tv_nsec = (long)((m->cooldown_s - (double)left.tv_sec) * 1e9);
    while (m->cooldown_s > 0 && nanosleep(&left, &left) != 0 && errno == EINTR &&
           !matrix_interrupted)
        ;
}

static void tell_kept(matrix *m, const rounds_plan *plan)
{
    const bool was_told = m->told_kept;
    char *line;

    m->told_kept = true; /* what is run from now on is no news */
    if (plan->kept == 0 || was_told)
        return;
    line = xasprintf("%zu of %zu rounds are there already and are kept", plan->kept,
                     plan->kept + plan->count);
    progress_say(line);
    free(line);
}

static void note_hopeless(matrix *m)
{
    for (size_t w = 0; w < m->workloads_count; w++)
        if (m->workloads[w].hopeless)
            matrix_note_once(m,
                             "%.80s: every cell of a round failed, its other rounds were not run",
                             m->workloads[w].label);
}

bool matrix_run(matrix *m, char *message, size_t message_size)
{
    rounds_plan plan = rounds_make_plan(m);
    size_t done = 0;
    bool good = true;

    tell_kept(m, &plan);
    progress_begin(plan.count);
    for (size_t at = 0; at < plan.count && good && !matrix_interrupted; at++) {
        const rounds_task *task = &plan.tasks[at];
        matrix_workload *w = &m->workloads[task->workload];
        if (w->hopeless)
            continue;
        progress_at(done, w->label, task->round + 1, w->rounds);
        if (done > 0)
            matrix_cool_down(m);
        if (!matrix_interrupted)
            good = run_round(m, task->workload, task->round, message, message_size);
        done++;
    }
    progress_end();
    if (good && !matrix_interrupted)
        note_hopeless(m);
    rounds_clear(&plan);
    return good;
}
