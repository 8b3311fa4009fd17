#include "tool/report/plot.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "tool/report/format.h"
#include "tool/util.h"

#define LABEL_GAP   13.0
#define LETTERS_TOP 3.8 /* from a line's middle to the foot of its letters */
#define MARKS       4u  /* along a line */

/* ---- figures --------------------------------------------------------------------------------- */

void plot_open(FILE *out, const plot_figure *f, const char *attributes)
{
    fprintf(out, "<figure class=\"plot %s\"><figcaption><strong>", f->kind);
    plot_name(out, f->title, 0);
    fputs("</strong> <span>", out);
    plot_name(out, f->sub, 0);
    fprintf(out,
            "</span></figcaption>\n<svg class=\"%s\" role=\"img\" viewBox=\"0 0 %.0f %.0f\" "
            "tabindex=\"0\" %s aria-label=\"",
            f->kind, PLOT_WIDTH, f->height, attributes);
    plot_name(out, f->title, 0);
    fputs(". ", out);
    plot_name(out, f->sub, 0);
    fputs("\">\n", out);
}

void plot_close(FILE *out)
{
    fputs("</svg></figure>\n", out);
}

/* ---- text ------------------------------------------------------------------------------------ */

/* Where the character after so many begins. */
static size_t after_characters(const char *text, size_t count)
{
    size_t at = 0;
    for (; count > 0 && text[at] != '\0'; count--) {
        at++;
        while ((text[at] & 0xc0) == 0x80)
            at++;
    }
    return at;
}

void plot_name(FILE *out, const char *name, size_t limit)
{
    char *shown = format_terminal(name, 0);
    const size_t width = format_width(shown);
    if (limit > 2 && width > limit) {
        shown[after_characters(shown, limit / 2)] = '\0';
        format_xml(out, shown);
        free(shown);
        shown = format_terminal(name, 0);
        fputs("\xe2\x80\xa6", out);
        format_xml(out, shown + after_characters(shown, width - (limit - limit / 2 - 1)));
    } else {
        format_xml(out, shown);
    }
    free(shown);
}

void plot_data(FILE *out, const char *name, double value)
{
    fprintf(out, " %s=\"", name);
    format_number(out, value);
    fputc('"', out);
}

/* ---- axes ------------------------------------------------------------------------------------ */

double plot_at(const plot_axis *a, double value)
{
    double part = a->is_log ? log(fmax(value, a->low) / a->low) / log(a->high / a->low)
                            : (value - a->low) / (a->high - a->low);
    return a->from + (a->to - a->from) * fmin(fmax(part, 0), 1);
}

double plot_step(double length, double parts)
{
    double raw = length / parts;
    double power = pow(10, floor(log10(raw)));
    double factor = raw / power;
    return power * (factor <= 1 ? 1 : factor <= 2 ? 2 : factor <= 5 ? 5 : 10);
}

static size_t even_ticks(const plot_axis *a, double parts, double *ticks)
{
    double step = plot_step(a->high - a->low, parts);
    double first = ceil(a->low / step - 1e-9);
    size_t n = 0;
    for (; n < PLOT_TICKS && (first + (double)n) * step <= a->high + step * 1e-9; n++)
        ticks[n] = (first + (double)n) * step;
    return n;
}

/* 1, 2, 5, 10 ..., or powers of ten where that would be too many. */
static size_t log_ticks(const plot_axis *a, double parts, double *ticks)
{
    static const double fine[] = {1, 2, 5};
    double decades = log10(a->high / a->low);
    size_t a_decade = decades * 3 <= parts + 2 ? 3 : 1;
    double every = fmax(1, ceil(decades / parts));
    size_t n = 0;
    for (double e = floor(log10(a->low)); e <= ceil(log10(a->high)); e += every) {
        for (size_t i = 0; i < a_decade && n < PLOT_TICKS; i++) {
            double value = fine[i] * pow(10, e);
            if (value >= a->low * (1 - 1e-9) && value <= a->high * (1 + 1e-9))
                ticks[n++] = value;
        }
    }
    return n;
}

size_t plot_ticks(const plot_axis *a, double parts, double *ticks)
{
    /* Within a few times of each other even steps are rounder. */
    return a->is_log && a->high / a->low > 5 ? log_ticks(a, parts, ticks)
                                             : even_ticks(a, parts, ticks);
}

int plot_decimals(const double *ticks, size_t count)
{
    double step = count > 1 ? ticks[1] - ticks[0] : fabs(count > 0 ? ticks[0] : 1);
    return step >= 1 || step <= 0 ? 0 : (int)fmin(ceil(-log10(step) - 1e-9), 9);
}

void plot_x_tick(FILE *out, double x, double top, double bottom, const char *label)
{
    fprintf(out,
            "<path class=\"grid\" d=\"M%.1f %.0fV%.0f\"/>"
            "<text class=\"tick\" text-anchor=\"middle\" x=\"%.1f\" y=\"%.0f\">%s</text>\n",
            x, top, bottom, x, bottom + 13, label);
}

void plot_y_tick(FILE *out, double y, bool is_axis, const char *label)
{
    fprintf(out,
            "<path class=\"%s\" d=\"M%.0f %.1fH%.0f\"/>"
            "<text class=\"tick\" text-anchor=\"end\" x=\"%.0f\" y=\"%.1f\">%s</text>\n",
            is_axis ? "axis" : "grid", PLOT_LEFT, y, PLOT_RIGHT, PLOT_LEFT - 5, y + LETTERS_TOP,
            label);
}

plot_axis plot_bytes(FILE *out, double most, double top, double bottom)
{
    format_unit unit = format_scale("bytes", most);
    double step = plot_step(most / unit.divisor, 4);
    double steps = ceil(most / unit.divisor / step - 1e-9);
    plot_axis y = {0, steps * step * unit.divisor, false, bottom, top};
    for (double i = 0; i <= steps; i++) {
        double ends[] = {0, step};
        char label[64];
        snprintf(label, sizeof label, "%.*f", plot_decimals(ends, 2), i * step);
        plot_y_tick(out, plot_at(&y, i * step * unit.divisor), i < 1, label);
    }
    fprintf(out, "<text class=\"tick\" text-anchor=\"end\" x=\"%.0f\" y=\"%.1f\">%s</text>\n",
            PLOT_LEFT - 5, top - 9, unit.name);
    return y;
}

/* ---- marks and labels ------------------------------------------------------------------------ */

void plot_mark(FILE *out, size_t series, double x, double y, double r)
{
    /* Corners in tenths of r, around the middle; the first shape is a circle. */
    static const struct {
        int n;
        signed char at[12][2];
    } shapes[PLOT_COLORS - 1] = {
        {4, {{-9, -9}, {9, -9}, {9, 9}, {-9, 9}}},
        {3, {{0, -12}, {12, 9}, {-12, 9}}},
        {4, {{0, -13}, {13, 0}, {0, 13}, {-13, 0}}},
        {3, {{0, 12}, {12, -9}, {-12, -9}}},
        {12,
         {{-4, -12},
          {4, -12},
          {4, -4},
          {12, -4},
          {12, 4},
          {4, 4},
          {4, 12},
          {-4, 12},
          {-4, 4},
          {-12, 4},
          {-12, -4},
          {-4, -4}}},
        {6, {{-12, 0}, {-6, -10}, {6, -10}, {12, 0}, {6, 10}, {-6, 10}}},
        {8, {{0, -13}, {4, -4}, {13, 0}, {4, 4}, {0, 13}, {-4, 4}, {-13, 0}, {-4, -4}}},
    };
    fprintf(out, "<path class=\"mark s%zu%s\" d=\"M", series % PLOT_COLORS,
            series >= PLOT_COLORS ? " hollow" : "");
    if (series % PLOT_COLORS == 0) {
        fprintf(out, "%.1f %.1fa%.1f %.1f 0 1 0 %.1f 0a%.1f %.1f 0 1 0 -%.1f 0", x - r, y, r, r,
                2 * r, r, r, 2 * r);
    } else {
        const size_t shape = series % PLOT_COLORS - 1;
        for (int i = 0; i < shapes[shape].n; i++)
            fprintf(out, "%s%.1f %.1f",
                    i == 0   ? ""
                    : i == 1 ? "L"
                             : " ",
                    x + r * shapes[shape].at[i][0] / 10, y + r * shapes[shape].at[i][1] / 10);
    }
    fputs("z\"/>", out);
}

static int by_end(const void *a, const void *b)
{
    const plot_label *x = a;
    const plot_label *y = b;
    if (x->y < y->y || x->y > y->y)
        return x->y < y->y ? -1 : 1;
    return (x->series > y->series) - (x->series < y->series);
}

/* Pushed down from the top, and up again from the bottom where they would leave the picture. */
void plot_labels(FILE *out, plot_label *labels, size_t count, double x, double top, double bottom)
{
    double gap = fmin(LABEL_GAP, (bottom - top) / fmax((double)count, 1));
    double limit = bottom;
    qsort(labels, count, sizeof *labels, by_end);
    for (size_t i = 0; i < count; i++)
        labels[i].at = fmax(labels[i].y, i > 0 ? labels[i - 1].at + gap : top);
    for (size_t i = count; i-- > 0; limit -= gap)
        labels[i].at = fmin(labels[i].at, limit);
    for (size_t i = 0; i < count; i++) {
        const plot_label *l = &labels[i];
        fprintf(out, "<path class=\"lead s%zu\" d=\"M%.1f %.1fL%.1f %.1f\"/>",
                l->series % PLOT_COLORS, l->x, l->y, x + 1, l->at);
        plot_mark(out, l->series, x + 6, l->at, 3.2);
        fprintf(out, "<text class=\"name\" x=\"%.1f\" y=\"%.1f\">", x + 13, l->at + LETTERS_TOP);
        plot_name(out, l->name, PLOT_NAME);
        if (l->value[0] != '\0') {
            fputs(" <tspan class=\"value\">", out);
            format_xml(out, l->value);
            fputs("</tspan>", out);
        }
        fputs("</text>\n", out);
    }
}

/* ---- lines ----------------------------------------------------------------------------------- */

static void put_numbers(FILE *out, const char *name, const double *values, size_t count)
{
    fprintf(out, " %s=\"", name);
    for (size_t i = 0; i < count; i++) {
        fputs(i > 0 ? " " : "", out);
        format_number(out, values[i]);
    }
    fputc('"', out);
}

/* At other places of each line, so that lines above each other show both. */
static void put_marks(FILE *out, const plot_line *line, const plot_axis *x, const plot_axis *y)
{
    double shift = (double)(line->series % PLOT_COLORS) / PLOT_COLORS;
    size_t at = 0;
    for (size_t i = 0; i < MARKS; i++) {
        double wanted = x->from + (x->to - x->from) * ((double)i + shift) / MARKS;
        while (at < line->count && plot_at(x, line->x[at]) < wanted)
            at++;
        if (at == line->count)
            return;
        plot_mark(out, line->series, plot_at(x, line->x[at]), plot_at(y, line->y[at]), 2.4);
    }
}

void plot_put_line(FILE *out, const plot_line *line, const plot_axis *x, const plot_axis *y,
                   const char *title)
{
    if (line->count == 0)
        return;
    fprintf(out, "<g class=\"series\" data-series=\"%zu\" data-name=\"", line->series);
    plot_name(out, line->name, 0);
    fputc('"', out);
    put_numbers(out, "data-x", line->x, line->count);
    put_numbers(out, "data-y", line->y, line->count);
    fputs("><title>", out);
    plot_name(out, title, 0);
    fprintf(out, "</title><path class=\"line %s s%zu\" d=\"", line->kind,
            line->series % PLOT_COLORS);
    for (size_t i = 0; i < line->count; i++)
        fprintf(out, "%s%.1f %.1f",
                i == 0   ? "M"
                : i == 1 ? "L"
                         : " ",
                plot_at(x, line->x[i]), plot_at(y, line->y[i]));
    fputs(line->count == 1 ? "h0.1\"/>" : "\"/>", out);
    if (line->has_marks)
        put_marks(out, line, x, y);
    fputs("</g>\n", out);
}
