/*
 * key.h - what was asked, as JSON, and what of it must be the same for two rounds to stand in one
 * result directory. Not of the key: the number of rounds, and the list of targets - a round holds
 * those that were named when it ran, and each must be what it was (extend.h).
 */
#ifndef ABENCH_TOOL_KEY_H
#define ABENCH_TOOL_KEY_H

#include <jansson.h>

#include "tool/matrix.h"

/* A number that JSON's own may not hold. */
json_t *key_u64(uint64_t value);

json_t *key_json(const matrix *m);

/* As matrix.json holds them; of one that is not named now, what it held before. */
json_t *key_targets(const matrix *m);

/* As they were asked; when it is no key, with what --duration made of them, once that is chosen,
 * and how many rounds each is to have. */
json_t *key_workloads(const matrix *m, bool is_key);

/* One sentence that names what differs, as far as it fits. */
void key_refuse(const matrix *m, json_t *there, json_t *asked, char *message, size_t message_size);

#endif
