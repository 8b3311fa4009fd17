/*
 * base.h - what every other header needs: export macro, version, status codes, error detail,
 * memory hooks.
 *
 * Rules that hold for every header of allocbench:
 *  - a function says its thread class: "any thread" (safe to call at any time from any thread),
 *    "one thread per object" (the caller serialises the calls on one object), or "before any
 *    thread" (call it while the process has one thread);
 *  - a struct that begins with struct_size is filled by its abench_X_init() (or the macro
 *    ABENCH_X_INIT); 0 in a field means "the default"; fields are only ever appended;
 *  - a pointer must not be NULL where its function does not say that it may be;
 *  - out-parameters come last; strings given to the library are copied, strings returned belong
 *    to the object they were asked of;
 *  - nothing here calls malloc: objects live in mappings of their own, or in memory from the
 *    caller's hooks.
 */
#ifndef ALLOCBENCH_BASE_H
#define ALLOCBENCH_BASE_H

#include <stddef.h>
#include <stdint.h>

#if defined(__GNUC__)
#define ABENCH_API __attribute__((visibility("default")))
#else
#define ABENCH_API
#endif

#ifdef __cplusplus
extern "C" {
#endif

/* The version of this header. CMakeLists.txt reads it from here. */
#define ABENCH_VERSION_MAJOR 0
#define ABENCH_VERSION_MINOR 1
#define ABENCH_VERSION_PATCH 0

/* The version of the library that is loaded: major * 10000 + minor * 100 + patch. Any thread. */
ABENCH_API uint32_t abench_version(void);

/* The same as text, "0.1.0". Any thread. */
ABENCH_API const char *abench_version_string(void);

/* 0, or a negative code from the list below. The values are pinned. */
typedef int32_t abench_status;

#define ABENCH_OK                0
#define ABENCH_ERROR_ARGUMENT    (-1)  /* an argument is out of its domain */
#define ABENCH_ERROR_MEMORY      (-2)  /* a mapping, or the caller's hook, failed */
#define ABENCH_ERROR_SYSTEM      (-3)  /* a system call failed; sys_errno says which way */
#define ABENCH_ERROR_SYNTAX      (-4)  /* text does not parse; line and column say where */
#define ABENCH_ERROR_NOT_FOUND   (-5)  /* no such name, field or index */
#define ABENCH_ERROR_STATE       (-6)  /* the call does not fit the object's state */
#define ABENCH_ERROR_TAPE        (-7)  /* operations that no program could have made */
#define ABENCH_ERROR_STUCK       (-8)  /* the watchdog found lanes that wait for ever */
#define ABENCH_ERROR_RECEIPT     (-9)  /* less (or other) work was done than was planned */
#define ABENCH_ERROR_UNSUPPORTED (-10) /* this machine or allocator cannot do it */
#define ABENCH_ERROR_STOPPED     (-11) /* a callback returned non-zero */
#define ABENCH_ERROR_LIMIT       (-12) /* a fixed capacity is used up */

/* "ABENCH_ERROR_TAPE"; "ABENCH_ERROR_UNKNOWN" for a code that is none. Never NULL, never
 * allocates. Any thread. */
ABENCH_API const char *abench_status_name(abench_status status);

/* One sentence for a person. Never NULL, never allocates. Any thread. */
ABENCH_API const char *abench_status_message(abench_status status);

/* What went wrong, in detail. Filled by parsers and kept by objects. */
typedef struct abench_error {
    uint32_t struct_size;
    abench_status status;
    int32_t sys_errno; /* with ABENCH_ERROR_SYSTEM, else 0 */
    uint32_t line;     /* 1-based; 0: not about a place in a text */
    uint32_t column;   /* 1-based, in bytes; 0: not about a place in a text */
    uint32_t reserved;
    char message[232]; /* one sentence; says what, where and what to do */
} abench_error;

#define ABENCH_ERROR_INIT                                                                          \
    {                                                                                              \
        sizeof(abench_error), 0, 0, 0, 0, 0, ""                                                    \
    }

/* Makes *error empty. Any thread. */
ABENCH_API void abench_error_init(abench_error *error);

/* Where the library's memory comes from; the default is mmap with guard pages. */
typedef struct abench_memory_hooks {
    uint32_t struct_size;
    uint32_t flags; /* must be 0 */
    /* Returns zeroed memory aligned to 4096, or NULL. bytes is a multiple of 4096. */
    void *(*map)(uint64_t bytes, void *user);
    /* Takes back one whole block that map returned; bytes is what was asked then. */
    void (*unmap)(void *memory, uint64_t bytes, void *user);
    void *user;
} abench_memory_hooks;

#define ABENCH_MEMORY_HOOKS_INIT                                                                   \
    {                                                                                              \
        sizeof(abench_memory_hooks), 0, 0, 0, 0                                                    \
    }

/* Sets struct_size, the rest to 0. Any thread. */
ABENCH_API void abench_memory_hooks_init(abench_memory_hooks *hooks);

/* CLOCK_MONOTONIC in nanoseconds. Any thread. */
ABENCH_API uint64_t abench_clock_ns(void);

/* How many letters must be inserted, dropped, changed or swapped with their neighbour to make one
 * text of the other (Damerau 1964, restricted), case ignored; only the first 63 bytes of each
 * count. For "did you mean". Any thread. */
ABENCH_API uint32_t abench_text_distance(const char *a, const char *b);

#ifdef __cplusplus
}
#endif
#endif
