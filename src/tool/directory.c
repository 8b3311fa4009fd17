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

#include <allocbench/statistics.h>

#include "tool/extend.h"
#include "tool/json_text.h"
#include "tool/key.h"
#include "tool/matrix.h"
#include "tool/rounds.h"
#include "tool/until.h"
#include "tool/util.h"

#define ROUNDS_MOST 1000000 /* that a matrix.json may tell of */
#define LOCK_TRIES  1000    /* 5 s */

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
    json_object_set_new(root, "unix_s", key_u64(m->unix_s != 0 ? m->unix_s : (uint64_t)time(NULL)));
    json_object_set_new(root, "seed", key_u64(m->seed));
    json_object_set_new(root, "rounds", json_integer(rounds_all(m)));
    if (m->look_rounds != 0) {
        json_object_set_new(root, "looks", json_integer(m->looks));
        json_object_set_new(root, "look_rounds", json_integer(m->look_rounds));
    }
    if (m->is_unfinished)
        json_object_set_new(root, "unfinished", json_integer(m->rounds));
    json_object_set_new(root, "baseline", json_text(m->targets[m->baseline].name));
    json_object_set_new(root, "host", json_host(&m->host));
    json_object_set_new(root, "machine", fitness_json(&m->fitness));
    if (m->machines != NULL)
        json_object_set(root, "machines", m->machines);
    json_object_set_new(root, "notes", notes_json(m));
    json_object_set_new(root, "workloads", key_workloads(m, false));
    json_object_set_new(root, "targets", key_targets(m));
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

/* ---- what is there --------------------------------------------------------------------------- */

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

/* The lengths that an earlier call chose for --duration: its rounds played them. false with one
 * line in message: a plan says others. */
static bool keep_arguments(matrix *m, json_t *workloads, char *message, size_t message_size)
{
    for (size_t at = 0; at < m->workloads_count; at++) {
        matrix_workload *w = &m->workloads[at];
        const char *text =
            json_string_value(json_object_get(json_array_get(workloads, at), "argument"));
        if (w->spec == NULL || text == NULL)
            continue;
        if (w->argument == NULL) {
            w->argument = xstrdup(text);
        } else if (strcmp(w->argument, text) != 0) {
            snprintf(message, message_size,
                     "%s holds rounds of another length (%.200s) than the plan says (%.200s); -o "
                     "OTHER for a new one",
                     m->directory, text, w->argument);
            util_one_line(message);
            return false;
        }
    }
    return true;
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

/* A number of rounds in matrix.json; 0: there is none, or none that can be. */
static uint32_t read_rounds(const json_t *root, const char *name)
{
    const json_int_t value = json_integer_value(json_object_get(root, name));

    return value > 0 && value <= ROUNDS_MOST ? (uint32_t)value : 0;
}

/* The key and the targets of both, in one sentence about what differs. */
static bool compare_key(const matrix *m, json_t *root, json_t *key, char *message,
                        size_t message_size)
{
    json_t *there = json_object_get(root, "key"), *old, *new, *asked;
    bool same;

    if (!json_is_object(there)) {
        snprintf(message, message_size,
                 "%s/matrix.json has no key; choose another directory with -o", m->directory);
        return false;
    }
    there = json_copy(there);
    asked = json_copy(key);
    json_object_set_new(there, "schema", json_incref(json_object_get(root, "schema")));
    json_object_set_new(asked, "schema", json_integer(1));
    same = extend_pairs(m, json_object_get(root, "targets"), &old, &new, message, message_size);
    if (same) {
        json_object_set_new(there, "targets", old);
        json_object_set_new(asked, "targets", new);
        same = json_equal(there, asked);
        if (!same)
            key_refuse(m, there, asked, message, message_size);
    }
    json_decref(asked);
    json_decref(there);
    return same;
}

/* How many rounds there are to be, where --rounds says how many more. The same command, when it was
 * interrupted, goes on to the number that it had in mind. */
static void settle_rounds(matrix *m, const json_t *root)
{
    const char *line = json_string_value(json_object_get(root, "command_line"));
    const uint32_t wanted = read_rounds(root, "unfinished");
    rounds_plan plan;

    if (m->more_rounds == 0)
        return;
    plan = rounds_make_plan(m);
    m->rounds = plan.most + m->more_rounds;
    if (wanted != 0 && line != NULL && strcmp(line, m->command_line) == 0)
        m->rounds = wanted;
    rounds_clear(&plan);
}

/* Somebody may have seen the verdicts, and goes on because of them. */
static void note_look(matrix *m, const json_t *root)
{
    rounds_plan plan;

    if (m->until_decided || m->one_round || read_rounds(root, "unfinished") != 0)
        return;
    plan = rounds_make_plan(m);
    if (plan.count > 0 && plan.most >= abench_rounds_least(0.05) && m->rounds > plan.most)
        matrix_note_once(m, "rounds were added after a look: see --until-decided");
    rounds_clear(&plan);
}

/* Goes on with what is there. */
static bool take_over(matrix *m, json_t *root, char *message, size_t message_size)
{
    const char *begun = json_string_value(json_object_get(root, "unix_s"));

    if (!extend_targets(m, json_object_get(root, "targets"), message, message_size) ||
        !until_go_on(m, read_rounds(root, "look_rounds"), message, message_size))
        return false;
    m->unix_s = begun == NULL ? 0 : strtoull(begun, NULL, 10);
    keep_notes(m, json_object_get(root, "notes"));
    if (!keep_arguments(m, json_object_get(root, "workloads"), message, message_size))
        return false;
    m->machines = json_incref(json_object_get(root, "machines")); /* of a merge */
    settle_rounds(m, root);
    note_look(m, root);
    return true;
}

/* Reads the matrix.json that is there, if any. */
static bool go_on(matrix *m, json_t *key, char *message, size_t message_size)
{
    char *path = xasprintf("%s/matrix.json", m->directory);
    json_error_t error;
    json_t *root;
    struct stat info;
    bool good;

    if (stat(path, &info) != 0) {
        free(path);
        settle_rounds(m, NULL);
        return !has_rounds(m, message, message_size);
    }
    if (!S_ISREG(info.st_mode)) {
        snprintf(message, message_size, "%s is no file; choose another directory with -o", path);
        free(path);
        return false;
    }
    root = json_load_file(path, JSON_REJECT_DUPLICATES, &error);
    if (root == NULL)
        snprintf(message, message_size, "%s:%d:%d: %s; choose another directory with -o", path,
                 error.line, error.column, error.text);
    good = root != NULL && compare_key(m, root, key, message, message_size) &&
           take_over(m, root, message, message_size);
    json_decref(root);
    free(path);
    return good;
}

/* ---- the directory --------------------------------------------------------------------------- */

static bool make_folder(const char *path, char *message, size_t message_size)
{
    if (mkdir(path, 0777) == 0 || errno == EEXIST)
        return true;
    snprintf(message, message_size, "the directory %s cannot be made: %s", path, strerror(errno));
    return false;
}

/* A report that looks whether a run holds it shares it for a moment (matrix_is_held): that is
 * waited for, and another run is not. */
static bool lock_alone(int fd)
{
    for (int left = LOCK_TRIES; left > 0; left--) {
        if (flock(fd, LOCK_EX | LOCK_NB) == 0)
            return true;
        if (flock(fd, LOCK_SH | LOCK_NB) != 0)
            return false;
        flock(fd, LOCK_UN);
        nanosleep(&(struct timespec){.tv_nsec = 5000000}, NULL);
    }
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
    } else if (!lock_alone(m->lock)) {
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
    good = go_on(m, key, message, message_size);
    if (m->until_decided)
        m->rounds = m->look_rounds;
    m->is_unfinished = true;
    if (good) {
        rounds_plan plan = rounds_make_plan(m); /* for the numbers that are written */
        rounds_clear(&plan);
        good = write_matrix(m, key, message, message_size);
    }
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
