#include "tool/report/after.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "tool/report/format.h"
#include "tool/report/measures.h"
#include "tool/report/phase_plan.h"
#include "tool/util.h"

#define SECONDS_MOST 16u /* columns; a run writes eight at most */
#define DIGITS_MOST  6u  /* of seconds that are taken for such */
#define EQUAL        0.01
#define EQUAL_BYTES  5243.0  /* 0.005 MiB: half of the last digit that is shown */
#define LAZY_BYTES   52429.0 /* 0.05 MiB: less is not worth a line */

/* ---- numbers of one cell --------------------------------------------------------------------- */

static const model_after *find_after(const model_cell *cell, const char *name)
{
    for (size_t i = 0; i < cell->afters_count; i++) {
        if (strcmp(cell->afters[i].name, name) == 0)
            return &cell->afters[i];
    }
    return NULL;
}

/* "4s": of the record; of a harness, which leaves no records, its metric. */
static double after_seconds(const model_cell *cell, const char *name)
{
    const model_after *after = find_after(cell, name);
    char metric[64];
    if (after == NULL || cell->phases_count == 0) {
        snprintf(metric, sizeof metric, "rss_after_%.10s_bytes", name);
        return measure_metric(cell, metric);
    }
    return plan_rss_above(cell, &after->memory);
}

static const char *purge_call(const model_cell *cell, const char *name)
{
    const model_after *after = find_after(cell, name);
    return after == NULL || after->call[0] == '\0' ? NULL : after->call;
}

/* What a run may have as metrics. */
static const char *const as_metrics[] = {"1s", "2s", "4s", "8s"};

#define AS_METRICS (sizeof as_metrics / sizeof *as_metrics)

/* "16s": 16; 0 for what is no time. */
static unsigned long seconds_in(const char *name)
{
    const size_t digits = strspn(name, "0123456789");
    if (digits == 0 || digits > DIGITS_MOST || strcmp(name + digits, "s") != 0)
        return 0;
    return strtoul(name, NULL, 10);
}

bool after_waited(const model_cell *cell)
{
    bool waited = false;
    for (size_t i = 0; i < cell->afters_count && !waited; i++)
        waited = seconds_in(cell->afters[i].name) > 0;
    for (size_t i = 0; i < AS_METRICS && !waited; i++)
        waited = !isnan(after_seconds(cell, as_metrics[i]));
    return waited && !cell->failed;
}

bool after_any_waited(const model *m)
{
    bool waited = false;
    for (size_t i = 0; i < m->cells_count && !waited; i++)
        waited = after_waited(&m->cells[i]);
    return waited;
}

/* ---- columns --------------------------------------------------------------------------------- */

/* The readings that a workload's cells have, by time. */
typedef struct times {
    unsigned long seconds[SECONDS_MOST];
    char names[SECONDS_MOST][16]; /* "16s" */
    char heads[SECONDS_MOST][64];
    size_t count;
} times;

static void add_time(times *t, unsigned long seconds)
{
    size_t at = 0;
    while (at < t->count && t->seconds[at] < seconds)
        at++;
    if (t->count == SECONDS_MOST || (at < t->count && t->seconds[at] == seconds))
        return;
    memmove(&t->seconds[at + 1], &t->seconds[at], (t->count - at) * sizeof t->seconds[0]);
    t->seconds[at] = seconds;
    t->count++;
}

static times find_times(const view *v)
{
    const model *m = v->s->m;
    times t = {.count = 0};
    for (size_t i = 0; i < m->cells_count; i++) {
        const model_cell *cell = &m->cells[i];
        for (size_t j = 0; j < cell->afters_count && cell->workload == v->workload; j++) {
            if (seconds_in(cell->afters[j].name) > 0)
                add_time(&t, seconds_in(cell->afters[j].name));
        }
    }
    for (size_t i = 0; i < AS_METRICS; i++) {
        const measure column = {"", MEASURE_BYTES, as_metrics[i], after_seconds, NULL};
        if (measures_has(v, &column))
            add_time(&t, seconds_in(as_metrics[i]));
    }
    for (size_t i = 0; i < t.count; i++) {
        snprintf(t.names[i], sizeof t.names[i], "%lus", t.seconds[i]);
        snprintf(t.heads[i], sizeof t.heads[i], "%lu s later\nMiB", t.seconds[i]);
    }
    return t;
}

static const measure begun[] = {
    {"baseline\nMiB", MEASURE_BYTES, "rss_baseline_bytes", measure_metric, NULL},
    {"measured\nMiB", MEASURE_BYTES, "rss_bytes", measure_metric, NULL},
    {"peak\nMiB", MEASURE_BYTES, "rss_peak_bytes", measure_metric, NULL},
    {"drained\nMiB", MEASURE_BYTES, "rss_drained_bytes", measure_metric, NULL},
    {"MADV_FREE\nMiB", MEASURE_BYTES, "lazyfree_drained_bytes", measure_metric, NULL},
};

static const measure ended[] = {
    {"purged\nMiB", MEASURE_COMPARED, "rss_purged_bytes", measure_metric, NULL},
    {"purge\ntook", MEASURE_TIME, "purge_ns", measure_metric, NULL},
    {"purged\nby", MEASURE_TEXT, "purged", NULL, purge_call},
};

#define BASELINE  0u /* in begun */
#define MEASURED  1u
#define PEAK      2u
#define DRAINED   3u
#define LAZY      4u
#define PURGED    0u /* in ended */
#define PURGED_BY 2u
#define BEGUN     (sizeof begun / sizeof *begun)
#define ENDED     (sizeof ended / sizeof *ended)
#define MIB       1048576.0

/* ---- on a terminal, in short ----------------------------------------------------------------- */

static measure column_at(const times *t, size_t at)
{
    return (measure){t->heads[at], MEASURE_BYTES, t->names[at], after_seconds, NULL};
}

static bool is_equal(double a, double b)
{
    if (isnan(a) || isnan(b))
        return isnan(a) && isnan(b);
    return fabs(a - b) <= fmax(EQUAL * fmax(fabs(a), fabs(b)), EQUAL_BYTES);
}

static bool is_same_time(const view *v, const times *t, size_t a, size_t b)
{
    const measure x = column_at(t, a), y = column_at(t, b);
    bool same = true;
    for (size_t row = 0; row < v->rows_count && same; row++)
        same = is_equal(measures_value(v, row, &x), measures_value(v, row, &y));
    return same;
}

/* Times at which every target has what it had at the first of them become one. */
static times fold_times(const view *v, const times *t)
{
    times folded = {.count = 0};
    size_t end;
    for (size_t i = 0; i < t->count; i = end) {
        const size_t n = folded.count++;
        for (end = i + 1; end < t->count && is_same_time(v, t, i, end);)
            end++;
        folded.seconds[n] = t->seconds[i];
        memcpy(folded.names[n], t->names[i], sizeof t->names[i]);
        memcpy(folded.heads[n], t->heads[i], sizeof t->heads[i]);
        if (end > i + 1)
            snprintf(folded.heads[n], sizeof folded.heads[n], "%lu s to %lu s later\nMiB",
                     t->seconds[i], t->seconds[end - 1]);
    }
    return folded;
}

static grid *brief_grid(const view *v, const times *t)
{
    const times folded = fold_times(v, t);
    measure columns[1 + SECONDS_MOST + 1];
    size_t n = 0;
    columns[n++] = begun[DRAINED];
    for (size_t i = 0; i < folded.count; i++)
        columns[n++] = column_at(&folded, i);
    columns[n++] = ended[PURGED];
    return measures_grid(v, columns, n, true);
}

/* Appends the row's target. free()s list. */
static char *add_name(char *list, const view *v, size_t row)
{
    char *longer = xasprintf("%s%s%s", list, *list != '\0' ? ", " : "",
                             v->s->m->targets[v->rows[row].target].name);
    free(list);
    return longer;
}

/* "malloc_trim(0) (glibc, glibc-arena2); mi_collect(true) (mimalloc)"; "" when none is told.
 * free() it. */
static char *purge_calls(const view *v)
{
    char *all = xstrdup("");
    for (size_t row = 0; row < v->rows_count; row++) {
        const char *call = measures_text(v, row, &ended[PURGED_BY]);
        char *names = xstrdup(""), *longer;
        bool is_new = call != NULL && !v->rows[row].again;
        for (size_t other = 0; other < v->rows_count && is_new; other++) {
            const char *same = measures_text(v, other, &ended[PURGED_BY]);
            if (v->rows[other].again || same == NULL || strcmp(same, call) != 0)
                continue;
            is_new = other >= row;
            names = add_name(names, v, other);
        }
        if (is_new) {
            longer = xasprintf("%s%s%s (%s)", all, *all != '\0' ? "; " : "", call, names);
            free(all);
            all = longer;
        }
        free(names);
    }
    return all;
}

/* "5.88 MiB (jemalloc)": who has more than a few pages that are in RSS, but given back. "": nobody.
 * free() it. */
static char *lazy_targets(const view *v)
{
    char *all = xstrdup("");
    for (size_t row = 0; row < v->rows_count; row++) {
        const double bytes = measures_value(v, row, &begun[LAZY]);
        char *longer;
        if (v->rows[row].again || isnan(bytes) || bytes < LAZY_BYTES)
            continue;
        longer = xasprintf("%s%s%.*f MiB (%s)", all, *all != '\0' ? ", " : "",
                           format_decimals(bytes / MIB), bytes / MIB,
                           v->s->m->targets[v->rows[row].target].name);
        free(all);
        all = longer;
    }
    return all;
}

/* "HEAD: TEXT", broken where it must be; nothing when text is "". free()s text. */
static void put_line(FILE *out, const char *head, char *text)
{
    char *shown = format_terminal(text, 0);
    char *whole = xasprintf("%s: %s", head, shown);
    char *wrapped = util_wrap(whole, 0, 2);
    if (*text != '\0')
        fprintf(out, "%s\n", wrapped);
    free(wrapped);
    free(whole);
    free(shown);
    free(text);
}

void after_terminal(const view *v, FILE *out, const char *on, const char *off)
{
    const times t = find_times(v);
    grid *g = t.count > 0 ? brief_grid(v, &t) : NULL;
    if (g == NULL)
        return;
    fputs("\nRSS after everything was freed, less the baseline: what comes back\n", out);
    grid_terminal(g, out, on, off);
    grid_free(g);
    put_line(out, "purged by", purge_calls(v));
    put_line(out, "in RSS when drained, but given back (MADV_FREE)", lazy_targets(v));
}

/* ---- for a picture --------------------------------------------------------------------------- */

static size_t add_point(const view *v, size_t row, const char *name, const measure *column,
                        after_point *points, size_t count)
{
    if (!measures_has(v, column))
        return count;
    snprintf(points[count].name, sizeof points[count].name, "%s", name);
    points[count].bytes = measures_value(v, row, column);
    return count + 1;
}

size_t after_points(const view *v, size_t row, after_point *points)
{
    const times t = find_times(v);
    size_t n = 0;
    if (t.count == 0 && !measures_has(v, &begun[DRAINED]))
        return 0;
    n = add_point(v, row, "peak", &begun[PEAK], points, n);
    n = add_point(v, row, "measured", &begun[MEASURED], points, n);
    n = add_point(v, row, "drained", &begun[DRAINED], points, n);
    for (size_t i = 0; i < t.count; i++) {
        const measure column = column_at(&t, i);
        char name[24];
        snprintf(name, sizeof name, "%lu s", t.seconds[i]);
        n = add_point(v, row, name, &column, points, n);
    }
    return add_point(v, row, "purged", &ended[PURGED], points, n);
}

/* ---- in a report ----------------------------------------------------------------------------- */

static grid *full_grid(const view *v, const times *t)
{
    measure columns[BEGUN + SECONDS_MOST + ENDED];
    size_t n = 0;
    if (t->count == 0 && !measures_has(v, &begun[DRAINED]) && !measures_has(v, &ended[PURGED]))
        return NULL;
    for (size_t i = 0; i < BEGUN; i++)
        columns[n++] = begun[i];
    for (size_t i = 0; i < t->count; i++)
        columns[n++] = column_at(t, i);
    for (size_t i = 0; i < ENDED; i++)
        columns[n++] = ended[i];
    return measures_grid(v, columns, n, false);
}

/* What the harness itself has: the null allocator's cells. */
static void put_floor(const view *v, FILE *out)
{
    const summary_row *growth =
        summary_find(v->s, v->workload, MODEL_FLOOR, false, "rss_drained_bytes");
    const summary_row *base =
        summary_find(v->s, v->workload, MODEL_FLOOR, false, "rss_baseline_bytes");
    if (growth == NULL)
        return;
    fprintf(out,
            "\nThe harness itself: played without an allocator (the null allocator) the same work "
            "ends %.*f MiB above its baseline",
            format_decimals(growth->median / MIB), growth->median / MIB);
    if (base != NULL)
        fprintf(out, " of %.*f MiB", format_decimals(base->median / MIB), base->median / MIB);
    fputs(". A small window that the null allocator writes to is in that; no more of any row above "
          "is the harness's.\n",
          out);
}

void after_markdown(const view *v, FILE *out)
{
    const times t = find_times(v);
    grid *g = full_grid(v, &t);
    if (g == NULL)
        return;
    fputs("\nWhat comes back after everything is freed (RSS less the baseline):\n\n", out);
    grid_markdown(g, out);
    if (measures_has(v, &begun[BASELINE]))
        fputs(
            "\n*baseline*: RSS before the work (program, library, tape, and what the allocator has "
            "from its start). It is taken off of every other RSS here.\n",
            out);
    put_floor(v, out);
    if (measures_has(v, &begun[LAZY]))
        fputs("\nMADV_FREE: of *drained*, what is in RSS although it is given back: the kernel "
              "takes it when it needs it.\n",
              out);
    if (t.count > 0)
        fputs("\nIn the seconds nothing is asked of the allocator: one that gives back only when "
              "it is called keeps what it has, as in an idle process.\n",
              out);
    if (measures_has(v, &ended[PURGED]))
        fputs("\n*purged*: when one thread has asked the allocator for all that it can give back; "
              "what other lanes' threads hold in caches or heaps of their own may stay.\n",
              out);
    grid_free(g);
}
