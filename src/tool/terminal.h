/*
 * terminal.h - what is known of the terminal behind a descriptor, and text that fits into it.
 */
#ifndef ABENCH_TOOL_TERMINAL_H
#define ABENCH_TOOL_TERMINAL_H

#include <stdbool.h>
#include <stddef.h>

#define TERMINAL_WIDTH_PRESET 80u /* where none is known */

/* Columns of the terminal at fd, asked anew at each call; TERMINAL_WIDTH_PRESET when fd is none or
 * its terminal does not know. */
size_t terminal_width(int fd);

/* Whether a line that was written to fd can be erased again: a terminal, and no dumb one. */
bool terminal_is_smart(int fd);

/* Whether what is written to fd may be coloured: a smart terminal, and NO_COLOR is not set. */
bool terminal_has_color(int fd);

/* text, broken at blanks so that no line passes width where a word lets it; it begins in column
 * indent, where the further lines begin too. One blank stands between words, whatever text has. A
 * character counts as one column. free() it. */
char *terminal_wrap(const char *text, size_t width, size_t indent);

#endif
