/* probe_lines.h - for the tests of the probe: a program is run under it, and the lines that the
 * probe wrote are looked at. */
#ifndef ABENCH_TESTS_UNIT_PROBE_LINES_H
#define ABENCH_TESTS_UNIT_PROBE_LINES_H

#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "identity/child.h"

#define COUNTING IDENTITY_DIRECTORY "/identity-counting"
#define NUMBER   100 /* of the descriptor that children inherit */
#define TEXT     65536

/* Beside the programs, so that a program may be linked into it. Neither a space nor a colon nor a
 * quote may matter. */
#define FOLDER IDENTITY_DIRECTORY "/probe test:XXXXXX"

/* A folder with the file that the probe writes to, as the tool would make it. */
struct bench {
    char folder[sizeof FOLDER];
    char path[sizeof FOLDER + 32];
    char other[sizeof FOLDER + 32]; /* a second file, which must stay as it is */
    int fd;
    int other_fd;
    char variable[sizeof FOLDER + 128]; /* ALLOCBENCH_PROBE=... */
    char preload[2 * sizeof IDENTITY_PROBE + 512];
    char text[TEXT]; /* what is in the file now */
};

static inline int set_up(void **state)
{
    struct bench *b = calloc(1, sizeof *b);
    struct stat status;

    assert_non_null(b);
    memcpy(b->folder, FOLDER, sizeof FOLDER);
    assert_non_null(mkdtemp(b->folder));
    snprintf(b->path, sizeof b->path, "%s/probe \"1\".jsonl", b->folder);
    snprintf(b->other, sizeof b->other, "%s/other", b->folder);
    b->fd = open(b->path, O_RDWR | O_CREAT | O_EXCL | O_APPEND | O_CLOEXEC, 0600);
    b->other_fd = open(b->other, O_RDWR | O_CREAT | O_EXCL | O_APPEND | O_CLOEXEC, 0600);
    assert_true(b->fd >= 0 && b->other_fd >= 0);
    assert_int_equal(fstat(b->fd, &status), 0);
    snprintf(b->variable, sizeof b->variable, "ALLOCBENCH_PROBE=%d:%llu:%llu:%s", NUMBER,
             (unsigned long long)status.st_dev, (unsigned long long)status.st_ino, b->path);
    snprintf(b->preload, sizeof b->preload, "LD_PRELOAD=%s", IDENTITY_PROBE);
    *state = b;
    return 0;
}

static inline int tear_down(void **state)
{
    struct bench *b = *state;

    close(b->fd);
    close(b->other_fd);
    unlink(b->path);
    unlink(b->other);
    rmdir(b->folder);
    free(b);
    return 0;
}

static inline void give_descriptor(void *user)
{
    dup2(((struct bench *)user)->fd, NUMBER);
}

static inline const char *read_text(struct bench *b)
{
    const ssize_t length = pread(b->fd, b->text, TEXT - 1, 0);

    assert_true(length >= 0);
    b->text[length] = '\0';
    return b->text;
}

static inline void start(struct bench *b, child *c, char *const *argv, char *const *envp,
                         void (*prepare)(void *user))
{
    memset(c, 0, sizeof *c);
    c->argv = argv;
    c->envp = envp;
    c->prepare = prepare;
    c->user = b;
    child_run(c);
    read_text(b);
}

/* Runs argv under the probe with the descriptor inherited; it must end with 0. */
static inline void run(struct bench *b, child *c, char *const *argv)
{
    char *envp[] = {b->preload, b->variable, NULL};

    start(b, c, argv, envp, give_descriptor);
    if (c->status != 0)
        fail_msg("%s ended with status %d", argv[0], c->status);
}

static inline int count_lines(const struct bench *b, const char *part)
{
    int count = 0;

    for (const char *line = b->text; *line != '\0'; line = strchr(line, '\n') + 1) {
        const char *end = strchr(line, '\n');
        assert_non_null(end);
        count += memmem(line, (size_t)(end - line), part, strlen(part)) != NULL;
    }
    return count;
}

/* The number behind "key": in line number index that contains part. */
static inline unsigned long long number_in(const struct bench *b, const char *part, int index,
                                           const char *key)
{
    char quoted[64];
    const char *line = b->text;

    snprintf(quoted, sizeof quoted, "\"%s\":", key);
    for (; *line != '\0'; line = strchr(line, '\n') + 1) {
        const size_t length = strcspn(line, "\n");
        const char *at;

        if (memmem(line, length, part, strlen(part)) == NULL || index-- > 0)
            continue;
        at = memmem(line, length, quoted, strlen(quoted));
        if (at == NULL)
            fail_msg("no %s in %.*s", quoted, (int)length, line);
        return strtoull(at + strlen(quoted), NULL, 10);
    }
    fail_msg("too few lines with %s:\n%s", part, b->text);
    return 0;
}

#define STARTS "\"event\":\"start\""
#define EXITS  "\"event\":\"exit\""

static inline void assert_lines(const struct bench *b, int starts, int exits)
{
    if (count_lines(b, STARTS) != starts || count_lines(b, EXITS) != exits ||
        count_lines(b, "") != starts + exits)
        fail_msg("wanted %d starts and %d exits:\n%s", starts, exits, b->text);
}

static char *start_counting[] = {(char *)COUNTING, (char *)"start", NULL};

#define PROBE_TEST(function) cmocka_unit_test_setup_teardown(function, set_up, tear_down)

#endif
