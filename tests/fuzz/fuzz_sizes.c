/*
 * fuzz_sizes.c - distributions from text: of sizes and of lifetimes, which share their parser. What
 * is compiled draws within its bounds, and the same text draws the same.
 */
#include "fuzz.h"

#include <allocbench/distribution.h>

#define DRAWS 64

typedef abench_status (*text_parser)(const char *spec, abench_distribution **out,
                                     abench_error *error);

static abench_status parse_lifetime(const char *spec, abench_distribution **out,
                                    abench_error *error)
{
    uint32_t unit = 7;
    const abench_status status = abench_lifetime_parse(spec, out, &unit, error);

    FUZZ_CHECK(status == ABENCH_OK ? unit <= ABENCH_LIFETIME_NS : unit == 7);
    return status;
}

static void check_draws(const abench_distribution *one, const abench_distribution *other)
{
    const uint64_t minimum = abench_distribution_minimum(one);
    const uint64_t maximum = abench_distribution_maximum(one);
    abench_random random, same;

    FUZZ_CHECK(minimum <= maximum && maximum < (uint64_t)1 << 56);
    FUZZ_CHECK(abench_distribution_mean(one) >= minimum);
    FUZZ_CHECK(abench_distribution_mean(one) <= maximum);
    abench_random_seed(&random, 1, 0, ABENCH_PURPOSE_USER);
    abench_random_seed(&same, 1, 0, ABENCH_PURPOSE_USER);
    for (int draw = 0; draw < DRAWS; draw++) {
        const uint64_t value = abench_distribution_draw(one, &random);
        FUZZ_CHECK(value >= minimum && value <= maximum);
        FUZZ_CHECK(abench_distribution_draw(other, &same) == value);
    }
}

static void check(text_parser parse, const char *spec)
{
    abench_error error = ABENCH_ERROR_INIT;
    abench_distribution *one = NULL, *other = NULL;
    const abench_status status = parse(spec, &one, &error);

    FUZZ_CHECK(parse(spec, &other, NULL) == status);
    if (status == ABENCH_OK) {
        check_draws(one, other);
    } else {
        FUZZ_CHECK(one == NULL && other == NULL);
        FUZZ_CHECK(status == ABENCH_ERROR_SYNTAX || status == ABENCH_ERROR_NOT_FOUND);
        FUZZ_CHECK(error.status == status && error.message[0] != '\0');
        FUZZ_CHECK(memchr(error.message, '\0', sizeof error.message) != NULL);
        FUZZ_CHECK(error.column >= 1 && error.column <= strlen(spec) + 1);
    }
    abench_distribution_destroy(one);
    abench_distribution_destroy(other);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char *spec = fuzz_string_of(data, size);

    if (strncmp(spec, "histogram:@", 11) != 0) { /* any file of the machine: see fuzz_histogram */
        check(abench_distribution_parse, spec);
        check(parse_lifetime, spec);
    }
    free(spec);
    return 0;
}
