/*
 * data.h - the numbers for other programs: one header line, then a line a value. What is absent is
 * an empty field. The null allocator's cells are of target "(floor)".
 */
#ifndef ABENCH_TOOL_REPORT_DATA_H
#define ABENCH_TOOL_REPORT_DATA_H

#include <stdio.h>

#include "tool/report/summary.h"

/* raw.tsv: a line a metric of a cell, as it was recorded. */
void data_raw(const model *m, FILE *out);

/* summary.tsv: a line a workload, target and metric. aa_ratio is that of the baseline's two cells:
 * how far apart equal things read in this metric. */
void data_summary(const summary *s, FILE *out);

/* samples.csv: a line a reading, with all fields of abench_memory. */
void data_samples(const model *m, FILE *out);

#endif
