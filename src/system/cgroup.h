/*
 * cgroup.h - the control groups of a process, of version 1, version 2 or both, and their files.
 *
 * Where a group is seen is asked of the mounts, never assumed. In a container the group may lie
 * outside of what is mounted, or be mounted as if it were the root. Texts are hostile: see scan.h.
 */
#ifndef ABENCH_SYSTEM_CGROUP_H
#define ABENCH_SYSTEM_CGROUP_H

#include <stddef.h>
#include <stdint.h>

#include <allocbench/memory.h>

#include "system/rooted.h"

/* ---- texts ----------------------------------------------------------------------------------- */

/* Finds in the text of /proc/PID/cgroup the group of a version 1 controller ("memory"), or with ""
 * that of version 2. Writes its path and returns 1; 0 when there is none, it does not fit, or the
 * group lies outside of what this process may see ("/../..."). Any thread. */
int abench__cgroup_path(const char *text, size_t length, const char *controller, char *path,
                        uint32_t size);

/* Whether the text names the controller, with whatever group. Any thread. */
int abench__cgroup_names(const char *text, size_t length, const char *controller);

/* The text of memory.max or memory.limit_in_bytes. 0: no limit ("max", or version 1's 2^63 less a
 * page), or no number. Any thread. */
uint64_t abench__parse_cgroup_limit(const char *text, size_t length);

#define ABENCH__PERIOD_MAX_US 1000000000u /* the kernel takes up to a second */

/* A quota of CPU time, in microseconds; quota_us 0: none. */
typedef struct abench__quota {
    uint64_t quota_us;
    uint64_t period_us;
} abench__quota;

/* The text of version 2's cpu.max, "150000 100000" or "max 100000". 0: it is no such text. */
int abench__parse_cpu_max(const char *text, size_t length, abench__quota *quota);

/* Whether a leaves less CPU time than b; a quota of none leaves all. Any thread. */
int abench__quota_tighter(const abench__quota *a, const abench__quota *b);

/* Whether a list with blanks between, as cgroup.controllers, holds the word. Any thread. */
int abench__cgroup_has_controller(const char *text, size_t length, const char *word);

/* How /proc calls a process: "self" for pid 0. Any thread. */
void abench__process_name(int32_t pid, char name[16]);

/* ---- groups ---------------------------------------------------------------------------------- */

/* Where a group of a process is seen. */
typedef struct abench__group {
    uint32_t version; /* of its hierarchy: 1, 2; 0: no such group, or none is mounted */
    uint32_t hidden;  /* the group itself lies outside of what is mounted: only what holds for all
                         that see the mount can be told, which is its limits */
    char point[ABENCH__PATH_SIZE]; /* the mount's, behind the root folder */
    char below[ABENCH__PATH_SIZE]; /* the group below it: "" or "/a/b" */
} abench__group;

/* The group of a process ("self", or a number) for a controller of version 1 or, where no
 * version 1 hierarchy has it, that of version 2; with "" only that of version 2. root: "", or a
 * folder that stands for /. ABENCH_ERROR_NOT_FOUND: no such process; _SYSTEM: its groups, or the
 * mounts, cannot be read. Any thread. */
abench_status abench__group_find(const char *root, const char *process, const char *controller,
                                 abench__group *group);

/* Reads a file of the group, or with levels of the group that is so much nearer to the mount's
 * point; -ENOENT when there are not as many. Any thread. */
ssize_t abench__group_read(const char *root, const abench__group *group, uint32_t levels,
                           const char *name, char *text, size_t capacity);

/* How many groups lie above it up to the mount's point. Any thread. */
uint32_t abench__group_depth(const abench__group *group);

/* ---- all that is known of a process's -------------------------------------------------------- */

/* Fills the whole of *cgroup but time_ns and cost_ns. process, root, status as above. Any
 * thread. */
abench_status abench__cgroup_take(const char *root, const char *process, abench_cgroup *cgroup);

/* The same, of memory only and of the group that is so many levels nearer to the mount's point.
 * ABENCH_ERROR_NOT_FOUND: there are not as many, too. Any thread. */
abench_status abench__cgroup_take_memory(const char *root, const char *process, uint32_t levels,
                                         abench_cgroup *cgroup);

#endif
