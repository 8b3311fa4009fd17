#include "tool/report/html.h"

#include <inttypes.h>
#include <stdlib.h>

#include "tool/report/format.h"
#include "tool/report/html_parts.h"
#include "tool/report/plot.h"
#include "tool/report/plots.h"
#include "tool/util.h"

/* ---- pieces ---------------------------------------------------------------------------------- */

void html_text(FILE *out, const char *text)
{
    plot_name(out, text, 0);
}

void html_notes(FILE *out, note_list list)
{
    fputs(list.count > 0 ? "<ul>\n" : "", out);
    for (size_t i = 0; i < list.count; i++) {
        fputs("<li>", out);
        html_text(out, list.items[i].text);
        if (list.items[i].who != NULL) {
            fputs(" <span class=\"muted\">(", out);
            html_text(out, list.items[i].who);
            fputs(")</span>", out);
        }
        fputs("</li>\n", out);
    }
    fputs(list.count > 0 ? "</ul>\n" : "", out);
    notes_free(&list);
}

static void put_date(FILE *out, const char *unix_s)
{
    char *text = format_date(unix_s);
    html_text(out, text);
    free(text);
}

static size_t count_targets(const model *m)
{
    size_t n = 0;
    for (size_t i = 0; i < m->targets_count; i++)
        n += m->targets[i].missing == NULL;
    return n;
}

static void put_pieces(FILE *out, const char *const *pieces)
{
    for (; *pieces != NULL; pieces++)
        fputs(*pieces, out);
}

/* ---- the head -------------------------------------------------------------------------------- */

/* Nothing is loaded from anywhere: the browser is told so, too. */
static void put_head(const model *m, FILE *out)
{
    const size_t targets = count_targets(m);
    fputs("<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
          "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; "
          "style-src 'unsafe-inline'; script-src 'unsafe-inline'; img-src data:; base-uri 'none'; "
          "form-action 'none'\">\n"
          "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
          "<meta name=\"color-scheme\" content=\"light dark\">\n"
          "<meta name=\"referrer\" content=\"no-referrer\">\n"
          "<link rel=\"icon\" href=\"data:,\">\n<title>allocbench: ",
          out);
    fprintf(out, "%zu target%s on %zu workload%s</title>\n<style>\n", targets,
            targets == 1 ? "" : "s", m->workloads_count, m->workloads_count == 1 ? "" : "s");
    put_pieces(out, html_style);
    fputs("</style>\n</head>\n<body>\n", out);
}

static void put_title(const model *m, FILE *out)
{
    const size_t targets = count_targets(m);
    fprintf(out,
            "<header><p class=\"brand\">allocbench report</p>\n<h1>%zu target%s on %zu workload%s"
            "</h1>\n<p class=\"meta\">%" PRIu32 " round%s asked, seed %" PRIu64 ", baseline ",
            targets, targets == 1 ? "" : "s", m->workloads_count,
            m->workloads_count == 1 ? "" : "s", m->rounds, m->rounds == 1 ? "" : "s", m->seed);
    html_text(out, m->targets[m->baseline].name);
    fputs(", begun ", out);
    put_date(out, m->unix_s);
    fputs(" on ", out);
    html_text(out, m->host.hostname[0] != '\0' ? m->host.hostname : "a machine without a name");
    fputs(", by allocbench ", out);
    html_text(out, m->tool_version);
    fputs("</p></header>\n", out);
}

static void put_places(const model *m, bool has_scaling, FILE *out)
{
    fputs("<nav aria-label=\"sections\"><ul>\n<li><a href=\"#verdict\">Verdict</a></li>\n"
          "<li><a href=\"#machine\">Machine</a></li>\n",
          out);
    for (size_t i = 0; i < m->workloads_count; i++) {
        fputs("<li><a href=\"#", out);
        html_text(out, m->workloads[i].id);
        fputs("\">", out);
        plot_name(out, m->workloads[i].label, 40);
        fputs("</a></li>\n", out);
    }
    fputs(has_scaling ? "<li><a href=\"#scaling\">Scaling</a></li>\n" : "", out);
    fputs("<li><a href=\"#notes\">Notes</a></li>\n<li><a href=\"#targets\">Targets</a></li>\n"
          "<li><a href=\"#again\">Again</a></li>\n</ul></nav>\n",
          out);
}

/* ---- the verdict ----------------------------------------------------------------------------- */

static void put_next(const advice *a, FILE *out)
{
    if (a->next_count == 0)
        return;
    fputs("<h3>Next</h3>\n<ul class=\"next\">\n", out);
    for (size_t i = 0; i < a->next_count; i++) {
        fputs("<li>", out);
        html_text(out, a->next[i].why);
        if (a->next[i].command != NULL) {
            fputs("<pre>", out);
            html_text(out, a->next[i].command);
            fputs("</pre>", out);
        }
        fputs("</li>\n", out);
    }
    fputs("</ul>\n", out);
}

static void put_verdict(const verdicts *v, const advice *a, FILE *out)
{
    fputs("<section id=\"verdict\"><h2>Verdict</h2>\n", out);
    for (size_t i = 0; i < a->overall.count; i++) {
        fputs(i == 0 ? "<p class=\"lead\">" : "<p>", out);
        html_text(out, a->overall.sentences[i]);
        fputs("</p>\n", out);
    }
    html_board(v, out);
    put_next(a, out);
    fputs("</section>\n", out);
}

/* ---- the end --------------------------------------------------------------------------------- */

static void put_help(FILE *out)
{
    fputs(
        "<section id=\"notes\"><h2>How to read it</h2>\n<ul>\n"
        "<li>A ratio is the target's by the baseline's, paired within each round; its middle is "
        "the "
        "Hodges-Lehmann estimate, its interval that of the exact signed-rank test, with 5 % shared "
        "by all that is compared in a metric.</li>\n"
        "<li>The threshold is 1 %, or what the baseline against itself (A/A) reaches, where that "
        "is "
        "more. Better and worse lie clear of it; same lies within it on both sides; what is "
        "neither "
        "is not told apart, which is not the same as equal.</li>\n"
        "<li>Ranks compare all pairs. Targets with the same places are a tie.</li>\n"
        "<li>Time is the median over slices of work, without each phase's first. Memory is what "
        "the "
        "kernel says, less what it said before the work.</li>\n"
        "<li>Values of the rounds are in <code>raw.tsv</code> and below each workload; what was "
        "worked out of them is in <code>summary.tsv</code>, beside this page.</li>\n</ul>\n",
        out);
}

static void put_end(const model *m, FILE *out)
{
    put_help(out);
    note_list notes = notes_make(m);
    fputs(notes.count > 0 ? "<h3>Notes and warnings</h3>\n" : "", out);
    html_notes(out, notes);
    fputs("</section>\n", out);
    html_targets(m, out);
    fputs("<section id=\"again\"><h2>Again</h2>\n<p>The command that made this; in the same "
          "directory it goes on with what is there:</p>\n<pre>",
          out);
    html_text(out, m->command_line);
    fputs("</pre>\n</section>\n", out);
}

void html_report(const verdicts *v, FILE *out)
{
    const model *m = v->s->m;
    advice *a = advice_make(v);
    char *scaling;
    size_t size;
    FILE *page = open_memstream(&scaling, &size);
    const bool has_scaling = page != NULL && plot_scaling(v->s, page);
    if (page == NULL || fclose(page) != 0) {
        fputs("allocbench: out of memory\n", stderr);
        exit(3);
    }
    put_head(m, out);
    put_title(m, out);
    put_places(m, has_scaling, out);
    fputs("<main>\n", out);
    put_verdict(v, a, out);
    html_machine(m, out);
    for (size_t i = 0; i < m->workloads_count; i++)
        html_workload(v, i, i < a->workloads_count ? &a->workloads[i] : NULL, out);
    if (has_scaling)
        fprintf(out,
                "<section id=\"scaling\"><h2>Scaling over lanes</h2>\n<div class=\"plots\">\n%s"
                "</div></section>\n",
                scaling);
    put_end(m, out);
    fputs("</main>\n<script>\n", out);
    put_pieces(out, html_script);
    fputs("</script>\n</body>\n</html>\n", out);
    free(scaling);
    advice_free(a);
}
