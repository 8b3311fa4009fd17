#include "tool/util.h"

#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define EXIT_ENVIRONMENT 3 /* DESIGN 6: the environment refused */

static void *or_exit(void *block)
{
    static const char line[] = "allocbench: out of memory\n";

    if (block == NULL) {
        const ssize_t written = write(2, line, sizeof line - 1);
        (void)written;
        _exit(EXIT_ENVIRONMENT);
    }
    return block;
}

void *xmalloc(size_t bytes)
{
    return or_exit(malloc(bytes == 0 ? 1 : bytes));
}

void *xcalloc(size_t count, size_t bytes)
{
    if (count == 0 || bytes == 0)
        count = bytes = 1;
    return or_exit(calloc(count, bytes));
}

void *xrealloc(void *block, size_t bytes)
{
    return or_exit(realloc(block, bytes == 0 ? 1 : bytes));
}

char *xstrdup(const char *string)
{
    return or_exit(strdup(string));
}

char *xstrndup(const char *string, size_t length)
{
    return or_exit(strndup(string, length));
}

char *xvasprintf(const char *format, va_list list)
{
    char *text = NULL;

    if (vasprintf(&text, format, list) < 0)
        text = NULL;
    return or_exit(text);
}

char *xasprintf(const char *format, ...)
{
    va_list list;
    char *text;

    va_start(list, format);
    text = xvasprintf(format, list);
    va_end(list);
    return text;
}

void *util_grow(void *items, size_t count, size_t *capacity, size_t bytes)
{
    if (count < *capacity)
        return items;
    if (*capacity > SIZE_MAX / 2 / bytes)
        or_exit(NULL);
    *capacity = *capacity == 0 ? 8 : *capacity * 2;
    return xrealloc(items, *capacity * bytes);
}

/* How many bytes the character at text has (RFC 3629); 0: they are none. */
static size_t length_of(const unsigned char *text)
{
    const size_t length = text[0] < 0x80    ? 1
                          : text[0] < 0xc2  ? 0
                          : text[0] < 0xe0  ? 2
                          : text[0] < 0xf0  ? 3
                          : text[0] <= 0xf4 ? 4
                                            : 0;

    for (size_t at = 1; at < length; at++)
        if ((text[at] & 0xc0) != 0x80) /* the terminator, too */
            return 0;
    if ((text[0] == 0xe0 && text[1] < 0xa0) || (text[0] == 0xed && text[1] > 0x9f) ||
        (text[0] == 0xf0 && text[1] < 0x90) || (text[0] == 0xf4 && text[1] > 0x8f))
        return 0;
    return length;
}

char *util_one_line(char *text)
{
    for (unsigned char *at = (unsigned char *)text; *at != '\0';) {
        const size_t length = length_of(at);
        if (length == 1 && (at[0] < 0x20 || at[0] == 0x7f))
            at[0] = '?';
        else if (length == 2 && at[0] == 0xc2 && at[1] < 0xa0) /* C1, the second half of them */
            at[0] = at[1] = '?';
        else if (length == 0 && at[0] < 0xa0) /* the same to a terminal that reads single bytes */
            at[0] = '?';
        at += length == 0 ? 1 : length;
    }
    return text;
}

/* Characters: UTF-8's further bytes are none. */
static size_t width_of(const char *text, size_t length)
{
    size_t width = 0;

    for (size_t at = 0; at < length; at++)
        width += ((unsigned char)text[at] & 0xc0) != 0x80;
    return width;
}

char *util_wrap(const char *text, size_t column, size_t indent)
{
    /* A blank becomes a newline and the indent. */
    char *wrapped = xmalloc(strlen(text) * (indent + 2) + 1), *to = wrapped;

    while (*text != '\0') {
        const size_t blanks = strspn(text, " ");
        const size_t length = strcspn(text + blanks, " ");
        const size_t width = width_of(text + blanks, length);
        if (blanks > 0 && length > 0 && column + blanks + width > UTIL_LINE_WIDTH) {
            *to++ = '\n';
            memset(to, ' ', indent);
            to += indent;
            column = indent;
        } else {
            memcpy(to, text, blanks);
            to += blanks;
            column += blanks;
        }
        memcpy(to, text + blanks, length);
        to += length;
        column += width;
        text += blanks + length;
    }
    *to = '\0';
    return wrapped;
}

void util_say(const char *line)
{
    static const char head[] = "allocbench: ";
    char *wrapped;

    if (isatty(STDERR_FILENO) != 1) {
        fprintf(stderr, "%s%s\n", head, line);
        return;
    }
    wrapped = util_wrap(line, strlen(head), 2);
    fprintf(stderr, "%s%s\n", head, wrapped);
    free(wrapped);
}

bool util_write_all(int fd, const void *data, size_t size)
{
    const char *at = data;

    while (size > 0) {
        const ssize_t written = write(fd, at, size);
        if (written < 0) {
            if (errno == EINTR)
                continue;
            return false;
        }
        at += written;
        size -= (size_t)written;
    }
    return true;
}

ssize_t util_read_all(int fd, void *data, size_t size)
{
    char *at = data;
    size_t got = 0;

    while (got < size) {
        const ssize_t part = read(fd, at + got, size - got);
        if (part < 0) {
            if (errno == EINTR)
                continue;
            return -1;
        }
        if (part == 0)
            break;
        got += (size_t)part;
    }
    return (ssize_t)got;
}

char *util_read_file(const char *path, size_t maximum, size_t *size)
{
    /* O_NONBLOCK: a FIFO where a file is expected must not hang the tool. */
    const int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
    size_t capacity = 4096, length = 0;
    int error = 0;
    char *data;

    if (fd < 0)
        return NULL;
    data = xmalloc(capacity + 1);
    for (;;) {
        const ssize_t part = util_read_all(fd, data + length, capacity - length);
        if (part < 0) {
            error = errno;
            break;
        }
        length += (size_t)part;
        if (length > maximum) {
            error = EFBIG;
            break;
        }
        if (length < capacity)
            break;
        capacity *= 2;
        data = xrealloc(data, capacity + 1);
    }
    close(fd);
    if (error != 0) {
        free(data);
        errno = error;
        return NULL;
    }
    data[length] = '\0';
    if (size != NULL)
        *size = length;
    return data;
}

/* A file of its own beside path. Created with the umask's mode, which mkstemp would not do. */
static int create_beside(const char *path, char **name)
{
    static unsigned serial;

    for (int attempt = 0; attempt < 100; attempt++) {
        char *candidate = xasprintf("%s.%ld-%u.tmp", path, (long)getpid(), serial++);
        const int fd = open(candidate, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
        if (fd >= 0) {
            *name = candidate;
            return fd;
        }
        free(candidate);
        if (errno != EEXIST)
            return -1;
    }
    return -1;
}

bool util_write_file(const char *path, const char *data, size_t size, char *message,
                     size_t message_size)
{
    char *name = NULL;
    const char *step = "create a file beside";
    const int fd = create_beside(path, &name);
    bool whole = false;
    int error;

    if (fd < 0) {
        error = errno;
        goto fail;
    }
    step = "write";
    whole = util_write_all(fd, data, size) && fsync(fd) == 0;
    error = errno;
    /* Network file systems report a full disk only now. */
    if (close(fd) != 0 && whole) {
        whole = false;
        error = errno;
    }
    if (whole && rename(name, path) != 0) {
        whole = false;
        step = "replace";
        error = errno;
    }
    if (!whole) {
        unlink(name);
        goto fail;
    }
    free(name);
    return true;

fail:
    free(name);
    snprintf(message, message_size, "cannot %s %s: %s", step, path, strerror(error));
    return false;
}

bool util_publish(const char *part, const char *path, char *message, size_t message_size)
{
    const int fd = open(part, O_RDONLY | O_CLOEXEC);
    bool synced;

    if (fd < 0) {
        snprintf(message, message_size, "cannot open %s: %s", part, strerror(errno));
        return false;
    }
    synced = fsync(fd) == 0;
    if (!synced)
        snprintf(message, message_size, "cannot write %s: %s", part, strerror(errno));
    close(fd);
    if (!synced)
        return false;
    if (rename(part, path) != 0) {
        snprintf(message, message_size, "cannot rename %s to %s: %s", part, path, strerror(errno));
        return false;
    }
    return true;
}
