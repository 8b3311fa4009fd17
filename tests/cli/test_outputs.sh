#!/bin/bash
# Every promised file is there and parses; the table goes to standard output, all else to standard
# error; colour only where it is wanted.
. "$(dirname "$0")/common.sh"
needs_jemalloc

MALLOC_ARENA_MAX=1 tool run churn-cross:slots=200 "$SMALL" -t glibc -t jemalloc -t glibc-arena2 \
    --rounds 3 -o here -- sh -c 'echo printed; echo complained >&2; sleep 0.1'
expect 0

# ---- streams ------------------------------------------------------------------------------------
[ "$(said | grep -v ' lanes on .*: they wait for each other$')" = "allocbench: cleared for every target: MALLOC_ARENA_MAX=1" ] ||
    fail "more on standard error than its one note"
! grep -q '^allocbench: ' out || fail "a message on standard output"
! grep -q -e printed$ -e complained$ out || fail "the command's own output"
[ "$(tail -n 1 out)" = "Report: here/report.html" ] || fail "its last line is not where the report is"
shows "churn-cross:slots=200 (tape, 3 rounds"
shows "$SMALL (tape, 3 rounds"
shows "sh -c 'echo printed; echo complained >&2; sleep 0.1' (command, 3 rounds"
shows "verdict: Not enough rounds: 7 needed for a verdict (3 here): use --rounds 7."
shows "over all workloads: Not enough rounds for a verdict on any workload: 7 needed"
grep -qx "  allocbench run .* --rounds 7 -o here -- sh -c '.*'" out ||
    fail "it does not say what to run next"
for name in "glibc (base)" "glibc (A/A)" jemalloc glibc-arena2; do
    [ "$(grep -c "^$name " out)" -ge 3 ] || fail "no line for $name in each table"
done
py <<'PY'
from cells import *
for line in open("out", encoding="utf-8"):
    free = "  (command, " in line or line.startswith("  allocbench ")  # to be copied whole
    check(len(line) <= 101 or free, "more than 100 columns: " + line)
PY
! grep -q ' $' out || fail "a line ends in a blank"

# ---- files --------------------------------------------------------------------------------------
py <<'PY'
from cells import *
import csv
found = rounds("here")
check(len(found) == 9, "three workloads, three rounds: %d" % len(found))
count, readings = 0, 0
for one, cell, lines in cells("here"):
    check(cell["status"] == "ok", str(cell))
    count += 1
    readings += sum(line["record"] == "reading" for line in lines)
check(count == 3 * 4 * 3 + 6, "cells: %d" % count)

def table(name, delimiter):
    with open("here/" + name, newline="", encoding="utf-8") as file:
        rows = list(csv.reader(file, delimiter=delimiter, strict=True))
    check(len(rows) > 1, name + " is empty")
    check(all(len(row) == len(rows[0]) for row in rows), name + " is not rectangular")
    check(len(set(rows[0])) == len(rows[0]), name + ": a column twice")
    return [dict(zip(rows[0], row)) for row in rows[1:]]

samples = table("samples.csv", ",")
check(len(samples) >= readings > 0, "a row a reading: %d, %d" % (len(samples), readings))
check({row["workload"] for row in samples} ==
      {w["label"] for w in matrix("here")["workloads"]}, "every workload")
raw = table("raw.tsv", "\t")
check({row["target"] for row in raw} >= {"glibc", "jemalloc", "glibc-arena2"}, "every target")
check(len({row["round"] for row in raw}) == 3, "every round")
summary = table("summary.tsv", "\t")
check({row["target"] for row in summary} >= {"glibc", "jemalloc", "glibc-arena2"}, "targets")

# The summary is the median of what raw.tsv holds.
import statistics
def values(rows, **wanted):
    return [row for row in rows if all(row[k] == v for k, v in wanted.items())]
label = matrix("here")["workloads"][1]["label"]
one = values(summary, workload=label, target="jemalloc", metric="live_bytes")
check(len(one) == 1, "one row a metric: %s" % one)
all_of = [float(row["value"]) for row in values(raw, workload=label, target="jemalloc",
                                                metric="live_bytes")]
check(len(all_of) == 3 and float(one[0]["median"]) == statistics.median(all_of),
      "its median: %s of %s" % (one, all_of))

# Three rounds prove nothing, and everything says so.
for row in summary:
    check(row["verdict"] in ("", "not enough rounds"), "a verdict on three rounds: %s" % row)
    check(row["ratio_low"] == row["ratio_high"] == row["rank_low"] == "", "an interval: %s" % row)
one = values(summary, workload=label, target="jemalloc", metric="time_ns_per_operation")[0]
check(one["verdict"] == "not enough rounds" and one["rounds"] == "3", str(one))
check(one["rounds_needed"] == "7" and float(one["ratio"]) > 0, str(one))
check(one["aa_ratio"] != "" and one["aa_low"] == "" and one["refused"] == "0", str(one))

pictures = glob.glob("here/rss-w0?-*.svg")
read = {}
for row in samples:
    run = row["workload"], row["target"], row["round"]
    if row["again"] == "0" and row["target"] != "(floor)" and row["rss_bytes"]:
        read[run] = read.get(run, 0) + 1
often = {run[0] for run, times in read.items() if times >= 3}
check(1 <= len(pictures) <= len(often), "pictures of runs that were read often: %s" % pictures)
for name in pictures:
    text = picture_text(name)
    check("jemalloc" in text and "glibc" in text, name + ": lines without a label")

report = open("here/REPORT.md", encoding="utf-8").read()
for name in pictures:
    check(os.path.basename(name) in report, "REPORT.md does not show " + name)
check(report.index("Not enough rounds for a verdict on any workload: 7 needed") <
      report.index("\n## " + label.replace("_", "\\_")[:5]), "the verdict does not come first")
for text in ("## Next", "--rounds 7", "How to read it", "signed-rank"):
    check(text in report, "REPORT.md does not say " + text)
for text in ("jemalloc", "glibc-arena2", "summary.tsv", "raw.tsv", "samples.csv",
             "MALLOC_ARENA_MAX", "libjemalloc.so.2"):
    check(text in report, "REPORT.md does not name " + text)
check(matrix("here")["command_line"].startswith("allocbench run churn-cross:slots=200"),
      "the command line as it was typed: %s" % matrix("here")["command_line"])
PY

# ---- the same table again -----------------------------------------------------------------------
cp out table
find here -type f -newer table -delete
rm here/*.svg here/*.tsv here/*.csv here/REPORT.md
tool report here
expect 0
[ ! -s err ] || fail "messages"
cmp out table || fail "another table"
for file in samples.csv raw.tsv summary.tsv REPORT.md; do
    [ -s "here/$file" ] || fail "$file is not made anew"
done
cp -r here moved
tool report moved
expect 0
sed 's/moved/here/' out | cmp - table || fail "a directory that was moved shows another table"

# ---- colour -------------------------------------------------------------------------------------
escape=$'\033'
! grep -q "$escape" table || fail "colour in a pipe"
tool report --color always here
expect 0
grep -q "$escape" out || fail "no colour with --color always"
sed "s/$escape\[[0-9;]*m//g" out | cmp - table || fail "colour carries more than the plain table"
NO_COLOR=1 tool report --color always here
grep -q "$escape" out || fail "--color always is asked for by name"
tool report --color never here
cmp out table || fail "colour with --color never"
tool report --color=auto here
cmp out table || fail "colour with --color auto in a pipe"
tool report --color red here
expect 2
says "--color is auto, always or never"
if [ -n "$(type -P script)" ]; then
    export TERM=xterm
    script -qec "'$ALLOCBENCH' report here" terminal.log >terminal </dev/null
    grep -q "$escape" terminal || fail "no colour on a terminal"
    NO_COLOR=1 script -qec "'$ALLOCBENCH' report here" terminal.log >terminal </dev/null
    ! grep -q "${escape}\[[0-9]" terminal || fail "colour on a terminal with NO_COLOR"
    # On a terminal a bar says how far it is.
    script -qec "'$ALLOCBENCH' run -t glibc --rounds 2 -o bar $LONG >/dev/null" terminal.log \
        >terminal </dev/null
    grep -q "round 2 of 2" terminal || fail "no bar on a terminal"
fi
