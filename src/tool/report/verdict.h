/*
 * verdict.h - what the rounds prove: pure functions over a summary, by the library's statistics.h.
 *
 * Judged are the metrics that someone chooses an allocator by (verdict_metrics says which), each by
 * itself. A target's rounds are paired with the baseline's; alpha 5 % is shared by the targets that
 * are compared in it. The threshold is 1 %, or what the baseline against itself (A/A) reaches at 95
 * %, where that is more; where it is more than 10 %, nothing is called the same, because only the
 * noise is as large. A metric in which A/A itself is surely further off than 1 % (signed-rank test,
 * Holm over all metrics of all workloads) is refused: nothing in it is ranked.
 *
 * Ranks compare all pairs of targets, the baseline among them, with alpha shared by the pairs.
 *
 * A run --until-decided looks at its rounds three times, at R, 2R and 4R of them, those in which a
 * cell failed among them; its verdicts are those of the last look that it came to, each at a third
 * of alpha.
 */
#ifndef ABENCH_TOOL_REPORT_VERDICT_H
#define ABENCH_TOOL_REPORT_VERDICT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <allocbench/statistics.h>

#include "tool/report/summary.h"

#define VERDICT_SAME_MOST 0.10 /* of a threshold: within more, two are not called the same */

/* Of a target in one metric. */
typedef struct verdict {
    const summary_row *row;
    abench_comparison result; /* to the baseline. In a refused metric its verdict is OPEN */
    bool has_rank;            /* there were rounds enough for all pairs, and it is not refused */
    uint32_t rank_low;        /* 1: the best, ... */
    uint32_t rank_high;
    double cliff; /* Cliff's delta of its values against the baseline's, for display */
    bool has_drift;
    double drift; /* not steady: it still moves in its rounds, by so much from half to half (1.05:
                     +5 %), surely and by more than the threshold. Only with has_drift */
} verdict;

/* One metric of one workload. */
typedef struct verdict_metric {
    size_t workload;
    const char *metric; /* summary_row's */
    const char *title;  /* for a person: "time", "RSS", "peak RSS" */
    const char *unit;
    uint32_t direction; /* LOWER or HIGHER */
    bool is_memory;     /* else it is of speed or latency */
    bool is_main;       /* of the two that the first sentence speaks of: speed and memory */
    const summary_row *baseline;
    verdict base; /* the baseline's own: row, rank, drift; its ratio is 1 */
    const summary_row *again;
    abench_interval aa;    /* the baseline against itself, at 95 %; count 0: there is none */
    double aa_p;           /* that it is within 1 %; 1 when it cannot be told */
    bool refused;          /* A/A separates */
    double threshold;      /* 0.01: 1 % */
    uint32_t rounds;       /* that the verdicts are of */
    uint32_t rounds_least; /* fewer have no interval */
    verdict *items;        /* by target, without the baseline and the floor */
    size_t count;
} verdict_metric;

typedef struct verdicts {
    const summary *s;        /* must outlive it */
    verdict_metric *metrics; /* by workload, in the order of the tables */
    size_t count;
    uint32_t looks; /* 1, or 3 of a run --until-decided */
} verdicts;

verdicts *verdicts_make(const summary *s);

/* accepts NULL */
void verdicts_free(verdicts *v);

/* NULL when the workload has no such metric, or it is not judged. */
const verdict_metric *verdicts_find(const verdicts *v, size_t workload, const char *metric);

/* The target's; the baseline's own for it; NULL: none. */
const verdict *verdict_of(const verdict_metric *metric, size_t target);

/* Is every target in every main metric told: better, worse or same? What a run --until-decided
 * waits for. A refused metric is not waited for. */
bool verdicts_decided(const verdicts *v, size_t workload);

/* "better", "worse", "same", "not told apart", "not enough rounds: 7 needed", "A/A separates";
 * free() it. */
char *verdict_text(const verdict_metric *metric, const verdict *item);

/* Is a metric of that name judged, of a command or of a tape? */
bool verdict_is_judged(const char *metric, bool is_command);

#endif
