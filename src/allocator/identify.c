/* identify.c - who serves malloc in this process: see allocator.h. */
#include <allocbench/allocator.h>

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
    uint32_t found; /* bit mask */
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
        if ((search->found >> at & 1) != 0 ||
            abench__object_bound(object, functions[at], search->versions[at]) == NULL)
            continue;
        search->providers[at] = *object;
        search->found |= 1u << at;
    }
    return search->found == (1u << FUNCTIONS) - 1;
}

/* Who is linked with the C library refers to its functions by the versions that it gives them. */
static void read_versions(struct search *search)
{
    abench__object libc;

    if (!abench__objects_libc(&libc))
        return;
    for (uint32_t at = 0; at < FUNCTIONS; at++)
        abench__object_version(&libc, functions[at], search->versions[at]);
}

static void put_file(const abench__object *object, abench__text *text)
{
    char link[512];
    ssize_t length;

    if ((object->flags & ABENCH__OBJECT_PROGRAM) == 0) {
        abench__text_put(text, object->name);
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
    abench__text text;
    struct stat status;

    abench__text_init(&text, identity->file, sizeof identity->file);
    put_file(object, &text);
    if (stat(is_program ? "/proc/self/exe" : object->name, &status) == 0) {
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

abench_status abench_allocator_identify(abench_identity *out)
{
    abench_identity identity = ABENCH_IDENTITY_INIT;
    struct search search;
    const uint32_t loaded = ABENCH__OBJECT_DYNAMIC | ABENCH__OBJECT_INTERPRETED;

    if (out == NULL)
        return ABENCH_ERROR_ARGUMENT;
    memset(&search, 0, sizeof search);
    read_versions(&search);
    abench__objects_each(look_into, &search);
    /* The loader's lock is released: an allocator may be called now. */
    if ((search.program.flags & loaded) != loaded) {
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
