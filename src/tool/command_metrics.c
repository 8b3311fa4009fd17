#include "tool/command_metrics.h"

#include <string.h>

#include <allocbench/run.h>

#define LOWER ABENCH_DIRECTION_LOWER
#define NONE  ABENCH_DIRECTION_NONE

static const command_metric_info all[] = {
    {"wall_ns", "ns", LOWER,
     "from its start to its end; not of --interleave, where it mostly waits"},
    {"user_ns", "ns", LOWER, "CPU time in user mode, of all its processes that were waited for"},
    {"system_ns", "ns", LOWER, "CPU time in the kernel, of the same"},
    {"cpu_ns", "ns", LOWER, "user_ns + system_ns"},
    {"peak_rss_bytes", "bytes", LOWER,
     "peak RSS of its largest process (ru_maxrss by a small parent)"},
    {"peak_tree_rss_bytes", "bytes", LOWER,
     "largest sum of RSS over its process tree, by readings"},
    {"peak_tree_pss_bytes", "bytes", LOWER,
     "largest sum of PSS over its process tree, where a reading fell near the peak"},
    {"hwm_bytes", "bytes", NONE,
     "largest VmHWM that the probe told at an exit: checks peak_rss_bytes"},
    {"rss_floor_bytes", "bytes", NONE, "RSS of the spawner's child before the program began"},
    {"minor_faults", "count", LOWER, "minor faults of all its processes that were waited for"},
    {"major_faults", "count", LOWER, "major faults of the same"},
    {"voluntary_switches", "count", NONE, "context switches by waiting, of the same"},
    {"involuntary_switches", "count", NONE, "context switches by preemption, of the same"},
    {"exit_status", "count", NONE, "128 + the signal where one killed it"},
    {"processes_seen", "count", NONE, "processes that were seen in its tree"},
    {"images_reported", "count", NONE, "programs in the tree whose probe told who serves malloc"},
    {"images_unseen", "count", NONE, "processes whose probe told nothing"},
    {"output_bytes", "bytes", NONE,
     "what it printed: targets that print other than the others did other work"},
};

const command_metric_info *command_metric_at(uint32_t index)
{
    return index < sizeof all / sizeof *all ? &all[index] : NULL;
}

const command_metric_info *command_metric_find(const char *name)
{
    for (uint32_t i = 0; i < sizeof all / sizeof *all; i++) {
        if (strcmp(all[i].name, name) == 0)
            return &all[i];
    }
    return NULL;
}
