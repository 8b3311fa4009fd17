/* check_play.c - checked play: of every call at random, and of the catalogue at its quick scale. */
#include "cell/check.h"

#include <stdio.h>

/* What takes longer is stopped at a slice's end: the whole check must stay short. */
#define PLAY_NS          ((uint64_t)400 * 1000000)
#define SLICE_OPERATIONS 8192u
#define WATCHDOG_MS      20000u

typedef struct progress {
    uint64_t begun_ns;
    uint64_t operations;
    bool was_stopped;
} progress;

static int32_t after_slice(const abench_slice *slice, void *user)
{
    progress *p = user;

    p->operations += slice->operations;
    p->was_stopped = !slice->last && abench_clock_ns() - p->begun_ns > PLAY_NS;
    return p->was_stopped;
}

static void play(const abench_tape *tape, char *detail, size_t detail_size)
{
    abench_player_options options = ABENCH_PLAYER_OPTIONS_INIT;
    abench_receipt receipt = ABENCH_RECEIPT_INIT;
    abench_error error = ABENCH_ERROR_INIT;
    progress p = {abench_clock_ns(), 0, false};
    abench_status status;

    options.flags = ABENCH_PLAY_CHECK;
    options.slice_operations = SLICE_OPERATIONS;
    options.watchdog_ms = WATCHDOG_MS;
    options.slice = after_slice;
    options.user = &p;
    status = abench_play(tape, NULL, &options, &receipt, &error);
    if (receipt.faults == 0 && receipt.failed > 0) /* of what C leaves open */
        check_note(
            "%llu calls of aligned_alloc returned NULL for a size that is no multiple of the "
            "alignment",
            (unsigned long long)receipt.failed);
    else if (status != ABENCH_OK && (receipt.faults > 0 || !p.was_stopped))
        check_fault("%s", error.message);
    snprintf(detail, detail_size, "%llu operations, %llu blocks verified%s",
             (unsigned long long)p.operations, (unsigned long long)receipt.checked,
             p.was_stopped ? "; stopped for time" : "");
}

void check_play(const char *name, char *detail, size_t detail_size)
{
    abench_error error = ABENCH_ERROR_INIT;
    abench_workload *workload = NULL;
    abench_tape *tape = NULL;
    char spec[64];
    abench_status status;

    snprintf(spec, sizeof spec, "%s:scale=quick", name);
    status = abench_workload_parse(spec, 1, 0, &workload, &error);
    if (status == ABENCH_OK)
        status = abench_workload_stream(workload, NULL, &tape, &error);
    if (status == ABENCH_OK)
        play(tape, detail, detail_size);
    else
        check_fault("%s could not be made: %s", spec, error.message);
    abench_tape_destroy(tape);
    abench_workload_destroy(workload);
}

/* ---- every call ------------------------------------------------------------------------------ */

#define LANES  4u
#define LOCAL  150u
#define SHARED 60u
#define STEPS  30000u

typedef struct maker {
    abench_tape_builder *builder;
    abench_random random;
    bool local[LANES][LOCAL]; /* holds a block */
    bool shared[SHARED];
} maker;

static uint64_t draw(maker *m, uint64_t bound)
{
    return abench_random_below(&m->random, bound);
}

/* Small ones more often, one in 100 up to 1 MiB. */
static uint64_t draw_size(maker *m)
{
    return 1 + draw(m, (uint64_t)1 << draw(m, draw(m, 100) == 0 ? 21 : 14));
}

static void allocate(maker *m, uint32_t lane, uint32_t slot)
{
    const uint64_t size = draw_size(m), alignment = (uint64_t)1 << draw(m, 13);

    switch (draw(m, 4)) {
    case 0:
        abench_tape_builder_calloc(m->builder, lane, slot, size);
        break;
    case 1: /* C11: a multiple of the alignment */
        abench_tape_builder_aligned(m->builder, lane, slot, alignment,
                                    (size + alignment - 1) & ~(alignment - 1));
        break;
    default:
        abench_tape_builder_malloc(m->builder, lane, slot, size);
        break;
    }
}

/* Grows, shrinks, writes again or frees a block; false: it is gone. */
static bool go_on(maker *m, uint32_t lane, uint32_t slot)
{
    switch (draw(m, 6)) {
    case 0:
    case 1:
        abench_tape_builder_realloc(m->builder, lane, slot, draw_size(m));
        return true;
    case 2:
        if (slot & ABENCH_SLOT_SHARED) /* whose touch wants a barrier */
            return true;
        abench_tape_builder_touch(m->builder, lane, slot);
        return true;
    case 3:
        abench_tape_builder_free_sized(m->builder, lane, slot);
        return false;
    default:
        abench_tape_builder_free(m->builder, lane, slot);
        return false;
    }
}

/* A block in a shared slot is whoever's turn it is: made, moved and freed by different lanes. */
static void one_step(maker *m, uint32_t lane)
{
    const bool is_shared = draw(m, 3) == 0;
    const uint32_t slot = (uint32_t)draw(m, is_shared ? SHARED : LOCAL);
    bool *is_live = is_shared ? &m->shared[slot] : &m->local[lane][slot];
    const uint32_t number = slot | (is_shared ? ABENCH_SLOT_SHARED : 0);

    if (*is_live) {
        *is_live = go_on(m, lane, number);
    } else {
        allocate(m, lane, number);
        *is_live = true;
    }
}

void check_play_every_call(char *detail, size_t detail_size)
{
    static maker m; /* nothing of it lies in the heap under test */
    abench_tape_options options = ABENCH_TAPE_OPTIONS_INIT;
    abench_tape *tape = NULL;
    abench_status status;

    options.lanes = LANES;
    options.local_slots = LOCAL;
    options.shared_slots = SHARED;
    options.touch = ABENCH_TOUCH_FIRST;
    abench_random_seed(&m.random, 1, 1, ABENCH_PURPOSE_USER);
    status = abench_tape_builder_create(&options, &m.builder);
    for (uint32_t step = 0; step < STEPS && status == ABENCH_OK; step++)
        for (uint32_t lane = 0; lane < LANES; lane++)
            one_step(&m, lane);
    if (status == ABENCH_OK)
        status = abench_tape_builder_finish(m.builder, &tape);
    if (status == ABENCH_OK)
        play(tape, detail, detail_size); /* blocks that are left are verified when it ends */
    else
        check_fault("no tape could be made: %s", abench_status_message(status));
    abench_tape_destroy(tape);
    abench_tape_builder_destroy(m.builder);
}
