#!/bin/bash
# An allocator that crashes or hangs in the middle of a workload: a marked cell, the others go on.
. "$(dirname "$0")/common.sh"
LIBRARY=${BAD_ALLOCATOR_LIBRARY:?the path of libbad-allocator.so is wanted}

# goes_wrong HOW REASON ARGS...: of 2 rounds, in which glibc is whole.
goes_wrong() {
    local how=$1 reason=$2
    shift 2
    rm -rf here
    tool run -t "bad=$LIBRARY,BAD_ALLOCATOR=$how" -t glibc --timeout 1s --rounds 2 -o here "$@"
    expect 4
    says "round 1, bad: $reason"
    says "round 2, bad: $reason"
    says "2 cells failed: see the report"
    [ "$(said | wc -l)" -eq 3 ] || fail "not one line a cell"
    shows "failed: bad, round"
    shows "$reason"
    py "$reason" <<'PY'
from cells import *
found = rounds("here")
check(len(found) == 2, "both rounds are finished")
for one, cell, lines in cells("here"):
    if cell["target"] == "bad":
        check(cell["status"] == "failed" and cell["file"] is None, "marked: %s" % cell)
        check(cell["reason"].startswith(sys.argv[1]), "with its reason: %s" % cell)
    else:
        check(cell["status"] == "ok" and lines is not None, "the others go on: %s" % cell)
PY
    grep -q "$reason" here/REPORT.md || fail "REPORT.md does not say why"
    # A failed cell stays one when all is there already.
    tool run -t "bad=$LIBRARY,BAD_ALLOCATOR=$how" -t glibc --timeout 1s --rounds 2 -o here "$@"
    expect 4
    says "2 cells failed: see the report"
}

goes_wrong crash "killed by SIGABRT" --sequential "$SMALL"
goes_wrong crash "killed by SIGABRT" "$SMALL"
goes_wrong hang "hung: no answer for 1 s (--timeout)" "$SMALL"
goes_wrong hang "hung: no end after 1 s" \
    -- /usr/bin/python3 -X utf8 -c 'x = [str(i) * 200 for i in range(6000)]'

# The baseline itself: nothing to compare with, but the other is there.
tool run -t glibc --baseline "bad=$LIBRARY,BAD_ALLOCATOR=crash" --rounds 1 -o base "$SMALL"
expect 4
says "2 cells failed"
shows "failed: bad (A/A)"
py <<'PY'
from cells import *
good = [cell for _, cell, _ in cells("base") if cell["status"] == "ok"]
check([cell["target"] for cell in good] == ["glibc", None], "glibc and the floor go on")
PY

# Without a fault it is measured like any other: the same work, all of it in fresh memory.
tool run -t "bad=$LIBRARY" -t glibc --rounds 1 -o good "$SMALL"
expect 0
py <<'PY'
from cells import *
check_whole("good", 1, 4)
rss = {cell["target"]: metrics(lines)["rss_bytes"] for _, cell, lines in cells("good")}
check(rss["bad"] > 10 * rss["glibc"], "what is never freed is seen: %s" % rss)
PY

# An allocator that failed once is tried again when it is asked for; the whole round is run anew.
tool run -t "bad=$LIBRARY,BAD_ALLOCATOR=crash" -t glibc --rounds 2 -o again --no-floor "$SMALL"
expect 4
before=$(stat -c '%i %y' again/rounds/w00.r000.json)
tool run -t "bad=$LIBRARY,BAD_ALLOCATOR=crash" -t glibc --rounds 2 -o again --no-floor "$SMALL"
expect 4
[ "$(stat -c '%i %y' again/rounds/w00.r000.json)" = "$before" ] || fail "a finished round was run again"
tool run -t "bad=$LIBRARY,BAD_ALLOCATOR=crash" -t glibc --rounds 2 -o again --no-floor \
    --retry-failed "$SMALL"
expect 4
[ "$(stat -c '%i %y' again/rounds/w00.r000.json)" != "$before" ] || fail "the round was not run again"

# When nothing works at all the other rounds are not run.
tool run -t glibc --rounds 3 -o hopeless -- false
expect 4
says "every cell of a round failed"
[ "$(find hopeless/rounds -name '*.json' | wc -l)" -eq 1 ] || fail "more than one round was run"

# What a target says on standard error is heard.
if [ -e /usr/lib/x86_64-linux-gnu/libjemalloc.so.2 ]; then
    tool run -t jemalloc:MALLOC_CONF=nonsense:1 --rounds 2 -o words --no-floor "$SMALL"
    expect 0
    says "target jemalloc:MALLOC_CONF=nonsense:1 said on standard error: "
    [ "$(grep -c 'said on standard error' err)" -eq 1 ] || fail "said more than once"
    grep -q "said on standard error" words/REPORT.md || fail "REPORT.md does not say it"
fi
