#include "run/writer.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

/* Writes what there is of the line. */
static void write_text(abench__writer *w)
{
    const char *at = w->data;
    size_t left = w->line.length;

    if (w->line.truncated)
        w->failed = EMSGSIZE; /* half a record is worse than none */
    while (left > 0 && w->failed == 0) {
        const ssize_t written = write(w->fd, at, left);
        if (written < 0 && errno == EINTR)
            continue;
        if (written <= 0) {
            w->failed = written < 0 ? errno : EIO;
            break;
        }
        at += written;
        left -= (size_t)written;
    }
    abench__text_init(&w->line, w->data, sizeof w->data);
}

static void flush_line(abench__writer *w)
{
    abench__text_put_char(&w->line, '\n');
    write_text(w);
}

void abench__writer_init(abench__writer *w, int fd)
{
    w->fd = fd;
    w->failed = 0;
    abench__text_init(&w->line, w->data, sizeof w->data);
}

void abench__write_part(abench__writer *w, size_t room)
{
    if (w->line.length > sizeof w->data - room)
        write_text(w);
}

/* ---- members --------------------------------------------------------------------------------- */

void abench__begin_record(abench__writer *w, const char *kind)
{
    abench__text_put(&w->line, "{\"record\":");
    abench__text_put_json(&w->line, kind);
}

void abench__end_record(abench__writer *w)
{
    abench__text_put_char(&w->line, '}');
    flush_line(w);
}

void abench__put_key(abench__writer *w, const char *key)
{
    const char before = w->line.length == 0 ? '\0' : w->data[w->line.length - 1];

    if (before != '{' && before != '[')
        abench__text_put_char(&w->line, ',');
    abench__text_put_json(&w->line, key);
    abench__text_put_char(&w->line, ':');
}

void abench__put_u64(abench__writer *w, const char *key, uint64_t value)
{
    abench__put_key(w, key);
    abench__text_put_u64(&w->line, value);
}

void abench__put_text(abench__writer *w, const char *key, const char *value)
{
    abench__put_key(w, key);
    abench__text_put_json(&w->line, value);
}

void abench__put_flag(abench__writer *w, const char *key, int value)
{
    abench__put_key(w, key);
    abench__text_put(&w->line, value ? "true" : "false");
}

void abench__put_hex(abench__writer *w, const char *key, uint64_t value)
{
    abench__put_key(w, key);
    abench__text_put_char(&w->line, '"');
    abench__text_put_hex(&w->line, value);
    abench__text_put_char(&w->line, '"');
}

void abench__put_double(abench__writer *w, const char *key, double value)
{
    abench__put_key(w, key);
    abench__text_put_double(&w->line, value);
}

void abench__put_open(abench__writer *w, const char *key)
{
    abench__put_key(w, key);
    abench__text_put_char(&w->line, '{');
}

void abench__put_close(abench__writer *w)
{
    abench__text_put_char(&w->line, '}');
}

void abench__put_memory(abench__writer *w, const abench_memory *memory)
{
    abench_memory_field field;

    abench_memory_field_init(&field);
    for (uint32_t at = 0; abench_memory_field_at(at, &field) == ABENCH_OK; at++) {
        uint64_t value;
        if (!(memory->valid & field.bit))
            continue;
        memcpy(&value, (const char *)memory + field.offset, sizeof value);
        abench__put_u64(w, field.name, value);
    }
}
