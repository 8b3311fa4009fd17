/*
 * fuzz_smaps.c - the text of /proc/PID/smaps, in pieces: the first byte says how long they are.
 * Sums do not depend on where the pieces end, and categories add up.
 */
#include "fuzz.h"

#include "system/smaps.h"

/* Each piece is a block of its own, gone when it was taken. */
static abench_status parse(const uint8_t *data, size_t size, size_t piece, abench__smaps *parser)
{
    abench_status status = ABENCH_OK;

    memset(parser, 0xa5, sizeof *parser);
    abench__smaps_begin(parser);
    for (size_t at = 0; at < size; at += piece) {
        fuzz_text input = fuzz_text_of(data + at, piece < size - at ? piece : size - at);
        const abench_status now = abench__smaps_feed(parser, input.text, input.length);
        FUZZ_CHECK(status == ABENCH_OK || now == status); /* it stays so */
        FUZZ_CHECK(now == ABENCH_OK || now == ABENCH_ERROR_SYNTAX || now == ABENCH_ERROR_STATE);
        status = now;
        fuzz_text_free(&input);
    }
    return abench__smaps_end(parser);
}

static void check_sums(const abench__smaps *parser)
{
    const uint64_t *all = parser->sums[ABENCH_MAPPINGS_ALL];

    for (uint32_t field = 0; field < ABENCH__SMAPS_FIELDS; field++) {
        uint64_t sum = 0;
        for (uint32_t category = 0; category < ABENCH_MAPPINGS_ALL; category++)
            FUZZ_CHECK(!__builtin_add_overflow(sum, parser->sums[category][field], &sum));
        FUZZ_CHECK(sum == all[field]);
    }
    FUZZ_CHECK(all[ABENCH__SMAPS_MAPPINGS] > 0);
    FUZZ_CHECK(all[ABENCH__SMAPS_HUGE_ELIGIBLE] <= all[ABENCH__SMAPS_SIZE]);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static abench__smaps whole, pieces;
    abench_status status;

    if (size == 0)
        return 0;
    status = parse(data + 1, size - 1, size, &whole);
    FUZZ_CHECK(status == ABENCH_OK || status == ABENCH_ERROR_SYNTAX ||
               status == ABENCH_ERROR_STATE || status == ABENCH_ERROR_NOT_FOUND ||
               status == ABENCH_ERROR_UNSUPPORTED);
    FUZZ_CHECK(parse(data + 1, size - 1, 1 + (size_t)data[0], &pieces) == status);
    FUZZ_CHECK(memcmp(whole.sums, pieces.sums, sizeof whole.sums) == 0);
    if (status == ABENCH_OK)
        check_sums(&whole);
    return 0;
}
