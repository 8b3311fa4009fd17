/*
 * gates.h - several thresholds over a whole result: which targets and workloads each is of, what
 * becomes of it, and how that is said.
 */
#ifndef ABENCH_TOOL_GATES_H
#define ABENCH_TOOL_GATES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#include <jansson.h>

#include "tool/gate.h"
#include "tool/report/verdict.h"

typedef enum gate_found {
    GATE_ABSENT, /* the target is not in that workload at all */
    GATE_EMPTY,  /* it is, and has no such metric */
    GATE_FOUND,
} gate_found;

/* Where numbers come from; a target and a workload go by their index. */
typedef struct gate_source {
    void *from;
    size_t workloads;
    size_t targets;
    size_t baseline;
    const summary *measured; /* whose metrics are proposed for one that is not there */
    const char *(*label)(void *from, size_t workload);
    const char *(*id)(void *from, size_t workload);
    const char *(*target)(void *from, size_t target);
    /* Of a ratio, or of a value; out's label and target need not be filled. */
    gate_found (*find)(void *from, size_t workload, size_t target, const char *metric,
                       bool is_ratio, gate_case *out);
} gate_source;

typedef struct gate_outcome {
    const gate *g;
    gate_case found; /* its texts are the source's; metric is NULL when there is none */
    gate_result result;
    const char *why; /* as of gate_judge */
} gate_outcome;

typedef struct gate_outcomes {
    gate_outcome *items;
    size_t count;
    size_t failed;
    size_t unknown;
} gate_outcomes;

/* Judges all of them. false with one line in message: one is of nothing that is there, or its limit
 * is in another unit than its metric. A threshold that cannot fail is no threshold. */
bool gates_judge(const gate *gates, size_t count, const gate_source *source, gate_outcomes *out,
                 char *message, size_t message_size);

void gates_clear(gate_outcomes *outcomes);

/* A result directory's: ratios to the baseline. */
gate_source gates_of_verdicts(const verdicts *v);

/* A line an outcome: "rss>+5%: FAILED: jemalloc on mixed, rss_bytes: x1.12 [1.08 1.15]". */
void gates_terminal(const gate_outcomes *outcomes, FILE *out);

/* The same as a Markdown list under a heading; nothing when there are none. */
void gates_markdown(const gate_outcomes *outcomes, FILE *out);

/* A list of objects (report/export.h). */
json_t *gates_json(const gate_outcomes *outcomes);

#endif
