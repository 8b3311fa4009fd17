/*
 * report.h - everything that is made from a model: tables, Markdown, TSV, CSV, SVG.
 *
 * What the numbers prove is verdict.h's, and what follows from that advice.h's: all kinds of output
 * say the same of them.
 */
#ifndef ABENCH_TOOL_REPORT_H
#define ABENCH_TOOL_REPORT_H

#include <stdio.h>

#include "tool/model.h"

/* The table for a terminal. color: use it (meaning is never carried by colour alone). */
void report_table(const model *m, FILE *out, bool color);

/* Writes samples.csv, raw.tsv, summary.tsv, REPORT.md, rss-WORKLOAD.svg and, where there are
 * latencies, hgrm/ into the model's directory, each to a temporary name that is renamed. Returns
 * false with one line in message when any could not be written whole. */
bool report_write_all(const model *m, char *message, size_t message_size);

#endif
