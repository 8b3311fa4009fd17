/*
 * format.h - text for each kind of output. Names come from users, files and libraries: each
 * escape makes them harmless where they are shown, and keeps them readable.
 */
#ifndef ABENCH_TOOL_REPORT_FORMAT_H
#define ABENCH_TOOL_REPORT_FORMAT_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

/* For a terminal: control characters, marks that turn the writing direction and bytes that are no
 * UTF-8 become \n, \x1b, \u202e...; longer than limit characters (0: no limit) ends in "...".
 * free() it. */
char *format_terminal(const char *text, size_t limit);

/* Characters of a UTF-8 text, each counted as one column. */
size_t format_width(const char *text);

/* For a file's name: letters, digits and dashes, at most limit of them; may be "". free() it. */
char *format_slug(const char *text, size_t limit);

/* In running Markdown text or a table's cell: nothing in it is markup, and it is one line. */
void format_markdown(FILE *out, const char *text);

/* As a fenced block of its own, with a fence that text cannot close. */
void format_markdown_block(FILE *out, const char *text);

/* In XML text or an attribute's value; characters that XML has no room for become U+FFFD. */
void format_xml(FILE *out, const char *text);

/* A field of tab-separated values: tab, newline, return and backslash become \t, \n, \r and \\. */
void format_tsv(FILE *out, const char *text);

/* A field of comma-separated values, quoted as RFC 4180 says where it must be. */
void format_csv(FILE *out, const char *text);

/* The first of 15, 16 or 17 digits that reads back as the same double. */
void format_number(FILE *out, double value);

/* A unit that fits. */
typedef struct format_unit {
    const char *name;
    double divisor;
} format_unit;

/* For values up to largest that were recorded in unit: ns, us, ms, s; B, KiB, MiB, GiB; counts in
 * k and M; any other unit as it is. */
format_unit format_scale(const char *unit, double largest);

/* A duration with its unit: "21ns", "1.25us", "4.1ms", "12s". free() it. */
char *format_ns(double ns);

/* A count in a few letters: "950", "12.3k", "4.1M". free() it. */
char *format_count(double count);

/* (maximum - minimum) / median of some rounds: "±2.1%", "±>999%". free() it. */
char *format_spread(double spread);

/* "2026-11-30 22:19:50 UTC" of a count of seconds; a text that is none as it is. free() it. */
char *format_date(const char *unix_s);

/* Decimals that leave three digits of a value. */
int format_decimals(double value);

#endif
