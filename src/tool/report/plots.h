/*
 * plots.h - the pictures of report.html. Each writes figures, or nothing when there is nothing to
 * draw, and returns whether it wrote any.
 */
#ifndef ABENCH_TOOL_REPORT_PLOTS_H
#define ABENCH_TOOL_REPORT_PLOTS_H

#include <stdbool.h>
#include <stdio.h>

#include "tool/report/latency.h"
#include "tool/report/verdict.h"
#include "tool/report/view.h"

/* Ratios to the baseline with their intervals, a row a target and judged metric; the threshold as a
 * band, the axis logarithmic. */
bool plot_forest(const verdicts *v, size_t workload, FILE *out);

/* RSS over time above what is live, with the phases' ends: one round, as in chart.h. */
bool plot_rss(const model *m, size_t workload, FILE *out);

/* Percentiles of a kind of operation, both axes logarithmic, with the control curve: what the clock
 * reads around nothing. Where fewer values lie above a point than a quantile needs, lines are
 * dotted. */
bool plot_latency(const latency *l, uint32_t kind, FILE *out);

/* RSS at its peak, at the measured point, when all is freed, in the seconds after it, purged. */
bool plot_back(const view *v, FILE *out);

/* Of workloads that differ in nothing but their lanes: throughput against the fewest lanes, with
 * the ideal line, and what an operation costs more (contention). A figure each. */
bool plot_scaling(const summary *s, FILE *out);

/* The same targets' order in tables and pictures of a metric: of count items, best first where the
 * metric can be ranked, else as they were asked. order: count places. */
void plot_order(const verdict_metric *metric, size_t *order);

/* A sign for a verdict that needs no colour: "better" and so on are told by shape. */
const char *plot_sign(const verdict_metric *metric, const verdict *item);

/* A class for it: "good", "bad", "same", "open". */
const char *plot_class(const verdict *item);

/* "x0.72 [0.70 0.74]", "x0.72", or "" of none. free() it. */
char *plot_ratio(const verdict *item);

#endif
