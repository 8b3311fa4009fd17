#include "tool/report/next.h"

#include <ctype.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "tool/report/after.h"
#include "tool/report/sentences.h"
#include "tool/report/standing.h"
#include "tool/report/words.h"
#include "tool/util.h"

static const char plain_letters[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"
                                    "_-+=:,./@%^";

/* ---- the command line ------------------------------------------------------------------------ */

char *next_quote(const char *text)
{
    words w = {NULL, 0};
    if (*text != '\0' && text[strspn(text, plain_letters)] == '\0')
        return xstrdup(text);
    words_add(&w, "'");
    for (; *text != '\0'; text++) {
        if (*text == '\'')
            words_add(&w, "'\\''");
        else
            words_add(&w, "%c", *text);
    }
    words_add(&w, "'");
    return words_take(&w);
}

/* The length of the word that a line begins with, as next_quote writes words; 0: it is none. */
static size_t word_length(const char *line)
{
    size_t at = 1;
    if (*line != '\'') {
        at = strspn(line, plain_letters);
        return line[at] == '\0' || line[at] == ' ' ? at : 0;
    }
    for (;;) {
        at += strcspn(line + at, "'");
        if (line[at] == '\0')
            return 0;
        if (strncmp(line + at, "'\\''", 4) != 0)
            break;
        at += 4;
    }
    at++;
    return line[at] == '\0' || line[at] == ' ' ? at : 0;
}

/* Is the word this option, which takes a value: 0 no, 1 with the value in it, 2 before its value?
 * Long options may be cut: least is the shortest that is still this one. */
static int option_words(const char *word, size_t length, char letter, const char *name,
                        size_t least)
{
    if (length >= 2 && word[0] == '-' && word[1] == letter && letter != '\0')
        return length == 2 ? 2 : 1;
    const size_t own = strcspn(word, "= ");
    const size_t named = own < length ? own : length;
    if (named < least || named > strlen(name) || strncmp(word, name, named) != 0)
        return 0;
    return word[named] == '=' ? 1 : 2;
}

char *next_command(const char *line, const char *options)
{
    static const char head[] = "allocbench run";
    const size_t head_length = sizeof head - 1;
    words w = {NULL, 0};
    bool placed = false;
    int skip = 0;
    if (strncmp(line, head, head_length) != 0 ||
        (line[head_length] != ' ' && line[head_length] != '\0'))
        return NULL;
    words_add(&w, "%s", head);
    for (const char *at = line + head_length; *at != '\0';) {
        at++; /* the blank */
        const size_t length = word_length(at);
        if (length == 0) {
            free(w.text);
            return NULL;
        }
        if (!placed && length == 2 && strncmp(at, "--", 2) == 0) {
            words_add(&w, " %s", options);
            placed = true;
        }
        if (skip == 0 && !placed) {
            skip = option_words(at, length, 'r', "--rounds", 4);
            skip = skip != 0 ? skip : option_words(at, length, 'o', "--output", 3);
            skip = skip != 0 ? skip : option_words(at, length, '\0', "--max-rounds", 5);
        }
        if (skip == 0)
            words_add(&w, " %.*s", (int)length, at);
        else
            skip--;
        at += length;
    }
    if (!placed)
        words_add(&w, " %s", options);
    return words_take(&w);
}

/* The run's own command with these options, and its directory with a suffix; NULL when there is
 * none to give. free()s options. */
static char *command_with(const model *m, char *options, const char *suffix)
{
    char *folder = xasprintf("%s%s", m->directory, suffix);
    char *word = next_quote(folder);
    char *all = xasprintf("%s -o %s", options, word);
    char *command = next_command(m->command_line, all);
    free(all);
    free(word);
    free(folder);
    free(options);
    return command;
}

/* The --rounds that the run was started with. */
static uint32_t rounds_asked(const verdicts *v)
{
    return v->looks > 1 ? v->s->m->look_rounds : v->s->m->rounds;
}

/* ---- what is lacking ------------------------------------------------------------------------- */

typedef struct lack {
    uint32_t rounds; /* for intervals; 0: there are enough */
    uint32_t open;   /* rounds that might tell what is not told apart; 0: all is told */
    uint32_t rank;   /* to rank those that are better than the baseline; 0: they are ranked */
    bool alone;      /* some main metric, without A/A */
    bool refused;    /* some main metric */
    bool unsteady;   /* somebody, in a main metric */
    bool unfinished; /* rounds */
    bool told;       /* something is */
} lack;

static uint32_t larger(uint32_t a, uint32_t b)
{
    return a > b ? a : b;
}

static bool is_unranked(const verdicts *v, const verdict_metric *metric)
{
    standing s = standing_of(v, metric->workload, metric->is_memory);
    const bool unranked = s.kind == STANDING_BEST && !s.ranked;
    standing_clear(&s);
    return unranked;
}

/* Has the run of a workload not come to its end? Of --until-decided that is the last look, or one
 * at which everything is told. */
static bool is_unfinished(const verdicts *v, size_t workload)
{
    const model *m = v->s->m;
    const size_t rounds = summary_rounds(m, workload);
    if (v->looks == 1)
        return rounds < m->rounds;
    return rounds < m->look_rounds || (!verdicts_decided(v, workload) &&
                                       (double)rounds < ldexp(m->look_rounds, (int)v->looks - 1));
}

static lack lack_of(const verdicts *v)
{
    lack l = {0};
    for (size_t i = 0; i < v->count; i++) {
        const verdict_metric *metric = &v->metrics[i];
        if (!metric->is_main)
            continue;
        l.refused = l.refused || metric->refused;
        if (is_unranked(v, metric))
            l.rank = larger(l.rank, standing_rank_rounds(v, metric));
        l.unsteady = l.unsteady || metric->base.has_drift;
        for (size_t j = 0; j < metric->count; j++) {
            const abench_comparison *result = &metric->items[j].result;
            l.unsteady = l.unsteady || metric->items[j].has_drift;
            if (metric->refused)
                continue;
            if (result->verdict == ABENCH_COMPARED_TOO_FEW)
                l.rounds = larger(l.rounds, larger(metric->rounds_least, result->rounds_needed));
            else if (!standing_has_noise(metric))
                l.alone = true;
            else if (result->verdict == ABENCH_COMPARED_OPEN)
                l.open = larger(l.open, larger(result->rounds_needed, 1));
            else
                l.told = true;
        }
    }
    for (size_t i = 0; i < v->s->m->workloads_count; i++)
        l.unfinished = l.unfinished || is_unfinished(v, i);
    return l;
}

static bool shows_drained(const model *m)
{
    bool found = false;
    for (size_t i = 0; i < m->cells_count && !found; i++)
        found = model_cell_metric(&m->cells[i], "rss_drained_bytes") != NULL;
    return found;
}

/* ---- the steps ------------------------------------------------------------------------------- */

static void add_step(advice *a, char *why, char *command)
{
    a->next = xrealloc(a->next, (a->next_count + 1) * sizeof *a->next);
    a->next[a->next_count++] = (advice_step){why, command};
}

static bool any_failed(const model *m)
{
    bool failed = false;
    for (size_t i = 0; i < m->cells_count && !failed; i++)
        failed = m->cells[i].failed;
    return failed;
}

static void add_rounds(const verdicts *v, advice *a, const lack *l)
{
    const model *m = v->s->m;
    if (l->rounds == 0 && !l->alone)
        return;
    if (v->looks == 1 && l->rounds > m->rounds)
        add_step(
            a,
            xasprintf("More rounds, for a verdict: with --rounds %u the same command adds what "
                      "is missing.",
                      l->rounds),
            command_with(m, xasprintf("--rounds %u", l->rounds), ""));
    else if (!l->unfinished && !any_failed(m))
        add_step(a,
                 xstrdup("Some targets share too few rounds with the baseline or with each other: "
                         "name all of them in one command, with --rounds +10."),
                 NULL);
    else if (!l->unfinished)
        add_step(a,
                 xasprintf("Cells failed, so that pairs are missing: when the reason is gone, run "
                           "their rounds again."),
                 command_with(m, xasprintf("--retry-failed --rounds %u", rounds_asked(v)), ""));
}

static void add_open(const verdicts *v, advice *a, const lack *l)
{
    if (l->open == 0)
        return;
    if (l->open > SENTENCES_ROUNDS_MOST)
        add_step(a,
                 xasprintf("What is not told apart would take more than %u rounds: a quieter "
                           "machine or longer runs (--duration) tell more than rounds do.",
                           SENTENCES_ROUNDS_MOST),
                 NULL);
    else if (v->looks > 1 && !l->unfinished)
        add_step(a,
                 xasprintf("The last look is taken: to go on, begin anew in another directory with "
                           "more rounds a look."),
                 command_with(v->s->m, xasprintf("--rounds %u", (l->open + 3) / 4), "-2"));
    else if (v->looks == 1 && l->open > v->s->m->rounds)
        add_step(
            a,
            xasprintf("%u rounds might tell what is not told apart yet; --until-decided, begun in "
                      "another directory, allows for looking more than once.",
                      l->open),
            command_with(v->s->m, xasprintf("--rounds %u", l->open), ""));
}

static void add_rank(const verdicts *v, advice *a, const lack *l)
{
    if (l->rank > v->s->m->rounds && l->open <= l->rank && v->looks == 1)
        add_step(a, xasprintf("%u rounds rank those that are better among each other.", l->rank),
                 command_with(v->s->m, xasprintf("--rounds %u", l->rank), ""));
}

static void add_compare(advice *a, const model *m)
{
    char *word = next_quote(m->directory);
    add_step(a,
             xstrdup("All is told that was asked. To hold another version, setting or machine "
                     "against this:"),
             xasprintf("allocbench compare %s NEW-DIRECTORY", word));
    free(word);
}

void next_make(const verdicts *v, advice *a)
{
    const model *m = v->s->m;
    const lack l = lack_of(v);
    if (m->workloads_count == 0)
        return;
    if (l.unfinished && !m->is_busy && (v->looks > 1 || l.rounds <= m->rounds))
        add_step(a,
                 xstrdup("Rounds are missing: the same command goes on with those that are there."),
                 command_with(m, xasprintf("--rounds %u", rounds_asked(v)), ""));
    add_rounds(v, a, &l);
    if (l.refused)
        add_step(a,
                 xstrdup("A/A separates: something disturbs this machine. See what the doctor "
                         "finds, then measure again in another directory."),
                 xstrdup("allocbench doctor"));
    add_open(v, a, &l);
    add_rank(v, a, &l);
    if (l.unsteady)
        add_step(a,
                 xstrdup("What is not steady still moves when the run ends: let the work run "
                         "longer (without --quick, more steps or time, or --duration) in another "
                         "directory."),
                 NULL);
    if (a->next_count > 0 || !l.told || l.open > 0)
        return;
    if (shows_drained(m) && !after_any_waited(m))
        add_step(a, xstrdup("All is told that was asked. What comes back seconds after a peak:"),
                 command_with(m, xasprintf("--settle 8s --rounds %u", rounds_asked(v)), "-settle"));
    else
        add_compare(a, m);
}
