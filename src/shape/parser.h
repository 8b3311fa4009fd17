/*
 * parser.h - what the kinds of distributions share while their text is read: the place in it, the
 * ranges so far, and what is said of a fault.
 */
#ifndef ABENCH_SHAPE_PARSER_H
#define ABENCH_SHAPE_PARSER_H

#include "shape/distribution.h"

#define ABENCH__UNIT_UNKNOWN 2u /* neither ABENCH_LIFETIME_OPERATIONS nor _NS: no value yet */

typedef struct abench__parser {
    const char *noun; /* "size" or "lifetime": what is drawn */
    const char *spec;
    const char *at;
    abench_error *error;
    uint64_t limit;       /* values are below */
    uint64_t digest;      /* of what the text does not say: a file's content */
    uint32_t is_lifetime; /* else sizes */
    uint32_t unit;        /* of lifetimes */
    uint32_t count;
    uint32_t reserved;
    abench__range ranges[ABENCH__ALIAS_MAX];
} abench__parser;

/* Says what about the place at. */
abench_status abench__parser_fail(abench__parser *p, const char *what);

/* Says what about an earlier place. */
abench_status abench__parser_fail_at(abench__parser *p, const char *at, const char *what);

/* Adds a range. */
abench_status abench__parser_put(abench__parser *p, uint64_t low, uint64_t high, uint64_t weight);

/* Reads a size or a lifetime. */
abench_status abench__parser_value(abench__parser *p, uint64_t *value);

/* Reads LOW-HIGH or, unless need_both, a single value. */
abench_status abench__parser_range(abench__parser *p, int need_both, uint64_t *low, uint64_t *high);

/* The kinds; each reads what follows its "NAME:". */
abench_status abench__parse_fixed(abench__parser *p);
abench_status abench__parse_uniform(abench__parser *p);
abench_status abench__parse_mix(abench__parser *p);
abench_status abench__parse_boundaries(abench__parser *p);
abench_status abench__parse_invsq(abench__parser *p);
abench_status abench__parse_loguniform(abench__parser *p);
abench_status abench__parse_pareto(abench__parser *p);
abench_status abench__parse_exp(abench__parser *p);
abench_status abench__parse_lognormal(abench__parser *p);
abench_status abench__parse_histogram(abench__parser *p);

#endif
