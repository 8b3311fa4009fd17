#include "tool/model_machine.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <allocbench/machine.h>

#include "tool/util.h"

#define FINDINGS_MAX 200u
#define CELLS_MAX    100000u
#define NAME_BYTES   128u
#define TEXT_BYTES   4096u

static char *copy_text(json_source *source, const json_t *item, const char *key, size_t maximum,
                       json_presence presence)
{
    return xstrdup(json_get_text(source, item, key, maximum, presence));
}

static uint32_t read_verdict(json_source *source, const json_t *item)
{
    const char *word = json_get_text(source, item, "verdict", NAME_BYTES, JSON_NEEDED);
    uint32_t verdict = 0;

    while (abench_verdict_name(verdict) != NULL && strcmp(abench_verdict_name(verdict), word) != 0)
        verdict++;
    if (abench_verdict_name(verdict) != NULL)
        return verdict;
    json_source_fail(source, "verdict", "not \"ok\", \"unknown\", \"warn\" or \"refuse\"");
    return ABENCH_VERDICT_UNKNOWN;
}

static model_finding read_finding(json_source *source, const json_t *item)
{
    return (model_finding){
        .name = copy_text(source, item, "name", NAME_BYTES, JSON_NEEDED),
        .value = copy_text(source, item, "value", TEXT_BYTES, JSON_NEEDED),
        .why = copy_text(source, item, "why", TEXT_BYTES, JSON_MAY_LACK),
        .advice = copy_text(source, item, "advice", TEXT_BYTES, JSON_MAY_LACK),
        .verdict = read_verdict(source, item),
        .is_key = json_get_flag(source, item, "is_key", JSON_MAY_LACK),
    };
}

void model_machine_findings(model_machine *m, json_source *source, const json_t *root)
{
    const json_t *list = json_get_list(source, root, "machine", FINDINGS_MAX, JSON_MAY_LACK);
    const json_t *item;
    size_t index;

    m->findings = xcalloc(json_array_size(list) + 1, sizeof *m->findings);
    json_array_foreach(list, index, item)
    {
        if (!json_source_enter(source, item, "machine", index))
            return;
        m->findings[m->findings_count++] = read_finding(source, item);
    }
    source->path[0] = '\0';
}

static void add_changes(model_machine *m, json_source *source, const json_t *owner, size_t workload,
                        uint32_t round)
{
    const json_t *list = json_get_list(source, owner, "machine", FINDINGS_MAX, JSON_MAY_LACK);
    const json_t *item;
    size_t index;

    json_array_foreach(list, index, item)
    {
        if (!json_source_enter(source, item, "machine", index))
            return;
        m->changes =
            util_grow(m->changes, m->changes_count, &m->changes_capacity, sizeof *m->changes);
        m->changes[m->changes_count++] =
            (model_change){workload, round, read_finding(source, item)};
    }
    source->path[0] = '\0';
}

void model_machine_changes(model_machine *m, json_source *source, const json_t *root,
                           size_t workload, uint32_t round)
{
    const json_t *cells = json_get_list(source, root, "cells", CELLS_MAX, JSON_NEEDED);
    const json_t *cell;
    size_t index;

    m->reruns += json_get_count(source, root, "tries", UINT32_MAX, JSON_MAY_LACK) > 1;
    add_changes(m, source, root, workload, round);
    json_array_foreach(cells, index, cell)
    {
        if (json_source_enter(source, cell, "cells", index))
            add_changes(m, source, cell, workload, round);
    }
    source->path[0] = '\0';
}

static void clear_finding(model_finding *finding)
{
    free(finding->name);
    free(finding->value);
    free(finding->why);
    free(finding->advice);
}

void model_machine_clear(model_machine *m)
{
    for (size_t at = 0; at < m->findings_count; at++)
        clear_finding(&m->findings[at]);
    for (size_t at = 0; at < m->changes_count; at++)
        clear_finding(&m->changes[at].finding);
    free(m->findings);
    free(m->changes);
    memset(m, 0, sizeof *m);
}
