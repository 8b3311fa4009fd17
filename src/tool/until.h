/*
 * until.h - --until-decided: rounds until the verdicts are told, without fooling oneself.
 *
 * Who looks after every round and stops when he likes what he sees finds a difference sooner or
 * later where there is none. So it is looked three times only, at R, 2 R and 4 R rounds, each time
 * at a third of alpha; a workload whose verdicts are told at a look gets no more rounds. R is what
 * --rounds says, or 10, or more where that many targets need it; matrix.json keeps it, and the
 * verdicts are judged by it ever after.
 */
#ifndef ABENCH_TOOL_UNTIL_H
#define ABENCH_TOOL_UNTIL_H

#include "tool/matrix.h"

#define UNTIL_LOOKS 3u

/* The fewest rounds of a first look, for the targets that m compares. */
uint32_t until_least(const matrix *m);

/* Sets looks and look_rounds from what was asked. false with one line in message: --rounds or
 * --max-rounds are too few. */
bool until_ask(matrix *m, char *message, size_t message_size);

/* Takes over the looks of a directory that is there; 0: it has none. false with one line in message
 * when something else was asked. */
bool until_go_on(matrix *m, uint32_t look_rounds, char *message, size_t message_size);

/* Runs all of it: as matrix_run. At each look a line on stderr says what is told. */
bool until_run(matrix *m, char *message, size_t message_size);

#endif
