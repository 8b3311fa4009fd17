/*
 * allocbench.h - umbrella: all of the library that a harness needs.
 *
 * liballocbench measures what an allocator does to a program: memory, time, and which allocator
 * it really was. Start with run.h; the other headers are its building blocks, usable alone.
 */
#ifndef ALLOCBENCH_ALLOCBENCH_H
#define ALLOCBENCH_ALLOCBENCH_H

#include <allocbench/allocator.h>
#include <allocbench/base.h>
#include <allocbench/distribution.h>
#include <allocbench/histogram.h>
#include <allocbench/machine.h>
#include <allocbench/memory.h>
#include <allocbench/random.h>
#include <allocbench/run.h>
#include <allocbench/sampler.h>
#include <allocbench/statistics.h>
#include <allocbench/tape.h>
#include <allocbench/workload.h>

#endif
