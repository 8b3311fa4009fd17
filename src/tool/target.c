/* target.c - the built-in targets, the -t argument, and what a child's environment becomes. */
#include "tool/target.h"

#include <ctype.h>
#include <errno.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tool/library.h"
#include "tool/util.h"

#define NAME_MOST 200   /* what a reader of results takes is a little more: model.c */
#define SPEC_MOST 16000 /* likewise, with each byte escaped */

extern char **environ;

typedef struct builtin {
    const char *name;
    const char *family;
    const char *libraries; /* file names to look for, best first; NULL: the C library's malloc */
    const char *package;   /* what would bring it */
    const char *settings;
    const char *summary;
} builtin;

static const builtin builtins[] = {
    {"glibc", "glibc", NULL, NULL, NULL, "the C library's own malloc, as it comes"},
    {"glibc-arena2", "glibc", NULL, NULL, "MALLOC_ARENA_MAX=2", "glibc with at most two arenas"},
    {"glibc-trim", "glibc", NULL, NULL, "MALLOC_ARENA_MAX=2,MALLOC_TRIM_THRESHOLD_=131072",
     "glibc with at most two arenas and a fixed trim threshold"},
    {"jemalloc", "jemalloc", "libjemalloc.so.2 libjemalloc.so.1 libjemalloc.so",
     "Debian package libjemalloc2", NULL, "jemalloc"},
    {"tcmalloc", "tcmalloc",
     "libtcmalloc_minimal.so.4 libtcmalloc.so.4 libtcmalloc_minimal.so libtcmalloc.so",
     "Debian package libtcmalloc-minimal4 (13: libtcmalloc-minimal4t64)", NULL,
     "tcmalloc of gperftools"},
    {"mimalloc", "mimalloc", "libmimalloc.so.3 libmimalloc.so.2 libmimalloc.so",
     "Debian package libmimalloc2.0 (13: libmimalloc3)", NULL, "mimalloc, the newest that is here"},
    {"mimalloc2", "mimalloc", "libmimalloc.so.2", "Debian package libmimalloc2.0", NULL,
     "mimalloc 2"},
    {"mimalloc3", "mimalloc", "libmimalloc.so.3", "Debian 13's package libmimalloc3", NULL,
     "mimalloc 3"},
    {"snmalloc", "snmalloc", "libsnmallocshim.so libsnmalloc.so",
     "a build of microsoft/snmalloc; name its folder in ALLOCBENCH_ALLOCATOR_PATH", NULL,
     "snmalloc"},
    {"google-tcmalloc", "google-tcmalloc", "libgoogle-tcmalloc.so libgoogle_tcmalloc.so",
     "a build of google/tcmalloc; name its folder in ALLOCBENCH_ALLOCATOR_PATH", NULL,
     "tcmalloc of Google"},
    {"rpmalloc", "rpmalloc", "librpmallocwrap.so librpmalloc.so",
     "a build of mjansson/rpmalloc; name its folder in ALLOCBENCH_ALLOCATOR_PATH", NULL,
     "rpmalloc"},
    {"tbbmalloc", "tbbmalloc", "libtbbmalloc_proxy.so.2 libtbbmalloc_proxy.so",
     "Debian package libtbbmalloc2", NULL, "oneTBB's scalable allocator, through its proxy"},
    {"scudo", "scudo",
     "libclang_rt.scudo_standalone-x86_64.so libclang_rt.scudo_standalone-aarch64.so "
     "libclang_rt.scudo_standalone.so",
     "Debian package libclang-rt-14-dev", NULL, "scudo, LLVM's hardened allocator"},
    {"hoard", "hoard", "libhoard.so",
     "a build of emeryberger/Hoard; name its folder in ALLOCBENCH_ALLOCATOR_PATH", NULL, "Hoard"},
    {"mesh", "mesh", "libmesh.so",
     "a build of plasma-umass/Mesh; name its folder in ALLOCBENCH_ALLOCATOR_PATH", NULL, "Mesh"},
};

#define BUILTINS (sizeof builtins / sizeof builtins[0])

static const builtin *find_builtin(const char *name)
{
    for (size_t at = 0; at < BUILTINS; at++)
        if (strcmp(builtins[at].name, name) == 0)
            return &builtins[at];
    return NULL;
}

const char *target_summary(const char *name)
{
    const builtin *b = find_builtin(name);

    return b == NULL ? NULL : b->summary;
}

void target_clear(target *t)
{
    free(t->name);
    free(t->spec);
    free(t->library);
    free(t->preload);
    free(t->missing);
    for (size_t at = 0; at < t->settings_count; at++) {
        free(t->settings[at].key);
        free(t->settings[at].value);
    }
    free(t->settings);
    json_decref(t->earlier);
    memset(t, 0, sizeof *t);
}

void target_list_free(target *targets, size_t count)
{
    for (size_t at = 0; at < count; at++)
        target_clear(&targets[at]);
    free(targets);
}

/* ---- settings -------------------------------------------------------------------------------- */

/* "0-1,3" */
static bool parse_cpus(const char *text, cpu_set_t *set)
{
    CPU_ZERO(set);
    for (;;) {
        char *end;
        long first, last;
        errno = 0;
        first = last = strtol(text, &end, 10);
        if (end == text || *text < '0' || *text > '9')
            return false;
        if (*end == '-') {
            text = end + 1;
            last = strtol(text, &end, 10);
            if (end == text || *text < '0' || *text > '9')
                return false;
        }
        if (errno != 0 || first > last || last >= CPU_SETSIZE)
            return false;
        for (long cpu = first; cpu <= last; cpu++)
            CPU_SET((size_t)cpu, set);
        if (*end == '\0')
            return true;
        if (*end != ',')
            return false;
        text = end + 1;
    }
}

/* A blank too many would set a variable that nobody reads. */
static bool is_variable_name(const char *key)
{
    size_t length = 0;

    while (isalnum((unsigned char)key[length]) || key[length] == '_')
        length++;
    return key[length] == '\0' && !isdigit((unsigned char)key[0]);
}

/* A factor of the target, or an environment variable. NULL, or what is wrong. */
static const char *apply_setting(target *t, const char *key, const char *value)
{
    if (strcmp(key, "thp") == 0) {
        t->thp_never = strcmp(value, "never") == 0;
        return t->thp_never || strcmp(value, "inherit") == 0
                   ? NULL
                   : "thp is never or inherit: a process can only opt out";
    }
    if (strcmp(key, "aslr") == 0) {
        t->aslr_off = strcmp(value, "off") == 0;
        return t->aslr_off || strcmp(value, "on") == 0 ? NULL : "aslr is off or on";
    }
    if (strcmp(key, "cpus") == 0) {
        t->has_cpus = true;
        return parse_cpus(value, &t->cpus) ? NULL : "cpus is a list like 0-1,3";
    }
    if (strcmp(key, "LD_PRELOAD") == 0)
        return "LD_PRELOAD is the tool's own here: write NAME=/path/lib.so";
    if (strncmp(key, "ALLOCBENCH_", 11) == 0)
        return "the ALLOCBENCH_ variables are the tool's own";
    return is_variable_name(key) ? NULL : "a variable's name is letters, digits and _";
}

/* Of two settings of one name the later holds: a variant overrides what its target sets. */
static void keep_setting(target *t, const char *key, const char *value)
{
    for (size_t at = 0; at < t->settings_count; at++)
        if (strcmp(t->settings[at].key, key) == 0) {
            free(t->settings[at].value);
            t->settings[at].value = xstrdup(value);
            return;
        }
    t->settings = xrealloc(t->settings, (t->settings_count + 1) * sizeof *t->settings);
    t->settings[t->settings_count].key = xstrdup(key);
    t->settings[t->settings_count].value = xstrdup(value);
    t->settings_count++;
}

/* Reads KEY=VALUE,... ; offset: where text stands in the spec, for the column. */
static bool parse_settings(target *t, const char *text, size_t offset, char *message,
                           size_t message_size)
{
    const char *at = text;

    while (*at != '\0') {
        const size_t column = offset + (size_t)(at - text) + 1;
        const size_t key_length = strcspn(at, "=,");
        size_t length;
        char *key, *value;
        const char *wrong;

        if (key_length == 0 || at[key_length] != '=') {
            snprintf(message, message_size, "target '%s', column %zu: KEY=VALUE is wanted here",
                     t->spec, column);
            return false;
        }
        length = library_value_length(at + key_length + 1);
        key = xstrndup(at, key_length);
        value = xstrndup(at + key_length + 1, length);
        wrong = apply_setting(t, key, value);
        if (wrong == NULL)
            keep_setting(t, key, value);
        else
            snprintf(message, message_size, "target '%s', column %zu: %s", t->spec, column, wrong);
        free(key);
        free(value);
        if (wrong != NULL)
            return false;
        at += key_length + 1 + length;
        at += *at == ',';
    }
    return true;
}

char *target_settings_text(const target *t)
{
    char *text = xstrdup("");

    for (size_t at = 0; at < t->settings_count; at++) {
        char *more = xasprintf("%s%s%s=%s", text, at == 0 ? "" : " ", t->settings[at].key,
                               t->settings[at].value);
        free(text);
        text = more;
    }
    return text;
}

/* ---- the -t argument ------------------------------------------------------------------------- */

static bool take_library(target *t, char *path, char *message, size_t message_size)
{
    t->library = path;
    t->preload = library_preload_path(path);
    if (t->preload != NULL)
        return true;
    snprintf(message, message_size,
             "target '%s': its library's path has a space or colon, and no link to it can be made",
             t->spec);
    return false;
}

static bool parse_builtin(target *t, const builtin *b, const char *settings, size_t offset,
                          char *message, size_t message_size)
{
    t->family = b->family;
    if (b->settings != NULL && !parse_settings(t, b->settings, 0, message, message_size))
        return false;
    if (!parse_settings(t, settings, offset, message, message_size))
        return false;
    if (b->libraries != NULL) {
        char *path = library_find(b->libraries);
        if (path != NULL)
            return take_library(t, path, message, message_size);
        t->missing = xasprintf("not found on this machine; it comes with %s", b->package);
    }
    return true;
}

static bool parse_own(target *t, const char *rest, size_t offset, char *message,
                      size_t message_size)
{
    const size_t length = library_value_length(rest);
    char *path = xstrndup(rest, length);
    const size_t settings = length + (rest[length] == ',');
    char *real = realpath(path, NULL);

    if (real == NULL)
        t->missing = xasprintf("there is no library '%s': %s", path, strerror(errno));
    free(path);
    return (real == NULL || take_library(t, real, message, message_size)) &&
           parse_settings(t, rest + settings, offset + settings, message, message_size);
}

static void unknown(const char *name, char *message, size_t message_size)
{
    const builtin *nearest = &builtins[0];

    for (size_t at = 1; at < BUILTINS; at++)
        if (abench_text_distance(builtins[at].name, name) <
            abench_text_distance(nearest->name, name))
            nearest = &builtins[at];
    snprintf(message, message_size,
             "there is no target '%s'; did you mean '%s'? (allocbench list targets; another "
             "library: -t %s=/path/lib.so)",
             name, nearest->name, name);
}

/* Names go into JSON, tables and file names of pictures. */
static bool is_name(const char *name)
{
    json_t *text = json_string(name);
    const char *at = name;

    while ((unsigned char)*at >= 0x20 && *at != 0x7f)
        at++;
    json_decref(text);
    return text != NULL && *at == '\0';
}

bool target_parse(const char *spec, target *out, char *message, size_t message_size)
{
    const size_t length = strcspn(spec, ":=");
    char *name = xstrndup(spec, length);
    const builtin *b = find_builtin(name);
    bool good = false;

    memset(out, 0, sizeof *out);
    abench_identity_init(&out->identity);
    out->spec = xstrdup(spec);
    out->name = xstrdup(spec[length] == '=' ? name : spec);
    if (strlen(spec) > SPEC_MOST)
        snprintf(message, message_size, "target '%.40s...' is longer than %d bytes", spec,
                 SPEC_MOST);
    else if (length == 0)
        snprintf(message, message_size, "target '%s' has no name", spec);
    else if (strlen(out->name) > NAME_MOST)
        snprintf(message, message_size,
                 "target '%.40s...': its name is longer than %d bytes; a shorter one: "
                 "NAME=/path/lib.so,KEY=VALUE",
                 spec, NAME_MOST);
    else if (!is_name(out->name))
        snprintf(message, message_size,
                 "target '%s': a name is valid UTF-8 without control characters", spec);
    else if (spec[length] == '=')
        good = parse_own(out, spec + length + 1, length + 1, message, message_size);
    else if (b == NULL)
        unknown(name, message, message_size);
    else
        good = parse_builtin(out, b, spec[length] == ':' ? spec + length + 1 : "", length + 1,
                             message, message_size);
    free(name);
    if (!good)
        target_clear(out);
    return good;
}

char *target_spec_name(const char *spec)
{
    const size_t length = strcspn(spec, ":=");

    return spec[length] == '=' ? xstrndup(spec, length) : xstrdup(spec);
}

bool target_parse_variant(const char *spec, const char *settings, target *out, char *message,
                          size_t message_size)
{
    const size_t length = strcspn(spec, ":=");
    char *text = xasprintf("%s%c%s", spec, spec[length] == '\0' ? ':' : ',', settings);
    char *name = xasprintf("%.*s:%s", (int)length, spec, settings);
    bool good = false;

    if (spec[length] == '=' && strlen(name) > NAME_MOST) {
        snprintf(message, message_size, "target '%.40s...': its name is longer than %d bytes", name,
                 NAME_MOST);
    } else if (target_parse(text, out, message, message_size)) {
        good = true;
        if (spec[length] == '=') { /* else all of its variants would have one name */
            free(out->name);
            out->name = xstrdup(name);
        }
    }
    free(name);
    free(text);
    return good;
}

bool target_sets(const target *t, const char *key)
{
    for (size_t at = 0; at < t->settings_count; at++)
        if (strcmp(t->settings[at].key, key) == 0)
            return true;
    return false;
}

bool target_pin(target *t, const char *cpus)
{
    cpu_set_t set;

    if (!parse_cpus(cpus, &set))
        return false;
    if (!t->has_cpus) {
        t->has_cpus = true;
        t->cpus = set;
        keep_setting(t, "cpus", cpus);
    }
    return true;
}

target *target_all(size_t *count)
{
    target *all = xcalloc(BUILTINS, sizeof *all);
    char message[512];

    for (size_t at = 0; at < BUILTINS; at++)
        target_parse(builtins[at].name, &all[at], message, sizeof message);
    *count = BUILTINS;
    return all;
}

/* ---- a child's environment ------------------------------------------------------------------- */

static bool is_kept(const char *entry, const target *t, bool keep)
{
    const size_t length = strcspn(entry, "=");
    char *name = xstrndup(entry, length);
    bool kept = strncmp(name, "ALLOCBENCH_", 11) != 0 && strcmp(name, "LD_PRELOAD") != 0 &&
                (keep || !abench_allocator_environment(name));

    for (size_t at = 0; at < t->settings_count && kept; at++)
        kept = strcmp(t->settings[at].key, name) != 0;
    free(name);
    return kept;
}

char **target_environment(const target *t, bool keep, const char *const *extra, size_t extras)
{
    const char *own = keep ? getenv("LD_PRELOAD") : NULL;
    size_t size = 0, count = 0;
    char **envp;

    while (environ[size] != NULL)
        size++;
    envp = xcalloc(size + t->settings_count + extras + 2, sizeof *envp);
    for (size_t at = 0; at < size; at++)
        if (is_kept(environ[at], t, keep))
            envp[count++] = xstrdup(environ[at]);
    for (size_t at = 0; at < t->settings_count; at++) {
        const setting *s = &t->settings[at];
        if (strcmp(s->key, "thp") != 0 && strcmp(s->key, "aslr") != 0 &&
            strcmp(s->key, "cpus") != 0)
            envp[count++] = xasprintf("%s=%s", s->key, s->value);
    }
    for (size_t at = 0; at < extras; at++)
        envp[count++] = xstrdup(extra[at]);
    if (t->preload != NULL)
        envp[count++] = xasprintf("LD_PRELOAD=%s%s%s", t->preload, own == NULL ? "" : ":",
                                  own == NULL ? "" : own);
    else if (own != NULL)
        envp[count++] = xasprintf("LD_PRELOAD=%s", own);
    return envp;
}

void target_environment_free(char **envp)
{
    for (size_t at = 0; envp != NULL && envp[at] != NULL; at++)
        free(envp[at]);
    free(envp);
}

void target_launch(const target *t, launch *how)
{
    how->thp_never = t->thp_never;
    how->aslr_off = t->aslr_off;
    how->has_cpus = t->has_cpus;
    how->cpus = t->cpus;
}

void target_cleanup(void)
{
    library_remove_links();
}
