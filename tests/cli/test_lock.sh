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

# A tool that would add rounds of another target, or to a verdict, waits for nobody either.
tool_start run -t glibc --rounds 200 -o two "$LONG"
await test -e two/rounds/w00.r000.json
first=$running
for more in "-t glibc:A=1 -r 1" "-r +2" --until-decided; do
    # shellcheck disable=SC2086
    tool run -t glibc $more -o two "$LONG"
    expect 3
    one_line
    says "another allocbench (pid $first) works in two"
done
kill -INT "$first"
running=$first
tool_end
expect 130
py <<'PY'
from cells import *
check(len(matrix("two")["targets"]) == 1 and matrix("two")["rounds"] == 200, "it is the first's")
check(matrix("two")["unfinished"] == 200, "it is not done")
check_whole("two", len(rounds("two")), 3)
PY

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
