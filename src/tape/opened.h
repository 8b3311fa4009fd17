/*
 * opened.h - a tape's file that is open, and reading from it.
 */
#ifndef ABENCH_TAPE_OPENED_H
#define ABENCH_TAPE_OPENED_H

#include <time.h>

#include "tape/file.h"

#define FILE_HEADER_BYTES  (FILE_HEADER_WORDS * FILE_WORD_BYTES)
#define FILE_TRAILER_BYTES (FILE_TRAILER_WORDS * FILE_WORD_BYTES)

/* A file whose header and trailer are sound. It is read with pread alone: several passes may go on
 * at once, and it may lose its name meanwhile. */
typedef struct abench__opened {
    abench_memory_hooks hooks;
    int fd;
    uint32_t reserved; /* 0 */
    uint64_t bytes;
    struct timespec changed; /* when it was written to */
    abench_tape_options options;
    uint64_t header[FILE_HEADER_WORDS];
    uint64_t trailer[FILE_TRAILER_WORDS];
} abench__opened;

/* Opens path and checks header, trailer and limits. hooks may be NULL. */
abench_status abench__open_file(const char *path, const abench_memory_hooks *hooks,
                                abench__opened **out, abench_error *error);

/* ABENCH_ERROR_STATE when somebody has written to the file since. */
abench_status abench__opened_check(const abench__opened *opened, abench_error *error);

/* accepts NULL. */
void abench__opened_close(const abench__opened *opened);

/* "byte OFFSET: what", ABENCH_ERROR_SYNTAX. */
abench_status abench__damaged(abench_error *error, uint64_t offset, const char *what);

/* Reads count words, to this machine's byte order. */
abench_status abench__read_words(int fd, uint64_t offset, uint64_t *words, uint64_t count,
                                 abench_error *error);

/* 1: the last of count words is the checksum of the others. */
int abench__has_checksum(const uint64_t *words, uint64_t count);

#endif
