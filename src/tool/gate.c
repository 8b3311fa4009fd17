/* gate.c - thresholds: their grammar, and what an interval says of them. */
#include "tool/gate.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tool/util.h"

#define TEXT_MOST  1000 /* of a threshold, and so of its names */
#define LIMIT_MOST 1e15

/* ---- reading --------------------------------------------------------------------------------- */

typedef struct reader {
    const char *text;
    const char *at;
    char *message;
    size_t message_size;
} reader;

/* Columns are of characters; what continues one in UTF-8 does not count. */
static bool fail_at(reader *r, const char *where, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

static bool fail_at(reader *r, const char *where, const char *format, ...)
{
    va_list list;
    size_t column = 1;
    char *what, *shown;

    for (const char *at = r->text; at < where; at++)
        column += ((unsigned char)*at & 0xc0) != 0x80;
    va_start(list, format);
    what = xvasprintf(format, list);
    va_end(list);
    shown = util_one_line(xasprintf("%.200s", r->text));
    util_one_line(what);
    snprintf(r->message, r->message_size, "'%s', column %zu: %s", shown, column, what);
    free(what);
    free(shown);
    return false;
}

static void skip_blanks(reader *r)
{
    while (*r->at == ' ' || *r->at == '\t')
        r->at++;
}

static bool is_letter(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

static bool read_metric(reader *r, gate *g)
{
    const char *from;

    skip_blanks(r);
    from = r->at;
    if (!is_letter(*from))
        return fail_at(r, from, "a metric is wanted, like rss>+5%% (allocbench list metrics)");
    while (is_letter(*r->at) || is_digit(*r->at) || *r->at == '_')
        r->at++;
    g->metric = xstrndup(from, (size_t)(r->at - from));
    return true;
}

/* "@NAME"; *name stays NULL for "@*". *there: there was one. */
static bool read_scope(reader *r, char **name, bool *there)
{
    const char *from;
    bool quoted;

    skip_blanks(r);
    *there = *r->at == '@';
    if (!*there)
        return true;
    r->at++;
    skip_blanks(r);
    quoted = *r->at == '"';
    from = r->at += quoted;
    r->at += strcspn(r->at, quoted ? "\"" : "@\"<> \t");
    if (quoted && *r->at != '"')
        return fail_at(r, from - 1, "this quotation mark has no other");
    if (r->at == from)
        return fail_at(r, from, "a name is wanted behind '@'");
    if (quoted || strncmp(from, "*", (size_t)(r->at - from)) != 0)
        *name = xstrndup(from, (size_t)(r->at - from));
    r->at += quoted;
    return true;
}

static bool read_operator(reader *r, gate *g)
{
    skip_blanks(r);
    if (*r->at != '>' && *r->at != '<')
        return fail_at(r, r->at,
                       *r->at == '=' ? "no threshold is met to the last digit: > or < is wanted"
                                     : "one of > >= < <= is wanted");
    g->above = *r->at++ == '>';
    g->or_equal = *r->at == '=';
    r->at += g->or_equal;
    return true;
}

/* Plain decimals only: strtod would take "0x1p3", "inf" and a locale's comma. */
static bool read_number(reader *r, double *value)
{
    const char *from = r->at;
    double scale = 1;

    *value = 0;
    while (is_digit(*r->at))
        *value = *value * 10 + (*r->at++ - '0');
    if (r->at == from)
        return fail_at(r, from, "a number is wanted, like +5%%, 1.05x or 100MiB");
    if (*r->at == '.') {
        if (!is_digit(r->at[1]))
            return fail_at(r, r->at + 1, "a digit is wanted behind the point");
        for (r->at++; is_digit(*r->at); r->at++) {
            *value = *value * 10 + (*r->at - '0');
            scale *= 10;
        }
        *value /= scale;
    }
    if (!(*value <= LIMIT_MOST))
        return fail_at(r, from, "this number is too large");
    return true;
}

static bool read_unit(reader *r, gate *g)
{
    static const struct {
        const char *name;
        gate_unit unit;
        double factor;
    } units[] = {
        {"", GATE_PLAIN, 1},          {"x", GATE_RATIO, 1},      {"ns", GATE_TIME, 1},
        {"us", GATE_TIME, 1e3},       {"ms", GATE_TIME, 1e6},    {"s", GATE_TIME, 1e9},
        {"B", GATE_BYTES, 1},         {"KiB", GATE_BYTES, 1024}, {"MiB", GATE_BYTES, 1048576},
        {"GiB", GATE_BYTES, 1 << 30}, {"kB", GATE_BYTES, 1e3},   {"MB", GATE_BYTES, 1e6},
        {"GB", GATE_BYTES, 1e9},
    };
    const char *from;
    size_t length = 0;

    skip_blanks(r);
    from = r->at;
    while (is_letter(from[length]))
        length++;
    for (size_t i = 0; i < sizeof units / sizeof *units; i++)
        if (strlen(units[i].name) == length && strncmp(units[i].name, from, length) == 0) {
            g->unit = units[i].unit;
            g->limit *= units[i].factor;
            r->at += length;
            return true;
        }
    return fail_at(r, from, "there is no unit '%.*s': %%, x, ns, us, ms, s, B, KiB, MiB or GiB",
                   (int)(length < 20 ? length : 20), from);
}

static bool read_limit(reader *r, gate *g)
{
    const char *from;
    char sign;

    skip_blanks(r);
    from = r->at;
    sign = *r->at;
    if (sign == '+' || sign == '-')
        r->at++;
    else
        sign = 0;
    if (!read_number(r, &g->limit))
        return false;
    skip_blanks(r);
    if (*r->at == '%') {
        g->unit = GATE_RATIO;
        g->limit = 1 + (sign == '-' ? -g->limit : g->limit) / 100;
        r->at++;
        if (g->limit > 0)
            return true;
        return fail_at(r, from, "nothing is less than nothing: more than -100%% is wanted");
    }
    if (sign != 0)
        return fail_at(r, r->at, "a %% is wanted behind a number with a sign");
    return read_unit(r, g);
}

bool gate_parse(const char *text, gate *out, char *message, size_t message_size)
{
    reader r = {text, text, message, message_size};
    bool good, there = true;

    memset(out, 0, sizeof *out);
    out->text = xstrdup(text);
    good = strlen(text) <= TEXT_MOST || fail_at(&r, text, "longer than %d bytes", TEXT_MOST);
    good = good && read_metric(&r, out) && read_scope(&r, &out->target, &there) &&
           (!there || read_scope(&r, &out->workload, &there)) && read_operator(&r, out) &&
           read_limit(&r, out);
    if (good) {
        skip_blanks(&r);
        if (*r.at != '\0')
            good = fail_at(&r, r.at, "nothing is wanted behind the limit");
    }
    if (!good)
        gate_clear(out);
    return good;
}

void gate_clear(gate *g)
{
    free(g->text);
    free(g->metric);
    free(g->target);
    free(g->workload);
    memset(g, 0, sizeof *g);
}

/* ---- names ----------------------------------------------------------------------------------- */

bool gate_is_of(const gate *g, const char *label, const char *id)
{
    const char *name = g->workload;

    if (name == NULL || strcmp(name, label) == 0 || strcmp(name, id) == 0)
        return true;
    return strlen(name) == strcspn(label, ":") && strncmp(name, label, strlen(name)) == 0;
}

char *gate_metric_name(const gate *g, size_t index)
{
    /* Of a tape, then of a command, then of one that was run interleaved. */
    static const char *const shorts[][4] = {
        {"time", "time_ns_per_operation", "wall_ns", "cpu_ns"},
        {"rss", "rss_bytes", "peak_rss_bytes", NULL},
        {"peak", "rss_peak_bytes", "peak_rss_bytes", NULL},
        {"drained", "rss_drained_bytes", NULL, NULL},
    };
    static const char *const ends[] = {"", "_bytes", "_ns", "_ratio"};
    const size_t ends_count = sizeof ends / sizeof *ends;

    if (index < ends_count)
        return xasprintf("%s%s", g->metric, ends[index]);
    for (size_t i = 0; i < sizeof shorts / sizeof *shorts; i++) {
        if (strcmp(g->metric, shorts[i][0]) != 0 || index > ends_count + 2)
            continue;
        return shorts[i][index - ends_count + 1] == NULL
                   ? NULL
                   : xstrdup(shorts[i][index - ends_count + 1]);
    }
    return NULL;
}

/* ---- judging --------------------------------------------------------------------------------- */

const char *gate_result_name(gate_result result)
{
    return result == GATE_PASSED ? "ok" : result == GATE_FAILED ? "FAILED" : "cannot tell";
}

bool gate_fits(const gate *g, const char *unit)
{
    if (g->unit == GATE_TIME)
        return strcmp(unit, "ns") == 0;
    return g->unit != GATE_BYTES || strcmp(unit, "bytes") == 0;
}

/* The limit that has to be exceeded: one within A/A is moved to its edge. */
static double least_proof(const gate *g, double noise)
{
    const double edge = g->above ? 1 + noise : 1 / (1 + noise);

    if (g->unit != GATE_RATIO || g->limit >= 1 + noise || g->limit <= 1 / (1 + noise))
        return g->limit;
    return edge;
}

gate_result gate_judge(const gate *g, const gate_case *c, const char **why)
{
    const double proof = least_proof(g, isnan(c->noise) ? 0 : c->noise);
    const double low = c->found.low, high = c->found.high;

    *why = NULL;
    if (c->found.count == 0)
        *why = g->unit == GATE_RATIO ? "there is nothing to compare it with" : "it has no value";
    else if (g->unit == GATE_RATIO && c->refused)
        *why = "A/A separates: the baseline differs from itself";
    else if (g->unit == GATE_RATIO && isnan(c->noise) && !isnan(low))
        *why = "A/A has too few rounds to tell how far apart equal things read";
    if (*why != NULL || isnan(low) || isnan(high))
        return GATE_UNKNOWN;
    if (g->above ? low > proof || (g->or_equal && low == proof)
                 : high < proof || (g->or_equal && high == proof))
        return GATE_FAILED;
    if (g->above ? high < g->limit || (!g->or_equal && high == g->limit)
                 : low > g->limit || (!g->or_equal && low == g->limit))
        return GATE_PASSED;
    if (proof != g->limit && (g->above ? low > g->limit : high < g->limit))
        *why = "A/A reaches further than this limit";
    return GATE_UNKNOWN;
}
