/* workload.c - from a spec's text to a workload, its plan digest and its tape. */
#include "workload/workload.h"

#include <string.h>

#include "base/arena.h"
#include "base/hash.h"
#include "base/text.h"

typedef struct parser {
    const char *spec;
    const char *at;
    abench_workload *workload;
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

static abench_status read_sizes(const parser *p, abench__value *value)
{
    abench_error inner = ABENCH_ERROR_INIT;
    const abench_status status = abench_distribution_parse(value->text, &value->sizes, &inner);
    const uint32_t at = column(p) + (inner.column == 0 ? 0 : inner.column - 1);

    if (status == ABENCH_OK)
        return ABENCH_OK;
    return abench__fail_at(p->error, status, at, "workload '%.60s', column %u: %s", p->spec, at,
                           inner.message);
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
    case PARAMETER_TOUCH:
        return read_touch(p, value);
    default:
        return read_sizes(p, value);
    }
}

/* The length of the value at text: to the comma that a KEY= follows, or to the end. */
static size_t value_length(const char *text)
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

static abench_status parse_parameters(parser *p)
{
    for (;;) {
        char name[32];
        const size_t length = strcspn(p->at, "=,");
        uint32_t index = 0;
        size_t value;
        abench_status status;

        if (length == 0 || p->at[length] != '=')
            return syntax(p, "KEY=VALUE is wanted here");
        abench__copy(name, length < sizeof name ? (uint32_t)length + 1 : sizeof name, p->at);
        status = find_parameter(p, name, &index);
        if (status != ABENCH_OK)
            return status;
        p->at += length + 1;
        value = value_length(p->at);
        status =
            value == 0 ? syntax(p, "a value is wanted here") : set_value(p, index, p->at, value);
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
        const char *preset = parameters[at].preset;
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

abench_status abench_workload_parse(const char *spec, uint64_t seed, uint32_t lanes,
                                    abench_workload **out, abench_error *error)
{
    char name[32];
    const size_t length = spec == NULL ? 0 : strcspn(spec, ":");
    parser p = {spec, spec, NULL, error};
    abench_status status;

    *out = NULL;
    if (spec == NULL || spec[0] == '\0')
        return abench__fail(error, ABENCH_ERROR_ARGUMENT, "a workload is wanted");
    p.workload = abench__map(NULL, sizeof *p.workload, 0);
    if (p.workload == NULL)
        return abench__fail(error, ABENCH_ERROR_MEMORY, "no memory for a workload");
    p.workload->bytes = sizeof *p.workload;
    p.workload->seed = seed;
    abench__copy(name, length < sizeof name ? (uint32_t)length + 1 : sizeof name, spec);
    status = find_kind(&p, name);
    if (status == ABENCH_OK && spec[length] == ':') {
        p.at = spec + length + 1;
        status = parse_parameters(&p);
    }
    if (status == ABENCH_OK)
        status = fill_presets(&p, lanes);
    if (status == ABENCH_OK)
        status = write_spec(&p);
    if (status != ABENCH_OK) {
        abench_workload_destroy(p.workload);
        return status;
    }
    *out = p.workload;
    return ABENCH_OK;
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
    const uint64_t lanes = abench__workload_value(workload, "lanes")->number;
    uint64_t operations;

    if (__builtin_add_overflow(workload->kind->operations(workload), 1, &operations) ||
        __builtin_mul_overflow(operations, lanes, &operations))
        return UINT64_MAX;
    return operations;
}

abench_status abench_workload_tape(const abench_workload *workload,
                                   const abench_memory_hooks *hooks, abench_tape **out,
                                   abench_error *error)
{
    abench_tape_options options = ABENCH_TAPE_OPTIONS_INIT;
    abench_tape_builder *builder = NULL;
    abench_status status;

    *out = NULL;
    options.hooks = hooks;
    workload->kind->shape(workload, &options);
    status = abench_tape_builder_create(&options, &builder);
    if (status != ABENCH_OK)
        return abench__fail(error, status, "no tape for '%.100s': %s", workload->spec,
                            abench_status_message(status));
    status = workload->kind->generate(workload, builder);
    if (status == ABENCH_OK)
        status = abench_tape_builder_finish(builder, out);
    if (status != ABENCH_OK) {
        const abench_error *detail = abench_tape_builder_error(builder);
        abench__fail(error, status, "no tape for '%.100s': %s", workload->spec,
                     detail->status != ABENCH_OK ? detail->message : abench_status_message(status));
    }
    abench_tape_builder_destroy(builder);
    return status;
}
