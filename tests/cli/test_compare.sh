#!/bin/bash
# allocbench compare A B: what is compared, what is told, and what is refused.
. "$(dirname "$0")/common.sh"

py <<'PY'
from results import *
M = 1 << 20
evil = "<script>|\"`*_&amp;\033[31m"
def arms(jemalloc, count=12, spread=0.01, **more):
    return dict({"glibc": around(45 * M, spread, count), "glibc again": around(45 * M, spread, count, 5),
                 "jemalloc": around(jemalloc * M, spread, count, 11)}, **more)
make("a", arms(40), key={"mode": "a"})
make("worse", arms(50))
make("better", arms(30))
make("same", arms(40, spread=0.008))
make("three", arms(50, count=3))
make("wide", {"glibc": around(45 * M, 0.6, 12), "glibc again": around(45 * M, 0.6, 12),
              "jemalloc": around(41 * M, 0.6, 12, 11)})
make("machine", arms(50), host={"kernel": "6.2.0"}, versions={"jemalloc": "5.3", "glibc": "1.0"})
make("merged", arms(50), kernels=("6.1.0", "6.2.0"))
make("baseline", arms(50), versions={"glibc": "2.41"})
make("other", arms(50), label="churn-local:lanes=1")
make("longer", arms(50), played="mixed:lanes=1,steps=7")
make("work", arms(50), work="00000000000000cc")
make("tcmalloc", {"glibc": around(45 * M, 0.01, 9), "glibc again": around(45 * M, 0.01, 9, 5),
                  "tcmalloc": around(40 * M, 0.01, 9)})
make("seeds", arms(50), seed="2", key={"slice_operations": "7", "novelty": [1, 2], "mode": "b"})
make("against", {"glibc": [1.0] * 9, "jemalloc": [1.0] * 9, "jemalloc again": [1.0] * 9}, baseline="jemalloc")
make("command", arms(50), label="sh -c true", kind="command")
make("command2", arms(50), label="sh -c true", kind="command", key={"lanes": 4})
make("failed", arms(50), failed={("jemalloc", at) for at in range(12)})
make("zero", {"glibc": [1.0] * 12, "glibc again": [1.0] * 12, "jemalloc": [0.0] * 12})
make("gap", {"glibc": [45.0] * 11 + [0.0], "glibc again": [45.0] * 12, "jemalloc": [40.0] * 12})
make("mixed", arms(40, mimalloc=around(40 * M, 0.01, 3)))
make("split", {"glibc": around(45 * M, 0.001, 12), "glibc again": around(54 * M, 0.001, 12),
               "jemalloc": around(50 * M, 0.001, 12)})
make("steady", {"glibc": [45 * M] * 12, "glibc again": [45 * M] * 12, "jemalloc": [40 * M] * 12})
make("noisy", {"glibc": [45 * M] * 12, "glibc again": [45 * M * (0.95, 1.06)[i % 2] for i in range(12)],
               "jemalloc": [41.2 * M] * 12})
make("noisier", {"glibc": [45 * M] * 12, "glibc again": [45 * M * (0.88, 1.13)[i % 2] for i in range(12)],
                 "jemalloc": [41.2 * M] * 12})
make("evil", {"glibc": around(45 * M, 0.01, 12), "glibc again": around(45 * M, 0.01, 12, 5),
              evil: around(50 * M, 0.01, 12)}, label="<b>|x|,\"\n\033[31m")
PY

# Before and after: both directions, memory by its values, the baseline as a control.
tool compare a worse
expect 0
shows 'Worse in B: time of jemalloc on mixed:lanes=1: x1.25'
shows 'Worse in B: RSS of jemalloc on mixed:lanes=1: x1.25'
shows '40.0 MiB ['
shows '50.0 MiB ['
shows 'same within 1.0 %'
shows_not 'note:'
[ ! -s err ] || fail "messages"
tool compare a better
expect 0
shows 'Better in B: RSS of jemalloc on mixed:lanes=1: x0.75'
shows_not 'Worse'
tool compare a same
expect 0
shows 'B is the same as A, within 1.0 %, in everything that was compared.'
shows ' ='
tool compare a three
expect 0
shows 'Nothing is proven to be better or worse in B.'
shows 'not enough rounds: 6 needed a side'
tool compare mixed mixed # one with rounds enough, one without
expect 0
shows 'Nothing is proven to be better or worse in B. The same: 3 of 5 comparisons. Not enough rounds: 2 comparisons;'
tool compare a wide
expect 0
shows 'not told apart'
shows_not 'Worse'

# The intervals, against what enumeration says.
tool compare a wide --export-json out.json
expect 0
py <<'PY'
from cells import *
import itertools, math
with open("out.json") as file:
    told = json.load(file)
check(told["schema"] == 1 and told["kind"] == "allocbench-compare", "the schema")
metric = [m for m in told["workloads"][0]["metrics"] if m["metric"] == "rss_bytes"][0]
check(metric["compared"] == "value" and [t["target"] for t in metric["targets"]] == ["glibc", "jemalloc"], "rows")
def critical(m, n, alpha):
    ways = [[0] * (m * n + 1) for _ in range(m + 1)]
    ways[0][0] = 1
    for rank in range(1, m + n + 1):
        for k in range(min(rank, m), 0, -1):
            for u in range(m * n, rank - k - 1, -1):
                if rank - k <= n:
                    ways[k][u] += ways[k - 1][u - (rank - k)]
    total, k = 0, 0
    while 2 * (total + ways[m][k]) <= alpha * math.comb(m + n, m):
        total += ways[m][k]
        k += 1
    return k
for metric in told["workloads"][0]["metrics"]:
    which = "value" if metric["compared"] == "value" else "ratio"
    for target in metric["targets"]:
        a = [r[which] for r in target["rounds_a"]]
        b = [r[which] for r in target["rounds_b"]]
        check(len(a) == 12 and len(b) == 12, "rounds")
        ratios = sorted(y / x for x in a for y in b)
        k = critical(12, 12, 0.05 / len(metric["targets"]))
        wanted = (ratios[k - 1], math.sqrt(ratios[71] * ratios[72]), ratios[144 - k])
        found = target["change"]
        for name, value in zip(("low", "estimate", "high"), wanted):
            check(abs(found[name] / value - 1) < 1e-9, "%s %s: %r, not %r" % (target["target"], name, found[name], value))
PY

# Looks share alpha: of 12 values the second and the last but one, not the third.
py <<'PY'
import json
told = json.load(open("wide/matrix.json"))
told.update(looks=3, look_rounds=12)
json.dump(told, open("wide/matrix.json", "w"))
PY
mv out.json once.json
tool compare a wide --export-json out.json
expect 0
py <<'PY'
from cells import *
def row(file):
    metrics = json.load(open(file))["workloads"][0]["metrics"]
    return [m for m in metrics if m["metric"] == "rss_bytes"][0]["targets"][1]
once, looked = row("once.json"), row("out.json")
values = sorted(r["value"] for r in looked["rounds_b"])
check(once["b"]["low"] == values[2] and once["b"]["high"] == values[9], "the middle at 95 %")
check(looked["b"]["low"] == values[1] and looked["b"]["high"] == values[10], "the middle at a third of it")
check(looked["change"]["low"] < once["change"]["low"] and looked["change"]["high"] > once["change"]["high"],
      "the change at a third of it")
PY

# Another machine: ratios to the baseline alone, and what differs is told.
tool compare a machine
expect 0
shows 'note: the machines differ in kernel (6.1.0 in A, 6.2.0 in B): times and memory do not compare, ratios to the baseline do'
shows 'target jemalloc differs in version (1.0 in A, 5.3 in B)'
shows_not 'MiB'
shows 'Worse in B: RSS of jemalloc on mixed:lanes=1: x1.25'
tool compare a merged --export-json out.json
expect 0
shows 'note: B holds rounds of 2 machines: times and memory do not compare'
shows_not 'MiB'
py <<'PY'
from cells import *
row = json.load(open("out.json"))["workloads"][0]["metrics"][0]["targets"][0]
check([value["machine"] for value in row["rounds_b"]] == [0, 1] * 6, "the machines of the rounds")
check("machine" not in row["rounds_a"][0], "one machine needs no index")
PY
tool compare a baseline
expect 0
shows 'target glibc differs in version (1.0 in A, 2.41 in B): it is the baseline, and every ratio to it changes with it'
tool compare a seeds
expect 0
shows 'the seed differs (1 in A, 2 in B): other tapes of the same workloads were played'
shows '--slice differs (0 in A, 7 in B)'
shows 'note: mode differs (a in A, b in B)'
shows_not novelty # A does not tell it
tool compare a tcmalloc
expect 0
shows 'target jemalloc is in A only'
shows 'target tcmalloc is in B only'
shows 'RSS glibc 45.0 MiB'
tool compare a split
expect 0
shows 'not compared: A/A separates'
shows_not 'Worse'
tool compare split a # on either side
expect 0
shows 'not compared: A/A separates'
shows_not 'Worse'
shows_not 'Better'
tool compare a gap # rounds that have no ratio were chosen by the value
expect 0
shows 'time jemalloc not compared: rounds without a ratio'

# What a threshold is of is in the tables, and what is said is the same with it and without.
tool compare a worse --fail-if 'odd_count<-5%' --fail-if 'live_bytes>+5%' --export-json out.json
expect 0
shows 'The same: 1 of 3 comparisons.'
py <<'PY'
from cells import *
told = json.load(open("out.json"))
metrics = {m["metric"]: m["targets"] for m in told["workloads"][0]["metrics"]}
check(metrics["odd_count"][0]["verdict"] == "better", "more is better where the metric says so")
check(metrics["live_bytes"][0]["text"] == "not compared: no direction is better", "no direction")
check(told["advice"][2:] == ["The same: 1 of 3 comparisons."] and "RSS" in told["advice"][1], "the advice")
PY

tool compare steady noisy # 3 % more, where equal things read 6 % apart
expect 0
shows_not 'Worse'
shows 'x1.03'
shows 'same within 6.0 %'
tool compare steady noisier # within 14 %, only noise is as large
expect 0
shows 'not told apart: 24 rounds might'
shows_not 'same within'
tool compare zero zero
expect 0
shows 'not compared:'

# What must not be compared.
tool compare a other
expect 3
one_line
says 'workload mixed:lanes=1 is in A only'
tool compare a longer
expect 3
one_line
says 'was played as mixed:lanes=1 in A and as mixed:lanes=1,steps=7 in B: other work'
tool compare a work
expect 3
one_line
says 'the same plan did other work in A and in B'
tool compare a against
expect 3
one_line
says 'the baseline is glibc in A and jemalloc in B'
tool compare command command2
expect 3
one_line
says '--lanes differs (0 in A, 4 in B)'
tool compare command command
expect 0
tool compare a failed
expect 0
shows 'RSS glibc'
tool compare machine failed
expect 3
one_line
says 'nothing was measured in both'
tool compare a nowhere
expect 3
one_line
says 'nowhere/matrix.json'
cp -r a broken
echo '{' >broken/matrix.json
tool compare broken a
expect 3
one_line
says 'broken/matrix.json:2:1'
tool compare a
expect 2
tool compare a b c
expect 2
tool compare --colour a a
expect 2
says "did you mean '--color'"
tool compare --help
expect 0
shows '--fail-if LIMIT'

# Names that would break a format.
tool compare evil evil --export-markdown page --export-json out.json --export-csv out.csv
expect 0
! grep -aq $'\033' out err page || fail "an escape"
! grep -q '<script>\|<b>' page || fail "HTML in the page"
py <<'PY'
from cells import *
import csv
evil = "<script>|\"`*_&amp;\033[31m"
told = json.load(open("out.json"))
check([t["target"] for t in told["workloads"][0]["metrics"][0]["targets"]] == [evil], "the name in JSON")
rows = list(csv.reader(open("out.csv", newline="")))
check(all(len(row) == len(rows[0]) for row in rows) and len(rows) == 4, "a rectangle")
check(rows[1][1] == evil.replace("\033", "\\x1b") and rows[1][0].startswith("<b>|x|,\"\n"), "the names in CSV")
for line in open("page", encoding="utf-8"):
    if line.startswith("|"):
        check(line.replace("\\\\", "").replace("\\|", "").count("|") == 7, "a row: " + line)
PY

# Nothing is written into either.
find a worse -type f -newer page | grep -q . && fail "it wrote into a directory"
[ ! -e a/REPORT.md ] || fail "it made a report"
