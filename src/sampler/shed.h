/*
 * shed.h - a cloned process gives up the memory that it does not need.
 *
 * What a clone keeps of its parent's private memory counts as shared in the parent, and what it
 * keeps of shared memory lives on when the parent has given it back.
 */
#ifndef ABENCH_SAMPLER_SHED_H
#define ABENCH_SAMPLER_SHED_H

#include <stddef.h>
#include <stdint.h>

/* A line of /proc/PID/maps. */
typedef struct abench__mapping {
    uint64_t start;
    uint64_t end;
    uint32_t shared;
    uint32_t writable;
    uint32_t file;    /* of a file, deleted or not, or of shared memory */
    uint32_t special; /* [vdso] and its like: no memory of the process's */
} abench__mapping;

/* Reads one line without its newline. 0: it is none. Any thread. */
int abench__parse_mapping(const char *line, size_t length, abench__mapping *mapping);

/* A range that stays. */
typedef struct abench__kept {
    uint64_t start;
    uint64_t end;
} abench__kept;

/* What stays of a mapping, given the one that lies before it in memory (all 0: none) and what
 * stays of that: at most its beginning, as one range. The rules are in shed.c. Any thread. */
uint64_t abench__mapping_keeps(const abench__mapping *mapping, const abench__mapping *before,
                               uint64_t before_kept);

/* Unmaps everything of this process but what its program, its libraries and its C library need to
 * make system calls, and the ranges given, sorted and page aligned. For a process with one thread
 * whose stack lies in a range. 0: done. Makes system calls only; text is scratch. */
int abench__shed_memory(const abench__kept *ranges, uint32_t count, char *text, size_t capacity);

#endif
