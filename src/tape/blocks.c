/*
 * blocks.c - the builder's operations on blocks: what no program could have done is refused.
 */
#include "base/text.h"
#include "tape/builder.h"

#define GENERATION_LIMIT 65534u /* of 16 bits; told apart only between two barriers */

static abench_status refuse(abench_tape_builder *b, uint32_t lane, const char *what, uint32_t slot,
                            const char *why)
{
    return abench__fail(&b->error, ABENCH_ERROR_TAPE, "operation %llu (lane %u): %s %sslot %u: %s",
                        (unsigned long long)b->tape->summary.operations + 1, lane, what,
                        slot & ABENCH_SLOT_SHARED ? "shared " : "", slot & ~ABENCH_SLOT_SHARED,
                        why);
}

/* Begins op on slot and finds the slot's state; NULL with the builder's error. */
static abench__slot_state *begin_slot(abench_tape_builder *b, uint32_t lane, uint32_t slot,
                                      abench__op *op)
{
    const abench_tape_summary *summary;

    if (abench__builder_begin(b, lane) != ABENCH_OK)
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

static void since_meeting(const abench_tape_builder *b, abench__slot_state *state)
{
    if (state->meeting == b->meetings)
        return;
    state->meeting = b->meetings;
    state->generation_then = state->generation;
    state->toucher = 0;
}

/* Until the lanes meet nothing but its own lane's order says when a touch is done. */
static abench_status check_touched(abench_tape_builder *b, uint32_t kind, uint32_t lane,
                                   uint32_t slot, abench__slot_state *state)
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
                                     abench__slot_state *state)
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

static void settle(abench_tape_builder *b, abench__slot_state *state, const abench__op *op)
{
    abench_tape_summary *summary = &b->tape->summary;

    state->size = op->size & (ABENCH__SIZE_LIMIT * 2 - 1);
    state->live = 1;
    state->birth = summary->operations;
    if (b->sizes != NULL)
        abench_histogram_record(b->sizes, op->size);
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

static void leave(abench_tape_builder *b, abench__slot_state *state)
{
    b->live_bytes -= state->size;
    b->live_blocks--;
    if (b->lifetimes != NULL)
        abench_histogram_record(b->lifetimes, b->tape->summary.operations - state->birth);
    b->tape->checksum += state->byte;
    state->live = 0;
    state->byte = 0;
}

static abench_status allocate(abench_tape_builder *b, uint32_t kind, uint32_t lane, uint32_t slot,
                              uint64_t size, uint32_t alignment_log2)
{
    abench__op op = {.kind = kind, .size = size, .alignment_log2 = alignment_log2};
    abench__slot_state *state = begin_slot(b, lane, slot, &op);
    abench_status status;

    if (state == NULL)
        return b->error.status;
    if (state->live)
        return refuse(b, lane, abench_op_name(kind), slot, "a block lives there already");
    if (size >= ABENCH__SIZE_LIMIT)
        return refuse(b, lane, abench_op_name(kind), slot, "a size of 2^47 or more");
    status = next_generation(b, lane, slot, state);
    if (status != ABENCH_OK)
        return status;
    op.generation = op.shared ? state->generation : 0;
    op.empty = size == 0;
    state->owner = lane;
    settle(b, state, &op);
    return abench__builder_append(b, lane, &op);
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
    if (alignment == 0 || (alignment & (alignment - 1)) != 0 || alignment >= ABENCH__SIZE_LIMIT)
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
    abench__slot_state *state = begin_slot(b, lane, slot, &op);
    abench_status status;

    if (state == NULL)
        return b->error.status;
    if (!state->live)
        return refuse(b, lane, "realloc", slot, "no block lives there");
    if (size == 0 || size >= ABENCH__SIZE_LIMIT)
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
    return abench__builder_append(b, lane, &op);
}

static abench_status release(abench_tape_builder *b, uint32_t kind, uint32_t lane, uint32_t slot)
{
    abench__op op = {.kind = kind};
    abench__slot_state *state = begin_slot(b, lane, slot, &op);
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
    return abench__builder_append(b, lane, &op);
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
