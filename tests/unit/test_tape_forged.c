/* What is no tape, is damaged, or was forged: refused, and the place is told. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <allocbench/tape.h>

#include "tape/source.h"
#include "tape_files.h"

/* ---- what is no tape ------------------------------------------------------------------------- */

/* Neither way to read it takes it. */
static void assert_refused_at(const char *where, abench_status status, const char *says)
{
    abench_error error = ABENCH_ERROR_INIT;
    abench_tape *tape = NULL;
    abench__reader *reader = NULL;
    abench__chunk chunk = {0};
    abench_status got;

    assert_int_equal(abench_tape_load(where, NULL, &tape, &error), status);
    assert_null(tape);
    if (strstr(error.message, says) == NULL)
        fail_msg("'%s' does not say '%s'", error.message, says);
    assert_int_equal(error.status, status);
    assert_int_equal(abench_tape_load(where, NULL, &tape, NULL), status);

    abench_error_init(&error);
    got = abench_tape_open(where, NULL, &tape, &error);
    if (got == ABENCH_OK)
        got = abench__reader_create(tape, NULL, 0, &reader, &error);
    while (got == ABENCH_OK && !chunk.ends_tape)
        got = abench__reader_next(reader, &chunk, &error);
    assert_int_equal(got, status);
    if (strstr(error.message, says) == NULL)
        fail_msg("streamed: '%s' does not say '%s'", error.message, says);
    abench__reader_destroy(reader);
    if (tape != NULL && reader != NULL)
        assert_int_equal(abench_tape_digest(tape), 0);
    abench_tape_destroy(tape);
}

static void assert_refused(const file_bytes *bytes, abench_status status, const char *says)
{
    write_file(path, bytes->of.bytes, bytes->size);
    assert_refused_at(path, status, says);
}

static void what_is_no_file_is_refused(void **state)
{
    char where[112];
    static const char text[] = "just some text that is longer than the header of a tape; and so on "
                               "and on and on";

    (void)state;
    assert_refused_at("/nonexistent/x.tape", ABENCH_ERROR_SYSTEM, "No such file");
    assert_refused_at(folder, ABENCH_ERROR_SYNTAX, "this is a directory");
    assert_refused_at("/dev/zero", ABENCH_ERROR_SYNTAX, "this is a device");
    assert_refused_at("/dev/null", ABENCH_ERROR_SYNTAX, "this is a device");
    snprintf(where, sizeof where, "%s/fifo", folder);
    assert_int_equal(mkfifo(where, 0600), 0);
    assert_refused_at(where, ABENCH_ERROR_SYNTAX, "this is a pipe"); /* and nobody waits */
    unlink(where);
    write_file(path, "", 0);
    assert_refused_at(path, ABENCH_ERROR_SYNTAX, "the file is empty");
    write_file(path, text, 5);
    assert_refused_at(path, ABENCH_ERROR_SYNTAX, "byte 5: the file is too short for a tape");
    write_file(path, text, 20);
    assert_refused_at(path, ABENCH_ERROR_SYNTAX, "byte 0: this is no tape");
    write_file(path, text, sizeof text);
    assert_refused_at(path, ABENCH_ERROR_SYNTAX, "byte 0: this is no tape");
    if (geteuid() != 0) {
        chmod(path, 0);
        assert_refused_at(path, ABENCH_ERROR_SYSTEM, "Permission denied");
    }
}

static void a_newer_or_damaged_file_is_refused(void **state)
{
    (void)state;
    fresh(&file);
    file.of.words[1] = 2 | (uint64_t)1 << 32;
    assert_refused(&file, ABENCH_ERROR_SYNTAX, "byte 8: format 2 of a tape of version 1");
    fresh(&file);
    file.of.words[1] = 1 | (uint64_t)2 << 32;
    assert_refused(&file, ABENCH_ERROR_SYNTAX, "the file is newer, or damaged");
    fresh(&file);
    file.of.bytes[28]++;
    assert_refused(&file, ABENCH_ERROR_SYNTAX, "byte 0: the header is damaged");
    fresh(&file);
    file.of.bytes[64 + 70]++;
    assert_refused(&file, ABENCH_ERROR_SYNTAX, "byte 64: the block is damaged");
    fresh(&file);
    block_at(&file, 0)[0] = 0x00545543u | (uint64_t)4361 << 32; /* more than a block has */
    assert_refused(&file, ABENCH_ERROR_SYNTAX, "byte 64: no block begins here");
    fresh(&file);
    file.of.bytes[64]++;
    assert_refused(&file, ABENCH_ERROR_SYNTAX, "byte 64: no block begins here");
    fresh(&file);
    trailer_of(&file)[4]++;
    assert_refused(&file, ABENCH_ERROR_SYNTAX, "the trailer is damaged");
    fresh(&file);
    file.size -= 8;
    assert_refused(&file, ABENCH_ERROR_SYNTAX, "there is no trailer here: the file is cut short");
    fresh(&file);
    memset(file.of.bytes + file.size, 0, 8);
    file.size += 8;
    assert_refused(&file, ABENCH_ERROR_SYNTAX, "or something follows its end");
    file.size -= 7;
    assert_refused(&file, ABENCH_ERROR_SYNTAX, "or something follows its end");
    fresh(&file);
    memcpy(file.of.bytes + file.size, trailer_of(&file), TEST_TRAILER * 8); /* twice */
    file.size += TEST_TRAILER * 8;
    assert_refused(&file, ABENCH_ERROR_SYNTAX, "or something follows its end");
    fresh(&file);
    file.size = 63;
    assert_refused(&file, ABENCH_ERROR_SYNTAX, "byte 63: the file is too short for a tape");
    fresh(&file);
    file.size = 200;
    assert_refused(&file, ABENCH_ERROR_SYNTAX, "byte 200: the file ends here");
}

/* ---- what is forged: its checksums fit ------------------------------------------------------- */

static void assert_forged_refused(abench_status status, const char *says)
{
    seal_all(&file, 1);
    assert_refused(&file, status, says);
}

static void a_header_that_asks_for_too_much_is_refused(void **state)
{
    (void)state;
    fresh(&file);
    file.of.words[2] = 0;
    assert_forged_refused(ABENCH_ERROR_SYNTAX, "byte 16: the header says");
    file.of.words[2] = ABENCH_LANES_MAX + 1;
    assert_forged_refused(ABENCH_ERROR_SYNTAX, "byte 16: the header says");
    file.of.words[2] = 2 | (uint64_t)4 << 32;
    assert_forged_refused(ABENCH_ERROR_SYNTAX, "byte 16: the header says");
    file.of.words[2] = ABENCH_LANES_MAX;
    assert_forged_refused(ABENCH_ERROR_SYNTAX, "the trailer speaks of more than is in the file");
    fresh(&file);
    file.of.words[5] = 1;
    assert_forged_refused(ABENCH_ERROR_SYNTAX, "byte 16: the header says");
    fresh(&file);
    file.of.words[3] = (uint64_t)0x7fffffff << 32;
    assert_forged_refused(ABENCH_ERROR_LIMIT, "byte 24: 2147483647 slots for 1044 operations");
    file.of.words[3] = 0x7fffffff;
    assert_forged_refused(ABENCH_ERROR_LIMIT, "byte 24: 4294967294 slots");
    file.of.words[3] = 0x80000000;
    assert_forged_refused(ABENCH_ERROR_LIMIT, "byte 24:");
    file.of.words[3] = 3 | (uint64_t)1200000 << 32;
    trailer_of(&file)[4] = 1000000; /* operations that could not be in it */
    assert_forged_refused(ABENCH_ERROR_SYNTAX, "the trailer speaks of more than is in the file");
}

/* Where word of lane in block lies. */
static uint64_t *word_of(size_t block, uint32_t lane, size_t word)
{
    size_t count;
    uint64_t *words = lane_words(&file, block_at(&file, block), lane, &count);

    assert_true(word < count);
    return words + word;
}

static void operations_that_no_program_has_done_are_refused(void **state)
{
    (void)state;
    fresh(&file);
    *word_of(0, 0, 1) = 0x2800000200000000u; /* a free instead of the malloc */
    assert_forged_refused(
        ABENCH_ERROR_TAPE,
        "the block at byte 64: operation 3 (lane 0): free slot 2: no block lives");
    fresh(&file);
    *word_of(0, 0, 1) = 0x0800000300000064u;
    assert_forged_refused(ABENCH_ERROR_TAPE, "malloc slot 3: there is no such slot");
    fresh(&file);
    *word_of(0, 0, 2) = 0x0e00000200001388u;
    assert_forged_refused(ABENCH_ERROR_TAPE, "block at byte 64: lane 0: there is no shared slot 2");
    fresh(&file);
    *word_of(0, 0, 3) = 3; /* the generation */
    assert_forged_refused(ABENCH_ERROR_TAPE, "the lanes wait for each other");
    fresh(&file);
    *word_of(0, 0, 3) = 0x10001; /* the same in 16 bits */
    assert_forged_refused(ABENCH_ERROR_TAPE, "lane 0: 0e00000100001388 is not what malloc is here");
    fresh(&file);
    *word_of(0, 0, 1) = 0x0900000200000064u; /* empty, of 100 bytes */
    assert_forged_refused(ABENCH_ERROR_TAPE, "is not what malloc is here");
    fresh(&file);
    *word_of(0, 0, 7) = 0x3000000200000065u; /* free_sized, of 101 bytes */
    assert_forged_refused(ABENCH_ERROR_TAPE, "is not what free_sized is here");
    fresh(&file);
    *word_of(0, 0, 4) = *word_of(0, 1, 2) = 0x4800000000000001u; /* barrier 1 before barrier 0 */
    assert_forged_refused(ABENCH_ERROR_TAPE, "is not what barrier is here");
    fresh(&file);
    *word_of(0, 1, 2) = 0x4800000000000001u; /* of one lane alone */
    assert_forged_refused(ABENCH_ERROR_TAPE, "the lanes wait for each other");
    fresh(&file);
    *word_of(0, 0, 1) = 0xf800000000000000u;
    assert_forged_refused(ABENCH_ERROR_TAPE, "f800000000000000 is no operation");
    fresh(&file);
    *word_of(0, 0, 1) = 0;
    assert_forged_refused(ABENCH_ERROR_TAPE, "0000000000000000 is no operation");
    fresh(&file);
    *word_of(0, 0, 7) = 0x3400000200000064u; /* a second word that lies in the next lane */
    assert_forged_refused(ABENCH_ERROR_TAPE, "the second word of 3400000200000064 is missing");
    fresh(&file);
    *word_of(0, 0, 1) = 0x5800000000000000u; /* an end before the end */
    assert_forged_refused(ABENCH_ERROR_TAPE, "is not what end is here");
    fresh(&file);
    *word_of(2, 1, 0) = 0x5800000000000000u;
    assert_forged_refused(ABENCH_ERROR_TAPE, "is not what free is here");
    fresh(&file);
    *word_of(0, 0, 0) = *word_of(0, 1, 0) = 0x4800000000000000u; /* a barrier for the phase */
    assert_forged_refused(ABENCH_ERROR_TAPE, "is not what barrier is here");
    fresh(&file);
    *word_of(0, 1, 3) = 0x1c00000100000080u & ~((uint64_t)1 << 58); /* alignment 1, two mallocs */
    assert_forged_refused(ABENCH_ERROR_TAPE, "is no operation");
}

static void blocks_that_do_not_fit_are_refused(void **state)
{
    uint64_t *block;

    (void)state;
    fresh(&file);
    memcpy((char *)(block_at(&file, 0) + 3), "Fill", 4);
    assert_forged_refused(ABENCH_ERROR_TAPE, "a phase's name is 1 to 31 of a-z");
    fresh(&file);
    memset(block_at(&file, 0) + 3, 'a', 32);
    assert_forged_refused(ABENCH_ERROR_SYNTAX, "byte 64: the block's phase is malformed");
    fresh(&file);
    block_at(&file, 0)[2] |= 2;
    assert_forged_refused(ABENCH_ERROR_TAPE, "block at byte 64: a phase's");
    fresh(&file);
    block_at(&file, 0)[2] |= (uint64_t)2 << 32;
    assert_forged_refused(ABENCH_ERROR_SYNTAX, "the block's phase is malformed");
    fresh(&file);
    block_at(&file, 0)[1] = 1;
    assert_forged_refused(ABENCH_ERROR_SYNTAX, "byte 64: the blocks are not in their order");
    fresh(&file);
    block_at(&file, 0)[7]++;
    assert_forged_refused(ABENCH_ERROR_SYNTAX, "byte 64: the block's lanes are empty, or longer");
    fresh(&file);
    block_at(&file, 0)[7]--;
    assert_forged_refused(ABENCH_ERROR_SYNTAX, "byte 64: the block's lanes are empty, or longer");
    fresh(&file);
    block_at(&file, 0)[7] |= (uint64_t)1 << 32;
    assert_forged_refused(ABENCH_ERROR_SYNTAX, "byte 64: the block's lanes are empty, or longer");
    fresh(&file);
    block = block_at(&file, 2);
    block[0] += (uint64_t)1 << 32; /* into the trailer */
    assert_forged_refused(ABENCH_ERROR_SYNTAX, "a block begins here that does not end before");
    fresh(&file);
    insert_words(&file, trailer_of(&file), 1);
    assert_forged_refused(ABENCH_ERROR_SYNTAX, "something lies between the last block and");
    fresh(&file);
    block = block_at(&file, 1);
    insert_words(&file, block, 5); /* a block of nothing */
    block[0] = 0x00545543u | (uint64_t)5 << 32;
    block[1] = 1;
    block[5 + 1] = 2;
    block_at(&file, 3)[1] = 3;
    trailer_of(&file)[1] = 4;
    assert_forged_refused(ABENCH_ERROR_SYNTAX, "the block's lanes are empty, or longer");
    fresh(&file);
    block = block_at(&file, 2);
    insert_words(&file, block + 3, 4); /* a name, and no phase */
    block[0] += (uint64_t)4 << 32;
    block[2] = (uint64_t)1 << 32;
    memcpy((char *)(block + 3), "ghost", 5);
    assert_forged_refused(ABENCH_ERROR_SYNTAX, "the block's phase does not begin in it");
    fresh(&file);
    trailer_of(&file)[1] = 2;
    assert_forged_refused(ABENCH_ERROR_SYNTAX, "the tape stops here without an end of every lane");
    fresh(&file);
    trailer_of(&file)[1] = 4;
    assert_forged_refused(ABENCH_ERROR_TAPE, "is not what end is here");
}

/* An operation that needs one word and is written with two: the first of them is the second word of
 * the operation before, so that the last two words that the builder made are those of the file. */
static void an_operation_of_too_many_words_is_refused(void **state)
{
    abench_tape_builder *b = make_builder(1, 2, 0);
    abench_tape *tape;
    uint64_t *block;

    (void)state;
    abench_tape_builder_aligned(b, 0, 1, 4096, 8192);
    abench_tape_builder_malloc(b, 0, 0, 0);
    tape = finish(b);
    save_tape(tape, path);
    abench_tape_destroy(tape);
    read_file(path, &file);
    block = block_at(&file, 0);
    assert_int_equal(*word_of(0, 0, 2), 0x0c00000000000000u);
    assert_int_equal(*word_of(0, 0, 3), 0x0900000000000000u);
    insert_words(&file, word_of(0, 0, 3), 1);
    *word_of(0, 0, 3) = 0x0c00000000000000u;
    block[0] += (uint64_t)1 << 32;
    block[7]++;
    assert_forged_refused(ABENCH_ERROR_TAPE, "lane 0: 0c00000000000000 is not what malloc is here");
}

static void a_trailer_that_lies_is_refused(void **state)
{
    static const uint32_t compared[] = {2,  3,  4,  5,  6,  7,  8,  9,  10, 11, 12,
                                        13, 14, 15, 16, 17, 18, 21, 22, 23, 26};

    (void)state;
    for (size_t at = 0; at < sizeof compared / sizeof compared[0]; at++) {
        fresh(&file);
        trailer_of(&file)[compared[at]]++;
        assert_forged_refused(ABENCH_ERROR_SYNTAX, "the trailer's sums are not those");
    }
    fresh(&file);
    trailer_of(&file)[27]++;
    seal(trailer_of(&file), TEST_TRAILER);
    assert_refused(&file, ABENCH_ERROR_SYNTAX, "the trailer's digest is not that");
    fresh(&file);
    trailer_of(&file)[28]++;
    seal(trailer_of(&file), TEST_TRAILER);
    assert_refused(&file, ABENCH_ERROR_SYNTAX, "the trailer belongs to another header");
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, make_folder, remove_folder)
    const struct CMUnitTest tests[] = {
        TEST(what_is_no_file_is_refused),
        TEST(a_newer_or_damaged_file_is_refused),
        TEST(a_header_that_asks_for_too_much_is_refused),
        TEST(operations_that_no_program_has_done_are_refused),
        TEST(blocks_that_do_not_fit_are_refused),
        TEST(an_operation_of_too_many_words_is_refused),
        TEST(a_trailer_that_lies_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
