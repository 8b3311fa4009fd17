/*
 * fuzz_environment.c - a run's options from the environment: line i of the input is the value of
 * variable i, a line "-" leaves it out.
 */
#include "fuzz.h"

#include <allocbench/run.h>

static const char *const names[] = {
    "ALLOCBENCH_SEED",  "ALLOCBENCH_LANES",     "ALLOCBENCH_DURATION_MS", "ALLOCBENCH_WARMUP_MS",
    "ALLOCBENCH_SLICE", "ALLOCBENCH_SAMPLE_US", "ALLOCBENCH_LATENCY",     "ALLOCBENCH_SETTLE_S",
    "ALLOCBENCH_PURGE", "ALLOCBENCH_TURN",      "ALLOCBENCH_RESULT",      "ALLOCBENCH_NONCE",
};

#define NAMES (sizeof names / sizeof names[0])

static void check_options(const abench_run_options *o)
{
    FUZZ_CHECK(o->struct_size == sizeof *o);
    FUZZ_CHECK(o->lanes <= ABENCH_LANES_MAX && o->settle_s <= 128);
    FUZZ_CHECK((o->flags & ~ABENCH_RUN_PURGE) == 0);
    FUZZ_CHECK(o->turn_in >= 0 && o->turn_out >= 0);
    FUZZ_CHECK((o->turn_in == 0 && o->turn_out == 0) || o->turn_in != o->turn_out);
    FUZZ_CHECK(o->result_path == NULL || o->result_path[0] != '\0');
    FUZZ_CHECK(o->nonce == NULL || o->nonce[0] != '\0');
    FUZZ_CHECK(o->hooks == NULL && o->name == NULL);
    for (size_t at = NAMES - 3; at < NAMES; at++)
        FUZZ_CHECK(getenv(names[at]) == NULL); /* children must not have them */
}

/* What it refuses is named, and is the first of those that are wrong. */
static void check_error(const abench_error *error)
{
    size_t named = 0;

    FUZZ_CHECK(error->status == ABENCH_ERROR_SYNTAX);
    FUZZ_CHECK(memchr(error->message, '\0', sizeof error->message) != NULL);
    for (size_t at = 0; at < NAMES; at++)
        named += strncmp(error->message, names[at], strlen(names[at])) == 0;
    FUZZ_CHECK(named == 1);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    abench_run_options options = ABENCH_RUN_OPTIONS_INIT;
    abench_error error = ABENCH_ERROR_INIT;
    abench_status status;

    for (size_t at = 0; at < NAMES; at++) {
        char *value = fuzz_take_line(&data, &size);
        if (strcmp(value, "-") == 0)
            unsetenv(names[at]);
        else if (setenv(names[at], value, 1) != 0)
            abort();
        free(value);
    }
    status = abench_run_options_from_environment(&options, &error);
    if (status == ABENCH_OK)
        check_options(&options);
    else
        check_error(&error);
    return 0;
}
