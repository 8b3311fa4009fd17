/*
 * result.h - result files for tests: a strict reader of JSON that owes nothing to the library, and
 * the lines of one file. Included after cmocka.h; only for the main thread.
 */
#ifndef TESTS_UNIT_RESULT_H
#define TESTS_UNIT_RESULT_H

#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* ---- JSON (RFC 8259) ------------------------------------------------------------------------- */

/* Each returns what follows the value, or NULL when it is malformed. Nothing may stand between two
 * tokens: the library writes none. */
static inline const char *json_skip(const char *at);

static inline const char *json_skip_string(const char *at)
{
    if (*at++ != '"')
        return NULL;
    for (; *at != '"'; at++) {
        if ((unsigned char)*at < 0x20)
            return NULL;
        if (*at != '\\')
            continue;
        at++;
        if (*at == 'u') {
            if (strspn(at + 1, "0123456789abcdefABCDEF") < 4)
                return NULL;
            at += 4;
        } else if (*at == '\0' || strchr("\"\\/bfnrt", *at) == NULL) {
            return NULL;
        }
    }
    return at + 1;
}

static inline const char *json_skip_number(const char *at)
{
    at += *at == '-';
    if (*at == '0')
        at++;
    else if (*at >= '1' && *at <= '9')
        at += strspn(at, "0123456789");
    else
        return NULL;
    if (*at == '.') {
        if (strspn(at + 1, "0123456789") == 0)
            return NULL;
        at += 1 + strspn(at + 1, "0123456789");
    }
    if (*at == 'e' || *at == 'E') {
        at += at[1] == '+' || at[1] == '-' ? 2 : 1;
        if (strspn(at, "0123456789") == 0)
            return NULL;
        at += strspn(at, "0123456789");
    }
    return at;
}

static inline const char *json_skip_members(const char *at, char end)
{
    if (*++at == end)
        return at + 1;
    for (;; at++) {
        if (end == '}') {
            at = json_skip_string(at);
            if (at == NULL || *at++ != ':')
                return NULL;
        }
        at = json_skip(at);
        if (at == NULL || (*at != ',' && *at != end))
            return NULL;
        if (*at == end)
            return at + 1;
    }
}

static inline const char *json_skip(const char *at)
{
    static const char *const words[] = {"true", "false", "null"};

    if (*at == '{' || *at == '[')
        return json_skip_members(at, *at == '{' ? '}' : ']');
    if (*at == '"')
        return json_skip_string(at);
    for (size_t word = 0; word < 3; word++)
        if (strncmp(at, words[word], strlen(words[word])) == 0)
            return at + strlen(words[word]);
    return json_skip_number(at);
}

/* The value of a member of the object at; path may lead through objects: "memory.rss_bytes". NULL
 * when there is none. The object is well-formed. */
static inline const char *json_find(const char *at, const char *path)
{
    const size_t length = strcspn(path, ".");

    if (*at != '{' || at[1] == '}')
        return NULL;
    do {
        const char *key = at + 2, *value;
        at = json_skip_string(at + 1);
        value = at + 1;
        if (strncmp(key, path, length) == 0 && key[length] == '"')
            return path[length] == '.' ? json_find(value, path + length + 1) : value;
        at = json_skip(value);
    } while (*at == ',');
    return NULL;
}

/* ---- result files ---------------------------------------------------------------------------- */

#define RESULT_LINES_MAX 4096

typedef struct result {
    char *text;
    const char *lines[RESULT_LINES_MAX]; /* terminated, each a well-formed object */
    uint32_t count;
} result;

static inline int has_number(const char *record, const char *path)
{
    const char *value = json_find(record, path);

    return value != NULL && json_skip_number(value) != NULL;
}

static inline double number(const char *record, const char *path)
{
    if (!has_number(record, path))
        fail_msg("no number '%s' in %s", path, record);
    return strtod(json_find(record, path), NULL);
}

static inline int is_text(const char *record, const char *path, const char *wanted)
{
    const char *value = json_find(record, path);
    const size_t length = strlen(wanted);

    return value != NULL && *value == '"' && strncmp(value + 1, wanted, length) == 0 &&
           value[length + 1] == '"';
}

static inline void assert_text(const char *record, const char *path, const char *wanted)
{
    if (!is_text(record, path, wanted))
        fail_msg("'%s' is not '%s' in %s", path, wanted, record);
}

/* Record number index of a kind; NULL beyond the last. */
static inline const char *record_at(const result *r, const char *kind, uint32_t index)
{
    for (uint32_t at = 0; at < r->count; at++)
        if (is_text(r->lines[at], "record", kind) && index-- == 0)
            return r->lines[at];
    return NULL;
}

/* The record of a kind whose member key says value; NULL when there is none. */
static inline const char *record_of(const result *r, const char *kind, const char *key,
                                    const char *value)
{
    for (uint32_t at = 0; at < r->count; at++)
        if (is_text(r->lines[at], "record", kind) && is_text(r->lines[at], key, value))
            return r->lines[at];
    return NULL;
}

static inline char *read_whole(int fd)
{
    const off_t bytes = lseek(fd, 0, SEEK_END);
    char *text;

    assert_true(bytes >= 0);
    text = malloc((size_t)bytes + 1);
    if (text == NULL || pread(fd, text, (size_t)bytes, 0) != bytes)
        abort();
    text[bytes] = '\0';
    assert_int_equal(strlen(text), bytes);
    return text;
}

/* Reads the lines of fd; fails the test for one that is no JSON object. */
static inline void read_result(int fd, result *r)
{
    char *at;

    r->text = read_whole(fd);
    r->count = 0;
    for (at = r->text; *at != '\0';) {
        char *end = strchr(at, '\n');
        const char *after;
        assert_non_null(end);
        *end = '\0';
        after = *at == '{' ? json_skip(at) : NULL;
        if (after != end)
            fail_msg("no JSON: %s", at);
        assert_true(r->count < RESULT_LINES_MAX);
        r->lines[r->count++] = at;
        at = end + 1;
    }
}

static inline void read_result_at(const char *path, result *r)
{
    const int fd = open(path, O_RDONLY | O_CLOEXEC);

    assert_true(fd >= 0);
    read_result(fd, r);
    close(fd);
}

static inline void free_result(result *r)
{
    free(r->text);
}

#endif
