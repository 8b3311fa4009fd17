/* The curves: their tables against libm's distribution functions, and their draws. Floating point
 * is in this test only. All seeds are fixed. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/hash.h"
#include "shape/parser.h"

/* A curve as libm sees it: how much lies in [from, to), up to a factor. */
typedef struct row {
    const char *spec;
    long double (*mass)(const struct row *row, long double from, long double to);
    long double scale; /* mean or median */
    long double shape; /* alpha or sigma */
    uint64_t low;
    uint64_t high;
} row;

static long double mass_invsq(const row *r, long double from, long double to)
{
    (void)r;
    return (to - from) / from / to;
}

static long double mass_loguniform(const row *r, long double from, long double to)
{
    (void)r;
    return log1pl((to - from) / from);
}

static long double mass_pareto(const row *r, long double from, long double to)
{
    return powl(from / (long double)r->low, -r->shape) *
           -expm1l(-r->shape * log1pl((to - from) / from));
}

static long double mass_exp(const row *r, long double from, long double to)
{
    return expl(-(from - (long double)r->low) / r->scale) * -expm1l(-(to - from) / r->scale);
}

static long double mass_lognormal(const row *r, long double from, long double to)
{
    const long double root = sqrtl(2.0L) * r->shape;
    const long double a = logl(from / r->scale) / root, b = logl(to / r->scale) / root;

    return a > 0 ? erfcl(a) - erfcl(b) : erfcl(-b) - erfcl(-a);
}

#define G (1ull << 30)

static const row rows[] = {
    {"invsq:4-32k", mass_invsq, 0, 0, 4, 32768},
    {"invsq:1-128g", mass_invsq, 0, 0, 1, 128 * G},
    {"loguniform:16-64k", mass_loguniform, 0, 0, 16, 65536},
    {"loguniform:1-140737488355327", mass_loguniform, 0, 0, 1, 140737488355327},
    {"loguniform:100000000000-100000009999", mass_loguniform, 0, 0, 100000000000, 100000009999},
    {"pareto:1.2,16-64k", mass_pareto, 0, 1.2L, 16, 65536},
    {"pareto:0.001,1-1g", mass_pareto, 0, 0.001L, 1, G},
    {"pareto:3.125,1000-1g", mass_pareto, 0, 3.125L, 1000, G},
    {"exp:128,1-64k", mass_exp, 128, 0, 1, 65536},
    {"exp:1000000,1-1g", mass_exp, 1000000, 0, 1, G},
    {"exp:1g,5-1k", mass_exp, (long double)G, 0, 5, 1024},
    {"exp:100000000000000,1-1g", mass_exp, 1e14L, 0, 1, G},
    {"lognormal:64,1.25,1-64k", mass_lognormal, 64, 1.25L, 1, 65536},
    {"lognormal:1000000,0.01,1-1g", mass_lognormal, 1000000, 0.01L, 1, G},
    {"lognormal:100,0.1,1-64k", mass_lognormal, 100, 0.1L, 1, 65536},
    {"lognormal:100,0.003,1-1000", mass_lognormal, 100, 0.003L, 1, 1000},
    {"lognormal:8,0.05,1-100", mass_lognormal, 8, 0.05L, 1, 100},
    {"lognormal:8,0.01,9-100", mass_lognormal, 8, 0.01L, 9, 100},
    {"lognormal:3,10,1-1g", mass_lognormal, 3, 10, 1, G},
    {"lognormal:1000,1,100k-1m", mass_lognormal, 1000, 1, 102400, 1048576},
    {"lognormal:1m,1,1-64k", mass_lognormal, 1048576, 1, 1, 65536},
};

#define ROWS (sizeof rows / sizeof rows[0])

static const struct {
    const char *name;
    abench_status (*parse)(abench__parser *p);
} kinds[] = {{"invsq:", abench__parse_invsq},
             {"loguniform:", abench__parse_loguniform},
             {"pareto:", abench__parse_pareto},
             {"exp:", abench__parse_exp},
             {"lognormal:", abench__parse_lognormal}};

/* The parts and weights that a spec of sizes is compiled to. */
static const abench__parser *parts_of(const char *spec)
{
    static abench__parser p;
    static abench_error error;

    memset(&p, 0, sizeof p);
    p.noun = "size";
    p.error = &error;
    p.limit = (uint64_t)1 << 47;
    p.spec = spec;
    for (size_t at = 0; at < sizeof kinds / sizeof kinds[0]; at++) {
        const size_t length = strlen(kinds[at].name);
        if (strncmp(kinds[at].name, spec, length) != 0)
            continue;
        p.at = spec + length;
        if (kinds[at].parse(&p) != ABENCH_OK)
            fail_msg("%s", error.message);
        return &p;
    }
    fail_msg("%s is no curve", spec);
    return NULL;
}

/* Asked for is 10^-6; the arithmetic gives far more: 10^-9, and the rounding to a whole weight. */
static void each_part_weighs_what_libm_says(void **state)
{
    (void)state;
    for (size_t at = 0; at < ROWS; at++) {
        const row *r = &rows[at];
        const abench__parser *p = parts_of(r->spec);
        const long double all = r->mass(r, (long double)r->low, (long double)r->high + 1) / 0x1p53L;
        uint64_t sum = 0;
        for (uint32_t part = 0; part < p->count; part++) {
            const abench__range *range = &p->ranges[part];
            const long double wanted =
                r->mass(r, (long double)range->low, (long double)range->high + 1) / all;
            const long double off = fabsl((long double)range->weight - wanted);
            if (!(off <= wanted * 1e-9L + 1))
                fail_msg("%s: %llu-%llu weighs %llu, not %.3Lf", r->spec,
                         (unsigned long long)range->low, (unsigned long long)range->high,
                         (unsigned long long)range->weight, wanted);
            sum += range->weight;
        }
        assert_in_range(sum, ((uint64_t)1 << 53) - 512, ((uint64_t)1 << 53) + 512);
    }
}

/* Side by side, none twice; what is left out at the ends weighs nothing. */
static void the_parts_cover_the_range(void **state)
{
    (void)state;
    for (size_t at = 0; at < ROWS; at++) {
        const row *r = &rows[at];
        const abench__parser *p = parts_of(r->spec);
        const abench__range *last = &p->ranges[p->count - 1];
        const long double all = r->mass(r, (long double)r->low, (long double)r->high + 1);
        long double rest = 0;
        assert_in_range(p->count, 1, ABENCH__ALIAS_MAX);
        for (uint32_t part = 0; part < p->count; part++) {
            assert_true(p->ranges[part].low <= p->ranges[part].high);
            if (part > 0)
                assert_int_equal(p->ranges[part].low, p->ranges[part - 1].high + 1);
        }
        assert_true(p->ranges[0].low >= r->low && last->high <= r->high);
        if (p->ranges[0].low > r->low)
            rest += r->mass(r, (long double)r->low, (long double)p->ranges[0].low);
        if (last->high < r->high)
            rest += r->mass(r, (long double)last->high + 1, (long double)r->high + 1);
        if (!(rest <= all * 1e-14L))
            fail_msg("%s: %Lg of it is left out", r->spec, rest / all);
    }
}

static void parts_grow_alike_and_few_values_have_one_each(void **state)
{
    const abench__parser *p = parts_of("loguniform:1000-1000000");

    (void)state;
    assert_int_equal(p->count, 1024);
    for (uint32_t part = 0; part < 1024; part++) {
        const double width = (double)(p->ranges[part].high - p->ranges[part].low + 1);
        assert_true(width >= 0.00676 * (double)p->ranges[part].low - 1.0);
        assert_true(width <= 0.00678 * (double)p->ranges[part].low + 1.0);
    }
    p = parts_of("invsq:7-1030");
    assert_int_equal(p->count, 1024);
    for (uint32_t part = 0; part < 1024; part++) {
        assert_int_equal(p->ranges[part].low, 7 + part);
        assert_int_equal(p->ranges[part].high, 7 + part);
    }
    p = parts_of("invsq:1-1"); /* exactly: 1/1 - 1/2 is all */
    assert_int_equal(p->count, 1);
    p = parts_of("invsq:1-2"); /* 1/2 and 1/6 */
    assert_int_equal(p->ranges[0].weight, 3 * (((uint64_t)1 << 53) / 4));
    assert_int_equal(p->ranges[1].weight, ((uint64_t)1 << 53) / 4);
}

static abench_distribution *parse(const char *spec)
{
    abench_distribution *distribution = NULL;
    abench_error error = ABENCH_ERROR_INIT;

    if (abench_distribution_parse(spec, &distribution, &error) != ABENCH_OK)
        fail_msg("%s", error.message);
    return distribution;
}

#define BINS  32u
#define DRAWS 400000u

/* Chi-square over bins that libm finds equally likely. 31 degrees of freedom: 66 is passed once in
 * 4000 draws of such a table. */
static void draws_follow_the_curve(void **state)
{
    (void)state;
    for (size_t at = 0; at < ROWS; at++) {
        const row *r = &rows[at];
        abench_distribution *distribution = parse(r->spec);
        const long double all = r->mass(r, (long double)r->low, (long double)r->high + 1);
        uint64_t counts[BINS] = {0};
        long double sum = 0, odds[BINS] = {0};
        uint64_t ends[BINS]; /* the first value beyond each bin */
        uint64_t from = r->low;
        abench_random random;
        for (uint32_t bin = 0; bin < BINS; bin++) {
            uint64_t low = from, high = r->high + 1; /* by bisection */
            while (bin + 1 < BINS && low < high) {
                const uint64_t middle = low + (high - low) / 2;
                if (r->mass(r, (long double)r->low, (long double)middle) * BINS < all * (bin + 1))
                    low = middle + 1;
                else
                    high = middle;
            }
            ends[bin] = high;
            odds[bin] = high > from ? r->mass(r, (long double)from, (long double)high) / all : 0;
            from = high;
        }
        abench_random_seed(&random, 2026, 3, ABENCH_PURPOSE_SIZE);
        for (uint32_t draw = 0; draw < DRAWS; draw++) {
            const uint64_t size = abench_distribution_draw(distribution, &random);
            uint32_t bin = 0;
            assert_in_range(size, r->low, r->high);
            while (size >= ends[bin])
                bin++;
            counts[bin]++;
        }
        for (uint32_t bin = 0; bin < BINS; bin++) {
            const long double wanted = odds[bin] * DRAWS;
            if (odds[bin] > 0)
                sum += (counts[bin] - wanted) * (counts[bin] - wanted) / wanted;
            else
                assert_int_equal(counts[bin], 0);
        }
        if (!(sum < 66))
            fail_msg("%s: chi-square %Lf", r->spec, sum);
        abench_distribution_destroy(distribution);
    }
}

/* From gcc; every other compiler and level must fold its draws to the same. */
static void draws_are_the_same_everywhere(void **state)
{
    static const struct {
        const char *spec;
        uint64_t hash;
    } golden[] = {
        {"invsq:4-32k", 0x767e582d34be61c9u},
        {"loguniform:1-140737488355327", 0x75d6c23899f9fafu},
        {"pareto:1.2,16-64k", 0x84966c0989f7d12u},
        {"exp:128", 0x326ebafb5a40396cu},
        {"lognormal:64,1.25,1-64k", 0x76674d82d51ae0d4u},
        {"lognormal:64k,0.011,1-100g", 0x3782d02c88dcd3e2u},
    };

    (void)state;
    for (size_t at = 0; at < sizeof golden / sizeof golden[0]; at++) {
        abench_distribution *distribution = parse(golden[at].spec);
        abench_random random;
        uint64_t hash = 0;
        abench_random_seed(&random, 42, 0, ABENCH_PURPOSE_SIZE);
        for (int draw = 0; draw < 20000; draw++)
            hash = abench__fold(hash, abench_distribution_draw(distribution, &random));
        if (hash != golden[at].hash)
            fail_msg("%s: 0x%llx", golden[at].spec, (unsigned long long)hash);
        abench_distribution_destroy(distribution);
    }
}

static void the_mean_is_that_of_the_draws(void **state)
{
    static const struct {
        const char *spec;
        uint64_t mean;
    } means[] = {
        {"fixed:64", 64},
        {"uniform:1-256", 128},            /* 128.5 */
        {"mix:70%1-256,30%257-4096", 742}, /* 0.7 * 128.5 + 0.3 * 2176.5 = 742.9 */
        {"uniform:0-140737488355327", 70368744177663},
        {"exp:1000", 1000},          /* 1001 - 0.5, cut at 20 times the mean */
        {"invsq:4-32k", 35},         /* ln(32769 / 4) / (1 / 4 - 1 / 32769) - 0.5 */
        {"loguniform:16-64k", 7876}, /* (65537 - 16) / ln(65537 / 16) - 0.5 */
    };

    (void)state;
    for (size_t at = 0; at < sizeof means / sizeof means[0]; at++) {
        abench_distribution *distribution = parse(means[at].spec);
        assert_int_equal(abench_distribution_mean(distribution), means[at].mean);
        abench_distribution_destroy(distribution);
    }
}

static void ends_that_are_never_drawn_are_left_out(void **state)
{
    abench_distribution *distribution = parse("exp:100,1-100g");

    (void)state;
    assert_int_equal(abench_distribution_minimum(distribution), 1);
    assert_in_range(abench_distribution_maximum(distribution), 3500, 3600); /* e^-37: 2^-53 */
    abench_distribution_destroy(distribution);
    distribution = parse("exp:100");
    assert_int_equal(abench_distribution_maximum(distribution), 2000);
    abench_distribution_destroy(distribution);
    distribution = parse("exp:100000000000000"); /* 20 times that is no size */
    assert_int_equal(abench_distribution_maximum(distribution), 140737488355327);
    abench_distribution_destroy(distribution);
}

static void a_malformed_curve_is_told_the_column_and_what_is_wanted(void **state)
{
    static const struct {
        const char *spec;
        uint32_t column;
        const char *message; /* a part of it */
    } faults[] = {
        {"invsq", 6, "':' is wanted"},
        {"invsq:", 7, "a size is wanted"},
        {"invsq:4", 8, "'-' and the largest"},
        {"invsq:0-4", 7, "begins at 1"},
        {"invsq:5-4", 9, "below the smallest"},
        {"invsq:4-32k,", 12, "nothing more"},
        {"loguniform:4-140737488355328", 14, "too large"},
        {"pareto:x", 8, "alpha is wanted"},
        {"pareto:0,1-4", 8, "alpha is wanted"},
        {"pareto:0.000,1-4", 8, "alpha is wanted"},
        {"pareto:100.001,1-4", 8, "alpha is wanted"},
        {"pareto:101,1-4", 8, "alpha is wanted"},
        {"pareto:1.,1-4", 10, "a decimal"},
        {"pareto:1.0001,1-4", 13, "3 decimals"},
        {"pareto:1.2", 11, "',' and the range"},
        {"pareto:1.2,", 12, "a size is wanted"},
        {"pareto:1.2,0-9", 12, "begins at 1"},
        {"exp:", 5, "a size is wanted"},
        {"exp:0", 5, "above 0"},
        {"exp:10ms", 8, "',' and the range"}, /* 10 MiB, and an s */
        {"exp:10,", 8, "a size is wanted"},
        {"exp:10,1-5x", 11, "nothing more"},
        {"lognormal:0,1,1-2", 11, "above 0"},
        {"lognormal:1", 12, "',' and sigma"},
        {"lognormal:1,", 13, "sigma is wanted"},
        {"lognormal:1,0,1-2", 13, "sigma is wanted"},
        {"lognormal:1,10.001,1-2", 13, "sigma is wanted"},
        {"lognormal:1,1", 14, "',' and the range"},
        {"lognormal:1,1,1-2;", 18, "nothing more"},
        {"lognormal:1g,0.001,1-100", 20, "0 in all of this range"},
    };

    (void)state;
    for (size_t at = 0; at < sizeof faults / sizeof faults[0]; at++) {
        abench_distribution *distribution = (abench_distribution *)&distribution;
        abench_error error = ABENCH_ERROR_INIT;
        assert_int_equal(abench_distribution_parse(faults[at].spec, &distribution, &error),
                         ABENCH_ERROR_SYNTAX);
        assert_null(distribution);
        assert_int_equal(error.line, 1);
        if (error.column != faults[at].column ||
            strstr(error.message, faults[at].message) == NULL ||
            strstr(error.message, faults[at].spec) == NULL)
            fail_msg("'%s' gives column %u: %s", faults[at].spec, error.column, error.message);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_part_weighs_what_libm_says),
        cmocka_unit_test(the_parts_cover_the_range),
        cmocka_unit_test(parts_grow_alike_and_few_values_have_one_each),
        cmocka_unit_test(draws_follow_the_curve),
        cmocka_unit_test(draws_are_the_same_everywhere),
        cmocka_unit_test(the_mean_is_that_of_the_draws),
        cmocka_unit_test(ends_that_are_never_drawn_are_left_out),
        cmocka_unit_test(a_malformed_curve_is_told_the_column_and_what_is_wanted),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
