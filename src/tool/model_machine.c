#include "tool/model_machine.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tool/util.h"

#define FINDINGS_MAX 200u
#define CELLS_MAX    100000u
#define NAME_BYTES   128u
#define TEXT_BYTES   4096u
#define PLACES_MAX   1000u
#define COUNT_MAX    ((uint64_t)INT64_MAX)

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

/* The list "machine" of an object that lies at head. */
static void read_findings(model_machine *m, json_source *source, const json_t *root,
                          const char *head)
{
    const json_t *list = json_get_list(source, root, "machine", FINDINGS_MAX, JSON_MAY_LACK);
    char key[64];
    const json_t *item;
    size_t index;

    snprintf(key, sizeof key, "%smachine", head);
    m->findings = xcalloc(json_array_size(list) + 1, sizeof *m->findings);
    json_array_foreach(list, index, item)
    {
        if (!json_source_enter(source, item, key, index))
            return;
        m->findings[m->findings_count++] = read_finding(source, item);
    }
    source->path[0] = '\0';
}

void model_machine_findings(model_machine *m, json_source *source, const json_t *root)
{
    read_findings(m, source, root, "");
}

/* ---- hosts ----------------------------------------------------------------------------------- */

static void read_host_texts(abench_host *host, json_source *source, const json_t *from)
{
    const struct {
        const char *key;
        char *field;
        size_t size;
    } texts[] = {
        {"kernel", host->kernel, sizeof host->kernel},
        {"machine", host->machine, sizeof host->machine},
        {"cpu", host->cpu, sizeof host->cpu},
        {"libc", host->libc, sizeof host->libc},
        {"thp", host->thp, sizeof host->thp},
        {"governor", host->governor, sizeof host->governor},
        {"hostname", host->hostname, sizeof host->hostname},
    };

    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
        snprintf(texts[i].field, texts[i].size, "%s",
                 json_get_text(source, from, texts[i].key, 2 * NAME_BYTES, JSON_MAY_LACK));
}

void model_machine_host(abench_host *host, json_source *source, const json_t *root,
                        const char *head)
{
    const json_t *from = json_get_object(source, root, "host", JSON_NEEDED);
    const struct {
        const char *key;
        uint32_t *field;
    } counts[] = {
        {"cpus_online", &host->cpus_online},
        {"cpus_allowed", &host->cpus_allowed},
        {"page_bytes", &host->page_bytes},
    };

    abench_host_init(host);
    if (from == NULL)
        return;
    snprintf(source->path, sizeof source->path, "%shost", head);
    read_host_texts(host, source, from);
    for (size_t i = 0; i < sizeof counts / sizeof *counts; i++)
        *counts[i].field =
            (uint32_t)json_get_count(source, from, counts[i].key, UINT32_MAX, JSON_MAY_LACK);
    host->memory_bytes = json_get_count(source, from, "memory_bytes", COUNT_MAX, JSON_MAY_LACK);
    host->memory_limit_bytes =
        json_get_count(source, from, "memory_limit_bytes", COUNT_MAX, JSON_MAY_LACK);
    source->path[0] = '\0';
}

static void read_place(model_place *place, json_source *source, const json_t *item, size_t index)
{
    char head[32];

    snprintf(head, sizeof head, "machines[%zu].", index);
    place->name = copy_text(source, item, "name", TEXT_BYTES, JSON_NEEDED);
    model_machine_host(&place->host, source, item, head);
    snprintf(source->path, sizeof source->path, "machines[%zu]", index);
    read_findings(&place->machine, source, item, head);
}

model_place *model_places(json_source *source, const json_t *root, size_t *count)
{
    const json_t *list = json_get_list(source, root, "machines", PLACES_MAX, JSON_MAY_LACK);
    model_place *places = xcalloc(json_array_size(list) + 1, sizeof *places);
    const json_t *item;
    size_t index;

    *count = 0;
    json_array_foreach(list, index, item)
    {
        if (!json_source_enter(source, item, "machines", index))
            break;
        read_place(&places[(*count)++], source, item, index);
        for (size_t at = 0; at < index; at++)
            if (strcmp(places[at].name, places[index].name) == 0)
                json_source_fail(source, NULL, "machines[%zu] has the name \"%.80s\" already", at,
                                 places[at].name);
    }
    source->path[0] = '\0';
    return places;
}

void model_places_free(model_place *places, size_t count)
{
    for (size_t at = 0; at < count; at++) {
        free(places[at].name);
        model_machine_clear(&places[at].machine);
    }
    free(places);
}

/* ---- meanwhile ------------------------------------------------------------------------------- */

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
