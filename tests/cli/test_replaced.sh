#!/bin/bash
# A library that is replaced in the middle of a matrix: its cells are not pooled under one name.
. "$(dirname "$0")/common.sh"

JEMALLOC=/usr/lib/x86_64-linux-gnu/libjemalloc.so.2
TCMALLOC=/usr/lib/x86_64-linux-gnu/libtcmalloc_minimal.so.4
[ -e "$JEMALLOC" ] && [ -e "$TCMALLOC" ] || skip "two allocators are wanted"

replaced() {
    local folder=$1
    shift
    cp -L "$JEMALLOC" own.so
    tool_start run -t own="$PWD/own.so" --rounds 200 -o "$folder" "$@"
    until [ -e "$folder/rounds/w00.r000.json" ]; do
        kill -0 "$running" || fail "it ended"
        sleep 0.02
    done
    cp -L "$TCMALLOC" new.so
    mv new.so own.so
    until grep -q "was replaced in the middle" err; do
        kill -0 "$running" || fail "it ended"
        sleep 0.02
    done
    kill -INT "$running"
    tool_end
    expect 130
    py "$folder" <<'PY'
from cells import *
for _, cell, lines in cells(sys.argv[1]):
    if cell["target"] == "own" and cell["status"] == "ok":
        check(lines[0]["allocator"]["family"] == "jemalloc", "another allocator: %s" % cell)
PY
}

replaced tape "$SMALL"
replaced command -- sh -c :
