/*
 * merge.h - rounds of one matrix that were run apart, brought into one result directory.
 *
 * Sources must ask the same: their keys may differ in the machine alone (host, what the doctor
 * found of it, the folder and the time stamp of a program). A target of the same name must be the
 * same allocator: same spec, settings, family and version; another build of that version is told in
 * a note, another version is refused. Rounds keep their numbers. A round that two sources have
 * alike counts once; of two that differ the first stays, and a note names the other.
 *
 * matrix.json of the result has, beside what a run writes:
 *
 *   "machines": [{"name": "alpha", "host": {...}, "machine": [findings]}, ...]
 *
 * and each file in rounds/ "place": where in this list it ran. host, machine and key are those of
 * the first machine, which alone can go on with allocbench run.
 *
 * The result is made in DIR.merging and gets its name when it is whole and on the disk; what an
 * interrupted merge left there is taken away by the next. Sources are only read, and locked against
 * a run meanwhile.
 */
#ifndef ABENCH_TOOL_MERGE_H
#define ABENCH_TOOL_MERGE_H

#include <stdbool.h>
#include <stddef.h>

#include <jansson.h>

typedef struct merge_source {
    const char *path; /* as it was given */
    char *real;
    json_t *root;   /* of matrix.json */
    size_t *places; /* of its machines in the result's list */
    int lock;       /* -1: it has none */
} merge_source;

typedef struct merge {
    merge_source *sources;
    size_t count;
    json_t *root;    /* the result's matrix.json */
    size_t rounds;   /* that it has */
    size_t twice;    /* alike in two sources */
    size_t left_out; /* another of the same number was there */
} merge;

/* Merges sources into directory, which must not be there, or be empty. false with one line in
 * message. */
bool merge_directories(const char *directory, char *const *sources, size_t count, merge *out,
                       char *message, size_t message_size);

void merge_clear(merge *m);

/* ---- its parts ------------------------------------------------------------------------------- */

/* Makes root of the sources' (merge_key.c): refuses what does not belong together. */
bool merge_roots(merge *m, char *message, size_t message_size);

/* A line for the report. */
void merge_note(merge *m, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* The folder in which the result is made (merge_files.c): emptied, locked. -1 with a message. */
int merge_begin(const char *part, char *message, size_t message_size);

/* Empties it again, and takes it away. */
void merge_abandon(const char *part);

/* Copies the rounds of a source that are not there yet, with their cells. */
bool merge_rounds(merge *m, const merge_source *source, const char *part, char *message,
                  size_t message_size);

#endif
