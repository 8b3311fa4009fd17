#include "tool/report/view.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tool/report/advice.h"
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
    {"cpu_ns", "CPU", "", true},
    {"peak_rss_bytes", "peak RSS", "", true},
    {"peak_tree_pss_bytes", "tree PSS", "", true},
    {"user_ns", "user", "", false},
    {"system_ns", "system", "", false},
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

static bool is_shown(const view *v, const char *metric)
{
    bool found = false;
    for (size_t i = 0; i < v->columns_count && !found; i++)
        found = strcmp(v->columns[i].metric, metric) == 0;
    return found;
}

static void add_column(view *v, const choice *chosen)
{
    const summary_row *row = any_row(v, chosen->metric);
    if (row == NULL || v->columns_count == VIEW_COLUMNS || is_shown(v, chosen->metric))
        return;
    bounds b = bounds_of(v, chosen->metric);
    format_unit scale = format_scale(row->unit, b.largest);
    view_column *column = &v->columns[v->columns_count];
    *column = (view_column){.metric = chosen->metric,
                            .title = chosen->title,
                            .divisor = scale.divisor,
                            .wants_ratio = chosen->wants_ratio};
    column->judged = verdicts_find(v->verdicts, v->workload, chosen->metric);
    column->wants_ratio |= column->judged != NULL;
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

/* The usual ones first, then what else is judged: a harness's own metrics are. */
static void choose_columns(view *v)
{
    const verdicts *all = v->verdicts;
    bool command = v->s->m->workloads[v->workload].is_command;
    for (const choice *c = command ? command_choices : tape_choices; c->metric != NULL; c++)
        add_column(v, c);
    for (size_t i = 0; i < all->count; i++) {
        const verdict_metric *metric = &all->metrics[i];
        if (metric->workload == v->workload)
            add_column(v, &(choice){metric->metric, metric->title, "", true});
    }
    if (v->columns_count > 0)
        return;
    /* Nothing of that: the first that are named. */
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

view *view_make(const verdicts *all, size_t workload)
{
    view *v = xcalloc(1, sizeof *v);
    const model *m = all->s->m;
    v->verdicts = all;
    v->s = all->s;
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

bool view_has_intervals(const view_column *c)
{
    bool found = c->judged != NULL && !isnan(c->judged->aa.low) && c->judged->aa.count > 0;
    for (size_t i = 0; c->judged != NULL && i < c->judged->count && !found; i++)
        found = c->judged->items[i].result.verdict != ABENCH_COMPARED_TOO_FEW;
    return found && !c->judged->refused;
}

static void put_spread(view_cell *cell, const summary_row *row)
{
    char *text = format_spread(row->spread);
    cell->spread_ratio = row->spread;
    snprintf(cell->spread, sizeof cell->spread, "%s", text);
    free(text);
}

static void put_text(char *into, size_t size, char *text)
{
    snprintf(into, size, "%s", text);
    free(text);
}

/* The baseline against itself. */
static void put_noise(view_cell *cell, const verdict_metric *judged)
{
    if (judged->aa.count == 0)
        return;
    put_text(cell->ratio, sizeof cell->ratio,
             advice_ratio(judged->aa.estimate, judged->aa.low, judged->aa.high));
    cell->mark = judged->refused ? VIEW_REFUSED : "";
    cell->word = judged->refused ? "A/A separates" : "";
}

static void put_rank(view_cell *cell, const verdict *item)
{
    if (!item->has_rank)
        return;
    if (item->rank_low == item->rank_high)
        snprintf(cell->rank, sizeof cell->rank, "%u", item->rank_low);
    else
        snprintf(cell->rank, sizeof cell->rank, "%u-%u", item->rank_low, item->rank_high);
}

static void put_verdict(view_cell *cell, const verdict_metric *judged, const verdict *item)
{
    static const char *const marks[] = {
        [ABENCH_COMPARED_TOO_FEW] = "",       [ABENCH_COMPARED_BETTER] = VIEW_BETTER,
        [ABENCH_COMPARED_WORSE] = VIEW_WORSE, [ABENCH_COMPARED_SAME] = VIEW_SAME,
        [ABENCH_COMPARED_OPEN] = VIEW_OPEN,
    };
    const abench_comparison *result = &item->result;

    if (judged->refused)
        return;
    if (judged->is_main)
        put_rank(cell, item);
    if (item == &judged->base || result->rounds == 0)
        return;
    put_text(cell->ratio, sizeof cell->ratio,
             advice_ratio(result->ratio, result->low, result->high));
    cell->mark = marks[result->verdict];
    cell->word =
        result->verdict != ABENCH_COMPARED_TOO_FEW ? abench_compared_name(result->verdict) : "";
    cell->verdict = result->verdict == ABENCH_COMPARED_BETTER  ? 1
                    : result->verdict == ABENCH_COMPARED_WORSE ? -1
                                                               : 0;
}

/* Of a metric that is not judged: the middle of the rounds' ratios. */
static void put_ratio(view_cell *cell, const summary_row *row)
{
    if (row->ratios > 0)
        put_text(cell->ratio, sizeof cell->ratio, advice_ratio(row->ratio, NAN, NAN));
}

view_cell view_of(const view *v, size_t row, const view_column *c)
{
    view_cell cell = {.value = "n/a", .mark = "", .word = ""};
    const view_row *r = &v->rows[row];
    const summary_row *found = summary_find(v->s, v->workload, r->target, r->again, c->metric);
    const verdict *item = c->judged != NULL && !r->again ? verdict_of(c->judged, r->target) : NULL;
    if (found == NULL)
        return cell;
    double shown = found->median / c->divisor;
    if (fabs(shown) < 1e15)
        snprintf(cell.value, sizeof cell.value, "%.*f", c->decimals, shown);
    else
        snprintf(cell.value, sizeof cell.value, "%.3g", shown);
    if (c->judged == NULL)
        put_ratio(&cell, found);
    else if (r->again)
        put_noise(&cell, c->judged);
    else if (item != NULL)
        put_verdict(&cell, c->judged, item);
    if (found->has_spread && !view_has_intervals(c))
        put_spread(&cell, found);
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
    size_t lockstep = 0, interleaved = 0, cells = 0;

    for (size_t i = 0; i < m->cells_count; i++) {
        if (m->cells[i].workload != v->workload)
            continue;
        cells++;
        lockstep += m->cells[i].in_lockstep;
        interleaved += m->cells[i].interleaved;
    }
    if (cells == 0)
        return "";
    if (interleaved > 0)
        return interleaved == cells ? " interleaved" : " partly interleaved";
    if (lockstep == 0)
        return " one cell after the other";
    return lockstep == cells ? " in lockstep" : " partly in lockstep";
}
