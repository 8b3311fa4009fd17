/*
 * command_metrics.h - what is measured of a command from outside: each metric with its meaning, as
 * abench_metric_at has those of a run.
 */
#ifndef ABENCH_TOOL_COMMAND_METRICS_H
#define ABENCH_TOOL_COMMAND_METRICS_H

#include <stdint.h>

typedef struct command_metric_info {
    const char *name;
    const char *unit;
    uint32_t direction; /* ABENCH_DIRECTION_... */
    const char *summary;
} command_metric_info;

/* NULL beyond the last. */
const command_metric_info *command_metric_at(uint32_t index);

/* NULL when there is none. */
const command_metric_info *command_metric_find(const char *name);

#endif
