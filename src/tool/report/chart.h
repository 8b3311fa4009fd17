/*
 * chart.h - RSS over time as SVG: a line a target, labelled with its last value at the line's end;
 * what is live lies as a grey area underneath, so that the gap is the allocator's cost.
 */
#ifndef ABENCH_TOOL_REPORT_CHART_H
#define ABENCH_TOOL_REPORT_CHART_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#include "tool/report/chart_data.h"

/* "rss-w00-churn-cross-slots-15000.svg": letters, digits and dashes. free() it. */
char *chart_name(const model *m, size_t workload);

/* Draws one round of a workload: of those in which most targets were read, the one whose peak of
 * the baseline is the median. false, with nothing written, when no cell has a reading. */
bool chart_rss(const model *m, size_t workload, FILE *out);

#endif
