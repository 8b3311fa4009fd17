/*
 * target.h - targets: an allocator plus the environment it runs with.
 *
 *   NAME                                 a built-in one: glibc, glibc-arena2, jemalloc, ...
 *   NAME:KEY=VALUE,KEY=VALUE             a variant of a built-in one
 *   NAME=/path/lib.so,KEY=VALUE,...      any other library
 *
 * KEY is an environment variable, or one of the factors thp=never|inherit, aslr=off|on, cpus=LIST.
 * A part without '=' belongs to the value before it. Of two settings of one KEY the later holds.
 */
#ifndef ABENCH_TOOL_TARGET_H
#define ABENCH_TOOL_TARGET_H

#include <stdbool.h>
#include <stddef.h>

#include <allocbench/allocator.h>

#include "tool/launch.h"

struct json_t;

typedef struct setting {
    char *key;
    char *value;
} setting;

typedef struct target {
    char *name;         /* shown everywhere; the part before "=/path", else all of it */
    char *spec;         /* the whole of what the user wrote */
    const char *family; /* what identify must say; NULL: any (a library of the user's) */
    char *library;      /* real path of what is preloaded and must serve; NULL: the C library */
    char *preload;      /* the same under a path without space or colon */
    setting *settings;  /* environment */
    size_t settings_count;
    bool thp_never;
    bool aslr_off;
    bool has_cpus;
    cpu_set_t cpus;
    char *missing;            /* NULL, or why it is not here and what would bring it */
    abench_identity identity; /* proven by preflight */
    struct json_t *earlier;   /* of one that is not here, or not named: what matrix.json told of it
                                 when it was measured; else NULL */
} target;

/* Reads one -t argument. false with one line in message: what is wrong and where, or the nearest
 * name. A library that is not on this machine is no error: missing says so. */
bool target_parse(const char *spec, target *out, char *message, size_t message_size);

/* The same target with more settings, "KEY=VALUE,KEY=VALUE": what --sweep makes of it. They stand
 * in the name of one with a library of its own, too. false with one line in message. */
bool target_parse_variant(const char *spec, const char *settings, target *out, char *message,
                          size_t message_size);

/* The name that target_parse gives it; free() it. */
char *target_spec_name(const char *spec);

/* Has it a setting of this name? */
bool target_sets(const target *t, const char *key);

/* Gives it these CPUs, unless it has some of its own. false: that is no list of CPUs. */
bool target_pin(target *t, const char *cpus);

/* Every built-in target; free it with target_list_free. */
target *target_all(size_t *count);
void target_list_free(target *targets, size_t count);
void target_clear(target *t);

/* One line that describes the built-in target called name; NULL when there is none. */
const char *target_summary(const char *name);

/* "MALLOC_ARENA_MAX=2 thp=never"; "" when there is nothing. free() it. */
char *target_settings_text(const target *t);

/* The environment of a child under this target: the tool's own, without what steers allocators
 * (unless keep) and without ALLOCBENCH_..., with the target's settings and LD_PRELOAD. extra: more
 * entries "NAME=VALUE", may be NULL. Free it with target_environment_free. */
char **target_environment(const target *t, bool keep, const char *const *extra, size_t extras);
void target_environment_free(char **envp);

/* Fills what a launch takes from a target. */
void target_launch(const target *t, launch *how);

/* Removes the links that were made for libraries with a space or colon in their path. */
void target_cleanup(void);

#endif
