/*
 * progress.h - what a person at a terminal sees while rounds run: one line on stderr with a bar and
 * the time that is left. Without a terminal only the lines of progress_say appear.
 */
#ifndef ABENCH_TOOL_PROGRESS_H
#define ABENCH_TOOL_PROGRESS_H

#include <stddef.h>
#include <stdint.h>

/* rounds: how many are to be run. */
void progress_begin(size_t rounds);

/* Round done (0-based, of all that are to be run) begins: of this workload, number of. */
void progress_at(size_t done, const char *workload, uint32_t number, uint32_t of);

/* part (0 ... 1) of the round that began last is over. */
void progress_part(double part);

/* Prints one line on stderr, above the bar. */
void progress_say(const char *line);

void progress_end(void);

#endif
