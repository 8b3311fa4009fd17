/* export_json.c - --export-json of a result directory. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include <allocbench/allocbench.h>

#include "tool/json_text.h"
#include "tool/report/advice.h"
#include "tool/report/export.h"
#include "tool/report/interval_text.h"
#include "tool/util.h"

static void set(json_t *object, const char *key, json_t *value)
{
    json_object_set_new(object, key, value);
}

static void set_text(json_t *object, const char *key, const char *text)
{
    set(object, key, text == NULL ? json_null() : json_text(text));
}

const char *export_direction(uint32_t direction)
{
    return direction == ABENCH_DIRECTION_LOWER    ? "lower"
           : direction == ABENCH_DIRECTION_HIGHER ? "higher"
                                                  : "none";
}

json_t *export_rounds(const model *m, const summary_row *row)
{
    json_t *list = json_array();

    for (size_t i = 0; i < row->n; i++) {
        json_t *item = json_object();
        set(item, "round", json_integer(row->values[i].round));
        set(item, "value", interval_number(row->values[i].value));
        set(item, "ratio",
            row->values[i].has_ratio ? interval_number(row->values[i].ratio) : json_null());
        if (m->places_count > 0)
            set(item, "machine", json_integer((json_int_t)m->cells[row->values[i].cell].place));
        json_array_append_new(list, item);
    }
    return list;
}

/* Of a merge. */
static json_t *places_json(const model *m)
{
    json_t *list = json_array();

    for (size_t i = 0; i < m->places_count; i++) {
        json_t *item = json_object();
        set_text(item, "name", m->places[i].name);
        set(item, "host", json_host(&m->places[i].host));
        json_array_append_new(list, item);
    }
    return list;
}

void export_dump(json_t *root, FILE *out)
{
    json_dumpf(root, out, JSON_INDENT(1));
    fputc('\n', out);
    json_decref(root);
}

/* ---- what was asked -------------------------------------------------------------------------- */

static json_t *texts_json(char *const *texts, size_t count)
{
    json_t *list = json_array();

    for (size_t i = 0; i < count; i++)
        json_array_append_new(list, json_text(texts[i]));
    return list;
}

static json_t *machine_json(const model_machine *machine)
{
    json_t *list = json_array();

    for (size_t i = 0; i < machine->findings_count; i++) {
        const model_finding *finding = &machine->findings[i];
        json_t *item = json_object();
        set_text(item, "name", finding->name);
        set_text(item, "value", finding->value);
        set_text(item, "why", finding->why);
        set_text(item, "advice", finding->advice);
        set_text(item, "verdict", abench_verdict_name(finding->verdict));
        set(item, "is_key", json_boolean(finding->is_key));
        json_array_append_new(list, item);
    }
    return list;
}

static json_t *targets_json(const model *m)
{
    json_t *list = json_array();

    for (size_t i = 0; i < m->targets_count; i++) {
        const model_target *t = &m->targets[i];
        json_t *item = json_object();
        set_text(item, "name", t->name);
        set_text(item, "spec", t->spec);
        set_text(item, "library", t->library);
        set_text(item, "family", t->family);
        set_text(item, "version", t->version);
        set_text(item, "build_id", t->build_id);
        set_text(item, "settings", t->settings);
        set_text(item, "missing", t->missing);
        json_array_append_new(list, item);
    }
    return list;
}

static const char *target_name(const model *m, size_t target)
{
    return target == MODEL_FLOOR ? "(floor)" : m->targets[target].name;
}

static json_t *failed_json(const model *m, size_t workload)
{
    json_t *list = json_array();

    for (size_t i = 0; i < m->cells_count; i++) {
        const model_cell *cell = &m->cells[i];
        json_t *item;
        if (cell->workload != workload || !cell->failed)
            continue;
        item = json_object();
        set(item, "round", json_integer(cell->round));
        set_text(item, "target", target_name(m, cell->target));
        set(item, "again", json_boolean(cell->again));
        set_text(item, "reason", cell->reason);
        json_array_append_new(list, item);
    }
    return list;
}

/* ---- what it comes to ------------------------------------------------------------------------ */

/* Of a row that has a verdict. */
static void set_verdict(json_t *item, const verdict_metric *metric, const verdict *judged)
{
    const abench_comparison *c = &judged->result;
    char *text = verdict_text(metric, judged);
    json_t *rank = judged->has_rank ? json_array() : json_null();

    if (judged->has_rank) {
        json_array_append_new(rank, json_integer(judged->rank_low));
        json_array_append_new(rank, json_integer(judged->rank_high));
    }
    set_text(item, "verdict", abench_compared_name(c->verdict));
    set_text(item, "text", text);
    set(item, "rounds", json_integer(c->rounds));
    set(item, "rounds_needed",
        c->rounds_needed == UINT32_MAX ? json_null() : json_integer(c->rounds_needed));
    set(item, "rank", rank);
    set(item, "cliff", interval_number(judged->cliff));
    set(item, "drift", judged->has_drift ? interval_number(judged->drift) : json_null());
    free(text);
}

static void set_no_verdict(json_t *item)
{
    static const char *const keys[] = {"verdict", "text",  "rounds", "rounds_needed",
                                       "rank",    "cliff", "drift"};

    for (size_t i = 0; i < sizeof keys / sizeof *keys; i++)
        set(item, keys[i], json_null());
}

/* With the verdict's bounds where it has them, else the rounds' middle alone. */
static json_t *ratio_json(const summary_row *row, const verdict *judged)
{
    abench_interval ratio = ABENCH_INTERVAL_INIT;

    ratio.low = ratio.high = NAN;
    if (judged != NULL && isfinite(judged->result.ratio)) {
        ratio.count = judged->result.rounds > 0 ? judged->result.rounds : (uint32_t)row->n;
        ratio.estimate = judged->result.ratio;
        ratio.low = judged->result.low;
        ratio.high = judged->result.high;
    } else {
        ratio.count = (uint32_t)row->ratios;
        ratio.estimate = row->ratio;
    }
    return interval_json(&ratio);
}

static json_t *row_json(const model *m, const verdict_metric *metric, const summary_row *row)
{
    const verdict *judged = metric == NULL || row->again ? NULL : verdict_of(metric, row->target);
    json_t *item = json_object();

    set_text(item, "target", target_name(m, row->target));
    set(item, "again", json_boolean(row->again));
    set(item, "median", interval_number(row->median));
    set(item, "minimum", interval_number(row->minimum));
    set(item, "maximum", interval_number(row->maximum));
    set(item, "ratio",
        row->again && metric != NULL ? interval_json(&metric->aa) : ratio_json(row, judged));
    if (judged != NULL)
        set_verdict(item, metric, judged);
    else
        set_no_verdict(item);
    set(item, "values", export_rounds(m, row));
    return item;
}

static json_t *metric_json(const verdicts *v, const summary_row *row)
{
    const verdict_metric *metric = verdicts_find(v, row->workload, row->metric);
    const bool judged = metric != NULL;
    json_t *item = json_object();

    set_text(item, "metric", row->metric);
    set_text(item, "title", judged ? metric->title : NULL);
    set_text(item, "unit", row->unit);
    set_text(item, "direction", export_direction(row->direction));
    set(item, "judged", json_boolean(judged));
    set(item, "is_main", judged ? json_boolean(metric->is_main) : json_null());
    set(item, "is_memory", judged ? json_boolean(metric->is_memory) : json_null());
    set(item, "refused", judged ? json_boolean(metric->refused) : json_null());
    set(item, "threshold", judged ? interval_number(metric->threshold) : json_null());
    set(item, "rounds", judged ? json_integer(metric->rounds) : json_null());
    set(item, "rounds_least", judged ? json_integer(metric->rounds_least) : json_null());
    set(item, "aa", judged ? interval_json(&metric->aa) : json_null());
    set(item, "aa_p", judged ? interval_number(metric->aa_p) : json_null());
    set(item, "targets", json_array());
    return item;
}

/* The rows of a metric of a workload stand together. */
static json_t *metrics_json(const verdicts *v, size_t workload)
{
    const summary *s = v->s;
    json_t *list = json_array(), *item = NULL;
    const char *last = NULL;

    for (size_t i = 0; i < s->count; i++) {
        const summary_row *row = &s->rows[i];
        if (row->workload != workload)
            continue;
        if (last == NULL || strcmp(last, row->metric) != 0) {
            item = metric_json(v, row);
            json_array_append_new(list, item);
            last = row->metric;
        }
        json_array_append_new(json_object_get(item, "targets"),
                              row_json(s->m, verdicts_find(v, workload, row->metric), row));
    }
    return list;
}

static json_t *workloads_json(const verdicts *v, const advice *told)
{
    const model *m = v->s->m;
    json_t *list = json_array();

    for (size_t i = 0; i < m->workloads_count; i++) {
        const model_workload *w = &m->workloads[i];
        json_t *item = json_object();
        set_text(item, "id", w->id);
        set_text(item, "label", w->label);
        set_text(item, "spec", w->spec);
        set_text(item, "kind", w->is_command ? "command" : "tape");
        set(item, "rounds", json_integer((json_int_t)summary_rounds(m, i)));
        set(item, "advice",
            i < told->workloads_count
                ? texts_json(told->workloads[i].sentences, told->workloads[i].count)
                : json_array());
        set(item, "failed", failed_json(m, i));
        set(item, "metrics", metrics_json(v, i));
        json_array_append_new(list, item);
    }
    return list;
}

static json_t *next_json(const advice *told)
{
    json_t *list = json_array();

    for (size_t i = 0; i < told->next_count; i++) {
        json_t *item = json_object();
        set_text(item, "why", told->next[i].why);
        set_text(item, "command", told->next[i].command);
        json_array_append_new(list, item);
    }
    return list;
}

void export_json(const verdicts *v, const gate_outcomes *gates, FILE *out)
{
    const model *m = v->s->m;
    advice *told = advice_make(v);
    json_t *root = json_object();
    char *seed = xasprintf("%llu", (unsigned long long)m->seed);

    set(root, "schema", json_integer(1));
    set_text(root, "kind", "allocbench-report");
    set_text(root, "tool_version", m->tool_version);
    set_text(root, "command_line", m->command_line);
    set_text(root, "unix_s", m->unix_s);
    set_text(root, "seed", seed); /* a JSON integer ends at 2^63 */
    set(root, "rounds", json_integer(m->rounds));
    set_text(root, "baseline", m->targets[m->baseline].name);
    set(root, "looks", json_integer(v->looks));
    set(root, "host", json_host(&m->host));
    set(root, "machine", machine_json(&m->machine));
    set(root, "machines", places_json(m));
    set(root, "notes", texts_json(m->notes, m->notes_count));
    set(root, "advice", texts_json(told->overall.sentences, told->overall.count));
    set(root, "next", next_json(told));
    set(root, "targets", targets_json(m));
    set(root, "workloads", workloads_json(v, told));
    set(root, "thresholds", gates_json(gates));
    export_dump(root, out);
    free(seed);
    advice_free(told);
}
