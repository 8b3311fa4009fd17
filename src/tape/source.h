/*
 * source.h - where a player gets its operations: chunks of a tape, made while no lane runs.
 *
 * A generator appends operations to a builder. From it comes either a tape in memory
 * (abench__tape_build) or a streamed tape (abench__tape_stream), which only keeps the recipe. A
 * reader goes through either, chunk by chunk; each reader of a streamed tape has a builder and a
 * generator of its own, so that the tape itself never changes.
 */
#ifndef ABENCH_TAPE_SOURCE_H
#define ABENCH_TAPE_SOURCE_H

#include <allocbench/tape.h>

/* What makes a tape's operations, again and again the same. */
typedef struct abench__generator {
    const void *context;  /* the recipe: outlives the tape */
    uint64_t state_bytes; /* of zeroed memory for each pass */
    /* Prepares a pass; what it takes besides memory, end gives back. */
    abench_status (*begin)(const void *context, void *state, abench_error *error);
    /* Appends the next operations, at least one and at most ABENCH_FILL_MAX: 0; the last ones: 1;
     * or a negative status, in detail in *error unless it is the builder's own. */
    int32_t (*fill)(const void *context, void *state, abench_tape_builder *builder,
                    abench_error *error);
    void (*end)(const void *context, void *state); /* NULL: nothing to give back */
    /* Called once, when the tape is destroyed; NULL: the context is somebody else's. */
    void (*release)(const void *context);
} abench__generator;

#define ABENCH__CHUNK_OPERATIONS 131072u /* a stream's chunk is closed at the first fill beyond */

/* A run of whole cuts of one phase. */
typedef struct abench__chunk {
    uint32_t phase;                /* index */
    uint32_t ends_phase;           /* nothing of the phase comes behind it: info is complete then */
    uint32_t ends_tape;            /* nothing comes behind it */
    uint32_t reserved;             /* 0 */
    const abench_phase *info;      /* of the phase; lives as long as the reader */
    uint64_t cuts;                 /* may be 0, in a chunk that ends a phase */
    uint64_t first_cut;            /* how many cuts were before it */
    const uint32_t *cut_ends;      /* cut c of the chunk ends in lane l before words[l][cut_ends[c *
                                  lanes + l]] */
    const uint64_t *cut_live;      /* bytes alive behind cut c of the chunk */
    const uint64_t *const *words;  /* a lane: what its cut_ends count from */
    const uint64_t *const *starts; /* a lane: where its words of the chunk begin */
} abench__chunk;

typedef struct abench__reader abench__reader;

/* Compiles a tape in memory. options->hooks may be NULL. The generator is not kept. */
abench_status abench__tape_build(const abench_tape_options *options,
                                 const abench__generator *generator, abench_tape **out,
                                 abench_error *error);

/* A streamed tape of the same. Takes *generator over, also when it fails. */
abench_status abench__tape_stream(const abench_tape_options *options,
                                  const abench__generator *generator, abench_tape **out,
                                  abench_error *error);

/* A reader before the first chunk; all memory that it will ever need is mapped and touched.
 * statistics: 1: the summary's medians are wanted, which takes some ns an operation. hooks: as of a
 * player. */
abench_status abench__reader_create(const abench_tape *tape, const abench_memory_hooks *hooks,
                                    uint32_t statistics, abench__reader **out, abench_error *error);

/* The next chunk; the one before, and its words, are gone. Called after ends_tape it returns
 * ABENCH_ERROR_NOT_FOUND. */
abench_status abench__reader_next(abench__reader *reader, abench__chunk *out, abench_error *error);

/* One call of a generator, and the rules that it must keep. *said: 0 there is more, 1 there is not.
 * *error (may be NULL) has the builder's error, or the generator's. */
abench_status abench__fill_once(const abench__generator *generator, void *state,
                                abench_tape_builder *builder, int32_t *said, abench_error *error);

/* A phase that was read to its end. */
const abench_phase *abench__reader_phase(const abench__reader *reader, uint32_t index);

/* The summary, work digest and checksum of what was read up to now; of a whole tape when its last
 * chunk was read (of a tape in memory: always of the whole). */
const abench_tape_summary *abench__reader_summary(const abench__reader *reader);
uint64_t abench__reader_digest(const abench__reader *reader);
uint64_t abench__reader_checksum(const abench__reader *reader);

/* A stream: the digest of the words of lane in the chunks before the present one, and their count.
 * They are digested behind their chunk, as they lie there when they were played. */
uint64_t abench__reader_lane_digest(const abench__reader *reader, uint32_t lane, uint64_t *words);

/* Bytes that the reader holds; 0 for a tape in memory. */
uint64_t abench__reader_bytes(const abench__reader *reader);

/* Bytes that a reader of this tape will hold. */
uint64_t abench__stream_bytes(const abench_tape *tape);

/* accepts NULL. */
void abench__reader_destroy(abench__reader *reader);

#endif
