#include "base/text.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

void abench__text_init(abench__text *text, char *data, uint32_t capacity)
{
    text->data = data;
    text->capacity = capacity;
    text->length = 0;
    text->truncated = 0;
    data[0] = '\0';
}

static void put_bytes(abench__text *text, const char *bytes, size_t count)
{
    const uint32_t space = text->capacity - 1 - text->length;

    if (count > space) {
        count = space;
        text->truncated = 1;
    }
    memcpy(text->data + text->length, bytes, count);
    text->length += (uint32_t)count;
    text->data[text->length] = '\0';
}

void abench__text_put(abench__text *text, const char *string)
{
    put_bytes(text, string, strlen(string));
}

void abench__text_put_char(abench__text *text, char c)
{
    put_bytes(text, &c, 1);
}

void abench__text_put_u64(abench__text *text, uint64_t value)
{
    char digits[20];
    size_t at = sizeof digits;

    do {
        digits[--at] = (char)('0' + value % 10);
        value /= 10;
    } while (value != 0);
    put_bytes(text, digits + at, sizeof digits - at);
}

void abench__text_put_hex(abench__text *text, uint64_t value)
{
    char digits[16];

    for (int at = 15; at >= 0; at--, value >>= 4)
        digits[at] = "0123456789abcdef"[value & 15];
    put_bytes(text, digits, sizeof digits);
}

static void put_formatted(abench__text *text, const char *format, va_list list)
{
    const uint32_t space = text->capacity - text->length;
    const int wanted = vsnprintf(text->data + text->length, space, format, list);

    if (wanted < 0)
        return;
    if ((uint32_t)wanted >= space) {
        text->truncated = 1;
        text->length = text->capacity - 1;
    } else {
        text->length += (uint32_t)wanted;
    }
}

void abench__text_printf(abench__text *text, const char *format, ...)
{
    va_list list;

    va_start(list, format);
    put_formatted(text, format, list);
    va_end(list);
}

/* Length of the well-formed UTF-8 sequence at s (Unicode 15, table 3-7), or 0. */
static size_t utf8_length(const unsigned char *s)
{
    unsigned low = 0x80, high = 0xbf;
    size_t rest;

    if (s[0] < 0x80)
        return 1;
    if (s[0] >= 0xc2 && s[0] <= 0xdf)
        rest = 1;
    else if (s[0] >= 0xe0 && s[0] <= 0xef)
        rest = 2;
    else if (s[0] >= 0xf0 && s[0] <= 0xf4)
        rest = 3;
    else
        return 0;
    if (s[0] == 0xe0)
        low = 0xa0;
    else if (s[0] == 0xed)
        high = 0x9f;
    else if (s[0] == 0xf0)
        low = 0x90;
    else if (s[0] == 0xf4)
        high = 0x8f;
    if (s[1] < low || s[1] > high)
        return 0;
    for (size_t at = 2; at <= rest; at++)
        if ((s[at] & 0xc0) != 0x80)
            return 0;
    return rest + 1;
}

void abench__text_put_json(abench__text *text, const char *string)
{
    const unsigned char *s = (const unsigned char *)string;

    abench__text_put_char(text, '"');
    while (*s != '\0') {
        const size_t length = utf8_length(s);
        if (length == 0) {
            abench__text_put(text, "\\ufffd");
            s++;
            continue;
        }
        if (*s == '"' || *s == '\\') {
            abench__text_put_char(text, '\\');
            abench__text_put_char(text, (char)*s);
        } else if (*s < 0x20 || *s == 0x7f) {
            abench__text_printf(text, "\\u%04x", *s);
        } else {
            put_bytes(text, (const char *)s, length);
        }
        s += length;
    }
    abench__text_put_char(text, '"');
}

void abench__text_put_double(abench__text *text, double value)
{
    uint32_t start, end;

    if (!isfinite(value)) {
        abench__text_put(text, "null");
        return;
    }
    start = text->length;
    abench__text_printf(text, "%.17g", value);
    /* The program's locale may have another decimal point, of one byte or more. */
    end = start;
    for (uint32_t at = start; at < text->length; at++) {
        const char c = text->data[at];
        if ((c >= '0' && c <= '9') || c == '+' || c == '-' || c == 'e')
            text->data[end++] = c;
        else if (end == start || text->data[end - 1] != '.')
            text->data[end++] = '.';
    }
    text->length = end;
    text->data[end] = '\0';
}

void abench__copy(char *field, uint32_t size, const char *string)
{
    size_t length = strlen(string);

    if (length > size - 1)
        length = size - 1;
    memcpy(field, string, length);
    field[length] = '\0';
}

static void fill_error(abench_error *error, abench_status status, uint32_t column, int sys_errno,
                       const char *format, va_list list)
{
    abench__text text;

    abench_error_init(error);
    error->status = status;
    error->sys_errno = sys_errno;
    error->line = column != 0;
    error->column = column;
    abench__text_init(&text, error->message, sizeof error->message);
    put_formatted(&text, format, list);
    if (sys_errno != 0) {
        const char *reason = strerrordesc_np(sys_errno); /* strerror may allocate */
        abench__text_put(&text, ": ");
        if (reason != NULL)
            abench__text_put(&text, reason);
        else
            abench__text_printf(&text, "errno %d", sys_errno);
    }
}

abench_status abench__fail(abench_error *error, abench_status status, const char *format, ...)
{
    va_list list;

    if (error == NULL)
        return status;
    va_start(list, format);
    fill_error(error, status, 0, 0, format, list);
    va_end(list);
    return status;
}

abench_status abench__fail_at(abench_error *error, abench_status status, uint32_t column,
                              const char *format, ...)
{
    va_list list;

    if (error == NULL)
        return status;
    va_start(list, format);
    fill_error(error, status, column, 0, format, list);
    va_end(list);
    return status;
}

abench_status abench__fail_errno(abench_error *error, int sys_errno, const char *format, ...)
{
    va_list list;

    if (error == NULL)
        return ABENCH_ERROR_SYSTEM;
    va_start(list, format);
    fill_error(error, ABENCH_ERROR_SYSTEM, 0, sys_errno, format, list);
    va_end(list);
    return ABENCH_ERROR_SYSTEM;
}

int abench__parse_u64(const char **at, uint64_t *value)
{
    const char *s = *at;
    uint64_t sum = 0;

    if (*s < '0' || *s > '9')
        return 0;
    for (; *s >= '0' && *s <= '9'; s++) {
        const uint64_t digit = (uint64_t)(*s - '0');
        if (sum > (UINT64_MAX - digit) / 10)
            return 0;
        sum = sum * 10 + digit;
    }
    *at = s;
    *value = sum;
    return 1;
}

int abench__parse_size(const char **at, uint64_t *value)
{
    unsigned shift;

    if (!abench__parse_u64(at, value))
        return 0;
    switch (**at) {
    case 'k':
    case 'K':
        shift = 10;
        break;
    case 'm':
    case 'M':
        shift = 20;
        break;
    case 'g':
    case 'G':
        shift = 30;
        break;
    default:
        return 1;
    }
    if (*value > UINT64_MAX >> shift)
        return 0;
    *value <<= shift;
    ++*at;
    return 1;
}

int abench__parse_duration(const char **at, uint64_t *value)
{
    static const struct {
        const char *name;
        uint64_t ns;
    } units[] = {{"ns", 1},         {"us", 1000},       {"ms", 1000000}, /* before m */
                 {"s", 1000000000}, {"m", 60000000000}, {"h", 3600000000000}};

    if (!abench__parse_u64(at, value))
        return 0;
    for (uint32_t unit = 0; unit < sizeof units / sizeof units[0]; unit++) {
        const size_t length = strlen(units[unit].name);
        if (strncmp(*at, units[unit].name, length) != 0)
            continue;
        *at += length;
        return !__builtin_mul_overflow(*value, units[unit].ns, value);
    }
    return 0;
}
