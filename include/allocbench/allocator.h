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
                          rpmalloc musl hardened_malloc mesh hoard; or unknown, as of every
                          statically linked program */
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
 * dynamic symbol tables (as the loader does; with LD_DYNAMIC_WEAK set it prefers what is not weak)
 * and not into /proc/self/maps, where a library that is preloaded and unused appears too; and not
 * by dladdr(&malloc), which names the program in a
 * non-PIE executable. ABENCH_ERROR_UNSUPPORTED: no object provides malloc. Allocates nothing. Any
 * thread; blocks while another thread loads a library. */
ABENCH_API abench_status abench_allocator_identify(abench_identity *out);

/* 1 when the environment variable called name steers some allocator, or decides which one is loaded
 * (MALLOC_ARENA_MAX, MALLOC_CONF, MIMALLOC_..., LD_PRELOAD ...); else 0. Any thread. */
ABENCH_API int32_t abench_allocator_environment(const char *name);

/* 1 when it steers this family (of abench_identity.family): what a target's settings may be. Any
 * thread. */
ABENCH_API int32_t abench_allocator_environment_of(const char *family, const char *name);

/* ---- an allocator's own account -------------------------------------------------------------- */

/* What an allocator says of itself: settings in force and statistics, under its own names, and what
 * can be asked of it. Commentary: each family counts in its own way (glibc takes cached chunks for
 * used, mimalloc's "rss" is what it has committed), so allocators are compared by what the kernel
 * says. It is found by its symbols, without link dependency and without allocating. */
typedef struct abench_account abench_account;

/* glibc, scudo: also what malloc_info(3) tells, of glibc how many arenas ("heap") there are. It
 * needs a stdio stream, whose block of about 300 bytes open takes from the process's malloc, and
 * close gives back. Other families: no effect. */
#define ABENCH_ACCOUNT_STREAM 1u

typedef struct abench_account_options {
    uint32_t struct_size;
    uint32_t flags; /* ABENCH_ACCOUNT_... */
    /* Which allocator, as in abench_identity; NULL: the one that serves this process's malloc. One
     * that is in the process beside it is found by its family and prefix. */
    const char *family;
    /* What stands before the names of its functions, as "_rjem_" of jemalloc in a Rust program;
     * NULL: nothing, or a prefix that the family is known by. */
    const char *prefix;
    /* Finds a function of the allocator where the dynamic symbol tables have none (statically
     * linked programs); NULL: none. Returns NULL when there is none of that name. */
    void *(*symbol)(const char *name, void *user);
    void *user;
    const abench_memory_hooks *hooks;
} abench_account_options;

#define ABENCH_ACCOUNT_OPTIONS_INIT                                                                \
    {                                                                                              \
        sizeof(abench_account_options), 0, 0, 0, 0, 0, 0                                           \
    }

/* Sets struct_size, the rest to 0. Any thread. */
ABENCH_API void abench_account_options_init(abench_account_options *options);

/* Opens the account of an allocator; options may be NULL. A family that tells nothing opens too:
 * its lists are empty. On failure *out is NULL. ABENCH_ERROR_ARGUMENT (no such family),
 * _NOT_FOUND (it is not in this process), _UNSUPPORTED (who serves malloc is unknown), _MEMORY. Any
 * thread. */
ABENCH_API abench_status abench_allocator_open(const abench_account_options *options,
                                               abench_account **out);

/* Whose account it is, as in abench_identity. Lives as long as it. One thread per object. */
ABENCH_API const char *abench_account_family(const abench_account *account);

/* A statistic. */
typedef struct abench_statistic {
    uint32_t struct_size;
    uint32_t reserved;
    uint64_t value;
    char name[56]; /* the allocator's own: "stats.resident", "uordblks", "committed.current" */
    char unit[8];  /* "bytes", "count", "ns", "ratio", "" */
} abench_statistic;

#define ABENCH_STATISTIC_INIT                                                                      \
    {                                                                                              \
        sizeof(abench_statistic), 0, 0, "", ""                                                     \
    }

/* Sets struct_size, the rest to 0. Any thread. */
ABENCH_API void abench_statistic_init(abench_statistic *statistic);

#define ABENCH_STATISTICS_MAX 64u /* of one reading; what is beyond them is left out */

/* Reads all statistics, for abench_account_at. May take the allocator's locks and walk its free
 * memory (glibc: 20 us to 100 ms): at marks only, never while work is timed. Allocates nothing from
 * the allocator that keeps the account, but where it says so for a family (allocator/FAMILY.c). A
 * statistic that the family, or its version, cannot give is absent. ABENCH_ERROR_UNSUPPORTED: this
 * family gives none. One thread per object. */
ABENCH_API abench_status abench_allocator_stats(abench_account *account);
/* Statistics of the last reading. One thread per object. */
ABENCH_API uint32_t abench_account_count(const abench_account *account);
/* Statistic index of the last reading, in the family's order; ABENCH_ERROR_NOT_FOUND beyond the
 * last. One thread per object. */
ABENCH_API abench_status abench_account_at(const abench_account *account, uint32_t index,
                                           abench_statistic *out);
/* What the last reading took. One thread per object. */
ABENCH_API uint64_t abench_account_cost_ns(const abench_account *account);

#define ABENCH_SETTING_ENVIRONMENT 1u /* a variable of the environment that steers this family */
#define ABENCH_SETTING_TOLD        2u /* the allocator says so itself: in force */
#define ABENCH_SETTING_FILE        3u /* a file, or link, that it reads: /etc/malloc.conf */

/* A setting. */
typedef struct abench_setting {
    uint32_t struct_size;
    uint32_t source; /* ABENCH_SETTING_... */
    char name[56];   /* "MALLOC_ARENA_MAX", "opt.dirty_decay_ms" */
    char value[200]; /* cut when it is longer */
} abench_setting;

#define ABENCH_SETTING_INIT                                                                        \
    {                                                                                              \
        sizeof(abench_setting), 0, "", ""                                                          \
    }

/* Sets struct_size, the rest to 0. Any thread. */
ABENCH_API void abench_setting_init(abench_setting *setting);

/* Setting index, as it was when the account was opened; ABENCH_ERROR_NOT_FOUND beyond the last. One
 * thread per object. */
ABENCH_API abench_status abench_account_setting_at(const abench_account *account, uint32_t index,
                                                   abench_setting *out);

/* Asks the allocator to give back to the kernel all that it can: this thread's cache, then its free
 * memory (malloc_trim, arena.N.purge, ReleaseFreeMemory, mi_collect, scalable_allocation_command,
 * ...). Caches of other threads stay, but where a family has a call for them too. Takes up to some
 * 100 ms a GB. ABENCH_ERROR_UNSUPPORTED: this family has no such call, or it failed. One thread per
 * object. */
ABENCH_API abench_status abench_allocator_purge(abench_account *account);
/* Empties this thread's cache into the allocator. ABENCH_ERROR_UNSUPPORTED: this family has none,
 * or no call for it, or it failed. One thread per object; the cache is the calling thread's. */
ABENCH_API abench_status abench_allocator_flush(abench_account *account);
/* The calls that a purge makes, "malloc_trim(0)"; "" where there is none. Lives as long as the
 * account. One thread per object. */
ABENCH_API const char *abench_account_purge_call(const abench_account *account);
/* Likewise of a flush, "mallctl(thread.tcache.flush)". One thread per object. */
ABENCH_API const char *abench_account_flush_call(const abench_account *account);
/* accepts NULL. One thread per object. */
ABENCH_API void abench_account_close(abench_account *account);

#ifdef __cplusplus
}
#endif
#endif
