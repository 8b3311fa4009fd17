/*
 * sweep.h - --sweep KEY=VALUE,VALUE and --lanes T,T: one thing varied, the rest alike.
 *
 *   KEY in lower case    a parameter of the workloads: each that has it is played once with every
 *                        value; another is played once, and that is noted
 *   thp, aslr, cpus      factors of the targets
 *   other KEYs           environment variables of the targets
 *
 * Of the targets every -t becomes one target a value, named as a variant: jemalloc:KEY=VALUE. The
 * baseline is what they are compared with: it stays as it is, and is not swept unless it is the
 * only -t. Several sweeps multiply. Values are separated by commas, or by ';' where there is one:
 * MALLOC_CONF=a:1,b:2;a:3 are two values.
 */
#ifndef ABENCH_TOOL_SWEEP_H
#define ABENCH_TOOL_SWEEP_H

#include <stdbool.h>
#include <stddef.h>

#include "tool/arguments.h"

typedef struct sweep {
    char *key;
    char **values; /* no two alike */
    size_t count;  /* at least 1 */
    bool of_targets;
    bool is_lanes; /* of --lanes */
    bool is_used;  /* some workload has such a parameter */
} sweep;

typedef struct sweeps {
    sweep *items;
    size_t count;
} sweeps;

/* Reads "KEY=VALUE,VALUE". false with one line in message. */
bool sweep_parse(const char *text, sweep *out, char *message, size_t message_size);

/* All that the command line asks for. false with one line in message. */
bool sweeps_read(const arguments *a, sweeps *out, char *message, size_t message_size);

void sweeps_clear(sweeps *s);

/* Does any vary the targets? */
bool sweeps_of_targets(const sweeps *s);

/* A list of texts. */
typedef struct sweep_list {
    char **items;
    size_t count;
} sweep_list;

void sweep_list_clear(sweep_list *list);

/* The settings of every variant of a target: "KEY=VALUE,KEY=VALUE". false with one line in message:
 * there are too many. */
bool sweeps_settings(const sweeps *s, sweep_list *out, char *message, size_t message_size);

/* The specs of every variant of a workload of the catalogue, or of a tape or command that none can
 * vary. *reason (may stay ""): why a sweep passes it by. false with one line in message. */
bool sweeps_specs(sweeps *s, const char *spec, bool is_catalogue, sweep_list *out, char *reason,
                  size_t reason_size, char *message, size_t message_size);

/* Was every KEY that is no target's a parameter of some workload? false with one line in message,
 * which names the nearest. */
bool sweeps_all_used(const sweeps *s, const arguments *a, char *message, size_t message_size);

#endif
