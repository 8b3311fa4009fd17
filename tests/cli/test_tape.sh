#!/bin/bash
# allocbench tape: what is on a tape, of a workload or of a file; a file that is played is the work
# of the workload that it was made of.
. "$(dirname "$0")/common.sh"

WORK=churn-cross:slots=500,lanes=3

# ---- digests ------------------------------------------------------------------------------------
tool tape digest "$WORK"
expect 0
cp out first
grep -qx 'plan_digest [0-9a-f]\{16\}' out || fail "no plan digest"
grep -qx 'work_digest [0-9a-f]\{16\}' out || fail "no work digest"
tool tape digest "$WORK" --seed 1
cmp -s out first || fail "the default seed is not 1"
tool tape digest "$WORK" --seed 2
! cmp -s out first || fail "another seed, the same digest"
tool tape digest churn-cross:slots=500 --lanes 3
cmp -s out first || fail "--lanes is not the spec's lanes"

# ---- to a file and back -------------------------------------------------------------------------
tool tape save "$WORK" -o a.tape
expect 0
[ ! -s out ] && [ ! -s err ] || fail "it speaks"
[ "$(ls)" = "$(printf 'a.tape\nerr\nfirst\nout')" ] || fail "other files are left: $(ls)"
tool tape digest a.tape
expect 0
[ "$(cat out)" = "$(grep work_digest first)" ] || fail "the file's digest is another"
tool tape digest tape:a.tape
[ "$(cat out)" = "$(grep work_digest first)" ] || fail "tape: is not understood"
mkdir folder
cp a.tape folder/plain
tool tape digest folder/plain
[ "$(cat out)" = "$(grep work_digest first)" ] || fail "a name with / is no file"
cp a.tape no-workload
tool tape digest no-workload
[ "$(cat out)" = "$(grep work_digest first)" ] || fail "a file that is there is no file"
tool tape save a.tape -o b.tape
expect 0
tool tape digest b.tape
[ "$(cat out)" = "$(grep work_digest first)" ] || fail "a file of a file is another tape"
# A name of the catalogue is the catalogue's, whatever lies here.
cp a.tape mixed
tool tape digest mixed
grep -q plan_digest out || fail "a file hides a workload"
rm mixed

# ---- show ---------------------------------------------------------------------------------------
tool tape show "$WORK"
expect 0
mv out workload.tsv
tool tape show a.tape
expect 0
cmp -s out workload.tsv || fail "the file has other operations"
tool tape show a.tape --limit 7
expect 0
[ "$(wc -l <out)" -eq 8 ] || fail "--limit 7 gives $(wc -l <out) lines"
status=0
"$ALLOCBENCH" tape show a.tape 2>err | head -n 2 >head || status=$?
expect 0
[ ! -s err ] && [ "$(wc -l <head)" -eq 2 ] || fail "a reader who leaves is an error"
status=0
"$ALLOCBENCH" tape show a.tape >/dev/full 2>err || status=$?
expect 3
one_line
says "standard output cannot be written"
tool tape summary a.tape --json
expect 0
py <<'PY'
import json
from cells import *
summary = json.load(open("out"))
header, *rows = [line.rstrip("\n").split("\t") for line in open("workload.tsv")]
check(header == ["ordinal", "lane", "operation", "slot", "size", "detail"], header)
check(all(len(row) == 6 for row in rows), "six fields a line")
check([int(row[0]) for row in rows] == list(range(summary["operations"])), "ordinals")
kinds = {kind: sum(row[2] == kind for row in rows) for kind in summary["by_kind"]}
check(kinds == summary["by_kind"], "kinds: %s" % kinds)
allocated = [int(row[4]) for row in rows if row[2] in ("malloc", "calloc", "realloc")]
check(all((row[4] == "-") == (row[2] not in ("malloc", "calloc", "realloc")) for row in rows),
      "an operation that has no size")
check(sum(allocated) == summary["bytes_requested"], "bytes")
check(min(allocated) == summary["size_minimum"], "smallest")
check(max(allocated) == summary["size_maximum"], "largest")

# A program that only reads the lines finds the same live memory and the same crossing frees.
live, owners, crossing = {}, {}, 0
for _, lane, kind, slot, size, _ in rows:
    key = slot if slot.startswith("shared") else (lane, slot)
    if kind == "malloc":
        check(key not in live, "two blocks at once in %s" % (key,))
        live[key], owners[key] = int(size), lane
    if kind == "free":
        crossing += owners[key] != lane
        del live[key]
check(crossing == summary["cross_lane_frees"] > 0, "crossing: %d" % crossing)
check(not live and summary["live_bytes_end"] == 0, "live at the end")
names = [row[5] for row in rows if row[2] == "phase" and row[1] == "0"]
check(names == [phase["name"] + (", timed" if phase["timed"] else "")
                for phase in summary["phases"]], names)
check(sum(phase["operations"] for phase in summary["phases"]) == len(rows), "phases")
check(summary["work_digest"] in open("first").read(), "digest")
PY

# ---- summary ------------------------------------------------------------------------------------
tool tape summary "$WORK"
expect 0
shows "workload churn-cross/1:lanes=3,slots=500"
shows "lanes 3"
shows "cross-lane frees"
tool tape summary a.tape
expect 0
shows "file a.tape"
shows_not "plan digest"

# ---- a file that is played ----------------------------------------------------------------------
tool run tape:a.tape -t glibc --rounds 1 --no-floor -o played
expect 0
py <<'PY'
from cells import *
for _, _, lines in cells("played"):
    check(lines[-1]["work_digest"] in open("first").read(), "other work was played")
PY

# ---- what cannot be saved -----------------------------------------------------------------------
cp a.tape old.tape
(
    ulimit -f 8
    tool tape save mixed:steps=100000 -o old.tape
    [ "$status" -eq 3 ] || exit 1
) || fail "a file that cannot grow"
one_line
says "old.tape: the tape cannot be written behind byte"
cmp -s a.tape old.tape || fail "the old file is gone"
[ -z "$(ls ./*.part 2>/dev/null)" ] || fail "a part stays"
tool tape save "$WORK" -o nowhere/a.tape
expect 3
one_line
says "nowhere/a.tape"
mkfifo pipe
ln -s /dev/null null
for place in pipe folder null; do
    tool tape save "$WORK" -o "$place"
    expect 2
    one_line
    says "that is no file"
done
[ -p pipe ] && [ -L null ] || fail "what is no file was replaced"

# ---- what is no tape ----------------------------------------------------------------------------
# wrong TEXT ARGS...
wrong() {
    local text=$1
    shift
    tool tape "$@"
    expect 2
    one_line
    says "$text"
    [ ! -s out ] || fail "something on standard output"
}
head -c 3000 a.tape >short.tape
wrong "short.tape: byte 2744: there is no trailer here: the file is cut short" digest short.tape
cp a.tape bad.tape
printf 'X' | dd of=bad.tape bs=1 seek=500 conv=notrunc 2>/dev/null
wrong "bad.tape: byte 64: the block is damaged" show bad.tape
wrong "this is a directory" summary folder/
wrong "this is a pipe" summary ./pipe
wrong "this is a device" summary /dev/zero
wrong "it does not begin like one" summary ./first
: >empty.tape
wrong "the file is empty" digest empty.tape
tool tape digest not-here.tape
expect 3
says "not-here.tape: the file cannot be opened: No such file or directory"
tool run tape:bad.tape -t glibc -o bad
expect 2
says "bad.tape"
[ ! -e bad ] || fail "a directory was made"

# ---- what was mistyped --------------------------------------------------------------------------
wrong "there is no workload 'mixd'; did you mean 'mixed'?" digest mixd
wrong "there is no 'allocbench tape sumary'; did you mean 'summary'?" sumary mixed
wrong "a FILE or a WORKLOAD is wanted" show
wrong "--limit '0': a whole number from 1" show mixed --limit 0
wrong "--json is an option of allocbench tape summary" show mixed --json
wrong "--limit is an option of allocbench tape show" digest mixed --limit 3
wrong "-o is an option of allocbench tape save" digest mixed -o x
wrong "allocbench tape save wants -o FILE" save mixed
wrong "there is no option '--limits'; did you mean '--limit'?" show mixed --limits=3
wrong "leave --seed and --lanes out" digest a.tape --seed 3
wrong "leave --seed and --lanes out" digest a.tape --lanes 3
tool tape
expect 2
says "usage: allocbench tape show"
tool tape --help
expect 0
shows "usage: allocbench tape show"
