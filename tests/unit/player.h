/*
 * player.h - what the tests of the player share: an honest allocator, which others lie upon, and
 * short tapes. Included after cmocka.h.
 */
#ifndef TESTS_UNIT_PLAYER_H
#define TESTS_UNIT_PLAYER_H

#include <stdatomic.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <allocbench/tape.h>

#define SHARED ABENCH_SLOT_SHARED

/* ---- an allocator for tests ------------------------------------------------------------------ */

/* Hands memory out of one array and takes none back, so that a play that is given up leaks nothing.
 * A block follows its size; its bytes are POISON. */
#define ARENA_BYTES  ((size_t)8 << 20)
#define HEADER_BYTES ((size_t)64)
#define POISON       0xa5

static _Alignas(4096) unsigned char arena[ARENA_BYTES];
static _Atomic size_t arena_used;

/* Calls that the allocator saw, by kind of operation. */
static _Atomic uint64_t calls[ABENCH_OP_KINDS];
static _Atomic uint64_t sized_bytes; /* told to free_sized */

static inline size_t size_of(const void *block)
{
    size_t size;

    memcpy(&size, (const unsigned char *)block - HEADER_BYTES, sizeof size);
    return size;
}

static inline void *arena_take(size_t alignment, size_t size, int byte)
{
    const size_t whole = (HEADER_BYTES + size + alignment + 63) & ~(size_t)63;
    const size_t start = atomic_fetch_add(&arena_used, whole);
    unsigned char *block;

    if (start + whole > sizeof arena)
        abort();
    block = arena + start + HEADER_BYTES;
    block += (0 - (uintptr_t)block) & (alignment - 1);
    memcpy(block - HEADER_BYTES, &size, sizeof size);
    memset(block, byte, size);
    return block;
}

static inline void *honest_malloc(size_t size)
{
    atomic_fetch_add(&calls[ABENCH_OP_MALLOC], 1);
    return arena_take(64, size, POISON);
}

static inline void *honest_calloc(size_t count, size_t size)
{
    atomic_fetch_add(&calls[ABENCH_OP_CALLOC], 1);
    return arena_take(64, count * size, 0);
}

static inline void *honest_aligned_alloc(size_t alignment, size_t size)
{
    atomic_fetch_add(&calls[ABENCH_OP_ALIGNED_ALLOC], 1);
    return arena_take(alignment < 64 ? 64 : alignment, size, POISON);
}

static inline void *honest_realloc(void *block, size_t size)
{
    unsigned char *moved = arena_take(64, size, POISON);
    const size_t kept = size_of(block) < size ? size_of(block) : size;

    atomic_fetch_add(&calls[ABENCH_OP_REALLOC], 1);
    memcpy(moved, block, kept);
    return moved;
}

static inline void honest_free(void *block)
{
    (void)block;
    atomic_fetch_add(&calls[ABENCH_OP_FREE], 1);
}

static inline void honest_free_sized(void *block, size_t size)
{
    (void)block;
    atomic_fetch_add(&calls[ABENCH_OP_FREE_SIZED], 1);
    atomic_fetch_add(&sized_bytes, size);
}

/* A whole number of 64, as of an allocator with such classes. */
static inline size_t honest_usable_size(void *block)
{
    return (size_of(block) + 63) & ~(size_t)63;
}

static inline abench_allocator honest_allocator(void)
{
    abench_allocator allocator = ABENCH_ALLOCATOR_INIT;

    atomic_store(&arena_used, 0);
    atomic_store(&sized_bytes, 0);
    for (size_t kind = 0; kind < ABENCH_OP_KINDS; kind++)
        atomic_store(&calls[kind], 0);
    allocator.malloc = honest_malloc;
    allocator.calloc = honest_calloc;
    allocator.aligned_alloc = honest_aligned_alloc;
    allocator.realloc = honest_realloc;
    allocator.free = honest_free;
    allocator.usable_size = honest_usable_size;
    return allocator;
}

/* ---- tapes ----------------------------------------------------------------------------------- */

static inline abench_tape_builder *make_builder(uint32_t lanes, uint32_t slots, uint32_t touch)
{
    abench_tape_options options = ABENCH_TAPE_OPTIONS_INIT;
    abench_tape_builder *builder = NULL;

    options.lanes = lanes;
    options.local_slots = options.shared_slots = slots;
    options.touch = touch;
    assert_int_equal(abench_tape_builder_create(&options, &builder), ABENCH_OK);
    return builder;
}

static inline abench_tape *finish(abench_tape_builder *builder)
{
    abench_tape *tape = NULL;

    if (abench_tape_builder_finish(builder, &tape) != ABENCH_OK)
        fail_msg("%s", abench_tape_builder_error(builder)->message);
    abench_tape_builder_destroy(builder);
    return tape;
}

/* One of each kind. */
static inline abench_tape *every_kind(uint32_t touch)
{
    abench_tape_builder *b = make_builder(1, 4, touch);

    abench_tape_builder_malloc(b, 0, 0, 10000);
    abench_tape_builder_calloc(b, 0, 1, 5000);
    abench_tape_builder_aligned(b, 0, 2, 512, 1024);
    abench_tape_builder_malloc(b, 0, SHARED | 1, 300);
    abench_tape_builder_realloc(b, 0, SHARED | 1, 9000);
    abench_tape_builder_touch(b, 0, 0);
    abench_tape_builder_pause(b, 0, 1);
    abench_tape_builder_barrier(b);
    abench_tape_builder_free(b, 0, 0);
    abench_tape_builder_free_sized(b, 0, 1);
    abench_tape_builder_free_sized(b, 0, SHARED | 1);
    abench_tape_builder_free(b, 0, 2);
    return finish(b);
}

#endif
