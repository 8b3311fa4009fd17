/* record.c - a run as JSON Lines (schema 1, see run.h of the public headers). */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "base/text.h"
#include "histogram/histogram.h"
#include "run/run.h"
#include "run/writer.h"

extern char **environ;

/* ---- the manifest ---------------------------------------------------------------------------- */

/* The command line, as far as it fits. */
static void put_command(abench__writer *w)
{
    char data[4096];
    const int fd = open("/proc/self/cmdline", O_RDONLY | O_CLOEXEC);
    ssize_t got = 0;

    abench__put_key(w, "command");
    abench__text_put_char(&w->line, '[');
    if (fd >= 0) {
        got = read(fd, data, sizeof data - 1);
        close(fd);
    }
    if (got < 0)
        got = 0;
    data[got] = '\0';
    for (ssize_t at = 0; at < got; at += (ssize_t)strlen(data + at) + 1) {
        if (at > 0)
            abench__text_put_char(&w->line, ',');
        abench__text_put_json(&w->line, data + at);
    }
    abench__text_put_char(&w->line, ']');
}

static void put_identity(abench__writer *w, const abench_identity *identity)
{
    abench__put_open(w, "allocator");
    abench__put_text(w, "family", identity->family);
    abench__put_text(w, "version", identity->version);
    abench__put_text(w, "build_id", identity->build_id);
    abench__put_text(w, "file", identity->file);
    abench__put_u64(w, "device", identity->device);
    abench__put_u64(w, "inode", identity->inode);
    abench__put_flag(w, "mixed", (identity->flags & ABENCH_IDENTITY_MIXED) != 0);
    abench__put_flag(w, "static", (identity->flags & ABENCH_IDENTITY_STATIC) != 0);
    abench__put_text(w, "others", identity->others);
    abench__put_close(w);
}

/* The variables that steer an allocator; names and values are cut where they are too long. */
static void put_environment(abench__writer *w)
{
    abench__put_open(w, "environment");
    for (char **entry = environ; entry != NULL && *entry != NULL; entry++) {
        char name[64], value[512];
        const size_t length = strcspn(*entry, "=");
        if ((*entry)[length] != '=' || length >= sizeof name)
            continue;
        abench__copy(name, (uint32_t)length + 1, *entry);
        if (!abench_allocator_environment(name))
            continue;
        abench__copy(value, sizeof value, *entry + length + 1);
        abench__write_part(w, 8 * sizeof value);
        abench__put_text(w, name, value);
    }
    abench__put_close(w);
}

/* What the allocator itself says is in force. */
static void put_settings(const abench_run *run, abench__writer *w)
{
    abench_setting setting = ABENCH_SETTING_INIT;

    abench__put_open(w, "settings");
    for (uint32_t at = 0;
         run->account.account != NULL &&
         abench_account_setting_at(run->account.account, at, &setting) == ABENCH_OK;
         at++) {
        if (setting.source == ABENCH_SETTING_ENVIRONMENT)
            continue; /* stands above */
        abench__put_text(w, setting.name, setting.value);
        abench__write_part(w, 8 * sizeof setting);
    }
    abench__put_close(w);
}

static void put_host(abench__writer *w, const abench_host *host)
{
    abench__put_open(w, "host");
    abench__put_text(w, "kernel", host->kernel);
    abench__put_text(w, "machine", host->machine);
    abench__put_text(w, "cpu", host->cpu);
    abench__put_text(w, "libc", host->libc);
    abench__put_text(w, "thp", host->thp);
    abench__put_text(w, "governor", host->governor);
    abench__put_text(w, "hostname", host->hostname);
    abench__put_u64(w, "cpus_online", host->cpus_online);
    abench__put_u64(w, "cpus_allowed", host->cpus_allowed);
    abench__put_u64(w, "page_bytes", host->page_bytes);
    abench__put_u64(w, "memory_bytes", host->memory_bytes);
    abench__put_u64(w, "memory_limit_bytes", host->memory_limit_bytes);
    abench__put_close(w);
}

static void write_manifest(const abench_run *run, abench__writer *w)
{
    abench__begin_record(w, "manifest");
    abench__put_u64(w, "schema", 1);
    abench__put_text(w, "library", abench_version_string());
    abench__put_text(w, "name", run->name[0] != '\0' ? run->name : run->workload);
    abench__put_text(w, "nonce", run->nonce);
    abench__put_u64(w, "unix_s", run->unix_s);
    abench__put_u64(w, "pid", (uint64_t)getpid());
    put_command(w);
    if (run->workload[0] != '\0') {
        abench__put_text(w, "workload", run->workload);
        abench__put_hex(w, "plan_digest", run->plan_digest);
    }
    abench__put_u64(w, "seed", run->options.seed);
    abench__put_u64(w, "lanes", run->lanes);
    if (run->has_tape) {
        abench__put_text(w, "touch", abench_touch_name(run->touch));
        abench__put_u64(w, "slice_operations", run->options.slice_operations);
        abench__put_u64(w, "latency_interval",
                        run->options.latency_interval == ABENCH_LATENCY_OFF
                            ? 0
                            : run->options.latency_interval);
    }
    abench__put_u64(w, "sample_us", run->options.sample_us);
    abench__put_text(w, "sampler", abench_sampler_is_process(run->sampler) ? "process" : "thread");
    abench__put_flag(w, "own_allocator", run->has_allocator != 0);
    put_identity(w, &run->identity);
    put_environment(w);
    put_settings(run, w);
    put_host(w, &run->host);
    abench__end_record(w);
}

/* ---- latencies ------------------------------------------------------------------------------- */

/* The quantiles that are metrics and lie at the machine's own floor. */
static void put_floor(const abench_run *run, uint32_t kind, abench__writer *w)
{
    int first = 1;

    abench__put_key(w, "floor_ppm");
    abench__text_put_char(&w->line, '[');
    for (uint32_t at = 0; at < RUN_QUANTILES && run->latency != NULL; at++) {
        if (!abench_latency_at_floor(run->latency, kind, abench__run_quantiles[at]))
            continue;
        if (!first)
            abench__text_put_char(&w->line, ',');
        abench__text_put_u64(&w->line, abench__run_quantiles[at]);
        first = 0;
    }
    abench__text_put_char(&w->line, ']');
}

/* They may not fit into the line's buffer: the line is written in parts. */
static void put_buckets(const abench_histogram *histogram, abench__writer *w)
{
    abench_bucket bucket;
    int first = 1;

    abench__put_key(w, "buckets");
    abench__text_put_char(&w->line, '[');
    for (uint32_t at = 0; abench__histogram_next(histogram, &at, &bucket); first = 0) {
        abench__write_part(w, 128);
        abench__text_printf(&w->line, "%s[%llu,%llu,%llu]", first ? "" : ",",
                            (unsigned long long)bucket.low, (unsigned long long)bucket.high,
                            (unsigned long long)bucket.count);
    }
    abench__text_put_char(&w->line, ']');
}

static void write_histograms(const abench_run *run, abench__writer *w)
{
    for (uint32_t kind = 0; kind < ABENCH_LATENCY_KINDS; kind++) {
        const abench_histogram *histogram = abench_run_histogram(run, kind);
        if (histogram == NULL)
            continue;
        abench__begin_record(w, "histogram");
        abench__put_text(w, "name", abench_latency_name(kind));
        abench__put_text(w, "unit", "ns");
        abench__put_u64(w, "interval", run->has_tape ? run->options.latency_interval : 1);
        abench__put_u64(w, "count", abench_histogram_count(histogram));
        abench__put_u64(w, "minimum", abench_histogram_minimum(histogram));
        abench__put_u64(w, "maximum", abench_histogram_maximum(histogram));
        put_floor(run, kind, w);
        put_buckets(histogram, w);
        abench__end_record(w);
    }
}

/* ---- what was measured ----------------------------------------------------------------------- */

/* The memory and the account of a reading. */
static void put_reading(const abench_run *run, const abench__run_phase *phase, abench__writer *w)
{
    abench__put_open(w, "memory");
    abench__put_memory(w, &phase->memory);
    abench__put_close(w);
    if (phase->account_valid == 0)
        return;
    abench__put_open(w, "account");
    for (uint32_t at = 0; at < run->account.count; at++)
        if (phase->account_valid >> at & 1)
            abench__put_u64(w, run->account.names[at], phase->account[at]);
    abench__put_close(w);
    abench__put_u64(w, "account_ns", phase->account_ns);
}

static void write_phase(const abench_run *run, uint32_t at, abench__writer *w)
{
    const abench__run_phase *phase = &run->phases[at];

    abench__begin_record(w, "phase");
    abench__put_key(w, "index");
    abench__text_printf(&w->line, "%d", (int)at - 1); /* the baseline comes first */
    abench__put_text(w, "name", phase->name);
    abench__put_flag(w, "timed", phase->timed != 0);
    abench__put_u64(w, "operations", phase->operations);
    abench__put_u64(w, "time_ns", phase->time_ns);
    if (run->has_tape) {
        abench__put_u64(w, "live_bytes", phase->live_bytes);
        abench__put_u64(w, "live_blocks", phase->live_blocks);
    }
    if (phase->has_usable)
        abench__put_u64(w, "usable_bytes", phase->usable_bytes);
    put_reading(run, phase, w);
    abench__end_record(w);
}

static void write_after(const abench_run *run, const abench__run_phase *after, abench__writer *w)
{
    abench__begin_record(w, "after");
    abench__put_text(w, "name", after->name);
    if (strcmp(after->name, RUN_PURGED) == 0) {
        abench__put_text(w, "call", abench_account_purge_call(run->account.account));
        abench__put_u64(w, "call_ns", run->purge_ns);
    }
    put_reading(run, after, w);
    abench__end_record(w);
}

static void write_readings(const abench_run *run, abench__writer *w)
{
    const uint32_t count = abench_sampler_count(run->sampler);

    for (uint32_t at = 0; at < count; at++) {
        abench_memory reading;
        abench_memory_init(&reading);
        if (abench_sampler_at(run->sampler, at, &reading) != ABENCH_OK)
            continue;
        abench__begin_record(w, "reading");
        abench__put_u64(w, "time_ns", reading.time_ns);
        abench__put_u64(w, "cost_ns", reading.cost_ns);
        abench__put_memory(w, &reading);
        abench__end_record(w);
    }
}

static void write_slice(const abench_run *run, const abench_slice *slice, abench__writer *w)
{
    abench__begin_record(w, "slice");
    abench__put_u64(w, "index", slice->index);
    abench__put_text(w, "phase", run->phases[slice->phase + 1].name); /* 0 is the baseline */
    abench__put_u64(w, "operations", slice->operations);
    abench__put_u64(w, "wall_ns", slice->wall_ns);
    abench__put_u64(w, "cpu_ns", slice->cpu_ns);
    abench__put_u64(w, "busy_ns", slice->busy_ns);
    abench__put_u64(w, "wait_ns", slice->wait_ns);
    abench__put_u64(w, "live_bytes", slice->live_bytes);
    if (run->slices_rss[slice - run->slices] != RUN_RSS_UNKNOWN)
        abench__put_u64(w, "rss_bytes", run->slices_rss[slice - run->slices]);
    abench__end_record(w);
}

static void write_metrics(const abench_run *run, abench__writer *w)
{
    static const char *const directions[] = {"none", "lower", "higher"};
    abench_metric_info info = ABENCH_METRIC_INFO_INIT;

    for (uint32_t at = 0; abench_metric_at(at, &info) == ABENCH_OK; at++) {
        double value;
        if (abench_run_metric(run, info.name, &value) != ABENCH_OK)
            continue;
        abench__begin_record(w, "metric");
        abench__put_text(w, "name", info.name);
        abench__put_text(w, "unit", info.unit);
        abench__put_text(w, "direction", directions[info.direction]);
        abench__put_double(w, "value", value);
        abench__end_record(w);
    }
}

static void write_end(const abench_run *run, abench__writer *w)
{
    const abench_receipt *r = &run->receipt;
    uint64_t planned = 0, executed = 0;

    abench__begin_record(w, "end");
    if (run->has_tape) {
        abench__put_hex(w, "work_digest", r->work_digest);
        abench__put_key(w, "receipt");
        abench__text_put_char(&w->line, '{');
        for (uint32_t kind = 0; kind < ABENCH_OP_KINDS; kind++) {
            planned += r->planned[kind];
            executed += r->executed[kind];
        }
        abench__put_u64(w, "planned", planned);
        abench__put_u64(w, "executed", executed);
        abench__put_u64(w, "failed", r->failed);
        abench__put_u64(w, "bytes_requested", r->bytes_requested);
        abench__put_u64(w, "live_bytes_end", r->live_bytes_end);
        abench__put_u64(w, "live_blocks_end", r->live_blocks_end);
        abench__put_u64(w, "checksum", r->checksum);
        abench__put_u64(w, "checksum_planned", r->checksum_planned);
        abench__put_u64(w, "waits", r->waits);
        abench__put_u64(w, "wait_ns", r->wait_ns);
        abench__put_u64(w, "pause_ns", r->pause_ns);
        abench__put_u64(w, "late_ns", r->late_ns);
        abench__put_key(w, "by_kind");
        abench__text_put_char(&w->line, '{');
        for (uint32_t kind = 1; kind < ABENCH_OP_KINDS; kind++) {
            if (r->planned[kind] == 0)
                continue;
            abench__put_key(w, abench_op_name(kind));
            abench__text_printf(&w->line, "[%llu,%llu]", (unsigned long long)r->planned[kind],
                                (unsigned long long)r->executed[kind]);
        }
        abench__text_put(&w->line, "}}");
    }
    abench__end_record(w);
}

static abench_status finish_writing(const abench__writer *w, abench_error *error)
{
    if (w->failed == 0)
        return ABENCH_OK;
    return abench__fail_errno(error, w->failed, "the result cannot be written");
}

abench_status abench__run_write_manifest(const abench_run *run, int fd, abench_error *error)
{
    abench__writer w;

    abench__writer_init(&w, fd);
    write_manifest(run, &w);
    return finish_writing(&w, error);
}

abench_status abench__run_write_rest(const abench_run *run, int fd, abench_error *error)
{
    abench__writer w;

    abench__writer_init(&w, fd);
    for (uint32_t at = 0; at < run->phases_count; at++)
        write_phase(run, at, &w);
    for (uint32_t at = 0; at < run->after_count; at++)
        write_after(run, &run->after[at], &w);
    abench__write_machine(&run->machine_before, &run->machine_after, &w);
    write_readings(run, &w);
    for (uint32_t at = 0; at < run->slices_count; at++)
        write_slice(run, &run->slices[at], &w);
    write_histograms(run, &w);
    write_metrics(run, &w);
    for (uint32_t at = 0; at < run->warnings_count; at++) {
        abench__begin_record(&w, "warning");
        abench__put_text(&w, "message", run->warnings[at]);
        abench__end_record(&w);
    }
    write_end(run, &w);
    return finish_writing(&w, error);
}
