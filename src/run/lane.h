/*
 * lane.h - lanes of own work: each thread records its requests in histograms of its own.
 */
#ifndef ABENCH_RUN_LANE_H
#define ABENCH_RUN_LANE_H

#include "histogram/histogram.h"
#include "run/run.h"

/* In a mapping of its own: no line of it is another thread's. */
struct abench_lane {
    const abench_run *run;
    abench_histogram request;
    abench_histogram service;
};

/* Maps the lanes that options.lanes announces, so that adding one moves no RSS. */
abench_status abench__run_lanes_prepare(abench_run *run);

/* Adds all lanes up in the first. */
void abench__run_lanes_merge(abench_run *run);

void abench__run_lanes_destroy(abench_run *run);

#endif
