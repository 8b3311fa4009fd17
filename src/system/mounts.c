#include "system/mounts.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "base/text.h"
#include "system/file.h"
#include "system/scan.h"

void abench__mount_init(abench__mount *mount, const char *controller, const char *group)
{
    memset(mount, 0, sizeof *mount);
    mount->controller = controller;
    mount->group = group;
}

static int octal_digit(char c)
{
    return c >= '0' && c <= '7';
}

/* Copies a path, in which the kernel writes space, tab, newline and backslash as \ooo. 0: it does
 * not fit, or holds a NUL. */
static int take_escaped(const char *at, const char *end, char *path, uint32_t size)
{
    uint32_t length = 0;

    while (at != end) {
        char c = *at++;
        if (c == '\\' && end - at >= 3 && at[0] <= '3' && octal_digit(at[0]) &&
            octal_digit(at[1]) && octal_digit(at[2])) {
            c = (char)(unsigned char)((at[0] - '0') * 64 + (at[1] - '0') * 8 + (at[2] - '0'));
            at += 3;
        }
        if (c == '\0' || length + 1 >= size)
            return 0;
        path[length++] = c;
    }
    path[length] = '\0';
    return length > 0 && path[0] == '/';
}

/* Whether the list "rw,cpu,cpuacct" has the item. */
static int has_option(const char *at, const char *end, const char *name)
{
    for (;;) {
        const char *comma = memchr(at, ',', (size_t)(end - at));
        if (abench__scan_is(at, comma != NULL ? comma : end, name))
            return 1;
        if (comma == NULL)
            return 0;
        at = comma + 1;
    }
}

const char *abench__mount_below(const char *root, const char *group)
{
    const size_t length = strlen(root);

    if (strcmp(root, "/") == 0)
        return strcmp(group, "/") == 0 ? "" : group;
    if (strncmp(root, group, length) != 0 || (group[length] != '/' && group[length] != '\0'))
        return NULL;
    return group + length;
}

static void consider(abench__mount *mount, const char *root, const char *point)
{
    const uint32_t holds = abench__mount_below(root, mount->group) != NULL;

    if (mount->found &&
        (mount->holds > holds || (mount->holds == holds && strlen(mount->root) <= strlen(root))))
        return;
    mount->found = 1;
    mount->holds = holds;
    abench__copy(mount->point, sizeof mount->point, point);
    abench__copy(mount->root, sizeof mount->root, root);
}

/* "ID PARENT MAJOR:MINOR ROOT POINT OPTIONS [OPTIONAL ...] - TYPE SOURCE SUPER_OPTIONS" */
static void take_line(abench__mount *mount, const char *at, const char *end)
{
    char root[ABENCH__PATH_SIZE], point[ABENCH__PATH_SIZE];
    const char *tokens[2][5];
    const char *token, *token_end;

    for (uint32_t i = 0; i < 5; i++)
        if (!abench__scan_token(&at, end, &tokens[0][i], &tokens[1][i]))
            return;
    do {
        if (!abench__scan_token(&at, end, &token, &token_end))
            return;
    } while (!abench__scan_is(token, token_end, "-"));
    if (!abench__scan_token(&at, end, &token, &token_end) ||
        !abench__scan_is(token, token_end, mount->controller[0] == '\0' ? "cgroup2" : "cgroup"))
        return;
    if (mount->controller[0] != '\0') { /* a hierarchy has the name of its controllers as options */
        if (!abench__scan_token(&at, end, &token, &token_end) ||
            !abench__scan_token(&at, end, &token, &token_end) ||
            !has_option(token, token_end, mount->controller))
            return;
    }
    if (take_escaped(tokens[0][3], tokens[1][3], root, sizeof root) &&
        take_escaped(tokens[0][4], tokens[1][4], point, sizeof point))
        consider(mount, root, point);
}

size_t abench__mount_feed(abench__mount *mount, const char *text, size_t length)
{
    const char *at = text, *line, *line_end;

    while (abench__scan_line(&at, text + length, &line, &line_end))
        take_line(mount, line, line_end);
    return (size_t)(at - text);
}

/* The file grows with the mounts: it is read in pieces. A line that is longer than the buffer (an
 * overlay of very many layers) is no mount of ours and is passed over. */
int abench__mount_read(abench__mount *mount, const char *root)
{
    char text[8192], path[ABENCH__PATH_SIZE];
    abench__text whole;
    size_t kept = 0;
    ssize_t got;
    int fd, skipping = 0;

    abench__text_init(&whole, path, sizeof path);
    abench__text_put(&whole, root);
    abench__text_put(&whole, "/proc/self/mountinfo");
    if (whole.truncated)
        return -ENAMETOOLONG;
    fd = abench__file_open(AT_FDCWD, path);
    if (fd < 0)
        return fd;
    while ((got = read(fd, text + kept, sizeof text - kept)) > 0 || (got < 0 && errno == EINTR)) {
        const char *start = text;
        size_t used;
        if (got < 0)
            continue;
        kept += (size_t)got;
        if (skipping) { /* to the end of the long line */
            const char *newline = memchr(text, '\n', kept);
            if (newline == NULL) {
                kept = 0;
                continue;
            }
            skipping = 0;
            start = newline + 1;
        }
        used = (size_t)(start - text);
        used += abench__mount_feed(mount, start, kept - used);
        kept -= used;
        memmove(text, text + used, kept);
        if (kept == sizeof text) {
            skipping = 1;
            kept = 0;
        }
    }
    if (got < 0)
        got = -errno;
    close(fd);
    return (int)got;
}
