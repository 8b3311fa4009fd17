/*
 * null.c - the allocator that keeps no state: see allocator.h.
 *
 * A request of size bytes is always answered with the same place in a window of 256 KiB, chosen by
 * its size, so that different sizes touch different cache lines and pages. Blocks overlap and free
 * does nothing: contents are not promised, not even calloc's zeroes. usable_size is NULL, as no
 * block is larger than what was asked for. Nothing is written after the mapping is made, so any
 * number of threads may call.
 */
#include <allocbench/allocator.h>

#include <stdint.h>
#include <sys/mman.h>

#include "base/arena.h"
#include "base/options.h"

#define WINDOW ((uintptr_t)256 * 1024)
/* Of the mapping: the largest alignment that can be asked for. */
#define ALIGNMENT ((uintptr_t)64 * 1024 * 1024)

static unsigned char *window;
static uint64_t maximum;

/* Odd multiples (Knuth's, 2^64 over the golden ratio) whose high bits are well mixed. */
static uintptr_t offset_of(size_t size)
{
    return (uintptr_t)((uint64_t)size * 0x9e3779b97f4a7c15u >> 40) & (WINDOW - 1) & ~(uintptr_t)15;
}

static void *null_malloc(size_t size)
{
    return size <= maximum ? window + offset_of(size) : NULL;
}

static void *null_calloc(size_t count, size_t size)
{
    size_t bytes;

    return __builtin_mul_overflow(count, size, &bytes) ? NULL : null_malloc(bytes);
}

static void *null_aligned_alloc(size_t alignment, size_t size)
{
    if (alignment == 0 || (alignment & (alignment - 1)) != 0 || alignment > ALIGNMENT ||
        size > maximum)
        return NULL;
    return window + (offset_of(size) & ~(alignment - 1));
}

static void *null_realloc(void *block, size_t size)
{
    (void)block;
    return null_malloc(size);
}

static void null_free(void *block)
{
    (void)block;
}

/* Address space at a multiple of ALIGNMENT; what was reserved beside it is given back. */
static unsigned char *map_window(uint64_t bytes)
{
    const uint64_t reserved = bytes + ALIGNMENT;
    unsigned char *memory, *start;
    uint64_t before;

    memory = mmap(NULL, reserved, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (memory == MAP_FAILED)
        return NULL;
    before = -(uintptr_t)memory & (ALIGNMENT - 1);
    start = memory + before;
    if (before != 0)
        munmap(memory, before);
    munmap(start + bytes, reserved - before - bytes);
    if (mprotect(start, bytes, PROT_READ | PROT_WRITE) != 0) {
        munmap(start, bytes);
        return NULL;
    }
    madvise(start, bytes, MADV_NOHUGEPAGE); /* refused where there are none: fine */
    return start;
}

static abench_status make_room(uint64_t size)
{
    unsigned char *mapped;

    if (window != NULL && size <= maximum)
        return ABENCH_OK;
    if (size > (uint64_t)INT64_MAX / 2)
        return ABENCH_ERROR_MEMORY;
    mapped = map_window(WINDOW + ((size + ABENCH__PAGE - 1) & ~(uint64_t)(ABENCH__PAGE - 1)));
    if (mapped == NULL)
        return ABENCH_ERROR_MEMORY;
    window = mapped; /* the one before is kept: blocks of it may be held */
    maximum = size;
    return ABENCH_OK;
}

abench_status abench_allocator_null(uint64_t size_maximum, abench_allocator *out)
{
    abench_allocator allocator = ABENCH_ALLOCATOR_INIT;
    const abench_status status = make_room(size_maximum);

    if (status != ABENCH_OK)
        return status;
    allocator.flags = ABENCH_ALLOCATOR_OVERLAPS;
    allocator.malloc = null_malloc;
    allocator.calloc = null_calloc;
    allocator.aligned_alloc = null_aligned_alloc;
    allocator.realloc = null_realloc;
    allocator.free = null_free;
    return abench__options_write(out, &allocator, sizeof allocator, sizeof allocator);
}
