# common.sh - what every test of the command shares; sourced with the path of the command as $1 (or
# in ALLOCBENCH). The test runs in a folder of its own that is removed at its end.
#
#   tool ARGS...       runs the command; its exit status, output and messages are kept
#   tool_start ARGS... the same in the background: pid in $running; tool_end waits for it
#   expect STATUS      it ended with that
#   says TEXT          a line of its messages (standard error) holds TEXT
#   said               its messages without its word on the machine, on standard output
#   shows TEXT         its output holds TEXT, wherever its lines were broken
#   py ARGS... <<EOF   python3 with cells.py at hand
set -eu

ALLOCBENCH=$(realpath "${1:-${ALLOCBENCH:?the path of the command is wanted}}")
HERE=$(cd "$(dirname "$0")" && pwd)
CELL=$(dirname "$ALLOCBENCH")/allocbench-cell
SCRATCH=$(mktemp -d "${TMPDIR:-/tmp}/allocbench-cli.XXXXXX")
status=0

# The tester's own settings are not part of the test.
unset NO_COLOR "${!ALLOCBENCH_@}" "${!MALLOC_@}" LD_PRELOAD GLIBC_TUNABLES
export PYTHONPATH=$HERE PYTHONDONTWRITEBYTECODE=1

# The pids of the command and of all that it started: they carry a mark in their environment.
survivors() {
    grep -lzsx "CLI_TEST=$SCRATCH" /proc/[0-9]*/environ | tr -cd '0-9\n'
}

clean_up() {
    local pid
    for pid in $(survivors); do
        kill -KILL "$pid" 2>/dev/null || true
    done
    cd /
    if mountpoint -q "$SCRATCH/disk" 2>/dev/null; then
        umount "$SCRATCH/disk"
    fi
    chmod -R u+w "$SCRATCH" 2>/dev/null || true
    rm -rf "$SCRATCH"
}
trap clean_up EXIT
cd "$SCRATCH"

fail() {
    printf 'FAILED %s:%s: %s\n' "$(basename "$0")" "${BASH_LINENO[1]:-?}" "$*"
    [ ! -e "$SCRATCH/.command" ] || sed 's/^/command: /' "$SCRATCH/.command"
    [ ! -e "$SCRATCH/out" ] || sed 's/^/out: /' "$SCRATCH/out"
    [ ! -e "$SCRATCH/err" ] || sed 's/^/err: /' "$SCRATCH/err"
    exit 1
}

# CTest's SKIP_RETURN_CODE.
skip() {
    echo "skipped: $*"
    exit 77
}

# What the command said, but for its word on the machine, which is another everywhere.
said() {
    grep -av '^allocbench: this machine ' "$SCRATCH/err" || true
}

tool() {
    status=0
    echo "allocbench $*" | cut -c 1-500 >"$SCRATCH/.command"
    CLI_TEST=$SCRATCH "$ALLOCBENCH" "$@" >"$SCRATCH/out" 2>"$SCRATCH/err" </dev/null || status=$?
}

# The same in the background; its pid is in $running. tool_end waits for it.
tool_start() {
    echo "allocbench $*" >"$SCRATCH/.command"
    CLI_TEST=$SCRATCH "$ALLOCBENCH" "$@" >"$SCRATCH/out" 2>"$SCRATCH/err" </dev/null &
    running=$!
}

tool_end() {
    status=0
    wait "$running" 2>/dev/null || status=$?
}

expect() {
    [ "$status" -eq "$1" ] || fail "ended with status $status, not $1"
}

says() {
    grep -qF -- "$1" "$SCRATCH/err" || fail "its messages do not say: $1"
}

says_not() {
    ! grep -qF -- "$1" "$SCRATCH/err" || fail "its messages say: $1"
}

one_line() {
    [ "$(said | wc -l)" -eq 1 ] || fail "not one line of messages"
}

shows() {
    tr -s ' \n' '  ' <"$SCRATCH/out" | grep -qF -- "$1" || fail "its output does not show: $1"
}

shows_not() {
    ! tr -s ' \n' '  ' <"$SCRATCH/out" | grep -qF -- "$1" || fail "its output shows: $1"
}

# No cell was written: the result directory is not there, or empty.
untouched() {
    [ -z "$(find "$1" -name '*.jsonl*' 2>/dev/null)" ] || fail "$1 holds cells"
}

py() {
    /usr/bin/python3 - "$@" || fail "python3's check"
}

# library FILE...: the first that is installed.
library() {
    local name found
    for name in "$@"; do
        for found in /usr/lib/*/"$name" /usr/lib/"$name" /usr/lib64/"$name"; do
            if [ -e "$found" ]; then
                echo "$found"
                return
            fi
        done
    done
}

# Waits up to 20 s for a command to succeed.
await() {
    local left=400
    until "$@" >/dev/null 2>&1; do
        left=$((left - 1))
        [ "$left" -gt 0 ] || fail "waited in vain for: $*"
        sleep 0.05
    done
}

JEMALLOC=$(library libjemalloc.so.2)

# jemalloc is the second allocator of most tests.
needs_jemalloc() {
    [ -n "$JEMALLOC" ] || skip "libjemalloc.so.2 is not installed"
}

# A small tape, and one that takes some seconds.
SMALL=mixed:lanes=1,slots=64,steps=20000
LONG=mixed:lanes=1,slots=256,steps=400000
