#include "tool/report/overall.h"

#include <stdlib.h>
#include <string.h>

#include "tool/report/sentences.h"
#include "tool/report/standing.h"
#include "tool/util.h"

typedef struct field {
    const model *m;
    standing *of[2]; /* of speed and of memory, by workload that has a finished round */
    size_t count;
} field;

static field field_make(const verdicts *v)
{
    const model *m = v->s->m;
    field f = {.m = m};
    for (int subject = 0; subject < 2; subject++)
        f.of[subject] = xcalloc(m->workloads_count + 1, sizeof *f.of[subject]);
    for (size_t i = 0; i < m->workloads_count; i++) {
        if (summary_rounds(m, i) == 0)
            continue;
        f.of[0][f.count] = standing_of(v, i, false);
        f.of[1][f.count++] = standing_of(v, i, true);
    }
    return f;
}

static void field_clear(field *f)
{
    for (int subject = 0; subject < 2; subject++) {
        for (size_t i = 0; i < f->count; i++)
            standing_clear(&f->of[subject][i]);
        free(f->of[subject]);
    }
}

/* ---- how often ------------------------------------------------------------------------------- */

static size_t count_equal(const field *f, int subject, size_t at)
{
    size_t count = 0;
    for (size_t i = 0; i < f->count; i++)
        count += standing_equals(&f->of[subject][i], &f->of[subject][at], f->m->targets_count);
    return count;
}

/* Has one before it the same? */
static bool is_said(const field *f, int subject, size_t at)
{
    bool said = false;
    for (size_t i = 0; i < at && !said; i++)
        said = standing_equals(&f->of[subject][i], &f->of[subject][at], f->m->targets_count);
    return said;
}

/* Of those targets that are chosen, NULL: of all, in both metrics of all workloads. */
static void add_margin(const field *f, words *w, const char *before, const bool *chosen)
{
    double margin = STANDING_MARGIN;
    for (int subject = 0; subject < 2; subject++) {
        for (size_t i = 0; i < f->count; i++)
            margin = standing_margin(&f->of[subject][i], chosen, margin);
    }
    sentences_margin(w, before, margin);
}

/* Of all workloads with the same outcome. */
static double margin_of(const field *f, int subject, size_t at)
{
    double margin = STANDING_MARGIN;
    for (size_t i = 0; i < f->count; i++) {
        if (standing_equals(&f->of[subject][i], &f->of[subject][at], f->m->targets_count))
            margin = standing_margin(&f->of[subject][i], NULL, margin);
    }
    return margin;
}

static void add_same(const field *f, words *w, int subject, size_t at)
{
    const double margin = margin_of(f, subject, at);
    words_add(w, "there is no difference%s", margin <= STANDING_MARGIN ? " that matters" : "");
    sentences_margin(w, " above ", margin);
}

static void add_outcome(const field *f, words *w, int subject, size_t at)
{
    const standing *s = &f->of[subject][at];
    static const char *const others[] = {
        [STANDING_ABSENT] = "nothing is judged",
        [STANDING_REFUSED] = "nothing is ranked (A/A separates)",
        [STANDING_ALONE] = "there is no A/A to judge by",
        [STANDING_TOO_FEW] = "there are not enough rounds",
        [STANDING_OPEN] = "not all is told apart",
    };
    if (s->kind == STANDING_SAME) {
        add_same(f, w, subject, at);
        return;
    }
    if (s->kind != STANDING_BEST) {
        words_add(w, "%s", others[s->kind]);
        return;
    }
    sentences_names(w, f->m, s->best, "and");
    if (s->best_count == 1)
        words_add(w, s->proven || s->best[f->m->baseline] ? " wins" : " leads");
    else if (s->ranked)
        words_add(w, s->tied ? " tie" : " lead");
    else
        words_add(w, " are better than %s", f->m->targets[f->m->baseline].name);
}

/* "Speed: tcmalloc wins on 3 of 5 workloads; a and b tie on 1; ...", the most frequent first. */
static void tell_subject(const field *f, int subject, advice_text *out)
{
    words w = {NULL, 0};
    size_t said = 0;
    words_add(&w, subject == 0 ? "Speed: " : "Memory: ");
    for (size_t wanted = f->count; wanted > 0; wanted--) {
        for (size_t i = 0; i < f->count; i++) {
            if (is_said(f, subject, i) || count_equal(f, subject, i) != wanted)
                continue;
            words_add(&w, "%s", said > 0 ? "; " : "");
            add_outcome(f, &w, subject, i);
            if (wanted == f->count)
                words_add(&w, wanted == 2 ? " on both workloads" : " on all %zu workloads", wanted);
            else if (said == 0)
                words_add(&w, " on %zu of %zu workloads", wanted, f->count);
            else
                words_add(&w, " on %zu", wanted);
            said++;
        }
    }
    words_add(&w, ".");
    sentences_add(out, words_take(&w));
}

/* ---- what follows ---------------------------------------------------------------------------- */

typedef struct tally {
    size_t better;
    size_t worse;
    size_t open; /* not told, for whatever reason */
} tally;

static tally tally_of(const field *f, size_t target)
{
    tally t = {0, 0, 0};
    for (int subject = 0; subject < 2; subject++) {
        for (size_t i = 0; i < f->count; i++) {
            const standing *s = &f->of[subject][i];
            const uint32_t told = standing_verdict(s, target);
            t.better += told == ABENCH_COMPARED_BETTER;
            t.worse += told == ABENCH_COMPARED_WORSE;
            t.open += told == ABENCH_COMPARED_OPEN && s->kind != STANDING_ABSENT;
        }
    }
    return t;
}

/* Is it there to be chosen: compared with the baseline somewhere? */
static bool is_compared(const field *f, size_t target)
{
    bool found = false;
    for (int subject = 0; subject < 2; subject++) {
        for (size_t i = 0; i < f->count; i++) {
            const verdict_metric *metric = f->of[subject][i].metric;
            for (size_t j = 0; metric != NULL && j < metric->count && !found; j++)
                found = metric->items[j].row->target == target;
        }
    }
    return found;
}

typedef struct outcome {
    bool *safe; /* better somewhere, worse nowhere, and all is told */
    size_t safe_count;
    size_t better; /* targets that are so somewhere */
    size_t open;   /* targets of which something is not told */
    size_t worse;  /* targets that are worse somewhere */
} outcome;

/* Of the safe ones only those with the most wins over the baseline. */
static outcome outcome_of(const field *f)
{
    outcome o = {.safe = xcalloc(f->m->targets_count + 1, sizeof *o.safe)};
    size_t most = 0;
    for (size_t i = 0; i < f->m->targets_count; i++) {
        const tally t = tally_of(f, i);
        if (i == f->m->baseline || !is_compared(f, i))
            continue;
        o.better += t.better > 0;
        o.worse += t.worse > 0;
        o.open += t.open > 0;
        if (t.better == 0 || t.worse > 0 || t.open > 0 || t.better < most)
            continue;
        if (t.better > most) {
            memset(o.safe, 0, f->m->targets_count * sizeof *o.safe);
            o.safe_count = 0;
        }
        most = t.better;
        o.safe[i] = true;
        o.safe_count++;
    }
    return o;
}

/* Do all main metrics of all workloads want for the same? */
static bool all_are(const field *f, standing_kind kind)
{
    bool all = true, some = false;
    for (int subject = 0; subject < 2; subject++) {
        for (size_t i = 0; i < f->count; i++) {
            const standing_kind own = f->of[subject][i].kind;
            all = all && (own == kind || own == STANDING_ABSENT);
            some = some || own == kind;
        }
    }
    return all && some;
}

/* Is anything told of any? */
static bool any_told(const field *f)
{
    bool told = false;
    for (int subject = 0; subject < 2; subject++) {
        for (size_t i = 0; i < f->count; i++)
            told = told || standing_is_told(&f->of[subject][i]);
    }
    return told;
}

/* The most rounds that any of them wants. */
static uint32_t rounds_needed(const field *f)
{
    uint32_t most = 0;
    for (int subject = 0; subject < 2; subject++) {
        for (size_t i = 0; i < f->count; i++) {
            const verdict_metric *metric = f->of[subject][i].metric;
            const uint32_t own = metric != NULL ? standing_rounds_needed(metric) : 0;
            most = own > most ? own : most;
        }
    }
    return most;
}

static void conclude(const field *f, advice_text *out)
{
    const char *base = f->m->targets[f->m->baseline].name;
    outcome o = outcome_of(f);
    words w = {NULL, 0};
    if (o.safe_count > 0) {
        words_add(&w, "Use ");
        sentences_names(&w, f->m, o.safe, "or");
        words_add(&w, ": better than %s somewhere here, and worse nowhere", base);
        add_margin(f, &w, " by more than ", o.safe);
        words_add(&w, ".");
    } else if (o.better == 0 && o.open == 0) {
        words_add(&w, "Stay with %s: nothing is better on any of these workloads", base);
        add_margin(f, &w, " by more than ", NULL);
        words_add(&w, ".");
    } else if (o.better > 0 && o.worse > 0) {
        words_add(&w, "Who wins somewhere pays elsewhere or is not told everywhere: choose by the "
                      "workload that is most like yours.");
    } else if (o.better > 0) {
        words_add(&w, "Nobody is told to be worse than %s, but not everything is told.", base);
    } else {
        words_add(&w, "No reason to leave %s so far, but not everything is told.", base);
    }
    sentences_add(out, words_take(&w));
    free(o.safe);
}

static void tell_all_same(const field *f, advice_text *out)
{
    words w = {NULL, 0}, margin = {NULL, 0};
    add_margin(f, &margin, " above ", NULL);
    words_add(&w, "No difference%s on any workload: stay with %s.",
              margin.text != NULL ? margin.text : " that matters",
              f->m->targets[f->m->baseline].name);
    free(margin.text);
    sentences_add(out, words_take(&w));
}

void overall_make(const verdicts *v, advice_text *out)
{
    field f = field_make(v);
    if (all_are(&f, STANDING_ABSENT)) {
        sentences_add(out, xasprintf("There is nothing to choose from but %s.",
                                     f.m->targets[f.m->baseline].name));
    } else if (all_are(&f, STANDING_TOO_FEW)) {
        sentences_add(out,
                      xasprintf("Not enough rounds for a verdict on any workload: %u needed; use "
                                "--rounds %u.",
                                rounds_needed(&f), rounds_needed(&f)));
    } else if (all_are(&f, STANDING_SAME)) {
        tell_all_same(&f, out);
    } else {
        tell_subject(&f, 0, out);
        tell_subject(&f, 1, out);
        if (any_told(&f))
            conclude(&f, out);
    }
    field_clear(&f);
}
