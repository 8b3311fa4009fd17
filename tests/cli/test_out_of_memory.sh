#!/bin/bash
# A cell that the kernel kills for memory: marked, with the reason; the others go on.
. "$(dirname "$0")/common.sh"
LIBRARY=${BAD_ALLOCATOR_LIBRARY:?the path of libbad-allocator.so is wanted}
[ "$(id -u)" -eq 0 ] || skip "a memory cgroup can be made by root only"

# A group of our own, version 1 or 2, with 96 MiB.
LIMIT=$((96 << 20))
group=
for root in /sys/fs/cgroup/memory /sys/fs/cgroup /sys/fs/cgroup/unified; do
    [ -d "$root" ] && mkdir "$root/allocbench-cli-$$" 2>/dev/null || continue
    group=$root/allocbench-cli-$$
    if echo "$LIMIT" >"$group/memory.limit_in_bytes" || echo "$LIMIT" >"$group/memory.max"; then
        break
    fi 2>/dev/null
    rmdir "$group"
    group=
done
[ -n "$group" ] || skip "no memory cgroup can be made here"
remove_group() {
    clean_up
    left=100
    until rmdir "$group" 2>/dev/null || [ "$left" -eq 0 ]; do
        left=$((left - 1))
        sleep 0.05
    done
}
trap remove_group EXIT
for file in memory.memsw.limit_in_bytes memory.swap.max; do
    [ ! -e "$group/$file" ] || echo "$LIMIT" >"$group/$file" 2>/dev/null || true
done

confined() {
    status=0
    (
        echo "$BASHPID" >"$group/cgroup.procs"
        exec "$ALLOCBENCH" "$@"
    ) >out 2>err </dev/null || status=$?
}

confined run -t "bad=$LIBRARY,BAD_ALLOCATOR=eat" -t glibc --rounds 1 -o tape "$SMALL"
expect 4
says "bad: killed by SIGKILL"
says "out of memory"
says "cgroup"
says "1 cell failed"
shows "out of memory"

confined run -t glibc --rounds 1 -o command \
    -- /usr/bin/python3 -c 'x = b"x" * (1 << 30)'
expect 4
says "glibc: killed by SIGKILL"
says "out of memory"

confined run -t glibc --rounds 1 -o within -- /usr/bin/python3 -c 'x = b"x" * (1 << 24)'
expect 0
py <<'PY'
from cells import *
for _, cell, lines in cells("tape"):
    if cell["target"] == "bad":
        check("out of memory" in cell["reason"], str(cell))
    else:
        check(cell["status"] == "ok", "the others go on: %s" % cell)
check(all("out of memory" in cell["reason"] for _, cell, _ in cells("command")), "marked")
check_whole("within", 1, 2)
check(matrix("within")["host"]["memory_limit_bytes"] == 96 << 20, "the limit is in the report")
PY
