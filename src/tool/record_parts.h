/*
 * record_parts.h - parts of a cell's records that hold lists of their own: readings of memory, the
 * allocator's account and settings.
 *
 * Each getter takes the object that holds the part and leaves source->path at that object, which
 * is the record. What lacks is empty; what is wrong is kept as the source's error.
 */
#ifndef ABENCH_TOOL_RECORD_PARTS_H
#define ABENCH_TOOL_RECORD_PARTS_H

#include "tool/model.h"
#include "tool/record_json.h"

/* The largest count in a result file: jansson's integers have a sign. */
#define RECORD_COUNT_MAX ((uint64_t)INT64_MAX)

/* The fields of a reading that stand in from (NULL: none). */
void record_memory(json_source *source, const json_t *from, abench_memory *memory);

/* "memory", "account" and "account_ns" of a phase or of an "after" record. A statistic of 2^63 and
 * more, which an allocator has that counts below 0, is left out. */
void record_reading(json_source *source, const json_t *record, abench_memory *memory,
                    model_account *account);

void record_account_clear(model_account *account);

/* "settings" of the manifest, into the cell, which has none yet. */
void record_settings(json_source *source, const json_t *record, model_cell *cell);

/* An "after" record; *after is overwritten. */
void record_after(json_source *source, const json_t *record, model_after *after);

/* Frees and empties the cell's settings and afters. */
void record_parts_clear(model_cell *cell);

#endif
