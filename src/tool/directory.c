/* directory.c - a result directory: made or found, locked, and compared by its key. */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "tool/json_text.h"
#include "tool/matrix.h"
#include "tool/util.h"

extern char **environ;

/* ---- what was asked, as JSON ----------------------------------------------------------------- */

static json_t *u64_text(uint64_t value)
{
    char text[24];

    snprintf(text, sizeof text, "%llu", (unsigned long long)value);
    return json_string(text);
}

/* Tells two builds of a library apart that carries no build id: its size and time. */
static json_t *modified_json(const target *t)
{
    char text[64] = "";
    struct stat info;

    if (t->identity.build_id[0] == '\0' && t->library != NULL && stat(t->library, &info) == 0)
        snprintf(text, sizeof text, "%lld %lld.%09ld", (long long)info.st_size,
                 (long long)info.st_mtim.tv_sec, info.st_mtim.tv_nsec);
    return json_string(text);
}

static json_t *targets_json(const matrix *m)
{
    json_t *list = json_array();

    for (size_t at = 0; at < m->targets_count; at++) {
        const target *t = &m->targets[at];
        char *settings = target_settings_text(t);
        json_t *item = json_object();
        json_object_set_new(item, "name", json_text(t->name));
        json_object_set_new(item, "spec", json_text(t->spec));
        json_object_set_new(item, "library", json_text(t->library == NULL ? "" : t->library));
        json_object_set_new(item, "family", json_text(t->identity.family));
        json_object_set_new(item, "version", json_text(t->identity.version));
        json_object_set_new(item, "build_id", json_text(t->identity.build_id));
        json_object_set_new(item, "modified", modified_json(t));
        json_object_set_new(item, "settings", json_text(settings));
        json_object_set_new(item, "missing",
                            t->missing == NULL ? json_null() : json_text(t->missing));
        json_array_append_new(list, item);
        free(settings);
    }
    return list;
}

static json_t *command_json(const matrix *m)
{
    json_t *list = json_array();

    for (size_t at = 0; m->command != NULL && m->command[at] != NULL; at++)
        json_array_append_new(list, json_text(m->command[at]));
    return list;
}

static json_t *text_or_null(const char *text)
{
    return text == NULL ? json_null() : json_text(text);
}

/* As they were asked; with what --duration made of them, once that is chosen, when it is no key. */
static json_t *workloads_json(const matrix *m, bool is_key)
{
    json_t *list = json_array();

    for (size_t at = 0; at < m->workloads_count; at++) {
        const matrix_workload *w = &m->workloads[at];
        json_t *item = json_object();
        json_object_set_new(item, "id", json_string(w->id));
        json_object_set_new(item, "label", json_text(w->label));
        json_object_set_new(item, "kind", json_string(w->spec == NULL ? "command" : "tape"));
        json_object_set_new(item, "spec", json_text(w->spec == NULL ? "" : w->spec));
        if (w->digest[0] != '\0')
            json_object_set_new(item, "digest", json_string(w->digest));
        if (!is_key) {
            json_object_set_new(item, "argument", text_or_null(w->argument));
            json_object_set_new(item, "played", text_or_null(w->played));
        }
        json_array_append_new(list, item);
    }
    return list;
}

/* What --keep-env leaves in every child's environment. */
static json_t *kept_json(const matrix *m)
{
    json_t *kept = json_object();

    for (char **entry = environ; m->keep_environment && *entry != NULL; entry++) {
        const size_t length = strcspn(*entry, "=");
        char *name = xstrndup(*entry, length);
        if (abench_allocator_environment(name) && (*entry)[length] == '=')
            json_object_set_new(kept, name, json_text(*entry + length + 1));
        free(name);
    }
    return kept;
}

/* What must be the same for two rounds to stand in one directory: not the number of rounds. */
static json_t *key_json(const matrix *m)
{
    json_t *key = json_object();

    json_object_set_new(key, "tool_version", json_string(abench_version_string()));
    json_object_set_new(key, "workloads", workloads_json(m, true));
    json_object_set_new(key, "command", command_json(m));
    json_object_set_new(key, "program", json_text(m->program == NULL ? "" : m->program));
    json_object_set_new(key, "folder", json_text(m->folder == NULL ? "" : m->folder));
    json_object_set_new(key, "targets", targets_json(m));
    json_object_set_new(key, "baseline", json_text(m->targets[m->baseline].name));
    json_object_set_new(key, "seed", u64_text(m->seed));
    json_object_set_new(key, "same_seed", json_boolean(m->same_seed));
    json_object_set_new(key, "lanes", json_integer(m->lanes));
    json_object_set_new(key, "slice_operations", u64_text(m->slice_operations));
    json_object_set_new(key, "duration_ms", u64_text(m->duration_ms));
    json_object_set_new(key, "latency", u64_text(m->latency));
    json_object_set_new(key, "tails", json_boolean(m->tails));
    json_object_set_new(key, "keep_environment", json_boolean(m->keep_environment));
    json_object_set_new(key, "kept", kept_json(m));
    json_object_set_new(key, "ignore_failure", json_boolean(m->ignore_failure));
    json_object_set_new(key, "floor", json_boolean(m->floor));
    json_object_set_new(key, "sequential", json_boolean(m->sequential));
    json_object_set_new(key, "settle_s", json_integer(m->settle_s));
    json_object_set_new(key, "host", json_host(&m->host));
    json_object_set_new(key, "machine", fitness_key(&m->fitness));
    return key;
}

static json_t *notes_json(const matrix *m)
{
    json_t *list = json_array();

    for (size_t at = 0; at < m->notes_count; at++)
        json_array_append_new(list, json_text(m->notes[at]));
    return list;
}

static bool write_matrix(const matrix *m, json_t *key, char *message, size_t message_size)
{
    json_t *root = json_object();
    char *path = xasprintf("%s/matrix.json", m->directory);
    char *text;
    bool good;

    json_object_set_new(root, "schema", json_integer(1));
    json_object_set_new(root, "tool_version", json_string(abench_version_string()));
    json_object_set_new(root, "command_line", json_text(m->command_line));
    json_object_set_new(root, "unix_s",
                        u64_text(m->unix_s != 0 ? m->unix_s : (uint64_t)time(NULL)));
    json_object_set_new(root, "seed", u64_text(m->seed));
    json_object_set_new(root, "rounds", json_integer(m->rounds));
    json_object_set_new(root, "baseline", json_text(m->targets[m->baseline].name));
    json_object_set_new(root, "host", json_host(&m->host));
    json_object_set_new(root, "machine", fitness_json(&m->fitness));
    json_object_set_new(root, "notes", notes_json(m));
    json_object_set_new(root, "workloads", workloads_json(m, false));
    json_object_set_new(root, "targets", targets_json(m));
    json_object_set(root, "key", key);
    text = json_dumps(root, JSON_INDENT(1));
    good = text != NULL && util_write_file(path, text, strlen(text), message, message_size);
    free(text);
    free(path);
    json_decref(root);
    return good;
}

bool matrix_write(const matrix *m, char *message, size_t message_size)
{
    json_t *key = key_json(m);
    const bool good = write_matrix(m, key, message, message_size);

    json_decref(key);
    return good;
}

/* ---- the key of what is there ---------------------------------------------------------------- */

#define VALUES_SHOWN 2
#define VALUE_SHOWN  20  /* characters of one */
#define REFUSAL_MOST 180 /* of the sentence: two lines of a terminal, which "allocbench: " opens */

#define REFUSAL "%s holds the results of another matrix: it differs in %s; -o OTHER for a new one"

/* What differs, as far as it fits. */
typedef struct differences {
    char text[512];
    size_t room; /* of text: what the sentence leaves */
    size_t length;
    size_t values;
    size_t more; /* that did not fit */
} differences;

/* The beginning of a value. free() it. */
static char *value_text(const json_t *value)
{
    char *text = value == NULL
                     ? xstrdup("none")
                     : json_dumps(value, JSON_COMPACT | JSON_ENCODE_ANY | JSON_ENSURE_ASCII);
    char *cut;

    if (text == NULL || strlen(text) <= VALUE_SHOWN)
        return text == NULL ? xstrdup("?") : text;
    cut = xasprintf("%.*s...", VALUE_SHOWN, text);
    free(text);
    return cut;
}

/* Puts a text of the list there when it fits, with what may follow. */
static bool put_difference(differences *d, const char *text)
{
    static const char last[] = " + 99 more";

    if (d->length + strlen(", ") + strlen(text) + strlen(last) > d->room)
        return false;
    d->length += (size_t)snprintf(d->text + d->length, sizeof d->text - d->length, "%s%s",
                                  d->length == 0 ? "" : ", ", text);
    return true;
}

static void add_difference(differences *d, const char *path, const json_t *there,
                           const json_t *asked)
{
    char *old = value_text(there), *new = value_text(asked);
    char *both = xasprintf("%s (%s there, %s asked)", path, old, new);
    const bool tells = d->values < VALUES_SHOWN && strcmp(old, new) != 0;

    if (d->more == 0 && tells && put_difference(d, both))
        d->values++;
    else if (d->more > 0 || !put_difference(d, path))
        d->more++;
    free(both);
    free(old);
    free(new);
}

/* "targets.jemalloc.build_id": an item of a list goes by its name, where it has one. */
static void find_differences(differences *d, const char *path, json_t *there, json_t *asked)
{
    const char *member;
    json_t *value;
    size_t index;

    if (there != NULL && json_equal(there, asked))
        return;
    if (json_is_object(there) && json_is_object(asked)) {
        json_object_foreach(asked, member, value)
        {
            char *inner = xasprintf("%s%s%s", path, path[0] == '\0' ? "" : ".", member);
            find_differences(d, inner, json_object_get(there, member), value);
            free(inner);
        }
    } else if (json_is_array(there) && json_is_array(asked) &&
               json_array_size(there) == json_array_size(asked)) {
        json_array_foreach(asked, index, value)
        {
            const char *name = json_string_value(json_object_get(value, "name"));
            char *inner = name != NULL ? xasprintf("%s.%s", path, name)
                                       : xasprintf("%s.%zu", path, index + 1);
            find_differences(d, inner, json_array_get(there, index), value);
            free(inner);
        }
    } else {
        add_difference(d, path, there, asked);
    }
}

/* A name that is longer than the sentence may be still tells the first difference. */
static void refuse(const matrix *m, json_t *there, json_t *asked, char *message,
                   size_t message_size)
{
    const size_t used = strlen(REFUSAL) - strlen("%s%s") + strlen(m->directory);
    differences d = {.room = used + 60 < REFUSAL_MOST ? REFUSAL_MOST - used : 60};

    find_differences(&d, "", there, asked);
    if (d.length == 0)
        snprintf(d.text, sizeof d.text, "%zu of its keys", d.more);
    else if (d.more > 0)
        snprintf(d.text + d.length, sizeof d.text - d.length, " + %zu more", d.more);
    snprintf(message, message_size, REFUSAL, m->directory, d.text);
}

/* What earlier calls said about the rounds that are there stays said. */
static void keep_notes(matrix *m, json_t *notes)
{
    json_t *note;
    size_t index;

    json_array_foreach(notes, index, note)
    {
        const char *text = json_string_value(note);
        bool known = text == NULL;
        for (size_t at = 0; at < m->notes_count && !known; at++)
            known = strcmp(m->notes[at], text) == 0;
        if (known)
            continue;
        m->notes = xrealloc(m->notes, (m->notes_count + 1) * sizeof *m->notes);
        m->notes[m->notes_count++] = xstrdup(text);
    }
}

/* The lengths that an earlier call chose for --duration: its rounds played them. */
static void keep_arguments(matrix *m, json_t *workloads)
{
    for (size_t at = 0; at < m->workloads_count; at++) {
        matrix_workload *w = &m->workloads[at];
        const char *text =
            json_string_value(json_object_get(json_array_get(workloads, at), "argument"));
        if (w->spec != NULL && w->argument == NULL && text != NULL)
            w->argument = xstrdup(text);
    }
}

/* Rounds that no matrix.json explains could be anybody's. */
static bool has_rounds(const matrix *m, char *message, size_t message_size)
{
    char *path = xasprintf("%s/rounds", m->directory);
    DIR *folder = opendir(path);
    const struct dirent *entry;
    bool found = false;

    while (folder != NULL && !found && (entry = readdir(folder)) != NULL)
        found = entry->d_name[0] != '.';
    if (folder != NULL)
        closedir(folder);
    if (found)
        snprintf(message, message_size,
                 "%s holds rounds and no matrix.json that tells of what: choose another directory "
                 "with -o",
                 m->directory);
    free(path);
    return found;
}

/* Compares with the matrix.json that is there, if any. */
static bool compare_key(matrix *m, json_t *key, char *message, size_t message_size)
{
    char *path = xasprintf("%s/matrix.json", m->directory);
    json_error_t error;
    json_t *root, *there;
    struct stat info;
    bool same;

    if (stat(path, &info) != 0) {
        free(path);
        return !has_rounds(m, message, message_size);
    }
    if (!S_ISREG(info.st_mode)) {
        snprintf(message, message_size, "%s is no file; choose another directory with -o", path);
        free(path);
        return false;
    }
    root = json_load_file(path, JSON_REJECT_DUPLICATES, &error);
    there = root == NULL ? NULL : json_object_get(root, "key");
    same = json_is_object(there) && json_equal(there, key) &&
           json_integer_value(json_object_get(root, "schema")) == 1;
    if (root == NULL)
        snprintf(message, message_size, "%s:%d:%d: %s; choose another directory with -o", path,
                 error.line, error.column, error.text);
    else if (!json_is_object(there))
        snprintf(message, message_size, "%s has no key; choose another directory with -o", path);
    else if (!same) {
        refuse(m, there, key, message, message_size);
    } else {
        const char *begun = json_string_value(json_object_get(root, "unix_s"));
        m->unix_s = begun == NULL ? 0 : strtoull(begun, NULL, 10);
        keep_notes(m, json_object_get(root, "notes"));
        keep_arguments(m, json_object_get(root, "workloads"));
    }
    json_decref(root);
    free(path);
    return same;
}

/* ---- the directory --------------------------------------------------------------------------- */

static bool make_folder(const char *path, char *message, size_t message_size)
{
    if (mkdir(path, 0777) == 0 || errno == EEXIST)
        return true;
    snprintf(message, message_size, "the directory %s cannot be made: %s", path, strerror(errno));
    return false;
}

/* flock goes with the process, however it ends. */
static bool take_lock(matrix *m, char *message, size_t message_size)
{
    char *path = xasprintf("%s/lock", m->directory);
    char holder[64] = "";
    struct stat info;

    m->lock = open(path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK, 0666);
    if (m->lock < 0) {
        snprintf(message, message_size, "%s cannot be opened: %s", path, strerror(errno));
    } else if (fstat(m->lock, &info) != 0 || !S_ISREG(info.st_mode) || info.st_nlink != 1) {
        snprintf(message, message_size, "%s is no file of allocbench's own", path);
        close(m->lock);
        m->lock = -1;
    } else if (flock(m->lock, LOCK_EX | LOCK_NB) != 0) {
        const ssize_t got = pread(m->lock, holder, sizeof holder - 1, 0);
        holder[got > 0 ? got : 0] = '\0';
        holder[strcspn(holder, "\n")] = '\0';
        snprintf(message, message_size,
                 "another allocbench (%s) works in %s; wait for it or choose another directory "
                 "with -o",
                 util_one_line(holder), m->directory);
        close(m->lock);
        m->lock = -1;
    } else {
        const int length = snprintf(holder, sizeof holder, "pid %ld\n", (long)getpid());
        if (ftruncate(m->lock, 0) != 0 || pwrite(m->lock, holder, (size_t)length, 0) != length) {
            snprintf(message, message_size, "%s cannot be written: %s", path, strerror(errno));
            close(m->lock);
            m->lock = -1;
        }
    }
    free(path);
    return m->lock >= 0;
}

bool matrix_open(matrix *m, char *message, size_t message_size)
{
    static const char *const folders[] = {"cells", "rounds"};
    json_t *key;
    bool good;

    good = make_folder(m->directory, message, message_size) && take_lock(m, message, message_size);
    for (size_t at = 0; at < sizeof folders / sizeof folders[0] && good; at++) {
        char *path = xasprintf("%s/%s", m->directory, folders[at]);
        good = make_folder(path, message, message_size);
        free(path);
    }
    if (!good)
        return false;
    key = key_json(m);
    good =
        compare_key(m, key, message, message_size) && write_matrix(m, key, message, message_size);
    json_decref(key);
    return good;
}

bool matrix_is_held(const char *directory)
{
    char *path = xasprintf("%s/lock", directory);
    const int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
    struct stat info;
    const bool held = fd >= 0 && fstat(fd, &info) == 0 && S_ISREG(info.st_mode) &&
                      flock(fd, LOCK_SH | LOCK_NB) != 0 && errno == EWOULDBLOCK;

    if (fd >= 0)
        close(fd);
    free(path);
    return held;
}

void matrix_close(matrix *m)
{
    if (m->lock >= 0)
        close(m->lock);
    m->lock = -1;
}
