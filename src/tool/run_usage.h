/*
 * run_usage.h - what `allocbench run --help` prints, in groups.
 */
#ifndef ABENCH_TOOL_RUN_USAGE_H
#define ABENCH_TOOL_RUN_USAGE_H

#include <stdio.h>

void run_usage_print(FILE *out);

#endif
