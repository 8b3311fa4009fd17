/* fuzz_stat.c - the text of /proc/PID/stat. */
#include "fuzz.h"

#include "system/proc.h"

static int stands_there(const fuzz_text *input, uint32_t field, uint64_t value)
{
    const char letter[] = {' ', (char)value, ' '};

    if (field != ABENCH__STAT_STATE)
        return fuzz_has_token(input, value);
    return value <= 127 && memmem(input->text, input->length, letter, sizeof letter) != NULL;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    fuzz_text input = fuzz_text_of(data, size);
    uint64_t values[ABENCH__STAT_FIELDS];
    const uint32_t valid = fuzz_fields(abench__parse_stat, ABENCH__STAT_FIELDS, &input, values);

    for (uint32_t field = 0; field < ABENCH__STAT_FIELDS; field++)
        if ((valid >> field & 1) != 0)
            FUZZ_CHECK(stands_there(&input, field, values[field]));
    fuzz_text_free(&input);
    return 0;
}
