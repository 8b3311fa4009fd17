/*
 * model_machine.h - the machine of a result directory: what the doctor found before anything was
 * timed (matrix.json), and what changed while rounds and cells ran (rounds/).
 */
#ifndef ABENCH_TOOL_MODEL_MACHINE_H
#define ABENCH_TOOL_MODEL_MACHINE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <allocbench/machine.h>

#include "tool/record_json.h"

typedef struct model_finding {
    char *name;
    char *value;
    char *why; /* "" for a change */
    char *advice;
    uint32_t verdict; /* ABENCH_VERDICT_... */
    bool is_key;
} model_finding;

/* Something that changed in a round. */
typedef struct model_change {
    size_t workload;
    uint32_t round;
    model_finding finding;
} model_change;

typedef struct model_machine {
    model_finding *findings; /* in the doctor's order */
    size_t findings_count;
    model_change *changes;
    size_t changes_count;
    size_t changes_capacity;
    size_t reruns; /* rounds that were played more than once */
} model_machine;

/* One of the machines whose rounds were merged (merge.h). */
typedef struct model_place {
    char *name; /* no two are the same */
    abench_host host;
    model_machine machine; /* its findings */
} model_place;

/* The object "host" of root. head: where root lies, with a dot behind it: "machines[1]."; or "". */
void model_machine_host(abench_host *host, json_source *source, const json_t *root,
                        const char *head);

/* The list "machines" of matrix.json, which may lack. Free it with model_places_free. */
model_place *model_places(json_source *source, const json_t *root, size_t *count);
void model_places_free(model_place *places, size_t count);

/* The list "machine" of matrix.json, which may lack. */
void model_machine_findings(model_machine *m, json_source *source, const json_t *root);

/* The lists "machine" of a round and of its cells, which may lack. */
void model_machine_changes(model_machine *m, json_source *source, const json_t *root,
                           size_t workload, uint32_t round);

void model_machine_clear(model_machine *m);

#endif
