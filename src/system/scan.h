/*
 * scan.h - reading hostile text piece by piece: numbers, whole lines, lines that begin with a key.
 *
 * Nothing need be terminated; every function goes by the text's end. A number or a line counts as
 * whole only when what must follow it is there too: a cut text yields no part of a number. Any
 * thread.
 */
#ifndef ABENCH_SYSTEM_SCAN_H
#define ABENCH_SYSTEM_SCAN_H

#include <stddef.h>
#include <stdint.h>

/* Reads decimal digits in [*at, end) and moves *at behind them. 0: there are none, or they do not
 * fit into 64 bits; *at stays. */
int abench__scan_number(const char **at, const char *end, uint64_t *value);

/* Moves *at over spaces and tabs. */
void abench__scan_blanks(const char **at, const char *end);

/* The next line that ends in a newline: [*line, *line_end), without it; moves *at behind it. 0:
 * there is none left. */
int abench__scan_line(const char **at, const char *end, const char **line, const char **line_end);

/* The next token of [*at, end), behind blanks and up to blanks or end; moves *at behind it. 0:
 * there is none. */
int abench__scan_token(const char **at, const char *end, const char **token,
                       const char **token_end);

/* Whether [at, end) is word. */
int abench__scan_is(const char *at, const char *end, const char *word);

/* The rest of the first whole line that begins with key and a blank, from its first letter that is
 * no blank. 0: there is none. A key may end in a colon ("MemTotal:"). */
int abench__scan_keyed(const char *text, size_t length, const char *key, const char **rest,
                       const char **rest_end);

/* The number at the rest's beginning, which ends there or at a blank. 0: there is none. */
int abench__scan_keyed_number(const char *text, size_t length, const char *key, uint64_t *value);

/* The text is a number and a newline, and no more matters. 0: it is not. */
int abench__scan_only_number(const char *text, size_t length, uint64_t *value);

/* How many CPUs, or nodes, a list of the kernel's names: "0-3,8\n" are 5. 0: it is no such list, or
 * does not ascend. */
int abench__scan_list(const char *text, size_t length, uint64_t *count);

#endif
