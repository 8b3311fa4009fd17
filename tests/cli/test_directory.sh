#!/bin/bash
# A result directory that cannot be used: exit 3 and one clear line.
. "$(dirname "$0")/common.sh"

refused() {
    local text
    expect 3
    one_line
    for text in "$@"; do
        says "$text"
    done
}

echo kept >file
tool run -t glibc --rounds 1 -o file "$SMALL"
refused "file" "Not a directory"
[ "$(cat file)" = kept ] || fail "the file was touched"
tool run -t glibc --rounds 1 -o file/below "$SMALL"
refused "file/below cannot be made: Not a directory"
tool run -t glibc --rounds 1 -o none/below "$SMALL"
refused "none/below cannot be made: No such file or directory"
tool run -t glibc --rounds 1 -o "$(printf 'x%.0s' {1..300})" "$SMALL"
refused "cannot be made: File name too long"

# A folder of others that may not be written.
mkdir closed
chmod 555 closed
if [ "$(id -u)" -ne 0 ]; then
    as=()
elif setpriv --reuid=65534 --regid=65534 --clear-groups test -x "$ALLOCBENCH"; then
    as=(setpriv --reuid=65534 --regid=65534 --clear-groups)
    chmod 755 "$SCRATCH"
else
    echo "nobody cannot run $ALLOCBENCH: the unwritable folder is left out"
    exit 0
fi
status=0
"${as[@]}" "$ALLOCBENCH" run -t glibc --rounds 1 -o closed "$SMALL" >out 2>err || status=$?
refused "closed/lock cannot be opened: Permission denied"
status=0
"${as[@]}" "$ALLOCBENCH" run -t glibc --rounds 1 -o closed/here "$SMALL" >out 2>err || status=$?
refused "closed/here cannot be made: Permission denied"
untouched closed

# What was made by somebody else can be looked at: the table is there, its files cannot be renewed.
tool run -t glibc --rounds 1 -o here "$SMALL"
expect 0
chmod -R a-w,a+rX here
status=0
"${as[@]}" "$ALLOCBENCH" report here >out 2>err || status=$?
refused "here/" "Permission denied"
shows "glibc (base)"

# No descriptors left for a cell: the machine's fault, and the round is not kept.
status=0
CLI_TEST=$SCRATCH prlimit --nofile=20 "$ALLOCBENCH" run -t glibc -t glibc-arena2 -t glibc-trim \
    --rounds 1 -o starved "$SMALL" >out 2>err </dev/null || status=$?
expect 3
says "could not be started (Too many open files)"
[ -z "$(ls starved/rounds)" ] || fail "the round was kept"
