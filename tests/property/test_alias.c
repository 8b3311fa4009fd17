/* Alias tables: for any weights, the odds of the table are the weights' to within 2^-32. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "shape/alias.h"
#include "support.h"

__extension__ typedef unsigned __int128 wide;

#define ONE ((uint64_t)1 << 32) /* a full column */

/* The odds of each entry, naively: every column counts once for each of its 2^32 low words. In
 * parts of count * 2^32. */
static void odds_of_table(const abench__alias *table, uint32_t count, uint64_t *odds)
{
    memset(odds, 0, count * sizeof *odds);
    for (uint32_t at = 0; at < count; at++) {
        assert_true(table[at].threshold <= ONE);
        assert_true(table[at].alias < count);
        odds[at] += table[at].threshold;
        odds[table[at].alias] += ONE - table[at].threshold;
    }
}

static wide distance(wide a, wide b)
{
    return a > b ? a - b : b - a;
}

static void assert_exact(const uint64_t *weights, uint32_t count)
{
    static abench__alias table[ABENCH__ALIAS_MAX];
    static uint64_t odds[ABENCH__ALIAS_MAX], used_up[ABENCH__ALIAS_MAX];
    uint64_t total = 0;

    memcpy(used_up, weights, count * sizeof *weights);
    memset(table, 0xff, sizeof table);
    abench__alias_build(table, used_up, count);
    odds_of_table(table, count, odds);
    for (uint32_t at = 0; at < count; at++)
        total += weights[at];
    for (uint32_t at = 0; at < count; at++) {
        /* |odds / (count 2^32) - weight / total| <= 2^-32, without a fraction */
        const wide mine = (wide)odds[at] * total, wanted = (wide)weights[at] * count * ONE;
        if (distance(mine, wanted) > (wide)count * total)
            fail_msg("entry %u of %u: weight %llu of %llu, odds %llu", at, count,
                     (unsigned long long)weights[at], (unsigned long long)total,
                     (unsigned long long)odds[at]);
        if (weights[at] == 0)
            assert_int_equal(odds[at], 0);
    }
}

static void random_weights_keep_their_odds(void **state)
{
    static uint64_t weights[ABENCH__ALIAS_MAX];
    prng random = {test_seed(__func__)};

    (void)state;
    for (int round = 0; round < 300; round++) {
        const uint32_t count = 1 + (uint32_t)prng_below(&random, round % 10 == 0 ? 1024 : 40);
        const uint64_t scale = (uint64_t)1 << prng_below(&random, 43);
        for (uint32_t at = 0; at < count; at++)
            weights[at] = prng_below(&random, 8) == 0 ? 0 : prng_below(&random, scale);
        weights[prng_below(&random, count)] += 1; /* their sum is above 0 */
        assert_exact(weights, count);
    }
}

static void weights_at_the_limits_keep_their_odds(void **state)
{
    static const uint64_t one[] = {UINT64_MAX}, even[] = {5, 5, 5, 5}, uneven[] = {1, 0, 0},
                          huge[] = {((uint64_t)1 << 62) - 1, 1, ((uint64_t)1 << 62) - 1, 1};
    static uint64_t many[ABENCH__ALIAS_MAX];

    (void)state;
    assert_exact(one, 1);
    assert_exact(even, 4);
    assert_exact(uneven, 3);
    assert_exact(huge, 3);
    for (uint32_t at = 0; at < ABENCH__ALIAS_MAX; at++)
        many[at] = at % 2 == 0 ? 1 : ((uint64_t)1 << 44) - 2;
    assert_exact(many, ABENCH__ALIAS_MAX);
}

/* The pick takes its column from the high half of the bits and compares the low half. */
static void a_pick_is_what_the_table_says(void **state)
{
    uint64_t weights[3] = {6, 3, 3};
    abench__alias table[3];

    (void)state;
    abench__alias_build(table, weights, 3);
    for (uint32_t column = 0; column < 3; column++) {
        const uint64_t high = ((ONE * column + 2) / 3) << 32; /* the first that chooses it */
        assert_int_equal(abench__alias_pick(table, 3, high),
                         table[column].threshold > 0 ? column : table[column].alias);
        if (column > 0)
            assert_int_equal(abench__alias_pick(table, 3, high - ONE),
                             table[column - 1].threshold > 0 ? column - 1
                                                             : table[column - 1].alias);
        if (table[column].threshold == ONE)
            continue;
        assert_int_equal(abench__alias_pick(table, 3, high + table[column].threshold),
                         table[column].alias);
        assert_int_equal(abench__alias_pick(table, 3, high + table[column].threshold - 1), column);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(random_weights_keep_their_odds),
        cmocka_unit_test(weights_at_the_limits_keep_their_odds),
        cmocka_unit_test(a_pick_is_what_the_table_says),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
