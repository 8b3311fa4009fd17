/*
 * judged.h - a matrix in memory with as many rounds as verdicts want: a value a workload, target,
 * round and metric, as a test gives it, and what is judged of them.
 *
 *   judged j;
 *   judged_begin(&j, 1, 3, 10);                                  glibc, jemalloc, tcmalloc
 *   judged_fill(&j, 0, "rss_bytes", "bytes", (double[]){1, 1.01, 0.8, 1.2});
 *   judged_finish(&j);                                           j.v
 *   judged_end(&j);
 */
#ifndef ABENCH_TEST_JUDGED_H
#define ABENCH_TEST_JUDGED_H

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tool/report/verdict.h"

#define JUDGED_METRICS   16u
#define JUDGED_TARGETS   8u
#define JUDGED_WORKLOADS 5u

typedef struct judged {
    model m;
    model_workload workloads[JUDGED_WORKLOADS];
    model_target targets[JUDGED_TARGETS];
    summary *s;
    verdicts *v;
} judged;

static inline char *judged_text(const char *constant)
{
    return (char *)(uintptr_t)constant;
}

/* Cells: by workload, round, target; the baseline's second one behind its first. */
static inline void judged_begin(judged *j, size_t workloads, size_t targets, uint32_t rounds)
{
    static const char *const names[JUDGED_TARGETS] = {
        "glibc", "jemalloc", "tcmalloc", "mimalloc", "tbbmalloc", "scudo", "hoard", "mesh"};
    static const char *const labels[JUDGED_WORKLOADS] = {"mixed", "larson", "server", "churn-local",
                                                         "fleet"};
    static const char *const ids[JUDGED_WORKLOADS] = {"w00", "w01", "w02", "w03", "w04"};
    memset(j, 0, sizeof *j);
    for (size_t i = 0; i < targets; i++)
        j->targets[i].name = j->targets[i].family = judged_text(names[i]);
    for (size_t i = 0; i < workloads; i++)
        j->workloads[i] = (model_workload){.id = judged_text(ids[i]),
                                           .label = judged_text(labels[i]),
                                           .spec = judged_text(labels[i])};
    j->m.workloads = j->workloads;
    j->m.workloads_count = workloads;
    j->m.targets = j->targets;
    j->m.targets_count = targets;
    j->m.rounds = rounds;
    j->m.looks = 1;
    j->m.cells = calloc(workloads * rounds * (targets + 1), sizeof *j->m.cells);
    for (size_t w = 0; w < workloads; w++) {
        for (uint32_t round = 0; round < rounds; round++) {
            for (size_t arm = 0; arm <= targets; arm++) {
                model_cell *cell = &j->m.cells[j->m.cells_count++];
                *cell = (model_cell){.workload = w,
                                     .target = arm <= 1 ? 0 : arm - 1,
                                     .again = arm == 1,
                                     .round = round,
                                     .in_lockstep = true,
                                     .lanes = 1};
                cell->metrics = calloc(JUDGED_METRICS, sizeof *cell->metrics);
            }
        }
    }
}

/* arm 0: the baseline; 1: again; 2...: the other targets. */
static inline model_cell *judged_cell(judged *j, size_t workload, uint32_t round, size_t arm)
{
    return &j->m.cells[(workload * j->m.rounds + round) * (j->m.targets_count + 1) + arm];
}

static inline void judged_put(model_cell *cell, const char *metric, const char *unit,
                              uint32_t direction, double value)
{
    cell->metrics[cell->metrics_count++] =
        (model_metric){judged_text(metric), judged_text(unit), direction, value};
}

/* Noise of about `size` that is the same in every run of the test and in no two cells. */
static inline double judged_noise(uint32_t round, size_t arm, double size)
{
    uint64_t bits = (round + 1) * 0x9E3779B97F4A7C15u ^ (arm + 1) * 0xBF58476D1CE4E5B9u;
    bits ^= bits >> 29;
    bits *= 0x94D049BB133111EBu;
    bits ^= bits >> 32;
    return exp(size * ((double)(bits >> 11) / 4503599627370496.0 - 1)); /* -size to size */
}

/* In each round a value an arm: what is given for it, times 1000 and some noise. */
static inline void judged_fill_noisy(judged *j, size_t workload, const char *metric,
                                     const char *unit, uint32_t direction, const double *values,
                                     double noise)
{
    for (uint32_t round = 0; round < j->m.rounds; round++) {
        for (size_t arm = 0; arm <= j->m.targets_count; arm++)
            judged_put(judged_cell(j, workload, round, arm), metric, unit, direction,
                       1000 * values[arm] * judged_noise(round, arm, noise));
    }
}

/* Lower is better; noise of 0.2 %. */
static inline void judged_fill(judged *j, size_t workload, const char *metric, const char *unit,
                               const double *values)
{
    judged_fill_noisy(j, workload, metric, unit, ABENCH_DIRECTION_LOWER, values, 0.002);
}

static inline void judged_finish(judged *j)
{
    j->s = summary_make(&j->m);
    j->v = verdicts_make(j->s);
}

static inline void judged_end(judged *j)
{
    verdicts_free(j->v);
    summary_free(j->s);
    for (size_t i = 0; i < j->m.cells_count; i++) {
        free(j->m.cells[i].metrics);
        free(j->m.cells[i].slices);
        free(j->m.cells[i].phases);
    }
    free(j->m.cells);
}

#endif
