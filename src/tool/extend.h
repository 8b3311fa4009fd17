/*
 * extend.h - a result directory whose rounds do not all hold the same targets. matrix.json lists
 * all that any call named, in the order of their first appearance: a cell's name tells its place in
 * this list, so it never changes. A target of the same name must be the same.
 */
#ifndef ABENCH_TOOL_EXTEND_H
#define ABENCH_TOOL_EXTEND_H

#include <jansson.h>

#include "tool/matrix.h"

/* The targets that matrix.json and m both have, as two lists whose items belong together. What was
 * missing then or is now may differ: no round holds it, or none will. false with one line in
 * message: the list that is there cannot be read. */
bool extend_pairs(const matrix *m, json_t *there, json_t **old, json_t **new, char *message,
                  size_t message_size);

/* Gives m the list that is there, with what is new behind it. Those that are not named now have no
 * arm. false with one line in message: there are too many. */
bool extend_targets(matrix *m, json_t *there, char *message, size_t message_size);

#endif
