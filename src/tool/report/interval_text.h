/*
 * interval_text.h - an interval as text and as JSON.
 */
#ifndef ABENCH_TOOL_REPORT_INTERVAL_TEXT_H
#define ABENCH_TOOL_REPORT_INTERVAL_TEXT_H

#include <jansson.h>

#include <allocbench/statistics.h>

/* "x0.72 [0.70 0.74]"; "x0.72" without bounds; "" when nothing is behind it. free() it. */
char *interval_ratio_text(const abench_interval *interval);

/* "45.1 MiB [44.9 45.3]". free() it. */
char *interval_value_text(const abench_interval *interval, const char *unit);

/* {"estimate", "low", "high", "count"}: low and high are null without bounds. null when nothing is
 * behind it. */
json_t *interval_json(const abench_interval *interval);

/* A number, or null when it is not finite. */
json_t *interval_number(double value);

#endif
