/*
 * fuzz_histogram.c - the file of a distribution histogram:@FILE. What is compiled draws within its
 * bounds, and the digest of its contents is the only one that the spec may carry.
 */
#include "fuzz.h"

#include <allocbench/distribution.h>

#include "shape/distribution.h"

#define DRAWS 64

static abench_status parse_with(const fuzz_file *file, uint64_t digest, abench_distribution **out)
{
    char spec[96];

    snprintf(spec, sizeof spec, "histogram:@%s#%016llx", file->path, (unsigned long long)digest);
    return abench_distribution_parse(spec, out, NULL);
}

static void check_digest(const fuzz_file *file, uint64_t digest)
{
    abench_distribution *again;

    FUZZ_CHECK(digest != 0);
    FUZZ_CHECK(parse_with(file, digest, &again) == ABENCH_OK);
    FUZZ_CHECK(abench__distribution_digest(again) == digest);
    abench_distribution_destroy(again);
    FUZZ_CHECK(parse_with(file, digest ^ (uint64_t)1 << 63, &again) == ABENCH_ERROR_SYNTAX ||
               digest == (uint64_t)1 << 63);
    FUZZ_CHECK(again == NULL || digest == (uint64_t)1 << 63);
}

static void check_draws(const abench_distribution *distribution)
{
    const uint64_t minimum = abench_distribution_minimum(distribution);
    const uint64_t maximum = abench_distribution_maximum(distribution);
    const uint64_t mean = abench_distribution_mean(distribution);
    abench_random random;

    FUZZ_CHECK(minimum <= mean && mean <= maximum);
    abench_random_seed(&random, 1, 0, ABENCH_PURPOSE_USER);
    for (int draw = 0; draw < DRAWS; draw++) {
        const uint64_t value = abench_distribution_draw(distribution, &random);
        FUZZ_CHECK(value >= minimum && value <= maximum);
    }
}

static uint32_t lines_of(const uint8_t *data, size_t size)
{
    uint32_t lines = 1;

    for (size_t at = 0; at < size; at++)
        lines += data[at] == '\n';
    return lines;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const fuzz_file file = fuzz_file_of(data, size);
    abench_error error = ABENCH_ERROR_INIT;
    abench_distribution *distribution;
    char spec[64];
    abench_status status;

    snprintf(spec, sizeof spec, "histogram:@%s", file.path);
    status = abench_distribution_parse(spec, &distribution, &error);
    if (status == ABENCH_OK) {
        check_draws(distribution);
        check_digest(&file, abench__distribution_digest(distribution));
        abench_distribution_destroy(distribution);
    } else {
        FUZZ_CHECK(status == ABENCH_ERROR_SYNTAX && distribution == NULL);
        FUZZ_CHECK(error.message[0] != '\0' && error.line <= lines_of(data, size));
        FUZZ_CHECK(error.column <= size + 1);
    }
    fuzz_file_close(&file);
    return 0;
}
