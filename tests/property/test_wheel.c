/* The timing wheel against a naive oracle: a list that is searched from end to end. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "shape/wheel.h"
#include "support.h"

#define ITEMS 300

/* What the header says, done naively. */
typedef struct oracle {
    uint64_t time;
    uint64_t additions;
    struct {
        uint64_t due, order;
        int is_in;
    } items[ITEMS];
} oracle;

static void oracle_add(oracle *o, uint32_t item, uint64_t due)
{
    assert_false(o->items[item].is_in);
    o->items[item].due = due > o->time ? due : o->time;
    o->items[item].order = o->additions++;
    o->items[item].is_in = 1;
}

static uint32_t oracle_take(oracle *o, uint64_t now)
{
    uint32_t first = ABENCH__WHEEL_NONE;

    for (uint32_t at = 0; at < ITEMS; at++) {
        if (!o->items[at].is_in || o->items[at].due > now)
            continue;
        if (first == ABENCH__WHEEL_NONE || o->items[at].due < o->items[first].due ||
            (o->items[at].due == o->items[first].due && o->items[at].order < o->items[first].order))
            first = at;
    }
    if (first == ABENCH__WHEEL_NONE) {
        o->time = now > o->time ? now : o->time;
        return first;
    }
    o->items[first].is_in = 0;
    o->time = o->items[first].due;
    return first;
}

static uint32_t oracle_count(const oracle *o)
{
    uint32_t count = 0;

    for (uint32_t at = 0; at < ITEMS; at++)
        count += o->items[at].is_in != 0;
    return count;
}

static uint32_t a_free_item(const oracle *o, prng *random)
{
    uint32_t item = (uint32_t)prng_below(random, ITEMS);

    while (o->items[item].is_in)
        item = (item + 1) % ITEMS;
    return item;
}

/* Mostly near, sometimes anywhere, sometimes gone by: up to 2^bits ahead. */
static uint64_t a_due(prng *random, uint64_t now, uint64_t bits)
{
    const uint64_t ahead = prng_next(random) >> (64 - 1 - prng_below(random, bits));

    if (prng_below(random, 8) == 0)
        return now - (ahead > now ? now : ahead);
    return now > UINT64_MAX - ahead ? UINT64_MAX : now + ahead;
}

static uint64_t forward(prng *random, uint64_t now, uint64_t bits)
{
    const uint64_t ahead = prng_next(random) >> (64 - 1 - prng_below(random, bits));

    return now > UINT64_MAX - ahead ? UINT64_MAX : now + ahead;
}

static void play(prng *random, uint64_t start, uint64_t bits, int steps)
{
    const uint64_t bytes = abench__wheel_bytes(ITEMS);
    unsigned char *memory = calloc(1, bytes + 8);
    abench__wheel *wheel = abench__wheel_init(memory, ITEMS);
    oracle *o = calloc(1, sizeof *o);
    uint64_t now = start;
    uint32_t item;

    memset(memory + bytes, 0x5a, 8);
    for (int step = 0; step < steps; step++) {
        const uint64_t what = prng_below(random, 4);
        if (what < 2 && oracle_count(o) < ITEMS) {
            const uint64_t due = a_due(random, now, bits);
            item = a_free_item(o, random);
            oracle_add(o, item, due);
            abench__wheel_add(wheel, item, due);
        } else if (what == 2) {
            now = forward(random, now, bits);
        } else {
            for (uint64_t takes = prng_below(random, 8); takes > 0; takes--) {
                const uint32_t wanted = oracle_take(o, now);
                item = abench__wheel_take(wheel, now);
                if (item != wanted)
                    fail_msg("step %d, now %llu: item %u, wanted %u", step, (unsigned long long)now,
                             item, wanted);
                if (item == ABENCH__WHEEL_NONE)
                    break;
            }
        }
    }
    while ((item = abench__wheel_take_any(wheel)) != ABENCH__WHEEL_NONE) {
        assert_in_range(item, 0, ITEMS - 1);
        assert_true(o->items[item].is_in);
        o->items[item].is_in = 0;
    }
    assert_int_equal(oracle_count(o), 0);
    for (int at = 0; at < 8; at++)
        assert_int_equal(memory[bytes + (unsigned)at], 0x5a);
    free(o);
    free(memory);
}

static void items_come_out_as_a_search_finds_them(void **state)
{
    prng random = {test_seed(__func__)};

    (void)state;
    for (int round = 0; round < 200; round++) {
        const uint64_t start = prng_next(&random) >> prng_below(&random, 64);
        play(&random, round % 2 == 0 ? 0 : start, 1 + prng_below(&random, 63), 600);
        play(&random, 0, 1 + prng_below(&random, 8), 600); /* many items a tick */
    }
}

/* All at one tick far away: they come in the order of adding, whenever each was added. */
static void items_of_one_tick_keep_the_order_of_adding(void **state)
{
    abench__wheel *wheel = abench__wheel_init(calloc(1, abench__wheel_bytes(64)), 64);
    const uint64_t due = ((uint64_t)1 << 40) + 12345;

    (void)state;
    for (uint32_t item = 0; item < 64; item++) {
        const uint32_t number = item * 37 % 64;
        assert_int_equal(abench__wheel_take(wheel, due - (due >> item) - 1), ABENCH__WHEEL_NONE);
        abench__wheel_add(wheel, number, due);
    }
    for (uint32_t item = 0; item < 64; item++)
        assert_int_equal(abench__wheel_take(wheel, UINT64_MAX), item * 37 % 64);
    assert_int_equal(abench__wheel_take(wheel, UINT64_MAX), ABENCH__WHEEL_NONE);
    free(wheel);
}

static void the_ends_of_time_are_ticks_too(void **state)
{
    abench__wheel *wheel = abench__wheel_init(calloc(1, abench__wheel_bytes(4)), 4);

    (void)state;
    assert_int_equal(abench__wheel_take_any(wheel), ABENCH__WHEEL_NONE);
    abench__wheel_add(wheel, 3, UINT64_MAX);
    abench__wheel_add(wheel, 2, UINT64_MAX - 1);
    abench__wheel_add(wheel, 1, 0);
    assert_int_equal(abench__wheel_take(wheel, 0), 1);
    assert_int_equal(abench__wheel_take(wheel, UINT64_MAX - 2), ABENCH__WHEEL_NONE);
    assert_int_equal(abench__wheel_take(wheel, UINT64_MAX), 2);
    abench__wheel_add(wheel, 2, 7); /* gone by: due at UINT64_MAX - 1 */
    assert_int_equal(abench__wheel_take(wheel, UINT64_MAX - 1), 2);
    assert_int_equal(abench__wheel_take(wheel, UINT64_MAX), 3);
    abench__wheel_add(wheel, 0, 5);
    assert_int_equal(abench__wheel_take(wheel, UINT64_MAX), 0);
    assert_int_equal(abench__wheel_take_any(wheel), ABENCH__WHEEL_NONE);
    free(wheel);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(items_come_out_as_a_search_finds_them),
        cmocka_unit_test(items_of_one_tick_keep_the_order_of_adding),
        cmocka_unit_test(the_ends_of_time_are_ticks_too),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
