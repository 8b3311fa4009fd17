#include "tool/report/data.h"

#include <inttypes.h>
#include <string.h>

#include "tool/report/format.h"

#define FIELDS_MAX 64u /* of abench_memory, each a bit of its valid */

static const char *target_name(const model *m, size_t target)
{
    return target == MODEL_FLOOR ? "(floor)" : m->targets[target].name;
}

static const char *direction_name(uint32_t direction)
{
    return direction == ABENCH_DIRECTION_LOWER    ? "lower"
           : direction == ABENCH_DIRECTION_HIGHER ? "higher"
                                                  : "none";
}

static void put_tsv(FILE *out, const char *text)
{
    format_tsv(out, text);
    fputc('\t', out);
}

void data_raw(const model *m, FILE *out)
{
    fputs("workload\tround\ttarget\tagain\tmetric\tunit\tvalue\tfile\n", out);
    for (size_t i = 0; i < m->cells_count; i++) {
        const model_cell *cell = &m->cells[i];
        for (size_t j = 0; j < cell->metrics_count; j++) {
            const model_metric *metric = &cell->metrics[j];
            put_tsv(out, m->workloads[cell->workload].label);
            fprintf(out, "%" PRIu32 "\t", cell->round);
            put_tsv(out, target_name(m, cell->target));
            fprintf(out, "%d\t", cell->again);
            put_tsv(out, metric->name);
            put_tsv(out, metric->unit);
            format_number(out, metric->value);
            fputc('\t', out);
            format_tsv(out, cell->file != NULL ? cell->file : "");
            fputc('\n', out);
        }
    }
}

/* Worked out, so not every bit of it means something. */
static void put_number(FILE *out, bool there, double value)
{
    if (there)
        fprintf(out, "%.15g", value);
    fputc('\t', out);
}

void data_summary(const summary *s, FILE *out)
{
    const model *m = s->m;
    fputs("workload\ttarget\tmetric\tunit\tdirection\tn\tmedian\tmin\tmax\tspread\tratio\tratio_"
          "min\tratio_max\tstraddles\tin_noise\taa_ratio\taa_ratio_min\taa_ratio_max\n",
          out);
    for (size_t i = 0; i < s->count; i++) {
        const summary_row *row = &s->rows[i];
        if (row->again)
            continue;
        put_tsv(out, m->workloads[row->workload].label);
        put_tsv(out, target_name(m, row->target));
        put_tsv(out, row->metric);
        put_tsv(out, row->unit);
        put_tsv(out, direction_name(row->direction));
        fprintf(out, "%zu\t", row->n);
        put_number(out, true, row->median);
        put_number(out, true, row->minimum);
        put_number(out, true, row->maximum);
        put_number(out, row->has_spread, row->spread);
        put_number(out, row->ratios > 0, row->ratio);
        put_number(out, row->ratios > 0, row->ratio_minimum);
        put_number(out, row->ratios > 0, row->ratio_maximum);
        put_number(out, row->ratios > 0, row->straddles);
        put_number(out, row->ratios > 0, row->in_noise);
        const summary_row *again = summary_find(s, row->workload, m->baseline, true, row->metric);
        if (again != NULL && again->ratios > 0)
            fprintf(out, "%.15g\t%.15g\t%.15g", again->ratio, again->ratio_minimum,
                    again->ratio_maximum);
        else
            fputs("\t\t", out);
        fputc('\n', out);
    }
}

static void put_csv(FILE *out, const char *text)
{
    format_csv(out, text);
    fputc(',', out);
}

static void put_reading(FILE *out, const model_reading *reading, const abench_memory_field *fields,
                        size_t count)
{
    fprintf(out, "%" PRIu64, reading->time_ns);
    for (size_t i = 0; i < count; i++) {
        uint64_t value;
        memcpy(&value, (const char *)&reading->memory + fields[i].offset, sizeof value);
        fputc(',', out);
        if (reading->memory.valid & fields[i].bit)
            fprintf(out, "%" PRIu64, value);
    }
    fputc('\n', out);
}

void data_samples(const model *m, FILE *out)
{
    abench_memory_field fields[FIELDS_MAX];
    size_t count = 0;
    fputs("workload,round,target,again,time_ns", out);
    for (; count < FIELDS_MAX; count++) {
        abench_memory_field_init(&fields[count]);
        if (abench_memory_field_at((uint32_t)count, &fields[count]) != ABENCH_OK)
            break;
        fprintf(out, ",%s", fields[count].name);
    }
    fputc('\n', out);
    for (size_t i = 0; i < m->cells_count; i++) {
        const model_cell *cell = &m->cells[i];
        for (size_t j = 0; j < cell->readings_count; j++) {
            put_csv(out, m->workloads[cell->workload].label);
            fprintf(out, "%" PRIu32 ",", cell->round);
            put_csv(out, target_name(m, cell->target));
            fprintf(out, "%d,", cell->again);
            put_reading(out, &cell->readings[j], fields, count);
        }
    }
}
