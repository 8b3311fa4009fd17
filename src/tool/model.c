#include "tool/model.h"

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tool/record_json.h"
#include "tool/records.h"
#include "tool/util.h"

#define MATRIX_BYTES ((size_t)16 << 20) /* of matrix.json and of each file in rounds/ */
#define ITEMS_MAX    1000u              /* workloads, targets, notes */
#define CELLS_MAX    3002u              /* of a round: targets, the baseline again, floor, tails */
#define NAME_BYTES   256u
#define TEXT_BYTES   65536u /* a command line */
#define ID_BYTES     32u
#define ROUND_FILE   "rounds/%s.r%03u.json"
#define COUNT_MAX    ((uint64_t)INT64_MAX)
#define LOOKS_MAX    100u
#define ROUNDS_MAX   1000000u

typedef struct loader {
    model *m;
    json_source source;
    size_t cells_capacity;
    size_t tails_capacity;
} loader;

/* ---- matrix.json ----------------------------------------------------------------------------- */

static char *copy_text(loader *l, const json_t *from, const char *key, size_t maximum,
                       json_presence presence)
{
    return xstrdup(json_get_text(&l->source, from, key, maximum, presence));
}

/* An id or a file name that stays where it is put: letters, digits and "._-", no dot in front. */
static bool is_plain_name(const char *name, size_t maximum)
{
    size_t length = strspn(name, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"
                                 "._-");
    return length > 0 && length <= maximum && name[length] == '\0' && name[0] != '.';
}

static uint64_t read_seed(loader *l, const json_t *root)
{
    /* Text, because a JSON integer ends at 2^63. */
    const char *text = json_get_text(&l->source, root, "seed", NAME_BYTES, JSON_NEEDED);
    char *end;
    errno = 0;
    unsigned long long seed = strtoull(text, &end, 10);
    if (text[0] < '0' || text[0] > '9' || *end != '\0' || errno != 0) {
        json_source_fail(&l->source, "seed", "not an unsigned integer of 64 bits");
        return 0;
    }
    return seed;
}

static void read_notes(loader *l, const json_t *root)
{
    const json_t *notes = json_get_list(&l->source, root, "notes", ITEMS_MAX, JSON_MAY_LACK);
    l->m->notes = xcalloc(json_array_size(notes) + 1, sizeof *l->m->notes);
    size_t index;
    const json_t *note;
    json_array_foreach(notes, index, note)
    {
        if (json_is_string(note) && json_string_length(note) <= TEXT_BYTES)
            l->m->notes[l->m->notes_count++] = xstrdup(json_string_value(note));
        else
            json_source_fail(&l->source, "notes", "item %zu is no text under %u bytes", index,
                             TEXT_BYTES);
    }
}

static void read_workloads(loader *l, const json_t *root)
{
    const json_t *list = json_get_list(&l->source, root, "workloads", ITEMS_MAX, JSON_NEEDED);
    l->m->workloads = xcalloc(json_array_size(list) + 1, sizeof *l->m->workloads);
    size_t index;
    const json_t *item;
    json_array_foreach(list, index, item)
    {
        if (!json_source_enter(&l->source, item, "workloads", index))
            return;
        model_workload *workload = &l->m->workloads[l->m->workloads_count++];
        workload->id = copy_text(l, item, "id", NAME_BYTES, JSON_NEEDED);
        workload->label = copy_text(l, item, "label", TEXT_BYTES, JSON_NEEDED);
        workload->spec = copy_text(l, item, "played", TEXT_BYTES, JSON_MAY_LACK);
        workload->rounds =
            (uint32_t)json_get_count(&l->source, item, "rounds", UINT32_MAX, JSON_MAY_LACK);
        const char *kind = json_get_text(&l->source, item, "kind", NAME_BYTES, JSON_NEEDED);
        workload->is_command = strcmp(kind, "command") == 0;
        if (!workload->is_command && strcmp(kind, "tape") != 0)
            json_source_fail(&l->source, "kind", "not \"tape\" or \"command\"");
        if (!is_plain_name(workload->id, ID_BYTES))
            json_source_fail(&l->source, "id", "an id is 1 to %u letters, digits, '_', '-' or '.'",
                             ID_BYTES);
        for (size_t i = 0; i < index; i++) {
            if (strcmp(l->m->workloads[i].id, workload->id) == 0)
                json_source_fail(&l->source, "id", "workloads[%zu] has this id already", i);
        }
    }
    l->source.path[0] = '\0';
}

static bool find_target(const model *m, const char *name, size_t *index)
{
    for (size_t i = 0; i < m->targets_count; i++) {
        if (strcmp(m->targets[i].name, name) == 0) {
            *index = i;
            return true;
        }
    }
    return false;
}

static void read_targets(loader *l, const json_t *root)
{
    const json_t *list = json_get_list(&l->source, root, "targets", ITEMS_MAX, JSON_NEEDED);
    l->m->targets = xcalloc(json_array_size(list) + 1, sizeof *l->m->targets);
    size_t index;
    size_t other;
    const json_t *item;
    json_array_foreach(list, index, item)
    {
        if (!json_source_enter(&l->source, item, "targets", index))
            return;
        const char *name = json_get_text(&l->source, item, "name", NAME_BYTES, JSON_NEEDED);
        if (*name == '\0')
            json_source_fail(&l->source, "name", "a target needs a name");
        if (find_target(l->m, name, &other))
            json_source_fail(&l->source, "name", "targets[%zu] has this name already", other);
        model_target *target = &l->m->targets[l->m->targets_count++];
        target->name = xstrdup(name);
        target->spec = copy_text(l, item, "spec", TEXT_BYTES, JSON_MAY_LACK);
        target->library = copy_text(l, item, "library", TEXT_BYTES, JSON_MAY_LACK);
        target->family = copy_text(l, item, "family", NAME_BYTES, JSON_MAY_LACK);
        target->version = copy_text(l, item, "version", NAME_BYTES, JSON_MAY_LACK);
        target->build_id = copy_text(l, item, "build_id", NAME_BYTES, JSON_MAY_LACK);
        target->settings = copy_text(l, item, "settings", TEXT_BYTES, JSON_MAY_LACK);
        char *missing = copy_text(l, item, "missing", TEXT_BYTES, JSON_MAY_LACK);
        if (json_is_string(json_object_get(item, "missing")))
            target->missing = missing;
        else
            free(missing);
    }
    l->source.path[0] = '\0';
    const char *baseline = json_get_text(&l->source, root, "baseline", NAME_BYTES, JSON_NEEDED);
    if (!l->source.failed && !find_target(l->m, baseline, &l->m->baseline))
        json_source_fail(&l->source, "baseline", "none of the targets");
}

static void read_looks(loader *l, const json_t *root)
{
    const uint64_t looks = json_get_count(&l->source, root, "looks", LOOKS_MAX, JSON_MAY_LACK);
    l->m->looks = looks == 0 ? 1 : (uint32_t)looks;
    l->m->look_rounds =
        (uint32_t)json_get_count(&l->source, root, "look_rounds", ROUNDS_MAX, JSON_MAY_LACK);
    if (l->m->looks > 1 && l->m->look_rounds == 0)
        json_source_fail(&l->source, "look_rounds", "several looks, and no rounds of the first");
}

static void read_matrix(loader *l, const json_t *root)
{
    model *m = l->m;
    uint64_t schema = json_get_count(&l->source, root, "schema", COUNT_MAX, JSON_NEEDED);
    if (!l->source.failed && schema != 1)
        json_source_fail(&l->source, "schema", "schema %llu; this tool reads 1",
                         (unsigned long long)schema);
    m->tool_version = copy_text(l, root, "tool_version", NAME_BYTES, JSON_NEEDED);
    m->command_line = copy_text(l, root, "command_line", TEXT_BYTES, JSON_NEEDED);
    m->unix_s = copy_text(l, root, "unix_s", NAME_BYTES, JSON_NEEDED);
    m->seed = read_seed(l, root);
    m->rounds = (uint32_t)json_get_count(&l->source, root, "rounds", UINT32_MAX, JSON_NEEDED);
    read_looks(l, root);
    model_machine_host(&m->host, &l->source, root, "");
    model_machine_findings(&m->machine, &l->source, root);
    m->places = model_places(&l->source, root, &m->places_count);
    read_notes(l, root);
    read_workloads(l, root);
    read_targets(l, root);
}

/* Reads and parses DIR/FILE. NULL with an error; *text is what source points into. */
static json_t *open_json(loader *l, const char *file, char **text)
{
    char *path = xasprintf("%s/%s", l->m->directory, file);
    memset(&l->source, 0, sizeof l->source);
    l->source.file = file;
    l->source.line = 1;
    *text = json_source_read(&l->source, path, MATRIX_BYTES);
    free(path);
    return *text != NULL ? json_source_parse(&l->source) : NULL;
}

static bool load_matrix(loader *l)
{
    char *text;
    json_t *root = open_json(l, "matrix.json", &text);
    if (root != NULL)
        read_matrix(l, root);
    json_decref(root);
    free(text);
    return !l->source.failed;
}

/* ---- rounds/ --------------------------------------------------------------------------------- */

static bool is_there(const model_cell *cells, size_t from, size_t to, const model_cell *cell)
{
    for (size_t i = from; i < to; i++) {
        if (cells[i].target == cell->target && cells[i].again == cell->again)
            return true;
    }
    return false;
}

/* Who the cell is of: a target, the baseline again, or the floor. */
static void read_cell_owner(loader *l, const json_t *item, model_cell *cell)
{
    const char *name = json_get_text(&l->source, item, "target", NAME_BYTES, JSON_MAY_LACK);
    cell->again = json_get_flag(&l->source, item, "again", JSON_MAY_LACK);
    cell->target = MODEL_FLOOR;
    if (json_object_get(item, "target") == NULL)
        json_source_fail(&l->source, NULL, "\"target\" is missing");
    else if (!json_is_null(json_object_get(item, "target")) &&
             !find_target(l->m, name, &cell->target))
        json_source_fail(&l->source, "target", "none of the targets of matrix.json");
    if (cell->again && cell->target != l->m->baseline)
        json_source_fail(&l->source, "again", "only the baseline runs twice in a round");
}

/* The round's cells begin at these places in the lists. */
typedef struct round_start {
    size_t cell;
    size_t tail;
} round_start;

/* A file that two cells name would be counted twice. */
static void check_file(loader *l, const char *file, const model_cell *cell,
                       const round_start *first)
{
    const model *m = l->m;
    char *own = xasprintf("cells/%s.r%03u.", m->workloads[cell->workload].id, cell->round);
    if (strncmp(file, own, strlen(own)) != 0)
        json_source_fail(&l->source, "file", "a cell of this round is called %s...", own);
    for (size_t i = first->cell; i < m->cells_count; i++) {
        if (m->cells[i].file != NULL && strcmp(m->cells[i].file, file) == 0)
            json_source_fail(&l->source, "file", "another cell of this round has it already");
    }
    free(own);
}

static void read_cell(loader *l, const json_t *item, uint32_t round, size_t workload,
                      const round_start *first)
{
    model *m = l->m;
    model_cell cell = {.workload = workload, .round = round};
    const bool tails = json_get_flag(&l->source, item, "tails", JSON_MAY_LACK);
    read_cell_owner(l, item, &cell);
    if (tails ? is_there(m->tails, first->tail, m->tails_count, &cell)
              : is_there(m->cells, first->cell, m->cells_count, &cell))
        json_source_fail(&l->source, NULL, "a second cell of this target");
    if (tails && (cell.again || cell.target == MODEL_FLOOR))
        json_source_fail(&l->source, "tails", "only a target's first cell has a tail pass");
    const char *status = json_get_text(&l->source, item, "status", NAME_BYTES, JSON_NEEDED);
    cell.failed = strcmp(status, "ok") != 0;
    if (cell.failed && strcmp(status, "failed") != 0)
        json_source_fail(&l->source, "status", "not \"ok\" or \"failed\"");
    const char *reason = json_get_text(&l->source, item, "reason", TEXT_BYTES, JSON_MAY_LACK);
    const char *file = json_get_text(&l->source, item, "file", NAME_BYTES, JSON_MAY_LACK);
    if (*file != '\0' && (strncmp(file, "cells/", 6) != 0 || !is_plain_name(file + 6, NAME_BYTES)))
        json_source_fail(&l->source, "file", "not of the form cells/NAME");
    else if (*file != '\0')
        check_file(l, file, &cell, first);
    if (l->source.failed)
        return;
    abench_identity_init(&cell.identity);
    cell.file = *file != '\0' ? xstrdup(file) : NULL;
    if (cell.failed)
        cell.reason = xstrdup(*reason != '\0' ? reason : "no reason was recorded");
    if (tails) {
        m->tails = util_grow(m->tails, m->tails_count, &l->tails_capacity, sizeof cell);
        m->tails[m->tails_count++] = cell;
    } else {
        m->cells = util_grow(m->cells, m->cells_count, &l->cells_capacity, sizeof cell);
        m->cells[m->cells_count++] = cell;
    }
}

static void read_round(loader *l, const json_t *root, const char *file)
{
    uint64_t schema = json_get_count(&l->source, root, "schema", COUNT_MAX, JSON_NEEDED);
    if (!l->source.failed && schema != 1)
        json_source_fail(&l->source, "schema", "schema %llu; this tool reads 1",
                         (unsigned long long)schema);
    const char *id = json_get_text(&l->source, root, "workload", NAME_BYTES, JSON_NEEDED);
    uint32_t round = (uint32_t)json_get_count(&l->source, root, "round", UINT32_MAX, JSON_NEEDED);
    size_t workload = 0;
    while (workload < l->m->workloads_count && strcmp(l->m->workloads[workload].id, id) != 0)
        workload++;
    if (workload == l->m->workloads_count) {
        json_source_fail(&l->source, "workload", "none of the workloads of matrix.json");
        return;
    }
    /* A round under two names would be counted twice. */
    char *own = xasprintf(ROUND_FILE, id, round);
    if (strcmp(own, file) != 0)
        json_source_fail(&l->source, "round", "this round belongs into %s", own);
    free(own);
    const size_t place =
        (size_t)json_get_count(&l->source, root, "place",
                               l->m->places_count == 0 ? 0 : l->m->places_count - 1, JSON_MAY_LACK);
    const json_t *list = json_get_list(&l->source, root, "cells", CELLS_MAX, JSON_NEEDED);
    const round_start first = {l->m->cells_count, l->m->tails_count};
    size_t index;
    const json_t *item;
    json_array_foreach(list, index, item)
    {
        if (!json_source_enter(&l->source, item, "cells", index))
            return;
        read_cell(l, item, round, workload, &first);
    }
    l->source.path[0] = '\0';
    model_machine_changes(&l->m->machine, &l->source, root, workload, round);
    const char *mode = json_get_text(&l->source, root, "mode", NAME_BYTES, JSON_MAY_LACK);
    for (size_t i = first.cell; i < l->m->cells_count; i++) {
        l->m->cells[i].in_lockstep = strcmp(mode, "lockstep") == 0;
        l->m->cells[i].interleaved = strcmp(mode, "interleaved") == 0;
    }
    for (size_t i = first.cell; i < l->m->cells_count; i++)
        l->m->cells[i].place = place;
}

static int by_name(const void *a, const void *b)
{
    return strcmp(*(char *const *)a, *(char *const *)b);
}

static bool ends_with(const char *name, const char *end)
{
    size_t length = strlen(name);
    return length > strlen(end) && strcmp(name + length - strlen(end), end) == 0;
}

/* FOLDER/NAME of all names in DIR/FOLDER that end so, sorted. A folder that is not there is empty.
 */
static bool list_folder(loader *l, const char *folder, const char *end, char ***names,
                        size_t *count)
{
    size_t capacity = 0;
    *names = NULL;
    *count = 0;
    char *path = xasprintf("%s/%s", l->m->directory, folder);
    DIR *directory = opendir(path);
    if (directory == NULL && errno != ENOENT) {
        memset(&l->source, 0, sizeof l->source);
        l->source.failed = true;
        snprintf(l->source.message, sizeof l->source.message, "%s: cannot be listed: %s", folder,
                 strerror(errno));
    }
    free(path);
    if (directory == NULL)
        return !l->source.failed;
    const struct dirent *entry;
    while ((entry = readdir(directory)) != NULL) {
        if (entry->d_name[0] == '.' || !ends_with(entry->d_name, end))
            continue;
        *names = util_grow(*names, *count, &capacity, sizeof **names);
        (*names)[(*count)++] = xasprintf("%s/%s", folder, entry->d_name);
    }
    closedir(directory);
    if (*count > 0)
        qsort(*names, *count, sizeof **names, by_name);
    return true;
}

static bool load_rounds(loader *l)
{
    char **files;
    size_t count;
    if (!list_folder(l, "rounds", ".json", &files, &count))
        return false;
    bool whole = true;
    for (size_t i = 0; i < count; i++) {
        if (whole) {
            char *text;
            json_t *root = open_json(l, files[i], &text);
            if (root != NULL)
                read_round(l, root, files[i]);
            json_decref(root);
            free(text);
            whole = !l->source.failed;
        }
        l->source.file = NULL;
        free(files[i]);
    }
    free(files);
    return whole;
}

/* ---- cells/ ---------------------------------------------------------------------------------- */

static int by_place(const void *a, const void *b)
{
    const model_cell *x = a;
    const model_cell *y = b;
    if (x->workload != y->workload)
        return x->workload < y->workload ? -1 : 1;
    if (x->round != y->round)
        return x->round < y->round ? -1 : 1;
    if (x->target != y->target)
        return x->target < y->target ? -1 : 1;
    return (int)x->again - (int)y->again;
}

/* A cell whose file is not whole failed, whatever its round says: the others still count. */
static void load_cells(const model *m, model_cell *cells, size_t count)
{
    if (count > 0)
        qsort(cells, count, sizeof *cells, by_place);
    for (size_t i = 0; i < count; i++) {
        model_cell *cell = &cells[i];
        char message[512] = "the round names no file for it";
        if (cell->failed)
            continue;
        cell->failed = cell->file == NULL ||
                       !records_read(m->directory, cell->file, cell, message, sizeof message);
        if (cell->failed)
            cell->reason = xstrdup(message);
    }
}

model *model_load(const char *directory, char *message, size_t message_size)
{
    loader l = {.m = xcalloc(1, sizeof(model))};
    l.m->directory = xstrdup(directory);
    bool whole = load_matrix(&l) && load_rounds(&l) &&
                 list_folder(&l, "cells", ".part", &l.m->dead, &l.m->dead_count);
    if (!whole) {
        snprintf(message, message_size, "%s/%s", directory, l.source.message);
        model_free(l.m);
        return NULL;
    }
    load_cells(l.m, l.m->cells, l.m->cells_count);
    load_cells(l.m, l.m->tails, l.m->tails_count);
    return l.m;
}

static void free_cells(model_cell *cells, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        records_clear(&cells[i]);
        free(cells[i].reason);
        free(cells[i].file);
    }
    free(cells);
}

void model_free(model *m)
{
    if (m == NULL)
        return;
    free_cells(m->cells, m->cells_count);
    free_cells(m->tails, m->tails_count);
    for (size_t i = 0; i < m->workloads_count; i++) {
        free(m->workloads[i].id);
        free(m->workloads[i].label);
        free(m->workloads[i].spec);
    }
    for (size_t i = 0; i < m->targets_count; i++) {
        model_target *target = &m->targets[i];
        char *texts[] = {target->name,    target->spec,     target->library,  target->family,
                         target->version, target->build_id, target->settings, target->missing};
        for (size_t j = 0; j < sizeof texts / sizeof *texts; j++)
            free(texts[j]);
    }
    for (size_t i = 0; i < m->notes_count; i++)
        free(m->notes[i]);
    for (size_t i = 0; i < m->dead_count; i++)
        free(m->dead[i]);
    model_machine_clear(&m->machine);
    model_places_free(m->places, m->places_count);
    free(m->workloads);
    free(m->targets);
    free(m->notes);
    free(m->dead);
    free(m->directory);
    free(m->tool_version);
    free(m->command_line);
    free(m->unix_s);
    free(m);
}

uint32_t model_rounds(const model *m, size_t workload)
{
    const uint32_t own = m->workloads[workload].rounds;
    return own != 0 ? own : m->rounds;
}

const model_metric *model_cell_metric(const model_cell *cell, const char *name)
{
    for (size_t i = 0; i < cell->metrics_count; i++) {
        if (strcmp(cell->metrics[i].name, name) == 0)
            return &cell->metrics[i];
    }
    return NULL;
}
