/*
 * workload.h - what an entry of the catalogue is made of. A new workload is one file with one
 * abench__workload_kind in it, and one line in catalogue.c.
 *
 * A workload is a generator: begin sets up its state, fill appends the next operations of the tape,
 * some thousands a call, until it says that there are no more. Nothing else is kept between two
 * calls, so that the same generator makes a tape in memory, a stream of any length or a file.
 */
#ifndef ABENCH_WORKLOAD_WORKLOAD_H
#define ABENCH_WORKLOAD_WORKLOAD_H

#include <allocbench/distribution.h>
#include <allocbench/workload.h>

#include "shape/peak.h"

#define ABENCH__PARAMETERS_MAX 14
#define ABENCH__VALUE_MAX      160 /* bytes of a value's text */
#define ABENCH__SPEC_MAX       1024

enum {
    PARAMETER_INTEGER,
    PARAMETER_SIZES,    /* a distribution of sizes */
    PARAMETER_TOUCH,    /* nothing, first, pages, all */
    PARAMETER_DURATION, /* 2500ms, 5s: nanoseconds in number */
    PARAMETER_LIFETIME, /* a distribution of durations, or of operations */
    PARAMETER_PEAK,     /* 2x@30s/2500ms */
};

/* A duration or a lifetime may be this parameter's value in the quick scale. NULL: as preset. */
typedef struct abench__parameter {
    const char *name;
    const char *preset;
    const char *summary;
    uint32_t type;
    uint64_t minimum; /* of an integer or a duration */
    uint64_t maximum;
    const char *quick;  /* the preset of the quick scale; NULL: as the full one */
    uint32_t is_length; /* 1: the operations grow in proportion; one at most a workload */
} abench__parameter;

typedef struct abench__value {
    char text[ABENCH__VALUE_MAX];
    uint64_t number;            /* of an integer, a touch or a duration */
    abench_distribution *sizes; /* of sizes or a lifetime */
    uint32_t unit;              /* of a lifetime: ABENCH_LIFETIME_... */
    abench__peak peak;
} abench__value;

typedef struct abench__workload_kind abench__workload_kind;

struct abench_workload {
    uint64_t bytes; /* of this mapping */
    const abench__workload_kind *kind;
    uint64_t seed;
    abench__value values[ABENCH__PARAMETERS_MAX]; /* in the order of the kind's parameters */
    char spec[ABENCH__SPEC_MAX];
};

struct abench__workload_kind {
    abench_workload_info info;
    const abench__parameter *parameters; /* the first is "lanes"; ends with a NULL name */
    /* Operations over all lanes, without the one that ends each: exact, or an estimate. At the
     * presets it is not below what they will be, and less than twice that; for other parameters
     * what they will be is at most 1.5 times it. Saturates at UINT64_MAX. */
    uint64_t (*operations)(const abench_workload *workload);
    /* The largest sum of live bytes, likewise. */
    uint64_t (*live_bytes)(const abench_workload *workload);
    /* Says how many lanes and slots the tape needs. */
    void (*shape)(const abench_workload *workload, abench_tape_options *options);
    /* Bytes of the generator's state, which lies in zeroed memory. */
    uint64_t (*state_bytes)(const abench_workload *workload);
    /* Sets the state up. */
    void (*begin)(const abench_workload *workload, void *state);
    /* Appends the next operations, at least one and at most ABENCH_FILL_MAX, and returns 0; or 1
     * when these were the last; or a negative status. Errors of the builder are kept by it. */
    int32_t (*fill)(const abench_workload *workload, void *state, abench_tape_builder *builder);
    /* 1 when the tape has pauses of real time. NULL: it has none. */
    uint32_t (*pauses)(const abench_workload *workload);
};

/* A workload of kind with its presets, of the quick scale or the full one. */
abench_status abench__workload_of(const abench__workload_kind *kind, uint32_t quick,
                                  abench_workload **out, abench_error *error);

/* The value of the parameter called name, which the kind must have. */
const abench__value *abench__workload_value(const abench_workload *workload, const char *name);

/* The number of the parameter called name. */
static inline uint64_t abench__workload_number(const abench_workload *workload, const char *name)
{
    return abench__workload_value(workload, name)->number;
}

/* a * b, or UINT64_MAX when that is more. */
static inline uint64_t abench__saturating_multiply(uint64_t a, uint64_t b)
{
    uint64_t product;

    return __builtin_mul_overflow(a, b, &product) ? UINT64_MAX : product;
}

/* a + b, or UINT64_MAX when that is more. */
static inline uint64_t abench__saturating_add(uint64_t a, uint64_t b)
{
    return a > UINT64_MAX - b ? UINT64_MAX : a + b;
}

/* The length of the value at text: to the comma that a KEY= follows, or to the end. */
size_t abench__value_length(const char *text);

/* What so many blocks of a distribution of sizes take: a bound that chance does not pass. */
uint64_t abench__blocks_bytes(const abench_distribution *sizes, uint64_t blocks);

/* The catalogue: entry index, or NULL beyond the last. */
const abench__workload_kind *abench__workload_kind_at(uint32_t index);

extern const abench__workload_kind abench__churn_local;
extern const abench__workload_kind abench__churn_cross;
extern const abench__workload_kind abench__mixed;
extern const abench__workload_kind abench__alloc_test;
extern const abench__workload_kind abench__cache_scratch;
extern const abench__workload_kind abench__cache_thrash;
extern const abench__workload_kind abench__larson;
extern const abench__workload_kind abench__mstress;
extern const abench__workload_kind abench__rptest;
extern const abench__workload_kind abench__sh6;
extern const abench__workload_kind abench__sh8;
extern const abench__workload_kind abench__xmalloc;
extern const abench__workload_kind abench__blowup;
extern const abench__workload_kind abench__blowup_rotate;
extern const abench__workload_kind abench__every_other;
extern const abench__workload_kind abench__fleet;
extern const abench__workload_kind abench__glibc_simple;
extern const abench__workload_kind abench__glibc_thread;
extern const abench__workload_kind abench__robson;
extern const abench__workload_kind abench__size_shift;
extern const abench__workload_kind abench__sizeclass_sweep;
extern const abench__workload_kind abench__burst_idle;
extern const abench__workload_kind abench__rails_synth;
extern const abench__workload_kind abench__retain_third;
extern const abench__workload_kind abench__retained_strings;
extern const abench__workload_kind abench__server;
extern const abench__workload_kind abench__tokio_fanout;
extern const abench__workload_kind abench__vec_growth;

#endif
