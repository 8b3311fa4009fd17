/*
 * latency.h - how long single operations took: the histograms of a workload's cells, added up over
 * the rounds, and the quantiles that they can tell.
 *
 * One operation in N is timed by itself while a cell is measured; the quantiles up to p99 are of
 * those. Where there was a tail pass, which times every operation, those above p99 are of that.
 */
#ifndef ABENCH_TOOL_REPORT_LATENCY_H
#define ABENCH_TOOL_REPORT_LATENCY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#include <allocbench/histogram.h>

#include "tool/model.h"
#include "tool/report/grid.h"

/* Of one target. */
typedef struct latency_target {
    size_t target;
    abench_histogram *sampled[ABENCH_LATENCY_KINDS]; /* NULL: there are none */
    abench_histogram *tails[ABENCH_LATENCY_KINDS];
} latency_target;

typedef struct latency {
    const model *m; /* must outlive it */
    size_t workload;
    latency_target *targets; /* the baseline first */
    size_t count;
    bool has_tails;
    uint64_t interval; /* of the sampled ones; 0: they differ, or do not say */
} latency;

/* NULL when no cell of the workload has latencies. */
latency *latency_make(const model *m, size_t workload);

/* accepts NULL */
void latency_free(latency *l);

/* kind x target: quantiles, maximum and how many values are behind them. brief: only the calls
 * that most programs make (realloc where it has a quarter of malloc's values), and no column
 * without a value. */
grid *latency_grid(const latency *l, bool brief);

/* Stands instead of the brief table when no row of it has a p99 or beyond: how many values there
 * are and what gives more. NULL when there is one. free() it. */
char *latency_too_few(const latency *l);

/* "latency of single operations, one in 1024 timed": what stands above the table. free() it. */
char *latency_title(const latency *l);

/* What the signs in the table mean. */
extern const char latency_legend[];

/* Writes DIR/hgrm/WORKLOAD-TARGET-KIND.hgrm, and ...-tails.hgrm of the tail pass: HdrHistogram's
 * percentile text, in nanoseconds. false with one line in message. */
bool latency_write(const latency *l, char *message, size_t message_size);

/* Does any cell of the model have latencies? */
bool latency_any(const model *m);

#endif
