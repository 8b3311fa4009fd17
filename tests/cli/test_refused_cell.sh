#!/bin/bash
# What no look from outside could tell is refused by its cell: a script that drops the environment.
. "$(dirname "$0")/common.sh"
needs_jemalloc

# The sleep lasts long enough to be seen.
printf '#!/bin/sh\nexec env -i sleep 0.3\n' >drops
printf '#!/bin/sh\nenv -u LD_PRELOAD sleep 0.3\n' >drops-below
printf '#!/bin/sh\nLD_PRELOAD=%s sleep 0.3\n' "$(library libm.so.6)" >replaces
chmod +x drops drops-below replaces

for program in drops drops-below replaces; do
    tool run -t glibc -t jemalloc --rounds 1 -o "$program.d" -- "./$program"
    expect 4
    says "failed: ./$program, round 1, jemalloc:"
    says "sleep"
    shows "failed: jemalloc"
    py "$program.d" <<'PY'
from cells import *
found = {(cell["target"], cell["again"]): cell for _, cell, _ in cells(sys.argv[1])}
bad = found[("jemalloc", False)]
check(bad["status"] == "failed" and bad["file"] is None and "sleep" in bad["reason"], str(bad))
PY
done

# It names what served instead, where the image could say so.
tool run -t jemalloc --rounds 1 -o wrong -- sh -c 'LD_PRELOAD=${LD_PRELOAD#*:} sleep 0.3'
expect 4
says "libc.so.6"
