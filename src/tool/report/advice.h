/*
 * advice.h - "which should I use": sentences that follow from the verdicts and from nothing else.
 *
 * A paragraph on each workload and one over all of them. It speaks of the main metrics, speed and
 * memory: who wins, who ties, what a target that wins one pays in the other, what is the same, what
 * is not told apart and how many rounds might tell it. Nothing is ranked in a metric that is
 * refused or has too few rounds. The terminal, Markdown, HTML and JSON print the same sentences.
 */
#ifndef ABENCH_TOOL_REPORT_ADVICE_H
#define ABENCH_TOOL_REPORT_ADVICE_H

#include <stddef.h>

#include "tool/report/verdict.h"

/* Whole sentences with their full stops, to stand one behind the other with a blank between, or
 * each as an item. Not escaped: they hold names as the user gave them. */
typedef struct advice_text {
    char **sentences;
    size_t count;
} advice_text;

/* What to run next, and why. */
typedef struct advice_step {
    char *why;     /* a sentence with its full stop, or a colon before the command; not escaped */
    char *command; /* one line, for a shell, quoted for it; not escaped for anything else. NULL: the
                      sentence says it all */
} advice_step;

typedef struct advice {
    advice_text overall;    /* the verdict in short: never empty when a round is finished */
    advice_text *workloads; /* by workload of the model; empty for one without a finished round */
    size_t workloads_count;
    advice_step *next; /* the most useful first; may be none */
    size_t next_count;
} advice;

/* The verdicts need not outlive it. */
advice *advice_make(const verdicts *v);

/* accepts NULL */
void advice_free(advice *a);

/* The sentences of a text in one line, "" when it has none. free() it. */
char *advice_join(const advice_text *text);

/* "1.6 %", "23 %", "0.4 %": a share as a person reads it, at least 0. free() it. */
char *advice_percent(double share);

/* "x0.72 [0.70 0.74]": the decimals tell the bounds apart; "x0.72" without bounds. free() it. */
char *advice_ratio(double ratio, double low, double high);

#endif
