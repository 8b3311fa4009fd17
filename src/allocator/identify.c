/* identify.c - who serves malloc in this process: see allocator.h. */
#include <allocbench/allocator.h>

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/stat.h>
#include <unistd.h>

#include "allocator/families.h"
#include "base/options.h"
#include "base/text.h"

/* malloc first: its provider is the one that is named. reallocarray and pvalloc are libc's own
 * under several allocators and prove nothing. */
static const char *const functions[] = {
    "malloc",   "free",          "calloc",         "realloc",
    "memalign", "aligned_alloc", "posix_memalign", "malloc_usable_size",
};

#define FUNCTIONS (sizeof functions / sizeof functions[0])

struct search {
    char versions[FUNCTIONS][ABENCH__VERSION_BYTES]; /* that references to them carry */
    abench__object program;
    abench__object providers[FUNCTIONS];
    uint32_t found;    /* bit mask */
    uint32_t is_final; /* likewise; 0: weak, and a strong one that comes later goes before it */
    int is_weak_last;  /* the loader was told so */
};

void abench_identity_init(abench_identity *identity)
{
    memset(identity, 0, sizeof *identity);
    identity->struct_size = sizeof *identity;
}

static int look_into(const abench__object *object, void *user)
{
    struct search *search = user;

    if ((object->flags & ABENCH__OBJECT_PROGRAM) != 0)
        search->program = *object;
    for (uint32_t at = 0; at < FUNCTIONS; at++) {
        const abench__symbol *symbol;
        int is_final;

        if ((search->is_final >> at & 1) != 0)
            continue;
        symbol = abench__object_bound(object, functions[at], search->versions[at]);
        if (symbol == NULL)
            continue;
        is_final = !search->is_weak_last || symbol->st_info >> 4 != STB_WEAK;
        if (!is_final && (search->found >> at & 1) != 0)
            continue;
        search->providers[at] = *object;
        search->found |= 1u << at;
        search->is_final |= (uint32_t)is_final << at;
    }
    return search->is_final == (1u << FUNCTIONS) - 1;
}

/* Who is linked with the C library refers to its functions by the versions that it gives them. */
static void read_versions(struct search *search)
{
    abench__object libc;

    if (!abench__objects_libc(&libc))
        return;
    /* glibc's loader drops the variable in a setuid program. */
    search->is_weak_last = getauxval(AT_SECURE) == 0 && getenv("LD_DYNAMIC_WEAK") != NULL;
    for (uint32_t at = 0; at < FUNCTIONS; at++)
        abench__object_version(&libc, functions[at], search->versions[at]);
}

/* ---- the program's file ---------------------------------------------------------------------- */

/* When the loader itself was executed, with the program as its argument, /proc/self/exe is the
 * loader; the kernel gives a loader's address only where it has loaded one for a program. */
static int is_loaded_by_hand(const abench__object *program)
{
    return (program->flags & ABENCH__OBJECT_INTERPRETED) != 0 && getauxval(AT_BASE) == 0;
}

static uintptr_t take_hex(const char **at)
{
    uintptr_t value = 0;

    for (;; ++*at) {
        const char c = **at;

        if (c >= '0' && c <= '9')
            value = value << 4 | (uintptr_t)(c - '0');
        else if (c >= 'a' && c <= 'f')
            value = value << 4 | (uintptr_t)(c - 'a' + 10);
        else
            return value;
    }
}

/* The path in a line of /proc/self/maps, "START-END perms offset device inode path", when the
 * address lies in its range; else NULL. */
static const char *path_at(const char *line, uintptr_t address)
{
    const uintptr_t start = take_hex(&line);
    uintptr_t end;

    if (*line++ != '-')
        return NULL;
    end = take_hex(&line);
    return address >= start && address < end ? strchr(line, '/') : NULL;
}

/* The file of the mapping that the address lies in; "" when there is none. */
static void read_mapped_file(uintptr_t address, char *path, uint32_t size)
{
    const int fd = open("/proc/self/maps", O_RDONLY | O_CLOEXEC);
    char text[4096 + 256]; /* the kernel cuts paths at 4096; a longer line would end the search */
    size_t kept = 0;
    ssize_t got;

    path[0] = '\0';
    while (fd >= 0 && path[0] == '\0') {
        char *line = text, *end;

        got = read(fd, text + kept, sizeof text - 1 - kept);
        if (got < 0 && errno == EINTR)
            continue;
        if (got <= 0)
            break;
        kept += (size_t)got;
        text[kept] = '\0';
        for (; (end = strchr(line, '\n')) != NULL && path[0] == '\0'; line = end + 1) {
            const char *found;

            *end = '\0';
            found = path_at(line, address);
            if (found != NULL)
                abench__copy(path, size, found);
        }
        kept = strlen(line);
        memmove(text, line, kept);
    }
    if (fd >= 0)
        close(fd);
}

static void put_file(const abench__object *object, abench__text *text)
{
    char link[512];
    ssize_t length;

    if ((object->flags & ABENCH__OBJECT_PROGRAM) == 0) {
        abench__text_put(text, object->name);
        return;
    }
    if (is_loaded_by_hand(object)) {
        read_mapped_file((uintptr_t)object->segments, link, sizeof link);
        abench__text_put(text, link);
        return;
    }
    length = readlink("/proc/self/exe", link, sizeof link - 1);
    if (length > 0) {
        link[length] = '\0';
        abench__text_put(text, link);
    } else if (getauxval(AT_EXECFN) != 0) {
        abench__text_put(text, (const char *)getauxval(AT_EXECFN));
    }
}

static void read_file(const abench__object *object, abench_identity *identity)
{
    const int is_program = (object->flags & ABENCH__OBJECT_PROGRAM) != 0;
    const char *path = is_program ? identity->file : object->name;
    abench__text text;
    struct stat status;

    abench__text_init(&text, identity->file, sizeof identity->file);
    put_file(object, &text);
    if (is_program && !is_loaded_by_hand(object))
        path = "/proc/self/exe";
    if (stat(path, &status) == 0) {
        identity->device = status.st_dev;
        identity->inode = status.st_ino;
    }
}

static void read_provider(const abench__object *provider, abench_identity *identity)
{
    const abench__family *family = abench__family_of(provider);

    abench__copy(identity->family, sizeof identity->family,
                 family != NULL ? family->name : "unknown");
    if (family != NULL && family->version != NULL)
        family->version(provider, identity->version, sizeof identity->version);
    abench__object_build_id(provider, identity->build_id, sizeof identity->build_id);
    read_file(provider, identity);
    if ((provider->flags & ABENCH__OBJECT_PROGRAM) != 0)
        identity->flags |= ABENCH_IDENTITY_STATIC;
}

/* An object's table of segments is its own: it tells two objects apart. */
static void read_others(const struct search *search, abench_identity *identity)
{
    abench__text text;

    abench__text_init(&text, identity->others, sizeof identity->others);
    for (uint32_t at = 1; at < FUNCTIONS; at++) {
        const int found = (search->found >> at & 1) != 0;

        if (found && search->providers[at].segments == search->providers[0].segments)
            continue;
        identity->flags |= ABENCH_IDENTITY_MIXED;
        if (text.length != 0)
            abench__text_put(&text, "; ");
        abench__text_put(&text, functions[at]);
        abench__text_put(&text, " by ");
        if (found)
            put_file(&search->providers[at], &text);
        else
            abench__text_put(&text, "nothing");
    }
}

static void look(struct search *search)
{
    memset(search, 0, sizeof *search);
    read_versions(search);
    abench__objects_each(look_into, search);
}

static int is_static(const struct search *search)
{
    const uint32_t loaded = ABENCH__OBJECT_DYNAMIC | ABENCH__OBJECT_INTERPRETED;

    return (search->program.flags & loaded) != loaded;
}

abench_status abench__provider(abench__object *out)
{
    struct search search;

    look(&search);
    if (!is_static(&search) && (search.found & 1) == 0)
        return ABENCH_ERROR_UNSUPPORTED;
    *out = is_static(&search) ? search.program : search.providers[0];
    return ABENCH_OK;
}

abench_status abench_allocator_identify(abench_identity *out)
{
    abench_identity identity = ABENCH_IDENTITY_INIT;
    struct search search;

    if (out == NULL)
        return ABENCH_ERROR_ARGUMENT;
    look(&search);
    /* The loader's lock is released: an allocator may be called now. */
    if (is_static(&search)) {
        read_provider(&search.program, &identity);
        identity.flags |= ABENCH_IDENTITY_STATIC;
    } else if ((search.found & 1) == 0) {
        return ABENCH_ERROR_UNSUPPORTED;
    } else {
        read_provider(&search.providers[0], &identity);
        read_others(&search, &identity);
    }
    return abench__options_write(out, &identity, sizeof identity, sizeof identity);
}
