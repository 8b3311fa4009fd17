/*
 * workload.h - the catalogue: named, parameterised, seeded descriptions of what a program asks of
 * malloc, each compiled to a tape.
 *
 * A spec is NAME or NAME:KEY=VALUE,KEY=VALUE... A part without '=' belongs to the value before it,
 * so that sizes=mix:70%1-256,30%257-4096 needs no quoting.
 */
#ifndef ALLOCBENCH_WORKLOAD_H
#define ALLOCBENCH_WORKLOAD_H

#include <allocbench/base.h>
#include <allocbench/tape.h>

#ifdef __cplusplus
extern "C" {
#endif

/* An entry of the catalogue. The strings are static. */
typedef struct abench_workload_info {
    uint32_t struct_size;
    uint32_t version; /* of its definition: another version is another workload */
    const char *name;
    const char *summary; /* one sentence: what it does and what it shows */
    const char *source;  /* where the pattern comes from */
    const char *timed;   /* what its time covers */
} abench_workload_info;

#define ABENCH_WORKLOAD_INFO_INIT                                                                  \
    {                                                                                              \
        sizeof(abench_workload_info), 0, 0, 0, 0, 0                                                \
    }

/* A parameter of a workload. The strings are static. */
typedef struct abench_workload_parameter {
    uint32_t struct_size;
    uint32_t reserved;
    const char *name;
    const char *preset; /* the value when it is not given */
    const char *summary;
} abench_workload_parameter;

#define ABENCH_WORKLOAD_PARAMETER_INIT                                                             \
    {                                                                                              \
        sizeof(abench_workload_parameter), 0, 0, 0, 0                                              \
    }

/* Sets struct_size, the rest to 0. Any thread. */
ABENCH_API void abench_workload_info_init(abench_workload_info *info);

/* Sets struct_size, the rest to 0. Any thread. */
ABENCH_API void abench_workload_parameter_init(abench_workload_parameter *parameter);

/* Entry index of the catalogue; ABENCH_ERROR_NOT_FOUND beyond the last. Any thread. */
ABENCH_API abench_status abench_workload_at(uint32_t index, abench_workload_info *out);

/* Parameter index of the workload called name; ABENCH_ERROR_NOT_FOUND beyond the last, or when
 * there is no such workload. Any thread. */
ABENCH_API abench_status abench_workload_parameter_at(const char *name, uint32_t index,
                                                      abench_workload_parameter *out);

typedef struct abench_workload abench_workload;

/* Reads spec. lanes: 0, or the lane count where the spec itself names none. An unknown name or key
 * gives ABENCH_ERROR_NOT_FOUND and suggests the nearest; a bad value ABENCH_ERROR_SYNTAX; *error
 * (may be NULL) points at the column. Any thread. */
ABENCH_API abench_status abench_workload_parse(const char *spec, uint64_t seed, uint32_t lanes,
                                               abench_workload **out, abench_error *error);

/* Everything that defines the work, in one canonical line with every parameter:
 * "churn-cross/1:lanes=4,slots=60000,rounds=6,sizes=boundaries:24-4095,touch=pages". Lives as long
 * as the workload. Any thread. */
ABENCH_API const char *abench_workload_spec(const abench_workload *workload);

/* A digest of spec and seed, known before any work is done: fold (see tape.h) from 1 over the
 * canonical spec's bytes, eight a word, little-endian, the last padded with 0, then its length,
 * then the seed. Equal plan digests have equal work digests. Any thread. */
ABENCH_API uint64_t abench_workload_plan_digest(const abench_workload *workload);

/* How many operations its tape will hold: exact, or UINT64_MAX when that is more than can be said.
 * A tape takes 8 to 16 bytes for each, and up to three times that while it is built. Any thread. */
ABENCH_API uint64_t abench_workload_operations(const abench_workload *workload);

/* Compiles the tape; takes a few ns an operation and 8 or 16 bytes of mapped memory for each.
 * hooks: NULL, or where the tape's memory comes from (must outlive it). Any thread. */
ABENCH_API abench_status abench_workload_tape(const abench_workload *workload,
                                              const abench_memory_hooks *hooks, abench_tape **out,
                                              abench_error *error);

/* accepts NULL. One thread per object. */
ABENCH_API void abench_workload_destroy(abench_workload *workload);

#ifdef __cplusplus
}
#endif
#endif
