/*
 * info.h - malloc_info(3): XML on a stdio stream, read line by line as it is written, so that it
 * may be of any length.
 *
 * The stream is one of the C library's (fopencookie) and writes into the account. Its block, about
 * 300 bytes, is the only thing that is taken from the process's malloc: when the account is opened,
 * and given back when it is closed. Its functions are looked up as an allocator's are.
 */
#ifndef ABENCH_ALLOCATOR_INFO_H
#define ABENCH_ALLOCATOR_INFO_H

#include "allocator/account.h"

#define ABENCH__INFO_LINE   160u
#define ABENCH__INFO_TOTALS 6u

/* What is read. Begins as zeros. */
typedef struct abench__info {
    uint64_t heaps; /* <heap nr=...>: glibc's arenas */
    /* After the last heap: total.rest, total.fast, total.mmap, system.current, system.max,
     * aspace.total; bytes. */
    uint64_t totals[ABENCH__INFO_TOTALS];
    uint64_t totals_valid; /* a bit for each */
    /* <alloc size=... count=...> of scudo, added up. */
    uint64_t allocations;
    uint64_t allocated_bytes;
    uint32_t overflowed; /* 1: the sums do not fit, and are none */
    uint32_t line_length;
    char line[ABENCH__INFO_LINE];
} abench__info;

/* "total.rest" ... */
const char *abench__info_name(uint32_t total);

/* Takes the next bytes of the text. Pure: any text, in any pieces. Longer lines are passed over. */
void abench__info_feed(abench__info *info, const char *bytes, size_t count);

/* Makes the stream; where that fails there is none, and reading says so. Uses account->secret. */
void abench__info_open(abench_account *account);
/* Calls malloc_info. 0 when there is no stream, or it failed. Allocates nothing by itself. */
int abench__info_read(abench_account *account, abench__function malloc_info, abench__info *info);
void abench__info_close(abench_account *account);

#endif
