/*
 * compare_text.h - a comparison of two result directories, printed and exported.
 */
#ifndef ABENCH_TOOL_REPORT_COMPARE_TEXT_H
#define ABENCH_TOOL_REPORT_COMPARE_TEXT_H

#include <stdbool.h>
#include <stdio.h>

#include "tool/compare.h"
#include "tool/gates.h"

/* What it comes to, how A and B differ, then a table a workload. color: use it. */
void compare_terminal(const comparison *c, FILE *out, bool color);

/* The same as a Markdown page, with the thresholds. */
void compare_markdown(const comparison *c, const gate_outcomes *gates, FILE *out);

/*
 * The same for other programs:
 *
 *   {"schema": 1, "kind": "allocbench-compare", "tool_version",
 *    "a": {"directory", "command_line", "unix_s", "tool_version", "host"}, "b": {...},
 *    "same_machine", "notes": [TEXT], "advice": [TEXT],
 *    "workloads": [{"label", "spec", "rounds_a", "rounds_b", "metrics": [
 *      {"metric", "title", "unit", "direction", "compared": "ratio" | "value", "refused", "noise",
 *       "threshold", "targets": [
 *        {"target", "a": INTERVAL, "b": INTERVAL, "change": INTERVAL, "verdict", "text",
 *         "rounds_needed", "rounds_a": [ROUND], "rounds_b": [ROUND]}]}]}],
 *    "thresholds": as in report/export.h}
 *
 * "a" and "b" of a target are its ratios to the baseline, or values in the unit; "change" is B by
 * A. INTERVAL and ROUND are those of report/export.h.
 */
void compare_json(const comparison *c, const gate_outcomes *gates, FILE *out);

/* A header line, then a line a workload, metric and target; what is absent is an empty field. */
void compare_csv(const comparison *c, FILE *out);

#endif
