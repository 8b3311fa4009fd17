#include "tool/record_parts.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <allocbench/machine.h>

#include "tool/util.h"

/* More of a kind than any honest run writes. */
#define STATISTICS_MAX 64u
#define SETTINGS_MAX   1000u
#define NAME_BYTES     128u
#define TEXT_BYTES     4096u

static char *copy_text(json_source *source, const json_t *from, const char *key, size_t maximum,
                       json_presence presence)
{
    return xstrdup(json_get_text(source, from, key, maximum, presence));
}

/* The object under key, of at most so many names that are none too long; NULL when it lacks or is
 * wrong. The path is then in it: leave() goes back. */
static json_t *enter(json_source *source, const json_t *record, const char *key, size_t maximum)
{
    json_t *object = json_get_object(source, record, key, JSON_MAY_LACK);
    const char *name;
    json_t *value;

    if (object == NULL)
        return NULL;
    if (json_object_size(object) > maximum) {
        json_source_fail(source, key, "more than %zu names", maximum);
        return NULL;
    }
    snprintf(source->path, sizeof source->path, "%s", key);
    json_object_foreach(object, name, value)
    {
        if (strlen(name) > NAME_BYTES)
            json_source_fail(source, NULL, "a name longer than %u bytes", NAME_BYTES);
    }
    return object;
}

static void leave(json_source *source)
{
    source->path[0] = '\0';
}

/* ---- readings -------------------------------------------------------------------------------- */

void record_memory(json_source *source, const json_t *from, abench_memory *memory)
{
    abench_memory_field field = ABENCH_MEMORY_FIELD_INIT;

    abench_memory_init(memory);
    for (uint32_t i = 0; abench_memory_field_at(i, &field) == ABENCH_OK; i++) {
        uint64_t value;
        if (json_object_get(from, field.name) == NULL)
            continue;
        value = json_get_count(source, from, field.name, RECORD_COUNT_MAX, JSON_NEEDED);
        memcpy((char *)memory + field.offset, &value, sizeof value);
        memory->valid |= field.bit;
    }
}

static void read_account(json_source *source, json_t *from, model_account *account)
{
    const char *name;
    json_t *value;

    account->items = xcalloc(json_object_size(from) + 1, sizeof *account->items);
    json_object_foreach(from, name, value)
    {
        if (source->wide && json_is_real(value) && json_real_value(value) >= 0x1p63)
            continue;
        account->items[account->count++] = (model_statistic){
            xstrdup(name), json_get_count(source, from, name, RECORD_COUNT_MAX, JSON_NEEDED)};
    }
}

void record_reading(json_source *source, const json_t *record, abench_memory *memory,
                    model_account *account)
{
    json_t *from = json_get_object(source, record, "memory", JSON_MAY_LACK);

    memset(account, 0, sizeof *account);
    if (from != NULL)
        snprintf(source->path, sizeof source->path, "memory");
    record_memory(source, from, memory);
    leave(source);
    from = enter(source, record, "account", STATISTICS_MAX);
    if (from != NULL)
        read_account(source, from, account);
    leave(source);
    account->cost_ns =
        json_get_count(source, record, "account_ns", RECORD_COUNT_MAX, JSON_MAY_LACK);
}

void record_account_clear(model_account *account)
{
    for (size_t i = 0; i < account->count; i++)
        free(account->items[i].name);
    free(account->items);
    memset(account, 0, sizeof *account);
}

void record_after(json_source *source, const json_t *record, model_after *after)
{
    memset(after, 0, sizeof *after);
    after->name = copy_text(source, record, "name", NAME_BYTES, JSON_NEEDED);
    after->call = copy_text(source, record, "call", TEXT_BYTES, JSON_MAY_LACK);
    after->has_call_ns = json_is_number(json_object_get(record, "call_ns"));
    after->call_ns = json_get_count(source, record, "call_ns", RECORD_COUNT_MAX, JSON_MAY_LACK);
    record_reading(source, record, &after->memory, &after->account);
}

/* ---- lists of a cell ------------------------------------------------------------------------- */

void record_settings(json_source *source, const json_t *record, model_cell *cell)
{
    json_t *from = enter(source, record, "settings", SETTINGS_MAX);
    const char *name;
    json_t *value;

    cell->settings = xcalloc(json_object_size(from) + 1, sizeof *cell->settings);
    json_object_foreach(from, name, value)
    {
        cell->settings[cell->settings_count++] =
            (model_setting){xstrdup(name), copy_text(source, from, name, TEXT_BYTES, JSON_NEEDED)};
    }
    leave(source);
}

void record_parts_clear(model_cell *cell)
{
    for (size_t i = 0; i < cell->afters_count; i++) {
        free(cell->afters[i].name);
        free(cell->afters[i].call);
        record_account_clear(&cell->afters[i].account);
    }
    for (size_t i = 0; i < cell->settings_count; i++) {
        free(cell->settings[i].name);
        free(cell->settings[i].value);
    }
    free(cell->afters);
    free(cell->settings);
    cell->afters = NULL;
    cell->settings = NULL;
    cell->afters_count = 0;
    cell->settings_count = 0;
}
