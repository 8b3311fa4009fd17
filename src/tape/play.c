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
#include "tape/check.h"
#include "tape/lane.h"
#include "tape/latency.h"
#include "tape/slot.h"
#include "tape/wait.h"
#include "tape/word.h"

#define PLAYER_OPTIONS_FIRST_RELEASE 96u
#define RECEIPT_FIRST_RELEASE        320u
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
        lane->digest = index;
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
    abench__reader_destroy(play->reader);
    abench__check_destroy(play->check, hooks);
    abench__latency_destroy(play->latency, hooks);
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
        abench__lane_stretch(lane);
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
        sum += usable_in(usable_size, abench__slot_pointer(word));
    }
    *bytes = sum;
    return ABENCH_OK;
}

/* begin: nothing was played yet; else the chunk's phase has ended. */
static abench_status call_mark(abench__play *play, int begin)
{
    const abench__chunk *chunk = &play->chunk;
    abench_mark mark = {.struct_size = sizeof mark, .phase = chunk->phase, .player = play};

    if (play->options.mark == NULL)
        return ABENCH_OK;
    mark.begin = (uint32_t)begin;
    if (!begin) {
        mark.end = chunk->ends_tape;
        mark.info = chunk->info;
        mark.live_bytes = chunk->info->live_bytes_end;
        mark.live_blocks = chunk->info->live_blocks_end;
    }
    return play->options.mark(&mark, play->options.user) == 0 ? ABENCH_OK : ABENCH_ERROR_STOPPED;
}

/* The digest of what each lane has executed of the chunk. A stream's reader digests its own words,
 * behind their chunk, when every lane has executed all of them. */
static void fold_executed(abench__play *play)
{
    for (uint32_t index = 0; index < play->lanes_count; index++) {
        abench__lane *lane = &play->lanes[index];
        const uint64_t count = (uint64_t)(lane->at - lane->start);
        if (play->tape->streamed)
            lane->digest = abench__reader_lane_digest(play->reader, index, &lane->words_executed);
        lane->digest = abench__fold_words(lane->digest, lane->start, count);
        lane->words_executed += count;
        lane->start = lane->at;
    }
}

/* Gets the next chunk. Not timed. */
static abench_status next_chunk(abench__play *play, abench_error *error)
{
    abench_status status;

    if (!play->tape->streamed)
        fold_executed(play);
    status = abench__reader_next(play->reader, &play->chunk, error);
    for (uint32_t index = 0; index < play->lanes_count; index++) {
        abench__lane *lane = &play->lanes[index];
        if (status == ABENCH_OK) {
            lane->words = play->chunk.words[index];
            lane->at = play->chunk.starts[index];
        }
        lane->start = lane->at;
    }
    play->last_cut = 0;
    return status;
}

/* 1 when every lane has executed the chunk to its last word. */
static int chunk_is_done(const abench__play *play)
{
    const uint32_t lanes = play->lanes_count;

    for (uint32_t index = 0; index < lanes && play->chunk.cuts > 0; index++)
        if (play->lanes[index].at !=
            play->lanes[index].words + play->chunk.cut_ends[(play->chunk.cuts - 1) * lanes + index])
            return 0;
    return 1;
}

/* Plays the next cuts of the chunk on all lanes and adds up what they took. */
static void play_stretch(abench__play *play, uint64_t cuts, abench_slice *slice)
{
    const uint32_t lanes = play->lanes_count;
    uint64_t begin = UINT64_MAX, end = 0;

    play->first_cut = play->last_cut;
    play->last_cut += cuts;
    for (uint32_t index = 0; index < lanes; index++)
        atomic_store(&play->lanes[index].cut, play->first_cut);
    if (play->begin_ns == 0)
        play->begin_ns = abench_clock_ns();
    gate_pass(play, 0);
    abench__lane_stretch(&play->lanes[0]);
    gate_wait(play, lanes - 1);
    for (uint32_t index = 0; index < lanes; index++) {
        const abench__lane *lane = &play->lanes[index];
        begin = lane->stretch_begin_ns < begin ? lane->stretch_begin_ns : begin;
        end = lane->stretch_end_ns > end ? lane->stretch_end_ns : end;
        slice->cpu_ns += lane->stretch_cpu_ns;
        slice->wait_ns += lane->stretch_idle_ns;
        slice->busy_ns += lane->stretch_end_ns - lane->stretch_begin_ns - lane->stretch_idle_ns;
    }
    slice->wall_ns += end - begin;
}

static uint64_t executed_by_all(const abench__play *play)
{
    uint64_t sum = 0;

    for (uint32_t index = 0; index < play->lanes_count; index++)
        for (uint32_t kind = 0; kind < ABENCH_OP_KINDS; kind++)
            sum += play->lanes[index].executed[kind];
    return sum;
}

/* Cuts that a slice is made of. */
static uint64_t cuts_of_slice(const abench__play *play)
{
    const uint64_t asked = play->options.slice_operations;

    return asked == 0 ? UINT64_MAX : asked / ABENCH_TAPE_CUT + (asked % ABENCH_TAPE_CUT != 0);
}

/* Plays one slice: up to the cuts that it is made of, or to the phase's end, over as many chunks as
 * that takes. The chunk behind it is looked at here, so that the last slice of a phase knows that
 * it is. */
static abench_status play_slice(abench__play *play, abench_slice *slice, abench_error *error)
{
    const abench__chunk *chunk = &play->chunk;
    const uint64_t before = executed_by_all(play);
    uint64_t left = cuts_of_slice(play);

    slice->phase = chunk->phase;
    for (;;) {
        const uint64_t cuts = chunk->cuts - play->last_cut;
        const uint64_t now = cuts < left ? cuts : left;
        if (now > 0) {
            play_stretch(play, now, slice);
            play->live_bytes = chunk->cut_live[play->last_cut - 1];
        }
        left -= now;
        if (atomic_load(&play->abort))
            return play->error.status;
        if (play->last_cut == chunk->cuts && !chunk_is_done(play))
            return abench__fail(error, ABENCH_ERROR_RECEIPT, "a lane left words out");
        if (play->last_cut == chunk->cuts && !chunk->ends_phase) {
            const abench_status status = next_chunk(play, error);
            if (status != ABENCH_OK)
                return status;
        }
        if (left == 0 || (play->last_cut == chunk->cuts && chunk->ends_phase))
            break;
    }
    slice->operations = executed_by_all(play) - before;
    slice->live_bytes = play->live_bytes;
    return ABENCH_OK;
}

static abench_status play_slices(abench__play *play, abench_error *error)
{
    const abench__chunk *chunk = &play->chunk;
    abench_status status = ABENCH_OK;

    for (uint32_t index = 0; status == ABENCH_OK; index++) {
        abench_slice slice = {.struct_size = sizeof slice, .index = index};
        int ends_phase;
        status = play_slice(play, &slice, error);
        ends_phase = play->last_cut == chunk->cuts && chunk->ends_phase;
        slice.last = ends_phase && chunk->ends_tape;
        if (status == ABENCH_OK && ends_phase)
            status = call_mark(play, 0);
        if (status == ABENCH_OK && play->options.slice != NULL &&
            play->options.slice(&slice, play->options.user) != 0)
            status = ABENCH_ERROR_STOPPED;
        if (status != ABENCH_OK || slice.last)
            break;
        if (ends_phase)
            status = next_chunk(play, error);
    }
    return status;
}

/* ---- the receipt ----------------------------------------------------------------------------- */

static void fill_receipt(abench__play *play, abench_receipt *r)
{
    const abench_tape_summary *s = abench__reader_summary(play->reader);

    fold_executed(play);
    r->checksum_planned = abench__reader_checksum(play->reader);
    r->live_bytes_end = s->live_bytes_end;
    r->live_bytes_peak = s->live_bytes_peak;
    r->cross_lane_frees = s->cross_lane_frees;
    r->work_digest = abench__digest_begin(s->lanes);
    for (uint32_t kind = 0; kind < ABENCH_OP_KINDS; kind++)
        r->planned[kind] = s->by_kind[kind];
    for (uint32_t index = 0; index < s->lanes; index++) {
        const abench__lane *lane = &play->lanes[index];
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
        r->late_ns = lane->late_ns > r->late_ns ? lane->late_ns : r->late_ns;
        r->work_digest =
            abench__fold(r->work_digest, abench__fold(lane->digest, lane->words_executed));
    }
    for (uint32_t slot = 0; slot < s->shared_slots; slot++)
        r->live_blocks_end += atomic_load(&play->lanes[0].shared[slot]) >> 48 & 1;
    if (play->check != NULL)
        abench__check_receipt(play->check, s->lanes, r);
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
    if (r->work_digest != abench__reader_digest(play->reader))
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
        void *block = abench__slot_pointer(word);
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
    if (status == ABENCH_OK && (o->flags & ~ABENCH_PLAY_CHECK) != 0)
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
    abench_status status = start_threads(play, error);

    if (status == ABENCH_OK) {
        gate_wait(play, play->lanes_count - 1);
        status = next_chunk(play, error);
    }
    if (status == ABENCH_OK)
        status = call_mark(play, 1);
    if (status == ABENCH_OK)
        status = play_slices(play, error);
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
    abench_receipt_init(&r);
    if (receipt != NULL) /* a size that is none is no reason to find out at the end */
        status = abench__options_write(receipt, &r, sizeof r, RECEIPT_FIRST_RELEASE);
    if (status != ABENCH_OK)
        return abench__fail(error, status, "the receipt's struct_size is not valid");
    play = play_create(tape, &hooks);
    if (play == NULL)
        return abench__fail(error, ABENCH_ERROR_MEMORY, "no memory for the lanes and slots");
    status = abench__reader_create(tape, &hooks, 0, &play->reader, error);
    if (status == ABENCH_OK && o.flags & ABENCH_PLAY_CHECK)
        status = abench__check_create(&tape->summary, &hooks, &play->check, error);
    if (status == ABENCH_OK && o.latency != NULL)
        status = abench__latency_create(&o, tape->summary.lanes, &hooks, &play->latency, error);
    if (status != ABENCH_OK) {
        play_destroy(play, &hooks);
        return status;
    }
    play->allocator = a;
    play->options = o;
    play->skew_cuts =
        o.skew_operations / ABENCH_TAPE_CUT + (o.skew_operations % ABENCH_TAPE_CUT != 0);
    play->watchdog_ns = o.watchdog_ms == 0                       ? WATCHDOG_PRESET_MS * NS_PER_MS
                        : o.watchdog_ms > UINT64_MAX / NS_PER_MS ? UINT64_MAX
                                                                 : o.watchdog_ms * NS_PER_MS;

    status = play_all(play, error);
    if (play->check != NULL && status == ABENCH_OK)
        abench__check_rest(play);
    fill_receipt(play, &r);
    join_threads(play);
    if (play->latency != NULL)
        abench__latency_merge(play->latency, play->lanes_count, o.latency);
    if (status != ABENCH_ERROR_UNSUPPORTED) /* of addresses that did not fit into a slot */
        free_rest(play);
    if (play->check != NULL)
        status = abench__check_verdict(play, status, &r, error);
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
