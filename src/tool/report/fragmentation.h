/*
 * fragmentation.h - fragmentation by each definition in use, with its formula.
 */
#ifndef ABENCH_TOOL_REPORT_FRAGMENTATION_H
#define ABENCH_TOOL_REPORT_FRAGMENTATION_H

#include <stdio.h>

#include "tool/report/view.h"

/* Nothing when no cell has any of them. */
void fragmentation_markdown(const view *v, FILE *out);

#endif
