/*
 * json_text.h - text from outside as JSON, which holds valid UTF-8 only; the facts of the machine.
 */
#ifndef ABENCH_TOOL_JSON_TEXT_H
#define ABENCH_TOOL_JSON_TEXT_H

#include <jansson.h>

#include <allocbench/run.h>

/* A JSON string of text. When that is not valid UTF-8 every byte above 0x7f stands as \xHH in it.
 */
json_t *json_text(const char *text);

/* The host of a manifest (schema 1 of allocbench/run.h). */
json_t *json_host(const abench_host *host);

#endif
