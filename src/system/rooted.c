#include "system/rooted.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/text.h"
#include "system/file.h"
#include "system/host.h"
#include "system/scan.h"

/* 0 when it does not fit. */
static int make_path(const char *root, const char *path, char *whole, uint32_t size)
{
    abench__text text;

    abench__text_init(&text, whole, size);
    abench__text_put(&text, root);
    abench__text_put(&text, path);
    return !text.truncated;
}

ssize_t abench__rooted_read(const char *root, const char *path, char *text, size_t capacity)
{
    char whole[ABENCH__PATH_SIZE];

    if (!make_path(root, path, whole, sizeof whole))
        return -ENAMETOOLONG;
    return abench__file_read(whole, text, capacity);
}

typedef void (*text_parser)(const char *text, size_t length, char *field, uint32_t size);

static int read_field(const char *root, const char *path, text_parser parse, char *field,
                      uint32_t size)
{
    char text[1024];
    const ssize_t length = abench__rooted_read(root, path, text, sizeof text);

    field[0] = '\0';
    if (length < 0)
        return (int)length;
    parse(text, (size_t)length, field, size);
    return field[0] != '\0' ? 0 : -ENODATA;
}

int abench__rooted_line(const char *root, const char *path, char *line, uint32_t size)
{
    return read_field(root, path, abench__parse_first_line, line, size);
}

int abench__rooted_choice(const char *root, const char *path, char *word, uint32_t size)
{
    return read_field(root, path, abench__parse_choice, word, size);
}

int abench__rooted_number(const char *root, const char *path, uint64_t *value)
{
    char text[64];
    const ssize_t length = abench__rooted_read(root, path, text, sizeof text);

    if (length < 0)
        return (int)length;
    return abench__scan_only_number(text, (size_t)length, value) ? 0 : -EINVAL;
}

int abench__rooted_names(const char *root, const char *path,
                         void (*visit)(const char *name, void *user), void *user)
{
    _Alignas(struct dirent64) char buffer[4096];
    char whole[ABENCH__PATH_SIZE];
    ssize_t got;
    int fd;

    if (!make_path(root, path, whole, sizeof whole))
        return -ENAMETOOLONG;
    fd = abench__file_open(AT_FDCWD, whole);
    if (fd < 0)
        return fd;
    /* The system call itself: opendir allocates. */
    while ((got = syscall(SYS_getdents64, fd, buffer, sizeof buffer)) > 0) {
        for (ssize_t at = 0; at < got;) {
            const struct dirent64 *entry = (const void *)(buffer + at);
            at += entry->d_reclen;
            if (strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0)
                visit(entry->d_name, user);
        }
    }
    if (got < 0)
        got = -errno;
    close(fd);
    return (int)got;
}
