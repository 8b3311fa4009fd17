/*
 * file.h - tapes in files, format 1. A file is a header, a block for each cut, a trailer. All of it
 * is 64-bit words, little-endian; "31-0" are bits of a word.
 *
 * Each of these parts ends with a checksum: fold (see tape.h of the public headers) from 0 over the
 * words of the part before it.
 *
 *   header, 8 words
 *     0  89 41 42 54 0d 0a 1a 0a: what is no binary file does not survive
 *     1  31-0 format (1), 63-32 version of the tape's words (ABENCH_TAPE_VERSION)
 *     2  31-0 lanes, 63-32 touch
 *     3  31-0 local slots of a lane, 63-32 shared slots
 *     4  4-6: 0
 *     7  checksum
 *
 *   block
 *     0  31-0 "CUT" and a 0, 63-32 how many words the block has
 *     1  how many blocks were before it
 *     2  31-0 the phase's flags, 63-32 1 when a phase begins in this cut; else 0
 *     -  when a phase begins: 4 words, its name, padded with 0
 *     -  16 bits a lane: how many words of it are in this cut, lane 0 first, lowest bits first, the
 *        last word padded with 0
 *     -  the words of lane 0, of lane 1 ...
 *     -  checksum
 *
 *   trailer, 32 words
 *     0  "END" and zeroes
 *     1  blocks
 *     2  phases
 *     3  words on the tape
 *     4  operations, and 5-15 how many of each kind from malloc (1) to end (11)
 *    16  bytes requested
 *    17  smallest and 18 largest size
 *    19  live bytes and 20 live blocks at the peak
 *    21  live bytes and 22 live blocks at the end
 *    23  frees by another lane
 *    24  median of sizes, 25 of lifetimes
 *    26  what a faultless play reads back
 *    27  work digest
 *    28  the header's checksum
 *    29  bytes of the file
 *    30  0
 *    31  checksum
 *
 * A reader must not compare words 19, 20, 24 and 25 with what it works out: within a cut the order
 * of different lanes is not in the file, and medians are rounded.
 *
 * A file is bounded so that one of a few bytes cannot make its reader take much memory: it has no
 * more slots than abench__file_slots_most says.
 */
#ifndef ABENCH_TAPE_FILE_H
#define ABENCH_TAPE_FILE_H

#include <allocbench/tape.h>

#define FILE_MAGIC       0x0a1a0a0d54424189u
#define FILE_FORMAT      1u
#define FILE_BLOCK_TAG   0x00545543u
#define FILE_TRAILER_TAG 0x00444e45u

#define FILE_WORD_BYTES    8u
#define FILE_HEADER_WORDS  8u
#define FILE_TRAILER_WORDS 32u
#define FILE_NAME_WORDS    4u

/* What a cut can hold: a phase's edge and a barrier of every lane, or some less than
 * ABENCH_TAPE_CUT and a barrier, each operation with two words. */
#define FILE_CUT_WORDS_MOST (4 * ABENCH_LANES_MAX)
/* A block has at most so many words, ... */
#define FILE_BLOCK_WORDS_MOST (3 + FILE_NAME_WORDS + ABENCH_LANES_MAX / 4 + FILE_CUT_WORDS_MOST + 1)
/* ... and besides its tape words at least so many. */
#define FILE_BLOCK_WORDS_LEAST 5u

/* Where in the trailer. */
enum {
    TRAILER_BLOCKS = 1,
    TRAILER_PHASES,
    TRAILER_WORDS,
    TRAILER_OPERATIONS, /* then by kind */
    TRAILER_REQUESTED = TRAILER_OPERATIONS + ABENCH_OP_KINDS,
    TRAILER_SIZE_MINIMUM,
    TRAILER_SIZE_MAXIMUM,
    TRAILER_LIVE_BYTES_PEAK,
    TRAILER_LIVE_BLOCKS_PEAK,
    TRAILER_LIVE_BYTES_END,
    TRAILER_LIVE_BLOCKS_END,
    TRAILER_CROSS_LANE_FREES,
    TRAILER_SIZE_MEDIAN,
    TRAILER_LIFETIME_MEDIAN,
    TRAILER_READ_BACK,
    TRAILER_DIGEST,
    TRAILER_HEADER,
    TRAILER_FILE_BYTES,
    TRAILER_RESERVED,
};

/* A word as it lies in a file, and back. */
static inline uint64_t abench__little(uint64_t word)
{
#if __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
    return word;
#else
    return __builtin_bswap64(word);
#endif
}

/* Slots of all lanes and shared ones. */
static inline uint64_t abench__file_slots(uint32_t lanes, uint32_t local, uint32_t shared)
{
    return (uint64_t)lanes * local + shared;
}

/* How many of them a file with so many operations may have. */
static inline uint64_t abench__file_slots_most(uint64_t operations)
{
    return ((uint64_t)1 << 20) + 16 * operations;
}

/* Words of a block in which the counts of the lanes lie. */
static inline uint32_t abench__file_count_words(uint32_t lanes)
{
    return (lanes + 3) / 4;
}

/* A tape of a file for a player: in memory when the file is small, else streamed. *summary and
 * *digest: what the file says of itself; of a stream it is proven when it was played through. The
 * rest as of abench_tape_load. */
abench_status abench__tape_of_file(const char *path, const abench_memory_hooks *hooks,
                                   abench_tape_summary *summary, uint64_t *digest,
                                   abench_tape **out, abench_error *error);

#endif
