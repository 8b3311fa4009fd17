/*
 * records.h - the result file of one cell (JSON Lines; schema 1 in allocbench/run.h).
 */
#ifndef ABENCH_TOOL_RECORDS_H
#define ABENCH_TOOL_RECORDS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "tool/model.h"

/* No file of a result directory is larger, and no line of a cell's file longer. */
#define RECORDS_FILE_BYTES ((size_t)256 << 20)
#define RECORDS_LINE_BYTES ((size_t)1 << 20)

/* Reads DIRECTORY/FILE into the parts of *cell that come from there; these must be empty. On
 * failure - the file is damaged, or lacks its end record - they are empty again and message holds
 * one line. */
bool records_read(const char *directory, const char *file, model_cell *cell, char *message,
                  size_t message_size);

/* Frees and empties what records_read filled. */
void records_clear(model_cell *cell);

#endif
