#include "tool/compare.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tool/report/advice.h"
#include "tool/report/unpaired.h"
#include "tool/util.h"

#define ALPHA 0.05
#define LEAST 0.01
#define MOST  0.10 /* within more, two are not called the same: only noise is as large */

const char *compare_side_name(int side)
{
    return side == COMPARE_A ? "A" : "B";
}

const char *compare_label(const comparison *c, size_t pair)
{
    return c->side[COMPARE_B].m->workloads[c->pairs[pair].workload[COMPARE_B]].label;
}

const char *compare_target(const comparison *c, const compare_row *row)
{
    return c->side[COMPARE_B].m->targets[row->target[COMPARE_B]].name;
}

void compare_note(comparison *c, char *text)
{
    c->notes = xrealloc(c->notes, (c->notes_count + 1) * sizeof *c->notes);
    c->notes[c->notes_count++] = text;
}

/* ---- numbers of a row ------------------------------------------------------------------------ */

/* The values or the ratios of a row's rounds; free() them. */
static double *numbers_of(const summary_row *row, bool by_value, uint32_t *count)
{
    double *numbers = xcalloc(row->n + 1, sizeof *numbers);

    *count = 0;
    for (size_t i = 0; i < row->n; i++)
        if (by_value || row->values[i].has_ratio)
            numbers[(*count)++] = by_value ? row->values[i].value : row->values[i].ratio;
    return numbers;
}

/* The middle of one side's numbers: as the report of this side has it, where it has it. */
static void find_middle(const compare_side *side, const summary_row *row, bool by_value,
                        abench_interval *out)
{
    const verdict_metric *judged = verdicts_find(side->v, row->workload, row->metric);
    const verdict *item = judged == NULL ? NULL : verdict_of(judged, row->target);
    uint32_t count;
    double *numbers = numbers_of(row, by_value, &count);
    const double alpha = ALPHA / side->v->looks;

    abench_interval_init(out);
    if (!by_value && item != NULL && isfinite(item->result.ratio)) {
        out->count = item->result.rounds;
        out->estimate = item->result.ratio;
        out->low = item->result.low;
        out->high = item->result.high;
        out->coverage = isnan(out->low) ? 0 : 1 - alpha;
    } else if (by_value) {
        unpaired_median(numbers, count, alpha, out);
    } else if (count > 0) {
        abench_hodges_lehmann(numbers, count, alpha, out);
    }
    free(numbers);
}

/* ---- B by A ---------------------------------------------------------------------------------- */

static uint32_t judge_interval(const abench_interval *change, double threshold, uint32_t direction)
{
    const double high = 1 + threshold, low = 1 / high;
    const bool rises = change->low > high, falls = change->high < low;

    if (isnan(change->low) || isnan(change->high))
        return ABENCH_COMPARED_TOO_FEW;
    if (rises || falls)
        return rises == (direction == ABENCH_DIRECTION_HIGHER) ? ABENCH_COMPARED_BETTER
                                                               : ABENCH_COMPARED_WORSE;
    return change->low >= low && change->high <= high && threshold <= MOST ? ABENCH_COMPARED_SAME
                                                                           : ABENCH_COMPARED_OPEN;
}

/* As abench_compare: half the interval has to fit between the middle and the threshold. Where it
 * does and the threshold is too wide, that falls with the root of the rounds. */
static uint32_t rounds_needed(const abench_interval *change, double threshold)
{
    const double half = (log(change->high) - log(change->low)) / 2;
    const double wanted = fabs(fabs(log(change->estimate)) - log1p(threshold));
    const bool fits = change->high <= 1 + threshold && change->low >= 1 / (1 + threshold);
    const double much = fits ? threshold / MOST : half / wanted;
    const double needed = change->count * 1.05 * much * much;

    return needed < 1e6 ? (uint32_t)ceil(fmax(needed, change->count + 1)) : UINT32_MAX;
}

/* For an interval of B by A, and of A/A on each side. */
static uint32_t rounds_least(const compare_metric *metric, double alpha)
{
    const uint32_t shift = unpaired_least(alpha);
    const uint32_t itself = isnan(metric->noise) ? abench_rounds_least(ALPHA) : 0;

    return shift > itself ? shift : itself;
}

static void compare_row_judge(const compare_metric *metric, const summary_row *const row[2],
                              double alpha, compare_row *out)
{
    uint32_t count[2];
    double *numbers[2];

    for (int side = 0; side < 2; side++)
        numbers[side] = numbers_of(row[side], metric->by_value, &count[side]);
    if (metric->refused)
        out->why = "A/A separates";
    else if (count[0] == 0 || count[1] == 0)
        out->why = "rounds without a ratio";
    else if (!metric->by_value && (count[0] < row[0]->n || count[1] < row[1]->n))
        out->why = "rounds without a ratio";
    abench_interval_init(&out->change);
    if (!unpaired_ratio(numbers[0], count[0], numbers[1], count[1], alpha, &out->change)) {
        out->change.estimate = NAN;
        if (out->why == NULL)
            out->why = "a value is not above 0";
    }
    if (metric->direction == ABENCH_DIRECTION_NONE && out->why == NULL)
        out->why = "no direction is better";
    out->verdict = judge_interval(&out->change, metric->threshold, metric->direction);
    if (isnan(metric->noise)) /* no threshold can be trusted */
        out->verdict = ABENCH_COMPARED_TOO_FEW;
    if (out->why != NULL)
        out->verdict = ABENCH_COMPARED_OPEN;
    else if (out->verdict == ABENCH_COMPARED_TOO_FEW)
        out->needed = rounds_least(metric, alpha);
    else if (out->verdict == ABENCH_COMPARED_OPEN)
        out->needed = rounds_needed(&out->change, metric->threshold);
    free(numbers[0]);
    free(numbers[1]);
}

char *compare_text(const compare_metric *metric, const compare_row *row)
{
    const char *name = abench_compared_name(row->verdict);

    if (row->why != NULL)
        return xasprintf("not compared: %s", row->why);
    if (row->verdict == ABENCH_COMPARED_TOO_FEW)
        return xasprintf("%s: %u needed a side", name, row->needed);
    if (row->verdict == ABENCH_COMPARED_OPEN && row->needed > 0 && row->needed < UINT32_MAX)
        return xasprintf("%s: %u rounds might", name, row->needed);
    if (row->verdict == ABENCH_COMPARED_SAME)
        return xasprintf("%s within %.1f %%", name, 100 * metric->threshold);
    return xstrdup(name);
}

/* ---- a metric -------------------------------------------------------------------------------- */

/* How far apart equal things read on a side; NaN: not known. */
static double noise_of(const compare_side *side, size_t workload, const char *metric)
{
    const summary_row *again = summary_find(side->s, workload, side->m->baseline, true, metric);
    abench_interval aa = ABENCH_INTERVAL_INIT;
    uint32_t count = 0;
    double *ratios = again == NULL ? NULL : numbers_of(again, false, &count);
    double reach = NAN;

    if (count > 0 && abench_hodges_lehmann(ratios, count, ALPHA / side->v->looks, &aa) == ABENCH_OK)
        reach = abench_interval_reach(&aa);
    free(ratios);
    return reach;
}

static bool find_target(const model *m, const char *name, size_t *index)
{
    for (*index = 0; *index < m->targets_count; (*index)++)
        if (strcmp(m->targets[*index].name, name) == 0)
            return true;
    return false;
}

/* The rows of targets that have the metric in both. */
static void add_rows(const comparison *c, compare_metric *metric, double looks)
{
    const model *a = c->side[COMPARE_A].m, *b = c->side[COMPARE_B].m;
    const summary_row *(*rows)[2] = xcalloc(b->targets_count + 1, sizeof *rows);

    metric->rows = xcalloc(b->targets_count + 1, sizeof *metric->rows);
    for (size_t i = 0; i < b->targets_count; i++) {
        compare_row row = {.target = {0, i}};
        const summary_row *found[2];
        if (!find_target(a, b->targets[i].name, &row.target[COMPARE_A]) ||
            (i == b->baseline && !metric->by_value))
            continue;
        for (int side = 0; side < 2; side++)
            found[side] = summary_find(c->side[side].s, c->pairs[metric->pair].workload[side],
                                       row.target[side], false, metric->metric);
        if (found[0] == NULL || found[1] == NULL)
            continue;
        memcpy(rows[metric->count], found, sizeof found);
        metric->rows[metric->count++] = row;
    }
    for (size_t i = 0; i < metric->count; i++) {
        for (int side = 0; side < 2; side++)
            find_middle(&c->side[side], rows[i][side], metric->by_value,
                        &metric->rows[i].middle[side]);
        compare_row_judge(metric, rows[i], ALPHA / (double)metric->count / looks, &metric->rows[i]);
    }
    free(rows);
}

/* Not in both, or without a direction in which it is better: no metric, with count 0. */
static compare_metric make_metric(const comparison *c, size_t pair, const char *name)
{
    const compare_side *b = &c->side[COMPARE_B];
    compare_metric metric = {.pair = pair, .noise = 0, .threshold = LEAST};
    const summary_row *row = NULL;
    double looks = 1;

    for (size_t i = 0; i < b->m->targets_count && row == NULL; i++)
        row = summary_find(b->s, c->pairs[pair].workload[COMPARE_B], i, false, name);
    if (row == NULL)
        return metric;
    metric.metric = metric.title = row->metric;
    metric.unit = row->unit;
    metric.direction = row->direction;
    metric.by_value = c->same_machine && strcmp(row->unit, "bytes") == 0;
    for (int side = 0; side < 2; side++) {
        const size_t workload = c->pairs[pair].workload[side];
        const verdict_metric *judged = verdicts_find(c->side[side].v, workload, name);
        const double noise = noise_of(&c->side[side], workload, name);
        if (judged != NULL)
            metric.title = judged->title;
        metric.refused = metric.refused || (judged != NULL && judged->refused);
        metric.noise = (1 + metric.noise) * (1 + noise) - 1; /* a NaN stays */
        looks = fmax(looks, c->side[side].v->looks);
    }
    metric.threshold = fmax(LEAST, metric.noise); /* not of NaN */
    add_rows(c, &metric, looks);
    return metric;
}

const compare_metric *compare_metric_of(comparison *c, size_t pair, const char *name)
{
    compare_metric made;
    size_t place = c->count;

    for (size_t i = 0; i < c->count; i++) {
        if (c->metrics[i].pair == pair && strcmp(c->metrics[i].metric, name) == 0)
            return &c->metrics[i];
        if (c->metrics[i].pair > pair && place == c->count)
            place = i;
    }
    made = make_metric(c, pair, name);
    if (made.count == 0) {
        free(made.rows);
        return NULL;
    }
    c->metrics = xrealloc(c->metrics, (c->count + 1) * sizeof *c->metrics);
    memmove(c->metrics + place + 1, c->metrics + place, (c->count - place) * sizeof made);
    made.added = c->whole;
    c->metrics[place] = made;
    c->count++;
    return &c->metrics[place];
}

/* What is judged on either side. */
static void add_metrics(comparison *c)
{
    for (size_t pair = 0; pair < c->pairs_count; pair++)
        for (int side = COMPARE_B; side >= COMPARE_A; side--) {
            const verdicts *v = c->side[side].v;
            for (size_t i = 0; i < v->count; i++)
                if (v->metrics[i].workload == c->pairs[pair].workload[side])
                    compare_metric_of(c, pair, v->metrics[i].metric);
        }
}

/* ---- the whole ------------------------------------------------------------------------------- */

static bool load(compare_side *side, const char *directory, char *message, size_t message_size)
{
    char why[1024];

    side->m = model_load(directory, why, sizeof why);
    if (side->m == NULL) {
        snprintf(message, message_size, "%s", why);
        return false;
    }
    side->s = summary_make(side->m);
    side->v = verdicts_make(side->s);
    return true;
}

comparison *compare_make(const char *a, const char *b, char *message, size_t message_size)
{
    comparison *c = xcalloc(1, sizeof *c);
    bool good = load(&c->side[COMPARE_A], a, message, message_size) &&
                load(&c->side[COMPARE_B], b, message, message_size) &&
                compare_keys(c, message, message_size);

    if (good)
        add_metrics(c);
    c->whole = true;
    if (good && c->count == 0) {
        good = false;
        snprintf(message, message_size,
                 "nothing was measured in both %s and %s: no target but the baseline has a metric "
                 "in a workload that both have",
                 a, b);
    }
    if (good)
        return c;
    compare_free(c);
    return NULL;
}

void compare_free(comparison *c)
{
    if (c == NULL)
        return;
    for (size_t i = 0; i < c->count; i++)
        free(c->metrics[i].rows);
    free(c->metrics);
    free(c->pairs);
    for (size_t i = 0; i < c->notes_count; i++)
        free(c->notes[i]);
    free(c->notes);
    for (int side = 0; side < 2; side++) {
        verdicts_free(c->side[side].v);
        summary_free(c->side[side].s);
        model_free(c->side[side].m);
    }
    free(c);
}

/* ---- in words -------------------------------------------------------------------------------- */

typedef struct sentences {
    char **items;
    size_t count;
} sentences;

static void add_sentence(sentences *s, char *text)
{
    s->items = xrealloc(s->items, (s->count + 1) * sizeof *s->items);
    s->items[s->count++] = text;
}

/* "On mixed, jemalloc's time is better in B: x0.90 [0.87 0.93]." of all with a verdict. */
static size_t tell(const comparison *c, sentences *s, uint32_t wanted)
{
    size_t told = 0;

    for (size_t i = 0; i < c->count; i++)
        for (size_t j = 0; j < c->metrics[i].count; j++) {
            const compare_metric *metric = &c->metrics[i];
            const compare_row *row = &metric->rows[j];
            char *ratio;
            if (row->verdict != wanted || metric->added)
                continue;
            ratio = advice_ratio(row->change.estimate, row->change.low, row->change.high);
            add_sentence(s, xasprintf("%s in B: %s of %s on %s: %s.",
                                      wanted == ABENCH_COMPARED_BETTER ? "Better" : "Worse",
                                      metric->title, compare_target(c, row),
                                      compare_label(c, metric->pair), ratio));
            free(ratio);
            told++;
        }
    return told;
}

static size_t count_of(const comparison *c, uint32_t wanted)
{
    size_t count = 0;

    for (size_t i = 0; i < c->count; i++)
        for (size_t j = 0; j < c->metrics[i].count; j++)
            count += c->metrics[i].rows[j].verdict == wanted && !c->metrics[i].added;
    return count;
}

static double widest_threshold(const comparison *c)
{
    double widest = 0;

    for (size_t i = 0; i < c->count; i++)
        widest = fmax(widest, c->metrics[i].added ? 0 : c->metrics[i].threshold);
    return widest;
}

char **compare_sentences(const comparison *c, size_t *count)
{
    sentences s = {NULL, 0};
    const size_t told = tell(c, &s, ABENCH_COMPARED_WORSE) + tell(c, &s, ABENCH_COMPARED_BETTER);
    const size_t same = count_of(c, ABENCH_COMPARED_SAME);
    const size_t few = count_of(c, ABENCH_COMPARED_TOO_FEW),
                 open = count_of(c, ABENCH_COMPARED_OPEN);

    if (told == 0 && same > 0 && open == 0 && few == 0)
        add_sentence(&s, xasprintf("B is the same as A, within %.1f %%, in everything that was "
                                   "compared.",
                                   100 * widest_threshold(c)));
    else if (told == 0)
        add_sentence(&s, xstrdup("Nothing is proven to be better or worse in B."));
    if (same > 0 && (told > 0 || open > 0 || few > 0))
        add_sentence(
            &s, xasprintf("The same: %zu of %zu comparisons.", same, told + same + open + few));
    if (open > 0)
        add_sentence(&s, xasprintf("Not told apart: %zu; the tables say how many rounds might "
                                   "tell.",
                                   open));
    if (few > 0)
        add_sentence(&s, xasprintf("Not enough rounds: %zu comparison%s; the tables say how many "
                                   "are needed.",
                                   few, few == 1 ? "" : "s"));
    *count = s.count;
    return s.items;
}
