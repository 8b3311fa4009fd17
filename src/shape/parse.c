/* parse.c - the text of a distribution: fixed: uniform: mix: boundaries: */
#include <string.h>

#include "base/text.h"
#include "shape/distribution.h"

#define SIZE_LIMIT ((uint64_t)1 << 47) /* what a tape can hold */

typedef struct parser {
    const char *spec;
    const char *at;
    abench_error *error;
    uint32_t count;
    abench__range ranges[ABENCH__ALIAS_MAX];
} parser;

static abench_status fail(parser *p, const char *what)
{
    return abench__fail_at(p->error, ABENCH_ERROR_SYNTAX, (uint32_t)(p->at - p->spec) + 1,
                           "size distribution '%.60s', column %u: %s", p->spec,
                           (uint32_t)(p->at - p->spec) + 1, what);
}

static abench_status put(parser *p, uint64_t low, uint64_t high, uint64_t weight)
{
    if (p->count == ABENCH__ALIAS_MAX)
        return fail(p, "too many parts");
    p->ranges[p->count++] = (abench__range){low, high, weight};
    return ABENCH_OK;
}

static abench_status parse_one_size(parser *p, uint64_t *size)
{
    const char *start = p->at;

    if (!abench__parse_size(&p->at, size))
        return fail(p, "a size is wanted here, for instance 64 or 4k");
    if (*size >= SIZE_LIMIT) {
        p->at = start;
        return fail(p, "the size is too large (the limit is 128 TiB)");
    }
    return ABENCH_OK;
}

/* SIZE or, with need_both or not, SIZE-SIZE. */
static abench_status parse_range(parser *p, int need_both, uint64_t *low, uint64_t *high)
{
    const char *start;
    abench_status status = parse_one_size(p, low);

    if (status != ABENCH_OK)
        return status;
    *high = *low;
    if (*p->at != '-')
        return need_both ? fail(p, "'-' and the largest size are wanted here") : ABENCH_OK;
    start = ++p->at;
    status = parse_one_size(p, high);
    if (status == ABENCH_OK && *high < *low) {
        p->at = start;
        status = fail(p, "the largest size is below the smallest");
    }
    return status;
}

static abench_status parse_fixed(parser *p)
{
    uint64_t size;
    const abench_status status = parse_one_size(p, &size);

    return status != ABENCH_OK ? status : put(p, size, size, 1);
}

static abench_status parse_uniform(parser *p)
{
    uint64_t low, high;
    const abench_status status = parse_range(p, 1, &low, &high);

    return status != ABENCH_OK ? status : put(p, low, high, 1);
}

#define PERCENT     1000000u /* one percent, in parts of 10^-6 percent */
#define PERCENT_ALL (100 * (uint64_t)PERCENT)

/* 70% or 12.5%, in parts of 10^-6 percent. */
static abench_status parse_percent(parser *p, uint64_t *weight)
{
    uint64_t unit = PERCENT;

    if (!abench__parse_u64(&p->at, weight) || *weight > 100)
        return fail(p, "a percentage is wanted here, for instance 70%");
    *weight *= PERCENT;
    if (*p->at == '.') {
        for (p->at++; *p->at >= '0' && *p->at <= '9'; p->at++) {
            unit /= 10;
            if (unit == 0)
                return fail(p, "a percentage has at most 6 decimals");
            *weight += (uint64_t)(*p->at - '0') * unit;
        }
    }
    if (*p->at != '%')
        return fail(p, "'%' is wanted here");
    p->at++;
    return *weight == 0 ? fail(p, "a part of 0 % does nothing: leave it out") : ABENCH_OK;
}

static abench_status parse_mix(parser *p)
{
    uint64_t sum = 0;

    for (;;) {
        uint64_t weight, low, high;
        abench_status status = parse_percent(p, &weight);
        if (status == ABENCH_OK)
            status = parse_range(p, 0, &low, &high);
        if (status == ABENCH_OK)
            status = put(p, low, high, weight);
        if (status != ABENCH_OK)
            return status;
        sum += weight;
        if (*p->at != ',')
            break;
        p->at++;
    }
    return sum == PERCENT_ALL ? ABENCH_OK : fail(p, "the percentages do not sum up to 100 %");
}

#define OFFSET 8u /* the probe's sizes lie at most so far from a boundary */

/* One boundary's window [boundary - 8, boundary + 8], each size of it with weight 1, what lies
 * outside [low, high] moved to the edge. */
static abench_status put_window(parser *p, uint64_t boundary, uint64_t low, uint64_t high)
{
    const uint64_t first = boundary - OFFSET, last = boundary + OFFSET;
    const uint64_t inner_first = first < low ? low : first;
    const uint64_t inner_last = last > high ? high : last;
    abench_status status = put(p, inner_first, inner_last, inner_last - inner_first + 1);

    if (status == ABENCH_OK && first < low)
        status = put(p, low, low, low - first);
    if (status == ABENCH_OK && last > high)
        status = put(p, high, high, last - high);
    return status;
}

static abench_status parse_boundaries(parser *p)
{
    const char *start = p->at;
    uint64_t low, high;
    abench_status status = parse_range(p, 1, &low, &high);

    if (status != ABENCH_OK)
        return status;
    for (uint64_t doubling = 32; doubling - OFFSET <= high; doubling *= 2) {
        for (uint64_t step = 0; step < 4; step++) {
            const uint64_t boundary = doubling + step * (doubling / 4);
            if (boundary + OFFSET < low || boundary - OFFSET > high)
                continue;
            status = put_window(p, boundary, low, high);
            if (status != ABENCH_OK)
                return status;
        }
    }
    p->at = p->count == 0 ? start : p->at;
    return p->count == 0 ? fail(p, "no size-class boundary lies in this range") : ABENCH_OK;
}

static const struct {
    const char *name;
    abench_status (*parse)(parser *p);
} kinds[] = {
    {"fixed", parse_fixed},
    {"uniform", parse_uniform},
    {"mix", parse_mix},
    {"boundaries", parse_boundaries},
};

#define KINDS (sizeof kinds / sizeof kinds[0])

static abench_status fail_kind(parser *p, size_t length)
{
    char name[32];
    size_t nearest = 0;

    abench__copy(name, length < sizeof name ? (uint32_t)length + 1 : sizeof name, p->spec);
    for (size_t at = 1; at < KINDS; at++)
        if (abench_text_distance(name, kinds[at].name) <
            abench_text_distance(name, kinds[nearest].name))
            nearest = at;
    return abench__fail_at(
        p->error, ABENCH_ERROR_NOT_FOUND, 1,
        "size distribution '%.60s', column 1: there is no kind '%s'; did you mean "
        "'%s:'?",
        p->spec, name, kinds[nearest].name);
}

abench_status abench_distribution_parse(const char *spec, abench_distribution **out,
                                        abench_error *error)
{
    parser p;
    size_t length;
    abench_status status;

    if (out == NULL)
        return ABENCH_ERROR_ARGUMENT;
    *out = NULL;
    if (spec == NULL)
        return abench__fail(error, ABENCH_ERROR_ARGUMENT, "there is no size distribution");
    p.spec = p.at = spec;
    p.error = error;
    p.count = 0;
    length = strcspn(spec, ":");
    for (size_t at = 0; at < KINDS; at++) {
        if (strlen(kinds[at].name) != length || strncmp(kinds[at].name, spec, length) != 0)
            continue;
        p.at += length;
        if (*p.at != ':')
            return fail(&p, "':' is wanted here");
        p.at++;
        status = kinds[at].parse(&p);
        if (status == ABENCH_OK && *p.at != '\0')
            status = fail(&p, "nothing more is expected here");
        if (status == ABENCH_OK)
            status = abench__distribution_build(p.ranges, p.count, out);
        return status == ABENCH_ERROR_MEMORY ? abench__fail(error, status, "no memory") : status;
    }
    return fail_kind(&p, length);
}
