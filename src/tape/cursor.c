/* cursor.c - a tape's operations one by one, in an order that a play could have taken. */
#include <string.h>

#include "base/arena.h"
#include "base/options.h"
#include "base/text.h"
#include "tape/order.h"
#include "tape/tape.h"

#define OPERATION_FIRST_RELEASE 96u

_Static_assert(sizeof(abench_operation) == OPERATION_FIRST_RELEASE, "first release");

struct abench_tape_cursor {
    abench_memory_hooks hooks;
    uint64_t bytes; /* of this mapping */
    abench__reader *reader;
    abench__order order;
    abench__chunk chunk;
    uint64_t cut; /* of the chunk: the next one */
    uint64_t ordinal;
    abench_status ended; /* what every further call returns, or 0 */
};

void abench_operation_init(abench_operation *operation)
{
    memset(operation, 0, sizeof *operation);
    operation->struct_size = sizeof *operation;
}

abench_status abench_tape_cursor_create(const abench_tape *tape, abench_tape_cursor **out)
{
    const uint32_t lanes = tape->summary.lanes, shared = tape->summary.shared_slots;
    abench__arena arena = {.capacity = sizeof **out + 2 * 64 + abench__order_bytes(lanes, shared)};
    abench_tape_cursor *cursor;
    abench_status status;

    *out = NULL;
    arena.memory = abench__map(&tape->hooks, arena.capacity, 1);
    if (arena.memory == NULL)
        return ABENCH_ERROR_MEMORY;
    cursor = abench__arena_take(&arena, sizeof *cursor);
    cursor->hooks = tape->hooks;
    cursor->bytes = arena.capacity;
    abench__order_init(&cursor->order,
                       abench__arena_take(&arena, abench__order_bytes(lanes, shared)), lanes,
                       shared);
    status = abench__reader_create(tape, &tape->hooks, 0, &cursor->reader, NULL);
    if (status == ABENCH_OK)
        *out = cursor;
    else
        abench_tape_cursor_destroy(cursor);
    return status;
}

void abench_tape_cursor_destroy(abench_tape_cursor *cursor)
{
    abench_memory_hooks hooks;

    if (cursor == NULL)
        return;
    hooks = cursor->hooks;
    abench__reader_destroy(cursor->reader);
    abench__unmap(&hooks, cursor, cursor->bytes);
}

/* A chunk's cuts follow each other without a gap: one begins where the one before has ended. */
static abench_status next_cut(abench_tape_cursor *cursor)
{
    abench__order *order = &cursor->order;
    const uint32_t *ends;

    while (cursor->cut == cursor->chunk.cuts) {
        const abench_status status = abench__reader_next(cursor->reader, &cursor->chunk, NULL);
        if (status != ABENCH_OK)
            return status;
        cursor->cut = 0;
        for (uint32_t lane = 0; lane < order->lanes; lane++)
            order->end[lane] = cursor->chunk.starts[lane];
    }
    ends = cursor->chunk.cut_ends + cursor->cut++ * order->lanes;
    for (uint32_t lane = 0; lane < order->lanes; lane++) {
        order->at[lane] = order->end[lane];
        order->end[lane] = cursor->chunk.words[lane] + ends[lane];
    }
    abench__order_cut(order);
    return ABENCH_OK;
}

static void describe(const abench_tape_cursor *cursor, const abench__ordered *next,
                     abench_operation *out)
{
    const abench__op *op = &next->op;

    abench_operation_init(out);
    out->kind = op->kind;
    out->lane = next->lane;
    out->ordinal = cursor->ordinal;
    out->phase = cursor->chunk.phase;
    if (op->kind == ABENCH_OP_PHASE) {
        out->flags = cursor->chunk.info->flags;
        abench__copy(out->phase_name, sizeof out->phase_name, cursor->chunk.info->name);
    } else if (op->kind == ABENCH_OP_PAUSE) {
        out->microseconds = op->size;
        out->pace = op->shared;
    } else if (op->kind <= ABENCH_OP_TOUCH) {
        out->slot = op->slot | (op->shared ? ABENCH_SLOT_SHARED : 0);
        out->size = op->size;
        out->generation = op->generation;
        if (op->kind == ABENCH_OP_ALIGNED_ALLOC)
            out->alignment = (uint64_t)1 << op->alignment_log2;
    }
}

abench_status abench_tape_next(abench_tape_cursor *cursor, abench_operation *out)
{
    abench__ordered next;
    abench_operation operation;
    abench_status status = cursor->ended;

    if (out == NULL || out->struct_size < OPERATION_FIRST_RELEASE)
        return ABENCH_ERROR_ARGUMENT;
    while (status == ABENCH_OK &&
           (status = abench__order_next(&cursor->order, &next, NULL)) == ABENCH_ERROR_NOT_FOUND)
        status = next_cut(cursor);
    if (status != ABENCH_OK) {
        cursor->ended = status;
        return status;
    }
    describe(cursor, &next, &operation);
    cursor->ordinal++;
    return abench__options_write(out, &operation, sizeof operation, OPERATION_FIRST_RELEASE);
}
