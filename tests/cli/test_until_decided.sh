#!/bin/bash
# --until-decided looks at R, 2 R and 4 R rounds, says what it sees, and stops when all is told.
. "$(dirname "$0")/common.sh"
needs_jemalloc

# What is decided: jemalloc holds more of so small a workload, and that is plain to see.
tool run -o here --until-decided -t jemalloc mixed:lanes=1,slots=64,steps=60000
expect 0
says "look at 10 rounds: mixed:lanes=1,slots=64,steps=60000 is"
py <<'PY'
from cells import *
whole = matrix("here")
check(whole["looks"] == 3 and whole["look_rounds"] == 10, "the looks")
check(len(rounds("here")) in (10, 20, 40) and whole["rounds"] == len(rounds("here")), "rounds")
check("unfinished" not in whole, "it is done")
PY

# The same command finds nothing left to do, and the looks stay.
tool run -o here --until-decided -t jemalloc mixed:lanes=1,slots=64,steps=60000
expect 0
says "rounds are there already"
tool run -o here --until-decided -r 12 -t jemalloc mixed:lanes=1,slots=64,steps=60000
expect 3
says "here is looked at after 10, 20 and 40 rounds, and that stays so"

tool run -o none --until-decided -r 9 -t jemalloc "$SMALL"
expect 2
says "the first must be at 10 rounds or more"
tool run -o none --until-decided --max-rounds 9 -t jemalloc "$SMALL"
expect 2
says "--max-rounds 9: the first look is at 10 rounds"
tool run -o none --max-rounds 9 -t jemalloc "$SMALL"
expect 2
untouched none

# What cannot be told goes on to the bound: a program whose memory is thrown by
# dice, under the target alone.
cat >dice.sh <<'SH'
n=30000
[ -z "$A" ] || n=$(od -An -N2 -tu2 /dev/urandom)
exec dd if=/dev/zero of=/dev/null bs="$((n * 500 + 1))" count=1 2>/dev/null
SH
# Ctrl-C in the second stretch: the same command goes on and looks again.
tool_start run -o stopped --until-decided -t glibc:A=1 -- sh dice.sh
await test -e stopped/rounds/w00.r011.json
kill -INT "$running"
tool_end
expect 130
says "look at 10 rounds: sh dice.sh is not ("
says "the same command goes on"
tool run -o stopped --until-decided --max-rounds 20 -t glibc:A=1 -- sh dice.sh
expect 0
says "look at 20 rounds: sh dice.sh is not ("
says_not "look at 40 rounds"
py <<'PY'
from cells import *
check_whole("stopped", 20, 3)
PY
