/*
 * peak.h - a load that rises again and again: FACTORx@EVERY/FOR, for instance 2x@30s/2500ms.
 *
 * Time is virtual, in nanoseconds. Every EVERY there is a peak of FOR, which ends each period: with
 * 2x@30s/2500ms from 27.5 s to 30 s, from 57.5 s to 60 s, and so on.
 */
#ifndef ABENCH_SHAPE_PEAK_H
#define ABENCH_SHAPE_PEAK_H

#include <allocbench/base.h>

typedef struct abench__peak {
    uint64_t factor_ppm; /* 2000000: twice; 0: there are no peaks ("none") */
    uint64_t every_ns;
    uint64_t for_ns;
} abench__peak;

/* Reads text. On failure *error (may be NULL) names the column. ABENCH_ERROR_SYNTAX. */
abench_status abench__peak_parse(const char *text, abench__peak *out, abench_error *error);

/* 1 while time_ns lies in a peak. */
static inline uint32_t abench__peak_at(const abench__peak *peak, uint64_t time_ns)
{
    return peak->factor_ppm != 0 && time_ns % peak->every_ns >= peak->every_ns - peak->for_ns;
}

#endif
