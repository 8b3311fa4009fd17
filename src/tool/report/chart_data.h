/*
 * chart_data.h - what a picture of RSS over time shows: which round, which cells, how large.
 */
#ifndef ABENCH_TOOL_REPORT_CHART_DATA_H
#define ABENCH_TOOL_REPORT_CHART_DATA_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "tool/model.h"

#define CHART_READINGS 3u   /* the fewest that make a line; without one there is no chart */
#define CHART_POINTS   600u /* the most that one is drawn with */

/* One round of a workload: of those in which most targets were read, the one whose peak of the
 * baseline is the median. */
typedef struct chart_data {
    const model *m; /* must outlive it */
    size_t workload;
    uint32_t round;
    uint32_t bit;             /* of abench_memory: RSS, or PSS where there is no RSS */
    bool above;               /* the baseline reading is taken off, as in the metrics */
    const model_cell **cells; /* one a target, by target */
    size_t count;
    const model_cell *live; /* whose phases are drawn; NULL: none */
    double seconds;         /* the last of any line, at least more than 0 */
    double bytes;           /* the most of any line and of live bytes, at least 1 */
} chart_data;

/* false, with nothing to clear, when no cell has a reading. */
bool chart_data_make(chart_data *c, const model *m, size_t workload);

void chart_data_clear(chart_data *c);

/* Of one reading of a cell. false: it does not have that counter. */
bool chart_data_value(const chart_data *c, const model_cell *cell, size_t index, double *bytes);

/* At most CHART_POINTS indices of count values, in order, into indices; the first, the last, and
 * the smallest and largest of each stretch stay. Returns how many. */
size_t chart_thin(const double *values, size_t count, size_t *indices);

/* The baseline is the first colour; the others follow in their order, those that are missing left
 * out: the same in every picture of a report. */
size_t chart_color(const model *m, size_t target);

#endif
