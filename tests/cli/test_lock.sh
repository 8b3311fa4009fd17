#!/bin/bash
# One tool a directory: a second is told who holds it.
. "$(dirname "$0")/common.sh"

first_round() {
    [ -e here/rounds/w00.r000.json ]
}

"$ALLOCBENCH" run -t glibc --rounds 200 -o here "$LONG" >first.out 2>first.err &
first=$!
await first_round
tool run -t glibc --rounds 200 -o here "$LONG"
expect 3
one_line
says "another allocbench (pid $first) works in here"
says "-o"
kill -0 "$first" || fail "the first has gone"

# To look is allowed.
tool report here
expect 0
shows "note: a run is still writing there"
shows_not " died and left "
kill -INT "$first"
status=0
wait "$first" || status=$?
expect 130

# The lock goes with its holder.
tool report here
expect 0
shows_not "still writing"
tool run -t glibc --rounds 1 -o here "$LONG"
expect 0
shows_not "still writing"

# Closed descriptors do not become files of the directory, into which the table would go.
status=0
MALLOC_ARENA_MAX=1 "$ALLOCBENCH" run -t glibc --rounds 1 -o closed "$SMALL" -- echo printed \
    <&- >&- 2>&- || status=$?
expect 0
grep -qx 'pid [0-9]*' closed/lock && [ "$(wc -l <closed/lock)" -eq 1 ] ||
    fail "the lock holds $(cat closed/lock)"
[ "$(cat closed/cells/w01.r000.t00.out)" = printed ] || fail "the command's output"
py <<'PY'
from cells import *
check(all(cell["status"] == "ok" for _, cell, _ in cells("closed")), "all is well")
PY

# A lock that is a link is nobody's to write.
mkdir linked
echo precious >precious
ln -s ../precious linked/lock
tool run -t glibc --rounds 1 -o linked "$SMALL"
expect 3
says "linked/lock"
[ "$(cat precious)" = precious ] || fail "the link's target was written"
