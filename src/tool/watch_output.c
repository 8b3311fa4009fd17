#include "tool/watch_output.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <allocbench/base.h>

#include "tool/terminal.h"
#include "tool/util.h"
#include "tool/watch_format.h"

#define REDRAW_NS       250000000u /* not more often than that */
#define LAST_WAIT_MS    1000       /* for a reader, after the process's end */
#define BLOCK_LINES     8u
#define UNLIMITED_WIDTH 100000u

bool watch_output_open(watch_output *o, const watch_arguments *a)
{
    const bool is_command = a->command != NULL;
    const int live = is_command ? STDERR_FILENO : STDOUT_FILENO;
    const bool on_terminal = isatty(STDOUT_FILENO) == 1;

    memset(o, 0, sizeof *o);
    o->csv = o->live = -1;
    if (a->output != NULL) {
        o->csv = open(a->output, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOCTTY, 0666);
        if (o->csv < 0)
            return false;
    } else if (a->csv || (!a->live && !on_terminal)) {
        o->csv = STDOUT_FILENO;
    }
    /* Two of them on one terminal would spoil each other. */
    if (a->live || (terminal_is_smart(live) && !(o->csv == STDOUT_FILENO && on_terminal)))
        o->live = live;
    o->is_smart = o->live >= 0 && terminal_is_smart(o->live);
    o->is_dim = o->live >= 0 && terminal_has_color(o->live);
    o->lines_most = is_command ? 1 : BLOCK_LINES;
    return true;
}

/* ---- writing --------------------------------------------------------------------------------- */

static void write_now(watch_output *o, int *fd, const char *text)
{
    if (util_write_all(*fd, text, strlen(text)))
        return;
    if (errno != EPIPE && o->error == 0)
        o->error = errno;
    if (*fd > STDERR_FILENO)
        close(*fd);
    *fd = -1;
}

/* A reader that has stopped reading must not hold back the end: what is written here is shorter
 * than what a pipe that can be written to takes at once. */
static void write_patiently(watch_output *o, int *fd, const char *text, watch_process *process)
{
    struct pollfd last = {.fd = *fd, .events = POLLOUT};
    const watch_event event = watch_process_wait(process, UINT64_MAX, *fd);

    if (event == WATCH_WRITABLE || (event == WATCH_ENDED && poll(&last, 1, LAST_WAIT_MS) > 0))
        write_now(o, fd, text);
}

static void put_csv(watch_output *o, const watch_look *look, watch_process *process)
{
    char *head = o->has_head ? xstrdup("") : watch_csv_head();
    char *line = watch_csv_line(look);
    char *text = xasprintf("%s%s", head, line);

    write_patiently(o, &o->csv, text, process);
    o->has_head = true;
    free(text);
    free(line);
    free(head);
}

/* ---- the live lines -------------------------------------------------------------------------- */

/* To the first of the lines that stand there, and all that follows erased; the text of it. */
static const char *erasure(const watch_output *o, char *text, size_t size)
{
    if (!o->is_smart || o->lines == 0)
        return "";
    if (o->lines > 1)
        snprintf(text, size, "\r\033[%zuA\033[J", o->lines - 1);
    else
        snprintf(text, size, "\r\033[J");
    return text;
}

static void draw(watch_output *o, const watch_look *look, const watch_tree *tree,
                 watch_process *process)
{
    /* A character in the last column would make some terminals begin a new line. */
    const size_t width = o->is_smart ? terminal_width(o->live) - 1 : UNLIMITED_WIDTH;
    size_t lines;
    char erase[32];
    char *rows = watch_rows(look, watch_tree_dear(tree), watch_tree_peaks(tree),
                            width == 0 ? 1 : width, o->lines_most, o->is_dim, &lines);
    /* What a command writes to the same terminal begins in the first column. */
    const char *end = !o->is_smart ? "\n" : o->lines_most == 1 ? "\r" : "";
    char *text = xasprintf("%s%s%s", erasure(o, erase, sizeof erase), rows, end);

    write_patiently(o, &o->live, text, process);
    o->lines = lines;
    o->drawn_ns = abench_clock_ns();
    free(text);
    free(rows);
}

void watch_output_put(watch_output *o, const watch_look *look, const watch_tree *tree,
                      watch_process *process)
{
    if (o->csv >= 0)
        put_csv(o, look, process);
    if (o->live >= 0 &&
        (!o->is_smart || o->drawn_ns == 0 || abench_clock_ns() - o->drawn_ns >= REDRAW_NS))
        draw(o, look, tree, process);
}

void watch_output_erase(watch_output *o)
{
    char text[32];

    if (o->live >= 0 && o->lines > 0)
        write_now(o, &o->live, erasure(o, text, sizeof text));
    o->lines = 0;
}

void watch_output_say(watch_output *o, const char *line)
{
    char *shown = util_one_line(xstrdup(line));

    watch_output_erase(o);
    util_say(shown);
    free(shown);
}

void watch_output_close(watch_output *o)
{
    watch_output_erase(o);
    /* Network file systems report a full disk only now. */
    if (o->csv > STDERR_FILENO && close(o->csv) != 0 && o->error == 0)
        o->error = errno;
    o->csv = -1;
}
