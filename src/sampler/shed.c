/*
 * The rules. Kept: files mapped without write permission (programs, libraries, what the loader has
 * made read-only in them), whose pages are the file's; what can be written of a program or library
 * and the zeroed part behind it, but no more than IMAGE_KEPT of each, for the C library's few
 * variables and the tables that calls go through; what the kernel maps for itself. Given up: heaps,
 * stacks, every other anonymous mapping, and all shared memory.
 *
 * Whatever lies between two kept ranges is unmapped by one call: a process with 60,000 mappings has
 * as few calls to make as a small one.
 */
#include "sampler/shed.h"

#include <fcntl.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#define IMAGE_KEPT ((uint64_t)256 * 1024)

/* ---- one line -------------------------------------------------------------------------------- */

static int hex_digit(char c)
{
    if (c >= '0' && c <= '9')
        return c - '0';
    return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

/* Moves *at behind a number and the character that must follow it. */
static int take_hex(const char **at, const char *end, char follows, uint64_t *value)
{
    uint32_t digits = 0;

    *value = 0;
    for (; *at < end && hex_digit(**at) >= 0; ++*at, digits++)
        *value = *value << 4 | (uint64_t)hex_digit(**at);
    if (digits == 0 || digits > 16 || *at == end || **at != follows)
        return 0;
    ++*at;
    return 1;
}

static const char *skip(const char *at, const char *end, int blanks)
{
    while (at < end && (*at == ' ') == blanks)
        at++;
    return at;
}

static int begins(const char *at, const char *end, const char *word)
{
    const size_t length = strlen(word);

    return (size_t)(end - at) >= length && memcmp(at, word, length) == 0;
}

/* START-END PERMISSIONS OFFSET DEVICE INODE [NAME] (Documentation/filesystems/proc.rst). */
int abench__parse_mapping(const char *line, size_t length, abench__mapping *mapping)
{
    const char *at = line, *const end = line + length;
    const char *inode;

    memset(mapping, 0, sizeof *mapping);
    if (!take_hex(&at, end, '-', &mapping->start) || !take_hex(&at, end, ' ', &mapping->end) ||
        end - at < 5 || mapping->end <= mapping->start)
        return 0;
    mapping->writable = at[1] == 'w';
    mapping->shared = at[3] == 's';
    for (int field = 0; field < 3; field++) /* permissions, offset, device */
        at = skip(skip(at, end, 0), end, 1);
    inode = at;
    at = skip(at, end, 0);
    if (at == inode)
        return 0;
    mapping->file = at - inode != 1 || *inode != '0';
    at = skip(at, end, 1);
    mapping->special = begins(at, end, "[v") || begins(at, end, "[uprobes]");
    return 1;
}

/* ---- what stays ------------------------------------------------------------------------------ */

uint64_t abench__mapping_keeps(const abench__mapping *mapping, const abench__mapping *before,
                               uint64_t before_kept)
{
    const uint64_t bytes = mapping->end - mapping->start;
    const int behind_a_file = before->file && !before->shared && before->end == mapping->start &&
                              before_kept == before->end - before->start;

    if (mapping->special)
        return bytes;
    if (mapping->shared || (!mapping->file && !behind_a_file))
        return 0;
    if ((mapping->file && !mapping->writable) || bytes < IMAGE_KEPT)
        return bytes;
    return IMAGE_KEPT;
}

typedef struct shedding {
    const abench__kept *ranges;
    uint32_t count;
    int failed;
    uint64_t from; /* all below is settled */
    uint64_t to;   /* the end of the last mapping */
    abench__mapping before;
    uint64_t before_kept;
} shedding;

static void drop_up_to(shedding *s, uint64_t address)
{
    if (address > s->from && syscall(SYS_munmap, s->from, address - s->from) != 0)
        s->failed = 1;
}

static void keep(shedding *s, uint64_t start, uint64_t end)
{
    if (end <= s->from)
        return;
    drop_up_to(s, start);
    s->from = end;
}

static void settle(shedding *s, const abench__mapping *mapping)
{
    const uint64_t kept = abench__mapping_keeps(mapping, &s->before, s->before_kept);

    if (mapping->start >> 63 != 0) /* [vsyscall] is the kernel's */
        return;
    if (kept > 0)
        keep(s, mapping->start, mapping->start + kept);
    for (uint32_t i = 0; i < s->count; i++) {
        const abench__kept *range = &s->ranges[i];
        if (range->start < mapping->end && range->end > mapping->start)
            keep(s, range->start > mapping->start ? range->start : mapping->start,
                 range->end < mapping->end ? range->end : mapping->end);
    }
    s->to = mapping->end;
    s->before = *mapping;
    s->before_kept = kept;
}

/* Returns the length of the last, unfinished line, which is moved to the beginning. */
static size_t settle_lines(shedding *s, char *text, size_t length)
{
    char *line = text, *const end = text + length;
    abench__mapping mapping;

    for (;;) {
        char *newline = memchr(line, '\n', (size_t)(end - line));
        if (newline == NULL)
            break;
        /* What does not parse is the rest of a line too long for the scratch. */
        if (abench__parse_mapping(line, (size_t)(newline - line), &mapping))
            settle(s, &mapping);
        line = newline + 1;
    }
    memmove(text, line, (size_t)(end - line));
    return (size_t)(end - line);
}

int abench__shed_memory(const abench__kept *ranges, uint32_t count, char *text, size_t capacity)
{
    shedding s = {.ranges = ranges, .count = count};
    const int maps = (int)syscall(SYS_openat, AT_FDCWD, "/proc/self/maps", O_RDONLY | O_CLOEXEC);
    size_t length = 0;
    long got;

    if (maps < 0)
        return -1;
    /* The file goes on behind the last address that it has shown, whatever was unmapped before. */
    while ((got = syscall(SYS_read, maps, text + length, capacity - length)) > 0) {
        length = settle_lines(&s, text, length + (size_t)got);
        if (length == capacity) /* a name so long; what matters stands before it */
            text[length - 1] = '\n', length = settle_lines(&s, text, length);
    }
    syscall(SYS_close, maps);
    if (got < 0)
        return -1;
    drop_up_to(&s, s.to);
    return s.failed ? -1 : 0;
}
