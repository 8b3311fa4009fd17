/*
 * object.h - the objects (program and libraries) that are loaded in this process, in load order,
 * and the parts of them that may be read.
 *
 * The file that an object was loaded from is hostile: every pointer that it names is checked
 * against its PT_LOAD segments before it is followed. Nothing here allocates.
 */
#ifndef ABENCH_ALLOCATOR_OBJECT_H
#define ABENCH_ALLOCATOR_OBJECT_H

#include <link.h>
#include <stddef.h>
#include <stdint.h>

#define ABENCH__OBJECT_PROGRAM     1u /* the first: what was executed */
#define ABENCH__OBJECT_DYNAMIC     2u /* has a dynamic section */
#define ABENCH__OBJECT_INTERPRETED 4u /* names a dynamic loader */

typedef ElfW(Phdr) abench__segment;
typedef ElfW(Sym) abench__symbol;
typedef ElfW(Verdef) abench__version;
typedef ElfW(Verdaux) abench__version_name;

typedef struct abench__object {
    const char *name; /* as the loader knows it; of the program mostly "" */
    uintptr_t base;   /* what the loader added to the addresses of the file */
    const abench__segment *segments;
    uint32_t segments_count;
    uint32_t flags; /* ABENCH__OBJECT_... */
    /* The dynamic symbols; NULL where the object has none, or none that lie within it. */
    const abench__symbol *symbols;
    const uint16_t *versions;                /* an index of each symbol */
    const abench__version *defined_versions; /* the first of a chain */
    const char *strings;
    size_t strings_size;
    const uint32_t *gnu_hash;
    const uint32_t *hash;
} abench__object;

/* Describes the object that dl_iterate_phdr shows. It stays valid while the object is loaded. */
void abench__object_open(const struct dl_phdr_info *info, uint32_t flags, abench__object *out);

/* 1 when bytes at address lie in one segment of the object that has the access wanted (PF_R, PF_W,
 * PF_X). */
int abench__object_holds(const abench__object *object, uintptr_t address, size_t bytes,
                         uint32_t access);

/* Where needle stands in the data of the object (what is read and not executed, as far as it comes
 * from the file), or NULL; *end is then the end of the segment that it is in. */
const char *abench__object_text(const abench__object *object, const char *needle, const char **end);

/* The GNU build id as lower-case hex, cut to size; "" when there is none. */
void abench__object_build_id(const abench__object *object, char *hex, uint32_t size);

/* Shows every object but the kernel's vdso to visit, in load order, until it returns non-zero;
 * returns what it returned. The loader's lock is held meanwhile: visit must not call into an
 * allocator. */
int abench__objects_each(int (*visit)(const abench__object *object, void *user), void *user);

#endif
