#include "tool/report/chart.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "tool/report/chart_data.h"
#include "tool/report/format.h"
#include "tool/util.h"

#define WIDTH        860
#define HEIGHT       400
#define LEFT         64.0
#define RIGHT        660.0 /* the labels stand beyond */
#define TOP          84.0
#define BOTTOM       356.0
#define LABEL_GAP    16.0
#define LETTER       6.5 /* width of a letter, about: no font is known here */
#define COLORS       8u
#define TITLE_WIDTH  64u
#define NAME_WIDTH   16u
#define PHASES_DRAWN 200u

typedef struct series {
    const model_cell *cell;
    double last;  /* bytes */
    double end_x; /* where the line ends */
    double end_y;
    double label_y;
} series;

typedef struct chart {
    chart_data d;
    FILE *out;
    series *lines; /* by target */
    double bytes;  /* the y axis ends there */
    double step;   /* of the y axis */
    format_unit unit;
} chart;

/* ---- names ----------------------------------------------------------------------------------- */

char *chart_name(const model *m, size_t workload)
{
    const model_workload *w = &m->workloads[workload];
    char *slug = format_slug(w->label, 48);
    char *name = xasprintf("rss-%s%s%s.svg", w->id, *slug != '\0' ? "-" : "", slug);

    free(slug);
    return name;
}

/* ---- axes ------------------------------------------------------------------------------------ */

/* 1, 2 or 5 times a power of ten, so that about parts steps fill length. */
static double nice_step(double length, double parts)
{
    double raw = length / parts;
    double power = pow(10, floor(log10(raw)));
    double factor = raw / power;
    return power * (factor <= 1 ? 1 : factor <= 2 ? 2 : factor <= 5 ? 5 : 10);
}

static int step_decimals(double step)
{
    return step >= 1 ? 0 : (int)ceil(-log10(step) - 1e-9);
}

static double x_at(const chart *c, double seconds)
{
    return LEFT + (RIGHT - LEFT) * seconds / c->d.seconds;
}

static double y_at(const chart *c, double bytes)
{
    return BOTTOM - (BOTTOM - TOP) * bytes / c->bytes;
}

static void fit_axis(chart *c)
{
    c->unit = format_scale("bytes", c->d.bytes);
    c->bytes = c->d.bytes;
    double shown = c->bytes / c->unit.divisor;
    c->step = nice_step(shown, 5);
    double steps = ceil(shown / c->step - 1e-9);
    c->bytes = steps * c->step * c->unit.divisor;
}

static void put_y_axis(const chart *c)
{
    int decimals = step_decimals(c->step);
    int steps = (int)lround(c->bytes / c->unit.divisor / c->step);
    for (int i = 0; i <= steps; i++) {
        double shown = i * c->step;
        double y = y_at(c, shown * c->unit.divisor);
        fprintf(c->out,
                "<path class=\"%s\" d=\"M%.0f %.1fH%.0f\"/>"
                "<text class=\"tick\" text-anchor=\"end\" x=\"%.0f\" y=\"%.1f\">%.*f%s%s</text>\n",
                i == 0 ? "axis" : "grid", LEFT, y, RIGHT, LEFT - 8, y + 4, decimals, shown,
                i == steps ? " " : "", i == steps ? c->unit.name : "");
    }
}

static void put_x_axis(const chart *c)
{
    double step = nice_step(c->d.seconds, 6);
    int decimals = step_decimals(step);
    int steps = (int)floor(c->d.seconds / step + 1e-9);
    for (int i = 0; i <= steps; i++) {
        double x = x_at(c, i * step);
        fprintf(c->out,
                "<path class=\"axis\" d=\"M%.1f %.0fv4\"/>"
                "<text class=\"tick\" text-anchor=\"middle\" x=\"%.1f\" y=\"%.0f\">%.*f%s</text>\n",
                x, BOTTOM, x, BOTTOM + 18, decimals, i * step, i == steps ? " s" : "");
    }
    fprintf(c->out, "<text class=\"tick\" text-anchor=\"middle\" x=\"%.0f\" y=\"%.0f\">%s</text>\n",
            (LEFT + RIGHT) / 2, BOTTOM + 36,
            c->d.m->workloads[c->d.workload].is_command ? "time since the start"
                                                        : "time on each run's own clock");
}

/* ---- live bytes and phases ------------------------------------------------------------------- */

/* What is live is known at the phases' ends; straight lines join them. (Steps would show a phase
 * that fills, and one that drains, as if all of it were the allocator's cost.) */
static void put_live(const chart *c)
{
    fprintf(c->out, "<path class=\"live\" d=\"M%.0f %.0f", LEFT, BOTTOM);
    double last = LEFT;
    for (size_t i = 0; i < c->d.live->phases_count; i++) {
        last = x_at(c, (double)c->d.live->phases[i].time_ns / 1e9);
        fprintf(c->out, "L%.1f %.1f", last, y_at(c, (double)c->d.live->phases[i].live_bytes));
    }
    fprintf(c->out, "L%.1f %.0fZ\"/>\n", last, BOTTOM);
}

static void put_phases(const chart *c)
{
    double last = LEFT;
    size_t drawn = 0;
    for (size_t i = 0; i < c->d.live->phases_count && drawn < PHASES_DRAWN; i++) {
        const model_phase *phase = &c->d.live->phases[i];
        double x = x_at(c, (double)phase->time_ns / 1e9);
        if (x - last < 2)
            continue; /* the baseline at 0, or one that is over before it could be seen */
        fprintf(c->out, "<path class=\"rule\" d=\"M%.1f %.0fV%.0f\"/>", x, TOP - 16, BOTTOM);
        if ((double)format_width(phase->name) * LETTER + 4 < x - last) {
            fprintf(c->out, "<text class=\"phase\" text-anchor=\"middle\" x=\"%.1f\" y=\"%.0f\">",
                    (x + last) / 2, TOP - 7);
            format_xml(c->out, phase->name);
            fputs("</text>", c->out);
        }
        fputc('\n', c->out);
        last = x;
        drawn++;
    }
}

/* ---- lines ----------------------------------------------------------------------------------- */

static void put_name(const chart *c, const series *line, size_t limit)
{
    char *name = format_terminal(c->d.m->targets[line->cell->target].name, limit);
    format_xml(c->out, name);
    free(name);
}

/* Draws a line and notes where it ends. */
static void put_line(const chart *c, series *line)
{
    const model_cell *cell = line->cell;
    double *values = xcalloc(cell->readings_count, sizeof *values);
    double *times = xcalloc(cell->readings_count, sizeof *times);
    size_t indices[CHART_POINTS];
    size_t count = 0;
    for (size_t i = 0; i < cell->readings_count; i++) {
        if (chart_data_value(&c->d, cell, i, &values[count]))
            times[count++] = (double)cell->readings[i].time_ns / 1e9;
    }
    size_t n = chart_thin(values, count, indices);
    size_t color = chart_color(c->d.m, cell->target);
    fprintf(c->out, "<path class=\"line s%zu%s\" d=\"", color % COLORS,
            color >= COLORS ? " dash" : "");
    for (size_t i = 0; i < n; i++) {
        line->last = values[indices[i]];
        line->end_x = x_at(c, times[indices[i]]);
        line->end_y = y_at(c, line->last);
        fprintf(c->out, "%s%.1f %.1f", i == 0 ? "M" : i == 1 ? "L" : " ", line->end_x, line->end_y);
    }
    fputs(n == 1 ? "h0.1\"><title>" : "\"><title>", c->out);
    put_name(c, line, 0);
    fputs("</title></path>\n", c->out);
    free(values);
    free(times);
}

static int by_end(const void *a, const void *b)
{
    const series *x = *(series *const *)a;
    const series *y = *(series *const *)b;
    if (x->end_y > y->end_y || x->end_y < y->end_y)
        return x->end_y < y->end_y ? -1 : 1;
    return (x->cell->target > y->cell->target) - (x->cell->target < y->cell->target);
}

/* Each label as near to its line's end as the others let it: pushed down from the top, and up
 * again from the bottom where they would leave the picture. */
static void place_labels(chart *c)
{
    series **order = xcalloc(c->d.count, sizeof *order);
    for (size_t i = 0; i < c->d.count; i++)
        order[i] = &c->lines[i];
    qsort(order, c->d.count, sizeof *order, by_end);
    double gap = fmin(LABEL_GAP, (BOTTOM + 8 - TOP) / (double)c->d.count);
    for (size_t i = 0; i < c->d.count; i++) {
        order[i]->label_y = order[i]->end_y;
        if (i > 0)
            order[i]->label_y = fmax(order[i]->label_y, order[i - 1]->label_y + gap);
    }
    double limit = BOTTOM + 8;
    for (size_t i = c->d.count; i-- > 0; limit -= gap)
        order[i]->label_y = fmin(order[i]->label_y, limit);
    free(order);
}

static void put_label(const chart *c, const series *line)
{
    double shown = line->last / c->unit.divisor;
    size_t chosen = chart_color(c->d.m, line->cell->target), color = chosen % COLORS;
    fprintf(c->out,
            "<path class=\"lead s%zu\" d=\"M%.1f %.1fL%.0f %.1fL%.0f %.1f\"/>"
            "<circle class=\"%s s%zu\" cx=\"%.0f\" cy=\"%.1f\" r=\"3.5\"/>"
            "<text x=\"%.0f\" y=\"%.1f\"><tspan class=\"name\">",
            color, line->end_x, line->end_y, RIGHT + 3, line->end_y, RIGHT + 12, line->label_y,
            chosen >= COLORS ? "ring" : "dot", color, RIGHT + 14, line->label_y, RIGHT + 22,
            line->label_y + 4);
    put_name(c, line, NAME_WIDTH);
    fprintf(c->out, "</tspan> %.*f %s</text>\n", format_decimals(shown), shown, c->unit.name);
}

/* ---- the whole ------------------------------------------------------------------------------- */

/* Okabe and Ito's colours; black and yellow change with the background they stand on. */
static const char style[] =
    "<style>\n"
    "text{font:12px system-ui,-apple-system,\"Segoe UI\",Roboto,\"Helvetica Neue\",Arial,"
    "sans-serif;fill:#222}\n"
    ".title{font-size:16px;font-weight:600}\n"
    ".sub,.tick,.phase{fill:#666}.phase{font-size:11px}.name{font-weight:600}\n"
    ".back{fill:#fff}.live{fill:#e2e2e2}\n"
    ".grid,.axis,.rule,.line,.lead{fill:none}\n"
    ".grid{stroke:#999;stroke-opacity:.28}.axis{stroke:#888}\n"
    ".rule{stroke:#888;stroke-opacity:.6;stroke-dasharray:2 3}\n"
    ".line{stroke-width:2;stroke-linejoin:round;stroke-linecap:round}.dash{stroke-dasharray:7 4}\n"
    ".lead{stroke-opacity:.7;stroke-dasharray:1 3}\n"
    ".s0{stroke:#000}.s1{stroke:#e69f00}.s2{stroke:#56b4e9}.s3{stroke:#009e73}\n"
    ".s4{stroke:#0072b2}.s5{stroke:#d55e00}.s6{stroke:#cc79a7}.s7{stroke:#b8a800}\n"
    ".ring{fill:none;stroke-width:2}.dot{stroke:none}.dot.s0{fill:#000}.dot.s1{fill:#e69f00}.dot."
    "s2{fill:#56b4e9}\n"
    ".dot.s3{fill:#009e73}.dot.s4{fill:#0072b2}.dot.s5{fill:#d55e00}.dot.s6{fill:#cc79a7}\n"
    ".dot.s7{fill:#b8a800}\n"
    "@media (prefers-color-scheme:dark){\n"
    "text{fill:#e6e6e6}.sub,.tick,.phase{fill:#a6a6a6}.back{fill:#16181c}.live{fill:#33363c}\n"
    ".line.s0,.lead.s0,.ring.s0{stroke:#f2f2f2}.dot.s0{fill:#f2f2f2}\n"
    ".line.s7,.lead.s7,.ring.s7{stroke:#f0e442}.dot.s7{fill:#f0e442}\n"
    "}\n"
    "</style>\n";

static void put_head(const chart *c)
{
    const char *what = c->d.bit == ABENCH_MEMORY_RSS ? "RSS" : "PSS";
    bool command = c->d.m->workloads[c->d.workload].is_command;
    const char *label = c->d.m->workloads[c->d.workload].label;
    fprintf(c->out,
            "<svg xmlns=\"http://www.w3.org/2000/svg\" role=\"img\" width=\"%d\" height=\"%d\" "
            "viewBox=\"0 0 %d %d\">\n<title>%s over time by allocator: ",
            WIDTH, HEIGHT, WIDTH, HEIGHT, what);
    format_xml(c->out, label);
    fprintf(c->out, "</title>\n%s<rect class=\"back\" width=\"%d\" height=\"%d\"/>\n", style, WIDTH,
            HEIGHT);
    fprintf(c->out, "<text class=\"title\" x=\"16\" y=\"26\">%s over time: ", what);
    char *cut = format_terminal(label, TITLE_WIDTH);
    format_xml(c->out, cut);
    free(cut);
    fprintf(c->out,
            "</text>\n<text class=\"sub\" x=\"16\" y=\"46\">The same %s for every target; lower is "
            "better. Round %u%s.",
            command ? "command" : "operations", c->d.round + 1,
            c->d.above ? ", above the baseline reading" : "");
    if (c->d.live != NULL) {
        char *name = format_terminal(c->d.m->targets[c->d.live->target].name, NAME_WIDTH);
        fputs(" Grey (live bytes) and phases: ", c->out);
        format_xml(c->out, name);
        fputc('.', c->out);
        free(name);
    }
    fputs("</text>\n", c->out);
}

bool chart_rss(const model *m, size_t workload, FILE *out)
{
    chart c = {.out = out};
    if (!chart_data_make(&c.d, m, workload))
        return false;
    c.lines = xcalloc(c.d.count, sizeof *c.lines);
    for (size_t i = 0; i < c.d.count; i++)
        c.lines[i].cell = c.d.cells[i];
    fit_axis(&c);
    put_head(&c);
    if (c.d.live != NULL && c.d.live->phases_count > 0)
        put_live(&c);
    put_y_axis(&c);
    put_x_axis(&c);
    if (c.d.live != NULL)
        put_phases(&c);
    for (size_t i = 0; i < c.d.count; i++)
        put_line(&c, &c.lines[i]);
    place_labels(&c);
    for (size_t i = 0; i < c.d.count; i++)
        put_label(&c, &c.lines[i]);
    fputs("</svg>\n", out);
    free(c.lines);
    chart_data_clear(&c.d);
    return true;
}
