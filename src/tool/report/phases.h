/*
 * phases.h - what happens to memory over the phases of a workload.
 *
 * Peaks: phases peak-K, each with the phase before it and a recovery-K behind it. Of each: RSS
 * before it, at its end and at the end of its recovery; the share of its growth that came back,
 * (RSS at its end - RSS after) / (RSS at its end - RSS before); and how long after its end half of
 * what came back was back, from the timeline, whose clock stands still while other targets play.
 * A share below 0 reads "grew on 21%": RSS was larger by that share when the recovery ended.
 *
 * Any other workload of more than two timed phases, or with phases idle-K: RSS and usable/live at
 * the end of each.
 *
 * RSS is less the baseline, as in the metrics; every number is the median over the rounds.
 */
#ifndef ABENCH_TOOL_REPORT_PHASES_H
#define ABENCH_TOOL_REPORT_PHASES_H

#include <stdio.h>

#include "tool/report/view.h"

/* For a terminal: in short. on, off: around the heads. Nothing when there is nothing to tell. */
void phases_terminal(const view *v, FILE *out, const char *on, const char *off);

/* In full: every phase, every peak of every target. */
void phases_markdown(const view *v, FILE *out);

/* A sentence on what a clock that runs faster than real time hides, for a workload with peaks that
 * is not paced; NULL when there is none to say. free() it. */
char *phases_clock(const view *v);

#endif
