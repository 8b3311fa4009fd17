#include "tool/tape_print.h"

#include <inttypes.h>
#include <jansson.h>
#include <stdlib.h>

#include "tool/json_text.h"
#include "tool/report/format.h"

/* ---- operations ------------------------------------------------------------------------------ */

static void print_slot(const abench_operation *op, FILE *out)
{
    if (op->kind > ABENCH_OP_TOUCH)
        fputs("-\t-\t", out);
    else
        fprintf(out, "%s%" PRIu32 "\t", op->slot & ABENCH_SLOT_SHARED ? "shared " : "",
                op->slot & ~ABENCH_SLOT_SHARED);
    if (op->kind == ABENCH_OP_FREE)
        fputs("-\t", out);
    else if (op->kind <= ABENCH_OP_TOUCH)
        fprintf(out, "%" PRIu64 "\t", op->size);
}

static void print_detail(const abench_operation *op, FILE *out)
{
    switch (op->kind) {
    case ABENCH_OP_PHASE:
        fprintf(out, "%s%s\n", op->phase_name, op->flags & ABENCH_PHASE_TIMED ? ", timed" : "");
        break;
    case ABENCH_OP_PAUSE:
        fprintf(out, op->pace ? "until %" PRIu64 " us after the pace before\n" : "%" PRIu64 " us\n",
                op->microseconds);
        break;
    case ABENCH_OP_ALIGNED_ALLOC:
        fprintf(out, "alignment %" PRIu64, op->alignment);
        fprintf(out, op->slot & ABENCH_SLOT_SHARED ? ", generation %" PRIu32 "\n" : "\n",
                op->generation);
        break;
    default:
        if (op->kind <= ABENCH_OP_TOUCH && op->slot & ABENCH_SLOT_SHARED)
            fprintf(out, "generation %" PRIu32 "\n", op->generation);
        else
            fputs("-\n", out);
        break;
    }
}

abench_status tape_print_operations(const abench_tape *tape, uint64_t limit, FILE *out)
{
    abench_operation op = ABENCH_OPERATION_INIT;
    abench_tape_cursor *cursor = NULL;
    abench_status status = abench_tape_cursor_create(tape, &cursor);

    if (status == ABENCH_OK)
        fputs("ordinal\tlane\toperation\tslot\tsize\tdetail\n", out);
    for (uint64_t at = 0; status == ABENCH_OK && (limit == 0 || at < limit); at++) {
        status = abench_tape_next(cursor, &op);
        if (status != ABENCH_OK)
            break;
        fprintf(out, "%" PRIu64 "\t%" PRIu32 "\t%s\t", op.ordinal, op.lane,
                abench_op_name(op.kind));
        print_slot(&op, out);
        print_detail(&op, out);
        if (ferror(out))
            break;
    }
    abench_tape_cursor_destroy(cursor);
    return status == ABENCH_ERROR_NOT_FOUND ? ABENCH_OK : status;
}

/* ---- the summary, for people ----------------------------------------------------------------- */

static double percent(uint64_t part, uint64_t whole)
{
    return whole == 0 ? 0 : 100.0 * (double)part / (double)whole;
}

/* "12.3 MiB"; in bytes below 1 KiB. */
static void print_bytes(uint64_t bytes, FILE *out)
{
    const format_unit unit = format_scale("bytes", (double)bytes);

    fprintf(out, "%.*f %s", bytes < 1024 ? 0 : 1, (double)bytes / unit.divisor, unit.name);
}

static uint64_t allocations_of(const abench_tape_summary *s)
{
    uint64_t count = 0;

    for (uint32_t kind = ABENCH_OP_MALLOC; kind <= ABENCH_OP_REALLOC; kind++)
        count += s->by_kind[kind];
    return count;
}

static uint64_t mean_size(const abench_tape_summary *s)
{
    const uint64_t count = allocations_of(s);

    return count == 0 ? 0 : s->bytes_requested / count;
}

static void print_kinds(const abench_tape_summary *s, FILE *out)
{
    fprintf(out, "operations       %" PRIu64 " in ", s->operations);
    print_bytes(s->words * 8, out);
    fputs(" of words\n", out);
    for (uint32_t kind = 1; kind < ABENCH_OP_KINDS; kind++)
        if (s->by_kind[kind] > 0)
            fprintf(out, "  %-14s %12" PRIu64 "  %5.1f %%\n", abench_op_name(kind),
                    s->by_kind[kind], percent(s->by_kind[kind], s->operations));
}

static void print_memory(const abench_tape_summary *s, FILE *out)
{
    const uint64_t frees = s->by_kind[ABENCH_OP_FREE] + s->by_kind[ABENCH_OP_FREE_SIZED];

    fprintf(out,
            "sizes            %" PRIu64 " ... %" PRIu64 ", median %" PRIu64 ", mean %" PRIu64
            " bytes; ",
            s->size_minimum, s->size_maximum, s->size_median, mean_size(s));
    print_bytes(s->bytes_requested, out);
    fputs(" in all\nlive peak        ", out);
    print_bytes(s->live_bytes_peak, out);
    fprintf(out, " (%" PRIu64 " blocks)\nlive at the end  ", s->live_blocks_peak);
    print_bytes(s->live_bytes_end, out);
    fprintf(out, " (%" PRIu64 " blocks)\n", s->live_blocks_end);
    fprintf(out, "median lifetime  %" PRIu64 " operations\n", s->lifetime_median);
    fprintf(out, "cross-lane frees %" PRIu64 ", %.1f %% of the frees\n", s->cross_lane_frees,
            percent(s->cross_lane_frees, frees));
}

static int32_t print_phase(const abench_phase *phase, void *user)
{
    FILE *out = user;

    fprintf(out, "  %-14s %12" PRIu64 " operations%s; at its end ", phase->name, phase->operations,
            phase->flags & ABENCH_PHASE_TIMED ? ", timed" : "");
    print_bytes(phase->live_bytes_end, out);
    fprintf(out, " live (%" PRIu64 " blocks)\n", phase->live_blocks_end);
    return 0;
}

abench_status tape_print_summary(const abench_tape *tape, const tape_origin *origin, FILE *out)
{
    abench_tape_summary s = ABENCH_TAPE_SUMMARY_INIT;
    const abench_status status = abench_tape_get_summary(tape, &s);
    char *name;

    if (status != ABENCH_OK)
        return status;
    name = format_terminal(origin->text, 0);
    fprintf(out, "%-16s %s\n", origin->is_workload ? "workload" : "file", name);
    free(name);
    if (origin->is_workload)
        fprintf(out, "seed             %" PRIu64 "\nplan digest      %016" PRIx64 "\n",
                origin->seed, origin->plan_digest);
    fprintf(out, "work digest      %016" PRIx64 "\n", abench_tape_digest(tape));
    fprintf(out,
            "lanes            %" PRIu32 "\nslots            %" PRIu32 " a lane, %" PRIu32
            " shared\ntouched          %s\n",
            s.lanes, s.local_slots, s.shared_slots, abench_touch_name(s.touch));
    print_kinds(&s, out);
    print_memory(&s, out);
    fputs("phases\n", out);
    return abench_tape_each_phase(tape, print_phase, out);
}

/* ---- the summary, for programs --------------------------------------------------------------- */

static void set_count(json_t *object, const char *name, uint64_t value)
{
    json_object_set_new(object, name, json_integer((json_int_t)value));
}

static void set_digest(json_t *object, const char *name, uint64_t value)
{
    json_object_set_new(object, name, json_sprintf("%016" PRIx64, value));
}

static int32_t append_phase(const abench_phase *phase, void *user)
{
    json_t *item = json_object();

    json_object_set_new(item, "name", json_string(phase->name));
    json_object_set_new(item, "timed", json_boolean(phase->flags & ABENCH_PHASE_TIMED));
    set_count(item, "operations", phase->operations);
    set_count(item, "live_bytes_end", phase->live_bytes_end);
    set_count(item, "live_blocks_end", phase->live_blocks_end);
    return json_array_append_new(user, item);
}

static void set_summary(json_t *object, const abench_tape_summary *s)
{
    json_t *kinds = json_object();

    set_count(object, "version", s->version);
    set_count(object, "lanes", s->lanes);
    json_object_set_new(object, "touch", json_string(abench_touch_name(s->touch)));
    set_count(object, "local_slots", s->local_slots);
    set_count(object, "shared_slots", s->shared_slots);
    set_count(object, "operations", s->operations);
    for (uint32_t kind = 1; kind < ABENCH_OP_KINDS; kind++)
        set_count(kinds, abench_op_name(kind), s->by_kind[kind]);
    json_object_set_new(object, "by_kind", kinds);
    set_count(object, "words", s->words);
    set_count(object, "bytes_requested", s->bytes_requested);
    set_count(object, "size_minimum", s->size_minimum);
    set_count(object, "size_maximum", s->size_maximum);
    set_count(object, "size_median", s->size_median);
    set_count(object, "size_mean", mean_size(s));
    set_count(object, "live_bytes_peak", s->live_bytes_peak);
    set_count(object, "live_blocks_peak", s->live_blocks_peak);
    set_count(object, "live_bytes_end", s->live_bytes_end);
    set_count(object, "live_blocks_end", s->live_blocks_end);
    set_count(object, "lifetime_median", s->lifetime_median);
    set_count(object, "cross_lane_frees", s->cross_lane_frees);
}

abench_status tape_print_json(const abench_tape *tape, const tape_origin *origin, FILE *out)
{
    abench_tape_summary s = ABENCH_TAPE_SUMMARY_INIT;
    const abench_status status = abench_tape_get_summary(tape, &s);
    json_t *object, *phases;

    if (status != ABENCH_OK)
        return status;
    object = json_object();
    phases = json_array();
    json_object_set_new(object, origin->is_workload ? "workload" : "file", json_text(origin->text));
    if (origin->is_workload) {
        json_object_set_new(object, "seed", json_sprintf("%" PRIu64, origin->seed));
        set_digest(object, "plan_digest", origin->plan_digest);
    }
    set_digest(object, "work_digest", abench_tape_digest(tape));
    set_summary(object, &s);
    abench_tape_each_phase(tape, append_phase, phases);
    json_object_set_new(object, "phases", phases);
    json_dumpf(object, out, JSON_INDENT(2));
    fputc('\n', out);
    json_decref(object);
    return ABENCH_OK;
}
