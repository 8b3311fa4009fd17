/*
 * plot.h - what the pictures in report.html are made of: a figure with its SVG, axes, marks and
 * labels. They read without a script: axes and labels are text, and titles tell values. For the
 * script, and for tests, each line and mark carries its exact values in data- attributes.
 *
 * A picture is 420 units wide, so that its text stays readable on a telephone. Colours, dashes and
 * fonts are html_style's; a target is known by the shape of its marks as well as by its colour.
 */
#ifndef ABENCH_TOOL_REPORT_PLOT_H
#define ABENCH_TOOL_REPORT_PLOT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#include "tool/model.h"

#define PLOT_WIDTH  420.0
#define PLOT_LEFT   46.0 /* a plot's own area, where it has a y axis and labels on the right */
#define PLOT_RIGHT  258.0
#define PLOT_TICKS  16u /* the most on an axis */
#define PLOT_NAME   16u /* letters of a name in a picture */
#define PLOT_COLORS 8u

/* ---- figures --------------------------------------------------------------------------------- */

typedef struct plot_figure {
    const char *kind;  /* a class: "forest", "rss" ... */
    const char *title; /* not escaped */
    const char *sub;   /* how to read it; not escaped */
    double height;
} plot_figure;

/* Ends with the open <svg>; attributes: more of it, written as it is. */
void plot_open(FILE *out, const plot_figure *f, const char *attributes);
void plot_close(FILE *out);

/* ---- text ------------------------------------------------------------------------------------ */

/* A name as a terminal would show it, escaped. Of more than limit characters (0: no limit) the
 * middle is left out: variants of an allocator differ in their ends. */
void plot_name(FILE *out, const char *name, size_t limit);

/* " NAME=\"VALUE\"" with the exact value. */
void plot_data(FILE *out, const char *name, double value);

/* ---- axes ------------------------------------------------------------------------------------ */

typedef struct plot_axis {
    double low; /* above 0 where is_log */
    double high;
    bool is_log;
    double from; /* where low is in the picture */
    double to;
} plot_axis;

double plot_at(const plot_axis *a, double value);

/* Round numbers on the axis, about parts of them, into ticks. Returns how many. */
size_t plot_ticks(const plot_axis *a, double parts, double *ticks);

/* 1, 2 or 5 times a power of ten, so that about parts steps fill length. */
double plot_step(double length, double parts);

/* Decimals that tell the ticks of a linear axis apart. */
int plot_decimals(const double *ticks, size_t count);

/* A tick of the x axis with its grid line from top to bottom. */
void plot_x_tick(FILE *out, double x, double top, double bottom, const char *label);

/* A tick of the y axis, whose line goes over the whole plot. */
void plot_y_tick(FILE *out, double y, bool is_axis, const char *label);

/* A byte axis from 0 to at least most, with its ticks; the unit is that of most. */
plot_axis plot_bytes(FILE *out, double most, double top, double bottom);

/* ---- marks and labels ------------------------------------------------------------------------ */

/* The shape of a series, centred. */
void plot_mark(FILE *out, size_t series, double x, double y, double size);

/* What stands at the end of a line: a mark, a name, a value. */
typedef struct plot_label {
    size_t series;
    const char *name;
    const char *value; /* "" for none */
    double x;          /* where the line ends */
    double y;
    double at; /* of the label; plot_labels sets it */
} plot_label;

/* Writes them at x, each as near to its line's end as the others let it. Reorders labels. */
void plot_labels(FILE *out, plot_label *labels, size_t count, double x, double top, double bottom);

/* ---- lines ----------------------------------------------------------------------------------- */

/* Which numbers a line is made of. For the script: shown is value / divisor. */
typedef struct plot_line {
    const char *name; /* not escaped */
    const char *kind; /* more classes: "control", "far"; "" */
    size_t series;
    const double *x;
    const double *y;
    size_t count;
    bool has_marks; /* some along the line, so that it is known without colour */
} plot_line;

/* Draws it; title: what a pointer at rest is told, not escaped. */
void plot_put_line(FILE *out, const plot_line *line, const plot_axis *x, const plot_axis *y,
                   const char *title);

#endif
