#include "workload/ring.h"

static uint32_t window(uint32_t size)
{
    return size / 5;
}

/* Whether the window at the very first slot is written over. */
static int is_leaking(const abench__ring *r)
{
    return r->leaky && r->kept == 0;
}

/* Each time that the front leaks, its slots go on under new numbers behind all others. */
static uint32_t number_of(const abench__ring *r, uint32_t at)
{
    return r->leaks == 0 || at >= window(r->size) ? at
                                                  : r->size + (r->leaks - 1) * window(r->size) + at;
}

static void move_window(abench__ring *r)
{
    r->kept = r->kept_end < r->size ? r->kept_end : 0;
    r->kept_end = r->kept + window(r->size) < r->size ? r->kept + window(r->size) : r->size;
    r->stage = ABENCH__RING_FREE_FRONT;
    r->at = 0;
}

int abench__ring_next(abench__ring *r, uint32_t *slot)
{
    if (r->stage == ABENCH__RING_FILL) {
        if (r->at == r->kept)
            r->at = r->kept_end;
        if (r->at == r->size)
            move_window(r);
    }
    if (r->stage == ABENCH__RING_FREE_FRONT) {
        if (r->at < r->kept) {
            *slot = number_of(r, r->at++);
            return 0;
        }
        r->stage = ABENCH__RING_FREE_BACK;
        r->at = r->size;
    }
    if (r->stage == ABENCH__RING_FREE_BACK) {
        if (r->at > r->kept_end) {
            *slot = number_of(r, --r->at);
            return 0;
        }
        r->stage = ABENCH__RING_FILL;
        r->at = is_leaking(r) || r->kept > 0 ? 0 : r->kept_end;
        r->leaks += (uint32_t)is_leaking(r);
    }
    *slot = number_of(r, r->at++);
    return 1;
}

int abench__ring_drain(abench__ring *r, uint32_t *slot)
{
    const uint32_t leaked = r->leaks * window(r->size);

    while (r->drained < r->size) {
        const uint32_t at = r->drained++;
        const int is_kept = at >= r->kept && at < r->kept_end && !is_leaking(r);
        if (at < r->at || is_kept) {
            *slot = number_of(r, at);
            return 1;
        }
    }
    if (r->drained - r->size >= leaked)
        return 0;
    *slot = r->drained - r->size; /* the front's first numbers, then those behind the ring */
    if (*slot >= window(r->size))
        *slot += r->size - window(r->size);
    r->drained++;
    return 1;
}

uint64_t abench__ring_slots(uint32_t size, int leaky, uint64_t allocations)
{
    /* Between two leaks the ring is filled five times, the window left out. */
    const uint64_t leaks = leaky ? allocations / (5 * (uint64_t)(size - window(size))) + 1 : 0;

    return size + leaks * window(size);
}

void abench__pass_add(abench__pass *pass, uint32_t size, uint32_t count)
{
    if (pass->count == ABENCH__RUNS_MAX)
        return;
    pass->runs[pass->count++] = (abench__run_of){size, count};
    pass->blocks += count;
    pass->bytes += (uint64_t)size * count;
}

uint32_t abench__pass_next(const abench__pass *pass, abench__pass_cursor *cursor)
{
    const abench__run_of *run = &pass->runs[cursor->run];

    if (++cursor->done == run->count) {
        cursor->done = 0;
        cursor->run = cursor->run + 1 < pass->count ? cursor->run + 1 : 0;
    }
    return run->size;
}

/* The most bytes that so many blocks in a row take. */
static uint64_t most(const abench__pass *pass, uint64_t blocks)
{
    const uint64_t rest = blocks % pass->blocks;
    abench__pass_cursor front = {0, 0}, back = {0, 0};
    uint64_t sum = 0, largest;

    for (uint64_t at = 0; at < rest; at++)
        sum += abench__pass_next(pass, &front);
    largest = sum;
    for (uint64_t at = 0; at < pass->blocks; at++) {
        sum += abench__pass_next(pass, &front);
        sum -= abench__pass_next(pass, &back);
        largest = sum > largest ? sum : largest;
    }
    return blocks / pass->blocks * pass->bytes + largest;
}

uint64_t abench__pass_ring(const abench__pass *pass, uint64_t size, uint64_t allocations)
{
    if (allocations <= size)
        return most(pass, allocations);
    return most(pass, size - size / 5) + most(pass, size / 5);
}
