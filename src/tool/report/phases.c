#include "tool/report/phases.h"

#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "tool/report/format.h"
#include "tool/report/grid.h"
#include "tool/report/phase_plan.h"
#include "tool/util.h"

#define NOTHING       "\xe2\x80\x93" /* an en dash */
#define MIB           1048576.0
#define ROWS_BRIEF    24u  /* of phases on a terminal */
#define USABLE_STEADY 1.05 /* within that, a terminal is not filled with it */
#define TIMED_MIN     3u

/* ---- cells of a table ------------------------------------------------------------------------ */

static void put_mib(grid *g, double bytes)
{
    if (isnan(bytes))
        grid_put(g, "n/a");
    else
        grid_put(g, "%.*f", format_decimals(bytes / MIB), bytes / MIB);
}

static void put_ratio(grid *g, double ratio)
{
    if (isnan(ratio))
        grid_put(g, NOTHING);
    else
        grid_put(g, "%.*f", format_decimals(ratio), ratio);
}

/* Of what came back. A share below 0 is RSS that went on growing behind the peak. */
static void put_percent(grid *g, double share)
{
    const double percent = fabs(share) <= 0.005 ? 0 : 100 * share; /* not "-0%" */
    if (isnan(share))
        grid_put(g, NOTHING);
    else if (percent < 0)
        grid_put(g, "grew on %.0f%%", -percent);
    else
        grid_put(g, "%.0f%%", percent);
}

static void put_time(grid *g, double ns)
{
    char *text = isnan(ns) ? xstrdup(NOTHING) : isinf(ns) ? xstrdup("not seen") : format_ns(ns);
    grid_put(g, "%s", text);
    free(text);
}

/* ---- peaks ----------------------------------------------------------------------------------- */

/* RSS/live as time goes on: at the ends of the phases that no peak has just passed. */
typedef struct stations {
    size_t first;
    size_t middle;
    size_t last;
} stations;

static stations find_stations(const plan *p)
{
    return (stations){p->peaks[0].before, p->peaks[p->peaks_count / 2].before,
                      p->peaks[p->peaks_count - 1].after};
}

static grid *peaks_grid(const plan *p)
{
    const peak *first = &p->peaks[0], *last = &p->peaks[p->peaks_count - 1];
    const stations s = find_stations(p);
    grid *g = grid_make(1);
    grid_head(g, "target");
    grid_head(g, "before\nMiB");
    grid_head(g, "in peak\nMiB");
    grid_head(g, "after\nMiB");
    grid_head(g, "before\nRSS/live");
    grid_head(g, "in peak\nRSS/live");
    grid_head(g, "after\nRSS/live");
    grid_head(g, "came\nback");
    grid_head(g, "of the\nfirst");
    grid_head(g, "of the\nlast");
    grid_head(g, "half back\nafter");
    grid_head(g, "RSS/live\nfirst");
    grid_head(g, "RSS/live\nmiddle");
    grid_head(g, "RSS/live\nlast");
    for (size_t row = 0; row < p->v->rows_count; row++) {
        grid_row(g);
        grid_put(g, "%s", p->v->rows[row].label);
        for (place where = BEFORE; where <= AFTER; where++)
            put_mib(g, plan_phases_of_peaks(p, row, phase_rss, where));
        for (place where = BEFORE; where <= AFTER; where++)
            put_ratio(g, plan_phases_of_peaks(p, row, phase_rss_per_live, where));
        put_percent(g, plan_over_peaks(p, row, peak_recovered));
        put_percent(g, plan_at_peak(p, row, peak_recovered, first));
        put_percent(g, plan_at_peak(p, row, peak_recovered, last));
        put_time(g, plan_over_peaks(p, row, peak_half_back));
        put_ratio(g, plan_at_phase(p, row, phase_rss_per_live, s.first));
        put_ratio(g, plan_at_phase(p, row, phase_rss_per_live, s.middle));
        put_ratio(g, plan_at_phase(p, row, phase_rss_per_live, s.last));
    }
    return g;
}

/* Every peak of one target. */
static grid *peak_by_peak(const plan *p, size_t row)
{
    grid *g = grid_make(1);
    grid_head(g, "peak");
    grid_head(g, "before\nMiB");
    grid_head(g, "in peak\nMiB");
    grid_head(g, "after\nMiB");
    grid_head(g, "before\nRSS/live");
    grid_head(g, "in peak\nRSS/live");
    grid_head(g, "after\nRSS/live");
    grid_head(g, "came\nback");
    grid_head(g, "half back\nafter");
    for (size_t i = 0; i < p->peaks_count; i++) {
        const peak *k = &p->peaks[i];
        grid_row(g);
        grid_put(g, "%s", plan_number(p->model->phases[k->peak].name, "peak-"));
        for (place where = BEFORE; where <= AFTER; where++)
            put_mib(g, plan_at_phase(p, row, phase_rss, plan_phase_of(k, where)));
        for (place where = BEFORE; where <= AFTER; where++)
            put_ratio(g, plan_at_phase(p, row, phase_rss_per_live, plan_phase_of(k, where)));
        put_percent(g, plan_at_peak(p, row, peak_recovered, k));
        put_time(g, plan_at_peak(p, row, peak_half_back, k));
    }
    return g;
}

/* ---- other phases ---------------------------------------------------------------------------- */

static bool is_shown(const model_phase *phase)
{
    return phase->timed || plan_number(phase->name, "idle-") != NULL;
}

/* 0: they are not worth a table. */
static size_t count_shown(const model_cell *cell)
{
    size_t timed = 0, shown = 0;
    for (size_t i = 1; i < cell->phases_count; i++) {
        timed += cell->phases[i].timed;
        shown += is_shown(&cell->phases[i]);
    }
    return timed >= TIMED_MIN || shown > timed ? shown : 0;
}

/* Is the n-th of count rows one of the most? The first and the last are. */
static bool is_picked(size_t n, size_t count, size_t most)
{
    return count <= most || n == 0 ||
           n * (most - 1) / (count - 1) != (n - 1) * (most - 1) / (count - 1);
}

/* Phases down, targets across. */
static grid *phases_grid(const plan *p, bool usable, size_t most)
{
    const size_t count = count_shown(p->model);
    size_t n = 0;
    grid *g = grid_make(1);
    grid_head(g, "%s", usable ? "usable/live" : "RSS, MiB");
    if (!usable)
        grid_head(g, "live");
    for (size_t row = 0; row < p->v->rows_count; row++) {
        if (!p->v->rows[row].again)
            grid_head(g, "%s", p->v->s->m->targets[p->v->rows[row].target].name);
    }
    for (size_t i = 1; i < p->model->phases_count; i++) {
        if (!is_shown(&p->model->phases[i]) || !is_picked(n++, count, most))
            continue;
        grid_row(g);
        grid_put(g, "%s", p->model->phases[i].name);
        if (!usable)
            put_mib(g, (double)p->model->phases[i].live_bytes);
        for (size_t row = 0; row < p->v->rows_count; row++) {
            if (p->v->rows[row].again)
                continue;
            if (usable)
                put_ratio(g, plan_at_phase(p, row, phase_usable_per_live, i));
            else
                put_mib(g, plan_at_phase(p, row, phase_rss, i));
        }
    }
    return g;
}

/* Do the targets' blocks take other shares in other phases? */
static bool usable_varies(const plan *p)
{
    for (size_t row = 0; row < p->v->rows_count; row++) {
        double least = INFINITY, most = 0;
        for (size_t i = 1; i < p->model->phases_count; i++) {
            const double value = is_shown(&p->model->phases[i])
                                     ? plan_at_phase(p, row, phase_usable_per_live, i)
                                     : NAN;
            least = fmin(least, value);
            most = fmax(most, value);
        }
        if (most > least * USABLE_STEADY)
            return true;
    }
    return false;
}

static bool has_usable(const plan *p)
{
    for (size_t i = 1; i < p->model->phases_count; i++) {
        if (is_shown(&p->model->phases[i]) && !isnan(phase_usable_per_live(p->model, i)))
            return true;
    }
    return false;
}

/* ---- the clock ------------------------------------------------------------------------------- */

/* The number behind KEY= in a canonical spec; 0 when there is none. */
static double number_in(const char *spec, const char *key)
{
    const size_t length = strlen(key);
    for (const char *at = strchr(spec, ':'); at != NULL; at = strchr(at + 1, ',')) {
        if (strncmp(at + 1, key, length) == 0 && at[1 + length] == '=')
            return strtod(at + 2 + length, NULL);
    }
    return 0;
}

/* What passed on a child's clock in the round of a cell: in lockstep the others' turns too. */
static double elapsed_ns(const model *m, const model_cell *of)
{
    double elapsed = 0;
    for (size_t i = 0; i < m->cells_count; i++) {
        const model_cell *cell = &m->cells[i];
        const bool counts = of->in_lockstep
                                ? cell->workload == of->workload && cell->round == of->round
                                : cell == of;
        if (counts && !cell->failed && cell->phases_count > 0)
            elapsed += (double)cell->phases[cell->phases_count - 1].time_ns;
    }
    return elapsed;
}

char *phases_clock(const view *v)
{
    const plan p = plan_make(v);
    const model *m = v->s->m;
    const char *spec = m->workloads[v->workload].spec;
    const double time_ns = number_in(spec, "time");
    double *values, real_ns;
    size_t n = 0;
    if (p.peaks_count == 0 || number_in(spec, "paced") > 0 || !(time_ns > 0))
        return NULL;
    values = xcalloc(m->cells_count + 1, sizeof *values);
    for (size_t i = 0; i < m->cells_count; i++) {
        if (plan_has(v, &m->cells[i], p.model->target, p.model->again))
            values[n++] = elapsed_ns(m, &m->cells[i]);
    }
    real_ns = n > 0 ? summary_median(values, n) : 0;
    free(values);
    if (!(real_ns > 0) || real_ns >= time_ns)
        return NULL;
    return xasprintf("time-based purging (jemalloc's decay, mimalloc's purge delay, ...) sees only "
                     "%.3g s of real time%s for %.3g s of virtual time: it gives back later, "
                     "measured by the work, than it would in service; --paced plays a stretch in "
                     "real time",
                     real_ns / 1e9, p.model->in_lockstep ? " (the others' turns included)" : "",
                     time_ns / 1e9);
}

/* ---- the whole ------------------------------------------------------------------------------- */

typedef struct printer {
    FILE *out;
    bool markdown;
    const char *on;
    const char *off;
} printer;

/* free()s g. */
static void put_grid(const printer *to, const char *title, grid *g)
{
    fputc('\n', to->out);
    if (to->markdown) {
        format_markdown(to->out, title);
        fputs(":\n\n", to->out);
        grid_markdown(g, to->out);
    } else {
        fprintf(to->out, "%s\n", title);
        grid_terminal(g, to->out, to->on, to->off);
    }
    grid_free(g);
}

static void put_phases(const plan *p, const printer *to)
{
    const size_t most = to->markdown ? SIZE_MAX : ROWS_BRIEF;
    char *title = xasprintf("RSS at the end of each phase%s",
                            count_shown(p->model) > most ? " (some of them; all: REPORT.md)" : "");
    put_grid(to, title, phases_grid(p, false, most));
    free(title);
    if (to->markdown ? has_usable(p) : usable_varies(p))
        put_grid(to, "usable/live at the end of each phase", phases_grid(p, true, most));
}

static void put_peaks(const plan *p, const printer *to)
{
    char *title = xasprintf("RSS over %zu peak%s (medians) and what of its growth came back",
                            p->peaks_count, p->peaks_count == 1 ? "" : "s");
    put_grid(to, title, peaks_grid(p));
    free(title);
    for (size_t row = 0; row < p->v->rows_count && to->markdown; row++) {
        if (p->v->rows[row].again)
            continue;
        title = xasprintf("Each peak under %s", p->v->rows[row].label);
        put_grid(to, title, peak_by_peak(p, row));
        free(title);
    }
}

static void put_all(const view *v, const printer *to)
{
    const plan p = plan_make(v);
    if (p.model == NULL || v->rows_count == 0)
        return;
    if (p.peaks_count > 0)
        put_peaks(&p, to);
    else if (count_shown(p.model) > 0)
        put_phases(&p, to);
}

void phases_terminal(const view *v, FILE *out, const char *on, const char *off)
{
    put_all(v, &(printer){out, false, on, off});
}

void phases_markdown(const view *v, FILE *out)
{
    put_all(v, &(printer){out, true, "", ""});
}
