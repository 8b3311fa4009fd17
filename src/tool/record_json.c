#include "tool/record_json.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tool/util.h"

/* ---- where a value stands
 * ------------------------------------------------------------------------
 *
 * jansson keeps no positions, so the text is walked again, once, for the one error that is shown.
 * It was parsed without error, which makes the walk simple. */

typedef struct walk {
    const char *at;
    const char *end;
} walk;

static void walk_blank(walk *w)
{
    while (w->at < w->end && strchr(" \t\r\n", *w->at) != NULL)
        w->at++;
}

static void walk_string(walk *w)
{
    for (w->at++; w->at < w->end && *w->at != '"'; w->at++) {
        if (*w->at == '\\' && w->at + 1 < w->end)
            w->at++;
    }
    if (w->at < w->end)
        w->at++;
}

/* Moves behind the value that begins at w->at. */
static void walk_value(walk *w)
{
    size_t depth = 0;
    do {
        walk_blank(w);
        if (w->at >= w->end)
            return;
        if (*w->at == '"') {
            walk_string(w);
        } else if (strchr("{[", *w->at) != NULL) {
            depth++;
            w->at++;
        } else if (strchr("]}", *w->at) != NULL) {
            depth--;
            w->at++;
        } else {
            w->at++; /* a comma or colon between values, or a value's first byte */
            while (w->at < w->end && (*w->at == '\0' || strchr(" \t\r\n,:{}[]\"", *w->at) == NULL))
                w->at++;
        }
    } while (depth > 0);
}

/* From '{' to the value of key; false leaves w alone. */
static bool walk_key(walk *w, const char *key, size_t length)
{
    walk inner = {w->at + 1, w->end};
    for (;;) {
        walk_blank(&inner);
        if (inner.at >= inner.end || *inner.at != '"')
            return false;
        const char *name = inner.at + 1;
        walk_string(&inner);
        bool found = (size_t)(inner.at - name) == length + 1 && memcmp(name, key, length) == 0;
        walk_blank(&inner);
        inner.at++; /* ':' */
        walk_blank(&inner);
        if (found) {
            *w = inner;
            return true;
        }
        walk_value(&inner);
        walk_blank(&inner);
        if (inner.at >= inner.end || *inner.at != ',')
            return false;
        inner.at++;
    }
}

/* From '[' to item index; false leaves w alone. */
static bool walk_index(walk *w, unsigned long index)
{
    walk inner = {w->at + 1, w->end};
    for (unsigned long i = 0;; i++) {
        walk_blank(&inner);
        if (inner.at >= inner.end || *inner.at == ']')
            return false;
        if (i == index) {
            *w = inner;
            return true;
        }
        walk_value(&inner);
        walk_blank(&inner);
        if (inner.at < inner.end && *inner.at == ',')
            inner.at++;
    }
}

/* Follows "targets[2].name" as far as the text goes along. */
static const char *locate(const json_source *source, const char *path)
{
    walk w = {source->text, source->text + source->size};
    walk_blank(&w);
    while (*path != '\0' && w.at < w.end) {
        bool found = false;
        if (*path == '[' && *w.at == '[') {
            char *rest;
            found = walk_index(&w, strtoul(path + 1, &rest, 10));
            path = *rest == ']' ? rest + 1 : rest;
        } else if (*path != '[' && *w.at == '{') {
            path += *path == '.';
            size_t length = strcspn(path, ".[");
            found = walk_key(&w, path, length);
            path += length;
        }
        if (!found)
            break;
    }
    return w.at;
}

/* ---- errors ---------------------------------------------------------------------------------- */

static void keep(json_source *source, size_t line, size_t column, const char *where,
                 const char *format, va_list list) __attribute__((format(printf, 5, 0)));

static void keep(json_source *source, size_t line, size_t column, const char *where,
                 const char *format, va_list list)
{
    if (source->failed)
        return;
    source->failed = true;
    char place[48] = ""; /* line 0: the file as a whole */
    if (line > 0)
        snprintf(place, sizeof place, ":%zu:%zu", line, column);
    int length = snprintf(source->message, sizeof source->message, "%s%s: %s%s", source->file,
                          place, where, *where != '\0' ? ": " : "");
    if (length >= 0 && (size_t)length < sizeof source->message)
        vsnprintf(source->message + length, sizeof source->message - (size_t)length, format, list);
}

static void keep_at(json_source *source, size_t line, size_t column, const char *format, ...)
    __attribute__((format(printf, 4, 5)));

static void keep_at(json_source *source, size_t line, size_t column, const char *format, ...)
{
    va_list list;
    va_start(list, format);
    keep(source, line, column, "", format, list);
    va_end(list);
}

void json_source_fail(json_source *source, const char *key, const char *format, ...)
{
    if (source->failed)
        return;
    char path[sizeof source->path + 64];
    snprintf(path, sizeof path, "%s%s%s", source->path,
             key != NULL && source->path[0] != '\0' ? "." : "", key != NULL ? key : "");
    const char *at = locate(source, path);
    size_t line = source->line;
    const char *begin = source->text;
    for (const char *c = source->text; c < at; c++) {
        if (*c == '\n') {
            line++;
            begin = c + 1;
        }
    }
    va_list list;
    va_start(list, format);
    keep(source, line, (size_t)(at - begin) + 1, path, format, list);
    va_end(list);
}

/* ---- reading --------------------------------------------------------------------------------- */

char *json_source_read(json_source *source, const char *path, size_t maximum)
{
    char *text = NULL;
    struct stat status;
    /* Without O_NONBLOCK a FIFO of this name would keep the tool waiting for a writer. */
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
    if (fd < 0 || fstat(fd, &status) != 0) {
        keep_at(source, 0, 0, "cannot be read: %s", strerror(errno));
        goto out;
    }
    if (!S_ISREG(status.st_mode)) {
        keep_at(source, 0, 0, "is not a regular file");
        goto out;
    }
    if (status.st_size < 0 || (uint64_t)status.st_size > maximum) {
        keep_at(source, 0, 0, "is larger than %zu MiB", maximum >> 20);
        goto out;
    }
    text = xmalloc((size_t)status.st_size + 1);
    ssize_t size = util_read_all(fd, text, (size_t)status.st_size);
    if (size < 0) {
        keep_at(source, 0, 0, "cannot be read: %s", strerror(errno));
        free(text);
        text = NULL;
        goto out;
    }
    text[size] = '\0';
    source->text = text;
    source->size = (size_t)size;
out:
    if (fd >= 0)
        close(fd);
    return text;
}

json_t *json_source_parse(json_source *source)
{
    json_error_t error;
    json_t *root = json_loadb(source->text, source->size, JSON_REJECT_DUPLICATES, &error);
    source->wide = root == NULL && json_error_code(&error) == json_error_numeric_overflow;
    if (source->wide)
        root = json_loadb(source->text, source->size,
                          JSON_REJECT_DUPLICATES | JSON_DECODE_INT_AS_REAL, &error);
    if (root == NULL) {
        size_t line = source->line + (error.line > 1 ? (size_t)error.line - 1 : 0);
        keep_at(source, line, error.column > 1 ? (size_t)error.column : 1, "%s", error.text);
        return NULL;
    }
    if (!json_is_object(root)) {
        keep_at(source, source->line, 1, "an object is needed");
        json_decref(root);
        return NULL;
    }
    return root;
}

static const char *type_name(const json_t *value)
{
    static const char *const names[] = {"an object", "an array", "a string", "an integer",
                                        "a real",    "true",     "false",    "null"};
    return names[json_typeof(value)];
}

/* The value of key when it is of the type; wanted names the type in the error. */
static json_t *get(json_source *source, const json_t *object, const char *key, json_type type,
                   const char *wanted, json_presence presence)
{
    json_t *value = json_object_get(object, key);
    if (value == NULL || json_is_null(value)) {
        if (presence == JSON_NEEDED && value == NULL)
            json_source_fail(source, NULL, "\"%s\" is missing", key);
        else if (presence == JSON_NEEDED)
            json_source_fail(source, key, "%s is needed, this is null", wanted);
        return NULL;
    }
    if (json_typeof(value) != type) {
        json_source_fail(source, key, "%s is needed, this is %s", wanted, type_name(value));
        return NULL;
    }
    return value;
}

const char *json_get_text(json_source *source, const json_t *object, const char *key,
                          size_t maximum, json_presence presence)
{
    const json_t *value = get(source, object, key, JSON_STRING, "a string", presence);
    if (value == NULL)
        return "";
    if (json_string_length(value) > maximum) {
        json_source_fail(source, key, "longer than %zu bytes", maximum);
        return "";
    }
    return json_string_value(value);
}

static uint64_t get_wide(json_source *source, const char *key, double value, uint64_t maximum)
{
    if (value >= 0 && value < 0x1p63 && (uint64_t)value <= maximum && !(value > floor(value)))
        return (uint64_t)value;
    json_source_fail(source, key, "%.17g is no integer from 0 to %llu", value,
                     (unsigned long long)maximum);
    return 0;
}

uint64_t json_get_count(json_source *source, const json_t *object, const char *key,
                        uint64_t maximum, json_presence presence)
{
    if (source->wide && json_is_real(json_object_get(object, key)))
        return get_wide(source, key, json_real_value(json_object_get(object, key)), maximum);
    const json_t *value = get(source, object, key, JSON_INTEGER, "an integer", presence);
    if (value == NULL)
        return 0;
    json_int_t integer = json_integer_value(value);
    if (integer < 0 || (uint64_t)integer > maximum) {
        json_source_fail(source, key, "%" JSON_INTEGER_FORMAT " is not from 0 to %llu", integer,
                         (unsigned long long)maximum);
        return 0;
    }
    return (uint64_t)integer;
}

bool json_get_flag(json_source *source, const json_t *object, const char *key,
                   json_presence presence)
{
    const json_t *value = json_object_get(object, key);
    if (json_is_boolean(value))
        return json_is_true(value);
    return json_get_count(source, object, key, 1, presence) == 1;
}

json_t *json_get_list(json_source *source, const json_t *object, const char *key, size_t maximum,
                      json_presence presence)
{
    json_t *value = get(source, object, key, JSON_ARRAY, "an array", presence);
    if (value != NULL && json_array_size(value) > maximum) {
        json_source_fail(source, key, "more than %zu items", maximum);
        return NULL;
    }
    return value;
}

json_t *json_get_object(json_source *source, const json_t *object, const char *key,
                        json_presence presence)
{
    return get(source, object, key, JSON_OBJECT, "an object", presence);
}

bool json_source_enter(json_source *source, const json_t *item, const char *key, size_t index)
{
    snprintf(source->path, sizeof source->path, "%s[%zu]", key, index);
    if (!json_is_object(item))
        json_source_fail(source, NULL, "an object is needed, this is %s", type_name(item));
    return json_is_object(item);
}
