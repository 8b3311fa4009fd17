#!/bin/bash
# Rounds that GNU parallel starts, merged, are what one run gives: the same work, each round once.
. "$(dirname "$0")/common.sh"
parallel --version 2>/dev/null | grep -q '^GNU parallel' || skip "GNU parallel is not installed"

export HOME=$SCRATCH # parallel keeps files of its own
export CLI_TEST=$SCRATCH ALLOCBENCH
tool plan -t glibc -t glibc:A=1 --rounds 4 --slice 7000 "$SMALL" "$SMALL,touch=all" -o plan.json
expect 0
parallel -j3 "$ALLOCBENCH" round plan.json {} -o part.{} ::: 1 2 3 4 >shown 2>waits </dev/null ||
    fail "parallel: $(cat waits)"
[ "$(grep -c '^Round . *: 8 cells in part' shown)" -eq 4 ] || fail "rounds: $(cat shown)"
tool merge -o apart part.*
expect 0
shows "8 rounds of 1 machine in apart"
tool run --plan plan.json -o once
expect 0
tool report apart
expect 0
py <<'PY'
from cells import *
import csv
check_whole("apart", 8, 4)
a, b = matrix("apart"), matrix("once")
check(a["key"] == b["key"], "another key")
check(a["rounds"] == b["rounds"] == 4, "rounds")

def work(path):
    return sorted((one["workload"], one["round"], one["seed"], str(cell["target"]), cell["again"],
                   lines[-1].get("work_digest"), cell.get("padding")) for one, cell, lines in cells(path))

check(work("apart") == work("once"), "other work")

def verdicts(path):
    rows = csv.DictReader(open(path + "/summary.tsv", encoding="utf-8"), delimiter="\t")
    return [(row["workload"], row["target"], row["metric"], row["rounds"], row["rounds_needed"] != "")
            for row in rows]

one, other = verdicts("apart"), verdicts("once")
check([row[:4] for row in one] == [row[:4] for row in other], "other verdicts: %s\n%s" % (one, other))
PY

# Again: all are there.
parallel -j3 "$ALLOCBENCH" round plan.json {} -o part.{} ::: 1 2 3 4 >shown 2>waits </dev/null ||
    fail "parallel: $(cat waits)"
[ "$(grep -c 'are there already and are kept' waits)" -eq 4 ] || fail "not kept: $(cat waits)"
