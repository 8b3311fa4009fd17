/*
 * gate.h - thresholds for a CI: --fail-if 'rss>+5%'. A threshold fails only when the interval
 * proves it; what the rounds cannot tell is said, and passes unless --fail-if-unknown.
 *
 *   threshold = metric [ "@" scope [ "@" scope ] ] operator limit ;
 *   metric    = letter { letter | digit | "_" } ;
 *   scope     = "*" | name | '"' { character - '"' } '"' ;   (first the target, then the workload)
 *   name      = character { character } ;                    (without "@", '"', "<", ">" or blanks)
 *   operator  = ">" | ">=" | "<" | "<=" ;
 *   limit     = [ "+" | "-" ] number "%"                     (+5%: the ratio 1.05)
 *             | number "x"                                   (the ratio itself)
 *             | number [ unit ] ;                            (the value)
 *   number    = digit { digit } [ "." digit { digit } ] ;
 *   unit      = "ns" | "us" | "ms" | "s" | "B" | "KiB" | "MiB" | "GiB" | "kB" | "MB" | "GB" ;
 *
 * Blanks may stand between these. A metric is a name of `allocbench list metrics`, of a command or
 * of a harness, the same without its unit ("rss_median"), or one of the short names time, rss,
 * peak, drained. A workload goes by its label, by its label up to the first ':', or by its id
 * ("w00"). Without a target (or "*") all but the baseline are meant, and with a limit on the value
 * the baseline too. A value without unit is in the metric's own.
 *
 * Of run and report the ratio is the target's to the baseline, with the verdict's interval; of
 * compare it is that of B to A. A value's interval is that of the sign test at 95 %. A limit on a
 * ratio that is nearer to 1 than what equal things read apart (A/A) is exceeded only by what
 * exceeds that too; where A/A is not known, nothing is proven.
 */
#ifndef ABENCH_TOOL_GATE_H
#define ABENCH_TOOL_GATE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <allocbench/statistics.h>

typedef enum gate_unit {
    GATE_RATIO,
    GATE_PLAIN, /* a value in the metric's own unit */
    GATE_TIME,  /* in ns */
    GATE_BYTES,
} gate_unit;

typedef struct gate {
    char *text; /* as it was written */
    char *metric;
    char *target;   /* NULL: any */
    char *workload; /* NULL: any */
    bool above;     /* fails above the limit; else below it */
    bool or_equal;
    gate_unit unit;
    double limit;
} gate;

/* false with one line in message, which names the column where it is wrong; out is cleared then. */
bool gate_parse(const char *text, gate *out, char *message, size_t message_size);

void gate_clear(gate *g);

/* Can its limit be one of a metric in that unit? */
bool gate_fits(const gate *g, const char *unit);

/* Is it that workload? */
bool gate_is_of(const gate *g, const char *label, const char *id);

/* The names that the gate's metric may stand for, the likeliest first; index from 0; NULL behind
 * the last. free() it. */
char *gate_metric_name(const gate *g, size_t index);

typedef enum gate_result {
    GATE_PASSED,
    GATE_FAILED,
    GATE_UNKNOWN,
} gate_result;

/* What is known of one target in one workload. */
typedef struct gate_case {
    const char *label; /* of the workload */
    const char *target;
    const char *metric; /* in full */
    const char *unit;
    abench_interval found; /* of the ratio or of the value; count 0: there is none */
    uint32_t needed; /* rounds for bounds, or for bounds so narrow that they might tell; 0: not
                              known */
    bool refused;    /* A/A separates: no ratio is trusted */
    double noise;    /* how far A/A reaches, 0.02: 2 %; 0: not known */
} gate_case;

/* What the gate says of it. why: a static text on an unknown result that is not a matter of rounds;
 * NULL. */
gate_result gate_judge(const gate *g, const gate_case *c, const char **why);

/* "ok", "FAILED", "cannot tell" */
const char *gate_result_name(gate_result result);

#endif
