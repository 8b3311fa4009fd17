/* fuzz_statm.c - lines of numbers: the texts of /proc/PID/statm and
 * /proc/PID/task/TID/schedstat. */
#include "fuzz.h"

#include "system/proc.h"

static void check(fuzz_parser parse, uint32_t count, const fuzz_text *input)
{
    uint64_t values[4];
    const uint32_t valid = fuzz_fields(parse, count, input, values);

    FUZZ_CHECK((valid & (valid + 1)) == 0); /* from the first one on */
    for (uint32_t field = 0; field < count; field++)
        if ((valid >> field & 1) != 0)
            FUZZ_CHECK(fuzz_has_token(input, values[field]));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    fuzz_text input = fuzz_text_of(data, size);

    check(abench__parse_statm, ABENCH__STATM_FIELDS, &input);
    check(abench__parse_schedstat, ABENCH__SCHEDSTAT_FIELDS, &input);
    fuzz_text_free(&input);
    return 0;
}
