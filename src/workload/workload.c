/* workload.c - from a spec's text to a workload, its plan digest and its tape. */
#include "workload/workload.h"

#include <string.h>

#include "base/arena.h"
#include "base/hash.h"
#include "base/text.h"
#include "shape/distribution.h"
#include "tape/source.h"
#include "workload/estimate.h"

typedef struct parser {
    const char *spec;
    const char *at;
    abench_workload *workload;
    uint32_t quick; /* 1: scale=quick */
    abench_error *error;
} parser;

static uint32_t column(const parser *p)
{
    return (uint32_t)(p->at - p->spec) + 1;
}

static abench_status syntax(const parser *p, const char *what)
{
    return abench__fail_at(p->error, ABENCH_ERROR_SYNTAX, column(p),
                           "workload '%.60s', column %u: %s", p->spec, column(p), what);
}

/* ---- names ----------------------------------------------------------------------------------- */

static abench_status find_kind(parser *p, const char *name)
{
    const abench__workload_kind *kind, *nearest = abench__workload_kind_at(0);

    for (uint32_t at = 0; (kind = abench__workload_kind_at(at)) != NULL; at++) {
        if (strcmp(kind->info.name, name) == 0) {
            p->workload->kind = kind;
            return ABENCH_OK;
        }
        if (abench_text_distance(kind->info.name, name) <
            abench_text_distance(nearest->info.name, name))
            nearest = kind;
    }
    return abench__fail_at(p->error, ABENCH_ERROR_NOT_FOUND, 1,
                           "there is no workload '%s'; did you mean '%s'? (allocbench list "
                           "workloads)",
                           name, nearest->info.name);
}

static abench_status find_parameter(const parser *p, const char *name, uint32_t *index)
{
    const abench__parameter *parameters = p->workload->kind->parameters;
    const char *nearest = parameters[0].name;

    for (uint32_t at = 0; parameters[at].name != NULL; at++) {
        if (strcmp(parameters[at].name, name) == 0) {
            *index = at;
            return ABENCH_OK;
        }
        if (abench_text_distance(parameters[at].name, name) < abench_text_distance(nearest, name))
            nearest = parameters[at].name;
    }
    return abench__fail_at(
        p->error, ABENCH_ERROR_NOT_FOUND, column(p),
        "workload '%.60s', column %u: %s has no parameter '%s'; did you mean '%s'?", p->spec,
        column(p), p->workload->kind->info.name, name, nearest);
}

const abench__value *abench__workload_value(const abench_workload *workload, const char *name)
{
    uint32_t at = 0;

    while (strcmp(workload->kind->parameters[at].name, name) != 0)
        at++;
    return &workload->values[at];
}

/* ---- values ---------------------------------------------------------------------------------- */

static const char *const touch_words[] = {"nothing", "first", "pages", "all"};

static abench_status read_integer(const parser *p, const abench__parameter *parameter,
                                  abench__value *value)
{
    const char *at = value->text;
    char what[160];
    abench__text text;

    if (abench__parse_size(&at, &value->number) && *at == '\0' &&
        value->number >= parameter->minimum && value->number <= parameter->maximum) {
        abench__text_init(&text, value->text, sizeof value->text);
        abench__text_put_u64(&text, value->number); /* 4k and 4096 are the same work */
        return ABENCH_OK;
    }
    abench__text_init(&text, what, sizeof what);
    abench__text_printf(&text, "%s is a whole number from %llu to %llu", parameter->name,
                        (unsigned long long)parameter->minimum,
                        (unsigned long long)parameter->maximum);
    return syntax(p, what);
}

/* 2500ms, 5s, 1m: the canonical text is in nanoseconds. */
static abench_status read_duration(const parser *p, const abench__parameter *parameter,
                                   abench__value *value)
{
    const char *at = value->text;
    char what[160];
    abench__text text;

    if (abench__parse_duration(&at, &value->number) && *at == '\0' &&
        value->number >= parameter->minimum && value->number <= parameter->maximum) {
        abench__text_init(&text, value->text, sizeof value->text);
        abench__text_put_u64(&text, value->number); /* 1s and 1000ms are the same work */
        abench__text_printf(&text, "ns");
        return ABENCH_OK;
    }
    abench__text_init(&text, what, sizeof what);
    abench__text_printf(&text, "%s is a duration from %llu to %llu ns, for instance 20us, 5s or 2h",
                        parameter->name, (unsigned long long)parameter->minimum,
                        (unsigned long long)parameter->maximum);
    return syntax(p, what);
}

static abench_status read_touch(const parser *p, abench__value *value)
{
    for (uint32_t at = 0; at < sizeof touch_words / sizeof touch_words[0]; at++) {
        if (strcmp(touch_words[at], value->text) == 0) {
            value->number = at;
            return ABENCH_OK;
        }
    }
    return syntax(p, "touch is one of nothing, first, pages, all");
}

#define FILE_FAULT "histogram file '" /* how shape/histogram.c begins */

/* What a parser of a value says is said of the place in the whole spec; what it says of a place in
 * a file stays. */
static abench_status told(const parser *p, abench_status status, const abench_error *inner)
{
    const uint32_t at = column(p) + (inner->column == 0 ? 0 : inner->column - 1);

    if (status == ABENCH_OK)
        return ABENCH_OK;
    if (inner->column == 0 || strncmp(inner->message, FILE_FAULT, strlen(FILE_FAULT)) != 0)
        return abench__fail_at(p->error, status, at, "workload '%.60s', column %u: %s", p->spec, at,
                               inner->message);
    if (p->error != NULL)
        *p->error = *inner;
    return status;
}

/* Sizes from a file: the canonical text has its digest, so that the plan is that of the
 * contents. */
static abench_status add_digest(const parser *p, abench__value *value)
{
    const uint64_t digest = abench__distribution_digest(value->sizes);
    const size_t length = strlen(value->text);
    abench__text text;

    if (digest == 0 || (length > 17 && value->text[length - 17] == '#'))
        return ABENCH_OK;
    abench__text_init(&text, value->text + length, (uint32_t)(sizeof value->text - length));
    abench__text_printf(&text, "#%016llx", (unsigned long long)digest);
    return text.truncated ? syntax(p, "the value is too long") : ABENCH_OK;
}

static abench_status read_shape(const parser *p, uint32_t type, abench__value *value)
{
    abench_error inner = ABENCH_ERROR_INIT;
    abench_status status;

    switch (type) {
    case PARAMETER_LIFETIME:
        return told(p, abench_lifetime_parse(value->text, &value->sizes, &value->unit, &inner),
                    &inner);
    case PARAMETER_PEAK:
        return told(p, abench__peak_parse(value->text, &value->peak, &inner), &inner);
    default:
        break;
    }
    status = told(p, abench_distribution_parse(value->text, &value->sizes, &inner), &inner);
    return status != ABENCH_OK ? status : add_digest(p, value);
}

/* Takes text (length bytes at p->at) as the value of parameter index. */
static abench_status set_value(const parser *p, uint32_t index, const char *text, size_t length)
{
    const abench__parameter *parameter = &p->workload->kind->parameters[index];
    abench__value *value = &p->workload->values[index];

    if (length >= sizeof value->text)
        return syntax(p, "the value is too long");
    if (value->text[0] != '\0')
        return syntax(p, "this parameter is given twice");
    memcpy(value->text, text, length);
    value->text[length] = '\0';
    switch (parameter->type) {
    case PARAMETER_INTEGER:
        return read_integer(p, parameter, value);
    case PARAMETER_DURATION:
        return read_duration(p, parameter, value);
    case PARAMETER_TOUCH:
        return read_touch(p, value);
    default:
        return read_shape(p, parameter->type, value);
    }
}

size_t abench__value_length(const char *text)
{
    size_t end = 0;

    for (;;) {
        size_t next;
        end += strcspn(text + end, ",");
        if (text[end] == '\0')
            return end;
        next = end + 1 + strcspn(text + end + 1, ",=");
        if (text[next] == '=')
            return end;
        end++;
    }
}

/* scale=full or scale=quick: which presets the rest has. */
static abench_status set_scale(parser *p, const char *text, size_t length)
{
    p->quick = length == 5 && memcmp(text, "quick", 5) == 0;
    return p->quick || (length == 4 && memcmp(text, "full", 4) == 0)
               ? ABENCH_OK
               : syntax(p, "scale is full or quick");
}

static abench_status parse_parameters(parser *p)
{
    for (;;) {
        char name[32];
        const size_t length = strcspn(p->at, "=,");
        uint32_t index = 0;
        int is_scale;
        size_t value;
        abench_status status;

        if (length == 0 || p->at[length] != '=')
            return syntax(p, "KEY=VALUE is wanted here");
        abench__copy(name, length < sizeof name ? (uint32_t)length + 1 : sizeof name, p->at);
        is_scale = strcmp(name, "scale") == 0;
        status = is_scale ? ABENCH_OK : find_parameter(p, name, &index);
        if (status != ABENCH_OK)
            return status;
        p->at += length + 1;
        value = abench__value_length(p->at);
        status = value == 0 ? syntax(p, "a value is wanted here")
                 : is_scale ? set_scale(p, p->at, value)
                            : set_value(p, index, p->at, value);
        if (status != ABENCH_OK)
            return status;
        p->at += value;
        if (*p->at == '\0')
            return ABENCH_OK;
        p->at++;
    }
}

static abench_status fill_presets(parser *p, uint32_t lanes)
{
    const abench__parameter *parameters = p->workload->kind->parameters;

    for (uint32_t at = 0; parameters[at].name != NULL; at++) {
        char number[16];
        const char *preset =
            p->quick && parameters[at].quick != NULL ? parameters[at].quick : parameters[at].preset;
        abench_status status;

        if (p->workload->values[at].text[0] != '\0')
            continue;
        if (at == 0 && lanes != 0) {
            abench__text text;
            abench__text_init(&text, number, sizeof number);
            abench__text_put_u64(&text, lanes);
            preset = number;
        }
        status = set_value(p, at, preset, strlen(preset));
        if (status != ABENCH_OK)
            return status;
    }
    return ABENCH_OK;
}

static abench_status write_spec(parser *p)
{
    const abench__workload_kind *kind = p->workload->kind;
    abench__text text;

    abench__text_init(&text, p->workload->spec, sizeof p->workload->spec);
    abench__text_printf(&text, "%s/%u", kind->info.name, kind->info.version);
    for (uint32_t at = 0; kind->parameters[at].name != NULL; at++)
        abench__text_printf(&text, "%c%s=%s", at == 0 ? ':' : ',', kind->parameters[at].name,
                            p->workload->values[at].text);
    return text.truncated ? syntax(p, "the spec is too long") : ABENCH_OK;
}

static abench_status make_workload(parser *p)
{
    p->workload = abench__map(NULL, sizeof *p->workload, 0);
    if (p->workload == NULL)
        return abench__fail(p->error, ABENCH_ERROR_MEMORY, "no memory for a workload");
    p->workload->bytes = sizeof *p->workload;
    return ABENCH_OK;
}

/* NAME, or NAME/VERSION as a canonical spec has it: then the version must be this one. */
static abench_status parse_name(parser *p)
{
    char name[32];
    const size_t length = strcspn(p->at, ":/");
    uint64_t version = 0;
    abench_status status;

    abench__copy(name, length < sizeof name ? (uint32_t)length + 1 : sizeof name, p->at);
    status = find_kind(p, name);
    if (status != ABENCH_OK)
        return status;
    p->at += length;
    if (*p->at != '/')
        return ABENCH_OK;
    p->at++;
    if (!abench__parse_u64(&p->at, &version) || (*p->at != '\0' && *p->at != ':'))
        return syntax(p, "the version of the workload is wanted here");
    return version == p->workload->kind->info.version
               ? ABENCH_OK
               : syntax(p, "this library has another version of the workload");
}

static abench_status finish_workload(parser *p, uint32_t lanes, abench_workload **out)
{
    abench_status status = fill_presets(p, lanes);

    if (status == ABENCH_OK)
        status = write_spec(p);
    if (status == ABENCH_OK)
        *out = p->workload;
    return status;
}

abench_status abench_workload_parse(const char *spec, uint64_t seed, uint32_t lanes,
                                    abench_workload **out, abench_error *error)
{
    parser p = {spec, spec, NULL, 0, error};
    abench_status status;

    *out = NULL;
    if (spec == NULL || spec[0] == '\0')
        return abench__fail(error, ABENCH_ERROR_ARGUMENT, "a workload is wanted");
    status = make_workload(&p);
    if (status != ABENCH_OK)
        return status;
    p.workload->seed = seed;
    status = parse_name(&p);
    if (status == ABENCH_OK && *p.at == ':') {
        p.at++;
        status = parse_parameters(&p);
    }
    if (status == ABENCH_OK)
        status = finish_workload(&p, lanes, out);
    if (status != ABENCH_OK)
        abench_workload_destroy(p.workload);
    return status;
}

abench_status abench__workload_of(const abench__workload_kind *kind, uint32_t quick,
                                  abench_workload **out, abench_error *error)
{
    parser p = {kind->info.name, kind->info.name, NULL, quick, error};
    abench_status status = make_workload(&p);

    *out = NULL;
    if (status != ABENCH_OK)
        return status;
    p.workload->kind = kind;
    status = finish_workload(&p, 0, out);
    if (status != ABENCH_OK)
        abench_workload_destroy(p.workload);
    return status;
}

/* ---- a workload ------------------------------------------------------------------------------ */

void abench_workload_destroy(abench_workload *workload)
{
    if (workload == NULL)
        return;
    for (uint32_t at = 0; at < ABENCH__PARAMETERS_MAX; at++)
        abench_distribution_destroy(workload->values[at].sizes);
    abench__unmap(NULL, workload, workload->bytes);
}

const char *abench_workload_spec(const abench_workload *workload)
{
    return workload->spec;
}

uint64_t abench_workload_plan_digest(const abench_workload *workload)
{
    return abench__fold(abench__fold_text(1, workload->spec), workload->seed);
}

uint64_t abench_workload_operations(const abench_workload *workload)
{
    return abench__saturating_add(workload->kind->operations(workload),
                                  abench__workload_number(workload, "lanes"));
}

uint64_t abench_workload_live_bytes(const abench_workload *workload)
{
    return workload->kind->live_bytes(workload);
}

int32_t abench_workload_pauses(const abench_workload *workload)
{
    return workload->kind->pauses != NULL && workload->kind->pauses(workload);
}

uint64_t abench__blocks_bytes(const abench_distribution *sizes, uint64_t blocks)
{
    return abench__likely_sum(blocks, abench_distribution_mean(sizes) + 1, sizes->square_mean,
                              abench_distribution_maximum(sizes));
}

uint64_t abench_workload_seed(const abench_workload *workload)
{
    return workload->seed;
}

static const abench__value *find_value(const abench_workload *workload, const char *name)
{
    for (uint32_t at = 0; workload->kind->parameters[at].name != NULL; at++)
        if (strcmp(workload->kind->parameters[at].name, name) == 0)
            return &workload->values[at];
    return NULL;
}

uint64_t abench_workload_integer(const abench_workload *workload, const char *name)
{
    const abench__value *value = find_value(workload, name);

    return value == NULL ? 0 : value->number;
}

const abench_distribution *abench_workload_sizes(const abench_workload *workload, const char *name)
{
    const abench__value *value = find_value(workload, name);

    return value == NULL ? NULL : value->sizes;
}

/* ---- its tape -------------------------------------------------------------------------------- */

static abench_status generator_begin(const void *context, void *state, abench_error *error)
{
    const abench_workload *workload = context;

    (void)error;
    workload->kind->begin(workload, state);
    return ABENCH_OK;
}

static int32_t generator_fill(const void *context, void *state, abench_tape_builder *builder,
                              abench_error *error)
{
    const abench_workload *workload = context;

    (void)error;
    return workload->kind->fill(workload, state, builder);
}

typedef abench_status (*tape_maker)(const abench_tape_options *options,
                                    const abench__generator *generator, abench_tape **out,
                                    abench_error *error);

static abench_status make_tape(const abench_workload *workload, tape_maker make,
                               const abench_memory_hooks *hooks, abench_tape **out,
                               abench_error *error)
{
    const abench__generator generator = {.context = workload,
                                         .state_bytes = workload->kind->state_bytes(workload),
                                         .begin = generator_begin,
                                         .fill = generator_fill};
    abench_tape_options options = ABENCH_TAPE_OPTIONS_INIT;
    abench_error inner = ABENCH_ERROR_INIT;
    abench_status status;

    options.hooks = hooks;
    workload->kind->shape(workload, &options);
    status = make(&options, &generator, out, &inner);
    if (status == ABENCH_OK)
        return ABENCH_OK;
    return abench__fail(error, status, "no tape for '%.100s': %s", workload->spec,
                        inner.message[0] != '\0' ? inner.message : abench_status_message(status));
}

abench_status abench_workload_tape(const abench_workload *workload,
                                   const abench_memory_hooks *hooks, abench_tape **out,
                                   abench_error *error)
{
    return make_tape(workload, abench__tape_build, hooks, out, error);
}

abench_status abench_workload_stream(const abench_workload *workload,
                                     const abench_memory_hooks *hooks, abench_tape **out,
                                     abench_error *error)
{
    return make_tape(workload, abench__tape_stream, hooks, out, error);
}
