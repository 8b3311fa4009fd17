#include "system/pressure.h"

#include <string.h>

#include "system/scan.h"

/* The value behind "name=" of a line's tokens. */
static int find_token(const char *at, const char *end, const char *name, const char **value,
                      const char **value_end)
{
    const size_t length = strlen(name);
    const char *token, *token_end;

    while (abench__scan_token(&at, end, &token, &token_end)) {
        if ((size_t)(token_end - token) <= length || memcmp(token, name, length) != 0 ||
            token[length] != '=')
            continue;
        *value = token + length + 1;
        *value_end = token_end;
        return 1;
    }
    return 0;
}

/* "12.34": 1234. */
static int parse_hundredths(const char *at, const char *end, uint64_t *value)
{
    const char *behind_point;
    uint64_t whole, part;

    if (!abench__scan_number(&at, end, &whole) || at == end || *at != '.' || whole > UINT32_MAX)
        return 0;
    behind_point = ++at;
    if (!abench__scan_number(&at, end, &part) || at != end || at - behind_point != 2)
        return 0;
    *value = whole * 100 + part;
    return 1;
}

static uint32_t parse_line(const char *text, size_t length, const char *key, uint32_t total,
                           uint32_t average, uint64_t *values)
{
    const char *rest, *end, *value, *value_end;
    uint32_t valid = 0;
    uint64_t number;

    if (!abench__scan_keyed(text, length, key, &rest, &end))
        return 0;
    if (find_token(rest, end, "total", &value, &value_end) &&
        abench__scan_number(&value, value_end, &number) && value == value_end) {
        values[total] = number;
        valid |= 1u << total;
    }
    if (find_token(rest, end, "avg10", &value, &value_end) &&
        parse_hundredths(value, value_end, &number)) {
        values[average] = number;
        valid |= 1u << average;
    }
    return valid;
}

uint32_t abench__parse_pressure(const char *text, size_t length, uint64_t *values)
{
    memset(values, 0, ABENCH__PRESSURE_FIELDS * sizeof *values);
    return parse_line(text, length, "some", ABENCH__PRESSURE_SOME, ABENCH__PRESSURE_SOME_AVG10,
                      values) |
           parse_line(text, length, "full", ABENCH__PRESSURE_FULL, ABENCH__PRESSURE_FULL_AVG10,
                      values);
}
