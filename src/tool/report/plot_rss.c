#include "tool/report/plots.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "tool/report/chart_data.h"
#include "tool/report/format.h"
#include "tool/report/plot.h"
#include "tool/util.h"

#define TOP          34.0
#define BOTTOM       232.0
#define HEIGHT       268.0
#define LETTER       5.4 /* width of a letter, about: no font is known here */
#define PHASES_DRAWN 200u
#define SLOWEST      2.5 /* times the middle target's time; who takes longer leaves the picture */

typedef struct picture {
    chart_data d;
    FILE *out;
    plot_axis x;
    plot_axis y;
    plot_label *labels;
} picture;

static double seconds_of(uint64_t ns)
{
    return (double)ns / 1e9;
}

/* free() it */
static char *bytes_text(double bytes)
{
    const format_unit unit = format_scale("bytes", bytes);
    const double shown = bytes / unit.divisor;
    return xasprintf("%.*f %s", format_decimals(shown), shown, unit.name);
}

/* ---- live bytes and phases ------------------------------------------------------------------- */

/* What is live is known at the phases' ends; straight lines join them. */
static void put_live(const picture *p)
{
    const model_cell *cell = p->d.live;
    double x = p->x.from;
    fprintf(p->out,
            "<g class=\"live\" data-name=\"live\"><title>live: requested and not freed"
            "</title><path d=\"M%.1f %.1f",
            x, BOTTOM);
    for (size_t i = 0; i < cell->phases_count; i++) {
        x = plot_at(&p->x, seconds_of(cell->phases[i].time_ns));
        fprintf(p->out, "L%.1f %.1f", x, plot_at(&p->y, (double)cell->phases[i].live_bytes));
    }
    fprintf(p->out, "L%.1f %.1fz\"/></g>\n", x, BOTTOM);
}

/* Rules at the ends; names where there is room, and in a title of the whole stretch. */
static void put_phases(const picture *p)
{
    const model_cell *cell = p->d.live;
    double last = p->x.from;
    size_t drawn = 0;
    for (size_t i = 0; i < cell->phases_count && drawn < PHASES_DRAWN; i++) {
        const model_phase *phase = &cell->phases[i];
        const double x = plot_at(&p->x, seconds_of(phase->time_ns));
        if (x - last < 2)
            continue; /* the baseline at 0, or one that is over before it could be seen */
        char *live = bytes_text((double)phase->live_bytes);
        fprintf(p->out,
                "<g class=\"phase\"><rect x=\"%.1f\" y=\"%.0f\" width=\"%.1f\" height=\"14\"/>"
                "<path class=\"rule\" d=\"M%.1f %.0fV%.0f\"/><title>",
                last, TOP - 18, x - last, x, TOP - 18, BOTTOM);
        plot_name(p->out, phase->name, 0);
        fprintf(p->out, ": ends at %.3g s with %s live</title>", seconds_of(phase->time_ns), live);
        if ((double)format_width(phase->name) * LETTER + 2 < x - last) {
            fprintf(p->out, "<text class=\"tick\" text-anchor=\"middle\" x=\"%.1f\" y=\"%.1f\">",
                    (x + last) / 2, TOP - 8);
            plot_name(p->out, phase->name, 0);
            fputs("</text>", p->out);
        }
        fputs("</g>\n", p->out);
        free(live);
        last = x;
        drawn++;
    }
}

/* ---- lines ----------------------------------------------------------------------------------- */

typedef struct track {
    double *x;
    double *y;
    size_t count;
    double peak;
} track;

static track track_of(const chart_data *d, const model_cell *cell)
{
    double *times = xcalloc(cell->readings_count + 1, sizeof *times);
    double *bytes = xcalloc(cell->readings_count + 1, sizeof *bytes);
    track t = {xcalloc(CHART_POINTS, sizeof *t.x), xcalloc(CHART_POINTS, sizeof *t.y), 0, 0};
    size_t indices[CHART_POINTS], n = 0;
    for (size_t i = 0; i < cell->readings_count; i++) {
        times[n] = seconds_of(cell->readings[i].time_ns);
        n += chart_data_value(d, cell, i, &bytes[n]);
    }
    t.count = chart_thin(bytes, n, indices);
    for (size_t i = 0; i < t.count; i++) {
        t.x[i] = times[indices[i]];
        t.y[i] = bytes[indices[i]];
        t.peak = fmax(t.peak, t.y[i]);
    }
    free(times);
    free(bytes);
    return t;
}

/* The readings that lie in the picture. */
static size_t visible(const track *t, const plot_axis *x)
{
    size_t n = t->count;
    while (n > 1 && t->x[n - 1] > x->high)
        n--;
    return n;
}

/* The text for the label; free() it. */
static char *put_line(const picture *p, const model_cell *cell, plot_label *label)
{
    track t = track_of(&p->d, cell);
    const model_target *target = &p->d.m->targets[cell->target];
    const double last = t.y[t.count - 1];
    const size_t count = visible(&t, &p->x);
    char *end = bytes_text(last), *peak = bytes_text(t.peak);
    char *title = xasprintf("%s: at most %s, %s at the end, after %.3g s", target->name, peak, end,
                            t.x[t.count - 1]);
    const size_t series = chart_color(p->d.m, cell->target);
    plot_put_line(p->out, &(plot_line){target->name, "", series, t.x, t.y, count, true}, &p->x,
                  &p->y, title);
    *label = (plot_label){.series = series,
                          .name = target->name,
                          .value = end,
                          .x = plot_at(&p->x, t.x[count - 1]),
                          .y = plot_at(&p->y, t.y[count - 1])};
    free(title);
    free(peak);
    free(t.x);
    free(t.y);
    return end;
}

static void put_lines(const picture *p)
{
    char **ends = xcalloc(p->d.count + 1, sizeof *ends);
    plot_label *labels = xcalloc(p->d.count + 1, sizeof *labels);
    for (size_t i = 0; i < p->d.count; i++)
        ends[i] = put_line(p, p->d.cells[i], &labels[i]);
    plot_labels(p->out, labels, p->d.count, PLOT_RIGHT + 2, TOP, BOTTOM);
    for (size_t i = 0; i < p->d.count; i++)
        free(ends[i]);
    free(ends);
    free(labels);
}

static void put_time(const picture *p)
{
    double ticks[PLOT_TICKS];
    const size_t n = plot_ticks(&p->x, 5, ticks);
    const bool is_command = p->d.m->workloads[p->d.workload].is_command;
    for (size_t i = 0; i < n; i++) {
        char label[64];
        snprintf(label, sizeof label, "%.*f%s", plot_decimals(ticks, n), ticks[i],
                 i + 1 == n ? " s" : "");
        plot_x_tick(p->out, plot_at(&p->x, ticks[i]), BOTTOM, BOTTOM + 3, label);
    }
    fprintf(p->out, "<text class=\"tick\" text-anchor=\"middle\" x=\"%.0f\" y=\"%.0f\">%s</text>\n",
            (PLOT_LEFT + PLOT_RIGHT) / 2, BOTTOM + 30,
            is_command ? "time since the start" : "time on each run's own clock");
}

static int by_value(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* Where the x axis ends: one target that takes many times as long would squeeze all others. */
static double end_of(const chart_data *d)
{
    double *ends = xcalloc(d->count + 1, sizeof *ends), end;
    for (size_t i = 0; i < d->count; i++)
        ends[i] = seconds_of(d->cells[i]->readings[d->cells[i]->readings_count - 1].time_ns);
    qsort(ends, d->count, sizeof *ends, by_value);
    end = SLOWEST * ends[d->count / 2];
    free(ends);
    for (size_t i = 0; d->live != NULL && i < d->live->phases_count; i++)
        end = fmax(end, seconds_of(d->live->phases[i].time_ns));
    return end > 0 ? fmin(end, d->seconds) : d->seconds;
}

bool plot_rss(const model *m, size_t workload, FILE *out)
{
    picture p = {.out = out};
    if (!chart_data_make(&p.d, m, workload))
        return false;
    const char *what = p.d.bit == ABENCH_MEMORY_RSS ? "RSS" : "PSS";
    char *title = xasprintf("%s over time", what);
    const double end = end_of(&p.d);
    char *sub = xasprintf("Round %u%s; lower is better.%s%s", p.d.round + 1,
                          p.d.above ? ", less the baseline reading" : "",
                          p.d.live != NULL ? " Grey area: what the program holds (live); the gap "
                                             "above it is the allocator's cost."
                                           : "",
                          end < p.d.seconds ? " Lines that end at the right edge go on." : "");
    plot_open(out, &(plot_figure){"rss", title, sub, HEIGHT},
              "data-plot=\"lines\" data-unit=\"bytes\" data-x=\"seconds\"");
    p.x = (plot_axis){0, end, false, PLOT_LEFT, PLOT_RIGHT};
    p.y = (plot_axis){0, 1, false, BOTTOM, TOP};
    p.y = plot_bytes(out, p.d.bytes, TOP, BOTTOM);
    if (p.d.live != NULL && p.d.live->phases_count > 0)
        put_live(&p);
    put_time(&p);
    if (p.d.live != NULL)
        put_phases(&p);
    put_lines(&p);
    plot_close(out);
    free(title);
    free(sub);
    chart_data_clear(&p.d);
    return true;
}
