/*
 * options.h - reading and writing structs that begin with struct_size (DESIGN 5, rule 3).
 */
#ifndef ABENCH_BASE_OPTIONS_H
#define ABENCH_BASE_OPTIONS_H

#include <allocbench/base.h>

/* Copies the caller's options over *mine (already at its defaults): the fields both know. Refuses a
 * size below first_release, and a tail that is not zero and that this library does not know.
 * accepts theirs NULL: nothing is copied. */
abench_status abench__options_read(void *mine, uint32_t my_size, const void *theirs,
                                   uint32_t first_release);

/* Copies *mine to the caller's struct, up to the size that it says, and leaves its struct_size. */
abench_status abench__options_write(void *theirs, const void *mine, uint32_t my_size,
                                    uint32_t first_release);

#endif
