#include "system/proc.h"

#include <string.h>

int abench__proc_number(const char **at, const char *end, uint64_t *value)
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

/* Numbers with one space between them, the last one before a space or the line's end. */
static uint32_t parse_numbers(const char *text, size_t length, uint32_t count, uint64_t *values)
{
    const char *at = text, *const end = text + length;
    uint32_t valid = 0;

    memset(values, 0, count * sizeof *values);
    for (uint32_t field = 0; field < count; field++) {
        uint64_t value;
        if (!abench__proc_number(&at, end, &value) || at == end || (*at != ' ' && *at != '\n'))
            break;
        values[field] = value;
        valid |= 1u << field;
        at++;
    }
    return valid;
}

uint32_t abench__parse_statm(const char *text, size_t length, uint64_t *values)
{
    return parse_numbers(text, length, ABENCH__STATM_FIELDS, values);
}

uint32_t abench__parse_schedstat(const char *text, size_t length, uint64_t *values)
{
    return parse_numbers(text, length, ABENCH__SCHEDSTAT_FIELDS, values);
}

/* ---- texts of lines "Name:   value[ kB]" ----------------------------------------------------- */

#define BYTES(name) ABENCH__KEY_BYTES(name)
#define COUNT(name) ABENCH__KEY_COUNT(name)

_Static_assert(ABENCH__PROC_FIELDS_MAX < 32, "a mask has 32 bits");

uint32_t abench__proc_key_find(const abench__proc_key *keys, uint32_t count, uint32_t *next,
                               const char *line, const char *end)
{
    const size_t length = (size_t)(end - line);
    uint32_t i = *next;

    for (uint32_t tried = 0; tried < count; tried++) {
        const abench__proc_key *k = &keys[i];
        if (length >= k->length && line[0] == k->name[0] && memcmp(line, k->name, k->length) == 0) {
            *next = i + 1 == count ? 0 : i + 1;
            return i;
        }
        i = i + 1 == count ? 0 : i + 1;
    }
    return count;
}

int abench__proc_key_value(const abench__proc_key *key, const char *line, const char *end,
                           int terminated, uint64_t *value)
{
    const char *at = line + key->length;
    uint64_t number;

    while (at != end && (*at == ' ' || *at == '\t'))
        at++;
    if (!abench__proc_number(&at, end, &number))
        return 0;
    if (key->kilobytes) {
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

/* A bit for the first letter of each key: most lines are told apart by that alone. */
static uint64_t letters_of(const abench__proc_key *keys, uint32_t count)
{
    uint64_t letters = 0;

    for (uint32_t i = 0; i < count; i++)
        letters |= (uint64_t)1 << (keys[i].name[0] & 63);
    return letters;
}

static uint32_t parse_lines(const char *text, size_t length, const abench__proc_key *keys,
                            uint32_t count, uint64_t *values)
{
    const char *line = text, *const end = text + length;
    const uint64_t letters = letters_of(keys, count);
    const uint32_t all = (1u << count) - 1;
    uint32_t valid = 0, next = 0;

    memset(values, 0, count * sizeof *values);
    while (line < end && valid != all) {
        const char *newline = memchr(line, '\n', (size_t)(end - line));
        const char *line_end = newline != NULL ? newline : end;
        if ((letters >> (*line & 63) & 1) != 0) {
            const uint32_t i = abench__proc_key_find(keys, count, &next, line, line_end);
            if (i < count &&
                abench__proc_key_value(&keys[i], line, line_end, newline != NULL, &values[i]))
                valid |= 1u << i;
        }
        line = newline != NULL ? newline + 1 : end;
    }
    return valid;
}

/* The keys stand in the order in which the kernel writes them. */

uint32_t abench__parse_status(const char *text, size_t length, uint64_t *values)
{
    static const abench__proc_key keys[ABENCH__STATUS_FIELDS] = {
        BYTES("VmHWM"),    BYTES("VmRSS"), BYTES("RssAnon"), BYTES("RssFile"),
        BYTES("RssShmem"), BYTES("VmPTE"), BYTES("VmSwap"),  COUNT("Threads"),
    };
    return parse_lines(text, length, keys, ABENCH__STATUS_FIELDS, values);
}

uint32_t abench__parse_switches(const char *text, size_t length, uint64_t *values)
{
    static const abench__proc_key keys[ABENCH__SWITCHES_FIELDS] = {
        COUNT("voluntary_ctxt_switches"),
        COUNT("nonvoluntary_ctxt_switches"),
    };
    return parse_lines(text, length, keys, ABENCH__SWITCHES_FIELDS, values);
}

uint32_t abench__parse_rollup(const char *text, size_t length, uint64_t *values)
{
    static const abench__proc_key keys[ABENCH__ROLLUP_FIELDS] = {
        BYTES("Rss"),      BYTES("Pss"),           BYTES("Pss_Dirty"),     BYTES("Pss_Anon"),
        BYTES("Pss_File"), BYTES("Pss_Shmem"),     BYTES("Private_Clean"), BYTES("Private_Dirty"),
        BYTES("LazyFree"), BYTES("AnonHugePages"), BYTES("Swap"),          BYTES("SwapPss"),
        BYTES("Locked"),
    };
    return parse_lines(text, length, keys, ABENCH__ROLLUP_FIELDS, values);
}

uint32_t abench__parse_meminfo(const char *text, size_t length, uint64_t *values)
{
    static const abench__proc_key keys[ABENCH__MEMINFO_FIELDS] = {BYTES("MemTotal")};
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

/* A field of stat: a number, or the letter of the state. */
static int parse_token(const char *token, const char *end, uint32_t field, uint64_t *value)
{
    if (field == ABENCH__STAT_STATE) {
        *value = (uint64_t)(unsigned char)*token;
        return end - token == 1 && *token >= 'A' && *token <= 'z';
    }
    return abench__proc_number(&token, end, value) && token == end;
}

uint32_t abench__parse_stat(const char *text, size_t length, uint64_t *values)
{
    static const uint32_t numbers[ABENCH__STAT_FIELDS] = {3, 4, 10, 12, 20, 22, 23, 26, 28};
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
        if (token != at && parse_token(token, at, wanted, &value)) {
            values[wanted] = value;
            valid |= 1u << wanted;
        }
        wanted++;
    }
    /* Cut inside the name, of 15 bytes, a text may look as if the first fields followed. */
    if (wanted <= ABENCH__STAT_MINOR_FAULTS) {
        memset(values, 0, ABENCH__STAT_FIELDS * sizeof *values);
        return 0;
    }
    return valid;
}
