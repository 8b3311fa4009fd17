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

#define AFTER_POINTS 24u /* the most */

/* What a target had at one point of its runs. */
typedef struct after_point {
    char name[24]; /* "measured", "8 s later" */
    double bytes;  /* median over the rounds; NAN: none */
} after_point;

/* The points that the view's workload has, the same ones for each of its rows: from the peak on.
 * points: AFTER_POINTS of them. Returns how many; 0 when no cell was read with everything freed. */
size_t after_points(const view *v, size_t row, after_point *points);

/* Of any cell. */
bool after_any_waited(const model *m);

/* For a terminal, where it is only shown when the run looked seconds later, and in short. on, off:
 * around the heads. */
void after_terminal(const view *v, FILE *out, const char *on, const char *off);

/* In full. Nothing when no cell was read with everything freed. */
void after_markdown(const view *v, FILE *out);

#endif
