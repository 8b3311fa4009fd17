/* merge_files.c - the files of a merge: copied whole, or not at all. */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tool/merge.h"
#include "tool/util.h"

#define COPY_BYTES 65536

/* ---- the folder in the making ---------------------------------------------------------------- */

static bool is_dots(const char *name)
{
    return strcmp(name, ".") == 0 || strcmp(name, "..") == 0;
}

static bool ends_with(const char *name, const char *end)
{
    const size_t length = strlen(name);

    return length > strlen(end) && strcmp(name + length - strlen(end), end) == 0;
}

/* Is it a file of util_write_file, whole or in the making, of one of these names? */
static bool is_own(const char *name)
{
    static const char *const files[] = {"matrix.json", "plan.json"};

    for (size_t at = 0; at < sizeof files / sizeof *files; at++) {
        const size_t length = strlen(files[at]);
        if (strncmp(name, files[at], length) == 0 &&
            (name[length] == '\0' || (name[length] == '.' && ends_with(name, ".tmp"))))
            return true;
    }
    return false;
}

/* Takes files of a folder away: every one, or those of our own in the folder itself. */
static void empty_folder(int parent, const char *name, bool every)
{
    const int fd = openat(parent, name, O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW);
    DIR *folder = fd < 0 ? NULL : fdopendir(fd);
    const struct dirent *entry;

    while (folder != NULL && (entry = readdir(folder)) != NULL)
        if (!is_dots(entry->d_name) && (every || is_own(entry->d_name)))
            unlinkat(fd, entry->d_name, 0);
    if (folder != NULL)
        closedir(folder);
    else if (fd >= 0)
        close(fd);
}

static int open_part(const char *part)
{
    return open(part, O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW);
}

/* What merge itself puts there: nothing else is ever taken away. */
static void empty_part(int part)
{
    static const char *const folders[] = {"rounds", "cells"};

    empty_folder(part, ".", false);
    for (size_t at = 0; at < sizeof folders / sizeof *folders; at++) {
        empty_folder(part, folders[at], true);
        unlinkat(part, folders[at], AT_REMOVEDIR);
    }
}

static bool is_only_lock(const char *part)
{
    DIR *folder = opendir(part);
    const struct dirent *entry;
    bool good = folder != NULL;

    while (folder != NULL && (entry = readdir(folder)) != NULL)
        good = good && (is_dots(entry->d_name) || strcmp(entry->d_name, "lock") == 0);
    if (folder != NULL)
        closedir(folder);
    return good;
}

int merge_begin(const char *part, char *message, size_t message_size)
{
    const int made = mkdir(part, 0777), error = errno;
    const int folder = open_part(part);
    int lock =
        folder < 0 ? -1 : openat(folder, "lock", O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0666);

    message[0] = '\0';
    if (folder < 0 || lock < 0) {
        snprintf(message, message_size, "the directory %s cannot be made: %s", part,
                 strerror(made != 0 && error != EEXIST ? error : errno));
    } else if (flock(lock, LOCK_EX | LOCK_NB) != 0) {
        snprintf(message, message_size, "another merge works in %s: wait for it", part);
    } else {
        empty_part(folder);
        if (!is_only_lock(part))
            snprintf(message, message_size, "%s is in the way, and not of an interrupted merge",
                     part);
        else if (mkdirat(folder, "rounds", 0777) != 0 || mkdirat(folder, "cells", 0777) != 0)
            snprintf(message, message_size, "%s/rounds cannot be made: %s", part, strerror(errno));
    }
    if (folder >= 0)
        close(folder);
    if (message[0] != '\0' && lock >= 0) {
        close(lock);
        lock = -1;
    }
    return lock;
}

void merge_abandon(const char *part)
{
    const int folder = open_part(part);

    if (folder < 0)
        return;
    empty_part(folder);
    unlinkat(folder, "lock", 0);
    close(folder);
    rmdir(part);
}

/* ---- one file -------------------------------------------------------------------------------- */

static int open_file(const char *path)
{
    const int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
    struct stat info;

    if (fd >= 0 && (fstat(fd, &info) != 0 || !S_ISREG(info.st_mode))) {
        close(fd);
        errno = EINVAL;
        return -1;
    }
    return fd;
}

static bool copy_bytes(int from, int to)
{
    static char buffer[COPY_BYTES];
    ssize_t got;

    while ((got = util_read_all(from, buffer, sizeof buffer)) > 0)
        if (!util_write_all(to, buffer, (size_t)got))
            return false;
    return got == 0;
}

static bool copy_file(const char *from, const char *to, char *message, size_t message_size)
{
    const int in = open_file(from);
    int out = in < 0 ? -1 : open(to, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    bool good = out >= 0 && copy_bytes(in, out);
    int error = errno;

    if (out >= 0 && close(out) != 0 && good) {
        good = false;
        error = errno;
    }
    if (in >= 0)
        close(in);
    if (!good)
        snprintf(message, message_size, "%s cannot be copied to %s: %s", from, to,
                 in < 0 && error == EINVAL ? "it is no file" : strerror(error));
    return good;
}

static bool same_file(const char *a, const char *b)
{
    static char x[COPY_BYTES], y[COPY_BYTES];
    const int first = open_file(a), second = open_file(b);
    bool same = first >= 0 && second >= 0;
    ssize_t got = 1, other;

    while (same && got > 0) {
        got = util_read_all(first, x, sizeof x);
        other = util_read_all(second, y, sizeof y);
        same = got >= 0 && got == other && memcmp(x, y, (size_t)got) == 0;
    }
    if (first >= 0)
        close(first);
    if (second >= 0)
        close(second);
    return same;
}

/* ---- rounds ---------------------------------------------------------------------------------- */

/* Where the round ran: the place that its source gives, in the result's list. */
static void set_place(const merge_source *source, json_t *round)
{
    const size_t own = json_array_size(json_object_get(source->root, "machines"));
    const json_int_t place = json_integer_value(json_object_get(round, "place"));
    const size_t at = place >= 0 && (size_t)place < own ? (size_t)place : 0;

    json_object_set_new(round, "place", json_integer((json_int_t)source->places[at]));
}

/* Is a round that is there already this one, in every byte of its cells? */
static bool is_same(const merge_source *source, const char *part, const char *path, json_t *round)
{
    json_t *there = json_load_file(path, 0, NULL);
    bool same = there != NULL && json_equal(there, round);
    const json_t *cell;
    size_t index;

    json_array_foreach(json_object_get(round, "cells"), index, cell)
    {
        const char *file = json_string_value(json_object_get(cell, "file"));
        char *a, *b;
        if (!same || file == NULL)
            continue;
        a = xasprintf("%s/%s", source->path, file);
        b = xasprintf("%s/%s", part, file);
        same = same_file(a, b);
        free(a);
        free(b);
    }
    json_decref(there);
    return same;
}

static const char *label_of(const merge *m, const char *id)
{
    const json_t *item;
    size_t index;

    json_array_foreach(json_object_get(m->root, "workloads"), index, item)
    {
        const char *text = json_string_value(json_object_get(item, "id"));
        if (text != NULL && strcmp(text, id) == 0)
            return json_string_value(json_object_get(item, "label"));
    }
    return id;
}

/* A round whose number is taken. */
static void pass_over(merge *m, const merge_source *source, const char *part, const char *path,
                      json_t *round)
{
    const char *id = json_string_value(json_object_get(round, "workload"));

    if (is_same(source, part, path, round)) {
        m->twice++;
        return;
    }
    m->left_out++;
    merge_note(m,
               "round %" JSON_INTEGER_FORMAT " of %.80s was left out of %s: another of this "
               "number came first",
               json_integer_value(json_object_get(round, "round")) + 1, label_of(m, id),
               source->path);
}

/* Reads the rounds of a source. Those that are new stand in taken: {"w00.r003": round}. */
static bool take_rounds(merge *m, const merge_source *source, const char *part, json_t *taken,
                        char *message, size_t message_size)
{
    char *folder = xasprintf("%s/rounds", source->path);
    DIR *directory = opendir(folder);
    const struct dirent *entry;
    bool good = directory != NULL || errno == ENOENT;

    if (!good)
        snprintf(message, message_size, "%s cannot be listed: %s", folder, strerror(errno));
    while (good && directory != NULL && (entry = readdir(directory)) != NULL) {
        char *from, *to;
        json_t *round;
        if (entry->d_name[0] == '.' || !ends_with(entry->d_name, ".json"))
            continue;
        from = xasprintf("%s/%s", folder, entry->d_name);
        to = xasprintf("%s/rounds/%s", part, entry->d_name);
        round = json_load_file(from, JSON_REJECT_DUPLICATES, NULL);
        good = round != NULL;
        if (!good) {
            snprintf(message, message_size, "%s changed while it was read", from);
        } else {
            set_place(source, round);
            if (access(to, F_OK) == 0) {
                pass_over(m, source, part, to, round);
            } else {
                char *name = xstrndup(entry->d_name, strlen(entry->d_name) - strlen(".json"));
                json_object_set(taken, name, round);
                free(name);
            }
        }
        json_decref(round);
        free(from);
        free(to);
    }
    if (directory != NULL)
        closedir(directory);
    free(folder);
    return good;
}

/* "w00.r003.t01.jsonl": is it of a round that is taken? */
static bool is_taken(const json_t *taken, const char *file)
{
    const char *dot = strchr(file, '.');
    const char *end = dot == NULL ? NULL : strchr(dot + 1, '.');
    char *name;
    bool found;

    if (end == NULL || file[0] == '.' || ends_with(file, ".part") || ends_with(file, ".tmp"))
        return false;
    name = xstrndup(file, (size_t)(end - file));
    found = json_object_get(taken, name) != NULL;
    free(name);
    return found;
}

static bool copy_cells(const merge_source *source, const char *part, const json_t *taken,
                       char *message, size_t message_size)
{
    char *folder = xasprintf("%s/cells", source->path);
    DIR *directory = opendir(folder);
    const struct dirent *entry;
    bool good = true;

    while (good && directory != NULL && (entry = readdir(directory)) != NULL) {
        char *from, *to;
        if (!is_taken(taken, entry->d_name))
            continue;
        from = xasprintf("%s/%s", folder, entry->d_name);
        to = xasprintf("%s/cells/%s", part, entry->d_name);
        good = copy_file(from, to, message, message_size);
        free(from);
        free(to);
    }
    if (directory != NULL)
        closedir(directory);
    free(folder);
    return good;
}

static bool write_round(const char *part, const char *name, const json_t *round, char *message,
                        size_t message_size)
{
    char *path = xasprintf("%s/rounds/%s.json", part, name);
    char *text = json_dumps(round, JSON_INDENT(1));
    const bool good =
        text != NULL && util_write_file(path, text, strlen(text), message, message_size);

    free(text);
    free(path);
    return good;
}

bool merge_rounds(merge *m, const merge_source *source, const char *part, char *message,
                  size_t message_size)
{
    json_t *taken = json_object(), *round;
    const char *name;
    bool good = take_rounds(m, source, part, taken, message, message_size) &&
                copy_cells(source, part, taken, message, message_size);

    json_object_foreach(taken, name, round)
    {
        good = good && write_round(part, name, round, message, message_size);
        m->rounds += good;
    }
    json_decref(taken);
    return good;
}
