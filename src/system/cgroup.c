#include "system/cgroup.h"

#include <string.h>

#include "base/text.h"
#include "system/file.h"

#define PATH_SIZE 1024u

/* Whether the list "cpu,memory" holds name; an empty list holds "". */
static int list_holds(const char *list, const char *end, const char *name)
{
    const size_t length = strlen(name);

    for (;;) {
        const char *comma = memchr(list, ',', (size_t)(end - list));
        const char *item_end = comma != NULL ? comma : end;
        if ((size_t)(item_end - list) == length && memcmp(list, name, length) == 0)
            return 1;
        if (comma == NULL)
            return 0;
        list = comma + 1;
    }
}

/* Copies the path that ends at end if it is one that may be appended to a mount point. */
static int take_path(const char *at, const char *end, char *path, uint32_t size)
{
    const size_t length = (size_t)(end - at);

    if (length == 0 || length >= size || *at != '/' || memchr(at, '\0', length) != NULL)
        return 0;
    memcpy(path, at, length);
    path[length] = '\0';
    for (const char *dots = path; (dots = strstr(dots, "/..")) != NULL; dots++)
        if (dots[3] == '/' || dots[3] == '\0')
            return 0;
    return 1;
}

int abench__cgroup_path(const char *text, size_t length, const char *controller, char *path,
                        uint32_t size)
{
    const char *line = text, *const end = text + length;

    while (line < end) { /* "NUMBER:CONTROLLER,CONTROLLER:/PATH\n" */
        const char *newline = memchr(line, '\n', (size_t)(end - line));
        const char *list, *list_end;
        if (newline == NULL)
            return 0; /* cut: the path may be a part of one */
        list = memchr(line, ':', (size_t)(newline - line));
        list_end = list != NULL ? memchr(list + 1, ':', (size_t)(newline - list - 1)) : NULL;
        if (list_end != NULL && list_holds(list + 1, list_end, controller))
            return take_path(list_end + 1, newline, path, size);
        line = newline + 1;
    }
    return 0;
}

uint64_t abench__parse_cgroup_limit(const char *text, size_t length)
{
    const uint64_t none = (uint64_t)1 << 62; /* no machine has so much */
    uint64_t limit = 0;
    size_t at = 0;

    for (; at < length && text[at] >= '0' && text[at] <= '9'; at++) {
        limit = limit * 10 + (uint64_t)(text[at] - '0');
        if (limit >= none)
            return 0;
    }
    return at < length && text[at] == '\n' ? limit : 0;
}

static uint64_t read_limit(const char *mount, const char *group, const char *name)
{
    char path[PATH_SIZE + 128];
    char text[64];
    abench__text whole;
    ssize_t length;

    abench__text_init(&whole, path, sizeof path);
    abench__text_put(&whole, mount);
    abench__text_put(&whole, group);
    abench__text_put_char(&whole, '/');
    abench__text_put(&whole, name);
    if (whole.truncated)
        return 0;
    length = abench__file_read(path, text, sizeof text);
    return length > 0 ? abench__parse_cgroup_limit(text, (size_t)length) : 0;
}

/* From the group up to the root of the mount; a group that a container does not see has no file,
 * but the root, which is then the container's own group, may have one. */
static uint64_t smallest_limit(const char *mount, char *group, const char *name)
{
    uint64_t smallest = 0;

    for (;;) {
        char *slash = strrchr(group, '/');
        const uint64_t limit = read_limit(mount, group, name);
        if (limit != 0 && (smallest == 0 || limit < smallest))
            smallest = limit;
        if (slash == NULL)
            return smallest;
        *slash = '\0';
    }
}

uint64_t abench__cgroup_memory_limit(const char *mount, const char *text, size_t length)
{
    static const struct {
        const char *controller;
        const char *folder;
        const char *name;
    } places[] = {
        {"memory", "/memory", "memory.limit_in_bytes"},
        {"", "", "memory.max"},
        {"", "/unified", "memory.max"},
    };
    uint64_t smallest = 0;

    for (size_t i = 0; i < sizeof places / sizeof places[0]; i++) {
        char folder[PATH_SIZE], group[PATH_SIZE];
        abench__text whole;
        uint64_t limit;
        if (!abench__cgroup_path(text, length, places[i].controller, group, sizeof group))
            group[0] = '\0'; /* the root is what is left to ask */
        abench__text_init(&whole, folder, sizeof folder);
        abench__text_put(&whole, mount);
        abench__text_put(&whole, places[i].folder);
        limit = smallest_limit(folder, group, places[i].name);
        if (limit != 0 && (smallest == 0 || limit < smallest))
            smallest = limit;
    }
    return smallest;
}
