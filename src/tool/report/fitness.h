/*
 * fitness.h - what the doctor said of the machine, in REPORT.md.
 */
#ifndef ABENCH_TOOL_REPORT_FITNESS_H
#define ABENCH_TOOL_REPORT_FITNESS_H

#include <stdio.h>

#include "tool/model_machine.h"

/* For the report's head: what speaks against a comparison on this machine, worst first, and what to
 * do. Nothing where nobody looked. */
void fitness_head(const model_machine *machine, FILE *out);

/* A table of all that was looked at, and why it matters. */
void fitness_table(const model_machine *machine, FILE *out);

#endif
