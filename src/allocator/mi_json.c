#include "allocator/mi_json.h"

#include <string.h>

/* What is being read; name holds the names so far, length bytes of them. */
struct walk {
    const char *at;
    const char *end;
    abench__mi_json_visit *visit;
    void *user;
    uint32_t length;
    char name[ABENCH__MI_JSON_NAME];
};

static int read_value(struct walk *walk, uint32_t depth, int is_named);

static void skip_space(struct walk *walk)
{
    while (walk->at < walk->end &&
           (*walk->at == ' ' || *walk->at == '\t' || *walk->at == '\n' || *walk->at == '\r'))
        walk->at++;
}

static int take(struct walk *walk, char expected)
{
    skip_space(walk);
    if (walk->at == walk->end || *walk->at != expected)
        return 0;
    walk->at++;
    return 1;
}

/* Between the quotes, as it stands in the text. */
static int read_text(struct walk *walk, const char **text, size_t *length)
{
    if (!take(walk, '"'))
        return 0;
    *text = walk->at;
    for (; walk->at < walk->end; walk->at++) {
        if (*walk->at == '"') {
            *length = (size_t)(walk->at - *text);
            walk->at++;
            return 1;
        }
        if ((unsigned char)*walk->at < ' ')
            return 0;
        if (*walk->at == '\\' && ++walk->at == walk->end)
            return 0;
    }
    return 0;
}

static int is_digit(char c)
{
    return c >= '0' && c <= '9';
}

/* A number of any form; *is_natural and *value when it has no sign, fraction or exponent, and
 * fits. */
static int read_number(struct walk *walk, int *is_natural, uint64_t *value)
{
    const char *start = walk->at;

    *is_natural = 1;
    *value = 0;
    for (; walk->at < walk->end; walk->at++) {
        const char c = *walk->at;

        if (is_digit(c)) {
            const unsigned digit = (unsigned)(c - '0');
            if (*value > (UINT64_MAX - digit) / 10)
                *is_natural = 0;
            else
                *value = *value * 10 + digit;
        } else if (c == '-' || c == '+' || c == '.' || c == 'e' || c == 'E') {
            *is_natural = 0;
        } else {
            break;
        }
    }
    /* One that ends with the text may have been cut. */
    return walk->at > start && walk->at < walk->end &&
           (is_digit(*start) || (*start == '-' && walk->at > start + 1));
}

static int read_word(struct walk *walk)
{
    static const char *const words[] = {"true", "false", "null"};

    for (size_t at = 0; at < sizeof words / sizeof words[0]; at++) {
        const size_t length = strlen(words[at]);
        if ((size_t)(walk->end - walk->at) >= length && memcmp(walk->at, words[at], length) == 0) {
            walk->at += length;
            return 1;
        }
    }
    return 0;
}

static int read_array(struct walk *walk, uint32_t depth)
{
    walk->at++;
    if (take(walk, ']'))
        return 1;
    do
        if (!read_value(walk, depth + 1, 0))
            return 0;
    while (take(walk, ','));
    return take(walk, ']');
}

/* Puts a name behind those of the objects around it; 0 when it is empty or does not fit. */
static int push_name(struct walk *walk, const char *text, size_t length)
{
    const uint32_t dot = walk->length > 0;

    if (length == 0 || length >= sizeof walk->name - walk->length - dot)
        return 0;
    if (dot)
        walk->name[walk->length++] = '.';
    memcpy(walk->name + walk->length, text, length);
    walk->length += (uint32_t)length;
    walk->name[walk->length] = '\0';
    return 1;
}

static int read_member(struct walk *walk, uint32_t depth, int is_named)
{
    const uint32_t before = walk->length;
    const char *text;
    size_t length;
    int is_whole;

    if (!read_text(walk, &text, &length) || !take(walk, ':'))
        return 0;
    is_named = is_named && push_name(walk, text, length);
    is_whole = read_value(walk, depth + 1, is_named);
    walk->length = before;
    walk->name[before] = '\0';
    return is_whole;
}

static int read_object(struct walk *walk, uint32_t depth, int is_named)
{
    walk->at++;
    if (take(walk, '}'))
        return 1;
    do
        if (!read_member(walk, depth, is_named))
            return 0;
    while (take(walk, ','));
    return take(walk, '}');
}

/* is_named 0: nothing below is shown. The depth bounds the recursion. */
static int read_value(struct walk *walk, uint32_t depth, int is_named)
{
    const char *text;
    size_t length;
    uint64_t value;
    int is_natural;

    skip_space(walk);
    if (walk->at == walk->end || depth > ABENCH__MI_JSON_DEPTH)
        return 0;
    switch (*walk->at) {
    case '{':
        return read_object(walk, depth, is_named);
    case '[':
        return read_array(walk, depth);
    case '"':
        return read_text(walk, &text, &length);
    case 't':
    case 'f':
    case 'n':
        return read_word(walk);
    default:
        break;
    }
    if (!read_number(walk, &is_natural, &value))
        return 0;
    if (is_natural && is_named)
        walk->visit(walk->name, value, walk->user);
    return 1;
}

int abench__mi_json_walk(const char *text, size_t length, abench__mi_json_visit *visit, void *user)
{
    struct walk walk = {.at = text, .end = text + length, .visit = visit, .user = user};

    skip_space(&walk);
    if (walk.at == walk.end || *walk.at != '{' || !read_object(&walk, 0, 1))
        return 0;
    skip_space(&walk);
    return walk.at == walk.end;
}
