/*
 * fitness.h - whether the machine is fit for a comparison: the doctor's findings before anything is
 * timed, and what changed while a round or a cell ran.
 */
#ifndef ABENCH_TOOL_FITNESS_H
#define ABENCH_TOOL_FITNESS_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <allocbench/machine.h>

typedef struct fitness {
    abench_finding *findings;
    size_t count;
} fitness;

/* Asks the doctor; takes a quarter of a second. One that cannot look is a finding too, and
 * refuses. */
void fitness_look(fitness *f);

void fitness_clear(fitness *f);

/* Names of the findings of a verdict: "load, speed"; "" when there are none. free() it. */
char *fitness_names(const fitness *f, uint32_t verdict);

/* All findings as doctor_json writes them. */
json_t *fitness_json(const fitness *f);

/* {name: value} of those that make results incomparable when they differ. */
json_t *fitness_key(const fitness *f);

/* What the machine did between two looks at it. */
typedef struct fitness_watch {
    abench_machine before;
    json_t *changes; /* as doctor_json writes them; NULL before the end */
    char *worst;     /* "swap: 900 pages ..." of a change that spoils what ran; NULL: none did */
} fitness_watch;

void fitness_begin(fitness_watch *w);
void fitness_end(fitness_watch *w);
void fitness_watch_clear(fitness_watch *w);

#endif
