/* Golden digests: the same work for the same seed, for ever; what changes one is a new version of
 * its workload. */
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include <allocbench/workload.h>

/* The same from a file, in memory and streamed. */
static void assert_file(const abench_tape *tape, const char *spec, uint64_t work)
{
    static const char path[] = "test_golden.tape";
    const int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0600);
    abench_error error = ABENCH_ERROR_INIT;
    abench_tape *loaded = NULL, *opened = NULL;

    assert_true(fd >= 0);
    if (abench_tape_save(tape, fd, &error) != ABENCH_OK ||
        abench_tape_load(path, NULL, &loaded, &error) != ABENCH_OK ||
        abench_tape_open(path, NULL, &opened, &error) != ABENCH_OK)
        fail_msg("%s: %s", spec, error.message);
    close(fd);
    if (abench_tape_digest(loaded) != work || abench_tape_digest(opened) != work)
        fail_msg("%s: work %016llx from a file, %016llx streamed from it", spec,
                 (unsigned long long)abench_tape_digest(loaded),
                 (unsigned long long)abench_tape_digest(opened));
    abench_tape_destroy(opened);
    abench_tape_destroy(loaded);
    unlink(path);
}

static void assert_golden(const char *spec, uint64_t seed, uint64_t plan, uint64_t work)
{
    abench_error error = ABENCH_ERROR_INIT;
    abench_workload *workload = NULL;
    abench_tape *tape = NULL, *stream = NULL;

    if (abench_workload_parse(spec, seed, 0, &workload, &error) != ABENCH_OK ||
        abench_workload_tape(workload, NULL, &tape, &error) != ABENCH_OK ||
        abench_workload_stream(workload, NULL, &stream, &error) != ABENCH_OK)
        fail_msg("%s", error.message);
    if (abench_workload_plan_digest(workload) != plan || abench_tape_digest(tape) != work)
        fail_msg("%s, seed %llu: plan %016llx, work %016llx", spec, (unsigned long long)seed,
                 (unsigned long long)abench_workload_plan_digest(workload),
                 (unsigned long long)abench_tape_digest(tape));
    if (abench_tape_digest(stream) != work)
        fail_msg("%s, seed %llu, streamed: work %016llx", spec, (unsigned long long)seed,
                 (unsigned long long)abench_tape_digest(stream));
    if (seed == 1)
        assert_file(tape, spec, work);
    abench_tape_destroy(stream);
    abench_tape_destroy(tape);
    abench_workload_destroy(workload);
}

static void every_workload_has_its_golden_digests(void **state)
{
    (void)state;
#define GOLDEN(spec, seed, plan, work) assert_golden(spec, seed, plan, work);
#include "golden.txt"
#undef GOLDEN
}

static const struct {
    const char *spec;
    uint64_t seed;
} golden[] = {
#define GOLDEN(spec, seed, plan, work) {spec, seed},
#include "golden.txt"
#undef GOLDEN
};

/* So that a new workload is not forgotten. */
static void every_workload_is_golden_at_two_seeds(void **state)
{
    abench_workload_info info = ABENCH_WORKLOAD_INFO_INIT;

    (void)state;
    for (uint32_t at = 0; abench_workload_at(at, &info) == ABENCH_OK; at++) {
        const size_t length = strlen(info.name);
        uint64_t first = 0;
        uint32_t seeds = 0;
        for (size_t row = 0; row < sizeof golden / sizeof golden[0]; row++) {
            if (strcspn(golden[row].spec, ":") != length ||
                strncmp(golden[row].spec, info.name, length) != 0)
                continue;
            seeds += seeds == 0 || golden[row].seed != first;
            first = golden[row].seed;
        }
        if (seeds < 2)
            fail_msg("%s has %u seeds in golden.txt", info.name, seeds);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_workload_has_its_golden_digests),
        cmocka_unit_test(every_workload_is_golden_at_two_seeds),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
