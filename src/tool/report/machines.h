/*
 * machines.h - what each machine says, where rounds of several were merged.
 *
 * Rounds are paired within the machine that ran them, so a machine's effect on both arms is gone
 * from every ratio, and the verdict over all rounds is one over all machines. Whether they agree is
 * asked here: of each target and metric the Hodges-Lehmann ratio of each machine's own rounds. The
 * intervals of a metric hold together at 95 % (alpha is shared by its targets and the machines), so
 * two that do not overlap differ surely.
 */
#ifndef ABENCH_TOOL_REPORT_MACHINES_H
#define ABENCH_TOOL_REPORT_MACHINES_H

#include <stdbool.h>
#include <stdio.h>

#include "tool/report/verdict.h"

/* Did several machines run the rounds? */
bool machines_any(const model *m);

/* A target's ratio on one machine: count is its rounds there, 0: none; low is NaN when they are too
 * few for bounds. */
abench_interval machines_ratio(const verdicts *v, const verdict_metric *metric, const verdict *item,
                               size_t place);

/* Where machines disagree, in a workload: sentences, not escaped, without a full stop (they are
 * among notes_verdicts). *count may be 0. free() each and the list. */
char **machines_sentences(const verdicts *v, size_t workload, size_t *count);

/* A table a judged metric; nothing when there is one machine. */
void machines_markdown(const verdicts *v, size_t workload, FILE *out);

/* The machines themselves: a line each. */
void machines_list_markdown(const model *m, FILE *out);

#endif
