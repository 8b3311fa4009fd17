#!/bin/bash
# A result directory that was damaged: a clear message that says where, never a wrong table.
. "$(dirname "$0")/common.sh"

tool run -t glibc -t glibc-arena2 --rounds 2 --seed 3 -o whole "$SMALL" -- true
expect 0
cp out table
cell=cells/w00.r001.t01.jsonl

# renew: here is as it was.
renew() {
    rm -rf here
    cp -r whole here
}

# cell_damaged TEXT...: that cell alone is marked, with the place; the other numbers stay.
cell_damaged() {
    local text
    tool report here
    expect 0
    shows "failed: glibc-arena2, round "
    for text in "$@"; do
        shows "$text"
    done
    ! grep -m 1 '^glibc-arena2 ' out | grep -q '±' || fail "two rounds of glibc-arena2 are shown"
    py <<'PY'
from cells import *
import csv
rows = list(csv.DictReader(open("here/raw.tsv"), delimiter="\t"))
cells_of = {(row["target"], row["round"]) for row in rows if row["workload"].startswith("mixed")}
check(("glibc-arena2", "0") in cells_of and ("glibc-arena2", "1") not in cells_of, str(cells_of))
check(("glibc", "0") in cells_of and ("glibc", "1") in cells_of, str(cells_of))
PY
    renew
}

cp -r whole here
sed -i '$d' here/$cell
cell_damaged "$cell:" "has no end record"
head -c 1000 whole/$cell >here/$cell
cell_damaged "$cell:1:"
sed -i '2s/:/;/' here/$cell
cell_damaged "$cell:2:"
sed -i '3s/.*/{"record":"metric","name":"x","unit":"ns","direction":"lower","value":"fast"}/' here/$cell
cell_damaged "$cell:3:" "value"
sed -i '3s/.*/[]/' here/$cell
cell_damaged "$cell:3:"
printf '\0\0\0' >>here/$cell
cell_damaged "$cell:"
: >here/$cell
cell_damaged "$cell"
rm here/$cell
cell_damaged "$cell" "No such file"
rm here/$cell
mkfifo here/$cell
cell_damaged "$cell" "not a regular file"
sed -i 's/"schema":1/"schema":99/' here/$cell
cell_damaged "$cell:1" "schema"

# damaged TEXT...: what holds for all cells; exit 3, one line that says where, no table.
damaged() {
    local text
    tool report here
    expect 3
    one_line
    for text in "$@"; do
        says "$text"
    done
    [ ! -s out ] || fail "a table of damaged results"
    renew
}

sed -i 's/"status": "ok"/"status": "fine"/' here/rounds/w00.r000.json
damaged "here/rounds/w00.r000.json" "status"
sed -i 's|"file": "cells/|"file": "../|' here/rounds/w00.r000.json
damaged "here/rounds/w00.r000.json" "file"
sed -i 's/"target": "glibc"/"target": "gone"/' here/rounds/w00.r000.json
damaged "here/rounds/w00.r000.json" "none of the targets of matrix.json"
head -c 100 whole/rounds/w00.r000.json >here/rounds/w00.r000.json
damaged "here/rounds/w00.r000.json:"
sed -i 's/"rounds": 2/"rounds": -2/' here/matrix.json
damaged "here/matrix.json" "rounds"
printf '[[[[' >here/matrix.json
damaged "here/matrix.json:1:"
rm here/matrix.json
damaged "here/matrix.json"
rm -r here
damaged "here/matrix.json" "No such file"
printf x >none
tool report none
expect 3
says "none/matrix.json"

# A round that is not finished does not count, and one whose file is gone is none.
rm here/rounds/w00.r001.json
tool report here
expect 0
shows "$SMALL (tape, 1 of 2 rounds"
shows "true (command, 2 rounds"
cp whole/rounds/w00.r001.json here/rounds/
tool report here
expect 0
sed 's/here\//whole\//; s/-o here/-o whole/' out | cmp - table || fail "another table"

# The same command finds the damage too: that cell has failed.
sed -i '$d' here/$cell
tool run -t glibc -t glibc-arena2 --rounds 2 --seed 3 -o here "$SMALL" -- true
expect 4
says "1 cell failed: see the report"
