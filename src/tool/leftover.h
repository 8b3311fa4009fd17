/*
 * leftover.h - files that a killed tool was writing beside those that they were to replace
 * (util_write_file): "NAME.PID-SERIAL.tmp".
 */
#ifndef ABENCH_TOOL_LEFTOVER_H
#define ABENCH_TOOL_LEFTOVER_H

#include <stdbool.h>
#include <sys/types.h>

/* Is it a name of util_write_file's temporary files? Whose, goes into pid. */
bool leftover_name(const char *name, pid_t *pid);

/* Removes those of processes that are gone from a result directory and the folders that it has.
 * What cannot be read or removed stays: nobody reads it. */
void leftover_remove(const char *directory);

#endif
