#include "tool/report/plots.h"

#include <math.h>
#include <stdlib.h>

#include "tool/report/after.h"
#include "tool/report/chart_data.h"
#include "tool/report/format.h"
#include "tool/report/plot.h"
#include "tool/util.h"

#define TOP    24.0
#define BOTTOM 190.0
#define HEIGHT 226.0

typedef struct picture {
    const view *v;
    FILE *out;
    size_t count; /* of points, the same for each row */
    plot_axis y;
} picture;

static double x_of(const picture *p, size_t point)
{
    const double room = (PLOT_RIGHT - PLOT_LEFT) / (double)p->count;
    return PLOT_LEFT + room * ((double)point + 0.5);
}

static double most_of(const view *v)
{
    after_point points[AFTER_POINTS];
    double most = 1;
    for (size_t row = 0; row < v->rows_count; row++) {
        const size_t n = after_points(v, row, points);
        for (size_t i = 0; i < n; i++)
            most = fmax(most, points[i].bytes); /* passes NAN over */
    }
    return most;
}

static void put_axis(const picture *p)
{
    after_point points[AFTER_POINTS];
    after_points(p->v, 0, points);
    for (size_t i = 0; i < p->count; i++)
        fprintf(p->out,
                "<text class=\"tick\" text-anchor=\"middle\" x=\"%.1f\" y=\"%.0f\">%s</text>\n",
                x_of(p, i), BOTTOM + (p->count > 4 && i % 2 == 1 ? 25 : 13), points[i].name);
}

/* The text for the label; free() it. */
static char *put_row(const picture *p, size_t row, plot_label *label)
{
    const model *m = p->v->s->m;
    const size_t target = p->v->rows[row].target;
    const char *name = m->targets[target].name;
    after_point points[AFTER_POINTS];
    char *text = xstrdup("");
    bool begun = false;
    after_points(p->v, row, points);
    *label = (plot_label){.series = chart_color(m, target), .name = name};
    fprintf(p->out, "<path class=\"line thin s%zu\" d=\"", label->series % PLOT_COLORS);
    for (size_t i = 0; i < p->count; i++) {
        if (!isnan(points[i].bytes))
            fprintf(p->out, "%s%.1f %.1f", begun ? "L" : "M", x_of(p, i),
                    plot_at(&p->y, points[i].bytes));
        begun = begun || !isnan(points[i].bytes);
    }
    fputs("\"/>", p->out);
    for (size_t i = 0; i < p->count; i++) {
        const format_unit unit = format_scale("bytes", points[i].bytes);
        const double shown = points[i].bytes / unit.divisor;
        if (isnan(points[i].bytes))
            continue;
        free(text);
        text = xasprintf("%.*f %s", format_decimals(shown), shown, unit.name);
        label->x = x_of(p, i);
        label->y = plot_at(&p->y, points[i].bytes);
        fputs("<g class=\"m\"", p->out);
        plot_data(p->out, "data-value", points[i].bytes);
        fputs(" data-target=\"", p->out);
        plot_name(p->out, name, 0);
        fprintf(p->out, "\" data-point=\"%s\"><title>", points[i].name);
        plot_name(p->out, name, 0);
        fprintf(p->out, ", %s: %s</title>", points[i].name, text);
        plot_mark(p->out, label->series, label->x, label->y, 3);
        fputs("</g>", p->out);
    }
    fputc('\n', p->out);
    return text;
}

bool plot_back(const view *v, FILE *out)
{
    after_point points[AFTER_POINTS];
    picture p = {.v = v, .out = out, .count = v->rows_count > 0 ? after_points(v, 0, points) : 0};
    char **texts;
    plot_label *labels;
    size_t n = 0;
    if (p.count == 0)
        return false;
    plot_open(out,
              &(plot_figure){"back", "What comes back",
                             "RSS less the baseline at its peak, at the measured point, when "
                             "everything is freed, and after. Medians of the rounds; lower is "
                             "better.",
                             HEIGHT},
              "data-plot=\"marks\"");
    p.y = plot_bytes(out, most_of(v), TOP, BOTTOM);
    put_axis(&p);
    texts = xcalloc(v->rows_count, sizeof *texts);
    labels = xcalloc(v->rows_count, sizeof *labels);
    for (size_t row = 0; row < v->rows_count; row++) {
        if (v->rows[row].again)
            continue;
        texts[n] = put_row(&p, row, &labels[n]);
        labels[n].value = texts[n];
        n++;
    }
    plot_labels(out, labels, n, PLOT_RIGHT + 2, TOP, BOTTOM);
    plot_close(out);
    for (size_t i = 0; i < n; i++)
        free(texts[i]);
    free(texts);
    free(labels);
    return true;
}
