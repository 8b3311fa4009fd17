/*
 * export.h - a result directory for other programs. The schema only grows: what is there keeps its
 * name and its meaning, else "schema" counts up. Numbers read back as the same doubles; what is not
 * known is null in JSON and an empty field in CSV. Rounds count from 0, ratios are to the baseline.
 *
 *   {"schema": 1, "kind": "allocbench-report", "tool_version", "command_line", "unix_s", "seed",
 *    "rounds", "baseline", "looks", "host": {as in the manifest}, "machine": [FINDING],
 *    "machines": [{"name", "host"}],
 *    "notes": [TEXT], "advice": [TEXT], "next": [{"why", "command"}],
 *    "targets": [{"name", "spec", "library", "family", "version", "build_id", "settings",
 *                 "missing"}],
 *    "workloads": [{"id", "label", "spec", "kind": "tape" | "command", "rounds", "advice": [TEXT],
 *      "failed": [{"round", "target", "again", "reason"}],
 *      "metrics": [{"metric", "title", "unit", "direction": "lower" | "higher" | "none", "judged",
 *        "is_main", "is_memory", "refused", "threshold", "rounds", "rounds_least",
 *        "aa": INTERVAL, "aa_p",
 *        "targets": [{"target", "again", "median", "minimum", "maximum", "ratio": INTERVAL,
 *          "verdict", "text", "rounds", "rounds_needed", "rank": [LOW, HIGH], "cliff", "drift",
 *          "values": [ROUND]}]}]}],
 *    "thresholds": [{"threshold", "result": "passed" | "failed" | "unknown", "workload", "target",
 *      "metric", "is_ratio", "limit", "found": INTERVAL, "text"}]}
 *
 *   FINDING   {"name", "value", "why", "advice", "verdict", "is_key"}
 *   INTERVAL  {"estimate", "low", "high", "count"}: low and high are null where the rounds are too
 *             few; null as a whole where nothing is behind it. 0.98 for 2 % less; count: of rounds
 *   ROUND     {"round", "value", "ratio"}, and of a merge "machine": the index in "machines"
 *
 * "again" marks the baseline's second cells, whose ratio is A/A. The null allocator's target is
 * "(floor)". What only verdicts have ("title" to "aa_p", "verdict" to "drift") is null of a metric
 * with "judged": false. "verdict" is "better", "worse", "same", "not told apart" or "not enough
 * rounds"; "text" is for a person.
 */
#ifndef ABENCH_TOOL_REPORT_EXPORT_H
#define ABENCH_TOOL_REPORT_EXPORT_H

#include <stdio.h>

#include <jansson.h>

#include "tool/gates.h"
#include "tool/report/verdict.h"

void export_json(const verdicts *v, const gate_outcomes *gates, FILE *out);

/* A header line, then a line a workload, metric and target, the baseline's second cells too. The
 * last field holds the values by round: "0:45.1 1:45.3". */
void export_csv(const verdicts *v, FILE *out);

/* A list of ROUND. */
json_t *export_rounds(const model *m, const summary_row *row);

/* The same as text: "0:45.1 1:45.3". */
void export_rounds_text(FILE *out, const summary_row *row);

/* "lower", "higher", "none" */
const char *export_direction(uint32_t direction);

/* Writes the object, indented, with a newline behind it; json_decref()s it. */
void export_dump(json_t *root, FILE *out);

#endif
