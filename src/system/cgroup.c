#include "system/cgroup.h"

#include <errno.h>
#include <string.h>

#include "base/text.h"
#include "system/mounts.h"
#include "system/scan.h"

/* ---- texts ----------------------------------------------------------------------------------- */

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

/* The path behind the controller's line "NUMBER:CONTROLLER,CONTROLLER:/PATH\n". A line that is cut
 * names none: the path may be a part of one. */
static int find_path(const char *text, size_t length, const char *controller, const char **path,
                     const char **path_end)
{
    const char *at = text, *line, *line_end;

    while (abench__scan_line(&at, text + length, &line, &line_end)) {
        const char *list = memchr(line, ':', (size_t)(line_end - line));
        const char *list_end =
            list != NULL ? memchr(list + 1, ':', (size_t)(line_end - list - 1)) : NULL;
        if (list_end != NULL && list_holds(list + 1, list_end, controller)) {
            *path = list_end + 1;
            *path_end = line_end;
            return 1;
        }
    }
    return 0;
}

int abench__cgroup_path(const char *text, size_t length, const char *controller, char *path,
                        uint32_t size)
{
    const char *at, *end;

    return find_path(text, length, controller, &at, &end) && take_path(at, end, path, size);
}

int abench__cgroup_names(const char *text, size_t length, const char *controller)
{
    const char *at, *end;

    return find_path(text, length, controller, &at, &end);
}

uint64_t abench__parse_cgroup_limit(const char *text, size_t length)
{
    const uint64_t none = (uint64_t)1 << 62; /* no machine has so much */
    uint64_t limit;

    return abench__scan_only_number(text, length, &limit) && limit < none ? limit : 0;
}

int abench__parse_cpu_max(const char *text, size_t length, abench__quota *quota)
{
    const char *at = text, *line, *end, *token, *token_end;
    abench__quota read = {0, 0};

    if (!abench__scan_line(&at, text + length, &line, &end) ||
        !abench__scan_token(&line, end, &token, &token_end))
        return 0;
    if (!abench__scan_is(token, token_end, "max") &&
        (!abench__scan_number(&token, token_end, &read.quota_us) || token != token_end ||
         read.quota_us == 0))
        return 0;
    if (!abench__scan_token(&line, end, &token, &token_end) ||
        !abench__scan_number(&token, token_end, &read.period_us) || token != token_end ||
        read.period_us == 0 || read.period_us > ABENCH__PERIOD_MAX_US)
        return 0;
    *quota = read;
    return 1;
}

/* Fractions by whole part and rest: no product leaves 64 bits, as periods are short. */
int abench__quota_tighter(const abench__quota *a, const abench__quota *b)
{
    uint64_t a_whole, b_whole;

    if (a->quota_us == 0 || b->quota_us == 0)
        return a->quota_us != 0;
    a_whole = a->quota_us / a->period_us;
    b_whole = b->quota_us / b->period_us;
    if (a_whole != b_whole)
        return a_whole < b_whole;
    return a->quota_us % a->period_us * b->period_us < b->quota_us % b->period_us * a->period_us;
}

int abench__cgroup_has_controller(const char *text, size_t length, const char *word)
{
    const char *at = text, *line, *end, *token, *token_end;

    if (!abench__scan_line(&at, text + length, &line, &end))
        return 0;
    while (abench__scan_token(&line, end, &token, &token_end))
        if (abench__scan_is(token, token_end, word))
            return 1;
    return 0;
}

void abench__process_name(int32_t pid, char name[16])
{
    abench__text text;

    abench__text_init(&text, name, 16);
    if (pid == 0)
        abench__text_put(&text, "self");
    else
        abench__text_put_u64(&text, (uint64_t)pid);
}

/* ---- groups ---------------------------------------------------------------------------------- */

static int is_folder_seen(const char *root, const abench__group *group)
{
    char text[8];

    /* Every group of both versions has this file, which need not be readable. */
    return abench__group_read(root, group, 0, "cgroup.procs", text, sizeof text) != -ENOENT;
}

abench_status abench__group_find(const char *root, const char *process, const char *controller,
                                 abench__group *group)
{
    char text[4096], path[64], name[ABENCH__PATH_SIZE];
    abench__text whole;
    abench__mount mount;
    const char *below;
    ssize_t length;
    int error;

    memset(group, 0, sizeof *group);
    abench__text_init(&whole, path, sizeof path);
    abench__text_printf(&whole, "/proc/%s/cgroup", process);
    length = abench__rooted_read(root, path, text, sizeof text);
    if (length == -ENOENT || length == -ESRCH)
        return ABENCH_ERROR_NOT_FOUND;
    if (length < 0)
        return ABENCH_ERROR_SYSTEM;
    if (!abench__cgroup_names(text, (size_t)length, controller))
        controller = "";
    if (!abench__cgroup_names(text, (size_t)length, controller))
        return ABENCH_OK;
    if (!abench__cgroup_path(text, (size_t)length, controller, name, sizeof name))
        abench__copy(name, sizeof name, "/.."); /* which lies in no mount but that of the root */
    abench__mount_init(&mount, controller, name);
    error = abench__mount_read(&mount, root);
    if (error != 0 && error != -ENOENT)
        return ABENCH_ERROR_SYSTEM;
    if (!mount.found)
        return ABENCH_OK;
    group->version = controller[0] == '\0' ? 2 : 1;
    abench__copy(group->point, sizeof group->point, mount.point);
    below = strcmp(name, "/..") != 0 ? abench__mount_below(mount.root, name) : NULL;
    if (below != NULL)
        abench__copy(group->below, sizeof group->below, below);
    if (below == NULL || (below[0] != '\0' && !is_folder_seen(root, group))) {
        group->hidden = 1;
        group->below[0] = '\0';
    }
    return ABENCH_OK;
}

uint32_t abench__group_depth(const abench__group *group)
{
    uint32_t depth = 0;

    for (const char *at = group->below; (at = strchr(at, '/')) != NULL; at++)
        depth++;
    return depth;
}

ssize_t abench__group_read(const char *root, const abench__group *group, uint32_t levels,
                           const char *name, char *text, size_t capacity)
{
    char path[2 * ABENCH__PATH_SIZE + 64], below[ABENCH__PATH_SIZE];
    abench__text whole;

    abench__copy(below, sizeof below, group->below);
    for (; levels > 0; levels--) {
        char *slash = strrchr(below, '/');
        if (slash == NULL)
            return -ENOENT;
        *slash = '\0';
    }
    abench__text_init(&whole, path, sizeof path);
    abench__text_put(&whole, group->point);
    abench__text_put(&whole, below);
    abench__text_put_char(&whole, '/');
    abench__text_put(&whole, name);
    if (whole.truncated)
        return -ENAMETOOLONG;
    return abench__rooted_read(root, path, text, capacity);
}
