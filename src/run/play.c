/* play.c - playing a tape in a run: marks become phases, slices are kept, turns are awaited. */
#include <errno.h>
#include <string.h>
#include <unistd.h>

#include <allocbench/workload.h>

#include "base/text.h"
#include "run/run.h"
#include "tape/file.h"
#include "tape/tape.h"

#define TAPE_PREFIX "tape:"

/* ---- turns: a tool that plays several runs in lockstep --------------------------------------- */

static int in_lockstep(const abench_run *run)
{
    return run->options.turn_in != 0 || run->options.turn_out != 0;
}

static int tell(const abench_run *run, const char *line)
{
    const size_t length = strlen(line);
    ssize_t written;

    do
        written = write(run->options.turn_out, line, length);
    while (written < 0 && errno == EINTR);
    return written == (ssize_t)length;
}

/* Waits until it is this run's turn. 0: the tool is gone. */
static int await_turn(const abench_run *run)
{
    char byte;
    ssize_t got;

    do
        got = read(run->options.turn_in, &byte, 1);
    while (got < 0 && errno == EINTR);
    return got == 1;
}

/* Says that the run could begin, and what the tool must know to plan the round. */
static int tell_ready(const abench_run *run)
{
    char line[128];
    abench__text text;

    abench__text_init(&text, line, sizeof line);
    abench__text_printf(&text, "ready %llu %llu %llu %u\n",
                        (unsigned long long)run->plan.live_bytes,
                        (unsigned long long)run->plan.memory_bytes,
                        (unsigned long long)run->slices_capacity, run->plan.pauses);
    return tell(run, line);
}

/* Both return what a callback returns: 0, or non-zero to stop the play. */
static int32_t begin_turn(abench_run *run)
{
    if (in_lockstep(run) && !await_turn(run))
        return 1;
    return abench__run_timeline_start(run) == ABENCH_OK ? 0 : 1;
}

static int32_t end_turn(abench_run *run)
{
    if (abench__run_timeline_stop(run) != ABENCH_OK)
        return 1;
    return in_lockstep(run) && !tell(run, "slice\n");
}

/* ---- callbacks of the player ----------------------------------------------------------------- */

static int32_t on_begin(abench_run *run)
{
    if (abench__run_end_phase(run, "baseline") == NULL)
        return 1;
    if (in_lockstep(run) && !tell_ready(run))
        return 1;
    return begin_turn(run);
}

static int32_t on_mark(const abench_mark *mark, void *user)
{
    abench_run *run = user;
    abench__run_phase *phase;

    if (mark->begin)
        return on_begin(run);
    phase = abench__run_end_phase(run, mark->info->name);
    if (phase == NULL)
        return 1;
    phase->timed = (mark->info->flags & ABENCH_PHASE_TIMED) != 0;
    phase->operations = mark->info->operations;
    phase->live_bytes = mark->live_bytes;
    phase->live_blocks = mark->live_blocks;
    phase->has_usable = abench_mark_usable(mark, &phase->usable_bytes) == ABENCH_OK;
    run->has_drained = mark->end && mark->live_blocks == 0;
    return 0;
}

static void keep_slice(abench_run *run, const abench_slice *slice)
{
    abench_memory memory = ABENCH_MEMORY_INIT;

    if (run->slices_count == run->slices_capacity) {
        run->slices_lost++;
        return;
    }
    abench_memory_reader_read(run->reader, ABENCH_TIER_STATM, &memory);
    run->slices_rss[run->slices_count] =
        memory.valid & ABENCH_MEMORY_RSS ? memory.rss_bytes : RUN_RSS_UNKNOWN;
    run->slices[run->slices_count++] = *slice;
}

/* In lockstep what comes behind the last slice waits until every target has played its own, and is
 * then done by all at once: it sleeps most of the time. */
static int32_t end_play(abench_run *run)
{
    const int settles = run->has_drained &&
                        (run->options.settle_s > 0 || (run->options.flags & ABENCH_RUN_PURGE) != 0);

    if (!settles)
        return 0;
    if (in_lockstep(run) && !(tell(run, "last\n") && await_turn(run)))
        return 1;
    abench__run_after(run);
    return 0;
}

static int32_t on_slice(const abench_slice *slice, void *user)
{
    abench_run *run = user;

    keep_slice(run, slice);
    if (slice->last)
        return abench__run_timeline_stop(run) == ABENCH_OK ? end_play(run) : 1;
    if (!in_lockstep(run))
        return 0;
    return end_turn(run) != 0 ? 1 : begin_turn(run);
}

/* ---- the play -------------------------------------------------------------------------------- */

/* A slice is made of whole cuts, and each phase has at least one. */
static abench_status make_room_for_slices(abench_run *run)
{
    const uint64_t asked = run->options.slice_operations;
    const uint64_t least = asked < ABENCH_TAPE_CUT ? ABENCH_TAPE_CUT : asked;

    run->slices_capacity = run->plan.operations / least + 2 * (uint64_t)ABENCH_PHASES_MAX;
    if (run->slices_capacity > ABENCH_SLICES_MAX)
        return abench__fail(&run->error, ABENCH_ERROR_LIMIT,
                            "%llu slices of %llu operations are more than %u: larger slices are "
                            "needed",
                            (unsigned long long)run->slices_capacity, (unsigned long long)least,
                            ABENCH_SLICES_MAX);
    run->slices_bytes = run->slices_capacity * (sizeof(abench_slice) + sizeof(uint64_t));
    run->slices = abench__map(&run->hooks, run->slices_bytes, 1);
    if (run->slices == NULL)
        return abench__fail(&run->error, ABENCH_ERROR_MEMORY, "no memory");
    run->slices_rss = (uint64_t *)(run->slices + run->slices_capacity);
    return ABENCH_OK;
}

/* What is known of a tape that was gone through. */
static void plan_from(abench__run_plan *plan, const abench_tape_summary *summary)
{
    plan->operations = summary->operations;
    plan->live_bytes = summary->live_bytes_peak;
    plan->memory_bytes = summary->memory_bytes;
    plan->pauses = summary->by_kind[ABENCH_OP_PAUSE] > 0;
}

/* A stream that no workload made is gone through for its plan. */
static abench_status plan_of(const abench_tape *tape, abench__run_plan *plan)
{
    abench_tape_summary summary = ABENCH_TAPE_SUMMARY_INIT;
    const abench_status status = abench_tape_get_summary(tape, &summary);

    plan_from(plan, &summary);
    return status;
}

#define LATE_NS        10000000u /* behind a pace: worth a word */
#define DENSE_INTERVAL 256u      /* sampling below it shows in the times of fast allocators */

/* What the receipt tells of how the work was done. */
static void warn_of_work(abench_run *run)
{
    const abench_receipt *r = &run->receipt;

    if (run->options.latency_interval < DENSE_INTERVAL)
        abench__run_warn(run,
                         "one operation in %u is timed by itself: the times contain the clock's",
                         run->options.latency_interval);
    if (r->late_ns > LATE_NS)
        abench__run_warn(run,
                         "a lane came %.3g ms late to its pace: the work did not keep up with "
                         "real time",
                         (double)r->late_ns / 1e6);
    if (r->live_blocks_end > 0)
        abench__run_warn(run, "the tape leaves %llu blocks alive: there is no drained memory",
                         (unsigned long long)r->live_blocks_end);
    if (run->slices_lost > 0)
        abench__run_warn(run,
                         "the workload made more operations than it had said, and %llu slices "
                         "could not be kept: there are no times",
                         (unsigned long long)run->slices_lost);
}

/* The tape's plan is in the run. */
static abench_status play_planned(abench_run *run, const abench_tape *tape,
                                  const abench_allocator *allocator)
{
    abench_player_options options = ABENCH_PLAYER_OPTIONS_INIT;
    abench_status status;

    run->has_tape = 1;
    run->lanes = tape->summary.lanes;
    run->touch = tape->summary.touch;
    run->has_allocator = allocator != NULL;
    status = make_room_for_slices(run);
    if (status == ABENCH_OK)
        status = abench__run_prepare(run);
    if (status == ABENCH_OK) {
        options.slice_operations = run->options.slice_operations;
        options.hooks = run->options.hooks;
        options.latency = run->latency;
        options.latency_interval = run->options.latency_interval;
        options.seed = run->options.seed;
        options.slice = on_slice;
        options.mark = on_mark;
        options.user = run;
        abench_receipt_init(&run->receipt);
        status = abench_play(tape, allocator, &options, &run->receipt, &run->error);
    }
    if (status == ABENCH_OK) {
        warn_of_work(run);
        status = abench__run_finish(run);
    }
    if (status != ABENCH_OK)
        run->state = RUN_FAILED;
    return status;
}

abench_status abench_run_play_tape(abench_run *run, const abench_tape *tape,
                                   const abench_allocator *allocator)
{
    abench_status status;

    if (run->state != RUN_NEW)
        return abench__fail(&run->error, ABENCH_ERROR_STATE, "a run runs once: make another");
    status = plan_of(tape, &run->plan);
    if (status != ABENCH_OK)
        return abench__fail(&run->error, status, "the tape cannot be read through: %s",
                            abench_status_message(status));
    return play_planned(run, tape, allocator);
}

/* A tape beyond this is streamed: up to it the words stay below some 160 MB. */
#define STREAMED_OPERATIONS 10000000u

static abench_status make_tape(abench_run *run, const abench_workload *workload, abench_tape **out)
{
    const uint64_t operations = abench_workload_operations(workload);
    abench_status status;

    if (operations <= STREAMED_OPERATIONS) {
        status = abench_workload_tape(workload, run->options.hooks, out, &run->error);
        return status == ABENCH_OK ? plan_of(*out, &run->plan) : status;
    }
    status = abench_workload_stream(workload, run->options.hooks, out, &run->error);
    if (status != ABENCH_OK)
        return status;
    if (operations == UINT64_MAX) /* only its end can say */
        return plan_of(*out, &run->plan);
    run->plan.operations = operations;
    run->plan.live_bytes = abench_workload_live_bytes(workload);
    run->plan.memory_bytes = abench__stream_bytes(*out);
    run->plan.pauses = abench_workload_pauses(workload) != 0;
    return ABENCH_OK;
}

static abench_status play_workload(abench_run *run, const char *spec,
                                   const abench_allocator *allocator)
{
    abench_workload *workload = NULL;
    abench_tape *tape = NULL;
    abench_status status =
        abench_workload_parse(spec, run->options.seed, run->options.lanes, &workload, &run->error);

    if (status == ABENCH_OK)
        status = make_tape(run, workload, &tape);
    if (status == ABENCH_OK) {
        abench__copy(run->workload, sizeof run->workload, abench_workload_spec(workload));
        run->plan_digest = abench_workload_plan_digest(workload);
        status = play_planned(run, tape, allocator);
    }
    abench_tape_destroy(tape);
    abench_workload_destroy(workload);
    return status;
}

/* A saved tape, "tape:FILE": what it is, its digest says. */
static abench_status play_file(abench_run *run, const char *spec, const abench_allocator *allocator)
{
    abench_tape_summary summary = ABENCH_TAPE_SUMMARY_INIT;
    abench_tape *tape = NULL;
    abench_status status = abench__tape_of_file(spec + strlen(TAPE_PREFIX), run->options.hooks,
                                                &summary, &run->plan_digest, &tape, &run->error);

    if (status == ABENCH_OK) {
        abench__copy(run->workload, sizeof run->workload, spec);
        plan_from(&run->plan, &summary);
        status = play_planned(run, tape, allocator);
    }
    abench_tape_destroy(tape);
    return status;
}

abench_status abench_run_play(abench_run *run, const char *spec, const abench_allocator *allocator)
{
    if (run->state != RUN_NEW)
        return abench__fail(&run->error, ABENCH_ERROR_STATE, "a run runs once: make another");
    if (spec != NULL && strncmp(spec, TAPE_PREFIX, strlen(TAPE_PREFIX)) == 0)
        return play_file(run, spec, allocator);
    return play_workload(run, spec, allocator);
}
