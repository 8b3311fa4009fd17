#include "tool/progress.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <allocbench/base.h>

#include "tool/util.h"

#define BAR_WIDTH     24
#define REDRAW_NS     200000000u /* not more often than that */
#define LABEL_COLUMNS 36

static struct {
    bool active;
    bool terminal;
    size_t rounds;
    size_t done;
    double part;
    uint64_t begun_ns;
    uint64_t drawn_ns;
    char label[96];
} state;

static void erase(void)
{
    if (state.active && state.terminal)
        fputs("\r\033[K", stderr);
}

static void draw(void)
{
    const double share =
        state.rounds == 0 ? 1 : ((double)state.done + state.part) / (double)state.rounds;
    const double elapsed = (double)(abench_clock_ns() - state.begun_ns) / 1e9;
    char bar[BAR_WIDTH + 1];

    if (!state.active || !state.terminal)
        return;
    for (int at = 0; at < BAR_WIDTH; at++)
        bar[at] = share * BAR_WIDTH > at ? '=' : ' ';
    bar[BAR_WIDTH] = '\0';
    fprintf(stderr, "\r\033[K[%s] %3.0f %%  %s", bar, share * 100, state.label);
    if (share > 0.02)
        fprintf(stderr, "  %.0f s left", elapsed / share - elapsed);
    fflush(stderr);
    state.drawn_ns = abench_clock_ns();
}

void progress_begin(size_t rounds)
{
    memset(&state, 0, sizeof state);
    state.active = true;
    state.terminal = isatty(STDERR_FILENO) == 1;
    state.rounds = rounds;
    state.begun_ns = abench_clock_ns();
}

void progress_at(size_t done, const char *workload, uint32_t number, uint32_t of)
{
    char *name = util_one_line(xstrdup(workload));

    state.done = done;
    state.part = 0;
    snprintf(state.label, sizeof state.label, "%.*s, round %u of %u", LABEL_COLUMNS, name, number,
             of);
    free(name);
    draw();
}

void progress_part(double part)
{
    state.part = part;
    if (state.active && state.terminal && abench_clock_ns() - state.drawn_ns > REDRAW_NS)
        draw();
}

void progress_say(const char *line)
{
    char *shown = util_one_line(xstrdup(line));

    erase();
    util_say(shown);
    draw();
    free(shown);
}

void progress_end(void)
{
    erase();
    state.active = false;
}
