#include "tool/report/verdict.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include <allocbench/run.h>

#include "tool/command_metrics.h"
#include "tool/report/format.h"
#include "tool/util.h"

#define ALPHA       0.05
#define LEAST       0.01 /* a smaller difference does not matter to anybody */
#define CUSTOM_MOST 8u   /* metrics of a harness's own that are judged */

/* ---- what is judged -------------------------------------------------------------------------- */

typedef struct choice {
    const char *metric;
    const char *title;
    bool is_memory;
    bool may_lead; /* the first of its kind that is there is the main one */
} choice;

static const choice tape_choices[] = {
    {SUMMARY_TIME, "time", false, true},
    {"requests_per_second", "requests", false, true},
    {"request_p99_ns", "request p99", false, false},
    {"malloc_touch_p99_ns", "malloc+touch p99", false, false},
    {"free_p99_ns", "free p99", false, false},
    {"rss_bytes", "RSS", true, true},
    {"rss_peak_bytes", "peak RSS", true, true},
    {"rss_drained_bytes", "drained RSS", true, false},
};

static const choice command_choices[] = {
    {"wall_ns", "wall time", false, true},
    {"cpu_ns", "CPU time", false, true},
    {"peak_rss_bytes", "peak RSS", true, true},
    {"peak_tree_pss_bytes", "peak PSS of the tree", true, false},
};

#define COUNT_OF(list) (sizeof(list) / sizeof *(list))

static const choice *find_choice(const choice *list, size_t count, const char *metric)
{
    for (size_t i = 0; i < count; i++) {
        if (strcmp(list[i].metric, metric) == 0)
            return &list[i];
    }
    return NULL;
}

/* One that the library or the tool itself measures. */
static bool is_known(const char *metric)
{
    abench_metric_info known;
    if (command_metric_find(metric) != NULL)
        return true;
    abench_metric_info_init(&known);
    for (uint32_t i = 0; abench_metric_at(i, &known) == ABENCH_OK; i++) {
        if (strcmp(metric, known.name) == 0)
            return true;
    }
    return false;
}

/* A command that is a harness has metrics of a run, and some of its own. */
bool verdict_is_judged(const char *metric, bool is_command)
{
    if (find_choice(tape_choices, COUNT_OF(tape_choices), metric) != NULL)
        return true;
    return is_command && (find_choice(command_choices, COUNT_OF(command_choices), metric) != NULL ||
                          !is_known(metric));
}

/* ---- one comparison -------------------------------------------------------------------------- */

typedef struct judge {
    verdicts *v;
    size_t capacity;
    double *ratios; /* room for the rounds of any row */
} judge;

/* Rounds that count of n: all of them, or those up to the last look. 0: no look has come. */
static uint32_t looked_at(const judge *j, uint32_t n)
{
    uint32_t at = j->v->s->m->look_rounds, seen = 0;
    if (j->v->looks == 1)
        return n;
    for (uint32_t i = 0; i < j->v->looks && at <= n; i++) {
        seen = at;
        at = at > UINT32_MAX / 2 ? UINT32_MAX : 2 * at;
    }
    return seen;
}

/* The ratios of a to b of the rounds that count, or of all before the first look. A round in which
 * a cell failed was looked at all the same. */
static uint32_t collect(const judge *j, const summary_row *a, const summary_row *b,
                        uint32_t *undefined, bool *is_early)
{
    uint32_t n = summary_pairs(j->v->s, a, b, j->ratios, undefined);
    uint32_t seen = looked_at(j, n + (a->failed > b->failed ? a->failed : b->failed));
    *is_early = seen == 0 && n > 0;
    return seen == 0 || seen > n ? n : seen;
}

/* The verdict on a against b. Before the first look there is none, only an estimate. */
static void compare(const judge *j, const verdict_metric *metric, const summary_row *a,
                    const summary_row *b, uint32_t comparisons, abench_comparison *out)
{
    uint32_t undefined;
    bool is_early;
    abench_compare_options options = ABENCH_COMPARE_OPTIONS_INIT;
    uint32_t n = collect(j, a, b, &undefined, &is_early);
    options.higher_is_better = metric->direction == ABENCH_DIRECTION_HIGHER;
    options.comparisons = comparisons;
    options.looks = j->v->looks;
    options.threshold = metric->threshold;
    abench_comparison_init(out);
    if (n == 0 || abench_compare(j->ratios, n, &options, out) != ABENCH_OK) {
        abench_comparison_init(out);
        out->ratio = out->low = out->high = NAN;
        out->verdict = undefined > 0 ? ABENCH_COMPARED_OPEN : ABENCH_COMPARED_TOO_FEW;
    } else if (undefined > 0) {
        out->verdict = ABENCH_COMPARED_OPEN; /* the rounds that are left were chosen by the value */
        out->rounds_needed = 0;
        out->low = out->high = NAN;
    } else if (is_early) {
        out->verdict = ABENCH_COMPARED_TOO_FEW;
        out->low = out->high = NAN;
    }
    if (out->verdict == ABENCH_COMPARED_SAME && metric->threshold > VERDICT_SAME_MOST) {
        /* Only noise is as large: it falls with the root of the rounds. */
        const double much = metric->threshold / VERDICT_SAME_MOST;
        const double rounds = ceil(1.05 * out->rounds * much * much);
        out->verdict = ABENCH_COMPARED_OPEN;
        out->rounds_needed = rounds < 1e6 ? (uint32_t)rounds : UINT32_MAX;
    }
    if (out->verdict == ABENCH_COMPARED_TOO_FEW) {
        out->rounds_needed = abench_rounds_least(ALPHA / comparisons / j->v->looks);
        if (j->v->looks > 1 && out->rounds_needed < j->v->s->m->look_rounds)
            out->rounds_needed = j->v->s->m->look_rounds;
    }
    out->threshold = metric->threshold;
}

/* ---- the baseline against itself ------------------------------------------------------------- */

/* How probable A/A as far off 1 as this is, or farther, when it really is within 1 %. */
static double aa_probability(double *ratios, uint32_t n, double middle)
{
    double center = middle > 1 ? 1 + LEAST : 1 / (1 + LEAST);
    if (!(middle > 1 + LEAST || middle < 1 / (1 + LEAST)))
        return 1;
    double p = abench_signed_rank(ratios, n, center);
    return isfinite(p) ? p : 1;
}

static void look_at_itself(const judge *j, verdict_metric *metric)
{
    uint32_t undefined, n = 0;
    bool is_early = false;
    abench_interval_init(&metric->aa);
    metric->aa_p = 1;
    metric->threshold = LEAST;
    if (metric->again != NULL)
        n = collect(j, metric->again, metric->baseline, &undefined, &is_early);
    if (n == 0 ||
        abench_hodges_lehmann(j->ratios, n, ALPHA / j->v->looks, &metric->aa) != ABENCH_OK)
        return;
    if (is_early)
        metric->aa.low = metric->aa.high = NAN;
    else
        metric->aa_p = aa_probability(j->ratios, n, metric->aa.estimate);
    metric->threshold =
        fmin(fmax(LEAST, abench_interval_reach(&metric->aa)), DBL_MAX); /* not NaN */
}

/* Without an A/A interval no threshold can be trusted. */
static bool has_threshold(const verdict_metric *metric)
{
    return metric->aa.count > 0 && isfinite(metric->aa.low);
}

/* ---- drift ----------------------------------------------------------------------------------- */

/* Of a row's rounds, sure to be beyond the metric's threshold: how it moves within them. */
static void find_drift(const judge *j, const verdict_metric *metric, verdict *item)
{
    const timing *timings = j->v->s->timings;
    abench_compare_options options = ABENCH_COMPARE_OPTIONS_INIT;
    abench_comparison moved = ABENCH_COMPARISON_INIT;
    const bool is_time = strcmp(metric->metric, SUMMARY_TIME) == 0;
    uint32_t n = 0;
    if (!is_time && strcmp(metric->metric, "rss_bytes") != 0)
        return;
    for (size_t i = 0; i < item->row->n; i++) {
        const timing *t = &timings[item->row->values[i].cell];
        double drift = is_time ? timing_drift(t) : timing_memory_drift(t);
        if (isfinite(drift) && drift > 0)
            j->ratios[n++] = drift;
    }
    options.threshold = metric->threshold;
    options.comparisons = (uint32_t)metric->count + 1;
    if (n == 0 || abench_compare(j->ratios, n, &options, &moved) != ABENCH_OK)
        return;
    item->has_drift =
        moved.verdict == ABENCH_COMPARED_BETTER || moved.verdict == ABENCH_COMPARED_WORSE;
    item->drift = moved.ratio;
}

/* ---- ranks ----------------------------------------------------------------------------------- */

static verdict *arm_of(verdict_metric *metric, size_t index)
{
    return index == 0 ? &metric->base : &metric->items[index - 1];
}

/* BETTER for a against b is WORSE for b against a. */
static uint32_t turned(uint32_t result)
{
    return result == ABENCH_COMPARED_BETTER  ? ABENCH_COMPARED_WORSE
           : result == ABENCH_COMPARED_WORSE ? ABENCH_COMPARED_BETTER
                                             : result;
}

/* Without an estimate where there are too few rounds for a verdict: of many targets, whose pairs
 * want many rounds, that is most of the work. */
static uint32_t compare_pair(const judge *j, const verdict_metric *metric, const summary_row *a,
                             const summary_row *b, uint32_t pairs)
{
    const uint32_t least = abench_rounds_least(ALPHA / pairs / j->v->looks);
    abench_comparison c;
    if (a->n < least || b->n < least)
        return ABENCH_COMPARED_TOO_FEW;
    compare(j, metric, a, b, pairs, &c);
    return c.verdict;
}

/* Is an arm compared with the baseline, and with each other arm that is? A place beside one that it
 * never ran beside would look like a tie. */
static bool is_compared(const uint32_t *results, size_t n, size_t arm)
{
    if (arm != 0 && results[arm * n] == ABENCH_COMPARED_TOO_FEW)
        return false;
    size_t pairs = 0;
    for (size_t b = 0; b < n; b++) {
        const bool stands = b == 0 || results[b * n] != ABENCH_COMPARED_TOO_FEW;
        if (b == arm || !stands)
            continue;
        if (results[arm * n + b] == ABENCH_COMPARED_TOO_FEW)
            return false;
        pairs++;
    }
    return pairs > 0;
}

static void rank(const judge *j, verdict_metric *metric)
{
    const size_t n = metric->count + 1;
    uint32_t *results = xcalloc(n * n, sizeof *results);
    uint32_t *low = xcalloc(n, sizeof *low), *high = xcalloc(n, sizeof *high);
    for (size_t a = 0; a < n; a++) {
        results[a * n + a] = ABENCH_COMPARED_SAME;
        for (size_t b = a + 1; b < n; b++) {
            const uint32_t told = compare_pair(j, metric, arm_of(metric, a)->row,
                                               arm_of(metric, b)->row, (uint32_t)(n * (n - 1) / 2));
            results[a * n + b] = told;
            results[b * n + a] = turned(told);
        }
    }
    if (abench_ranks(results, (uint32_t)n, low, high) == ABENCH_OK) {
        for (size_t a = 0; a < n; a++) {
            verdict *arm = arm_of(metric, a);
            arm->has_rank = is_compared(results, n, a);
            arm->rank_low = low[a];
            arm->rank_high = high[a];
        }
    }
    free(results);
    free(low);
    free(high);
}

/* ---- a metric -------------------------------------------------------------------------------- */

static double cliff_of(const summary_row *a, const summary_row *b)
{
    double *x = xcalloc(a->n, sizeof *x), *y = xcalloc(b->n, sizeof *y);
    for (size_t i = 0; i < a->n; i++)
        x[i] = a->values[i].value;
    for (size_t i = 0; i < b->n; i++)
        y[i] = b->values[i].value;
    double delta = abench_cliff(x, (uint32_t)a->n, y, (uint32_t)b->n);
    free(x);
    free(y);
    return delta;
}

/* The targets' rows of the metric, without the baseline's and the floor's. */
static void add_items(const judge *j, verdict_metric *metric)
{
    const summary *s = j->v->s;
    metric->items = xcalloc(s->m->targets_count + 1, sizeof *metric->items);
    for (size_t i = 0; i < s->m->targets_count; i++) {
        const summary_row *row = summary_find(s, metric->workload, i, false, metric->metric);
        if (row != NULL && i != s->m->baseline)
            metric->items[metric->count++].row = row;
    }
}

static void judge_metric(const judge *j, verdict_metric *metric)
{
    metric->base.row = metric->baseline;
    metric->base.result = (abench_comparison)ABENCH_COMPARISON_INIT;
    look_at_itself(j, metric);
    add_items(j, metric);
    const uint32_t count = (uint32_t)metric->count;
    metric->rounds_least = abench_rounds_least(ALPHA / (count > 0 ? count : 1) / j->v->looks);
    find_drift(j, metric, &metric->base);
    metric->base.result.verdict = ABENCH_COMPARED_SAME;
    metric->base.result.ratio = metric->base.result.low = metric->base.result.high = 1;
    metric->base.result.threshold = metric->threshold;
    for (uint32_t i = 0; i < count; i++) {
        verdict *item = &metric->items[i];
        compare(j, metric, item->row, metric->baseline, count, &item->result);
        item->cliff = cliff_of(item->row, metric->baseline);
        find_drift(j, metric, item);
        if (item->result.rounds > metric->rounds)
            metric->rounds = item->result.rounds;
    }
    rank(j, metric);
}

/* The first of a kind that is there is the main one. */
static bool is_first(const verdicts *v, size_t from, bool is_memory)
{
    for (size_t i = from; i < v->count; i++) {
        if (v->metrics[i].is_memory == is_memory && v->metrics[i].is_main)
            return false;
    }
    return true;
}

static void add_metric(judge *j, size_t from, size_t workload, const choice *chosen)
{
    const summary *s = j->v->s;
    const summary_row *row = summary_find(s, workload, s->m->baseline, false, chosen->metric);
    if (row == NULL || row->direction == ABENCH_DIRECTION_NONE ||
        verdicts_find(j->v, workload, chosen->metric) != NULL)
        return;
    verdict_metric metric = {
        .workload = workload,
        .metric = row->metric,
        .title = chosen->title,
        .unit = row->unit,
        .direction = row->direction,
        .is_memory = chosen->is_memory,
        .is_main = chosen->may_lead && is_first(j->v, from, chosen->is_memory),
        .baseline = row,
        .again = summary_find(s, workload, s->m->baseline, true, chosen->metric),
    };
    judge_metric(j, &metric);
    j->v->metrics = util_grow(j->v->metrics, j->v->count, &j->capacity, sizeof metric);
    j->v->metrics[j->v->count++] = metric;
}

/* A harness's own. */
static void add_customs(judge *j, size_t from, size_t workload)
{
    const summary *s = j->v->s;
    size_t added = 0;
    for (size_t i = 0; i < s->count && added < CUSTOM_MOST; i++) {
        const summary_row *row = &s->rows[i];
        const size_t before = j->v->count;
        if (row->workload != workload || row->target != s->m->baseline || row->again ||
            is_known(row->metric))
            continue;
        add_metric(j, from, workload,
                   &(choice){row->metric, row->metric, strcmp(row->unit, "bytes") == 0, false});
        added += j->v->count - before;
    }
}

static void judge_workload(judge *j, size_t workload)
{
    const bool is_command = j->v->s->m->workloads[workload].is_command;
    const size_t from = j->v->count;
    for (size_t i = 0; i < COUNT_OF(tape_choices); i++)
        add_metric(j, from, workload, &tape_choices[i]);
    for (size_t i = 0; i < COUNT_OF(command_choices) && is_command; i++)
        add_metric(j, from, workload, &command_choices[i]);
    if (is_command)
        add_customs(j, from, workload);
}

/* ---- all of them ----------------------------------------------------------------------------- */

static void refuse(const verdict_metric *metric, verdict *item)
{
    if (item->result.verdict != ABENCH_COMPARED_TOO_FEW)
        item->result.verdict = ABENCH_COMPARED_OPEN;
    if (metric->refused)
        item->result.rounds_needed = 0;
    item->has_rank = false;
}

/* What nothing can be said of: A/A separates, or there is no A/A to tell how far noise goes. */
static void refuse_metrics(verdicts *v)
{
    double *p = xcalloc(v->count + 1, sizeof *p);
    uint32_t *order = xcalloc(v->count + 1, sizeof *order);
    uint8_t *rejected = xcalloc(v->count + 1, sizeof *rejected);
    for (size_t i = 0; i < v->count; i++)
        p[i] = v->metrics[i].aa_p;
    if (abench_holm(p, (uint32_t)v->count, ALPHA / v->looks, order, rejected) != ABENCH_OK)
        memset(rejected, 0, v->count);
    for (size_t i = 0; i < v->count; i++) {
        verdict_metric *metric = &v->metrics[i];
        metric->refused = rejected[i] != 0;
        for (size_t at = 0; at < metric->count; at++) {
            if (metric->refused || !has_threshold(metric))
                refuse(metric, &metric->items[at]);
        }
        if (metric->refused || !has_threshold(metric))
            metric->base.has_rank = false;
    }
    free(p);
    free(order);
    free(rejected);
}

verdicts *verdicts_make(const summary *s)
{
    judge j = {.v = xcalloc(1, sizeof(verdicts))};
    j.v->s = s;
    j.v->looks = s->m->looks > 0 ? s->m->looks : 1;
    j.ratios = xcalloc(s->m->cells_count + 1, sizeof *j.ratios);
    for (size_t i = 0; i < s->m->workloads_count; i++)
        judge_workload(&j, i);
    free(j.ratios);
    refuse_metrics(j.v);
    return j.v;
}

void verdicts_free(verdicts *v)
{
    if (v == NULL)
        return;
    for (size_t i = 0; i < v->count; i++)
        free(v->metrics[i].items);
    free(v->metrics);
    free(v);
}

const verdict_metric *verdicts_find(const verdicts *v, size_t workload, const char *metric)
{
    for (size_t i = 0; i < v->count; i++) {
        if (v->metrics[i].workload == workload && strcmp(v->metrics[i].metric, metric) == 0)
            return &v->metrics[i];
    }
    return NULL;
}

const verdict *verdict_of(const verdict_metric *metric, size_t target)
{
    if (metric->base.row->target == target)
        return &metric->base;
    for (size_t i = 0; i < metric->count; i++) {
        if (metric->items[i].row->target == target)
            return &metric->items[i];
    }
    return NULL;
}

static bool is_told(const verdict *item)
{
    return item->result.verdict == ABENCH_COMPARED_BETTER ||
           item->result.verdict == ABENCH_COMPARED_WORSE ||
           item->result.verdict == ABENCH_COMPARED_SAME;
}

bool verdicts_decided(const verdicts *v, size_t workload)
{
    for (size_t i = 0; i < v->count; i++) {
        const verdict_metric *metric = &v->metrics[i];
        if (metric->workload != workload || !metric->is_main || metric->refused)
            continue;
        for (size_t at = 0; at < metric->count; at++) {
            if (!is_told(&metric->items[at]))
                return false;
        }
    }
    return true;
}

char *verdict_text(const verdict_metric *metric, const verdict *item)
{
    const abench_comparison *c = &item->result;
    if (metric->refused)
        return xstrdup("A/A separates");
    if (c->verdict == ABENCH_COMPARED_TOO_FEW)
        return xasprintf("%s: %u needed", abench_compared_name(c->verdict), c->rounds_needed);
    if (!isfinite(c->ratio))
        return xstrdup("no ratio: a value of 0");
    if (c->verdict == ABENCH_COMPARED_SAME)
        return xasprintf("%s within %.*f %%", abench_compared_name(c->verdict),
                         format_decimals(100 * c->threshold) > 1 ? 1 : 0, 100 * c->threshold);
    return xstrdup(abench_compared_name(c->verdict));
}
