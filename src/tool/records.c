#include "tool/records.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tool/record_json.h"
#include "tool/record_parts.h"
#include "tool/util.h"

/* More of a kind than any honest run writes; a file that has them is refused before it fills the
 * memory. */
#define READINGS_MAX   1000000u
#define PHASES_MAX     10000u
#define METRICS_MAX    1000u
#define WARNINGS_MAX   1000u
#define HISTOGRAMS_MAX 100u
#define BUCKETS_MAX    10000u
#define AFTERS_MAX     64u
#define NAME_BYTES     128u
#define TEXT_BYTES     4096u
#define COUNT_MAX      RECORD_COUNT_MAX
#define SAMPLES_MAX    ((uint64_t)1 << 48) /* of one histogram: many of them can be added up */

typedef struct reader {
    json_source source;
    model_cell *cell;
    size_t readings_capacity;
    size_t phases_capacity;
    size_t slices_capacity;
    size_t metrics_capacity;
    size_t warnings_capacity;
    size_t histograms_capacity;
    size_t afters_capacity;
    bool has_manifest;
    bool has_end;
} reader;

/* Room for one more in a list of the cell, or an error when there are too many. */
#define GROW(r, list, maximum)                                                                     \
    (fits(r, (r)->cell->list##_count, maximum, #list) &&                                           \
     ((r)->cell->list = util_grow((r)->cell->list, (r)->cell->list##_count, &(r)->list##_capacity, \
                                  sizeof *(r)->cell->list)) != NULL)

static bool fits(reader *r, size_t count, size_t maximum, const char *what)
{
    if (count >= maximum)
        json_source_fail(&r->source, NULL, "more than %zu %s", maximum, what);
    return count < maximum;
}

static char *copy_text(reader *r, const json_t *record, const char *key, size_t maximum,
                       json_presence presence)
{
    return xstrdup(json_get_text(&r->source, record, key, maximum, presence));
}

static uint64_t count_of(reader *r, const json_t *record, const char *key, json_presence presence)
{
    return json_get_count(&r->source, record, key, COUNT_MAX, presence);
}

/* ---- one function a kind of record ----------------------------------------------------------- */

static void add_metric(reader *r, const char *name, const char *unit, uint32_t direction,
                       double value)
{
    if (model_cell_metric(r->cell, name) != NULL) {
        json_source_fail(&r->source, NULL, "a second value of metric \"%s\"", name);
        return;
    }
    if (!GROW(r, metrics, METRICS_MAX))
        return;
    r->cell->metrics[r->cell->metrics_count++] =
        (model_metric){xstrdup(name), xstrdup(unit), direction, value};
}

static void read_identity(reader *r, const json_t *from)
{
    abench_identity *identity = &r->cell->identity;
    const struct {
        const char *key;
        char *field;
        size_t size;
    } texts[] = {
        {"family", identity->family, sizeof identity->family},
        {"version", identity->version, sizeof identity->version},
        {"build_id", identity->build_id, sizeof identity->build_id},
        {"file", identity->file, sizeof identity->file},
        {"others", identity->others, sizeof identity->others},
    };
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
        snprintf(texts[i].field, texts[i].size, "%s",
                 json_get_text(&r->source, from, texts[i].key, TEXT_BYTES, JSON_MAY_LACK));
    identity->device = count_of(r, from, "device", JSON_MAY_LACK);
    identity->inode = count_of(r, from, "inode", JSON_MAY_LACK);
    if (json_get_flag(&r->source, from, "mixed", JSON_MAY_LACK))
        identity->flags |= ABENCH_IDENTITY_MIXED;
    if (json_get_flag(&r->source, from, "static", JSON_MAY_LACK))
        identity->flags |= ABENCH_IDENTITY_STATIC;
}

static void read_manifest(reader *r, const json_t *record)
{
    if (r->has_manifest) {
        json_source_fail(&r->source, "record", "a second manifest: two runs wrote this file");
        return;
    }
    uint64_t schema = count_of(r, record, "schema", JSON_NEEDED);
    if (!r->source.failed && schema != 1) {
        json_source_fail(&r->source, "schema", "schema %llu; this tool reads 1",
                         (unsigned long long)schema);
        return;
    }
    r->has_manifest = true;
    r->cell->is_harness = json_is_true(json_object_get(record, "harness"));
    if (json_is_string(json_object_get(record, "plan_digest")))
        r->cell->plan_digest = copy_text(r, record, "plan_digest", NAME_BYTES, JSON_MAY_LACK);
    r->cell->lanes =
        (uint32_t)json_get_count(&r->source, record, "lanes", UINT32_MAX, JSON_MAY_LACK);
    const json_t *allocator = json_get_object(&r->source, record, "allocator", JSON_MAY_LACK);
    if (allocator != NULL) {
        snprintf(r->source.path, sizeof r->source.path, "allocator");
        read_identity(r, allocator);
        r->source.path[0] = '\0';
    }
    record_settings(&r->source, record, r->cell);
}

static void read_reading(reader *r, const json_t *record)
{
    model_cell *cell = r->cell;
    if (!GROW(r, readings, READINGS_MAX))
        return;
    model_reading *reading = &cell->readings[cell->readings_count++];
    memset(reading, 0, sizeof *reading);
    reading->time_ns = count_of(r, record, "time_ns", JSON_NEEDED);
    record_memory(&r->source, record, &reading->memory);
    reading->memory.time_ns = reading->time_ns;
    if (cell->readings_count > 1 && reading->time_ns < reading[-1].time_ns)
        json_source_fail(&r->source, "time_ns", "before the reading above it");
}

static void read_phase(reader *r, const json_t *record)
{
    if (!GROW(r, phases, PHASES_MAX))
        return;
    model_phase *phase = &r->cell->phases[r->cell->phases_count++];
    memset(phase, 0, sizeof *phase);
    phase->name = copy_text(r, record, "name", NAME_BYTES, JSON_NEEDED);
    phase->timed = json_get_flag(&r->source, record, "timed", JSON_MAY_LACK);
    phase->time_ns = count_of(r, record, "time_ns", JSON_NEEDED);
    phase->operations = count_of(r, record, "operations", JSON_MAY_LACK);
    phase->live_bytes = count_of(r, record, "live_bytes", JSON_MAY_LACK);
    phase->live_blocks = count_of(r, record, "live_blocks", JSON_MAY_LACK);
    phase->has_usable = json_is_number(json_object_get(record, "usable_bytes"));
    phase->usable_bytes = count_of(r, record, "usable_bytes", JSON_MAY_LACK);
    record_reading(&r->source, record, &phase->memory, &phase->account);
}

static void read_after(reader *r, const json_t *record)
{
    const char *name = json_get_text(&r->source, record, "name", NAME_BYTES, JSON_NEEDED);
    for (size_t i = 0; i < r->cell->afters_count; i++) {
        if (strcmp(r->cell->afters[i].name, name) == 0)
            json_source_fail(&r->source, "name", "a second reading of this name");
    }
    if (!r->source.failed && GROW(r, afters, AFTERS_MAX))
        record_after(&r->source, record, &r->cell->afters[r->cell->afters_count++]);
}

static void read_slice(reader *r, const json_t *record)
{
    model_cell *cell = r->cell;
    uint64_t index = count_of(r, record, "index", JSON_NEEDED);
    if (!r->source.failed && index != cell->slices_count) {
        json_source_fail(&r->source, "index", "slice %llu where slice %zu must come",
                         (unsigned long long)index, cell->slices_count);
        return;
    }
    if (!GROW(r, slices, ABENCH_SLICES_MAX))
        return;
    cell->slices[cell->slices_count++] = (model_slice){
        .phase = copy_text(r, record, "phase", NAME_BYTES, JSON_NEEDED),
        .operations = count_of(r, record, "operations", JSON_NEEDED),
        .wall_ns = count_of(r, record, "wall_ns", JSON_NEEDED),
        .cpu_ns = count_of(r, record, "cpu_ns", JSON_NEEDED),
        .busy_ns = count_of(r, record, "busy_ns", JSON_NEEDED),
        .wait_ns = count_of(r, record, "wait_ns", JSON_MAY_LACK),
        .rss_bytes = count_of(r, record, "rss_bytes", JSON_MAY_LACK),
        .has_rss = json_is_integer(json_object_get(record, "rss_bytes")),
    };
}

static void read_metric(reader *r, const json_t *record)
{
    static const char *const directions[] = {"none", "lower", "higher"}; /* by value */
    const char *name = json_get_text(&r->source, record, "name", NAME_BYTES, JSON_NEEDED);
    const char *unit = json_get_text(&r->source, record, "unit", NAME_BYTES, JSON_MAY_LACK);
    const char *word = json_get_text(&r->source, record, "direction", NAME_BYTES, JSON_MAY_LACK);
    uint32_t direction = 0;
    while (direction < 3 && strcmp(word, directions[direction]) != 0)
        direction++;
    if (*word == '\0')
        direction = ABENCH_DIRECTION_NONE;
    else if (direction == 3)
        json_source_fail(&r->source, "direction", "not \"lower\", \"higher\" or \"none\"");
    const json_t *value = json_object_get(record, "value");
    if (json_is_null(value) || r->source.failed)
        return; /* null: it could not be measured */
    if (!json_is_number(value) || !isfinite(json_number_value(value)))
        json_source_fail(&r->source, "value", "a number is needed");
    else
        add_metric(r, name, unit, direction, json_number_value(value));
}

static void read_warning(reader *r, const json_t *record)
{
    if (GROW(r, warnings, WARNINGS_MAX))
        r->cell->warnings[r->cell->warnings_count++] =
            copy_text(r, record, "message", TEXT_BYTES, JSON_NEEDED);
}

/* [low, high, count], above the bucket before it. */
static model_bucket read_bucket(reader *r, const json_t *item, size_t index)
{
    uint64_t numbers[3] = {0};
    for (size_t i = 0; i < 3; i++) {
        const json_t *number = json_array_get(item, i);
        if (json_array_size(item) != 3 || !json_is_integer(number) ||
            json_integer_value(number) < 0) {
            json_source_fail(&r->source, "buckets", "item %zu is not [low, high, count]", index);
            return (model_bucket){0, 0, 0};
        }
        numbers[i] = (uint64_t)json_integer_value(number);
    }
    if (numbers[0] > numbers[1] || numbers[2] == 0 || numbers[2] > SAMPLES_MAX)
        json_source_fail(&r->source, "buckets", "item %zu is no bucket", index);
    return (model_bucket){numbers[0], numbers[1], numbers[2]};
}

static void read_buckets(reader *r, const json_t *record, model_histogram *h)
{
    const json_t *list = json_get_list(&r->source, record, "buckets", BUCKETS_MAX, JSON_NEEDED);
    uint64_t sum = 0;
    size_t index;
    const json_t *item;
    h->buckets = xcalloc(json_array_size(list) + 1, sizeof *h->buckets);
    json_array_foreach(list, index, item)
    {
        model_bucket bucket = read_bucket(r, item, index);
        if (index > 0 && bucket.low <= h->buckets[index - 1].high)
            json_source_fail(&r->source, "buckets", "item %zu is not above the one before", index);
        if (r->source.failed)
            return;
        h->buckets[h->buckets_count++] = bucket;
        sum += bucket.count; /* of at most BUCKETS_MAX numbers below 2^48 */
    }
    if (r->source.failed)
        return;
    if (sum != h->count)
        json_source_fail(&r->source, "count", "not the sum of its buckets");
    else if (h->count > 0 && (h->minimum < h->buckets[0].low || h->minimum > h->buckets[0].high))
        json_source_fail(&r->source, "minimum", "not in its first bucket");
    else if (h->count > 0 && (h->maximum < h->buckets[h->buckets_count - 1].low ||
                              h->maximum > h->buckets[h->buckets_count - 1].high))
        json_source_fail(&r->source, "maximum", "not in its last bucket");
}

static void read_histogram(reader *r, const json_t *record)
{
    const char *name = json_get_text(&r->source, record, "name", NAME_BYTES, JSON_NEEDED);
    for (size_t i = 0; i < r->cell->histograms_count; i++) {
        if (strcmp(r->cell->histograms[i].name, name) == 0)
            json_source_fail(&r->source, "name", "a second histogram of this name");
    }
    if (r->source.failed || !GROW(r, histograms, HISTOGRAMS_MAX))
        return;
    model_histogram *h = &r->cell->histograms[r->cell->histograms_count++];
    memset(h, 0, sizeof *h);
    h->name = xstrdup(name);
    h->unit = copy_text(r, record, "unit", NAME_BYTES, JSON_MAY_LACK);
    h->interval = count_of(r, record, "interval", JSON_MAY_LACK);
    h->count = json_get_count(&r->source, record, "count", SAMPLES_MAX, JSON_NEEDED);
    h->minimum = count_of(r, record, "minimum", JSON_MAY_LACK);
    h->maximum = count_of(r, record, "maximum", JSON_MAY_LACK);
    read_buckets(r, record, h);
}

static void read_end(reader *r, const json_t *record)
{
    r->has_end = true;
    if (json_is_string(json_object_get(record, "work_digest")))
        r->cell->work_digest = copy_text(r, record, "work_digest", NAME_BYTES, JSON_MAY_LACK);
}

static void read_record(reader *r, const json_t *record)
{
    static const struct {
        const char *kind;
        void (*read)(reader *r, const json_t *record);
    } kinds[] = {
        {"manifest", read_manifest}, {"phase", read_phase},         {"reading", read_reading},
        {"slice", read_slice},       {"metric", read_metric},       {"warning", read_warning},
        {"end", read_end},           {"histogram", read_histogram}, {"after", read_after},
    };
    r->source.path[0] = '\0';
    const char *kind = json_get_text(&r->source, record, "record", NAME_BYTES, JSON_NEEDED);
    if (!r->source.failed && r->has_end)
        json_source_fail(&r->source, "record", "a record after the end record");
    if (!r->source.failed && !r->has_manifest && strcmp(kind, "manifest") != 0)
        json_source_fail(&r->source, "record", "the first record must be the manifest");
    for (size_t i = 0; !r->source.failed && i < sizeof kinds / sizeof *kinds; i++) {
        if (strcmp(kind, kinds[i].kind) == 0) {
            kinds[i].read(r, record);
            break;
        }
    }
}

/* ---- the file -------------------------------------------------------------------------------- */

/* Reads the line at source->text, which is size bytes long. */
static void read_line(reader *r)
{
    if (r->source.size > RECORDS_LINE_BYTES) {
        r->source.size = 0; /* the place is the line's begin */
        json_source_fail(&r->source, NULL, "a line longer than %zu bytes", RECORDS_LINE_BYTES);
        return;
    }
    json_t *record = json_source_parse(&r->source);
    if (record != NULL)
        read_record(r, record);
    json_decref(record);
}

static void read_lines(reader *r, const char *text, size_t size)
{
    const char *end = text + size;
    size_t line = 1;
    for (const char *at = text; at < end && !r->source.failed; line++) {
        const char *next = memchr(at, '\n', (size_t)(end - at));
        if (next == NULL) {
            /* Records are written with their newline: this one was cut by a death or a full disk.
             */
            r->source.line = line;
            r->source.text = at;
            r->source.size = 0;
            json_source_fail(&r->source, NULL, "ends inside a record: the run died here");
            return;
        }
        r->source.text = at;
        r->source.size = (size_t)(next - at);
        r->source.line = line;
        if (r->source.size > 0)
            read_line(r);
        at = next + 1;
    }
    if (!r->source.failed && !r->has_end) {
        r->source.text = end;
        r->source.size = 0;
        r->source.line = line;
        r->source.path[0] = '\0';
        json_source_fail(&r->source, NULL, "has no end record: the run died here");
    }
}

bool records_read(const char *directory, const char *file, model_cell *cell, char *message,
                  size_t message_size)
{
    reader r = {.source = {.file = file}, .cell = cell};
    abench_identity_init(&cell->identity);
    char *path = xasprintf("%s/%s", directory, file);
    char *text = json_source_read(&r.source, path, RECORDS_FILE_BYTES);
    if (text != NULL)
        read_lines(&r, text, r.source.size);
    if (r.source.failed) {
        records_clear(cell);
        snprintf(message, message_size, "%s", r.source.message);
    }
    free(text);
    free(path);
    return !r.source.failed;
}

void records_clear(model_cell *cell)
{
    for (size_t i = 0; i < cell->metrics_count; i++) {
        free(cell->metrics[i].name);
        free(cell->metrics[i].unit);
    }
    for (size_t i = 0; i < cell->phases_count; i++) {
        free(cell->phases[i].name);
        record_account_clear(&cell->phases[i].account);
    }
    for (size_t i = 0; i < cell->slices_count; i++)
        free(cell->slices[i].phase);
    for (size_t i = 0; i < cell->warnings_count; i++)
        free(cell->warnings[i]);
    for (size_t i = 0; i < cell->histograms_count; i++) {
        free(cell->histograms[i].name);
        free(cell->histograms[i].unit);
        free(cell->histograms[i].buckets);
    }
    free(cell->histograms);
    free(cell->metrics);
    free(cell->readings);
    free(cell->phases);
    free(cell->slices);
    free(cell->warnings);
    free(cell->plan_digest);
    free(cell->work_digest);
    record_parts_clear(cell);
    abench_identity_init(&cell->identity);
    cell->metrics = NULL;
    cell->readings = NULL;
    cell->phases = NULL;
    cell->slices = NULL;
    cell->warnings = NULL;
    cell->histograms = NULL;
    cell->is_harness = false;
    cell->plan_digest = NULL;
    cell->work_digest = NULL;
    cell->metrics_count = 0;
    cell->readings_count = 0;
    cell->phases_count = 0;
    cell->slices_count = 0;
    cell->warnings_count = 0;
    cell->histograms_count = 0;
}
