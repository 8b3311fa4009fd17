/* Seeded streams: against published values, and against the algorithms written a second time. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <allocbench/random.h>

/* ---- the papers' algorithms, once more ------------------------------------------------------- */

/* Steele, Lea and Flood, "Fast splittable pseudorandom number generators", OOPSLA 2014. */
static uint64_t split_mix(uint64_t *state)
{
    uint64_t z = (*state += 0x9e3779b97f4a7c15u);

    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return z ^ (z >> 31);
}

/* fold of tape.h: mix((h ^ w) + increment) is one step of SplitMix64 from h ^ w. */
static uint64_t fold(uint64_t h, uint64_t w)
{
    uint64_t state = h ^ w;

    return split_mix(&state);
}

static uint64_t rotated(uint64_t x, unsigned by)
{
    return (x << by) + (x >> (64 - by));
}

/* Blackman and Vigna, "Scrambled linear pseudorandom number generators", xoshiro256++. */
static uint64_t xoshiro(uint64_t s[4])
{
    const uint64_t sum = s[0] + s[3], result = rotated(sum, 23) + s[0];
    const uint64_t a = s[0], b = s[1], c = s[2], d = s[3];

    s[0] = a ^ b ^ d;
    s[1] = a ^ b ^ c;
    s[2] = a ^ c ^ (b << 17);
    s[3] = rotated(b ^ d, 45);
    return result;
}

/* High and low half of a product, from halves of 32 bits. */
static uint64_t product_high(uint64_t a, uint64_t b, uint64_t *low)
{
    const uint64_t a1 = a >> 32, a0 = a & 0xffffffffu, b1 = b >> 32, b0 = b & 0xffffffffu;
    const uint64_t middle = a1 * b0 + (a0 * b0 >> 32);
    const uint64_t middle2 = a0 * b1 + (middle & 0xffffffffu);

    *low = a * b;
    return a1 * b1 + (middle >> 32) + (middle2 >> 32);
}

/* Lemire, "Fast random integer generation in an interval", algorithm 5, without its short cut. */
static uint64_t lemire(uint64_t s[4], uint64_t bound)
{
    const uint64_t threshold = (UINT64_MAX - bound + 1) % bound;
    uint64_t low, high;

    do
        high = product_high(xoshiro(s), bound, &low);
    while (low < threshold);
    return high;
}

static void seed_of_the_header(uint64_t s[4], uint64_t seed, uint64_t stream, uint64_t purpose)
{
    uint64_t state = fold(fold(fold(0, seed), stream), purpose);

    for (int at = 0; at < 4; at++)
        s[at] = split_mix(&state);
}

/* ---- generator and seeding ------------------------------------------------------------------- */

static void the_papers_algorithms_give_the_published_values(void **state)
{
    uint64_t seed = 1234567, s[4] = {1, 2, 3, 4};

    (void)state;
    /* SplitMix64 from 1234567. */
    assert_int_equal(split_mix(&seed), 6457827717110365317u);
    assert_int_equal(split_mix(&seed), 3203168211198807973u);
    assert_int_equal(split_mix(&seed), 9817491932198370423u);
    /* xoshiro256++ from 1, 2, 3, 4. */
    assert_int_equal(xoshiro(s), 41943041u);
    assert_int_equal(xoshiro(s), 58720359u);
    assert_int_equal(xoshiro(s), 3588806011781223u);
    assert_int_equal(xoshiro(s), 3591011842654386u);
}

static void the_generator_gives_the_published_values(void **state)
{
    static const uint64_t published[] = {
        41943041u,
        58720359u,
        3588806011781223u,
        3591011842654386u,
        9228616714210784205u,
        9973669472204895162u,
        14011001112246962877u,
        12406186145184390807u,
        15849039046786891736u,
        10450023813501588000u,
    };
    abench_random random = {{1, 2, 3, 4}};

    (void)state;
    for (size_t at = 0; at < sizeof published / sizeof published[0]; at++)
        assert_int_equal(abench_random_next(&random), published[at]);
}

static void a_stream_is_seeded_as_the_header_says(void **state)
{
    static const uint64_t seeds[] = {0, 1, 42, UINT64_MAX};

    (void)state;
    for (size_t at = 0; at < sizeof seeds / sizeof seeds[0]; at++)
        for (uint64_t stream = 0; stream < 3; stream++) {
            uint64_t wanted[4];
            abench_random random;
            seed_of_the_header(wanted, seeds[at], stream, ABENCH_PURPOSE_SIZE);
            abench_random_seed(&random, seeds[at], stream, ABENCH_PURPOSE_SIZE);
            assert_memory_equal(random.state, wanted, sizeof wanted);
            for (int draw = 0; draw < 1000; draw++)
                assert_int_equal(abench_random_next(&random), xoshiro(wanted));
        }
}

static int compare(const void *a, const void *b)
{
    const uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

    return x < y ? -1 : x > y;
}

static void streams_differ_by_seed_lane_and_purpose(void **state)
{
    enum { SEEDS = 8, LANES = 8, PURPOSES = 8, DRAWS = 4, ALL = SEEDS * LANES * PURPOSES * DRAWS };
    static uint64_t drawn[ALL];
    size_t count = 0;

    (void)state;
    for (uint64_t seed = 0; seed < SEEDS; seed++)
        for (uint64_t lane = 0; lane < LANES; lane++)
            for (uint64_t purpose = 0; purpose < PURPOSES; purpose++) {
                abench_random random;
                abench_random_seed(&random, seed, lane, purpose);
                for (int draw = 0; draw < DRAWS; draw++)
                    drawn[count++] = abench_random_next(&random);
            }
    qsort(drawn, count, sizeof drawn[0], compare);
    for (size_t at = 1; at < count; at++)
        assert_int_not_equal(drawn[at - 1], drawn[at]);
}

/* ---- bounds ---------------------------------------------------------------------------------- */

static void below_is_lemires_multiplication_with_rejection(void **state)
{
    static const uint64_t bounds[] = {
        1,
        2,
        3,
        7,
        1000,
        (uint64_t)1 << 32,
        ((uint64_t)1 << 32) + 1,
        (uint64_t)1 << 63,
        ((uint64_t)1 << 63) + 1, /* nearly every second number is rejected */
        (uint64_t)3 << 62,       /* every fourth */
        UINT64_MAX,
    };

    (void)state;
    for (size_t at = 0; at < sizeof bounds / sizeof bounds[0]; at++) {
        abench_random random;
        uint64_t wanted[4];
        abench_random_seed(&random, 7, at, ABENCH_PURPOSE_USER);
        seed_of_the_header(wanted, 7, at, ABENCH_PURPOSE_USER);
        for (int draw = 0; draw < 1000; draw++) {
            const uint64_t value = abench_random_below(&random, bounds[at]);
            assert_true(value < bounds[at]);
            assert_int_equal(value, lemire(wanted, bounds[at]));
        }
    }
}

static void a_bound_of_0_or_1_gives_0(void **state)
{
    abench_random random;

    (void)state;
    abench_random_seed(&random, 1, 2, 3);
    for (int draw = 0; draw < 100; draw++) {
        assert_int_equal(abench_random_below(&random, 0), 0);
        assert_int_equal(abench_random_below(&random, 1), 0);
    }
}

/* Chi-square of counts against even odds, times the expected count; integers, so that every
 * machine says the same. */
static uint64_t spread(const uint32_t *counts, size_t cells, uint64_t expected)
{
    uint64_t sum = 0;

    for (size_t at = 0; at < cells; at++) {
        const int64_t off = (int64_t)counts[at] - (int64_t)expected;
        sum += (uint64_t)(off * off);
    }
    return sum;
}

static void every_value_below_a_small_bound_comes_equally_often(void **state)
{
    (void)state;
    for (uint64_t bound = 2; bound <= 16; bound++) {
        uint32_t counts[16] = {0};
        abench_random random;
        abench_random_seed(&random, 3, bound, ABENCH_PURPOSE_USER);
        for (uint64_t draw = 0; draw < 10000 * bound; draw++)
            counts[abench_random_below(&random, bound)]++;
        assert_true(spread(counts, bound, 10000) < 10000 * (bound + 30)); /* p < 0.0001 above */
    }
}

/* Without rejection, of the values below 3 * 2^62 those divisible by 3 would come twice as often.
 */
static void a_large_bound_favours_no_value(void **state)
{
    uint32_t counts[3] = {0};
    abench_random random;

    (void)state;
    abench_random_seed(&random, 5, 0, ABENCH_PURPOSE_USER);
    for (int draw = 0; draw < 30000; draw++)
        counts[abench_random_below(&random, (uint64_t)3 << 62) % 3]++;
    assert_true(spread(counts, 3, 10000) < 10000 * 20);
}

/* ---- shuffle --------------------------------------------------------------------------------- */

static void a_shuffle_is_a_permutation(void **state)
{
    enum { COUNT = 1000 };
    uint32_t items[COUNT], moved = 0;
    unsigned char seen[COUNT] = {0};
    abench_random random;

    (void)state;
    abench_random_seed(&random, 9, 0, ABENCH_PURPOSE_PERMUTATION);
    for (uint32_t at = 0; at < COUNT; at++)
        items[at] = at;
    abench_random_shuffle(&random, items, COUNT);
    for (uint32_t at = 0; at < COUNT; at++) {
        assert_true(items[at] < COUNT);
        assert_int_equal(seen[items[at]]++, 0);
        moved += items[at] != at;
    }
    assert_true(moved > COUNT * 9 / 10);
}

static void a_shuffle_of_none_or_one_changes_nothing(void **state)
{
    uint32_t items[2] = {17, 23};
    abench_random random, before;

    (void)state;
    abench_random_seed(&random, 9, 0, ABENCH_PURPOSE_PERMUTATION);
    before = random;
    abench_random_shuffle(&random, items, 0);
    abench_random_shuffle(&random, items, 1);
    assert_int_equal(items[0], 17);
    assert_int_equal(items[1], 23);
    assert_memory_equal(&random, &before, sizeof random); /* and takes no number */
}

static void every_order_of_four_comes_equally_often(void **state)
{
    uint32_t counts[256] = {0}, seen = 0, compact[24];
    abench_random random;

    (void)state;
    abench_random_seed(&random, 11, 0, ABENCH_PURPOSE_PERMUTATION);
    for (int draw = 0; draw < 24 * 2000; draw++) {
        uint32_t items[4] = {0, 1, 2, 3};
        abench_random_shuffle(&random, items, 4);
        counts[items[0] | items[1] << 2 | items[2] << 4 | items[3] << 6]++;
    }
    for (size_t at = 0; at < 256; at++)
        if (counts[at] != 0) {
            assert_true(seen < 24);
            compact[seen++] = counts[at];
        }
    assert_int_equal(seen, 24);
    assert_true(spread(compact, 24, 2000) < (uint64_t)2000 * 58); /* p < 0.0001 above */
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_papers_algorithms_give_the_published_values),
        cmocka_unit_test(the_generator_gives_the_published_values),
        cmocka_unit_test(a_stream_is_seeded_as_the_header_says),
        cmocka_unit_test(streams_differ_by_seed_lane_and_purpose),
        cmocka_unit_test(below_is_lemires_multiplication_with_rejection),
        cmocka_unit_test(a_bound_of_0_or_1_gives_0),
        cmocka_unit_test(every_value_below_a_small_bound_comes_equally_often),
        cmocka_unit_test(a_large_bound_favours_no_value),
        cmocka_unit_test(a_shuffle_is_a_permutation),
        cmocka_unit_test(a_shuffle_of_none_or_one_changes_nothing),
        cmocka_unit_test(every_order_of_four_comes_equally_often),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
