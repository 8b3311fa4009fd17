/*
 * script.h - random tapes: valid lists of operations from a seed, the calls to a builder that make
 * a tape of them, and what a tape and a play of them must say, worked out naively.
 */
#ifndef TESTS_PROPERTY_SCRIPT_H
#define TESTS_PROPERTY_SCRIPT_H

#include <stdint.h>
#include <string.h>

#include <allocbench/tape.h>

#include "support.h"

#define SCRIPT_OPS_MAX   8192
#define SCRIPT_LANES_MAX 4
#define SCRIPT_SLOTS     9 /* local ones of a lane, and shared ones */
#define SCRIPT_PHASES    20

typedef struct script_op {
    uint32_t kind;
    uint32_t lane; /* of phases and barriers: 0 */
    uint32_t slot; /* with ABENCH_SLOT_SHARED */
    uint32_t microseconds;
    uint64_t size; /* of what is allocated */
    uint64_t alignment;
} script_op;

typedef struct script {
    uint32_t lanes;
    uint32_t touch;
    uint32_t stride; /* between two slot numbers */
    uint32_t count;
    uint64_t size_limit; /* sizes are below */
    script_op ops[SCRIPT_OPS_MAX];
} script;

typedef struct script_block {
    uint32_t live;
    uint32_t owner;
    uint32_t toucher; /* 1 + the lane that touched it since all lanes met, or 0 */
    uint32_t reserved;
    uint64_t size;
    uint64_t generation; /* of a shared slot */
    uint64_t birth;      /* operations before its allocation */
    uint8_t byte;        /* the block's first */
} script_block;

/* What the operations so far have led to. */
typedef struct script_state {
    script_block local[SCRIPT_LANES_MAX][SCRIPT_SLOTS];
    script_block shared[SCRIPT_SLOTS];
    abench_tape_summary summary; /* without words, memory_bytes and medians */
    uint64_t sizes[SCRIPT_OPS_MAX];
    uint64_t lifetimes[SCRIPT_OPS_MAX];
    uint32_t sizes_count;
    uint32_t lifetimes_count;
    uint64_t live_bytes;
    uint64_t live_blocks;
    uint64_t checksum;
    uint64_t phase_operations[SCRIPT_PHASES + 1];
    uint64_t phase_live_bytes[SCRIPT_PHASES + 1]; /* at its end */
} script_state;

static inline script_block *script_block_of(const script *s, script_state *state,
                                            const script_op *op)
{
    const uint32_t slot = (op->slot & ~ABENCH_SLOT_SHARED) / s->stride;

    return op->slot & ABENCH_SLOT_SHARED ? &state->shared[slot] : &state->local[op->lane][slot];
}

/* ---- what must come of it -------------------------------------------------------------------- */

static inline uint8_t script_byte(const script *s, const script_op *op, uint64_t size)
{
    return size == 0 || s->touch == ABENCH_TOUCH_NOTHING ? 0 : (uint8_t)(size ^ op->slot);
}

static inline void script_count(script_state *state, uint32_t kind, uint32_t times)
{
    state->summary.by_kind[kind] += times;
    state->summary.operations += times;
    state->phase_operations[state->summary.phases - 1] += times;
}

static inline void script_settle(script_state *state, uint64_t size)
{
    abench_tape_summary *summary = &state->summary;

    state->live_bytes += size;
    state->live_blocks++;
    state->sizes[state->sizes_count++] = size;
    summary->bytes_requested += size;
    summary->size_minimum = size < summary->size_minimum ? size : summary->size_minimum;
    summary->size_maximum = size > summary->size_maximum ? size : summary->size_maximum;
    if (state->live_bytes > summary->live_bytes_peak)
        summary->live_bytes_peak = state->live_bytes;
    if (state->live_blocks > summary->live_blocks_peak)
        summary->live_blocks_peak = state->live_blocks;
}

/* The operation that ends it is counted already, and is not one of its life. */
static inline void script_leave(script_state *state, const script_block *block)
{
    state->lifetimes[state->lifetimes_count++] = state->summary.operations - 1 - block->birth;
    state->live_bytes -= block->size;
    state->live_blocks--;
    state->checksum += block->byte;
}

static inline void script_begin(const script *s, script_state *state)
{
    memset(state, 0, sizeof *state);
    state->summary.version = 1;
    state->summary.lanes = s->lanes;
    state->summary.touch = s->touch;
    state->summary.local_slots = state->summary.shared_slots = SCRIPT_SLOTS * s->stride;
    state->summary.size_minimum = UINT64_MAX;
}

static inline void script_step(const script *s, script_state *state, const script_op *op)
{
    script_block *block;

    if (op->kind == ABENCH_OP_PHASE || state->summary.phases == 0) {
        state->summary.phases++;
        script_count(state, ABENCH_OP_PHASE, s->lanes);
    }
    if (op->kind == ABENCH_OP_BARRIER)
        script_count(state, op->kind, s->lanes);
    else if (op->kind != ABENCH_OP_PHASE)
        script_count(state, op->kind, 1);
    state->phase_live_bytes[state->summary.phases - 1] = state->live_bytes;
    if (op->kind == ABENCH_OP_PHASE || op->kind == ABENCH_OP_BARRIER)
        for (uint32_t slot = 0; slot < SCRIPT_SLOTS; slot++)
            state->shared[slot].toucher = 0;
    if (op->kind > ABENCH_OP_TOUCH)
        return;
    block = script_block_of(s, state, op);
    block->toucher = op->kind == ABENCH_OP_TOUCH ? op->lane + 1 : 0;
    switch (op->kind) {
    case ABENCH_OP_REALLOC:
        script_leave(state, block);
        block->generation++; /* fall through: and made anew */
        __attribute__((fallthrough));
    case ABENCH_OP_MALLOC:
    case ABENCH_OP_CALLOC:
    case ABENCH_OP_ALIGNED_ALLOC:
        block->live = 1;
        block->owner = op->lane;
        block->size = op->size;
        block->byte = script_byte(s, op, op->size);
        block->generation++;
        block->birth = state->summary.operations - 1;
        script_settle(state, op->size);
        break;
    case ABENCH_OP_TOUCH:
        break;
    default:
        script_leave(state, block);
        state->summary.cross_lane_frees += block->owner != op->lane;
        block->live = 0;
        block->generation++;
        break;
    }
    state->phase_live_bytes[state->summary.phases - 1] = state->live_bytes;
}

static inline void script_end(const script *s, script_state *state)
{
    if (state->summary.phases == 0) {
        state->summary.phases++;
        script_count(state, ABENCH_OP_PHASE, s->lanes);
    }
    script_count(state, ABENCH_OP_END, s->lanes);
    if (state->summary.size_minimum == UINT64_MAX)
        state->summary.size_minimum = 0;
    state->summary.live_bytes_end = state->live_bytes;
    state->summary.live_blocks_end = state->live_blocks;
}

static inline void script_play_naively(const script *s, script_state *state)
{
    script_begin(s, state);
    for (uint32_t at = 0; at < s->count; at++)
        script_step(s, state, &s->ops[at]);
    script_end(s, state);
}

/* ---- at random ------------------------------------------------------------------------------- */

static inline uint64_t script_random_size(const script *s, prng *random)
{
    switch (prng_below(random, 16)) {
    case 0:
        return 0;
    case 1:
        return prng_below(random, s->size_limit);
    case 2:
    case 3:
        return prng_below(random, 5) * 4096 + prng_below(random, 2);
    default:
        return 1 + prng_below(random, 300);
    }
}

static inline void script_random_block_op(const script *s, prng *random, script_state *state,
                                          script_op *op)
{
    static const uint32_t fresh[] = {ABENCH_OP_MALLOC, ABENCH_OP_MALLOC, ABENCH_OP_CALLOC,
                                     ABENCH_OP_ALIGNED_ALLOC};
    static const uint32_t taken[] = {ABENCH_OP_FREE,    ABENCH_OP_FREE,  ABENCH_OP_FREE_SIZED,
                                     ABENCH_OP_REALLOC, ABENCH_OP_TOUCH, ABENCH_OP_REALLOC};

    op->slot = (uint32_t)prng_below(random, SCRIPT_SLOTS) * s->stride;
    if (prng_below(random, 3) == 0)
        op->slot |= ABENCH_SLOT_SHARED;
    if (op->slot & ABENCH_SLOT_SHARED && script_block_of(s, state, op)->toucher != 0)
        op->lane = script_block_of(s, state, op)->toucher - 1; /* no other may, before they meet */
    op->kind = script_block_of(s, state, op)->live ? taken[prng_below(random, 6)]
                                                   : fresh[prng_below(random, 4)];
    if (op->kind > ABENCH_OP_REALLOC)
        return;
    op->size = script_random_size(s, random);
    if (op->kind == ABENCH_OP_REALLOC)
        op->size += op->size == 0;
    if (op->kind != ABENCH_OP_ALIGNED_ALLOC)
        return;
    op->alignment = (uint64_t)16 << prng_below(random, 9);
    if (op->size % op->alignment != 0) /* C11 wants a multiple, and some allocators insist */
        op->size += op->alignment - op->size % op->alignment;
    if (op->size >= s->size_limit)
        op->size = op->alignment;
}

static inline void script_random_op(const script *s, prng *random, script_state *state,
                                    script_op *op)
{
    memset(op, 0, sizeof *op);
    switch (prng_below(random, 400)) {
    case 0:
        op->kind = ABENCH_OP_BARRIER;
        return;
    case 1:
        op->kind = state->summary.phases < SCRIPT_PHASES ? ABENCH_OP_PHASE : ABENCH_OP_BARRIER;
        return;
    case 2:
        op->kind = ABENCH_OP_PAUSE;
        op->lane = (uint32_t)prng_below(random, s->lanes);
        op->microseconds = (uint32_t)prng_below(random, 20);
        return;
    default:
        op->lane = (uint32_t)prng_below(random, s->lanes);
        script_random_block_op(s, random, state, op);
        return;
    }
}

static inline void script_append(script *s, script_state *state, const script_op *op)
{
    s->ops[s->count++] = *op;
    script_step(s, state, op);
}

/* Frees what still lives. */
static inline void script_random_drain(script *s, prng *random, script_state *state)
{
    for (uint32_t at = 0; at < (s->lanes + 1) * SCRIPT_SLOTS; at++) {
        script_op op = {.kind = ABENCH_OP_FREE, .lane = at / SCRIPT_SLOTS};
        op.slot = at % SCRIPT_SLOTS * s->stride;
        if (op.lane == s->lanes) {
            op.lane = (uint32_t)prng_below(random, s->lanes);
            op.slot |= ABENCH_SLOT_SHARED;
        }
        if (op.slot & ABENCH_SLOT_SHARED && script_block_of(s, state, &op)->toucher != 0)
            op.lane = script_block_of(s, state, &op)->toucher - 1;
        if (script_block_of(s, state, &op)->live)
            script_append(s, state, &op);
    }
}

/* count operations, below SCRIPT_OPS_MAX - 5 * SCRIPT_SLOTS, and with drained those that free what
 * is left. lanes, touch, stride and size_limit are set. */
static inline void script_random(script *s, prng *random, uint32_t count, int drained)
{
    script_state state;

    script_begin(s, &state);
    s->count = 0;
    while (s->count < count) {
        script_op op;
        script_random_op(s, random, &state, &op);
        script_append(s, &state, &op);
    }
    if (drained)
        script_random_drain(s, random, &state);
}

/* ---- to a tape ------------------------------------------------------------------------------- */

static inline abench_status script_call(abench_tape_builder *b, const script_op *op)
{
    switch (op->kind) {
    case ABENCH_OP_MALLOC:
        return abench_tape_builder_malloc(b, op->lane, op->slot, op->size);
    case ABENCH_OP_CALLOC:
        return abench_tape_builder_calloc(b, op->lane, op->slot, op->size);
    case ABENCH_OP_ALIGNED_ALLOC:
        return abench_tape_builder_aligned(b, op->lane, op->slot, op->alignment, op->size);
    case ABENCH_OP_REALLOC:
        return abench_tape_builder_realloc(b, op->lane, op->slot, op->size);
    case ABENCH_OP_FREE:
        return abench_tape_builder_free(b, op->lane, op->slot);
    case ABENCH_OP_FREE_SIZED:
        return abench_tape_builder_free_sized(b, op->lane, op->slot);
    case ABENCH_OP_TOUCH:
        return abench_tape_builder_touch(b, op->lane, op->slot);
    case ABENCH_OP_PAUSE:
        return abench_tape_builder_pause(b, op->lane, op->microseconds);
    case ABENCH_OP_PHASE:
        return abench_tape_builder_phase(b, "phase", ABENCH_PHASE_TIMED);
    default:
        return abench_tape_builder_barrier(b);
    }
}

/* The tape of s; on failure NULL, with what went wrong in *error. */
static inline abench_tape *script_tape(const script *s, const abench_memory_hooks *hooks,
                                       abench_error *error)
{
    abench_tape_options options = ABENCH_TAPE_OPTIONS_INIT;
    abench_tape_builder *builder = NULL;
    abench_tape *tape = NULL;

    options.lanes = s->lanes;
    options.local_slots = options.shared_slots = SCRIPT_SLOTS * s->stride;
    options.touch = s->touch;
    options.hooks = hooks;
    error->status = abench_tape_builder_create(&options, &builder);
    if (error->status != ABENCH_OK)
        return NULL;
    for (uint32_t at = 0; at < s->count; at++)
        if (script_call(builder, &s->ops[at]) != ABENCH_OK)
            break;
    if (abench_tape_builder_finish(builder, &tape) != ABENCH_OK)
        *error = *abench_tape_builder_error(builder);
    abench_tape_builder_destroy(builder);
    return tape;
}

#endif
