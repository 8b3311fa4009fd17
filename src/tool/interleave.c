#include "tool/interleave.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <allocbench/base.h>
#include <allocbench/random.h>

#include "tool/freeze.h"
#include "tool/progress.h"
#include "tool/single.h"
#include "tool/util.h"

#define PURPOSE_ORDER (ABENCH_PURPOSE_USER + 1)
#define TURN_NS       20000000u

/* A command of the round. */
typedef struct player {
    single_cell cell;
    spawner *spawner;
    command_cell *run; /* NULL: was not started */
    freeze freeze;
    uint64_t still_ns; /* since when it stands still */
    bool plays;        /* it has not ended */
} player;

typedef struct ring {
    matrix *m;
    size_t workload;
    player *players;
    size_t count;
    uint32_t *order;
    abench_random random;
    const char *obstacle; /* why they cannot take turns; NULL: they can */
} ring;

static void shuffle(ring *r)
{
    for (uint32_t at = 0; at < r->count; at++)
        r->order[at] = at;
    abench_random_shuffle(&r->random, r->order, (uint32_t)r->count);
}

static size_t count_playing(const ring *r)
{
    size_t playing = 0;

    for (size_t at = 0; at < r->count; at++)
        playing += r->players[at].plays;
    return playing;
}

/* They are all there at once: what each was seen to hold, the ended ones nothing. */
static bool fits(const ring *r)
{
    uint64_t sum = 0;

    for (size_t at = 0; at < r->count; at++)
        if (r->players[at].plays)
            sum += command_memory(r->players[at].run);
    return sum <= matrix_memory(r->m) / 2;
}

/* Of a command that has ended, what it left is given a moment to end, too, and is killed then: that
 * must not be stopped. */
static bool has_died(const player *p)
{
    tree_process process;

    return !tree_read_process(command_pid(p->run), &process) || process.state == 'Z' ||
           process.state == 'X';
}

static void stand_still(ring *r, player *p)
{
    if (!freeze_stop(&p->freeze, spawner_pid(p->spawner)))
        r->obstacle = "a process of the command may not be stopped";
    p->still_ns = abench_clock_ns();
}

/* One turn; the last one that plays goes on to its end. */
static void play(ring *r, player *p)
{
    const uint64_t turn_ns = count_playing(r) > 1 ? TURN_NS : UINT64_MAX;

    command_stood_still(p->run, abench_clock_ns() - p->still_ns);
    freeze_continue(&p->freeze);
    p->plays = !command_watch(p->run, turn_ns);
    if (p->plays && has_died(p))
        p->plays = !command_watch(p->run, UINT64_MAX);
    if (!p->plays)
        return;
    stand_still(r, p);
    if (r->obstacle == NULL && !fits(r))
        r->obstacle = "the commands together would pass half of the memory";
}

/* Starts a command and stops it at once: it has come as far as its loader. */
static void start(ring *r, player *p, uint32_t round, arm *a)
{
    p->spawner = spawner_another(r->m->spawner);
    if (p->spawner == NULL) {
        r->m->starved = errno;
        a->reason = xasprintf("its process could not be started: %s", strerror(errno));
        return;
    }
    single_prepare(&p->cell, r->m, r->workload, round, a);
    p->cell.options.spawner = p->spawner;
    p->cell.options.in_turns = true;
    if (!single_may_run(&p->cell))
        return;
    p->run = command_begin(&p->cell.options, &p->cell.result);
    p->plays = command_pid(p->run) != 0;
    if (p->plays)
        stand_still(r, p);
}

static void take_turns(ring *r)
{
    size_t playing;

    while ((playing = count_playing(r)) > 0 && r->obstacle == NULL) {
        progress_part((double)(r->count - playing) / (double)r->count);
        shuffle(r);
        for (size_t at = 0; at < r->count && r->obstacle == NULL; at++)
            if (r->players[r->order[at]].plays)
                play(r, &r->players[r->order[at]]);
    }
}

/* What a program measures by itself knows nothing of turns. */
static void look_for_harness(ring *r)
{
    for (size_t at = 0; at < r->count && r->obstacle == NULL; at++)
        if (r->players[at].run != NULL && command_is_harness(r->players[at].run))
            r->obstacle = "it measures its own times, and would not know when it was stopped";
}

static void remove_file(const matrix *m, const arm *a, const char *suffix)
{
    char *path = matrix_path(m, "cells", a->name, suffix);

    unlink(path);
    free(path);
}

/* Ends it, killing what still runs. Of a round that is run anew nothing is kept. */
static void finish(ring *r, player *p, arm *a)
{
    if (p->run != NULL)
        command_finish(p->run);
    if (p->cell.arm != NULL)
        single_conclude(&p->cell);
    if (r->obstacle != NULL) {
        free(a->reason);
        a->reason = NULL;
        remove_file(r->m, a, ".jsonl");
        remove_file(r->m, a, ".out");
        remove_file(r->m, a, ".err");
    }
    freeze_clear(&p->freeze);
    spawner_destroy(p->spawner);
}

static void tell_obstacle(const ring *r)
{
    r->m->apart = true;
    matrix_note_once(r->m, "%.200s: %s: its cells run one after the other",
                     r->m->workloads[r->workload].label, r->obstacle);
}

bool interleave_round(matrix *m, size_t workload, uint32_t round, arm *arms, size_t count)
{
    ring r = {.m = m, .workload = workload, .count = count};

    r.players = xcalloc(count, sizeof *r.players);
    r.order = xcalloc(count, sizeof *r.order);
    abench_random_seed(&r.random, m->seed, (uint64_t)round << 32 | workload, PURPOSE_ORDER);
    shuffle(&r);
    for (size_t at = 0; at < count && !matrix_interrupted && m->starved == 0 && r.obstacle == NULL;
         at++)
        start(&r, &r.players[r.order[at]], round, &arms[r.order[at]]);
    if (m->starved == 0)
        take_turns(&r);
    look_for_harness(&r);
    for (size_t at = 0; at < count; at++)
        finish(&r, &r.players[at], &arms[at]);
    free(r.order);
    free(r.players);
    if (r.obstacle == NULL || matrix_interrupted)
        return true;
    tell_obstacle(&r);
    return false;
}
