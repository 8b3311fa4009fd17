/*
 * mounts.h - where this process sees the control groups: /proc/self/mountinfo
 * (Documentation/filesystems/proc.rst, 3.5). Texts are hostile: see scan.h.
 */
#ifndef ABENCH_SYSTEM_MOUNTS_H
#define ABENCH_SYSTEM_MOUNTS_H

#include <stddef.h>
#include <stdint.h>

#include "system/rooted.h"

/* The search for the mount that shows a group. */
typedef struct abench__mount {
    const char *controller; /* of version 1: "memory"; "": the hierarchy of version 2 */
    const char *group;      /* as /proc/PID/cgroup names it */
    uint32_t found;
    uint32_t holds; /* the group lies in what is mounted */
    char point[ABENCH__PATH_SIZE];
    char root[ABENCH__PATH_SIZE]; /* which group is seen at the point: "/" */
} abench__mount;

/* Begins one. The strings must stay as long as the search. Any thread. */
void abench__mount_init(abench__mount *mount, const char *controller, const char *group);

/* Looks through the whole lines of a text, which may be a piece of the file; returns how many bytes
 * they are: what follows must come again before the next piece. Of several mounts the one that
 * holds the group and shows the most of what lies above it is kept. One thread per object. */
size_t abench__mount_feed(abench__mount *mount, const char *text, size_t length);

/* Reads the mounts of this process below root ("": this machine) through the search. Returns 0 or
 * -errno. One thread per object. */
int abench__mount_read(abench__mount *mount, const char *root);

/* The part of group below what the mount shows, "" or "/a/b"; NULL when it lies outside. */
const char *abench__mount_below(const char *root, const char *group);

#endif
