/*
 * workload.h - the catalogue: named, parameterised, seeded descriptions of what a program asks of
 * malloc, each compiled to a tape.
 *
 * A spec is NAME or NAME:KEY=VALUE,KEY=VALUE... (or NAME/VERSION..., where another version is
 * refused). A part without '=' belongs to the value before it,
 * so that sizes=mix:70%1-256,30%257-4096 needs no quoting. Every workload has two scales, which are
 * two sets of presets: scale=full, which is not needed, and scale=quick, the same pattern in less
 * than two seconds. The scale is no parameter: the canonical spec has its presets written out.
 *
 * The catalogue can be added to: abench_workload_register.
 */
#ifndef ALLOCBENCH_WORKLOAD_H
#define ALLOCBENCH_WORKLOAD_H

#include <allocbench/base.h>
#include <allocbench/distribution.h>
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
    const char *touched; /* what is written of the blocks, and what of the original is not */
} abench_workload_info;

#define ABENCH_WORKLOAD_INFO_INIT                                                                  \
    {                                                                                              \
        sizeof(abench_workload_info), 0, 0, 0, 0, 0, 0                                             \
    }

/* A parameter of a workload. The strings are static. */
typedef struct abench_workload_parameter {
    uint32_t struct_size;
    uint32_t is_length; /* 1: the operations grow in proportion to it */
    const char *name;
    const char *preset; /* the value when it is not given */
    const char *summary;
    const char *quick; /* the value when it is not given and scale=quick is */
} abench_workload_parameter;

#define ABENCH_WORKLOAD_PARAMETER_INIT                                                             \
    {                                                                                              \
        sizeof(abench_workload_parameter), 0, 0, 0, 0, 0                                           \
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

/* How many operations its tape will hold: exact, or an estimate that is as a rule not too low, and
 * less than twice that; UINT64_MAX when it is more than can be said. A tape in memory takes 8 to 16
 * bytes for each, and up to three times that while it is built. Any thread. */
ABENCH_API uint64_t abench_workload_operations(const abench_workload *workload);

/* The largest sum of requested bytes that are alive at once, likewise; 0 when it is not known. Any
 * thread. */
ABENCH_API uint64_t abench_workload_live_bytes(const abench_workload *workload);

/* 1 when its tape has pauses of real time: it is then played by itself, not in lockstep. Any
 * thread. */
ABENCH_API int32_t abench_workload_pauses(const abench_workload *workload);

/* Compiles the tape; takes a few ns an operation and 8 or 16 bytes of mapped memory for each.
 * hooks: NULL, or where the tape's memory comes from (must outlive it). Any thread. */
ABENCH_API abench_status abench_workload_tape(const abench_workload *workload,
                                              const abench_memory_hooks *hooks, abench_tape **out,
                                              abench_error *error);

/* The same work as a streamed tape (see tape.h), whatever its length. The workload must outlive it.
 * Any thread. */
ABENCH_API abench_status abench_workload_stream(const abench_workload *workload,
                                                const abench_memory_hooks *hooks, abench_tape **out,
                                                abench_error *error);

/* accepts NULL. One thread per object. */
ABENCH_API void abench_workload_destroy(abench_workload *workload);

/* ---- workloads of your own -------------------------------------------------------------------
 *
 * A generator: begin sets up a state, fill appends the next operations to a builder until it says
 * that these were the last. The same seed and parameters must give the same operations: draw from
 * abench_random streams seeded with abench_workload_seed, and keep nothing outside the state. */

typedef struct abench_workload_definition {
    uint32_t struct_size;
    uint32_t version;       /* raise it when the work changes */
    const char *name;       /* 1 ... 31 of a-z, 0-9, '-' */
    const char *summary;    /* NULL: "" */
    const char *source;     /* NULL: "" */
    const char *timed;      /* NULL: "" */
    const char *touched;    /* NULL: "" */
    const char *parameters; /* "lanes=2,steps=100000,sizes=uniform:16-512,touch=first": names and
                               presets; "lanes" comes first. A parameter called touch is a touch,
                               one whose preset is a number an integer, any other a distribution
                               of sizes */
    const char *quick;      /* "steps=1000": other presets for the quick scale; NULL: none */
    uint64_t state_bytes;   /* of the generator's state: zeroed memory, 64-byte aligned */
    /* Fills *options: lanes, slots, touch. Non-zero: refused. */
    int32_t (*shape)(const abench_workload *workload, abench_tape_options *options, void *user);
    /* Sets the state up. NULL: zeroed memory is enough. */
    void (*begin)(const abench_workload *workload, void *state, void *user);
    /* Appends the next operations, at least one and at most ABENCH_FILL_MAX. 0: there are more;
     * 1: these were the last; other values end it with an error. */
    int32_t (*fill)(const abench_workload *workload, void *state, abench_tape_builder *builder,
                    void *user);
    /* As abench_workload_operations and _live_bytes; NULL: not known. */
    uint64_t (*operations)(const abench_workload *workload, void *user);
    uint64_t (*live_bytes)(const abench_workload *workload, void *user);
    void *user;
} abench_workload_definition;

#define ABENCH_WORKLOAD_DEFINITION_INIT                                                            \
    {                                                                                              \
        sizeof(abench_workload_definition), 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0            \
    }

/* Sets struct_size, the rest to 0. Any thread. */
ABENCH_API void abench_workload_definition_init(abench_workload_definition *definition);

/* Adds a workload to this process's catalogue: abench_workload_parse, abench_run_play and
 * abench_workload_at know it from now on. Everything in *definition is copied; what user points to
 * must live as long as the process. ABENCH_ERROR_ARGUMENT; _STATE: the name is taken; _SYNTAX: the
 * parameters do not read; _LIMIT: more than 64. *error may be NULL. Any thread. */
ABENCH_API abench_status abench_workload_register(const abench_workload_definition *definition,
                                                  abench_error *error);

/* The seed of a workload. Any thread. */
ABENCH_API uint64_t abench_workload_seed(const abench_workload *workload);

/* The value of an integer, a duration (ns) or a touch; 0 when there is no such parameter. Any
 * thread. */
ABENCH_API uint64_t abench_workload_integer(const abench_workload *workload, const char *name);

/* The distribution that is the value of a parameter; NULL when there is none. Lives as long as the
 * workload. Any thread. */
ABENCH_API const abench_distribution *abench_workload_sizes(const abench_workload *workload,
                                                            const char *name);

#ifdef __cplusplus
}
#endif
#endif
