/* options.c - a run's options, and the environment that sets them. */
#include <stdlib.h>
#include <string.h>

#include <allocbench/run.h>

#include "base/text.h"
#include "run/run.h"

void abench_run_options_init(abench_run_options *options)
{
    memset(options, 0, sizeof *options);
    options->struct_size = sizeof *options;
}

static abench_status bad_variable(abench_error *error, const char *name, const char *value,
                                  const char *wanted)
{
    return abench__fail(error, ABENCH_ERROR_SYNTAX, "%s='%.64s': %s is wanted", name, value,
                        wanted);
}

/* Reads an unsigned integer up to limit; leaves *value alone when the variable is not set. */
static abench_status read_integer(const char *name, uint64_t limit, uint64_t *value,
                                  abench_error *error)
{
    const char *text = getenv(name);
    const char *at = text;
    uint64_t number;

    if (text == NULL || text[0] == '\0')
        return ABENCH_OK;
    if (!abench__parse_u64(&at, &number) || *at != '\0' || number > limit)
        return bad_variable(error, name, text, "a whole number that fits");
    *value = number;
    return ABENCH_OK;
}

/* 0 in the environment is "none"; in the options it is the preset. */
static abench_status read_latency(abench_run_options *options, abench_error *error)
{
    uint64_t interval = options->latency_interval;
    const char *text = getenv("ALLOCBENCH_LATENCY");
    const abench_status status =
        read_integer("ALLOCBENCH_LATENCY", ABENCH_LATENCY_OFF, &interval, error);

    if (status == ABENCH_OK && text != NULL && text[0] != '\0')
        options->latency_interval = interval == 0 ? ABENCH_LATENCY_OFF : (uint32_t)interval;
    return status;
}

static abench_status read_turn(abench_run_options *options, abench_error *error)
{
    const char *text = getenv("ALLOCBENCH_TURN");
    const char *at = text;
    uint64_t in, out;

    if (text == NULL)
        return ABENCH_OK;
    unsetenv("ALLOCBENCH_TURN"); /* the string itself stays where it is */
    if (text[0] == '\0')
        return ABENCH_OK;
    if (!abench__parse_u64(&at, &in) || *at++ != ',' || !abench__parse_u64(&at, &out) ||
        *at != '\0' || in > INT32_MAX || out > INT32_MAX || in == out)
        return bad_variable(error, "ALLOCBENCH_TURN", text, "two descriptors, IN,OUT");
    options->turn_in = (int32_t)in;
    options->turn_out = (int32_t)out;
    return ABENCH_OK;
}

/* Reads name, when it says anything, and takes it out of the environment. */
static void take_text(const char *name, const char **value)
{
    const char *text = getenv(name);

    if (text == NULL)
        return;
    unsetenv(name); /* the string itself stays where it is */
    if (text[0] != '\0')
        *value = text;
}

abench_status abench_run_options_from_environment(abench_run_options *options, abench_error *error)
{
    uint64_t lanes = options->lanes, sample_us = options->sample_us;
    uint64_t settle_s = options->settle_s, purge = options->flags & ABENCH_RUN_PURGE;
    abench_status status = read_integer("ALLOCBENCH_SEED", UINT64_MAX, &options->seed, error);

    if (status == ABENCH_OK)
        status = read_integer("ALLOCBENCH_LANES", ABENCH_LANES_MAX, &lanes, error);
    if (status == ABENCH_OK)
        status = read_integer("ALLOCBENCH_DURATION_MS", UINT64_MAX, &options->duration_ms, error);
    if (status == ABENCH_OK)
        status = read_integer("ALLOCBENCH_WARMUP_MS", UINT64_MAX, &options->warmup_ms, error);
    if (status == ABENCH_OK)
        status = read_integer("ALLOCBENCH_SLICE", UINT64_MAX, &options->slice_operations, error);
    if (status == ABENCH_OK)
        status = read_integer("ALLOCBENCH_SAMPLE_US", UINT32_MAX, &sample_us, error);
    if (status == ABENCH_OK)
        status = read_integer("ALLOCBENCH_SETTLE_S", RUN_SETTLE_MAX, &settle_s, error);
    if (status == ABENCH_OK)
        status = read_integer("ALLOCBENCH_PURGE", 1, &purge, error);
    if (status == ABENCH_OK)
        status = read_latency(options, error);
    if (status == ABENCH_OK)
        status = read_turn(options, error);
    if (status != ABENCH_OK)
        return status;
    options->lanes = (uint32_t)lanes;
    options->sample_us = (uint32_t)sample_us;
    options->settle_s = (uint32_t)settle_s;
    options->flags = (options->flags & ~ABENCH_RUN_PURGE) | (purge ? ABENCH_RUN_PURGE : 0);
    take_text("ALLOCBENCH_RESULT", &options->result_path);
    take_text("ALLOCBENCH_NONCE", &options->nonce);
    return ABENCH_OK;
}
