#include "tool/report/measures.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "tool/report/format.h"
#include "tool/report/phase_plan.h"
#include "tool/util.h"

#define MIB     1048576.0
#define MISSING "n/a"

double measure_metric(const model_cell *cell, const char *name)
{
    const model_metric *found = model_cell_metric(cell, name);
    return found == NULL ? NAN : found->value;
}

/* ---- the rounds of a row --------------------------------------------------------------------- */

typedef struct median {
    double value;  /* NAN: no round has one */
    double spread; /* NAN: one round only, or a median that is not above 0 */
} median;

static median median_of(const view *v, size_t row, const measure *column)
{
    const model *m = v->s->m;
    median result = {NAN, NAN};
    double *values = xcalloc(m->cells_count + 1, sizeof *values);
    size_t n = 0;
    for (size_t i = 0; i < m->cells_count; i++) {
        if (!plan_has(v, &m->cells[i], v->rows[row].target, v->rows[row].again))
            continue;
        values[n] = column->number(&m->cells[i], column->name);
        n += isfinite(values[n]) != 0;
    }
    if (n > 0)
        result.value = summary_median(values, n); /* sorts them */
    if (n > 1 && result.value > 0)
        result.spread = (values[n - 1] - values[0]) / result.value;
    free(values);
    return result;
}

double measures_value(const view *v, size_t row, const measure *column)
{
    return median_of(v, row, column).value;
}

const char *measures_text(const view *v, size_t row, const measure *column)
{
    const model *m = v->s->m;
    const char *text = NULL;
    for (size_t i = 0; i < m->cells_count && text == NULL; i++) {
        if (plan_has(v, &m->cells[i], v->rows[row].target, v->rows[row].again))
            text = column->text(&m->cells[i], column->name);
    }
    return text;
}

static bool has_value(const view *v, size_t row, const measure *column)
{
    return column->kind == MEASURE_TEXT ? measures_text(v, row, column) != NULL
                                        : !isnan(measures_value(v, row, column));
}

bool measures_has(const view *v, const measure *column)
{
    bool found = false;
    for (size_t row = 0; row < v->rows_count && !found; row++)
        found = has_value(v, row, column);
    return found;
}

/* ---- the table ------------------------------------------------------------------------------- */

/* "x0.72 [0.70 0.74] +" of a MEASURE_COMPARED; "" where there is none. free() it. */
static char *ratio_text(const view *v, size_t row, const measure *column)
{
    view_column c = {.metric = column->name, .divisor = MIB};
    view_cell cell;
    if (column->kind != MEASURE_COMPARED)
        return xstrdup("");
    c.judged = verdicts_find(v->verdicts, v->workload, column->name);
    cell = view_of(v, row, &c);
    return xasprintf("%s%s%s", cell.ratio, cell.mark[0] != '\0' ? " " : "", cell.mark);
}

/* How wide spreads and ratios stand behind a column's values; 0: they do not line up. */
typedef struct spreads {
    bool shown; /* the spreads; ratios are where there are any */
    size_t width;
    size_t ratio_width;
} spreads;

static spreads spreads_of(const view *v, const measure *column, bool brief)
{
    spreads s = {!brief, 0, 0};
    for (size_t row = 0; row < v->rows_count && brief; row++) {
        const median m = median_of(v, row, column);
        char *text = ratio_text(v, row, column);
        s.ratio_width = strlen(text) > s.ratio_width ? strlen(text) : s.ratio_width;
        free(text);
        if (isnan(m.spread))
            continue;
        text = format_spread(m.spread);
        s.shown = s.shown || m.spread >= VIEW_SPREAD_SHOWN;
        s.width = format_width(text) > s.width ? format_width(text) : s.width;
        free(text);
    }
    return s;
}

/* free() it */
static char *number_text(measure_kind kind, double value)
{
    int decimals = format_decimals(value);
    if (kind == MEASURE_TIME)
        return format_ns(value);
    if (kind == MEASURE_BYTES || kind == MEASURE_COMPARED) {
        value /= MIB;
        decimals = format_decimals(value);
    } else if (fabs(value) < 0.9995) {
        decimals = 3;
    }
    if (fabs(value) < 0.5 * pow(10, -decimals))
        value = 0; /* not "-0.00" */
    return xasprintf("%.*f", decimals, value);
}

/* " TEXT" and blanks up to width; "" when both are nothing. free() it; free()s text. */
static char *behind(char *text, size_t width)
{
    const size_t own = format_width(text);
    const size_t wanted = width > own ? width : own;
    char *padded = xasprintf("%s%s%*s", wanted > 0 ? " " : "", text, (int)(wanted - own), "");
    free(text);
    return padded;
}

static void put_number(grid *g, const view *v, size_t row, const measure *column, spreads s)
{
    const median m = median_of(v, row, column);
    char *text = isnan(m.value) ? xstrdup(MISSING) : number_text(column->kind, m.value);
    char *spread = behind(isnan(m.spread) || !s.shown ? xstrdup("") : format_spread(m.spread),
                          s.shown ? s.width : 0);
    char *ratio = behind(ratio_text(v, row, column), s.ratio_width);
    grid_put(g, "%s%s%s", text, spread, ratio);
    free(text);
    free(spread);
    free(ratio);
}

static void put_text(grid *g, const view *v, size_t row, const measure *column)
{
    const char *text = measures_text(v, row, column);
    grid_put(g, "%s", text == NULL ? MISSING : text);
}

grid *measures_grid(const view *v, const measure *columns, size_t count, bool brief)
{
    const measure **kept = xcalloc(count + 1, sizeof(measure *));
    spreads *s = xcalloc(count + 1, sizeof *s);
    size_t n = 0;
    grid *g = grid_make(1);
    grid_head(g, "target");
    for (size_t i = 0; i < count; i++) {
        if (!measures_has(v, &columns[i]))
            continue;
        if (columns[i].kind != MEASURE_TEXT)
            s[n] = spreads_of(v, &columns[i], brief);
        kept[n++] = &columns[i];
        grid_head(g, "%s", columns[i].head);
    }
    for (size_t row = 0; row < v->rows_count && n > 0; row++) {
        grid_row(g);
        grid_put(g, "%s", v->rows[row].label);
        for (size_t i = 0; i < n; i++) {
            if (kept[i]->kind == MEASURE_TEXT)
                put_text(g, v, row, kept[i]);
            else
                put_number(g, v, row, kept[i], s[i]);
        }
    }
    free(kept);
    free(s);
    if (n > 0)
        return g;
    grid_free(g);
    return NULL;
}
