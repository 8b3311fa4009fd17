#include "base/arena.h"

#include <limits.h>
#include <string.h>
#include <sys/mman.h>

#include "base/options.h"

#define HOOKS_FIRST_RELEASE 32u

_Static_assert(sizeof(abench_memory_hooks) == HOOKS_FIRST_RELEASE, "first release");

static uint64_t round_to_pages(uint64_t bytes)
{
    return (bytes + ABENCH__PAGE - 1) & ~(uint64_t)(ABENCH__PAGE - 1);
}

static int has_hooks(const abench_memory_hooks *hooks)
{
    return hooks != NULL && hooks->map != NULL;
}

static void *map_guarded(uint64_t bytes)
{
    const uint64_t whole = bytes + 2 * ABENCH__PAGE;
    unsigned char *base;

    base = mmap(NULL, whole, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (base == MAP_FAILED)
        return NULL;
    if (mprotect(base + ABENCH__PAGE, bytes, PROT_READ | PROT_WRITE) != 0) {
        munmap(base, whole);
        return NULL;
    }
    madvise(base + ABENCH__PAGE, bytes, MADV_NOHUGEPAGE); /* refused where there are none: fine */
    return base + ABENCH__PAGE;
}

void *abench__map(const abench_memory_hooks *hooks, uint64_t bytes, int touched)
{
    const uint64_t rounded = round_to_pages(bytes);
    unsigned char *memory;

    if (rounded < bytes || rounded == 0 || rounded > (uint64_t)LONG_MAX / 2)
        return NULL;
    memory = has_hooks(hooks) ? hooks->map(rounded, hooks->user) : map_guarded(rounded);
    if (memory != NULL && touched)
        for (uint64_t at = 0; at < rounded; at += ABENCH__PAGE)
            ((volatile unsigned char *)memory)[at] = 0;
    return memory;
}

void abench__unmap(const abench_memory_hooks *hooks, void *memory, uint64_t bytes)
{
    const uint64_t rounded = round_to_pages(bytes);

    if (memory == NULL)
        return;
    if (has_hooks(hooks))
        hooks->unmap(memory, rounded, hooks->user);
    else
        munmap((unsigned char *)memory - ABENCH__PAGE, rounded + 2 * ABENCH__PAGE);
}

void *abench__regrow(const abench_memory_hooks *hooks, void *memory, uint64_t bytes,
                     uint64_t new_bytes)
{
    void *grown = abench__map(hooks, new_bytes, 0);

    if (grown == NULL)
        return NULL;
    if (memory != NULL)
        memcpy(grown, memory, bytes < new_bytes ? bytes : new_bytes);
    abench__unmap(hooks, memory, bytes);
    return grown;
}

abench_status abench__hooks_copy(const abench_memory_hooks *hooks, abench_memory_hooks *copy)
{
    abench_memory_hooks theirs = ABENCH_MEMORY_HOOKS_INIT;
    abench_status status;

    status = abench__options_read(&theirs, sizeof theirs, hooks, HOOKS_FIRST_RELEASE);
    if (status != ABENCH_OK)
        return status;
    if (theirs.flags != 0 || (theirs.map == NULL) != (theirs.unmap == NULL))
        return ABENCH_ERROR_ARGUMENT;
    *copy = theirs;
    return ABENCH_OK;
}

void *abench__arena_take(abench__arena *arena, uint64_t bytes)
{
    const uint64_t start = (arena->used + 63) & ~(uint64_t)63;

    if (start > arena->capacity || bytes > arena->capacity - start)
        return NULL;
    arena->used = start + bytes;
    return arena->memory + start;
}
