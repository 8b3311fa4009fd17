#!/bin/bash
# Ctrl-C: exit 130, whole rounds are kept, the same command goes on. Nothing survives.
. "$(dirname "$0")/common.sh"
needs_jemalloc

first_round() {
    [ -e "$1/rounds/w00.r000.json" ]
}

child_hangs() {
    local pid
    for pid in $(survivors); do
        if grep -q allocbench-cell "/proc/$pid/cmdline"; then
            return 0
        fi
    done
    return 1
}

# interrupt SIGNAL NAME ARMS ARGS...
interrupt() {
    local signal=$1 name=$2 arms=$3
    shift 3
    tool_start run --rounds 1000 -o "$name" "$@"
    await first_round "$name"
    sleep 0.1
    kill "-$signal" "$running"
    tool_end
    expect 130
    says "interrupted: whole rounds are kept; the same command goes on"
    [ -z "$(survivors)" ] || fail "still there: $(survivors)"
    finished=$(find "$name/rounds" -name '*.json' | wc -l)
    [ "$finished" -ge 1 ] && [ "$finished" -lt 1000 ] || fail "$finished rounds are finished"
    shows "$finished of 1000 rounds"
    py "$name" "$finished" "$arms" <<'PY'
from cells import *
check_whole(sys.argv[1], int(sys.argv[2]), int(sys.argv[3]))
# Nothing of the interrupted round is there.
names = {name.split(".t")[0].split(".floor")[0] for name in os.listdir(sys.argv[1] + "/cells")}
check(len(names) == int(sys.argv[2]), "cells of other rounds: %s" % names)
PY
    tool run --rounds $((finished + 1)) -o "$name" "$@"
    expect 0
    says "$finished of $((finished + 1)) rounds are there already"
    py "$name" $((finished + 1)) "$arms" <<'PY'
from cells import *
check_whole(sys.argv[1], int(sys.argv[2]), int(sys.argv[3]))
PY
}

interrupt INT tape 4 -t glibc -t jemalloc "$LONG"
interrupt TERM command 3 -t glibc -t jemalloc -- sh -c 'sleep 0.3'
interrupt INT sequential 4 -t glibc -t jemalloc --sequential "$LONG"

# Before anything is timed: a child of the preflight hangs.
cat >hang.c <<'C'
#include <unistd.h>
__attribute__((constructor)) static void hang(void) { pause(); }
C
if cc -shared -fPIC -o hang.so hang.c 2>cc.log; then
    tool_start run --rounds 1 -o preflight -t hang=hang.so "$SMALL"
    await child_hangs
    kill -INT "$running"
    tool_end
    expect 130
    one_line
    says "interrupted before anything was timed"
    [ -z "$(survivors)" ] || fail "still there: $(survivors)"
    untouched preflight
fi
