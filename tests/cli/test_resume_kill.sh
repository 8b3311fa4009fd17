#!/bin/bash
# SIGKILL in mid-matrix: finished rounds are kept as they are, the interrupted one is run whole, and
# nothing of the killed run lives on.
. "$(dirname "$0")/common.sh"
LIBRARY=${BAD_ALLOCATOR_LIBRARY:?the path of libbad-allocator.so is wanted}
needs_jemalloc

has_round_and_part() {
    [ -e "$1/rounds/w00.r000.json" ] && [ -n "$(find "$1/cells" -name '*.part')" ]
}

# The cells of a killed tool end by themselves.
nobody_stays() {
    local left=40
    until [ -z "$(survivors)" ]; do
        left=$((left - 1))
        [ "$left" -gt 0 ] || fail "still there after 2 s: $(survivors)"
        sleep 0.05
    done
}

# Name, inode, time and content of the rounds that are finished, and of their cells.
fingerprint() {
    local round
    for round in $(cd "$1/rounds" && ls -- *.json); do
        find "$1/rounds/$round" "$1"/cells/"${round%.json}".* -printf '%p %i %T@\n' |
            grep -v -e '\.part' | sort
        cat "$1/rounds/$round" "$1"/cells/"${round%.json}".*.jsonl | sha256sum
    done
}

# kill_and_resume NAME ARMS ARGS...
kill_and_resume() {
    local name=$1 arms=$2 rounds
    shift 2
    tool_start run --rounds 1000 -o "$name" "$@"
    await has_round_and_part "$name"
    kill -KILL "$running"
    tool_end
    expect 137
    nobody_stays
    finished=$(find "$name/rounds" -name '*.json' | wc -l)
    [ "$finished" -ge 1 ] && [ "$finished" -lt 1000 ] || fail "$finished rounds are finished"
    fingerprint "$name" >before

    # What died is shown as such, and not taken for a cell.
    tool report "$name"
    expect 0
    shows "$finished of 1000 rounds"
    shows "died and left cells/"

    rounds=$((finished + 2))
    tool run --rounds "$rounds" -o "$name" "$@"
    expect 0
    says "$finished of $rounds rounds are there already and are kept"
    fingerprint "$name" | head -n "$(wc -l <before)" | diff before - ||
        fail "finished rounds were touched"
    py "$name" "$rounds" "$arms" <<'PY'
from cells import *
check_whole(sys.argv[1], int(sys.argv[2]), int(sys.argv[3]))
check([one["round"] for one in rounds(sys.argv[1])] == list(range(int(sys.argv[2]))), "the rounds")
PY
    shows "$rounds rounds"

    # All is there: nothing is run, the table is the same.
    cp out whole
    fingerprint "$name" >before
    tool run --rounds "$rounds" -o "$name" "$@"
    expect 0
    cmp out whole || fail "another table"
    fingerprint "$name" | diff before - || fail "a finished matrix was touched"
}

kill_and_resume tape 4 -t glibc -t jemalloc "$LONG"
kill_and_resume command 3 -t glibc -t jemalloc -- sh -c 'sleep 0.15; sleep 0.15'

# Rounds that are added to a finished matrix, for another target, and on the way to a verdict: the
# tool is killed in mid-round, and the same command goes on to what it had in mind.
kill_in_round() {
    local name=$1 round=$2
    shift 2
    tool_start run -o "$name" "$@"
    await test -e "$name/rounds/w00.r$round.json"
    await eval "find $name/cells -name '*.part' | grep -q ."
    kill -KILL "$running"
    tool_end
    expect 137
    nobody_stays
}
tool run -t glibc -t jemalloc --rounds 2 -o more "$SMALL"
expect 0
fingerprint more >before
more=(--rounds +40 -t glibc -t glibc:A=1 "$SMALL")
kill_in_round more 003 "${more[@]}"
tool run -o more "${more[@]}"
expect 0
says_not "after a look"
fingerprint more | head -n "$(wc -l <before)" | diff before - || fail "finished rounds were touched"
py <<'PY'
from cells import *
check_whole("more", 42, 4)
check([one["round"] for one in rounds("more")] == list(range(42)), "the rounds")
check(matrix("more")["rounds"] == 42 and "unfinished" not in matrix("more"), "what was in mind")
PY

until=(--until-decided --max-rounds 10 -t glibc -t jemalloc "$SMALL")
kill_in_round until 002 "${until[@]}"
fingerprint until >before
tool run -o until "${until[@]}"
expect 0
says "look at 10 rounds"
fingerprint until | head -n "$(wc -l <before)" | diff before - || fail "finished rounds were touched"
py <<'PY'
from cells import *
check_whole("until", 10, 4)
check(matrix("until")["look_rounds"] == 10 and matrix("until")["looks"] == 3, "the looks")
PY

# Nor does a cell stay that hears nothing, because its allocator hangs.
all_started() {
    [ "$(find hung/cells -name '*.jsonl*' | wc -l)" -eq 4 ]
}
tool_start run --rounds 1 -t "bad=$LIBRARY,BAD_ALLOCATOR=hang" -t glibc -o hung "$SMALL"
await all_started
sleep 0.5
kill -KILL "$running"
tool_end
nobody_stays
