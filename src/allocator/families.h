/*
 * families.h - the allocators that are known by their symbols, and how each tells its version.
 *
 * A family is recognised by what the object that provides malloc itself exports; symbols elsewhere
 * in the process (a second allocator that is loaded and unused, jemalloc under a prefix) say
 * nothing. Where a version is asked of the allocator, the call does not allocate from its heap.
 */
#ifndef ABENCH_ALLOCATOR_FAMILIES_H
#define ABENCH_ALLOCATOR_FAMILIES_H

#include <allocbench/base.h>

#include "allocator/symfind.h"

typedef struct abench__family {
    const char *name;
    const char *symbol; /* exported by the provider; NULL: not needed */
    const char *part;   /* of the name of some exported function; NULL: not needed */
    /* Fills version, which is "" before. NULL: the family tells none. */
    void (*version)(const abench__object *provider, char *version, uint32_t size);
} abench__family;

/* The family of the object, or NULL. */
const abench__family *abench__family_of(const abench__object *provider);

/* The object that provides malloc; the program itself when it is statically linked.
 * ABENCH_ERROR_UNSUPPORTED: no object does. Allocates nothing. */
abench_status abench__provider(abench__object *out);

/* "5.3.0-0-g54eaed1d8b56..." from mallctl("version") (jemalloc.c) */
void abench__jemalloc_version(const abench__object *provider, char *version, uint32_t size);
/* "2.36" from gnu_get_libc_version (glibc.c) */
void abench__glibc_version(const abench__object *provider, char *version, uint32_t size);
/* "gperftools 2.10" from tc_version (tcmalloc.c) */
void abench__tcmalloc_version(const abench__object *provider, char *version, uint32_t size);
/* "2.0.9" from mi_version (mimalloc.c) */
void abench__mimalloc_version(const abench__object *provider, char *version, uint32_t size);
/* "2021.8" as it stands in libtbbmalloc, which has no function for it (tbbmalloc.c) */
void abench__tbbmalloc_version(const abench__object *provider, char *version, uint32_t size);

/* mi_version's number as text: 209 is 2.0.9 and 315 is 3.1.5; newer ones have two digits for each
 * of minor and patch, so that 20203 is 2.2.3. "" for a number that is neither. */
void abench__mimalloc_number(int number, char *version, uint32_t size);

#endif
