#include "tool/leftover.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define ENDING ".tmp"

/* The number at *at, which goes behind it. -1: none, or too large. */
static long take_number(const char **at)
{
    char *end;
    long number;

    if (!isdigit((unsigned char)**at))
        return -1;
    errno = 0;
    number = strtol(*at, &end, 10);
    *at = end;
    return errno == 0 ? number : -1;
}

bool leftover_name(const char *name, pid_t *pid)
{
    const size_t length = strlen(name);
    const char *at = length > strlen(ENDING) ? name + length - strlen(ENDING) : name;
    long number;

    if (strcmp(at, ENDING) != 0)
        return false;
    while (at > name && at[-1] != '.')
        at--;
    /* Something stands before the dot: what the file was to become. */
    if (at < name + 2)
        return false;
    number = take_number(&at);
    if (number <= 0 || number > INT_MAX || *at++ != '-' || take_number(&at) < 0)
        return false;
    *pid = (pid_t)number;
    return strcmp(at, ENDING) == 0;
}

static void clean(int at, const char *folder)
{
    const int fd = openat(at, folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
    DIR *files = fd >= 0 ? fdopendir(fd) : NULL;
    struct dirent *entry;
    pid_t pid;

    if (files == NULL) {
        if (fd >= 0)
            close(fd);
        return;
    }
    while ((entry = readdir(files)) != NULL)
        if (leftover_name(entry->d_name, &pid) && kill(pid, 0) != 0 && errno == ESRCH)
            unlinkat(dirfd(files), entry->d_name, 0);
    closedir(files);
}

void leftover_remove(const char *directory)
{
    static const char *const folders[] = {".", "rounds", "cells", "hgrm"};
    const int at = open(directory, O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NONBLOCK);

    if (at < 0)
        return;
    for (size_t i = 0; i < sizeof folders / sizeof *folders; i++)
        clean(at, folders[i]);
    close(at);
}
