/* Status codes, errors, edit distance, and the library's own memory: hooks, mappings, arena. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <signal.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <allocbench/base.h>

#include "base/arena.h"
#include "base/hash.h"

/* ---- status, error, version, clock ----------------------------------------------------------- */

static void status_codes_have_pinned_values_names_and_messages(void **state)
{
    static const struct {
        abench_status status;
        int32_t value;
        const char *name;
    } pinned[] = {
        {ABENCH_OK, 0, "ABENCH_OK"},
        {ABENCH_ERROR_ARGUMENT, -1, "ABENCH_ERROR_ARGUMENT"},
        {ABENCH_ERROR_MEMORY, -2, "ABENCH_ERROR_MEMORY"},
        {ABENCH_ERROR_SYSTEM, -3, "ABENCH_ERROR_SYSTEM"},
        {ABENCH_ERROR_SYNTAX, -4, "ABENCH_ERROR_SYNTAX"},
        {ABENCH_ERROR_NOT_FOUND, -5, "ABENCH_ERROR_NOT_FOUND"},
        {ABENCH_ERROR_STATE, -6, "ABENCH_ERROR_STATE"},
        {ABENCH_ERROR_TAPE, -7, "ABENCH_ERROR_TAPE"},
        {ABENCH_ERROR_STUCK, -8, "ABENCH_ERROR_STUCK"},
        {ABENCH_ERROR_RECEIPT, -9, "ABENCH_ERROR_RECEIPT"},
        {ABENCH_ERROR_UNSUPPORTED, -10, "ABENCH_ERROR_UNSUPPORTED"},
        {ABENCH_ERROR_STOPPED, -11, "ABENCH_ERROR_STOPPED"},
        {ABENCH_ERROR_LIMIT, -12, "ABENCH_ERROR_LIMIT"},
    };
    const size_t count = sizeof pinned / sizeof pinned[0];

    (void)state;
    for (size_t at = 0; at < count; at++) {
        assert_int_equal(pinned[at].status, pinned[at].value);
        assert_string_equal(abench_status_name(pinned[at].value), pinned[at].name);
        assert_true(strlen(abench_status_message(pinned[at].value)) > 0);
        for (size_t other = 0; other < at; other++)
            assert_string_not_equal(abench_status_message(pinned[at].value),
                                    abench_status_message(pinned[other].value));
    }
}

static void a_code_that_is_none_has_a_name_and_a_message_too(void **state)
{
    static const abench_status none[] = {1, -13, INT32_MAX, INT32_MIN};

    (void)state;
    for (size_t at = 0; at < sizeof none / sizeof none[0]; at++) {
        assert_string_equal(abench_status_name(none[at]), "ABENCH_ERROR_UNKNOWN");
        assert_string_equal(abench_status_message(none[at]), "an unknown error");
    }
}

static void an_error_is_made_empty(void **state)
{
    abench_error made, macro = ABENCH_ERROR_INIT;

    (void)state;
    memset(&made, 0xa5, sizeof made);
    abench_error_init(&made);
    assert_memory_equal(&made, &macro, sizeof made);
    assert_int_equal(made.struct_size, sizeof made);
    assert_int_equal(made.status, ABENCH_OK);
    assert_string_equal(made.message, "");
}

static void the_version_is_that_of_the_header(void **state)
{
    char text[32];

    (void)state;
    snprintf(text, sizeof text, "%d.%d.%d", ABENCH_VERSION_MAJOR, ABENCH_VERSION_MINOR,
             ABENCH_VERSION_PATCH);
    assert_string_equal(abench_version_string(), text);
    assert_int_equal(abench_version(), ABENCH_VERSION_MAJOR * 10000 + ABENCH_VERSION_MINOR * 100 +
                                           ABENCH_VERSION_PATCH);
}

static void the_clock_is_the_monotonic_one_in_nanoseconds(void **state)
{
    struct timespec before, after;
    uint64_t now;

    (void)state;
    clock_gettime(CLOCK_MONOTONIC, &before);
    now = abench_clock_ns();
    clock_gettime(CLOCK_MONOTONIC, &after);
    assert_true(now >= (uint64_t)before.tv_sec * 1000000000u + (uint64_t)before.tv_nsec);
    assert_true(now <= (uint64_t)after.tv_sec * 1000000000u + (uint64_t)after.tv_nsec);
}

/* ---- edit distance --------------------------------------------------------------------------- */

static void distances_count_letters_inserted_dropped_changed_and_swapped(void **state)
{
    static const struct {
        const char *a, *b;
        uint32_t distance;
    } rows[] = {
        {"", "", 0},
        {"mixed", "mixed", 0},
        {"", "abc", 3},
        {"mixed", "mixd", 1},
        {"mixed", "miixed", 1},
        {"mixed", "mixes", 1},
        {"mixed", "imxed", 1},
        {"kitten", "sitting", 3},
        {"MiXeD", "mixed", 0},
        {"ca", "abc", 3}, /* restricted: what was swapped is not edited again */
        {"abcd", "badc", 2},
        {"[", "{", 1} /* 32 apart, as letters' cases are */,
    };

    (void)state;
    for (size_t at = 0; at < sizeof rows / sizeof rows[0]; at++) {
        assert_int_equal(abench_text_distance(rows[at].a, rows[at].b), rows[at].distance);
        assert_int_equal(abench_text_distance(rows[at].b, rows[at].a), rows[at].distance);
    }
}

static void only_the_first_63_bytes_count_for_a_distance(void **state)
{
    char a[200], b[200];

    (void)state;
    memset(a, 'x', sizeof a);
    memset(b, 'x', sizeof b);
    a[sizeof a - 1] = b[100] = '\0';
    a[63] = 'y'; /* the 64th */
    assert_int_equal(abench_text_distance(a, b), 0);
    a[62] = 'y';
    assert_int_equal(abench_text_distance(a, b), 1);
    assert_int_equal(abench_text_distance(a, ""), 63);
}

/* ---- hooks ----------------------------------------------------------------------------------- */

typedef struct hook_calls {
    uint64_t mapped, unmapped; /* bytes */
    uint32_t maps, unmaps;
} hook_calls;

static void *hook_map(uint64_t bytes, void *user)
{
    hook_calls *calls = user;
    void *memory = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

    calls->maps++;
    calls->mapped += bytes;
    return memory == MAP_FAILED ? NULL : memory;
}

static void hook_unmap(void *memory, uint64_t bytes, void *user)
{
    hook_calls *calls = user;

    calls->unmaps++;
    calls->unmapped += bytes;
    munmap(memory, bytes);
}

static void hooks_are_copied(void **state)
{
    hook_calls calls = {0};
    abench_memory_hooks hooks = ABENCH_MEMORY_HOOKS_INIT, copy;

    (void)state;
    hooks.map = hook_map;
    hooks.unmap = hook_unmap;
    hooks.user = &calls;
    assert_int_equal(abench__hooks_copy(&hooks, &copy), ABENCH_OK);
    memset(&hooks, 0, sizeof hooks); /* the caller's struct may go */
    assert_int_equal(copy.struct_size, sizeof copy);
    assert_ptr_equal(copy.map, hook_map);
    assert_ptr_equal(copy.unmap, hook_unmap);
    assert_ptr_equal(copy.user, &calls);
}

static void no_hooks_are_copied_as_none(void **state)
{
    abench_memory_hooks empty = ABENCH_MEMORY_HOOKS_INIT, copy;

    (void)state;
    memset(&copy, 0xa5, sizeof copy);
    assert_int_equal(abench__hooks_copy(NULL, &copy), ABENCH_OK);
    assert_memory_equal(&copy, &empty, sizeof copy);
    memset(&copy, 0xa5, sizeof copy);
    assert_int_equal(abench__hooks_copy(&empty, &copy), ABENCH_OK);
    assert_memory_equal(&copy, &empty, sizeof copy);
}

static void hooks_that_make_no_sense_are_refused(void **state)
{
    struct {
        abench_memory_hooks known;
        uint64_t unknown;
    } newer = {ABENCH_MEMORY_HOOKS_INIT, 0};
    abench_memory_hooks hooks, copy;

    (void)state;
    abench_memory_hooks_init(&hooks);
    hooks.map = hook_map;
    assert_int_equal(abench__hooks_copy(&hooks, &copy), ABENCH_ERROR_ARGUMENT);
    abench_memory_hooks_init(&hooks);
    hooks.unmap = hook_unmap;
    assert_int_equal(abench__hooks_copy(&hooks, &copy), ABENCH_ERROR_ARGUMENT);
    abench_memory_hooks_init(&hooks);
    hooks.flags = 1;
    assert_int_equal(abench__hooks_copy(&hooks, &copy), ABENCH_ERROR_ARGUMENT);
    abench_memory_hooks_init(&hooks);
    hooks.struct_size = 8;
    assert_int_equal(abench__hooks_copy(&hooks, &copy), ABENCH_ERROR_ARGUMENT);
    newer.known.struct_size = sizeof newer;
    assert_int_equal(abench__hooks_copy(&newer.known, &copy), ABENCH_OK);
    newer.unknown = 1; /* a hook that this library does not know of */
    assert_int_equal(abench__hooks_copy(&newer.known, &copy), ABENCH_ERROR_ARGUMENT);
}

static void hooks_give_whole_pages_and_get_the_same_back(void **state)
{
    hook_calls calls = {0};
    abench_memory_hooks hooks = ABENCH_MEMORY_HOOKS_INIT;
    unsigned char *memory;

    (void)state;
    hooks.map = hook_map;
    hooks.unmap = hook_unmap;
    hooks.user = &calls;
    memory = abench__map(&hooks, 4097, 1);
    assert_non_null(memory);
    assert_int_equal(calls.mapped, 8192);
    abench__unmap(&hooks, memory, 4097);
    assert_int_equal(calls.unmapped, 8192);
    assert_int_equal(calls.maps, 1);
    assert_int_equal(calls.unmaps, 1);
    abench__unmap(&hooks, NULL, 4097);
    assert_int_equal(calls.unmaps, 1);
}

/* ---- mappings -------------------------------------------------------------------------------- */

/* The signal that ends a child which writes to at; 0 when it lives. */
static int signal_of_a_write(unsigned char *at)
{
    const pid_t pid = fork();
    int status = 0;

    if (pid == 0) {
        signal(SIGSEGV, SIG_DFL); /* a sanitizer's handler would make an exit of it */
        *(volatile unsigned char *)at = 1;
        _exit(0);
    }
    assert_true(pid > 0);
    assert_int_equal(waitpid(pid, &status, 0), pid);
    return WIFSIGNALED(status) ? WTERMSIG(status) : 0;
}

static void a_mapping_lies_between_guard_pages(void **state)
{
    unsigned char *memory = abench__map(NULL, 5000, 0);

    (void)state;
    assert_non_null(memory);
    assert_int_equal((uintptr_t)memory % ABENCH__PAGE, 0);
    assert_int_equal(signal_of_a_write(memory), 0);
    assert_int_equal(signal_of_a_write(memory + 8191), 0);
    assert_int_equal(signal_of_a_write(memory - 1), SIGSEGV);
    assert_int_equal(signal_of_a_write(memory - ABENCH__PAGE), SIGSEGV);
    assert_int_equal(signal_of_a_write(memory + 8192), SIGSEGV);
    abench__unmap(NULL, memory, 5000);
}

static uint32_t resident_pages(unsigned char *memory, size_t pages)
{
    unsigned char resident[64];
    uint32_t sum = 0;

    assert_true(pages <= sizeof resident);
    assert_int_equal(mincore(memory, pages * ABENCH__PAGE, resident), 0);
    for (size_t at = 0; at < pages; at++)
        sum += resident[at] & 1u;
    return sum;
}

static void a_touched_mapping_is_resident_and_another_is_not(void **state)
{
    unsigned char *touched = abench__map(NULL, 64 * ABENCH__PAGE, 1);
    unsigned char *other = abench__map(NULL, 64 * ABENCH__PAGE, 0);

    (void)state;
    assert_non_null(touched);
    assert_non_null(other);
    assert_int_equal(resident_pages(touched, 64), 64);
    assert_int_equal(resident_pages(other, 64), 0);
    for (size_t at = 0; at < 64 * ABENCH__PAGE; at++)
        assert_int_equal(touched[at], 0);
    abench__unmap(NULL, touched, 64 * ABENCH__PAGE);
    abench__unmap(NULL, other, 64 * ABENCH__PAGE);
}

static void a_mapping_of_nothing_or_of_too_much_is_none(void **state)
{
    (void)state;
    assert_null(abench__map(NULL, 0, 0));
    assert_null(abench__map(NULL, UINT64_MAX, 0));
    assert_null(abench__map(NULL, UINT64_MAX - 2 * ABENCH__PAGE, 0));
    assert_null(abench__map(NULL, (uint64_t)1 << 62, 0));
}

static void a_block_that_grows_keeps_its_contents(void **state)
{
    unsigned char *block = abench__regrow(NULL, NULL, 0, 4096);

    (void)state;
    assert_non_null(block);
    for (size_t at = 0; at < 4096; at++)
        block[at] = (unsigned char)(at * 7);
    assert_null(abench__regrow(NULL, block, 4096, (uint64_t)1 << 62)); /* and the block is kept */
    block = abench__regrow(NULL, block, 4096, 16384);
    assert_non_null(block);
    for (size_t at = 0; at < 4096; at++)
        assert_int_equal(block[at], (unsigned char)(at * 7));
    for (size_t at = 4096; at < 16384; at++)
        assert_int_equal(block[at], 0);
    abench__unmap(NULL, block, 16384);
}

static void an_arena_hands_out_aligned_bytes_until_it_is_used_up(void **state)
{
    _Alignas(64) unsigned char memory[256];
    abench__arena arena = {memory, sizeof memory, 0};

    (void)state;
    assert_ptr_equal(abench__arena_take(&arena, 1), memory);
    assert_ptr_equal(abench__arena_take(&arena, 64), memory + 64);
    assert_null(abench__arena_take(&arena, 129));
    assert_null(abench__arena_take(&arena, UINT64_MAX));
    assert_ptr_equal(abench__arena_take(&arena, 128), memory + 128);
    assert_null(abench__arena_take(&arena, 1));
}

/* ---- hash ------------------------------------------------------------------------------------ */

/* mix is SplitMix64's finaliser: the generator's first output from state 0 is mix of the increment,
 * published as 0xe220a8397b1dcdaf. */
static void mix_and_fold_are_those_of_the_header(void **state)
{
    const uint64_t zero = abench__fold(0, 0);

    (void)state;
    assert_int_equal(zero, 0xe220a8397b1dcdafu);
    assert_int_equal(abench__fold(1, 1), zero);
    assert_int_equal(abench__fold(7, 5), abench__mix(2 + 0x9e3779b97f4a7c15u));
}

static void a_text_is_folded_eight_bytes_a_word_then_its_length(void **state)
{
    (void)state;
    assert_int_equal(abench__fold_text(3, ""), abench__fold(3, 0));
    assert_int_equal(abench__fold_text(3, "ab"), abench__fold(abench__fold(3, 0x6261), 2));
    assert_int_equal(abench__fold_text(3, "abcdefgh"),
                     abench__fold(abench__fold(3, 0x6867666564636261u), 8));
    assert_int_equal(abench__fold_text(3, "abcdefgh\xff"),
                     abench__fold(abench__fold(abench__fold(3, 0x6867666564636261u), 0xff), 9));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(status_codes_have_pinned_values_names_and_messages),
        cmocka_unit_test(a_code_that_is_none_has_a_name_and_a_message_too),
        cmocka_unit_test(an_error_is_made_empty),
        cmocka_unit_test(the_version_is_that_of_the_header),
        cmocka_unit_test(the_clock_is_the_monotonic_one_in_nanoseconds),
        cmocka_unit_test(distances_count_letters_inserted_dropped_changed_and_swapped),
        cmocka_unit_test(only_the_first_63_bytes_count_for_a_distance),
        cmocka_unit_test(hooks_are_copied),
        cmocka_unit_test(no_hooks_are_copied_as_none),
        cmocka_unit_test(hooks_that_make_no_sense_are_refused),
        cmocka_unit_test(hooks_give_whole_pages_and_get_the_same_back),
        cmocka_unit_test(a_mapping_lies_between_guard_pages),
        cmocka_unit_test(a_touched_mapping_is_resident_and_another_is_not),
        cmocka_unit_test(a_mapping_of_nothing_or_of_too_much_is_none),
        cmocka_unit_test(a_block_that_grows_keeps_its_contents),
        cmocka_unit_test(an_arena_hands_out_aligned_bytes_until_it_is_used_up),
        cmocka_unit_test(mix_and_fold_are_those_of_the_header),
        cmocka_unit_test(a_text_is_folded_eight_bytes_a_word_then_its_length),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
