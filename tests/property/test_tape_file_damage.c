/*
 * Files of tapes, damaged in every place: nothing crashes, and nothing that is read has another
 * digest than the one that the file says. Damage that a checksum tells is one half; in the other
 * the checksums are made to fit again, so that it comes as far as the builder.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <allocbench/tape.h>

#include "script.h"
#include "tape_file.h"

static script one;
static file_bytes whole, damaged;

static void save_random(prng *random, uint32_t lanes, uint32_t count)
{
    abench_error error = ABENCH_ERROR_INIT;
    abench_tape *tape;

    one.stride = 1;
    one.lanes = lanes;
    one.touch = (uint32_t)prng_below(random, 4);
    one.size_limit = (uint64_t)1 << 40;
    script_random(&one, random, count, 1);
    tape = script_tape(&one, NULL, &error);
    assert_non_null(tape);
    save_tape(tape, path);
    abench_tape_destroy(tape);
    read_file(path, &whole);
}

/* 1: it was read, in memory or as a stream, and is what the file says. */
static int read_in_memory(void)
{
    abench_error error = ABENCH_ERROR_INIT;
    abench_tape *tape = NULL;
    const abench_status status = abench_tape_load(path, NULL, &tape, &error);

    if (status == ABENCH_OK) {
        assert_int_equal(abench_tape_digest(tape), trailer_of(&damaged)[27]);
        abench_tape_destroy(tape);
        return 1;
    }
    assert_null(tape);
    assert_int_equal(error.status, status);
    assert_true(error.message[0] != '\0');
    assert_true(status == ABENCH_ERROR_SYNTAX || status == ABENCH_ERROR_TAPE ||
                status == ABENCH_ERROR_LIMIT);
    return 0;
}

static int read_streamed(void)
{
    abench_tape *tape = NULL;
    abench_tape_cursor *cursor = NULL;
    abench_operation op = ABENCH_OPERATION_INIT;
    abench_status status = abench_tape_open(path, NULL, &tape, NULL);
    uint64_t digest;

    if (status != ABENCH_OK)
        return 0;
    digest = abench_tape_digest(tape);
    assert_int_equal(abench_tape_cursor_create(tape, &cursor), ABENCH_OK);
    while ((status = abench_tape_next(cursor, &op)) == ABENCH_OK)
        ;
    abench_tape_cursor_destroy(cursor);
    abench_tape_destroy(tape);
    assert_int_equal(digest != 0, status == ABENCH_ERROR_NOT_FOUND);
    if (digest != 0)
        assert_int_equal(digest, trailer_of(&damaged)[27]);
    return digest != 0;
}

static int is_read(int streamed)
{
    int in_memory;

    write_file(path, damaged.of.bytes, damaged.size);
    in_memory = read_in_memory();
    if (streamed)
        assert_int_equal(read_streamed(), in_memory);
    return in_memory;
}

static void copy_whole(void)
{
    damaged.size = whole.size;
    memcpy(damaged.of.bytes, whole.of.bytes, whole.size);
}

/* ---- the whole file or nothing --------------------------------------------------------------- */

static void any_byte_that_changes_is_noticed(void **state)
{
    prng random = {test_seed(__func__)};

    (void)state;
    save_random(&random, 2, 30);
    copy_whole();
    assert_true(is_read(1));
    for (size_t at = 0; at < whole.size; at++) {
        const unsigned char bits = (unsigned char)(1 + prng_below(&random, 255));
        damaged.of.bytes[at] ^= bits;
        if (is_read(at % 64 == 0))
            fail_msg("byte %zu of %zu ^ %u", at, whole.size, bits);
        damaged.of.bytes[at] ^= bits;
        damaged.of.bytes[at] ^= (unsigned char)(1u << at % 8);
        if (is_read(0))
            fail_msg("byte %zu of %zu, bit %zu", at, whole.size, at % 8);
        damaged.of.bytes[at] = whole.of.bytes[at];
    }
}

static void any_length_but_the_whole_is_noticed(void **state)
{
    prng random = {test_seed(__func__)};

    (void)state;
    save_random(&random, 2, 30);
    copy_whole();
    for (damaged.size = 0; damaged.size < whole.size; damaged.size++)
        if (is_read(damaged.size % 8 == 0))
            fail_msg("%zu of %zu bytes", damaged.size, whole.size);
    for (; damaged.size < whole.size + 20; damaged.size++) {
        damaged.of.bytes[damaged.size] = (unsigned char)prng_next(&random);
        damaged.size++;
        if (is_read(1))
            fail_msg("%zu bytes behind the end", damaged.size - whole.size);
        damaged.size--;
    }
}

/* Words that change places, parts that come twice or not at all. */
static void any_piece_that_moves_is_noticed(void **state)
{
    prng random = {test_seed(__func__)};

    (void)state;
    save_random(&random, 3, 7000);
    for (int round = 0; round < 150; round++) {
        const size_t words = whole.size / 8;
        const size_t count = 1 + prng_below(&random, round % 2 ? 8 : 3000);
        const size_t from = prng_below(&random, words - count);
        const size_t to = prng_below(&random, words - count);
        copy_whole();
        memmove(damaged.of.words + to, whole.of.words + from, count * 8);
        if (memcmp(damaged.of.bytes, whole.of.bytes, whole.size) != 0)
            assert_false(is_read(round % 8 == 0));
    }
}

/* ---- checksums that fit ---------------------------------------------------------------------- */

/* A bit, a byte, a word of a part that looks like one, or any word. */
static void change_something(prng *random)
{
    const size_t words = damaged.size / 8, at = prng_below(random, words);
    uint64_t *word = damaged.of.words + at;

    switch (prng_below(random, 6)) {
    case 0:
        *word ^= (uint64_t)1 << prng_below(random, 64);
        break;
    case 1:
        damaged.of.bytes[prng_below(random, damaged.size)] = (unsigned char)prng_next(random);
        break;
    case 2:
        *word = damaged.of.words[prng_below(random, words)];
        break;
    case 3:
        *word += prng_below(random, 2) ? 1 : UINT64_MAX;
        break;
    case 4: /* another kind of operation */
        *word = (*word & UINT64_MAX >> 5) | prng_below(random, 14) << 59;
        break;
    default: /* another of the trailer's or the header's */
        word = prng_below(random, 2) ? damaged.of.words + prng_below(random, TEST_HEADER)
                                     : trailer_of(&damaged) + prng_below(random, TEST_TRAILER);
        *word = prng_below(random, 3) ? prng_below(random, 100) : prng_next(random);
        break;
    }
}

static void forged_files_are_refused_or_read_as_they_are(void **state)
{
    prng random = {test_seed(__func__)};
    uint32_t read = 0;

    (void)state;
    for (int file = 0; file < 12; file++) {
        save_random(&random, 1 + (uint32_t)file % SCRIPT_LANES_MAX, file % 4 ? 200 : 3000);
        for (int round = 0; round < (file % 4 ? 130 : 40); round++) {
            copy_whole();
            for (uint64_t changes = 1 + prng_below(&random, 3); changes > 0; changes--)
                change_something(&random);
            seal_all(&damaged, round % 4 != 0);
            read += (uint32_t)is_read(round % 25 == 0);
        }
    }
    printf("%u forged files were read\n", read);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, make_folder, remove_folder)
    const struct CMUnitTest tests[] = {
        TEST(any_byte_that_changes_is_noticed),
        TEST(any_length_but_the_whole_is_noticed),
        TEST(any_piece_that_moves_is_noticed),
        TEST(forged_files_are_refused_or_read_as_they_are),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
