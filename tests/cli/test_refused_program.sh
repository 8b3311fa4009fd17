#!/bin/bash
# A program that no preloaded library can get into is refused before anything is timed.
. "$(dirname "$0")/common.sh"
needs_jemalloc

# refused TEXT PROGRAM ARGS...: exit 4, one line with TEXT, no cell.
refused() {
    local text=$1
    shift
    tool run -t jemalloc --rounds 1 -o refused -- "$@"
    expect 4
    one_line
    says "$text"
    untouched refused
}

PATH=/usr/bin:/bin refused "no-such-program: no such program in PATH" no-such-program
refused "$SCRATCH/none: No such file or directory" "$SCRATCH/none"
echo text >text
refused "./text: Permission denied" ./text
printf '#!/no/such/interpreter\n' >script
chmod +x script
refused "./script: its interpreter \"/no/such/interpreter\": No such file" ./script

# The loader of a copy is another one: another C library, or none at all.
patch_interpreter() {
    py "$1" "$2" <<'PY'
import sys
from cells import check
data = open(sys.argv[1], "rb").read()
at = data.find(b"/lib64/ld-linux-x86-64.so.2\0")
check(at > 0 and len(sys.argv[2]) < 28, "the loader's name can be replaced")
name = sys.argv[2].encode().ljust(28, b"\0")
open(sys.argv[1], "wb").write(data[:at] + name + data[at + 28:])
PY
}
true=$(realpath "$(type -P true)")
if [ "$(uname -m)" = x86_64 ] && grep -q /lib64/ld-linux-x86-64.so.2 "$true"; then
    short=$(mktemp -u /tmp/abXXXXXX)
    cp "$true" foreign
    patch_interpreter foreign "$short"
    ln -s /lib64/ld-linux-x86-64.so.2 "$short"
    tool run -t jemalloc --rounds 1 -o refused -- ./foreign
    rm "$short"
    expect 4
    one_line
    says "./foreign runs on another C library ($short)"
    says "under target jemalloc its malloc would stay its own"
    untouched refused
    refused "./foreign: its loader $short: No such file or directory" ./foreign
fi

# The class byte says 32 bit; the rest does not matter.
cp "$true" narrow
printf '\001' | dd of=narrow bs=1 seek=4 conv=notrunc 2>/dev/null
if [ "$(getconf LONG_BIT)" = 64 ]; then
    refused "./narrow is for another kind of machine than this allocbench" ./narrow
fi

# A static program: only the system's own allocator can be measured, and from outside only.
busybox=$(type -P busybox || true)
if [ -n "$busybox" ] && ! ldd "$busybox" >/dev/null 2>&1; then
    refused "$busybox is static" busybox true
    says "under target jemalloc its malloc would stay its own"
    tool run -t glibc --rounds 1 -o outside -- busybox true
    expect 0
    says "measured from outside only, who serves its malloc is not proven"
    shows "who serves its malloc is not proven"
    tool run -t glibc -t jemalloc --skip-bad --rounds 1 -o skipped -- busybox true
    expect 0
    says "left out: target jemalloc: $busybox is static"
    shows "missing: jemalloc: $busybox is static"
    py <<'PY'
from cells import *
check_whole("outside", 1, 2)
check_whole("skipped", 1, 2)
PY
else
    echo "no static busybox: that part is left out"
fi

# A program that is setuid to another user: the loader keeps preloaded libraries out.
if [ "$(id -u)" -eq 0 ] && [ -z "$(findmnt -no OPTIONS -T "$SCRATCH" | grep nosuid)" ]; then
    cp "$true" other
    chown nobody other
    chmod u+s other
    refused "./other is setuid to another user ($(id -u nobody)): the loader keeps preloaded" ./other
    says "under target jemalloc"

    # The same behind a program that did report, in the same process, and as a user who may not look
    # at it.
    cp "$(realpath "$(type -P sleep)")" hidden
    chmod u+s hidden
    mkdir -m 0777 unseen
    chmod 0755 "$SCRATCH"
    for wrapper in "env" "nice -n 1"; do
        status=0
        setpriv --reuid nobody --clear-groups "$ALLOCBENCH" run -t jemalloc --rounds 1 \
            -o "unseen/${wrapper%% *}" -- $wrapper ./hidden 0.3 >out 2>err </dev/null || status=$?
        expect 4
        says "[hidden] (pid "
        says ") did not report who serves its malloc: it runs as another user"
    done
else
    skip "a program that is setuid to another user can be made by root only"
fi
