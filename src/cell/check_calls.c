/* check_calls.c - single calls: what C and POSIX say of their arguments, results and errno. */
#include "cell/check.h"

#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#define COUNT(array) (sizeof(array) / sizeof(array)[0])

/* Through a pointer that the compiler cannot see through: a call that it knows may be left out. */
static int (*volatile call_posix_memalign)(void **, size_t, size_t) = posix_memalign;

/* ---- nothing --------------------------------------------------------------------------------- */

static void *malloc_zero(void)
{
    return check_malloc.malloc(0);
}

static void *calloc_zero_count(void)
{
    return check_malloc.calloc(0, 8);
}

static void *calloc_zero_size(void)
{
    return check_malloc.calloc(8, 0);
}

static void *realloc_null_zero(void)
{
    return check_malloc.realloc(NULL, 0);
}

/* NULL, or a block of its own that free takes. */
static void zero_bytes(const char *what, void *(*call)(void))
{
    void *blocks[64];
    bool told = false;

    for (size_t at = 0; at < COUNT(blocks); at++) {
        blocks[at] = call();
        for (size_t other = 0; other < at && blocks[at] != NULL; other++)
            if (blocks[other] == blocks[at] && !told) {
                check_fault("%s returned %p twice: it must be NULL or a block of its own", what,
                            blocks[at]);
                told = true;
            }
    }
    for (size_t at = 0; at < COUNT(blocks) && !told; at++)
        check_malloc.free(blocks[at]);
}

static void zero(void)
{
    zero_bytes("malloc(0)", malloc_zero);
    zero_bytes("calloc(0, 8)", calloc_zero_count);
    zero_bytes("calloc(8, 0)", calloc_zero_size);
    zero_bytes("realloc(NULL, 0)", realloc_null_zero);
}

static void free_null(void)
{
    for (int times = 0; times < 100; times++)
        check_malloc.free(NULL);
}

static void realloc_null(void)
{
    static const size_t sizes[] = {1, 8, 100, 4096, 70000, (size_t)3 << 20};
    check_block b;

    for (size_t at = 0; at < COUNT(sizes); at++) {
        const size_t size = sizes[at];
        if (check_make(&b, check_malloc.realloc(NULL, size), size, check_alignment(size),
                       "realloc(NULL)"))
            check_free(&b, "realloc(NULL)");
    }
}

static void usable_null(void)
{
    const size_t usable = check_malloc.usable_size(NULL);

    if (usable != 0)
        check_fault("malloc_usable_size(NULL) is %zu, not 0", usable);
}

/* ---- more than there is ---------------------------------------------------------------------- */

static bool must_fail(void *block, const char *what, size_t a, size_t b)
{
    return block == NULL || check_fault("%s (%zu, %zu) returned %p, not NULL", what, a, b, block);
}

/* errno was 0 before the call. */
static void must_be_nomem(const char *what)
{
    const int number = errno;

    if (number != ENOMEM)
        check_note("%s returned NULL with errno %d: POSIX asks for ENOMEM", what, number);
}

static void huge(void)
{
    static const size_t sizes[] = {(size_t)PTRDIFF_MAX + 1, SIZE_MAX - 64, SIZE_MAX};
    check_block kept;

    if (!check_make(&kept, check_malloc.malloc(1000), 1000, check_alignment(1000), "malloc"))
        return;
    for (size_t at = 0; at < COUNT(sizes); at++) {
        const size_t size = sizes[at];
        void *block = NULL;
        int status;
        must_fail(check_malloc.malloc(size), "malloc", size, 0);
        must_fail(check_malloc.calloc(1, size), "calloc", 1, size);
        must_fail(check_malloc.realloc(NULL, size), "realloc of NULL", size, 0);
        must_fail(check_malloc.aligned_alloc(64, size & ~(size_t)63), "aligned_alloc", 64,
                  size & ~(size_t)63);
        status = call_posix_memalign(&block, 64, size);
        if (status != ENOMEM)
            check_fault("posix_memalign (64, %zu) returned %d, not ENOMEM", size, status);
        if (!must_fail(check_malloc.realloc(kept.at, size), "realloc of a block", size, 0))
            return; /* the block that was kept is gone */
    }
    check_free(&kept, "a realloc that failed");
}

/* What a call that fails leaves in errno. */
static void huge_errno(void)
{
    void *block = check_malloc.malloc(1000);

    errno = 0;
    if (check_malloc.malloc(SIZE_MAX) == NULL)
        must_be_nomem("malloc");
    errno = 0;
    if (check_malloc.calloc(1, SIZE_MAX) == NULL)
        must_be_nomem("calloc");
    errno = 0;
    if (check_malloc.calloc(SIZE_MAX / 2, 4) == NULL)
        must_be_nomem("calloc of a product that overflows");
    errno = 0;
    if (check_malloc.realloc(NULL, SIZE_MAX) == NULL)
        must_be_nomem("realloc of NULL");
    errno = 0;
    if (check_malloc.realloc(block, SIZE_MAX) == NULL)
        must_be_nomem("realloc of a block");
    check_malloc.free(block);
}

static void calloc_overflow(void)
{
    static const size_t products[][2] = {
        {SIZE_MAX / 2, 4},       /* wraps to SIZE_MAX - 3 */
        {SIZE_MAX / 4 + 1, 4},   /* to 0 */
        {SIZE_MAX / 16 + 2, 16}, /* to 16 */
        {16, SIZE_MAX / 16 + 2}, /* the other way round */
        {(size_t)1 << 33, (size_t)1 << 33},
        {SIZE_MAX, SIZE_MAX}, /* to 1 */
    };

    for (size_t at = 0; at < COUNT(products); at++) {
        const size_t count = products[at][0], size = products[at][1];
        must_fail(check_malloc.calloc(count, size), "calloc", count, size);
    }
}

/* ---- alignment ------------------------------------------------------------------------------- */

#define SIZES_MOST 4096

static check_block held[SIZES_MOST];

static void free_held(size_t count, const char *what)
{
    for (size_t at = 0; at < count; at++)
        check_free(&held[at], what);
}

/* Every size at once, so that the blocks have neighbours; the second time in what was freed. */
static void alignment(void)
{
    for (int round = 0; round < 2; round++) {
        for (size_t size = 1; size <= SIZES_MOST; size++)
            check_make(&held[size - 1], check_malloc.malloc(size), size, check_alignment(size),
                       "malloc");
        free_held(SIZES_MOST, "malloc");
        for (size_t size = 1; size <= SIZES_MOST; size++)
            check_make(&held[size - 1], check_malloc.calloc(1, size), size, check_alignment(size),
                       "calloc");
        for (size_t size = 1; size <= SIZES_MOST; size++) {
            check_block *b = &held[size - 1];
            const size_t grown = size + 1 + size / 3;
            if (b->at != NULL && check_is_good(b, size, "calloc"))
                check_make(b, check_malloc.realloc(b->at, grown), grown, check_alignment(grown),
                           "realloc");
        }
        free_held(SIZES_MOST, "realloc");
    }
}

#define ALIGNMENT_MOST ((size_t)1 << 20)

static void aligned(void)
{
    size_t count = 0;

    /* C11: the size is a multiple of the alignment. */
    for (size_t wanted = 1; wanted <= ALIGNMENT_MOST; wanted *= 2)
        for (size_t times = 1; times <= 7; times += 2)
            check_make(&held[count++], check_malloc.aligned_alloc(wanted, wanted * times),
                       wanted * times, wanted, "aligned_alloc");
    free_held(count, "aligned_alloc");
}

static void posix_aligned(void)
{
    static const size_t sizes[] = {1, 8, 24, 100, 4096, 5000, 100000};
    char what[64];
    size_t count = 0;

    for (size_t wanted = sizeof(void *); wanted <= ALIGNMENT_MOST; wanted *= 2)
        for (size_t at = 0; at < COUNT(sizes); at++) {
            void *block = NULL;
            const int status = call_posix_memalign(&block, wanted, sizes[at]);
            snprintf(what, sizeof what, "posix_memalign(%zu)", wanted);
            if (status != 0)
                check_fault("%s of %zu bytes returned %d", what, sizes[at], status);
            else
                check_make(&held[count++], block, sizes[at], wanted, what);
        }
    free_held(count, "posix_memalign");
}

static void posix_bad(void)
{
    static const size_t bad[] = {0, 1, 2, 3, 4, 12, 24, 100, 4097};

    for (size_t at = 0; at < COUNT(bad); at++) {
        void *block = NULL;
        const int status = call_posix_memalign(&block, bad[at], 64);
        if (status != EINVAL)
            check_fault("posix_memalign of alignment %zu returned %d, not EINVAL", bad[at], status);
    }
}

const check check_calls[] = {
    {"zero-bytes", "malloc(0), calloc and realloc of 0 bytes: NULL or a block of its own", zero},
    {"free-null", "free(NULL) does nothing", free_null},
    {"realloc-null", "realloc(NULL, n) is malloc(n)", realloc_null},
    {"usable-null", "malloc_usable_size(NULL) is 0", usable_null},
    {"huge-request", "half of the address space and more: NULL, and realloc keeps its block", huge},
    {"huge-errno", "errno of a call that fails", huge_errno},
    {"calloc-overflow", "products that overflow: NULL", calloc_overflow},
    {"alignment", "malloc, calloc and realloc of every size from 1 to 4096", alignment},
    {"aligned-alloc", "aligned_alloc: alignments from 1 to 1 MiB", aligned},
    {"posix-memalign", "posix_memalign: alignments from 8 to 1 MiB, any size", posix_aligned},
    {"bad-alignment", "alignments that are none: EINVAL", posix_bad},
};
const size_t check_calls_count = COUNT(check_calls);
