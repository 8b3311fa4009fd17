#include "tool/length.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <allocbench/workload.h>

#include "tool/commands.h"
#include "tool/lockstep.h"
#include "tool/model.h"
#include "tool/records.h"
#include "tool/util.h"
#include "tool/workloads.h"

#define FIRST_OPERATIONS 500000 /* of the first trial, about */
#define TRIAL_NS         500e6  /* a trial of this length tells enough */
#define TRIALS_MOST      6
#define LENGTH_MOST      9e18

/* The parameter that the operations of a workload are proportional to. */
typedef struct length {
    matrix *m;
    matrix_workload *w;
    const char *parameter;
    bool is_time;   /* in nanoseconds */
    uint64_t asked; /* what the spec, or its preset, says */
    uint64_t operations;
} length;

/* What a trial told: of the timed phases, without waits for turns and without pauses. */
typedef struct trial {
    double ns; /* wall time */
    double operations;
} trial;

static char *workload_name(const char *spec)
{
    return xstrndup(spec, strcspn(spec, ":"));
}

/* NULL: there is none. The string is static. */
static const char *length_parameter(const char *label)
{
    abench_workload_parameter parameter = ABENCH_WORKLOAD_PARAMETER_INIT;
    char *name = workload_name(label);
    const char *found = NULL;

    for (uint32_t at = 0;
         found == NULL && abench_workload_parameter_at(name, at, &parameter) == ABENCH_OK; at++)
        if (parameter.is_length)
            found = parameter.name;
    free(name);
    return found;
}

static char *seconds_text(const matrix *m)
{
    return xasprintf("%g s", (double)m->duration_ms / 1000);
}

/* ---- planning -------------------------------------------------------------------------------- */

static void play_as_it_is(matrix_workload *w)
{
    w->argument = xstrdup(w->label);
    w->played = xstrdup(w->spec);
}

int length_plan(matrix *m, matrix_workload *w, length_kind kind)
{
    const char *parameter = kind == LENGTH_OPEN ? length_parameter(w->label) : NULL;

    if (m->duration_ms == 0 || parameter == NULL) {
        play_as_it_is(w);
        if (m->duration_ms != 0 && kind != LENGTH_SET)
            matrix_note(m, "%.200s: --duration does not apply, it is played as long as it is",
                        w->label);
        return EXIT_OK;
    }
    if (workloads_names(w->label, parameter))
        return command_fail(EXIT_USAGE,
                            "workload '%.200s': --duration chooses its %s; leave one of them out",
                            w->label, parameter);
    return EXIT_OK;
}

/* ---- lengths --------------------------------------------------------------------------------- */

static char *with_length(const length *l, uint64_t value)
{
    return xasprintf("%s%c%s=%" PRIu64 "%s", l->w->label,
                     strchr(l->w->label, ':') == NULL ? ':' : ',', l->parameter, value,
                     l->is_time ? "ns" : "");
}

/* The canonical spec of that length; NULL when it is out of the parameter's range. */
static char *spec_of(const length *l, uint64_t value)
{
    char *argument = with_length(l, value), *spec = NULL;
    abench_workload *workload = NULL;

    if (abench_workload_parse(argument, l->m->seed, l->m->lanes, &workload, NULL) == ABENCH_OK)
        spec = xstrdup(abench_workload_spec(workload));
    abench_workload_destroy(workload);
    free(argument);
    return spec;
}

static bool is_valid(const length *l, uint64_t value)
{
    char *spec = spec_of(l, value);
    const bool valid = spec != NULL;

    free(spec);
    return valid;
}

/* The nearest length that the parameter may have: between a wanted one and the asked one, which is
 * valid, lies one edge of its range. */
static uint64_t into_range(const length *l, double wanted)
{
    uint64_t bad, good = l->asked;

    bad = wanted < 1 ? 1 : wanted > LENGTH_MOST ? (uint64_t)LENGTH_MOST : (uint64_t)(wanted + 0.5);
    if (is_valid(l, bad))
        return bad;
    while ((bad > good ? bad - good : good - bad) > 1) {
        const uint64_t middle = bad / 2 + good / 2 + (bad & good & 1);
        if (is_valid(l, middle))
            good = middle;
        else
            bad = middle;
    }
    return good;
}

/* A duration's canonical text is its nanoseconds. */
static bool is_time_in(const char *spec, const char *parameter)
{
    const size_t size = strlen(parameter);

    for (const char *at = strchr(spec, ':'); at != NULL; at = strchr(at + 1, ','))
        if (strncmp(at + 1, parameter, size) == 0 && at[1 + size] == '=') {
            const char *value = at + 2 + size;
            value += strspn(value, "0123456789");
            return strncmp(value, "ns", 2) == 0;
        }
    return false;
}

static bool length_find(length *l, matrix *m, matrix_workload *w)
{
    abench_workload *workload = NULL;

    *l = (length){.m = m, .w = w, .parameter = length_parameter(w->label)};
    if (l->parameter == NULL ||
        abench_workload_parse(w->label, m->seed, m->lanes, &workload, NULL) != ABENCH_OK)
        return false;
    l->is_time = is_time_in(w->spec, l->parameter);
    l->asked = abench_workload_integer(workload, l->parameter);
    l->operations = abench_workload_operations(workload);
    abench_workload_destroy(workload);
    return true;
}

/* ---- trials ---------------------------------------------------------------------------------- */

static bool is_timed(const model_cell *cell, const char *phase)
{
    for (size_t at = 0; at < cell->phases_count; at++)
        if (cell->phases[at].timed && strcmp(cell->phases[at].name, phase) == 0)
            return true;
    return false;
}

static trial add_up(const model_cell *cell)
{
    trial t = {0, 0};

    for (size_t at = 0; at < cell->slices_count; at++) {
        const model_slice *slice = &cell->slices[at];
        if (!is_timed(cell, slice->phase))
            continue;
        /* The lanes run side by side; what one of them waits for is another's work. */
        t.ns += ((double)slice->busy_ns + (double)slice->wait_ns) /
                (cell->lanes == 0 ? 1 : cell->lanes);
        t.operations += (double)slice->operations;
    }
    return t;
}

static void remove_trial(const matrix *m, const char *name)
{
    static const char *const suffixes[] = {".jsonl", ".jsonl.part", ".err"};

    for (size_t at = 0; at < sizeof suffixes / sizeof suffixes[0]; at++) {
        char *path = matrix_path(m, "cells", name, suffixes[at]);
        unlink(path);
        free(path);
    }
}

/* One child of the baseline, which plays argument. */
static int run_trial(const length *l, uint64_t value, trial *out)
{
    matrix *m = l->m;
    arm a = {.target = m->baseline, .name = xasprintf("%s.trial", l->w->id)};
    char *file = xasprintf("cells/%s.jsonl", a.name);
    const bool sequential = m->sequential;
    model_cell cell = {0};
    char message[1024];
    int status = EXIT_OK;

    remove_trial(m, a.name); /* of a trial that was killed */
    l->w->argument = with_length(l, value);
    m->sequential = true;
    lockstep_round(m, (size_t)(l->w - m->workloads), 0, &a, 1);
    m->sequential = sequential;
    free(l->w->argument);
    l->w->argument = NULL;
    if (matrix_interrupted)
        status = command_fail(EXIT_INTERRUPTED, "interrupted before anything was kept");
    else if (a.reason != NULL)
        status = command_fail(EXIT_TARGET, "%.200s: the trial for --duration failed: %s",
                              l->w->label, a.reason);
    else if (!records_read(m->directory, file, &cell, message, sizeof message))
        status = command_fail(EXIT_ENVIRONMENT, "%s", message);
    else
        *out = add_up(&cell);
    records_clear(&cell);
    remove_trial(m, a.name);
    free(file);
    free(a.name);
    free(a.reason);
    return status;
}

/* The tapes of a lockstep round are made by its cells, which takes longer than to play them. */
#define TIMES_PLAYED 3

/* "40 s", "30 minutes", "2.5 hours": a guess, so in round numbers. free() it. */
static char *guess_text(double seconds)
{
    if (seconds < 90)
        return xasprintf("%.2g s", seconds);
    if (seconds < 10 * 60)
        return xasprintf("%.0f minutes", seconds / 60);
    if (seconds < 90 * 60)
        return xasprintf("%.0f minutes", 5 * floor(seconds / 300 + 0.5));
    return xasprintf("%.1f hours", seconds / 3600);
}

/* "5 rounds of 11 cells: some 30 minutes": what all of it will take. free() it. */
static char *all_text(const matrix *m, double ns)
{
    size_t targets = 0, cells;
    char *guess, *text;

    for (size_t at = 0; at < m->targets_count; at++)
        targets += m->targets[at].missing == NULL;
    cells = targets + 1 + m->floor + (m->tails ? targets : 0); /* the baseline plays twice */
    guess = guess_text((double)m->rounds * (double)cells * ns / 1e9 * TIMES_PLAYED);
    text = xasprintf("%u round%s of %zu cells: some %s", m->rounds, m->rounds == 1 ? "" : "s",
                     cells, guess);
    free(guess);
    return text;
}

static void note_choice(const length *l, uint64_t value, const trial *last, double ns)
{
    const double wanted = (double)l->m->duration_ms * 1e6;
    char *seconds = seconds_text(l->m), *all = all_text(l->m, ns);

    matrix_note(l->m,
                "%.200s: %s=%" PRIu64 "%s for --duration %s: about %.3g s a cell (%.3g ns an "
                "operation under %s)%s; %s",
                l->w->label, l->parameter, value, l->is_time ? "ns" : "", seconds, ns / 1e9,
                last->ns / last->operations, l->m->targets[l->m->baseline].name,
                ns < wanted / 2   ? ", the most that it can be"
                : ns > wanted * 2 ? ", the least that it can be"
                                  : "",
                all);
    free(all);
    free(seconds);
}

/* Longer and longer trials, until one takes long enough to tell. */
static int choose_length(length *l)
{
    const double wanted = (double)l->m->duration_ms * 1e6;
    const double enough = wanted / 2 < TRIAL_NS ? wanted / 2 : TRIAL_NS;
    const double share = FIRST_OPERATIONS / ((double)l->operations + 1);
    uint64_t value = into_range(l, (double)l->asked * (share < 1 ? share : 1)), chosen;
    trial t = {0, 0};
    double ns;

    for (int trials = 0; trials < TRIALS_MOST; trials++) {
        const int status = run_trial(l, value, &t);
        uint64_t next;
        if (status != EXIT_OK)
            return status;
        if (t.ns >= enough / 2)
            break;
        next = into_range(l, (double)value * (t.ns * 100 < enough ? 100 : enough / t.ns));
        if (next <= value)
            break;
        value = next;
    }
    if (t.ns <= 0 || t.operations <= 0) {
        matrix_note(l->m, "%.200s: --duration does not apply, nothing of it is timed", l->w->label);
        play_as_it_is(l->w);
        return EXIT_OK;
    }
    chosen = into_range(l, (double)value * wanted / t.ns);
    ns = t.ns * (double)chosen / (double)value;
    note_choice(l, chosen, &t, ns);
    l->w->argument = with_length(l, chosen);
    l->w->played = spec_of(l, chosen);
    return EXIT_OK;
}

/* ---- what an earlier call chose -------------------------------------------------------------- */

/* The directory is not ours alone: only what this call could have chosen is taken. */
static int check_recorded(length *l)
{
    abench_workload *workload = NULL;
    char *own = NULL;

    if (abench_workload_parse(l->w->argument, l->m->seed, l->m->lanes, &workload, NULL) ==
        ABENCH_OK) {
        own = with_length(l, abench_workload_integer(workload, l->parameter));
        l->w->played = xstrdup(abench_workload_spec(workload));
    }
    abench_workload_destroy(workload);
    if (own == NULL ||
        (strcmp(own, l->w->argument) != 0 && strcmp(l->w->label, l->w->argument) != 0)) {
        free(own);
        return command_fail(EXIT_ENVIRONMENT,
                            "%s/matrix.json: workload %s has an argument that --duration does not "
                            "make; choose another directory with -o",
                            l->m->directory, l->w->id);
    }
    free(own);
    return EXIT_OK;
}

int length_choose(matrix *m)
{
    int status = EXIT_OK;

    for (size_t at = 0; at < m->workloads_count && status == EXIT_OK; at++) {
        matrix_workload *w = &m->workloads[at];
        length l;
        if (w->spec == NULL || w->played != NULL || !length_find(&l, m, w))
            continue;
        status = w->argument == NULL ? choose_length(&l) : check_recorded(&l);
    }
    return status;
}
