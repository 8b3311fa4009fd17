#include "tape/order.h"

#include "base/arena.h"
#include "base/text.h"

uint64_t abench__order_bytes(uint32_t lanes, uint32_t shared_slots)
{
    return 2 * (uint64_t)lanes * sizeof(uint64_t *) + (uint64_t)shared_slots * sizeof(uint16_t) +
           3 * 64; /* what the arena's alignment may leave out */
}

void abench__order_init(abench__order *order, void *memory, uint32_t lanes, uint32_t shared_slots)
{
    abench__arena arena = {memory, abench__order_bytes(lanes, shared_slots), 0};

    order->lanes = lanes;
    order->shared_slots = shared_slots;
    order->at = abench__arena_take(&arena, lanes * sizeof *order->at);
    order->end = abench__arena_take(&arena, lanes * sizeof *order->end);
    order->generations =
        abench__arena_take(&arena, (uint64_t)shared_slots * sizeof *order->generations);
    abench__order_cut(order);
}

void abench__order_cut(abench__order *order)
{
    order->lane = 0;
    order->idle = 0;
    order->meeting = 0;
}

static int is_group(uint32_t kind)
{
    return kind == ABENCH_OP_PHASE || kind == ABENCH_OP_BARRIER;
}

/* The generation that the slot must have, and the one that it has afterwards. */
static void generations_of(const abench__op *op, uint32_t *before, uint32_t *after)
{
    *before = *after = op->generation;
    switch (op->kind) {
    case ABENCH_OP_MALLOC:
    case ABENCH_OP_CALLOC:
    case ABENCH_OP_ALIGNED_ALLOC:
        *before = op->generation - 1;
        break;
    case ABENCH_OP_REALLOC:
        *before = op->generation - 2;
        break;
    case ABENCH_OP_FREE:
    case ABENCH_OP_FREE_SIZED:
        *after = op->generation + 1;
        break;
    default:
        break;
    }
}

/* 1: the operation can be done now, and is; 0: it waits for another lane. */
static int try_operation(abench__order *order, const abench__op *op)
{
    uint32_t before, after;

    if (is_group(op->kind))
        return 0;
    if (!op->shared || op->kind > ABENCH_OP_TOUCH)
        return 1;
    generations_of(op, &before, &after);
    if (order->generations[op->slot] != (before & 0xffff))
        return 0;
    order->generations[op->slot] = (uint16_t)after;
    return 1;
}

/* Reads the operation that a lane stands at. */
static abench_status read_operation(const abench__order *order, uint32_t lane, abench__ordered *out,
                                    abench_error *error)
{
    const uint64_t word = *order->at[lane];

    out->lane = lane;
    out->words = order->at[lane];
    if (abench_op_name(abench__word_kind(word)) == NULL)
        return abench__fail(error, ABENCH_ERROR_TAPE, "lane %u: %016llx is no operation", lane,
                            (unsigned long long)word);
    if (word & WORD_EXTENDED && order->end[lane] - order->at[lane] < 2)
        return abench__fail(error, ABENCH_ERROR_TAPE,
                            "lane %u: the second word of %016llx is missing", lane,
                            (unsigned long long)word);
    out->count = abench__word_unpack(out->words, &out->op);
    if (out->op.shared && out->op.kind <= ABENCH_OP_TOUCH && out->op.slot >= order->shared_slots)
        return abench__fail(error, ABENCH_ERROR_TAPE, "lane %u: there is no shared slot %u", lane,
                            out->op.slot);
    return ABENCH_OK;
}

/* No lane goes on by itself: the cut is done, or every lane stands at the same group. */
static abench_status let_meet(abench__order *order, abench_error *error)
{
    uint32_t done = 0, same = 0;

    for (uint32_t lane = 0; lane < order->lanes; lane++) {
        if (order->at[lane] == order->end[lane])
            done++;
        else if (order->at[0] != order->end[0] && *order->at[lane] == *order->at[0])
            same++;
    }
    if (done == order->lanes)
        return ABENCH_ERROR_NOT_FOUND;
    if (same < order->lanes || !is_group(abench__word_kind(*order->at[0])))
        return abench__fail(error, ABENCH_ERROR_TAPE,
                            "the lanes wait for each other: no order of this cut can be played");
    order->meeting = order->lanes;
    return ABENCH_OK;
}

/* The operation of a group for the next of its lanes. */
static abench_status next_of_group(abench__order *order, abench__ordered *out, abench_error *error)
{
    const uint32_t lane = order->lanes - order->meeting--;
    const abench_status status = read_operation(order, lane, out, error);

    if (status != ABENCH_OK)
        return status;
    order->at[lane] += out->count;
    order->lane = 0;
    order->idle = 0;
    return ABENCH_OK;
}

abench_status abench__order_next(abench__order *order, abench__ordered *out, abench_error *error)
{
    abench_status status = ABENCH_OK;

    while (status == ABENCH_OK && order->meeting == 0) {
        const uint32_t lane = order->lane;
        int goes_on = 0;

        if (order->at[lane] != order->end[lane]) {
            status = read_operation(order, lane, out, error);
            goes_on = status == ABENCH_OK && try_operation(order, &out->op);
        }
        if (goes_on) {
            order->at[lane] += out->count;
            order->idle = 0;
            return ABENCH_OK;
        }
        order->lane = lane + 1 == order->lanes ? 0 : lane + 1;
        if (++order->idle >= order->lanes && status == ABENCH_OK)
            status = let_meet(order, error);
    }
    return status == ABENCH_OK ? next_of_group(order, out, error) : status;
}
