/*
 * markdown.h - REPORT.md: everything a reader needs to judge the numbers, and to repeat them.
 */
#ifndef ABENCH_TOOL_REPORT_MARKDOWN_H
#define ABENCH_TOOL_REPORT_MARKDOWN_H

#include <stdio.h>

#include "tool/report/verdict.h"

/* charts[i]: the file with the chart of workload i, beside the report; NULL: there is none. */
void markdown_report(const verdicts *v, char *const *charts, FILE *out);

#endif
