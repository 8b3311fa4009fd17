/*
 * file.h - small files of the kernel, read whole into memory of the caller's.
 *
 * No stdio (fopen allocates). A negative result is minus an errno. What does not fit is cut, and
 * nothing is terminated: readers of the text go by its length.
 */
#ifndef ABENCH_SYSTEM_FILE_H
#define ABENCH_SYSTEM_FILE_H

#include <stddef.h>
#include <sys/types.h>

/* Opens path, relative to the directory (AT_FDCWD: the current one), for reading and closed over
 * exec. Returns the descriptor. Any thread. */
int abench__file_open(int directory, const char *path);

/* One pread from the file's beginning; on files of /proc the kernel makes the text anew. Returns
 * the bytes read. Any thread. */
ssize_t abench__file_again(int fd, char *text, size_t capacity);

/* Opens, reads to the end or to capacity, closes. Returns the bytes read. Any thread. */
ssize_t abench__file_read(const char *path, char *text, size_t capacity);

#endif
