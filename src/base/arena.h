/*
 * arena.h - the library's own memory: mappings with guard pages, or the caller's hooks.
 *
 * Nothing here touches malloc. A mapping is bracketed by inaccessible pages and opted out of
 * transparent huge pages, so that what the library costs is a known number of pages.
 */
#ifndef ABENCH_BASE_ARENA_H
#define ABENCH_BASE_ARENA_H

#include <allocbench/base.h>

#define ABENCH__PAGE 4096u

/* Zeroed memory for bytes (rounded up to pages), or NULL. touched: every page is made resident now,
 * so that no later write of ours moves the RSS of the process. */
void *abench__map(const abench_memory_hooks *hooks, uint64_t bytes, int touched);

/* accepts NULL. bytes is what abench__map was asked for. */
void abench__unmap(const abench_memory_hooks *hooks, void *memory, uint64_t bytes);

/* A larger block with the same contents; the old one is gone. NULL (and the old one kept) when
 * there is no memory. */
void *abench__regrow(const abench_memory_hooks *hooks, void *memory, uint64_t bytes,
                     uint64_t new_bytes);

/* Copies *hooks into *copy; accepts hooks NULL: copy->map is NULL then, which means mmap everywhere
 * here. ABENCH_ERROR_ARGUMENT when only one of map and unmap is set. */
abench_status abench__hooks_copy(const abench_memory_hooks *hooks, abench_memory_hooks *copy);

/* Hands bytes out of one block, 64-byte aligned; there is no free. */
typedef struct abench__arena {
    unsigned char *memory;
    uint64_t capacity;
    uint64_t used;
} abench__arena;

/* NULL when the block is used up. */
void *abench__arena_take(abench__arena *arena, uint64_t bytes);

#endif
