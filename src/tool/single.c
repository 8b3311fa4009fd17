#include "tool/single.h"

#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include <allocbench/random.h>

#include "tool/command.h"
#include "tool/model.h"
#include "tool/preflight.h"
#include "tool/progress.h"
#include "tool/util.h"

#define PURPOSE_ORDER (ABENCH_PURPOSE_USER + 1)

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

static void run_cell(const matrix *m, uint32_t round, arm *a, round_progress *progress)
{
    const target *t = &m->targets[a->target];
    char *file = matrix_path(m, "cells", a->name, ".jsonl");
    char *output = matrix_path(m, "cells", a->name, ".out");
    char *errors = matrix_path(m, "cells", a->name, ".err");
    char *duration = xasprintf("ALLOCBENCH_DURATION_MS=%llu", (unsigned long long)m->duration_ms);
    char *lanes = xasprintf("ALLOCBENCH_LANES=%u", m->lanes);
    char *settle = xasprintf("ALLOCBENCH_SETTLE_S=%u", m->settle_s);
    char *latency = xasprintf("ALLOCBENCH_LATENCY=%llu", (unsigned long long)m->latency);
    const char *extra[4];
    size_t extras = 0;
    launch how = {.argv = m->command, .input = -1, .output = -1, .errors = -1};
    command_options options = {.spawner = m->spawner, .how = &how, .target = t, .probe = m->probe};
    command_result result = {0};
    char message[1024];

    extra[extras++] = latency;
    if (m->settle_s != 0)
        extra[extras++] = settle;
    if (m->duration_ms != 0)
        extra[extras++] = duration;
    if (m->lanes != 0)
        extra[extras++] = lanes;
    how.envp = target_environment(t, m->keep_environment, extra, extras);
    target_launch(t, &how);
    options.file = file;
    options.output = output;
    options.errors = errors;
    options.seed = matrix_seed(m, round);
    options.timeout_ms = (uint64_t)(m->timeout_s * 1000);
    options.ignore_failure = m->ignore_failure;
    options.unreached = m->unreached;
    options.stop = &matrix_interrupted;
    options.tick = tick;
    options.user = progress;
    if (preflight_unchanged(t, message, sizeof message)) {
        fitness_begin(&a->watch);
        command_measure(&options, &result);
        fitness_end(&a->watch);
    }
    if (!preflight_unchanged(t, message, sizeof message)) { /* before it, or while it ran */
        free(result.reason);
        result = (command_result){.state = COMMAND_REFUSED, .reason = xstrdup(message)};
        unlink(file);
    }
    if (result.state != COMMAND_DONE)
        a->reason = result.reason != NULL ? result.reason : xstrdup("it could not be measured");
    else
        free(result.reason);
    remove_empty(output);
    remove_empty(errors);
    target_environment_free(how.envp);
    free(latency);
    free(settle);
    free(lanes);
    free(duration);
    free(errors);
    free(output);
    free(file);
}

void single_round(matrix *m, size_t workload, uint32_t round, arm *arms, size_t count)
{
    round_progress progress = {0, count};
    uint32_t *order = xcalloc(count + 1, sizeof *order);
    abench_random random;

    for (uint32_t at = 0; at < count; at++)
        order[at] = at;
    abench_random_seed(&random, m->seed, (uint64_t)round << 32 | workload, PURPOSE_ORDER);
    abench_random_shuffle(&random, order, (uint32_t)count);
    for (; progress.done < count && !matrix_interrupted; progress.done++) {
        if (progress.done > 0)
            matrix_cool_down(m);
        run_cell(m, round, &arms[order[progress.done]], &progress);
    }
    free(order);
}
