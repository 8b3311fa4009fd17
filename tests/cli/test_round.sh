#!/bin/bash
# One round of a plan: by itself, once, and one at a time on a machine.
. "$(dirname "$0")/common.sh"

tool plan -t glibc -t glibc:A=1 --rounds 4 --seed 5 --slice 7000 "$SMALL" -o plan.json
expect 0

# The round that was asked for, with the seed that it has in the whole.
tool round plan.json 3 -o three
expect 0
shows "Round 3: 4 cells in three"
py <<'PY'
from cells import *
check_whole("three", 1, 4)
one = rounds("three")[0]
check(one["round"] == 2 and one["seed"] == "7", "rounds count from 0 in files: %s" % one)
check(matrix("three")["rounds"] == 4, "of four rounds")
PY
cmp plan.json three/plan.json || fail "another plan in the directory"

# Again: nothing is done.
cp -r three before
tool round plan.json 3 -o three
expect 0
says "are there already"
diff -r -x lock -x matrix.json before three || fail "a round that was there was touched"

# More of them may stand in one directory.
tool round plan.json 1 -o three
expect 0
py <<'PY'
from cells import *
check_whole("three", 2, 4)
check([one["round"] for one in rounds("three")] == [0, 2], "both")
PY
tool report three
expect 0
shows "2 of 4 rounds"

# One that failed.
tool plan -t glibc --rounds 2 -o failing.json -- sh -c 'exit 3'
expect 0
tool round failing.json 2 -o failing
expect 4
tool round failing.json 2 -o failing
expect 4
says "are there already"
tool round failing.json 2 -o failing --retry-failed
expect 4
says "failed: "

# What cannot be.
for number in 0 5 x -1 1.5 ''; do
    tool round -o no -- plan.json "$number"
    expect 2
    untouched no
done
tool round plan.json 5 -o no
expect 2
says 'plan.json: there is no round 5, it has 4 ("rounds")'
tool round plan.json 1
expect 2
says "-o DIR is wanted"
tool round gone.json 1 -o no
expect 2
says "gone.json: cannot be read"
printf '{"schema":1,"workloads":["%s"],"rounds":2,"options":{"until-decided":true}}' "$SMALL" >until.json
tool round until.json 1 -o no
expect 2
says '"options.until-decided" looks at all rounds together'
tool round three/plan.json 2 -o three --color never
expect 2
says "there is no option '--color'"

# Another plan is not written over.
tool plan -t glibc --rounds 4 --seed 6 --slice 7000 "$SMALL" -o other.json
tool round other.json 2 -o three
expect 3
says "three holds the results of another matrix: it differs in seed"

# While one is measured another waits, or goes away. Whoever holds the name is the holder: the test
# takes it itself, as far as no other test has it.
cat >holder.py <<'PY'
import socket, time
name = socket.socket(socket.AF_UNIX)
while True:
    try:
        name.bind("\0allocbench.round")
        break
    except OSError:
        time.sleep(0.02)
name.listen(8)
open("held", "w").close()
time.sleep(100)
PY
CLI_TEST=$SCRATCH /usr/bin/python3 holder.py &
holder=$!
await [ -e held ]
tool round plan.json 4 -o four --no-wait
expect 3
one_line
says "process $holder measures a round on this machine"
untouched four
tool_start round plan.json 4 -o four
await grep -q "this one waits for it" err
says "process $holder"
sleep 0.2
untouched four
kill "$holder"
wait "$holder" || true
tool_end
expect 0
py <<'PY'
from cells import *
check_whole("four", 1, 4)
PY

# A round that is there, of other targets, is not this one.
tool plan -t glibc -t glibc:B=1 --rounds 4 --seed 5 --slice 7000 "$SMALL" -o another.json
tool round another.json 4 -o four
expect 3
one_line
says "is of another plan: it has no cell of target glibc:B=1"
