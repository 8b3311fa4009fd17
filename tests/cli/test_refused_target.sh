#!/bin/bash
# A target that is not what it claims to be is refused before anything is timed.
. "$(dirname "$0")/common.sh"
needs_jemalloc

# refused TARGET TEXT...: exit 4, one line with every TEXT, no cell.
refused() {
    local text target=$1
    shift
    tool run "$SMALL" -t glibc -t "$target" --rounds 1 -o refused
    expect 4
    one_line
    for text in "$@"; do
        says "$text"
    done
    untouched refused
}

# A library that is no allocator: the C library serves on.
zlib=$(library libz.so.1)
[ -n "$zlib" ] || zlib=$(library libm.so.6)
refused "fake=$zlib" "target fake: malloc is served by" "libc.so.6 (glibc" "not by $(realpath "$zlib")"
refused "fake=$SCRATCH/none.so" "target fake: there is no library '$SCRATCH/none.so'" "No such file"
echo "no library" >text.so
refused "fake=text.so" "target fake: malloc is served by" "libc.so.6 (glibc" "not by $SCRATCH/text.so"

# Built in, but not here.
ALLOCBENCH_ALLOCATOR_PATH= tool run "$SMALL" -t hoard --rounds 1 -o refused
if [ "$status" -ne 0 ]; then
    expect 4
    says "target hoard: not found on this machine"
    says "ALLOCBENCH_ALLOCATOR_PATH"
    untouched refused
fi

# tbbmalloc without its proxy defines no malloc.
tbb=$(library libtbbmalloc.so.2)
if [ -n "$tbb" ]; then
    refused "tbb=$tbb" "target tbb: malloc is served by" "libc.so.6" "not by $(realpath "$tbb")"
fi

# A right library under a name of another family.
mkdir wrong
cp "$JEMALLOC" wrong/libmimalloc.so.3
ALLOCBENCH_ALLOCATOR_PATH=$SCRATCH/wrong tool run "$SMALL" -t mimalloc3 --rounds 1 -o refused
expect 4
says "target mimalloc3: malloc is served by $SCRATCH/wrong/libmimalloc.so.3 (jemalloc"
says "which is no mimalloc"

# A factor that the machine does not have.
refused "glibc:cpus=1000" "target glibc:cpus=1000" "CPU 1000 of its cpus is none"

# An allocator that goes wrong in its first child.
cat >broken.c <<'C'
#include <stdlib.h>
__attribute__((constructor)) static void fail(void) { abort(); }
C
if cc -shared -fPIC -o broken.so broken.c 2>cc.log; then
    refused "broken=broken.so" "target broken: a child under it was killed by SIGABRT"
fi

# --skip-bad goes on without them, and the report names them.
tool run "$SMALL" -t glibc -t jemalloc -t "fake=$zlib" -t "gone=$SCRATCH/none.so" --skip-bad \
    --rounds 1 -o kept
expect 0
says "left out: target fake: malloc is served by"
says "left out: target gone: there is no library"
shows "missing: fake: malloc is served by"
shows "missing: gone: there is no library '$SCRATCH/none.so'"
grep -q "none.so" kept/REPORT.md || fail "REPORT.md does not name what was left out"
py <<'PY'
from cells import *
check_whole("kept", 1, 4)  # glibc twice, jemalloc, the floor
PY

# The baseline cannot be left out.
tool run "$SMALL" -t glibc --baseline "fake=$zlib" --skip-bad --rounds 1 -o refused
expect 4
says "target fake: malloc is served by"
untouched refused
