/*
 * generate.c - tapes that a generator makes, in memory or streamed, and what can be asked about
 * any.
 */
#include "base/arena.h"
#include "base/options.h"
#include "base/text.h"
#include "tape/builder.h"
#include "tape/source.h"
#include "tape/tape.h"

#define PHASE_FIRST_RELEASE   64u
#define SUMMARY_FIRST_RELEASE 232u

_Static_assert(sizeof(abench_tape_summary) == SUMMARY_FIRST_RELEASE, "first release");
_Static_assert(sizeof(abench_phase) == PHASE_FIRST_RELEASE, "first release");

static abench_status fill_all(const abench__generator *g, void *state, abench_tape_builder *b,
                              abench_tape **out, abench_error *error)
{
    abench_status status = g->begin(g->context, state, error);
    int32_t said = 0;

    if (status != ABENCH_OK)
        return status;
    while (status == ABENCH_OK && said == 0)
        status = abench__fill_once(g, state, b, &said, error);
    if (g->end != NULL)
        g->end(g->context, state);
    if (status != ABENCH_OK)
        return status;
    status = abench__builder_finish(b, out);
    if (status != ABENCH_OK && error != NULL)
        *error = b->error;
    return status;
}

abench_status abench__tape_build(const abench_tape_options *options,
                                 const abench__generator *generator, abench_tape **out,
                                 abench_error *error)
{
    const uint64_t bytes = generator->state_bytes == 0 ? 1 : generator->state_bytes;
    abench_memory_hooks hooks;
    abench_tape_builder *builder = NULL;
    void *state = NULL;
    abench_status status = abench__hooks_copy(options->hooks, &hooks);

    *out = NULL;
    if (status == ABENCH_OK)
        status = abench_tape_builder_create(options, &builder);
    if (status == ABENCH_OK && (state = abench__map(&hooks, bytes, 0)) == NULL)
        status = ABENCH_ERROR_MEMORY;
    if (status == ABENCH_OK)
        status = fill_all(generator, state, builder, out, error);
    else
        abench__fail(error, status, "%s", abench_status_message(status));
    if (state != NULL)
        abench__unmap(&hooks, state, bytes);
    abench_tape_builder_destroy(builder);
    return status;
}

abench_status abench__tape_stream(const abench_tape_options *options,
                                  const abench__generator *generator, abench_tape **out,
                                  abench_error *error)
{
    abench_tape_options o = *options;
    abench_memory_hooks hooks;
    abench_status status = abench__hooks_copy(options->hooks, &hooks);

    *out = NULL;
    o.lanes = o.lanes == 0 ? 1 : o.lanes;
    if (status == ABENCH_OK)
        status = abench__builder_check(&o);
    if (status == ABENCH_OK)
        status = abench__tape_create(&hooks, o.lanes, out);
    if (status != ABENCH_OK) {
        if (generator->release != NULL)
            generator->release(generator->context);
        return abench__fail(error, status, "%s", abench_status_message(status));
    }
    (*out)->streamed = 1;
    (*out)->options = o;
    (*out)->options.hooks = NULL; /* each reader has its own */
    (*out)->generator = *generator;
    (*out)->summary.version = ABENCH_TAPE_VERSION;
    (*out)->summary.touch = o.touch;
    (*out)->summary.local_slots = o.local_slots;
    (*out)->summary.shared_slots = o.shared_slots;
    return ABENCH_OK;
}

/* ---- what is asked about a tape -------------------------------------------------------------- */

/* Goes through a streamed tape up to the end, or to the end of a phase. */
static abench_status scan(const abench_tape *tape, uint32_t statistics, uint32_t phase,
                          abench__reader **out)
{
    abench__chunk chunk = {0};
    abench_status status = abench__reader_create(tape, &tape->hooks, statistics, out, NULL);

    while (status == ABENCH_OK && !chunk.ends_tape && !(chunk.ends_phase && chunk.phase == phase))
        status = abench__reader_next(*out, &chunk, NULL);
    if (status == ABENCH_OK && phase != UINT32_MAX && chunk.phase != phase)
        status = ABENCH_ERROR_NOT_FOUND;
    return status;
}

uint64_t abench_tape_digest(const abench_tape *tape)
{
    abench__reader *reader = NULL;
    uint64_t digest = tape->digest;

    if (tape->streamed && scan(tape, 0, UINT32_MAX, &reader) == ABENCH_OK)
        digest = abench__reader_digest(reader);
    abench__reader_destroy(reader);
    return digest;
}

abench_status abench_tape_get_summary(const abench_tape *tape, abench_tape_summary *summary)
{
    abench_tape_summary s = tape->summary;
    abench__reader *reader = NULL;
    abench_status status = ABENCH_OK;

    if (tape->streamed) {
        status = scan(tape, 1, UINT32_MAX, &reader);
        if (status == ABENCH_OK) {
            s = *abench__reader_summary(reader);
            s.memory_bytes = tape->bytes + abench__reader_bytes(reader);
        }
        abench__reader_destroy(reader);
    }
    return status != ABENCH_OK
               ? status
               : abench__options_write(summary, &s, sizeof s, SUMMARY_FIRST_RELEASE);
}

abench_status abench_tape_phase_at(const abench_tape *tape, uint32_t index, abench_phase *out)
{
    abench_phase info = ABENCH_PHASE_INIT;
    abench__reader *reader = NULL;
    abench_status status = ABENCH_OK;

    if (tape->streamed) {
        status = index < ABENCH_PHASES_MAX ? scan(tape, 0, index, &reader) : ABENCH_ERROR_NOT_FOUND;
        if (status == ABENCH_OK)
            info = *abench__reader_phase(reader, index);
        abench__reader_destroy(reader);
    } else if (index < tape->summary.phases) {
        info = tape->phases[index].info;
    } else {
        status = ABENCH_ERROR_NOT_FOUND;
    }
    return status != ABENCH_OK
               ? status
               : abench__options_write(out, &info, sizeof info, PHASE_FIRST_RELEASE);
}

abench_status abench_tape_each_phase(const abench_tape *tape,
                                     int32_t (*phase)(const abench_phase *info, void *user),
                                     void *user)
{
    abench__reader *reader = NULL;
    abench__chunk chunk = {0};
    abench_status status = abench__reader_create(tape, &tape->hooks, 0, &reader, NULL);

    while (status == ABENCH_OK && !chunk.ends_tape) {
        status = abench__reader_next(reader, &chunk, NULL);
        if (status == ABENCH_OK && chunk.ends_phase && phase(chunk.info, user) != 0)
            status = ABENCH_ERROR_STOPPED;
    }
    abench__reader_destroy(reader);
    return status;
}
