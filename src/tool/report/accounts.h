/*
 * accounts.h - what the allocators say of themselves: their statistics and the settings in force.
 */
#ifndef ABENCH_TOOL_REPORT_ACCOUNTS_H
#define ABENCH_TOOL_REPORT_ACCOUNTS_H

#include <stdio.h>

#include "tool/model.h"

/* A section with a table for each workload and target whose allocator told statistics, of its first
 * good cell that has some, with RSS in the first row; above them what a family's words mean, and
 * which targets tell nothing. Nothing when there is no table. */
void accounts_markdown(const model *m, FILE *out);

/* The settings that a target's allocator told in its first good cell with some, the first dozen of
 * them, those that tell how it was built last: "opt.narenas=8, ... and 31 more". NULL when there is
 * none. free() it. */
char *accounts_settings(const model *m, size_t target);

#endif
