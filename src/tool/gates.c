#include "tool/gates.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "tool/json_text.h"
#include "tool/report/format.h"
#include "tool/report/interval_text.h"
#include "tool/report/unpaired.h"
#include "tool/util.h"

#define ALPHA 0.05

/* ---- which are meant ------------------------------------------------------------------------- */

static void add_outcome(gate_outcomes *out, size_t *capacity, const gate *g, const gate_case *found)
{
    gate_outcome outcome = {.g = g, .found = *found};

    outcome.result = gate_judge(g, found, &outcome.why);
    out->failed += outcome.result == GATE_FAILED;
    out->unknown += outcome.result == GATE_UNKNOWN;
    out->items = util_grow(out->items, out->count, capacity, sizeof outcome);
    out->items[out->count++] = outcome;
}

static bool is_meant(const gate *g, const gate_source *s, size_t target)
{
    if (g->target != NULL)
        return strcmp(g->target, s->target(s->from, target)) == 0;
    return target != s->baseline || g->unit != GATE_RATIO;
}

/* The first name of the gate's metric that a target of the workload has. free() it; NULL: none. */
static char *metric_there(const gate *g, const gate_source *s, size_t workload)
{
    gate_case found;

    for (size_t at = 0;; at++) {
        char *name = gate_metric_name(g, at);
        if (name == NULL)
            return NULL;
        for (size_t target = 0; target < s->targets; target++)
            if (s->find(s->from, workload, target, name, g->unit == GATE_RATIO, &found) ==
                GATE_FOUND)
                return name;
        free(name);
    }
}

/* One that says nothing of a number is judged too: it cannot be told. false: in another unit. */
static bool judge_workload(const gate *g, const gate_source *s, size_t workload, gate_outcomes *out,
                           size_t *capacity, const char **unit)
{
    char *metric = metric_there(g, s, workload);

    for (size_t target = 0; target < s->targets && metric != NULL; target++) {
        gate_case found = {.needed = 0};
        gate_found state;
        if (!is_meant(g, s, target))
            continue;
        state = s->find(s->from, workload, target, metric, g->unit == GATE_RATIO, &found);
        if (state == GATE_ABSENT)
            continue;
        if (state == GATE_EMPTY)
            found = (gate_case){.noise = NAN};
        found.label = s->label(s->from, workload);
        found.target = s->target(s->from, target);
        if (state == GATE_FOUND && !gate_fits(g, found.unit)) {
            *unit = found.unit;
            free(metric);
            return false;
        }
        add_outcome(out, capacity, g, &found);
    }
    free(metric);
    return true;
}

/* ---- nothing is meant ------------------------------------------------------------------------ */

/* ", did you mean 'NAME'?" of the nearest, "" when there is nothing. free() it. */
static char *nearest_of(const gate_source *s, const char *name, size_t count,
                        const char *(*name_of)(void *from, size_t index))
{
    const char *nearest = NULL;

    for (size_t i = 0; i < count; i++) {
        const char *other = name_of(s->from, i);
        if (nearest == NULL ||
            abench_text_distance(other, name) < abench_text_distance(nearest, name))
            nearest = other;
    }
    return nearest == NULL ? xstrdup("") : xasprintf("; did you mean '%.100s'?", nearest);
}

/* The name is a part of it, or it is spelled like it: smaller is nearer. */
static uint32_t distance_of(const char *metric, const char *name)
{
    return strstr(metric, name) != NULL ? 0 : abench_text_distance(metric, name);
}

static char *nearest_metric(const summary *measured, const char *name)
{
    const char *nearest = NULL;

    for (size_t i = 0; i < measured->count; i++) {
        const char *metric = measured->rows[i].metric;
        if (nearest == NULL || distance_of(metric, name) < distance_of(nearest, name))
            nearest = metric;
    }
    return nearest == NULL ? xstrdup("") : xasprintf("; did you mean '%.60s'?", nearest);
}

/* Why a threshold is of nothing. */
static void explain(const gate *g, const gate_source *s, char *message, size_t message_size)
{
    bool workload = false, target = g->target == NULL;
    char *nearest;

    for (size_t i = 0; i < s->workloads; i++)
        workload = workload || gate_is_of(g, s->label(s->from, i), s->id(s->from, i));
    for (size_t i = 0; i < s->targets; i++)
        target = target || strcmp(g->target, s->target(s->from, i)) == 0;
    if (!target) {
        nearest = nearest_of(s, g->target, s->targets, s->target);
        snprintf(message, message_size, "'%.200s': there is no target '%.100s' here%s", g->text,
                 g->target, nearest);
    } else if (!workload) {
        nearest = nearest_of(s, g->workload == NULL ? "" : g->workload, s->workloads, s->label);
        snprintf(message, message_size, "'%.200s': there is no workload '%.100s' here%s", g->text,
                 g->workload == NULL ? "*" : g->workload, nearest);
    } else {
        nearest = nearest_metric(s->measured, g->metric);
        snprintf(message, message_size, "'%.200s': nothing here was measured as '%.60s'%s", g->text,
                 g->metric, nearest);
    }
    free(nearest);
    util_one_line(message);
}

bool gates_judge(const gate *gates, size_t count, const gate_source *source, gate_outcomes *out,
                 char *message, size_t message_size)
{
    size_t capacity = 0;

    memset(out, 0, sizeof *out);
    for (size_t i = 0; i < count; i++) {
        const size_t before = out->count;
        const char *unit = NULL;
        for (size_t w = 0; w < source->workloads && unit == NULL; w++)
            if (gate_is_of(&gates[i], source->label(source->from, w), source->id(source->from, w)))
                judge_workload(&gates[i], source, w, out, &capacity, &unit);
        if (unit != NULL) {
            snprintf(message, message_size, "'%.200s': %.60s is counted in %.30s", gates[i].text,
                     gates[i].metric, unit);
            util_one_line(message);
        } else if (out->count == before) {
            explain(&gates[i], source, message, message_size);
        }
        if (unit != NULL || out->count == before) {
            gates_clear(out);
            return false;
        }
    }
    return true;
}

void gates_clear(gate_outcomes *outcomes)
{
    free(outcomes->items);
    memset(outcomes, 0, sizeof *outcomes);
}

/* ---- of a result directory ------------------------------------------------------------------- */

static const model *model_of(void *from)
{
    return ((const verdicts *)from)->s->m;
}

static const char *label_of(void *from, size_t workload)
{
    return model_of(from)->workloads[workload].label;
}

static const char *id_of(void *from, size_t workload)
{
    return model_of(from)->workloads[workload].id;
}

static const char *target_of(void *from, size_t target)
{
    return model_of(from)->targets[target].name;
}

static bool has_cell(const model *m, size_t workload, size_t target)
{
    for (size_t i = 0; i < m->cells_count; i++)
        if (m->cells[i].workload == workload && m->cells[i].target == target)
            return true;
    return false;
}

/* The values of a row, or its rounds' ratios; free() them. */
static double *take(const summary_row *row, bool is_ratio, uint32_t *count)
{
    double *numbers = xcalloc(row->n + 1, sizeof *numbers);

    *count = 0;
    for (size_t i = 0; i < row->n; i++)
        if (!is_ratio || row->values[i].has_ratio)
            numbers[(*count)++] = is_ratio ? row->values[i].ratio : row->values[i].value;
    return numbers;
}

static uint32_t count_rivals(const summary_row *row, const summary *s)
{
    uint32_t count = 0;

    for (size_t i = 0; i < s->m->targets_count; i++)
        count +=
            i != s->m->baseline && summary_find(s, row->workload, i, false, row->metric) != NULL;
    return count > 0 ? count : 1;
}

/* A metric that is not judged in the tables is judged here as they would. */
static void find_unjudged(const verdicts *v, const summary_row *row, gate_case *out)
{
    const summary_row *again =
        summary_find(v->s, row->workload, v->s->m->baseline, true, row->metric);
    abench_interval aa = ABENCH_INTERVAL_INIT;
    const double alpha = ALPHA / count_rivals(row, v->s) / v->looks;
    uint32_t count;
    double *ratios = take(row, true, &count);

    if (count > 0 && count == row->n)
        abench_hodges_lehmann(ratios, count, alpha, &out->found);
    out->needed = abench_rounds_least(alpha);
    free(ratios);
    ratios = again == NULL ? NULL : take(again, true, &count);
    if (again != NULL && count > 0 &&
        abench_hodges_lehmann(ratios, count, ALPHA / v->looks, &aa) == ABENCH_OK)
        out->noise = abench_interval_reach(&aa);
    free(ratios);
}

static void find_ratio(const verdicts *v, const summary_row *row, gate_case *out)
{
    const verdict_metric *metric = verdicts_find(v, row->workload, row->metric);
    const verdict *item = metric == NULL ? NULL : verdict_of(metric, row->target);

    if (item == NULL) {
        find_unjudged(v, row, out);
        return;
    }
    out->refused = metric->refused;
    out->noise = metric->aa.count > 0 ? abench_interval_reach(&metric->aa) : NAN;
    out->needed = item->result.rounds_needed;
    if (!isfinite(item->result.ratio))
        return;
    out->found.count = item->result.rounds;
    out->found.estimate = item->result.ratio;
    out->found.low = item->result.low;
    out->found.high = item->result.high;
}

static gate_found find(void *from, size_t workload, size_t target, const char *metric,
                       bool is_ratio, gate_case *out)
{
    const verdicts *v = from;
    const summary_row *row = summary_find(v->s, workload, target, false, metric);
    double *values;
    uint32_t count;

    *out = (gate_case){.noise = NAN};
    abench_interval_init(&out->found);
    if (row == NULL)
        return has_cell(v->s->m, workload, target) ? GATE_EMPTY : GATE_ABSENT;
    out->metric = row->metric;
    out->unit = row->unit;
    if (is_ratio) {
        find_ratio(v, row, out);
        return GATE_FOUND;
    }
    values = take(row, false, &count);
    unpaired_median(values, count, ALPHA / v->looks, &out->found);
    free(values);
    out->needed = isnan(out->found.low) ? abench_rounds_least(ALPHA / v->looks) : 0;
    return GATE_FOUND;
}

gate_source gates_of_verdicts(const verdicts *v)
{
    const model *m = v->s->m;

    return (gate_source){.from = (void *)(uintptr_t)v,
                         .workloads = m->workloads_count,
                         .targets = m->targets_count,
                         .baseline = m->baseline,
                         .measured = v->s,
                         .label = label_of,
                         .id = id_of,
                         .target = target_of,
                         .find = find};
}

/* ---- said ------------------------------------------------------------------------------------ */

static bool has_bounds(const gate_outcome *o)
{
    return o->found.found.count > 0 && !isnan(o->found.found.low);
}

/* "x1.12 [1.08 1.15]", and of what cannot be told, why. free() it. */
static char *found_text(const gate_outcome *o)
{
    const bool is_ratio = o->g->unit == GATE_RATIO;
    char *number = o->found.found.count == 0 ? xstrdup("no number")
                   : is_ratio                ? interval_ratio_text(&o->found.found)
                                             : interval_value_text(&o->found.found, o->found.unit);
    char *text = NULL;

    if (o->result != GATE_UNKNOWN)
        return number;
    if (o->why != NULL)
        text = xasprintf("%s (%s)", number, o->why);
    else if (!has_bounds(o) && o->found.needed > o->found.found.count)
        text =
            xasprintf("%s (%u rounds: %u needed)", number, o->found.found.count, o->found.needed);
    else if (has_bounds(o) && o->found.needed > 0 && o->found.needed < UINT32_MAX)
        text = xasprintf("%s (the limit lies in the interval: more rounds)", number);
    else
        text = xasprintf("%s (%s)", number,
                         has_bounds(o) ? "the limit lies in the interval: more rounds"
                                       : "no interval");
    free(number);
    return text;
}

/* free() it */
static char *outcome_text(const gate_outcome *o)
{
    char *found = found_text(o);
    char *text = xasprintf("%s: %s: %s on %s%s%s: %s", o->g->text, gate_result_name(o->result),
                           o->found.target, o->found.label, o->found.metric == NULL ? "" : ", ",
                           o->found.metric == NULL ? "" : o->found.metric, found);

    free(found);
    return text;
}

void gates_terminal(const gate_outcomes *outcomes, FILE *out)
{
    for (size_t i = 0; i < outcomes->count; i++) {
        char *text = outcome_text(&outcomes->items[i]);
        char *shown = format_terminal(text, 0);
        fprintf(out, "%s\n", shown);
        free(shown);
        free(text);
    }
}

void gates_markdown(const gate_outcomes *outcomes, FILE *out)
{
    if (outcomes->count > 0)
        fputs("\n## Thresholds\n\n", out);
    for (size_t i = 0; i < outcomes->count; i++) {
        char *text = outcome_text(&outcomes->items[i]);
        fputs("- ", out);
        format_markdown(out, text);
        fputc('\n', out);
        free(text);
    }
}

json_t *gates_json(const gate_outcomes *outcomes)
{
    static const char *const names[] = {"passed", "failed", "unknown"};
    json_t *list = json_array();

    for (size_t i = 0; i < outcomes->count; i++) {
        const gate_outcome *o = &outcomes->items[i];
        json_t *item = json_object();
        char *text = outcome_text(o);
        json_object_set_new(item, "threshold", json_text(o->g->text));
        json_object_set_new(item, "result", json_string(names[o->result]));
        json_object_set_new(item, "workload", json_text(o->found.label));
        json_object_set_new(item, "target", json_text(o->found.target));
        json_object_set_new(item, "metric",
                            o->found.metric == NULL ? json_null() : json_text(o->found.metric));
        json_object_set_new(item, "is_ratio", json_boolean(o->g->unit == GATE_RATIO));
        json_object_set_new(item, "limit", json_real(o->g->limit));
        json_object_set_new(item, "found", interval_json(&o->found.found));
        json_object_set_new(item, "text", json_text(text));
        json_array_append_new(list, item);
        free(text);
    }
    return list;
}
