#!/bin/bash
# --sweep and --lanes vary one thing and leave the rest alone; --cpus holds for every target.
. "$(dirname "$0")/common.sh"
needs_jemalloc

tool run -o lanes -r 1 -t glibc --no-floor --lanes 1,2 mixed:slots=64,steps=20000 "$SMALL"
expect 0
says "$SMALL: its spec names its lanes, so --lanes does not vary it"
py <<'PY'
from cells import *
whole = matrix("lanes")
check([w["label"] for w in whole["workloads"]] ==
      ["mixed:lanes=1,slots=64,steps=20000", "mixed:lanes=2,slots=64,steps=20000",
       "mixed:lanes=1,slots=64,steps=20000"], "workloads: %s" % whole["workloads"])
check([lines[0]["lanes"] for one, cell, lines in cells("lanes")] == [1, 1, 2, 2, 1, 1], "lanes")
PY

tool run -o knobs -r 1 -t glibc -t jemalloc --sweep MALLOC_CONF=dirty_decay_ms:0,narenas:1\;narenas:2 \
    --sweep slots=64,128 mixed:steps=20000,lanes=1
expect 0
py <<'PY'
from cells import *
whole = matrix("knobs")
check([t["name"] for t in whole["targets"]] ==
      ["glibc", "jemalloc:MALLOC_CONF=dirty_decay_ms:0,narenas:1",
       "jemalloc:MALLOC_CONF=narenas:2"], "targets: %s" % [t["name"] for t in whole["targets"]])
check([w["label"] for w in whole["workloads"]] ==
      ["mixed:slots=64,steps=20000,lanes=1", "mixed:slots=128,steps=20000,lanes=1"], "workloads")
check_whole("knobs", 2, 5)
PY

# A command has no parameters; its targets may be swept.
tool run -o command -r 1 -t glibc --sweep MALLOC_ARENA_MAX=1,2 -- sh -c 'echo "$MALLOC_ARENA_MAX"'
expect 0
[ "$(cat command/cells/w00.r000.t00.out command/cells/w00.r000.t01.out | tr '\n' ' ')" = "1 2 " ] ||
    fail "the values"
untouched_by() {
    local text=$1
    shift
    tool run -o none "$@"
    expect 2
    one_line
    says "$text"
    untouched none
}
tool run -o none -t glibc --sweep slot=1,2 mixed
expect 2
says "did you mean 'slots'?"
untouched none
untouched_by "'MALLOC_ARENA_MAX' names 1 twice" -t glibc --sweep MALLOC_ARENA_MAX=1,1 mixed
untouched_by "which? Name them with -t" --sweep MALLOC_ARENA_MAX=1,2 mixed
untouched_by "a command is told one" -t glibc --lanes 1,2 -- true

# Of every target that has no CPUs of its own.
cpu=$(sed -n 's/^Cpus_allowed_list:[[:space:]]*\([0-9]*\).*/\1/p' /proc/self/status)
tool run -o cpus -r 1 -t glibc --cpus "$cpu" mixed:lanes=2,slots=64,steps=20000 -- \
    sh -c 'grep Cpus_allowed_list /proc/self/status'
expect 0
says "mixed:lanes=2,slots=64,steps=20000: 2 lanes on 1 CPU of glibc: they wait for each other"
py "$cpu" <<'PY'
from cells import *
for one, cell, lines in cells("cpus"):
    if one["workload"] == "w00":
        check(lines[0]["host"]["cpus_allowed"] == 1, "a tape's cell, the floor's too: %s" % cell)
    else:
        out = open("cpus/" + cell["file"].replace(".jsonl", ".out")).read().split()
        check(out[1] == sys.argv[1], "a command: %s" % out)
check(matrix("cpus")["targets"][0]["settings"] == "cpus=" + sys.argv[1], "recorded")
PY
untouched_by "--cpus '1-': a list like 0-1,3 is wanted" -t glibc --cpus 1- mixed
