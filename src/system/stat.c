#include "system/stat.h"

#include <string.h>

#include "system/scan.h"

#define TICKS_SHOWN 8u /* user nice system idle iowait irq softirq steal */
#define TICK_IDLE   3u
#define TICK_IOWAIT 4u
#define TICK_STEAL  7u

uint32_t abench__parse_ticks(const char *text, size_t length, uint64_t *values)
{
    const char *at, *end;
    uint64_t ticks[TICKS_SHOWN];
    uint64_t total = 0, idle;

    memset(values, 0, ABENCH__TICKS_FIELDS * sizeof *values);
    if (!abench__scan_keyed(text, length, "cpu", &at, &end))
        return 0;
    for (uint32_t i = 0; i < TICKS_SHOWN; i++) {
        if (!abench__scan_number(&at, end, &ticks[i]) || (at != end && *at != ' ') ||
            __builtin_add_overflow(total, ticks[i], &total))
            return 0;
        abench__scan_blanks(&at, end);
    }
    idle = ticks[TICK_IDLE] + ticks[TICK_IOWAIT]; /* no more than the total, which fitted */
    values[ABENCH__TICKS_TOTAL] = total;
    values[ABENCH__TICKS_IDLE] = idle;
    values[ABENCH__TICKS_STEAL] = ticks[TICK_STEAL];
    return (1u << ABENCH__TICKS_FIELDS) - 1;
}

uint32_t abench__parse_load(const char *text, size_t length, uint64_t *values)
{
    const char *at = text, *const end = text + length, *token, *token_end;
    uint64_t runnable, tasks;

    memset(values, 0, ABENCH__LOAD_FIELDS * sizeof *values);
    for (uint32_t i = 0; i < 4; i++)
        if (!abench__scan_token(&at, end, &token, &token_end))
            return 0;
    if (token_end == end || !abench__scan_number(&token, token_end, &runnable) ||
        token == token_end || *token++ != '/' || !abench__scan_number(&token, token_end, &tasks) ||
        token != token_end)
        return 0;
    values[ABENCH__LOAD_RUNNABLE] = runnable;
    values[ABENCH__LOAD_TASKS] = tasks;
    return (1u << ABENCH__LOAD_FIELDS) - 1;
}

uint32_t abench__parse_vmstat(const char *text, size_t length, uint64_t *values)
{
    static const char *const keys[ABENCH__VMSTAT_FIELDS] = {"pswpin", "pswpout", "oom_kill"};
    uint32_t valid = 0;

    memset(values, 0, ABENCH__VMSTAT_FIELDS * sizeof *values);
    for (uint32_t i = 0; i < ABENCH__VMSTAT_FIELDS; i++)
        if (abench__scan_keyed_number(text, length, keys[i], &values[i]))
            valid |= 1u << i;
    return valid;
}

/* "/dev/sda2  partition  1048572  0  -2": size and use in kB. A space in the name is written \040.
 */
static int parse_swap_area(const char *at, const char *end, uint64_t *size, uint64_t *used)
{
    const char *token, *token_end;

    for (uint32_t i = 0; i < 2; i++)
        if (!abench__scan_token(&at, end, &token, &token_end))
            return 0;
    abench__scan_blanks(&at, end);
    if (!abench__scan_number(&at, end, size) || at == end || (*at != ' ' && *at != '\t'))
        return 0;
    abench__scan_blanks(&at, end);
    return abench__scan_number(&at, end, used) && at != end && (*at == ' ' || *at == '\t') &&
           !__builtin_mul_overflow(*size, 1024, size) && !__builtin_mul_overflow(*used, 1024, used);
}

uint32_t abench__parse_swaps(const char *text, size_t length, uint64_t *values)
{
    const char *at = text, *const end = text + length, *line, *line_end;

    memset(values, 0, ABENCH__SWAPS_FIELDS * sizeof *values);
    if (!abench__scan_line(&at, end, &line, &line_end) || line_end - line < 8 ||
        memcmp(line, "Filename", 8) != 0)
        return 0;
    while (abench__scan_line(&at, end, &line, &line_end)) {
        uint64_t size, used;
        if (!parse_swap_area(line, line_end, &size, &used) ||
            __builtin_add_overflow(values[ABENCH__SWAPS_SIZE], size, &values[ABENCH__SWAPS_SIZE]) ||
            __builtin_add_overflow(values[ABENCH__SWAPS_USED], used, &values[ABENCH__SWAPS_USED])) {
            memset(values, 0, ABENCH__SWAPS_FIELDS * sizeof *values);
            return 0;
        }
        values[ABENCH__SWAPS_AREAS]++;
    }
    if (at != end) { /* a cut line: there is more than is seen */
        memset(values, 0, ABENCH__SWAPS_FIELDS * sizeof *values);
        return 0;
    }
    return (1u << ABENCH__SWAPS_FIELDS) - 1;
}

int abench__parse_limit(const char *text, size_t length, const char *name, uint64_t *value)
{
    const char *at, *end, *token, *token_end;

    if (!abench__scan_keyed(text, length, name, &at, &end) ||
        !abench__scan_token(&at, end, &token, &token_end))
        return 0;
    if (abench__scan_is(token, token_end, "unlimited")) {
        *value = UINT64_MAX;
        return 1;
    }
    return abench__scan_number(&token, token_end, value) && token == token_end;
}

static int begins_with(const char *at, const char *end, const char *word)
{
    const size_t length = strlen(word);

    return (size_t)(end - at) >= length && memcmp(at, word, length) == 0;
}

int abench__parse_cpu_flag(const char *text, size_t length, const char *flag)
{
    const char *at = text, *const end = text + length, *line, *line_end, *token, *token_end;

    while (abench__scan_line(&at, end, &line, &line_end)) {
        if (!begins_with(line, line_end, "flags"))
            continue;
        line = memchr(line, ':', (size_t)(line_end - line));
        if (line == NULL)
            continue;
        line++;
        while (abench__scan_token(&line, line_end, &token, &token_end))
            if (abench__scan_is(token, token_end, flag))
                return 1;
        return 0;
    }
    return -1;
}
