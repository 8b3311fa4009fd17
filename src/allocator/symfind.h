/*
 * symfind.h - dynamic symbols of a loaded object, found as the loader finds them: by its hash
 * table, defined ones only, of the version that is asked for. Allocates nothing (a dlsym that
 * misses does), and a damaged table gives a wrong answer at worst.
 */
#ifndef ABENCH_ALLOCATOR_SYMFIND_H
#define ABENCH_ALLOCATOR_SYMFIND_H

#include "allocator/object.h"

typedef void (*abench__function)(void);

/* The symbol, when the object defines it for others: a function (or of no type), global or weak.
 * An undefined symbol is none, even with a value: that is how a non-PIE program that takes malloc's
 * address looks. NULL when there is none. */
const abench__symbol *abench__object_symbol(const abench__object *object, const char *name);

/* The symbol that a reference of name with this version binds to in the object. A program refers to
 * the C library's functions by the versions that it has of them; such a reference binds to that
 * version, default or not, and to what has no version at all. version "": as above, the default. */
const abench__symbol *abench__object_bound(const abench__object *object, const char *name,
                                           const char *version);

#define ABENCH__VERSION_BYTES 64u

/* The name of the version that the object's default definition of name has; "" when there is none,
 * or it is longer. */
void abench__object_version(const abench__object *object, const char *name,
                            char version[ABENCH__VERSION_BYTES]);

/* The default symbol as code that can be called; NULL too when it is chosen at run time (IFUNC), or
 * does not lie in code. */
abench__function abench__object_function(const abench__object *object, const char *name);

/* 1 when the name of some symbol that the object defines contains part. Reads the whole table. */
int abench__object_mentions(const abench__object *object, const char *part);

/* The first object in load order that defines name (by default): the one that serves the program
 * where references carry no version. 1 when there is one. */
int abench__objects_find(const char *name, abench__object *out);

/* The C library's own object, by a function that only it has. 1 when it is glibc, and found. */
int abench__objects_libc(abench__object *out);

#endif
