/* tape.c - finished tapes: digests, summaries, names; builder.c makes them, play.c plays them. */
#include "tape/tape.h"

#include <string.h>

#include "base/arena.h"
#include "base/hash.h"
#include "base/options.h"

#define VECTOR_FIRST_BYTES 65536u

void *abench__vector_push(abench__vector *vector, const abench_memory_hooks *hooks,
                          uint32_t item_bytes)
{
    if (vector->count == vector->capacity) {
        const uint64_t capacity =
            vector->capacity == 0 ? VECTOR_FIRST_BYTES / item_bytes : 2 * vector->capacity;
        void *grown = abench__regrow(hooks, vector->data, vector->capacity * item_bytes,
                                     capacity * item_bytes);
        if (grown == NULL)
            return NULL;
        vector->data = grown;
        vector->capacity = capacity;
    }
    return (char *)vector->data + vector->count++ * item_bytes;
}

void abench__vector_release(abench__vector *vector, const abench_memory_hooks *hooks,
                            uint32_t item_bytes)
{
    abench__unmap(hooks, vector->data, vector->capacity * item_bytes);
    memset(vector, 0, sizeof *vector);
}

abench_status abench__tape_create(const abench_memory_hooks *hooks, uint32_t lanes,
                                  abench_tape **out)
{
    const uint64_t bytes = sizeof(abench_tape) + lanes * sizeof(abench__lane_words);
    abench_tape *tape = abench__map(hooks, bytes, 1);

    *out = tape;
    if (tape == NULL)
        return ABENCH_ERROR_MEMORY;
    tape->hooks = *hooks;
    tape->bytes = bytes;
    abench_tape_summary_init(&tape->summary);
    tape->summary.lanes = lanes;
    return ABENCH_OK;
}

void abench_tape_destroy(abench_tape *tape)
{
    abench_memory_hooks hooks;

    if (tape == NULL)
        return;
    hooks = tape->hooks;
    if (tape->streamed && tape->generator.release != NULL)
        tape->generator.release(tape->generator.context);
    for (uint32_t lane = 0; lane < tape->summary.lanes; lane++)
        abench__vector_release(&tape->lanes[lane].words, &hooks, sizeof(uint64_t));
    abench__vector_release(&tape->cuts, &hooks, sizeof(uint32_t));
    abench__vector_release(&tape->cut_live, &hooks, sizeof(uint64_t));
    abench__unmap(&hooks, tape, tape->bytes);
}

uint64_t abench__digest_begin(uint32_t lanes)
{
    return abench__fold(ABENCH_TAPE_VERSION, lanes);
}

int32_t abench_tape_is_streamed(const abench_tape *tape)
{
    return (int32_t)tape->streamed;
}

static const char *const op_names[ABENCH_OP_KINDS] = {
    NULL,         "malloc", "calloc", "aligned_alloc", "realloc", "free",
    "free_sized", "touch",  "phase",  "barrier",       "pause",   "end",
};

const char *abench_op_name(uint32_t kind)
{
    return kind < ABENCH_OP_KINDS ? op_names[kind] : NULL;
}

const char *abench_touch_name(uint32_t touch)
{
    static const char *const names[] = {"nothing", "first byte", "a byte per page", "all"};

    return touch < sizeof names / sizeof names[0] ? names[touch] : NULL;
}

void abench_tape_options_init(abench_tape_options *options)
{
    memset(options, 0, sizeof *options);
    options->struct_size = sizeof *options;
}

void abench_tape_summary_init(abench_tape_summary *summary)
{
    memset(summary, 0, sizeof *summary);
    summary->struct_size = sizeof *summary;
}
