#include "tool/report/sentences.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "tool/report/standing.h"
#include "tool/util.h"

/* One workload, while it is spoken of. */
typedef struct teller {
    const verdicts *v;
    const model *m;
    standing of[2]; /* SPEED, MEMORY */
    bool *chosen;   /* by target: a list that is being made */
    advice_text *out;
} teller;

enum { SPEED, MEMORY };

static const char *const subjects[] = {"speed", "memory"};

/* ---- lists ----------------------------------------------------------------------------------- */

void sentences_add(advice_text *out, char *text)
{
    out->sentences = xrealloc(out->sentences, (out->count + 1) * sizeof *out->sentences);
    out->sentences[out->count++] = text;
}

static size_t count_of(const model *m, const bool *chosen)
{
    size_t count = 0;
    for (size_t i = 0; i < m->targets_count; i++)
        count += chosen[i];
    return count;
}

void sentences_names(words *w, const model *m, const bool *chosen, const char *last)
{
    const size_t count = count_of(m, chosen);
    const size_t named = count > SENTENCES_NAMES + 1 ? SENTENCES_NAMES : count;
    size_t at = 0;
    for (size_t i = 0; i < m->targets_count && at < named; i++) {
        if (!chosen[i])
            continue;
        if (at > 0 && at + 1 == count)
            words_add(w, " %s ", last);
        else if (at > 0)
            words_add(w, ", ");
        words_add(w, "%s", m->targets[i].name);
        at++;
    }
    if (named < count)
        words_add(w, " %s %zu others", last, count - named);
}

void sentences_margin(words *w, const char *before, double margin)
{
    if (margin <= STANDING_MARGIN)
        return;
    char *share = advice_percent(margin);
    words_add(w, "%s%s", before, share);
    free(share);
}

/* Chooses the targets with this verdict in a metric; returns how many. */
static size_t choose(const teller *t, int subject, uint32_t told)
{
    const verdict_metric *metric = t->of[subject].metric;
    memset(t->chosen, 0, t->m->targets_count * sizeof *t->chosen);
    for (size_t i = 0; metric != NULL && i < metric->count; i++)
        t->chosen[metric->items[i].row->target] = metric->items[i].result.verdict == told;
    return count_of(t->m, t->chosen);
}

/* "x0.80 [0.79 0.81] and x0.82 [0.81 0.83]" of the chosen; as many as are named. */
static void add_ratios(const teller *t, words *w, int subject)
{
    const verdict_metric *metric = t->of[subject].metric;
    const size_t count = count_of(t->m, t->chosen);
    const size_t named = count > SENTENCES_NAMES + 1 ? SENTENCES_NAMES : count;
    size_t at = 0;
    for (size_t target = 0; target < t->m->targets_count && at < named; target++) {
        const verdict *item = t->chosen[target] ? verdict_of(metric, target) : NULL;
        if (item == NULL)
            continue;
        char *ratio = advice_ratio(item->result.ratio, item->result.low, item->result.high);
        words_add(w, "%s%s", words_between(at++, named), ratio);
        free(ratio);
    }
}

static const verdict *first_chosen(const teller *t, int subject)
{
    for (size_t i = 0; i < t->m->targets_count; i++) {
        if (t->chosen[i])
            return verdict_of(t->of[subject].metric, i);
    }
    return NULL;
}

static const char *noun_of(const verdict_metric *metric)
{
    return metric->is_memory                             ? "memory"
           : metric->direction == ABENCH_DIRECTION_LOWER ? "time"
                                                         : metric->title;
}

/* "24 % more memory", "20 % less time", "2.4 times the memory". */
static void add_amount(words *w, const verdict_metric *metric, double ratio)
{
    const char *noun = noun_of(metric);
    if (ratio >= 1.995) {
        words_add(w, "%.*f times the %s", ratio < 9.95 ? 1 : 0, ratio, noun);
        return;
    }
    char *share = advice_percent(fabs(ratio - 1));
    words_add(w, "%s %s %s", share, ratio >= 1 ? "more" : "less", noun);
    free(share);
}

static const char *base_name(const teller *t)
{
    return t->m->targets[t->m->baseline].name;
}

/* ---- what is not told ------------------------------------------------------------------------ */

static void add_noise(const teller *t, words *w, int subject)
{
    char *share = advice_percent(fabs(t->of[subject].metric->aa.estimate - 1));
    words_add(w, "by %s in %s", share, subjects[subject]);
    free(share);
}

static void tell_refused(const teller *t)
{
    const bool speed = t->of[SPEED].kind == STANDING_REFUSED;
    const bool memory = t->of[MEMORY].kind == STANDING_REFUSED;
    words w = {NULL, 0};
    if (!speed && !memory)
        return;
    words_add(&w, "A/A separates: %s differs from itself ", base_name(t));
    if (speed)
        add_noise(t, &w, SPEED);
    if (speed && memory)
        words_add(&w, " and ");
    if (memory)
        add_noise(t, &w, MEMORY);
    words_add(&w, ", so nothing is ranked by %s.",
              speed && memory ? "either" : subjects[speed ? SPEED : MEMORY]);
    sentences_add(t->out, words_take(&w));
}

static void tell_too_few(const teller *t)
{
    const bool speed = t->of[SPEED].kind == STANDING_TOO_FEW;
    const bool memory = t->of[MEMORY].kind == STANDING_TOO_FEW;
    if (!speed && !memory)
        return;
    const verdict_metric *metric = t->of[speed ? SPEED : MEMORY].metric;
    const uint32_t needed = standing_rounds_needed(metric);
    words w = {NULL, 0};
    words_add(&w, "Not enough rounds%s%s: %u needed for a verdict (%u here): ",
              speed != memory ? " for " : "",
              speed != memory ? subjects[speed ? SPEED : MEMORY] : "", needed, metric->rounds);
    if (t->v->looks > 1)
        words_add(&w, "the same command goes on.");
    else
        words_add(&w, "use --rounds %u.", needed);
    sentences_add(t->out, words_take(&w));
}

static void tell_alone(const teller *t, int subject)
{
    if (t->of[subject].kind == STANDING_ALONE)
        sentences_add(t->out, xasprintf("No verdict on %s: too few rounds have both cells of %s "
                                        "(A/A), which tell how far noise goes.",
                                        subjects[subject], base_name(t)));
}

/* Of a metric in which others are told: the targets that are not. */
static void tell_open(const teller *t, int subject)
{
    const standing *s = &t->of[subject];
    words w = {NULL, 0};
    uint32_t needed = 0;
    if (s->kind != STANDING_OPEN && s->kind != STANDING_BEST)
        return;
    const size_t count = choose(t, subject, ABENCH_COMPARED_OPEN);
    for (size_t i = 0; i < s->metric->count; i++) {
        const abench_comparison *result = &s->metric->items[i].result;
        if (result->verdict == ABENCH_COMPARED_OPEN && result->rounds_needed > needed)
            needed = result->rounds_needed;
    }
    if (count == 0)
        return;
    sentences_names(&w, t->m, t->chosen, "and");
    words_add(&w, " %s not told apart from %s on %s with %u round%s", count == 1 ? "is" : "are",
              base_name(t), subjects[subject], s->metric->rounds,
              s->metric->rounds == 1 ? "" : "s");
    if (needed > SENTENCES_ROUNDS_MOST)
        words_add(&w, "; it would take more than %u", SENTENCES_ROUNDS_MOST);
    else if (needed > 0)
        words_add(&w, "; %u might tell", needed);
    if (s->metric->threshold > VERDICT_SAME_MOST) {
        char *share = advice_percent(s->metric->threshold);
        words_add(&w, ": A/A reaches %s, which hides what is smaller", share);
        free(share);
    }
    words_add(&w, ".");
    sentences_add(t->out, words_take(&w));
}

/* Where not all are told: those that are worse for sure. */
static void tell_worse(const teller *t, int subject)
{
    words w = {NULL, 0};
    if (t->of[subject].kind != STANDING_OPEN || choose(t, subject, ABENCH_COMPARED_WORSE) == 0)
        return;
    sentences_names(&w, t->m, t->chosen, "and");
    words_add(&w, " %s worse on %s: ", count_of(t->m, t->chosen) == 1 ? "is" : "are",
              subjects[subject]);
    add_ratios(t, &w, subject);
    words_add(&w, ".");
    sentences_add(t->out, words_take(&w));
}

static void tell_short(const teller *t, int subject)
{
    const standing *s = &t->of[subject];
    words w = {NULL, 0};
    if (s->kind != STANDING_OPEN && s->kind != STANDING_BEST)
        return;
    const size_t count = choose(t, subject, ABENCH_COMPARED_TOO_FEW);
    if (count == 0)
        return;
    sentences_names(&w, t->m, t->chosen, "and");
    words_add(&w, " %s too few rounds for a verdict on %s: %u needed.", count == 1 ? "has" : "have",
              subjects[subject], standing_rounds_needed(s->metric));
    sentences_add(t->out, words_take(&w));
}

/* ---- who wins, who ties ---------------------------------------------------------------------- */

/* How large a difference is excluded. */
static char *margin_of(const teller *t, int subject)
{
    return advice_percent(t->of[subject].metric->threshold);
}

static void tell_both_same(const teller *t)
{
    char *speed = margin_of(t, SPEED), *memory = margin_of(t, MEMORY);
    words w = {NULL, 0};
    words_add(&w, "No difference above %s in speed", speed);
    if (strcmp(speed, memory) == 0)
        words_add(&w, " or memory");
    else
        words_add(&w, ", nor above %s in memory", memory);
    words_add(&w, ": stay with %s.", base_name(t));
    sentences_add(t->out, words_take(&w));
    free(speed);
    free(memory);
}

static void tell_same(const teller *t)
{
    const bool speed = t->of[SPEED].kind == STANDING_SAME;
    const bool memory = t->of[MEMORY].kind == STANDING_SAME;
    const int subject = speed ? SPEED : MEMORY;
    if (speed && memory) {
        tell_both_same(t);
    } else if (speed || memory) {
        char *margin = margin_of(t, subject);
        sentences_add(t->out,
                      xasprintf("No difference above %s in %s.", margin, subjects[subject]));
        free(margin);
    }
}

/* "; jemalloc is worse", "; a and b are worse", of those that are. */
static void add_worse(const teller *t, words *w, int subject)
{
    const size_t count = choose(t, subject, ABENCH_COMPARED_WORSE);
    if (count == 0)
        return;
    words_add(w, "; ");
    sentences_names(w, t->m, t->chosen, "and");
    words_add(w, " %s worse", count == 1 ? "is" : "are");
}

static void tell_base_best(const teller *t, int subject)
{
    const standing *s = &t->of[subject];
    words w = {NULL, 0};
    sentences_names(&w, t->m, s->best, "and");
    words_add(&w, s->best_count == 1 ? " wins on %s" : " tie on %s", subjects[subject]);
    const verdict *other = &s->metric->items[0];
    if (s->best_count == 1 && s->metric->count == 1 &&
        !t->of[1 - subject].best[other->row->target]) {
        choose(t, subject, ABENCH_COMPARED_WORSE);
        words_add(&w, ": %s takes ", t->m->targets[other->row->target].name);
        add_amount(&w, s->metric, other->result.ratio);
        words_add(&w, " (");
        add_ratios(t, &w, subject);
        words_add(&w, ")");
    } else {
        add_worse(t, &w, subject);
    }
    words_add(&w, ".");
    sentences_add(t->out, words_take(&w));
}

static void tell_best(const teller *t, int subject)
{
    const standing *s = &t->of[subject];
    words w = {NULL, 0};
    if (s->kind != STANDING_BEST)
        return;
    if (s->best[t->m->baseline]) {
        tell_base_best(t, subject);
        return;
    }
    memcpy(t->chosen, s->best, t->m->targets_count * sizeof *t->chosen);
    sentences_names(&w, t->m, s->best, "and");
    if (s->best_count == 1)
        words_add(&w, s->proven ? " wins on %s: " : " leads on %s: ", subjects[subject]);
    else if (s->ranked)
        words_add(&w, s->tied ? " tie on %s: " : " lead on %s: ", subjects[subject]);
    else
        words_add(&w, " are better than %s on %s (%u rounds with all of them rank them): ",
                  base_name(t), subjects[subject], standing_rank_rounds(t->v, s->metric));
    add_ratios(t, &w, subject);
    words_add(&w, ".");
    sentences_add(t->out, words_take(&w));
}

/* Those that are best in one metric and have this verdict in the other, where they are not best
 * too; returns how many. */
static size_t choose_price(const teller *t, int subject, uint32_t told)
{
    const standing *own = &t->of[subject];
    const standing *other = &t->of[1 - subject];
    const size_t count = choose(t, 1 - subject, told);
    for (size_t i = 0; i < t->m->targets_count && count > 0; i++)
        t->chosen[i] = t->chosen[i] && own->best[i] && !other->best[i];
    return count_of(t->m, t->chosen);
}

/* What those that are best in one metric do in the other. */
static void tell_other(const teller *t, int subject, uint32_t told, const char *one,
                       const char *many)
{
    const verdict_metric *metric = t->of[1 - subject].metric;
    const bool lower = metric->direction == ABENCH_DIRECTION_LOWER;
    const size_t count = choose_price(t, subject, told);
    words w = {NULL, 0};
    if (count == 0)
        return;
    sentences_names(&w, t->m, t->chosen, "and");
    words_add(&w, " %s ", count == 1 ? one : many);
    if (count == 1)
        add_amount(&w, metric, first_chosen(t, 1 - subject)->result.ratio);
    else
        words_add(&w, "%s %s", (told == ABENCH_COMPARED_WORSE) == lower ? "more" : "less",
                  noun_of(metric));
    words_add(&w, " (");
    add_ratios(t, &w, 1 - subject);
    words_add(&w, ").");
    sentences_add(t->out, words_take(&w));
}

static void tell_price(const teller *t, int subject)
{
    const standing *s = &t->of[subject];
    const verdict_metric *metric = t->of[1 - subject].metric;
    if (s->kind != STANDING_BEST || s->best[t->m->baseline] || metric == NULL || metric->refused)
        return;
    const bool lower = metric->direction == ABENCH_DIRECTION_LOWER;
    tell_other(t, subject, ABENCH_COMPARED_WORSE, "pays for it with", "pay for it with");
    tell_other(t, subject, ABENCH_COMPARED_BETTER, lower ? "also takes" : "also gives",
               lower ? "also take" : "also give");
}

/* ---- what follows ---------------------------------------------------------------------------- */

/* Chooses the targets that win or tie in one main metric at least, are worse in neither, and are
 * told in both; returns how many. */
static size_t choose_clear(const teller *t)
{
    for (size_t i = 0; i < t->m->targets_count; i++) {
        bool best = false, clear = i != t->m->baseline;
        for (int subject = SPEED; subject <= MEMORY; subject++) {
            const uint32_t told = standing_verdict(&t->of[subject], i);
            best = best || (t->of[subject].best[i] && told == ABENCH_COMPARED_BETTER);
            clear = clear && told != ABENCH_COMPARED_WORSE && told != ABENCH_COMPARED_OPEN;
        }
        t->chosen[i] = best && clear;
    }
    return count_of(t->m, t->chosen);
}

/* Of those that are chosen only the ones that are best wherever somebody is. */
static size_t keep_best_of_both(const teller *t)
{
    bool *both = xcalloc(t->m->targets_count + 1, sizeof *both);
    for (size_t i = 0; i < t->m->targets_count; i++) {
        both[i] = t->chosen[i];
        for (int subject = SPEED; subject <= MEMORY; subject++)
            both[i] = both[i] && (t->of[subject].kind != STANDING_BEST || t->of[subject].best[i]);
    }
    const size_t count = count_of(t->m, both);
    if (count > 0)
        memcpy(t->chosen, both, t->m->targets_count * sizeof *both);
    free(both);
    return count;
}

/* Does a target other than the baseline win, or tie with such? */
static bool has_winner(const standing *s, size_t baseline)
{
    return s->kind == STANDING_BEST && !s->best[baseline];
}

/* Of the targets that are chosen, NULL: of all, over both metrics. */
static void add_margin(const teller *t, words *w, const bool *chosen)
{
    const double speed = standing_margin(&t->of[SPEED], chosen, STANDING_MARGIN);
    sentences_margin(w, " by more than ", standing_margin(&t->of[MEMORY], chosen, speed));
}

/* Both metrics are judged, and one of them has a winner other than the baseline. */
static void conclude_winners(const teller *t)
{
    const bool *fast = t->of[SPEED].best, *small = t->of[MEMORY].best;
    const bool fast_wins = has_winner(&t->of[SPEED], t->m->baseline);
    const bool small_wins = has_winner(&t->of[MEMORY], t->m->baseline);
    words w = {NULL, 0};
    if (choose_clear(t) > 0 && (keep_best_of_both(t) > 0 || !fast_wins || !small_wins)) {
        words_add(&w, "Use ");
        sentences_names(&w, t->m, t->chosen, "or");
        words_add(&w, ": neither speed nor memory is worse than with %s", base_name(t));
        add_margin(t, &w, t->chosen);
        words_add(&w, ".");
    } else if (fast_wins && small_wins) {
        words_add(&w, "Use ");
        sentences_names(&w, t->m, fast, "or");
        words_add(&w, " where speed matters more, ");
        sentences_names(&w, t->m, small, "or");
        words_add(&w, " where memory does.");
    } else {
        const int subject = fast_wins ? SPEED : MEMORY;
        words_add(&w, "Use ");
        sentences_names(&w, t->m, t->of[subject].best, "or");
        if (choose_price(t, subject, ABENCH_COMPARED_WORSE) > 0)
            words_add(&w, " only where %s matters more than %s; else stay with %s.",
                      subjects[subject], subjects[1 - subject], base_name(t));
        else
            words_add(&w, " for %s; what that costs in %s is not told yet.", subjects[subject],
                      subjects[1 - subject]);
    }
    sentences_add(t->out, words_take(&w));
}

/* One metric is told, of the other nothing is. */
static void conclude_half(const teller *t, int subject)
{
    const standing *s = &t->of[subject];
    words w = {NULL, 0};
    if (s->kind == STANDING_BEST && !s->best[t->m->baseline]) {
        words_add(&w, "By %s alone: ", subjects[subject]);
        sentences_names(&w, t->m, s->best, "or");
    } else {
        words_add(&w, "By %s alone there is no reason to leave %s", subjects[subject],
                  base_name(t));
    }
    words_add(&w, "; of %s nothing is told.", subjects[1 - subject]);
    sentences_add(t->out, words_take(&w));
}

/* All is told, and nothing is better than the baseline. */
static void conclude_stay(const teller *t)
{
    words w = {NULL, 0};
    words_add(&w, "Stay with %s: nothing is better in speed or memory", base_name(t));
    add_margin(t, &w, NULL);
    words_add(&w, ".");
    sentences_add(t->out, words_take(&w));
}

static void conclude(const teller *t)
{
    const standing *speed = &t->of[SPEED], *memory = &t->of[MEMORY];
    if (speed->kind == STANDING_SAME && memory->kind == STANDING_SAME)
        return; /* it is said */
    if (!standing_is_judged(speed) || !standing_is_judged(memory)) {
        if (standing_is_told(speed) || standing_is_told(memory))
            conclude_half(t, standing_is_told(speed) ? SPEED : MEMORY);
        return;
    }
    if (has_winner(speed, t->m->baseline) || has_winner(memory, t->m->baseline))
        conclude_winners(t);
    else if (standing_is_told(speed) && standing_is_told(memory))
        conclude_stay(t);
    else
        sentences_add(t->out, xasprintf("So far there is no reason to leave %s.", base_name(t)));
}

void sentences_make(const verdicts *v, size_t workload, advice_text *out)
{
    teller t = {.v = v, .m = v->s->m, .out = out};
    t.of[SPEED] = standing_of(v, workload, false);
    t.of[MEMORY] = standing_of(v, workload, true);
    t.chosen = xcalloc(t.m->targets_count + 1, sizeof *t.chosen);
    if (t.of[SPEED].kind == STANDING_ABSENT && t.of[MEMORY].kind == STANDING_ABSENT)
        sentences_add(out, xasprintf("There is nothing to choose from: no target but %s has a "
                                     "number that is judged.",
                                     base_name(&t)));
    tell_too_few(&t);
    tell_refused(&t);
    tell_same(&t);
    for (int subject = SPEED; subject <= MEMORY; subject++) {
        tell_alone(&t, subject);
        tell_best(&t, subject);
        tell_price(&t, subject);
        tell_open(&t, subject);
        tell_worse(&t, subject);
        tell_short(&t, subject);
    }
    conclude(&t);
    free(t.chosen);
    standing_clear(&t.of[SPEED]);
    standing_clear(&t.of[MEMORY]);
}
