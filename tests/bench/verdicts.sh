#!/bin/bash
# verdicts.py with a matrix of each kind and few rounds: what it counts, that it goes on, its table.
# Usage: verdicts.sh ALLOCBENCH LIBVERDICTS-WASTE
set -eu

here=$(cd "$(dirname "$0")" && pwd)
tool=$(realpath "$1")
waste=$(realpath "$2")
scratch=$(mktemp -d "${TMPDIR:-/tmp}/allocbench-verdicts.XXXXXX")
trap 'rm -rf "$scratch"' EXIT
cd "$scratch"
unset "${!ALLOCBENCH_@}" "${!MALLOC_@}" LD_PRELOAD GLIBC_TUNABLES
export PYTHONDONTWRITEBYTECODE=1
status=0

fail() {
    echo "FAILED: $*"
    cat out err 2>/dev/null || true
    exit 1
}

verdicts() {
    status=0
    /usr/bin/python3 "$here/verdicts.py" "$@" >out 2>err </dev/null || status=$?
}

expect() {
    [ "$status" -eq "$1" ] || fail "ended with status $status, not $1"
}

shows() {
    grep -qE -- "$1" out || fail "its table does not show: $1"
}

if /usr/bin/python3 -c 'import scipy.stats' 2>/dev/null; then
    verdicts --self-check
    expect 0
fi

# made FALSE COUNT: so many A/A matrices, so many of them with a false verdict.
made() {
    rm -rf made
    mkdir made
    /usr/bin/python3 - "$@" >made/matrices.jsonl <<'PY'
import json, sys
false, count = map(int, sys.argv[1:])
print(json.dumps({"record": "settings", "rounds": 10}))
for number in range(count):
    rows = [{"workload": "mixed", "metric": name, "verdict": verdict, "ratio": 1.0, "low": low,
             "high": 1.02, "aa_low": 0.99, "aa_high": 1.01, "threshold": 0.01}
            for name, verdict, low in (("rss_bytes", "same", 0.99),
                                       ("cpu_ns", "worse" if number < false else "open",
                                        1.015 if number < false else 0.9))]
    print(json.dumps({"record": "same", "number": number, "load": 1.0, "rows": rows}))
PY
    verdicts --table made
}

made 12 100
expect 1
shows 'over all metrics: 12 of 100 = 12\.0 % \[6\.4 20\.0\]'
shows '^false verdicts: more than 5 %'
shows '^mixed cpu_ns +0 +88 +0 +0 +0 +12 +1\.0 %   12 of 100 = 12\.0 %'
made 5 100
expect 0
shows '^false verdicts: consistent with 5 % or less'
made 0 100
expect 0
shows 'over all metrics: 0 of 100 = 0\.0 % \[0\.0 3\.6\]'
shows '^false verdicts: 5 % or less'

# A real one; then a planted one more, whose waste is given here.
verdicts "$tool" 1 --planted 0 --rounds 6 --waste "$waste" --output here
expect 0
shows '^A/A: glibc beside glibc, 1 matrices of 6 rounds'
for name in 'mixed time_ns_per_operation' 'churn-local rss_bytes' 'larson rss_bytes' 'command '; do
    shows "^$name.* 0 of 1 = |^$name.* 1 of 1 = "
done
[ "$(find here -type f)" = here/matrices.jsonl ] || fail "it leaves $(find here -type f)"
cp here/matrices.jsonl before
for name in mixed churn-local larson command; do
    printf '{"record": "calibrated", "workload": "%s", "waste": {"time": 20000, "memory": 50}}\n' "$name"
done >>here/matrices.jsonl
printf '{"record": "same", "num' >>here/matrices.jsonl # a crash
verdicts "$tool" 1 --planted 1 --rounds 6 --waste "$waste" --output here
expect 0
head -n 2 here/matrices.jsonl | cmp - before || fail "what was there was touched"
shows '^A/A: glibc beside glibc, 1 matrices of 6 rounds'
shows '^planted: 10 % time, 5 % memory, 1 matrices of 6 rounds'
for name in 'time +mixed time_ns_per_operation' 'memory +mixed rss_bytes' 'time +command ' \
    'memory +command ' 'time +larson time_ns' 'memory +churn-local rss_bytes'; do
    shows "^$name"
done
/usr/bin/python3 - <<'PY' || fail "the waste does not show"
import json
with open("here/matrices.jsonl") as lines:
    rows = [json.loads(line) for line in lines][-1]["rows"]
# Memory is what each block got, whatever the machine does.
share = [row["ratio"] for row in rows if row["workload"] == "churn-local" and
         row["metric"] == "rss_bytes" and row["planted"] == "memory"]
assert len(share) == 1 and 1.03 < share[0] < 1.07, share
PY

# Other settings are other matrices.
verdicts "$tool" 1 --rounds 7 --waste "$waste" --output here
expect 2
grep -q 'is of another rounds; give another --output' err || fail "it does not say why"
