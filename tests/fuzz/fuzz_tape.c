/*
 * fuzz_tape.c - tapes in files. A mutation breaks a checksum first, so that the input is tried as
 * it is and then with checksums and digest made to fit, which brings it to the builder. What is
 * read is saved as the same bytes, and a stream of the file says the same as a tape in memory.
 */
#include "fuzz.h"

#include <allocbench/tape.h>

#include "base/hash.h"
#include "tape/file.h"

#define LANES_MOST 16u

/* ---- a file as a forger would leave it ------------------------------------------------------- */

static void seal(uint64_t *part, size_t count)
{
    part[count - 1] = abench__fold_words(0, part, count - 1);
}

/* Folds the words that a block has of each lane into the lanes' digests. */
static void fold_block(const uint64_t *block, size_t count, uint32_t lanes, uint64_t *digests,
                       uint64_t *words)
{
    const uint64_t *counts = block + 3 + (block[2] >> 32 != 0 ? FILE_NAME_WORDS : 0);
    const uint64_t *at = counts + abench__file_count_words(lanes), *end = block + count;

    if (at >= end)
        return;
    for (uint32_t lane = 0; lane < lanes; lane++) {
        uint64_t left = counts[lane / 4] >> lane % 4 * 16 & 0xffff;
        words[lane] += left;
        for (; left > 0 && at < end; left--)
            digests[lane] = abench__fold(digests[lane], *at++);
    }
}

/* Makes what can be worked out of the words fit them: checksums, the digest, the length. */
static void forge(uint64_t *file, size_t count)
{
    uint64_t digests[LANES_MOST], words[LANES_MOST] = {0}, digest;
    const uint32_t lanes = (uint32_t)file[2] <= LANES_MOST ? (uint32_t)file[2] : 0;
    uint64_t *trailer = file + count - FILE_TRAILER_WORDS;
    uint64_t *block = file + FILE_HEADER_WORDS;

    seal(file, FILE_HEADER_WORDS);
    for (uint32_t lane = 0; lane < lanes; lane++)
        digests[lane] = lane;
    while (block < trailer && (uint32_t)block[0] == FILE_BLOCK_TAG &&
           block[0] >> 32 >= FILE_BLOCK_WORDS_LEAST &&
           block[0] >> 32 <= (uint64_t)(trailer - block)) {
        seal(block, (size_t)(block[0] >> 32));
        fold_block(block, (size_t)(block[0] >> 32) - 1, lanes, digests, words);
        block += block[0] >> 32;
    }
    digest = abench__fold(ABENCH_TAPE_VERSION, lanes);
    for (uint32_t lane = 0; lane < lanes; lane++)
        digest = abench__fold(digest, abench__fold(digests[lane], words[lane]));
    trailer[TRAILER_DIGEST] = digest;
    trailer[TRAILER_HEADER] = file[FILE_HEADER_WORDS - 1];
    trailer[TRAILER_FILE_BYTES] = count * FILE_WORD_BYTES;
    seal(trailer, FILE_TRAILER_WORDS);
}

/* ---- what must hold of a file ---------------------------------------------------------------- */

/* The reader cannot know the order of lanes within a cut: peaks and medians are not compared. */
static void forget_order(uint64_t *trailer)
{
    trailer[TRAILER_LIVE_BYTES_PEAK] = trailer[TRAILER_LIVE_BLOCKS_PEAK] = 0;
    trailer[TRAILER_SIZE_MEDIAN] = trailer[TRAILER_LIFETIME_MEDIAN] = 0;
    trailer[FILE_TRAILER_WORDS - 1] = 0;
}

static void check_saved(const abench_tape *tape, const uint8_t *data, size_t size)
{
    const int fd = memfd_create("saved", MFD_CLOEXEC);
    uint64_t *saved = malloc(size), *read = malloc(size);
    const size_t trailer = size / FILE_WORD_BYTES - FILE_TRAILER_WORDS;

    if (fd < 0 || saved == NULL || read == NULL)
        abort();
    FUZZ_CHECK(abench_tape_save(tape, fd, NULL) == ABENCH_OK);
    FUZZ_CHECK(lseek(fd, 0, SEEK_END) == (off_t)size);
    FUZZ_CHECK(pread(fd, saved, size, 0) == (ssize_t)size);
    memcpy(read, data, size);
    forget_order(saved + trailer);
    forget_order(read + trailer);
    FUZZ_CHECK(memcmp(saved, read, size) == 0);
    free(saved);
    free(read);
    close(fd);
}

/* Goes through the tape; returns what ended it, with how many operations came. */
static abench_status go_through(const abench_tape *tape, uint64_t *operations)
{
    abench_operation operation = ABENCH_OPERATION_INIT;
    abench_tape_cursor *cursor;
    abench_status status;

    FUZZ_CHECK(abench_tape_cursor_create(tape, &cursor) == ABENCH_OK);
    *operations = 0;
    while ((status = abench_tape_next(cursor, &operation)) == ABENCH_OK) {
        FUZZ_CHECK(operation.ordinal == *operations && abench_op_name(operation.kind) != NULL);
        ++*operations;
    }
    abench_tape_cursor_destroy(cursor);
    return status;
}

/* loaded: what a load of the same file said. */
static void check_stream(const char *path, abench_status loaded, const abench_tape *tape)
{
    abench_tape *stream = NULL;
    abench_status status = abench_tape_open(path, NULL, &stream, NULL);
    uint64_t operations, same;

    if (status != ABENCH_OK) {
        FUZZ_CHECK(status == loaded && stream == NULL);
        return;
    }
    status = go_through(stream, &operations);
    if (loaded == ABENCH_OK) {
        FUZZ_CHECK(status == ABENCH_ERROR_NOT_FOUND);
        FUZZ_CHECK(go_through(tape, &same) == ABENCH_ERROR_NOT_FOUND && same == operations);
        FUZZ_CHECK(abench_tape_digest(stream) == abench_tape_digest(tape));
    } else {
        FUZZ_CHECK(status == loaded);
    }
    abench_tape_destroy(stream);
}

static void check(const uint8_t *data, size_t size)
{
    const fuzz_file file = fuzz_file_of(data, size);
    abench_error error = ABENCH_ERROR_INIT;
    abench_tape *tape = NULL;
    const abench_status status = abench_tape_load(file.path, NULL, &tape, &error);

    if (status == ABENCH_OK) {
        check_saved(tape, data, size);
    } else {
        FUZZ_CHECK(tape == NULL && error.status == status && error.message[0] != '\0');
        FUZZ_CHECK(status == ABENCH_ERROR_SYNTAX || status == ABENCH_ERROR_TAPE ||
                   status == ABENCH_ERROR_LIMIT);
    }
    check_stream(file.path, status, tape);
    abench_tape_destroy(tape);
    fuzz_file_close(&file);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const size_t count = size / FILE_WORD_BYTES;
    uint64_t *words = malloc(size + 1);

    if (words == NULL)
        abort();
    check(data, size);
    if (count >= FILE_HEADER_WORDS + FILE_BLOCK_WORDS_LEAST + FILE_TRAILER_WORDS) {
        memcpy(words, data, count * FILE_WORD_BYTES);
        forge(words, count);
        check((const uint8_t *)words, count * FILE_WORD_BYTES);
    }
    free(words);
    return 0;
}
