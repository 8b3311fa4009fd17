#!/bin/bash
# --export-json, -csv, -markdown: what they hold, and where they go.
. "$(dirname "$0")/common.sh"

py <<'PY'
from results import *
M = 1 << 20
make("here", {"glibc": around(45 * M, 0.01, 12), "glibc again": around(45 * M, 0.01, 12, 5),
              "jemalloc": around(49.5 * M, 0.01, 12, 11), "tcmalloc": [1e9 / 3] * 12},
     failed={("tcmalloc", 3)})
PY
tool report here --export-json out.json --export-csv out.csv --export-markdown out.md --fail-if 'rss>+5%'
expect 1
shows 'Report: here/report.html'
py <<'PY'
from cells import *
import csv
told = json.load(open("out.json"))
check(told["schema"] == 1 and told["kind"] == "allocbench-report", "schema")
check(told["seed"] == "1" and told["baseline"] == "glibc" and told["host"]["kernel"] == "6.1.0", "head")
check([t["name"] for t in told["targets"]] == ["glibc", "jemalloc", "tcmalloc"], "targets")
check(told["advice"] and all(isinstance(text, str) for text in told["advice"]), "advice")
work = told["workloads"][0]
check(work["label"] == "mixed:lanes=1" and work["rounds"] == 12 and work["kind"] == "tape", "workload")
check(work["failed"] == [{"round": 3, "target": "tcmalloc", "again": False, "reason": "it broke"}], "failed")
metrics = {m["metric"]: m for m in work["metrics"]}
check(set(metrics) == {"time_ns_per_operation", "rss_bytes", "live_bytes", "odd_count"}, "metrics")
rss = metrics["rss_bytes"]
check(rss["judged"] and rss["is_memory"] and rss["is_main"] and not rss["refused"], "judged")
check(rss["threshold"] >= 0.01 and rss["aa"]["count"] == 12 and rss["aa"]["low"] < 1 < rss["aa"]["high"], "A/A")
rows = {(t["target"], t["again"]): t for t in rss["targets"]}
check(set(rows) == {("glibc", False), ("glibc", True), ("jemalloc", False), ("tcmalloc", False)}, "rows")
row = rows["jemalloc", False]
check(row["verdict"] == "worse" and row["rounds"] == 12 and row["rank"][0] >= 1, "verdict")
check(row["ratio"]["low"] < 1.1 < row["ratio"]["high"], "interval")
# Numbers are those of the records, to the last bit; ratios are of the same round's baseline.
base = {v["round"]: v["value"] for v in rows["glibc", False]["values"]}
for one, cell, lines in cells("here"):
    if cell["again"] or lines is None:
        continue
    at = {v["round"]: v for v in rows[cell["target"], False]["values"]}[one["round"]]
    wanted = [l["value"] for l in lines if l["record"] == "metric" and l["name"] == "rss_bytes"]
    check(at["value"] == wanted[0], "a value")
    if cell["target"] != "glibc":
        check(at["ratio"] == at["value"] / base[one["round"]], "a ratio")
check(len(rows["tcmalloc", False]["values"]) == 11, "failed rounds have no value")
check(rows["glibc", True]["ratio"] == rss["aa"], "A/A of the second cells")
check(metrics["odd_count"]["judged"] is False and metrics["odd_count"]["threshold"] is None, "not judged")
check(metrics["odd_count"]["direction"] == "higher" and metrics["live_bytes"]["direction"] == "none", "directions")
gates = told["thresholds"]
check([g["result"] for g in gates] == ["failed", "failed"], "thresholds")
check(gates[0]["limit"] == 1.05 and gates[0]["found"]["low"] > 1.05, "what failed")

lines = list(csv.reader(open("out.csv", newline="")))
check({len(line) for line in lines} == {26}, "a rectangle")
table = list(csv.DictReader(open("out.csv", newline="")))
check(len(table) == 16, "a line a row")
line = [l for l in table if l["metric"] == "rss_bytes" and l["target"] == "jemalloc"][0]
check(line["verdict"] == "worse" and float(line["ratio_low"]) == row["ratio"]["low"], "the same verdict")
check([float(v.split(":")[1]) for v in line["values"].split()] == [v["value"] for v in row["values"]], "values")
again = [l for l in table if l["metric"] == "rss_bytes" and l["again"] == "1"][0]
check(again["verdict"] == "" and again["target"] == "glibc", "A/A has no verdict")
page = open("out.md", encoding="utf-8").read()
check("## Thresholds" in page and "FAILED" in page and page.startswith("# allocbench report"), "the page")
PY

# Standard output is the export's alone.
for kind in json csv markdown; do
    tool report here "--export-$kind" - --fail-if 'rss>+5%'
    expect 1
    shows_not 'Report:'
    says 'rss>+5%: FAILED'
done
tool report here --export-json -
expect 0
cmp -s out <(cat out.json) && fail "thresholds in both"
python3 -m json.tool out >/dev/null || fail "no JSON"
tool report here --export-json - --export-csv -
expect 2
one_line
says '--export-csv -: another export goes to standard output already'

# A file is there whole or not at all; what is none is written into.
tool report here --export-json nowhere/out.json
expect 3
says 'nowhere/out.json'
echo old >kept.json
chmod a-w . 2>/dev/null
if [ "$(id -u)" -ne 0 ]; then
    tool report here --export-json kept.json
    expect 3
    [ "$(cat kept.json)" = old ] || fail "it was damaged"
fi
chmod u+w .
# By links only: a tool that is wrong here would take the place of a device.
echo a longer text than the export of nothing >real.csv
ln -s real.csv link.csv
tool report here --export-csv link.csv
expect 0
[ -L link.csv ] || fail "a link was replaced"
cmp real.csv out.csv || fail "another CSV through a link"
mkfifo pipe
cat pipe >piped &
tool report here --export-csv pipe
expect 0
wait
cmp piped out.csv || fail "another CSV through a pipe"
ln -s /dev/full full
tool report here --export-csv full
expect 3
says 'full cannot be written'
tool report here --export-json ''
expect 2
says '--export-json wants a file'

# Beside a plan of another folder a file still belongs to where it was typed.
mkdir folder
(cd folder && "$ALLOCBENCH" plan -t glibc --rounds 1 -o ../plan.json -- true >/dev/null 2>&1) || fail "no plan"
tool run --plan plan.json -o ran --export-json ran.json
expect 0
[ -s ran.json ] || fail "the export went elsewhere"

# Nothing goes over the records of a result directory, or twice into one file.
cp -r here spared
for file in matrix.json plan.json lock rounds/w00.r000.json cells/x.json; do
    tool report here --export-json "here/$file"
    expect 3
    says "is one of the records that a result directory is made of"
done
(cd here && tool report . --export-csv matrix.json; expect 3)
tool report here --export-json one --export-csv one
expect 2
says "another export goes there already"
diff -r spared/rounds here/rounds && cmp spared/matrix.json here/matrix.json || fail "a record changed"
