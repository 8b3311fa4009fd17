/*
 * server.h - the parts of the server workload: its timetable, its load, its events.
 */
#ifndef ABENCH_WORKLOAD_SERVER_H
#define ABENCH_WORKLOAD_SERVER_H

#include "workload/workload.h"

#define ABENCH__SERVER_PACE_NS 1000000u /* of virtual time between two paces */
#define ABENCH__SERVER_HANDED  32000u   /* handed over by a lane between meetings; limit: 32767 */

enum { EDGE_WARMUP, EDGE_STEADY, EDGE_PEAK, EDGE_RECOVERY, EDGE_DRAIN };

/* A phase begins. */
typedef struct abench__edge {
    uint64_t at_ns;
    uint32_t kind;   /* EDGE_... */
    uint32_t number; /* of the steady, peak or recovery: 1-based */
} abench__edge;

/* Times are virtual, in ns from the begin of the warm-up; peaks are counted from its end. */
typedef struct abench__timetable {
    uint64_t warmup_ns; /* how long it is */
    uint64_t end_ns;    /* no request comes behind it */
    uint64_t peaks;     /* how many there are */
    uint32_t count;     /* of edges; the first is the warm-up, the last the drain */
    abench__edge edges[ABENCH_PHASES_MAX];
} abench__timetable;

/* longest_ns: the longest lifetime; recovery_ns: the longest of what a peak allocates. */
void abench__timetable_make(abench__timetable *table, const abench__peak *peak, uint64_t time_ns,
                            uint64_t longest_ns, uint64_t recovery_ns);

/* What a server's parameters come to. */
typedef struct abench__load {
    uint64_t requests;     /* over the whole tape */
    uint64_t objects;      /* mean of a request, its body among them; rounded up */
    uint64_t all_objects;  /* of all requests: a bound that chance does not pass */
    uint64_t live_objects; /* a bound that chance does not pass by much */
    uint64_t live_bytes;   /* likewise */
} abench__load;

/* Works the load out. */
void abench__server_load(const abench_workload *workload, const abench__timetable *table,
                         abench__load *load);

/* Slots of a lane. The wheel's item n is a local slot, lane by lane, and behind all of those a
 * shared one, by the lane that allocates into it. One more local slot is for what is freed at once.
 */
typedef struct abench__slots {
    uint64_t local;
    uint64_t ring; /* shared */
} abench__slots;

abench__slots abench__server_slots(const abench_workload *workload, const abench__timetable *table);

/* The timetable of a workload's parameters. */
void abench__server_timetable(const abench_workload *workload, abench__timetable *table);

/* A lifetime in ns: what is drawn, which without a unit counts requests. */
uint64_t abench__server_lifetime(const abench__value *lifetime, uint64_t drawn, uint64_t rate);

/* server_events.c: the generator. */
uint64_t abench__server_state_bytes(const abench_workload *workload);
void abench__server_begin(const abench_workload *workload, void *state);
int32_t abench__server_fill(const abench_workload *workload, void *state,
                            abench_tape_builder *builder);

#endif
