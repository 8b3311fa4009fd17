/* fuzz_status.c - the text of /proc/PID/status, a process's and a thread's. */
#include "fuzz.h"

#include "system/proc.h"

static void check(fuzz_parser parse, uint32_t count, const fuzz_text *input)
{
    uint64_t values[ABENCH__PROC_FIELDS_MAX];
    const uint32_t valid = fuzz_fields(parse, count, input, values);

    for (uint32_t field = 0; field < count; field++)
        if ((valid >> field & 1) != 0)
            FUZZ_CHECK(fuzz_has_number(input->text, input->length, values[field], "\n") ||
                       (values[field] % 1024 == 0 &&
                        fuzz_has_number(input->text, input->length, values[field] / 1024, " kB")));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    fuzz_text input = fuzz_text_of(data, size);

    check(abench__parse_status, ABENCH__STATUS_FIELDS, &input);
    check(abench__parse_switches, ABENCH__SWITCHES_FIELDS, &input);
    fuzz_text_free(&input);
    return 0;
}
