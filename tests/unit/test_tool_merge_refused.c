/* merge: what does not belong together, and machines that somebody else wrote. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "merge_pair.h"

/* ---- what does not belong together ----------------------------------------------------------- */

static void another_question_is_refused_by_its_name(void **state)
{
    pair *p = *state;

    set(&p->b, "key.seed", json_string("8"));
    assert_refused(p, "are of different matrices: seed: \"7\" against \"8\"");
    set(&p->b, "key.seed", json_string("7"));
    set(&p->b, "key.tails", json_true());
    assert_refused(p, "tails, which only one has");
}

static void work_of_another_length_is_refused(void **state)
{
    pair *p = *state;

    set(&p->a, "workloads[0].argument", json_string("churn-local:steps=1"));
    set(&p->b, "workloads[0].argument", json_string("churn-local:steps=2"));
    assert_refused(p, "was played as churn-local:steps=1 and as churn-local:steps=2");
}

static void another_version_is_another_allocator(void **state)
{
    pair *p = *state;

    set(&p->b, "targets[1].version", json_string("5.3.0"));
    assert_refused(p,
                   "target jemalloc is another allocator, its version is \"2.36\" and \"5.3.0\"");
    set(&p->b, "targets[1].version", json_string("2.36"));
    set(&p->b, "targets[1].settings", json_string("X=1"));
    assert_refused(p, "its settings is \"MALLOC_ARENA_MAX=2\" and \"X=1\"");
}

static void another_build_of_a_version_is_told(void **state)
{
    pair *p = *state;
    merge m;

    set(&p->b, "targets[1].build_id", json_string("ffff"));
    m = merged(p);
    merge_clear(&m);
    assert_true(has_note(p->out, "target jemalloc is another build of glibc 2.36 in"));
}

static void without_a_version_another_build_is_refused(void **state)
{
    pair *p = *state;

    set(&p->a, "targets[1].version", json_string(""));
    set(&p->b, "targets[1].version", json_string(""));
    set(&p->b, "targets[1].build_id", json_string("ffff"));
    assert_refused(p, "target jemalloc has another build id");
}

static void a_target_that_only_one_has_is_added(void **state)
{
    pair *p = *state;
    merge m;
    model *r;

    set(&p->b, "targets[3].name", json_string("scudo"));
    m = merged(p);
    merge_clear(&m);
    r = load(p->out);
    assert_int_equal(r->targets_count, 5);
    assert_string_equal(r->targets[3].name, "mimalloc3");
    assert_string_equal(r->targets[4].name, "scudo");
    model_free(r);
}

static void a_target_that_one_has_is_not_missing(void **state)
{
    pair *p = *state;
    merge m;
    model *r;

    set(&p->b, "targets[3].missing", json_null());
    m = merged(p);
    merge_clear(&m);
    r = load(p->out);
    assert_null(r->targets[3].missing);
    model_free(r);
}

static void another_program_is_refused_another_time_stamp_is_not(void **state)
{
    pair *p = *state;
    merge m;

    set(&p->b, "key.program", json_string("/bin/x 100 6.000000001"));
    assert_refused(p, "another program is behind the command"); /* on the same machine */
    on_host(&p->b, "beta");
    m = merged(p);
    merge_clear(&m);
    assert_true(has_note(p->out, "another time stamp"));
    remove_tree(p->out);
    set(&p->b, "key.program", json_string("/bin/x 101 5.000000001"));
    assert_refused(p, "another program is behind the command");
}

/* ---- the model ------------------------------------------------------------------------------- */

static void assert_unreadable(const pair *p, const char *why)
{
    model *m = model_load(p->a.path, message, sizeof message);

    assert_null(m);
    if (strstr(message, why) == NULL)
        fail_msg("\"%s\" does not say \"%s\"", message, why);
}

static void hostile_machines_are_refused(void **state)
{
    pair *p = *state;

    set(&p->a, "machines", json_integer(1));
    assert_unreadable(p, "machines: an array is needed");
    set(&p->a, "machines", json_pack("[i]", 1));
    assert_unreadable(p, "machines[0]: an object is needed");
    set(&p->a, "machines", json_pack("[{s:s}]", "name", "x"));
    assert_unreadable(p, "machines[0]: \"host\" is missing");
    set(&p->a, "machines", json_pack("[{s:s, s:{s:i}}]", "name", "x", "host", "kernel", 1));
    assert_unreadable(p, "machines[0].host.kernel: a string is needed");
    set(&p->a, "machines",
        json_pack("[{s:s, s:{}, s:[{s:s}]}]", "name", "x", "host", "machine", "name", "thp"));
    assert_unreadable(p, "machines[0].machine[0]: \"value\" is missing");
    set(&p->a, "machines",
        json_pack("[{s:s, s:{}}, {s:s, s:{}}]", "name", "x", "host", "name", "x", "host"));
    assert_unreadable(p, "machines[0] has the name \"x\" already");
    set(&p->a, "machines", json_pack("[{s:s, s:{}}]", "name", "x", "host"));
    fake_edit(&p->a, "rounds/w00.r001.json", "\"round\": 1", "\"place\": 1, \"round\": 1");
    assert_unreadable(p, "place: 1 is not from 0 to 0");
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(another_question_is_refused_by_its_name),
        TEST(work_of_another_length_is_refused),
        TEST(another_version_is_another_allocator),
        TEST(another_build_of_a_version_is_told),
        TEST(without_a_version_another_build_is_refused),
        TEST(a_target_that_only_one_has_is_added),
        TEST(a_target_that_one_has_is_not_missing),
        TEST(another_program_is_refused_another_time_stamp_is_not),
        TEST(hostile_machines_are_refused),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
