#!/bin/bash
# --duration: a length is chosen once, written down, and the same for every target and every call.
. "$(dirname "$0")/common.sh"

ask=(run mixed:lanes=1,slots=64 burst-idle:bytes=64k,idle=1ms --duration 50ms -t glibc -t glibc:A=1
    --no-floor -o here)
tool "${ask[@]}" --rounds 1
expect 0
says "mixed:lanes=1,slots=64: steps="
says " for --duration 0.05 s: about 0.05 s a cell ("
says " ns an operation under glibc); 1 round of 3 cells: some 0."
says "burst-idle:bytes=64k,idle=1ms: --duration does not apply"
py <<'PY'
from cells import *
check_whole("here", 2, 3)
w = matrix("here")["workloads"]
steps = int(w[0]["argument"].split("steps=")[1])
check(w[0]["argument"] == "mixed:lanes=1,slots=64,steps=%d" % steps, str(w[0]))
check(steps > 10000, "fifty milliseconds of work: %d" % steps)
check("steps=%d" % steps in w[0]["played"] and "steps=%d" % steps not in w[0]["spec"], str(w[0]))
check(w[1]["argument"] == w[1]["label"] == "burst-idle:bytes=64k,idle=1ms", str(w[1]))
for one, _, lines in cells("here"):
    check(lines[0]["workload"] == w[int(one["workload"][1:])]["played"], "played by all")
notes = matrix("here")["notes"]
check(any("steps=%d for --duration" % steps in note for note in notes), "noted: %s" % notes)
PY
grep -q "steps=[0-9]* for --duration" here/REPORT.md || fail "the report does not say it"
cp here/matrix.json first.json

# More rounds play the same work; nothing is chosen again.
tool "${ask[@]}" --rounds 2
expect 0
says "2 of 4 rounds are there already"
says_not "about 0.05 s"
py <<'PY'
from cells import *
import json
check_whole("here", 4, 3)
now, first = matrix("here")["workloads"], json.load(open("first.json"))["workloads"]
check([w.pop("rounds") for w in now + first] == [2, 2, 1, 1], "rounds: %s" % now)
check(now == first, "the same lengths")
check(len({lines[0]["workload"] for _, _, lines in cells("here")}) == 2, "one work each")
PY

# Another duration is another question.
tool run mixed:lanes=1,slots=64 burst-idle:bytes=64k,idle=1ms --duration 60ms -t glibc \
    -t glibc:A=1 --no-floor -o here
expect 3
says 'it differs in duration_ms ("50" there, "60" asked)'

# What the directory says is not believed.
py <<'PY'
from cells import *
import json
m = matrix("here")
m["workloads"][0]["argument"] = "mixed:lanes=1,slots=64,steps=9,sizes=fixed:1"
json.dump(m, open("here/matrix.json", "w"))
PY
tool "${ask[@]}" --rounds 2
expect 3
one_line_about=$(grep -c "workload w00 has an argument that --duration does not make" err) || true
[ "$one_line_about" = 1 ] || fail "it is believed"

# ---- what cannot be ------------------------------------------------------------------------------
tool run mixed:steps=5 --duration 1s -t glibc -o none
expect 2
one_line
says "workload 'mixed:steps=5': --duration chooses its steps; leave one of them out"
untouched none
tool run server:time=5s --paced --duration 1s -t glibc -o none
expect 2
one_line
says "workload 'server:time=5s': --duration is its time; leave one of them out"
untouched none
tool run mixed:lanes=1,slots=64 --duration 10ms -t glibc:MALLOC_TOP_PAD_=x -t glibc -t own=/no.so \
    --skip-bad --rounds 1 --no-floor -o some
expect 0

# In real time the duration is the time, and takes no trial.
tool run server:rate=100 --paced --duration 100ms -t glibc --rounds 1 --no-floor -o paced
expect 0
says_not "about"
shows "server:paced=1,time=100ms,rate=100 (tape"

# A trial that was killed leaves what the next one clears away.
mkdir -p killed/cells
touch killed/cells/w00.trial.jsonl.part
tool run mixed:lanes=1,slots=64 --duration 20ms -t glibc --no-floor --rounds 1 -o killed
expect 0

# No duration is no duration.
tool run mixed --duration 0 -t glibc -o none
expect 2
says "--duration '0': at least 1ms is wanted"
