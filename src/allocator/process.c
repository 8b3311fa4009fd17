/* process.c - the malloc that serves this process, as an abench_allocator. */
#include <allocbench/allocator.h>

#include <malloc.h>
#include <stdlib.h>
#include <string.h>

#include "base/options.h"

void abench_allocator_init(abench_allocator *allocator)
{
    memset(allocator, 0, sizeof *allocator);
    allocator->struct_size = sizeof *allocator;
}

abench_status abench_allocator_process(abench_allocator *out)
{
    abench_allocator allocator = ABENCH_ALLOCATOR_INIT;

    allocator.malloc = malloc;
    allocator.calloc = calloc;
    allocator.aligned_alloc = aligned_alloc;
    allocator.realloc = realloc;
    allocator.free = free;
    allocator.usable_size = malloc_usable_size;
    return abench__options_write(out, &allocator, sizeof allocator, sizeof allocator);
}
