/*
 * words.h - sentences put together from parts, and lists as one speaks them.
 */
#ifndef ABENCH_TOOL_REPORT_WORDS_H
#define ABENCH_TOOL_REPORT_WORDS_H

#include <stddef.h>

/* A text that grows. Begins as {0}; text is NULL until something was added. */
typedef struct words {
    char *text;
    size_t length;
} words;

void words_add(words *w, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* Hands the text over, "" when nothing was added; free() it. */
char *words_take(words *w);

/* What stands between item `at` and the one before it, of count: "", ", " or " and ". */
const char *words_between(size_t at, size_t count);

#endif
