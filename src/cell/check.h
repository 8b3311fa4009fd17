/*
 * check.h - a conformance test of the malloc that serves this process, by direct calls and by
 * checked play: `allocbench-cell --check`.
 *
 * On standard output, a line each, as it happens:
 *
 *   check NAME            it begins; without an end below, it is where the process died
 *   ok NAME DETAIL        it ends, and what it has shown
 *   FAULT NAME DETAIL     something was wrong; more of them may follow, and no ok will
 *   note NAME DETAIL      C allows it, but programs may not expect it
 *   done                  behind the last
 *
 * Each check stands alone, so that one can be run by itself, and after a crash the rest from the
 * next one on.
 */
#ifndef ABENCH_CELL_CHECK_H
#define ABENCH_CELL_CHECK_H

#include <stdbool.h>
#include <stddef.h>

#include <allocbench/allocbench.h>

#include "tape/stamp.h"

#define CHECK_FAULTY 4 /* exit status: something was wrong */

/* Of the checks whose names begin with prefix, runs those from number first (0-based) on. Returns
 * an exit status. */
int check_run(const char *prefix, size_t first);

/* ---- for the checks themselves --------------------------------------------------------------- */

/* The malloc under test. */
extern abench_allocator check_malloc;

/* Says that the check that runs has found a fault. Returns false. */
bool check_fault(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* Says what C allows, but POSIX does not or programs may not expect. */
void check_note(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* A block whose contents are known. */
typedef struct check_block {
    unsigned char *at; /* NULL: none */
    size_t size;
    abench__stamp stamp;
} check_block;

/* Each of these returns false when it has said a fault. check_make takes over what a call returned:
 * it must be a block, aligned, and not short; it is stamped. A block that is not good is forgotten.
 * what names the call. */
bool check_make(check_block *b, void *at, size_t size, size_t alignment, const char *what);
bool check_is_good(const check_block *b, size_t kept, const char *what);
bool check_free(check_block *b, const char *what);

/* The alignment that C wants of malloc(size). */
size_t check_alignment(size_t size);

/* One check: its name, what it shows, and what it does. */
typedef struct check {
    const char *name;
    const char *shows;
    void (*run)(void);
} check;

/* check_calls.c, check_blocks.c and check_threads.c */
extern const check check_calls[];
extern const size_t check_calls_count;
extern const check check_blocks[];
extern const size_t check_blocks_count;
extern const check check_threads[];
extern const size_t check_threads_count;

/* check_play.c: checked play of a workload of the catalogue at its quick scale, or of every call
 * that there is, at random. What was played is written to detail. */
void check_play(const char *workload, char *detail, size_t detail_size);
void check_play_every_call(char *detail, size_t detail_size);

#endif
