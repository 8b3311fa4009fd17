/* merge: what counts once, and what is never taken for a whole result. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "merge_pair.h"

#include <sys/file.h>

/* ---- whole ----------------------------------------------------------------------------------- */

static void rounds_of_both_are_there_with_their_numbers(void **state)
{
    pair *p = *state;
    merge m;
    model *r;
    size_t cells[4] = {0};

    shift(&p->b, 2);
    on_host(&p->b, "beta");
    m = merged(p);
    assert_int_equal(m.rounds, 5); /* w00: 1 to 4; w01: one that both have */
    assert_int_equal(m.twice, 0);
    assert_int_equal(m.left_out, 1); /* on another machine it is another */
    merge_clear(&m);
    r = load(p->out);
    assert_int_equal(r->places_count, 2);
    assert_string_equal(r->places[0].name, "alpha");
    assert_string_equal(r->places[1].name, "beta");
    assert_string_equal(r->places[1].host.hostname, "beta");
    assert_int_equal(r->places[1].machine.findings_count, 2);
    assert_int_equal(r->rounds, 4);
    for (size_t i = 0; i < r->cells_count; i++) {
        const model_cell *cell = &r->cells[i];
        assert_true(cell->round < 4);
        assert_int_equal(cell->place, cell->workload == 0 && cell->round >= 2);
        cells[cell->round] += cell->workload == 0;
    }
    for (size_t i = 0; i < 4; i++)
        assert_int_equal(cells[i], 5);
    model_free(r);
}

static void what_both_have_alike_counts_once(void **state)
{
    pair *p = *state;
    merge m = merged(p);
    model *a, *r;

    assert_int_equal(m.rounds, 3);
    assert_int_equal(m.twice, 3);
    assert_int_equal(m.left_out, 0);
    merge_clear(&m);
    a = load(p->a.path);
    r = load(p->out);
    assert_int_equal(r->cells_count, a->cells_count);
    assert_int_equal(r->places_count, 1);
    assert_int_equal(r->notes_count, a->notes_count);
    model_free(a);
    model_free(r);
}

static void of_two_that_differ_the_first_stays(void **state)
{
    pair *p = *state;
    fake out = fake_plain;
    size_t size;
    char *text;
    merge m;

    fake_edit(&p->b, "cells/w00.r001.t01.jsonl", "\"cpu_ns\":60000", "\"cpu_ns\":70000");
    m = merged(p);
    assert_int_equal(m.twice, 2);
    assert_int_equal(m.left_out, 1);
    merge_clear(&m);
    assert_true(has_note(p->out, "round 2 of churn-local:lanes=1 was left out of"));
    assert_true(has_note(p->out, p->b.path));
    assert_true(has_note(p->out, "LD_PRELOAD was cleared"));
    put_path(&out, p->out);
    text = fake_read(&out, "cells/w00.r001.t01.jsonl", &size);
    assert_non_null(text);
    assert_non_null(strstr(text, "\"cpu_ns\":60000"));
    assert_null(strstr(text, "\"cpu_ns\":70000"));
}

static void a_merge_can_be_merged_again(void **state)
{
    pair *p = *state;
    char *first[] = {p->a.path}, *both[2];
    char once[96];
    merge m;
    model *r;

    shift(&p->b, 2);
    on_host(&p->b, "beta");
    snprintf(once, sizeof once, "%s.once", p->out);
    both[0] = p->b.path;
    both[1] = once;
    assert_true(merge_directories(once, first, 1, &m, message, sizeof message));
    merge_clear(&m);
    assert_true(merge_directories(p->out, both, 2, &m, message, sizeof message));
    merge_clear(&m);
    r = load(p->out);
    assert_string_equal(r->places[0].name, "beta");
    assert_string_equal(r->places[1].name, "alpha");
    for (size_t i = 0; i < r->cells_count; i++)
        if (r->cells[i].workload == 0)
            assert_int_equal(r->cells[i].place, r->cells[i].round < 2);
    model_free(r);
    remove_tree(once);
}

/* One host name with another THP mode is another machine. */
static void machines_of_one_name_are_told_apart(void **state)
{
    pair *p = *state;
    merge m;
    model *r;

    set(&p->b, "machine[0].value", json_string("never"));
    m = merged(p);
    merge_clear(&m);
    r = load(p->out);
    assert_int_equal(r->places_count, 2);
    assert_string_equal(r->places[1].name, "alpha (2)");
    model_free(r);
    remove_tree(p->out);
    set(&p->b, "machine[0].value", json_string("always"));
    set(&p->b, "machine[1].value", json_string("9.9")); /* of no key: the same machine */
    m = merged(p);
    merge_clear(&m);
    r = load(p->out);
    assert_int_equal(r->places_count, 1);
    model_free(r);
}

/* ---- where ----------------------------------------------------------------------------------- */

static void nothing_that_is_there_is_written_over(void **state)
{
    pair *p = *state;
    char file[96];
    merge m;

    assert_int_equal(mkdir(p->out, 0700), 0);
    snprintf(file, sizeof file, "%s/mine", p->out);
    close(open(file, O_CREAT | O_WRONLY, 0600));
    assert_false(merge_two(p, &m));
    merge_clear(&m);
    assert_non_null(strstr(message, "is there already"));
    assert_int_equal(access(file, F_OK), 0);
    remove(file);
    m = merged(p); /* an empty one may be there */
    merge_clear(&m);
}

static void a_result_within_a_source_is_refused(void **state)
{
    pair *p = *state;

    snprintf(p->out, sizeof p->out, "%s/x", p->b.path);
    assert_refused(p, "would lie in its own source");
    snprintf(p->out, sizeof p->out, "%s/cells/../x", p->b.path);
    assert_refused(p, "would lie in its own source");
}

/* DIR.merging is emptied: no source may be there. */
static void a_source_in_the_way_is_refused(void **state)
{
    pair *p = *state;
    char part[96], back[96];
    merge m;

    snprintf(part, sizeof part, "%s.merging", p->out);
    snprintf(back, sizeof back, "%s", p->a.path);
    assert_int_equal(rename(p->a.path, part), 0);
    put_path(&p->a, part);
    assert_false(merge_two(p, &m));
    merge_clear(&m);
    assert_non_null(strstr(message, "would lie in its own source"));
    assert_int_equal(rename(part, back), 0);
    put_path(&p->a, back);
}

static void what_an_interrupted_merge_left_is_taken_away(void **state)
{
    pair *p = *state;
    char path[128];
    merge m;
    static const char *const folders[] = {"", "/rounds", "/cells"};
    static const char *const files[] = {"/lock", "/matrix.json", "/plan.json.77-0.tmp",
                                        "/rounds/w00.r007.json.7-1.tmp",
                                        "/cells/w00.r007.t00.jsonl"};

    for (size_t at = 0; at < 3; at++) {
        snprintf(path, sizeof path, "%s.merging%s", p->out, folders[at]);
        assert_int_equal(mkdir(path, 0700), 0);
    }
    for (size_t at = 0; at < 5; at++) {
        snprintf(path, sizeof path, "%s.merging%s", p->out, files[at]);
        close(open(path, O_CREAT | O_WRONLY, 0600));
    }
    m = merged(p);
    assert_int_equal(m.rounds, 3);
    merge_clear(&m);
    model_free(load(p->out));
}

static void a_strangers_folder_of_that_name_is_left_alone(void **state)
{
    pair *p = *state;
    char path[128];
    merge m;

    snprintf(path, sizeof path, "%s.merging", p->out);
    assert_int_equal(mkdir(path, 0700), 0);
    snprintf(path, sizeof path, "%s.merging/mine", p->out);
    close(open(path, O_CREAT | O_WRONLY, 0600));
    assert_false(merge_two(p, &m));
    merge_clear(&m);
    assert_non_null(strstr(message, "is in the way"));
    assert_int_equal(access(path, F_OK), 0);
    assert_int_not_equal(access(p->out, F_OK), 0);
}

static void a_source_that_a_run_holds_is_refused(void **state)
{
    pair *p = *state;
    char path[96];
    int fd;

    snprintf(path, sizeof path, "%s/lock", p->b.path);
    fd = open(path, O_CREAT | O_RDWR, 0600);
    assert_int_equal(flock(fd, LOCK_EX), 0);
    assert_refused(p, "a run works in");
    close(fd);
}

static void a_damaged_source_is_told_by_its_place(void **state)
{
    pair *p = *state;

    fake_edit(&p->b, "rounds/w00.r001.json", "\"round\": 1", "\"round\": true");
    assert_refused(p, "rounds/w00.r001.json:");
    fake_edit(&p->b, "rounds/w00.r001.json", "\"round\": true", "\"round\": 1");
    set(&p->b, "key", json_null());
    assert_refused(p, "/matrix.json:");
}

/* A cell that points elsewhere is no result. */
static void no_link_is_followed(void **state)
{
    pair *p = *state;
    char *cell = xasprintf("%s/cells/w00.r000.t01.jsonl", p->b.path);
    char *other = xasprintf("%s/cells/w00.r000.t01.jsonl", p->a.path);

    shift(&p->a, 2);
    assert_int_equal(remove(cell), 0);
    other[strlen(other) - strlen("0.t01.jsonl")] = '2'; /* round 0 is round 2 there */
    assert_int_equal(symlink(other, cell), 0);
    assert_refused(p, "cannot be copied");
    free(cell);
    free(other);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(rounds_of_both_are_there_with_their_numbers),
        TEST(what_both_have_alike_counts_once),
        TEST(of_two_that_differ_the_first_stays),
        TEST(a_merge_can_be_merged_again),
        TEST(machines_of_one_name_are_told_apart),
        TEST(nothing_that_is_there_is_written_over),
        TEST(a_result_within_a_source_is_refused),
        TEST(a_source_in_the_way_is_refused),
        TEST(what_an_interrupted_merge_left_is_taken_away),
        TEST(a_strangers_folder_of_that_name_is_left_alone),
        TEST(a_source_that_a_run_holds_is_refused),
        TEST(a_damaged_source_is_told_by_its_place),
        TEST(no_link_is_followed),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
