/*
 * check.c - the frame of the conformance test: which checks there are, and what is said of them.
 *
 * Nothing here uses the malloc under test: what a check says must be readable when the heap is not.
 */
#include "cell/check.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define LINE_MOST   1024
#define FAULTS_MOST 8 /* of one check that are told; a bad heap has thousands */

abench_allocator check_malloc;

static const char *wanted; /* what the names of the checks begin with that are to be run */
static size_t to_skip;     /* so many of them that come first */
static const char *running;
static unsigned faults; /* of the check that runs */
static bool is_faulty;  /* any of them */

/* ---- lines ----------------------------------------------------------------------------------- */

/* One write: a line is there whole, whatever becomes of the process. */
static void say(const char *word, const char *name, const char *detail)
{
    char line[LINE_MOST];
    int length;

    length = snprintf(line, sizeof line - 1, "%s%s%s%s%s", word, name[0] == '\0' ? "" : " ", name,
                      detail[0] == '\0' ? "" : " ", detail);
    if (length > (int)sizeof line - 2)
        length = (int)sizeof line - 2;
    line[length] = '\n';
    for (ssize_t at = 0, got; at <= length; at += got) {
        got = write(STDOUT_FILENO, line + at, (size_t)(length + 1 - at));
        if (got <= 0)
            _exit(CHECK_FAULTY); /* nobody listens */
    }
}

bool check_fault(const char *format, ...)
{
    char detail[LINE_MOST];
    va_list list;

    is_faulty = true;
    if (faults++ >= FAULTS_MOST)
        return false;
    va_start(list, format);
    vsnprintf(detail, sizeof detail, format, list);
    va_end(list);
    say("FAULT", running, detail);
    return false;
}

void check_note(const char *format, ...)
{
    char detail[LINE_MOST];
    va_list list;

    va_start(list, format);
    vsnprintf(detail, sizeof detail, format, list);
    va_end(list);
    say("note", running, detail);
}

static void begin(const char *name)
{
    running = name;
    faults = 0;
    say("check", name, "");
}

static void end(const char *detail)
{
    if (faults == 0)
        say("ok", running, detail);
}

/* ---- blocks ---------------------------------------------------------------------------------- */

size_t check_alignment(size_t size)
{
    size_t alignment = _Alignof(max_align_t);

    while (alignment > size && alignment > 1)
        alignment /= 2;
    return alignment;
}

bool check_make(check_block *b, void *at, size_t size, size_t alignment, const char *what)
{
    static uint64_t serial;
    size_t usable;

    b->at = NULL;
    if (at == NULL)
        return check_fault("%s returned NULL for %zu bytes", what, size);
    if (((uintptr_t)at & (alignment - 1)) != 0)
        return check_fault("%s of %zu bytes: %p is no multiple of %zu", what, size, at, alignment);
    usable = check_malloc.usable_size(at);
    if (usable < size)
        return check_fault("%s of %zu bytes: its usable size is %zu", what, size, usable);
    b->at = at;
    b->size = size;
    b->stamp.size = size;
    b->stamp.key = ++serial * 0xd1342543de82ef95u;
    abench__stamp_write(b->at, &b->stamp);
    return true;
}

bool check_is_good(const check_block *b, size_t kept, const char *what)
{
    const uint64_t wrong = abench__stamp_verify(b->at, &b->stamp, kept);

    return wrong == STAMP_GOOD ||
           check_fault("%s: of a block of %zu bytes at %p, byte %llu was changed or lost", what,
                       b->size, (void *)b->at, (unsigned long long)wrong);
}

bool check_free(check_block *b, const char *what)
{
    const bool good = b->at == NULL || check_is_good(b, b->size, what);

    check_malloc.free(b->at);
    b->at = NULL;
    return good;
}

/* ---- all of them ----------------------------------------------------------------------------- */

static bool is_next(const char *name)
{
    if (strncmp(name, wanted, strlen(wanted)) != 0)
        return false;
    if (to_skip == 0)
        return true;
    to_skip--;
    return false;
}

static void run_calls(const check *checks, size_t count)
{
    for (size_t at = 0; at < count; at++) {
        if (!is_next(checks[at].name))
            continue;
        begin(checks[at].name);
        checks[at].run();
        end(checks[at].shows);
    }
}

static void run_plays(void)
{
    abench_workload_info info = ABENCH_WORKLOAD_INFO_INIT;
    char name[64], detail[LINE_MOST] = "";

    if (is_next("play-every-call")) {
        begin("play-every-call");
        check_play_every_call(detail, sizeof detail);
        end(detail);
    }
    for (uint32_t index = 0; abench_workload_at(index, &info) == ABENCH_OK; index++) {
        snprintf(name, sizeof name, "play:%s", info.name);
        if (!is_next(name))
            continue;
        begin(name);
        detail[0] = '\0';
        check_play(info.name, detail, sizeof detail);
        end(detail);
    }
}

int check_run(const char *prefix, size_t first)
{
    wanted = prefix;
    to_skip = first;
    abench_allocator_init(&check_malloc);
    if (abench_allocator_process(&check_malloc) != ABENCH_OK)
        return CHECK_FAULTY;
    run_calls(check_calls, check_calls_count);
    run_calls(check_blocks, check_blocks_count);
    run_calls(check_threads, check_threads_count);
    run_plays();
    say("done", "", "");
    return is_faulty ? CHECK_FAULTY : 0;
}
