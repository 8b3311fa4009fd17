/* record_machine.c - what the machine did during a run, as a record. */
#include "run/writer.h"

#include "run/run.h"

static void put_ticks(const abench_machine *m, abench__writer *w)
{
    if (m->valid & ABENCH_MACHINE_CPU) {
        abench__put_u64(w, "cpu_total_ticks", m->cpu_total_ticks);
        abench__put_u64(w, "cpu_idle_ticks", m->cpu_idle_ticks);
        abench__put_u64(w, "steal_ticks", m->steal_ticks);
    }
    if (m->valid & ABENCH_MACHINE_LOAD)
        abench__put_u64(w, "runnable", m->runnable);
    if (m->valid & ABENCH_MACHINE_PRESSURE) {
        abench__put_u64(w, "cpu_some_us", m->cpu_some_us);
        abench__put_u64(w, "memory_some_us", m->memory_some_us);
        abench__put_u64(w, "io_some_us", m->io_some_us);
    }
}

static void put_counters(const char *key, const abench_machine *m, abench__writer *w)
{
    abench__put_open(w, key);
    abench__put_u64(w, "time_ns", m->time_ns);
    put_ticks(m, w);
    if (m->valid & ABENCH_MACHINE_THROTTLED)
        abench__put_u64(w, "throttles", m->throttles);
    if (m->valid & ABENCH_MACHINE_SWAP)
        abench__put_u64(w, "swapped_pages", m->swapped_pages);
    if (m->valid & ABENCH_MACHINE_OOM)
        abench__put_u64(w, "oom_kills", m->oom_kills);
    if (m->valid & ABENCH_MACHINE_MEMORY_LIMIT)
        abench__put_u64(w, "memory_limit_bytes", m->memory_limit_bytes);
    if (m->valid & ABENCH_MACHINE_SPIN)
        abench__put_u64(w, "spin_ns", m->spin_ns);
    if (m->valid & ABENCH_MACHINE_CPUS) {
        abench__put_u64(w, "cpus_online", m->cpus_online);
        abench__put_u64(w, "cpus_allowed", m->cpus_allowed);
    }
    if (m->valid & ABENCH_MACHINE_THP)
        abench__put_text(w, "thp", m->thp);
    if (m->valid & ABENCH_MACHINE_GOVERNOR)
        abench__put_text(w, "governor", m->governor);
    abench__put_close(w);
}

static int32_t put_change(const abench_finding *finding, void *user)
{
    abench__writer *w = user;

    abench__text_put(&w->line, w->data[w->line.length - 1] == '[' ? "{" : ",{");
    abench__put_text(w, "name", finding->name);
    abench__put_text(w, "verdict", abench_verdict_name(finding->verdict));
    abench__put_text(w, "value", finding->value);
    abench__put_close(w);
    return 0;
}

void abench__write_machine(const abench_machine *before, const abench_machine *after,
                           abench__writer *w)
{
    abench__begin_record(w, "machine");
    put_counters("before", before, w);
    put_counters("after", after, w);
    abench__put_key(w, "changes");
    abench__text_put_char(&w->line, '[');
    abench_machine_changes(before, after, put_change, w);
    abench__text_put_char(&w->line, ']');
    abench__end_record(w);
}
