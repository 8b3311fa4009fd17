/* Structs that begin with struct_size: what callers of another release may give and get. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/options.h"

/* A struct of three releases: a was in the first, b came with the second, which is the library's
 * here; c is known to newer callers only. */
typedef struct first {
    uint32_t struct_size;
    uint32_t a;
} first;

typedef struct second {
    uint32_t struct_size;
    uint32_t a;
    uint64_t b;
} second;

typedef struct third {
    uint32_t struct_size;
    uint32_t a;
    uint64_t b;
    uint64_t c;
} third;

static second presets(void)
{
    return (second){sizeof(second), 10, 20};
}

static void a_caller_of_this_release_sets_all_fields(void **state)
{
    const second theirs = {sizeof theirs, 1, 2};
    second mine = presets();

    (void)state;
    assert_int_equal(abench__options_read(&mine, sizeof mine, &theirs, sizeof(first)), ABENCH_OK);
    assert_int_equal(mine.struct_size, sizeof mine);
    assert_int_equal(mine.a, 1);
    assert_int_equal(mine.b, 2);
}

static void no_options_leave_the_presets(void **state)
{
    second mine = presets();

    (void)state;
    assert_int_equal(abench__options_read(&mine, sizeof mine, NULL, sizeof(first)), ABENCH_OK);
    assert_int_equal(mine.a, 10);
    assert_int_equal(mine.b, 20);
}

static void an_older_caller_leaves_what_it_does_not_know_at_its_preset(void **state)
{
    const struct {
        first theirs;
        uint64_t not_theirs; /* must not be read */
    } memory = {{sizeof(first), 1}, 99};
    second mine = presets();

    (void)state;
    assert_int_equal(abench__options_read(&mine, sizeof mine, &memory.theirs, sizeof(first)),
                     ABENCH_OK);
    assert_int_equal(mine.struct_size, sizeof mine);
    assert_int_equal(mine.a, 1);
    assert_int_equal(mine.b, 20);
}

static void a_newer_caller_is_served_while_its_new_fields_are_0(void **state)
{
    const third theirs = {sizeof theirs, 1, 2, 0};
    struct {
        second mine;
        uint64_t behind;
    } memory = {presets(), 77};

    (void)state;
    assert_int_equal(abench__options_read(&memory.mine, sizeof memory.mine, &theirs, sizeof(first)),
                     ABENCH_OK);
    assert_int_equal(memory.mine.struct_size, sizeof memory.mine);
    assert_int_equal(memory.mine.a, 1);
    assert_int_equal(memory.mine.b, 2);
    assert_int_equal(memory.behind, 77);
}

static void a_newer_caller_that_asks_for_more_is_refused(void **state)
{
    third theirs = {sizeof theirs, 1, 2, 3};
    second mine = presets();

    (void)state;
    assert_int_equal(abench__options_read(&mine, sizeof mine, &theirs, sizeof(first)),
                     ABENCH_ERROR_ARGUMENT);
    theirs.c = (uint64_t)1 << 63; /* the last byte alone */
    assert_int_equal(abench__options_read(&mine, sizeof mine, &theirs, sizeof(first)),
                     ABENCH_ERROR_ARGUMENT);
    assert_int_equal(mine.a, 10); /* and nothing is taken over */
    assert_int_equal(mine.b, 20);
}

static void a_size_below_the_first_release_is_refused(void **state)
{
    static const uint32_t sizes[] = {0, 1, 4, sizeof(first) - 1};
    second mine = presets();

    (void)state;
    for (size_t at = 0; at < sizeof sizes / sizeof sizes[0]; at++) {
        second theirs = {sizes[at], 1, 2};
        assert_int_equal(abench__options_read(&mine, sizeof mine, &theirs, sizeof(first)),
                         ABENCH_ERROR_ARGUMENT);
        assert_int_equal(mine.a, 10);
        assert_int_equal(abench__options_write(&theirs, &mine, sizeof mine, sizeof(first)),
                         ABENCH_ERROR_ARGUMENT);
        assert_int_equal(theirs.a, 1);
    }
}

static void a_result_is_written_up_to_what_the_caller_has_room_for(void **state)
{
    const second mine = presets();
    struct {
        first theirs;
        uint64_t behind;
    } older = {{sizeof(first), 1}, 77};

    (void)state;
    assert_int_equal(abench__options_write(&older.theirs, &mine, sizeof mine, sizeof(first)),
                     ABENCH_OK);
    assert_int_equal(older.theirs.struct_size, sizeof(first));
    assert_int_equal(older.theirs.a, 10);
    assert_int_equal(older.behind, 77);
}

static void a_result_leaves_the_newer_fields_of_a_caller_alone(void **state)
{
    const second mine = presets();
    third theirs = {sizeof theirs, 1, 2, 3};

    (void)state;
    assert_int_equal(abench__options_write(&theirs, &mine, sizeof mine, sizeof(first)), ABENCH_OK);
    assert_int_equal(theirs.struct_size, sizeof theirs);
    assert_int_equal(theirs.a, 10);
    assert_int_equal(theirs.b, 20);
    assert_int_equal(theirs.c, 3);
    assert_int_equal(abench__options_write(NULL, &mine, sizeof mine, sizeof(first)),
                     ABENCH_ERROR_ARGUMENT);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_caller_of_this_release_sets_all_fields),
        cmocka_unit_test(no_options_leave_the_presets),
        cmocka_unit_test(an_older_caller_leaves_what_it_does_not_know_at_its_preset),
        cmocka_unit_test(a_newer_caller_is_served_while_its_new_fields_are_0),
        cmocka_unit_test(a_newer_caller_that_asks_for_more_is_refused),
        cmocka_unit_test(a_size_below_the_first_release_is_refused),
        cmocka_unit_test(a_result_is_written_up_to_what_the_caller_has_room_for),
        cmocka_unit_test(a_result_leaves_the_newer_fields_of_a_caller_alone),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
