#!/bin/bash
# The command dies, or the disk is full from there on, at each of the calls by which it changes files
# (break_point.c): what was finished stays as it was, what is left is told, no file of the report is
# half of one, and the same command makes it whole, with each round and each cell once.
. "$(dirname "$0")/common.sh"
LIBRARY=${BREAK_POINT_LIBRARY:?the path of libbreak-point.so is wanted}

# broken AT HOW ARGS...
broken() {
    local at=$1 how=$2
    shift 2
    { LD_PRELOAD=$LIBRARY BREAK_AT=$at BREAK_HOW=$how tool "$@"; } 2>/dev/null
}

# points COUNT ARGS...: how many such calls there are; sets $points.
points() {
    LD_PRELOAD=$LIBRARY BREAK_COUNT=$SCRATCH/points tool "$@"
    expect 0
    points=$(cat points)
    [ "$points" -gt 20 ] || fail "only $points calls that change files"
}

# What a report is made of, apart from the cells.
pages() {
    (cd "$1" && find . -type f -not -path './cells/*' -not -path './rounds/*' \
        -not -name lock -not -name matrix.json -not -name plan.json | sort)
}

MATRIX=(-t glibc --rounds 2 --seed 7 "$SMALL" -- sh -c 'echo said')
run_whole() {
    tool run -o "$1" "${MATRIX[@]}"
    expect 0
    py "$1" <<'PY'
from cells import *
import csv
where = sys.argv[1]
# Two workloads, two rounds of each; the baseline twice, and the floor of a tape.
found = rounds(where)
check(sorted((one["workload"], one["round"]) for one in found) ==
      [("w00", 0), ("w00", 1), ("w01", 0), ("w01", 1)], "the rounds: %s" % found)
check([len(one["cells"]) for one in found] == [3, 3, 2, 2], "the cells of a round")
named = [cell["file"] for one in found for cell in one["cells"]]
there = ["cells/" + name for name in os.listdir(where + "/cells") if name.endswith(".jsonl")]
check(sorted(named) == sorted(there), "cells that no round names: %s" % there)
for _, cell, lines in cells(where):
    check(cell["status"] == "ok" and lines, "a cell failed: %s" % cell)
with open(where + "/raw.tsv", newline="") as file:
    rows = list(csv.DictReader(file, delimiter="\t", quoting=csv.QUOTE_NONE))
keys = [(row["file"], row["metric"]) for row in rows]
check(len(set(keys)) == len(keys), "a value twice in raw.tsv")
check(set(row["file"] for row in rows) == set(named), "cells in raw.tsv")
for metric, count in (("time_ns_per_operation", 6), ("peak_rss_bytes", 4)):
    found = sum(row["metric"] == metric for row in rows)
    check(found == count, "%d lines of %s, not %d" % (found, metric, count))
for folder, _, files in os.walk(where):
    for name in files:
        check(not name.endswith((".part", ".tmp", ".probe")), "left over: %s/%s" % (folder, name))
PY
}

# Is what is there of the report whole? Nothing of a page may be missing, nor be there twice.
pages_are_whole() {
    local page
    for page in $(pages "$1"); do
        case $page in
        *.tmp | *.part) ;;
        *) cmp -s "$1/$page" "whole/$page" || fail "$page is half-written, or of another report" ;;
        esac
    done
}

# ---- a report: dead at every point, without room at every second one ---------------------------

run_whole first
tool report first
expect 0
cp -r first whole
points report first
step=0
for how in kill full; do
    step=$((step + 1))
    at=0
    while [ $((at += step)) -le "$points" ]; do
        pages first | (cd first && xargs rm -f)
        broken "$at" "$how" report first
        case $how in
        kill) expect 137 ;;
        full)
            if [ "$status" -ne 0 ]; then # else it only had to remove or to rename
                expect 3
                one_line
                says "No space left on device"
                says first/
            fi
            ;;
        esac
        pages_are_whole first
    done
    tool report first
    expect 0
    diff -r whole first || fail "another report, or something is left over"
done

# ---- a run, at some points of it, and in its report --------------------------------------------

# died DIR: what is there is told as it is.
told() {
    local finished
    [ -e "$1/matrix.json" ] || return 0
    finished=$(find "$1/rounds" -name '*.json' 2>/dev/null | wc -l)
    tool report "$1"
    expect 0
    [ "$finished" -eq 4 ] || shows " of 2 rounds"
    # Of cells that are there, those of finished rounds are all that count.
    [ "$(find "$1" -name raw.tsv)" ] || fail "no raw.tsv"
    py "$1" <<'PY'
from cells import *
import csv
named = {cell["file"] for one in rounds(sys.argv[1]) for cell in one["cells"]}
with open(sys.argv[1] + "/raw.tsv", newline="") as file:
    files = {row["file"] for row in csv.DictReader(file, delimiter="\t", quoting=csv.QUOTE_NONE)}
check(files <= named, "cells count that no finished round has: %s" % (files - named))
PY
}

rm -rf first
points run -o first "${MATRIX[@]}"
RANDOM=5
for how in kill full; do
    for ((turn = 0; turn < 6; turn++)); do
        at=$((1 + (turn * points + RANDOM % points) / 6))
        rm -rf here
        broken "$at" "$how" run -o here "${MATRIX[@]}"
        case $how in
        kill) [ "$status" -eq 0 ] || expect 137 ;; # not every run has as many calls
        full)
            if [ "$status" -ne 0 ]; then
                expect 3
                says "No space left on device"
            fi
            ;;
        esac
        told here
        run_whole here
    done
done
