/* front.c - the malloc of a program that counts the calls and hands them on to whom the loader
 * would have found without it: the allocator that is preloaded. */
#include <dlfcn.h>
#include <malloc.h>
#include <stdlib.h>
#include <string.h>

extern long front_calls;
long front_calls;

static void *next(const char *name)
{
    void *found = dlsym(RTLD_NEXT, name);

    if (found == NULL)
        abort();
    return found;
}

/* What the search itself takes is served from here, and never given back. */
static union {
    max_align_t align;
    char bytes[65536];
} heap;
static size_t used;
static int is_searching;

static void *take(size_t size)
{
    void *block = heap.bytes + used;

    used += (size + 15) & ~(size_t)15;
    if (used > sizeof heap.bytes)
        abort();
    return block;
}

static int is_taken(const void *block)
{
    return (const char *)block >= heap.bytes && (const char *)block < heap.bytes + sizeof heap;
}

/* Finds the function of this name once, and counts the call. */
#define FIND(place, name)                                                                          \
    do {                                                                                           \
        front_calls++;                                                                             \
        if (place == NULL) {                                                                       \
            is_searching = 1;                                                                      \
            *(void **)&place = next(name);                                                         \
            is_searching = 0;                                                                      \
        }                                                                                          \
    } while (0)

void *malloc(size_t size)
{
    static void *(*found)(size_t);

    if (is_searching)
        return take(size);
    FIND(found, "malloc");
    return found(size);
}

void *calloc(size_t count, size_t size)
{
    static void *(*found)(size_t, size_t);

    if (is_searching)
        return take(count * size);
    FIND(found, "calloc");
    return found(count, size);
}

void *realloc(void *block, size_t size)
{
    static void *(*found)(void *, size_t);

    FIND(found, "realloc");
    return found(block, size);
}

void *memalign(size_t alignment, size_t size)
{
    static void *(*found)(size_t, size_t);

    FIND(found, "memalign");
    return found(alignment, size);
}

void *aligned_alloc(size_t alignment, size_t size)
{
    static void *(*found)(size_t, size_t);

    FIND(found, "aligned_alloc");
    return found(alignment, size);
}

int posix_memalign(void **block, size_t alignment, size_t size)
{
    static int (*found)(void **, size_t, size_t);

    FIND(found, "posix_memalign");
    return found(block, alignment, size);
}

void free(void *block)
{
    static void (*found)(void *);

    if (block == NULL || is_taken(block))
        return;
    FIND(found, "free");
    found(block);
}
