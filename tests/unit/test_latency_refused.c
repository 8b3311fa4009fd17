/* Latency in plays that fail: nothing is recorded of what was not done. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <sys/mman.h>
#include <time.h>

#include "latency.h"
#include "player.h"

/* Lane 0 stays in this call for longer than the watchdog lets lane 1 wait. */
static void *blocking_malloc(size_t size)
{
    if (size == 77)
        nanosleep(&(struct timespec){0, 300000000}, NULL);
    return honest_malloc(size);
}

/* A call that was never made is not timed. */
static void a_lane_that_gives_up_records_nothing(void **state)
{
    static const uint32_t kinds[] = {ABENCH_OP_REALLOC, ABENCH_OP_FREE};

    (void)state;
    for (size_t at = 0; at < 2; at++) {
        abench_tape_builder *b = make_builder(2, 1, ABENCH_TOUCH_ALL);
        abench_allocator allocator = honest_allocator();
        abench_latency *latency = make_latency();
        abench_player_options options = sampling(latency, 1, 0);
        abench_error error = ABENCH_ERROR_INIT;
        abench_tape *tape;
        allocator.malloc = blocking_malloc;
        options.watchdog_ms = 20;
        abench_tape_builder_malloc(b, 0, 0, 77);
        abench_tape_builder_malloc(b, 0, SHARED, 10);
        if (kinds[at] == ABENCH_OP_REALLOC)
            abench_tape_builder_realloc(b, 1, SHARED, 20);
        abench_tape_builder_free(b, 1, SHARED);
        tape = finish(b);
        assert_int_equal(abench_play(tape, &allocator, &options, NULL, &error), ABENCH_ERROR_STUCK);
        assert_int_equal(count_of(latency, ABENCH_LATENCY_REALLOC), 0);
        assert_int_equal(count_of(latency, ABENCH_LATENCY_FREE), 0);
        abench_latency_destroy(latency);
        abench_tape_destroy(tape);
    }
}

static uint64_t maps, unmaps, maps_left;

static void *counted_map(uint64_t bytes, void *user)
{
    void *memory;

    (void)user;
    if (maps_left == 0)
        return NULL;
    maps_left--;
    memory = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    maps += memory != MAP_FAILED;
    return memory == MAP_FAILED ? NULL : memory;
}

static void counted_unmap(void *memory, uint64_t bytes, void *user)
{
    (void)user;
    unmaps++;
    munmap(memory, bytes);
}

static void without_memory_there_is_no_play(void **state)
{
    abench_tape *tape = rhythm(1, 0);
    abench_latency *latency = make_latency();
    abench_memory_hooks hooks = ABENCH_MEMORY_HOOKS_INIT;
    abench_player_options options = sampling(latency, 2, 0);
    abench_error error = ABENCH_ERROR_INIT;
    uint64_t enough = 0;

    (void)state;
    hooks.map = counted_map;
    hooks.unmap = counted_unmap;
    options.hooks = &hooks;
    for (; maps_left = enough, abench_play(tape, NULL, &options, NULL, &error) != ABENCH_OK;
         enough++) {
        assert_int_equal(error.status, ABENCH_ERROR_MEMORY);
        assert_int_equal(count_of(latency, ABENCH_LATENCY_CONTROL), 0);
        assert_true(enough < 10);
    }
    assert_int_equal(maps, unmaps);
    maps_left = enough; /* one less is enough where nothing is timed */
    options.latency = NULL;
    assert_int_equal(abench_play(tape, NULL, &options, NULL, NULL), ABENCH_OK);
    assert_int_equal(maps_left, 1);
    abench_latency_destroy(latency);
    abench_tape_destroy(tape);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_lane_that_gives_up_records_nothing),
        cmocka_unit_test(without_memory_there_is_no_play),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
