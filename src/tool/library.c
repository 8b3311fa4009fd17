#include "tool/library.h"

#include <glob.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tool/util.h"

/* Patterns of the system's folders, in the order in which they are looked at. */
static const char *const folders[] = {
    "/usr/local/lib",
    "/usr/lib/x86_64-linux-gnu",
    "/usr/lib/aarch64-linux-gnu",
    "/usr/lib64",
    "/usr/lib",
    "/lib64",
    "/lib",
    "/usr/lib/llvm-*/lib/clang/*/lib/linux",
    "/usr/lib/clang/*/lib/linux",
};

static char *real_file(const char *path)
{
    char *real = realpath(path, NULL);

    if (real != NULL && access(real, R_OK) != 0) {
        free(real);
        return NULL;
    }
    return real;
}

/* The last match of a pattern: with version numbers in it, the newest. */
static char *find_in(const char *folder, const char *name)
{
    char *pattern = xasprintf("%s/%s", folder, name);
    char *found = NULL;
    glob_t matches;

    if (glob(pattern, 0, NULL, &matches) == 0) {
        for (size_t at = matches.gl_pathc; at > 0 && found == NULL; at--)
            found = real_file(matches.gl_pathv[at - 1]);
        globfree(&matches);
    }
    free(pattern);
    return found;
}

static char *find_name(const char *name)
{
    const char *own = getenv("ALLOCBENCH_ALLOCATOR_PATH");
    char *found = NULL;

    while (own != NULL && *own != '\0' && found == NULL) {
        const size_t length = strcspn(own, ":");
        char *path = xasprintf("%.*s/%s", (int)length, own, name);
        if (length > 0)
            found = real_file(path); /* a folder of the user's: its name is no pattern */
        free(path);
        own += length + (own[length] == ':');
    }
    for (size_t at = 0; at < sizeof folders / sizeof folders[0] && found == NULL; at++)
        found = find_in(folders[at], name);
    return found;
}

char *library_find(const char *names)
{
    while (*names != '\0') {
        const size_t length = strcspn(names, " ");
        char *name = xstrndup(names, length);
        char *found = find_name(name);
        free(name);
        if (found != NULL)
            return found;
        names += length + (names[length] == ' ');
    }
    return NULL;
}

/* ---- links ----------------------------------------------------------------------------------- */

#define SEPARATORS " :\t\n" /* of the entries of LD_PRELOAD */

static char *link_folder;
static char **links;
static size_t links_count;

char *library_preload_path(const char *path)
{
    char *link;

    if (strpbrk(path, SEPARATORS) == NULL)
        return xstrdup(path);
    if (link_folder == NULL) {
        link_folder = xstrdup("/tmp/allocbench-XXXXXX"); /* TMPDIR might have a space too */
        if (mkdtemp(link_folder) == NULL) {
            free(link_folder);
            link_folder = NULL;
            return NULL;
        }
    }
    link = xasprintf("%s/%zu-%s", link_folder, links_count, strrchr(path, '/') + 1);
    for (char *at = link; *at != '\0'; at++)
        if (strchr(SEPARATORS, *at) != NULL)
            *at = '_';
    if (symlink(path, link) != 0) {
        free(link);
        return NULL;
    }
    links = xrealloc(links, (links_count + 1) * sizeof *links);
    links[links_count++] = xstrdup(link);
    return link;
}

void library_remove_links(void)
{
    for (size_t at = 0; at < links_count; at++) {
        unlink(links[at]);
        free(links[at]);
    }
    free(links);
    links = NULL;
    links_count = 0;
    if (link_folder != NULL)
        rmdir(link_folder);
    free(link_folder);
    link_folder = NULL;
}

size_t library_value_length(const char *text)
{
    size_t end = 0;

    for (;;) {
        size_t next;
        end += strcspn(text + end, ",");
        if (text[end] == '\0')
            return end;
        next = end + 1 + strcspn(text + end + 1, ",=");
        if (text[next] == '=')
            return end;
        end++;
    }
}
