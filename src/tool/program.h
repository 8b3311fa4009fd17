/*
 * program.h - what can be known of a command before it runs: which file exec will take, and whether
 * a preloaded allocator can reach it.
 */
#ifndef ABENCH_TOOL_PROGRAM_H
#define ABENCH_TOOL_PROGRAM_H

typedef enum program_state {
    PROGRAM_OK,        /* as far as can be seen; the probe proves it from inside */
    PROGRAM_UNREACHED, /* it can run, but no preloaded library gets into it */
    PROGRAM_BROKEN,    /* it cannot run */
} program_state;

typedef struct program {
    program_state state;
    char *path;   /* the file that the name stands for; NULL when there is none */
    char *image;  /* the ELF file that runs: that one, or the interpreter of a script; or NULL */
    char *reason; /* unless OK: one line that begins with the file's name */
} program;

/* Looks name up as exec does (PATH of this process, when it has no '/'), follows "#!" through at
 * most four scripts, and looks at the ELF file behind: is it static, for another machine or C
 * library, setuid or setgid to somebody else, or given capabilities that we lack? A text without
 * "#!" is taken for the shell's, as execvp does. Nothing is run. */
void program_inspect(const char *name, program *out);

/* Frees what inspect made, and empties it. */
void program_clear(program *p);

/* Why no preloaded library reaches the ELF file at path: one line, free() it. NULL: it does, as far
 * as can be seen. */
char *program_unreached(const char *path);

#endif
