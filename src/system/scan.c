#include "system/scan.h"

#include <string.h>

int abench__scan_number(const char **at, const char *end, uint64_t *value)
{
    const char *s = *at;
    uint64_t sum = 0;

    if (s == end || *s < '0' || *s > '9')
        return 0;
    for (; s != end && *s >= '0' && *s <= '9'; s++) {
        const uint64_t digit = (uint64_t)(*s - '0');
        if (sum > (UINT64_MAX - digit) / 10)
            return 0;
        sum = sum * 10 + digit;
    }
    *at = s;
    *value = sum;
    return 1;
}

static int is_blank(char c)
{
    return c == ' ' || c == '\t';
}

void abench__scan_blanks(const char **at, const char *end)
{
    while (*at != end && is_blank(**at))
        ++*at;
}

int abench__scan_line(const char **at, const char *end, const char **line, const char **line_end)
{
    const char *newline = *at != end ? memchr(*at, '\n', (size_t)(end - *at)) : NULL;

    if (newline == NULL)
        return 0;
    *line = *at;
    *line_end = newline;
    *at = newline + 1;
    return 1;
}

int abench__scan_token(const char **at, const char *end, const char **token, const char **token_end)
{
    abench__scan_blanks(at, end);
    *token = *at;
    while (*at != end && !is_blank(**at))
        ++*at;
    *token_end = *at;
    return *token != *token_end;
}

int abench__scan_is(const char *at, const char *end, const char *word)
{
    const size_t length = strlen(word);

    return (size_t)(end - at) == length && memcmp(at, word, length) == 0;
}

int abench__scan_keyed(const char *text, size_t length, const char *key, const char **rest,
                       const char **rest_end)
{
    const char *at = text, *const end = text + length;
    const size_t key_length = strlen(key);

    while (abench__scan_line(&at, end, rest, rest_end)) {
        if ((size_t)(*rest_end - *rest) <= key_length || memcmp(*rest, key, key_length) != 0 ||
            !is_blank((*rest)[key_length]))
            continue;
        *rest += key_length;
        abench__scan_blanks(rest, *rest_end);
        return 1;
    }
    return 0;
}

int abench__scan_keyed_number(const char *text, size_t length, const char *key, uint64_t *value)
{
    const char *rest, *end;
    uint64_t number;

    if (!abench__scan_keyed(text, length, key, &rest, &end) ||
        !abench__scan_number(&rest, end, &number) || (rest != end && !is_blank(*rest)))
        return 0;
    *value = number;
    return 1;
}

int abench__scan_only_number(const char *text, size_t length, uint64_t *value)
{
    const char *at = text, *const end = text + length;
    uint64_t number;

    if (!abench__scan_number(&at, end, &number) || at == end || *at != '\n')
        return 0;
    *value = number;
    return 1;
}

int abench__scan_list(const char *text, size_t length, uint64_t *count)
{
    const char *at = text, *const end = text + length;
    uint64_t sum = 0, above = 0; /* above: the least that may come next */

    for (;;) {
        uint64_t first, last;
        if (!abench__scan_number(&at, end, &first))
            return 0;
        last = first;
        if (at != end && *at == '-') {
            at++;
            if (!abench__scan_number(&at, end, &last))
                return 0;
        }
        if (first < above || last < first || last >= UINT32_MAX)
            return 0;
        sum += last - first + 1;
        above = last + 1;
        if (at == end || (*at != ',' && *at != '\n'))
            return 0;
        if (*at++ == '\n') {
            *count = sum;
            return 1;
        }
    }
}
