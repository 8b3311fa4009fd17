#include "tool/report/compare_text.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "tool/report/format.h"
#include "tool/report/grid.h"
#include "tool/report/interval_text.h"
#include "tool/terminal.h"
#include "tool/util.h"

#define LABEL_WIDTH 80u

/* ---- a workload's table ---------------------------------------------------------------------- */

static char *middle_text(const compare_metric *metric, const abench_interval *middle)
{
    return metric->by_value ? interval_value_text(middle, metric->unit)
                            : interval_ratio_text(middle);
}

/* Beside the number, where the words may stand in the block below. */
static char sign_of(const compare_row *row)
{
    return row->verdict == ABENCH_COMPARED_BETTER  ? '+'
           : row->verdict == ABENCH_COMPARED_WORSE ? '-'
           : row->verdict == ABENCH_COMPARED_SAME  ? '='
                                                   : '?';
}

static void put_row(grid *g, const comparison *c, const compare_metric *metric,
                    const compare_row *row)
{
    char *a = middle_text(metric, &row->middle[COMPARE_A]);
    char *b = middle_text(metric, &row->middle[COMPARE_B]);
    char *change = interval_ratio_text(&row->change);
    char *text = compare_text(metric, row);

    grid_row(g);
    grid_put(g, "%s", metric->title);
    grid_put(g, "%s", compare_target(c, row));
    grid_put(g, "%s", a);
    grid_put(g, "%s", b);
    grid_put(g, "%s %c", change, sign_of(row));
    grid_put(g, "%s", text);
    free(a);
    free(b);
    free(change);
    free(text);
}

/* NULL: the pair has no metric. */
static grid *make_grid(const comparison *c, size_t pair)
{
    grid *g = grid_make(2);

    grid_head(g, "metric");
    grid_head(g, "target");
    grid_head(g, "A");
    grid_head(g, "B");
    grid_head(g, "B by A");
    grid_head(g, "B is");
    for (size_t i = 0; i < c->count; i++)
        for (size_t j = 0; j < c->metrics[i].count && c->metrics[i].pair == pair; j++)
            put_row(g, c, &c->metrics[i], &c->metrics[i].rows[j]);
    if (g->rows > 0)
        return g;
    grid_free(g);
    return NULL;
}

static size_t rounds_of(const comparison *c, size_t pair, int side)
{
    return summary_rounds(c->side[side].m, c->pairs[pair].workload[side]);
}

/* "x: ratios to glibc; ..." free() it. */
static char *legend(const comparison *c)
{
    const model *b = c->side[COMPARE_B].m;

    return xasprintf("x: of a target to %s in the same directory. B by A: of all pairs of rounds, "
                     "at 95 %% over the targets of a metric; + better, - worse, = same, ? not told "
                     "apart. Threshold: 1 %%, or what A/A of both sides reach.%s",
                     b->targets[b->baseline].name,
                     c->same_machine ? " Memory is compared by its values: the machine is the same."
                                     : "");
}

/* ---- a terminal ------------------------------------------------------------------------------ */

static void put_wrapped(FILE *out, const char *head, const char *text)
{
    char *shown = format_terminal(text, 0);
    char *wrapped = terminal_wrap(shown, GRID_WIDTH, strlen(head));

    fprintf(out, "%s%s\n", head, wrapped);
    free(wrapped);
    free(shown);
}

void compare_terminal(const comparison *c, FILE *out, bool color)
{
    const char *on = color ? "\033[1m" : "", *off = color ? "\033[0m" : "";
    size_t count;
    char **sentences = compare_sentences(c, &count);
    char *text;

    put_wrapped(out, "A: ", c->side[COMPARE_A].m->directory);
    put_wrapped(out, "B: ", c->side[COMPARE_B].m->directory);
    fputc('\n', out);
    for (size_t i = 0; i < count; i++) {
        put_wrapped(out, "", sentences[i]);
        free(sentences[i]);
    }
    free(sentences);
    fputs(c->notes_count > 0 ? "\n" : "", out);
    for (size_t i = 0; i < c->notes_count; i++)
        put_wrapped(out, "note: ", c->notes[i]);
    for (size_t pair = 0; pair < c->pairs_count; pair++) {
        grid *g = make_grid(c, pair);
        char *label = format_terminal(compare_label(c, pair), LABEL_WIDTH);
        fprintf(out, "\n%s%s%s  (%zu rounds in A, %zu in B)\n", on, label, off,
                rounds_of(c, pair, COMPARE_A), rounds_of(c, pair, COMPARE_B));
        free(label);
        if (g != NULL)
            grid_terminal(g, out, on, off);
        else
            fputs("nothing that both have\n", out);
        grid_free(g);
    }
    text = legend(c);
    fputc('\n', out);
    put_wrapped(out, "", text);
    free(text);
}

/* ---- Markdown -------------------------------------------------------------------------------- */

static void put_items(FILE *out, const char *head, char *const *items, size_t count)
{
    if (count > 0)
        fprintf(out, "\n## %s\n\n", head);
    for (size_t i = 0; i < count; i++) {
        fputs("- ", out);
        format_markdown(out, items[i]);
        fputc('\n', out);
    }
}

void compare_markdown(const comparison *c, const gate_outcomes *gates, FILE *out)
{
    size_t count;
    char **sentences = compare_sentences(c, &count);
    char *text;

    fputs("# allocbench compare\n\n", out);
    for (int side = 0; side < 2; side++) {
        fprintf(out, "- %s: ", compare_side_name(side));
        format_markdown(out, c->side[side].m->directory);
        fputs(", ", out);
        format_markdown(out, c->side[side].m->command_line);
        fputc('\n', out);
    }
    put_items(out, "What it comes to", sentences, count);
    for (size_t i = 0; i < count; i++)
        free(sentences[i]);
    free(sentences);
    put_items(out, "How A and B differ", c->notes, c->notes_count);
    for (size_t pair = 0; pair < c->pairs_count; pair++) {
        grid *g = make_grid(c, pair);
        fputs("\n## ", out);
        format_markdown(out, compare_label(c, pair));
        fprintf(out, "\n\n%zu rounds in A, %zu in B.\n\n", rounds_of(c, pair, COMPARE_A),
                rounds_of(c, pair, COMPARE_B));
        if (g != NULL)
            grid_markdown(g, out);
        grid_free(g);
    }
    fputc('\n', out);
    text = legend(c);
    format_markdown(out, text);
    free(text);
    fputc('\n', out);
    gates_markdown(gates, out);
}
