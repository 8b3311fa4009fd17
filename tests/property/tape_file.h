/*
 * tape_file.h - what tests of tapes in files share: files of a folder of their own, their words,
 * written from the text of src/tape/file.h, and checksums that fit what was changed in them.
 *
 * Included after cmocka.h.
 */
#ifndef TESTS_PROPERTY_TAPE_FILE_H
#define TESTS_PROPERTY_TAPE_FILE_H

#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <allocbench/tape.h>

#include "support.h"

#define TEST_HEADER  8u
#define TEST_TRAILER 32u

/* Of a test at a time; gone at its end. */
static char folder[64];
static char path[96];

static inline int make_folder(void **state)
{
    (void)state;
    snprintf(folder, sizeof folder, "/tmp/allocbench-tape.XXXXXX");
    if (mkdtemp(folder) == NULL)
        return 1;
    snprintf(path, sizeof path, "%s/a.tape", folder);
    return 0;
}

static inline int remove_folder(void **state)
{
    (void)state;
    unlink(path);
    return rmdir(folder);
}

/* ---- bytes ----------------------------------------------------------------------------------- */

typedef struct file_bytes {
    size_t size;
    union {
        unsigned char bytes[(size_t)4 << 20];
        uint64_t words[(size_t)1 << 19];
    } of;
} file_bytes;

/* A new file each time: some file systems wait for the disk when one is cut to nothing and written
 * again. */
static inline void write_file(const char *where, const void *bytes, size_t size)
{
    int fd;

    unlink(where);
    fd = open(where, O_WRONLY | O_CREAT | O_EXCL, 0600);
    assert_true(fd >= 0);
    assert_int_equal(write(fd, bytes, size), size);
    assert_int_equal(close(fd), 0);
}

static inline void read_file(const char *where, file_bytes *file)
{
    const int fd = open(where, O_RDONLY);

    assert_true(fd >= 0);
    file->size = (size_t)read(fd, file->of.bytes, sizeof file->of.bytes);
    assert_true(file->size < sizeof file->of.bytes);
    assert_int_equal(close(fd), 0);
}

static inline void save_tape(const abench_tape *tape, const char *where)
{
    const int fd = open(where, O_WRONLY | O_CREAT | O_TRUNC, 0600);
    abench_error error = ABENCH_ERROR_INIT;

    assert_true(fd >= 0);
    if (abench_tape_save(tape, fd, &error) != ABENCH_OK)
        fail_msg("%s", error.message);
    assert_int_equal(close(fd), 0);
}

/* ---- parts ----------------------------------------------------------------------------------- */

static inline uint64_t *trailer_of(file_bytes *file)
{
    return file->of.words + file->size / 8 - TEST_TRAILER;
}

static inline size_t block_length(const uint64_t *block)
{
    return (size_t)(block[0] >> 32);
}

static inline int is_block(const uint64_t *part)
{
    return (uint32_t)part[0] == 0x00545543u;
}

static inline uint64_t *block_at(file_bytes *file, size_t index)
{
    uint64_t *block = file->of.words + TEST_HEADER;

    while (index-- > 0)
        block += block_length(block);
    assert_true(is_block(block));
    return block;
}

static inline uint32_t lanes_of(const file_bytes *file)
{
    return (uint32_t)file->of.words[2];
}

/* The words of a lane in a block, and how many. */
static inline uint64_t *lane_words(const file_bytes *file, uint64_t *block, uint32_t lane,
                                   size_t *count)
{
    const uint32_t lanes = lanes_of(file);
    const uint64_t *counts = block + 3 + (block[2] >> 32 != 0 ? 4 : 0);
    uint64_t *words = block + (counts - block) + (lanes + 3) / 4;

    for (uint32_t before = 0; before < lane; before++)
        words += (counts[before / 4] >> before % 4 * 16) & 0xffff;
    *count = (size_t)((counts[lane / 4] >> lane % 4 * 16) & 0xffff);
    return words;
}

/* Makes room for count words of 0 before at. */
static inline void insert_words(file_bytes *file, uint64_t *at, size_t count)
{
    const size_t before = (size_t)(at - file->of.words) * 8;

    assert_true(file->size + count * 8 <= sizeof file->of.bytes);
    memmove(at + count, at, file->size - before);
    memset(at, 0, count * 8);
    file->size += count * 8;
}

/* ---- checksums ------------------------------------------------------------------------------- */

static inline void seal(uint64_t *part, size_t count)
{
    uint64_t checksum = 0;

    for (size_t at = 0; at + 1 < count; at++)
        checksum = spec_fold(checksum, part[at]);
    part[count - 1] = checksum;
}

/* Makes every checksum fit again, as far as blocks can be told apart, and with digest also the
 * trailer's work digest; as one would who forges a file. */
static inline void seal_all(file_bytes *file, int digest)
{
    uint64_t *words = file->of.words, *trailer = trailer_of(file);
    uint64_t lane_digests[16], lane_counts[16] = {0}, whole;
    const uint32_t lanes = lanes_of(file);
    uint64_t *block;

    seal(words, TEST_HEADER);
    for (uint32_t lane = 0; lane < 16; lane++)
        lane_digests[lane] = lane;
    for (block = words + TEST_HEADER; is_block(block) && block_length(block) > 4 &&
                                      block_length(block) <= (size_t)(trailer - block);
         block += block_length(block)) {
        seal(block, block_length(block));
        for (uint32_t lane = 0; lane < lanes && lanes <= 16; lane++) {
            size_t count;
            const uint64_t *at = lane_words(file, block, lane, &count);
            for (; count > 0 && at < trailer; count--, lane_counts[lane]++)
                lane_digests[lane] = spec_fold(lane_digests[lane], *at++);
        }
    }
    whole = spec_fold(1, lanes);
    for (uint32_t lane = 0; lane < lanes && lanes <= 16; lane++)
        whole = spec_fold(whole, spec_fold(lane_digests[lane], lane_counts[lane]));
    if (digest && lanes <= 16)
        trailer[27] = whole;
    trailer[28] = words[7];
    trailer[29] = file->size;
    seal(trailer, TEST_TRAILER);
}

#endif
