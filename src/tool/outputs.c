#include "tool/outputs.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tool/commands.h"
#include "tool/compare.h"
#include "tool/gates.h"
#include "tool/report/compare_text.h"
#include "tool/report/export.h"
#include "tool/report/markdown.h"
#include "tool/report/unpaired.h"
#include "tool/util.h"

/* ---- options --------------------------------------------------------------------------------- */

bool outputs_has(int option)
{
    return option >= OUTPUTS_FIRST && option <= OUTPUTS_MARKDOWN;
}

static bool is_stdout(const char *file)
{
    return file != NULL && strcmp(file, "-") == 0;
}

bool outputs_own_stdout(const outputs *o)
{
    return is_stdout(o->json) || is_stdout(o->csv) || is_stdout(o->markdown);
}

static bool has_file(const outputs *o, const char *file)
{
    const char *const files[] = {o->json, o->csv, o->markdown};
    bool found = false;

    for (size_t at = 0; at < sizeof files / sizeof files[0]; at++)
        found = found || (files[at] != NULL && strcmp(files[at], file) == 0);
    return found;
}

static bool take_file(outputs *o, const char **file, const char *option, const char *value)
{
    if (value[0] == '\0')
        command_fail(EXIT_USAGE, "%s wants a file, or '-'", option);
    else if (is_stdout(value) && outputs_own_stdout(o) && !is_stdout(*file))
        command_fail(EXIT_USAGE, "%s -: another export goes to standard output already", option);
    else if (!is_stdout(value) && has_file(o, value))
        command_fail(EXIT_USAGE, "%s %.200s: another export goes there already", option, value);
    else
        *file = value;
    return *file == value;
}

static bool take_gate(outputs *o, const char *value)
{
    char message[1024];
    gate g;

    if (!gate_parse(value, &g, message, sizeof message)) {
        command_fail(EXIT_USAGE, "--fail-if %s", message);
        return false;
    }
    o->gates = xrealloc(o->gates, (o->gates_count + 1) * sizeof *o->gates);
    o->gates[o->gates_count++] = g;
    return true;
}

bool outputs_take(outputs *o, int option, const char *value)
{
    switch (option) {
    case OUTPUTS_FAIL_IF:
        return take_gate(o, value);
    case OUTPUTS_FAIL_IF_UNKNOWN:
        return o->fail_unknown = true;
    case OUTPUTS_JSON:
        return take_file(o, &o->json, "--export-json", value);
    case OUTPUTS_CSV:
        return take_file(o, &o->csv, "--export-csv", value);
    default:
        return take_file(o, &o->markdown, "--export-markdown", value);
    }
}

void outputs_clear(outputs *o)
{
    for (size_t i = 0; i < o->gates_count; i++)
        gate_clear(&o->gates[i]);
    free(o->gates);
    memset(o, 0, sizeof *o);
}

/* ---- files ----------------------------------------------------------------------------------- */

/* What is no file of its own (a pipe, a device, a link like /dev/stdout) is written into: a file
 * renamed over it would take its place. */
static bool write_into(const char *file, const char *data, size_t size)
{
    const int fd = is_stdout(file) ? STDOUT_FILENO : open(file, O_WRONLY | O_TRUNC | O_CLOEXEC);
    bool good = fd >= 0 && util_write_all(fd, data, size);
    const int error = errno;

    if (fd >= 0 && fd != STDOUT_FILENO)
        good = close(fd) == 0 && good;
    if (!good)
        command_fail(EXIT_ENVIRONMENT, "%s cannot be written: %s",
                     is_stdout(file) ? "standard output" : file, strerror(error));
    return good;
}

/* Is it one of the files that a result directory is made of? */
static bool is_record(const char *file)
{
    static const char *const names[] = {"matrix.json", "lock", "plan.json"};
    const char *slash = strrchr(file, '/'), *name = slash == NULL ? file : slash + 1;
    char *folder = slash == NULL ? xstrdup(".") : xstrndup(file, (size_t)(slash - file) + 1);
    char *real = realpath(folder, NULL), *beside = xasprintf("%s/rounds", folder);
    const char *last = real == NULL ? "" : strrchr(real, '/') + 1;
    bool found = false;

    for (size_t at = 0; at < sizeof names / sizeof names[0]; at++)
        found = found || (strcmp(name, names[at]) == 0 && access(beside, F_OK) == 0);
    free(beside);
    beside = xasprintf("%s/../matrix.json", folder);
    found = found || ((strcmp(last, "cells") == 0 || strcmp(last, "rounds") == 0) &&
                      access(beside, F_OK) == 0);
    free(beside);
    free(real);
    free(folder);
    return found;
}

bool outputs_write(const char *file, const char *data, size_t size)
{
    char message[1024];
    struct stat info;

    if (!is_stdout(file) && is_record(file)) {
        command_fail(EXIT_ENVIRONMENT,
                     "%s is one of the records that a result directory is made of: choose another "
                     "file",
                     file);
        return false;
    }
    if (is_stdout(file) || (lstat(file, &info) == 0 && !S_ISREG(info.st_mode)))
        return write_into(file, data, size);
    if (util_write_file(file, data, size, message, sizeof message))
        return true;
    command_fail(EXIT_ENVIRONMENT, "%s", message);
    return false;
}

typedef struct content {
    const verdicts *v; /* of a result directory; else NULL */
    const comparison *c;
    const gate_outcomes *gates;
} content;

static void make_json(const content *from, FILE *out)
{
    if (from->v != NULL)
        export_json(from->v, from->gates, out);
    else
        compare_json(from->c, from->gates, out);
}

static void make_csv(const content *from, FILE *out)
{
    if (from->v != NULL)
        export_csv(from->v, out);
    else
        compare_csv(from->c, out);
}

/* A report that stands elsewhere names no charts. */
static void make_markdown(const content *from, FILE *out)
{
    char **charts;

    if (from->v == NULL) {
        compare_markdown(from->c, from->gates, out);
        return;
    }
    charts = xcalloc(from->v->s->m->workloads_count + 1, sizeof *charts);
    markdown_report(from->v, charts, out);
    free(charts);
    gates_markdown(from->gates, out);
}

static bool export_one(const char *file, const content *from,
                       void (*make)(const content *from, FILE *out))
{
    char *data = NULL;
    size_t size;
    FILE *out;
    bool good;

    if (file == NULL)
        return true;
    out = open_memstream(&data, &size);
    if (out == NULL)
        return command_fail(EXIT_ENVIRONMENT, "out of memory for an export") == EXIT_OK;
    make(from, out);
    good = ferror(out) == 0;
    good = fclose(out) == 0 && good;
    if (!good)
        command_fail(EXIT_ENVIRONMENT, "out of memory for an export");
    good = good && outputs_write(file, data, size);
    free(data);
    return good;
}

/* ---- both ------------------------------------------------------------------------------------ */

static const char *plural(size_t count)
{
    return count == 1 ? "" : "s";
}

static int tell(const outputs *o, const gate_outcomes *gates)
{
    int status = EXIT_OK;

    if (gates->unknown > 0) {
        char *line = xasprintf("%zu of %zu threshold%s cannot be told%s", gates->unknown,
                               gates->count, plural(gates->count),
                               o->fail_unknown ? ""
                                               : ": that is no failure (--fail-if-unknown makes "
                                                 "it one)");
        util_say(line);
        free(line);
        if (o->fail_unknown)
            status = EXIT_THRESHOLD;
    }
    if (gates->failed > 0)
        status = command_fail(EXIT_THRESHOLD, "%zu of %zu threshold%s failed", gates->failed,
                              gates->count, plural(gates->count));
    return status;
}

static int finish(const outputs *o, const gate_source *source, content *from)
{
    char message[1024];
    gate_outcomes gates;
    int status;

    if (!gates_judge(o->gates, o->gates_count, source, &gates, message, sizeof message))
        return command_fail(EXIT_USAGE, "--fail-if %s", message);
    from->gates = &gates;
    gates_terminal(&gates, outputs_own_stdout(o) ? stderr : stdout);
    fflush(stdout);
    status = export_one(o->json, from, make_json) && export_one(o->csv, from, make_csv) &&
                     export_one(o->markdown, from, make_markdown)
                 ? tell(o, &gates)
                 : EXIT_ENVIRONMENT;
    gates_clear(&gates);
    return status;
}

int outputs_report(const outputs *o, const model *m)
{
    summary *s;
    verdicts *v;
    gate_source source;
    int status;

    if (o->gates_count == 0 && o->json == NULL && o->csv == NULL && o->markdown == NULL)
        return EXIT_OK;
    s = summary_make(m);
    v = verdicts_make(s);
    source = gates_of_verdicts(v);
    status = finish(o, &source, &(content){.v = v});
    verdicts_free(v);
    summary_free(s);
    return status;
}

/* ---- thresholds of a comparison -------------------------------------------------------------- */

static const char *label_of(void *from, size_t workload)
{
    return compare_label(from, workload);
}

static const char *id_of(void *from, size_t workload)
{
    const comparison *c = from;

    return c->side[COMPARE_B].m->workloads[c->pairs[workload].workload[COMPARE_B]].id;
}

static const char *target_of(void *from, size_t target)
{
    return ((comparison *)from)->side[COMPARE_B].m->targets[target].name;
}

/* The value is B's. */
static void find_value(const comparison *c, const summary_row *row, gate_case *out)
{
    double *values = xcalloc(row->n + 1, sizeof *values);
    const double alpha = 0.05 / c->side[COMPARE_B].v->looks;

    for (size_t i = 0; i < row->n; i++)
        values[i] = row->values[i].value;
    unpaired_median(values, (uint32_t)row->n, alpha, &out->found);
    out->needed = isnan(out->found.low) ? abench_rounds_least(alpha) : 0;
    free(values);
}

static gate_found find(void *from, size_t workload, size_t target, const char *name, bool is_ratio,
                       gate_case *out)
{
    comparison *c = from;
    const compare_side *b = &c->side[COMPARE_B];
    const summary_row *row =
        summary_find(b->s, c->pairs[workload].workload[COMPARE_B], target, false, name);
    const compare_metric *metric = is_ratio ? compare_metric_of(c, workload, name) : NULL;

    *out = (gate_case){.noise = NAN};
    abench_interval_init(&out->found);
    if (row != NULL && !is_ratio) {
        out->metric = row->metric;
        out->unit = row->unit;
        find_value(c, row, out);
        return GATE_FOUND;
    }
    for (size_t i = 0; metric != NULL && i < metric->count; i++) {
        if (metric->rows[i].target[COMPARE_B] != target)
            continue;
        out->metric = metric->metric;
        out->unit = metric->unit;
        out->found = metric->rows[i].change;
        out->refused = metric->refused;
        out->noise = metric->noise;
        out->needed = metric->rows[i].needed;
        if (!isfinite(out->found.estimate))
            out->found.count = 0;
        return GATE_FOUND;
    }
    return row != NULL && target != b->m->baseline ? GATE_EMPTY : GATE_ABSENT;
}

int outputs_compare(const outputs *o, comparison *c)
{
    const model *b = c->side[COMPARE_B].m;
    const gate_source source = {.from = c,
                                .workloads = c->pairs_count,
                                .targets = b->targets_count,
                                .baseline = b->baseline,
                                .measured = c->side[COMPARE_B].s,
                                .label = label_of,
                                .id = id_of,
                                .target = target_of,
                                .find = find};

    return finish(o, &source, &(content){.c = c});
}
