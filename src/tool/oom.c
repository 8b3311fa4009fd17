#include "tool/oom.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tool/util.h"

#define FILE_MOST ((size_t)1 << 20)

/* The number behind key at the begin of a line. */
static bool read_count(const char *path, const char *key, uint64_t *count)
{
    char *text = util_read_file(path, FILE_MOST, NULL);
    const size_t length = strlen(key);
    bool found = false;

    for (const char *at = text; at != NULL && !found; at = strchr(at, '\n')) {
        at += *at == '\n';
        if (strncmp(at, key, length) == 0 && at[length] == ' ') {
            *count = strtoull(at + length, NULL, 10);
            found = true;
        }
        if (*at == '\0')
            break;
    }
    free(text);
    return found;
}

/* Is word one of the comma-separated words of list? */
static bool has_word(const char *list, const char *word)
{
    const size_t length = strlen(word);

    for (const char *at = list; (at = strstr(at, word)) != NULL; at += length)
        if ((at == list || at[-1] == ',') && (at[length] == ',' || at[length] == '\0'))
            return true;
    return false;
}

/* The group of this process, from lines "ID:CONTROLLERS:PATH": that of the memory controller of
 * version 1, or else that of version 2, which has no controllers there. NULL: none. */
static char *find_group(bool *is_first_version)
{
    char *text = util_read_file("/proc/self/cgroup", FILE_MOST, NULL);
    char *group = NULL, *rest = NULL;

    *is_first_version = false;
    for (char *line = text == NULL ? NULL : strtok_r(text, "\n", &rest);
         line != NULL && !*is_first_version; line = strtok_r(NULL, "\n", &rest)) {
        char *controllers = strchr(line, ':');
        char *path = controllers == NULL ? NULL : strchr(controllers + 1, ':');
        if (path == NULL)
            continue;
        *path++ = '\0';
        controllers++;
        *is_first_version = has_word(controllers, "memory");
        if (!*is_first_version && controllers[0] != '\0')
            continue;
        free(group);
        group = xstrdup(path);
    }
    free(text);
    return group;
}

/* Where the groups are mounted, and which of them is at the top there, from a line of mountinfo:
 * "36 25 0:31 ROOT POINT options - cgroup cgroup rw,memory". */
static bool read_mount(char *line, bool is_first_version, char **root, char **point)
{
    char *after = strstr(line, " - "), *rest = NULL, *type, *options;

    if (after == NULL)
        return false;
    *after = '\0';
    type = strtok_r(after + 3, " ", &rest);
    if (type == NULL || strcmp(type, is_first_version ? "cgroup" : "cgroup2") != 0)
        return false;
    if (strtok_r(NULL, " ", &rest) == NULL || (options = strtok_r(NULL, " ", &rest)) == NULL ||
        (is_first_version && !has_word(options, "memory")))
        return false;
    for (int field = 0; field < 3; field++)
        if (strtok_r(field == 0 ? line : NULL, " ", &rest) == NULL)
            return false;
    *root = strtok_r(NULL, " ", &rest);
    *point = strtok_r(NULL, " ", &rest);
    return *root != NULL && *point != NULL;
}

/* In a container the mount's root is the container's own group. */
static char *place_of(const char *group, const char *root, const char *point)
{
    const size_t length = strcmp(root, "/") == 0 ? 0 : strlen(root);

    if (strncmp(group, root, length) == 0 && (group[length] == '/' || group[length] == '\0'))
        return xasprintf("%s%s", point, group + length);
    return xstrdup(point);
}

static bool read_group(uint64_t *count)
{
    char *text = util_read_file("/proc/self/mountinfo", FILE_MOST, NULL);
    bool is_first_version, found = false;
    char *group = find_group(&is_first_version);
    char *rest = NULL;

    for (char *line = text == NULL ? NULL : strtok_r(text, "\n", &rest);
         group != NULL && line != NULL && !found; line = strtok_r(NULL, "\n", &rest)) {
        char *root, *point, *folder, *path;
        if (!read_mount(line, is_first_version, &root, &point))
            continue;
        folder = place_of(group, root, point);
        path =
            xasprintf("%s/%s", folder, is_first_version ? "memory.oom_control" : "memory.events");
        found = read_count(path, "oom_kill", count);
        free(folder);
        free(path);
    }
    free(group);
    free(text);
    return found;
}

void oom_read(oom_counts *counts)
{
    memset(counts, 0, sizeof *counts);
    counts->has_group = read_group(&counts->group);
    counts->has_machine = read_count("/proc/vmstat", "oom_kill", &counts->machine);
}

const char *oom_between(const oom_counts *before, const oom_counts *after)
{
    static char text[96];
    const bool in_group = before->has_group && after->has_group && after->group > before->group;
    const bool in_machine =
        before->has_machine && after->has_machine && after->machine > before->machine;
    const uint64_t kills =
        in_group ? after->group - before->group : after->machine - before->machine;

    if (!in_group && !in_machine)
        return "";
    snprintf(text, sizeof text, " - out of memory: the %s counts %llu oom kill%s",
             in_group ? "cgroup" : "machine", (unsigned long long)kills, kills == 1 ? "" : "s");
    return text;
}
