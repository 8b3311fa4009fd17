#include "system/proc.h"

#include <string.h>

/* Reads decimal digits in [*at, end) and moves *at behind them. 0: there are none, or too many. */
static int parse_number(const char **at, const char *end, uint64_t *value)
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

uint32_t abench__parse_statm(const char *text, size_t length, uint64_t *values)
{
    const char *at = text, *const end = text + length;
    uint32_t valid = 0;

    memset(values, 0, ABENCH__STATM_FIELDS * sizeof *values);
    for (uint32_t field = 0; field < ABENCH__STATM_FIELDS; field++) {
        uint64_t value;
        if (!parse_number(&at, end, &value) || at == end || (*at != ' ' && *at != '\n'))
            break;
        values[field] = value;
        valid |= 1u << field;
        at++;
    }
    return valid;
}

/* ---- texts of lines "Name:   value[ kB]" ----------------------------------------------------- */

typedef struct key {
    const char *name; /* with its colon */
    uint32_t length;
    uint32_t kilobytes; /* 1: the value is in kB and says so */
} key;

#define BYTES(name)                                                                                \
    {                                                                                              \
        name ":", sizeof name, 1                                                                   \
    }
#define COUNT(name)                                                                                \
    {                                                                                              \
        name ":", sizeof name, 0                                                                   \
    }

/* The value of a line, from behind the colon to the line's end; terminated: a newline follows. */
static int parse_line_value(const char *at, const char *end, int terminated, uint32_t kilobytes,
                            uint64_t *value)
{
    uint64_t number;

    while (at != end && (*at == ' ' || *at == '\t'))
        at++;
    if (!parse_number(&at, end, &number))
        return 0;
    if (kilobytes) {
        if (end - at != 3 || memcmp(at, " kB", 3) != 0 || number > UINT64_MAX / 1024)
            return 0;
        *value = number * 1024;
        return 1;
    }
    if (at != end || !terminated)
        return 0;
    *value = number;
    return 1;
}

static uint32_t parse_lines(const char *text, size_t length, const key *keys, uint32_t count,
                            uint64_t *values)
{
    const char *line = text, *const end = text + length;
    const uint32_t all = (1u << count) - 1;
    uint32_t valid = 0;

    memset(values, 0, count * sizeof *values);
    while (line < end && valid != all) {
        const char *newline = memchr(line, '\n', (size_t)(end - line));
        const char *line_end = newline != NULL ? newline : end;
        for (uint32_t i = 0; i < count; i++) {
            const key *k = &keys[i];
            if (*line != k->name[0] || (size_t)(line_end - line) < k->length ||
                memcmp(line, k->name, k->length) != 0)
                continue;
            if (parse_line_value(line + k->length, line_end, newline != NULL, k->kilobytes,
                                 &values[i]))
                valid |= 1u << i;
            break;
        }
        line = newline != NULL ? newline + 1 : end;
    }
    return valid;
}

uint32_t abench__parse_status(const char *text, size_t length, uint64_t *values)
{
    static const key keys[ABENCH__STATUS_FIELDS] = {
        BYTES("VmHWM"),    BYTES("VmRSS"),  BYTES("RssAnon"), BYTES("RssFile"),
        BYTES("RssShmem"), BYTES("VmSwap"), COUNT("Threads"),
    };
    return parse_lines(text, length, keys, ABENCH__STATUS_FIELDS, values);
}

uint32_t abench__parse_rollup(const char *text, size_t length, uint64_t *values)
{
    static const key keys[ABENCH__ROLLUP_FIELDS] = {
        BYTES("Rss"),      BYTES("Pss"),           BYTES("Private_Clean"), BYTES("Private_Dirty"),
        BYTES("LazyFree"), BYTES("AnonHugePages"), BYTES("Swap"),
    };
    return parse_lines(text, length, keys, ABENCH__ROLLUP_FIELDS, values);
}

uint32_t abench__parse_meminfo(const char *text, size_t length, uint64_t *values)
{
    static const key keys[ABENCH__MEMINFO_FIELDS] = {BYTES("MemTotal")};
    return parse_lines(text, length, keys, ABENCH__MEMINFO_FIELDS, values);
}

/* ---- stat ------------------------------------------------------------------------------------ */

/* Behind the name of the program, which stands in brackets and may hold brackets and spaces. */
static const char *behind_name(const char *text, const char *end)
{
    for (const char *at = end; at != text; at--)
        if (at[-1] == ')')
            return at;
    return NULL;
}

uint32_t abench__parse_stat(const char *text, size_t length, uint64_t *values)
{
    static const uint32_t numbers[ABENCH__STAT_FIELDS] = {10, 12, 26, 28};
    const char *const end = text + length;
    const char *at = behind_name(text, end);
    uint32_t valid = 0, wanted = 0;

    memset(values, 0, ABENCH__STAT_FIELDS * sizeof *values);
    for (uint32_t number = 3; at != NULL && wanted < ABENCH__STAT_FIELDS; number++) {
        const char *token = at + 1;
        uint64_t value;
        if (at == end || *at != ' ')
            break;
        for (at = token; at != end && *at != ' ' && *at != '\n'; at++)
            ;
        if (at == end)
            break;
        if (number != numbers[wanted])
            continue;
        if (parse_number(&token, at, &value) && token == at) {
            values[wanted] = value;
            valid |= 1u << wanted;
        }
        wanted++;
    }
    return valid;
}
