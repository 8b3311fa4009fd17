/*
 * tasks.h - the numbers in a directory of /proc: processes, or the threads of one. No opendir,
 * which allocates.
 *
 * The kernel goes by rising number and finds every task that lives from the beginning to the end;
 * one that comes or goes meanwhile may be among them or not.
 */
#ifndef ABENCH_SYSTEM_TASKS_H
#define ABENCH_SYSTEM_TASKS_H

#include <stdint.h>

typedef struct abench__tasks {
    int32_t fd;
    uint32_t at;
    uint32_t length;
    uint32_t reserved;
    _Alignas(8) char entries[2048];
} abench__tasks;

/* Opens path relative to directory (AT_FDCWD: the current one). 0, or minus an errno. One thread
 * per object. */
int abench__tasks_open(abench__tasks *tasks, int directory, const char *path);

/* The next number. 1; 0: there are no more; or minus an errno (-ENOENT: the process is gone). One
 * thread per object. */
int abench__tasks_next(abench__tasks *tasks, int32_t *number);

/* One thread per object. */
void abench__tasks_close(abench__tasks *tasks);

#endif
