/*
 * overall.h - what the verdicts say of all workloads together: how often who wins or ties, and who
 * is worse nowhere.
 */
#ifndef ABENCH_TOOL_REPORT_OVERALL_H
#define ABENCH_TOOL_REPORT_OVERALL_H

#include "tool/report/advice.h"

/* Adds the sentences; for results with several workloads that have a finished round. */
void overall_make(const verdicts *v, advice_text *out);

#endif
