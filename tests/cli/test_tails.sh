#!/bin/bash
# Latencies: sampled beside the work, every one in a tail pass, in the report and as .hgrm files.
. "$(dirname "$0")/common.sh"
needs_jemalloc

ask=(run "$SMALL" -t glibc -t jemalloc --rounds 2 --latency 16 --tails -o here)
tool "${ask[@]}"
expect 0
shows "values a row, too few for p99: REPORT.md has the rest; a longer run gives more"
shows_not "one in 16 timed"
grep -qF "latency of single operations, one in 16 timed; above p99: of a pass that timed every one" \
    here/REPORT.md || fail "no latencies in the report"
grep -qF "| call | target | p50 | p90 | p99 | values | p99.9 | p99.99 | max | of all |" \
    here/REPORT.md || fail "not every column in the report"
py <<'PY'
from cells import *
import re
found = rounds("here")
check(len(found) == 2 and all(len(one["cells"]) == 6 for one in found), "three, the floor, tails")
for one in found:
    tails = [cell for cell in one["cells"] if cell.get("tails")]
    check([cell["target"] for cell in tails] == ["glibc", "jemalloc"], str(tails))
    check(one["cells"][-2:] == tails, "behind the others")
    check([cell["file"] for cell in tails] ==
          ["cells/w00.r%03d.t%02d-tails.jsonl" % (one["round"], at) for at in (0, 1)], str(tails))
counts = {}
for one, cell, lines in cells("here"):
    check(cell["status"] == "ok", str(cell))
    every = 1 if cell.get("tails") else 16
    kinds = {line["name"]: line for line in lines if line["record"] == "histogram"}
    check({"malloc", "free", "control"} <= set(kinds), str(set(kinds)))
    check(all(line["interval"] == every for line in kinds.values()), "one in %d" % every)
    if cell["target"] and not cell["again"]:
        key = (cell["target"], bool(cell.get("tails")))
        counts[key] = counts.get(key, 0) + kinds["malloc"]["count"]
check(counts["glibc", True] > 10 * counts["glibc", False] > 0, str(counts))

# The table adds up the rounds.
def number(text):
    return float(text.rstrip("kM")) * {"k": 1e3, "M": 1e6}.get(text[-1], 1)
report = open("here/REPORT.md", encoding="utf-8").read()
for target in ("glibc", "jemalloc"):
    row = re.search(r"\| malloc \| %s \|(.*)\|" % target, report).group(1).split("|")
    check(abs(number(row[3].strip()) / counts[target, False] - 1) < 0.01, "values: %s" % row)
    check(abs(number(row[7].strip()) / counts[target, True] - 1) < 0.01, "of all: %s" % row)
for kind in ("malloc_touch", "free", "control"):
    check("| %s | glibc |" % kind in report, "no %s in the report" % kind)

# Times and memory are of the other cells.
with open("here/raw.tsv", encoding="utf-8") as file:
    check("-tails" not in file.read(), "a tail pass in raw.tsv")
PY
for target in glibc jemalloc; do
    for kind in malloc free control; do
        for pass in "" -tails; do
            file=here/hgrm/w00-mixed-lanes-1-slots-64-steps-20000-$target-$kind$pass.hgrm
            grep -q 'Percentile' "$file" || fail "no $file"
        done
    done
done

# A round is whole with its tails only.
rm here/rounds/w00.r001.json here/cells/w00.r001.t01-tails.jsonl
tool "${ask[@]}"
expect 0
says "1 of 2 rounds are there already"
[ -s here/cells/w00.r001.t01-tails.jsonl ] || fail "the round was not run whole"
tool run "$SMALL" -t glibc -t jemalloc --rounds 2 --latency 16 -o here
expect 3
says "it differs in tails (true there, false asked)"
tool run "$SMALL" -t glibc -t jemalloc --rounds 2 --latency 8 --tails -o here
expect 3
says 'it differs in latency ("16" there, "8" asked)'

# Without any: no table, no files.
tool run "$SMALL" -t glibc --rounds 1 --latency 0 -o none
expect 0
shows_not "latency"
[ ! -e none/hgrm ] || fail "files of nothing"
! grep -q '"histogram"' none/cells/*.jsonl || fail "histograms"

# A harness is told too, and what it says of requests and calls is in the report.
tool run -t glibc --rounds 1 --latency 32 -o harness -- "$CELL" "$SMALL"
expect 0
shows "too few for p99: REPORT.md has the rest; --latency 1 or a longer run gives more"
grep -q "latency of single operations, one in 32 timed" harness/REPORT.md || fail "no title"
grep -q "^| malloc_touch | glibc |" harness/REPORT.md || fail "no table"
[ -n "$(ls harness/hgrm/*-glibc-malloc.hgrm)" ] || fail "no files"
