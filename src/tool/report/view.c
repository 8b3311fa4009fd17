#include "tool/report/view.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tool/report/format.h"
#include "tool/util.h"

/* Which metrics a table shows, when a run has them; all of them are in summary.tsv. per is what
 * the unit is counted per. A ratio of a ratio would say what the column beside it says. */
typedef struct choice {
    const char *metric;
    const char *title;
    const char *per;
    bool wants_ratio;
} choice;

static const choice tape_choices[] = {
    {SUMMARY_TIME, "time", "/op", true},           {"live_bytes", "live", "", false},
    {"usable_per_live", "usable", "/live", false}, {"rss_bytes", "RSS", "", true},
    {"rss_per_live", "RSS", "/live", false},       {"rss_drained_bytes", "drained", "", true},
    {"rss_peak_bytes", "peak", "", true},          {NULL, NULL, NULL, false},
};

static const choice command_choices[] = {
    {"wall_ns", "wall", "", true},
    {"user_ns", "user", "", true},
    {"system_ns", "system", "", false},
    {"peak_rss_bytes", "peak RSS", "", true},
    {"peak_tree_pss_bytes", "tree PSS", "", true},
    {NULL, NULL, NULL, false},
};

/* ---- columns --------------------------------------------------------------------------------- */

typedef struct bounds {
    double smallest;
    double smallest_seen; /* above 0 */
    double largest;
    size_t n;
} bounds;

/* Of the medians of all targets. */
static bounds bounds_of(const view *v, const char *metric)
{
    bounds b = {.smallest = INFINITY, .smallest_seen = INFINITY};
    for (size_t i = 0; i < v->s->count; i++) {
        const summary_row *row = &v->s->rows[i];
        if (row->workload != v->workload || row->target == MODEL_FLOOR ||
            strcmp(row->metric, metric) != 0)
            continue;
        double size = fabs(row->median);
        b.n++;
        b.largest = fmax(b.largest, size);
        b.smallest = fmin(b.smallest, size);
        if (size > 0)
            b.smallest_seen = fmin(b.smallest_seen, size);
    }
    return b;
}

static const summary_row *any_row(const view *v, const char *metric)
{
    for (size_t i = 0; i < v->s->count; i++) {
        const summary_row *row = &v->s->rows[i];
        if (row->workload == v->workload && row->target != MODEL_FLOOR &&
            strcmp(row->metric, metric) == 0)
            return row;
    }
    return NULL;
}

static void add_column(view *v, const choice *chosen)
{
    const summary_row *row = any_row(v, chosen->metric);
    if (row == NULL || v->columns_count == VIEW_COLUMNS)
        return;
    bounds b = bounds_of(v, chosen->metric);
    format_unit scale = format_scale(row->unit, b.largest);
    view_column *column = &v->columns[v->columns_count];
    *column = (view_column){.metric = chosen->metric,
                            .title = chosen->title,
                            .divisor = scale.divisor,
                            .wants_ratio = chosen->wants_ratio};
    column->decimals =
        isfinite(b.smallest_seen) ? format_decimals(b.smallest_seen / scale.divisor) : 0;
    snprintf(column->unit, sizeof column->unit, "%.20s%s", scale.name, chosen->per);
    if (strcmp(chosen->metric, "live_bytes") == 0 && b.n > 1 &&
        b.largest - b.smallest <= b.largest * 5e-4)
        snprintf(v->held, sizeof v->held, "live %.*f %s", column->decimals,
                 b.largest / scale.divisor, scale.name);
    else
        v->columns_count++;
}

static void choose_columns(view *v)
{
    bool command = v->s->m->workloads[v->workload].is_command;
    for (const choice *c = command ? command_choices : tape_choices; c->metric != NULL; c++)
        add_column(v, c);
    if (v->columns_count > 0)
        return;
    /* A harness that names its metrics otherwise: the first that it names. */
    const char *last = "";
    for (size_t i = 0; i < v->s->count; i++) {
        const summary_row *row = &v->s->rows[i];
        if (row->workload != v->workload || strcmp(row->metric, last) == 0)
            continue;
        last = row->metric;
        add_column(v, &(choice){row->metric, row->metric, "", true});
    }
}

/* ---- rows ------------------------------------------------------------------------------------ */

static bool has_cell(const model *m, size_t workload, size_t target, bool again)
{
    for (size_t i = 0; i < m->cells_count; i++) {
        const model_cell *cell = &m->cells[i];
        if (cell->workload == workload && cell->target == target && cell->again == again)
            return true;
    }
    return false;
}

static void add_row(view *v, size_t target, bool again)
{
    const model *m = v->s->m;
    const char *name = m->targets[target].name;
    if (!has_cell(m, v->workload, target, again))
        return;
    view_row *row = &v->rows[v->rows_count++];
    row->target = target;
    row->again = again;
    row->label = target != m->baseline ? xstrdup(name)
                 : again               ? xasprintf("%s (A/A)", name)
                                       : xasprintf("%s (base)", name);
}

view *view_make(const summary *s, size_t workload)
{
    view *v = xcalloc(1, sizeof *v);
    const model *m = s->m;
    v->s = s;
    v->workload = workload;
    v->rounds = summary_rounds(m, workload);
    v->rows = xcalloc(m->targets_count + 1, sizeof *v->rows);
    add_row(v, m->baseline, false);
    add_row(v, m->baseline, true);
    for (size_t i = 0; i < m->targets_count; i++) {
        if (i != m->baseline)
            add_row(v, i, false);
    }
    choose_columns(v);
    return v;
}

void view_free(view *v)
{
    if (v == NULL)
        return;
    for (size_t i = 0; i < v->rows_count; i++)
        free(v->rows[i].label);
    free(v->rows);
    free(v);
}

/* ---- cells ----------------------------------------------------------------------------------- */

static void put_spread(view_cell *cell, const summary_row *row)
{
    char *text = format_spread(row->spread);
    cell->spread_ratio = row->spread;
    snprintf(cell->spread, sizeof cell->spread, "%s", text);
    free(text);
}

static void put_ratio(view_cell *cell, const summary_row *row)
{
    if (row->ratio >= 9999.5)
        snprintf(cell->ratio, sizeof cell->ratio, "x>9999");
    else
        snprintf(cell->ratio, sizeof cell->ratio, "x%.*f", format_decimals(row->ratio), row->ratio);
    if (row->ratios == 1) {
        cell->mark = "?";
    } else if (row->straddles || row->in_noise) {
        cell->mark = "~";
    } else if (row->direction != ABENCH_DIRECTION_NONE && !row->again &&
               fabs(row->ratio - 1) >= 0.005) { /* else it reads x1.00 */
        bool lower = row->direction == ABENCH_DIRECTION_LOWER;
        cell->verdict = (row->ratio < 1) == lower ? 1 : -1;
    }
}

view_cell view_of(const view *v, size_t row, const view_column *c)
{
    view_cell cell = {.value = "n/a", .mark = ""};
    const view_row *r = &v->rows[row];
    const summary_row *found = summary_find(v->s, v->workload, r->target, r->again, c->metric);
    if (found == NULL)
        return cell;
    double shown = found->median / c->divisor;
    if (fabs(shown) < 1e15)
        snprintf(cell.value, sizeof cell.value, "%.*f", c->decimals, shown);
    else
        snprintf(cell.value, sizeof cell.value, "%.3g", shown);
    if (found->has_spread)
        put_spread(&cell, found);
    if (found->ratios > 0)
        put_ratio(&cell, found);
    return cell;
}

view_cell view_at(const view *v, size_t row, size_t column)
{
    return view_of(v, row, &v->columns[column]);
}

bool view_share(const view *v, char **sentence)
{
    double share;
    if (!summary_share(v->s, v->workload, &share))
        return false;
    const summary_row *floor = summary_find(v->s, v->workload, MODEL_FLOOR, false, SUMMARY_TIME);
    const char *name = v->s->m->targets[v->s->m->baseline].name;
    format_unit scale = format_scale(floor->unit, floor->median);
    double shown = floor->median / scale.divisor;
    if (share > 0)
        *sentence = xasprintf("malloc's share of the time of %s: %.0f %% (the same work without an "
                              "allocator takes %.*f %s/op)",
                              name, 100 * share, format_decimals(shown), shown, scale.name);
    else
        *sentence = xasprintf("malloc's share of the time of %s cannot be told: the same work "
                              "without an allocator takes as long",
                              name);
    return true;
}

const char *view_mode(const view *v)
{
    const model *m = v->s->m;
    size_t lockstep = 0, cells = 0;

    for (size_t i = 0; i < m->cells_count; i++) {
        if (m->cells[i].workload != v->workload)
            continue;
        cells++;
        lockstep += m->cells[i].in_lockstep;
    }
    if (cells == 0)
        return "";
    if (lockstep == 0)
        return " one cell after the other";
    return lockstep == cells ? " in lockstep" : " partly in lockstep";
}
