/*
 * fuzz_scan.c - what every text of the kernel is read with: lines by their keys (memory.stat,
 * memory.events, cpu.stat), lone numbers, lists of CPUs and nodes.
 */
#include "fuzz.h"

#include "system/scan.h"

/* The list "0-3,8\n" counted in another way: bit by bit, as far as 256. UINT64_MAX: it is none. */
static uint64_t count_list(const char *at, size_t length)
{
    char seen[256] = {0};
    uint64_t numbers[2], count = 0;
    uint32_t part = 0;

    for (;;) {
        if (length == 0 || *at < '0' || *at > '9')
            return UINT64_MAX;
        numbers[part] = 0;
        for (; length != 0 && *at >= '0' && *at <= '9'; at++, length--)
            if (numbers[part] < 1000)
                numbers[part] = numbers[part] * 10 + (uint64_t)(*at - '0');
        if (part == 0)
            numbers[1] = numbers[0];
        if (length == 0 || numbers[1] > 255)
            return UINT64_MAX;
        length--;
        if (*at == '-' && part == 0) {
            part = 1;
        } else if (*at == ',' || *at == '\n') {
            for (uint64_t cpu = numbers[0]; cpu <= numbers[1]; cpu++)
                seen[cpu] = 1;
            part = 0;
            if (*at == '\n')
                break;
        } else {
            return UINT64_MAX;
        }
        at++;
    }
    for (uint32_t cpu = 0; cpu < 256; cpu++)
        count += (uint64_t)seen[cpu];
    return count;
}

static void check_lines(const fuzz_text *input)
{
    const char *at = input->text, *const end = input->text + input->length;
    const char *line, *line_end, *token, *token_end;

    while (abench__scan_line(&at, end, &line, &line_end)) {
        FUZZ_CHECK(line <= line_end && *line_end == '\n' && at == line_end + 1);
        while (abench__scan_token(&line, line_end, &token, &token_end))
            FUZZ_CHECK(token < token_end && token_end <= line_end && line == token_end);
    }
    FUZZ_CHECK(memchr(at, '\n', (size_t)(end - at)) == NULL);
}

static void check_keyed(const fuzz_text *input, const char *key)
{
    const char *rest, *end;
    uint64_t value;

    if (abench__scan_keyed(input->text, input->length, key, &rest, &end))
        FUZZ_CHECK(rest > input->text && rest <= end && *end == '\n');
    if (abench__scan_keyed_number(input->text, input->length, key, &value))
        FUZZ_CHECK(fuzz_has_token(input, value));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    fuzz_text input = fuzz_text_of(data, size);
    uint64_t value, count;

    check_lines(&input);
    check_keyed(&input, "anon");
    check_keyed(&input, "oom_kill");
    check_keyed(&input, "MemTotal:");
    if (abench__scan_only_number(input.text, input.length, &value))
        FUZZ_CHECK(fuzz_has_number(input.text, input.length, value, "\n"));
    if (abench__scan_list(input.text, input.length, &value)) {
        FUZZ_CHECK(value >= 1 && value <= UINT32_MAX);
        count = count_list(input.text, input.length);
        FUZZ_CHECK(count == UINT64_MAX || count == value);
    }
    fuzz_text_free(&input);
    return 0;
}
