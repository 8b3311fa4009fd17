#include "tool/report/chart_data.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "tool/util.h"

/* ---- readings -------------------------------------------------------------------------------- */

static double bytes_of(const chart_data *c, const abench_memory *memory)
{
    return (double)(c->bit == ABENCH_MEMORY_RSS ? memory->rss_bytes : memory->pss_bytes);
}

/* What the process had before the work; NULL when that was not read. */
static const abench_memory *baseline_of(const chart_data *c, const model_cell *cell)
{
    if (cell->phases_count == 0 || strcmp(cell->phases[0].name, "baseline") != 0 ||
        (cell->phases[0].memory.valid & c->bit) == 0)
        return NULL;
    return &cell->phases[0].memory;
}

bool chart_data_value(const chart_data *c, const model_cell *cell, size_t index, double *bytes)
{
    const abench_memory *memory = &cell->readings[index].memory;
    if ((memory->valid & c->bit) == 0)
        return false;
    *bytes = bytes_of(c, memory);
    if (c->above)
        *bytes = fmax(*bytes - bytes_of(c, baseline_of(c, cell)), 0);
    return true;
}

static size_t count_bit(const model_cell *cell, uint32_t bit)
{
    size_t count = 0;
    for (size_t i = 0; i < cell->readings_count; i++)
        count += (cell->readings[i].memory.valid & bit) != 0;
    return count;
}

static bool has_bit(const model_cell *cell, uint32_t bit)
{
    return count_bit(cell, bit) > 0;
}

static bool is_drawn(const chart_data *c, const model_cell *cell)
{
    return cell->workload == c->workload && !cell->failed && !cell->again &&
           cell->target != MODEL_FLOOR && has_bit(cell, c->bit);
}

/* RSS where it was read; a measurer that only has PSS gives that. */
static uint32_t choose_bit(const model *m, size_t workload)
{
    for (size_t i = 0; i < m->cells_count; i++) {
        if (m->cells[i].workload == workload && has_bit(&m->cells[i], ABENCH_MEMORY_RSS))
            return ABENCH_MEMORY_RSS;
    }
    return ABENCH_MEMORY_PSS;
}

/* All lines of a chart stand above the same thing, or none. */
static bool all_have_baseline(const chart_data *c)
{
    for (size_t i = 0; i < c->m->cells_count; i++) {
        if (is_drawn(c, &c->m->cells[i]) && baseline_of(c, &c->m->cells[i]) == NULL)
            return false;
    }
    return true;
}

static double peak_of(const chart_data *c, const model_cell *cell)
{
    double peak = 0;
    double bytes;
    for (size_t i = 0; i < cell->readings_count; i++) {
        if (chart_data_value(c, cell, i, &bytes))
            peak = fmax(peak, bytes);
    }
    return peak;
}

typedef struct candidate {
    uint32_t round;
    size_t drawn;
    double peak; /* of the baseline */
} candidate;

/* Most targets first, then the lower peak. */
static int by_rank(const void *a, const void *b)
{
    const candidate *x = a;
    const candidate *y = b;
    if (x->drawn != y->drawn)
        return x->drawn > y->drawn ? -1 : 1;
    return (x->peak > y->peak) - (x->peak < y->peak);
}

static bool choose_round(chart_data *c)
{
    candidate *rounds = NULL;
    size_t count = 0;
    size_t capacity = 0;
    for (size_t i = 0; i < c->m->cells_count; i++) {
        const model_cell *cell = &c->m->cells[i];
        if (!is_drawn(c, cell))
            continue;
        if (count == 0 || rounds[count - 1].round != cell->round) {
            rounds = util_grow(rounds, count, &capacity, sizeof *rounds);
            rounds[count++] = (candidate){cell->round, 0, 0};
        }
        rounds[count - 1].drawn++;
        if (cell->target == c->m->baseline)
            rounds[count - 1].peak = peak_of(c, cell);
    }
    if (count > 0) {
        qsort(rounds, count, sizeof *rounds, by_rank);
        size_t best = 1;
        while (best < count && rounds[best].drawn == rounds[0].drawn)
            best++;
        c->round = rounds[(best - 1) / 2].round;
    }
    free(rounds);
    return count > 0;
}

static void collect(chart_data *c)
{
    c->cells = xcalloc(c->m->targets_count, sizeof(model_cell *));
    for (size_t i = 0; i < c->m->cells_count; i++) {
        const model_cell *cell = &c->m->cells[i];
        if (!is_drawn(c, cell) || cell->round != c->round)
            continue;
        c->cells[c->count++] = cell;
        c->bytes = fmax(c->bytes, peak_of(c, cell));
        const model_reading *last = &cell->readings[cell->readings_count - 1];
        c->seconds = fmax(c->seconds, (double)last->time_ns / 1e9);
        if (!c->m->workloads[c->workload].is_command &&
            (c->live == NULL || cell->target == c->m->baseline))
            c->live = cell;
    }
    for (size_t i = 0; c->live != NULL && i < c->live->phases_count; i++) {
        c->bytes = fmax(c->bytes, (double)c->live->phases[i].live_bytes);
        c->seconds = fmax(c->seconds, (double)c->live->phases[i].time_ns / 1e9);
    }
    c->bytes = fmax(c->bytes, 1);
    c->seconds = c->seconds > 0 ? c->seconds : 1;
}

/* Dots of runs that were too short for the sampler would look like ones that held nothing. */
static bool has_line(const chart_data *c)
{
    bool found = false;
    for (size_t i = 0; i < c->count && !found; i++)
        found = count_bit(c->cells[i], c->bit) >= CHART_READINGS;
    return found;
}

bool chart_data_make(chart_data *c, const model *m, size_t workload)
{
    *c = (chart_data){.m = m, .workload = workload, .bit = choose_bit(m, workload)};
    c->above = all_have_baseline(c);
    if (!choose_round(c))
        return false;
    collect(c);
    if (has_line(c))
        return true;
    chart_data_clear(c);
    return false;
}

void chart_data_clear(chart_data *c)
{
    free(c->cells);
    c->cells = NULL;
}

/* ---- for the drawing ------------------------------------------------------------------------- */

size_t chart_thin(const double *values, size_t count, size_t *indices)
{
    size_t n = 0;
    if (count <= CHART_POINTS) {
        for (; n < count; n++)
            indices[n] = n;
        return n;
    }
    const size_t buckets = CHART_POINTS / 2 - 1;
    indices[n++] = 0;
    for (size_t b = 0; b < buckets; b++) {
        size_t from = 1 + (count - 2) * b / buckets;
        size_t to = 1 + (count - 2) * (b + 1) / buckets;
        size_t low = from;
        size_t high = from;
        for (size_t i = from; i < to; i++) {
            low = values[i] < values[low] ? i : low;
            high = values[i] > values[high] ? i : high;
        }
        indices[n++] = low < high ? low : high;
        if (low != high)
            indices[n++] = low < high ? high : low;
    }
    indices[n++] = count - 1;
    return n;
}

size_t chart_color(const model *m, size_t target)
{
    size_t color = 1;
    if (target == m->baseline)
        return 0;
    for (size_t i = 0; i < target; i++)
        color += i != m->baseline && m->targets[i].missing == NULL;
    return color;
}
