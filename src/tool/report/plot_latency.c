#include "tool/report/plots.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include <allocbench/histogram.h>

#include "tool/report/chart_data.h"
#include "tool/report/format.h"
#include "tool/report/plot.h"
#include "tool/util.h"

#define TOP      12.0
#define BOTTOM   210.0
#define HEIGHT   246.0
#define P99      100.0 /* as 1 / (1 - percentile); beyond it the tail pass speaks */
#define STEP     1.04  /* points nearer to each other than that, on both axes, are one */
#define EVERYONE 1e9
#define LABELLED 1e3 /* where the control curve has its name */

/* A curve: values by 1 / (1 - percentile). */
typedef struct curve {
    double *x;
    double *y;
    size_t count;
    size_t capacity;
    size_t sure; /* points that at least ABENCH_QUANTILE_SAMPLES values lie above */
} curve;

static void add_point(curve *c, double place, double y, bool is_sure)
{
    char text[32];
    snprintf(text, sizeof text, "%.7g", place); /* as many digits as a percentile is worth */
    const double x = strtod(text, NULL);
    if (c->count > 1 && x < c->x[c->count - 2] * STEP && y < c->y[c->count - 2] * STEP)
        c->count--;
    if (c->count == c->capacity) {
        c->capacity = c->capacity > 0 ? 2 * c->capacity : 64;
        c->x = xrealloc(c->x, c->capacity * sizeof *c->x);
        c->y = xrealloc(c->y, c->capacity * sizeof *c->y);
    }
    c->x[c->count] = x;
    c->y[c->count] = fmax(y, 1);
    c->count++;
    c->sure = is_sure ? c->count : c->sure < c->count ? c->sure : c->count - 1;
}

/* Of a histogram, from one percentile to another. */
static void add_curve(curve *c, const abench_histogram *h, double from, double to)
{
    abench_bucket bucket = ABENCH_BUCKET_INIT;
    const double all = h == NULL ? 0 : (double)abench_histogram_count(h);
    const double maximum = h == NULL ? 0 : (double)abench_histogram_maximum(h);
    double below = 0;
    for (uint32_t i = 0; h != NULL && abench_histogram_bucket_at(h, i, &bucket) == ABENCH_OK; i++) {
        const double x = all / (all - below); /* where this bucket begins */
        below += (double)bucket.count;
        const double above = all - below;
        const double end = above > 0 ? all / above : all;
        if (end >= from && x <= to)
            add_point(c, fmin(fmax(end, 1), fmax(to, 1)), fmin((double)bucket.high, maximum),
                      above >= ABENCH_QUANTILE_SAMPLES);
    }
}

static curve curve_of(abench_histogram *sampled, abench_histogram *tails)
{
    curve c = {0};
    if (sampled != NULL)
        add_curve(&c, sampled, 0, tails != NULL ? P99 : EVERYONE);
    if (tails != NULL)
        add_curve(&c, tails, sampled != NULL ? P99 : 0, EVERYONE);
    return c;
}

static void clear(curve *c)
{
    free(c->x);
    free(c->y);
}

/* ---- the machine's own floor ----------------------------------------------------------------- */

/* What the clock reads around nothing, of all targets together; NULL: none was read.
 * abench_histogram_destroy() it. */
static abench_histogram *control_of(const latency *l, bool tails)
{
    abench_histogram *all = NULL;
    for (size_t i = 0; i < l->count; i++) {
        abench_histogram *own = tails ? l->targets[i].tails[ABENCH_LATENCY_CONTROL]
                                      : l->targets[i].sampled[ABENCH_LATENCY_CONTROL];
        if (own == NULL || (all == NULL && abench_histogram_create(NULL, &all) != ABENCH_OK))
            continue;
        abench_histogram_merge(all, own);
    }
    return all;
}

/* ---- axes ------------------------------------------------------------------------------------ */

static void put_percentiles(FILE *out, const plot_axis *x)
{
    static const struct {
        double at;
        const char *label;
    } ticks[] = {{1, "0"},       {2, "50"},       {10, "90"},       {100, "99"},      {1e3, "99.9"},
                 {1e4, "99.99"}, {1e5, "99.999"}, {1e6, "99.9999"}, {1e7, "99.99999"}};
    double last = -100;
    for (size_t i = 0; i < sizeof ticks / sizeof *ticks && ticks[i].at <= x->high; i++) {
        const double at = plot_at(x, ticks[i].at);
        const bool fits = at - last > 8 + 3.2 * (double)strlen(ticks[i].label);
        plot_x_tick(out, at, TOP, BOTTOM, fits ? ticks[i].label : "");
        last = fits ? at + 3.2 * (double)strlen(ticks[i].label) : last;
    }
    fprintf(out,
            "<text class=\"tick\" text-anchor=\"middle\" x=\"%.0f\" y=\"%.0f\">percentile</text>\n",
            (PLOT_LEFT + PLOT_RIGHT) / 2, BOTTOM + 28);
}

static void put_times(FILE *out, const plot_axis *y)
{
    double ticks[PLOT_TICKS];
    const size_t n = plot_ticks(y, 9, ticks);
    for (size_t i = 0; i < n; i++) {
        const format_unit unit = format_scale("ns", ticks[i]);
        char *label = xasprintf("%.4g%s", ticks[i] / unit.divisor, unit.name);
        plot_y_tick(out, plot_at(y, ticks[i]), false, label);
        free(label);
    }
}

/* ---- curves ---------------------------------------------------------------------------------- */

static void widen(plot_axis *x, plot_axis *y, const curve *c)
{
    for (size_t i = 0; i < c->count; i++) {
        x->high = fmax(x->high, c->x[i]);
        y->low = fmin(y->low, c->y[i]);
        y->high = fmax(y->high, c->y[i]);
    }
}

/* The part that a quantile can be told from, and the rest dotted. */
static void put_curve(FILE *out, const char *name, const char *kind, size_t series, const curve *c,
                      const plot_axis *x, const plot_axis *y)
{
    const size_t rest = c->sure > 0 ? c->sure - 1 : 0; /* the lines join */
    char *title = xasprintf("%s: at most %.0f ns", name, c->count > 0 ? c->y[c->count - 1] : 0);
    char *far = xasprintf("far %s", kind);
    plot_put_line(out, &(plot_line){name, kind, series, c->x, c->y, c->sure, *kind == '\0'}, x, y,
                  title);
    if (c->sure < c->count)
        plot_put_line(
            out, &(plot_line){name, far, series, c->x + rest, c->y + rest, c->count - rest, false},
            x, y, title);
    free(title);
    free(far);
}

static plot_label label_of(const char *name, size_t series, const curve *c, const plot_axis *x,
                           const plot_axis *y)
{
    const size_t last = c->count - 1;
    return (plot_label){series, name, "", plot_at(x, c->x[last]), plot_at(y, c->y[last]), 0};
}

static bool has_kind(const latency *l, uint32_t kind)
{
    bool found = false;
    for (size_t i = 0; i < l->count && !found; i++)
        found = l->targets[i].sampled[kind] != NULL || l->targets[i].tails[kind] != NULL;
    return found;
}

static void put_control(FILE *out, const curve *c, const plot_axis *x, const plot_axis *y)
{
    size_t at = 0;
    while (at + 1 < c->count && c->x[at] < LABELLED)
        at++;
    put_curve(out, "control", "control", 0, c, x, y);
    fprintf(out,
            "<text class=\"tick halo\" text-anchor=\"middle\" x=\"%.1f\" y=\"%.1f\">control"
            "</text>\n",
            plot_at(x, c->x[at]), fmin(plot_at(y, c->y[at]) + 14, BOTTOM - 3));
}

static void put_curves(FILE *out, const latency *l, const curve *curves, const curve *control,
                       const plot_axis *x, const plot_axis *y)
{
    plot_label *labels = xcalloc(l->count + 1, sizeof *labels);
    size_t n = 0;
    if (control->count > 0)
        put_control(out, control, x, y);
    for (size_t i = 0; i < l->count; i++) {
        const char *name = l->m->targets[l->targets[i].target].name;
        const size_t series = chart_color(l->m, l->targets[i].target);
        if (curves[i].count == 0)
            continue;
        put_curve(out, name, "", series, &curves[i], x, y);
        labels[n++] = label_of(name, series, &curves[i], x, y);
    }
    plot_labels(out, labels, n, PLOT_RIGHT + 2, TOP, BOTTOM);
    free(labels);
}

bool plot_latency(const latency *l, uint32_t kind, FILE *out)
{
    plot_axis x = {1, 200, true, PLOT_LEFT, PLOT_RIGHT}, y = {1e12, 2, true, BOTTOM, TOP};
    abench_histogram *sampled = control_of(l, false), *tails = control_of(l, true);
    curve control = curve_of(sampled, tails);
    curve *curves = xcalloc(l->count + 1, sizeof *curves);
    const bool found = has_kind(l, kind);
    char *title = xasprintf("Latency of %s", abench_latency_name(kind));
    for (size_t i = 0; i < l->count && found; i++) {
        curves[i] = curve_of(l->targets[i].sampled[kind], l->targets[i].tails[kind]);
        widen(&x, &y, &curves[i]);
    }
    if (found) {
        widen(&x, &y, &control);
        y.low /= 1.2;
        y.high *= 1.2;
        char *sub =
            xasprintf("Both axes logarithmic; lower is better. Dashed: what the clock reads "
                      "around nothing (control). Dotted: fewer than 100 values lie above, "
                      "which is chance.%s",
                      l->has_tails ? " Above 99: of a pass that timed every call." : "");
        plot_open(out, &(plot_figure){"latency", title, sub, HEIGHT},
                  "data-plot=\"lines\" data-unit=\"ns\" data-x=\"percentile\"");
        put_percentiles(out, &x);
        put_times(out, &y);
        put_curves(out, l, curves, &control, &x, &y);
        plot_close(out);
        free(sub);
    }
    for (size_t i = 0; i < l->count; i++)
        clear(&curves[i]);
    clear(&control);
    free(curves);
    free(title);
    abench_histogram_destroy(sampled);
    abench_histogram_destroy(tails);
    return found;
}
