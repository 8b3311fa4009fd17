#!/bin/sh
# Every compiler and every optimisation level must make the same tapes: the digests of golden.txt.
#
#   golden_compilers.sh [SOURCE_DIR]
#
# Exit: 0 all agree, 1 one does not, 77 a compiler is not here (and the others agree).
set -u
source=$(cd "${1:-$(dirname "$0")/../..}" && pwd) || exit 1
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
cd "$source" || exit 1

result=0
while read -r flags; do
    compiler=${flags%% *}
    if ! command -v "$compiler" >/dev/null 2>&1; then
        echo "skipped, there is no $compiler: $flags"
        [ $result -eq 1 ] || result=77
        continue
    fi
    # shellcheck disable=SC2086 # the flags are words
    if ! $flags -std=c11 -D_GNU_SOURCE -Iinclude -Isrc tests/property/golden_print.c src/base/*.c \
        src/histogram/*.c src/shape/*.c src/system/file.c src/tape/blocks.c src/tape/builder.c \
        src/tape/generate.c src/tape/reader.c src/tape/tape.c src/tape/word.c src/workload/*.c \
        -o "$work/print" || ! "$work/print" >"$work/digests"; then
        echo "FAILED: $flags"
        result=1
    elif ! diff tests/property/golden.txt "$work/digests"; then
        echo "OTHER DIGESTS: $flags"
        result=1
    else
        echo "agrees: $flags"
    fi
done <<END
gcc -O0
gcc -O3 -ffast-math -march=native
clang -O2
END
exit $result
