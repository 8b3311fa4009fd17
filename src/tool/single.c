#include "tool/single.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <allocbench/random.h>

#include "tool/interleave.h"
#include "tool/model.h"
#include "tool/padding.h"
#include "tool/preflight.h"
#include "tool/progress.h"
#include "tool/util.h"

#define PURPOSE_ORDER (ABENCH_PURPOSE_USER + 1)
#define VARIABLES     5

/* How far a round is, for the bar: a command's own length is not known before. */
typedef struct round_progress {
    size_t done;
    size_t count;
} round_progress;

static void tick(uint64_t elapsed_ns, void *user)
{
    const round_progress *p = user;

    (void)elapsed_ns;
    progress_part((double)p->done / (double)p->count);
}

/* What a command did not print need not be kept. */
static void remove_empty(const char *path)
{
    struct stat info;

    if (stat(path, &info) == 0 && info.st_size == 0)
        unlink(path);
}

/* The target's, and what a harness is asked for. */
static char **make_environment(const matrix *m, size_t workload, uint32_t round, const arm *a)
{
    char *extra[VARIABLES];
    size_t count = 0;
    char **envp;

    extra[count++] = xasprintf("ALLOCBENCH_LATENCY=%llu", (unsigned long long)m->latency);
    if (m->settle_s != 0)
        extra[count++] = xasprintf("ALLOCBENCH_SETTLE_S=%u", m->settle_s);
    if (m->duration_ms != 0)
        extra[count++] =
            xasprintf("ALLOCBENCH_DURATION_MS=%llu", (unsigned long long)m->duration_ms);
    if (m->lanes != 0)
        extra[count++] = xasprintf("ALLOCBENCH_LANES=%u", m->lanes);
    if (m->padding)
        extra[count++] = padding_variable(m, workload, round, a);
    envp = target_environment(&m->targets[a->target], m->keep_environment,
                              (const char *const *)extra, count);
    while (count > 0)
        free(extra[--count]);
    return envp;
}

void single_prepare(single_cell *cell, const matrix *m, size_t workload, uint32_t round, arm *a)
{
    const target *t = &m->targets[a->target];

    memset(cell, 0, sizeof *cell);
    cell->m = m;
    cell->arm = a;
    cell->file = matrix_path(m, "cells", a->name, ".jsonl");
    cell->output = matrix_path(m, "cells", a->name, ".out");
    cell->errors = matrix_path(m, "cells", a->name, ".err");
    cell->how.argv = m->command;
    cell->how.input = cell->how.output = cell->how.errors = -1;
    cell->how.envp = make_environment(m, workload, round, a);
    target_launch(t, &cell->how);
    cell->options.spawner = m->spawner;
    cell->options.how = &cell->how;
    cell->options.target = t;
    cell->options.probe = m->probe;
    cell->options.file = cell->file;
    cell->options.output = cell->output;
    cell->options.errors = cell->errors;
    cell->options.seed = matrix_seed(m, round);
    cell->options.timeout_ms = (uint64_t)(m->timeout_s * 1000);
    cell->options.ignore_failure = m->ignore_failure;
    cell->options.unreached = m->unreached;
    cell->options.stop = &matrix_interrupted;
}

bool single_may_run(single_cell *cell)
{
    char message[1024];

    if (preflight_unchanged(cell->options.target, message, sizeof message))
        return true;
    free(cell->result.reason);
    cell->result = (command_result){.state = COMMAND_REFUSED, .reason = xstrdup(message)};
    unlink(cell->file);
    return false;
}

void single_conclude(single_cell *cell)
{
    (void)single_may_run(cell); /* replaced before it, or while it ran */
    if (cell->result.state != COMMAND_DONE)
        cell->arm->reason =
            cell->result.reason != NULL ? cell->result.reason : xstrdup("it could not be measured");
    else
        free(cell->result.reason);
    remove_empty(cell->output);
    remove_empty(cell->errors);
    target_environment_free((char **)(uintptr_t)cell->how.envp);
    free(cell->errors);
    free(cell->output);
    free(cell->file);
}

static void run_cell(const matrix *m, size_t workload, uint32_t round, arm *a,
                     round_progress *progress)
{
    single_cell cell;

    single_prepare(&cell, m, workload, round, a);
    cell.options.tick = tick;
    cell.options.user = progress;
    if (single_may_run(&cell)) {
        fitness_begin(&a->watch);
        command_measure(&cell.options, &cell.result);
        fitness_end(&a->watch);
    }
    single_conclude(&cell);
}

const char *single_round(matrix *m, size_t workload, uint32_t round, arm *arms, size_t count)
{
    round_progress progress = {0, count};
    uint32_t *order;
    abench_random random;

    if (m->interleave && !m->apart && count > 1 &&
        interleave_round(m, workload, round, arms, count))
        return "interleaved";
    order = xcalloc(count + 1, sizeof *order);
    for (uint32_t at = 0; at < count; at++)
        order[at] = at;
    abench_random_seed(&random, m->seed, (uint64_t)round << 32 | workload, PURPOSE_ORDER);
    abench_random_shuffle(&random, order, (uint32_t)count);
    for (; progress.done < count && !matrix_interrupted; progress.done++) {
        if (progress.done > 0)
            matrix_cool_down(m);
        run_cell(m, workload, round, &arms[order[progress.done]], &progress);
    }
    free(order);
    return "sequential";
}
