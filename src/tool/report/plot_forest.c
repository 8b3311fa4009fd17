#include "tool/report/plots.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "tool/report/advice.h"
#include "tool/report/format.h"
#include "tool/report/plot.h"
#include "tool/util.h"

#define NAMES   4.0 /* where they begin */
#define FROM    118.0
#define TO      292.0
#define NUMBERS 300.0
#define NAME    15u /* letters */
#define ROW     16.0
#define HEAD    22.0 /* a metric's */
#define TOP     8.0
#define FOOT    34.0
#define WIDEST  100.0 /* a ratio beyond that, or below 1 by it, is drawn at the edge */

/* ---- words and order ------------------------------------------------------------------------- */

/* In a refused metric, too. */
static bool is_open(const verdict *item)
{
    return item->result.verdict == ABENCH_COMPARED_OPEN ||
           item->result.verdict == ABENCH_COMPARED_TOO_FEW;
}

const char *plot_sign(const verdict_metric *metric, const verdict *item)
{
    if (is_open(item))
        return metric->refused ? "×" : "?";
    return item->result.verdict == ABENCH_COMPARED_SAME     ? "="
           : item->result.verdict == ABENCH_COMPARED_BETTER ? "+"
                                                            : "\xe2\x88\x92"; /* a minus */
}

const char *plot_class(const verdict *item)
{
    if (is_open(item))
        return "open";
    return item->result.verdict == ABENCH_COMPARED_SAME     ? "same"
           : item->result.verdict == ABENCH_COMPARED_BETTER ? "good"
                                                            : "bad";
}

static bool has_ratio(const verdict *item)
{
    return isfinite(item->result.ratio) && item->result.ratio > 0 && item->result.rounds > 0;
}

char *plot_ratio(const verdict *item)
{
    return has_ratio(item) ? advice_ratio(item->result.ratio, item->result.low, item->result.high)
                           : xstrdup("");
}

/* Is b to stand before a? */
static bool is_behind(const verdict_metric *metric, const verdict *a, const verdict *b)
{
    if (a->has_rank && b->has_rank && a->rank_low != b->rank_low)
        return a->rank_low > b->rank_low;
    if (!has_ratio(a) || !has_ratio(b))
        return !has_ratio(a) && has_ratio(b);
    return metric->direction == ABENCH_DIRECTION_HIGHER ? a->result.ratio < b->result.ratio
                                                        : a->result.ratio > b->result.ratio;
}

void plot_order(const verdict_metric *metric, size_t *order)
{
    for (size_t i = 0; i < metric->count; i++) {
        size_t at = i;
        while (!metric->refused && at > 0 &&
               is_behind(metric, &metric->items[order[at - 1]], &metric->items[i])) {
            order[at] = order[at - 1];
            at--;
        }
        order[at] = i;
    }
}

/* ---- the axis -------------------------------------------------------------------------------- */

static void widen(plot_axis *x, double ratio)
{
    if (!isfinite(ratio) || ratio <= 0)
        return;
    x->low = fmax(fmin(x->low, ratio), 1 / WIDEST);
    x->high = fmin(fmax(x->high, ratio), WIDEST);
}

static void fit(plot_axis *x, const verdict_metric *metric)
{
    widen(x, 1 + metric->threshold);
    widen(x, 1 / (1 + metric->threshold));
    if (metric->aa.count > 0)
        widen(x, metric->aa.estimate);
    for (size_t i = 0; i < metric->count; i++) {
        const abench_comparison *c = &metric->items[i].result;
        widen(x, c->ratio);
        widen(x, c->low);
        widen(x, c->high);
    }
}

static void put_axis(FILE *out, const plot_axis *x, double bottom)
{
    double ticks[PLOT_TICKS];
    const size_t n = plot_ticks(x, 5, ticks);
    for (size_t i = 0; i < n; i++) {
        char label[64];
        const double first[] = {ticks[i], ticks[i] + (i + 1 < n ? ticks[i + 1] - ticks[i] : 1)};
        const double lone[] = {ticks[i]};
        const bool is_even = x->high / x->low <= 5;
        snprintf(label, sizeof label, "%.*f",
                 is_even && n > 1 ? plot_decimals(ticks, n)
                 : ticks[i] < 1   ? plot_decimals(lone, 1)
                                  : plot_decimals(first, 2),
                 ticks[i]);
        plot_x_tick(out, plot_at(x, ticks[i]), TOP, bottom, label);
    }
    fprintf(out, "<path class=\"one\" d=\"M%.1f %.0fV%.0f\"/>", plot_at(x, 1), TOP, bottom);
    fprintf(out,
            "<text class=\"tick\" text-anchor=\"middle\" x=\"%.0f\" y=\"%.0f\">ratio to the "
            "baseline, logarithmic</text>\n",
            (FROM + TO) / 2, bottom + 28);
}

/* ---- rows ------------------------------------------------------------------------------------ */

/* A triangle towards the better side, a square, or a ring. */
static void put_point(FILE *out, const char *class, bool left, double x, double y)
{
    const double to = left ? -5 : 5;
    if (strcmp(class, "good") == 0 || strcmp(class, "bad") == 0)
        fprintf(out, "<path class=\"point %s\" d=\"M%.1f %.1fL%.1f %.1f %.1f %.1fz\"/>", class,
                x + to, y, x - to * 0.7, y - 4.6, x - to * 0.7, y + 4.6);
    else if (strcmp(class, "same") == 0)
        fprintf(out, "<path class=\"point same\" d=\"M%.1f %.1fh7v7h-7z\"/>", x - 3.5, y - 3.5);
    else
        fprintf(out, "<circle class=\"point %s\" cx=\"%.1f\" cy=\"%.1f\" r=\"3.6\"/>", class, x, y);
}

static void put_interval(FILE *out, const char *class, const plot_axis *x, double low, double high,
                         double y)
{
    if (isfinite(low) && isfinite(high) && low > 0)
        fprintf(out,
                "<path class=\"interval %s\" d=\"M%.1f %.1fV%.1fM%.1f %.1fH%.1fM%.1f "
                "%.1fV%.1f\"/>",
                class, plot_at(x, low), y - 3, y + 3, plot_at(x, low), y, plot_at(x, high),
                plot_at(x, high), y - 3, y + 3);
}

static void put_row(FILE *out, const model *m, const verdict_metric *metric, const verdict *item,
                    const plot_axis *x, double y)
{
    const abench_comparison *c = &item->result;
    const char *class = plot_class(item);
    const char *name = m->targets[item->row->target].name;
    char *ratio = plot_ratio(item), *words = verdict_text(metric, item);
    if (has_ratio(item)) {
        fputs("<g class=\"m\"", out);
        plot_data(out, "data-ratio", c->ratio);
        if (isfinite(c->low)) {
            plot_data(out, "data-low", c->low);
            plot_data(out, "data-high", c->high);
        }
        fputs(" data-target=\"", out);
        plot_name(out, name, 0);
        fputs("\" data-metric=\"", out);
        plot_name(out, metric->metric, 0);
        fputs("\"><title>", out);
        plot_name(out, name, 0);
        fprintf(out, ", %s: %s, ", metric->title, ratio);
        plot_name(out, words, 0);
        fprintf(out, "; %u round%s</title><path class=\"hit\" d=\"M%.0f %.1fH%.0f\"/>", c->rounds,
                c->rounds == 1 ? "" : "s", NAMES, y, PLOT_WIDTH);
        put_interval(out, class, x, c->low, c->high, y);
        put_point(out, class, c->ratio < 1, plot_at(x, c->ratio), y);
        fputs("</g>", out);
    }
    fprintf(out, "<text class=\"name\" x=\"%.0f\" y=\"%.1f\">", NAMES, y + 3.8);
    plot_name(out, name, NAME);
    fprintf(out, "</text><text class=\"value\" x=\"%.0f\" y=\"%.1f\">%s %s</text>\n", NUMBERS,
            y + 3.8, plot_sign(metric, item), has_ratio(item) ? ratio : "n/a");
    free(ratio);
    free(words);
}

static void put_noise(FILE *out, const verdict_metric *metric, const plot_axis *x, double y)
{
    const abench_interval *aa = &metric->aa;
    char *text = advice_ratio(aa->estimate, aa->low, aa->high);
    const double at = plot_at(x, aa->estimate);
    fputs("<g class=\"m\"", out);
    plot_data(out, "data-ratio", aa->estimate);
    fputs(" data-target=\"A/A\" data-metric=\"", out);
    plot_name(out, metric->metric, 0);
    fprintf(out,
            "\"><title>A/A, %s: the baseline against itself %s</title>"
            "<path class=\"hit\" d=\"M%.0f %.1fH%.0f\"/>",
            metric->title, text, NAMES, y, PLOT_WIDTH);
    put_interval(out, "noise", x, aa->low, aa->high, y);
    fprintf(out, "<path class=\"point noise\" d=\"M%.1f %.1fl4 4-4 4-4-4z\"/></g>", at, y - 4);
    fprintf(out,
            "<text class=\"tick\" x=\"%.0f\" y=\"%.1f\">A/A</text>"
            "<text class=\"tick\" x=\"%.0f\" y=\"%.1f\">\xc2\xa0\xc2\xa0%s</text>\n",
            NAMES, y + 3.8, NUMBERS, y + 3.8, text);
    free(text);
}

static double height_of(const verdict_metric *metric)
{
    return HEAD + ROW * (double)(metric->count + (metric->aa.count > 0));
}

static void put_metric(FILE *out, const model *m, const verdict_metric *metric, const plot_axis *x,
                       double top)
{
    const double low = plot_at(x, 1 / (1 + metric->threshold));
    const double high = plot_at(x, 1 + metric->threshold);
    size_t *order = xcalloc(metric->count + 1, sizeof *order);
    double y = top + HEAD + ROW / 2 - 4;
    fprintf(out,
            "<rect class=\"band\" x=\"%.1f\" y=\"%.1f\" width=\"%.1f\" height=\"%.1f\"><title>"
            "threshold: %.*f %%, within which nothing is told from noise</title></rect>"
            "<path class=\"grid\" d=\"M%.0f %.1fH%.0f\"/><text class=\"head\" x=\"%.0f\" "
            "y=\"%.1f\">",
            low, top + HEAD - 6, high - low, height_of(metric) - HEAD + 2,
            metric->threshold < 0.0995 ? 1 : 0, 100 * metric->threshold, NAMES, top + 2, PLOT_WIDTH,
            NAMES, top + 14);
    plot_name(out, metric->title, 40);
    fprintf(out, "</text><text class=\"tick\" text-anchor=\"end\" x=\"%.0f\" y=\"%.1f\">%s</text>",
            PLOT_WIDTH, top + 14,
            metric->refused                                ? "A/A separates: not ranked"
            : metric->direction == ABENCH_DIRECTION_HIGHER ? "more is better \xe2\x86\x92"
                                                           : "\xe2\x86\x90 less is better");
    plot_order(metric, order);
    for (size_t i = 0; i < metric->count; i++, y += ROW)
        put_row(out, m, metric, &metric->items[order[i]], x, y);
    if (metric->aa.count > 0)
        put_noise(out, metric, x, y);
    free(order);
}

bool plot_forest(const verdicts *v, size_t workload, FILE *out)
{
    plot_axis x = {0.98, 1.02, true, FROM, TO};
    double height = TOP;
    for (size_t i = 0; i < v->count; i++) {
        if (v->metrics[i].workload != workload || v->metrics[i].count == 0)
            continue;
        fit(&x, &v->metrics[i]);
        height += height_of(&v->metrics[i]);
    }
    if (height <= TOP)
        return false;
    x.low /= pow(x.high / x.low, 0.04);
    x.high *= pow(x.high / x.low, 0.04);
    plot_open(out,
              &(plot_figure){"forest", "Ratios to the baseline",
                             "Bars are intervals. Shaded: the threshold, 1 % or what the "
                             "baseline is off itself.",
                             height + FOOT},
              "data-plot=\"marks\"");
    put_axis(out, &x, height);
    double top = TOP;
    for (size_t i = 0; i < v->count; i++) {
        if (v->metrics[i].workload != workload || v->metrics[i].count == 0)
            continue;
        put_metric(out, v->s->m, &v->metrics[i], &x, top);
        top += height_of(&v->metrics[i]);
    }
    plot_close(out);
    return true;
}
