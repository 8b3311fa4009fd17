#include "system/file.h"

#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

int abench__file_open(int directory, const char *path)
{
    int fd;

    do
        fd = openat(directory, path, O_RDONLY | O_CLOEXEC | O_NOCTTY);
    while (fd < 0 && errno == EINTR);
    return fd < 0 ? -errno : fd;
}

ssize_t abench__file_again(int fd, char *text, size_t capacity)
{
    ssize_t length;

    do
        length = pread(fd, text, capacity, 0);
    while (length < 0 && errno == EINTR);
    return length < 0 ? -errno : length;
}

ssize_t abench__file_read(const char *path, char *text, size_t capacity)
{
    const int fd = abench__file_open(AT_FDCWD, path);
    size_t length = 0;
    ssize_t got = 1;

    if (fd < 0)
        return fd;
    while (length < capacity && got > 0) {
        got = read(fd, text + length, capacity - length);
        if (got > 0)
            length += (size_t)got;
        else if (got < 0 && errno == EINTR)
            got = 1;
    }
    if (got < 0)
        got = -errno;
    close(fd);
    return got < 0 ? got : (ssize_t)length;
}
