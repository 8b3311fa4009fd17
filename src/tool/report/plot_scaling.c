#include "tool/report/plots.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "tool/report/chart_data.h"
#include "tool/report/plot.h"
#include "tool/util.h"

#define TOP    24.0
#define BOTTOM 190.0
#define HEIGHT 226.0

/* Workloads that are the same but for their lanes, by lanes. */
typedef struct family {
    const summary *s;
    size_t workloads[PLOT_TICKS];
    double lanes[PLOT_TICKS];
    size_t count;
} family;

/* "mixed:slots=4096" of "mixed:lanes=2,slots=4096", and 2. 0: it names none. free() the text. */
static char *without_lanes(const char *spec, double *lanes)
{
    const char *at = strstr(spec, "lanes=");
    const char *end = at == NULL ? NULL : at + strcspn(at, ",");
    *lanes = 0;
    if (at == NULL || at == spec || (at[-1] != ':' && at[-1] != ','))
        return xstrdup("");
    *lanes = strtod(at + strlen("lanes="), NULL);
    return xasprintf("%.*s%s", (int)(at - spec), spec, *end == ',' ? end + 1 : end);
}

/* Whose first is that workload; count 0: it belongs to one before it, or stands alone. */
static family family_of(const summary *s, size_t first)
{
    family f = {.s = s};
    double lanes;
    char *own = without_lanes(s->m->workloads[first].spec, &lanes);
    for (size_t i = 0; i < s->m->workloads_count && lanes > 0; i++) {
        char *other = without_lanes(s->m->workloads[i].spec, &lanes);
        const bool same = lanes > 0 && strcmp(own, other) == 0 && f.count < PLOT_TICKS;
        size_t at = f.count;
        free(other);
        lanes = same ? lanes : 1;
        if (same && i < first) {
            f.count = 0;
            break;
        }
        if (!same)
            continue;
        for (; at > 0 && f.lanes[at - 1] > lanes; at--) {
            f.lanes[at] = f.lanes[at - 1];
            f.workloads[at] = f.workloads[at - 1];
        }
        f.lanes[at] = lanes;
        f.workloads[at] = i;
        f.count++;
    }
    free(own);
    if (f.count < 2)
        f.count = 0;
    return f;
}

/* ---- numbers --------------------------------------------------------------------------------- */

/* What an operation takes by what it takes at the fewest lanes; NAN: not measured. */
static double cost(const family *f, size_t target, size_t at)
{
    const summary_row *row = summary_find(f->s, f->workloads[at], target, false, SUMMARY_TIME);
    const summary_row *first = summary_find(f->s, f->workloads[0], target, false, SUMMARY_TIME);
    return row == NULL || first == NULL || row->median <= 0 || first->median <= 0
               ? NAN
               : row->median / first->median;
}

/* Operations a second of all lanes, by those at the fewest lanes. */
static double throughput(const family *f, size_t target, size_t at)
{
    return f->lanes[at] / f->lanes[0] / cost(f, target, at);
}

typedef double (*number)(const family *f, size_t target, size_t at);

/* ---- the pictures ---------------------------------------------------------------------------- */

typedef struct picture {
    const family *f;
    FILE *out;
    number of;
    const char *what;
    plot_axis x;
    plot_axis y;
} picture;

static void put_axes(const picture *p)
{
    double ticks[PLOT_TICKS];
    const size_t n = plot_ticks(&p->y, 4, ticks);
    for (size_t i = 0; i < p->f->count; i++) {
        char label[32];
        snprintf(label, sizeof label, "%.0f", p->f->lanes[i]);
        plot_x_tick(p->out, plot_at(&p->x, p->f->lanes[i]), TOP, BOTTOM, label);
    }
    for (size_t i = 0; i < n; i++) {
        char label[32];
        snprintf(label, sizeof label, "x%.3g", ticks[i]);
        plot_y_tick(p->out, plot_at(&p->y, ticks[i]), false, label);
    }
    fprintf(p->out,
            "<text class=\"tick\" text-anchor=\"middle\" x=\"%.0f\" y=\"%.0f\">lanes</text>\n",
            (PLOT_LEFT + PLOT_RIGHT) / 2, BOTTOM + 28);
}

/* As many times the throughput as there are lanes, or the same cost. */
static void put_ideal(const picture *p)
{
    const double first = p->f->lanes[0], last = p->f->lanes[p->f->count - 1];
    const double end = p->of == throughput ? last / first : 1;
    fprintf(p->out,
            "<path class=\"line control\" d=\"M%.1f %.1fL%.1f %.1f\"><title>ideal</title></path>"
            "<text class=\"tick halo\" text-anchor=\"end\" x=\"%.1f\" y=\"%.1f\">ideal</text>\n",
            plot_at(&p->x, first), plot_at(&p->y, 1), plot_at(&p->x, last), plot_at(&p->y, end),
            plot_at(&p->x, last) - 8, plot_at(&p->y, end) + (p->of == throughput ? 2 : 13));
}

static bool put_target(const picture *p, size_t target, plot_label *label, char *text, size_t size)
{
    const model *m = p->f->s->m;
    const char *name = m->targets[target].name;
    double x[PLOT_TICKS], y[PLOT_TICKS];
    size_t n = 0;
    for (size_t i = 0; i < p->f->count; i++) {
        x[n] = p->f->lanes[i];
        y[n] = p->of(p->f, target, i);
        n += isfinite(y[n]) != 0;
    }
    if (n == 0)
        return false;
    *label = (plot_label){chart_color(m, target),   name, text, plot_at(&p->x, x[n - 1]),
                          plot_at(&p->y, y[n - 1]), 0};
    snprintf(text, size, "x%.2f", y[n - 1]);
    fprintf(p->out, "<path class=\"line s%zu\" d=\"", label->series % PLOT_COLORS);
    for (size_t i = 0; i < n; i++)
        fprintf(p->out, "%s%.1f %.1f", i == 0 ? "M" : "L", plot_at(&p->x, x[i]),
                plot_at(&p->y, y[i]));
    fputs("\"/>", p->out);
    for (size_t i = 0; i < n; i++) {
        fputs("<g class=\"m\"", p->out);
        plot_data(p->out, "data-value", y[i]);
        plot_data(p->out, "data-lanes", x[i]);
        fputs(" data-target=\"", p->out);
        plot_name(p->out, name, 0);
        fputs("\"><title>", p->out);
        plot_name(p->out, name, 0);
        fprintf(p->out, ", %.0f lanes: %s x%.3f</title>", x[i], p->what, y[i]);
        plot_mark(p->out, label->series, plot_at(&p->x, x[i]), plot_at(&p->y, y[i]), 3);
        fputs("</g>\n", p->out);
    }
    return true;
}

static void put_picture(const picture *from, const char *title, const char *sub)
{
    picture p = *from;
    const size_t targets = p.f->s->m->targets_count;
    plot_label *labels = xcalloc(targets, sizeof *labels);
    char(*texts)[32] = xcalloc(targets, sizeof *texts);
    size_t n = 0;
    p.x = (plot_axis){p.f->lanes[0], p.f->lanes[p.f->count - 1], true, PLOT_LEFT + 12,
                      PLOT_RIGHT - 8};
    p.y = (plot_axis){1, p.of == throughput ? p.x.high / p.x.low : 1.1, true, BOTTOM, TOP};
    for (size_t t = 0; t < targets; t++) {
        for (size_t i = 0; i < p.f->count; i++) {
            p.y.low = fmin(p.y.low, p.of(p.f, t, i)); /* passes NAN over */
            p.y.high = fmax(p.y.high, p.of(p.f, t, i));
        }
    }
    p.y.low /= 1.05;
    p.y.high *= 1.05;
    plot_open(p.out, &(plot_figure){"scaling", title, sub, HEIGHT}, "data-plot=\"marks\"");
    put_axes(&p);
    put_ideal(&p);
    for (size_t t = 0; t < targets; t++)
        n += put_target(&p, t, &labels[n], texts[n], sizeof texts[n]);
    plot_labels(p.out, labels, n, PLOT_RIGHT + 2, TOP, BOTTOM);
    plot_close(p.out);
    free(labels);
    free(texts);
}

static void put_family(const family *f, FILE *out)
{
    double lanes;
    char *spec = without_lanes(f->s->m->workloads[f->workloads[0]].spec, &lanes);
    char *title = xasprintf("Throughput over lanes: %.*s", (int)strcspn(spec, "/:"), spec);
    char *sub = xasprintf("Operations a second of all lanes, by those at the fewest lanes. Dashed: "
                          "ideal. Up is better. Of %s",
                          spec);
    put_picture(&(picture){.f = f, .out = out, .of = throughput, .what = "throughput"}, title, sub);
    free(title);
    free(sub);
    title = xasprintf("Contention over lanes: %.*s", (int)strcspn(spec, "/:"), spec);
    put_picture(&(picture){.f = f, .out = out, .of = cost, .what = "time an operation"}, title,
                "What an operation costs in its lane, by that at the fewest lanes. Down is better. "
                "One lane is CPU time, more are wall time: lanes beyond the machine's CPUs wait "
                "for one.");
    free(title);
    free(spec);
}

bool plot_scaling(const summary *s, FILE *out)
{
    bool found = false;
    for (size_t i = 0; i < s->m->workloads_count; i++) {
        const family f = family_of(s, i);
        bool measured = false;
        for (size_t t = 0; t < s->m->targets_count && f.count > 0; t++)
            measured = measured || isfinite(cost(&f, t, 0));
        if (!measured)
            continue;
        put_family(&f, out);
        found = true;
    }
    return found;
}
