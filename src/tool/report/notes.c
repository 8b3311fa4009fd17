#include "tool/report/notes.h"

#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <allocbench/machine.h>

#include "tool/report/advice.h"
#include "tool/report/after.h"
#include "tool/report/machines.h"
#include "tool/report/summary.h"
#include "tool/report/words.h"
#include "tool/util.h"

#define NAMES_MAX 4u /* of targets or workloads that said the same; more are only counted */

typedef struct collector {
    note_list list;
    size_t capacity;
} collector;

/* Takes over both strings. */
static void add(collector *c, char *text, char *who)
{
    c->list.items = util_grow(c->list.items, c->list.count, &c->capacity, sizeof *c->list.items);
    c->list.items[c->list.count++] = (note){text, who};
}

const char *notes_target(const model *m, const model_cell *cell)
{
    return cell->target == MODEL_FLOOR ? "no allocator" : m->targets[cell->target].name;
}

/* ---- warnings of cells ----------------------------------------------------------------------- */

typedef struct warning {
    const char *text;
    const model_cell *cell;
} warning;

static int by_text(const void *a, const void *b)
{
    const warning *x = a;
    const warning *y = b;
    int order = strcmp(x->text, y->text);
    if (order != 0)
        return order;
    if (x->cell->target != y->cell->target)
        return x->cell->target < y->cell->target ? -1 : 1;
    return (x->cell > y->cell) - (x->cell < y->cell);
}

/* "3 cells: glibc, jemalloc" for a run of equal warnings, sorted by target. */
static char *who_said(const model *m, const warning *first, size_t count)
{
    char *names = xstrdup("");
    size_t cells = 0;
    size_t targets = 0;
    for (size_t i = 0; i < count; i++) {
        cells += i == 0 || first[i].cell != first[i - 1].cell;
        if (i > 0 && first[i].cell->target == first[i - 1].cell->target)
            continue;
        targets++;
        if (targets > NAMES_MAX)
            continue;
        char *longer =
            xasprintf("%s%s%s", names, targets == 1 ? "" : ", ", notes_target(m, first[i].cell));
        free(names);
        names = longer;
    }
    char *who = targets > NAMES_MAX
                    ? xasprintf("%zu cells of %zu targets", cells, targets)
                    : xasprintf("%zu cell%s: %s", cells, cells == 1 ? "" : "s", names);
    free(names);
    return who;
}

/* "larson, mixed: " of a directory with several workloads; one alone needs no name. free() it. */
static char *where_said(const model *m, const warning *first, size_t count)
{
    char *names = xstrdup("");
    size_t found = 0;
    for (size_t workload = 0; workload < m->workloads_count && m->workloads_count > 1; workload++) {
        bool said = false;
        for (size_t i = 0; i < count && !said; i++)
            said = first[i].cell->workload == workload;
        found += said;
        if (!said || found > NAMES_MAX)
            continue;
        char *longer =
            xasprintf("%s%s%.80s", names, found == 1 ? "" : ", ", m->workloads[workload].label);
        free(names);
        names = longer;
    }
    char *where = found == 0          ? xstrdup("")
                  : found > NAMES_MAX ? xasprintf("%zu workloads: ", found)
                                      : xasprintf("%s: ", names);
    free(names);
    return where;
}

static void add_warnings(collector *c, const model *m)
{
    warning *all = NULL;
    size_t count = 0;
    size_t capacity = 0;
    for (size_t i = 0; i < m->cells_count; i++) {
        for (size_t j = 0; j < m->cells[i].warnings_count; j++) {
            all = util_grow(all, count, &capacity, sizeof *all);
            all[count++] = (warning){m->cells[i].warnings[j], &m->cells[i]};
        }
    }
    if (count > 0)
        qsort(all, count, sizeof *all, by_text);
    size_t end;
    for (size_t i = 0; i < count; i = end) {
        for (end = i; end < count && strcmp(all[end].text, all[i].text) == 0;)
            end++;
        char *where = where_said(m, &all[i], end - i);
        add(c, xasprintf("%s%s", where, all[i].text), who_said(m, &all[i], end - i));
        free(where);
    }
    free(all);
}

/* ---- the rest -------------------------------------------------------------------------------- */

static void add_other_work(collector *c, const model *m)
{
    for (size_t i = 0; i < m->cells_count; i++) {
        const model_cell *cell = &m->cells[i];
        const model_cell *base = summary_baseline(m, cell->workload, cell->round);
        if (cell->failed || base == NULL || summary_same_work(cell, base))
            continue;
        add(c,
            xasprintf("round %u of %s: %s did other work than %s (their digests differ), so they "
                      "are not compared",
                      cell->round + 1, m->workloads[cell->workload].label, notes_target(m, cell),
                      notes_target(m, base)),
            NULL);
    }
}

/* A command that finds what its last run left does other work: its output often shows it. Not that
 * of a harness, which prints what it measured. */
static void add_other_output(collector *c, const model *m)
{
    for (size_t workload = 0; workload < m->workloads_count; workload++) {
        double least = INFINITY, most = -INFINITY;
        for (size_t i = 0; i < m->cells_count; i++) {
            const model_metric *bytes = model_cell_metric(&m->cells[i], "output_bytes");
            if (m->cells[i].workload != workload || m->cells[i].failed || bytes == NULL ||
                m->cells[i].is_harness)
                continue;
            least = fmin(least, bytes->value);
            most = fmax(most, bytes->value);
        }
        if (m->workloads[workload].is_command && least < most)
            add(c,
                xasprintf("%s: its runs did not print the same (%.0f to %.0f bytes): does each do "
                          "the same work?",
                          m->workloads[workload].label, least, most),
                NULL);
    }
}

/* ---- memory that waits for a call ------------------------------------------------------------ */

static const char *setting_of(const model_cell *cell, const char *name)
{
    for (size_t i = 0; i < cell->settings_count; i++) {
        if (strcmp(cell->settings[i].name, name) == 0)
            return cell->settings[i].value;
    }
    return "";
}

/* Of an allocator that decays (jemalloc and its kin, by the settings that it told) without a thread
 * of its own: over how many ms; 0: it does not, or its cells saw no second pass. */
static uint64_t decay_of(const model *m, size_t target)
{
    for (size_t i = 0; i < m->cells_count; i++) {
        const model_cell *cell = &m->cells[i];
        const char *decay = setting_of(cell, "opt.dirty_decay_ms");
        const size_t digits = strspn(decay, "0123456789"); /* -1: never */
        if (cell->target == target && after_waited(cell) && digits > 0 && digits < 16 &&
            decay[digits] == '\0' &&
            strcmp(setting_of(cell, "opt.background_thread"), "false") == 0)
            return strtoull(decay, NULL, 10);
    }
    return 0;
}

/* "jemalloc, jemalloc-2" for those that decay over so many ms; NULL when one before `first` has
 * told it. free() it. */
static char *who_decays(const model *m, size_t first, uint64_t ms)
{
    char *names = xstrdup("");
    for (size_t i = 0; i < m->targets_count; i++) {
        if (decay_of(m, i) != ms)
            continue;
        if (i < first) {
            free(names);
            return NULL;
        }
        char *longer = xasprintf("%s%s%s", names, i == first ? "" : ", ", m->targets[i].name);
        free(names);
        names = longer;
    }
    return names;
}

/* In the seconds of --settle nobody calls the allocator. */
static void add_decays(collector *c, const model *m)
{
    for (size_t i = 0; i < m->targets_count; i++) {
        const uint64_t ms = decay_of(m, i);
        char *who = ms > 0 ? who_decays(m, i, ms) : NULL;
        if (who != NULL)
            add(c,
                xasprintf("what comes back: with opt.background_thread=false it gives back by its "
                          "decay only when it is called, and all of it not before %.4g s "
                          "(opt.dirty_decay_ms); in the seconds after everything was freed nobody "
                          "calls it",
                          (double)ms / 1e3),
                who);
    }
}

/* ---- the machine ----------------------------------------------------------------------------- */

/* What the doctor refuses, each with what to do. */
static void add_findings(collector *c, const model_machine *machine)
{
    for (size_t i = 0; i < machine->findings_count; i++) {
        const model_finding *f = &machine->findings[i];
        if (f->verdict == ABENCH_VERDICT_REFUSE)
            add(c,
                xasprintf("the machine is not fit for a comparison: %s, %s: %s", f->name, f->value,
                          f->advice),
                NULL);
    }
}

static bool is_same_change(const model_change *a, const model_change *b)
{
    return strcmp(a->finding.name, b->finding.name) == 0 &&
           a->finding.verdict == b->finding.verdict;
}

static bool is_same_round(const model_change *a, const model_change *b)
{
    return a->workload == b->workload && a->round == b->round;
}

/* The rounds that have this change; 0 when one above has told them already. */
static size_t rounds_with(const model_machine *machine, size_t change)
{
    const model_change *all = machine->changes;
    size_t rounds = 0;
    for (size_t i = 0; i < machine->changes_count; i++) {
        bool is_new = is_same_change(&all[i], &all[change]);
        if (is_new && i < change)
            return 0;
        for (size_t j = 0; j < i && is_new; j++)
            is_new = !is_same_change(&all[j], &all[i]) || !is_same_round(&all[j], &all[i]);
        rounds += is_new;
    }
    return rounds;
}

/* One line for each kind of change, however many rounds had it. */
static void add_changes(collector *c, const model *m)
{
    const model_machine *machine = &m->machine;
    for (size_t i = 0; i < machine->changes_count; i++) {
        const model_finding *f = &machine->changes[i].finding;
        size_t rounds = rounds_with(machine, i);
        if (rounds > 0)
            add(c,
                xasprintf("the machine changed in %zu round%s%s: %s, for instance %s", rounds,
                          rounds == 1 ? "" : "s",
                          f->verdict == ABENCH_VERDICT_REFUSE ? ", which spoils them" : "", f->name,
                          f->value),
                NULL);
    }
    if (machine->reruns > 0)
        add(c,
            xasprintf("%zu round%s played again because the machine changed meanwhile",
                      machine->reruns, machine->reruns == 1 ? " was" : "s were"),
            NULL);
}

note_list notes_make(const model *m)
{
    collector c = {.capacity = 0};
    add_findings(&c, &m->machine);
    add_changes(&c, m);
    for (size_t i = 0; i < m->notes_count; i++)
        add(&c, xstrdup(m->notes[i]), NULL);
    add_other_work(&c, m);
    add_other_output(&c, m);
    add_decays(&c, m);
    add_warnings(&c, m);
    if (m->is_busy)
        add(&c, xstrdup("a run is still writing there: this is what it has finished so far"), NULL);
    else if (m->dead_count > 0)
        add(&c,
            xasprintf("%zu run%s died and left %s%s", m->dead_count, m->dead_count == 1 ? "" : "s",
                      m->dead[0], m->dead_count == 1 ? "" : " and others"),
            NULL);
    return c.list;
}

/* ---- the verdicts ---------------------------------------------------------------------------- */

static bool is_short(const verdict_metric *metric)
{
    bool all = metric->count > 0;
    for (size_t i = 0; i < metric->count && all; i++)
        all = metric->items[i].result.verdict == ABENCH_COMPARED_TOO_FEW;
    return all;
}

/* Where a main metric is short, the verdict says so. */
static void add_too_few(collector *c, const verdicts *v, size_t workload)
{
    const verdict_metric *first = NULL;
    for (size_t i = 0; i < v->count; i++) {
        const verdict_metric *metric = &v->metrics[i];
        if (metric->workload != workload || !is_short(metric))
            continue;
        if (metric->is_main)
            return;
        if (first == NULL || metric->rounds_least > first->rounds_least)
            first = metric;
    }
    if (first != NULL)
        add(c,
            xasprintf("%s: not enough rounds: %u needed for a verdict (%u here)", first->title,
                      first->items[0].result.rounds_needed, first->rounds),
            NULL);
}

static void add_refused(collector *c, const verdicts *v, size_t workload)
{
    const model *m = v->s->m;
    for (size_t i = 0; i < v->count; i++) {
        const verdict_metric *metric = &v->metrics[i];
        if (metric->workload != workload || !metric->refused)
            continue;
        char *share = advice_percent(fabs(metric->aa.estimate - 1));
        add(c,
            xasprintf("%s: A/A separates (%s differs from itself by %s): not ranked; see what "
                      "allocbench doctor finds, then measure again",
                      metric->title, m->targets[m->baseline].name, share),
            NULL);
        free(share);
    }
}

/* Who still moves in a metric, and how far: "glibc (-2.8 %) and jemalloc (+4 %)"; "": nobody.
 * Counts them. free() it. */
static char *who_moves(const model *m, const verdict_metric *metric, size_t *count)
{
    words w = {NULL, 0};
    size_t total = 0;
    *count = 0;
    for (size_t target = 0; target < m->targets_count; target++) {
        const verdict *item = verdict_of(metric, target);
        total += item != NULL && item->has_drift;
    }
    for (size_t target = 0; target < m->targets_count; target++) {
        const verdict *item = verdict_of(metric, target);
        if (item == NULL || !item->has_drift)
            continue;
        char *share = advice_percent(fabs(item->drift - 1));
        words_add(&w, "%s%s (%c%s)", words_between(*count, total), m->targets[target].name,
                  item->drift < 1 ? '-' : '+', share);
        *count += 1;
        free(share);
    }
    return words_take(&w);
}

static void add_unsteady(collector *c, const verdicts *v, size_t workload)
{
    for (size_t i = 0; i < v->count; i++) {
        const verdict_metric *metric = &v->metrics[i];
        size_t count = 0;
        if (metric->workload != workload)
            continue;
        char *who = who_moves(v->s->m, metric, &count);
        if (count > 0)
            add(c,
                xasprintf(
                    "not steady in %s, from the first half of a run to its second: %s; longer "
                    "runs may read otherwise",
                    metric->title, who),
                NULL);
        free(who);
    }
}

/* Where machines disagree. */
static void add_machines(collector *c, const verdicts *v, size_t workload)
{
    size_t count;
    char **sentences = machines_sentences(v, workload, &count);
    for (size_t i = 0; i < count; i++)
        add(c, sentences[i], NULL);
    free(sentences);
}

note_list notes_verdicts(const verdicts *v, size_t workload)
{
    collector c = {.capacity = 0};
    add_too_few(&c, v, workload);
    add_refused(&c, v, workload);
    add_unsteady(&c, v, workload);
    add_machines(&c, v, workload);
    return c.list;
}

static void add_failures(collector *c, const model *m, size_t workload, const model_cell *cells,
                         size_t count, const char *pass)
{
    for (size_t i = 0; i < count; i++) {
        const model_cell *cell = &cells[i];
        if (cell->workload == workload && cell->failed)
            add(c,
                xasprintf("%s%s, round %u: %s", notes_target(m, cell),
                          cell->again ? " (A/A)" : pass, cell->round + 1, cell->reason),
                NULL);
    }
}

note_list notes_failures(const model *m, size_t workload)
{
    collector c = {.capacity = 0};
    add_failures(&c, m, workload, m->cells, m->cells_count, "");
    add_failures(&c, m, workload, m->tails, m->tails_count, " (tails)");
    return c.list;
}

note_list notes_missing(const model *m)
{
    collector c = {.capacity = 0};
    for (size_t i = 0; i < m->targets_count; i++) {
        if (m->targets[i].missing != NULL)
            add(&c, xasprintf("%s: %s", m->targets[i].name, m->targets[i].missing), NULL);
    }
    return c.list;
}

void notes_free(note_list *list)
{
    for (size_t i = 0; i < list->count; i++) {
        free(list->items[i].text);
        free(list->items[i].who);
    }
    free(list->items);
    *list = (note_list){NULL, 0};
}
