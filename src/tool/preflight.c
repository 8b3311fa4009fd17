#include "tool/preflight.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tool/util.h"

#define TIMEOUT_MS 20000

static void describe(const abench_identity *identity, char *text, size_t size)
{
    snprintf(text, size, "%s (%s%s%s)", identity->file, identity->family,
             identity->version[0] == '\0' ? "" : " ", identity->version);
}

bool preflight_check(const target *t, const abench_identity *identity, char *message,
                     size_t message_size)
{
    char served[640];
    struct stat wanted;

    describe(identity, served, sizeof served);
    if (identity->flags & ABENCH_IDENTITY_MIXED) {
        snprintf(message, message_size,
                 "malloc is served by %s, but %s: an allocator must provide them all", served,
                 identity->others);
        return false;
    }
    if (t->library != NULL &&
        (stat(t->library, &wanted) != 0 || wanted.st_dev != identity->device ||
         wanted.st_ino != identity->inode)) {
        snprintf(message, message_size, "malloc is served by %s, not by %s", served, t->library);
        return false;
    }
    if (t->library == NULL && identity->flags & ABENCH_IDENTITY_STATIC) {
        snprintf(message, message_size, "malloc is served by the program itself, %s", served);
        return false;
    }
    /* A library of the right file may be of a family that identify does not know yet. */
    if (t->family != NULL && strcmp(t->family, identity->family) != 0 &&
        (t->library == NULL || strcmp(identity->family, "unknown") != 0)) {
        snprintf(message, message_size, "malloc is served by %s, which is no %s", served,
                 t->family);
        return false;
    }
    return true;
}

static bool was_replaced(const target *t, char *message, size_t message_size)
{
    snprintf(message, message_size,
             "%s is another file now than at the start: it was replaced in the middle",
             t->identity.file);
    return false;
}

bool preflight_same(const target *t, const abench_identity *identity, char *message,
                    size_t message_size)
{
    const abench_identity *seen = &t->identity;

    if (seen->device == identity->device && seen->inode == identity->inode &&
        strcmp(seen->family, identity->family) == 0 &&
        strcmp(seen->version, identity->version) == 0 &&
        strcmp(seen->build_id, identity->build_id) == 0)
        return true;
    return was_replaced(t, message, message_size);
}

bool preflight_unchanged(const target *t, char *message, size_t message_size)
{
    struct stat now;

    if (t->library == NULL || (stat(t->library, &now) == 0 && now.st_dev == t->identity.device &&
                               now.st_ino == t->identity.inode))
        return true;
    return was_replaced(t, message, message_size);
}

static void copy_field(char *field, size_t size, const char *value)
{
    snprintf(field, size, "%s", value);
}

/* One "key=value" line of CELL --identify. */
static void read_line(const char *line, abench_identity *identity)
{
    const size_t length = strcspn(line, "=");
    const char *value = line[length] == '=' ? line + length + 1 : "";

    if (strncmp(line, "family=", 7) == 0)
        copy_field(identity->family, sizeof identity->family, value);
    else if (strncmp(line, "version=", 8) == 0)
        copy_field(identity->version, sizeof identity->version, value);
    else if (strncmp(line, "build_id=", 9) == 0)
        copy_field(identity->build_id, sizeof identity->build_id, value);
    else if (strncmp(line, "file=", 5) == 0)
        copy_field(identity->file, sizeof identity->file, value);
    else if (strncmp(line, "others=", 7) == 0)
        copy_field(identity->others, sizeof identity->others, value);
    else if (strncmp(line, "device=", 7) == 0)
        identity->device = strtoull(value, NULL, 10);
    else if (strncmp(line, "inode=", 6) == 0)
        identity->inode = strtoull(value, NULL, 10);
    else if (strcmp(line, "mixed=1") == 0)
        identity->flags |= ABENCH_IDENTITY_MIXED;
    else if (strcmp(line, "static=1") == 0)
        identity->flags |= ABENCH_IDENTITY_STATIC;
}

static void read_identity(char *text, abench_identity *identity)
{
    char *rest = text, *line;

    abench_identity_init(identity);
    while ((line = strsep(&rest, "\n")) != NULL)
        read_line(line, identity);
}

/* Reads to the end of the pipe, at most size - 1 bytes and TIMEOUT_MS. false: too late. */
static bool read_output(int fd, char *text, size_t size, const volatile sig_atomic_t *stop)
{
    const uint64_t deadline = abench_clock_ns() + (uint64_t)TIMEOUT_MS * 1000000;
    size_t length = 0;

    for (;;) {
        const uint64_t now = abench_clock_ns();
        struct pollfd wait = {fd, POLLIN, 0};
        ssize_t got;
        if (now >= deadline || length + 1 >= size || (stop != NULL && *stop != 0))
            break;
        if (poll(&wait, 1, (int)((deadline - now) / 1000000) + 1) <= 0)
            continue;
        got = read(fd, text + length, size - 1 - length);
        if (got < 0 && errno == EINTR)
            continue;
        if (got <= 0) {
            text[length] = '\0';
            return got == 0;
        }
        length += (size_t)got;
    }
    text[length] = '\0';
    return false;
}

static void explain_end(int status, char *message, size_t message_size)
{
    const char *name = WIFSIGNALED(status) ? sigabbrev_np(WTERMSIG(status)) : NULL;

    if (WIFSIGNALED(status))
        snprintf(message, message_size, "a child under it was killed by SIG%s",
                 name == NULL ? "?" : name);
    else
        snprintf(message, message_size, "a child under it ended with status %d",
                 WEXITSTATUS(status));
}

/* The kernel drops CPUs that are not there from a mask, and says nothing. */
static bool has_its_cpus(const target *t, char *message, size_t message_size)
{
    cpu_set_t allowed;

    if (!t->has_cpus || sched_getaffinity(0, sizeof allowed, &allowed) != 0)
        return true;
    for (size_t cpu = 0; cpu < CPU_SETSIZE; cpu++)
        if (CPU_ISSET(cpu, &t->cpus) && !CPU_ISSET(cpu, &allowed)) {
            snprintf(message, message_size,
                     "CPU %zu of its cpus is none that this process may use: taskset -cp $$ lists "
                     "those",
                     cpu);
            return false;
        }
    return true;
}

bool preflight_target(target *t, const char *cell, bool keep_environment,
                      const volatile sig_atomic_t *stop, char *message, size_t message_size)
{
    char *argv[] = {(char *)(uintptr_t)cell, (char *)(uintptr_t) "--identify", NULL};
    char **envp = target_environment(t, keep_environment, NULL, 0);
    launch how = {.argv = argv, .envp = envp, .input = -1, .output = -1, .errors = -1};
    const char *what = "";
    char text[8192];
    int ends[2], status = 0;
    bool whole;
    pid_t pid;

    if (!has_its_cpus(t, message, message_size)) {
        target_environment_free(envp);
        return false;
    }
    if (pipe2(ends, O_CLOEXEC) != 0) {
        snprintf(message, message_size, "no pipe: %s", strerror(errno));
        target_environment_free(envp);
        return false;
    }
    how.output = ends[1];
    target_launch(t, &how);
    pid = launch_start(&how, &what);
    close(ends[1]);
    target_environment_free(envp);
    if (pid < 0) {
        snprintf(message, message_size, "a child under it cannot be started (%s): %s", what,
                 strerror(errno));
        close(ends[0]);
        return false;
    }
    whole = read_output(ends[0], text, sizeof text, stop);
    close(ends[0]);
    if (!whole) {
        launch_kill(pid);
        if (stop != NULL && *stop != 0)
            snprintf(message, message_size, "interrupted");
        else if (strlen(text) + 1 == sizeof text)
            snprintf(message, message_size, "a child under it printed more than %zu bytes",
                     sizeof text);
        else
            snprintf(message, message_size,
                     "a child under it hung: it did not say within %d s who serves its malloc",
                     TIMEOUT_MS / 1000);
        return false;
    }
    while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
        ;
    if (status != 0) {
        explain_end(status, message, message_size);
        return false;
    }
    read_identity(text, &t->identity);
    if (t->identity.family[0] == '\0') {
        snprintf(message, message_size, "a child under it did not say who serves its malloc");
        return false;
    }
    return preflight_check(t, &t->identity, message, message_size);
}
