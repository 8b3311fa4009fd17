/* Tapes in files: what is saved comes back, whatever happens while it is written or read. */
#include <errno.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/time.h>
#include <time.h>

#include <cmocka.h>

#include <allocbench/tape.h>

#include "../property/script.h"
#include "tape/file.h"
#include "tape/source.h"
#include "tape/tape.h"
#include "tape_files.h"

static file_bytes other;
static script one;

static abench_tape *random_tape(prng *random, uint32_t lanes, uint32_t count)
{
    abench_error error = ABENCH_ERROR_INIT;
    abench_tape *tape;

    one.stride = 1;
    one.lanes = lanes;
    one.touch = (uint32_t)prng_below(random, 4);
    one.size_limit = (uint64_t)1 << 40;
    script_random(&one, random, count, (int)prng_below(random, 2));
    tape = script_tape(&one, NULL, &error);
    if (tape == NULL)
        fail_msg("%s", error.message);
    return tape;
}

static abench_tape *load(const char *where)
{
    abench_error error = ABENCH_ERROR_INIT;
    abench_tape *tape = NULL;

    if (abench_tape_load(where, NULL, &tape, &error) != ABENCH_OK)
        fail_msg("%s", error.message);
    assert_int_equal(abench_tape_is_streamed(tape), 0);
    return tape;
}

static abench_tape *open_tape(const char *where)
{
    abench_error error = ABENCH_ERROR_INIT;
    abench_tape *tape = NULL;

    if (abench_tape_open(where, NULL, &tape, &error) != ABENCH_OK)
        fail_msg("%s", error.message);
    assert_int_equal(abench_tape_is_streamed(tape), 1);
    return tape;
}

/* ---- there and back -------------------------------------------------------------------------- */

/* All but what depends on the order within a cut, and on the memory. */
static void assert_same_summary(const abench_tape *a, const abench_tape *b)
{
    abench_tape_summary of_a = ABENCH_TAPE_SUMMARY_INIT, of_b = ABENCH_TAPE_SUMMARY_INIT;

    assert_int_equal(abench_tape_get_summary(a, &of_a), ABENCH_OK);
    assert_int_equal(abench_tape_get_summary(b, &of_b), ABENCH_OK);
    of_b.live_bytes_peak = of_a.live_bytes_peak;
    of_b.live_blocks_peak = of_a.live_blocks_peak;
    of_b.lifetime_median = of_a.lifetime_median;
    of_b.memory_bytes = of_a.memory_bytes;
    assert_memory_equal(&of_b, &of_a, sizeof of_b);
}

static void assert_same_phases(const abench_tape *a, const abench_tape *b)
{
    abench_phase of_a = ABENCH_PHASE_INIT, of_b = ABENCH_PHASE_INIT;

    for (uint32_t at = 0; abench_tape_phase_at(a, at, &of_a) == ABENCH_OK; at++) {
        assert_int_equal(abench_tape_phase_at(b, at, &of_b), ABENCH_OK);
        assert_memory_equal(&of_a, &of_b, sizeof of_a);
    }
}

static void assert_same_tape(const abench_tape *a, const abench_tape *b)
{
    assert_int_equal(abench_tape_digest(b), abench_tape_digest(a));
    assert_same_summary(a, b);
    assert_same_phases(a, b);
    assert_int_equal(b->checksum, a->checksum);
    assert_int_equal(b->cut_count, a->cut_count);
    assert_memory_equal(b->cuts.data, a->cuts.data, a->cuts.count * sizeof(uint32_t));
    for (uint32_t lane = 0; lane < a->summary.lanes; lane++) {
        assert_int_equal(b->lanes[lane].words.count, a->lanes[lane].words.count);
        assert_memory_equal(abench__lane_data(b, lane), abench__lane_data(a, lane),
                            a->lanes[lane].words.count * sizeof(uint64_t));
    }
}

/* Saves, loads and streams; takes the tape over. */
static void assert_survives(abench_tape *tape)
{
    abench_tape *loaded, *streamed;

    save_tape(tape, path);
    loaded = load(path);
    assert_same_tape(tape, loaded);
    streamed = open_tape(path);
    assert_int_equal(abench_tape_digest(streamed), abench_tape_digest(tape));
    assert_same_summary(tape, streamed);
    assert_same_phases(tape, streamed);
    abench_tape_destroy(streamed);
    abench_tape_destroy(loaded);
    abench_tape_destroy(tape);
}

static void what_is_saved_comes_back(void **state)
{
    prng random = {test_seed(__func__)};

    (void)state;
    assert_survives(tape_by_hand());
    for (uint32_t round = 0; round < 12; round++)
        assert_survives(random_tape(&random, 1 + round % SCRIPT_LANES_MAX,
                                    (uint32_t)prng_below(&random, SCRIPT_OPS_MAX - 100)));
}

static void tapes_at_the_edges_come_back(void **state)
{
    abench_tape_builder *b;

    (void)state;
    assert_survives(finish(make_builder(1, 0, 0))); /* nothing on it */
    b = make_builder(ABENCH_LANES_MAX, 0, 0);
    abench_tape_builder_phase(b, "nothing", 0);
    assert_survives(finish(b));

    b = make_builder(ABENCH_LANES_MAX, 0, 2); /* cuts of barriers */
    abench_tape_builder_phase(b, "all", ABENCH_PHASE_TIMED);
    for (uint32_t lane = 0; lane < ABENCH_LANES_MAX; lane += 3) {
        abench_tape_builder_malloc(b, lane, SHARED | 1, lane);
        abench_tape_builder_free_sized(b, ABENCH_LANES_MAX - 1 - lane, SHARED | 1);
        abench_tape_builder_barrier(b);
    }
    assert_survives(finish(b));

    b = make_builder(1, 2, 0); /* the ends have a cut of their own */
    for (uint32_t at = 0; at < 2 * ABENCH_TAPE_CUT - 1; at++)
        if (at % 2 == 0)
            abench_tape_builder_malloc(b, 0, 0, (uint64_t)1 << 33);
        else
            abench_tape_builder_free_sized(b, 0, 0);
    assert_survives(finish(b));

    b = make_builder(3, 1, 1);
    for (uint32_t at = 0; at < ABENCH_PHASES_MAX; at++)
        abench_tape_builder_phase(b, at % 2 ? "a234567890123456789012345678901" : "b", at % 2);
    assert_survives(finish(b));
}

/* The second time the order is that of the cursor: nothing changes any more. */
static void a_file_of_a_file_is_the_same_file(void **state)
{
    prng random = {test_seed(__func__)};
    abench_tape *tape = random_tape(&random, 3, 6000), *loaded, *streamed;

    (void)state;
    save_tape(tape, path);
    abench_tape_destroy(tape);
    loaded = load(path);
    save_tape(loaded, path);
    read_file(path, &file);
    streamed = open_tape(path);
    tape = load(path);
    save_tape(tape, path);
    read_file(path, &other);
    assert_int_equal(other.size, file.size);
    assert_memory_equal(other.of.bytes, file.of.bytes, file.size);
    abench_tape_destroy(loaded);
    abench_tape_destroy(tape);
    abench_tape_destroy(streamed);
    streamed = open_tape(path);
    {
        char copy[112];
        snprintf(copy, sizeof copy, "%s/copy.tape", folder);
        save_tape(streamed, copy);
        read_file(copy, &other);
        unlink(copy);
    }
    assert_int_equal(other.size, file.size);
    assert_memory_equal(other.of.bytes, file.of.bytes, file.size);
    abench_tape_destroy(streamed);
}

/* ---- the layout ------------------------------------------------------------------------------ */

static void the_file_is_laid_out_as_written_down(void **state)
{
    static const unsigned char magic[8] = {0x89, 'A', 'B', 'T', '\r', '\n', 0x1a, '\n'};
    abench_tape *tape = tape_by_hand();
    abench_tape_summary s = ABENCH_TAPE_SUMMARY_INIT;
    const uint64_t *w = file.of.words, *t, *block;
    uint64_t saved;

    (void)state;
    abench_tape_get_summary(tape, &s);
    save_tape(tape, path);
    read_file(path, &file);
    assert_int_equal(file.size % 8, 0);
    assert_memory_equal(file.of.bytes, magic, 8);
    assert_int_equal(w[1], 1 | (uint64_t)1 << 32);
    assert_int_equal(w[2], 2 | (uint64_t)ABENCH_TOUCH_FIRST << 32);
    assert_int_equal(w[3], 3 | (uint64_t)2 << 32);
    assert_int_equal(w[4] | w[5] | w[6], 0);
    block = block_at(&file, 0);
    /* phase, malloc, malloc (2), barrier, touch (2), free_sized; phase, calloc, barrier, aligned
     * (2), realloc (2) */
    assert_memory_equal(block, "CUT\0", 4);
    assert_int_equal(block_length(block), 3 + 4 + 1 + 8 + 7 + 1);
    assert_int_equal(block[1], 0);
    assert_int_equal(block[2], (uint64_t)1 << 32);
    assert_string_equal((const char *)(block + 3), "fill");
    assert_int_equal(block[7], 8 | (uint64_t)7 << 16);
    assert_int_equal(block[8], 0x4000000000000000u);
    assert_int_equal(block[16], 0x4000000000000000u);
    block = block_at(&file, 1);
    assert_int_equal(block[1], 1);
    assert_int_equal(block[2], ABENCH_PHASE_TIMED | (uint64_t)1 << 32);
    assert_string_equal((const char *)(block + 3), "drain");
    block = block_at(&file, 2);
    assert_int_equal(block[2], 0);
    t = trailer_of(&file);
    assert_ptr_equal(block + block_length(block), t);
    assert_memory_equal(t, "END\0\0\0\0\0", 8);
    assert_int_equal(t[1], 3);
    assert_int_equal(t[2], 2);
    assert_int_equal(t[3], s.words);
    assert_int_equal(t[4], s.operations);
    assert_memory_equal(t + 5, s.by_kind + 1, 11 * 8);
    assert_int_equal(t[16], s.bytes_requested);
    assert_int_equal(t[18], 6000);
    assert_int_equal(t[19], s.live_bytes_peak);
    assert_int_equal(t[20], s.live_blocks_peak);
    assert_int_equal(t[23], 1);
    assert_int_equal(t[24], s.size_median);
    assert_int_equal(t[25], s.lifetime_median);
    assert_int_equal(t[26], tape->checksum);
    assert_int_equal(t[27], abench_tape_digest(tape));
    assert_int_equal(t[28], w[7]);
    assert_int_equal(t[29], file.size);
    /* the helpers of these tests agree about checksums and digest */
    memcpy(&other, &file, sizeof file);
    saved = trailer_of(&other)[27];
    seal_all(&other, 1);
    assert_int_equal(trailer_of(&other)[27], saved);
    assert_memory_equal(other.of.bytes, file.of.bytes, file.size);
    abench_tape_destroy(tape);
}

/* ---- a stream -------------------------------------------------------------------------------- */

/* Another length, or another time in seconds or nanoseconds, and all else as before. */
static void assert_changed(off_t shorter, int seconds, int nanoseconds)
{
    abench_error error = ABENCH_ERROR_INIT;
    struct timespec times[2] = {{0, UTIME_OMIT}, {0, 0}};
    abench__reader *reader = NULL;
    abench_tape *tape;
    struct stat info;

    fresh(&file);
    tape = open_tape(path);
    assert_int_equal(stat(path, &info), 0);
    times[1].tv_sec = info.st_mtim.tv_sec - seconds;
    times[1].tv_nsec = (info.st_mtim.tv_nsec + nanoseconds) % 1000000000;
    assert_int_equal(truncate(path, info.st_size - shorter), 0);
    assert_int_equal(utimensat(AT_FDCWD, path, times, 0), 0);
    assert_int_equal(abench__reader_create(tape, NULL, 0, &reader, &error), ABENCH_ERROR_STATE);
    assert_non_null(strstr(error.message, "the file was written to since it was opened"));
    assert_int_equal(abench_tape_digest(tape), 0);
    abench_tape_destroy(tape);
}

static void a_file_that_changes_is_noticed(void **state)
{
    abench_tape *tape;
    char moved[112];

    (void)state;
    fresh(&file);
    tape = open_tape(path);
    snprintf(moved, sizeof moved, "%s/moved.tape", folder);
    assert_int_equal(rename(path, moved), 0); /* another name, or none, is no change */
    assert_int_equal(abench_tape_digest(tape), trailer_of(&file)[27]);
    unlink(moved);
    assert_int_equal(abench_tape_digest(tape), trailer_of(&file)[27]);
    abench_tape_destroy(tape);

    assert_changed(0, 1, 0);
    assert_changed(0, 0, 1);
    assert_changed(8, 0, 0);
}

/* After an error comes that error again. */
static void a_stream_that_fails_stays_failed(void **state)
{
    abench_tape_cursor *cursor = NULL;
    abench_operation op = ABENCH_OPERATION_INIT;
    abench_tape_summary summary = ABENCH_TAPE_SUMMARY_INIT;
    abench_tape *tape;

    (void)state;
    fresh(&file);
    block_at(&file, 2)[9] ^= 1;
    write_file(path, file.of.bytes, file.size);
    tape = open_tape(path);
    assert_int_equal(abench_tape_get_summary(tape, &summary), ABENCH_ERROR_SYNTAX);
    assert_int_equal(abench_tape_cursor_create(tape, &cursor), ABENCH_OK);
    for (int again = 0; again < 3; again++)
        assert_int_equal(abench_tape_next(cursor, &op), ABENCH_ERROR_SYNTAX);
    abench_tape_cursor_destroy(cursor);
    abench_tape_destroy(tape);
}

/* Two passes at once, each for itself. */
static void a_stream_is_read_by_many(void **state)
{
    prng random = {test_seed(__func__)};
    abench_tape *tape = random_tape(&random, 2, 5000), *streamed;
    abench_tape_cursor *a = NULL, *b = NULL;
    abench_operation of_a = ABENCH_OPERATION_INIT, of_b = ABENCH_OPERATION_INIT;
    uint64_t count = 0;

    (void)state;
    save_tape(tape, path);
    streamed = open_tape(path);
    assert_int_equal(abench_tape_cursor_create(streamed, &a), ABENCH_OK);
    for (int at = 0; at < 2000; at++, count++)
        assert_int_equal(abench_tape_next(a, &of_a), ABENCH_OK);
    assert_int_equal(abench_tape_cursor_create(streamed, &b), ABENCH_OK);
    for (int at = 0; at < 2000; at++)
        assert_int_equal(abench_tape_next(b, &of_b), ABENCH_OK);
    while (abench_tape_next(a, &of_a) == ABENCH_OK) {
        assert_int_equal(abench_tape_next(b, &of_b), ABENCH_OK);
        assert_memory_equal(&of_a, &of_b, sizeof of_a);
        count++;
    }
    assert_int_equal(count, tape->summary.operations);
    abench_tape_cursor_destroy(a);
    abench_tape_cursor_destroy(b);
    abench_tape_destroy(streamed);
    abench_tape_destroy(tape);
}

static void a_file_is_played(void **state)
{
    prng random = {test_seed(__func__)};
    abench_error none = ABENCH_ERROR_INIT;
    abench_tape *small, *read[2];

    (void)state;
    one = (script){.lanes = 2, .touch = ABENCH_TOUCH_FIRST, .stride = 1, .size_limit = 5000};
    script_random(&one, &random, 3000, 1);
    small = script_tape(&one, NULL, &none);
    assert_non_null(small);
    save_tape(small, path);
    read[0] = load(path);
    read[1] = open_tape(path);
    for (int at = 0; at < 2; at++) {
        abench_receipt receipt = ABENCH_RECEIPT_INIT;
        abench_error error = ABENCH_ERROR_INIT;
        if (abench_play(read[at], NULL, NULL, &receipt, &error) != ABENCH_OK)
            fail_msg("%s", error.message);
        assert_int_equal(receipt.work_digest, abench_tape_digest(small));
        assert_memory_equal(receipt.executed, small->summary.by_kind, sizeof receipt.executed);
        assert_int_equal(receipt.checksum, small->checksum);
        abench_tape_destroy(read[at]);
    }
    abench_tape_destroy(small);
}

static void a_file_for_a_player_says_what_is_on_it(void **state)
{
    abench_tape_summary summary, expected = ABENCH_TAPE_SUMMARY_INIT;
    abench_error error = ABENCH_ERROR_INIT;
    abench_tape *tape = NULL;
    uint64_t digest = 0;

    (void)state;
    fresh(&file);
    assert_int_equal(abench__tape_of_file(path, NULL, &summary, &digest, &tape, &error), ABENCH_OK);
    assert_int_equal(digest, trailer_of(&file)[27]);
    abench_tape_get_summary(tape, &expected);
    expected.live_bytes_peak = summary.live_bytes_peak; /* as it was saved */
    expected.live_blocks_peak = summary.live_blocks_peak;
    expected.lifetime_median = summary.lifetime_median;
    assert_memory_equal(&summary, &expected, sizeof summary);
    abench_tape_destroy(tape);
}

/* ---- writing --------------------------------------------------------------------------------- */

static void what_cannot_be_written_is_told(void **state)
{
    abench_tape *tape = tape_by_hand();
    abench_error error = ABENCH_ERROR_INIT;
    const int full = open("/dev/full", O_WRONLY);
    const int reading = open("/dev/null", O_RDONLY);
    int ends[2];

    (void)state;
    assert_int_equal(abench_tape_save(tape, full, &error), ABENCH_ERROR_SYSTEM);
    assert_int_equal(error.sys_errno, ENOSPC);
    assert_non_null(strstr(error.message, "the tape cannot be written behind byte 0"));
    assert_int_equal(abench_tape_save(tape, full, NULL), ABENCH_ERROR_SYSTEM);
    assert_int_equal(abench_tape_save(tape, reading, &error), ABENCH_ERROR_SYSTEM);
    assert_int_equal(error.sys_errno, EBADF);
    assert_int_equal(pipe(ends), 0);
    close(ends[0]);
    signal(SIGPIPE, SIG_IGN);
    assert_int_equal(abench_tape_save(tape, ends[1], &error), ABENCH_ERROR_SYSTEM);
    assert_int_equal(error.sys_errno, EPIPE);
    signal(SIGPIPE, SIG_DFL);
    close(ends[1]);
    close(full);
    close(reading);
    abench_tape_destroy(tape);
}

static void nothing(int number)
{
    (void)number;
}

/* Reads what comes, slowly, and less than is offered, into other. */
static void *read_slowly(void *user)
{
    const struct timespec a_little = {0, 300000};
    const int *fd = user;
    ssize_t got;

    other.size = 0;
    while ((got = read(*fd, other.of.bytes + other.size, 9973)) > 0) {
        other.size += (size_t)got;
        nanosleep(&a_little, NULL);
    }
    return NULL;
}

/* Signals without SA_RESTART break a write into pieces, and end it before its first byte. */
static void a_write_that_is_interrupted_goes_on(void **state)
{
    const struct itimerval often = {{0, 200}, {0, 200}}, never = {{0, 0}, {0, 0}};
    const struct sigaction action = {.sa_handler = nothing};
    prng random = {test_seed(__func__)};
    abench_tape *tape = random_tape(&random, 4, 8000);
    abench_error error = ABENCH_ERROR_INIT;
    struct sigaction before;
    sigset_t alarms;
    pthread_t reader;
    abench_status status;
    int ends[2];

    (void)state;
    save_tape(tape, path);
    read_file(path, &file);
    assert_int_equal(pipe(ends), 0);
    sigemptyset(&alarms);
    sigaddset(&alarms, SIGALRM);
    pthread_sigmask(SIG_BLOCK, &alarms, NULL); /* the reader is left alone */
    assert_int_equal(pthread_create(&reader, NULL, read_slowly, &ends[0]), 0);
    pthread_sigmask(SIG_UNBLOCK, &alarms, NULL);
    sigaction(SIGALRM, &action, &before);
    setitimer(ITIMER_REAL, &often, NULL);
    status = abench_tape_save(tape, ends[1], &error);
    setitimer(ITIMER_REAL, &never, NULL);
    sigaction(SIGALRM, &before, NULL);
    close(ends[1]);
    pthread_join(reader, NULL);
    close(ends[0]);
    assert_int_equal(status, ABENCH_OK);
    assert_int_equal(other.size, file.size);
    assert_memory_equal(other.of.bytes, file.of.bytes, file.size);
    abench_tape_destroy(tape);
}

/* A file that its own reader would refuse is not written to its end. */
static void a_tape_of_too_many_slots_is_not_saved(void **state)
{
    abench_tape_builder *b = make_builder(1, 600000, 600000);
    abench_error error = ABENCH_ERROR_INIT;
    const int fd = open("/dev/null", O_WRONLY);
    abench_tape *tape;

    (void)state;
    abench_tape_builder_malloc(b, 0, 599999, 1);
    tape = finish(b);
    assert_int_equal(abench_tape_save(tape, fd, &error), ABENCH_ERROR_LIMIT);
    assert_non_null(strstr(error.message, "the tape has 1200000 slots for 3 operations"));
    abench_tape_destroy(tape);
    b = make_builder(1, 500000, 500000);
    abench_tape_builder_malloc(b, 0, 499999, 1);
    assert_survives(finish(b));
    close(fd);
}

/* ---- memory ---------------------------------------------------------------------------------- */

static uint64_t held, maps, maps_allowed;

static void *count_map(uint64_t bytes, void *user)
{
    void *memory;

    (void)user;
    if (maps++ >= maps_allowed)
        return NULL;
    memory = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    held += bytes;
    return memory == MAP_FAILED ? NULL : memory;
}

static void count_unmap(void *memory, uint64_t bytes, void *user)
{
    (void)user;
    held -= bytes;
    munmap(memory, bytes);
}

/* The lowest descriptor that is free. */
static int next_descriptor(void)
{
    const int fd = dup(STDIN_FILENO);

    close(fd);
    return fd;
}

/* Whichever mapping fails, nothing is left behind. */
static void all_memory_is_the_callers_and_goes_back(void **state)
{
    const abench_memory_hooks hooks = {sizeof hooks, 0, count_map, count_unmap, NULL};
    const int descriptor = next_descriptor();
    abench_error error = ABENCH_ERROR_INIT;
    abench_tape *tape = NULL;
    abench_status loaded, opened = ABENCH_ERROR_MEMORY;
    uint64_t digest = 0;

    (void)state;
    fresh(&file);
    maps_allowed = 0;
    do {
        maps = 0;
        loaded = abench_tape_load(path, &hooks, &tape, &error);
        assert_true(loaded == ABENCH_OK || loaded == ABENCH_ERROR_MEMORY);
        abench_tape_destroy(tape);
        assert_int_equal(held, 0);
        maps = 0;
        if (abench_tape_open(path, &hooks, &tape, &error) == ABENCH_OK) {
            digest = abench_tape_digest(tape);
            opened = digest == 0 ? ABENCH_ERROR_MEMORY : ABENCH_OK;
            abench_tape_destroy(tape);
        }
        assert_int_equal(held, 0);
        assert_int_equal(next_descriptor(), descriptor);
        maps_allowed++;
    } while (loaded != ABENCH_OK || opened != ABENCH_OK);
    assert_true(maps_allowed > 6);
    assert_int_equal(digest, trailer_of(&file)[27]);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, make_folder, remove_folder)
    const struct CMUnitTest tests[] = {
        TEST(what_is_saved_comes_back),
        TEST(tapes_at_the_edges_come_back),
        TEST(a_file_of_a_file_is_the_same_file),
        TEST(the_file_is_laid_out_as_written_down),
        TEST(a_file_that_changes_is_noticed),
        TEST(a_stream_that_fails_stays_failed),
        TEST(a_stream_is_read_by_many),
        TEST(a_file_is_played),
        TEST(a_file_for_a_player_says_what_is_on_it),
        TEST(what_cannot_be_written_is_told),
        TEST(a_write_that_is_interrupted_goes_on),
        TEST(a_tape_of_too_many_slots_is_not_saved),
        TEST(all_memory_is_the_callers_and_goes_back),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
