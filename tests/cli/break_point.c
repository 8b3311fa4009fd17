/*
 * break_point.c - ends the command at one of the calls by which it changes files; the tests of what
 * breaks preload it. Only a program called allocbench is concerned, and only in the process that it
 * began as.
 *
 *   BREAK_AT=N      the N-th such call, from 1; 0 or none: never
 *   BREAK_HOW=kill  SIGKILL before it (a write: after half of it)
 *   BREAK_HOW=full  this call and all after it that need room find none (a write: after half of it)
 *   BREAK_COUNT=F   the number of calls is written to F at the end
 */
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static pid_t concerned;
static unsigned long calls;
static unsigned long at;
static bool kills;

static __attribute__((constructor)) void begin(void)
{
    const char *text = getenv("BREAK_AT");
    const char *how = getenv("BREAK_HOW");

    if (strcmp(program_invocation_short_name, "allocbench") != 0)
        return;
    concerned = getpid();
    at = text != NULL ? strtoul(text, NULL, 10) : 0;
    kills = how == NULL || strcmp(how, "kill") == 0;
}

static __attribute__((destructor)) void end(void)
{
    const char *path = getenv("BREAK_COUNT");
    FILE *out = path != NULL && concerned == getpid() ? fopen(path, "we") : NULL;

    if (out != NULL) {
        fprintf(out, "%lu\n", calls);
        fclose(out);
    }
}

/* Is this call the one, or behind it on a full disk? */
static bool breaks(void)
{
    if (concerned != getpid())
        return false;
    calls++;
    return at != 0 && (kills ? calls == at : calls >= at);
}

/* true: there is no room. needs_room: the call does. */
static bool broken(bool needs_room)
{
    if (!breaks())
        return false;
    if (kills)
        raise(SIGKILL);
    errno = ENOSPC;
    return needs_room;
}

static void *find(const char *name)
{
    void *found = dlsym(RTLD_NEXT, name);

    if (found == NULL)
        abort();
    return found;
}

#define NEXT(result, name, parameters)                                                             \
    static result(*next) parameters;                                                               \
    if (next == NULL)                                                                              \
    *(void **)&next = find(name)

static bool is_file(int fd)
{
    struct stat info;

    return fstat(fd, &info) == 0 && S_ISREG(info.st_mode);
}

ssize_t write(int fd, const void *data, size_t size)
{
    NEXT(ssize_t, "write", (int, const void *, size_t));
    if (!is_file(fd) || !breaks())
        return next(fd, data, size);
    if (!kills && calls > at) {
        errno = ENOSPC;
        return -1;
    }
    const ssize_t half = size / 2 > 0 ? next(fd, data, size / 2) : 0;
    if (kills)
        raise(SIGKILL);
    if (half > 0)
        return half;
    errno = ENOSPC;
    return -1;
}

ssize_t pwrite(int fd, const void *data, size_t size, off_t offset)
{
    NEXT(ssize_t, "pwrite", (int, const void *, size_t, off_t));
    return broken(true) ? -1 : next(fd, data, size, offset);
}

int ftruncate(int fd, off_t size)
{
    NEXT(int, "ftruncate", (int, off_t));
    return broken(false) ? -1 : next(fd, size);
}

int fsync(int fd)
{
    NEXT(int, "fsync", (int));
    return broken(false) ? -1 : next(fd);
}

int rename(const char *from, const char *to)
{
    NEXT(int, "rename", (const char *, const char *));
    return broken(false) ? -1 : next(from, to);
}

int unlink(const char *path)
{
    NEXT(int, "unlink", (const char *));
    return broken(false) ? -1 : next(path);
}

int unlinkat(int folder, const char *path, int flags)
{
    NEXT(int, "unlinkat", (int, const char *, int));
    return broken(false) ? -1 : next(folder, path, flags);
}

int mkdir(const char *path, mode_t mode)
{
    NEXT(int, "mkdir", (const char *, mode_t));
    return broken(true) ? -1 : next(path, mode);
}

int open(const char *path, int flags, ...)
{
    NEXT(int, "open", (const char *, int, ...));
    mode_t mode = 0;

    if (flags & O_CREAT) {
        va_list list;
        va_start(list, flags);
        mode = va_arg(list, mode_t);
        va_end(list);
        /* A file that is there needs no room. */
        if (broken(access(path, F_OK) != 0))
            return -1;
    }
    return next(path, flags, mode);
}
