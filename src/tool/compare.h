/*
 * compare.h - two result directories, A and B: before and after, or two machines.
 *
 * Rounds of A and of B were not played in turn, so nothing of them pairs by time. What compares
 * safely is a target's ratio to the baseline, which was measured beside it in its own directory:
 * the ratio of the two ratios is free of what the day and the machine did to both. A metric in
 * bytes is compared by its values where both machines are the same. B by A is the Hodges-Lehmann
 * shift of all pairs of rounds with its rank-sum interval (report/unpaired.h); alpha 5 % is shared
 * by the targets that are compared in a metric of a workload, and by the looks of a run
 * --until-decided.
 *
 * The threshold is 1 %, or what A/A of both sides reach together, where that is more; where it is
 * more than 10 %, nothing is called the same. A metric in which A/A separates on either side is
 * refused. The words are those of statistics.h: "better" means that B is.
 */
#ifndef ABENCH_TOOL_COMPARE_H
#define ABENCH_TOOL_COMPARE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <allocbench/statistics.h>

#include "tool/report/verdict.h"

enum { COMPARE_A, COMPARE_B };

typedef struct compare_side {
    model *m;
    summary *s;
    verdicts *v;
} compare_side;

/* A target in one metric. Intervals are in the metric's unit, or ratios to the baseline. */
typedef struct compare_row {
    size_t target[2];          /* by side */
    abench_interval middle[2]; /* at 95 % or better; count 0: none */
    abench_interval change;    /* B by A */
    uint32_t verdict;          /* ABENCH_COMPARED_... of B */
    uint32_t needed;           /* TOO_FEW, OPEN: rounds a side that might tell; 0: not known */
    const char *why;           /* nothing can be told: static text; NULL */
} compare_row;

typedef struct compare_metric {
    size_t pair;        /* of workloads */
    const char *metric; /* the strings are the models' or static */
    const char *title;
    const char *unit;
    uint32_t direction;
    bool by_value;    /* not by ratios to the baseline */
    bool refused;     /* A/A separates on a side */
    bool added;       /* it is there for a threshold: no sentence speaks of it */
    double noise;     /* what A/A of both sides reach; NaN: not known */
    double threshold; /* 0.01: 1 % */
    compare_row *rows;
    size_t count;
} compare_metric;

/* A workload that both have. */
typedef struct compare_pair {
    size_t workload[2];
} compare_pair;

typedef struct comparison {
    compare_side side[2];
    bool same_machine;
    char **notes; /* how A and B differ, and what follows; not escaped */
    size_t notes_count;
    compare_pair *pairs;
    size_t pairs_count;
    compare_metric *metrics; /* by pair */
    size_t count;
    bool whole; /* all that is judged is there */
} comparison;

/* Reads both directories and compares them. NULL with one line in message: one cannot be read, or
 * nothing in them can be compared, and why. */
comparison *compare_make(const char *a, const char *b, char *message, size_t message_size);

/* accepts NULL */
void compare_free(comparison *c);

/* The comparison of a metric in a pair: one of c's, which gains it when it is none that is judged.
 * NULL when the metric is not in both. Pointers into metrics end here. */
const compare_metric *compare_metric_of(comparison *c, size_t pair, const char *metric);

/* "A", "B" */
const char *compare_side_name(int side);

/* The label of a pair's workload. */
const char *compare_label(const comparison *c, size_t pair);

/* The name of a row's target. */
const char *compare_target(const comparison *c, const compare_row *row);

/* "better", "same within 1.0 %", "not told apart: 24 rounds might", "not enough rounds: 5 needed a
 * side"...; free() it. */
char *compare_text(const compare_metric *metric, const compare_row *row);

/* What it comes to, a sentence an item; at least one. free() each and the list. */
char **compare_sentences(const comparison *c, size_t *count);

/* compare_keys.c: tells in notes how what was asked, the machines and the targets differ, and finds
 * pairs and same_machine. false with one line in message: they must not be compared. */
bool compare_keys(comparison *c, char *message, size_t message_size);

/* Adds a note; frees text. */
void compare_note(comparison *c, char *text);

#endif
