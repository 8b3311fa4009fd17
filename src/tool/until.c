#include "tool/until.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <allocbench/statistics.h>

#include "tool/model.h"
#include "tool/progress.h"
#include "tool/report/summary.h"
#include "tool/report/verdict.h"
#include "tool/util.h"

#define ALPHA        0.05
#define ROUNDS_LEAST 10u
#define OPEN_NAMED   3 /* verdicts that are not told, in a line */

uint32_t until_least(const matrix *m)
{
    uint32_t compared = 0, least;

    for (size_t at = 0; at < m->targets_count; at++)
        compared += at != m->baseline && m->targets[at].missing == NULL;
    least = abench_rounds_least(ALPHA / (compared == 0 ? 1 : compared) / UNTIL_LOOKS);
    return least < ROUNDS_LEAST ? ROUNDS_LEAST : least;
}

bool until_ask(matrix *m, char *message, size_t message_size)
{
    const uint32_t least = until_least(m);

    if (m->rounds != 0 && m->rounds < least) {
        snprintf(message, message_size,
                 "--rounds %u: for a verdict on so many targets, in three looks, the first must be "
                 "at %u rounds or more",
                 m->rounds, least);
        return false;
    }
    m->looks = UNTIL_LOOKS;
    m->look_rounds = m->rounds != 0 ? m->rounds : least;
    if (m->max_rounds == 0 || m->max_rounds >= m->look_rounds)
        return true;
    snprintf(message, message_size,
             "--max-rounds %u: the first look is at %u rounds; give it at least so many",
             m->max_rounds, m->look_rounds);
    return false;
}

bool until_go_on(matrix *m, uint32_t look_rounds, char *message, size_t message_size)
{
    if (look_rounds == 0)
        return true;
    if (m->until_decided && ((m->rounds != 0 && m->rounds != look_rounds) ||
                             (m->rounds == 0 && look_rounds < until_least(m)))) {
        snprintf(message, message_size,
                 "%s is looked at after %u, %u and %u rounds, and that stays so: now it would be "
                 "%u; -o OTHER for a new one",
                 m->directory, look_rounds, 2 * look_rounds, 4 * look_rounds, m->look_rounds);
        return false;
    }
    m->looks = UNTIL_LOOKS;
    m->look_rounds = look_rounds;
    if (!m->until_decided || m->max_rounds == 0 || m->max_rounds >= look_rounds)
        return true;
    snprintf(message, message_size,
             "%s is looked at after %u rounds first: --max-rounds %u is too few", m->directory,
             look_rounds, m->max_rounds);
    return false;
}

/* ---- a look ---------------------------------------------------------------------------------- */

/* Adds to *line what is not told of the workload: "time of jemalloc, RSS of mimalloc + 3 more".
 * Returns how many that are. */
static size_t name_open(const matrix *m, const verdicts *v, size_t workload, char **line)
{
    size_t open = 0;

    for (size_t at = 0; at < v->count; at++) {
        const verdict_metric *metric = &v->metrics[at];
        if (metric->workload != workload || !metric->is_main || metric->refused)
            continue;
        for (size_t i = 0; i < metric->count; i++) {
            const verdict *item = &metric->items[i];
            const uint32_t told = item->result.verdict;
            const target *t = &m->targets[item->row->target];
            char *more;
            if (t->missing != NULL ||
                (told != ABENCH_COMPARED_OPEN && told != ABENCH_COMPARED_TOO_FEW))
                continue;
            if (open++ >= OPEN_NAMED)
                continue;
            more =
                xasprintf("%s%s%s of %.60s", *line, open == 1 ? "" : ", ", metric->title, t->name);
            free(*line);
            *line = more;
        }
    }
    if (open > OPEN_NAMED) {
        char *more = xasprintf("%s + %zu more", *line, open - OPEN_NAMED);
        free(*line);
        *line = more;
    }
    return open;
}

/* Marks the workloads that are decided, and says which. Returns how many are not. */
static size_t look(matrix *m, const verdicts *v, uint32_t rounds)
{
    size_t left = 0;
    char *line = xasprintf("look at %u rounds:", rounds);

    for (size_t w = 0; w < m->workloads_count; w++) {
        matrix_workload *workload = &m->workloads[w];
        char *open = xstrdup(""), *more;
        if (!workload->is_decided && !workload->hopeless) {
            workload->is_decided = verdicts_decided(v, w) || name_open(m, v, w, &open) == 0;
            left += !workload->is_decided;
        }
        more = xasprintf("%s %.60s%s%s%s", line, workload->label,
                         workload->hopeless     ? " fails"
                         : workload->is_decided ? " is decided"
                                                : " is not (",
                         open, workload->hopeless || workload->is_decided ? "" : ")");
        free(line);
        line = w + 1 < m->workloads_count ? xasprintf("%s;", more) : xstrdup(more);
        free(more);
        free(open);
    }
    progress_say(line);
    free(line);
    return left;
}

static bool judge(matrix *m, uint32_t rounds, size_t *left, char *message, size_t message_size)
{
    model *there = model_load(m->directory, message, message_size);
    summary *s;
    verdicts *v;

    if (there == NULL)
        return false;
    s = summary_make(there);
    v = verdicts_make(s);
    *left = look(m, v, rounds);
    verdicts_free(v);
    summary_free(s);
    model_free(there);
    return true;
}

bool until_run(matrix *m, char *message, size_t message_size)
{
    for (uint32_t at = 0; at < UNTIL_LOOKS; at++) {
        size_t left;
        m->rounds = m->look_rounds << at;
        if (m->max_rounds != 0 && m->rounds > m->max_rounds)
            return true;
        if (!matrix_run(m, message, message_size))
            return false;
        if (matrix_interrupted)
            return true;
        if (!judge(m, m->rounds, &left, message, message_size))
            return false;
        if (left == 0)
            return true;
    }
    return true;
}
