/*
 * images.h - the proof that every program image of a command ran on the wanted allocator: what the
 * probe reported from inside, joined with what the watcher saw from outside.
 *
 * An image is what one exec made. A forked child runs its parent's image; the probe reports once an
 * image. An image that was seen and did not report got no preloaded library at all. One that may
 * not be looked at counts as such, whatever its process reported. So does the last one of the
 * command's own process, be it too short to be seen, when the process ends under a name that nobody
 * reported. Of its descendants, an image that is neither seen nor reports stays unknown.
 */
#ifndef ABENCH_TOOL_IMAGES_H
#define ABENCH_TOOL_IMAGES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include <allocbench/allocator.h>

#include "tool/tree.h"

/* A start line of the probe. */
typedef struct images_report {
    pid_t pid;
    char *exe;           /* "" when the probe could not tell */
    uint64_t exe_device; /* 0 likewise, and below */
    uint64_t exe_inode;
    uint64_t start_code;
    uint64_t start_stack;
    char name[16]; /* of the process then (comm); "" likewise */
    abench_identity identity;
    char *settings;    /* the allocators' variables that it found, as images_settings */
    bool settings_cut; /* there were more */
} images_report;

/* An exit line. */
typedef struct images_exit {
    pid_t pid;
    uint64_t start_stack; /* 0 when the probe could not tell */
} images_exit;

typedef struct images {
    images_report *reports; /* in the order of the file */
    size_t count;
    images_exit *exits; /* likewise */
    size_t exits_count;
    uint64_t peak_hwm_bytes; /* largest VmHWM at an exit; 0: no exit was reported */
    uint64_t libc_bytes;     /* the most that the C library's own malloc held at the exit of an
                                image whose malloc another one serves */
    const char *libc_exe;    /* with libc_bytes > 0: that image's program, "?" when unknown */
} images;

/* Reads a file of the probe's. It was written by the command's processes: hostile. NULL and one
 * line in message, FILE:LINE:COLUMN and what is wrong there. */
images *images_read(const char *file, char *message, size_t message_size);

/* The variables of an environment that steer an allocator, LD_PRELOAD and LD_AUDIT left out, as the
 * probe tells them (probe.c has the rule): one a line, in the order of strcmp. *cut: some were left
 * out. free() it. */
char *images_settings(char *const *envp, bool *cut);

/* accepts NULL */
void images_free(images *reported);

/* Who must serve malloc. */
typedef struct images_wanted {
    const char *provider; /* path of the object, for messages; NULL: the C library, by its family */
    uint64_t device;      /* of provider */
    uint64_t inode;
    const char *family;   /* with provider NULL: "glibc", "musl" */
    bool may_be_silent;   /* images that did not report are only counted: the command is known to be
                           out of a preloaded library's reach, and needs none */
    const char *settings; /* what images_settings says of the environment that was given to the
                             command; NULL: not compared */
    bool settings_cut;
    const char *last_name; /* spawner_end's; NULL: unknown */
} images_wanted;

typedef struct images_verdict {
    char *refusal;  /* NULL: every image ran on what was wanted. Else one line that names the first
                      that did not, and counts the others */
    size_t unseen;  /* images that reported, but were too short to be seen */
    size_t silent;  /* images that were seen, or told by last_name, but did not report */
    char *silence;  /* with silent > 0: one line about the first of these */
    size_t changed; /* images that found other settings than those given */
    char *change;   /* with changed > 0: one line about the first of these */
    const images_report *root; /* the first report of process root; NULL: there is none */
} images_verdict;

/* Judges what was reported and seen. reported must outlive the verdict. */
void images_judge(const images *reported, const tree_image *seen, size_t seen_count,
                  const images_wanted *wanted, pid_t root, images_verdict *verdict);

/* Frees what judge made, and empties it. */
void images_verdict_clear(images_verdict *verdict);

#endif
