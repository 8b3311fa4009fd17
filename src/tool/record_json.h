/*
 * record_json.h - typed access to JSON that somebody else wrote: every value is checked for its
 * type and range, and the first thing that is wrong is kept as "FILE:LINE:COLUMN: what".
 *
 * Getters go on after an error and return a harmless value, so that a caller asks once at the end:
 *
 *     json_source source = {.file = "matrix.json", .text = text, .size = size, .line = 1};
 *     json_t *root = json_source_parse(&source);
 *     seed = json_get_count(&source, root, "seed", UINT32_MAX, JSON_NEEDED);
 *     if (source.failed) ...
 */
#ifndef ABENCH_TOOL_RECORD_JSON_H
#define ABENCH_TOOL_RECORD_JSON_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <jansson.h>

typedef struct json_source {
    const char *file; /* as it is named in messages */
    const char *text;
    size_t size;
    size_t line;    /* of the text's first byte in the file */
    char path[128]; /* where the object lies that the getters are given: "targets[2]"; "": root */
    bool wide;      /* an integer of the text does not fit: all were read as reals */
    bool failed;
    char message[512]; /* the first error */
} json_source;

typedef enum json_presence {
    JSON_NEEDED,
    JSON_MAY_LACK, /* absent, or null */
} json_presence;

/* The whole of a regular file under maximum bytes, terminated; free() it. NULL with source->message
 * otherwise; source->text and size are set too. path is opened, source->file is shown. */
char *json_source_read(json_source *source, const char *path, size_t maximum);

/* Parses the text: one JSON object, no key twice. NULL with an error. json_decref() it. Integers of
 * 2^63 and more (digests, checksums) may stand where no getter asks for them. */
json_t *json_source_parse(json_source *source);

/* A string of at most maximum bytes, owned by object. "" when it lacks or is wrong. */
const char *json_get_text(json_source *source, const json_t *object, const char *key,
                          size_t maximum, json_presence presence);

/* An integer from 0 to maximum. */
uint64_t json_get_count(json_source *source, const json_t *object, const char *key,
                        uint64_t maximum, json_presence presence);

/* true, false, 0 or 1. */
bool json_get_flag(json_source *source, const json_t *object, const char *key,
                   json_presence presence);

/* An array (object) of at most maximum items. NULL when it lacks or is wrong. */
json_t *json_get_list(json_source *source, const json_t *object, const char *key, size_t maximum,
                      json_presence presence);
json_t *json_get_object(json_source *source, const json_t *object, const char *key,
                        json_presence presence);

/* Sets path to item index of the list under key; an item that is no object is an error. */
bool json_source_enter(json_source *source, const json_t *item, const char *key, size_t index);

/* Keeps an error about key (NULL: about the object that path names), unless there is one already.
 */
void json_source_fail(json_source *source, const char *key, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

#endif
