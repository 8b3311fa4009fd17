#include "tool/command_record.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <jansson.h>

#include <allocbench/base.h>
#include <allocbench/run.h>

#include "tool/json_text.h"
#include "tool/record_json.h"
#include "tool/records.h"
#include "tool/symbols.h"
#include "tool/util.h"

#define COMMAND_MOST  ((size_t)1 << 16) /* bytes of a command line that are kept */
#define VALUE_MOST    ((size_t)1 << 12) /* likewise of a variable */
#define WARNING_MOST  ((size_t)1000)    /* likewise of a warning; escaping may quadruple it */
#define PROGRAMS_MOST 64u               /* whose files are read for their symbols */

void command_record_metric(command_record *record, const char *name, const char *unit,
                           uint32_t direction, double value)
{
    const command_metric metric = {xstrdup(name), xstrdup(unit), direction, value};

    record->metrics =
        util_grow(record->metrics, record->metrics_count, &record->metrics_capacity, sizeof metric);
    record->metrics[record->metrics_count++] = metric;
}

void command_record_warn(command_record *record, const char *format, ...)
{
    va_list list;

    record->warnings = util_grow(record->warnings, record->warnings_count,
                                 &record->warnings_capacity, sizeof *record->warnings);
    va_start(list, format);
    record->warnings[record->warnings_count++] = util_one_line(xvasprintf(format, list));
    va_end(list);
}

void command_record_clear(command_record *record)
{
    for (size_t at = 0; at < record->metrics_count; at++) {
        free(record->metrics[at].name);
        free(record->metrics[at].unit);
    }
    for (size_t at = 0; at < record->warnings_count; at++)
        free(record->warnings[at]);
    free(record->metrics);
    free(record->warnings);
    records_clear(&record->harness);
    record->metrics = NULL;
    record->warnings = NULL;
    record->metrics_count = record->metrics_capacity = 0;
    record->warnings_count = record->warnings_capacity = 0;
}

/* ---- the programs that ran ------------------------------------------------------------------- */

typedef struct program_files {
    uint64_t device[PROGRAMS_MOST];
    uint64_t inode[PROGRAMS_MOST];
    size_t count;
} program_files;

static void look_into_program(command_record *record, program_files *known, const char *path,
                              uint64_t device, uint64_t inode)
{
    char *note;

    for (size_t at = 0; at < known->count; at++)
        if (known->device[at] == device && known->inode[at] == inode)
            return;
    if (path[0] != '/' || known->count == PROGRAMS_MOST)
        return;
    known->device[known->count] = device;
    known->inode[known->count++] = inode;
    note = symbols_note(path, device, inode);
    if (note != NULL)
        command_record_warn(record, "%s", note);
    free(note);
}

void command_record_programs(command_record *record, const images *reported)
{
    program_files known = {.count = 0};

    for (size_t at = 0; at < reported->count; at++) {
        const images_report *one = &reported->reports[at];
        look_into_program(record, &known, one->exe, one->exe_device, one->exe_inode);
    }
    for (size_t at = 0; at < record->tree->images_count; at++) {
        const tree_image *one = &record->tree->images[at];
        look_into_program(record, &known, one->path, one->device, one->inode);
    }
}

/* ---- printing -------------------------------------------------------------------------------- */

static json_t *json_cut(const char *text, size_t most)
{
    char *copy = xstrndup(text, most);
    json_t *value = json_text(copy);

    free(copy);
    return value;
}

static json_t *json_count(uint64_t value)
{
    return json_integer((json_int_t)value);
}

static json_t *new_record(const char *kind)
{
    json_t *line = json_object();

    json_object_set_new(line, "record", json_string(kind));
    return line;
}

static _Noreturn void out_of_memory(void)
{
    fputs("allocbench: out of memory\n", stderr);
    exit(3);
}

static void print_record(FILE *out, json_t *line)
{
    char *text = json_dumps(line, JSON_COMPACT);

    if (text == NULL)
        out_of_memory();
    fprintf(out, "%s\n", text);
    free(text);
    json_decref(line);
}

static json_t *json_command(char *const *argv)
{
    json_t *list = json_array();
    size_t left = COMMAND_MOST;

    for (; *argv != NULL && left > 0; argv++) {
        const size_t length = strlen(*argv) + 1;
        json_array_append_new(list, json_cut(*argv, left));
        left -= length < left ? length : left;
    }
    return list;
}

static json_t *json_target(const target *t)
{
    json_t *object = json_object();

    json_object_set_new(object, "name", json_text(t->name));
    json_object_set_new(object, "spec", json_text(t->spec));
    json_object_set_new(object, "thp_never", json_boolean(t->thp_never));
    json_object_set_new(object, "aslr_off", json_boolean(t->aslr_off));
    json_object_set_new(object, "cpus",
                        t->has_cpus ? json_count((uint64_t)CPU_COUNT(&t->cpus)) : json_null());
    return object;
}

static json_t *json_identity(const abench_identity *identity)
{
    json_t *object = json_object();

    json_object_set_new(object, "family", json_text(identity->family));
    json_object_set_new(object, "version", json_text(identity->version));
    json_object_set_new(object, "build_id", json_text(identity->build_id));
    json_object_set_new(object, "file", json_text(identity->file));
    json_object_set_new(object, "device", json_count(identity->device));
    json_object_set_new(object, "inode", json_count(identity->inode));
    json_object_set_new(object, "mixed",
                        json_boolean((identity->flags & ABENCH_IDENTITY_MIXED) != 0));
    json_object_set_new(object, "static",
                        json_boolean((identity->flags & ABENCH_IDENTITY_STATIC) != 0));
    json_object_set_new(object, "others", json_text(identity->others));
    return object;
}

static bool is_setting(const target *t, const char *name)
{
    for (size_t at = 0; at < t->settings_count; at++)
        if (strcmp(t->settings[at].key, name) == 0)
            return true;
    return false;
}

static json_t *json_environment(char *const *envp, const target *t)
{
    json_t *object = json_object();

    for (; *envp != NULL; envp++) {
        const size_t length = strcspn(*envp, "=");
        char *name = xstrndup(*envp, length);
        if ((*envp)[length] == '=' && length < 256 &&
            (abench_allocator_environment(name) != 0 || is_setting(t, name)))
            json_object_set_new(object, name, json_cut(*envp + length + 1, VALUE_MOST));
        free(name);
    }
    return object;
}

static void print_manifest(const command_record *record, FILE *out)
{
    abench_host host = ABENCH_HOST_INIT;
    const command_options *options = record->options;
    const uint64_t period_us = options->period_us;
    json_t *line = new_record("manifest");

    json_object_set_new(line, "schema", json_count(1));
    json_object_set_new(line, "library", json_string(abench_version_string()));
    json_object_set_new(line, "kind", json_string("command"));
    json_object_set_new(line, "name",
                        json_text(options->name != NULL ? options->name : options->how->argv[0]));
    json_object_set_new(line, "nonce", json_text(record->nonce));
    json_object_set_new(line, "unix_s", json_integer((json_int_t)record->unix_s));
    json_object_set_new(line, "pid", json_integer((json_int_t)record->pid));
    json_object_set_new(line, "command", json_command(options->how->argv));
    json_object_set_new(line, "harness", json_boolean(record->is_harness));
    json_object_set_new(line, "seed", json_count(options->seed & INT64_MAX));
    json_object_set_new(line, "sample_us",
                        json_count(period_us == 0 ? TREE_PERIOD_NS / 1000 : period_us));
    json_object_set_new(line, "target", json_target(options->target));
    if (record->identity != NULL)
        json_object_set_new(line, "allocator", json_identity(record->identity));
    json_object_set_new(line, "environment", json_environment(record->envp, options->target));
    abench_host_read(&host);
    json_object_set_new(line, "host", json_host(&host));
    print_record(out, line);
}

/* Thousands of them, and only numbers. */
static void print_readings(const command_record *record, FILE *out)
{
    for (size_t at = 0; at < record->tree->readings_count; at++) {
        const tree_reading *reading = &record->tree->readings[at];
        if (reading->time_ns > record->wall_ns)
            break;
        fprintf(out, "{\"record\":\"reading\",\"time_ns\":%llu,\"rss_bytes\":%llu",
                (unsigned long long)reading->time_ns, (unsigned long long)reading->rss_bytes);
        if (reading->has_pss)
            fprintf(out, ",\"pss_bytes\":%llu", (unsigned long long)reading->pss_bytes);
        fprintf(out, ",\"processes\":%lu}\n", (unsigned long)reading->processes);
    }
}

static const char *direction_name(uint32_t direction)
{
    return direction == ABENCH_DIRECTION_LOWER    ? "lower"
           : direction == ABENCH_DIRECTION_HIGHER ? "higher"
                                                  : "none";
}

static void print_metric(const command_metric *metric, FILE *out)
{
    json_t *line = new_record("metric");

    json_object_set_new(line, "name", json_text(metric->name));
    json_object_set_new(line, "unit", json_text(metric->unit));
    json_object_set_new(line, "direction", json_string(direction_name(metric->direction)));
    json_object_set_new(line, "value", json_real(metric->value));
    print_record(out, line);
}

static void print_histogram(const model_histogram *histogram, FILE *out)
{
    json_t *line = new_record("histogram"), *buckets = json_array();

    json_object_set_new(line, "name", json_text(histogram->name));
    json_object_set_new(line, "unit", json_text(histogram->unit));
    json_object_set_new(line, "interval", json_count(histogram->interval));
    json_object_set_new(line, "count", json_count(histogram->count));
    json_object_set_new(line, "minimum", json_count(histogram->minimum));
    json_object_set_new(line, "maximum", json_count(histogram->maximum));
    for (size_t at = 0; at < histogram->buckets_count; at++) {
        const model_bucket *bucket = &histogram->buckets[at];
        json_t *item = json_array();
        json_array_append_new(item, json_count(bucket->low));
        json_array_append_new(item, json_count(bucket->high));
        json_array_append_new(item, json_count(bucket->count));
        json_array_append_new(buckets, item);
    }
    json_object_set_new(line, "buckets", buckets);
    print_record(out, line);
}

char *command_record_print(const command_record *record, size_t *size)
{
    char *text = NULL;
    FILE *out = open_memstream(&text, size);
    bool whole;

    if (out == NULL)
        out_of_memory();
    print_manifest(record, out);
    print_readings(record, out);
    for (size_t at = 0; at < record->metrics_count; at++)
        print_metric(&record->metrics[at], out);
    for (size_t at = 0; at < record->harness.histograms_count; at++)
        print_histogram(&record->harness.histograms[at], out);
    for (size_t at = 0; at < record->warnings_count; at++) {
        json_t *line = new_record("warning");
        json_object_set_new(line, "message", json_cut(record->warnings[at], WARNING_MOST));
        print_record(out, line);
    }
    print_record(out, new_record("end"));
    whole = ferror(out) == 0;
    if (fclose(out) != 0 || !whole)
        out_of_memory();
    return text;
}

/* ---- a harness ------------------------------------------------------------------------------- */

static bool has_metric(const command_record *record, const char *name)
{
    for (size_t at = 0; at < record->metrics_count; at++)
        if (strcmp(record->metrics[at].name, name) == 0)
            return true;
    return false;
}

/* A file of another run - an old one, or a command's idea of a joke - has another nonce. */
static bool has_nonce(const char *path, const char *nonce)
{
    json_source source = {.file = path, .line = 1};
    char *text = json_source_read(&source, path, RECORDS_FILE_BYTES);
    bool same = false;

    if (text != NULL) {
        json_t *manifest;
        source.size = strcspn(text, "\n");
        manifest = json_source_parse(&source);
        same =
            manifest != NULL &&
            strcmp(json_get_text(&source, manifest, "nonce", VALUE_MOST, JSON_NEEDED), nonce) == 0;
        json_decref(manifest);
    }
    free(text);
    return same;
}

static void take_over(command_record *record, model_cell *cell)
{
    record->is_harness = true;
    record->harness.histograms = cell->histograms;
    record->harness.histograms_count = cell->histograms_count;
    cell->histograms = NULL;
    cell->histograms_count = 0;
    for (size_t at = 0; at < cell->metrics_count; at++) {
        const model_metric *metric = &cell->metrics[at];
        char *name =
            xasprintf("%s%s", has_metric(record, metric->name) ? "harness_" : "", metric->name);
        if (!has_metric(record, name))
            command_record_metric(record, name, metric->unit, metric->direction, metric->value);
        free(name);
    }
    for (size_t at = 0; at < cell->warnings_count; at++)
        command_record_warn(record, "harness: %s", cell->warnings[at]);
}

void command_record_harness(command_record *record, const char *path)
{
    const char *name = strrchr(path, '/') + 1;
    char *folder = xstrndup(path, (size_t)(name - path));
    model_cell cell = {0};
    char message[512];

    if (access(path, F_OK) != 0) {
        free(folder);
        return;
    }
    if (!records_read(folder, name, &cell, message, sizeof message)) {
        command_record_warn(record, "the harness's result is not whole and was left out: %s",
                            message);
    } else {
        if (has_nonce(path, record->nonce))
            take_over(record, &cell);
        else
            command_record_warn(record, "the harness's result is of another run (its nonce is not "
                                        "ALLOCBENCH_NONCE) and was left out");
        records_clear(&cell);
    }
    unlink(path);
    free(folder);
}
