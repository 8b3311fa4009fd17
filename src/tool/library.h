/*
 * library.h - where shared libraries are, and a path for them that LD_PRELOAD can carry.
 */
#ifndef ABENCH_TOOL_LIBRARY_H
#define ABENCH_TOOL_LIBRARY_H

#include <stddef.h>

/* The real path of the first of names (separated by spaces) that is found: in the folders of
 * ALLOCBENCH_ALLOCATOR_PATH (separated by colons), then in the system's. NULL; or free() it. */
char *library_find(const char *names);

/* path (absolute) itself, or a link to it when it has a space or colon, which separate the entries
 * of LD_PRELOAD. NULL when no link can be made; free() it. */
char *library_preload_path(const char *path);

/* Removes those links. */
void library_remove_links(void);

/* The length of a value in "VALUE,KEY=...": to the comma that a KEY= follows, or to the end. */
size_t library_value_length(const char *text);

#endif
