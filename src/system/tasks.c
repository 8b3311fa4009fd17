#include "system/tasks.h"

#include <errno.h>
#include <fcntl.h>
#include <stddef.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

/* struct linux_dirent64 of getdents64(2): inode, offset, record length, type, name. */
#define RECORD_LENGTH (8u + 8u)
#define RECORD_NAME   (RECORD_LENGTH + 2u + 1u)

int abench__tasks_open(abench__tasks *tasks, int directory, const char *path)
{
    do
        tasks->fd = openat(directory, path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    while (tasks->fd < 0 && errno == EINTR);
    tasks->at = 0;
    tasks->length = 0;
    return tasks->fd < 0 ? -errno : 0;
}

/* 0: the name is no number of a task. */
static int parse_name(const char *name, size_t capacity, int32_t *number)
{
    int64_t sum = 0;
    size_t at = 0;

    for (; at < capacity && name[at] >= '0' && name[at] <= '9'; at++) {
        sum = sum * 10 + (name[at] - '0');
        if (sum > INT32_MAX)
            return 0;
    }
    if (at == 0 || at == capacity || name[at] != '\0')
        return 0;
    *number = (int32_t)sum;
    return sum != 0;
}

int abench__tasks_next(abench__tasks *tasks, int32_t *number)
{
    for (;;) {
        uint16_t length;
        const char *record = tasks->entries + tasks->at;
        if (tasks->at == tasks->length) {
            const long got =
                syscall(SYS_getdents64, tasks->fd, tasks->entries, (unsigned)sizeof tasks->entries);
            if (got < 0 && errno == EINTR)
                continue;
            if (got <= 0)
                return got < 0 ? -errno : 0;
            tasks->at = 0;
            tasks->length = (uint32_t)got;
            continue;
        }
        if (tasks->length - tasks->at <= RECORD_NAME)
            return -EIO;
        memcpy(&length, record + RECORD_LENGTH, sizeof length);
        if (length <= RECORD_NAME || length > tasks->length - tasks->at)
            return -EIO;
        tasks->at += length;
        if (parse_name(record + RECORD_NAME, length - RECORD_NAME, number))
            return 1;
    }
}

void abench__tasks_close(abench__tasks *tasks)
{
    if (tasks->fd >= 0)
        close(tasks->fd);
    tasks->fd = -1;
}
