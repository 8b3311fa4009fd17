#include "tool/report/standing.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "tool/util.h"

#define ALPHA 0.05 /* as of the verdicts */

static const verdict_metric *main_metric(const verdicts *v, size_t workload, bool memory)
{
    for (size_t i = 0; i < v->count; i++) {
        const verdict_metric *metric = &v->metrics[i];
        if (metric->workload == workload && metric->is_main && metric->is_memory == memory)
            return metric;
    }
    return NULL;
}

static size_t count_of(const verdict_metric *metric, uint32_t told)
{
    size_t count = 0;
    for (size_t i = 0; i < metric->count; i++)
        count += metric->items[i].result.verdict == told;
    return count;
}

static void add_best(standing *s, const verdict *item)
{
    s->best[item->row->target] = true;
    s->best_count++;
}

/* Of those that are better than the baseline the ones that none of them is proven better than. One
 * that is better is ranked before the baseline, even where the ranks, which share alpha among more
 * comparisons, do not tell it. */
static void choose_better(standing *s)
{
    const verdict_metric *metric = s->metric;
    uint32_t first = UINT32_MAX, last = 0;
    s->ranked = true;
    for (size_t i = 0; i < metric->count; i++) {
        const verdict *item = &metric->items[i];
        if (item->result.verdict != ABENCH_COMPARED_BETTER)
            continue;
        s->ranked = s->ranked && item->has_rank;
        if (item->has_rank && item->rank_low < first)
            first = item->rank_low;
    }
    for (size_t i = 0; i < metric->count; i++) {
        const verdict *item = &metric->items[i];
        if (item->result.verdict != ABENCH_COMPARED_BETTER ||
            (s->ranked && item->rank_low != first))
            continue;
        s->tied = s->best_count == 0 || (s->tied && item->rank_high == last);
        last = item->rank_high;
        add_best(s, item);
        s->proven = item->has_rank && item->rank_high == 1;
    }
    s->proven = s->proven && s->best_count == 1;
    s->proven = s->proven || (s->best_count == 1 && metric->count == 1);
    s->ranked = s->ranked || s->best_count == 1;
}

/* The baseline and those that are as it is. */
static void choose_base(standing *s)
{
    const verdict_metric *metric = s->metric;
    add_best(s, &metric->base);
    for (size_t i = 0; i < metric->count; i++) {
        if (metric->items[i].result.verdict == ABENCH_COMPARED_SAME)
            add_best(s, &metric->items[i]);
    }
    s->ranked = s->tied = true;
    s->proven = count_of(metric, ABENCH_COMPARED_WORSE) == metric->count;
}

bool standing_has_noise(const verdict_metric *metric)
{
    return metric->aa.count > 0 && isfinite(metric->aa.low);
}

uint32_t standing_rounds_needed(const verdict_metric *metric)
{
    uint32_t needed = metric->rounds_least;
    for (size_t i = 0; i < metric->count; i++) {
        const abench_comparison *result = &metric->items[i].result;
        if (result->verdict == ABENCH_COMPARED_TOO_FEW && result->rounds_needed > needed)
            needed = result->rounds_needed;
    }
    return needed;
}

uint32_t standing_rank_rounds(const verdicts *v, const verdict_metric *metric)
{
    const double arms = (double)metric->count + 1;
    return abench_rounds_least(ALPHA / (arms * (arms - 1) / 2) / v->looks);
}

standing standing_of(const verdicts *v, size_t workload, bool memory)
{
    const verdict_metric *metric = main_metric(v, workload, memory);
    standing s = {.kind = STANDING_ABSENT, .metric = metric};
    s.best = xcalloc(v->s->m->targets_count + 1, sizeof *s.best);
    if (metric == NULL || metric->count == 0)
        return s;
    const size_t few = count_of(metric, ABENCH_COMPARED_TOO_FEW);
    const size_t open = count_of(metric, ABENCH_COMPARED_OPEN);
    if (metric->refused) {
        s.kind = STANDING_REFUSED;
    } else if (few == metric->count) {
        s.kind = STANDING_TOO_FEW;
    } else if (!standing_has_noise(metric)) {
        s.kind = STANDING_ALONE;
    } else if (count_of(metric, ABENCH_COMPARED_BETTER) > 0) {
        s.kind = STANDING_BEST;
        choose_better(&s);
    } else if (open + few > 0) {
        s.kind = STANDING_OPEN;
    } else if (count_of(metric, ABENCH_COMPARED_SAME) == metric->count) {
        s.kind = STANDING_SAME;
    } else {
        s.kind = STANDING_BEST;
        choose_base(&s);
    }
    return s;
}

void standing_clear(standing *s)
{
    free(s->best);
    s->best = NULL;
}

bool standing_is_judged(const standing *s)
{
    return standing_is_told(s) || s->kind == STANDING_OPEN;
}

bool standing_is_told(const standing *s)
{
    return s->kind == STANDING_BEST || s->kind == STANDING_SAME;
}

uint32_t standing_verdict(const standing *s, size_t target)
{
    if (!standing_is_judged(s))
        return ABENCH_COMPARED_OPEN;
    for (size_t i = 0; i < s->metric->count; i++) {
        const verdict *item = &s->metric->items[i];
        if (item->row->target == target)
            return item->result.verdict != ABENCH_COMPARED_TOO_FEW ? item->result.verdict
                                                                   : ABENCH_COMPARED_OPEN;
    }
    return target == s->metric->base.row->target ? ABENCH_COMPARED_SAME : ABENCH_COMPARED_OPEN;
}

double standing_margin(const standing *s, const bool *chosen, double margin)
{
    for (size_t i = 0; standing_is_judged(s) && i < s->metric->count; i++) {
        const verdict *item = &s->metric->items[i];
        if (item->result.verdict == ABENCH_COMPARED_SAME && s->metric->threshold > margin &&
            (chosen == NULL || chosen[item->row->target]))
            margin = s->metric->threshold;
    }
    return margin;
}

bool standing_equals(const standing *a, const standing *b, size_t targets)
{
    return a->kind == b->kind && a->ranked == b->ranked && a->tied == b->tied &&
           memcmp(a->best, b->best, targets * sizeof *a->best) == 0;
}
