/*
 * measures.h - tables whose columns are numbers of the cells: of each target the median over the
 * rounds, with its spread, as in the main table.
 */
#ifndef ABENCH_TOOL_REPORT_MEASURES_H
#define ABENCH_TOOL_REPORT_MEASURES_H

#include <stdbool.h>
#include <stddef.h>

#include "tool/report/grid.h"
#include "tool/report/view.h"

typedef enum measure_kind {
    MEASURE_BYTES,    /* shown in MiB */
    MEASURE_COMPARED, /* the same of a metric, with its ratio to the baseline behind it */
    MEASURE_RATIO,
    MEASURE_TIME, /* nanoseconds */
    MEASURE_TEXT,
} measure_kind;

/* A column. */
typedef struct measure {
    const char *head; /* as of a grid */
    measure_kind kind;
    const char *name; /* given to number or text */
    /* Of one good cell; NAN: it has none. */
    double (*number)(const model_cell *cell, const char *name);
    /* Instead, of MEASURE_TEXT: the first cell's that is not NULL is shown. */
    const char *(*text)(const model_cell *cell, const char *name);
} measure;

/* The metric of that name. */
double measure_metric(const model_cell *cell, const char *name);

/* Has any cell of the view's rows a value? */
bool measures_has(const view *v, const measure *column);

/* The number that stands in a row, the median over its rounds; NAN: there is none. */
double measures_value(const view *v, size_t row, const measure *column);

/* The text that stands there, of a MEASURE_TEXT; NULL: there is none. */
const char *measures_text(const view *v, size_t row, const measure *column);

/* A row for each of the view's rows; a column that no cell has a value for is left out. brief: for
 * a terminal, where spreads line up and are left out where a column is steady. NULL: no column is
 * left. grid_free() it. */
grid *measures_grid(const view *v, const measure *columns, size_t count, bool brief);

#endif
