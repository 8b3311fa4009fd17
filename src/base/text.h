/*
 * text.h - text in fixed memory: appending, JSON escaping, numbers, error sentences. No stdio
 * stream, no locale, no malloc.
 */
#ifndef ABENCH_BASE_TEXT_H
#define ABENCH_BASE_TEXT_H

#include <allocbench/base.h>

/* Appends to a buffer of the caller's; text is always terminated, and what does not fit is left
 * out and remembered in truncated. */
typedef struct abench__text {
    char *data;
    uint32_t capacity; /* with the terminator; at least 1 */
    uint32_t length;
    uint32_t truncated;
} abench__text;

void abench__text_init(abench__text *text, char *data, uint32_t capacity);
void abench__text_put(abench__text *text, const char *string);
void abench__text_put_char(abench__text *text, char c);
void abench__text_put_u64(abench__text *text, uint64_t value);
void abench__text_put_hex(abench__text *text, uint64_t value); /* 16 digits */
void abench__text_printf(abench__text *text, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* A JSON string with its quotes. Bytes that are not UTF-8 become U+FFFD. */
void abench__text_put_json(abench__text *text, const char *string);

/* A JSON number with 17 significant digits; null for what JSON cannot say (infinity, NaN). */
void abench__text_put_double(abench__text *text, double value);

/* Copies string into a field of size bytes, cut and terminated. */
void abench__copy(char *field, uint32_t size, const char *string);

/* Fills *error (accepts NULL) and returns status. */
abench_status abench__fail(abench_error *error, abench_status status, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* The same about a place: column is 1-based. */
abench_status abench__fail_at(abench_error *error, abench_status status, uint32_t column,
                              const char *format, ...) __attribute__((format(printf, 4, 5)));

/* The same with errno = sys_errno, whose text is appended. */
abench_status abench__fail_errno(abench_error *error, int sys_errno, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* Reads decimal digits at *at and moves it behind them. 0 when there are none or the number
 * overflows; 1 otherwise. */
int abench__parse_u64(const char **at, uint64_t *value);

/* The same with an optional suffix k, m or g (1024 each). */
int abench__parse_size(const char **at, uint64_t *value);

/* Reads a duration, a number with one of ns, us, ms, s, m, h: nanoseconds. Likewise. */
int abench__parse_duration(const char **at, uint64_t *value);

#endif
