/*
 * symbols.h - what a program's file tells of ways to allocate that do not lead through the
 * process's malloc: a Rust program's own global allocator, a jemalloc under a prefix, the functions
 * of an allocator by their own names, a malloc that is not exported. No preloaded library serves
 * those, and identity, which is about malloc, cannot see them.
 */
#ifndef ABENCH_TOOL_SYMBOLS_H
#define ABENCH_TOOL_SYMBOLS_H

#include <stdint.h>

/* Reads the symbol tables of the ELF file at path, which must have this device and inode. One line
 * that begins with the path and names the ways; free() it. NULL: there are none that it tells of. A
 * program that is stripped or optimised at link time tells little, and of the libraries that it
 * loads nothing is read. */
char *symbols_note(const char *path, uint64_t device, uint64_t inode);

#endif
