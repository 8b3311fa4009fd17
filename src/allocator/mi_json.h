/*
 * mi_json.h - the numbers in a JSON object, by their names: mimalloc's statistics.
 *
 * A walk over the text without a copy and without memory of its own. It passes over what it has no
 * use for (texts, arrays and what is in them, numbers that are no natural ones) and stops at what
 * is not JSON, so that any text is safe to give it: cut short, nested without end, with a name of
 * any length.
 */
#ifndef ABENCH_ALLOCATOR_MI_JSON_H
#define ABENCH_ALLOCATOR_MI_JSON_H

#include <stddef.h>
#include <stdint.h>

#define ABENCH__MI_JSON_NAME  128u /* of a whole name; longer ones are passed over */
#define ABENCH__MI_JSON_DEPTH 16u  /* of objects and arrays in each other; deeper is an error */

/* A natural number below 2^64. name: the names of the objects that it is in and its own, with dots
 * between them: "committed.current". */
typedef void abench__mi_json_visit(const char *name, uint64_t value, void *user);

/* Shows every number of the object, in the order of the text. 1 when the text is one whole object;
 * 0 when it is not: what came before the place where it goes wrong was shown. Pure; any thread. */
int abench__mi_json_walk(const char *text, size_t length, abench__mi_json_visit *visit, void *user);

#endif
