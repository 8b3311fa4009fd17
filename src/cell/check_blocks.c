/* check_blocks.c - what is in a block, and that nobody else's block is there. */
#include "cell/check.h"

#define COUNT(array) (sizeof(array) / sizeof(array)[0])
#define KIB          ((size_t)1 << 10)
#define MIB          ((size_t)1 << 20)

#define HELD_MOST 8192

static check_block held[HELD_MOST];

static bool make(check_block *b, size_t size)
{
    return check_make(b, check_malloc.malloc(size), size, check_alignment(size), "malloc");
}

/* ---- calloc ---------------------------------------------------------------------------------- */

/* In memory that was written before: it is the allocator that must have cleared it, or have given
 * it back to the kernel meanwhile. */
static void calloc_zero(void)
{
    static const struct {
        size_t size, count;
    } kinds[] = {{1, 500},    {16, 500},    {100, 500}, {1000, 200},  {4096, 200},  {20000, 100},
                 {65536, 50}, {200000, 20}, {MIB, 8},   {4 * MIB, 4}, {33 * MIB, 2}};

    for (size_t kind = 0; kind < COUNT(kinds); kind++)
        for (int round = 0; round < 3; round++) {
            const size_t size = kinds[kind].size, count = kinds[kind].count;
            for (size_t at = 0; at < count; at++)
                make(&held[at], size);
            for (size_t at = 0; at < count; at++)
                check_free(&held[at], "malloc");
            for (size_t at = 0; at < count; at++) {
                unsigned char *block =
                    check_malloc.calloc(size < 8 ? 1 : size / 4, size < 8 ? 1 : 4);
                const uint64_t wrong =
                    block == NULL ? STAMP_GOOD : abench__stamp_verify_zero(block, size);
                if (wrong != STAMP_GOOD)
                    check_fault("calloc of %zu bytes at %p: byte %llu is not 0", size,
                                (void *)block, (unsigned long long)wrong);
                check_make(&held[at], block, size, check_alignment(size), "calloc");
            }
            for (size_t at = 0; at < count; at++)
                check_free(&held[at], "calloc");
        }
}

/* ---- sizes ----------------------------------------------------------------------------------- */

/* All that malloc_usable_size gives is the program's: written in every block at once. */
static void usable_size(void)
{
    size_t count = 0;

    for (size_t size = 1; size <= 4 * MIB; size += size < 2048 ? 1 : size / 16) {
        check_block *b = &held[count++];
        if (!make(b, size))
            continue;
        b->stamp.size = b->size = check_malloc.usable_size(b->at);
        abench__stamp_write(b->at, &b->stamp);
    }
    for (size_t at = 0; at < count; at++)
        check_free(&held[at], "malloc_usable_size");
}

/* Sizes from a byte to MiBs, small ones more often; freed and made again at random. */
static void overlap(void)
{
    abench_random random;

    abench_random_seed(&random, 1, 0, ABENCH_PURPOSE_USER);
    for (int step = 0; step < 200000; step++) {
        check_block *b = &held[abench_random_below(&random, 2000)];
        const size_t most = (size_t)1 << abench_random_below(&random, step % 64 == 0 ? 22 : 13);
        if (b->at != NULL)
            check_free(b, "malloc");
        else
            make(b, 1 + abench_random_below(&random, most));
    }
    for (size_t at = 0; at < 2000; at++)
        check_free(&held[at], "malloc");
}

/* ---- realloc --------------------------------------------------------------------------------- */

/* One step of a block's life; false: it is lost. */
static bool move(check_block *b, size_t size)
{
    const check_block before = *b;
    check_block after;
    unsigned char *block;

    if (!check_is_good(b, b->size, "realloc"))
        return false;
    block = check_malloc.realloc(b->at, size);
    if (block == NULL)
        return check_fault("realloc from %zu to %zu bytes returned NULL", before.size, size);
    after = before;
    after.at = block;
    if (!check_is_good(&after, before.size < size ? before.size : size, "realloc"))
        return false;
    return check_make(b, block, size, check_alignment(size), "realloc");
}

/* Up and down over every size class, page and mapping that there may be. */
static void realloc_content(void)
{
    for (size_t step = 2; step <= 64; step *= 2) {
        const size_t most = step <= 8 ? 64 * MIB : 4 * MIB;
        check_block b;
        bool good = make(&b, 1);
        for (size_t size = 2; size <= most && good; size += size / step + 1)
            good = move(&b, size);
        for (size_t size = most / 4 * 3; size >= 1 && good; size -= size / step + 1)
            good = move(&b, size);
        if (good)
            check_free(&b, "realloc");
    }
}

/* By a byte over each power of two, beside neighbours that would notice. */
static void realloc_edges(void)
{
    for (size_t edge = 8; edge <= 4 * MIB; edge *= 2) {
        check_block b, neighbour;
        bool good = make(&b, edge - 1) && make(&neighbour, edge);
        for (int times = 0; times < 4 && good; times++)
            good = move(&b, edge) && move(&b, edge + 1) && move(&b, edge) && move(&b, edge - 1);
        if (good) {
            check_free(&b, "realloc");
            check_free(&neighbour, "realloc of its neighbour");
        }
    }
}

static void realloc_aligned(void)
{
    for (size_t alignment = 16; alignment <= 64 * KIB; alignment *= 4) {
        check_block b;
        if (check_make(&b, check_malloc.aligned_alloc(alignment, 2 * alignment), 2 * alignment,
                       alignment, "aligned_alloc") &&
            move(&b, 5 * alignment + 3) && move(&b, alignment / 2 + 1))
            check_free(&b, "realloc of an aligned block");
    }
}

const check check_blocks[] = {
    {"calloc-zero", "calloc in memory that was written before: 1 byte to 33 MiB", calloc_zero},
    {"usable-size", "malloc_usable_size: at least what was asked for, and all of it to be written",
     usable_size},
    {"overlap", "200000 steps with 2000 blocks of 1 byte to 2 MiB", overlap},
    {"realloc-content", "realloc from 1 byte to 64 MiB and back, in steps of 1/2 to 1/64",
     realloc_content},
    {"realloc-edges", "realloc by a byte over powers of two from 8 to 4 MiB", realloc_edges},
    {"realloc-aligned", "realloc of what aligned_alloc gave", realloc_aligned},
};
const size_t check_blocks_count = COUNT(check_blocks);
