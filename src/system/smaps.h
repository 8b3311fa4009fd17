/*
 * smaps.h - a parser of /proc/PID/smaps that takes the text in pieces of any length and keeps only
 * sums by category.
 *
 * It reads no file: it is a pure function of the pieces, which may be cut anywhere, damaged or
 * hostile. Lines longer than ABENCH__SMAPS_LINE are cut; only a path can make one.
 */
#ifndef ABENCH_SYSTEM_SMAPS_H
#define ABENCH_SYSTEM_SMAPS_H

#include <allocbench/memory.h>

/* What is kept of a line: more than the kernel writes before a path, and the longest name that a
 * program can give a mapping (80 bytes). */
#define ABENCH__SMAPS_LINE 512u

/* One mapping's values, or the sum of several: their count, then bytes in the file's order. */
#define ABENCH__SMAPS_MAPPINGS      0u
#define ABENCH__SMAPS_SIZE          1u
#define ABENCH__SMAPS_RSS           2u
#define ABENCH__SMAPS_PSS           3u
#define ABENCH__SMAPS_PRIVATE_CLEAN 4u
#define ABENCH__SMAPS_PRIVATE_DIRTY 5u
#define ABENCH__SMAPS_ANONYMOUS     6u
#define ABENCH__SMAPS_LAZYFREE      7u
#define ABENCH__SMAPS_HUGE          8u
#define ABENCH__SMAPS_SWAP          9u
#define ABENCH__SMAPS_HUGE_ELIGIBLE 10u
#define ABENCH__SMAPS_FIELDS        11u

typedef struct abench__smaps {
    uint64_t sums[ABENCH_MAPPINGS_COUNT][ABENCH__SMAPS_FIELDS];
    uint64_t last[ABENCH__SMAPS_FIELDS]; /* the mapping whose lines come now */
    uint32_t last_category;
    uint32_t seen;     /* keys of it, bit by bit */
    uint32_t expected; /* keys of the first mapping; 0: it has not all come yet */
    uint32_t next_key; /* where the search for the next line's key begins */
    uint32_t length;   /* of the piece of a line that is kept */
    abench_status status;
    uint32_t reserved;
    uint64_t last_start;
    uint64_t last_end;
    char line[ABENCH__SMAPS_LINE];
} abench__smaps;

/* Any thread. */
void abench__smaps_begin(abench__smaps *parser);

/* Takes the next piece. ABENCH_ERROR_SYNTAX: this is not what a kernel writes; _STATE: mappings
 * that were shown have become another one meanwhile, so that the text must be read anew; both stay
 * so. One thread per object. */
abench_status abench__smaps_feed(abench__smaps *parser, const char *text, size_t length);

/* No more pieces come: sums[] are valid when this is ABENCH_OK, sums[ABENCH_MAPPINGS_ALL] too.
 * ABENCH_ERROR_SYNTAX, _STATE; _NOT_FOUND: there was no mapping, or the last one is not whole;
 * _UNSUPPORTED: a kernel that does not write all of the fields. One thread per object. */
abench_status abench__smaps_end(abench__smaps *parser);

#endif
