#include "allocator/info.h"

#include <stdio.h>
#include <string.h>

#include "base/text.h"

static const struct {
    const char *element; /* as it stands in the line */
    const char *type;
    const char *name;
} totals[ABENCH__INFO_TOTALS] = {
    {"<total ", "type=\"rest\"", "total.rest"}, {"<total ", "type=\"fast\"", "total.fast"},
    {"<total ", "type=\"mmap\"", "total.mmap"}, {"<system ", "type=\"current\"", "system.current"},
    {"<system ", "type=\"max\"", "system.max"}, {"<aspace ", "type=\"total\"", "aspace.total"},
};

const char *abench__info_name(uint32_t total)
{
    return totals[total].name;
}

/* ---- text ------------------------------------------------------------------------------------ */

static int read_attribute(const char *line, const char *attribute, uint64_t *value)
{
    const char *at = strstr(line, attribute);

    if (at == NULL)
        return 0;
    at += strlen(attribute);
    return abench__parse_u64(&at, value) && *at == '"';
}

static void add_allocations(abench__info *info, uint64_t size, uint64_t count)
{
    uint64_t bytes;

    if (__builtin_mul_overflow(size, count, &bytes) ||
        __builtin_add_overflow(info->allocated_bytes, bytes, &info->allocated_bytes) ||
        __builtin_add_overflow(info->allocations, count, &info->allocations))
        info->overflowed = 1;
}

static void read_line(abench__info *info, const char *line)
{
    uint64_t size, count;

    if (strstr(line, "<heap nr=") != NULL) {
        info->heaps++;
        return;
    }
    if (strstr(line, "<alloc ") != NULL) {
        if (read_attribute(line, " size=\"", &size) && read_attribute(line, " count=\"", &count))
            add_allocations(info, size, count);
        return;
    }
    if (strstr(line, "</heap>") != NULL)
        info->totals_valid = 0; /* those so far were of this heap */
    for (uint32_t at = 0; at < ABENCH__INFO_TOTALS; at++)
        if (strstr(line, totals[at].element) != NULL && strstr(line, totals[at].type) != NULL &&
            read_attribute(line, " size=\"", &size)) {
            info->totals[at] = size;
            info->totals_valid |= (uint64_t)1 << at;
        }
}

void abench__info_feed(abench__info *info, const char *bytes, size_t count)
{
    for (size_t at = 0; at < count; at++) {
        if (bytes[at] == '\n') {
            if (info->line_length < ABENCH__INFO_LINE) {
                info->line[info->line_length] = '\0';
                read_line(info, info->line);
            }
            info->line_length = 0;
        } else if (info->line_length < ABENCH__INFO_LINE) {
            /* One that fills the line is too long, and stays at that length until it ends. */
            info->line[info->line_length++] = bytes[at];
        }
    }
}

/* ---- stream ---------------------------------------------------------------------------------- */

typedef FILE *open_cookie(void *cookie, const char *mode, cookie_io_functions_t functions);
typedef int set_buffer(FILE *stream, char *buffer, int mode, size_t size);
typedef int on_stream(FILE *stream);

/* In account->secret. */
struct sink {
    FILE *stream;
    abench__function flush;
    abench__function close;
    abench__info *info; /* NULL: what comes is not wanted */
    char buffer[4096];
};

_Static_assert(sizeof(struct sink) <= ABENCH__ACCOUNT_SECRET, "room for the stream");

static ssize_t take(void *cookie, const char *bytes, size_t count)
{
    const struct sink *sink = cookie;

    if (sink->info != NULL)
        abench__info_feed(sink->info, bytes, count);
    return (ssize_t)count;
}

void abench__info_open(abench_account *account)
{
    struct sink *sink = (struct sink *)account->secret;
    const cookie_io_functions_t functions = {.write = take};
    abench__function open, buffer;
    abench__object libc;

    if (!abench__objects_libc(&libc))
        return;
    open = abench__object_function(&libc, "fopencookie");
    buffer = abench__object_function(&libc, "setvbuf");
    sink->flush = abench__object_function(&libc, "fflush");
    sink->close = abench__object_function(&libc, "fclose");
    if (open == NULL || buffer == NULL || sink->flush == NULL || sink->close == NULL)
        return;
    sink->stream = ((open_cookie *)open)(sink, "w", functions);
    if (sink->stream != NULL)
        ((set_buffer *)buffer)(sink->stream, sink->buffer, _IOFBF, sizeof sink->buffer);
}

int abench__info_read(abench_account *account, abench__function malloc_info, abench__info *info)
{
    struct sink *sink = (struct sink *)account->secret;
    int failed;

    memset(info, 0, sizeof *info);
    if (malloc_info == NULL || sink->stream == NULL)
        return 0;
    sink->info = info;
    failed = ((int (*)(int, FILE *))malloc_info)(0, sink->stream);
    failed |= ((on_stream *)sink->flush)(sink->stream);
    sink->info = NULL;
    return failed == 0;
}

void abench__info_close(abench_account *account)
{
    struct sink *sink = (struct sink *)account->secret;

    if (sink->stream != NULL)
        ((on_stream *)sink->close)(sink->stream);
    sink->stream = NULL;
}
