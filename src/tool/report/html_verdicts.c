#include "tool/report/html_parts.h"

#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "tool/report/format.h"
#include "tool/report/plot.h"
#include "tool/report/plots.h"
#include "tool/util.h"

/* ---- texts ----------------------------------------------------------------------------------- */

/* The unit that a metric's values are shown in. */
static format_unit unit_of(const verdict_metric *metric)
{
    double largest = fabs(metric->baseline->median);
    for (size_t i = 0; i < metric->count; i++)
        largest = fmax(largest, fabs(metric->items[i].row->median));
    return format_scale(metric->unit, largest);
}

/* free() it */
static char *value_text(const summary_row *row, format_unit unit)
{
    const double shown = row->median / unit.divisor;
    return fabs(shown) < 1e15 ? xasprintf("%.*f", format_decimals(shown), shown)
                              : xasprintf("%.3g", shown);
}

static bool is_tie(const verdict_metric *metric, const verdict *item)
{
    bool found = false;
    for (size_t i = 0; i <= metric->count && !found; i++) {
        const verdict *other = i < metric->count ? &metric->items[i] : &metric->base;
        found = other != item && other->has_rank && other->rank_low == item->rank_low &&
                other->rank_high == item->rank_high;
    }
    return found;
}

static void put_rank(FILE *out, const verdict_metric *metric, const verdict *item)
{
    if (!item->has_rank) {
        fputs("\xe2\x80\x93", out); /* an en dash */
        return;
    }
    fprintf(out, "%u", item->rank_low);
    if (item->rank_high > item->rank_low)
        fprintf(out, "\xe2\x80\x93%u", item->rank_high);
    fputs(is_tie(metric, item) ? " <small>tie</small>" : "", out);
}

static const char *better(uint32_t direction)
{
    return direction == ABENCH_DIRECTION_HIGHER ? "more is better" : "less is better";
}

/* ---- a workload's table ---------------------------------------------------------------------- */

static void put_steadiness(FILE *out, const verdict *item)
{
    if (item->has_drift)
        fprintf(out, " <small class=\"flag\">not steady: %+.1f %% from half to half</small>",
                100 * (item->drift - 1));
}

/* "x0.72 [0.70 0.74]", the interval in small letters. */
static void put_ratio(FILE *out, const verdict *item)
{
    char *ratio = plot_ratio(item);
    char *bounds = strchr(ratio, ' ');
    if (bounds != NULL)
        *bounds = '\0';
    fprintf(out, "<b>%s</b>", ratio);
    if (bounds != NULL)
        fprintf(out, " <small>%s</small>", bounds + 1);
    free(ratio);
}

static void put_item(FILE *out, const model *m, const verdict_metric *metric, const verdict *item,
                     format_unit unit)
{
    char *value = value_text(item->row, unit), *words = verdict_text(metric, item);
    fputs("<tr><th scope=\"row\">", out);
    html_text(out, m->targets[item->row->target].name);
    fputs("</th><td class=\"num\"", out);
    plot_data(out, "data-value", item->row->median);
    fprintf(out, ">%s</td><td class=\"num\">", value);
    put_ratio(out, item);
    fputs("</td><td class=\"num\">", out);
    put_rank(out, metric, item);
    fprintf(out, "</td><td class=\"%s\"><i>%s</i> ", plot_class(item), plot_sign(metric, item));
    html_text(out, words);
    put_steadiness(out, item);
    fputs("</td></tr>\n", out);
    free(value);
    free(words);
}

static void put_baseline(FILE *out, const model *m, const verdict_metric *metric, format_unit unit)
{
    char *value = value_text(metric->baseline, unit);
    fputs("<tr class=\"base\"><th scope=\"row\">", out);
    html_text(out, m->targets[m->baseline].name);
    fputs("</th><td class=\"num\"", out);
    plot_data(out, "data-value", metric->baseline->median);
    fprintf(out, ">%s</td><td class=\"num\">1</td><td class=\"num\">", value);
    put_rank(out, metric, &metric->base);
    fputs("</td><td>baseline", out);
    put_steadiness(out, &metric->base);
    fputs("</td></tr>\n", out);
    free(value);
}

static void put_group(FILE *out, const verdict_metric *metric, format_unit unit)
{
    fputs("<tbody><tr class=\"group\"><th colspan=\"5\" scope=\"rowgroup\"><b>", out);
    html_text(out, metric->title);
    fputs("</b>", out);
    if (unit.name[0] != '\0') {
        fputs(", ", out);
        html_text(out, unit.name);
    }
    fprintf(out, " <span>%s; %u round%s; threshold \xc2\xb1%.*f %%", better(metric->direction),
            metric->rounds, metric->rounds == 1 ? "" : "s", metric->threshold < 0.0995 ? 1 : 0,
            100 * metric->threshold);
    if (metric->aa.count > 0) {
        char *aa = advice_ratio(metric->aa.estimate, metric->aa.low, metric->aa.high);
        fprintf(out, "; A/A %s", aa);
        free(aa);
    }
    fputs(metric->refused ? "; <strong>A/A separates: the baseline differs from itself, so nothing "
                            "is ranked here</strong>"
                          : "",
          out);
    fputs("</span></th></tr>\n", out);
}

void html_verdicts(const verdicts *v, size_t workload, FILE *out)
{
    const model *m = v->s->m;
    bool begun = false;
    for (size_t i = 0; i < v->count; i++) {
        const verdict_metric *metric = &v->metrics[i];
        if (metric->workload != workload)
            continue;
        if (!begun)
            fputs(
                "<div class=\"scroll\" tabindex=\"0\"><table class=\"verdicts\"><caption>Verdicts "
                "against the baseline, best first; medians of the rounds, ratios with their "
                "intervals</caption><thead><tr><th scope=\"col\">target</th>"
                "<th scope=\"col\" class=\"num\">value</th>"
                "<th scope=\"col\" class=\"num\">ratio <small>interval</small></th>"
                "<th scope=\"col\" class=\"num\">rank</th><th scope=\"col\">verdict</th></tr>"
                "</thead>\n",
                out);
        begun = true;
        const format_unit unit = unit_of(metric);
        size_t *order = xcalloc(metric->count + 1, sizeof *order);
        plot_order(metric, order);
        put_group(out, metric, unit);
        put_baseline(out, m, metric, unit);
        for (size_t j = 0; j < metric->count; j++)
            put_item(out, m, metric, &metric->items[order[j]], unit);
        fputs("</tbody>\n", out);
        free(order);
    }
    fputs(begun ? "</table></div>\n" : "", out);
}

/* ---- all workloads --------------------------------------------------------------------------- */

static void put_board_head(const verdicts *v, FILE *out)
{
    const model *m = v->s->m;
    fputs("<thead><tr><th rowspan=\"2\" scope=\"col\">target</th>", out);
    for (size_t w = 0; w < m->workloads_count; w++) {
        size_t n = 0;
        for (size_t i = 0; i < v->count; i++)
            n += v->metrics[i].workload == w && v->metrics[i].is_main;
        if (n == 0)
            continue;
        fprintf(out, "<th colspan=\"%zu\" scope=\"colgroup\"><a href=\"#", n);
        html_text(out, m->workloads[w].id);
        fputs("\">", out);
        plot_name(out, m->workloads[w].label, 48);
        fputs("</a></th>", out);
    }
    fputs("</tr><tr>", out);
    for (size_t i = 0; i < v->count; i++) {
        if (!v->metrics[i].is_main)
            continue;
        fputs("<th scope=\"col\">", out);
        html_text(out, v->metrics[i].title);
        fputs("</th>", out);
    }
    fputs("</tr></thead>\n", out);
}

static void put_board_cell(const verdict_metric *metric, const verdict *item, bool is_baseline,
                           FILE *out)
{
    if (item == NULL || item->row == NULL) {
        fputs("<td>n/a</td>", out);
    } else if (is_baseline) {
        const format_unit unit = format_scale(metric->unit, fabs(item->row->median));
        char *value = value_text(item->row, unit);
        fprintf(out, "<td>%s ", value);
        html_text(out, unit.name);
        fputs("</td>", out);
        free(value);
    } else {
        char *ratio = plot_ratio(item), *words = verdict_text(metric, item);
        ratio[strcspn(ratio, " ")] = '\0';
        fprintf(out, "<td class=\"%s\"><i>%s</i> %s<small>", plot_class(item),
                plot_sign(metric, item), ratio);
        html_text(out, words);
        fputs("</small></td>", out);
        free(ratio);
        free(words);
    }
}

static bool has_any(const verdicts *v, size_t target)
{
    bool found = false;
    for (size_t i = 0; i < v->count && !found; i++)
        found = verdict_of(&v->metrics[i], target) != NULL;
    return found;
}

void html_board(const verdicts *v, FILE *out)
{
    const model *m = v->s->m;
    if (v->count == 0)
        return;
    fputs(
        "<div class=\"scroll\" tabindex=\"0\"><table class=\"board\"><caption>Speed and memory by "
        "workload: ratio to the baseline, and the verdict on it. + better, \xe2\x88\x92 worse, = "
        "no difference that matters, ? not told, × refused</caption>\n",
        out);
    put_board_head(v, out);
    fputs("<tbody>\n", out);
    for (size_t n = 0; n < m->targets_count + 1; n++) {
        const size_t target = n == 0 ? m->baseline : n - 1;
        if ((n > 0 && target == m->baseline) || !has_any(v, target))
            continue;
        fputs("<tr><th scope=\"row\">", out);
        html_text(out, m->targets[target].name);
        fputs(n == 0 ? " <small>baseline</small></th>" : "</th>", out);
        for (size_t i = 0; i < v->count; i++) {
            if (v->metrics[i].is_main)
                put_board_cell(&v->metrics[i], verdict_of(&v->metrics[i], target), n == 0, out);
        }
        fputs("</tr>\n", out);
    }
    fputs("</tbody></table></div>\n", out);
}
