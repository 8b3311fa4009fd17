#include "tool/report/grid.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "tool/report/format.h"
#include "tool/util.h"

#define GAP        2u
#define TEXT_WIDTH 40u /* a name is cut there */

grid *grid_make(size_t labels)
{
    grid *g = xcalloc(1, sizeof *g);
    g->labels = labels;
    return g;
}

void grid_free(grid *g)
{
    if (g == NULL)
        return;
    for (size_t i = 0; i < g->columns; i++)
        free(g->heads[i]);
    for (size_t i = 0; i < g->rows * g->columns; i++)
        free(g->cells[i]);
    free(g->heads);
    free(g->cells);
    free(g);
}

void grid_head(grid *g, const char *format, ...)
{
    va_list list;
    g->heads = util_grow(g->heads, g->columns, &g->heads_capacity, sizeof *g->heads);
    va_start(list, format);
    g->heads[g->columns++] = xvasprintf(format, list);
    va_end(list);
}

void grid_row(grid *g)
{
    size_t count = g->rows * g->columns;
    for (size_t i = 0; i < g->columns; i++) {
        g->cells = util_grow(g->cells, count, &g->cells_capacity, sizeof *g->cells);
        g->cells[count++] = NULL;
    }
    g->rows++;
}

void grid_put(grid *g, const char *format, ...)
{
    char **row = g->cells + (g->rows - 1) * g->columns;
    size_t column = 0;
    va_list list;
    while (column < g->columns && row[column] != NULL)
        column++;
    if (column == g->columns)
        return;
    va_start(list, format);
    row[column] = xvasprintf(format, list);
    va_end(list);
}

void grid_drop(grid *g, size_t column)
{
    size_t kept = 0;
    free(g->heads[column]);
    for (size_t i = column + 1; i < g->columns; i++)
        g->heads[i - 1] = g->heads[i];
    for (size_t i = 0; i < g->rows * g->columns; i++) {
        if (i % g->columns == column)
            free(g->cells[i]);
        else
            g->cells[kept++] = g->cells[i];
    }
    g->columns--;
}

static const char *cell_at(const grid *g, size_t row, size_t column)
{
    const char *text = g->cells[row * g->columns + column];
    return text == NULL ? "" : text;
}

/* ---- a terminal ------------------------------------------------------------------------------ */

/* Line 0 or 1 of a column's head; a head of one line stands in the lower. free() it. */
static char *head_line(const grid *g, size_t column, int line)
{
    const char *head = g->heads[column];
    const char *second = strchr(head, '\n');
    char *text, *shown;
    if (line == 0)
        text = second == NULL ? xstrdup("") : xstrndup(head, (size_t)(second - head));
    else
        text = xstrdup(second == NULL ? head : second + 1);
    shown = format_terminal(text, TEXT_WIDTH);
    free(text);
    return shown;
}

/* What is shown of a cell. free() it. */
static char *cell_text(const grid *g, size_t row, size_t column)
{
    const char *text = cell_at(g, row, column);
    bool repeats =
        g->labels > 1 && column == 0 && row > 0 && strcmp(text, cell_at(g, row - 1, 0)) == 0;
    return format_terminal(repeats ? "" : text, TEXT_WIDTH);
}

static size_t wider(size_t width, char *text)
{
    size_t own = format_width(text);
    free(text);
    return own > width ? own : width;
}

static size_t *measure(const grid *g)
{
    size_t *widths = xcalloc(g->columns + 1, sizeof *widths);
    for (size_t i = 0; i < g->columns; i++) {
        widths[i] = wider(wider(0, head_line(g, i, 0)), head_line(g, i, 1));
        for (size_t row = 0; row < g->rows; row++)
            widths[i] = wider(widths[i], cell_text(g, row, i));
    }
    return widths;
}

static size_t labels_width(const grid *g, const size_t *widths)
{
    size_t width = 0;
    for (size_t i = 0; i < g->labels; i++)
        width += widths[i] + (i > 0 ? GAP : 0);
    return width;
}

/* The number columns from `from` that a line of that width holds, at least one. */
static size_t fill_line(const grid *g, const size_t *widths, size_t from, size_t width)
{
    size_t used = labels_width(g, widths) + GAP + widths[from];
    size_t to = from + 1;
    while (to < g->columns && used + GAP + widths[to] <= width)
        used += GAP + widths[to++];
    return to;
}

/* A line under construction; it does not end in blanks. */
typedef struct line {
    FILE *out;
    size_t blanks;
} line;

static void put_blanks(line *at)
{
    fprintf(at->out, "%*s", (int)at->blanks, "");
    at->blanks = 0;
}

/* free()s text. */
static void put_text(line *at, char *text, size_t width, bool left)
{
    size_t own = format_width(text);
    size_t rest = width > own ? width - own : 0;
    size_t length = strlen(text), behind = 0;
    while (length > behind && text[length - 1 - behind] == ' ')
        behind++;
    text[length - behind] = '\0';
    at->blanks += left ? 0 : rest;
    if (text[0] != '\0') {
        put_blanks(at);
        fputs(text, at->out);
    }
    at->blanks += behind + (left ? rest : 0);
    free(text);
}

/* row -2 and -1 are the two lines of the heads. */
static void put_line(const grid *g, const size_t *widths, size_t from, size_t to, long row,
                     FILE *out)
{
    line at = {out, 0};
    for (size_t i = 0; i < to; i = i + 1 == g->labels ? from : i + 1) {
        char *text = row < 0 ? head_line(g, i, (int)row + 2) : cell_text(g, (size_t)row, i);
        at.blanks += i > 0 ? GAP : 0;
        put_text(&at, text, widths[i], i < g->labels);
    }
    fputc('\n', out);
}

static bool has_two_lines(const grid *g)
{
    for (size_t i = 0; i < g->columns; i++) {
        if (strchr(g->heads[i], '\n') != NULL)
            return true;
    }
    return false;
}

void grid_terminal(const grid *g, FILE *out, const char *on, const char *off)
{
    size_t *widths = measure(g);
    for (size_t from = g->labels; from < g->columns;) {
        size_t to = fill_line(g, widths, from, GRID_WIDTH);
        fputs(from > g->labels ? "\n" : "", out);
        fputs(on, out);
        for (long head = has_two_lines(g) ? -2 : -1; head < 0; head++)
            put_line(g, widths, from, to, head, out);
        fputs(off, out);
        for (size_t row = 0; row < g->rows; row++)
            put_line(g, widths, from, to, (long)row, out);
        from = to;
    }
    free(widths);
}

/* ---- Markdown -------------------------------------------------------------------------------- */

static void put_head(FILE *out, const char *head)
{
    const char *second = strchr(head, '\n');
    char *first = xstrndup(head, second == NULL ? strlen(head) : (size_t)(second - head));
    format_markdown(out, first);
    if (second != NULL) {
        fputs(*first != '\0' ? " " : "", out);
        format_markdown(out, second + 1);
    }
    free(first);
}

void grid_markdown(const grid *g, FILE *out)
{
    for (size_t i = 0; i < g->columns; i++) {
        fputs("| ", out);
        put_head(out, g->heads[i]);
        fputc(' ', out);
    }
    fputs("|\n", out);
    for (size_t i = 0; i < g->columns; i++)
        fputs(i < g->labels ? "|---" : "|---:", out);
    fputs("|\n", out);
    for (size_t row = 0; row < g->rows; row++) {
        for (size_t i = 0; i < g->columns; i++) {
            fputs("| ", out);
            format_markdown(out, cell_at(g, row, i));
            fputc(' ', out);
        }
        fputs("|\n", out);
    }
}
