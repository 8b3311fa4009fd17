/* The table for a terminal (contract: report.h). */
#include <stdlib.h>
#include <string.h>

#include "tool/report/advice.h"
#include "tool/report/after.h"
#include "tool/report/format.h"
#include "tool/report/latency.h"
#include "tool/report/notes.h"
#include "tool/report/phases.h"
#include "tool/report/report.h"
#include "tool/report/view.h"
#include "tool/util.h"

#define LINE_WIDTH  100u
#define LABEL_WIDTH 40u /* a target's name is cut there, a workload's at twice that */
#define TITLE_WIDTH 24u /* a metric's name */
#define GAP         2u
#define RANK        "rank"

typedef struct style {
    const char *bold;
    const char *dim;
    const char *better;
    const char *worse;
    const char *off;
} style;

static const style plain = {"", "", "", "", ""};
static const style colored = {"\033[1m", "\033[2m", "\033[32m", "\033[31m", "\033[0m"};

/* How wide the parts of a column are; 0: not shown. */
typedef struct group {
    size_t value;
    size_t spread;
    size_t ratio; /* with its interval */
    size_t mark;
    size_t rank;
} group;

typedef struct layout {
    const view *v;
    const style *style;
    FILE *out;
    char **labels; /* escaped, by row */
    size_t label_width;
    char *titles[VIEW_COLUMNS]; /* escaped */
    group groups[VIEW_COLUMNS];
} layout;

static void put_spaces(FILE *out, size_t count)
{
    fprintf(out, "%*s", (int)count, "");
}

static size_t max_size(size_t a, size_t b)
{
    return a > b ? a : b;
}

/* ---- widths ---------------------------------------------------------------------------------- */

static group measure(const layout *l, size_t column)
{
    const view_column *c = &l->v->columns[column];
    group g = {.value = max_size(format_width(l->titles[column]), format_width(c->unit))};
    bool spreads = false;
    for (size_t i = 0; i < l->v->rows_count; i++) {
        view_cell cell = view_at(l->v, i, column);
        g.value = max_size(g.value, format_width(cell.value));
        g.spread = max_size(g.spread, format_width(cell.spread));
        spreads = spreads || cell.spread_ratio >= VIEW_SPREAD_SHOWN;
        if (!c->wants_ratio)
            continue;
        g.ratio = max_size(g.ratio, strlen(cell.ratio));
        g.mark = max_size(g.mark, strlen(cell.mark));
        if (cell.rank[0] != '\0')
            g.rank = max_size(max_size(g.rank, strlen(RANK)), strlen(cell.rank));
    }
    if (!spreads)
        g.spread = 0;
    return g;
}

/* Each part that is shown stands behind a blank. */
static size_t group_width(const group *g)
{
    const size_t parts[] = {g->value, g->spread, g->ratio, g->mark, g->rank};
    size_t width = GAP - 1;
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++)
        width += parts[i] > 0 ? parts[i] + 1 : 0;
    return width;
}

static layout layout_make(const view *v, FILE *out, const style *chosen)
{
    layout l = {.v = v, .style = chosen, .out = out};
    l.labels = xcalloc(v->rows_count + 1, sizeof *l.labels);
    l.label_width = strlen("target");
    for (size_t i = 0; i < v->rows_count; i++) {
        l.labels[i] = format_terminal(v->rows[i].label, LABEL_WIDTH);
        l.label_width = max_size(l.label_width, format_width(l.labels[i]));
    }
    for (size_t i = 0; i < v->columns_count; i++) {
        l.titles[i] = format_terminal(v->columns[i].title, TITLE_WIDTH);
        l.groups[i] = measure(&l, i);
    }
    return l;
}

static void layout_free(layout *l)
{
    for (size_t i = 0; i < l->v->rows_count; i++)
        free(l->labels[i]);
    free(l->labels);
    for (size_t i = 0; i < l->v->columns_count; i++)
        free(l->titles[i]);
}

/* ---- lines ----------------------------------------------------------------------------------- */

/* No line ends in blanks: what follows a value waits until there is something to print. */
typedef struct line {
    FILE *out;
    size_t blanks;
} line;

static void put_part(line *at, const char *text, size_t width, const char *on, const char *off)
{
    size_t own = format_width(text);
    at->blanks += width > own ? width - own : 0;
    if (own == 0)
        return;
    put_spaces(at->out, at->blanks);
    fprintf(at->out, "%s%s%s", on, text, *on != '\0' ? off : "");
    at->blanks = 0;
}

static void put_headings(const layout *l, size_t from, size_t to)
{
    for (int second = 0; second < 2; second++) {
        line at = {l->out, 0};
        const char *left = second ? "target" : "";
        fprintf(l->out, "%s%s", l->style->bold, left);
        at.blanks = l->label_width - strlen(left);
        for (size_t i = from; i < to; i++) {
            const group *g = &l->groups[i];
            at.blanks += GAP;
            put_part(&at, second ? l->v->columns[i].unit : l->titles[i], g->value, "", "");
            at.blanks += group_width(g) - GAP - g->value - g->rank;
            put_part(&at, second && g->rank > 0 ? RANK : "", g->rank, "", "");
        }
        fprintf(l->out, "%s\n", l->style->off);
    }
}

/* A part behind a blank, on the left of its place. */
static void put_left(line *at, const char *text, size_t width, const char *on, const char *off)
{
    if (width == 0)
        return;
    at->blanks++;
    put_part(at, text, 0, on, off);
    at->blanks += width - format_width(text);
}

static void put_cell(const layout *l, line *at, size_t row, size_t column)
{
    const group *g = &l->groups[column];
    view_cell cell = view_at(l->v, row, column);
    const char *on = cell.verdict > 0 ? l->style->better : cell.verdict < 0 ? l->style->worse : "";
    at->blanks += GAP;
    put_part(at, cell.value, g->value, "", "");
    put_left(at, g->spread > 0 ? cell.spread : "", g->spread, "", "");
    put_left(at, g->ratio > 0 ? cell.ratio : "", g->ratio, on, l->style->off);
    put_left(at, g->mark > 0 ? cell.mark : "", g->mark, on, l->style->off);
    if (g->rank > 0) {
        at->blanks++;
        put_part(at, cell.rank, g->rank, "", "");
    }
}

static void put_rows(const layout *l, size_t from, size_t to)
{
    for (size_t i = 0; i < l->v->rows_count; i++) {
        line at = {l->out, l->label_width - format_width(l->labels[i])};
        fputs(l->labels[i], l->out);
        for (size_t j = from; j < to; j++)
            put_cell(l, &at, i, j);
        fputc('\n', l->out);
    }
}

/* The columns from `from` that a line of the width holds, at least one; returns the next. */
static size_t fill_line(const layout *l, size_t from, size_t width)
{
    size_t used = l->label_width + group_width(&l->groups[from]);
    size_t to = from + 1;
    while (to < l->v->columns_count && used + group_width(&l->groups[to]) <= width)
        used += group_width(&l->groups[to++]);
    return to;
}

static size_t count_blocks(const layout *l, size_t width)
{
    size_t blocks = 0;
    for (size_t from = 0; from < l->v->columns_count; blocks++)
        from = fill_line(l, from, width);
    return blocks;
}

/* Columns that do not fit side by side go into as few blocks as can be, of about the same width. */
static void put_blocks(const layout *l)
{
    size_t width = LINE_WIDTH;
    size_t blocks = count_blocks(l, width);
    while (width > 1 && count_blocks(l, width - 1) == blocks)
        width--;
    for (size_t from = 0; from < l->v->columns_count;) {
        size_t to = fill_line(l, from, width);
        fputc('\n', l->out);
        put_headings(l, from, to);
        put_rows(l, from, to);
        from = to;
    }
    if (l->v->columns_count == 0)
        fputs("no cell has a number\n", l->out);
}

/* ---- sentences ------------------------------------------------------------------------------- */

/* Words, broken where a line would pass LINE_WIDTH; further lines are indented. */
typedef struct flow {
    FILE *out;
    size_t column;
    bool inside; /* a word stands before */
} flow;

static void put_words(flow *at, const char *text)
{
    while (*text != '\0') {
        size_t length = strcspn(text, " ");
        char *word = xstrndup(text, length);
        size_t own = format_width(word);
        if (at->inside && at->column + 1 + own > LINE_WIDTH) {
            fputs("\n  ", at->out);
            at->column = 2;
        } else if (at->inside) {
            fputc(' ', at->out);
            at->column++;
        }
        fputs(word, at->out);
        at->column += own;
        at->inside = true;
        free(word);
        text += length + strspn(text + length, " ");
    }
}

/* "head: text [who]"; head may be in colour. */
static void put_sentence(FILE *out, const char *head, const char *on, const char *off,
                         const char *text, const char *who)
{
    flow at = {out, strlen(head), false};
    char *shown = format_terminal(text, 0);
    fprintf(out, "%s%s%s", on, head, off);
    put_words(&at, shown);
    free(shown);
    if (who != NULL) {
        char *bracketed = xasprintf("[%s]", who);
        shown = format_terminal(bracketed, 0);
        put_words(&at, shown);
        free(shown);
        free(bracketed);
    }
    fputc('\n', out);
}

static void put_notes(FILE *out, const char *head, note_list list, const char *on, const char *off)
{
    for (size_t i = 0; i < list.count; i++)
        put_sentence(out, head, on, off, list.items[i].text, list.items[i].who);
    notes_free(&list);
}

/* ---- the whole ------------------------------------------------------------------------------- */

static void put_title(const layout *l)
{
    const model *m = l->v->s->m;
    const model_workload *workload = &m->workloads[l->v->workload];
    const uint32_t rounds = model_rounds(m, l->v->workload);
    char *label = format_terminal(workload->label, 2 * LABEL_WIDTH);
    fprintf(l->out, "%s%s%s  (%s, ", l->style->bold, label, l->style->off,
            workload->is_command ? "command" : "tape");
    if (l->v->rounds < rounds)
        fprintf(l->out, "%zu of ", l->v->rounds);
    fprintf(l->out, "%u round%s%s, seed %llu%s%s)\n", rounds, rounds == 1 ? "" : "s",
            view_mode(l->v), (unsigned long long)m->seed, l->v->held[0] != '\0' ? ", " : "",
            l->v->held);
    free(label);
}

static void put_phases(const view *v, FILE *out, const style *chosen)
{
    char *sentence = phases_clock(v);
    phases_terminal(v, out, chosen->bold, chosen->off);
    if (sentence != NULL)
        put_sentence(out, "", "", "", sentence, NULL);
    free(sentence);
}

static void put_latency(const view *v, FILE *out, const style *chosen)
{
    latency *l = latency_make(v->s->m, v->workload);
    if (l == NULL)
        return;
    char *few = latency_too_few(l);
    if (few != NULL) {
        put_sentence(out, "latency: ", "", "", few, NULL);
        free(few);
        latency_free(l);
        return;
    }
    char *title = latency_title(l);
    grid *g = latency_grid(l, true);
    if (g->rows > 0) {
        fprintf(out, "\n%s\n", title);
        grid_terminal(g, out, chosen->bold, chosen->off);
    }
    grid_free(g);
    free(title);
    latency_free(l);
}

/* "head: SENTENCES"; nothing when there are none. */
static void put_advice(FILE *out, const char *head, const advice_text *text, const style *chosen)
{
    char *joined = advice_join(text);
    if (text->count > 0)
        put_sentence(out, head, chosen->bold, chosen->off, joined, NULL);
    free(joined);
}

static void put_workload(const verdicts *all, const advice *a, size_t workload, FILE *out,
                         const style *chosen)
{
    view *v = view_make(all, workload);
    layout l = layout_make(v, out, chosen);
    put_title(&l);
    if (v->rounds == 0)
        fputs("no round is finished\n", out);
    else
        put_blocks(&l);
    char *sentence;
    if (view_share(v, &sentence)) {
        put_sentence(out, "", "", "", sentence, NULL);
        free(sentence);
    }
    put_notes(out, "failed: ", notes_failures(all->s->m, workload), chosen->worse, chosen->off);
    if (v->rounds > 0) {
        put_notes(out, "", notes_verdicts(all, workload), "", "");
        put_advice(out, "verdict: ", &a->workloads[workload], chosen);
    }
    put_phases(v, out, chosen);
    after_terminal(v, out, chosen->bold, chosen->off);
    put_latency(v, out, chosen);
    fputc('\n', out);
    layout_free(&l);
    view_free(v);
}

/* Does a table of latencies stand above? */
static bool shows_latency(const model *m)
{
    bool shown = false;
    for (size_t i = 0; i < m->workloads_count && !shown; i++) {
        latency *l = latency_make(m, i);
        char *few = l == NULL ? NULL : latency_too_few(l);
        shown = l != NULL && few == NULL;
        free(few);
        latency_free(l);
    }
    return shown;
}

static bool shows_drained(const summary *s)
{
    bool shown = false;
    for (size_t i = 0; i < s->count && !shown; i++)
        shown = !s->m->workloads[s->rows[i].workload].is_command &&
                strcmp(s->rows[i].metric, "rss_drained_bytes") == 0;
    return shown;
}

/* Several of them in one cell? */
static bool has_timed_phases(const model *m)
{
    size_t most = 0;
    for (size_t i = 0; i < m->cells_count; i++) {
        size_t timed = 0;
        for (size_t j = 0; j < m->cells[i].phases_count; j++)
            timed += m->cells[i].phases[j].timed;
        most = max_size(most, timed);
    }
    return most > 1;
}

/* What of the tables needs a word of the legend. */
typedef struct shown {
    bool spread;
    bool verdict; /* an interval with its mark */
    bool rank;
    bool noise; /* A/A */
    bool refused;
} shown;

static shown shown_in(const verdicts *all)
{
    shown found = {false, false, false, false, false};
    for (size_t i = 0; i < all->s->m->workloads_count; i++) {
        view *v = view_make(all, i);
        for (size_t row = 0; row < v->rows_count; row++) {
            for (size_t column = 0; column < v->columns_count; column++) {
                view_cell cell = view_at(v, row, column);
                found.spread = found.spread || cell.spread_ratio >= VIEW_SPREAD_SHOWN;
                found.verdict = found.verdict || cell.mark[0] != '\0';
                found.rank = found.rank || cell.rank[0] != '\0';
                found.refused = found.refused || strcmp(cell.mark, VIEW_REFUSED) == 0;
                found.noise = found.noise || v->rows[row].again;
            }
        }
        view_free(v);
    }
    return found;
}

static void put_legend_of_numbers(const verdicts *all, FILE *out)
{
    const model *m = all->s->m;
    const char *name = m->targets[m->baseline].name;
    const shown found = shown_in(all);
    char *ratios = xasprintf(
        "ratio to %s%s", name,
        found.verdict ? " with its interval; + better, - worse, = same, ? not told apart" : "");
    char *noise = xasprintf("%s against itself in the same rounds: what noise looks like%s", name,
                            found.refused ? "; !: it separates" : "");
    put_sentence(out, "values: ", "", "",
                 found.spread ? "medians over the rounds; ±: (max - min) / median, left out where "
                                "a column stays below 1 % and where an interval stands"
                              : "medians over the rounds",
                 NULL);
    put_sentence(out, "x: ", "", "", ratios, NULL);
    if (found.rank)
        put_sentence(out, "rank: ", "", "",
                     "the places that a target may have, 1 the best; the same places: a tie", NULL);
    if (found.noise)
        put_sentence(out, "A/A: ", "", "", noise, NULL);
    free(ratios);
    free(noise);
}

static void put_legend(const verdicts *all, FILE *out, const style *chosen)
{
    const summary *s = all->s;
    const model *m = s->m;
    fputs(chosen->dim, out);
    put_legend_of_numbers(all, out);
    if (has_timed_phases(m))
        put_sentence(out, "time: ", "", "",
                     "of several phases the mean of their medians, weighed by their operations; a "
                     "ratio by the baseline's time",
                     NULL);
    if (shows_drained(s))
        put_sentence(out, "drained: ", "", "",
                     after_any_waited(m)
                         ? "read at once when everything was freed; the table of what comes back "
                           "has the seconds after that"
                         : "read at once when everything was freed; what gives memory back by the "
                           "clock has had no time (--settle, burst-idle, --paced)",
                     NULL);
    if (shows_latency(m))
        put_sentence(out, "latency: ", "", "", latency_legend, NULL);
    fputs(chosen->off, out);
}

/* A command is one line, however long: it is there to be copied. */
static void put_steps(const advice *a, FILE *out, const style *chosen)
{
    for (size_t i = 0; i < a->next_count; i++) {
        put_sentence(out, "next: ", chosen->bold, chosen->off, a->next[i].why, NULL);
        if (a->next[i].command == NULL)
            continue;
        char *command = format_terminal(a->next[i].command, 0);
        fprintf(out, "  %s\n", command);
        free(command);
    }
}

void report_table(const model *m, FILE *out, bool color)
{
    const style *chosen = color ? &colored : &plain;
    summary *s = summary_make(m);
    verdicts *all = verdicts_make(s);
    advice *a = advice_make(all);
    for (size_t i = 0; i < m->workloads_count; i++)
        put_workload(all, a, i, out, chosen);
    if (m->cells_count > 0)
        put_legend(all, out, chosen);
    put_notes(out, "missing: ", notes_missing(m), chosen->bold, chosen->off);
    put_notes(out, "note: ", notes_make(m), chosen->bold, chosen->off);
    if (m->workloads_count > 1)
        put_advice(out, "over all workloads: ", &a->overall, chosen);
    put_steps(a, out, chosen);
    advice_free(a);
    verdicts_free(all);
    summary_free(s);
}
