/*
 * allocator.h - the allocator under test: how to call it, and who it is.
 */
#ifndef ALLOCBENCH_ALLOCATOR_H
#define ALLOCBENCH_ALLOCATOR_H

#include <allocbench/base.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Entry points of an allocator, with the signatures of C. They carry no user pointer so that the
 * process's malloc is called with nothing in between. */
typedef struct abench_allocator {
    uint32_t struct_size;
    uint32_t flags; /* ABENCH_ALLOCATOR_... */
    void *(*malloc)(size_t size);
    void *(*calloc)(size_t count, size_t size);
    void *(*aligned_alloc)(size_t alignment, size_t size);
    void *(*realloc)(void *block, size_t size);
    void (*free)(void *block);
    void (*free_sized)(void *block, size_t size); /* NULL: free is called */
    size_t (*usable_size)(void *block);           /* NULL: not known */
} abench_allocator;

/* Blocks may overlap (the null allocator): contents are not checked. */
#define ABENCH_ALLOCATOR_OVERLAPS 1u

#define ABENCH_ALLOCATOR_INIT                                                                      \
    {                                                                                              \
        sizeof(abench_allocator), 0, 0, 0, 0, 0, 0, 0, 0                                           \
    }

/* Sets struct_size, the rest to 0. Any thread. */
ABENCH_API void abench_allocator_init(abench_allocator *allocator);

/* The malloc that serves this process. Any thread. */
ABENCH_API abench_status abench_allocator_process(abench_allocator *out);

/* An allocator that keeps no state: each request is answered with a place in one mapping, chosen
 * by its size, and free does nothing. What a tape takes under it is what the harness and the
 * touches cost. size_maximum: the largest request it must serve; larger ones return NULL, and so do
 * alignments above 64 MiB. calloc does not zero, and usable_size is NULL. ABENCH_ERROR_MEMORY. The
 * mapping is made at the first call (or a larger later one) and kept. Before any thread. */
ABENCH_API abench_status abench_allocator_null(uint64_t size_maximum, abench_allocator *out);

/* ---- identity -------------------------------------------------------------------------------- */

#define ABENCH_IDENTITY_MIXED  1u /* the functions do not all come from one object */
#define ABENCH_IDENTITY_STATIC 2u /* the program itself provides malloc */

/* Who serves malloc in this process now. */
typedef struct abench_identity {
    uint32_t struct_size;
    uint32_t flags;
    uint64_t device; /* st_dev and st_ino of file; 0, 0 when it cannot be looked at */
    uint64_t inode;
    char family[24];   /* glibc jemalloc tcmalloc google-tcmalloc mimalloc tbbmalloc scudo snmalloc
                          rpmalloc musl; or unknown, as of every statically linked program */
    char version[40];  /* "5.3.0-..."; "" when the family tells none */
    char build_id[72]; /* lower-case hex of the GNU build id; "" when there is none */
    char file[512];    /* the object that provides malloc, as the loader knows it */
    char others[512];  /* with MIXED: "calloc by /path; ...", "by nothing" for what nobody provides;
                          else "" */
} abench_identity;

#define ABENCH_IDENTITY_INIT                                                                       \
    {                                                                                              \
        sizeof(abench_identity), 0, 0, 0, "", "", "", "", ""                                       \
    }

/* Sets struct_size, the rest to 0. Any thread. */
ABENCH_API void abench_identity_init(abench_identity *identity);

/* Finds, in load order, the object that provides each of malloc, free, calloc, realloc, memalign,
 * aligned_alloc, posix_memalign and malloc_usable_size, and names the first. It looks into the
 * dynamic symbol tables (as the loader does) and not into /proc/self/maps, where a library that is
 * preloaded and unused appears too; and not by dladdr(&malloc), which names the program in a
 * non-PIE executable. ABENCH_ERROR_UNSUPPORTED: no object provides malloc. Allocates nothing. Any
 * thread; blocks while another thread loads a library. */
ABENCH_API abench_status abench_allocator_identify(abench_identity *out);

/* 1 when the environment variable called name steers some allocator, or decides which one is loaded
 * (MALLOC_ARENA_MAX, MALLOC_CONF, MIMALLOC_..., LD_PRELOAD ...); else 0. Any thread. */
ABENCH_API int32_t abench_allocator_environment(const char *name);

#ifdef __cplusplus
}
#endif
#endif
