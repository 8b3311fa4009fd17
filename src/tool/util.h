/*
 * util.h - what every part of the tool needs: memory that is there, and files that are whole.
 */
#ifndef ABENCH_TOOL_UTIL_H
#define ABENCH_TOOL_UTIL_H

#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

/* As their namesakes, but never NULL: without memory they print one line and exit with status 3.
 * The tool is an application; nothing that it could do then would be worth more. */
void *xmalloc(size_t bytes);
void *xcalloc(size_t count, size_t bytes);
void *xrealloc(void *block, size_t bytes);
char *xstrdup(const char *string);
char *xstrndup(const char *string, size_t length);
char *xasprintf(const char *format, ...) __attribute__((format(printf, 1, 2)));
char *xvasprintf(const char *format, va_list list) __attribute__((format(printf, 1, 0)));

/* Makes room for one more item: items holds count of them, each of bytes, in *capacity places.
 *     list = util_grow(list, count, &capacity, sizeof *list);
 *     list[count++] = item; */
void *util_grow(void *items, size_t count, size_t *capacity, size_t bytes);

/* Makes one printable line of text from outside: control characters become '?', C1 ones too,
 * whether in UTF-8 or as single bytes. Other bytes that are no UTF-8 stay. Returns text. */
char *util_one_line(char *text);

#define UTIL_LINE_WIDTH 100u /* columns of a line that is written to be read */

/* text, broken at blanks so that no line passes UTIL_LINE_WIDTH where a word lets it. It begins in
 * column `column`; further lines are indented by `indent`. A character counts as one column.
 * free() it. */
char *util_wrap(const char *text, size_t column, size_t indent);

/* Prints "allocbench: LINE" on stderr, wrapped on a terminal. */
void util_say(const char *line);

/* Writes all of it, over interruptions and short writes. false with errno set. */
bool util_write_all(int fd, const void *data, size_t size);

/* Reads until size bytes are there or the file ends. -1 with errno set. */
ssize_t util_read_all(int fd, void *data, size_t size);

/* The whole of a file, terminated with a 0 that size (may be NULL) does not count; free() it. NULL
 * with errno set; EFBIG when it is larger than maximum. Works for files of /proc, whose size is not
 * known. */
char *util_read_file(const char *path, size_t maximum, size_t *size);

/* Puts data at path so that a reader sees the old file or the whole new one: temporary name in the
 * same folder, write, fsync, rename. On failure the temporary file is removed and message holds one
 * line. */
bool util_write_file(const char *path, const char *data, size_t size, char *message,
                     size_t message_size);

/* Gives a finished file its name: fsync of part, rename to path. On failure part stays. */
bool util_publish(const char *part, const char *path, char *message, size_t message_size);

#endif
