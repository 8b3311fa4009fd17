#!/bin/bash
# A disk that fills up, at whatever point: exit 3, one clear line, nothing half-written is taken for
# whole; with room again the same command goes on.
. "$(dirname "$0")/common.sh"
needs_jemalloc
mkdir disk
[ "$(id -u)" -eq 0 ] && mount -t tmpfs -o size=1m tmpfs disk 2>/dev/null ||
    skip "no small file system can be mounted here"
umount disk

# fill KIB ARMS ARGS...: with so much room.
fill() {
    local size=$1 arms=$2
    shift 2
    mount -t tmpfs -o "size=${size}k" tmpfs disk
    tool run -t glibc -t jemalloc --rounds 2 -o disk/here "$@"
    expect 3
    one_line
    says "disk/here"
    says "No space left on device"
    py <<'PY'
from cells import *
import glob
for name in glob.glob("disk/here/cells/*.jsonl"):
    records(name)
for one in rounds("disk/here"):
    check(all(cell["status"] == "ok" for cell in one["cells"]), "a target is blamed: %s" % one)
if os.path.exists("disk/here/matrix.json"):
    matrix("disk/here")
check(not glob.glob("disk/here/**/*.tmp", recursive=True), "a temporary file stays")
PY
    mount -o remount,size=64m disk
    tool run -t glibc -t jemalloc --rounds 2 -o disk/here "$@"
    expect 0
    py "$arms" <<'PY'
from cells import *
check_whole("disk/here", 2, int(sys.argv[1]))
PY
    umount disk
}

# Too little for matrix.json, for the first round's cells, the second round's, the report.
for size in 4 8 32 48 64 80 96; do
    fill "$size" 4 "$SMALL"
done
for size in 4 16 32 48 64 96; do
    fill "$size" 3 -- sh -c 'head -c 10000 /dev/zero || exit 1'
done

# The disk fills up while rounds are added: what was there stays, and the same command goes on.
mount -t tmpfs -o size=64m tmpfs disk
tool run -t glibc --rounds 2 -o disk/here "$SMALL"
expect 0
cp -r disk/here/rounds disk/here/cells .
full=$(df -k --output=used disk | tail -n 1)
mount -o remount,size=$((full + 240))k disk
more=(run -t glibc -t jemalloc --rounds +6 -o disk/here "$SMALL")
tool "${more[@]}"
expect 3
says "No space left on device"
added=$(($(find disk/here/rounds -name '*.json' | wc -l) - 2))
[ "$added" -ge 1 ] && [ "$added" -lt 6 ] || fail "$added rounds were added"
mount -o remount,size=64m disk
tool "${more[@]}"
expect 0
diff -r rounds disk/here/rounds | grep -v '^Only in disk/here' && fail "rounds were touched"
diff -r cells disk/here/cells | grep -v '^Only in disk/here' && fail "cells were touched"
py <<'PY'
from cells import *
check([len(one["cells"]) for one in rounds("disk/here")] == [3, 3] + 6 * [4], "the rounds")
PY
umount disk

# Standard output that cannot be written.
status=0
"$ALLOCBENCH" list >/dev/full 2>err || status=$?
expect 3
one_line
says "standard output cannot be written"
status=0
"$ALLOCBENCH" run -t glibc --rounds 1 -o here "$SMALL" >/dev/full 2>err || status=$?
expect 3
one_line
says "standard output cannot be written"
