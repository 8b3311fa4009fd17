/*
 * bad_allocator.c - an allocator that goes wrong while it serves a workload: the tests preload it.
 * It never gives memory back.
 *
 *   BAD_ALLOCATOR=crash   aborts at its 5000th malloc
 *   BAD_ALLOCATOR=hang    sleeps there
 *   BAD_ALLOCATOR=eat     takes all the memory that it can get from there on
 */
#include <stdatomic.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define ARENA_BYTES   ((size_t)4 << 30)
#define HEADER_BYTES  ((size_t)16) /* holds the block's size */
#define FAULT_AT      5000
#define EATEN_AT_ONCE ((size_t)4 << 20)

size_t malloc_usable_size(void *block);
void *memalign(size_t alignment, size_t size);

static _Atomic(char *) next;
static atomic_uint calls;

static void go_wrong(void)
{
    const char *how = getenv("BAD_ALLOCATOR");

    if (how == NULL)
        return;
    if (strcmp(how, "crash") == 0)
        abort();
    while (strcmp(how, "hang") == 0)
        pause();
    while (strcmp(how, "eat") == 0)
        memset(
            mmap(NULL, EATEN_AT_ONCE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0),
            1, EATEN_AT_ONCE);
}

static char *arena(void)
{
    char *fresh, *none = NULL;

    if (atomic_load(&next) == NULL) {
        fresh = mmap(NULL, ARENA_BYTES, PROT_READ | PROT_WRITE,
                     MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
        atomic_compare_exchange_strong(&next, &none, fresh);
    }
    return atomic_load(&next);
}

void *memalign(size_t alignment, size_t size)
{
    char *at = arena(), *block;

    if (atomic_fetch_add(&calls, 1) == FAULT_AT)
        go_wrong();
    do
        block = (char *)(((uintptr_t)at + HEADER_BYTES + alignment - 1) / alignment * alignment);
    while (!atomic_compare_exchange_weak(&next, &at, block + (size + 15) / 16 * 16));
    *(size_t *)(void *)(block - HEADER_BYTES) = size;
    return block;
}

void *malloc(size_t size)
{
    return memalign(16, size);
}

void *aligned_alloc(size_t alignment, size_t size)
{
    return memalign(alignment < 16 ? 16 : alignment, size);
}

int posix_memalign(void **out, size_t alignment, size_t size)
{
    *out = aligned_alloc(alignment, size);
    return 0;
}

void *calloc(size_t count, size_t size)
{
    return malloc(count * size); /* fresh pages are zero, and none is used twice */
}

size_t malloc_usable_size(void *block)
{
    return block == NULL ? 0 : *(size_t *)(void *)((char *)block - HEADER_BYTES);
}

void *realloc(void *block, size_t size)
{
    const size_t before = malloc_usable_size(block);
    void *fresh = malloc(size);

    if (block != NULL)
        memcpy(fresh, block, before < size ? before : size);
    return fresh;
}

void free(void *block)
{
    (void)block;
}
