/*
 * cgroup.h - the memory limit that the control groups put on this process.
 *
 * Version 2 and version 1 of the kernel's interface, also side by side. Texts are hostile: see
 * proc.h.
 */
#ifndef ABENCH_SYSTEM_CGROUP_H
#define ABENCH_SYSTEM_CGROUP_H

#include <stddef.h>
#include <stdint.h>

/* Finds in the text of /proc/PID/cgroup the group of a version 1 controller ("memory"), or with ""
 * that of version 2. Writes its path and returns 1; 0 when there is none, it does not fit, or the
 * group lies outside of what this process may see ("/../..."). Any thread. */
int abench__cgroup_path(const char *text, size_t length, const char *controller, char *path,
                        uint32_t size);

/* The text of memory.max or memory.limit_in_bytes. 0: no limit ("max", or version 1's 2^63 less a
 * page), or no number. Any thread. */
uint64_t abench__parse_cgroup_limit(const char *text, size_t length);

/* The smallest limit of the group that the text of /proc/PID/cgroup names and of every group that
 * it lies in; 0: none. mount: where the groups are, "/sys/fs/cgroup". Any thread. */
uint64_t abench__cgroup_memory_limit(const char *mount, const char *text, size_t length);

#endif
