#!/bin/bash
# The user's own allocator settings are cleared and named, or kept; a target's settings arrive.
. "$(dirname "$0")/common.sh"
needs_jemalloc

show=(sh -c 'echo "arena=${MALLOC_ARENA_MAX-} preload=${LD_PRELOAD-} own=${OWN-} seed=${ALLOCBENCH_SEED-}"')
export OWN=kept MALLOC_ARENA_MAX=7 MIMALLOC_VERBOSE=0 ALLOCBENCH_SEED=99 ALLOCBENCH_RESULT=/none

LD_PRELOAD=$JEMALLOC tool run -t glibc -t glibc-arena2 --rounds 1 --seed 5 -o cleared -- "${show[@]}"
expect 0
for entry in MALLOC_ARENA_MAX=7 MIMALLOC_VERBOSE=0 "LD_PRELOAD=$JEMALLOC"; do
    says "cleared for every target: $entry"
    shows "note: cleared for every target: $entry"
    grep -q "cleared for every target: ${entry%%=*}" cleared/REPORT.md || fail "not in REPORT.md"
done
py <<'PY'
from cells import *
check_whole("cleared", 1, 3)
for _, cell, lines in cells("cleared"):
    said = dict(word.split("=", 1) for word in
                open("cleared/" + cell["file"].replace(".jsonl", ".out")).read().split())
    arena = "2" if cell["target"] == "glibc-arena2" else ""
    check(said["arena"] == arena, "MALLOC_ARENA_MAX: %s" % said)
    check(said["own"] == "kept", "other variables stay: %s" % said)
    check(said["seed"] == "5", "the tool's variables are its own: %s" % said)
    check("jemalloc" not in said["preload"], "LD_PRELOAD: %s" % said)
    check(lines[0]["allocator"]["family"] == "glibc", "the C library serves")
PY

# A tape's cells, by their own word.
tool run -t glibc -t glibc-arena2 -t glibc-trim -t glibc-trim:MALLOC_ARENA_MAX=5 \
    --rounds 1 -o tape "$SMALL"
expect 0
py <<'PY'
from cells import *
wanted = {"glibc": {}, None: {}, "glibc-arena2": {"MALLOC_ARENA_MAX": "2"},
          "glibc-trim": {"MALLOC_ARENA_MAX": "2", "MALLOC_TRIM_THRESHOLD_": "131072"},
          "glibc-trim:MALLOC_ARENA_MAX=5":
              {"MALLOC_ARENA_MAX": "5", "MALLOC_TRIM_THRESHOLD_": "131072"}}
for _, cell, lines in cells("tape"):
    check(lines[0]["environment"] == wanted[cell["target"]],
          "%s: %s" % (cell["target"], lines[0]["environment"]))
PY

# --keep-env keeps them, under the target's own.
tool run -t glibc -t glibc-arena2 --keep-env --rounds 1 -o kept "$SMALL"
expect 0
says "kept for every target: MALLOC_ARENA_MAX=7"
shows "note: kept for every target: MALLOC_ARENA_MAX=7"
py <<'PY'
from cells import *
for _, cell, lines in cells("kept"):
    arena = "2" if cell["target"] == "glibc-arena2" else "7"
    check(lines[0]["environment"]["MALLOC_ARENA_MAX"] == arena, str(lines[0]["environment"]))
    check(lines[0]["environment"]["MIMALLOC_VERBOSE"] == "0", str(lines[0]["environment"]))
PY

# A kept LD_PRELOAD stands behind the target's; where it would serve itself the target is refused.
libm=$(library libm.so.6)
LD_PRELOAD=$libm tool run -t jemalloc --keep-env --rounds 1 -o behind -- "${show[@]}"
expect 0
grep -q "preload=$(realpath "$JEMALLOC"):$libm:" behind/cells/w00.r000.t00.out ||
    fail "LD_PRELOAD is $(cat behind/cells/w00.r000.t00.out)"
LD_PRELOAD=$JEMALLOC tool run -t glibc --keep-env --rounds 1 -o refused "$SMALL"
expect 4
says "target glibc: malloc is served by $JEMALLOC (jemalloc"
says "which is no glibc"
untouched refused

# What such a variable holds cannot forge a line of its own.
MALLOC_CONF=$'x\nallocbench: forged\033[31m' tool run -t glibc --rounds 1 -o forged "$SMALL"
expect 0
! grep -q '^allocbench: forged' err || fail "a forged line"
! grep -q $'\033' err out forged/REPORT.md || fail "an escape"

# Every round on record was run under what the notes say, also those of earlier calls.
unset MALLOC_ARENA_MAX
tool run -t glibc -t glibc-arena2 --rounds 2 --seed 5 -o cleared -- "${show[@]}"
expect 0
shows "note: cleared for every target: MALLOC_ARENA_MAX=7"
