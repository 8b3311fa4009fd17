/*
 * tape_files.h - what the tests of tapes in files share: a tape of every kind of operation, and its
 * file. Included after cmocka.h.
 */
#ifndef TESTS_UNIT_TAPE_FILES_H
#define TESTS_UNIT_TAPE_FILES_H

#include <allocbench/tape.h>

#include "../property/tape_file.h"

#define SHARED ABENCH_SLOT_SHARED

static file_bytes file;

static inline abench_tape *finish(abench_tape_builder *builder)
{
    abench_tape *tape = NULL;

    if (abench_tape_builder_finish(builder, &tape) != ABENCH_OK)
        fail_msg("%s", abench_tape_builder_error(builder)->message);
    abench_tape_builder_destroy(builder);
    return tape;
}

static inline abench_tape_builder *make_builder(uint32_t lanes, uint32_t local, uint32_t shared)
{
    abench_tape_options options = ABENCH_TAPE_OPTIONS_INIT;
    abench_tape_builder *builder = NULL;

    options.lanes = lanes;
    options.local_slots = local;
    options.shared_slots = shared;
    options.touch = ABENCH_TOUCH_FIRST;
    assert_int_equal(abench_tape_builder_create(&options, &builder), ABENCH_OK);
    return builder;
}

/* Two lanes, two phases, every kind, three blocks in the file. */
static inline abench_tape *tape_by_hand(void)
{
    abench_tape_builder *b = make_builder(2, 3, 2);

    abench_tape_builder_phase(b, "fill", 0);
    abench_tape_builder_malloc(b, 0, 2, 100);
    abench_tape_builder_calloc(b, 1, 0, 7);
    abench_tape_builder_malloc(b, 0, SHARED | 1, 5000);
    abench_tape_builder_barrier(b);
    abench_tape_builder_aligned(b, 1, 1, 64, 128);
    abench_tape_builder_realloc(b, 1, SHARED | 1, 6000);
    abench_tape_builder_touch(b, 0, SHARED | 1);
    abench_tape_builder_free_sized(b, 0, 2);
    abench_tape_builder_phase(b, "drain", ABENCH_PHASE_TIMED);
    abench_tape_builder_pause(b, 0, 250);
    abench_tape_builder_pace(b, 1, 3);
    for (uint32_t at = 0; at < 512; at++) {
        abench_tape_builder_malloc(b, 1, 2, 0);
        abench_tape_builder_free(b, 1, 2);
    }
    abench_tape_builder_free(b, 0, SHARED | 1);
    abench_tape_builder_free(b, 1, 0);
    abench_tape_builder_free(b, 1, 1);
    return finish(b);
}

/* Its file, at path and in *into. */
static inline void fresh(file_bytes *into)
{
    abench_tape *tape = tape_by_hand();

    save_tape(tape, path);
    abench_tape_destroy(tape);
    read_file(path, into);
}

#endif
