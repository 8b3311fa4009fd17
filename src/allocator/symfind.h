/*
 * symfind.h - dynamic symbols of a loaded object, found as the loader finds them: by its hash
 * table, defined ones only, default versions only. Allocates nothing (a dlsym that misses does),
 * and a damaged table gives a wrong answer at worst.
 */
#ifndef ABENCH_ALLOCATOR_SYMFIND_H
#define ABENCH_ALLOCATOR_SYMFIND_H

#include "allocator/object.h"

typedef void (*abench__function)(void);

/* The symbol, when the object defines it for others: a function (or of no type), global or weak.
 * An undefined symbol is none, even with a value: that is how a non-PIE program that takes malloc's
 * address looks. NULL when there is none. */
const abench__symbol *abench__object_symbol(const abench__object *object, const char *name);

/* The same as code that can be called; NULL too when it is chosen at run time (IFUNC), or does not
 * lie in code. */
abench__function abench__object_function(const abench__object *object, const char *name);

/* 1 when the name of some symbol that the object defines contains part. Reads the whole table. */
int abench__object_mentions(const abench__object *object, const char *part);

/* The first object in load order that defines name: the one that serves the program. 1 when there
 * is one. */
int abench__objects_find(const char *name, abench__object *out);

#endif
