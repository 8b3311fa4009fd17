#!/bin/bash
# allocbench check: an honest allocator passes, and each planted fault is found, by direct calls and
# by checked play; a crash and a silence are faults of the check that ran.
. "$(dirname "$0")/common.sh"
LIBRARY=${FAULTY_ALLOCATOR_LIBRARY:?the path of libfaulty-allocator.so is wanted}

# row TARGET CHECKS PASSED FAULTY: the line of a target.
row() {
    grep -qE "^$1 +$2 +$3 +$4  " out || fail "no line '$1 $2 $3 $4'"
}

# finds FAULT CHECK TEXT: with the fault planted the check finds it, without it is well.
finds() {
    tool check -t "bad=$LIBRARY,FAULT=$1" --only "$2"
    expect 4
    says "1 of 1 targets failed"
    row bad 1 0 1
    grep -qE "^    FAULT $2 +.*$3" out || fail "$2 does not say: $3"
    tool check -t "bad=$LIBRARY" --only "$2"
    expect 0
    row bad 1 1 0
    shows_not FAULT
}

# By checked play: every kind of call, in four lanes.
finds overlap play-every-call "byte [0-9]+ was changed while the block lived"
finds misalign play-every-call "the address is no multiple of [0-9]+"
finds not-zero play-every-call "calloc of .* is not 0"
finds short play-every-call "its usable size is [0-9]+"
finds realloc-loses play-every-call "realloc of .* of its contents was lost"

# By direct calls.
finds overlap overlap "was changed or lost"
finds misalign alignment "is no multiple of 16"
finds not-zero calloc-zero "calloc of .* is not 0"
finds short usable-size "its usable size is"
finds realloc-loses realloc-content "was changed or lost"
finds free-crash thread-exit "killed by SIGABRT"
finds zero-same zero-bytes "malloc.0. returned 0x[0-9a-f]+ twice"
finds null free-null "killed by SIGABRT"
finds null usable-null "is 1, not 0"
finds huge huge-request "malloc .* returned 0x[0-9a-f]+, not NULL"
finds calloc-wraps calloc-overflow "calloc .* returned 0x[0-9a-f]+, not NULL"
finds no-align aligned-alloc "is no multiple of 64"
finds no-align posix-memalign "is no multiple of (32|64)"
finds any-align bad-alignment "alignment 24 returned 0, not EINVAL"
finds no-align realloc-aligned "is no multiple of 64"
finds realloc-loses realloc-edges "was changed or lost"
finds free-crash free-elsewhere "killed by SIGABRT"
finds crash realloc-null "killed by SIGABRT"
finds fork fork "the child of a fork was killed by signal 6"

# What POSIX forbids and C does not is told, and is no fault.
tool check -t "bad=$LIBRARY,FAULT=no-errno" --only huge
expect 0
row bad 2 2 0
shows "note huge-errno malloc returned NULL with errno 0: POSIX asks for ENOMEM"

# An honest one passes everything: the whole catalogue is played.
tool check -t "good=$LIBRARY" --verbose
expect 0
[ ! -s err ] || fail "messages"
count=$(grep -c '^    ok ' out)
[ "$count" -gt 20 ] || fail "only $count checks"
row good "$count" "$count" 0
for name in zero-bytes huge-request calloc-overflow bad-alignment realloc-content \
    free-elsewhere thread-exit fork play-every-call play:churn-cross play:mixed; do
    grep -q "^    ok    $name " out || fail "no $name"
done
"$ALLOCBENCH" list workloads | awk 'NF == 0 { exit } NR > 1 { print $1 }' >names
[ -s names ] || fail "the list of workloads is not as it was"
while read -r name; do
    grep -q "^    ok    play:$name " out || fail "$name of the catalogue was not played"
done <names

# What dies or falls silent in one check does not keep the others from being run.
tool check -t "bad=$LIBRARY,FAULT=crash" --only realloc --verbose
expect 4
row bad 4 1 3
for name in realloc-null realloc-content realloc-edges; do
    grep -qE "^    FAULT $name +the process was killed by SIGABRT" out || fail "$name has not died"
done
grep -q "^    ok    realloc-aligned" out || fail "the check behind them was not run"
tool check -t "bad=$LIBRARY,FAULT=hang" --only realloc-edges --timeout 500ms
expect 4
shows "FAULT realloc-edges hung: no end after 0.5 s"

# Several targets: one that fails, is not here, or is not what it says keeps no other out.
zlib=$(library libz.so.1 libm.so.6)
tool check -t "bad=$LIBRARY,FAULT=short" -t "fake=$zlib" -t "gone=$SCRATCH/none.so" -t glibc \
    --only usable
expect 4
row bad 2 1 1
row glibc 2 2 0
says "target fake: malloc is served by"
says "target gone: there is no library"
says "3 of 4 targets failed"

# Usage.
tool check --only nothing-of-the-kind -t glibc
expect 2
says "there is no check whose name begins with 'nothing-of-the-kind'"
tool check glibc
expect 2
says "'glibc' is no option: a target is given with -t"
tool check --timeout never
expect 2
says "--timeout 'never'"
tool check --verbos -t glibc --onyl x
expect 2
says "did you mean '--only'?"
tool check -t jemaloc
expect 2
one_line
tool check -t "a=$LIBRARY" -t "a=$LIBRARY,FAULT=short"
expect 2
says "two targets are called 'a'"
tool check --help
expect 0
shows "usage: allocbench check"

# An interrupt ends it, and what it has started.
tool_start check -t "bad=$LIBRARY,FAULT=hang" --only realloc-edges
await grep -q '^target' "$SCRATCH/out"
sleep 0.3
kill -INT "$running"
tool_end
expect 130
[ -z "$(survivors)" ] || fail "something is still running"
