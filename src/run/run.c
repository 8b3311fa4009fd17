/* run.c - a run's life: create, start, phases, stop, write, destroy. play.c plays tapes in it. */
#include "run/lane.h"

#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/options.h"
#include "base/text.h"

#define OPTIONS_FIRST_RELEASE 96u
#define RUN_SAMPLERS          (ABENCH_RUN_SAMPLER_THREAD | ABENCH_RUN_SAMPLER_PROCESS)
#define RUN_FLAGS             (ABENCH_RUN_PURGE | RUN_SAMPLERS)
#define SLICE_PRESET          400000u
#define SAMPLE_PRESET_US      10000u
#define SAMPLE_LEAST_US       1000u
#define LATENCY_PRESET        1024u

/* Of a phase's reading, taken while the work stands. */
static const uint32_t all_tiers = ABENCH_TIER_STATM | ABENCH_TIER_STATUS | ABENCH_TIER_ROLLUP |
                                  ABENCH_TIER_FAULTS | ABENCH_TIER_SCHEDULE;

_Static_assert(sizeof(abench_run_options) == OPTIONS_FIRST_RELEASE, "first release");

/* ---- create and destroy ---------------------------------------------------------------------- */

/* Creates the result file. That it is there already is no error: another process owns it. */
static abench_status claim_result(abench_run *run, const char *path)
{
    run->result_fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_APPEND | O_CLOEXEC, 0666);
    return run->result_fd < 0 && errno != EEXIST ? ABENCH_ERROR_SYSTEM : ABENCH_OK;
}

abench_status abench_run_create(const abench_run_options *options, abench_run **out)
{
    abench_run_options o = ABENCH_RUN_OPTIONS_INIT;
    abench_memory_hooks hooks;
    abench_run *run;
    abench_status status;

    *out = NULL;
    status = abench__options_read(&o, sizeof o, options, OPTIONS_FIRST_RELEASE);
    if (status == ABENCH_OK)
        status = abench__hooks_copy(o.hooks, &hooks);
    if (status == ABENCH_OK &&
        (o.lanes > ABENCH_LANES_MAX || o.turn_in < 0 || o.turn_out < 0 ||
         o.settle_s > RUN_SETTLE_MAX || (o.sample_us > 0 && o.sample_us < SAMPLE_LEAST_US) ||
         (o.flags & ~RUN_FLAGS) != 0 || (o.flags & RUN_SAMPLERS) == RUN_SAMPLERS))
        status = ABENCH_ERROR_ARGUMENT;
    if (status != ABENCH_OK)
        return status;
    run = abench__map(&hooks, sizeof *run, 1);
    if (run == NULL)
        return ABENCH_ERROR_MEMORY;
    run->hooks = hooks;
    run->bytes = sizeof *run;
    run->options = o;
    run->options.hooks = hooks.map == NULL ? NULL : &run->hooks;
    if (run->options.slice_operations == 0)
        run->options.slice_operations = SLICE_PRESET;
    if (run->options.sample_us == 0)
        run->options.sample_us = SAMPLE_PRESET_US;
    if (run->options.latency_interval == 0)
        run->options.latency_interval = LATENCY_PRESET;
    run->lanes = o.lanes;
    run->result_fd = -1;
    abench_error_init(&run->error);
    abench__copy(run->name, sizeof run->name, o.name == NULL ? "" : o.name);
    abench__copy(run->nonce, sizeof run->nonce, o.nonce == NULL ? "" : o.nonce);
    run->options.name = run->name;
    run->options.nonce = run->nonce;
    if (o.result_path != NULL)
        status = claim_result(run, o.result_path);
    run->options.result_path = NULL; /* it is open now, and the string is the caller's */
    if (status != ABENCH_OK) {
        abench_run_destroy(run);
        return status;
    }
    *out = run;
    return ABENCH_OK;
}

void abench_run_destroy(abench_run *run)
{
    abench_memory_hooks hooks;

    if (run == NULL)
        return;
    hooks = run->hooks;
    abench_sampler_destroy(run->sampler);
    abench_memory_reader_destroy(run->reader);
    abench_latency_destroy(run->latency);
    abench__run_lanes_destroy(run);
    abench__run_account_close(run);
    abench__unmap(&hooks, run->slices, run->slices_bytes);
    abench__unmap(&hooks, run->scratch, run->scratch_bytes);
    if (run->result_fd >= 0)
        close(run->result_fd);
    abench__unmap(&hooks, run, run->bytes);
}

const abench_error *abench_run_error(const abench_run *run)
{
    return &run->error;
}

void abench__run_warn(abench_run *run, const char *format, ...)
{
    va_list list;

    if (run->warnings_count == RUN_WARNINGS_MAX)
        return;
    va_start(list, format);
    vsnprintf(run->warnings[run->warnings_count++], sizeof run->warnings[0], format, list);
    va_end(list);
}

/* ---- start ----------------------------------------------------------------------------------- */

/* Sets VmHWM and the kernel's other peaks to what is now (Documentation/filesystems/proc.rst,
 * clear_refs, value 5): the peak is the run's own. */
static int reset_peak(void)
{
    const int fd = open("/proc/self/clear_refs", O_WRONLY | O_CLOEXEC);
    int done;

    if (fd < 0)
        return 0;
    done = write(fd, "5", 1) == 1;
    close(fd);
    return done;
}

static abench_status make_instruments(abench_run *run)
{
    abench_sampler_options options = ABENCH_SAMPLER_OPTIONS_INIT;
    abench_status status = abench_memory_reader_create(0, &run->reader);

    if (status != ABENCH_OK)
        return abench__fail(&run->error, status, "this process's memory cannot be read: %s",
                            abench_status_message(status));
    options.period_us = run->options.sample_us;
    options.hooks = run->options.hooks;
    if (run->options.flags & ABENCH_RUN_SAMPLER_PROCESS ||
        (run->has_tape && !(run->options.flags & ABENCH_RUN_SAMPLER_THREAD)))
        options.flags = ABENCH_SAMPLER_PROCESS;
    status = abench_sampler_create(&options, &run->sampler);
    if (status != ABENCH_OK)
        return abench__fail(&run->error, status, "the sampler cannot start: %s",
                            abench_status_message(status));
    if (run->has_tape && run->options.latency_interval != ABENCH_LATENCY_OFF) {
        status = abench_latency_create(run->options.hooks, &run->latency);
        if (status != ABENCH_OK)
            return abench__fail(&run->error, status, "no memory for the latencies");
    }
    /* Scratch for medians: as many as there can be slices or readings. */
    run->scratch_bytes =
        (run->slices_capacity > 8192 ? run->slices_capacity : 8192) * sizeof(double);
    run->scratch = abench__map(&run->hooks, run->scratch_bytes, 1);
    if (run->scratch == NULL)
        return abench__fail(&run->error, ABENCH_ERROR_MEMORY, "no memory for the run");
    return ABENCH_OK;
}

/* The tool times the machine's speed itself then: the others of the round are at work here. */
static int in_lockstep(const abench_run *run)
{
    return run->options.turn_in != 0 || run->options.turn_out != 0;
}

abench_status abench__run_prepare(abench_run *run)
{
    struct timespec now;
    abench_status status;

    if (run->state != RUN_NEW)
        return abench__fail(&run->error, ABENCH_ERROR_STATE, "a run runs once: make another");
    run->state = RUN_RUNNING;
    clock_gettime(CLOCK_REALTIME, &now);
    run->unix_s = (uint64_t)now.tv_sec;
    abench_host_init(&run->host);
    abench_host_read(&run->host);
    abench_identity_init(&run->identity);
    status = abench_allocator_identify(&run->identity);
    if (status != ABENCH_OK)
        return abench__fail(&run->error, status, "who serves malloc could not be found out");
    if (run->identity.flags & ABENCH_IDENTITY_MIXED)
        abench__run_warn(run, "malloc is served by more than one object: %.150s",
                         run->identity.others);
    if (run->lanes > run->host.cpus_allowed && run->host.cpus_allowed != 0)
        abench__run_warn(run,
                         "%u lanes on %u CPUs: the time is the scheduler's too; rank by memory",
                         run->lanes, run->host.cpus_allowed);
    status = make_instruments(run);
    if (status == ABENCH_OK)
        status = abench__run_account_open(run);
    if (status != ABENCH_OK)
        return status;
    abench_machine_init(&run->machine_before);
    abench_machine_read(!in_lockstep(run), &run->machine_before);
    if (run->result_fd >= 0) {
        status = abench__run_write_manifest(run, run->result_fd, &run->error);
        if (status != ABENCH_OK)
            return status;
    }
    if (!reset_peak())
        abench__run_warn(run, "VmHWM could not be reset: the peak may be older than the run");
    return ABENCH_OK;
}

/* ---- the timeline ---------------------------------------------------------------------------- */

/* The timeline is not what is measured: where its helper process was killed, the run goes on
 * without it, and says so. */
static abench_status lose_timeline(abench_run *run, abench_status status)
{
    if (status != ABENCH_ERROR_STATE || !abench_sampler_is_process(run->sampler))
        return abench__fail(&run->error, status, "the sampler failed: %s",
                            abench_status_message(status));
    run->timeline_lost = 1;
    abench__run_warn(run, "the sampler's helper process was killed, or did not answer: the "
                          "timeline ends there");
    return ABENCH_OK;
}

abench_status abench__run_timeline_start(abench_run *run)
{
    const abench_status status =
        run->timeline_lost ? ABENCH_OK : abench_sampler_start(run->sampler);

    return status == ABENCH_OK ? status : lose_timeline(run, status);
}

abench_status abench__run_timeline_stop(abench_run *run)
{
    const abench_status status = run->timeline_lost ? ABENCH_OK : abench_sampler_stop(run->sampler);

    return status == ABENCH_OK ? status : lose_timeline(run, status);
}

/* ---- phases ---------------------------------------------------------------------------------- */

void abench__run_read(abench_run *run, const char *name, abench__run_phase *phase)
{
    abench__copy(phase->name, sizeof phase->name, name);
    phase->time_ns = abench_sampler_time_ns(run->sampler);
    abench_memory_init(&phase->memory);
    abench_memory_reader_read(run->reader, all_tiers, &phase->memory);
    abench__run_account_read(run, phase); /* behind the kernel's: it may touch free memory */
}

abench__run_phase *abench__run_end_phase(abench_run *run, const char *name)
{
    abench__run_phase *phase;

    if (run->phases_count == RUN_PHASES_MAX)
        return NULL;
    phase = &run->phases[run->phases_count++];
    run->drained_ns = abench_clock_ns();
    abench__run_read(run, name, phase);
    return phase;
}

static uint64_t process_cpu_ns(void)
{
    struct timespec now;

    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
    return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

static void begin_phase(abench_run *run, const char *name, uint32_t flags)
{
    abench__copy(run->phase_open, sizeof run->phase_open, name);
    run->phase_open_flags = flags;
    atomic_store(&run->own_timed, flags & ABENCH_PHASE_TIMED);
    run->phase_open_cpu_ns = process_cpu_ns();
    run->phase_open_wall_ns = abench_clock_ns();
}

abench_status abench_run_start(abench_run *run)
{
    abench_status status;

    if (run->state != RUN_NEW)
        return abench__fail(&run->error, ABENCH_ERROR_STATE, "a run runs once: make another");
    status = abench__run_prepare(run);
    if (status == ABENCH_OK)
        status = abench__run_lanes_prepare(run);
    if (status == ABENCH_OK) {
        abench__run_end_phase(run, "baseline");
        status = abench__run_timeline_start(run);
        begin_phase(run, "steady", ABENCH_PHASE_TIMED);
    }
    if (status != ABENCH_OK)
        run->state = RUN_FAILED;
    return status;
}

/* kept_free: phases for which there must be room afterwards, so that a run can always stop. */
static abench_status end_open_phase(abench_run *run, uint32_t kept_free)
{
    const uint64_t wall = abench_clock_ns(), cpu = process_cpu_ns();
    abench__run_phase *phase = NULL;

    if (run->state != RUN_RUNNING)
        return abench__fail(&run->error, ABENCH_ERROR_STATE, "the run is not running");
    atomic_store(&run->own_timed, 0);
    if (run->phases_count + kept_free < RUN_PHASES_MAX)
        phase = abench__run_end_phase(run, run->phase_open);
    if (phase == NULL) {
        atomic_store(&run->own_timed, run->phase_open_flags & ABENCH_PHASE_TIMED); /* goes on */
        return abench__fail(&run->error, ABENCH_ERROR_LIMIT, "more than %d phases",
                            ABENCH_PHASES_MAX);
    }
    phase->timed = (run->phase_open_flags & ABENCH_PHASE_TIMED) != 0;
    phase->wall_ns = wall - run->phase_open_wall_ns;
    phase->cpu_ns = cpu - run->phase_open_cpu_ns;
    return ABENCH_OK;
}

abench_status abench_run_phase(abench_run *run, const char *name, uint32_t flags)
{
    const size_t length = name == NULL ? 0 : strspn(name, "abcdefghijklmnopqrstuvwxyz0123456789-");
    abench_status status;

    if (length == 0 || name[length] != '\0' || length >= sizeof run->phase_open ||
        (flags & ~ABENCH_PHASE_TIMED) != 0)
        return abench__fail(&run->error, ABENCH_ERROR_ARGUMENT,
                            "a phase's name is 1 to 31 of a-z, 0-9 and '-', its flags are "
                            "ABENCH_PHASE_TIMED or 0");
    status = end_open_phase(run, 1);
    if (status == ABENCH_OK)
        begin_phase(run, name, flags);
    return status;
}

abench_status abench__run_finish(abench_run *run)
{
    abench_status status;

    run->state = RUN_STOPPED;
    abench_machine_init(&run->machine_after);
    abench_machine_read(!in_lockstep(run), &run->machine_after);
    abench__run_work_out(run);
    if (run->result_fd < 0)
        return ABENCH_OK;
    status = abench__run_write_rest(run, run->result_fd, &run->error);
    if (close(run->result_fd) != 0 && status == ABENCH_OK)
        status = abench__fail_errno(&run->error, errno, "the result file cannot be closed");
    run->result_fd = -1;
    return status;
}

abench_status abench_run_stop(abench_run *run)
{
    abench_status status = end_open_phase(run, 0);

    if (status == ABENCH_OK)
        status = abench__run_timeline_stop(run);
    if (status != ABENCH_OK)
        return status;
    if (!run->phases[run->phases_count - 1].timed)
        abench__run_after(run);
    abench__run_lanes_merge(run);
    return abench__run_finish(run);
}

abench_status abench_run_write(abench_run *run, int32_t fd, uint32_t format)
{
    abench_status status;

    if (format != ABENCH_FORMAT_JSONL)
        return abench__fail(&run->error, ABENCH_ERROR_ARGUMENT, "there is no format %u", format);
    if (run->state != RUN_STOPPED)
        return abench__fail(&run->error, ABENCH_ERROR_STATE, "the run has no result");
    status = abench__run_write_manifest(run, fd, &run->error);
    return status != ABENCH_OK ? status : abench__run_write_rest(run, fd, &run->error);
}
