/* file.c - writing a tape to a file; load.c reads it. */
#include "tape/file.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "base/arena.h"
#include "base/hash.h"
#include "base/text.h"
#include "tape/source.h"
#include "tape/tape.h"
#include "tape/word.h"

#define BUFFER_WORDS (16u * FILE_BLOCK_WORDS_MOST)

typedef struct writer {
    int32_t fd;
    uint32_t used;     /* words in the buffer */
    uint64_t flushed;  /* words written */
    uint64_t checksum; /* of the part that is being put together */
    uint64_t blocks;
    uint64_t buffer[BUFFER_WORDS];
} writer;

static void put(writer *w, uint64_t word)
{
    w->checksum = abench__fold(w->checksum, word);
    w->buffer[w->used++] = abench__little(word);
}

static uint64_t put_checksum(writer *w)
{
    const uint64_t checksum = w->checksum;

    w->buffer[w->used++] = abench__little(checksum);
    w->checksum = 0;
    return checksum;
}

static abench_status flush(writer *w, abench_error *error)
{
    const char *at = (const char *)w->buffer;
    size_t left = (size_t)w->used * FILE_WORD_BYTES;

    while (left > 0) {
        const ssize_t written = write(w->fd, at, left);
        if (written < 0 && errno == EINTR)
            continue;
        if (written <= 0) /* 0: nothing that a file does */
            return abench__fail_errno(
                error, written < 0 ? errno : EIO, "the tape cannot be written behind byte %llu",
                (unsigned long long)(w->flushed * FILE_WORD_BYTES +
                                     (uint64_t)(at - (const char *)w->buffer)));
        at += written;
        left -= (size_t)written;
    }
    w->flushed += w->used;
    w->used = 0;
    return ABENCH_OK;
}

/* ---- the parts ------------------------------------------------------------------------------- */

static uint64_t put_header(writer *w, const abench_tape_summary *s)
{
    put(w, FILE_MAGIC);
    put(w, FILE_FORMAT | (uint64_t)ABENCH_TAPE_VERSION << 32);
    put(w, s->lanes | (uint64_t)s->touch << 32);
    put(w, s->local_slots | (uint64_t)s->shared_slots << 32);
    while (w->used < FILE_HEADER_WORDS - 1)
        put(w, 0);
    return put_checksum(w);
}

static void put_phase(writer *w, const abench_phase *phase)
{
    uint64_t name[FILE_NAME_WORDS];

    put(w, phase->flags | (uint64_t)1 << 32);
    memcpy(name, phase->name, sizeof name);
    for (uint32_t at = 0; at < FILE_NAME_WORDS; at++)
        put(w, abench__little(name[at])); /* bytes keep their order */
}

_Static_assert(sizeof((abench_phase *)0)->name == FILE_NAME_WORDS * sizeof(uint64_t),
               "a name fits");

/* One cut: at has a pointer to each lane's words, and is moved to their end. */
static abench_status put_block(writer *w, const abench__chunk *chunk, const uint32_t *ends,
                               uint32_t lanes, const uint64_t **at, abench_error *error)
{
    const int begins =
        at[0] < chunk->words[0] + ends[0] && abench__word_kind(*at[0]) == ABENCH_OP_PHASE;
    const uint32_t around =
        3 + (begins ? FILE_NAME_WORDS : 0) + abench__file_count_words(lanes) + 1;
    uint64_t words = 0, counts = 0;

    for (uint32_t lane = 0; lane < lanes; lane++)
        words += (uint64_t)(chunk->words[lane] + ends[lane] - at[lane]);
    if (words > FILE_CUT_WORDS_MOST)
        return abench__fail(error, ABENCH_ERROR_LIMIT, "a cut of %llu words",
                            (unsigned long long)words);
    put(w, FILE_BLOCK_TAG | (words + around) << 32);
    put(w, w->blocks++);
    if (begins)
        put_phase(w, chunk->info);
    else
        put(w, 0);
    for (uint32_t lane = 0; lane < lanes; lane++) {
        counts |= (uint64_t)(chunk->words[lane] + ends[lane] - at[lane]) << lane % 4 * 16;
        if (lane % 4 == 3 || lane + 1 == lanes) {
            put(w, counts);
            counts = 0;
        }
    }
    for (uint32_t lane = 0; lane < lanes; lane++)
        while (at[lane] < chunk->words[lane] + ends[lane])
            put(w, *at[lane]++);
    put_checksum(w);
    return ABENCH_OK;
}

static void put_trailer(writer *w, const abench__reader *reader, uint64_t header)
{
    const abench_tape_summary *s = abench__reader_summary(reader);
    const uint64_t bytes = (w->flushed + w->used + FILE_TRAILER_WORDS) * FILE_WORD_BYTES;

    put(w, FILE_TRAILER_TAG);
    put(w, w->blocks);
    put(w, s->phases);
    put(w, s->words);
    put(w, s->operations);
    for (uint32_t kind = 1; kind < ABENCH_OP_KINDS; kind++)
        put(w, s->by_kind[kind]);
    put(w, s->bytes_requested);
    put(w, s->size_minimum);
    put(w, s->size_maximum);
    put(w, s->live_bytes_peak);
    put(w, s->live_blocks_peak);
    put(w, s->live_bytes_end);
    put(w, s->live_blocks_end);
    put(w, s->cross_lane_frees);
    put(w, s->size_median);
    put(w, s->lifetime_median);
    put(w, abench__reader_checksum(reader));
    put(w, abench__reader_digest(reader));
    put(w, header);
    put(w, bytes);
    put(w, 0);
    put_checksum(w);
}

/* ---- the whole ------------------------------------------------------------------------------- */

static abench_status put_chunk(writer *w, const abench__chunk *chunk, uint32_t lanes,
                               const uint64_t **at, abench_error *error)
{
    abench_status status = ABENCH_OK;

    for (uint32_t lane = 0; lane < lanes; lane++)
        at[lane] = chunk->starts[lane];
    for (uint64_t cut = 0; cut < chunk->cuts && status == ABENCH_OK; cut++) {
        if (BUFFER_WORDS - w->used < FILE_BLOCK_WORDS_MOST + FILE_TRAILER_WORDS)
            status = flush(w, error);
        if (status == ABENCH_OK)
            status = put_block(w, chunk, chunk->cut_ends + cut * lanes, lanes, at, error);
    }
    return status;
}

/* A file with more would be refused by its reader. */
static abench_status check_slots(const abench_tape_summary *s, abench_error *error)
{
    const uint64_t slots = abench__file_slots(s->lanes, s->local_slots, s->shared_slots);
    const uint64_t most = abench__file_slots_most(s->operations);

    return slots <= most
               ? ABENCH_OK
               : abench__fail(
                     error, ABENCH_ERROR_LIMIT,
                     "the tape has %llu slots for %llu operations: a file of these may have "
                     "%llu; make the tape with the slots that it uses",
                     (unsigned long long)slots, (unsigned long long)s->operations,
                     (unsigned long long)most);
}

static abench_status save(writer *w, abench__reader *reader, uint32_t lanes, const uint64_t **at,
                          abench_error *error)
{
    const uint64_t header = put_header(w, abench__reader_summary(reader));
    abench__chunk chunk = {0};
    abench_status status = ABENCH_OK;

    while (status == ABENCH_OK && !chunk.ends_tape) {
        status = abench__reader_next(reader, &chunk, error);
        if (status == ABENCH_OK)
            status = put_chunk(w, &chunk, lanes, at, error);
    }
    if (status == ABENCH_OK)
        status = check_slots(abench__reader_summary(reader), error);
    if (status != ABENCH_OK)
        return status;
    put_trailer(w, reader, header);
    return flush(w, error);
}

abench_status abench_tape_save(const abench_tape *tape, int32_t fd, abench_error *error)
{
    const uint32_t lanes = tape->summary.lanes;
    const uint64_t bytes = sizeof(writer) + lanes * sizeof(uint64_t *);
    writer *w = abench__map(&tape->hooks, bytes, 0);
    abench__reader *reader = NULL;
    abench_status status;

    if (w == NULL)
        return abench__fail(error, ABENCH_ERROR_MEMORY, "no memory to write the tape");
    w->fd = fd;
    status = abench__reader_create(tape, &tape->hooks, 1, &reader, error);
    if (status == ABENCH_OK)
        status = save(w, reader, lanes, (const uint64_t **)(w + 1), error);
    abench__reader_destroy(reader);
    abench__unmap(&tape->hooks, w, bytes);
    return status;
}
