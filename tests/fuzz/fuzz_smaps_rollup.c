/* fuzz_smaps_rollup.c - the text of /proc/PID/smaps_rollup. */
#include "fuzz.h"

#include "system/proc.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    fuzz_text input = fuzz_text_of(data, size);
    uint64_t values[ABENCH__ROLLUP_FIELDS];
    const uint32_t valid = fuzz_fields(abench__parse_rollup, ABENCH__ROLLUP_FIELDS, &input, values);

    for (uint32_t field = 0; field < ABENCH__ROLLUP_FIELDS; field++)
        if ((valid >> field & 1) != 0)
            FUZZ_CHECK(fuzz_has_number(input.text, input.length, values[field] / 1024, " kB"));
    fuzz_text_free(&input);
    return 0;
}
