/*
 * standing.h - how the targets stand to each other in one main metric of one workload: by the
 * verdicts and the ranks, and by nothing else.
 */
#ifndef ABENCH_TOOL_REPORT_STANDING_H
#define ABENCH_TOOL_REPORT_STANDING_H

#include <stdbool.h>
#include <stddef.h>

#include "tool/report/verdict.h"

typedef enum standing_kind {
    STANDING_ABSENT,  /* there is no such metric, or nobody to compare */
    STANDING_REFUSED, /* A/A separates */
    STANDING_TOO_FEW, /* rounds, for every target */
    STANDING_ALONE,   /* there is no A/A to tell how far noise goes */
    STANDING_OPEN,    /* nobody is better than the baseline, and somebody might be */
    STANDING_SAME,    /* all are as the baseline */
    STANDING_BEST,    /* `best` holds one that wins, or some that tie */
} standing_kind;

typedef struct standing {
    standing_kind kind;
    const verdict_metric *metric; /* NULL: ABSENT */
    bool *best;                   /* by target of the model; of BEST only */
    size_t best_count;
    bool ranked; /* the best are so by their ranks; else they are those better than the baseline,
                    which has no rounds enough to compare all pairs */
    bool tied;   /* ranked, and all of the best have the same places; else some of them only lead */
    bool proven; /* one, which is proven better than each other target */
} standing;

/* Of the workload's main metric of memory, or of speed. */
standing standing_of(const verdicts *v, size_t workload, bool memory);

void standing_clear(standing *s);

/* Does A/A of the metric have an interval? Without one no verdict in it can be trusted. */
bool standing_has_noise(const verdict_metric *metric);

/* Rounds that its targets with too few want; at least what any target wants. */
uint32_t standing_rounds_needed(const verdict_metric *metric);

/* Rounds that it takes to compare all pairs. */
uint32_t standing_rank_rounds(const verdicts *v, const verdict_metric *metric);

/* Is it judged: BEST, SAME or OPEN? */
bool standing_is_judged(const standing *s);

/* Something can be said of who is better: BEST or SAME. */
bool standing_is_told(const standing *s);

/* The target's ABENCH_COMPARED_..., SAME for the baseline; OPEN where it cannot be told: refused,
 * absent, too few rounds. */
uint32_t standing_verdict(const standing *s, size_t target);

/* What a difference that matters exceeds, where noise hides none that does. */
#define STANDING_MARGIN 0.01

/* The difference that a target that is the same as the baseline may still have, of those that
 * `chosen` names, NULL: of all; at least `margin`. */
double standing_margin(const standing *s, const bool *chosen, double margin);

/* Do both hold the same, of the same targets? */
bool standing_equals(const standing *a, const standing *b, size_t targets);

#endif
