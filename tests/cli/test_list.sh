#!/bin/bash
# What there is: workloads with their scale and parameters, targets with where they are, metrics
# with units.
. "$(dirname "$0")/common.sh"

tool list
expect 0
[ ! -s err ] || fail "messages"
for name in churn-local churn-cross mixed glibc-arena2 scudo rss_per_live; do
    grep -q "^$name " out || fail "$name is not listed"
done

# A line each, that fits: name, operations, live bytes, lanes, what it shows.
tool list workloads
expect 0
shows_not "source"
py <<'PY'
from cells import *
lines = open("out", encoding="utf-8").read().split("\n")
end = lines.index("")
check(lines[0].split()[:4] == ["workload", "calls", "live", "lanes"], lines[0])
check(end > 10, "workloads: %d" % (end - 1))
for line in lines[:end]:
    check(len(line) <= 100, "%d columns: %s" % (len(line), line))
    check(line == line.rstrip(), "blanks at the end: " + line)
words = {line.split()[0]: line.split() for line in lines[1:end]}
check(len(words) == end - 1, "each once")
for name, word in words.items():
    check(float(word[1].rstrip("kMG")) > 0, name + ": operations")
    check(float(word[2]) > 0 and word[3] in ("B", "KiB", "MiB", "GiB"), name + ": live bytes")
    check(int(word[4]) >= 1, name + ": lanes")
    check(len(word) > 7, name + ": what it shows")
cross = words["churn-cross"]
check(cross[1] == "3.36M" and cross[4] == "4", str(cross))
PY

# With all that defines them.
tool list workloads --verbose
expect 0
py <<'PY'
from cells import *
text = open("out", encoding="utf-8").read()
blocks = text.split("\n\n")[:-1]
check(len(blocks) > 10, "%d blocks" % len(blocks))
for block in blocks:
    name = block.split(":")[0]
    for fact in ("version", "source", "timed", "touched", "full", "quick"):
        check("\n    %-8s " % fact in block, "%s: no %s" % (name, fact))
    check(block.count("[its length: --duration sets it]") <= 1, name + ": lengths")
    check("\n      lanes=" in block, name + ": lanes")
cross = next(block for block in blocks if block.startswith("churn-cross:"))
check("\n      slots=60000" in cross, "a parameter with its preset: " + cross)
rounds = next(line for line in cross.split("\n") if line.startswith("      rounds="))
check("(quick: " in rounds and rounds.endswith("[its length: --duration sets it]"), rounds)
check("    full     3.36M operations, " in cross and " MiB live at most, 4 lanes\n" in cross, cross)
PY

tool list targets
expect 0
shows "glibc the C library's own malloc"
[ -z "$JEMALLOC" ] || shows "$(realpath "$JEMALLOC")"
if [ -z "$(library libhoard.so)" ]; then
    shows "not found on this machine; it comes with a build of emeryberger/Hoard"
fi
shows "-t NAME=/path/lib.so"

# Every metric that is listed with a direction is one that a cell can have.
tool run -t glibc --rounds 1 -o here "$SMALL"
expect 0
tool list metrics
expect 0
py <<'PY'
from cells import *
listed = {line.split()[0] for line in open("out")}
found = set()
for _, _, lines in cells("here"):
    found |= set(metrics(lines))
check(found and found <= listed, "not listed: %s" % (found - listed))
PY
