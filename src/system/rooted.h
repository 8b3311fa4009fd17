/*
 * rooted.h - small files of the kernel's below a folder that stands for /.
 *
 * root "" is this machine; another is a recorded one. Results are those of file.h: negative is
 * minus an errno. Any thread.
 */
#ifndef ABENCH_SYSTEM_ROOTED_H
#define ABENCH_SYSTEM_ROOTED_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#define ABENCH__PATH_SIZE 1024u

/* Reads root followed by path ("/proc/stat"), as abench__file_read does; -ENAMETOOLONG. */
ssize_t abench__rooted_read(const char *root, const char *path, char *text, size_t capacity);

/* The first line without spaces at its ends, cut to size. 0; -ENODATA: it is empty; another. */
int abench__rooted_line(const char *root, const char *path, char *line, uint32_t size);

/* The word in brackets of "always [madvise] never". Likewise. */
int abench__rooted_choice(const char *root, const char *path, char *word, uint32_t size);

/* A number and a newline. 0; -EINVAL: it is none; another. */
int abench__rooted_number(const char *root, const char *path, uint64_t *value);

/* Shows the name of every file in a folder but . and .., in no order. Returns 0, or -errno. */
int abench__rooted_names(const char *root, const char *path,
                         void (*visit)(const char *name, void *user), void *user);

#endif
