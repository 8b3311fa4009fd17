/* layout.c - offset and size of every field of every public struct, on 64-bit machines: what a
 * program that was compiled yesterday, and a binding in another language, rely on. Lines are only
 * ever appended to a struct (and its SIZE raised); check.py layout asks for a line for each field
 * and for no hole between them. */
#include <allocbench/allocbench.h>

#define SIZE(type, bytes) _Static_assert(sizeof(type) == (bytes), "size of " #type)
#define FIELD(type, field, offset, bytes)                                                          \
    _Static_assert(offsetof(type, field) == (offset) && sizeof(((type *)0)->field) == (bytes),     \
                   "place of " #field " in " #type)

_Static_assert(sizeof(void *) == 8, "the layout below is that of 64-bit machines");

/* ---- base.h ---------------------------------------------------------------------------------- */

SIZE(abench_error, 256);
FIELD(abench_error, struct_size, 0, 4);
FIELD(abench_error, status, 4, 4);
FIELD(abench_error, sys_errno, 8, 4);
FIELD(abench_error, line, 12, 4);
FIELD(abench_error, column, 16, 4);
FIELD(abench_error, reserved, 20, 4);
FIELD(abench_error, message, 24, 232);

SIZE(abench_memory_hooks, 32);
FIELD(abench_memory_hooks, struct_size, 0, 4);
FIELD(abench_memory_hooks, flags, 4, 4);
FIELD(abench_memory_hooks, map, 8, 8);
FIELD(abench_memory_hooks, unmap, 16, 8);
FIELD(abench_memory_hooks, user, 24, 8);

/* ---- random.h -------------------------------------------------------------------------------- */

SIZE(abench_random, 32);
FIELD(abench_random, state, 0, 32);

/* ---- allocator.h ----------------------------------------------------------------------------- */

SIZE(abench_allocator, 64);
FIELD(abench_allocator, struct_size, 0, 4);
FIELD(abench_allocator, flags, 4, 4);
FIELD(abench_allocator, malloc, 8, 8);
FIELD(abench_allocator, calloc, 16, 8);
FIELD(abench_allocator, aligned_alloc, 24, 8);
FIELD(abench_allocator, realloc, 32, 8);
FIELD(abench_allocator, free, 40, 8);
FIELD(abench_allocator, free_sized, 48, 8);
FIELD(abench_allocator, usable_size, 56, 8);

SIZE(abench_identity, 1184);
FIELD(abench_identity, struct_size, 0, 4);
FIELD(abench_identity, flags, 4, 4);
FIELD(abench_identity, device, 8, 8);
FIELD(abench_identity, inode, 16, 8);
FIELD(abench_identity, family, 24, 24);
FIELD(abench_identity, version, 48, 40);
FIELD(abench_identity, build_id, 88, 72);
FIELD(abench_identity, file, 160, 512);
FIELD(abench_identity, others, 672, 512);

/* ---- tape.h ---------------------------------------------------------------------------------- */

SIZE(abench_tape_options, 32);
FIELD(abench_tape_options, struct_size, 0, 4);
FIELD(abench_tape_options, lanes, 4, 4);
FIELD(abench_tape_options, local_slots, 8, 4);
FIELD(abench_tape_options, shared_slots, 12, 4);
FIELD(abench_tape_options, touch, 16, 4);
FIELD(abench_tape_options, flags, 20, 4);
FIELD(abench_tape_options, hooks, 24, 8);

SIZE(abench_tape_summary, 232);
FIELD(abench_tape_summary, struct_size, 0, 4);
FIELD(abench_tape_summary, version, 4, 4);
FIELD(abench_tape_summary, lanes, 8, 4);
FIELD(abench_tape_summary, touch, 12, 4);
FIELD(abench_tape_summary, local_slots, 16, 4);
FIELD(abench_tape_summary, shared_slots, 20, 4);
FIELD(abench_tape_summary, phases, 24, 4);
FIELD(abench_tape_summary, reserved, 28, 4);
FIELD(abench_tape_summary, operations, 32, 8);
FIELD(abench_tape_summary, by_kind, 40, 96);
FIELD(abench_tape_summary, words, 136, 8);
FIELD(abench_tape_summary, bytes_requested, 144, 8);
FIELD(abench_tape_summary, size_minimum, 152, 8);
FIELD(abench_tape_summary, size_maximum, 160, 8);
FIELD(abench_tape_summary, live_bytes_peak, 168, 8);
FIELD(abench_tape_summary, live_blocks_peak, 176, 8);
FIELD(abench_tape_summary, live_bytes_end, 184, 8);
FIELD(abench_tape_summary, live_blocks_end, 192, 8);
FIELD(abench_tape_summary, cross_lane_frees, 200, 8);
FIELD(abench_tape_summary, memory_bytes, 208, 8);
FIELD(abench_tape_summary, size_median, 216, 8);
FIELD(abench_tape_summary, lifetime_median, 224, 8);

SIZE(abench_phase, 64);
FIELD(abench_phase, struct_size, 0, 4);
FIELD(abench_phase, flags, 4, 4);
FIELD(abench_phase, operations, 8, 8);
FIELD(abench_phase, live_bytes_end, 16, 8);
FIELD(abench_phase, live_blocks_end, 24, 8);
FIELD(abench_phase, name, 32, 32);

SIZE(abench_operation, 96);
FIELD(abench_operation, struct_size, 0, 4);
FIELD(abench_operation, kind, 4, 4);
FIELD(abench_operation, lane, 8, 4);
FIELD(abench_operation, slot, 12, 4);
FIELD(abench_operation, size, 16, 8);
FIELD(abench_operation, alignment, 24, 8);
FIELD(abench_operation, microseconds, 32, 8);
FIELD(abench_operation, ordinal, 40, 8);
FIELD(abench_operation, generation, 48, 4);
FIELD(abench_operation, pace, 52, 4);
FIELD(abench_operation, phase, 56, 4);
FIELD(abench_operation, flags, 60, 4);
FIELD(abench_operation, phase_name, 64, 32);

SIZE(abench_receipt, 312);
FIELD(abench_receipt, struct_size, 0, 4);
FIELD(abench_receipt, reserved, 4, 4);
FIELD(abench_receipt, planned, 8, 96);
FIELD(abench_receipt, executed, 104, 96);
FIELD(abench_receipt, failed, 200, 8);
FIELD(abench_receipt, bytes_requested, 208, 8);
FIELD(abench_receipt, live_blocks_end, 216, 8);
FIELD(abench_receipt, live_bytes_end, 224, 8);
FIELD(abench_receipt, checksum_planned, 232, 8);
FIELD(abench_receipt, checksum, 240, 8);
FIELD(abench_receipt, work_digest, 248, 8);
FIELD(abench_receipt, waits, 256, 8);
FIELD(abench_receipt, wait_ns, 264, 8);
FIELD(abench_receipt, pause_ns, 272, 8);
FIELD(abench_receipt, late_ns, 280, 8);
FIELD(abench_receipt, checked, 288, 8);
FIELD(abench_receipt, faults, 296, 8);
FIELD(abench_receipt, cross_lane_frees, 304, 8);

SIZE(abench_slice, 56);
FIELD(abench_slice, struct_size, 0, 4);
FIELD(abench_slice, phase, 4, 4);
FIELD(abench_slice, index, 8, 4);
FIELD(abench_slice, last, 12, 4);
FIELD(abench_slice, operations, 16, 8);
FIELD(abench_slice, wall_ns, 24, 8);
FIELD(abench_slice, cpu_ns, 32, 8);
FIELD(abench_slice, busy_ns, 40, 8);
FIELD(abench_slice, wait_ns, 48, 8);

SIZE(abench_mark, 48);
FIELD(abench_mark, struct_size, 0, 4);
FIELD(abench_mark, phase, 4, 4);
FIELD(abench_mark, begin, 8, 4);
FIELD(abench_mark, end, 12, 4);
FIELD(abench_mark, live_bytes, 16, 8);
FIELD(abench_mark, live_blocks, 24, 8);
FIELD(abench_mark, player, 32, 8);
FIELD(abench_mark, info, 40, 8);

SIZE(abench_fault, 48);
FIELD(abench_fault, struct_size, 0, 4);
FIELD(abench_fault, fault, 4, 4);
FIELD(abench_fault, kind, 8, 4);
FIELD(abench_fault, lane, 12, 4);
FIELD(abench_fault, slot, 16, 4);
FIELD(abench_fault, reserved, 20, 4);
FIELD(abench_fault, size, 24, 8);
FIELD(abench_fault, address, 32, 8);
FIELD(abench_fault, offset, 40, 8);

SIZE(abench_player_options, 96);
FIELD(abench_player_options, struct_size, 0, 4);
FIELD(abench_player_options, flags, 4, 4);
FIELD(abench_player_options, slice_operations, 8, 8);
FIELD(abench_player_options, skew_operations, 16, 8);
FIELD(abench_player_options, watchdog_ms, 24, 8);
FIELD(abench_player_options, hooks, 32, 8);
FIELD(abench_player_options, slice, 40, 8);
FIELD(abench_player_options, mark, 48, 8);
FIELD(abench_player_options, user, 56, 8);
FIELD(abench_player_options, latency, 64, 8);
FIELD(abench_player_options, latency_interval, 72, 8);
FIELD(abench_player_options, seed, 80, 8);
FIELD(abench_player_options, fault, 88, 8);

/* ---- histogram.h ----------------------------------------------------------------------------- */

SIZE(abench_bucket, 32);
FIELD(abench_bucket, struct_size, 0, 4);
FIELD(abench_bucket, reserved, 4, 4);
FIELD(abench_bucket, low, 8, 8);
FIELD(abench_bucket, high, 16, 8);
FIELD(abench_bucket, count, 24, 8);

/* ---- workload.h ------------------------------------------------------------------------------ */

SIZE(abench_workload_info, 48);
FIELD(abench_workload_info, struct_size, 0, 4);
FIELD(abench_workload_info, version, 4, 4);
FIELD(abench_workload_info, name, 8, 8);
FIELD(abench_workload_info, summary, 16, 8);
FIELD(abench_workload_info, source, 24, 8);
FIELD(abench_workload_info, timed, 32, 8);
FIELD(abench_workload_info, touched, 40, 8);

SIZE(abench_workload_parameter, 40);
FIELD(abench_workload_parameter, struct_size, 0, 4);
FIELD(abench_workload_parameter, is_length, 4, 4);
FIELD(abench_workload_parameter, name, 8, 8);
FIELD(abench_workload_parameter, preset, 16, 8);
FIELD(abench_workload_parameter, summary, 24, 8);
FIELD(abench_workload_parameter, quick, 32, 8);

/* ---- sampler.h ------------------------------------------------------------------------------- */

SIZE(abench_memory, 144);
FIELD(abench_memory, struct_size, 0, 4);
FIELD(abench_memory, valid, 4, 4);
FIELD(abench_memory, time_ns, 8, 8);
FIELD(abench_memory, cost_ns, 16, 8);
FIELD(abench_memory, size_bytes, 24, 8);
FIELD(abench_memory, rss_bytes, 32, 8);
FIELD(abench_memory, shared_bytes, 40, 8);
FIELD(abench_memory, rss_anon_bytes, 48, 8);
FIELD(abench_memory, rss_file_bytes, 56, 8);
FIELD(abench_memory, rss_shmem_bytes, 64, 8);
FIELD(abench_memory, hwm_bytes, 72, 8);
FIELD(abench_memory, swap_bytes, 80, 8);
FIELD(abench_memory, pss_bytes, 88, 8);
FIELD(abench_memory, private_clean_bytes, 96, 8);
FIELD(abench_memory, private_dirty_bytes, 104, 8);
FIELD(abench_memory, lazyfree_bytes, 112, 8);
FIELD(abench_memory, huge_bytes, 120, 8);
FIELD(abench_memory, minor_faults, 128, 8);
FIELD(abench_memory, major_faults, 136, 8);

SIZE(abench_memory_field, 32);
FIELD(abench_memory_field, struct_size, 0, 4);
FIELD(abench_memory_field, bit, 4, 4);
FIELD(abench_memory_field, offset, 8, 4);
FIELD(abench_memory_field, reserved, 12, 4);
FIELD(abench_memory_field, name, 16, 8);
FIELD(abench_memory_field, unit, 24, 8);

SIZE(abench_sampler_options, 24);
FIELD(abench_sampler_options, struct_size, 0, 4);
FIELD(abench_sampler_options, tiers, 4, 4);
FIELD(abench_sampler_options, period_us, 8, 4);
FIELD(abench_sampler_options, capacity, 12, 4);
FIELD(abench_sampler_options, hooks, 16, 8);

/* ---- run.h ----------------------------------------------------------------------------------- */

SIZE(abench_run_options, 88);
FIELD(abench_run_options, struct_size, 0, 4);
FIELD(abench_run_options, lanes, 4, 4);
FIELD(abench_run_options, seed, 8, 8);
FIELD(abench_run_options, duration_ms, 16, 8);
FIELD(abench_run_options, warmup_ms, 24, 8);
FIELD(abench_run_options, slice_operations, 32, 8);
FIELD(abench_run_options, sample_us, 40, 4);
FIELD(abench_run_options, turn_in, 44, 4);
FIELD(abench_run_options, turn_out, 48, 4);
FIELD(abench_run_options, latency_interval, 52, 4);
FIELD(abench_run_options, name, 56, 8);
FIELD(abench_run_options, result_path, 64, 8);
FIELD(abench_run_options, nonce, 72, 8);
FIELD(abench_run_options, hooks, 80, 8);

SIZE(abench_metric_info, 32);
FIELD(abench_metric_info, struct_size, 0, 4);
FIELD(abench_metric_info, direction, 4, 4);
FIELD(abench_metric_info, name, 8, 8);
FIELD(abench_metric_info, unit, 16, 8);
FIELD(abench_metric_info, summary, 24, 8);

SIZE(abench_host, 336);
FIELD(abench_host, struct_size, 0, 4);
FIELD(abench_host, cpus_online, 4, 4);
FIELD(abench_host, cpus_allowed, 8, 4);
FIELD(abench_host, page_bytes, 12, 4);
FIELD(abench_host, memory_bytes, 16, 8);
FIELD(abench_host, memory_limit_bytes, 24, 8);
FIELD(abench_host, kernel, 32, 72);
FIELD(abench_host, machine, 104, 24);
FIELD(abench_host, cpu, 128, 72);
FIELD(abench_host, libc, 200, 24);
FIELD(abench_host, thp, 224, 16);
FIELD(abench_host, governor, 240, 24);
FIELD(abench_host, hostname, 264, 72);

SIZE(abench_workload_definition, 120);
FIELD(abench_workload_definition, struct_size, 0, 4);
FIELD(abench_workload_definition, version, 4, 4);
FIELD(abench_workload_definition, name, 8, 8);
FIELD(abench_workload_definition, summary, 16, 8);
FIELD(abench_workload_definition, source, 24, 8);
FIELD(abench_workload_definition, timed, 32, 8);
FIELD(abench_workload_definition, touched, 40, 8);
FIELD(abench_workload_definition, parameters, 48, 8);
FIELD(abench_workload_definition, quick, 56, 8);
FIELD(abench_workload_definition, state_bytes, 64, 8);
FIELD(abench_workload_definition, shape, 72, 8);
FIELD(abench_workload_definition, begin, 80, 8);
FIELD(abench_workload_definition, fill, 88, 8);
FIELD(abench_workload_definition, operations, 96, 8);
FIELD(abench_workload_definition, live_bytes, 104, 8);
FIELD(abench_workload_definition, user, 112, 8);
