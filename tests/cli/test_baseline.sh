#!/bin/bash
# The baseline runs twice a round; it is added where it is not among the targets.
. "$(dirname "$0")/common.sh"
needs_jemalloc

# arms DIR TARGET...: "again" in brackets.
arms() {
    py "$@" <<'PY'
from cells import *
for one in rounds(sys.argv[1]):
    found = ["%s%s" % (cell["target"] or "floor", " (again)" if cell["again"] else "")
             for cell in one["cells"]]
    check(sorted(found) == sorted(sys.argv[2:]), "%s" % found)
PY
}

tool run "$SMALL" -t jemalloc --rounds 2 -o added
expect 0
arms added jemalloc glibc "glibc (again)" floor
shows "glibc (base)"
shows "glibc (A/A)"

tool run "$SMALL" -t glibc -t jemalloc --baseline jemalloc --rounds 1 -o jemalloc
expect 0
arms jemalloc glibc jemalloc "jemalloc (again)" floor
shows "jemalloc (base)"
shows "x: ratio to jemalloc"

tool run "$SMALL" -t glibc --baseline "own=$JEMALLOC" --rounds 1 -o own
expect 0
arms own glibc own "own (again)" floor
tool run "$SMALL" -t "own=$JEMALLOC" -t glibc --baseline own --rounds 1 -o named
expect 0
arms named own "own (again)" glibc floor
shows "own (base)"

tool run "$SMALL" -t glibc -t glibc --rounds 1 --no-floor -o twice
expect 0
arms twice glibc "glibc (again)"
tool run "$SMALL" -t "a=$JEMALLOC" -t "a=$JEMALLOC,X=1" --rounds 1 -o same
expect 2
says "two targets are called 'a'"
tool run "$SMALL" -t glibc --baseline jemaloc --rounds 1 -o wrong
expect 2
says "there is no target 'jemaloc'; did you mean 'jemalloc'?"

# Without -t: every one that is found, each library once; the others are named as missing.
tool run "$SMALL" --rounds 1 -o all
expect 0
shows "missing:"
py <<'PY'
from cells import *
here = [target for target in matrix("all")["targets"] if target["missing"] is None]
libraries = [target["library"] for target in here if target["library"]]
check(len(libraries) == len(set(libraries)) >= 1, "each once: %s" % libraries)
check({"glibc", "glibc-arena2", "glibc-trim", "jemalloc"} <= {t["name"] for t in here}, "found")
check_whole("all", 1, len(here) + 2)
PY

# Cells run in an order that is shuffled by the seed: not the same in every round.
tool run -t glibc -t jemalloc -t glibc-arena2 --rounds 6 -o order -- true
expect 0
py <<'PY'
from cells import *
orders = set()
for one in rounds("order"):
    at = [(os.stat("order/" + cell["file"]).st_mtime_ns, number)
          for number, cell in enumerate(one["cells"])]
    orders.add(tuple(number for _, number in sorted(at)))
check(len(orders) > 1, "one order in all rounds: %s" % orders)
PY
