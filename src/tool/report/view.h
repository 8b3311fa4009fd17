/*
 * view.h - what a table of one workload shows: which columns, in which unit, in which words. The
 * terminal and Markdown lay out the same view.
 */
#ifndef ABENCH_TOOL_REPORT_VIEW_H
#define ABENCH_TOOL_REPORT_VIEW_H

#include <stdbool.h>
#include <stddef.h>

#include "tool/report/verdict.h"

#define VIEW_COLUMNS 16u

/* On a terminal a spread below this is left out where the whole column is below it: it says that
 * the column is steady, and takes six characters to do so. */
#define VIEW_SPREAD_SHOWN 0.01

typedef struct view_column {
    const char *metric;
    const char *title; /* first line of the heading; not escaped */
    char unit[32];     /* second line */
    double divisor;    /* shown = value / divisor */
    int decimals;
    bool wants_ratio;             /* the ratio says more than the value does */
    const verdict_metric *judged; /* NULL: nothing is said of this metric but its values */
} view_column;

typedef struct view_row {
    size_t target;
    bool again;  /* the A/A line below the baseline */
    char *label; /* not escaped */
} view_row;

/* A metric that is the same for every target is said once, above the table. */
typedef struct view {
    const verdicts *verdicts;
    const summary *s; /* of the verdicts */
    size_t workload;
    size_t rounds; /* finished */
    view_column columns[VIEW_COLUMNS];
    size_t columns_count;
    view_row *rows; /* baseline, A/A, then the other targets that have a cell */
    size_t rows_count;
    char held[48]; /* "live 12.3 MiB"; "" when it is a column */
} view;

/* Where a metric is refused, values stand without ratios, but for the A/A row's. */
typedef struct view_cell {
    char value[32];  /* "45.1", or "n/a" */
    char spread[16]; /* "±2.1%"; "" with one round, or where an interval says it better */
    char ratio[48]; /* "x0.72 [0.70 0.74]", without bounds when there are too few rounds; "" for the
                         baseline, or when nothing could be paired */
    const char *mark; /* VIEW_BETTER and so on; "" where there is no verdict */
    const char *word; /* the same in words: "better", "not told apart", "A/A separates"; or "" */
    char rank[24];    /* "1", "1-2"; "" where there is none, or the metric is not a main one */
    int verdict;      /* -1 worse than the baseline, 1 better, 0 neither or not to be told */
    double spread_ratio;
} view_cell;

#define VIEW_BETTER  "+"
#define VIEW_WORSE   "-"
#define VIEW_SAME    "="
#define VIEW_OPEN    "?" /* not told apart */
#define VIEW_REFUSED "!" /* of the A/A row: it separates */

view *view_make(const verdicts *v, size_t workload);

/* accepts NULL */
void view_free(view *v);

/* Do intervals stand in the column, so that it needs no spreads? */
bool view_has_intervals(const view_column *column);

/* What stands in a row and column. */
view_cell view_at(const view *v, size_t row, size_t column);

/* What would stand in a row of a column that the view does not have. */
view_cell view_of(const view *v, size_t row, const view_column *column);

/* One sentence on the allocator's part of the baseline's time, or false when it was not measured.
 * The name in it is not escaped. free() it. */
bool view_share(const view *v, char **sentence);

/* How the rounds of the view's workload were played: " in lockstep", " interleaved", " one cell
 * after the other", " partly in lockstep", " partly interleaved", or "" when none was: to stand
 * behind "rounds". */
const char *view_mode(const view *v);

#endif
