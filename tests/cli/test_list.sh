#!/bin/bash
# What there is: workloads with their parameters, targets with where they are, metrics with units.
. "$(dirname "$0")/common.sh"

tool list
expect 0
[ ! -s err ] || fail "messages"
for name in churn-local churn-cross mixed glibc-arena2 scudo rss_per_live; do
    grep -q "^$name " out || fail "$name is not listed"
done

tool list workloads
expect 0
grep -q '^ *slots=60000' out || fail "no parameter with its preset"
shows_not "source:"
tool list workloads --verbose
expect 0
shows "source:"
shows "version 1"

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
