/* fuzz_pressure.c - the text of /proc/pressure/cpu, memory or io, or of a group's. */
#include "fuzz.h"

#include "system/pressure.h"

/* 1234 as "12.34 ". */
static int has_hundredths(const fuzz_text *input, uint64_t value)
{
    char part[8];

    snprintf(part, sizeof part, ".%02u", (unsigned)(value % 100));
    return fuzz_has_number(input->text, input->length, value / 100, part);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    fuzz_text input = fuzz_text_of(data, size);
    uint64_t values[ABENCH__PRESSURE_FIELDS];
    const uint32_t valid =
        fuzz_fields(abench__parse_pressure, ABENCH__PRESSURE_FIELDS, &input, values);

    for (uint32_t field = 0; field < ABENCH__PRESSURE_FIELDS; field++)
        if ((valid >> field & 1) != 0)
            FUZZ_CHECK(field >= ABENCH__PRESSURE_SOME_AVG10
                           ? has_hundredths(&input, values[field])
                           : fuzz_has_token(&input, values[field]));
    fuzz_text_free(&input);
    return 0;
}
