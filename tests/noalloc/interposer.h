/*
 * interposer.h - the malloc of this program: it counts who calls it while it is armed.
 *
 * The program provides the malloc family, so the loader binds every call to it, those of the
 * library and those inside the C library too; each goes on to the C library's own by another name.
 */
#ifndef TESTS_NOALLOC_INTERPOSER_H
#define TESTS_NOALLOC_INTERPOSER_H

#include <stddef.h>
#include <stdint.h>

/* The C library's malloc, free ... by names that nobody interposes. */
void *uncounted_malloc(size_t size);
void *uncounted_calloc(size_t count, size_t size);
void *uncounted_aligned_alloc(size_t alignment, size_t size);
void *uncounted_realloc(void *block, size_t size);
void uncounted_free(void *block);

/* Counts from now on; from 0 when it was not armed. Any thread. */
void interposer_arm(void);

/* Counts no more. Any thread. */
void interposer_disarm(void);

/* Calls that were counted. */
uint64_t interposer_calls(void);

/* Prints the first of them, with the object that called. */
void interposer_print(void);

#endif
