#!/bin/bash
# run tape:FILE: a tape in a file is a workload, known by its digest.
. "$(dirname "$0")/common.sh"

# make_tape FILE SPEC
make_tape() {
    LIBRARY=$(dirname "$ALLOCBENCH")/liballocbench.so py "$@" <<'PY'
from cells import *
import ctypes
lib = ctypes.CDLL(os.environ["LIBRARY"])
workload, tape = ctypes.c_void_p(), ctypes.c_void_p()
check(lib.abench_workload_parse(sys.argv[2].encode(), ctypes.c_uint64(7), 0,
                                ctypes.byref(workload), None) == 0, "parse")
check(lib.abench_workload_tape(workload, None, ctypes.byref(tape), None) == 0, "tape")
with open(sys.argv[1], "wb") as file:
    check(lib.abench_tape_save(tape, file.fileno(), None) == 0, "save")
lib.abench_tape_digest.restype = ctypes.c_uint64
with open("digest", "w") as file:
    file.write("%016x" % lib.abench_tape_digest(tape))
PY
}

make_tape a.tape "$SMALL"
cp digest digest.a
tool run tape:a.tape -t glibc -t glibc:A=1 --rounds 2 -o here
expect 0
[ -z "$(said)" ] || fail "messages"
shows "tape:a.tape (tape, 2 rounds in lockstep"
py <<'PY'
from cells import *
check_whole("here", 2, 4)
digest = open("digest.a").read()
w = matrix("here")["workloads"][0]
check(w["kind"] == "tape" and w["digest"] == digest and w["argument"] == "tape:a.tape", str(w))
for _, cell, lines in cells("here"):
    check(lines[-1]["work_digest"] == digest, "its work: %s" % lines[-1])
PY

# The same tape goes on under its name; another under the same name is another question.
tool run tape:a.tape -t glibc -t glibc:A=1 --rounds 2 -o here
expect 0
says "2 of 2 rounds are there already"
make_tape a.tape "$SMALL,touch=all"
cmp digest digest.a || fail "what is written of a block is no part of the digest"
tool run tape:a.tape -t glibc -t glibc:A=1 --rounds 2 -o here
expect 3
says "it differs in workloads.1.spec"
make_tape a.tape "$SMALL,sizes=fixed:7"
tool run tape:a.tape -t glibc -t glibc:A=1 --rounds 2 -o here
expect 3
says "it differs in workloads.1.digest"

# Options that choose work have nothing to choose.
tool run tape:a.tape "$SMALL" --quick -t glibc --rounds 1 --no-floor -o quick
expect 0
tool run tape:a.tape --duration 1s -t glibc --rounds 1 --no-floor -o time
expect 0
says "tape:a.tape: --duration does not apply"
tool run tape:a.tape --paced -t glibc -o none
expect 2
says "workload 'tape:a.tape': a tape plays as it was made"
untouched none

# What is no tape, or a damaged one, is refused before anything is made.
refused() {
    tool run "tape:$1" -t glibc -o none
    expect 2
    one_line
    says "workload 'tape:$1': "
    [ ! -e none ] || fail "a directory was made"
}
refused no-such-file
refused .
refused ""
echo "this is not a tape" >text
refused text
head -c 1000 a.tape >short
refused short
py <<'PY'
data = bytearray(open("a.tape", "rb").read())
data[len(data) // 2] ^= 1
open("flipped", "wb").write(data)
PY
refused flipped
mkfifo pipe
refused pipe
