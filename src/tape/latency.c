#include "tape/latency.h"

#include "base/arena.h"
#include "base/text.h"

#define INTERVAL_PRESET 1024u
#define INTERVAL_MOST   ((uint64_t)1 << 62)

/* ---- memory ---------------------------------------------------------------------------------- */

/* Words before the next operation that is timed: with that one, 1 ... 2 * interval - 1. */
static uint64_t draw_gap(abench__lane_latency *mine, uint64_t interval)
{
    return abench_random_below(&mine->random, 2 * interval - 1);
}

abench_status abench__latency_create(const abench_player_options *options, uint32_t lanes,
                                     const abench_memory_hooks *hooks, abench__play_latency **out,
                                     abench_error *error)
{
    const uint64_t asked =
        options->latency_interval == 0 ? INTERVAL_PRESET : options->latency_interval;
    const uint64_t bytes = sizeof **out + lanes * sizeof(abench__lane_latency);
    abench__play_latency *latency = abench__map(hooks, bytes, 1);

    *out = latency;
    if (latency == NULL)
        return abench__fail(error, ABENCH_ERROR_MEMORY, "no memory for the lanes' latencies");
    latency->bytes = bytes;
    latency->interval = asked < INTERVAL_MOST ? asked : INTERVAL_MOST;
    for (uint32_t index = 0; index < lanes; index++) {
        abench__lane_latency *mine = &latency->lanes[index];
        abench_random_seed(&mine->random, options->seed, index, ABENCH_PURPOSE_LATENCY);
        mine->left = draw_gap(mine, latency->interval);
        for (uint32_t kind = 0; kind < LATENCY_LANE_KINDS; kind++)
            abench__histogram_begin(&mine->of_kind[kind]);
    }
    return ABENCH_OK;
}

void abench__latency_destroy(abench__play_latency *latency, const abench_memory_hooks *hooks)
{
    if (latency != NULL)
        abench__unmap(hooks, latency, latency->bytes);
}

void abench__latency_merge(const abench__play_latency *latency, uint32_t lanes,
                           abench_latency *into)
{
    for (uint32_t index = 0; index < lanes; index++)
        for (uint32_t kind = 0; kind < LATENCY_LANE_KINDS; kind++)
            abench_histogram_merge(&into->of_kind[kind], &latency->lanes[index].of_kind[kind]);
}

/* ---- sampling -------------------------------------------------------------------------------- */

const uint64_t *abench__latency_stop(abench__lane *lane, const uint64_t *end)
{
    abench__lane_latency *mine = &lane->play->latency->lanes[lane->index];
    const uint64_t room = (uint64_t)(end - lane->at), left = mine->left;

    if (left >= room) {
        mine->left -= room;
        return end;
    }
    mine->left = 0;
    return lane->at + left;
}

static void record(abench__lane_latency *mine, uint32_t kind, uint64_t from_ns, uint64_t to_ns)
{
    abench__histogram_record(&mine->of_kind[kind], to_ns - from_ns);
}

static void record_call(abench__lane *lane, abench__lane_latency *mine, uint32_t kind,
                        const abench__moments *m)
{
    uint64_t nothing_ns;

    if (kind > ABENCH_OP_REALLOC)
        record(mine, ABENCH_LATENCY_FREE, m->begun_ns, m->ended_ns);
    else if (kind == ABENCH_OP_REALLOC)
        record(mine, ABENCH_LATENCY_REALLOC, m->begun_ns, m->ended_ns);
    else
        record(mine, ABENCH_LATENCY_MALLOC, m->begun_ns, m->ended_ns);
    if (kind < ABENCH_OP_REALLOC && lane->play->tape->summary.touch != ABENCH_TOUCH_NOTHING)
        record(mine, ABENCH_LATENCY_TOUCH, m->begun_ns, m->touched_ns);
    nothing_ns = abench_clock_ns();
    record(mine, ABENCH_LATENCY_CONTROL, nothing_ns, abench_clock_ns());
}

void abench__latency_operation(abench__lane *lane, const uint64_t *stop)
{
    abench__play_latency *latency = lane->play->latency;
    abench__lane_latency *mine = &latency->lanes[lane->index];
    abench__moments moments = {0, 0, 0};
    abench__op op;
    const uint32_t words = abench__word_unpack(lane->at, &op);

    mine->left = draw_gap(mine, latency->interval);
    if (lane->at != stop)
        return;
    if (op.kind > ABENCH_OP_FREE_SIZED) {
        mine->left += mine->left == 0; /* the loop must get past it */
        return;
    }
    abench__lane_call(lane, &op, &moments);
    lane->at += words;
    if (moments.begun_ns != 0)
        record_call(lane, mine, op.kind, &moments);
}
