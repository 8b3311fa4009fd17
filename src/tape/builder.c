/*
 * builder.c - operations in, a checked tape out.
 *
 * The builder plays the tape on paper: for each slot it knows whether a block lives there, its
 * size, its generation, who allocated it and which byte a player will read back from it.
 */
#include <string.h>

#include "base/arena.h"
#include "base/hash.h"
#include "base/options.h"
#include "base/text.h"
#include "tape/tape.h"
#include "tape/word.h"

#define OPTIONS_FIRST_RELEASE 32u
#define SIZE_LIMIT            ((uint64_t)1 << 47)
#define GENERATION_LIMIT      65534u /* of 16 bits; told apart only between two barriers */

_Static_assert(sizeof(abench_tape_options) == OPTIONS_FIRST_RELEASE, "first release");

typedef struct slot_state {
    uint64_t size : 48;
    uint64_t live : 1;
    uint64_t byte : 8; /* the first byte, as the last touch left it */
    uint32_t generation;
    uint32_t owner;   /* lane that allocated */
    uint64_t meeting; /* shared: the last one before generation_then */
    uint32_t generation_then;
    uint32_t toucher; /* shared: 1 + the lane that touched the block since that meeting, or 0 */
} slot_state;

struct abench_tape_builder {
    abench_memory_hooks hooks;
    uint64_t bytes;
    abench_tape *tape;
    abench_error error;
    slot_state *slots; /* lanes * local_slots, then shared_slots */
    uint64_t slots_bytes;
    uint64_t cut_operations; /* in the cut that is open */
    uint64_t meetings;       /* of all lanes: barriers and phases */
    uint64_t live_bytes;
    uint64_t live_blocks;
    uint32_t phase_open;
};

/* ---- life ------------------------------------------------------------------------------------ */

static abench_status check_options(const abench_tape_options *o)
{
    const uint64_t slots = (uint64_t)o->lanes * o->local_slots + o->shared_slots;

    if (o->lanes > ABENCH_LANES_MAX || o->touch > ABENCH_TOUCH_ALL || o->flags != 0 ||
        o->local_slots >= ABENCH_SLOT_SHARED || o->shared_slots >= ABENCH_SLOT_SHARED ||
        slots > (uint64_t)1 << 32)
        return ABENCH_ERROR_ARGUMENT;
    return ABENCH_OK;
}

abench_status abench_tape_builder_create(const abench_tape_options *options,
                                         abench_tape_builder **out)
{
    abench_tape_options o = ABENCH_TAPE_OPTIONS_INIT;
    abench_memory_hooks hooks;
    abench_tape_builder *b = NULL;
    abench_tape *tape = NULL;
    uint64_t tape_bytes;
    abench_status status;

    *out = NULL;
    status = abench__options_read(&o, sizeof o, options, OPTIONS_FIRST_RELEASE);
    if (status == ABENCH_OK)
        status = abench__hooks_copy(o.hooks, &hooks);
    o.lanes = o.lanes == 0 ? 1 : o.lanes;
    if (status == ABENCH_OK)
        status = check_options(&o);
    if (status != ABENCH_OK)
        return status;

    tape_bytes = sizeof *tape + o.lanes * sizeof(abench__lane_words);
    b = abench__map(&hooks, sizeof *b, 0);
    tape = abench__map(&hooks, tape_bytes, 0);
    if (b == NULL || tape == NULL)
        goto fail;
    b->slots_bytes = ((uint64_t)o.lanes * o.local_slots + o.shared_slots + 1) * sizeof(slot_state);
    b->slots = abench__map(&hooks, b->slots_bytes, 0);
    if (b->slots == NULL)
        goto fail;
    b->hooks = hooks;
    b->bytes = sizeof *b;
    b->tape = tape;
    abench_error_init(&b->error);
    tape->hooks = hooks;
    tape->bytes = tape_bytes;
    abench_tape_summary_init(&tape->summary);
    tape->summary.version = ABENCH_TAPE_VERSION;
    tape->summary.lanes = o.lanes;
    tape->summary.touch = o.touch;
    tape->summary.local_slots = o.local_slots;
    tape->summary.shared_slots = o.shared_slots;
    tape->summary.size_minimum = UINT64_MAX;
    *out = b;
    return ABENCH_OK;

fail:
    abench__unmap(&hooks, tape, tape_bytes);
    abench__unmap(&hooks, b, sizeof *b);
    return ABENCH_ERROR_MEMORY;
}

void abench_tape_builder_destroy(abench_tape_builder *b)
{
    abench_memory_hooks hooks;

    if (b == NULL)
        return;
    hooks = b->hooks;
    abench_tape_destroy(b->tape);
    abench__unmap(&hooks, b->slots, b->slots_bytes);
    abench__unmap(&hooks, b, b->bytes);
}

const abench_error *abench_tape_builder_error(const abench_tape_builder *b)
{
    return &b->error;
}

/* ---- the merged order ------------------------------------------------------------------------ */

static abench_status no_memory(abench_tape_builder *b)
{
    return abench__fail(&b->error, ABENCH_ERROR_MEMORY, "no memory for operation %llu of the tape",
                        (unsigned long long)b->tape->summary.operations + 1);
}

static abench_status close_cut(abench_tape_builder *b)
{
    abench_tape *tape = b->tape;

    if (b->cut_operations == 0)
        return ABENCH_OK;
    for (uint32_t lane = 0; lane < tape->summary.lanes; lane++) {
        uint32_t *end = abench__vector_push(&tape->cuts, &b->hooks, sizeof *end);
        if (end == NULL)
            return no_memory(b);
        *end = (uint32_t)tape->lanes[lane].words.count;
    }
    tape->cut_count++;
    tape->phases[tape->summary.phases - 1].cuts++;
    b->cut_operations = 0;
    return ABENCH_OK;
}

/* Appends one operation; a cut is never closed here, so that a group stays in one. */
static abench_status append(abench_tape_builder *b, uint32_t lane, const abench__op *op)
{
    abench__lane_words *words = &b->tape->lanes[lane];
    abench_tape_summary *summary = &b->tape->summary;
    uint64_t packed[2];
    const uint32_t count = abench__word_pack(op, packed);

    for (uint32_t at = 0; at < count; at++) {
        uint64_t *word = abench__vector_push(&words->words, &b->hooks, sizeof *word);
        if (word == NULL)
            return no_memory(b);
        *word = packed[at];
    }
    if (words->words.count > UINT32_MAX)
        return abench__fail(&b->error, ABENCH_ERROR_LIMIT, "lane %u holds more than 2^32 words",
                            lane);
    summary->words += count;
    summary->operations++;
    summary->by_kind[op->kind]++;
    b->tape->phases[summary->phases - 1].info.operations++;
    b->cut_operations++;
    return ABENCH_OK;
}

static abench_status append_to_all(abench_tape_builder *b, const abench__op *op)
{
    for (uint32_t lane = 0; lane < b->tape->summary.lanes; lane++) {
        const abench_status status = append(b, lane, op);
        if (status != ABENCH_OK)
            return status;
    }
    return ABENCH_OK;
}

static abench_status end_phase(abench_tape_builder *b)
{
    abench_phase *phase;
    abench_status status;

    if (!b->phase_open)
        return ABENCH_OK;
    status = close_cut(b);
    phase = &b->tape->phases[b->tape->summary.phases - 1].info;
    phase->live_bytes_end = b->live_bytes;
    phase->live_blocks_end = b->live_blocks;
    b->phase_open = 0;
    return status;
}

static int is_phase_name(const char *name)
{
    size_t length = 0;

    for (; name[length] != '\0'; length++)
        if (!((name[length] >= 'a' && name[length] <= 'z') ||
              (name[length] >= '0' && name[length] <= '9') || name[length] == '-'))
            return 0;
    return length >= 1 && length < sizeof((abench_phase *)0)->name;
}

abench_status abench_tape_builder_phase(abench_tape_builder *b, const char *name, uint32_t flags)
{
    const uint32_t index = b->tape == NULL ? 0 : b->tape->summary.phases;
    const abench__op op = {.kind = ABENCH_OP_PHASE, .size = index};
    abench__tape_phase *phase;
    abench_status status;

    if (b->error.status != ABENCH_OK)
        return b->error.status;
    if (b->tape == NULL)
        return abench__fail(&b->error, ABENCH_ERROR_STATE, "the tape is finished");
    if (!is_phase_name(name) || (flags & ~ABENCH_PHASE_TIMED) != 0)
        return abench__fail(&b->error, ABENCH_ERROR_ARGUMENT,
                            "a phase's name is 1 to 31 of a-z, 0-9 and '-'");
    if (index == ABENCH_PHASES_MAX)
        return abench__fail(&b->error, ABENCH_ERROR_LIMIT, "more than %d phases",
                            ABENCH_PHASES_MAX);
    status = end_phase(b);
    if (status != ABENCH_OK)
        return status;
    phase = &b->tape->phases[index];
    phase->info.struct_size = sizeof phase->info;
    phase->info.flags = flags;
    abench__copy(phase->info.name, sizeof phase->info.name, name);
    phase->first_cut = b->tape->cut_count;
    b->tape->summary.phases++;
    b->phase_open = 1;
    b->meetings++;
    return append_to_all(b, &op);
}

/* What every operation asks first: no error yet, a phase open, a cut with room. */
static abench_status begin(abench_tape_builder *b, uint32_t lane)
{
    if (b->error.status != ABENCH_OK)
        return b->error.status;
    if (b->tape == NULL)
        return abench__fail(&b->error, ABENCH_ERROR_STATE, "the tape is finished");
    if (lane >= b->tape->summary.lanes)
        return abench__fail(&b->error, ABENCH_ERROR_ARGUMENT,
                            "there is no lane %u: the tape has %u", lane, b->tape->summary.lanes);
    if (b->cut_operations >= ABENCH_TAPE_CUT)
        return close_cut(b);
    return b->phase_open ? ABENCH_OK : abench_tape_builder_phase(b, "work", ABENCH_PHASE_TIMED);
}

abench_status abench_tape_builder_barrier(abench_tape_builder *b)
{
    abench__op op = {.kind = ABENCH_OP_BARRIER};
    const abench_status status = begin(b, 0);

    if (status != ABENCH_OK)
        return status;
    op.size = b->tape->summary.by_kind[ABENCH_OP_BARRIER] / b->tape->summary.lanes;
    b->meetings++;
    return append_to_all(b, &op);
}

abench_status abench_tape_builder_pause(abench_tape_builder *b, uint32_t lane,
                                        uint32_t microseconds)
{
    const abench__op op = {.kind = ABENCH_OP_PAUSE, .size = microseconds};
    const abench_status status = begin(b, lane);

    return status != ABENCH_OK ? status : append(b, lane, &op);
}

/* ---- blocks ---------------------------------------------------------------------------------- */

static abench_status refuse(abench_tape_builder *b, uint32_t lane, const char *what, uint32_t slot,
                            const char *why)
{
    return abench__fail(&b->error, ABENCH_ERROR_TAPE, "operation %llu (lane %u): %s %sslot %u: %s",
                        (unsigned long long)b->tape->summary.operations + 1, lane, what,
                        slot & ABENCH_SLOT_SHARED ? "shared " : "", slot & ~ABENCH_SLOT_SHARED,
                        why);
}

/* Begins op on slot and finds the slot's state; NULL with the builder's error. */
static slot_state *begin_slot(abench_tape_builder *b, uint32_t lane, uint32_t slot, abench__op *op)
{
    const abench_tape_summary *summary;

    if (begin(b, lane) != ABENCH_OK)
        return NULL;
    summary = &b->tape->summary;
    op->shared = (slot & ABENCH_SLOT_SHARED) != 0;
    op->slot = slot & ~ABENCH_SLOT_SHARED;
    if (op->slot >= (op->shared ? summary->shared_slots : summary->local_slots)) {
        refuse(b, lane, abench_op_name(op->kind), slot, "there is no such slot");
        return NULL;
    }
    return op->shared ? b->slots + (uint64_t)summary->lanes * summary->local_slots + op->slot
                      : b->slots + (uint64_t)lane * summary->local_slots + op->slot;
}

static void since_meeting(const abench_tape_builder *b, slot_state *state)
{
    if (state->meeting == b->meetings)
        return;
    state->meeting = b->meetings;
    state->generation_then = state->generation;
    state->toucher = 0;
}

/* Until the lanes meet nothing but its own lane's order says when a touch is done. */
static abench_status check_touched(abench_tape_builder *b, uint32_t kind, uint32_t lane,
                                   uint32_t slot, slot_state *state)
{
    if (!(slot & ABENCH_SLOT_SHARED))
        return ABENCH_OK;
    since_meeting(b, state);
    if (state->toucher != 0 && state->toucher != lane + 1)
        return refuse(b, lane, abench_op_name(kind), slot,
                      "another lane touches the block and may not have done so yet; a barrier is "
                      "needed between");
    return ABENCH_OK;
}

/* A shared slot's generation goes on by one; 16 bits of it must be enough until the lanes meet. */
static abench_status next_generation(abench_tape_builder *b, uint32_t lane, uint32_t slot,
                                     slot_state *state)
{
    if (!(slot & ABENCH_SLOT_SHARED))
        return ABENCH_OK;
    since_meeting(b, state);
    state->toucher = 0;
    if (state->generation == UINT32_MAX)
        return refuse(b, lane, "use of", slot, "more than 2^31 blocks pass through it");
    state->generation++;
    if (state->generation - state->generation_then > GENERATION_LIMIT)
        return refuse(b, lane, "use of", slot,
                      "more than 32767 blocks pass through it between two barriers; use more slots "
                      "or a barrier");
    return ABENCH_OK;
}

/* The byte that a player writes first: low bytes of size and slot. */
static uint8_t byte_of(uint32_t slot, uint64_t size)
{
    return (uint8_t)(size ^ slot);
}

static void settle(abench_tape_builder *b, slot_state *state, const abench__op *op)
{
    abench_tape_summary *summary = &b->tape->summary;

    state->size = op->size & (SIZE_LIMIT * 2 - 1);
    state->live = 1;
    state->byte =
        op->size > 0 && summary->touch != ABENCH_TOUCH_NOTHING ? byte_of(op->slot, op->size) : 0;
    b->live_bytes += op->size;
    b->live_blocks++;
    summary->bytes_requested += op->size;
    if (op->size < summary->size_minimum)
        summary->size_minimum = op->size;
    if (op->size > summary->size_maximum)
        summary->size_maximum = op->size;
    if (b->live_bytes > summary->live_bytes_peak)
        summary->live_bytes_peak = b->live_bytes;
    if (b->live_blocks > summary->live_blocks_peak)
        summary->live_blocks_peak = b->live_blocks;
}

static void leave(abench_tape_builder *b, slot_state *state)
{
    b->live_bytes -= state->size;
    b->live_blocks--;
    b->tape->checksum += state->byte;
    state->live = 0;
    state->byte = 0;
}

static abench_status allocate(abench_tape_builder *b, uint32_t kind, uint32_t lane, uint32_t slot,
                              uint64_t size, uint32_t alignment_log2)
{
    abench__op op = {.kind = kind, .size = size, .alignment_log2 = alignment_log2};
    slot_state *state = begin_slot(b, lane, slot, &op);
    abench_status status;

    if (state == NULL)
        return b->error.status;
    if (state->live)
        return refuse(b, lane, abench_op_name(kind), slot, "a block lives there already");
    if (size >= SIZE_LIMIT)
        return refuse(b, lane, abench_op_name(kind), slot, "a size of 2^47 or more");
    status = next_generation(b, lane, slot, state);
    if (status != ABENCH_OK)
        return status;
    op.generation = op.shared ? state->generation : 0;
    op.empty = size == 0;
    state->owner = lane;
    settle(b, state, &op);
    return append(b, lane, &op);
}

abench_status abench_tape_builder_malloc(abench_tape_builder *b, uint32_t lane, uint32_t slot,
                                         uint64_t size)
{
    return allocate(b, ABENCH_OP_MALLOC, lane, slot, size, 0);
}

abench_status abench_tape_builder_calloc(abench_tape_builder *b, uint32_t lane, uint32_t slot,
                                         uint64_t size)
{
    return allocate(b, ABENCH_OP_CALLOC, lane, slot, size, 0);
}

abench_status abench_tape_builder_aligned(abench_tape_builder *b, uint32_t lane, uint32_t slot,
                                          uint64_t alignment, uint64_t size)
{
    uint32_t log2 = 0;

    if (b->error.status != ABENCH_OK)
        return b->error.status;
    if (alignment == 0 || (alignment & (alignment - 1)) != 0 || alignment >= SIZE_LIMIT)
        return abench__fail(&b->error, ABENCH_ERROR_ARGUMENT,
                            "an alignment of %llu is not a power of two below 2^47",
                            (unsigned long long)alignment);
    while ((uint64_t)1 << log2 < alignment)
        log2++;
    return allocate(b, ABENCH_OP_ALIGNED_ALLOC, lane, slot, size, log2);
}

abench_status abench_tape_builder_realloc(abench_tape_builder *b, uint32_t lane, uint32_t slot,
                                          uint64_t size)
{
    abench__op op = {.kind = ABENCH_OP_REALLOC, .size = size};
    slot_state *state = begin_slot(b, lane, slot, &op);
    abench_status status;

    if (state == NULL)
        return b->error.status;
    if (!state->live)
        return refuse(b, lane, "realloc", slot, "no block lives there");
    if (size == 0 || size >= SIZE_LIMIT)
        return refuse(b, lane, "realloc", slot,
                      "a size of 0 (undefined in C23) or of 2^47 or more");
    status = check_touched(b, op.kind, lane, slot, state);
    /* Freed and made anew in one step: two generations. */
    if (status == ABENCH_OK)
        status = next_generation(b, lane, slot, state);
    if (status == ABENCH_OK)
        status = next_generation(b, lane, slot, state);
    if (status != ABENCH_OK)
        return status;
    op.generation = op.shared ? state->generation : 0;
    op.empty = state->size == 0;
    leave(b, state);
    state->owner = lane;
    settle(b, state, &op);
    return append(b, lane, &op);
}

static abench_status release(abench_tape_builder *b, uint32_t kind, uint32_t lane, uint32_t slot)
{
    abench__op op = {.kind = kind};
    slot_state *state = begin_slot(b, lane, slot, &op);
    abench_status status;

    if (state == NULL)
        return b->error.status;
    if (!state->live)
        return refuse(b, lane, abench_op_name(kind), slot, "no block lives there");
    status = check_touched(b, kind, lane, slot, state);
    if (status != ABENCH_OK)
        return status;
    op.generation = op.shared ? state->generation : 0;
    op.size = kind == ABENCH_OP_FREE ? 0 : state->size;
    op.empty = state->size == 0;
    if (kind != ABENCH_OP_TOUCH) {
        status = next_generation(b, lane, slot, state);
        if (status != ABENCH_OK)
            return status;
        b->tape->summary.cross_lane_frees += state->owner != lane;
        leave(b, state);
    } else {
        state->toucher = lane + 1;
        if (!op.empty && b->tape->summary.touch != ABENCH_TOUCH_NOTHING)
            state->byte = byte_of(op.slot, state->size);
    }
    return append(b, lane, &op);
}

abench_status abench_tape_builder_free(abench_tape_builder *b, uint32_t lane, uint32_t slot)
{
    return release(b, ABENCH_OP_FREE, lane, slot);
}

abench_status abench_tape_builder_free_sized(abench_tape_builder *b, uint32_t lane, uint32_t slot)
{
    return release(b, ABENCH_OP_FREE_SIZED, lane, slot);
}

abench_status abench_tape_builder_touch(abench_tape_builder *b, uint32_t lane, uint32_t slot)
{
    return release(b, ABENCH_OP_TOUCH, lane, slot);
}

/* ---- the end --------------------------------------------------------------------------------- */

abench_status abench_tape_builder_finish(abench_tape_builder *b, abench_tape **out)
{
    const abench__op end = {.kind = ABENCH_OP_END};
    abench_tape *tape = b->tape;
    abench_status status = begin(b, 0);

    *out = NULL;
    if (status == ABENCH_OK)
        status = append_to_all(b, &end);
    if (status == ABENCH_OK)
        status = end_phase(b);
    if (status != ABENCH_OK)
        return status;
    if (tape->summary.size_minimum == UINT64_MAX)
        tape->summary.size_minimum = 0;
    tape->summary.live_bytes_end = b->live_bytes;
    tape->summary.live_blocks_end = b->live_blocks;
    tape->summary.memory_bytes = tape->bytes + tape->cuts.capacity * sizeof(uint32_t);
    tape->digest = abench__digest_begin(tape->summary.lanes);
    for (uint32_t lane = 0; lane < tape->summary.lanes; lane++) {
        abench__lane_words *words = &tape->lanes[lane];
        words->digest = abench__lane_digest(tape, lane, words->words.count);
        tape->digest = abench__fold(tape->digest, words->digest);
        tape->summary.memory_bytes += words->words.capacity * sizeof(uint64_t);
    }
    b->tape = NULL;
    *out = tape;
    return ABENCH_OK;
}
