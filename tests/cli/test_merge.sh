#!/bin/bash
# Rounds that were run apart are one result: whole or not at all, and each round once.
. "$(dirname "$0")/common.sh"

tool plan -t glibc -t glibc:A=1 --rounds 4 --slice 7000 "$SMALL" -o plan.json
expect 0
for number in 1 2 3 4; do
    tool round plan.json "$number" -o "part.$number"
    expect 0
done
echo half >part.1/cells/w00.r000.t07.jsonl.part # of a run that died
mkdir kept
cp -r part.* kept

tool merge -o whole part.*
expect 0
shows "4 rounds of 1 machine in whole"
tool report whole
expect 0
shows "4 rounds"
for number in 1 2 3 4; do
    diff -r "kept/part.$number" "part.$number" || fail "a source was touched"
    cmp "part.$number/cells/w00.r00$((number - 1)).t00.jsonl" \
        "whole/cells/w00.r00$((number - 1)).t00.jsonl" || fail "another cell"
done
py <<'PY'
from cells import *
check_whole("whole", 4, 4)
check([one["place"] for one in rounds("whole")] == [0] * 4, "places")
PY
cmp whole/plan.json plan.json || fail "another plan"

# As if two of them came from another machine.
py <<'PY'
from cells import *
for number in (3, 4):
    path = "part.%d/matrix.json" % number
    root = json.load(open(path))
    root["host"]["hostname"] = root["key"]["host"]["hostname"] = "beta<b>|\u202e"
    json.dump(root, open(path, "w"))
PY
tool merge -o two part.1 part.2/ part.3 part.4 part.1
expect 0
shows "4 rounds of 2 machines in two"
shows "1 that was there twice counts once."
tool report two
expect 0
grep -q '^By machine ' two/REPORT.md || fail "no table by machine"
grep -q '^| beta&lt;b&gt;\\|' two/REPORT.md || fail "no line of the machine"
! grep -q '<b>' two/REPORT.md || fail "HTML in REPORT.md"
py <<'PY'
from cells import *
check([one["place"] for one in rounds("two")] == [0, 0, 1, 1], "places")
check([m["host"]["hostname"] for m in matrix("two")["machines"]][1].startswith("beta"), "machines")
PY

# The first machine may go on; its rounds are its own, and the others stay where they ran.
tool run --plan plan.json -o two --rounds 5
expect 0
says "4 of 5 rounds are there already"
py <<'PY'
from cells import *
check_whole("two", 5, 4)
check([one.get("place", 0) for one in rounds("two")] == [0, 0, 1, 1, 0], "places")
check(len(matrix("two")["machines"]) == 2, "the machines are kept")
PY
tool merge -o other part.3 part.1
expect 0
tool run --plan plan.json -o other --rounds 5
expect 3
says "it differs in host.hostname"

# A merge and a part of it: what both have counts once.
tool merge -o again two part.2
expect 0
shows "5 rounds of 2 machines"

# Another round of the same number: the first stays.
mkdir elsewhere
tool round plan.json 2 -o elsewhere/2
expect 0
tool merge -o first part.2 elsewhere/2
expect 0
shows "1 of a number that was taken already"
tool report first
expect 0
shows "round 2 of $SMALL was left out of elsewhere/2"
cmp first/cells/w00.r001.t01.jsonl part.2/cells/w00.r001.t01.jsonl || fail "not the first"

# What does not belong together, and what cannot be.
tool round <(sed 's/"seed": 1/"seed": 9/' plan.json) 1 -o seed
expect 2 # no file
sed 's/"seed": 1/"seed": 9/' plan.json >seed.json
tool round seed.json 1 -o seed
expect 0
tool merge -o no part.1 seed
expect 3
one_line
says 'part.1 and seed are of different matrices: seed: "1" against "9"'
tool merge -o whole part.1 part.2
expect 3
says "whole is there already"
tool merge -o part.1/cells/new part.1
expect 3
says "would lie in its own source"
tool merge -o no gone
expect 3
says "gone cannot be read"
mkdir empty
tool merge -o no part.1 empty
expect 3
says "empty/matrix.json: cannot be read"
tool merge part.1
expect 2
says "-o DIR is wanted"
tool merge -o no
expect 2
[ ! -e no ] && [ ! -e no.merging ] || fail "something was left"

# Killed wherever it is, nothing half is taken for a whole, and the same command begins anew.
for delay in 0.001 0.003 0.006 0.01 0.02 0.04; do
    rm -rf killed
    tool_start merge -o killed part.1 part.2 part.3 part.4
    sleep "$delay"
    kill -KILL "$running" 2>/dev/null || true
    tool_end
    if [ -e killed ]; then
        tool report killed
        expect 0
    else
        tool merge -o killed part.1 part.2 part.3 part.4
        expect 0
    fi
    [ ! -e killed.merging ] || fail "something was left"
    py <<'PY'
from cells import *
check_whole("killed", 4, 4)
PY
done

# A disk that fills up: nothing is left, and with room the same command merges.
mkdir disk
if [ "$(id -u)" -eq 0 ] && mount -t tmpfs -o size=64k tmpfs disk 2>/dev/null; then
    tool merge -o disk/whole part.1 part.2 part.3 part.4
    expect 3
    one_line
    says "No space left on device"
    [ -z "$(ls disk)" ] || fail "something was left: $(ls disk)"
    mount -o remount,size=64m disk
    tool merge -o disk/whole part.1 part.2 part.3 part.4
    expect 0
    py <<'PY'
from cells import *
check_whole("disk/whole", 4, 4)
PY
fi
