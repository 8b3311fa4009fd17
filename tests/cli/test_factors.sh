#!/bin/bash
# thp=never, cpus=LIST and aslr=off reach the child, and only the target's own.
. "$(dirname "$0")/common.sh"

grep -q THP_enabled /proc/self/status || skip "this kernel does not say THP_enabled"
cpu=$(sed -n 's/^Cpus_allowed_list:[[:space:]]*\([0-9]*\).*/\1/p' /proc/self/status)
show=(sh -c 'grep -E "THP_enabled|Cpus_allowed_list" /proc/self/status
    echo "personality: $(cat /proc/self/personality)"')
tool run -t glibc -t glibc:thp=never -t "glibc:cpus=$cpu" -t glibc:aslr=off \
    -t "glibc:thp=never,aslr=off,cpus=$cpu,A=1" --rounds 1 -o here "$SMALL" -- "${show[@]}"
expect 0
py "$cpu" <<'PY'
from cells import *
all_cpus = [line.split()[1] for line in open("/proc/self/status") if "Cpus_allowed_list" in line][0]
for one, cell, lines in cells("here"):
    spec = cell["target"] or "glibc"
    thp, aslr, cpus = "thp=never" in spec, "aslr=off" in spec, "cpus=" in spec
    if one["workload"] == "w00":
        check(lines[0]["host"]["cpus_allowed"] == (1 if cpus else os.sched_getaffinity(0).__len__()),
              "%s: %d CPUs in a tape's cell" % (spec, lines[0]["host"]["cpus_allowed"]))
        continue
    said = dict(line.split(":") for line in open("here/" + cell["file"].replace(".jsonl", ".out")))
    said = {key: value.strip() for key, value in said.items()}
    check(said["THP_enabled"] == ("0" if thp else "1"), "%s: %s" % (spec, said))
    check(said["Cpus_allowed_list"] == (sys.argv[1] if cpus else all_cpus), "%s: %s" % (spec, said))
    check(bool(int(said["personality"], 16) & 0x0040000) == aslr, "%s: %s" % (spec, said))
    target = lines[0]["target"]
    check((target["thp_never"], target["aslr_off"]) == (thp, aslr), "recorded: %s" % target)
settings = {target["name"]: target["settings"] for target in matrix("here")["targets"]}
check(settings["glibc:thp=never"] == "thp=never", "settings: %s" % settings)
PY
grep -q "thp=never" here/REPORT.md || fail "REPORT.md does not name the settings"

# A CPU that is not there is told: the kernel would drop it and say nothing.
tool run "$SMALL" -t "glibc:cpus=$cpu,1000" --rounds 1 -o none
expect 4
says "CPU 1000 of its cpus is none that this process may use"
tool run "$SMALL" -t glibc --cpus "$cpu,1000" --rounds 1 -o none
expect 4
says "CPU 1000 of its cpus"
untouched none
