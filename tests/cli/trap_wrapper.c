/* trap_wrapper.c - a library that stands before an allocator, looks on, and forwards to it; for
 * test_traps_environment.sh. It has malloc and free; with -DPART calloc only; with -DWHOLE the
 * whole family. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stddef.h>
#include <stdlib.h>

static void *find(const char *name)
{
    void *found = dlsym(RTLD_NEXT, name);

    if (found == NULL)
        abort();
    return found;
}

#define FORWARD(result, name, parameters, arguments)                                               \
    result name parameters                                                                         \
    {                                                                                              \
        static result(*next) parameters;                                                           \
        if (next == NULL)                                                                          \
            *(void **)&next = find(#name);                                                         \
        return next arguments;                                                                     \
    }

#ifndef PART
FORWARD(void *, malloc, (size_t size), (size))

void free(void *block)
{
    static void (*next)(void *);

    if (next == NULL)
        *(void **)&next = find("free");
    next(block);
}

#endif
#if defined PART || defined WHOLE
FORWARD(void *, calloc, (size_t count, size_t size), (count, size))
#endif
#ifdef WHOLE
FORWARD(void *, realloc, (void *block, size_t size), (block, size))
FORWARD(void *, memalign, (size_t alignment, size_t size), (alignment, size))
FORWARD(void *, aligned_alloc, (size_t alignment, size_t size), (alignment, size))
FORWARD(int, posix_memalign, (void **block, size_t alignment, size_t size),
        (block, alignment, size))
FORWARD(size_t, malloc_usable_size, (void *block), (block))
#endif
