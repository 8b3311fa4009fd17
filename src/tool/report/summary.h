/*
 * summary.h - the arithmetic of a report: pure functions over a model.
 *
 * A row is workload x target x metric over the rounds. Only cells of one round are paired: the
 * ratio of a round is the target's value over that of the baseline's first cell of this round, and
 * the ratio of a row is the median of its rounds' ratios.
 *
 * Time is taken from slices where there are any (timing.h); else the metric of the same name is
 * used.
 */
#ifndef ABENCH_TOOL_REPORT_SUMMARY_H
#define ABENCH_TOOL_REPORT_SUMMARY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "tool/model.h"
#include "tool/report/timing.h"

#define SUMMARY_TIME "time_ns_per_operation"

typedef struct summary_value {
    uint32_t round;
    size_t cell;    /* index in the model's cells */
    bool has_ratio; /* the baseline has a value above 0 in this round, and did the same work */
    double value;
    double ratio;
} summary_value;

typedef struct summary_row {
    size_t workload;
    size_t target;      /* MODEL_FLOOR for the null allocator */
    bool again;         /* the baseline's second cells: its ratio is the A/A ratio */
    const char *metric; /* the strings are the model's */
    const char *unit;
    uint32_t direction;
    summary_value *values; /* one a round that has it, by round */
    size_t n;              /* at least 1 */
    uint32_t failed;       /* rounds in which its cell failed */
    double median;
    double minimum;
    double maximum;
    bool has_spread; /* two rounds or more and a median above 0 */
    double spread;   /* (maximum - minimum) / median */
    size_t ratios;   /* rounds that could be paired; 0 for the baseline itself */
    double ratio;
} summary_row;

/* The rows of one metric of one workload. */
typedef struct summary_block {
    size_t workload;
    const char *metric;
    size_t from;
    size_t to;
} summary_block;

/* The rows are sorted by workload, metric (as they first appear in the cells), target, again. */
typedef struct summary {
    const model *m;  /* must outlive the summary */
    timing *timings; /* by cell */
    summary_row *rows;
    size_t count;
    summary_block *blocks; /* in the rows' order; one may be empty */
    size_t blocks_count;
    size_t *starts; /* by workload: its first block; where it has none, some other workload's */
} summary;

summary *summary_make(const model *m);

/* accepts NULL */
void summary_free(summary *s);

/* NULL when no round has a value. */
const summary_row *summary_find(const summary *s, size_t workload, size_t target, bool again,
                                const char *metric);

/* The ratios of two rows of one workload and metric, a's value by b's, of the rounds that both
 * have, in their order: how many. ratios has room for the smaller n. Rounds in which one of them
 * did other work are left out; undefined counts those in which there is no ratio, because a value
 * is not above 0. */
uint32_t summary_pairs(const summary *s, const summary_row *a, const summary_row *b, double *ratios,
                       uint32_t *undefined);

/* The part of the baseline's time that is not the harness's and the touches' own:
 * 1 - floor / baseline. false when it was not measured. */
bool summary_share(const summary *s, size_t workload, double *share);

/* Finished rounds of a workload. */
size_t summary_rounds(const model *m, size_t workload);

/* false when both cells tell a digest and the digests differ: they must not be compared. */
bool summary_same_work(const model_cell *a, const model_cell *b);

/* The baseline's first cell of a round when it did not fail; else NULL. */
const model_cell *summary_baseline(const model *m, size_t workload, uint32_t round);

/* Sorts values and returns the middle one, or the mean of the two. count is at least 1. */
double summary_median(double *values, size_t count);

#endif
