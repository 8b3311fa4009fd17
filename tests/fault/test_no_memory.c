/* The n-th mapping fails, for every n: the right status, and nothing stays behind. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <allocbench/allocbench.h>

#include "faults.h"

/* Long enough for the lists of words to grow. */
#define SPEC "churn-cross:lanes=3,slots=1500,rounds=3"

/* ---- what is done while a mapping fails ------------------------------------------------------ */

/* Each returns the first status that is not OK; hooks may be NULL. */
typedef abench_status (*deed)(const abench_memory_hooks *hooks);

static abench_status make_tape(const abench_memory_hooks *hooks, abench_tape **tape)
{
    abench_error error = ABENCH_ERROR_INIT;
    abench_workload *workload = NULL;
    abench_status status = abench_workload_parse(SPEC, 1, 0, &workload, &error);

    *tape = NULL;
    if (status == ABENCH_OK)
        status = abench_workload_tape(workload, hooks, tape, &error);
    abench_workload_destroy(workload);
    assert_int_equal(error.status, status);
    assert_int_equal(error.message[0] == '\0', status == ABENCH_OK);
    return status;
}

static abench_status tape_of_a_workload(const abench_memory_hooks *hooks)
{
    abench_tape *tape;
    const abench_status status = make_tape(hooks, &tape);

    assert_int_equal(tape == NULL, status != ABENCH_OK);
    abench_tape_destroy(tape);
    return status;
}

static abench_tape *played_tape;

static abench_status play(const abench_memory_hooks *hooks)
{
    abench_player_options options = ABENCH_PLAYER_OPTIONS_INIT;
    abench_error error = ABENCH_ERROR_INIT;
    abench_status status;

    options.hooks = hooks;
    status = abench_play(played_tape, NULL, &options, NULL, &error);
    assert_int_equal(error.status, status);
    return status;
}

static abench_status play_in_a_run(const abench_memory_hooks *hooks)
{
    abench_run_options o = ABENCH_RUN_OPTIONS_INIT;
    abench_run *run;
    abench_status status;

    o.hooks = hooks;
    status = abench_run_create(&o, &run);
    if (status == ABENCH_OK) {
        status = abench_run_play(run, SPEC, NULL);
        assert_int_equal(abench_run_error(run)->status, status);
    }
    abench_run_destroy(run);
    return status;
}

static abench_status own_work_in_a_run(const abench_memory_hooks *hooks)
{
    abench_run_options o = ABENCH_RUN_OPTIONS_INIT;
    abench_run *run;
    abench_status status;

    o.hooks = hooks;
    status = abench_run_create(&o, &run);
    if (status == ABENCH_OK)
        status = abench_run_start(run);
    if (status == ABENCH_OK)
        status = abench_run_phase(run, "more", ABENCH_PHASE_TIMED);
    if (status == ABENCH_OK)
        status = abench_run_stop(run);
    abench_run_destroy(run);
    return status;
}

static abench_status sampler(const abench_memory_hooks *hooks)
{
    abench_sampler_options o = ABENCH_SAMPLER_OPTIONS_INIT;
    abench_sampler *s;
    abench_status status;

    o.hooks = hooks;
    status = abench_sampler_create(&o, &s);
    assert_int_equal(s == NULL, status != ABENCH_OK);
    abench_sampler_destroy(s);
    return status;
}

static abench_status reader(const abench_memory_hooks *hooks)
{
    abench_memory_reader *r;
    const abench_status status = abench_memory_reader_create(0, &r);

    (void)hooks;
    assert_int_equal(r == NULL, status != ABENCH_OK);
    abench_memory_reader_destroy(r);
    return status;
}

static abench_status distribution(const abench_memory_hooks *hooks)
{
    abench_error error = ABENCH_ERROR_INIT;
    abench_distribution *d;
    const abench_status status = abench_distribution_parse("uniform:1-9", &d, &error);

    (void)hooks;
    assert_int_equal(d == NULL, status != ABENCH_OK);
    assert_int_equal(error.status, status);
    abench_distribution_destroy(d);
    return status;
}

/* ---- the library's own mappings -------------------------------------------------------------- */

/* Lets the first, second ... call fail until there are no more; returns how many there were. */
static uint32_t fail_each(deed run, enum fault fault)
{
    uint32_t n = 1;

    assert_int_equal(run(NULL), ABENCH_OK); /* and the C library keeps the stacks of threads */
    for (;; n++) {
        const held before = held_now();
        abench_status status;
        fault_in[fault] = n;
        status = run(NULL);
        if (fault_in[fault] != 0)
            break;
        assert_int_equal(status, ABENCH_ERROR_MEMORY);
        assert_nothing_new_is_held(before);
    }
    fault_in[fault] = 0;
    assert_int_equal(run(NULL), ABENCH_OK);
    return n - 1;
}

static void every_mapping_may_fail(void **state)
{
    static const struct {
        deed run;
        uint32_t maps; /* at least */
    } rows[] = {
        {tape_of_a_workload, 8}, {play, 1},    {play_in_a_run, 13},
        {own_work_in_a_run, 4},  {sampler, 1}, {reader, 1},
        {distribution, 1},
    };

    (void)state;
    assert_int_equal(make_tape(NULL, &played_tape), ABENCH_OK);
    for (size_t at = 0; at < sizeof rows / sizeof rows[0]; at++) {
        assert_true(fail_each(rows[at].run, FAULT_MMAP) >= rows[at].maps);
        assert_true(fail_each(rows[at].run, FAULT_MPROTECT) >= rows[at].maps);
    }
    abench_tape_destroy(played_tape);
}

/* ---- the caller's hooks ---------------------------------------------------------------------- */

typedef struct giver {
    uint32_t fails_in; /* 0: never */
    uint64_t held;     /* bytes */
    uint32_t calls;
} giver;

static void *give(uint64_t bytes, void *user)
{
    giver *g = user;
    void *memory;

    g->calls++;
    if (g->fails_in > 0 && --g->fails_in == 0)
        return NULL;
    memory = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED)
        return NULL;
    g->held += bytes;
    return memory;
}

static void take_back(void *memory, uint64_t bytes, void *user)
{
    ((giver *)user)->held -= bytes;
    munmap(memory, bytes);
}

static void every_call_of_a_hook_may_fail(void **state)
{
    static const struct {
        deed run;
        uint32_t calls; /* at least */
    } rows[] = {
        {tape_of_a_workload, 6}, {play, 1},    {play_in_a_run, 10},
        {own_work_in_a_run, 3},  {sampler, 1},
    };

    (void)state;
    assert_int_equal(make_tape(NULL, &played_tape), ABENCH_OK);
    for (size_t at = 0; at < sizeof rows / sizeof rows[0]; at++) {
        giver g = {0};
        abench_memory_hooks hooks = {sizeof hooks, 0, give, take_back, &g};
        uint32_t calls;
        assert_int_equal(rows[at].run(&hooks), ABENCH_OK);
        assert_int_equal(g.held, 0);
        calls = g.calls;
        assert_true(calls >= rows[at].calls);
        for (uint32_t n = 1; n <= calls; n++) {
            const held before = held_now();
            g.fails_in = n;
            assert_int_equal(rows[at].run(&hooks), ABENCH_ERROR_MEMORY);
            assert_int_equal(g.fails_in, 0);
            assert_int_equal(g.held, 0);
            assert_nothing_new_is_held(before);
        }
    }
    abench_tape_destroy(played_tape);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_mapping_may_fail),
        cmocka_unit_test(every_call_of_a_hook_may_fail),
    };
    if (!FAULTS_POSSIBLE) {
        puts("skipped under ThreadSanitizer");
        return 0;
    }
    return cmocka_run_group_tests(tests, NULL, NULL);
}
