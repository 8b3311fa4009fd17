/*
 * command_record.h - what a command's cell has to say, collected and printed as JSON Lines.
 */
#ifndef ABENCH_TOOL_COMMAND_RECORD_H
#define ABENCH_TOOL_COMMAND_RECORD_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include <allocbench/allocator.h>

#include "tool/command.h"
#include "tool/images.h"
#include "tool/model.h"
#include "tool/tree.h"

typedef struct command_metric {
    char *name;
    char *unit;
    uint32_t direction; /* ABENCH_DIRECTION_... */
    double value;
} command_metric;

typedef struct command_record {
    /* Set by the caller, who keeps them. */
    const command_options *options;
    char *const *envp; /* that it really ran with */
    const char *nonce;
    const abench_identity *identity; /* NULL: nobody reported */
    const tree *tree;
    uint64_t wall_ns; /* readings behind it are of leftovers, and left out */
    int64_t unix_s;
    pid_t pid;

    command_metric *metrics;
    size_t metrics_count;
    size_t metrics_capacity;
    char **warnings;
    size_t warnings_count;
    size_t warnings_capacity;
    model_cell harness; /* of a harness's result: its latencies */
    bool is_harness;    /* it left such a result */
} command_record;

void command_record_metric(command_record *record, const char *name, const char *unit,
                           uint32_t direction, double value);
void command_record_warn(command_record *record, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* Warns of each program, of those that reported and those that were seen (record->tree), that has
 * other ways to allocate than malloc, as far as its file tells (symbols.h). */
void command_record_programs(command_record *record, const images *reported);

/* The whole file: manifest, readings, metrics, histograms, warnings, end. free() it. */
char *command_record_print(const command_record *record, size_t *size);

/* Takes over the metrics, latencies and warnings of a harness's result file at path (absolute). A
 * file that is not there is fine; one that is not whole, or has another nonce, gives a warning.
 * Removes it. */
void command_record_harness(command_record *record, const char *path);

/* Frees metrics, warnings and what a harness said. */
void command_record_clear(command_record *record);

#endif
