#include "interposer.h"

#include <dlfcn.h>
#include <errno.h>
#include <malloc.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>

extern void *__libc_malloc(size_t size);
extern void *__libc_calloc(size_t count, size_t size);
extern void *__libc_realloc(void *block, size_t size);
extern void *__libc_memalign(size_t alignment, size_t size);
extern void __libc_free(void *block);

#define KEPT 16u

static struct {
    const char *function;
    void *caller;
} kept[KEPT];

static _Atomic int armed;
static _Atomic uint64_t calls;

static void count(const char *function, void *caller)
{
    uint64_t number;

    if (!atomic_load(&armed))
        return;
    number = atomic_fetch_add(&calls, 1);
    if (number < KEPT) {
        kept[number].function = function;
        kept[number].caller = caller;
    }
}

#define COUNT() count(__func__, __builtin_return_address(0))

/* ---- the malloc family ----------------------------------------------------------------------- */

void *malloc(size_t size)
{
    COUNT();
    return __libc_malloc(size);
}

void *calloc(size_t number, size_t size)
{
    COUNT();
    return __libc_calloc(number, size);
}

void *realloc(void *block, size_t size)
{
    COUNT();
    return __libc_realloc(block, size);
}

void *reallocarray(void *block, size_t number, size_t size)
{
    size_t bytes;

    COUNT();
    if (__builtin_mul_overflow(number, size, &bytes)) {
        errno = ENOMEM;
        return NULL;
    }
    return __libc_realloc(block, bytes);
}

void free(void *block)
{
    COUNT();
    __libc_free(block);
}

void *memalign(size_t alignment, size_t size)
{
    COUNT();
    return __libc_memalign(alignment, size);
}

void *aligned_alloc(size_t alignment, size_t size)
{
    COUNT();
    return __libc_memalign(alignment, size);
}

int posix_memalign(void **block, size_t alignment, size_t size)
{
    COUNT();
    *block = __libc_memalign(alignment, size);
    return *block == NULL ? ENOMEM : 0;
}

void *valloc(size_t size)
{
    COUNT();
    return __libc_memalign(4096, size);
}

void *pvalloc(size_t size)
{
    COUNT();
    return __libc_memalign(4096, (size + 4095) & ~(size_t)4095);
}

/* ---- for the tests --------------------------------------------------------------------------- */

void *uncounted_malloc(size_t size)
{
    return __libc_malloc(size);
}

void *uncounted_calloc(size_t number, size_t size)
{
    return __libc_calloc(number, size);
}

void *uncounted_aligned_alloc(size_t alignment, size_t size)
{
    return __libc_memalign(alignment, size);
}

void *uncounted_realloc(void *block, size_t size)
{
    return __libc_realloc(block, size);
}

void uncounted_free(void *block)
{
    __libc_free(block);
}

void interposer_arm(void)
{
    if (!atomic_load(&armed))
        atomic_store(&calls, 0);
    atomic_store(&armed, 1);
}

void interposer_disarm(void)
{
    atomic_store(&armed, 0);
}

uint64_t interposer_calls(void)
{
    return atomic_load(&calls);
}

void interposer_print(void)
{
    const uint64_t number = interposer_calls();

    for (uint64_t at = 0; at < number && at < KEPT; at++) {
        Dl_info info = {0};
        dladdr(kept[at].caller, &info);
        printf("  %s called from %s (%s)\n", kept[at].function,
               info.dli_fname == NULL ? "somewhere" : info.dli_fname,
               info.dli_sname == NULL ? "a function without a name" : info.dli_sname);
    }
}
