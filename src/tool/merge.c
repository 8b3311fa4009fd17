#include "tool/merge.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tool/model.h"
#include "tool/record_json.h"
#include "tool/util.h"

#define MATRIX_BYTES ((size_t)16 << 20)
#define PLAN_BYTES   ((size_t)4 << 20)

/* ---- where ----------------------------------------------------------------------------------- */

/* A path without slashes at its end. free() it. */
static char *trimmed(const char *path)
{
    size_t length = strlen(path);

    while (length > 1 && path[length - 1] == '/')
        length--;
    return xstrndup(path, length);
}

static bool is_empty_folder(const char *path)
{
    DIR *folder = opendir(path);
    const struct dirent *entry;
    size_t count = 0;

    while (folder != NULL && (entry = readdir(folder)) != NULL)
        count += strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0;
    if (folder != NULL)
        closedir(folder);
    return folder != NULL && count == 0;
}

/* The real path that a name has, or will have: of its folder, and itself. NULL with errno. */
static char *future_path(const char *path)
{
    const char *slash = strrchr(path, '/');
    const char *name = slash == NULL ? path : slash + 1;
    char *folder = slash == NULL   ? xstrdup(".")
                   : slash == path ? xstrdup("/")
                                   : xstrndup(path, (size_t)(slash - path));
    char *real = realpath(folder, NULL);
    char *whole = real == NULL ? NULL : xasprintf("%s/%s", real, name);

    free(folder);
    free(real);
    return whole;
}

static bool lies_in(const char *path, const char *folder)
{
    const size_t length = strlen(folder);

    return strncmp(path, folder, length) == 0 && (path[length] == '/' || path[length] == '\0');
}

/* Nothing that is there is written over, and nothing is written into a source. */
static bool check_place(const merge *m, const char *directory, const char *part, char *message,
                        size_t message_size)
{
    char *real = future_path(directory), *real_part = future_path(part);
    struct stat info;
    bool good = false;

    if (real == NULL || real_part == NULL) {
        snprintf(message, message_size, "the directory %s cannot be made: %s", directory,
                 strerror(errno));
    } else if (lstat(directory, &info) == 0 && !is_empty_folder(directory)) {
        snprintf(
            message, message_size,
            "%s is there already: a merge makes a new directory (-o OTHER), and this one may be "
            "among its sources",
            directory);
    } else {
        good = true;
        for (size_t at = 0; at < m->count && good; at++) {
            good = !lies_in(real, m->sources[at].real) && !lies_in(m->sources[at].real, real_part);
            if (!good)
                snprintf(message, message_size, "%s would lie in its own source %s", directory,
                         m->sources[at].path);
        }
    }
    free(real);
    free(real_part);
    return good;
}

/* ---- sources --------------------------------------------------------------------------------- */

/* Keeps a run from writing there meanwhile. */
static bool lock_source(merge_source *source, char *message, size_t message_size)
{
    char *path = xasprintf("%s/lock", source->path);
    bool good = true;

    source->lock = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
    if (source->lock >= 0 && flock(source->lock, LOCK_SH | LOCK_NB) != 0 && errno == EWOULDBLOCK) {
        snprintf(message, message_size, "a run works in %s: wait for it", source->path);
        good = false;
    }
    free(path);
    return good;
}

/* The checked reader says what is wrong in it; the rounds' own files are checked, too. */
static bool check_source(const merge_source *source, char *message, size_t message_size)
{
    model *m = model_load(source->path, message, message_size);
    const bool good = m != NULL;

    model_free(m);
    return good;
}

static bool read_source(merge_source *source, char *message, size_t message_size)
{
    char *name = xasprintf("%s/matrix.json", source->path);
    json_source from = {.file = name, .line = 1};
    char *text;

    source->real = realpath(source->path, NULL);
    text = source->real == NULL ? NULL : json_source_read(&from, name, MATRIX_BYTES);
    if (source->real == NULL)
        snprintf(message, message_size, "%s cannot be read: %s", source->path, strerror(errno));
    else if (text != NULL)
        source->root = json_source_parse(&from);
    if (source->root != NULL && json_get_object(&from, source->root, "key", JSON_NEEDED) != NULL)
        json_get_list(&from, source->root, "machine", 1000, JSON_MAY_LACK);
    if (from.failed)
        snprintf(message, message_size, "%s", from.message);
    free(text);
    free(name);
    return source->root != NULL && !from.failed && check_source(source, message, message_size);
}

/* ---- the result ------------------------------------------------------------------------------ */

/* How many rounds each workload has: that is what it is to have, at least. */
static void count_rounds(merge *m, const char *part)
{
    json_t *workload;
    size_t index;
    json_int_t most = json_integer_value(json_object_get(m->root, "rounds"));

    json_array_foreach(json_object_get(m->root, "workloads"), index, workload)
    {
        const char *id = json_string_value(json_object_get(workload, "id"));
        char *head = xasprintf("%s.r", id), *path = xasprintf("%s/rounds", part);
        DIR *folder = opendir(path);
        const struct dirent *entry;
        json_int_t count = 0;
        while (folder != NULL && (entry = readdir(folder)) != NULL)
            count += strncmp(entry->d_name, head, strlen(head)) == 0;
        if (folder != NULL)
            closedir(folder);
        if (json_is_integer(json_object_get(workload, "rounds")) &&
            json_integer_value(json_object_get(workload, "rounds")) < count)
            json_object_set_new(workload, "rounds", json_integer(count));
        most = count > most ? count : most;
        free(path);
        free(head);
    }
    json_object_set_new(m->root, "rounds", json_integer(most));
}

static bool write_root(const merge *m, const char *part, char *message, size_t message_size)
{
    char *path = xasprintf("%s/matrix.json", part);
    char *text = json_dumps(m->root, JSON_INDENT(1));
    const bool good =
        text != NULL && util_write_file(path, text, strlen(text), message, message_size);

    free(text);
    free(path);
    return good;
}

/* The plan of the first source that has one. */
static bool keep_plan(const merge *m, const char *part, char *message, size_t message_size)
{
    char *text = NULL, *to;
    size_t size = 0;
    bool good = true;

    for (size_t at = 0; at < m->count && text == NULL; at++) {
        char *from = xasprintf("%s/plan.json", m->sources[at].path);
        text = util_read_file(from, PLAN_BYTES, &size);
        free(from);
    }
    if (text != NULL) {
        to = xasprintf("%s/plan.json", part);
        good = util_write_file(to, text, size, message, message_size);
        free(to);
    }
    free(text);
    return good;
}

/* All of it is on the disk before it has its name. */
static bool publish(const char *part, const char *directory, char *message, size_t message_size)
{
    const int fd = open(part, O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW);
    const bool good = fd >= 0 && syncfs(fd) == 0 && rename(part, directory) == 0;

    if (!good)
        snprintf(message, message_size, "%s cannot become %s: %s", part, directory,
                 strerror(errno));
    if (fd >= 0)
        close(fd);
    return good;
}

static bool fill(merge *m, const char *part, const char *directory, char *message,
                 size_t message_size)
{
    for (size_t at = 0; at < m->count; at++)
        if (!merge_rounds(m, &m->sources[at], part, message, message_size))
            return false;
    count_rounds(m, part);
    return keep_plan(m, part, message, message_size) &&
           write_root(m, part, message, message_size) &&
           publish(part, directory, message, message_size);
}

bool merge_directories(const char *directory, char *const *sources, size_t count, merge *out,
                       char *message, size_t message_size)
{
    char *name = trimmed(directory), *part = xasprintf("%s.merging", name);
    bool good = true;
    int lock = -1;

    *out = (merge){.sources = xcalloc(count, sizeof *out->sources), .count = count};
    for (size_t at = 0; at < count; at++)
        out->sources[at] = (merge_source){.path = sources[at], .lock = -1};
    for (size_t at = 0; at < count && good; at++)
        good = lock_source(&out->sources[at], message, message_size) &&
               read_source(&out->sources[at], message, message_size);
    good = good && check_place(out, name, part, message, message_size) &&
           merge_roots(out, message, message_size);
    if (good)
        lock = merge_begin(part, message, message_size);
    good = good && lock >= 0;
    if (good && !fill(out, part, name, message, message_size)) {
        merge_abandon(part);
        good = false;
    }
    if (lock >= 0)
        close(lock);
    free(part);
    free(name);
    return good;
}

void merge_clear(merge *m)
{
    for (size_t at = 0; at < m->count; at++) {
        json_decref(m->sources[at].root);
        free(m->sources[at].real);
        free(m->sources[at].places);
        if (m->sources[at].lock >= 0)
            close(m->sources[at].lock);
    }
    free(m->sources);
    json_decref(m->root);
    *m = (merge){0};
}
