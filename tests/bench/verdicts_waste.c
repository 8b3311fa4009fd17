/*
 * verdicts_waste.c - glibc's malloc made worse by a known amount, for verdicts.py, which preloads
 * it.
 *
 *   WASTE_TIME=N    each call that allocates takes N thousandths of a step more; a step is some
 *                   5 cycles in which nothing else of the call can go on
 *   WASTE_MEMORY=N  each block is N thousandths larger than what was asked for, and that is touched
 *
 * Without either it only forwards: what the other two are compared with. What does not fill a step,
 * or the 16 bytes that glibc rounds to, is carried over to the thread's next call.
 */
#include <dlfcn.h>
#include <errno.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#define THOUSAND  1000u
#define GRANULE   16u   /* of glibc's block sizes */
#define PAGE      4096u /* the least that there is */
#define SIZE_MOST (SIZE_MAX / 4)

/* glibc's own functions under the names that its malloc.c exports beside the usual ones. */
void *__libc_malloc(size_t size);
void *__libc_calloc(size_t count, size_t size);
void *__libc_realloc(void *block, size_t size);
void *__libc_memalign(size_t alignment, size_t size);
void __libc_free(void *block);

void *memalign(size_t alignment, size_t size);
size_t malloc_usable_size(void *block);

static size_t (*libc_usable_size)(void *block);
static uint32_t time_thousandths; /* 0 until main's environment was read */
static uint32_t memory_thousandths;

/* A preloaded library's are there when the thread is: the first touch allocates nothing. */
static _Thread_local uint64_t time_owed __attribute__((tls_model("initial-exec")));
static _Thread_local uint64_t memory_owed __attribute__((tls_model("initial-exec")));

static uint32_t setting(const char *name)
{
    const char *text = getenv(name);

    return text != NULL ? (uint32_t)strtoul(text, NULL, 10) : 0;
}

static __attribute__((constructor)) void read_settings(void)
{
    time_thousandths = setting("WASTE_TIME");
    memory_thousandths = setting("WASTE_MEMORY");
    (void)malloc_usable_size(NULL); /* finds it while there is one thread */
}

/* Returns size, which the processor cannot know before the steps are done. */
static size_t waste_time(size_t size)
{
    uint64_t chain = size;

    time_owed += time_thousandths;
    for (; time_owed >= THOUSAND; time_owed -= THOUSAND) {
        chain = chain * 0x9e3779b97f4a7c15u + 1;
        __asm__ volatile("" : "+r"(chain));
    }
    chain &= 0;
    __asm__ volatile("" : "+r"(chain));
    return size + chain;
}

/* The bytes that a block of size gets beyond it. */
static size_t wasted_bytes(size_t size)
{
    size_t bytes;

    if (memory_thousandths == 0 || size > SIZE_MOST)
        return 0;
    memory_owed += (uint64_t)size * memory_thousandths;
    bytes = (size_t)(memory_owed / THOUSAND) / GRANULE * GRANULE;
    memory_owed -= (uint64_t)bytes * THOUSAND;
    return bytes;
}

/* What nobody touches is no page of the process. */
static void *touched(void *block, size_t size, size_t bytes)
{
    if (block != NULL)
        for (size_t at = 0; at < bytes; at += PAGE)
            ((volatile char *)block)[size + at] = 0;
    return block;
}

void *malloc(size_t size)
{
    const size_t bytes = wasted_bytes(size);

    return touched(__libc_malloc(waste_time(size + bytes)), size, bytes);
}

void *calloc(size_t count, size_t size)
{
    size_t whole, bytes;

    if (__builtin_mul_overflow(count, size, &whole)) {
        errno = ENOMEM;
        return NULL;
    }
    bytes = wasted_bytes(whole);
    return touched(__libc_calloc(1, waste_time(whole + bytes)), whole, bytes);
}

void *realloc(void *block, size_t size)
{
    const size_t bytes = size == 0 ? 0 : wasted_bytes(size);

    return touched(__libc_realloc(block, waste_time(size + bytes)), size, bytes);
}

void *memalign(size_t alignment, size_t size)
{
    const size_t bytes = wasted_bytes(size);

    return touched(__libc_memalign(alignment, waste_time(size + bytes)), size, bytes);
}

void *aligned_alloc(size_t alignment, size_t size)
{
    return memalign(alignment, size);
}

int posix_memalign(void **block, size_t alignment, size_t size)
{
    void *found;

    if (alignment < sizeof(void *) || (alignment & (alignment - 1)) != 0)
        return EINVAL;
    found = memalign(alignment, size);
    if (found == NULL)
        return ENOMEM;
    *block = found;
    return 0;
}

/* The only one of the family that has no second name. */
size_t malloc_usable_size(void *block)
{
    if (libc_usable_size == NULL)
        *(void **)&libc_usable_size = dlsym(RTLD_NEXT, "malloc_usable_size");
    return libc_usable_size(block);
}

void free(void *block)
{
    __libc_free(block);
}
