/* touched.h - memory that is resident, and nothing else with it. */
#ifndef TESTS_UNIT_TOUCHED_H
#define TESTS_UNIT_TOUCHED_H

#include <stdint.h>
#include <sys/mman.h>
#include <unistd.h>

/* Not through instrumented stores: a sanitizer's shadow would become resident too. */
__attribute__((unused)) __attribute__((no_sanitize("address")))
__attribute__((no_sanitize("thread"))) static void
touch(void *memory, uint64_t bytes)
{
    for (uint64_t at = 0; at < bytes; at += 4096)
        ((volatile unsigned char *)memory)[at] = 1;
}

/* Of small pages. Ends the process, or the child that calls it, without memory. */
__attribute__((unused)) static unsigned char *map_touched(uint64_t bytes)
{
    unsigned char *memory =
        mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

    if (memory == MAP_FAILED)
        _exit(1);
    madvise(memory, bytes, MADV_NOHUGEPAGE);
    touch(memory, bytes);
    return memory;
}

#endif
