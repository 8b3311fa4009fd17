/*
 * play.c - a play from first mark to receipt: lane threads, the gate between slices, callbacks.
 *
 * Lane 0 is the caller. Between slices every lane stands at the gate, asleep, so that a run that
 * waits for its turn leaves the machine alone.
 */
#include <signal.h>
#include <string.h>

#include "base/arena.h"
#include "base/hash.h"
#include "base/options.h"
#include "base/text.h"
#include "tape/lane.h"
#include "tape/wait.h"
#include "tape/word.h"

#define PLAYER_OPTIONS_FIRST_RELEASE 64u
#define RECEIPT_FIRST_RELEASE        280u
#define ALLOCATOR_FIRST_RELEASE      64u
#define WATCHDOG_PRESET_MS           60000u
#define NS_PER_MS                    ((uint64_t)1000000)

_Static_assert(sizeof(abench_player_options) == PLAYER_OPTIONS_FIRST_RELEASE, "first release");
_Static_assert(sizeof(abench_receipt) == RECEIPT_FIRST_RELEASE, "first release");
_Static_assert(sizeof(abench_allocator) == ALLOCATOR_FIRST_RELEASE, "first release");

void abench_player_options_init(abench_player_options *options)
{
    memset(options, 0, sizeof *options);
    options->struct_size = sizeof *options;
}

void abench_receipt_init(abench_receipt *receipt)
{
    memset(receipt, 0, sizeof *receipt);
    receipt->struct_size = sizeof *receipt;
}

/* ---- memory ---------------------------------------------------------------------------------- */

static uint64_t play_bytes(const abench_tape_summary *s)
{
    return sizeof(abench__play) + s->lanes * (sizeof(abench__lane) + 128) +
           (uint64_t)s->lanes * s->local_slots * sizeof(void *) +
           (uint64_t)s->shared_slots * sizeof(uint64_t) + (uint64_t)(s->lanes + 4) * 128;
}

/* Everything of one play in one touched mapping. */
static abench__play *play_create(const abench_tape *tape, const abench_memory_hooks *hooks)
{
    const abench_tape_summary *s = &tape->summary;
    abench__arena arena = {0};
    abench__play *play;
    _Atomic uint64_t *shared;

    arena.capacity = play_bytes(s);
    arena.memory = abench__map(hooks, arena.capacity, 1);
    if (arena.memory == NULL)
        return NULL;
    arena.used = (0 - (uintptr_t)arena.memory) & 127; /* for what is aligned to 128 */
    play = abench__arena_take(&arena, (sizeof *play + 127) & ~(uint64_t)127);
    play->lanes = abench__arena_take(&arena, s->lanes * sizeof(abench__lane));
    shared = abench__arena_take(&arena, (uint64_t)s->shared_slots * sizeof *shared);
    play->tape = tape;
    play->lanes_count = s->lanes;
    for (uint32_t index = 0; index < s->lanes; index++) {
        abench__lane *lane = &play->lanes[index];
        lane->play = play;
        lane->index = index;
        lane->at = abench__lane_data(tape, index);
        lane->shared = shared;
        lane->slots = abench__arena_take(&arena, (uint64_t)s->local_slots * sizeof(void *));
    }
    pthread_mutex_init(&play->error_mutex, NULL);
    pthread_mutex_init(&play->gate_mutex, NULL);
    pthread_cond_init(&play->gate_open, NULL);
    pthread_cond_init(&play->gate_full, NULL);
    abench_error_init(&play->error);
    return play;
}

static void play_destroy(abench__play *play, const abench_memory_hooks *hooks)
{
    if (play == NULL)
        return;
    pthread_cond_destroy(&play->gate_full);
    pthread_cond_destroy(&play->gate_open);
    pthread_mutex_destroy(&play->gate_mutex);
    pthread_mutex_destroy(&play->error_mutex);
    abench__unmap(hooks, play, play_bytes(&play->tape->summary));
}

/* ---- the gate -------------------------------------------------------------------------------- */

static void *lane_main(void *argument)
{
    abench__lane *lane = argument;
    abench__play *play = lane->play;
    uint64_t generation = 0;

    for (;;) {
        int finish;
        pthread_mutex_lock(&play->gate_mutex);
        play->gate_arrived++;
        pthread_cond_signal(&play->gate_full);
        while (play->gate_generation == generation)
            pthread_cond_wait(&play->gate_open, &play->gate_mutex);
        generation = play->gate_generation;
        finish = play->gate_finish != 0;
        pthread_mutex_unlock(&play->gate_mutex);
        if (finish)
            return NULL;
        abench__lane_slice(lane);
    }
}

/* Until every lane but 0 stands at the gate. */
static void gate_wait(abench__play *play, uint32_t threads)
{
    pthread_mutex_lock(&play->gate_mutex);
    while (play->gate_arrived < threads)
        pthread_cond_wait(&play->gate_full, &play->gate_mutex);
    pthread_mutex_unlock(&play->gate_mutex);
}

static void gate_pass(abench__play *play, int finish)
{
    pthread_mutex_lock(&play->gate_mutex);
    play->gate_arrived = 0;
    play->gate_finish = (uint32_t)finish;
    play->gate_generation++;
    pthread_cond_broadcast(&play->gate_open);
    pthread_mutex_unlock(&play->gate_mutex);
}

/* Starts the threads of lanes 1 ..., with every signal blocked: handlers are the host's. */
static abench_status start_threads(abench__play *play, abench_error *error)
{
    sigset_t all, before;
    abench_status status = ABENCH_OK;

    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    for (uint32_t index = 1; index < play->lanes_count && status == ABENCH_OK; index++) {
        abench__lane *lane = &play->lanes[index];
        const int failed = pthread_create(&lane->thread, NULL, lane_main, lane);
        if (failed != 0)
            status = abench__fail_errno(error, failed, "cannot start the thread of lane %u", index);
        else
            lane->has_thread = 1;
    }
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    return status;
}

static void join_threads(abench__play *play)
{
    uint32_t threads = 0;

    for (uint32_t index = 1; index < play->lanes_count; index++)
        threads += play->lanes[index].has_thread;
    gate_wait(play, threads);
    gate_pass(play, 1);
    for (uint32_t index = 1; index < play->lanes_count; index++)
        if (play->lanes[index].has_thread)
            pthread_join(play->lanes[index].thread, NULL);
}

/* ---- slices and marks ------------------------------------------------------------------------ */

static uint64_t usable_in(size_t (*usable_size)(void *), void *block)
{
    return block == NULL ? 0 : usable_size(block);
}

abench_status abench_mark_usable(const abench_mark *mark, uint64_t *bytes)
{
    const abench__play *play = mark->player;
    const abench_tape_summary *s = &play->tape->summary;
    size_t (*const usable_size)(void *) = play->allocator.usable_size;
    uint64_t sum = 0;

    if (usable_size == NULL)
        return ABENCH_ERROR_UNSUPPORTED;
    for (uint32_t index = 0; index < play->lanes_count; index++)
        for (uint32_t slot = 0; slot < s->local_slots; slot++)
            sum += usable_in(usable_size, play->lanes[index].slots[slot]);
    for (uint32_t slot = 0; slot < s->shared_slots; slot++) {
        const uint64_t word = atomic_load(&play->lanes[0].shared[slot]);
        sum += usable_in(usable_size, (void *)(uintptr_t)(word & (((uint64_t)1 << 48) - 1)));
    }
    *bytes = sum;
    return ABENCH_OK;
}

static abench_status call_mark(abench__play *play, uint32_t phase, int begin)
{
    const abench_phase *info = &play->tape->phases[phase].info;
    abench_mark mark = {.struct_size = sizeof mark, .phase = phase, .player = play};

    if (play->options.mark == NULL)
        return ABENCH_OK;
    mark.begin = (uint32_t)begin;
    mark.end = !begin && phase + 1 == play->tape->summary.phases;
    mark.live_bytes = begin ? 0 : info->live_bytes_end;
    mark.live_blocks = begin ? 0 : info->live_blocks_end;
    return play->options.mark(&mark, play->options.user) == 0 ? ABENCH_OK : ABENCH_ERROR_STOPPED;
}

/* Plays cuts first ... last - 1 on all lanes and adds up what they took. */
static void play_slice(abench__play *play, uint64_t first, uint64_t last, abench_slice *slice)
{
    const uint32_t lanes = play->lanes_count;
    uint64_t begin = UINT64_MAX, end = 0;

    play->first_cut = first;
    play->last_cut = last;
    for (uint32_t index = 0; index < lanes; index++)
        atomic_store(&play->lanes[index].cut, first);
    gate_pass(play, 0);
    abench__lane_slice(&play->lanes[0]);
    gate_wait(play, lanes - 1);
    for (uint32_t index = 0; index < lanes; index++) {
        const abench__lane *lane = &play->lanes[index];
        begin = lane->slice_begin_ns < begin ? lane->slice_begin_ns : begin;
        end = lane->slice_end_ns > end ? lane->slice_end_ns : end;
        slice->cpu_ns += lane->slice_cpu_ns;
        slice->wait_ns += lane->slice_idle_ns;
        slice->busy_ns += lane->slice_end_ns - lane->slice_begin_ns - lane->slice_idle_ns;
    }
    slice->wall_ns = end - begin;
}

static uint64_t executed_by_all(const abench__play *play)
{
    uint64_t sum = 0;

    for (uint32_t index = 0; index < play->lanes_count; index++)
        for (uint32_t kind = 0; kind < ABENCH_OP_KINDS; kind++)
            sum += play->lanes[index].executed[kind];
    return sum;
}

static abench_status play_phase(abench__play *play, uint32_t phase, uint32_t *slice_index)
{
    const abench__tape_phase *p = &play->tape->phases[phase];
    const uint64_t asked = play->options.slice_operations;
    const uint64_t end = p->first_cut + p->cuts;
    uint64_t step = asked / ABENCH_TAPE_CUT + (asked % ABENCH_TAPE_CUT != 0);

    step = step == 0 || step > p->cuts ? p->cuts : step;
    for (uint64_t cut = p->first_cut; cut < end;) {
        const uint64_t last = end - cut > step ? cut + step : end;
        const uint64_t before = executed_by_all(play);
        abench_slice slice = {.struct_size = sizeof slice, .phase = phase};
        abench_status status = ABENCH_OK;

        slice.index = (*slice_index)++;
        play_slice(play, cut, last, &slice);
        if (atomic_load(&play->abort))
            return play->error.status;
        slice.operations = executed_by_all(play) - before;
        slice.last = last == end && phase + 1 == play->tape->summary.phases;
        if (last == end)
            status = call_mark(play, phase, 0);
        if (status == ABENCH_OK && play->options.slice != NULL &&
            play->options.slice(&slice, play->options.user) != 0)
            status = ABENCH_ERROR_STOPPED;
        if (status != ABENCH_OK)
            return status;
        cut = last;
    }
    return ABENCH_OK;
}

/* ---- the receipt ----------------------------------------------------------------------------- */

static void fill_receipt(const abench__play *play, abench_receipt *r)
{
    const abench_tape *tape = play->tape;
    const abench_tape_summary *s = &tape->summary;

    r->checksum_planned = tape->checksum;
    r->live_bytes_end = s->live_bytes_end;
    r->work_digest = abench__digest_begin(s->lanes);
    for (uint32_t kind = 0; kind < ABENCH_OP_KINDS; kind++)
        r->planned[kind] = s->by_kind[kind];
    for (uint32_t index = 0; index < s->lanes; index++) {
        const abench__lane *lane = &play->lanes[index];
        const uint64_t words = (uint64_t)(lane->at - abench__lane_data(tape, index));
        for (uint32_t kind = 0; kind < ABENCH_OP_KINDS; kind++)
            r->executed[kind] += lane->executed[kind];
        for (uint32_t slot = 0; slot < s->local_slots; slot++)
            r->live_blocks_end += lane->slots[slot] != NULL;
        r->failed += lane->failed;
        r->bytes_requested += lane->bytes;
        r->checksum += lane->checksum;
        r->waits += lane->waits;
        r->wait_ns += lane->wait_ns;
        r->pause_ns += lane->pause_ns;
        r->work_digest = abench__fold(r->work_digest, abench__lane_digest(tape, index, words));
    }
    for (uint32_t slot = 0; slot < s->shared_slots; slot++)
        r->live_blocks_end += atomic_load(&play->lanes[0].shared[slot]) >> 48 & 1;
}

static abench_status check_receipt(const abench__play *play, const abench_receipt *r,
                                   abench_error *error)
{
    for (uint32_t kind = 1; kind < ABENCH_OP_KINDS; kind++)
        if (r->executed[kind] != r->planned[kind])
            return abench__fail(error, ABENCH_ERROR_RECEIPT, "%llu of %llu %s were executed",
                                (unsigned long long)r->executed[kind],
                                (unsigned long long)r->planned[kind], abench_op_name(kind));
    if (r->failed != 0)
        return abench__fail(error, ABENCH_ERROR_RECEIPT, "%llu allocations failed",
                            (unsigned long long)r->failed);
    if (r->work_digest != play->tape->digest)
        return abench__fail(error, ABENCH_ERROR_RECEIPT, "other words were executed than planned");
    if (!(play->allocator.flags & ABENCH_ALLOCATOR_OVERLAPS) && r->checksum != r->checksum_planned)
        return abench__fail(error, ABENCH_ERROR_RECEIPT,
                            "blocks did not keep their contents (checksum %llu instead of %llu): "
                            "the allocator let blocks overlap, or lost bytes in realloc",
                            (unsigned long long)r->checksum,
                            (unsigned long long)r->checksum_planned);
    return ABENCH_OK;
}

/* What a tape leaves alive, or a stopped play: given back when everything was read. */
static void free_rest(const abench__play *play)
{
    const abench_tape_summary *s = &play->tape->summary;

    for (uint32_t index = 0; index < s->lanes; index++)
        for (uint32_t slot = 0; slot < s->local_slots; slot++)
            if (play->lanes[index].slots[slot] != NULL)
                play->allocator.free(play->lanes[index].slots[slot]);
    for (uint32_t slot = 0; slot < s->shared_slots; slot++) {
        const uint64_t word = atomic_load(&play->lanes[0].shared[slot]);
        void *block = (void *)(uintptr_t)(word & (((uint64_t)1 << 48) - 1));
        if (block != NULL)
            play->allocator.free(block);
    }
}

/* ---- all of it ------------------------------------------------------------------------------- */

static abench_status read_arguments(const abench_allocator *allocator,
                                    const abench_player_options *options, abench_allocator *a,
                                    abench_player_options *o)
{
    abench_status status;

    abench_player_options_init(o);
    status = abench__options_read(o, sizeof *o, options, PLAYER_OPTIONS_FIRST_RELEASE);
    if (status == ABENCH_OK && o->flags != 0)
        status = ABENCH_ERROR_ARGUMENT;
    if (status != ABENCH_OK)
        return status;
    abench_allocator_init(a);
    if (allocator == NULL)
        return abench_allocator_process(a);
    status = abench__options_read(a, sizeof *a, allocator, ALLOCATOR_FIRST_RELEASE);
    if (status == ABENCH_OK && (a->malloc == NULL || a->calloc == NULL || a->realloc == NULL ||
                                a->aligned_alloc == NULL || a->free == NULL))
        status = ABENCH_ERROR_ARGUMENT;
    return status;
}

static abench_status play_all(abench__play *play, abench_error *error)
{
    uint32_t slice_index = 0;
    abench_status status = start_threads(play, error);

    if (status == ABENCH_OK) {
        gate_wait(play, play->lanes_count - 1);
        status = call_mark(play, 0, 1);
    }
    for (uint32_t phase = 0; phase < play->tape->summary.phases && status == ABENCH_OK; phase++)
        status = play_phase(play, phase, &slice_index);
    if (play->error.status != ABENCH_OK && error != NULL)
        *error = play->error;
    else if (status == ABENCH_ERROR_STOPPED)
        abench__fail(error, status, "%s", abench_status_message(status));
    return status;
}

abench_status abench_play(const abench_tape *tape, const abench_allocator *allocator,
                          const abench_player_options *options, abench_receipt *receipt,
                          abench_error *error)
{
    abench_player_options o;
    abench_memory_hooks hooks;
    abench_allocator a;
    abench_receipt r;
    abench__play *play;
    abench_status status = read_arguments(allocator, options, &a, &o);

    if (status == ABENCH_OK)
        status = abench__hooks_copy(o.hooks, &hooks);
    if (status != ABENCH_OK)
        return abench__fail(error, status, "the allocator or the options are not valid");
    play = play_create(tape, &hooks);
    if (play == NULL)
        return abench__fail(error, ABENCH_ERROR_MEMORY, "no memory for the lanes and slots");
    play->allocator = a;
    play->options = o;
    play->skew_cuts =
        o.skew_operations / ABENCH_TAPE_CUT + (o.skew_operations % ABENCH_TAPE_CUT != 0);
    play->watchdog_ns = o.watchdog_ms == 0                       ? WATCHDOG_PRESET_MS * NS_PER_MS
                        : o.watchdog_ms > UINT64_MAX / NS_PER_MS ? UINT64_MAX
                                                                 : o.watchdog_ms * NS_PER_MS;

    abench_receipt_init(&r);
    status = play_all(play, error);
    fill_receipt(play, &r);
    join_threads(play);
    if (status != ABENCH_ERROR_UNSUPPORTED) /* of addresses that did not fit into a slot */
        free_rest(play);
    if (status == ABENCH_OK)
        status = check_receipt(play, &r, error);
    if (receipt != NULL) {
        const abench_status written =
            abench__options_write(receipt, &r, sizeof r, RECEIPT_FIRST_RELEASE);
        status = status == ABENCH_OK ? written : status;
    }
    play_destroy(play, &hooks);
    return status;
}
