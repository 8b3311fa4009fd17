#!/bin/bash
# --quick: the small scale of what names none, recorded as what it is.
. "$(dirname "$0")/common.sh"

tool run --help
expect 0
shows "(scale=quick), and turns of 50000 operations unless --slice says otherwise"

tool run --quick mixed mixed:scale=full,steps=3000,slots=64 -t glibc --rounds 1 -o here
expect 0
shows "mixed:scale=quick (tape, 1 round in lockstep"
shows "mixed:scale=full,steps=3000,slots=64 (tape"
py <<'PY'
from cells import *
check_whole("here", 2, 3)
asked = matrix("here")["workloads"]
check(asked[0]["label"] == "mixed:scale=quick" and asked[0]["argument"] == asked[0]["label"],
      str(asked[0]))
check(asked[0]["played"] == asked[0]["spec"], str(asked[0]))
for one, _, lines in cells("here"):
    spec = asked[int(one["workload"][1:])]["spec"]
    check(lines[0]["workload"] == spec, "played: %s, not %s" % (lines[0]["workload"], spec))
check("steps=3000," in asked[1]["spec"] and "steps=3000," not in asked[0]["spec"], str(asked))
PY

# The same question goes on, the full scale is another.
tool run --quick mixed mixed:scale=full,steps=3000,slots=64 -t glibc --rounds 1 -o here
expect 0
says "2 of 2 rounds are there already"
tool run mixed mixed:scale=full,steps=3000,slots=64 -t glibc --rounds 1 -o here
expect 3
says "it differs in workloads.1.label"
tool run mixed:scale=quick mixed:scale=full,steps=3000,slots=64 -t glibc --rounds 1 -o here \
    --slice 50000
expect 0
says "2 of 2 rounds are there already"

# ---- in real time -------------------------------------------------------------------------------
tool run --paced server:time=200ms,rate=200 -t glibc --rounds 1 -o paced
expect 0
says "server:paced=1,time=200ms,rate=200: it pauses in real time"
shows "(tape, 1 round one cell after the other"
py <<'PY'
from cells import *
check_whole("paced", 1, 3)
for one, _, lines in cells("paced"):
    check(one["mode"] == "sequential", str(one))
    check(lines[-1]["receipt"]["pause_ns"] > 0, "it slept: %s" % lines[-1])
PY
tool run --paced mixed server -t glibc -o none
expect 2
one_line
says "workload 'mixed' cannot be played in real time (it has no parameter 'paced')"
untouched none
