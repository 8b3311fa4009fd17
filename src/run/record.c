/* record.c - a run as JSON Lines (schema 1, see run.h of the public headers). */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "base/text.h"
#include "histogram/histogram.h"
#include "run/run.h"

extern char **environ;

/* One line at a time is put together here and written whole. */
typedef struct writer {
    int fd;
    int failed; /* errno of the first write that failed */
    abench__text line;
    char data[65536];
} writer;

/* Writes what there is of the line. */
static void write_text(writer *w)
{
    const char *at = w->data;
    size_t left = w->line.length;

    if (w->line.truncated)
        w->failed = EMSGSIZE; /* half a record is worse than none */
    while (left > 0 && w->failed == 0) {
        const ssize_t written = write(w->fd, at, left);
        if (written < 0 && errno == EINTR)
            continue;
        if (written <= 0) {
            w->failed = written < 0 ? errno : EIO;
            break;
        }
        at += written;
        left -= (size_t)written;
    }
    abench__text_init(&w->line, w->data, sizeof w->data);
}

static void flush_line(writer *w)
{
    abench__text_put_char(&w->line, '\n');
    write_text(w);
}

/* ---- members --------------------------------------------------------------------------------- */

static void begin_record(writer *w, const char *kind)
{
    abench__text_put(&w->line, "{\"record\":");
    abench__text_put_json(&w->line, kind);
}

static void end_record(writer *w)
{
    abench__text_put_char(&w->line, '}');
    flush_line(w);
}

static void put_key(writer *w, const char *key)
{
    const char before = w->line.length == 0 ? '\0' : w->data[w->line.length - 1];

    if (before != '{' && before != '[')
        abench__text_put_char(&w->line, ',');
    abench__text_put_json(&w->line, key);
    abench__text_put_char(&w->line, ':');
}

static void put_u64(writer *w, const char *key, uint64_t value)
{
    put_key(w, key);
    abench__text_put_u64(&w->line, value);
}

static void put_text(writer *w, const char *key, const char *value)
{
    put_key(w, key);
    abench__text_put_json(&w->line, value);
}

static void put_flag(writer *w, const char *key, int value)
{
    put_key(w, key);
    abench__text_put(&w->line, value ? "true" : "false");
}

static void put_hex(writer *w, const char *key, uint64_t value)
{
    put_key(w, key);
    abench__text_put_char(&w->line, '"');
    abench__text_put_hex(&w->line, value);
    abench__text_put_char(&w->line, '"');
}

/* The fields of a reading that could be read. */
static void put_memory(writer *w, const abench_memory *memory)
{
    abench_memory_field field;

    abench_memory_field_init(&field);
    for (uint32_t at = 0; abench_memory_field_at(at, &field) == ABENCH_OK; at++) {
        uint64_t value;
        if (!(memory->valid & field.bit))
            continue;
        memcpy(&value, (const char *)memory + field.offset, sizeof value);
        put_u64(w, field.name, value);
    }
}

/* ---- the manifest ---------------------------------------------------------------------------- */

/* The command line, as far as it fits. */
static void put_command(writer *w)
{
    char data[4096];
    const int fd = open("/proc/self/cmdline", O_RDONLY | O_CLOEXEC);
    ssize_t got = 0;

    put_key(w, "command");
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

static void put_identity(writer *w, const abench_identity *identity)
{
    put_key(w, "allocator");
    abench__text_put_char(&w->line, '{');
    put_text(w, "family", identity->family);
    put_text(w, "version", identity->version);
    put_text(w, "build_id", identity->build_id);
    put_text(w, "file", identity->file);
    put_u64(w, "device", identity->device);
    put_u64(w, "inode", identity->inode);
    put_flag(w, "mixed", (identity->flags & ABENCH_IDENTITY_MIXED) != 0);
    put_flag(w, "static", (identity->flags & ABENCH_IDENTITY_STATIC) != 0);
    put_text(w, "others", identity->others);
    abench__text_put_char(&w->line, '}');
}

/* The variables that steer an allocator; names and values are cut where they are too long. */
static void put_environment(writer *w)
{
    put_key(w, "environment");
    abench__text_put_char(&w->line, '{');
    for (char **entry = environ; entry != NULL && *entry != NULL; entry++) {
        char name[64], value[512];
        const size_t length = strcspn(*entry, "=");
        if ((*entry)[length] != '=' || length >= sizeof name)
            continue;
        abench__copy(name, (uint32_t)length + 1, *entry);
        if (!abench_allocator_environment(name))
            continue;
        abench__copy(value, sizeof value, *entry + length + 1);
        put_text(w, name, value);
    }
    abench__text_put_char(&w->line, '}');
}

static void put_host(writer *w, const abench_host *host)
{
    put_key(w, "host");
    abench__text_put_char(&w->line, '{');
    put_text(w, "kernel", host->kernel);
    put_text(w, "machine", host->machine);
    put_text(w, "cpu", host->cpu);
    put_text(w, "libc", host->libc);
    put_text(w, "thp", host->thp);
    put_text(w, "governor", host->governor);
    put_text(w, "hostname", host->hostname);
    put_u64(w, "cpus_online", host->cpus_online);
    put_u64(w, "cpus_allowed", host->cpus_allowed);
    put_u64(w, "page_bytes", host->page_bytes);
    put_u64(w, "memory_bytes", host->memory_bytes);
    put_u64(w, "memory_limit_bytes", host->memory_limit_bytes);
    abench__text_put_char(&w->line, '}');
}

static void write_manifest(const abench_run *run, writer *w)
{
    begin_record(w, "manifest");
    put_u64(w, "schema", 1);
    put_text(w, "library", abench_version_string());
    put_text(w, "name", run->name[0] != '\0' ? run->name : run->workload);
    put_text(w, "nonce", run->nonce);
    put_u64(w, "unix_s", run->unix_s);
    put_u64(w, "pid", (uint64_t)getpid());
    put_command(w);
    if (run->workload[0] != '\0') {
        put_text(w, "workload", run->workload);
        put_hex(w, "plan_digest", run->plan_digest);
    }
    put_u64(w, "seed", run->options.seed);
    put_u64(w, "lanes", run->lanes);
    if (run->has_tape) {
        put_text(w, "touch", abench_touch_name(run->touch));
        put_u64(w, "slice_operations", run->options.slice_operations);
        put_u64(w, "latency_interval",
                run->options.latency_interval == ABENCH_LATENCY_OFF
                    ? 0
                    : run->options.latency_interval);
    }
    put_u64(w, "sample_us", run->options.sample_us);
    put_flag(w, "own_allocator", run->has_allocator != 0);
    put_identity(w, &run->identity);
    put_environment(w);
    put_host(w, &run->host);
    end_record(w);
}

/* ---- latencies ------------------------------------------------------------------------------- */

/* The quantiles that are metrics and lie at the machine's own floor. */
static void put_floor(const abench_run *run, uint32_t kind, writer *w)
{
    int first = 1;

    put_key(w, "floor_ppm");
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
static void put_buckets(const abench_histogram *histogram, writer *w)
{
    abench_bucket bucket;
    int first = 1;

    put_key(w, "buckets");
    abench__text_put_char(&w->line, '[');
    for (uint32_t at = 0; abench__histogram_next(histogram, &at, &bucket); first = 0) {
        if (w->line.length > sizeof w->data - 128)
            write_text(w);
        abench__text_printf(&w->line, "%s[%llu,%llu,%llu]", first ? "" : ",",
                            (unsigned long long)bucket.low, (unsigned long long)bucket.high,
                            (unsigned long long)bucket.count);
    }
    abench__text_put_char(&w->line, ']');
}

static void write_histograms(const abench_run *run, writer *w)
{
    for (uint32_t kind = 0; kind < ABENCH_LATENCY_KINDS; kind++) {
        const abench_histogram *histogram = abench_run_histogram(run, kind);
        if (histogram == NULL)
            continue;
        begin_record(w, "histogram");
        put_text(w, "name", abench_latency_name(kind));
        put_text(w, "unit", "ns");
        put_u64(w, "interval", run->has_tape ? run->options.latency_interval : 1);
        put_u64(w, "count", abench_histogram_count(histogram));
        put_u64(w, "minimum", abench_histogram_minimum(histogram));
        put_u64(w, "maximum", abench_histogram_maximum(histogram));
        put_floor(run, kind, w);
        put_buckets(histogram, w);
        end_record(w);
    }
}

/* ---- what was measured ----------------------------------------------------------------------- */

static void write_phase(const abench_run *run, uint32_t at, writer *w)
{
    const abench__run_phase *phase = &run->phases[at];

    begin_record(w, "phase");
    put_key(w, "index");
    abench__text_printf(&w->line, "%d", (int)at - 1); /* the baseline comes first */
    put_text(w, "name", phase->name);
    put_flag(w, "timed", phase->timed != 0);
    put_u64(w, "operations", phase->operations);
    put_u64(w, "time_ns", phase->time_ns);
    if (run->has_tape) {
        put_u64(w, "live_bytes", phase->live_bytes);
        put_u64(w, "live_blocks", phase->live_blocks);
    }
    if (phase->has_usable)
        put_u64(w, "usable_bytes", phase->usable_bytes);
    put_key(w, "memory");
    abench__text_put_char(&w->line, '{');
    put_memory(w, &phase->memory);
    abench__text_put_char(&w->line, '}');
    end_record(w);
}

static void write_readings(const abench_run *run, writer *w)
{
    const uint32_t count = abench_sampler_count(run->sampler);

    for (uint32_t at = 0; at < count; at++) {
        abench_memory reading;
        abench_memory_init(&reading);
        if (abench_sampler_at(run->sampler, at, &reading) != ABENCH_OK)
            continue;
        begin_record(w, "reading");
        put_u64(w, "time_ns", reading.time_ns);
        put_u64(w, "cost_ns", reading.cost_ns);
        put_memory(w, &reading);
        end_record(w);
    }
}

static void write_slice(const abench_run *run, const abench_slice *slice, writer *w)
{
    begin_record(w, "slice");
    put_u64(w, "index", slice->index);
    put_text(w, "phase", run->phases[slice->phase + 1].name); /* 0 is the baseline */
    put_u64(w, "operations", slice->operations);
    put_u64(w, "wall_ns", slice->wall_ns);
    put_u64(w, "cpu_ns", slice->cpu_ns);
    put_u64(w, "busy_ns", slice->busy_ns);
    put_u64(w, "wait_ns", slice->wait_ns);
    end_record(w);
}

static void write_metrics(const abench_run *run, writer *w)
{
    static const char *const directions[] = {"none", "lower", "higher"};
    abench_metric_info info = ABENCH_METRIC_INFO_INIT;

    for (uint32_t at = 0; abench_metric_at(at, &info) == ABENCH_OK; at++) {
        double value;
        if (abench_run_metric(run, info.name, &value) != ABENCH_OK)
            continue;
        begin_record(w, "metric");
        put_text(w, "name", info.name);
        put_text(w, "unit", info.unit);
        put_text(w, "direction", directions[info.direction]);
        put_key(w, "value");
        abench__text_put_double(&w->line, value);
        end_record(w);
    }
}

static void write_end(const abench_run *run, writer *w)
{
    const abench_receipt *r = &run->receipt;
    uint64_t planned = 0, executed = 0;

    begin_record(w, "end");
    if (run->has_tape) {
        put_hex(w, "work_digest", r->work_digest);
        put_key(w, "receipt");
        abench__text_put_char(&w->line, '{');
        for (uint32_t kind = 0; kind < ABENCH_OP_KINDS; kind++) {
            planned += r->planned[kind];
            executed += r->executed[kind];
        }
        put_u64(w, "planned", planned);
        put_u64(w, "executed", executed);
        put_u64(w, "failed", r->failed);
        put_u64(w, "bytes_requested", r->bytes_requested);
        put_u64(w, "live_bytes_end", r->live_bytes_end);
        put_u64(w, "live_blocks_end", r->live_blocks_end);
        put_u64(w, "checksum", r->checksum);
        put_u64(w, "checksum_planned", r->checksum_planned);
        put_u64(w, "waits", r->waits);
        put_u64(w, "wait_ns", r->wait_ns);
        put_u64(w, "pause_ns", r->pause_ns);
        put_u64(w, "late_ns", r->late_ns);
        put_key(w, "by_kind");
        abench__text_put_char(&w->line, '{');
        for (uint32_t kind = 1; kind < ABENCH_OP_KINDS; kind++) {
            if (r->planned[kind] == 0)
                continue;
            put_key(w, abench_op_name(kind));
            abench__text_printf(&w->line, "[%llu,%llu]", (unsigned long long)r->planned[kind],
                                (unsigned long long)r->executed[kind]);
        }
        abench__text_put(&w->line, "}}");
    }
    end_record(w);
}

static abench_status finish_writing(const writer *w, abench_error *error)
{
    if (w->failed == 0)
        return ABENCH_OK;
    return abench__fail_errno(error, w->failed, "the result cannot be written");
}

abench_status abench__run_write_manifest(const abench_run *run, int fd, abench_error *error)
{
    writer w = {.fd = fd};

    abench__text_init(&w.line, w.data, sizeof w.data);
    write_manifest(run, &w);
    return finish_writing(&w, error);
}

abench_status abench__run_write_rest(const abench_run *run, int fd, abench_error *error)
{
    writer w = {.fd = fd};

    abench__text_init(&w.line, w.data, sizeof w.data);
    for (uint32_t at = 0; at < run->phases_count; at++)
        write_phase(run, at, &w);
    write_readings(run, &w);
    for (uint32_t at = 0; at < run->slices_count; at++)
        write_slice(run, &run->slices[at], &w);
    write_histograms(run, &w);
    write_metrics(run, &w);
    for (uint32_t at = 0; at < run->warnings_count; at++) {
        begin_record(&w, "warning");
        put_text(&w, "message", run->warnings[at]);
        end_record(&w);
    }
    write_end(run, &w);
    return finish_writing(&w, error);
}
