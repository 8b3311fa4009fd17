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

SIZE(abench_account_options, 48);
FIELD(abench_account_options, struct_size, 0, 4);
FIELD(abench_account_options, flags, 4, 4);
FIELD(abench_account_options, family, 8, 8);
FIELD(abench_account_options, prefix, 16, 8);
FIELD(abench_account_options, symbol, 24, 8);
FIELD(abench_account_options, user, 32, 8);
FIELD(abench_account_options, hooks, 40, 8);

SIZE(abench_statistic, 80);
FIELD(abench_statistic, struct_size, 0, 4);
FIELD(abench_statistic, reserved, 4, 4);
FIELD(abench_statistic, value, 8, 8);
FIELD(abench_statistic, name, 16, 56);
FIELD(abench_statistic, unit, 72, 8);

SIZE(abench_setting, 264);
FIELD(abench_setting, struct_size, 0, 4);
FIELD(abench_setting, source, 4, 4);
FIELD(abench_setting, name, 8, 56);
FIELD(abench_setting, value, 64, 200);

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

SIZE(abench_receipt, 320);
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
FIELD(abench_receipt, live_bytes_peak, 312, 8);

SIZE(abench_slice, 64);
FIELD(abench_slice, struct_size, 0, 4);
FIELD(abench_slice, phase, 4, 4);
FIELD(abench_slice, index, 8, 4);
FIELD(abench_slice, last, 12, 4);
FIELD(abench_slice, operations, 16, 8);
FIELD(abench_slice, wall_ns, 24, 8);
FIELD(abench_slice, cpu_ns, 32, 8);
FIELD(abench_slice, busy_ns, 40, 8);
FIELD(abench_slice, wait_ns, 48, 8);
FIELD(abench_slice, live_bytes, 56, 8);

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

/* ---- memory.h -------------------------------------------------------------------------------- */

SIZE(abench_memory, 256);
FIELD(abench_memory, struct_size, 0, 4);
FIELD(abench_memory, reserved, 4, 4);
FIELD(abench_memory, valid, 8, 8);
FIELD(abench_memory, time_ns, 16, 8);
FIELD(abench_memory, cost_ns, 24, 8);
FIELD(abench_memory, size_bytes, 32, 8);
FIELD(abench_memory, rss_bytes, 40, 8);
FIELD(abench_memory, shared_bytes, 48, 8);
FIELD(abench_memory, rss_anon_bytes, 56, 8);
FIELD(abench_memory, rss_file_bytes, 64, 8);
FIELD(abench_memory, rss_shmem_bytes, 72, 8);
FIELD(abench_memory, hwm_bytes, 80, 8);
FIELD(abench_memory, swap_bytes, 88, 8);
FIELD(abench_memory, pss_bytes, 96, 8);
FIELD(abench_memory, private_clean_bytes, 104, 8);
FIELD(abench_memory, private_dirty_bytes, 112, 8);
FIELD(abench_memory, lazyfree_bytes, 120, 8);
FIELD(abench_memory, huge_bytes, 128, 8);
FIELD(abench_memory, minor_faults, 136, 8);
FIELD(abench_memory, major_faults, 144, 8);
FIELD(abench_memory, page_tables_bytes, 152, 8);
FIELD(abench_memory, threads, 160, 8);
FIELD(abench_memory, pss_anon_bytes, 168, 8);
FIELD(abench_memory, pss_file_bytes, 176, 8);
FIELD(abench_memory, pss_shmem_bytes, 184, 8);
FIELD(abench_memory, pss_dirty_bytes, 192, 8);
FIELD(abench_memory, swap_pss_bytes, 200, 8);
FIELD(abench_memory, locked_bytes, 208, 8);
FIELD(abench_memory, uss_bytes, 216, 8);
FIELD(abench_memory, rollup_rss_bytes, 224, 8);
FIELD(abench_memory, voluntary_switches, 232, 8);
FIELD(abench_memory, involuntary_switches, 240, 8);
FIELD(abench_memory, run_wait_ns, 248, 8);

SIZE(abench_memory_field, 40);
FIELD(abench_memory_field, struct_size, 0, 4);
FIELD(abench_memory_field, offset, 4, 4);
FIELD(abench_memory_field, bit, 8, 8);
FIELD(abench_memory_field, tier, 16, 4);
FIELD(abench_memory_field, reserved, 20, 4);
FIELD(abench_memory_field, name, 24, 8);
FIELD(abench_memory_field, unit, 32, 8);

SIZE(abench_mappings_sum, 96);
FIELD(abench_mappings_sum, struct_size, 0, 4);
FIELD(abench_mappings_sum, category, 4, 4);
FIELD(abench_mappings_sum, mappings, 8, 8);
FIELD(abench_mappings_sum, size_bytes, 16, 8);
FIELD(abench_mappings_sum, rss_bytes, 24, 8);
FIELD(abench_mappings_sum, pss_bytes, 32, 8);
FIELD(abench_mappings_sum, private_clean_bytes, 40, 8);
FIELD(abench_mappings_sum, private_dirty_bytes, 48, 8);
FIELD(abench_mappings_sum, anonymous_bytes, 56, 8);
FIELD(abench_mappings_sum, lazyfree_bytes, 64, 8);
FIELD(abench_mappings_sum, huge_bytes, 72, 8);
FIELD(abench_mappings_sum, swap_bytes, 80, 8);
FIELD(abench_mappings_sum, huge_eligible_bytes, 88, 8);

SIZE(abench_cgroup, 664);
FIELD(abench_cgroup, struct_size, 0, 4);
FIELD(abench_cgroup, version, 4, 4);
FIELD(abench_cgroup, valid, 8, 8);
FIELD(abench_cgroup, time_ns, 16, 8);
FIELD(abench_cgroup, cost_ns, 24, 8);
FIELD(abench_cgroup, current_bytes, 32, 8);
FIELD(abench_cgroup, peak_bytes, 40, 8);
FIELD(abench_cgroup, limit_bytes, 48, 8);
FIELD(abench_cgroup, high_bytes, 56, 8);
FIELD(abench_cgroup, swap_bytes, 64, 8);
FIELD(abench_cgroup, anon_bytes, 72, 8);
FIELD(abench_cgroup, file_bytes, 80, 8);
FIELD(abench_cgroup, limit_hits, 88, 8);
FIELD(abench_cgroup, high_hits, 96, 8);
FIELD(abench_cgroup, oom_events, 104, 8);
FIELD(abench_cgroup, oom_kills, 112, 8);
FIELD(abench_cgroup, cpu_quota_us, 120, 8);
FIELD(abench_cgroup, cpu_period_us, 128, 8);
FIELD(abench_cgroup, throttles, 136, 8);
FIELD(abench_cgroup, throttled_ns, 144, 8);
FIELD(abench_cgroup, memory_path, 152, 256);
FIELD(abench_cgroup, cpu_path, 408, 256);

SIZE(abench_pressure, 72);
FIELD(abench_pressure, struct_size, 0, 4);
FIELD(abench_pressure, reserved, 4, 4);
FIELD(abench_pressure, valid, 8, 8);
FIELD(abench_pressure, time_ns, 16, 8);
FIELD(abench_pressure, cpu_some_us, 24, 8);
FIELD(abench_pressure, cpu_full_us, 32, 8);
FIELD(abench_pressure, memory_some_us, 40, 8);
FIELD(abench_pressure, memory_full_us, 48, 8);
FIELD(abench_pressure, io_some_us, 56, 8);
FIELD(abench_pressure, io_full_us, 64, 8);

/* ---- sampler.h ------------------------------------------------------------------------------- */

SIZE(abench_sampler_options, 32);
FIELD(abench_sampler_options, struct_size, 0, 4);
FIELD(abench_sampler_options, tiers, 4, 4);
FIELD(abench_sampler_options, period_us, 8, 4);
FIELD(abench_sampler_options, capacity, 12, 4);
FIELD(abench_sampler_options, flags, 16, 4);
FIELD(abench_sampler_options, rollup_period_us, 20, 4);
FIELD(abench_sampler_options, hooks, 24, 8);

/* ---- machine.h ------------------------------------------------------------------------------- */

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

SIZE(abench_finding, 760);
FIELD(abench_finding, struct_size, 0, 4);
FIELD(abench_finding, verdict, 4, 4);
FIELD(abench_finding, is_key, 8, 4);
FIELD(abench_finding, reserved, 12, 4);
FIELD(abench_finding, name, 16, 32);
FIELD(abench_finding, value, 48, 200);
FIELD(abench_finding, why, 248, 256);
FIELD(abench_finding, advice, 504, 256);

SIZE(abench_doctor_options, 24);
FIELD(abench_doctor_options, struct_size, 0, 4);
FIELD(abench_doctor_options, window_ms, 4, 4);
FIELD(abench_doctor_options, root, 8, 8);
FIELD(abench_doctor_options, hooks, 16, 8);

SIZE(abench_machine, 160);
FIELD(abench_machine, struct_size, 0, 4);
FIELD(abench_machine, valid, 4, 4);
FIELD(abench_machine, time_ns, 8, 8);
FIELD(abench_machine, cpu_total_ticks, 16, 8);
FIELD(abench_machine, cpu_idle_ticks, 24, 8);
FIELD(abench_machine, steal_ticks, 32, 8);
FIELD(abench_machine, runnable, 40, 8);
FIELD(abench_machine, cpu_some_us, 48, 8);
FIELD(abench_machine, memory_some_us, 56, 8);
FIELD(abench_machine, io_some_us, 64, 8);
FIELD(abench_machine, throttles, 72, 8);
FIELD(abench_machine, swapped_pages, 80, 8);
FIELD(abench_machine, oom_kills, 88, 8);
FIELD(abench_machine, memory_limit_bytes, 96, 8);
FIELD(abench_machine, spin_ns, 104, 8);
FIELD(abench_machine, cpus_online, 112, 4);
FIELD(abench_machine, cpus_allowed, 116, 4);
FIELD(abench_machine, thp, 120, 16);
FIELD(abench_machine, governor, 136, 24);

/* ---- run.h ----------------------------------------------------------------------------------- */

SIZE(abench_run_options, 96);
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
FIELD(abench_run_options, settle_s, 56, 4);
FIELD(abench_run_options, flags, 60, 4);
FIELD(abench_run_options, name, 64, 8);
FIELD(abench_run_options, result_path, 72, 8);
FIELD(abench_run_options, nonce, 80, 8);
FIELD(abench_run_options, hooks, 88, 8);

SIZE(abench_metric_info, 32);
FIELD(abench_metric_info, struct_size, 0, 4);
FIELD(abench_metric_info, direction, 4, 4);
FIELD(abench_metric_info, name, 8, 8);
FIELD(abench_metric_info, unit, 16, 8);
FIELD(abench_metric_info, summary, 24, 8);

/* ---- statistics.h ---------------------------------------------------------------------------- */

SIZE(abench_interval, 40);
FIELD(abench_interval, struct_size, 0, 4);
FIELD(abench_interval, count, 4, 4);
FIELD(abench_interval, estimate, 8, 8);
FIELD(abench_interval, low, 16, 8);
FIELD(abench_interval, high, 24, 8);
FIELD(abench_interval, coverage, 32, 8);

SIZE(abench_compare_options, 32);
FIELD(abench_compare_options, struct_size, 0, 4);
FIELD(abench_compare_options, higher_is_better, 4, 4);
FIELD(abench_compare_options, comparisons, 8, 4);
FIELD(abench_compare_options, looks, 12, 4);
FIELD(abench_compare_options, alpha, 16, 8);
FIELD(abench_compare_options, threshold, 24, 8);

SIZE(abench_comparison, 48);
FIELD(abench_comparison, struct_size, 0, 4);
FIELD(abench_comparison, verdict, 4, 4);
FIELD(abench_comparison, rounds, 8, 4);
FIELD(abench_comparison, rounds_needed, 12, 4);
FIELD(abench_comparison, ratio, 16, 8);
FIELD(abench_comparison, low, 24, 8);
FIELD(abench_comparison, high, 32, 8);
FIELD(abench_comparison, threshold, 40, 8);
