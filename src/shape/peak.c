/* peak.c - the text of a peak: FACTORx@EVERY/FOR. */
#include "shape/peak.h"

#include <string.h>

#include "base/text.h"

#define PPM        1000000u
#define FACTOR_MAX 1000u

typedef struct parser {
    const char *text;
    const char *at;
    abench_error *error;
} parser;

static abench_status fail(const parser *p, const char *what)
{
    const uint32_t column = (uint32_t)(p->at - p->text) + 1;

    return abench__fail_at(p->error, ABENCH_ERROR_SYNTAX, column, "peak '%.60s', column %u: %s",
                           p->text, column, what);
}

/* 2 or 1.5, in parts of 10^-6. */
static abench_status parse_factor(parser *p, uint64_t *ppm)
{
    const char *start = p->at;
    uint64_t unit = PPM;

    if (!abench__parse_u64(&p->at, ppm))
        return fail(p, "'none' or a factor is wanted here, for instance 2x@30s/2500ms");
    if (*ppm > FACTOR_MAX) {
        p->at = start;
        return fail(p, "the factor is too large (the limit is 1000)");
    }
    *ppm *= PPM;
    if (*p->at == '.') {
        p->at++;
        if (*p->at < '0' || *p->at > '9')
            return fail(p, "a decimal is wanted here");
        for (; *p->at >= '0' && *p->at <= '9'; p->at++) {
            unit /= 10;
            if (unit == 0)
                return fail(p, "a factor has at most 6 decimals");
            *ppm += (uint64_t)(*p->at - '0') * unit;
        }
    }
    if (*ppm == 0 || *ppm > FACTOR_MAX * (uint64_t)PPM) {
        p->at = start;
        return fail(p, *ppm == 0 ? "a factor is above 0; without peaks write 'none'"
                                 : "the factor is too large (the limit is 1000)");
    }
    return ABENCH_OK;
}

static abench_status parse_duration(parser *p, uint64_t *ns)
{
    const char *start = p->at;

    if (abench__parse_duration(&p->at, ns) && *ns != 0)
        return ABENCH_OK;
    p->at = start;
    return fail(p, "a duration above 0 is wanted here, for instance 30s or 2500ms");
}

abench_status abench__peak_parse(const char *text, abench__peak *out, abench_error *error)
{
    parser p = {text, text, error};
    abench__peak peak;
    const char *length;
    abench_status status;

    *out = (abench__peak){0, 0, 0};
    if (strcmp(text, "none") == 0)
        return ABENCH_OK;
    status = parse_factor(&p, &peak.factor_ppm);
    if (status != ABENCH_OK)
        return status;
    if (p.at[0] != 'x' || p.at[1] != '@')
        return fail(&p, "'x@' and how often are wanted here, for instance x@30s");
    p.at += 2;
    status = parse_duration(&p, &peak.every_ns);
    if (status != ABENCH_OK)
        return status;
    if (*p.at != '/')
        return fail(&p, "'/' and how long are wanted here, for instance /2500ms");
    length = ++p.at;
    status = parse_duration(&p, &peak.for_ns);
    if (status != ABENCH_OK)
        return status;
    if (*p.at != '\0')
        return fail(&p, "nothing more is expected here");
    if (peak.for_ns >= peak.every_ns) {
        p.at = length;
        return fail(&p, "a peak is shorter than the time from one to the next");
    }
    *out = peak;
    return ABENCH_OK;
}
