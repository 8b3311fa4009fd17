/*
 * after.h - what comes back after everything is freed: RSS at the measured point, at its peak,
 * when all is freed, in the seconds after that, and when the allocator was asked to give back what
 * it can. RSS is less the baseline, as in the metrics.
 */
#ifndef ABENCH_TOOL_REPORT_AFTER_H
#define ABENCH_TOOL_REPORT_AFTER_H

#include <stdbool.h>
#include <stdio.h>

#include "tool/report/view.h"

/* Was memory read again some seconds after everything was freed (--settle)? false of a failed
 * cell. */
bool after_waited(const model_cell *cell);

/* Of any cell. */
bool after_any_waited(const model *m);

/* For a terminal, where it is only shown when the run looked seconds later, and in short. on, off:
 * around the heads. */
void after_terminal(const view *v, FILE *out, const char *on, const char *off);

/* In full. Nothing when no cell was read with everything freed. */
void after_markdown(const view *v, FILE *out);

#endif
