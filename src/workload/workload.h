/*
 * workload.h - what an entry of the catalogue is made of. A new workload is one file with one
 * abench__workload_kind in it, and one line in catalogue.c.
 */
#ifndef ABENCH_WORKLOAD_WORKLOAD_H
#define ABENCH_WORKLOAD_WORKLOAD_H

#include <allocbench/distribution.h>
#include <allocbench/workload.h>

#define ABENCH__PARAMETERS_MAX 8
#define ABENCH__VALUE_MAX      160 /* bytes of a value's text */
#define ABENCH__SPEC_MAX       1024

enum { PARAMETER_INTEGER, PARAMETER_SIZES, PARAMETER_TOUCH };

typedef struct abench__parameter {
    const char *name;
    const char *preset;
    const char *summary;
    uint32_t type;
    uint64_t minimum; /* of an integer */
    uint64_t maximum;
} abench__parameter;

typedef struct abench__value {
    char text[ABENCH__VALUE_MAX];
    uint64_t number;            /* of an integer or a touch */
    abench_distribution *sizes; /* of sizes */
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
    /* Operations a lane, without the one that ends it; saturates at UINT64_MAX. */
    uint64_t (*operations)(const abench_workload *workload);
    /* Says how many lanes and slots the tape needs. */
    void (*shape)(const abench_workload *workload, abench_tape_options *options);
    /* Makes every operation; errors of the builder are kept by it. */
    abench_status (*generate)(const abench_workload *workload, abench_tape_builder *builder);
};

/* The value of the parameter called name, which the kind must have. */
const abench__value *abench__workload_value(const abench_workload *workload, const char *name);

/* The catalogue: entry index, or NULL beyond the last. */
const abench__workload_kind *abench__workload_kind_at(uint32_t index);

extern const abench__workload_kind abench__churn_local;
extern const abench__workload_kind abench__churn_cross;
extern const abench__workload_kind abench__mixed;

#endif
