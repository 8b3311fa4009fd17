#!/bin/bash
# --interleave: the commands of a round are alive at once and take turns. However it ends, nobody is
# left behind, stopped or not.
. "$(dirname "$0")/common.sh"
needs_jemalloc

# Its CPU time in steps; each is told as the seconds since the machine's start.
WORK='import time
for step in range(8):
    print(time.monotonic(), flush=True)
    end = time.process_time() + 0.03
    while time.process_time() < end:
        pass'

tool run -t glibc -t jemalloc --rounds 2 --interleave -o turns -- /usr/bin/python3 -c "$WORK"
expect 0
py <<'PY'
from cells import *
check_whole("turns", 2, 3)
check(all(one["mode"] == "interleaved" for one in rounds("turns")), "the rounds' mode")
for one, cell, lines in cells("turns"):
    found = metrics(lines)
    check("wall_ns" not in found, "how long it took is no measure")
    check(found["cpu_ns"] >= 8 * 30e6 and found["user_ns"] > 0, "CPU time: %s" % found)
    check(found["peak_rss_bytes"] > 1 << 20, "memory: %s" % found)
    check(any(line["record"] == "reading" for line in lines), "a timeline")
    check(not [text for text in warnings(lines) if "could not look" in text], "it was looked at")
for one in rounds("turns"):
    texts = ["turns/" + cell["file"].replace(".jsonl", ".out") for cell in one["cells"]]
    steps = [[float(line) for line in open(text)] for text in texts]
    check(all(len(own) == 8 for own in steps), "each did all its work")
    check(max(own[0] for own in steps) < min(own[-1] for own in steps), "all at once: %s" % steps)
PY
shows "2 rounds interleaved, seed 1"

tool run -t glibc -t jemalloc --rounds 1 -o sequence -- /usr/bin/python3 -c "$WORK"
expect 0
py <<'PY'
from cells import *
check(rounds("sequence")[0]["mode"] == "sequential", "without the option one after the other")
check(all("wall_ns" in metrics(lines) for _, _, lines in cells("sequence")), "wall time")
PY
tool run -t glibc -t jemalloc --rounds 2 --interleave -o sequence -- /usr/bin/python3 -c "$WORK"
expect 3
says "it differs in interleave"

# ---- trees --------------------------------------------------------------------------------------
tool run -t glibc --rounds 1 --interleave -o tree -- sh -c \
    'for i in 1 2 3; do seq 1 20000 | sort -r | cksum; done; setsid sh -c "seq 1 3000 | cksum"'
expect 0
py <<'PY'
from cells import *
check_whole("tree", 1, 2)
texts = {open("tree/" + cell["file"].replace(".jsonl", ".out")).read()
         for _, cell, _ in cells("tree")}
check(len(texts) == 1 and texts.pop().count("\n") == 4, "the same work in both")
PY

# What outlives a command is killed, while others still take their turns.
tool run -t glibc --rounds 1 --interleave -o daemon -- sh -c \
    'setsid sleep 60 >/dev/null 2>&1 & seq 1 30000 | sort -r | cksum'
expect 0
py <<'PY'
from cells import *
for _, _, lines in cells("daemon"):
    check(any("outlived the command and were killed: 1: sleep" in text
              for text in warnings(lines)), "the sleep is named: %s" % warnings(lines))
PY
[ -z "$(survivors)" ] || fail "still there: $(survivors)"

# A harness reads clocks of its own, which go on while it is stopped.
tool run -t glibc --rounds 2 --interleave -o harness -- sh -c 'echo "{}" >"$ALLOCBENCH_RESULT"'
expect 0
says "it measures its own times, and would not know when it was stopped: its cells run one after"
py <<'PY'
from cells import *
check_whole("harness", 2, 2)
check(all(one["mode"] == "sequential" for one in rounds("harness")), "one after the other")
check(all("wall_ns" in metrics(lines) for _, _, lines in cells("harness")), "with their time")
PY

tool run -t glibc --interleave "$SMALL"
expect 2
says "--interleave is for a command"

# ---- how it ends --------------------------------------------------------------------------------
tool run -t glibc --rounds 1 --interleave -o status -- sh -c 'seq 1 30000 | sort -r | cksum; exit 3'
expect 4
says "glibc: exited with status 3"
tool run -t glibc --rounds 1 --interleave --timeout 300ms -o hung -- sh -c 'sleep 60 & sleep 60'
expect 4
says "glibc: hung: no end after 0.3 s"
says "glibc (again): hung: no end after 0.3 s"
[ -z "$(survivors)" ] || fail "still there: $(survivors)"

# One hangs or fails; the other is measured all the same.
cat >one.sh <<'SH'
#!/bin/sh
mkdir "$1" 2>/dev/null && exec sleep 60
seq 1 30000 | sort -r | cksum
SH
chmod +x one.sh
tool run -t glibc --rounds 1 --interleave --timeout 1s -o one -- ./one.sh taken
expect 4
py <<'PY'
from cells import *
found = sorted(cell["status"] for _, cell, _ in cells("one"))
check(found == ["failed", "ok"], "one hung: %s" % found)
PY
[ -z "$(survivors)" ] || fail "still there: $(survivors)"

is_stopped() {
    local pid
    for pid in $(survivors); do
        if grep -q '^State:[[:space:]]*T' "/proc/$pid/status" 2>/dev/null; then
            return 0
        fi
    done
    return 1
}

none_left() {
    [ -z "$(survivors)" ]
}

# end SIGNAL NAME: while all take turns, in sessions of their own, too
end() {
    tool_start run -t glibc -t jemalloc --rounds 1 --interleave -o "$2" -- sh -c \
        'setsid sh -c "while :; do :; done" & while :; do :; done'
    await is_stopped
    kill "-$1" "$running"
    tool_end
    await none_left
}

end INT interrupted
expect 130
[ -z "$(find interrupted/cells interrupted/rounds -type f)" ] || fail "the round left something"
end KILL killed
expect 137
