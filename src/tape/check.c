#include "tape/check.h"

#include <string.h>

#include "base/arena.h"
#include "base/hash.h"
#include "base/text.h"
#include "tape/slot.h"
#include "tape/wait.h"
#include "tape/word.h"

/* The alignment of max_align_t: what any object of C may want. */
#define ALIGNMENT_MOST ((uint64_t) _Alignof(max_align_t))

static const char *const names[] = {
    [ABENCH_FAULT_OVERLAP] = "overlap",   [ABENCH_FAULT_ALIGN] = "alignment",
    [ABENCH_FAULT_NOT_ZERO] = "not zero", [ABENCH_FAULT_SHORT] = "short",
    [ABENCH_FAULT_REALLOC] = "realloc",   [ABENCH_FAULT_FAILED] = "failed",
};

const char *abench_fault_name(uint32_t fault)
{
    return fault < sizeof names / sizeof names[0] ? names[fault] : NULL;
}

/* ---- memory ---------------------------------------------------------------------------------- */

static uint64_t check_bytes(const abench_tape_summary *s)
{
    return sizeof(abench__check) + (uint64_t)s->lanes * sizeof(abench__lane_check) +
           ((uint64_t)s->lanes * s->local_slots + s->shared_slots) * sizeof(abench__stamp) +
           ((uint64_t)s->lanes + 2) * 64; /* the arena rounds each part up */
}

abench_status abench__check_create(const abench_tape_summary *s, const abench_memory_hooks *hooks,
                                   abench__check **out, abench_error *error)
{
    abench__arena arena = {.capacity = check_bytes(s)};
    abench__check *check;

    arena.memory = abench__map(hooks, arena.capacity, 1);
    if (arena.memory == NULL)
        return abench__fail(error, ABENCH_ERROR_MEMORY, "no memory for the notes of checked play");
    check = abench__arena_take(&arena, sizeof *check + s->lanes * sizeof check->lanes[0]);
    check->bytes = arena.capacity;
    check->shared = abench__arena_take(&arena, (uint64_t)s->shared_slots * sizeof *check->shared);
    for (uint32_t lane = 0; lane < s->lanes; lane++)
        check->lanes[lane].stamps =
            abench__arena_take(&arena, (uint64_t)s->local_slots * sizeof(abench__stamp));
    abench_error_init(&check->first);
    *out = check;
    return ABENCH_OK;
}

void abench__check_destroy(abench__check *check, const abench_memory_hooks *hooks)
{
    if (check != NULL)
        abench__unmap(hooks, check, check->bytes);
}

/* ---- what was found -------------------------------------------------------------------------- */

/* A block in the hands of an operation. */
typedef struct held {
    abench__lane *lane;
    const abench__op *op;
    unsigned char *block;
    abench__stamp *stamp; /* the note beside its slot */
} held;

static void describe(abench__text *text, const abench_fault *fault, uint64_t ordinal)
{
    const unsigned long long offset = (unsigned long long)fault->offset;

    abench__text_printf(text, "%s of %llu bytes in lane %u, %sslot %u (its operation %llu)",
                        abench_op_name(fault->kind), (unsigned long long)fault->size, fault->lane,
                        fault->slot & ABENCH_SLOT_SHARED ? "shared " : "",
                        fault->slot & ~ABENCH_SLOT_SHARED, (unsigned long long)ordinal);
    if (fault->fault == ABENCH_FAULT_FAILED) {
        abench__text_put(text, " returned NULL");
        return;
    }
    abench__text_printf(text, ", at 0x%llx: ", (unsigned long long)fault->address);
    if (fault->fault == ABENCH_FAULT_OVERLAP)
        abench__text_printf(text, "byte %llu was changed while the block lived", offset);
    else if (fault->fault == ABENCH_FAULT_ALIGN)
        abench__text_printf(text, "the address is no multiple of %llu", offset);
    else if (fault->fault == ABENCH_FAULT_NOT_ZERO)
        abench__text_printf(text, "byte %llu is not 0", offset);
    else if (fault->fault == ABENCH_FAULT_SHORT)
        abench__text_printf(text, "its usable size is %llu", offset);
    else
        abench__text_printf(text, "byte %llu of its contents was lost", offset);
}

static uint64_t executed_by(const abench__lane *lane)
{
    uint64_t sum = 0;

    for (uint32_t kind = 0; kind < ABENCH_OP_KINDS; kind++)
        sum += lane->executed[kind];
    return sum;
}

/* Counts a fault, keeps the first one of the play and tells the caller's callback. */
static void found(const held *h, uint32_t what, uint64_t size, uint64_t offset)
{
    abench__play *play = h->lane->play;
    abench__check *check = play->check;
    abench_fault fault = {.struct_size = sizeof fault, .fault = what, .kind = h->op->kind};
    char message[sizeof check->first.message];
    abench__text text;

    fault.lane = h->lane->index;
    fault.slot = h->op->slot | (h->op->shared ? ABENCH_SLOT_SHARED : 0);
    fault.size = size;
    fault.address = (uint64_t)(uintptr_t)h->block;
    fault.offset = offset;
    check->lanes[fault.lane].faults++;
    abench__text_init(&text, message, sizeof message);
    describe(&text, &fault, executed_by(h->lane));
    pthread_mutex_lock(&play->error_mutex);
    if (check->first.status == ABENCH_OK)
        abench__fail(&check->first, ABENCH_ERROR_RECEIPT, "%s", message);
    pthread_mutex_unlock(&play->error_mutex);
    if (play->options.fault != NULL && play->options.fault(&fault, play->options.user) != 0)
        abench__play_fail(play, ABENCH_ERROR_STOPPED, message);
}

/* ---- slots ----------------------------------------------------------------------------------- */

/* What the operation's slot holds, once it is the operation's turn. 0: the play is given up. */
static int enter_slot(abench__lane *lane, const abench__op *op, unsigned char **block)
{
    uint32_t generation = op->generation, what = WAIT_ALLOCATED;
    uint64_t word;

    if (!op->shared) {
        *block = lane->slots[op->slot];
        return 1;
    }
    if (op->kind == ABENCH_OP_REALLOC) {
        generation -= 2;
    } else if (op->kind <= ABENCH_OP_ALIGNED_ALLOC) {
        generation -= 1;
        what = WAIT_FREED;
    }
    word = atomic_load_explicit(&lane->shared[op->slot], memory_order_acquire);
    if (word >> 48 != (generation & 0xffff))
        word = abench__wait_slot(lane, op->slot, generation & 0xffff, what);
    *block = abench__slot_pointer(word);
    return !atomic_load_explicit(&lane->play->abort, memory_order_relaxed);
}

/* Hands the slot on, with all that was noted beside it. NULL after a free. */
static void leave_slot(abench__lane *lane, const abench__op *op, unsigned char *block, int is_free)
{
    if (op->shared)
        atomic_store_explicit(&lane->shared[op->slot],
                              abench__slot_word(lane, block, op->generation + (is_free ? 1 : 0)),
                              memory_order_release);
    else
        lane->slots[op->slot] = block;
}

/* ---- a block's life -------------------------------------------------------------------------- */

/* Contents mean nothing where the allocator lets blocks overlap. */
static int has_contents(const abench__lane *lane)
{
    return !(lane->play->allocator.flags & ABENCH_ALLOCATOR_OVERLAPS);
}

/* 0: a fault was found in what its first kept bytes hold. */
static int verify(const held *h, uint64_t kept, uint32_t what)
{
    uint64_t wrong;

    if (h->block == NULL || !has_contents(h->lane))
        return 1;
    wrong = abench__stamp_verify(h->block, h->stamp, kept);
    if (wrong != STAMP_GOOD)
        found(h, what, h->stamp->size, wrong);
    return wrong == STAMP_GOOD;
}

/* The same at the end of its life, or of its life at one address. */
static int verify_last(const held *h)
{
    if (h->block != NULL && h->stamp->size > 0 && has_contents(h->lane))
        h->lane->play->check->lanes[h->lane->index].checked++;
    return verify(h, h->stamp->size, ABENCH_FAULT_OVERLAP);
}

/* A key that no other block of the play has. Its first byte is the touch's. */
static void stamp(const held *h, uint64_t size, uint32_t touch)
{
    abench__lane_check *mine = &h->lane->play->check->lanes[h->lane->index];
    const uint8_t first = (uint8_t)(h->op->size ^ h->op->slot);
    uint64_t key = abench__fold(h->lane->index, (uint64_t)h->op->shared << 32 | h->op->slot);

    key = abench__fold(abench__fold(key, h->op->size), mine->serial++);
    if (touch != ABENCH_TOUCH_NOTHING)
        memcpy(&key, &first, 1);
    *h->stamp = (abench__stamp){key, size};
    if (has_contents(h->lane))
        abench__stamp_write(h->block, h->stamp);
}

/* C: suitable for any object that fits. A block of 8 to 15 bytes holds none that wants 16. */
static uint64_t alignment_of(const abench__op *op)
{
    uint64_t alignment = ALIGNMENT_MOST;

    if (op->kind == ABENCH_OP_ALIGNED_ALLOC)
        return (uint64_t)1 << op->alignment_log2;
    while (alignment > op->size)
        alignment /= 2;
    return alignment;
}

/* The address and size of a block that was just made, of 1 byte or more. Returns how much of it may
 * be written: what lies behind its usable size may be the allocator's own. */
static uint64_t verify_new(const held *h)
{
    const abench__op *op = h->op;
    const abench_allocator *a = &h->lane->play->allocator;
    const uint64_t alignment = alignment_of(op);
    uint64_t usable;

    if (((uintptr_t)h->block & (alignment - 1)) != 0)
        found(h, ABENCH_FAULT_ALIGN, op->size, alignment);
    usable = a->usable_size == NULL ? op->size : a->usable_size(h->block);
    if (usable >= op->size)
        return op->size;
    found(h, ABENCH_FAULT_SHORT, op->size, usable);
    return usable;
}

/* C11 leaves open what aligned_alloc does with a size that is no multiple of the alignment. */
static int may_fail(const abench__op *op)
{
    return op->kind == ABENCH_OP_ALIGNED_ALLOC &&
           (op->size & (((uint64_t)1 << op->alignment_log2) - 1)) != 0;
}

static void verify_zero(const held *h, uint64_t size)
{
    const uint64_t wrong = abench__stamp_verify_zero(h->block, size);

    if (wrong != STAMP_GOOD)
        found(h, ABENCH_FAULT_NOT_ZERO, h->op->size, wrong);
}

/* Everything about a block that op has made of one that held *h->stamp. */
static void take_over(const held *h, int was_good, uint32_t touch)
{
    const abench__op *op = h->op;
    const uint64_t writable = verify_new(h);

    if (has_contents(h->lane) && writable > 0) {
        if (op->kind == ABENCH_OP_CALLOC)
            verify_zero(h, writable);
        else if (op->kind == ABENCH_OP_REALLOC && was_good)
            verify(h, writable, ABENCH_FAULT_REALLOC);
        if (touch != ABENCH_TOUCH_NOTHING &&
            (op->kind == ABENCH_OP_CALLOC || (op->kind == ABENCH_OP_REALLOC && !op->empty)))
            h->lane->checksum += h->block[0];
    }
    stamp(h, writable, touch);
}

static void allocate(abench__lane *lane, const abench__op *op, abench__stamp *note, uint32_t touch)
{
    const int moves = op->kind == ABENCH_OP_REALLOC;
    held h = {lane, op, NULL, note};
    unsigned char *block;
    int was_good = 1;

    if (!enter_slot(lane, op, &h.block))
        return;
    if (moves)
        was_good = verify_last(&h);
    else
        note->size = 0;
    block = abench__slot_allocate(&lane->play->allocator, op, h.block);
    if (block == NULL && op->size > 0) {
        lane->failed++;
        if (!may_fail(op))
            found(&h, ABENCH_FAULT_FAILED, op->size, 0);
    } else {
        h.block = block; /* a realloc that fails leaves the block as it was */
        if (op->size > 0)
            take_over(&h, was_good, touch);
    }
    lane->bytes += op->size;
    lane->executed[op->kind]++;
    leave_slot(lane, op, h.block, 0);
}

static void release(abench__lane *lane, const abench__op *op, abench__stamp *note, uint32_t touch)
{
    const abench_allocator *a = &lane->play->allocator;
    held h = {lane, op, NULL, note};

    if (!enter_slot(lane, op, &h.block))
        return;
    verify_last(&h);
    lane->executed[op->kind]++;
    if (touch != ABENCH_TOUCH_NOTHING && h.block != NULL && note->size > 0 && has_contents(lane))
        lane->checksum += h.block[0];
    if (op->kind == ABENCH_OP_FREE_SIZED && a->free_sized != NULL)
        a->free_sized(h.block, (size_t)op->size);
    else
        a->free(h.block);
    leave_slot(lane, op, NULL, 1);
}

/* Writes the block again, with another stamp. */
static void touch_again(abench__lane *lane, const abench__op *op, abench__stamp *note,
                        uint32_t touch)
{
    held h = {lane, op, NULL, note};

    if (!enter_slot(lane, op, &h.block))
        return;
    lane->executed[op->kind]++;
    if (h.block != NULL && note->size > 0) {
        verify(&h, note->size, ABENCH_FAULT_OVERLAP);
        stamp(&h, note->size, touch);
    }
}

/* ---- the loop -------------------------------------------------------------------------------- */

void abench__check_until(abench__lane *lane, const uint64_t *end)
{
    abench__check *check = lane->play->check;
    const uint32_t touch = lane->play->tape->summary.touch;
    abench__op op;

    while (lane->at < end && !atomic_load_explicit(&lane->play->abort, memory_order_relaxed)) {
        const uint32_t count = abench__word_unpack(lane->at, &op);
        abench__stamp *const stamps = op.shared ? check->shared : check->lanes[lane->index].stamps;
        switch (op.kind) {
        case ABENCH_OP_MALLOC:
        case ABENCH_OP_CALLOC:
        case ABENCH_OP_ALIGNED_ALLOC:
        case ABENCH_OP_REALLOC:
            allocate(lane, &op, &stamps[op.slot], touch);
            break;
        case ABENCH_OP_FREE:
        case ABENCH_OP_FREE_SIZED:
            release(lane, &op, &stamps[op.slot], touch);
            break;
        case ABENCH_OP_TOUCH:
            touch_again(lane, &op, &stamps[op.slot], touch);
            break;
        default:
            abench__lane_meet(lane, &op);
            break;
        }
        lane->at += count;
    }
}

/* ---- the end --------------------------------------------------------------------------------- */

void abench__check_rest(abench__play *play)
{
    const abench_tape_summary *s = &play->tape->summary;
    abench__op op = {.kind = ABENCH_OP_END};

    for (uint32_t index = 0; index < s->lanes; index++)
        for (op.slot = 0; op.slot < s->local_slots; op.slot++) {
            abench__lane *lane = &play->lanes[index];
            const held h = {lane, &op, lane->slots[op.slot],
                            &play->check->lanes[index].stamps[op.slot]};
            verify_last(&h);
        }
    op.shared = 1;
    for (op.slot = 0; op.slot < s->shared_slots; op.slot++) {
        const uint64_t word = atomic_load(&play->lanes[0].shared[op.slot]);
        const held h = {&play->lanes[0], &op, abench__slot_pointer(word),
                        &play->check->shared[op.slot]};
        verify_last(&h);
    }
}

void abench__check_receipt(const abench__check *check, uint32_t lanes, abench_receipt *receipt)
{
    for (uint32_t lane = 0; lane < lanes; lane++) {
        receipt->checked += check->lanes[lane].checked;
        receipt->faults += check->lanes[lane].faults;
    }
}

abench_status abench__check_verdict(const abench__play *play, abench_status status,
                                    const abench_receipt *receipt, abench_error *error)
{
    const char *first = play->check->first.message;

    if (receipt->faults == 0 || (status != ABENCH_OK && status != ABENCH_ERROR_STOPPED))
        return status;
    if (status == ABENCH_OK && play->error.status != ABENCH_OK)
        status = play->error.status; /* the callback said stop, behind the last operation */
    else if (status == ABENCH_OK)
        status = ABENCH_ERROR_RECEIPT;
    if (receipt->faults == 1)
        return abench__fail(error, status, "%s", first);
    return abench__fail(error, status, "%llu faults; the first: %s",
                        (unsigned long long)receipt->faults, first);
}
