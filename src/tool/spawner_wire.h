/*
 * spawner_wire.h - what the tool and its spawner say to each other, over a stream socket. Both are
 * one program: plain structs.
 */
#ifndef ABENCH_TOOL_SPAWNER_WIRE_H
#define ABENCH_TOOL_SPAWNER_WIRE_H

#include <stdint.h>

#include "tool/spawner.h"

#define SPAWNER_INHERITS_MOST    16
#define SPAWNER_DESCRIPTORS_MOST (3 + SPAWNER_INHERITS_MOST)

/* ANOTHER goes with one descriptor, the new spawner's end of its socket; its answer is BEGUN with
 * the pid, or FAILED. FOLDER goes with a folder's descriptor; its answer is BEGUN or FAILED. */
enum {
    SPAWNER_RUN = 1,
    SPAWNER_KILL,
    SPAWNER_ANOTHER,
    SPAWNER_FOLDER,
    SPAWNER_BEGUN,
    SPAWNER_FAILED,
    SPAWNER_ENDED
};

/* Followed by bytes of text: the strings of argv and then of envp, each with its 0. The descriptors
 * travel beside it: those of 0, 1, 2 that are given, then the inherited ones. */
typedef struct spawner_request {
    uint32_t kind;
    uint32_t inherits;
    uint64_t bytes;
    uint32_t argc;
    uint32_t envc;
    int32_t standard[3]; /* -1: none is sent */
    int32_t numbers[SPAWNER_INHERITS_MOST];
    uint8_t thp_never;
    uint8_t aslr_off;
    uint8_t has_cpus;
    cpu_set_t cpus;
} spawner_request;

typedef struct spawner_answer {
    uint32_t kind;
    int32_t error;
    char what[32];
    spawner_begun begun;
    spawner_end end;
} spawner_answer;

/* The spawner's whole life; tool: the pid of its parent. Does not return. */
void spawner_serve(int socket, pid_t tool) __attribute__((noreturn));

#endif
