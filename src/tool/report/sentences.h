/*
 * sentences.h - what the verdicts say of one workload: who wins, who ties, what a target that wins
 * one main metric pays in the other, and what follows from that.
 */
#ifndef ABENCH_TOOL_REPORT_SENTENCES_H
#define ABENCH_TOOL_REPORT_SENTENCES_H

#include "tool/report/advice.h"
#include "tool/report/words.h"

/* Adds the sentences of a workload that has a finished round. */
void sentences_make(const verdicts *v, size_t workload, advice_text *out);

/* Adds one; the text is the list's from here on. */
void sentences_add(advice_text *out, char *text);

#define SENTENCES_NAMES 6u /* the most in a list; further ones are counted */

/* "a, b and c" of the targets of the model that are chosen; "a, b, c, d, e, f and 3 others". last:
 * what stands before the last, "and" or "or". */
void sentences_names(words *w, const model *m, const bool *chosen, const char *last);

/* "8 %" behind `before`, where more noise than usual may hide a smaller difference; else nothing.
   */
void sentences_margin(words *w, const char *before, double margin);

#define SENTENCES_ROUNDS_MOST 1000u /* more are not worth naming */

#endif
