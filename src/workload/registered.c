/*
 * registered.c - abench_workload_register: an entry of the catalogue made of a definition.
 *
 * Entries are added and never taken out, so that whoever has one may keep it; the list grows behind
 * an atomic count.
 */
#include "workload/registered.h"

#include <pthread.h>
#include <stdatomic.h>
#include <string.h>

#include "base/arena.h"
#include "base/options.h"
#include "base/text.h"

#define DEFINITION_FIRST_RELEASE 120u
#define ENTRIES_MAX              64u
#define TEXT_MAX                 4096u

_Static_assert(sizeof(abench_workload_definition) == DEFINITION_FIRST_RELEASE, "first release");

typedef struct entry {
    abench__workload_kind kind; /* first: a kind is its entry */
    abench_workload_definition definition;
    abench__parameter parameters[ABENCH__PARAMETERS_MAX + 1];
    uint32_t text_used;
    char text[TEXT_MAX]; /* every string */
} entry;

static entry *entries[ENTRIES_MAX];
static _Atomic uint32_t entries_count;
static pthread_mutex_t entries_mutex = PTHREAD_MUTEX_INITIALIZER;

const abench__workload_kind *abench__registered_at(uint32_t index)
{
    return index < atomic_load_explicit(&entries_count, memory_order_acquire)
               ? &entries[index]->kind
               : NULL;
}

void abench_workload_definition_init(abench_workload_definition *definition)
{
    memset(definition, 0, sizeof *definition);
    definition->struct_size = sizeof *definition;
}

/* ---- the callbacks --------------------------------------------------------------------------- */

static const abench_workload_definition *definition_of(const abench_workload *workload)
{
    return &((const entry *)workload->kind)->definition;
}

static uint64_t call_operations(const abench_workload *w)
{
    const abench_workload_definition *d = definition_of(w);

    return d->operations == NULL ? UINT64_MAX : d->operations(w, d->user);
}

static uint64_t call_live_bytes(const abench_workload *w)
{
    const abench_workload_definition *d = definition_of(w);

    return d->live_bytes == NULL ? 0 : d->live_bytes(w, d->user);
}

/* What is refused here is refused by the builder: so many lanes it does not have. */
static void call_shape(const abench_workload *w, abench_tape_options *options)
{
    const abench_workload_definition *d = definition_of(w);

    if (d->shape(w, options, d->user) != 0)
        options->lanes = ABENCH_LANES_MAX + 1;
}

static uint64_t call_state_bytes(const abench_workload *w)
{
    return definition_of(w)->state_bytes;
}

static void call_begin(const abench_workload *w, void *state)
{
    const abench_workload_definition *d = definition_of(w);

    if (d->begin != NULL)
        d->begin(w, state, d->user);
}

static int32_t call_fill(const abench_workload *w, void *state, abench_tape_builder *builder)
{
    const abench_workload_definition *d = definition_of(w);

    return d->fill(w, state, builder, d->user);
}

/* ---- reading a definition -------------------------------------------------------------------- */

/* Copies length bytes of text into the entry; NULL when there is no room. */
static const char *keep(entry *e, const char *text, size_t length)
{
    char *copy = e->text + e->text_used;

    if (length + 1 > sizeof e->text - e->text_used)
        return NULL;
    memcpy(copy, text, length);
    copy[length] = '\0';
    e->text_used += (uint32_t)length + 1;
    return copy;
}

static const char *keep_or_empty(entry *e, const char *text)
{
    return text == NULL ? "" : keep(e, text, strlen(text));
}

static int is_name(const char *text, size_t length)
{
    return length >= 1 && length <= 31 &&
           strspn(text, "abcdefghijklmnopqrstuvwxyz0123456789-_") >= length;
}

/* KEY=VALUE at *at: their lengths; moves *at behind it and its comma. */
static int next_pair(const char **at, const char **key, size_t *key_length, const char **value,
                     size_t *value_length)
{
    *key = *at;
    *key_length = strcspn(*at, "=,");
    if (!is_name(*key, *key_length) || (*at)[*key_length] != '=')
        return 0;
    *value = *at + *key_length + 1;
    *value_length = abench__value_length(*value);
    *at = *value + *value_length;
    if (**at == ',')
        ++*at;
    return *value_length > 0;
}

static uint32_t type_of(const char *name, const char *preset)
{
    uint64_t number;

    if (strcmp(name, "touch") == 0)
        return PARAMETER_TOUCH;
    return abench__parse_size(&preset, &number) && *preset == '\0' ? PARAMETER_INTEGER
                                                                   : PARAMETER_SIZES;
}

static int is_named_before(const entry *e, uint32_t index)
{
    for (uint32_t at = 0; at < index; at++)
        if (strcmp(e->parameters[at].name, e->parameters[index].name) == 0)
            return 1;
    return 0;
}

static abench_status read_parameters(entry *e, const char *text, abench_error *error)
{
    const char *at = text, *key, *value;
    size_t key_length, value_length;
    uint32_t count = 0;

    while (*at != '\0') {
        abench__parameter *p = &e->parameters[count];
        const char *start = at;
        if (!next_pair(&at, &key, &key_length, &value, &value_length))
            return abench__fail_at(error, ABENCH_ERROR_SYNTAX, (uint32_t)(start - text) + 1,
                                   "parameters, column %u: KEY=PRESET is wanted here",
                                   (uint32_t)(start - text) + 1);
        if (count == ABENCH__PARAMETERS_MAX)
            return abench__fail(error, ABENCH_ERROR_LIMIT, "more than %d parameters",
                                ABENCH__PARAMETERS_MAX);
        p->name = keep(e, key, key_length);
        p->preset = keep(e, value, value_length);
        if (p->name == NULL || p->preset == NULL)
            return abench__fail(error, ABENCH_ERROR_LIMIT, "the texts are longer than %u bytes",
                                TEXT_MAX);
        if (strcmp(p->name, "scale") == 0 || is_named_before(e, count))
            return abench__fail_at(error, ABENCH_ERROR_SYNTAX, (uint32_t)(start - text) + 1,
                                   "parameters, column %u: '%s' is taken",
                                   (uint32_t)(start - text) + 1, p->name);
        p->summary = "";
        p->type = type_of(p->name, p->preset);
        p->maximum = (uint64_t)1 << 48;
        count++;
    }
    if (count == 0 || strcmp(e->parameters[0].name, "lanes") != 0 ||
        e->parameters[0].type != PARAMETER_INTEGER)
        return abench__fail_at(error, ABENCH_ERROR_SYNTAX, 1,
                               "parameters, column 1: the first must be lanes=NUMBER");
    e->parameters[0].minimum = 1;
    e->parameters[0].maximum = ABENCH_LANES_MAX;
    return ABENCH_OK;
}

static abench_status read_quick(entry *e, const char *text, abench_error *error)
{
    const char *at = text, *key, *value;
    size_t key_length, value_length;

    while (*at != '\0') {
        const char *start = at;
        abench__parameter *p = e->parameters;
        const int read = next_pair(&at, &key, &key_length, &value, &value_length);
        while (read && p->name != NULL &&
               (strlen(p->name) != key_length || memcmp(p->name, key, key_length) != 0))
            p++;
        if (!read || p->name == NULL)
            return abench__fail_at(error, ABENCH_ERROR_SYNTAX, (uint32_t)(start - text) + 1,
                                   "quick, column %u: KEY=PRESET of a parameter is wanted here",
                                   (uint32_t)(start - text) + 1);
        p->quick = keep(e, value, value_length);
        if (p->quick == NULL)
            return abench__fail(error, ABENCH_ERROR_LIMIT, "the texts are longer than %u bytes",
                                TEXT_MAX);
    }
    return ABENCH_OK;
}

static abench_status read_definition(entry *e, abench_error *error)
{
    const abench_workload_definition *d = &e->definition;
    abench_workload_info *info = &e->kind.info;
    abench_status status = read_parameters(e, d->parameters, error);

    if (status == ABENCH_OK && d->quick != NULL)
        status = read_quick(e, d->quick, error);
    if (status != ABENCH_OK)
        return status;
    info->struct_size = sizeof *info;
    info->version = d->version;
    info->name = keep(e, d->name, strlen(d->name));
    info->summary = keep_or_empty(e, d->summary);
    info->source = keep_or_empty(e, d->source);
    info->timed = keep_or_empty(e, d->timed);
    info->touched = keep_or_empty(e, d->touched);
    if (info->name == NULL || info->summary == NULL || info->source == NULL ||
        info->timed == NULL || info->touched == NULL)
        return abench__fail(error, ABENCH_ERROR_LIMIT, "the texts are longer than %u bytes",
                            TEXT_MAX);
    e->kind.parameters = e->parameters;
    e->kind.operations = call_operations;
    e->kind.live_bytes = call_live_bytes;
    e->kind.shape = call_shape;
    e->kind.state_bytes = call_state_bytes;
    e->kind.begin = call_begin;
    e->kind.fill = call_fill;
    return ABENCH_OK;
}

/* ---- adding ---------------------------------------------------------------------------------- */

/* Both scales must parse: a preset that does not would be found out by whoever plays it. */
static abench_status try_presets(const entry *e, abench_error *error)
{
    for (uint32_t quick = 0; quick < 2; quick++) {
        abench_workload *workload = NULL;
        const abench_status status = abench__workload_of(&e->kind, quick, &workload, error);
        if (status != ABENCH_OK)
            return status;
        abench_workload_destroy(workload);
    }
    return ABENCH_OK;
}

static abench_status add(entry *e, abench_error *error)
{
    const abench__workload_kind *kind;
    abench_status status = ABENCH_OK;
    uint32_t count;

    pthread_mutex_lock(&entries_mutex);
    count = atomic_load(&entries_count);
    for (uint32_t at = 0; (kind = abench__workload_kind_at(at)) != NULL; at++)
        if (strcmp(kind->info.name, e->kind.info.name) == 0)
            status = abench__fail(error, ABENCH_ERROR_STATE, "there is a workload '%s' already",
                                  e->kind.info.name);
    if (status == ABENCH_OK && count == ENTRIES_MAX)
        status = abench__fail(error, ABENCH_ERROR_LIMIT, "more than %u workloads were registered",
                              ENTRIES_MAX);
    if (status == ABENCH_OK) {
        entries[count] = e;
        atomic_store_explicit(&entries_count, count + 1, memory_order_release);
    }
    pthread_mutex_unlock(&entries_mutex);
    return status;
}

abench_status abench_workload_register(const abench_workload_definition *definition,
                                       abench_error *error)
{
    abench_workload_definition d = ABENCH_WORKLOAD_DEFINITION_INIT;
    entry *e;
    abench_status status = abench__options_read(&d, sizeof d, definition, DEFINITION_FIRST_RELEASE);

    if (status != ABENCH_OK || d.name == NULL || !is_name(d.name, strlen(d.name)) ||
        d.name[strcspn(d.name, "_")] != '\0' || d.parameters == NULL || d.shape == NULL ||
        d.fill == NULL)
        return abench__fail(error, ABENCH_ERROR_ARGUMENT,
                            "a workload needs a name of 1 to 31 of a-z, 0-9 and '-', parameters, "
                            "shape and fill");
    e = abench__map(NULL, sizeof *e, 0);
    if (e == NULL)
        return abench__fail(error, ABENCH_ERROR_MEMORY, "no memory for a workload");
    e->definition = d;
    status = read_definition(e, error);
    if (status == ABENCH_OK)
        status = try_presets(e, error);
    if (status == ABENCH_OK)
        status = add(e, error);
    if (status != ABENCH_OK)
        abench__unmap(NULL, e, sizeof *e);
    return status;
}
