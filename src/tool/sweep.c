#include "tool/sweep.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <allocbench/workload.h>

#include "tool/util.h"
#include "tool/workloads.h"

#define VALUES_MOST   100
#define VARIANTS_MOST 200 /* of one target, or one workload */

static const char *const factors[] = {"thp", "aslr", "cpus"};

/* ---- what was asked -------------------------------------------------------------------------- */

static bool is_key(const char *key)
{
    if (!isalpha((unsigned char)key[0]) && key[0] != '_')
        return false;
    while (isalnum((unsigned char)*key) || *key == '_' || *key == '-')
        key++;
    return *key == '\0';
}

static bool is_of_targets(const char *key)
{
    for (size_t at = 0; at < sizeof factors / sizeof factors[0]; at++)
        if (strcmp(key, factors[at]) == 0)
            return true;
    for (; *key != '\0'; key++)
        if (isupper((unsigned char)*key))
            return true;
    return false;
}

/* false: it is there already. */
static bool add_value(sweep *s, char *value)
{
    for (size_t at = 0; at < s->count; at++)
        if (strcmp(s->values[at], value) == 0) {
            free(value);
            return false;
        }
    s->values = xrealloc(s->values, (s->count + 1) * sizeof *s->values);
    s->values[s->count++] = value;
    return true;
}

static void sweep_clear(sweep *s)
{
    for (size_t at = 0; at < s->count; at++)
        free(s->values[at]);
    free(s->values);
    free(s->key);
    memset(s, 0, sizeof *s);
}

static bool parse_values(sweep *s, const char *text, char *message, size_t message_size)
{
    const char *const separator = strchr(text, ';') != NULL ? ";" : ",";
    const char *at = text;

    for (;;) {
        const size_t length = strcspn(at, separator);
        if (length == 0) {
            snprintf(message, message_size, "--sweep '%s=%s': a value is empty", s->key, text);
            return false;
        }
        if (s->count == VALUES_MOST) {
            snprintf(message, message_size, "--sweep '%s': more than %d values", s->key,
                     VALUES_MOST);
            return false;
        }
        if (!add_value(s, xstrndup(at, length))) {
            snprintf(message, message_size, "--sweep '%s' names %.*s twice", s->key, (int)length,
                     at);
            return false;
        }
        at += length;
        /* A ';' at the end: the one value holds commas. */
        if (*at == '\0' || (at[0] == ';' && at[1] == '\0'))
            return true;
        at++;
    }
}

bool sweep_parse(const char *text, sweep *out, char *message, size_t message_size)
{
    const size_t length = strcspn(text, "=");
    bool good;

    *out = (sweep){.key = xstrndup(text, length)};
    if (text[length] != '=' || !is_key(out->key)) {
        snprintf(message, message_size, "--sweep '%s': KEY=VALUE,VALUE,... is wanted", text);
        sweep_clear(out);
        return false;
    }
    out->of_targets = is_of_targets(out->key);
    good = parse_values(out, text + length + 1, message, message_size);
    if (!good)
        sweep_clear(out);
    return good;
}

static sweep *add_sweep(sweeps *s, const sweep *one)
{
    s->items = xrealloc(s->items, (s->count + 1) * sizeof *s->items);
    s->items[s->count] = *one;
    return &s->items[s->count++];
}

static void add_lanes(sweeps *s, const arguments *a)
{
    sweep one = {.key = xstrdup("lanes"), .is_lanes = true};

    for (size_t at = 0; at < a->lane_count; at++)
        add_value(&one, xasprintf("%u", a->lane_list[at]));
    add_sweep(s, &one);
}

bool sweeps_read(const arguments *a, sweeps *out, char *message, size_t message_size)
{
    *out = (sweeps){NULL, 0};
    if (a->lane_count > 0)
        add_lanes(out, a);
    for (size_t at = 0; at < a->sweeps_count; at++) {
        sweep one;
        bool good = sweep_parse(a->sweeps[at], &one, message, message_size);
        for (size_t before = 0; good && before < out->count; before++) {
            if (strcmp(out->items[before].key, one.key) != 0)
                continue;
            snprintf(message, message_size, "'%s' is swept twice: write its values behind one %s",
                     one.key, out->items[before].is_lanes ? "--lanes" : "--sweep");
            sweep_clear(&one);
            good = false;
        }
        if (!good) {
            sweeps_clear(out);
            return false;
        }
        add_sweep(out, &one);
    }
    return true;
}

void sweeps_clear(sweeps *s)
{
    for (size_t at = 0; at < s->count; at++)
        sweep_clear(&s->items[at]);
    free(s->items);
    *s = (sweeps){NULL, 0};
}

bool sweeps_of_targets(const sweeps *s)
{
    for (size_t at = 0; at < s->count; at++)
        if (s->items[at].of_targets)
            return true;
    return false;
}

/* ---- variants -------------------------------------------------------------------------------- */

void sweep_list_clear(sweep_list *list)
{
    for (size_t at = 0; at < list->count; at++)
        free(list->items[at]);
    free(list->items);
    *list = (sweep_list){NULL, 0};
}

/* Every text of the list with every value behind it. false: these are too many. */
static bool multiply(sweep_list *list, const sweep *s)
{
    sweep_list more = {NULL, list->count * s->count};

    if (more.count > VARIANTS_MOST)
        return false;
    more.items = xcalloc(more.count, sizeof *more.items);
    for (size_t at = 0; at < more.count; at++) {
        const char *front = list->items[at / s->count];
        more.items[at] = xasprintf("%s%s%s=%s", front, front[0] == '\0' ? "" : ",", s->key,
                                   s->values[at % s->count]);
    }
    sweep_list_clear(list);
    *list = more;
    return true;
}

static void begin(sweep_list *list)
{
    list->items = xcalloc(1, sizeof *list->items);
    list->items[0] = xstrdup("");
    list->count = 1;
}

bool sweeps_settings(const sweeps *s, sweep_list *out, char *message, size_t message_size)
{
    begin(out);
    for (size_t at = 0; at < s->count; at++) {
        if (!s->items[at].of_targets || multiply(out, &s->items[at]))
            continue;
        snprintf(message, message_size, "--sweep: more than %d variants of each target",
                 VARIANTS_MOST);
        sweep_list_clear(out);
        return false;
    }
    return true;
}

/* Is the workload varied by it? *reason: why not. false with message: it must not be. */
static bool varies(const sweep *s, const char *spec, bool is_catalogue, bool *does, char *reason,
                   size_t reason_size, char *message, size_t message_size)
{
    *does = is_catalogue && workloads_has_parameter(spec, s->key);
    if (!*does) {
        snprintf(reason, reason_size, "%.200s: it has no parameter '%s', and is played once", spec,
                 s->key);
        return true;
    }
    if (!workloads_names(spec, s->key))
        return true;
    *does = false;
    if (s->is_lanes) {
        snprintf(reason, reason_size,
                 "%.200s: its spec names its lanes, so --lanes does not vary it", spec);
        return true;
    }
    snprintf(message, message_size,
             "workload '%.200s' names its %s, which --sweep varies: leave one of them out", spec,
             s->key);
    return false;
}

bool sweeps_specs(sweeps *s, const char *spec, bool is_catalogue, sweep_list *out, char *reason,
                  size_t reason_size, char *message, size_t message_size)
{
    reason[0] = '\0';
    begin(out);
    for (size_t at = 0; at < s->count; at++) {
        sweep *one = &s->items[at];
        bool does, good;
        if (one->of_targets)
            continue;
        good = varies(one, spec, is_catalogue, &does, reason, reason_size, message, message_size);
        one->is_used = one->is_used || does || (good && workloads_names(spec, one->key));
        if (good && does && !multiply(out, one)) {
            snprintf(message, message_size, "--sweep: more than %d variants of workload '%.200s'",
                     VARIANTS_MOST, spec);
            good = false;
        }
        if (!good) {
            sweep_list_clear(out);
            return false;
        }
    }
    for (size_t at = 0; at < out->count; at++) {
        char *whole = xstrdup(spec);
        if (out->items[at][0] != '\0')
            workloads_set(&whole, out->items[at]);
        free(out->items[at]);
        out->items[at] = whole;
    }
    return true;
}

/* ---- a KEY that nothing has ------------------------------------------------------------------ */

static void consider(const char *name, const char *key, char *nearest, size_t size)
{
    if (nearest[0] == '\0' || abench_text_distance(name, key) < abench_text_distance(nearest, key))
        snprintf(nearest, size, "%s", name);
}

static void find_nearest(const arguments *a, const char *key, char *nearest, size_t size)
{
    nearest[0] = '\0';
    for (size_t at = 0; at < sizeof factors / sizeof factors[0]; at++)
        consider(factors[at], key, nearest, size);
    for (size_t w = 0; w < a->workloads_count; w++) {
        abench_workload_parameter p = ABENCH_WORKLOAD_PARAMETER_INIT;
        char *name = xstrndup(a->workloads[w], strcspn(a->workloads[w], ":"));
        for (uint32_t at = 0; abench_workload_parameter_at(name, at, &p) == ABENCH_OK; at++)
            consider(p.name, key, nearest, size);
        free(name);
    }
}

bool sweeps_all_used(const sweeps *s, const arguments *a, char *message, size_t message_size)
{
    char nearest[64];

    for (size_t at = 0; at < s->count; at++) {
        const sweep *one = &s->items[at];
        if (one->of_targets || one->is_used)
            continue;
        if (one->is_lanes) {
            snprintf(message, message_size,
                     "--lanes with several numbers is for workloads of the catalogue: nothing here "
                     "can be played with them in turn");
            return false;
        }
        find_nearest(a, one->key, nearest, sizeof nearest);
        snprintf(message, message_size,
                 "--sweep '%s': no workload here has such a parameter; did you mean '%s'? "
                 "(allocbench list workloads; a variable of the targets has capitals)",
                 one->key, nearest);
        return false;
    }
    return true;
}
