/*
 * writer.h - result files: one line of JSON at a time is put together and written whole.
 *
 * The first write that fails is kept in failed; what comes behind it is dropped.
 */
#ifndef ABENCH_RUN_WRITER_H
#define ABENCH_RUN_WRITER_H

#include <allocbench/machine.h>
#include <allocbench/memory.h>

#include "base/text.h"

typedef struct abench__writer {
    int fd;
    int failed; /* errno of the first write that failed */
    abench__text line;
    char data[65536];
} abench__writer;

void abench__writer_init(abench__writer *w, int fd);

/* {"record": kind ... } and the end of the line. */
void abench__begin_record(abench__writer *w, const char *kind);
void abench__end_record(abench__writer *w);

/* Writes what there is of a line that may not fit into the buffer, when less than room is left in
 * it. Between members only, and not before an object's first. */
void abench__write_part(abench__writer *w, size_t room);

/* Members: the comma before them is put where it is needed. */
void abench__put_key(abench__writer *w, const char *key);
void abench__put_u64(abench__writer *w, const char *key, uint64_t value);
void abench__put_double(abench__writer *w, const char *key, double value);
void abench__put_text(abench__writer *w, const char *key, const char *value);
void abench__put_flag(abench__writer *w, const char *key, int value);
void abench__put_hex(abench__writer *w, const char *key, uint64_t value);
void abench__put_open(abench__writer *w, const char *key); /* "key":{ */
void abench__put_close(abench__writer *w);                 /* } */

/* The fields of a reading that could be read, as members. */
void abench__put_memory(abench__writer *w, const abench_memory *memory);

/* record_machine.c: the record of what the machine did between two readings. */
void abench__write_machine(const abench_machine *before, const abench_machine *after,
                           abench__writer *w);

#endif
