/*
 * load.c - a tape from a file. A file is a generator: block by block its operations go to a
 * builder, which refuses what no program could have done, and whose words must be those of the
 * file.
 */
#include <string.h>

#include "base/arena.h"
#include "base/hash.h"
#include "base/text.h"
#include "tape/builder.h"
#include "tape/file.h"
#include "tape/opened.h"
#include "tape/order.h"
#include "tape/source.h"

#define BUFFER_WORDS   (8u * FILE_BLOCK_WORDS_MOST)
#define IN_MEMORY_MOST ((uint64_t)128 << 20) /* bytes of a file that is not streamed */

/* Of one pass: what a lane's words were up to now. */
typedef struct lane_pass {
    uint64_t digest;
    uint64_t words : 63;
    uint64_t ended : 1;
} lane_pass;

typedef struct pass {
    abench__order order;
    lane_pass *lanes;
    uint64_t *buffer;
    uint32_t from, to; /* words in the buffer that are not used yet */
    uint64_t offset;   /* in the file, of buffer[from] */
    uint64_t blocks;   /* that were read */
} pass;

/* A block taken apart. Its lanes' words are in the pass's order. */
typedef struct block {
    uint64_t offset; /* in the file */
    uint32_t begins; /* a phase begins */
    uint32_t flags;  /* its */
    char name[FILE_NAME_WORDS * FILE_WORD_BYTES];
} block;

/* ---- a pass: blocks -------------------------------------------------------------------------- */

static uint64_t pass_bytes(const abench_tape_options *o)
{
    return sizeof(pass) + abench__order_bytes(o->lanes, o->shared_slots) +
           o->lanes * sizeof(lane_pass) + (uint64_t)BUFFER_WORDS * sizeof(uint64_t) + 4 * 64;
}

static abench_status begin(const void *context, void *state, abench_error *error)
{
    const abench__opened *s = context;
    const abench_tape_options *o = &s->options;
    abench__arena arena = {state, pass_bytes(o), 0};
    pass *p = abench__arena_take(&arena, sizeof *p);
    const abench_status status = abench__opened_check(s, error);

    if (status != ABENCH_OK)
        return status;
    abench__order_init(&p->order,
                       abench__arena_take(&arena, abench__order_bytes(o->lanes, o->shared_slots)),
                       o->lanes, o->shared_slots);
    p->lanes = abench__arena_take(&arena, o->lanes * sizeof *p->lanes);
    for (uint32_t lane = 0; lane < o->lanes; lane++)
        p->lanes[lane].digest = lane;
    p->buffer = abench__arena_take(&arena, (uint64_t)BUFFER_WORDS * sizeof *p->buffer);
    p->offset = FILE_HEADER_BYTES;
    return ABENCH_OK;
}

/* Makes at least count words lie in the buffer from p->from. */
static abench_status need(const abench__opened *s, pass *p, uint32_t count, abench_error *error)
{
    const uint32_t held = p->to - p->from;
    const uint64_t at = p->offset + (uint64_t)held * FILE_WORD_BYTES;
    const uint64_t left = (s->bytes - FILE_TRAILER_BYTES - at) / FILE_WORD_BYTES;
    const uint32_t room = BUFFER_WORDS - held;
    const uint32_t more = left < room ? (uint32_t)left : room;
    abench_status status;

    if (held >= count)
        return ABENCH_OK;
    if (held + more < count)
        return abench__damaged(error, p->offset,
                               "a block begins here that does not end before the trailer");
    memmove(p->buffer, p->buffer + p->from, held * sizeof *p->buffer);
    status = abench__read_words(s->fd, at, p->buffer + held, more, error);
    p->from = 0;
    p->to = held + more;
    return status;
}

/* Finds the next block; its words stay where they are until the next call. */
static abench_status read_block(const abench__opened *s, pass *p, const uint64_t **out,
                                abench_error *error)
{
    const uint64_t *words;
    uint64_t count;
    abench_status status = need(s, p, FILE_BLOCK_WORDS_LEAST, error);

    if (status != ABENCH_OK)
        return status;
    count = p->buffer[p->from] >> 32;
    if ((uint32_t)p->buffer[p->from] != FILE_BLOCK_TAG || count < FILE_BLOCK_WORDS_LEAST ||
        count > FILE_BLOCK_WORDS_MOST)
        return abench__damaged(error, p->offset, "no block begins here");
    status = need(s, p, (uint32_t)count, error);
    if (status != ABENCH_OK)
        return status;
    words = p->buffer + p->from;
    if (!abench__has_checksum(words, count))
        return abench__damaged(error, p->offset, "the block is damaged: its checksum is another");
    if (words[1] != p->blocks)
        return abench__damaged(error, p->offset, "the blocks are not in their order");
    *out = words;
    return ABENCH_OK;
}

/* The lanes' counts at words; their words follow and must end at end. */
static int take_counts(pass *p, const uint64_t *words, const uint64_t *end)
{
    const uint32_t lanes = p->order.lanes, count_words = abench__file_count_words(lanes);
    const uint64_t *at = words + count_words;

    if (end - words < (ptrdiff_t)count_words)
        return 0;
    for (uint32_t lane = 0; lane < 4 * count_words; lane++) {
        const uint32_t count = (uint32_t)(words[lane / 4] >> lane % 4 * 16) & 0xffff;
        if (end - at < (ptrdiff_t)count)
            return 0;
        if (lane >= lanes)
            continue; /* and 0, or the block does not end where it should */
        p->order.at[lane] = at;
        at += count;
        p->order.end[lane] = at;
        p->lanes[lane].digest = abench__fold_words(p->lanes[lane].digest, p->order.at[lane], count);
        p->lanes[lane].words += count;
    }
    return at == end && at > words + count_words;
}

/* 1: the name ends within its words and is padded with 0. */
static int is_padded(const char name[FILE_NAME_WORDS * FILE_WORD_BYTES])
{
    const size_t bytes = FILE_NAME_WORDS * FILE_WORD_BYTES;
    size_t at = strnlen(name, bytes);

    if (at == bytes)
        return 0;
    while (at < bytes && name[at] == '\0')
        at++;
    return at == bytes;
}

/* What the block says of a phase; *words is moved behind it. 0: nothing that can be. */
static int take_phase(const uint64_t **words, const uint64_t *end, block *out)
{
    const uint64_t said = *(*words)++;

    out->begins = (uint32_t)(said >> 32);
    out->flags = (uint32_t)said;
    memset(out->name, 0, sizeof out->name);
    if (out->begins == 0)
        return out->flags == 0;
    if (out->begins != 1 || end - *words < (ptrdiff_t)FILE_NAME_WORDS)
        return 0;
    for (uint32_t word = 0; word < FILE_NAME_WORDS; word++) {
        const uint64_t bytes = abench__little(*(*words)++); /* which keep their order */
        memcpy(out->name + word * sizeof bytes, &bytes, sizeof bytes);
    }
    return is_padded(out->name);
}

static abench_status take_apart(pass *p, const uint64_t *words, block *out, abench_error *error)
{
    const uint64_t count = words[0] >> 32, *end = words + count - 1, *at = words + 2;

    out->offset = p->offset;
    if (!take_phase(&at, end, out))
        return abench__damaged(error, p->offset, "the block's phase is malformed");
    if (!take_counts(p, at, end))
        return abench__damaged(error, p->offset,
                               "the block's lanes are empty, or longer or shorter than it");
    abench__order_cut(&p->order);
    p->offset += count * FILE_WORD_BYTES;
    p->from += (uint32_t)count;
    p->blocks++;
    return ABENCH_OK;
}

/* ---- a pass: operations ---------------------------------------------------------------------- */

static abench_status call_builder(abench_tape_builder *b, const block *from,
                                  const abench__ordered *next)
{
    const abench__op *op = &next->op;
    const uint32_t lane = next->lane;
    const uint32_t slot = op->slot | (op->shared ? ABENCH_SLOT_SHARED : 0);

    switch (op->kind) {
    case ABENCH_OP_MALLOC:
        return abench_tape_builder_malloc(b, lane, slot, op->size);
    case ABENCH_OP_CALLOC:
        return abench_tape_builder_calloc(b, lane, slot, op->size);
    case ABENCH_OP_ALIGNED_ALLOC:
        return abench_tape_builder_aligned(b, lane, slot, (uint64_t)1 << op->alignment_log2,
                                           op->size);
    case ABENCH_OP_REALLOC:
        return abench_tape_builder_realloc(b, lane, slot, op->size);
    case ABENCH_OP_FREE:
        return abench_tape_builder_free(b, lane, slot);
    case ABENCH_OP_FREE_SIZED:
        return abench_tape_builder_free_sized(b, lane, slot);
    case ABENCH_OP_TOUCH:
        return abench_tape_builder_touch(b, lane, slot);
    case ABENCH_OP_PHASE:
        return abench_tape_builder_phase(b, from->name, from->flags);
    case ABENCH_OP_BARRIER:
        return abench_tape_builder_barrier(b);
    default: /* a pause */
        return op->shared ? abench_tape_builder_pace(b, lane, (uint32_t)op->size)
                          : abench_tape_builder_pause(b, lane, (uint32_t)op->size);
    }
}

/* The words that the builder appended last to a lane. */
static const uint64_t *last_words(const abench_tape_builder *b, uint32_t lane, uint32_t count)
{
    const abench__vector *words = &b->tape->lanes[lane].words;

    return b->merged != NULL ? b->merged->words + b->merged->words_count - count
                             : (const uint64_t *)words->data + words->count - count;
}

static abench_status unlike(const abench__ordered *next, abench_error *error)
{
    return abench__fail(error, ABENCH_ERROR_TAPE, "lane %u: %016llx is not what %s is here",
                        next->lane, (unsigned long long)next->words[0],
                        abench_op_name(next->op.kind));
}

/* Hands one operation over. What the builder works out itself - generations, sizes, flags - must
 * be in the file's words too: the digest is over them. */
static abench_status hand_over(pass *p, abench_tape_builder *b, block *from, int is_last,
                               const abench__ordered *next, abench_error *error)
{
    const int group = next->op.kind == ABENCH_OP_PHASE || next->op.kind == ABENCH_OP_BARRIER;
    const uint32_t lanes = p->order.lanes, times = group ? lanes : 1;
    const uint64_t before = b->tape->summary.words;
    abench_status status;

    if (p->lanes[next->lane].ended)
        return unlike(next, error);
    if (next->op.kind == ABENCH_OP_END) { /* which the builder appends by itself */
        p->lanes[next->lane].ended = 1;
        return is_last && next->words[0] == (uint64_t)ABENCH_OP_END << WORD_KIND_SHIFT
                   ? ABENCH_OK
                   : unlike(next, error);
    }
    if (group && next->lane > 0)
        return ABENCH_OK; /* the same word as lane 0's: it came for all */
    if (next->op.kind == ABENCH_OP_PHASE && from->begins-- != 1) /* a name is for one phase */
        return unlike(next, error);
    status = call_builder(b, from, next);
    if (status != ABENCH_OK)
        return abench__fail(error, status == ABENCH_ERROR_MEMORY ? status : ABENCH_ERROR_TAPE, "%s",
                            b->error.message);
    if (b->tape->summary.words - before != (uint64_t)next->count * times ||
        memcmp(last_words(b, group ? lanes - 1 : next->lane, next->count), next->words,
               next->count * sizeof *next->words) != 0)
        return unlike(next, error);
    return ABENCH_OK;
}

static abench_status hand_over_all(pass *p, abench_tape_builder *b, block *from, int is_last,
                                   abench_error *error)
{
    abench_error inner = ABENCH_ERROR_INIT;
    abench__ordered next;
    abench_status status;

    while ((status = abench__order_next(&p->order, &next, &inner)) == ABENCH_OK) {
        status = hand_over(p, b, from, is_last, &next, &inner);
        if (status != ABENCH_OK)
            break;
    }
    if (status == ABENCH_ERROR_NOT_FOUND)
        return from->begins == 0
                   ? ABENCH_OK
                   : abench__damaged(error, from->offset, "the block's phase does not begin in it");
    abench__fail(error, status, "the block at byte %llu: %s", (unsigned long long)from->offset,
                 inner.message);
    if (b->error.status != ABENCH_OK) /* whose error is the one that is told */
        abench__fail(&b->error, status, "the block at byte %llu: %s",
                     (unsigned long long)from->offset, inner.message);
    return status;
}

/* ---- a pass: the end ------------------------------------------------------------------------- */

/* What the builder has counted, with the ends that it is about to append, against the trailer. */
static int has_totals(const uint64_t *t, const abench_tape_builder *b)
{
    const abench_tape_summary *m = &b->tape->summary;
    const uint64_t minimum = m->size_minimum == UINT64_MAX ? 0 : m->size_minimum;
    int same = t[TRAILER_PHASES] == m->phases && t[TRAILER_WORDS] == m->words + m->lanes &&
               t[TRAILER_OPERATIONS] == m->operations + m->lanes &&
               t[TRAILER_OPERATIONS + ABENCH_OP_END] == m->lanes &&
               t[TRAILER_REQUESTED] == m->bytes_requested && t[TRAILER_SIZE_MINIMUM] == minimum &&
               t[TRAILER_SIZE_MAXIMUM] == m->size_maximum &&
               t[TRAILER_LIVE_BYTES_END] == b->live_bytes &&
               t[TRAILER_LIVE_BLOCKS_END] == b->live_blocks &&
               t[TRAILER_CROSS_LANE_FREES] == m->cross_lane_frees &&
               t[TRAILER_READ_BACK] == b->tape->checksum;

    for (uint32_t kind = 1; kind < ABENCH_OP_END; kind++)
        same &= t[TRAILER_OPERATIONS + kind] == m->by_kind[kind];
    return same;
}

static uint64_t digest_of(const pass *p)
{
    uint64_t digest = abench__digest_begin(p->order.lanes);

    for (uint32_t lane = 0; lane < p->order.lanes; lane++)
        digest = abench__fold(digest, abench__fold(p->lanes[lane].digest, p->lanes[lane].words));
    return digest;
}

static abench_status check_end(const abench__opened *s, const pass *p, const abench_tape_builder *b,
                               abench_error *error)
{
    const uint64_t trailer = s->bytes - FILE_TRAILER_BYTES;
    int ended = 1;

    for (uint32_t lane = 0; lane < p->order.lanes; lane++)
        ended &= p->lanes[lane].ended;
    if (!ended)
        return abench__damaged(error, p->offset,
                               "the tape stops here without an end of every lane");
    if (p->offset != trailer)
        return abench__damaged(error, p->offset,
                               "something lies between the last block and the trailer");
    if (digest_of(p) != s->trailer[TRAILER_DIGEST])
        return abench__damaged(error, trailer,
                               "the trailer's digest is not that of the operations");
    if (!has_totals(s->trailer, b))
        return abench__damaged(error, trailer,
                               "the trailer's sums are not those of the operations");
    return ABENCH_OK;
}

static int32_t fill(const void *context, void *state, abench_tape_builder *builder,
                    abench_error *error)
{
    const abench__opened *s = context;
    pass *p = state;
    const uint64_t *words = NULL;
    block next;
    int is_last;
    abench_status status = read_block(s, p, &words, error);

    if (status == ABENCH_OK)
        status = take_apart(p, words, &next, error);
    if (status != ABENCH_OK)
        return status;
    is_last = p->blocks == s->trailer[TRAILER_BLOCKS];
    status = hand_over_all(p, builder, &next, is_last, error);
    if (status != ABENCH_OK || !is_last)
        return status;
    status = check_end(s, p, builder, error);
    return status == ABENCH_OK ? 1 : status;
}

/* ---- tapes ----------------------------------------------------------------------------------- */

static void release(const void *context)
{
    abench__opened_close(context);
}

/* Takes s over. */
static abench_status make(abench__opened *s, int streamed, abench_tape **out, abench_error *error)
{
    const abench__generator g = {
        .context = s,
        .state_bytes = pass_bytes(&s->options),
        .begin = begin,
        .fill = fill,
        .release = release,
    };
    abench_status status;

    if (streamed)
        return abench__tape_stream(&s->options, &g, out, error);
    status = abench__tape_build(&s->options, &g, out, error);
    abench__opened_close(s);
    return status;
}

abench_status abench_tape_load(const char *path, const abench_memory_hooks *hooks,
                               abench_tape **out, abench_error *error)
{
    abench__opened *s;
    abench_status status;

    *out = NULL;
    status = abench__open_file(path, hooks, &s, error);
    return status == ABENCH_OK ? make(s, 0, out, error) : status;
}

abench_status abench_tape_open(const char *path, const abench_memory_hooks *hooks,
                               abench_tape **out, abench_error *error)
{
    abench__opened *s;
    abench_status status;

    *out = NULL;
    status = abench__open_file(path, hooks, &s, error);
    return status == ABENCH_OK ? make(s, 1, out, error) : status;
}

/* What the trailer says. */
static void summarise(const abench__opened *s, abench_tape_summary *summary)
{
    const uint64_t *t = s->trailer;

    abench_tape_summary_init(summary);
    summary->version = ABENCH_TAPE_VERSION;
    summary->lanes = s->options.lanes;
    summary->touch = s->options.touch;
    summary->local_slots = s->options.local_slots;
    summary->shared_slots = s->options.shared_slots;
    summary->phases = (uint32_t)t[TRAILER_PHASES];
    summary->operations = t[TRAILER_OPERATIONS];
    memcpy(summary->by_kind + 1, t + TRAILER_OPERATIONS + 1,
           (ABENCH_OP_KINDS - 1) * sizeof *summary->by_kind);
    summary->words = t[TRAILER_WORDS];
    summary->bytes_requested = t[TRAILER_REQUESTED];
    summary->size_minimum = t[TRAILER_SIZE_MINIMUM];
    summary->size_maximum = t[TRAILER_SIZE_MAXIMUM];
    summary->live_bytes_peak = t[TRAILER_LIVE_BYTES_PEAK];
    summary->live_blocks_peak = t[TRAILER_LIVE_BLOCKS_PEAK];
    summary->live_bytes_end = t[TRAILER_LIVE_BYTES_END];
    summary->live_blocks_end = t[TRAILER_LIVE_BLOCKS_END];
    summary->cross_lane_frees = t[TRAILER_CROSS_LANE_FREES];
    summary->size_median = t[TRAILER_SIZE_MEDIAN];
    summary->lifetime_median = t[TRAILER_LIFETIME_MEDIAN];
}

abench_status abench__tape_of_file(const char *path, const abench_memory_hooks *hooks,
                                   abench_tape_summary *summary, uint64_t *digest,
                                   abench_tape **out, abench_error *error)
{
    abench__opened *s;
    abench_status status;

    *out = NULL;
    status = abench__open_file(path, hooks, &s, error);
    if (status != ABENCH_OK)
        return status;
    summarise(s, summary);
    *digest = s->trailer[TRAILER_DIGEST];
    status = make(s, s->bytes > IN_MEMORY_MOST, out, error);
    if (status == ABENCH_OK)
        summary->memory_bytes = (*out)->streamed ? (*out)->bytes + abench__stream_bytes(*out)
                                                 : (*out)->summary.memory_bytes;
    return status;
}
