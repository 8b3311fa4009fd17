#include "tool/report/html_parts.h"

#include <inttypes.h>
#include <stdbool.h>
#include <stdlib.h>

#include "tool/report/after.h"
#include "tool/report/fragmentation.h"
#include "tool/report/grid.h"
#include "tool/report/latency.h"
#include "tool/report/machines.h"
#include "tool/report/phases.h"
#include "tool/report/plots.h"
#include "tool/report/view.h"
#include "tool/util.h"

/* ---- what is said in Markdown elsewhere ------------------------------------------------------ */

typedef void (*section)(const verdicts *all, const view *v, FILE *out);

/* Inside of something that opens; nothing when the section is empty. */
static void put_section(const verdicts *all, const view *v, section from, const char *head,
                        FILE *out)
{
    char *text;
    size_t size;
    FILE *page = open_memstream(&text, &size);
    if (page == NULL)
        return;
    from(all, v, page);
    if (fclose(page) == 0 && size > 0) {
        fprintf(out, "<details><summary>%s</summary>\n", head);
        html_markdown(out, text);
        fputs("</details>\n", out);
    }
    free(text);
}

static void phases_section(const verdicts *all, const view *v, FILE *out)
{
    char *clock = phases_clock(v);
    (void)all;
    phases_markdown(v, out);
    if (clock != NULL)
        fprintf(out, "\nThe clock: %s.\n", clock);
    free(clock);
}

static void latency_section(const verdicts *all, const view *v, FILE *out)
{
    latency *l = latency_make(v->s->m, v->workload);
    (void)all;
    if (l == NULL)
        return;
    char *title = latency_title(l);
    grid *g = latency_grid(l, false);
    fprintf(out, "The %s:\n\n", title);
    grid_markdown(g, out);
    fprintf(out, "\n%s.\n", latency_legend);
    grid_free(g);
    free(title);
    latency_free(l);
}

static void after_section(const verdicts *all, const view *v, FILE *out)
{
    (void)all;
    after_markdown(v, out);
}

static void fragmentation_section(const verdicts *all, const view *v, FILE *out)
{
    (void)all;
    fragmentation_markdown(v, out);
}

static void machines_section(const verdicts *all, const view *v, FILE *out)
{
    machines_markdown(all, v->workload, out);
}

/* ---- pictures -------------------------------------------------------------------------------- */

/* The ones that most programs ask first. */
static bool is_first(uint32_t kind)
{
    return kind == ABENCH_LATENCY_MALLOC || kind == ABENCH_LATENCY_FREE ||
           kind == ABENCH_LATENCY_REQUEST;
}

static void put_latencies(const latency *l, bool first, FILE *out)
{
    for (uint32_t kind = 0; l != NULL && kind < ABENCH_LATENCY_KINDS; kind++) {
        if (kind != ABENCH_LATENCY_CONTROL && is_first(kind) == first)
            plot_latency(l, kind, out);
    }
}

static void put_more(const latency *l, FILE *out)
{
    char *text;
    size_t size;
    FILE *page = open_memstream(&text, &size);
    if (page == NULL)
        return;
    put_latencies(l, false, page);
    if (fclose(page) == 0 && size > 0)
        fprintf(out,
                "<details><summary>Latencies of other calls</summary>\n<div class=\"plots\">\n%s"
                "</div></details>\n",
                text);
    free(text);
}

static void put_pictures(const verdicts *v, const view *shown, FILE *out)
{
    latency *l = latency_make(v->s->m, shown->workload);
    fputs("<div class=\"plots\">\n", out);
    plot_rss(v->s->m, shown->workload, out);
    plot_forest(v, shown->workload, out);
    plot_back(shown, out);
    put_latencies(l, true, out);
    fputs("</div>\n", out);
    put_more(l, out);
    latency_free(l);
}

/* ---- the whole ------------------------------------------------------------------------------- */

/* What makes the same work again, and by what it is known. */
static void put_work(const model *m, size_t workload, FILE *out)
{
    const model_workload *w = &m->workloads[workload];
    if (w->spec[0] != '\0' && !w->is_command) {
        fputs("<p class=\"meta\">Played: <code>", out);
        html_text(out, w->spec);
        fputs("</code>", out);
        for (size_t i = 0; i < m->cells_count; i++) {
            const model_cell *cell = &m->cells[i];
            if (cell->workload != workload || cell->failed || cell->work_digest == NULL)
                continue;
            fprintf(out, ", work digest of round %" PRIu32 ": <code>", cell->round + 1);
            html_text(out, cell->work_digest);
            fputs("</code>", out);
            break;
        }
        fputs("</p>\n", out);
    }
}

static void put_head(const view *v, const advice_text *text, FILE *out)
{
    const model *m = v->s->m;
    const model_workload *w = &m->workloads[v->workload];
    fputs("<section class=\"workload\" id=\"", out);
    html_text(out, w->id);
    fputs("\"><h2>", out);
    html_text(out, w->label);
    fprintf(out, "</h2>\n<p class=\"meta\">%s, %zu of %" PRIu32 " rounds%s%s%s</p>\n",
            w->is_command ? "A command" : "A tape", v->rounds, m->rounds, view_mode(v),
            v->held[0] != '\0' ? ", " : "", v->held);
    if (text != NULL && text->count > 0) {
        char *joined = advice_join(text);
        fputs("<p class=\"say\">", out);
        html_text(out, joined);
        fputs("</p>\n", out);
        free(joined);
    }
}

void html_workload(const verdicts *v, size_t workload, const advice_text *text, FILE *out)
{
    view *shown = view_make(v, workload);
    char *share;
    put_head(shown, text, out);
    if (shown->rounds == 0) {
        fputs("<p>No round is finished.</p>\n", out);
    } else {
        put_pictures(v, shown, out);
        html_verdicts(v, workload, out);
        html_notes(out, notes_verdicts(v, workload));
    }
    if (view_share(shown, &share)) {
        fputs("<p class=\"meta\">", out);
        html_text(out, share);
        fputs(".</p>\n", out);
        free(share);
    }
    note_list failures = notes_failures(v->s->m, workload);
    fputs(failures.count > 0 ? "<h3>Failed cells</h3>\n" : "", out);
    html_notes(out, failures);
    put_work(v->s->m, workload, out);
    static const struct {
        section from;
        const char *head;
    } sections[] = {
        {machines_section, "By machine"},
        {phases_section, "Memory over the phases"},
        {after_section, "What comes back after everything is freed, in numbers"},
        {fragmentation_section, "Fragmentation by definition"},
        {latency_section, "Latencies in numbers"},
    };
    for (size_t i = 0; i < sizeof sections / sizeof *sections; i++)
        put_section(v, shown, sections[i].from, sections[i].head, out);
    html_raw(v->s, workload, out);
    fputs("</section>\n", out);
    view_free(shown);
}
