/*
 * plan_options.h - what the parts of a plan share: run's options as a plan knows them.
 */
#ifndef ABENCH_TOOL_PLAN_OPTIONS_H
#define ABENCH_TOOL_PLAN_OPTIONS_H

#include <getopt.h>
#include <stdbool.h>
#include <stdint.h>

#include <jansson.h>

/* run's options, to an empty one. */
const struct option *plan_options(void);

/* NULL: run has none of that long name. */
const struct option *plan_option_find(const char *name);

/* Does an option say what is measured? Else it is of one call, and stands in no plan. */
bool plan_option_stays(const char *name);

/* Does it stand in a field of its own: targets, baseline, seed, rounds? */
const char *plan_option_field(const char *name);

/* Digits alone, of 64 bits at most. */
bool plan_read_number(const char *text, uint64_t *number);

/* An integer that every reader of JSON keeps exact, or its text. */
json_t *plan_integer(uint64_t value);

#endif
