/* latency.c - the latencies of a play or a run: one histogram a kind. */
#include "base/arena.h"
#include "histogram/histogram.h"

static const char *const names[ABENCH_LATENCY_KINDS] = {
    "malloc", "malloc_touch", "realloc", "free", "control", "request", "service"};

const char *abench_latency_name(uint32_t kind)
{
    return kind < ABENCH_LATENCY_KINDS ? names[kind] : NULL;
}

abench_status abench_latency_create(const abench_memory_hooks *hooks, abench_latency **out)
{
    abench_memory_hooks copy;
    abench_latency *latency;
    abench_status status;

    *out = NULL;
    status = abench__hooks_copy(hooks, &copy);
    if (status != ABENCH_OK)
        return status;
    latency = abench__map(&copy, sizeof *latency, 1);
    if (latency == NULL)
        return ABENCH_ERROR_MEMORY;
    latency->hooks = copy;
    for (uint32_t kind = 0; kind < ABENCH_LATENCY_KINDS; kind++)
        abench__histogram_begin(&latency->of_kind[kind]);
    *out = latency;
    return ABENCH_OK;
}

void abench_latency_destroy(abench_latency *latency)
{
    abench_memory_hooks hooks;

    if (latency == NULL)
        return;
    hooks = latency->hooks;
    abench__unmap(&hooks, latency, sizeof *latency);
}

abench_histogram *abench_latency_histogram(abench_latency *latency, uint32_t kind)
{
    return kind < ABENCH_LATENCY_KINDS ? &latency->of_kind[kind] : NULL;
}

int32_t abench_latency_at_floor(const abench_latency *latency, uint32_t kind,
                                uint32_t parts_per_million)
{
    uint64_t value, floor;

    if (kind >= ABENCH_LATENCY_KINDS ||
        abench_histogram_quantile(&latency->of_kind[kind], parts_per_million, &value) !=
            ABENCH_OK ||
        abench_histogram_quantile(&latency->of_kind[ABENCH_LATENCY_CONTROL], parts_per_million,
                                  &floor) != ABENCH_OK)
        return 0;
    return value - value / 2 <= floor; /* value <= 2 * floor, without overflow */
}
