/*
 * mallinfo.h - what mallinfo2 returns, in every allocator that has one (mallinfo(3)). Declared here
 * because a C library older than glibc 2.33, and musl, does not.
 */
#ifndef ABENCH_ALLOCATOR_MALLINFO_H
#define ABENCH_ALLOCATOR_MALLINFO_H

#include <stddef.h>

struct abench__mallinfo {
    size_t arena;
    size_t ordblks;
    size_t smblks;
    size_t hblks;
    size_t hblkhd;
    size_t usmblks;
    size_t fsmblks;
    size_t uordblks;
    size_t fordblks;
    size_t keepcost;
};

typedef struct abench__mallinfo abench__mallinfo2(void);

#endif
