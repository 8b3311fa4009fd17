#include "tool/report/html_parts.h"

#include <string.h>

#include "tool/report/format.h"

static void put_name(FILE *out, const model *m, const summary_row *row)
{
    html_text(out, row->target == MODEL_FLOOR ? "no allocator" : m->targets[row->target].name);
    fputs(row->again ? " (A/A)" : "", out);
}

static void put_value(FILE *out, const summary_row *row, uint32_t round)
{
    fputs("<td>", out);
    for (size_t i = 0; i < row->n; i++) {
        if (row->values[i].round == round)
            format_number(out, row->values[i].value);
    }
}

/* The last round that any of the rows has a value of, and one. */
static uint32_t rounds_of(const summary_row *rows, size_t count)
{
    uint32_t end = 0;
    for (size_t i = 0; i < count; i++) {
        const uint32_t last = rows[i].values[rows[i].n - 1].round;
        end = last + 1 > end ? last + 1 : end;
    }
    return end;
}

static int has_round(const summary_row *rows, size_t count, uint32_t round)
{
    for (size_t i = 0; i < count; i++) {
        for (size_t j = 0; j < rows[i].n; j++) {
            if (rows[i].values[j].round == round)
                return 1;
        }
    }
    return 0;
}

/* Rounds down, targets across: the rows of one metric. Closing tags that HTML does not need are
 * left out: there are tens of thousands of cells. */
static void put_metric(FILE *out, const model *m, const summary_row *rows, size_t count)
{
    const uint32_t end = rounds_of(rows, count);
    const char *direction = rows->direction == ABENCH_DIRECTION_LOWER    ? ", less is better"
                            : rows->direction == ABENCH_DIRECTION_HIGHER ? ", more is better"
                                                                         : "";
    fputs("<div class=\"scroll\" tabindex=\"0\"><table class=\"raw\" data-metric=\"", out);
    html_text(out, rows->metric);
    fputs("\"><caption><code>", out);
    html_text(out, rows->metric);
    fputs("</code>, ", out);
    html_text(out, rows->unit);
    fprintf(out, "%s%s</caption><thead><tr><th scope=\"col\">round", direction,
            strcmp(rows->metric, SUMMARY_TIME) == 0 ? " (of the slices, as it is judged)" : "");
    for (size_t i = 0; i < count; i++) {
        fputs("<th scope=\"col\" class=\"num\">", out);
        put_name(out, m, &rows[i]);
    }
    fputs("<tbody>\n", out);
    for (uint32_t round = 0; round < end; round++) {
        if (!has_round(rows, count, round))
            continue;
        fprintf(out, "<tr><th scope=\"row\">%u", round + 1);
        for (size_t i = 0; i < count; i++)
            put_value(out, &rows[i], round);
        fputc('\n', out);
    }
    fputs("</table></div>\n", out);
}

void html_raw(const summary *s, size_t workload, FILE *out)
{
    size_t metrics = 0;
    for (size_t i = 0; i < s->count; i++)
        metrics += s->rows[i].workload == workload &&
                   (i == 0 || s->rows[i - 1].workload != workload ||
                    strcmp(s->rows[i - 1].metric, s->rows[i].metric) != 0);
    if (metrics == 0)
        return;
    fprintf(out,
            "<details class=\"values\"><summary>Every value of every round (%zu metrics)"
            "</summary>\n",
            metrics);
    for (size_t i = 0, end; i < s->count; i = end) {
        for (end = i + 1; end < s->count && s->rows[end].workload == s->rows[i].workload &&
                          strcmp(s->rows[end].metric, s->rows[i].metric) == 0;)
            end++;
        if (s->rows[i].workload == workload)
            put_metric(out, s->m, &s->rows[i], end - i);
    }
    fputs("</details>\n", out);
}
