/*
 * builder.c - operations in, a checked tape out; blocks.c has the operations on blocks.
 */
#include "tape/builder.h"

#include <string.h>

#include "base/arena.h"
#include "base/hash.h"
#include "base/options.h"
#include "base/text.h"
#include "tape/source.h"

#define OPTIONS_FIRST_RELEASE 32u

_Static_assert(sizeof(abench_tape_options) == OPTIONS_FIRST_RELEASE, "first release");
_Static_assert(ABENCH_LANES_MAX < MERGED_TWO, "a lane fits into a tag");

/* ---- life ------------------------------------------------------------------------------------ */

abench_status abench__builder_check(const abench_tape_options *o)
{
    const uint64_t slots = (uint64_t)o->lanes * o->local_slots + o->shared_slots;

    if (o->lanes > ABENCH_LANES_MAX || o->touch > ABENCH_TOUCH_ALL || o->flags != 0 ||
        o->local_slots >= ABENCH_SLOT_SHARED || o->shared_slots >= ABENCH_SLOT_SHARED ||
        slots > (uint64_t)1 << 32)
        return ABENCH_ERROR_ARGUMENT;
    return ABENCH_OK;
}

/* The buffer of a stream: as much as one round of fills can append, touched. */
static uint64_t merged_bytes(void)
{
    return sizeof(abench__merged) + 2 * (uint64_t)MERGED_OPERATIONS * sizeof(uint64_t) +
           (uint64_t)MERGED_OPERATIONS * sizeof(uint16_t) +
           (uint64_t)MERGED_CUTS * sizeof(uint64_t) +
           (uint64_t)(2 * MERGED_CUTS + ABENCH_PHASES_MAX + 2) * sizeof(uint32_t) + 7 * 64;
}

static abench__merged *merged_create(const abench_memory_hooks *hooks)
{
    abench__arena arena = {.capacity = merged_bytes()};
    abench__merged *m;

    arena.memory = abench__map(hooks, arena.capacity, 1);
    if (arena.memory == NULL)
        return NULL;
    m = abench__arena_take(&arena, sizeof *m);
    m->words = abench__arena_take(&arena, 2 * (uint64_t)MERGED_OPERATIONS * sizeof *m->words);
    m->tags = abench__arena_take(&arena, (uint64_t)MERGED_OPERATIONS * sizeof *m->tags);
    m->cut_words = abench__arena_take(&arena, MERGED_CUTS * sizeof *m->cut_words);
    m->cut_operations = abench__arena_take(&arena, MERGED_CUTS * sizeof *m->cut_operations);
    m->cut_live = abench__arena_take(&arena, MERGED_CUTS * sizeof *m->cut_live);
    m->segments = abench__arena_take(&arena, (ABENCH_PHASES_MAX + 2) * sizeof *m->segments);
    return m;
}

static uint64_t slots_bytes(uint64_t lanes, uint64_t local, uint64_t shared)
{
    return (lanes * local + shared + 1) * sizeof(abench__slot_state);
}

static abench_status make_parts(abench_tape_builder *b, const abench_tape_options *o,
                                uint32_t flags)
{
    const int stream = (flags & BUILDER_STREAM) != 0;
    abench_status status = ABENCH_OK;

    b->slots_bytes = slots_bytes(o->lanes, o->local_slots, o->shared_slots);
    b->slots = abench__map(&b->hooks, b->slots_bytes, stream);
    if (b->slots == NULL)
        return ABENCH_ERROR_MEMORY;
    if (stream) {
        b->merged = merged_create(&b->hooks);
        if (b->merged == NULL)
            return ABENCH_ERROR_MEMORY;
    }
    if (flags & BUILDER_STATISTICS) {
        status = abench_histogram_create(&b->hooks, &b->sizes);
        if (status == ABENCH_OK)
            status = abench_histogram_create(&b->hooks, &b->lifetimes);
    }
    return status;
}

static void start_summary(abench_tape_summary *summary, const abench_tape_options *o)
{
    abench_tape_summary_init(summary);
    summary->version = ABENCH_TAPE_VERSION;
    summary->lanes = o->lanes;
    summary->touch = o->touch;
    summary->local_slots = o->local_slots;
    summary->shared_slots = o->shared_slots;
    summary->size_minimum = UINT64_MAX;
}

abench_status abench__builder_create(const abench_tape_options *options, uint32_t flags,
                                     abench_tape_builder **out)
{
    abench_tape_options o = ABENCH_TAPE_OPTIONS_INIT;
    abench_memory_hooks hooks;
    abench_tape_builder *b;
    abench_status status;

    *out = NULL;
    status = abench__options_read(&o, sizeof o, options, OPTIONS_FIRST_RELEASE);
    if (status == ABENCH_OK)
        status = abench__hooks_copy(o.hooks, &hooks);
    o.lanes = o.lanes == 0 ? 1 : o.lanes;
    if (status == ABENCH_OK)
        status = abench__builder_check(&o);
    if (status != ABENCH_OK)
        return status;

    b = abench__map(&hooks, sizeof *b, (flags & BUILDER_STREAM) != 0);
    if (b == NULL)
        return ABENCH_ERROR_MEMORY;
    b->hooks = hooks;
    b->bytes = sizeof *b;
    abench_error_init(&b->error);
    status = abench__tape_create(&hooks, o.lanes, &b->tape);
    if (status == ABENCH_OK)
        status = make_parts(b, &o, flags);
    if (status != ABENCH_OK) {
        abench_tape_builder_destroy(b);
        return status;
    }
    start_summary(&b->tape->summary, &o);
    *out = b;
    return ABENCH_OK;
}

abench_status abench_tape_builder_create(const abench_tape_options *options,
                                         abench_tape_builder **out)
{
    return abench__builder_create(options, BUILDER_STATISTICS, out);
}

void abench_tape_builder_destroy(abench_tape_builder *b)
{
    abench_memory_hooks hooks;

    if (b == NULL)
        return;
    hooks = b->hooks;
    abench_tape_destroy(b->tape);
    abench_histogram_destroy(b->sizes);
    abench_histogram_destroy(b->lifetimes);
    abench__unmap(&hooks, b->merged, merged_bytes());
    abench__unmap(&hooks, b->slots, b->slots_bytes);
    abench__unmap(&hooks, b, b->bytes);
}

uint64_t abench__builder_bytes(const abench_tape_summary *shape)
{
    return sizeof(abench_tape_builder) +
           slots_bytes(shape->lanes, shape->local_slots, shape->shared_slots) + merged_bytes() +
           sizeof(abench_tape) + shape->lanes * sizeof(abench__lane_words);
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

/* A cut of the merged buffer. */
static void close_merged_cut(abench__merged *m, uint64_t live_bytes)
{
    m->cut_live[m->cuts] = live_bytes;
    m->cut_words[m->cuts] = m->words_count;
    m->cut_operations[m->cuts] = m->operations;
    m->cuts++;
}

static abench_status close_tape_cut(abench_tape_builder *b)
{
    abench_tape *tape = b->tape;
    uint64_t *live = abench__vector_push(&tape->cut_live, &b->hooks, sizeof *live);

    if (live == NULL)
        return no_memory(b);
    *live = b->live_bytes;
    for (uint32_t lane = 0; lane < tape->summary.lanes; lane++) {
        uint32_t *end = abench__vector_push(&tape->cuts, &b->hooks, sizeof *end);
        if (end == NULL)
            return no_memory(b);
        *end = (uint32_t)tape->lanes[lane].words.count;
    }
    return ABENCH_OK;
}

static abench_status close_cut(abench_tape_builder *b)
{
    abench_tape *tape = b->tape;
    abench_status status = ABENCH_OK;

    if (b->cut_operations == 0)
        return ABENCH_OK;
    if (b->merged != NULL)
        close_merged_cut(b->merged, b->live_bytes);
    else
        status = close_tape_cut(b);
    tape->cut_count++;
    tape->phases[tape->summary.phases - 1].cuts++;
    b->cut_operations = 0;
    return status;
}

static abench_status append_merged(abench_tape_builder *b, uint32_t lane, const uint64_t *packed,
                                   uint32_t count)
{
    abench__merged *m = b->merged;

    if (m->operations >= MERGED_OPERATIONS)
        return abench__fail(&b->error, ABENCH_ERROR_LIMIT, FILL_LIMIT, ABENCH_FILL_MAX);
    m->words[m->words_count++] = packed[0];
    if (count == 2)
        m->words[m->words_count++] = packed[1];
    m->tags[m->operations++] = (uint16_t)(lane | (count == 2 ? MERGED_TWO : 0));
    return ABENCH_OK;
}

static abench_status append_to_tape(abench_tape_builder *b, uint32_t lane, const uint64_t *packed,
                                    uint32_t count)
{
    abench__vector *words = &b->tape->lanes[lane].words;

    for (uint32_t at = 0; at < count; at++) {
        uint64_t *word = abench__vector_push(words, &b->hooks, sizeof *word);
        if (word == NULL)
            return no_memory(b);
        *word = packed[at];
    }
    return words->count <= UINT32_MAX ? ABENCH_OK
                                      : abench__fail(&b->error, ABENCH_ERROR_LIMIT,
                                                     "lane %u holds more than 2^32 words", lane);
}

abench_status abench__builder_append(abench_tape_builder *b, uint32_t lane, const abench__op *op)
{
    abench_tape_summary *summary = &b->tape->summary;
    uint64_t packed[2];
    const uint32_t count = abench__word_pack(op, packed);
    const abench_status status = b->merged != NULL ? append_merged(b, lane, packed, count)
                                                   : append_to_tape(b, lane, packed, count);

    if (status != ABENCH_OK)
        return status;
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
        const abench_status status = abench__builder_append(b, lane, op);
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
    if (b->merged != NULL)
        b->merged->segments[b->merged->segments_count++] = b->merged->cuts;
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

abench_status abench__builder_begin_slowly(abench_tape_builder *b, uint32_t lane)
{
    if (b->error.status != ABENCH_OK)
        return b->error.status;
    if (b->tape == NULL)
        return abench__fail(&b->error, ABENCH_ERROR_STATE, "the tape is finished");
    if (lane >= b->tape->summary.lanes)
        return abench__fail(&b->error, ABENCH_ERROR_ARGUMENT,
                            "there is no lane %u: the tape has %u", lane, b->tape->summary.lanes);
    if (!b->phase_open) {
        const abench_status status = abench_tape_builder_phase(b, "work", ABENCH_PHASE_TIMED);
        if (status != ABENCH_OK)
            return status;
    }
    return b->cut_operations >= ABENCH_TAPE_CUT ? close_cut(b) : ABENCH_OK;
}

abench_status abench_tape_builder_barrier(abench_tape_builder *b)
{
    abench__op op = {.kind = ABENCH_OP_BARRIER};
    const abench_status status = abench__builder_begin(b, 0);

    if (status != ABENCH_OK)
        return status;
    op.size = b->tape->summary.by_kind[ABENCH_OP_BARRIER] / b->tape->summary.lanes;
    b->meetings++;
    return append_to_all(b, &op);
}

static abench_status append_pause(abench_tape_builder *b, uint32_t lane, uint32_t microseconds,
                                  uint32_t pace)
{
    const abench__op op = {.kind = ABENCH_OP_PAUSE, .shared = pace, .size = microseconds};
    const abench_status status = abench__builder_begin(b, lane);

    return status != ABENCH_OK ? status : abench__builder_append(b, lane, &op);
}

abench_status abench_tape_builder_pause(abench_tape_builder *b, uint32_t lane,
                                        uint32_t microseconds)
{
    return append_pause(b, lane, microseconds, 0);
}

abench_status abench_tape_builder_pace(abench_tape_builder *b, uint32_t lane, uint32_t microseconds)
{
    return append_pause(b, lane, microseconds, 1);
}

/* ---- the end --------------------------------------------------------------------------------- */

/* The middle value of what was counted; an empty histogram's is 0. */
static uint64_t middle(const abench_histogram *histogram)
{
    const uint64_t count = abench_histogram_count(histogram);
    abench_bucket bucket = ABENCH_BUCKET_INIT;
    uint64_t below = 0;

    for (uint32_t at = 0; abench_histogram_bucket_at(histogram, at, &bucket) == ABENCH_OK; at++) {
        below += bucket.count;
        if (below >= (count + 1) / 2)
            return bucket.high < abench_histogram_maximum(histogram)
                       ? bucket.high
                       : abench_histogram_maximum(histogram);
    }
    return 0;
}

abench_status abench__builder_end(abench_tape_builder *b)
{
    const abench__op end = {.kind = ABENCH_OP_END};
    abench_tape *tape = b->tape;
    abench_status status = abench__builder_begin(b, 0);

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
    if (b->sizes != NULL) {
        tape->summary.size_median = middle(b->sizes);
        tape->summary.lifetime_median = middle(b->lifetimes);
    }
    return ABENCH_OK;
}

abench_status abench_tape_builder_finish(abench_tape_builder *b, abench_tape **out)
{
    *out = NULL;
    if (b->generated)
        return abench__fail(&b->error, ABENCH_ERROR_STATE,
                            "a generator says by 1 that the tape is whole; it does not finish it");
    return abench__builder_finish(b, out);
}

abench_status abench__builder_finish(abench_tape_builder *b, abench_tape **out)
{
    abench_tape *tape = b->tape;
    abench_status status;

    *out = NULL;
    status = abench__builder_end(b);
    if (status != ABENCH_OK)
        return status;
    tape->summary.memory_bytes = tape->bytes + tape->cuts.capacity * sizeof(uint32_t) +
                                 tape->cut_live.capacity * sizeof(uint64_t);
    tape->digest = abench__digest_begin(tape->summary.lanes);
    for (uint32_t lane = 0; lane < tape->summary.lanes; lane++) {
        abench__lane_words *words = &tape->lanes[lane];
        words->digest = abench__fold(
            abench__fold_words(lane, words->words.data, words->words.count), words->words.count);
        tape->digest = abench__fold(tape->digest, words->digest);
        tape->summary.memory_bytes += words->words.capacity * sizeof(uint64_t);
    }
    b->tape = NULL;
    *out = tape;
    return ABENCH_OK;
}
