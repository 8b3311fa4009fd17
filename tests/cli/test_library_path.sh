#!/bin/bash
# Libraries under paths that LD_PRELOAD cannot carry, and in folders of the user's.
. "$(dirname "$0")/common.sh"
needs_jemalloc

links() {
    find /tmp -maxdepth 2 -path '/tmp/allocbench-*' -lname "$SCRATCH/*" 2>/dev/null
}

mkdir "a b" "c:d" "e, f=g" path
cp "$JEMALLOC" "a b/lib je.so"
cp "$JEMALLOC" "c:d/libjemalloc.so.2"
cp "$JEMALLOC" "e, f=g/libjemalloc.so.2"
cp "$JEMALLOC" path/libjemalloc.so.2
ln -s "../a b/lib je.so" path/link.so

tool run -t "space=a b/lib je.so" -t "colon=c:d/libjemalloc.so.2,MALLOC_CONF=narenas:1,dirty_decay_ms:0" \
    -t "link=path/link.so" --rounds 1 -o tape "$SMALL"
expect 0
tool run -t "space=a b/lib je.so" -t "colon=c:d/libjemalloc.so.2" --rounds 1 -o command \
    -- sh -c 'true; env true'
expect 0
py <<'PY'
from cells import *
wanted = {"space": "a b/lib je.so", "colon": "c:d/libjemalloc.so.2", "link": "a b/lib je.so"}
check_whole("tape", 1, 6)
check_whole("command", 1, 4)
for directory in ("tape", "command"):
    for _, cell, lines in cells(directory):
        served = lines[0]["allocator"]
        if cell["target"] in wanted:
            info = os.stat(wanted[cell["target"]])
            check((served["device"], served["inode"]) == (info.st_dev, info.st_ino),
                  "served by the very file: %s" % served)
    for target in matrix(directory)["targets"]:
        if target["name"] in wanted:
            check(target["library"] == os.path.realpath(wanted[target["name"]]), target["library"])
for _, cell, lines in cells("tape"):
    if cell["target"] == "colon":
        check(lines[0]["environment"]["MALLOC_CONF"] == "narenas:1,dirty_decay_ms:0",
              "a value with a comma: %s" % lines[0]["environment"])
PY
[ -z "$(links)" ] || fail "links stay: $(links)"

# A comma that no KEY= follows belongs to the path; one before "f=" does not.
tool run -t "comma=e, f=g/libjemalloc.so.2" --rounds 1 -o comma "$SMALL"
expect 2
says "column"

# The user's folder comes before the system's; what is not there is looked for on.
ALLOCBENCH_ALLOCATOR_PATH=/none::$SCRATCH/path tool run -t jemalloc --rounds 1 -o own "$SMALL"
expect 0
ALLOCBENCH_ALLOCATOR_PATH=path tool list targets
expect 0
shows "$SCRATCH/path/libjemalloc.so.2"
ALLOCBENCH_ALLOCATOR_PATH=$SCRATCH tool list targets
expect 0
shows "$(realpath "$JEMALLOC")"
py <<'PY'
from cells import *
library = {target["name"]: target["library"] for target in matrix("own")["targets"]}
check(library["jemalloc"] == os.path.realpath("path/libjemalloc.so.2"), str(library))
check_whole("own", 1, 4)
PY

# The command itself in such a place.
mkdir "in stalled"
cp "$ALLOCBENCH" "$CELL" "$(dirname "$ALLOCBENCH")/liballocbench-probe.so" "in stalled"
for lib in "$(dirname "$ALLOCBENCH")"/liballocbench.so.?; do
    cp -L "$lib" "in stalled"
done
ALLOCBENCH="in stalled/allocbench"
export LD_LIBRARY_PATH="$SCRATCH/in stalled"
tool run -t jemalloc --rounds 1 -o moved "$SMALL" -- true
expect 0
py <<'PY'
from cells import *
check(len(rounds("moved")) == 2, "a tape and a command")
check(all(cell["status"] == "ok" for _, cell, _ in cells("moved")), "all are good")
PY
rm "in stalled/allocbench-cell"
tool run -t jemalloc --rounds 1 -o lost "$SMALL"
expect 3
says "is it installed whole?"
