/*
 * next.h - what to run next: what the verdicts lack, and the command that brings it.
 */
#ifndef ABENCH_TOOL_REPORT_NEXT_H
#define ABENCH_TOOL_REPORT_NEXT_H

#include "tool/report/advice.h"

/* Fills in the advice's steps. */
void next_make(const verdicts *v, advice *a);

/* The command line of a run with the options instead of its --rounds, --max-rounds and --output,
 * before the command that it measures. NULL when the line, which comes from a file, is no
 * `allocbench run` as the tool writes it down: words, or words in single quotes. free() it. */
char *next_command(const char *line, const char *options);

/* text as one word of a shell's. free() it. */
char *next_quote(const char *text);

#endif
