/*
 * faulty_allocator.c - a small honest allocator with one fault that can be planted: the tests of
 * `allocbench check` preload it. Power-of-two blocks out of one mapping, a list of free ones each,
 * under one lock.
 *
 *   FAULT=overlap        one block in 500 is handed out twice
 *   FAULT=misalign       one block in 500 of 16 bytes and more lies 8 bytes off
 *   FAULT=not-zero       calloc does not clear a small block that was used before
 *   FAULT=short          one block in 500 of 16 bytes and more is 8 bytes too short, and says so
 *   FAULT=realloc-loses  one realloc in 50 does not copy the last byte
 *   FAULT=no-align       alignments above 16 are not heard
 *   FAULT=any-align      posix_memalign takes alignments that are none
 *   FAULT=huge           what it cannot hold gets a small block
 *   FAULT=calloc-wraps   calloc's product overflows unseen
 *   FAULT=no-errno       errno is left alone where it cannot serve
 *   FAULT=zero-same      every block of 0 bytes is the same one
 *   FAULT=null           free(NULL) aborts, malloc_usable_size(NULL) is 1
 *   FAULT=fork           aborts in the child of a fork
 *   FAULT=crash          aborts in a realloc to 3 MiB and more
 *   FAULT=hang           sleeps there
 *   FAULT=free-crash     aborts in the free of a thread that is not the first
 */
#include <errno.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

size_t malloc_usable_size(void *block);
void *memalign(size_t alignment, size_t size);

#define ARENA_BYTES ((size_t)16 << 30) /* of address space */
#define LARGEST     ((size_t)1 << 32)
#define CLASSES     34
#define EVERY       500
#define EVERY_MOVE  50
#define DIRTY_MOST  ((size_t)200) /* larger ones libc itself asks for, for its threads */
#define GOES_WRONG  ((size_t)3 << 20)

/* In front of each block, and of what it is cut from. */
typedef struct header {
    char *chunk;
    size_t size; /* what malloc_usable_size says */
    unsigned class;
} header;

/* Where a free chunk holds the next one: behind the header that may be there. */
#define NEXT ((size_t)24)

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static char *arena_next, *arena_end;
static char *free_chunks[CLASSES];
static char *twin; /* handed out, and to be handed out again; or its second free is still to come */
static bool is_twin_out;
static unsigned twin_class;
static unsigned made, moved;
static pid_t first_process;

static bool has_fault(const char *name)
{
    static _Atomic(const char *) planted;

    if (planted == NULL) {
        const char *fault = getenv("FAULT");
        planted = fault == NULL ? "" : fault;
    }
    return strcmp(planted, name) == 0;
}

static header *header_of(const void *block)
{
    return (header *)((uintptr_t)block - 32); /* NOLINT: it is there */
}

static unsigned class_of(size_t bytes)
{
    unsigned class = 6;

    while (((size_t)1 << class) < bytes)
        class ++;
    return class;
}

__attribute__((constructor)) static void begin(void)
{
    first_process = getpid();
}

/* ---- chunks, under the lock ------------------------------------------------------------------ */

static char *fresh_chunk(size_t bytes)
{
    char *found;

    if (arena_next == NULL) {
        arena_next = mmap(NULL, ARENA_BYTES, PROT_READ | PROT_WRITE,
                          MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
        if (arena_next == MAP_FAILED) {
            arena_next = NULL;
            return NULL;
        }
        arena_end = arena_next + ARENA_BYTES;
    }
    if ((size_t)(arena_end - arena_next) < bytes)
        return NULL;
    found = arena_next;
    arena_next += bytes;
    return found;
}

static void give_back(char *start, unsigned class)
{
    if (start == twin) {
        twin = NULL; /* the other one is still alive, or will never be */
        return;
    }
    memcpy(start + NEXT, &free_chunks[class], sizeof(char *));
    free_chunks[class] = start;
}

/* *used: it was a block before. A twin lies where the other one does: it has the same alignment. */
static char *take(unsigned class, size_t alignment, bool *used)
{
    char *found = free_chunks[class];

    *used = true;
    if (twin != NULL && !is_twin_out && twin_class == class && alignment == 16) {
        is_twin_out = true;
        return twin;
    }
    *used = found != NULL;
    if (found == NULL)
        found = fresh_chunk((size_t)1 << class);
    else
        memcpy(&free_chunks[class], found + NEXT, sizeof(char *));
    if (made % EVERY == 0 && alignment == 16 && twin == NULL && has_fault("overlap")) {
        twin = found;
        twin_class = class;
        is_twin_out = false;
    }
    return found;
}

/* ---- blocks ---------------------------------------------------------------------------------- */

static void *place(char *start, unsigned class, size_t alignment, size_t size, unsigned number)
{
    const bool is_faulty = number % EVERY == 0 && size >= 16;
    uintptr_t address = ((uintptr_t)start + 32 + alignment - 1) / alignment * alignment;
    header *h;

    if (is_faulty && has_fault("misalign"))
        address += 8;
    h = header_of((void *)address); /* NOLINT: within the chunk */
    h->chunk = start;
    h->size = is_faulty && has_fault("short") ? size - 8 : size;
    h->class = class;
    return (void *)address; /* NOLINT: within the chunk */
}

static void *no_memory(void)
{
    if (!has_fault("no-errno"))
        errno = ENOMEM;
    return NULL;
}

static void *make(size_t alignment, size_t size, bool *used)
{
    const size_t room = 32 + alignment + 8;
    unsigned class, number;
    char *start;

    if (has_fault("huge") && size > LARGEST)
        size = 16;
    if (has_fault("fork") && first_process != 0 && getpid() != first_process)
        abort();
    if (size > LARGEST || alignment > LARGEST)
        return no_memory();
    class = class_of(size + room);
    pthread_mutex_lock(&lock);
    number = ++made;
    start = take(class, alignment, used);
    pthread_mutex_unlock(&lock);
    if (start == NULL)
        return no_memory();
    return place(start, class, alignment, size, number);
}

void *memalign(size_t alignment, size_t size)
{
    bool used;

    return make(alignment < 16 || has_fault("no-align") ? 16 : alignment, size, &used);
}

void *malloc(size_t size)
{
    static _Alignas(16) char nothing[64];

    if (size == 0 && has_fault("zero-same"))
        return nothing + 32;
    return memalign(16, size);
}

void *aligned_alloc(size_t alignment, size_t size)
{
    return memalign(alignment, size);
}

int posix_memalign(void **out, size_t alignment, size_t size)
{
    void *block;

    if (alignment < sizeof(void *) || (alignment & (alignment - 1)) != 0) {
        if (!has_fault("any-align"))
            return EINVAL;
        alignment = 16;
    }
    block = memalign(alignment, size);
    if (block == NULL)
        return ENOMEM;
    *out = block;
    return 0;
}

void *calloc(size_t count, size_t size)
{
    bool used;
    size_t bytes;
    void *block;

    if (__builtin_mul_overflow(count, size, &bytes) && !has_fault("calloc-wraps"))
        return no_memory();
    block = make(16, bytes, &used);
    if (block != NULL && used && (bytes > DIRTY_MOST || !has_fault("not-zero")))
        memset(block, 0, bytes);
    return block;
}

size_t malloc_usable_size(void *block)
{
    return block == NULL ? has_fault("null") : header_of(block)->size;
}

void free(void *block)
{
    if (block == NULL) {
        if (has_fault("null"))
            abort();
        return;
    }
    if (gettid() != getpid() && has_fault("free-crash"))
        abort();
    pthread_mutex_lock(&lock);
    give_back(header_of(block)->chunk, header_of(block)->class);
    pthread_mutex_unlock(&lock);
}

void *realloc(void *block, size_t size)
{
    const size_t before = block == NULL ? 0 : header_of(block)->size;
    size_t kept = before < size ? before : size;
    void *fresh;

    if (size >= GOES_WRONG && size <= LARGEST && has_fault("crash"))
        abort();
    while (size >= GOES_WRONG && size <= LARGEST && has_fault("hang"))
        pause();
    fresh = malloc(size);
    if (block == NULL || fresh == NULL)
        return fresh;
    if (kept > 0 && __atomic_add_fetch(&moved, 1, __ATOMIC_RELAXED) % EVERY_MOVE == 0 &&
        has_fault("realloc-loses"))
        kept--;
    memcpy(fresh, block, kept);
    free(block);
    return fresh;
}
