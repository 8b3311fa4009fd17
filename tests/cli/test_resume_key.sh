#!/bin/bash
# Only the same question goes on in a result directory; what differs is named.
. "$(dirname "$0")/common.sh"
needs_jemalloc

cp "$JEMALLOC" own.so
ask=(run -o here --rounds 1 --seed 7 -t "own=own.so" -t glibc "$SMALL")
tool "${ask[@]}"
expect 0
cp -r here before

# differs TEXT ARGS...: refused with exit 3, and nothing there was touched.
differs() {
    local text=$1
    shift
    tool "$@"
    expect 3
    [ "$(tail -n 1 err)" = "$(grep "another matrix" err)" ] || fail "not one line about it"
    says "here holds the results of another matrix: it differs in"
    says "$text"
    says "; -o OTHER for a new one"
    [ "$(tail -n 1 err | wc -c)" -le 200 ] || fail "more than two lines of a terminal"
    diff -r -x lock before here || fail "the directory was touched"
}

differs 'seed ("7" there, "8" asked)' "${ask[@]}" --seed 8
differs 'workloads.1' run -o here --rounds 1 --seed 7 -t own=own.so -t glibc "$SMALL,touch=all"
differs 'workloads' "${ask[@]}" mixed
differs 'command' run -o here --rounds 1 --seed 7 -t own=own.so -t glibc "$SMALL" -- true
differs 'baseline ("glibc" there, "glibc:A=1" asked)' run -o here --rounds 1 --seed 7 -t own=own.so -t glibc:A=1 \
    --baseline glibc:A=1 "$SMALL"
differs 'baseline ("glibc" there, "own" asked)' "${ask[@]}" --baseline own
differs 'same_seed (false there, true asked)' "${ask[@]}" --same-seed
differs 'lanes (0 there, 2 asked)' "${ask[@]}" --lanes 2
differs 'slice_operations ("0" there, "500" asked)' "${ask[@]}" --slice 500
differs 'floor (true there, false asked)' "${ask[@]}" --no-floor
differs 'padding (true there, false asked)' "${ask[@]}" --no-padding
differs 'cpus ("" there, "0" asked)' "${ask[@]}" --cpus 0
MALLOC_ARENA_MAX=1 differs 'kept.MALLOC_ARENA_MAX (none there, "1" asked)' "${ask[@]}" --keep-env

# Much that differs is counted.
differs ' more; -o' run -o here --rounds 1 --seed 8 -t own=own.so -t glibc --no-floor --tails \
    --same-seed --lanes 3 --slice 70000 --latency 7 --sequential --ignore-failure "$SMALL"
[ "$(grep -o ' there, ' err | wc -l)" -eq 2 ] || fail "more than two values"

# Another build of the library: one bit of its build id.
py <<'PY'
from cells import check
data = bytearray(open("own.so", "rb").read())
at = data.find(b"\x14\0\0\0\x03\0\0\0GNU\0")
check(at > 0, "the library carries a build id")
data[at + 12] ^= 1
open("own.so", "wb").write(data)
PY
differs 'targets.own.build_id ("' "${ask[@]}"
cp "$JEMALLOC" own.so

# Who made the table does not matter, nor how long it may take.
tool "${ask[@]}" --timeout 50s --cooldown 1ms --color always
expect 0
says "1 of 1 rounds are there already"

# More rounds of the same go on; fewer show what is there.
tool "${ask[@]}" --rounds 3
expect 0
says "1 of 3 rounds are there already and are kept"
py <<'PY'
from cells import *
check_whole("here", 3, 4)
check([one["seed"] for one in rounds("here")] == ["7", "8", "9"], "seeds go on")
PY
cmp before/rounds/w00.r000.json here/rounds/w00.r000.json || fail "the first round was touched"

# A matrix.json that is damaged, or of somebody else.
for text in '{"schema": 1' '{}' 'rubbish' ''; do
    printf '%s' "$text" >here/matrix.json
    tool "${ask[@]}"
    expect 3
    one_line
    says "here/matrix.json"
    says "choose another directory with -o"
done

# Without one the rounds could be anybody's.
rm here/matrix.json
tool "${ask[@]}"
expect 3
says "here holds rounds and no matrix.json"
mkfifo here/matrix.json
tool "${ask[@]}"
expect 3
says "here/matrix.json is no file"

# Another program under the same name is another matrix, and so is another folder.
cp "$(type -P true)" prog
tool run -t glibc --rounds 1 -o program -- ./prog
expect 0
tool run -t glibc --rounds 1 -o program -- ./prog
expect 0
says "1 of 1 rounds are there already"
cp "$(type -P uname)" prog
tool run -t glibc --rounds 1 -o program -- ./prog
expect 3
says "it differs in program"
mkdir elsewhere
cd elsewhere
tool run -t glibc --rounds 1 -o ../named -- sh -c :
expect 0
cd ..
tool run -t glibc --rounds 1 -o named -- sh -c :
expect 3
says "it differs in folder"
