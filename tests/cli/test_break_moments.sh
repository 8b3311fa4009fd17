#!/bin/bash
# Ctrl-C, SIGKILL of the command, and of all that it started, at moments that a seed chooses, again and
# again in one directory: finished rounds stay as they are, and in the end each is there once.
. "$(dirname "$0")/common.sh"

nobody_stays() {
    local left=100
    until [ -z "$(survivors)" ]; do
        left=$((left - 1))
        [ "$left" -gt 0 ] || fail "still there after 5 s: $(survivors)"
        sleep 0.05
    done
}

# Name, inode, time and content of all that finished rounds are made of, a line each.
fingerprint() {
    local round
    for round in $(cd "$1/rounds" 2>/dev/null && ls -- *.json 2>/dev/null); do
        find "$1/rounds/$round" "$1"/cells/"${round%.json}".* -not -name '*.part' \
            -printf '%p %i %T@ ' -exec sha256sum {} \; | sort
    done
}

# break_now HOW: of INT, KILL, ALL.
break_now() {
    case $1 in
    ALL)
        # The spawner and its children have no chance to notice that the command has gone.
        local pid
        for pid in $(survivors); do
            kill -KILL "$pid" 2>/dev/null || true
        done
        ;;
    INT)
        # A shell's background process ignores it until the command has said otherwise.
        local left=600
        kill -INT "$running"
        while kill -0 "$running" 2>/dev/null && [ $((left -= 1)) -gt 0 ]; do
            sleep 0.05
            [ $((left % 60)) -ne 0 ] || kill -INT "$running" 2>/dev/null || true
        done
        ;;
    *) kill "-$1" "$running" ;;
    esac
    tool_end
    [ "$1" = INT ] && expect 130 || expect 137
    nobody_stays
}

# break_often NAME ARMS ARGS...
break_often() {
    local name=$1 arms=$2 turn how finished=0 rounds
    shift 2
    : >before
    for ((turn = 0; turn < 9; turn++)); do
        how=(INT KILL ALL)
        how=${how[turn % 3]}
        tool_start run --rounds 1000 -o "$name" "$@"
        [ "$turn" -ne 0 ] || await test -e "$name/rounds/w00.r000.json"
        sleep "0.$((RANDOM % 6))$((RANDOM % 10))"
        break_now "$how"
        fingerprint "$name" >after
        diff <(grep -xFf before after || true) before || fail "finished rounds were touched ($how)"
        mv after before
        finished=$(find "$name/rounds" -name '*.json' 2>/dev/null | wc -l)
        [ -e "$name/matrix.json" ] || continue
        tool report "$name"
        expect 0
        shows "$finished of 1000 rounds"
    done
    rounds=$((finished + 1))
    tool run --rounds "$rounds" -o "$name" "$@"
    expect 0
    fingerprint "$name" >after
    diff <(grep -xFf before after || true) before || fail "finished rounds were touched"
    py "$name" "$rounds" "$arms" <<'PY'
from cells import *
import csv
where, count, arms = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
check_whole(where, count, arms)
check([one["round"] for one in rounds(where)] == list(range(count)), "the rounds")
named = [cell["file"] for one in rounds(where) for cell in one["cells"]]
there = ["cells/" + name for name in os.listdir(where + "/cells") if name.endswith(".jsonl")]
check(sorted(named) == sorted(there), "cells that no round names: %s" % sorted(there))
with open(where + "/raw.tsv", newline="") as file:
    rows = list(csv.DictReader(file, delimiter="\t", quoting=csv.QUOTE_NONE))
lines = {}
for row in rows:
    key = row["round"], row["target"], row["again"]
    check(key not in lines.setdefault(row["metric"], set()), "twice: %s" % row)
    lines[row["metric"]].add(key)
for metric in ("rss_peak_bytes", "cpu_ns") if arms == 4 else ("peak_rss_bytes", "cpu_ns"):
    check(len(lines[metric]) == count * arms, "%d lines of %s" % (len(lines[metric]), metric))
PY
    shows "$rounds rounds"
}

RANDOM=11
break_often tape 4 -t glibc -t glibc-arena2 mixed:lanes=1,slots=256,steps=200000
break_often command 3 -t glibc -t glibc-arena2 -- sh -c 'sleep 0.03; sleep 0.03'
