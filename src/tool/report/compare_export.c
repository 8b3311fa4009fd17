/* compare_export.c - --export-json and --export-csv of a comparison. */
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>

#include <allocbench/allocbench.h>

#include "tool/json_text.h"
#include "tool/report/compare_text.h"
#include "tool/report/export.h"
#include "tool/report/format.h"
#include "tool/report/interval_text.h"

static void set(json_t *object, const char *key, json_t *value)
{
    json_object_set_new(object, key, value);
}

static void set_text(json_t *object, const char *key, const char *text)
{
    set(object, key, json_text(text));
}

static const summary_row *row_of(const comparison *c, const compare_metric *metric,
                                 const compare_row *row, int side)
{
    return summary_find(c->side[side].s, c->pairs[metric->pair].workload[side], row->target[side],
                        false, metric->metric);
}

/* ---- JSON ------------------------------------------------------------------------------------ */

static json_t *row_json(const comparison *c, const compare_metric *metric, const compare_row *row)
{
    json_t *item = json_object();
    char *text = compare_text(metric, row);

    set_text(item, "target", compare_target(c, row));
    set(item, "a", interval_json(&row->middle[COMPARE_A]));
    set(item, "b", interval_json(&row->middle[COMPARE_B]));
    set(item, "change", interval_json(&row->change));
    set_text(item, "verdict", abench_compared_name(row->verdict));
    set_text(item, "text", text);
    set(item, "rounds_needed", row->needed == UINT32_MAX ? json_null() : json_integer(row->needed));
    for (int side = 0; side < 2; side++)
        set(item, side == COMPARE_A ? "rounds_a" : "rounds_b",
            export_rounds(c->side[side].m, row_of(c, metric, row, side)));
    free(text);
    return item;
}

static json_t *metrics_json(const comparison *c, size_t pair)
{
    json_t *list = json_array();

    for (size_t i = 0; i < c->count; i++) {
        const compare_metric *metric = &c->metrics[i];
        json_t *item, *targets;
        if (metric->pair != pair)
            continue;
        item = json_object();
        targets = json_array();
        set_text(item, "metric", metric->metric);
        set_text(item, "title", metric->title);
        set_text(item, "unit", metric->unit);
        set_text(item, "direction", export_direction(metric->direction));
        set_text(item, "compared", metric->by_value ? "value" : "ratio");
        set(item, "refused", json_boolean(metric->refused));
        set(item, "noise", interval_number(metric->noise));
        set(item, "threshold", interval_number(metric->threshold));
        for (size_t j = 0; j < metric->count; j++)
            json_array_append_new(targets, row_json(c, metric, &metric->rows[j]));
        set(item, "targets", targets);
        json_array_append_new(list, item);
    }
    return list;
}

static json_t *side_json(const compare_side *side)
{
    json_t *item = json_object();

    set_text(item, "directory", side->m->directory);
    set_text(item, "command_line", side->m->command_line);
    set_text(item, "unix_s", side->m->unix_s);
    set_text(item, "tool_version", side->m->tool_version);
    set(item, "host", json_host(&side->m->host));
    return item;
}

static json_t *workloads_json(const comparison *c)
{
    json_t *list = json_array();

    for (size_t pair = 0; pair < c->pairs_count; pair++) {
        const size_t *workload = c->pairs[pair].workload;
        const model *b = c->side[COMPARE_B].m;
        json_t *item = json_object();
        set_text(item, "label", compare_label(c, pair));
        set_text(item, "spec", b->workloads[workload[COMPARE_B]].spec);
        set(item, "rounds_a",
            json_integer((json_int_t)summary_rounds(c->side[COMPARE_A].m, workload[COMPARE_A])));
        set(item, "rounds_b", json_integer((json_int_t)summary_rounds(b, workload[COMPARE_B])));
        set(item, "metrics", metrics_json(c, pair));
        json_array_append_new(list, item);
    }
    return list;
}

void compare_json(const comparison *c, const gate_outcomes *gates, FILE *out)
{
    json_t *root = json_object(), *notes = json_array(), *told = json_array();
    size_t count;
    char **sentences = compare_sentences(c, &count);

    for (size_t i = 0; i < c->notes_count; i++)
        json_array_append_new(notes, json_text(c->notes[i]));
    for (size_t i = 0; i < count; i++) {
        json_array_append_new(told, json_text(sentences[i]));
        free(sentences[i]);
    }
    free(sentences);
    set(root, "schema", json_integer(1));
    set_text(root, "kind", "allocbench-compare");
    set_text(root, "tool_version", abench_version_string());
    set(root, "a", side_json(&c->side[COMPARE_A]));
    set(root, "b", side_json(&c->side[COMPARE_B]));
    set(root, "same_machine", json_boolean(c->same_machine));
    set(root, "notes", notes);
    set(root, "advice", told);
    set(root, "workloads", workloads_json(c));
    set(root, "thresholds", gates_json(gates));
    export_dump(root, out);
}

/* ---- CSV ------------------------------------------------------------------------------------- */

static void put_text(FILE *out, const char *text)
{
    format_csv(out, text);
    fputc(',', out);
}

static void put_number(FILE *out, double value)
{
    if (isfinite(value))
        format_number(out, value);
    fputc(',', out);
}

static void put_interval(FILE *out, const abench_interval *interval)
{
    const bool there = interval->count > 0;

    put_number(out, there ? interval->estimate : NAN);
    put_number(out, there ? interval->low : NAN);
    put_number(out, there ? interval->high : NAN);
}

static void put_row(FILE *out, const comparison *c, const compare_metric *metric,
                    const compare_row *row)
{
    put_text(out, compare_label(c, metric->pair));
    put_text(out, compare_target(c, row));
    put_text(out, metric->metric);
    put_text(out, metric->unit);
    put_text(out, export_direction(metric->direction));
    put_text(out, metric->by_value ? "value" : "ratio");
    put_interval(out, &row->middle[COMPARE_A]);
    put_interval(out, &row->middle[COMPARE_B]);
    put_interval(out, &row->change);
    put_text(out, abench_compared_name(row->verdict));
    put_number(out, metric->threshold);
    if (row->needed > 0 && row->needed < UINT32_MAX)
        fprintf(out, "%" PRIu32, row->needed);
    fprintf(out, ",%d,", metric->refused);
    export_rounds_text(out, row_of(c, metric, row, COMPARE_A));
    fputc(',', out);
    export_rounds_text(out, row_of(c, metric, row, COMPARE_B));
    fputc('\n', out);
}

void compare_csv(const comparison *c, FILE *out)
{
    fputs("workload,target,metric,unit,direction,compared,a,a_low,a_high,b,b_low,b_high,change,"
          "change_low,change_high,verdict,threshold,rounds_needed,refused,values_a,values_b\n",
          out);
    for (size_t i = 0; i < c->count; i++)
        for (size_t j = 0; j < c->metrics[i].count; j++)
            put_row(out, c, &c->metrics[i], &c->metrics[i].rows[j]);
}
