#!/bin/bash
# Several tools on one directory at the same moment, and a holder that is killed while others want it:
# one works, the others say so, and each round is there once.
. "$(dirname "$0")/common.sh"

MATRIX=(-t glibc --rounds 3 -o here mixed:lanes=1,slots=64,steps=20000 -- sh -c 'sleep 0.02')

# Starts one; its messages go to err.N, its status to status.N.
start() {
    (
        code=0
        CLI_TEST=$SCRATCH "$ALLOCBENCH" run "${MATRIX[@]}" >"out.$1" 2>"err.$1" </dev/null ||
            code=$?
        echo "$code" >"status.$1"
    ) &
}

whole() {
    py <<'PY'
from cells import *
import csv
found = rounds("here")
check(sorted((one["workload"], one["round"]) for one in found) ==
      [(workload, number) for workload in ("w00", "w01") for number in range(3)], "the rounds")
check([len(one["cells"]) for one in found] == [3, 3, 3, 2, 2, 2], "the cells of the rounds")
for _, cell, lines in cells("here"):
    check(cell["status"] == "ok" and lines, "a cell failed: %s" % cell)
with open("here/raw.tsv", newline="") as file:
    keys = [(row["file"], row["metric"]) for row in
            csv.DictReader(file, delimiter="\t", quoting=csv.QUOTE_NONE)]
check(len(set(keys)) == len(keys), "a value twice in raw.tsv")
check({file for file, _ in keys} == {cell["file"] for one in found for cell in one["cells"]},
      "the cells of raw.tsv")
for folder, _, files in os.walk("here"):
    check(not [name for name in files if name.endswith((".part", ".tmp"))], "left over: %s" % files)
PY
}

for ((turn = 0; turn < 4; turn++)); do
    rm -rf here
    for ((number = 0; number < 4; number++)); do
        start "$number"
    done
    wait
    worked=0
    for ((number = 0; number < 4; number++)); do
        cp "err.$number" err
        cp "out.$number" out
        status=$(cat "status.$number")
        case $status in
        0) worked=$((worked + 1)) ;;
        *)
            expect 3
            one_line
            says "another allocbench"
            says "works in here"
            ;;
        esac
    done
    [ "$worked" -ge 1 ] || fail "nobody worked"
    whole
done

# The holder dies; who asks again has the directory, and goes on.
rm -rf here
CLI_TEST=$SCRATCH "$ALLOCBENCH" run "${MATRIX[@]}" >first.out 2>first.err </dev/null &
first=$!
await test -e here/rounds/w00.r000.json
{ kill -KILL "$first" && wait "$first"; } 2>/dev/null || true
until tool run "${MATRIX[@]}" && [ "$status" -eq 0 ]; do
    expect 3
    says "works in here"
done
says "rounds are there already and are kept"
whole

# Whoever only looks whether it is held is waited for.
rm -f looked
flock -s here/lock sh -c 'touch looked; sleep 0.3' &
looker=$!
await test -e looked
tool run "${MATRIX[@]}"
expect 0
wait "$looker"

# Reports at the same moment are whole ones.
tool report here
expect 0
cp -r here reference
for ((turn = 0; turn < 8; turn++)); do
    others=()
    for ((number = 0; number < 5; number++)); do
        "$ALLOCBENCH" report here >/dev/null 2>"err.$number" &
        others+=("$!")
    done
    tool report here
    expect 0
    for other in "${others[@]}"; do
        wait "$other" || fail "another report: $(cat err.[0-4])"
    done
    diff -r reference here || fail "another report"
done
