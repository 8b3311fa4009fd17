#include "tool/report/markdown.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tool/report/accounts.h"
#include "tool/report/advice.h"
#include "tool/report/after.h"
#include "tool/report/fitness.h"
#include "tool/report/format.h"
#include "tool/report/fragmentation.h"
#include "tool/report/latency.h"
#include "tool/report/machines.h"
#include "tool/report/notes.h"
#include "tool/report/phases.h"
#include "tool/report/view.h"
#include "tool/util.h"

/* ---- what was asked, and where --------------------------------------------------------------- */

static void put_date(FILE *out, const char *unix_s)
{
    char *text = format_date(unix_s);
    format_markdown(out, text);
    free(text);
}

static void put_head(const model *m, FILE *out)
{
    fputs("# allocbench report\n\n", out);
    format_markdown_block(out, m->command_line);
    fputs("\nbegun on ", out);
    put_date(out, m->unix_s);
    fputs(" by allocbench ", out);
    format_markdown(out, m->tool_version);
    fprintf(out, ": %" PRIu32 " round%s, seed %" PRIu64 ", baseline ", m->rounds,
            m->rounds == 1 ? "" : "s", m->seed);
    format_markdown(out, m->targets[m->baseline].name);
    fputs(".\n", out);
}

static void put_fact(FILE *out, const char *name, const char *value)
{
    fprintf(out, "| %s | ", name);
    format_markdown(out, *value != '\0' ? value : "n/a");
    fputs(" |\n", out);
}

static void put_count(FILE *out, const char *name, uint32_t count)
{
    fprintf(out, "| %s | ", name);
    if (count > 0)
        fprintf(out, "%" PRIu32 " |\n", count);
    else
        fputs("n/a |\n", out);
}

static void put_bytes(FILE *out, const char *name, uint64_t bytes, const char *none)
{
    format_unit scale = format_scale("bytes", (double)bytes);
    double shown = (double)bytes / scale.divisor;
    if (bytes == 0)
        fprintf(out, "| %s | %s |\n", name, none);
    else
        fprintf(out, "| %s | %.*f %s |\n", name, format_decimals(shown), shown, scale.name);
}

static void put_machine(const model *m, FILE *out)
{
    const abench_host *host = &m->host;
    fputs("\n## Machine\n\n| | |\n|---|---|\n", out);
    put_fact(out, "host", host->hostname);
    put_fact(out, "CPU", host->cpu);
    put_count(out, "CPUs online", host->cpus_online);
    put_count(out, "CPUs allowed", host->cpus_allowed);
    put_fact(out, "governor", host->governor);
    put_bytes(out, "memory", host->memory_bytes, "n/a");
    put_bytes(out, "memory limit", host->memory_limit_bytes, "none");
    put_fact(out, "kernel", host->kernel);
    put_fact(out, "machine", host->machine);
    put_fact(out, "C library", host->libc);
    put_fact(out, "huge pages (THP)", host->thp);
    put_count(out, "bytes a page", host->page_bytes);
    fitness_table(&m->machine, out);
}

/* Does any allocator say what settings it took? */
static bool tells_settings(const model *m)
{
    bool told = false;
    for (size_t i = 0; i < m->targets_count && !told; i++) {
        char *settings = accounts_settings(m, i);
        told = settings != NULL;
        free(settings);
    }
    return told;
}

static void put_target_cell(FILE *out, const char *text)
{
    fputs("| ", out);
    format_markdown(out, *text != '\0' ? text : "n/a");
    fputc(' ', out);
}

static void put_targets(const model *m, FILE *out)
{
    const bool told = tells_settings(m);
    fprintf(out,
            "\n## Targets\n\n| target | family | version | build id | library | settings |%s\n"
            "|---|---|---|---|---|---|%s\n",
            told ? " in force, as it tells |" : "", told ? "---|" : "");
    for (size_t i = 0; i < m->targets_count; i++) {
        const model_target *t = &m->targets[i];
        const char *texts[] = {t->name,
                               t->family,
                               t->version,
                               t->build_id,
                               *t->library != '\0' ? t->library : "the C library",
                               *t->settings != '\0' ? t->settings : "none"};
        if (t->missing != NULL)
            continue;
        for (size_t j = 0; j < sizeof texts / sizeof *texts; j++)
            put_target_cell(out, texts[j]);
        if (told) {
            char *settings = accounts_settings(m, i);
            put_target_cell(out, settings != NULL ? settings : "");
            free(settings);
        }
        fputs("|\n", out);
    }
}

static void put_notes(FILE *out, const char *head, note_list list)
{
    if (list.count > 0)
        fputs(head, out);
    for (size_t i = 0; i < list.count; i++) {
        fputs("- ", out);
        format_markdown(out, list.items[i].text);
        if (list.items[i].who != NULL) {
            fputs(" (", out);
            format_markdown(out, list.items[i].who);
            fputc(')', out);
        }
        fputc('\n', out);
    }
    notes_free(&list);
}

/* ---- a workload ------------------------------------------------------------------------------ */

/* " **x0.72 [0.70 0.74]** better, rank 1-2". */
static void put_ratio(const view_cell *cell, FILE *out)
{
    const char *strong = cell->verdict != 0 ? "**" : "";
    if (cell->ratio[0] != '\0')
        fprintf(out, " %s%s%s", strong, cell->ratio, strong);
    if (cell->word[0] != '\0')
        fprintf(out, " %s", cell->word);
    if (cell->rank[0] != '\0')
        fprintf(out, "%s rank %s", cell->word[0] != '\0' ? "," : "", cell->rank);
}

static void put_table(const view *v, FILE *out)
{
    fputs("\n| target ", out);
    for (size_t i = 0; i < v->columns_count; i++) {
        fputs("| ", out);
        format_markdown(out, v->columns[i].title);
        fputs(v->columns[i].unit[0] != '\0' ? ", " : "", out);
        format_markdown(out, v->columns[i].unit);
        fputc(' ', out);
    }
    fputs("|\n|---", out);
    for (size_t i = 0; i < v->columns_count; i++)
        fputs("|---:", out);
    fputs("|\n", out);
    for (size_t i = 0; i < v->rows_count; i++) {
        fputs("| ", out);
        format_markdown(out, v->rows[i].label);
        for (size_t j = 0; j < v->columns_count; j++) {
            view_cell cell = view_at(v, i, j);
            fprintf(out, " | %s%s%s", cell.value, cell.spread[0] != '\0' ? " " : "", cell.spread);
            if (v->columns[j].wants_ratio)
                put_ratio(&cell, out);
        }
        fputs(" |\n", out);
    }
}

static void put_percent(FILE *out, double share)
{
    char *text = advice_percent(share);
    fputs(text, out);
    free(text);
}

/* What is judged, and by what: how far apart the two cells of the baseline read, and the threshold
 * that follows. */
static void put_noise(const verdicts *v, size_t workload, FILE *out)
{
    bool begun = false;
    for (size_t i = 0; i < v->count; i++) {
        const verdict_metric *metric = &v->metrics[i];
        if (metric->workload != workload || metric->count == 0)
            continue;
        if (!begun)
            fputs("\nWhat the verdicts stand on (A/A: the baseline against itself in the same "
                  "rounds):\n\n| metric | better | A/A | threshold | rounds | needed | |\n"
                  "|---|---|---:|---:|---:|---:|---|\n",
                  out);
        begun = true;
        fputs("| ", out);
        format_markdown(out, metric->title);
        char *noise = metric->aa.count > 0
                          ? advice_ratio(metric->aa.estimate, metric->aa.low, metric->aa.high)
                          : NULL;
        fprintf(out, " | %s | %s | ",
                metric->direction == ABENCH_DIRECTION_HIGHER ? "higher" : "lower",
                noise != NULL ? noise : "n/a");
        put_percent(out, metric->threshold);
        fprintf(out, " | %" PRIu32 " | %" PRIu32 " | %s |\n", metric->rounds, metric->rounds_least,
                metric->refused ? "refused: A/A separates" : "");
        free(noise);
    }
}

/* The arms of a metric by their places, as "1 tcmalloc; 2-3 jemalloc, mimalloc (a tie)". */
static void put_places(const verdicts *v, const verdict_metric *metric, FILE *out)
{
    const model *m = v->s->m;
    size_t said = 0;
    const uint32_t arms = (uint32_t)metric->count + 1;
    for (uint32_t low = 1; low <= arms; low++) {
        for (uint32_t high = low; high <= arms; high++) {
            size_t found = 0;
            for (size_t target = 0; target < m->targets_count; target++) {
                const verdict *item = verdict_of(metric, target);
                if (item == NULL || !item->has_rank || item->rank_low != low ||
                    item->rank_high != high)
                    continue;
                if (found > 0)
                    fputs(", ", out);
                else if (low == high)
                    fprintf(out, "%s%" PRIu32 " ", said > 0 ? "; " : "", low);
                else
                    fprintf(out, "%s%" PRIu32 "-%" PRIu32 " ", said > 0 ? "; " : "", low, high);
                format_markdown(out, m->targets[target].name);
                found++;
                said++;
            }
            fputs(found > 1 ? " (a tie)" : "", out);
        }
    }
}

static void put_ranks(const verdicts *v, size_t workload, FILE *out)
{
    for (size_t i = 0; i < v->count; i++) {
        const verdict_metric *metric = &v->metrics[i];
        if (metric->workload != workload || !metric->is_main || !metric->base.has_rank)
            continue;
        fputs("\nRanks by ", out);
        format_markdown(out, metric->title);
        fputs(": ", out);
        put_places(v, metric, out);
        fputs(".\n", out);
    }
}

/* The paragraph of a text, escaped. */
static void put_advice(FILE *out, const advice_text *text)
{
    char *joined = advice_join(text);
    if (text->count > 0) {
        fputc('\n', out);
        format_markdown(out, joined);
        fputc('\n', out);
    }
    free(joined);
}

static void put_phases(const view *v, FILE *out)
{
    char *sentence = phases_clock(v);
    phases_markdown(v, out);
    if (sentence != NULL) {
        fputs("\nThe clock: ", out);
        format_markdown(out, sentence);
        fputs(".\n", out);
    }
    free(sentence);
}

static void put_latency(const view *v, FILE *out)
{
    latency *l = latency_make(v->s->m, v->workload);
    if (l == NULL)
        return;
    char *title = latency_title(l);
    grid *g = latency_grid(l, false);
    fputs("\nThe ", out);
    format_markdown(out, title);
    fputs(":\n\n", out);
    grid_markdown(g, out);
    grid_free(g);
    free(title);
    latency_free(l);
}

/* What makes the same work again, and by what it is known: of the first round that has a digest. */
static void put_work(const model *m, size_t workload, FILE *out)
{
    const model_workload *w = &m->workloads[workload];
    if (w->spec[0] != '\0' && !w->is_command) {
        fputs("\nPlayed: ", out);
        format_markdown(out, w->spec);
        fputc('\n', out);
    }
    for (size_t i = 0; i < m->cells_count; i++) {
        const model_cell *cell = &m->cells[i];
        if (cell->workload != workload || cell->failed || cell->work_digest == NULL)
            continue;
        fprintf(out, "\nWork digest of round %" PRIu32 ": ", cell->round + 1);
        format_markdown(out, cell->work_digest);
        fputc('\n', out);
        return;
    }
}

static void put_workload(const verdicts *all, const advice *a, size_t workload, const char *chart,
                         FILE *out)
{
    const model *m = all->s->m;
    const model_workload *w = &m->workloads[workload];
    view *v = view_make(all, workload);
    char *sentence;
    fputs("\n## ", out);
    format_markdown(out, w->label);
    fprintf(out, "\n\n%s, %zu of %" PRIu32 " rounds%s%s%s.\n",
            w->is_command ? "A command" : "A tape", v->rounds, model_rounds(m, workload),
            view_mode(v), v->held[0] != '\0' ? ", " : "", v->held);
    if (m->workloads_count > 1) /* else it stands above */
        put_advice(out, &a->workloads[workload]);
    if (v->rounds == 0)
        fputs("\nNo round is finished.\n", out);
    else if (v->columns_count == 0)
        fputs("\nNo cell has a number.\n", out);
    else
        put_table(v, out);
    put_ranks(all, workload, out);
    if (v->rounds > 0)
        put_notes(out, "\nBeware:\n\n", notes_verdicts(all, workload));
    put_notes(out, "\nFailed cells:\n\n", notes_failures(m, workload));
    put_noise(all, workload, out);
    machines_markdown(all, workload, out);
    if (view_share(v, &sentence)) {
        fputc('\n', out);
        format_markdown(out, sentence);
        fputs(".\n", out);
        free(sentence);
    }
    put_work(m, workload, out);
    if (chart != NULL)
        fprintf(out, "\n![RSS over time](%s)\n", chart);
    put_phases(v, out);
    after_markdown(v, out);
    fragmentation_markdown(v, out);
    put_latency(v, out);
    view_free(v);
}

/* ---- the end --------------------------------------------------------------------------------- */

static void put_reading_help(const model *m, FILE *out)
{
    fputs("\n## How to read it\n\n"
          "- Each value is the median over the rounds; ± is (max - min) / median.\n"
          "- **x0.72 [0.70 0.74]** is the ratio to ",
          out);
    format_markdown(out, m->targets[m->baseline].name);
    fputs(
        " and its interval. Ratios are taken within one round; 0.72 is the Hodges-Lehmann middle "
        "of "
        "theirs, and the interval is that of the exact signed-rank test. It needs no normal "
        "distribution. 95 % are meant of all targets of a metric together (Bonferroni). Too few "
        "rounds for that have no interval, and no verdict.\n"
        "- *better* and *worse*: the interval is clear of the threshold. *same*: it lies within "
        "the "
        "threshold on both sides, so there is no difference that matters. *not told apart*: "
        "neither; more rounds make it narrower.\n"
        "- The threshold is 1 %, or what the baseline reaches against itself (A/A), where that is "
        "more. A/A is the baseline run twice a round: both are the same, so what they differ by is "
        "noise. Where A/A itself differs surely (signed-rank test, Holm over all metrics), "
        "something is wrong with the measurement, and the metric is refused: nothing in it is "
        "ranked.\n"
        "- A rank is the places that a target may have: better than it are those that are proven "
        "so against it, all pairs compared. Those with the same places are a tie: none of them is "
        "proven better.\n"
        "- *not steady*: it still moves from the first half of its runs to the second.\n"
        "- Time is the median over slices of work, without each phase's first, waits and pauses. "
        "Of several timed phases it is the mean of their medians, weighed by their operations; "
        "their ratios are weighed by the baseline's time in each.\n"
        "- Memory is what the kernel says, less what it said before the work. *usable/live* is "
        "what the allocator rounds up, *RSS/live* "
        "all that it costs, *drained* what it keeps when everything was freed, read at once; ",
        out);
    fputs(after_any_waited(m)
              ? "*What comes back* has the seconds after that.\n"
              : "what gives memory back by the clock has had no time (`--settle`, burst-idle, "
                "`--paced`).\n",
          out);
    fputs(
        "- Peaks: RSS before a peak, at its end and at the end of its recovery; *came back* is the "
        "share of its growth that was given back by then (*grew on 21%*: that much was added "
        "instead), *half back after* how long that took "
        "on the target's own clock (*not seen*: the timeline has too few readings there).\n",
        out);
    if (latency_any(m)) {
        fputs("- Latencies are added up over the rounds. ", out);
        format_markdown(out, latency_legend);
        fputs(
            ". *control* is what the clock reads around nothing, *malloc\\_touch* a call with the "
            "first write behind it. Single operations are timed for their tails: rank by the "
            "time of many, above.\n",
            out);
    }
    fputs("- An allocator can win one column by losing another: read the row, not the cell.\n"
          "- In lockstep a target plays a slice, then sleeps while the others play theirs. It "
          "finds cold "
          "caches when it goes on, which weighs more the faster it is and the more targets there "
          "are; and more time "
          "passes on the clock between its operations than in a program of its own. What purges by "
          "the clock (jemalloc's decay, mimalloc's purge delay) may give back earlier in the work "
          "than "
          "it would there; `--sequential` shows how much that is.\n",
          out);
}

static void put_steps(const advice *a, FILE *out)
{
    if (a->next_count > 0)
        fputs("\n## Next\n", out);
    for (size_t i = 0; i < a->next_count; i++) {
        fputc('\n', out);
        format_markdown(out, a->next[i].why);
        fputc('\n', out);
        if (a->next[i].command == NULL)
            continue;
        fputc('\n', out);
        format_markdown_block(out, a->next[i].command);
    }
}

/* Runs leave a plan behind, unless no plan can hold their words. */
static void put_plan(const model *m, FILE *out)
{
    char *path = xasprintf("%s/plan.json", m->directory);
    if (access(path, F_OK) == 0)
        fputs("\nThe same from a file, here or on another machine: `allocbench run --plan` "
              "[plan.json](plan.json) `-o OTHER`\n",
              out);
    free(path);
}

static void put_files(const model *m, char *const *charts, FILE *out)
{
    const char *histograms =
        latency_any(m) ? "- hgrm/: every latency's percentiles, as HdrHistogram's plotters read "
                         "them, in nanoseconds\n"
                       : "";
    fputs("\n## Again\n\n", out);
    format_markdown_block(out, m->command_line);
    put_plan(m, out);
    fputs(
        "\n## Files\n\n"
        "- [summary.tsv](summary.tsv): a line a workload, target and metric\n"
        "- [raw.tsv](raw.tsv): a line a metric of each cell, as recorded; rounds count from 0\n"
        "- [samples.csv](samples.csv): a line a reading of the memory counters; rounds count from "
        "0\n"
        "- [matrix.json](matrix.json), rounds/, cells/: what all of this is made from "
        "(`allocbench report` makes it again); rounds count from 0 there too\n",
        out);
    fputs(histograms, out);
    for (size_t i = 0; i < m->workloads_count; i++) {
        if (charts[i] != NULL) {
            fprintf(out, "- [%s](%s): RSS over time, ", charts[i], charts[i]);
            format_markdown(out, m->workloads[i].label);
            fputc('\n', out);
        }
    }
}

/* Of each workload in one line; a single one's stands above. */
static void put_verdicts(const model *m, const advice *a, FILE *out)
{
    fputs("\n## Verdict\n", out);
    put_advice(out, &a->overall);
    if (a->overall.count == 0)
        fputs("\nNo round is finished.\n", out);
    for (size_t i = 0; i < a->workloads_count && m->workloads_count > 1; i++) {
        char *joined = advice_join(&a->workloads[i]);
        fputs(i == 0 ? "\n- *" : "- *", out);
        format_markdown(out, m->workloads[i].label);
        fputs("*: ", out);
        format_markdown(out, *joined != '\0' ? joined : "No round is finished.");
        fputc('\n', out);
        free(joined);
    }
}

void markdown_report(const verdicts *v, char *const *charts, FILE *out)
{
    const model *m = v->s->m;
    advice *a = advice_make(v);
    put_head(m, out);
    put_verdicts(m, a, out);
    fitness_head(&m->machine, out);
    for (size_t i = 0; i < m->workloads_count; i++)
        put_workload(v, a, i, charts[i], out);
    put_reading_help(m, out);
    put_notes(out, "\n## Notes\n\n", notes_make(m));
    put_targets(m, out);
    put_notes(out, "\nMissing:\n\n", notes_missing(m));
    put_machine(m, out);
    machines_list_markdown(m, out);
    accounts_markdown(m, out);
    put_steps(a, out);
    put_files(m, charts, out);
    advice_free(a);
}
