/* opened.c - what is checked of a tape's file before anything is done for it. */
#include "tape/opened.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/arena.h"
#include "base/hash.h"
#include "base/text.h"

/* ---- reading --------------------------------------------------------------------------------- */

abench_status abench__damaged(abench_error *error, uint64_t offset, const char *what)
{
    return abench__fail(error, ABENCH_ERROR_SYNTAX, "byte %llu: %s", (unsigned long long)offset,
                        what);
}

/* words as this machine has them. */
abench_status abench__read_words(int fd, uint64_t offset, uint64_t *words, uint64_t count,
                                 abench_error *error)
{
    char *at = (char *)words;
    size_t left = (size_t)(count * FILE_WORD_BYTES);

    while (left > 0) {
        const ssize_t got = pread(fd, at, left, (off_t)offset);
        if (got < 0 && errno == EINTR)
            continue;
        if (got < 0)
            return abench__fail_errno(error, errno, "byte %llu cannot be read",
                                      (unsigned long long)offset);
        if (got == 0)
            return abench__damaged(error, offset, "the file ends here; it has become shorter");
        at += got;
        left -= (size_t)got;
        offset += (uint64_t)got;
    }
    for (uint64_t word = 0; word < count; word++)
        words[word] = abench__little(words[word]);
    return ABENCH_OK;
}

int abench__has_checksum(const uint64_t *words, uint64_t count)
{
    return abench__fold_words(0, words, count - 1) == words[count - 1];
}

/* ---- opening --------------------------------------------------------------------------------- */

static abench_status check_kind(const struct stat *info, abench_error *error)
{
    const char *what = S_ISDIR(info->st_mode)    ? "a directory"
                       : S_ISFIFO(info->st_mode) ? "a pipe"
                       : S_ISSOCK(info->st_mode) ? "a socket"
                                                 : "a device";

    if (!S_ISREG(info->st_mode))
        return abench__fail(error, ABENCH_ERROR_SYNTAX, "this is %s; a tape is read of a file",
                            what);
    if (info->st_size == 0)
        return abench__fail(error, ABENCH_ERROR_SYNTAX, "the file is empty");
    return ABENCH_OK;
}

/* Opening a device or a pipe may do something, or wait: it is looked at before. */
static abench_status open_file(abench__opened *s, const char *path, abench_error *error)
{
    struct stat info;
    abench_status status;

    if (stat(path, &info) != 0)
        return abench__fail_errno(error, errno, "the file cannot be opened");
    status = check_kind(&info, error);
    if (status != ABENCH_OK)
        return status;
    do
        s->fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
    while (s->fd < 0 && errno == EINTR);
    if (s->fd < 0 || fstat(s->fd, &info) != 0)
        return abench__fail_errno(error, errno, "the file cannot be opened");
    s->bytes = (uint64_t)info.st_size;
    s->changed = info.st_mtim;
    return check_kind(&info, error);
}

static abench_status read_header(abench__opened *s, abench_error *error)
{
    const uint64_t *h = s->header;
    const uint64_t words = s->bytes / FILE_WORD_BYTES;
    const abench_status status = abench__read_words(
        s->fd, 0, s->header, words < FILE_HEADER_WORDS ? words : FILE_HEADER_WORDS, error);

    if (status != ABENCH_OK)
        return status;
    if (words > 0 && h[0] != FILE_MAGIC)
        return abench__damaged(error, 0, "this is no tape: it does not begin like one");
    if (words < FILE_HEADER_WORDS)
        return abench__damaged(error, s->bytes, "the file is too short for a tape");
    if ((uint32_t)h[1] != FILE_FORMAT || h[1] >> 32 != ABENCH_TAPE_VERSION)
        return abench__fail(error, ABENCH_ERROR_SYNTAX,
                            "byte 8: format %u of a tape of version %u; this allocbench reads "
                            "format %u of version %u: the file is newer, or damaged",
                            (uint32_t)h[1], (uint32_t)(h[1] >> 32), FILE_FORMAT,
                            ABENCH_TAPE_VERSION);
    if (!abench__has_checksum(h, FILE_HEADER_WORDS))
        return abench__damaged(error, 0, "the header is damaged: its checksum is another");
    s->options.lanes = (uint32_t)h[2];
    s->options.touch = (uint32_t)(h[2] >> 32);
    s->options.local_slots = (uint32_t)h[3];
    s->options.shared_slots = (uint32_t)(h[3] >> 32);
    if (s->options.lanes == 0 || s->options.lanes > ABENCH_LANES_MAX ||
        s->options.touch > ABENCH_TOUCH_ALL || (h[4] | h[5] | h[6]) != 0)
        return abench__damaged(error, 16, "the header says what this allocbench does not know");
    return ABENCH_OK;
}

static abench_status read_trailer(abench__opened *s, abench_error *error)
{
    const uint64_t *t = s->trailer;
    const uint64_t at = s->bytes - FILE_TRAILER_BYTES;
    abench_status status;

    if (s->bytes <
        FILE_HEADER_BYTES + FILE_BLOCK_WORDS_LEAST * FILE_WORD_BYTES + FILE_TRAILER_BYTES)
        return abench__damaged(error, s->bytes, "the file ends here: it is cut short");
    status = abench__read_words(s->fd, at, s->trailer, FILE_TRAILER_WORDS, error);
    if (status != ABENCH_OK)
        return status;
    if (t[0] != FILE_TRAILER_TAG || t[TRAILER_FILE_BYTES] != s->bytes || s->bytes % 8 != 0)
        return abench__damaged(
            error, at,
            "there is no trailer here: the file is cut short, or something follows its "
            "end");
    if (!abench__has_checksum(t, FILE_TRAILER_WORDS))
        return abench__damaged(error, at, "the trailer is damaged: its checksum is another");
    if (t[TRAILER_HEADER] != s->header[FILE_HEADER_WORDS - 1])
        return abench__damaged(error, at, "the trailer belongs to another header");
    if (t[TRAILER_RESERVED] != 0)
        return abench__damaged(error, at + TRAILER_RESERVED * FILE_WORD_BYTES,
                               "the trailer says what this allocbench does not know");
    return ABENCH_OK;
}

/* Before anything is mapped for it. */
static abench_status check_limits(const abench__opened *s, abench_error *error)
{
    const abench_tape_options *o = &s->options;
    const uint64_t slots = abench__file_slots(o->lanes, o->local_slots, o->shared_slots);
    const uint64_t operations = s->trailer[TRAILER_OPERATIONS];
    const uint64_t words = s->bytes / FILE_WORD_BYTES;

    if (operations > words || s->trailer[TRAILER_WORDS] > words || operations < 2 * o->lanes ||
        s->trailer[TRAILER_BLOCKS] > words || s->trailer[TRAILER_BLOCKS] == 0)
        return abench__damaged(error, s->bytes - FILE_TRAILER_BYTES,
                               "the trailer speaks of more than is in the file");
    if (o->local_slots >= ABENCH_SLOT_SHARED || o->shared_slots >= ABENCH_SLOT_SHARED ||
        slots > abench__file_slots_most(operations))
        return abench__fail(error, ABENCH_ERROR_LIMIT,
                            "byte 24: %llu slots for %llu operations: more than a file may have",
                            (unsigned long long)slots, (unsigned long long)operations);
    return ABENCH_OK;
}

void abench__opened_close(const abench__opened *s)
{
    abench_memory_hooks hooks;

    if (s == NULL)
        return;
    hooks = s->hooks;

    if (s->fd >= 0)
        close(s->fd);
    abench__unmap(&hooks, (abench__opened *)(uintptr_t)s, sizeof *s);
}

abench_status abench__open_file(const char *path, const abench_memory_hooks *hooks,
                                abench__opened **out, abench_error *error)
{
    abench_memory_hooks copy;
    abench_status status = abench__hooks_copy(hooks, &copy);
    abench__opened *s;

    if (status != ABENCH_OK)
        return abench__fail(error, status, "the memory hooks are not valid");
    s = abench__map(&copy, sizeof *s, 1);
    if (s == NULL)
        return abench__fail(error, ABENCH_ERROR_MEMORY, "no memory to read the tape");
    s->hooks = copy;
    s->fd = -1;
    abench_tape_options_init(&s->options);
    s->options.hooks = hooks;
    status = open_file(s, path, error);
    if (status == ABENCH_OK)
        status = read_header(s, error);
    if (status == ABENCH_OK)
        status = read_trailer(s, error);
    if (status == ABENCH_OK)
        status = check_limits(s, error);
    if (status != ABENCH_OK) {
        abench__opened_close(s);
        return status;
    }
    *out = s;
    return ABENCH_OK;
}

abench_status abench__opened_check(const abench__opened *s, abench_error *error)
{
    struct stat info;

    if (fstat(s->fd, &info) != 0)
        return abench__fail_errno(error, errno, "the file cannot be looked at");
    if ((uint64_t)info.st_size != s->bytes || info.st_mtim.tv_sec != s->changed.tv_sec ||
        info.st_mtim.tv_nsec != s->changed.tv_nsec)
        return abench__fail(error, ABENCH_ERROR_STATE,
                            "the file was written to since it was opened");
    return ABENCH_OK;
}
