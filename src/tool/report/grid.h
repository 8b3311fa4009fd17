/*
 * grid.h - a small table of text, laid out for a terminal or as Markdown: the same numbers in both.
 */
#ifndef ABENCH_TOOL_REPORT_GRID_H
#define ABENCH_TOOL_REPORT_GRID_H

#include <stddef.h>
#include <stdio.h>

#define GRID_WIDTH 100u /* of a line on a terminal */

/* The first columns are labels, on the left; the others are numbers, on the right. */
typedef struct grid {
    size_t labels;
    size_t columns; /* labels and numbers */
    char **heads;   /* "came\nback": two lines on a terminal, "came back" in Markdown */
    size_t rows;
    char **cells; /* rows * columns; NULL: nothing is there */
    size_t heads_capacity;
    size_t cells_capacity;
} grid;

grid *grid_make(size_t labels);

/* accepts NULL */
void grid_free(grid *g);

/* One more column; all of them come before the first row. */
void grid_head(grid *g, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* Begins a row; its cells follow from the left with grid_put. */
void grid_row(grid *g);

/* The next cell of the row. Text is not escaped yet. */
void grid_put(grid *g, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* Takes a number column out again, its cells too. */
void grid_drop(grid *g, size_t column);

/* Columns that do not fit into a line go into a further block below. A first label that is the same
 * as above it is not repeated. on, off: around the heads, "" or an escape sequence. */
void grid_terminal(const grid *g, FILE *out, const char *on, const char *off);

void grid_markdown(const grid *g, FILE *out);

#endif
