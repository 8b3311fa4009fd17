/*
 * reader.c - a tape's chunks, one after the other: of a tape in memory a phase is a chunk; of a
 * stream the generator fills the builder's buffer, which is then handed to the lanes.
 */
#include "tape/source.h"

#include <string.h>

#include "base/arena.h"
#include "base/hash.h"
#include "base/text.h"
#include "tape/builder.h"
#include "tape/tape.h"

typedef struct lane_part {
    uint64_t digest; /* of the words handed out */
    uint64_t words;
} lane_part;

struct abench__reader {
    const abench_tape *tape;
    abench_memory_hooks hooks;
    uint64_t bytes;
    const uint64_t **words;  /* a lane; what a chunk points to */
    const uint64_t **starts; /* a lane */
    uint32_t ended;          /* everything was handed out */
    uint32_t next_phase;     /* of a tape in memory; of a stream the phase of the next chunk */
    /* a stream */
    abench_tape_builder *builder; /* its tape has summary and phases */
    void *state;                  /* the generator's */
    uint64_t state_bytes;
    uint32_t begun;  /* the generator's begin succeeded */
    uint32_t filled; /* the generator said that there is no more */
    uint32_t cuts;   /* of the chunk that was handed out */
    uint32_t next_segment;
    uint32_t next_cut;  /* of the buffer */
    uint64_t first_cut; /* cuts handed out in chunks before */
    uint64_t *buffer;   /* the chunk's words, lane by lane */
    uint32_t *cut_ends; /* of the chunk */
    lane_part *parts;   /* a lane */
};

/* ---- life ------------------------------------------------------------------------------------ */

/* Words, cuts and lanes that one chunk can have, and the bytes for them. */
static uint64_t reader_bytes(uint32_t lanes, int stream)
{
    uint64_t bytes = sizeof(abench__reader) + 2 * (uint64_t)lanes * sizeof(uint64_t *) + 64 * 8;

    if (stream)
        bytes += 2 * (uint64_t)MERGED_OPERATIONS * sizeof(uint64_t) +
                 (uint64_t)MERGED_CUTS * lanes * sizeof(uint32_t) + lanes * sizeof(lane_part);
    return bytes;
}

static abench_status begin_stream(abench__reader *r, uint32_t statistics, abench_error *error)
{
    const abench__generator *g = &r->tape->generator;
    abench_tape_options options = r->tape->options;
    abench_status status;

    options.hooks = &r->hooks;
    status = abench__builder_create(
        &options, BUILDER_STREAM | (statistics ? BUILDER_STATISTICS : 0), &r->builder);
    if (status != ABENCH_OK)
        return abench__fail(error, status, "no builder for the stream: %s",
                            abench_status_message(status));
    r->state_bytes = g->state_bytes == 0 ? 1 : g->state_bytes;
    r->state = abench__map(&r->hooks, r->state_bytes, 1);
    if (r->state == NULL)
        return abench__fail(error, ABENCH_ERROR_MEMORY, "no memory for the generator");
    status = g->begin(g->context, r->state, error);
    r->begun = status == ABENCH_OK;
    return status;
}

abench_status abench__reader_create(const abench_tape *tape, const abench_memory_hooks *hooks,
                                    uint32_t statistics, abench__reader **out, abench_error *error)
{
    const uint32_t lanes = tape->summary.lanes;
    abench__arena arena = {.capacity = reader_bytes(lanes, tape->streamed != 0)};
    abench_memory_hooks copy;
    abench__reader *r;
    abench_status status = abench__hooks_copy(hooks, &copy);

    *out = NULL;
    if (status != ABENCH_OK)
        return abench__fail(error, status, "the memory hooks are not valid");
    arena.memory = abench__map(&copy, arena.capacity, 1);
    if (arena.memory == NULL)
        return abench__fail(error, ABENCH_ERROR_MEMORY, "no memory to read the tape");
    r = abench__arena_take(&arena, sizeof *r);
    r->tape = tape;
    r->hooks = copy;
    r->bytes = arena.capacity;
    r->words = abench__arena_take(&arena, lanes * sizeof *r->words);
    r->starts = abench__arena_take(&arena, lanes * sizeof *r->starts);
    for (uint32_t lane = 0; lane < lanes; lane++)
        r->words[lane] = r->starts[lane] = abench__lane_data(tape, lane);
    if (tape->streamed) {
        r->buffer = abench__arena_take(&arena, 2 * (uint64_t)MERGED_OPERATIONS * sizeof(uint64_t));
        r->cut_ends = abench__arena_take(&arena, (uint64_t)MERGED_CUTS * lanes * sizeof(uint32_t));
        r->parts = abench__arena_take(&arena, lanes * sizeof *r->parts);
        for (uint32_t lane = 0; lane < lanes; lane++)
            r->parts[lane].digest = lane;
        status = begin_stream(r, statistics, error);
    }
    if (status != ABENCH_OK) {
        abench__reader_destroy(r);
        return status;
    }
    *out = r;
    return ABENCH_OK;
}

void abench__reader_destroy(abench__reader *r)
{
    abench_memory_hooks hooks;

    if (r == NULL)
        return;
    hooks = r->hooks;
    if (r->begun && r->tape->generator.end != NULL)
        r->tape->generator.end(r->tape->generator.context, r->state);
    abench__unmap(&hooks, r->state, r->state_bytes);
    abench_tape_builder_destroy(r->builder);
    abench__unmap(&hooks, r, r->bytes);
}

uint64_t abench__reader_bytes(const abench__reader *r)
{
    return abench__stream_bytes(r->tape);
}

uint64_t abench__stream_bytes(const abench_tape *tape)
{
    return !tape->streamed ? 0
                           : reader_bytes(tape->summary.lanes, 1) + tape->generator.state_bytes +
                                 abench__builder_bytes(&tape->summary);
}

const abench_tape_summary *abench__reader_summary(const abench__reader *r)
{
    return r->tape->streamed ? &r->builder->tape->summary : &r->tape->summary;
}

uint64_t abench__reader_lane_digest(const abench__reader *r, uint32_t lane, uint64_t *words)
{
    *words = r->parts[lane].words;
    return r->parts[lane].digest;
}

/* Of the words handed out, the present chunk's too. */
static uint64_t digest_of_stream(const abench__reader *r)
{
    const uint32_t lanes = r->tape->summary.lanes;
    const uint32_t *ends = r->cut_ends + (uint64_t)(r->cuts == 0 ? 0 : r->cuts - 1) * lanes;
    uint64_t digest = abench__digest_begin(lanes);

    for (uint32_t lane = 0; lane < lanes; lane++)
        digest = abench__fold(digest, abench__fold(abench__fold_words(r->parts[lane].digest,
                                                                      r->starts[lane], ends[lane]),
                                                   r->parts[lane].words + ends[lane]));
    return digest;
}

uint64_t abench__reader_digest(const abench__reader *r)
{
    return r->tape->streamed ? digest_of_stream(r) : r->tape->digest;
}

const abench_phase *abench__reader_phase(const abench__reader *r, uint32_t index)
{
    return &(r->tape->streamed ? r->builder->tape : r->tape)->phases[index].info;
}

uint64_t abench__reader_checksum(const abench__reader *r)
{
    return r->tape->streamed ? r->builder->tape->checksum : r->tape->checksum;
}

/* ---- a tape in memory ------------------------------------------------------------------------ */

static void next_in_memory(abench__reader *r, abench__chunk *out)
{
    const abench_tape *tape = r->tape;
    const abench__tape_phase *phase = &tape->phases[r->next_phase];
    const uint32_t lanes = tape->summary.lanes;
    const uint32_t *ends = tape->cuts.data;

    out->phase = r->next_phase++;
    out->ends_phase = 1;
    out->ends_tape = r->next_phase == tape->summary.phases;
    out->info = &phase->info;
    out->cuts = phase->cuts;
    out->first_cut = phase->first_cut;
    out->cut_ends = ends + phase->first_cut * lanes;
    out->cut_live = (const uint64_t *)tape->cut_live.data + phase->first_cut;
    for (uint32_t lane = 0; lane < lanes; lane++)
        r->starts[lane] = r->words[lane] + abench__cut_end(tape, phase->first_cut - 1, lane);
    r->ended = out->ends_tape;
}

/* ---- a stream -------------------------------------------------------------------------------- */

/* What is left behind the cuts that were handed out goes to the buffer's front. */
static void keep_rest(abench__reader *r)
{
    abench__merged *m = r->builder->merged;
    const uint32_t words = m->cuts == 0 ? 0 : m->cut_words[m->cuts - 1];
    const uint32_t operations = m->cuts == 0 ? 0 : m->cut_operations[m->cuts - 1];

    m->words_count -= words;
    m->operations -= operations;
    memmove(m->words, m->words + words, m->words_count * sizeof *m->words);
    memmove(m->tags, m->tags + operations, m->operations * sizeof *m->tags);
    m->cuts = 0;
    m->segments_count = 0;
    r->next_segment = 0;
    r->next_cut = 0;
}

abench_status abench__fill_once(const abench__generator *g, void *state, abench_tape_builder *b,
                                int32_t *said, abench_error *error)
{
    const uint64_t before = b->tape->summary.operations;
    abench_error inner = ABENCH_ERROR_INIT;

    b->generated = 1;
    *said = g->fill(g->context, state, b, &inner);
    if (*said != 0 && *said != 1)
        return abench__fail(error, *said < 0 ? *said : ABENCH_ERROR_TAPE, "%s",
                            b->error.status != ABENCH_OK ? b->error.message
                            : inner.message[0] != '\0'   ? inner.message
                                                         : "the generator gave up");
    if (b->error.status == ABENCH_OK && b->tape->summary.operations - before > ABENCH_FILL_MAX)
        abench__fail(&b->error, ABENCH_ERROR_LIMIT, FILL_LIMIT, ABENCH_FILL_MAX);
    if (*said == 0 && b->error.status == ABENCH_OK && b->tape->summary.operations == before)
        abench__fail(&b->error, ABENCH_ERROR_TAPE,
                     "the generator says that there is more and appends nothing");
    if (b->error.status != ABENCH_OK && error != NULL)
        *error = b->error;
    return b->error.status;
}

static abench_status refill(abench__reader *r, abench_error *error)
{
    abench_tape_builder *b = r->builder;
    abench_status status = ABENCH_OK;

    keep_rest(r);
    while (status == ABENCH_OK && !r->filled && b->merged->operations < ABENCH__CHUNK_OPERATIONS) {
        int32_t said = 0;
        status = abench__fill_once(&r->tape->generator, r->state, b, &said, error);
        if (status != ABENCH_OK || said == 0)
            continue;
        r->filled = 1;
        status = abench__builder_end(b);
        if (status != ABENCH_OK && error != NULL)
            *error = b->error;
    }
    return status;
}

/* Deals the words of cuts first ... last - 1 to the lanes, and notes where each cut ends. */
static void deal(abench__reader *r, uint32_t first, uint32_t last)
{
    const abench__merged *m = r->builder->merged;
    const uint32_t lanes = r->tape->summary.lanes;
    const uint32_t from = first == 0 ? 0 : m->cut_operations[first - 1];
    const uint32_t to = last == 0 ? 0 : m->cut_operations[last - 1];
    uint32_t word = first == 0 ? 0 : m->cut_words[first - 1];
    uint32_t *ends = r->cut_ends; /* the first row counts, then runs along */
    uint64_t offset = 0;
    uint32_t at = from;

    memset(ends, 0, lanes * sizeof *ends);
    for (uint32_t op = from; op < to; op++)
        ends[m->tags[op] & (MERGED_TWO - 1)] += m->tags[op] & MERGED_TWO ? 2 : 1;
    for (uint32_t lane = 0; lane < lanes; lane++) {
        r->words[lane] = r->starts[lane] = r->buffer + offset;
        offset += ends[lane];
        ends[lane] = 0;
    }
    for (uint32_t cut = first; cut < last; cut++, ends += lanes) {
        for (; at < m->cut_operations[cut]; at++) {
            const uint32_t lane = m->tags[at] & (MERGED_TWO - 1);
            uint64_t *to_lane = r->buffer + (r->starts[lane] - r->buffer);
            to_lane[ends[lane]++] = m->words[word++];
            if (m->tags[at] & MERGED_TWO)
                to_lane[ends[lane]++] = m->words[word++];
        }
        if (cut + 1 < last)
            memcpy(ends + lanes, ends, lanes * sizeof *ends);
    }
}

/* The digest of the words of the chunk that was handed out. */
static void fold_chunk(abench__reader *r)
{
    const uint32_t lanes = r->tape->summary.lanes;
    const uint32_t *ends = r->cut_ends + (uint64_t)(r->cuts == 0 ? 0 : r->cuts - 1) * lanes;

    for (uint32_t lane = 0; lane < lanes; lane++) {
        lane_part *part = &r->parts[lane];
        part->digest = abench__fold_words(part->digest, r->starts[lane], ends[lane]);
        part->words += ends[lane];
    }
    r->cuts = 0;
    memset(r->cut_ends, 0, lanes * sizeof *r->cut_ends);
}

static abench_status next_of_stream(abench__reader *r, abench__chunk *out, abench_error *error)
{
    const abench__merged *m = r->builder->merged;
    uint32_t last;

    fold_chunk(r);
    if (r->next_segment == m->segments_count && r->next_cut == m->cuts) {
        const abench_status status = refill(r, error);
        if (status != ABENCH_OK)
            return status;
    }
    out->ends_phase = r->next_segment < m->segments_count;
    last = out->ends_phase ? m->segments[r->next_segment] : m->cuts;
    out->phase = r->next_phase;
    out->info = &r->builder->tape->phases[out->phase].info;
    out->cuts = last - r->next_cut;
    out->first_cut = r->first_cut;
    out->cut_ends = r->cut_ends;
    out->cut_live = m->cut_live + r->next_cut;
    r->cuts = last - r->next_cut;
    deal(r, r->next_cut, last);
    r->first_cut += out->cuts;
    r->next_cut = last;
    r->next_segment += out->ends_phase;
    r->next_phase += out->ends_phase;
    out->ends_tape = r->filled && out->ends_phase && r->next_segment == m->segments_count;
    r->ended = out->ends_tape;
    return ABENCH_OK;
}

abench_status abench__reader_next(abench__reader *r, abench__chunk *out, abench_error *error)
{
    abench_status status = ABENCH_OK;

    if (r->ended)
        return ABENCH_ERROR_NOT_FOUND;
    memset(out, 0, sizeof *out);
    out->words = r->words;
    out->starts = r->starts;
    if (r->tape->streamed)
        status = next_of_stream(r, out, error);
    else
        next_in_memory(r, out);
    return status;
}
