/*
 * fuzz_malloc_info.c - the XML of malloc_info, in pieces: the first byte says how long they are.
 * What is read does not depend on them, and stands in the text.
 */
#include "fuzz.h"

#include "allocator/info.h"

static void feed(abench__info *info, const uint8_t *data, size_t size, size_t piece)
{
    memset(info, 0, sizeof *info);
    for (size_t at = 0; at < size; at += piece) {
        fuzz_text input = fuzz_text_of(data + at, piece < size - at ? piece : size - at);
        abench__info_feed(info, input.text, input.length);
        fuzz_text_free(&input);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static abench__info whole, pieces;
    const char *text = (const char *)data + 1;

    if (size == 0)
        return 0;
    feed(&whole, data + 1, size - 1, size);
    feed(&pieces, data + 1, size - 1, 1 + (size_t)data[0]);
    FUZZ_CHECK(memcmp(&whole, &pieces, offsetof(abench__info, line)) == 0);
    FUZZ_CHECK(whole.totals_valid >> ABENCH__INFO_TOTALS == 0);
    FUZZ_CHECK(whole.heaps <= size / 9);
    for (uint32_t at = 0; at < ABENCH__INFO_TOTALS; at++)
        if ((whole.totals_valid >> at & 1) != 0)
            FUZZ_CHECK(fuzz_has_number(text, size - 1, whole.totals[at], "\""));
    return 0;
}
