/* parse.c - the text of a distribution: its kind, its values, and what is said of a fault. */
#include <string.h>

#include "base/text.h"
#include "shape/parser.h"

#define SIZE_LIMIT     ((uint64_t)1 << 47) /* what a tape can hold */
#define LIFETIME_LIMIT ((uint64_t)1 << 56)
#define TOO_LONG       "the lifetime is too long (the limit is 20015 h)"

abench_status abench__parser_fail(abench__parser *p, const char *what)
{
    const uint32_t column = (uint32_t)(p->at - p->spec) + 1;

    return abench__fail_at(p->error, ABENCH_ERROR_SYNTAX, column,
                           "%s distribution '%.60s', column %u: %s", p->noun, p->spec, column,
                           what);
}

abench_status abench__parser_fail_at(abench__parser *p, const char *at, const char *what)
{
    p->at = at;
    return abench__parser_fail(p, what);
}

abench_status abench__parser_put(abench__parser *p, uint64_t low, uint64_t high, uint64_t weight)
{
    if (p->count == ABENCH__ALIAS_MAX)
        return abench__parser_fail(p, "too many parts");
    p->ranges[p->count++] = (abench__range){low, high, weight};
    return ABENCH_OK;
}

static abench_status parse_size(abench__parser *p, uint64_t *size)
{
    const char *start = p->at;

    if (!abench__parse_size(&p->at, size))
        return abench__parser_fail(p, "a size is wanted here, for instance 64 or 4k");
    if (*size >= p->limit)
        return abench__parser_fail_at(p, start, "the size is too large (the limit is 128 TiB)");
    return ABENCH_OK;
}

/* A duration or a number of operations, as the value before it. */
static abench_status parse_lifetime(abench__parser *p, uint64_t *lifetime)
{
    const char *start = p->at;
    uint32_t unit;

    if (!abench__parse_u64(&p->at, lifetime))
        return abench__parser_fail(p, "a lifetime is wanted here, for instance 100us, or "
                                      "operations, for instance 1000");
    unit = (*p->at >= 'a' && *p->at <= 'z') || (*p->at >= 'A' && *p->at <= 'Z')
               ? ABENCH_LIFETIME_NS
               : ABENCH_LIFETIME_OPERATIONS;
    if (unit == ABENCH_LIFETIME_NS) {
        const char *letters = p->at;
        p->at = start;
        if (!abench__parse_duration(&p->at, lifetime))
            return p->at == letters
                       ? abench__parser_fail(p, "a unit is wanted here: ns, us, ms, s, m or h")
                       : abench__parser_fail_at(p, start, TOO_LONG);
    }
    if (p->unit != ABENCH__UNIT_UNKNOWN && p->unit != unit)
        return abench__parser_fail_at(p, start,
                                      unit == ABENCH_LIFETIME_NS
                                          ? "a duration after a number of operations: give all "
                                            "values a unit, or none"
                                          : "operations after a duration: give all values a unit "
                                            "(ns us ms s m h), or none");
    p->unit = unit;
    if (*lifetime >= p->limit)
        return abench__parser_fail_at(p, start,
                                      unit == ABENCH_LIFETIME_NS
                                          ? TOO_LONG
                                          : "the lifetime is too long (the limit is 2^56 "
                                            "operations)");
    return ABENCH_OK;
}

abench_status abench__parser_value(abench__parser *p, uint64_t *value)
{
    return p->is_lifetime ? parse_lifetime(p, value) : parse_size(p, value);
}

abench_status abench__parser_range(abench__parser *p, int need_both, uint64_t *low, uint64_t *high)
{
    const char *start;
    abench_status status = abench__parser_value(p, low);

    if (status != ABENCH_OK)
        return status;
    *high = *low;
    if (*p->at != '-') {
        if (!need_both)
            return ABENCH_OK;
        return abench__parser_fail(p, p->is_lifetime
                                          ? "'-' and the longest lifetime are wanted here"
                                          : "'-' and the largest size are wanted here");
    }
    start = ++p->at;
    status = abench__parser_value(p, high);
    if (status == ABENCH_OK && *high < *low)
        status =
            abench__parser_fail_at(p, start,
                                   p->is_lifetime ? "the longest lifetime is below the shortest"
                                                  : "the largest size is below the smallest");
    return status;
}

/* ---- the kinds ------------------------------------------------------------------------------- */

static const struct {
    const char *name;
    abench_status (*parse)(abench__parser *p);
    int of_lifetimes; /* 0: of sizes only */
} kinds[] = {
    {"fixed", abench__parse_fixed, 1},
    {"uniform", abench__parse_uniform, 1},
    {"mix", abench__parse_mix, 0},
    {"boundaries", abench__parse_boundaries, 0},
    {"invsq", abench__parse_invsq, 1},
    {"loguniform", abench__parse_loguniform, 1},
    {"pareto", abench__parse_pareto, 1},
    {"exp", abench__parse_exp, 1},
    {"lognormal", abench__parse_lognormal, 1},
    {"histogram", abench__parse_histogram, 0},
};

#define KINDS (sizeof kinds / sizeof kinds[0])

static abench_status fail_kind(abench__parser *p, size_t length)
{
    char name[32];
    size_t nearest = 0; /* fixed, which both have */

    abench__copy(name, length < sizeof name ? (uint32_t)length + 1 : sizeof name, p->spec);
    for (size_t at = 1; at < KINDS; at++)
        if ((kinds[at].of_lifetimes || !p->is_lifetime) &&
            abench_text_distance(name, kinds[at].name) <
                abench_text_distance(name, kinds[nearest].name))
            nearest = at;
    return abench__fail_at(p->error, ABENCH_ERROR_NOT_FOUND, 1,
                           "%s distribution '%.60s', column 1: there is no kind '%s'; did you "
                           "mean '%s:'?",
                           p->noun, p->spec, name, kinds[nearest].name);
}

static abench_status parse(abench__parser *p, abench_distribution **out)
{
    const size_t length = strcspn(p->spec, ":");
    abench_status status;

    for (size_t at = 0; at < KINDS; at++) {
        if (strlen(kinds[at].name) != length || strncmp(kinds[at].name, p->spec, length) != 0 ||
            (p->is_lifetime && !kinds[at].of_lifetimes))
            continue;
        p->at += length;
        if (*p->at != ':')
            return abench__parser_fail(p, "':' is wanted here");
        p->at++;
        status = kinds[at].parse(p);
        if (status == ABENCH_OK && *p->at != '\0')
            status = abench__parser_fail(p, "nothing more is expected here");
        if (status != ABENCH_OK)
            return status;
        status = abench__distribution_build(p->ranges, p->count, p->digest, out);
        return status == ABENCH_OK ? status : abench__fail(p->error, status, "no memory");
    }
    return fail_kind(p, length);
}

static void begin(abench__parser *p, const char *spec, uint32_t is_lifetime, abench_error *error)
{
    p->noun = is_lifetime ? "lifetime" : "size";
    p->spec = p->at = spec;
    p->error = error;
    p->limit = is_lifetime ? LIFETIME_LIMIT : SIZE_LIMIT;
    p->digest = 0;
    p->is_lifetime = is_lifetime;
    p->unit = ABENCH__UNIT_UNKNOWN;
    p->count = 0;
}

abench_status abench_distribution_parse(const char *spec, abench_distribution **out,
                                        abench_error *error)
{
    abench__parser p;

    if (out == NULL)
        return ABENCH_ERROR_ARGUMENT;
    *out = NULL;
    if (spec == NULL)
        return abench__fail(error, ABENCH_ERROR_ARGUMENT, "there is no size distribution");
    begin(&p, spec, 0, error);
    return parse(&p, out);
}

abench_status abench_lifetime_parse(const char *spec, abench_distribution **out, uint32_t *unit,
                                    abench_error *error)
{
    abench__parser p;
    abench_status status;

    if (out == NULL || unit == NULL)
        return ABENCH_ERROR_ARGUMENT;
    *out = NULL;
    if (spec == NULL)
        return abench__fail(error, ABENCH_ERROR_ARGUMENT, "there is no lifetime distribution");
    begin(&p, spec, 1, error);
    status = parse(&p, out);
    if (status == ABENCH_OK)
        *unit = p.unit;
    return status;
}
