/* own.c - a malloc that the program brings along: all eight functions, or malloc and free only. A
 * block is never used again, so free may be given blocks of anybody. */
#include <errno.h>
#include <malloc.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#ifdef IDENTITY_OWN_WEAK
#pragma weak malloc
#pragma weak free
#pragma weak calloc
#pragma weak realloc
#pragma weak memalign
#pragma weak aligned_alloc
#pragma weak posix_memalign
#endif

static union {
    max_align_t align;
    unsigned char bytes[1 << 20];
} heap;
static size_t used;

static void *take(size_t alignment, size_t size)
{
    const uintptr_t base = (uintptr_t)heap.bytes;
    const size_t start = ((base + used + 16 + alignment - 1) & ~(alignment - 1)) - base;

    if (start + size > sizeof heap.bytes)
        return NULL;
    memcpy(heap.bytes + start - sizeof size, &size, sizeof size);
    used = start + size;
    return heap.bytes + start;
}

void *malloc(size_t size)
{
    return take(16, size);
}

void free(void *block)
{
    (void)block;
}

#ifdef IDENTITY_OWN_ALL
void *calloc(size_t count, size_t size)
{
    return take(16, count * size); /* never used before: still zero */
}

size_t malloc_usable_size(void *block)
{
    size_t size = 0;

    if (block != NULL)
        memcpy(&size, (unsigned char *)block - sizeof size, sizeof size);
    return size;
}

void *realloc(void *block, size_t size)
{
    const size_t old = malloc_usable_size(block);
    void *grown = take(16, size);

    if (grown != NULL && block != NULL)
        memcpy(grown, block, old < size ? old : size);
    return grown;
}

void *memalign(size_t alignment, size_t size)
{
    return take(alignment < 16 ? 16 : alignment, size);
}

void *aligned_alloc(size_t alignment, size_t size)
{
    return memalign(alignment, size);
}

int posix_memalign(void **block, size_t alignment, size_t size)
{
    *block = memalign(alignment, size);
    return *block != NULL ? 0 : ENOMEM;
}
#endif
