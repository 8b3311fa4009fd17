#!/bin/bash
# Any command: what is measured of it, how it may end, what it leaves behind.
. "$(dirname "$0")/common.sh"
needs_jemalloc

# ---- a real one ---------------------------------------------------------------------------------
if [ -n "$(type -P sqlite3)" ]; then
    tool run -t jemalloc --rounds 2 --seed 3 -o sqlite -- sqlite3 :memory: \
        "create table t(a,b);
         with recursive n(i) as (select 1 union all select i+1 from n where i<50000)
         insert into t select i, hex(i*i) from n; create index x on t(b); select count(*) from t"
    expect 0
    py <<'PY'
from cells import *
check_whole("sqlite", 2, 3)
for one, cell, lines in cells("sqlite"):
    m = metrics(lines)
    check(lines[0]["seed"] == 3 + one["round"], "the round's seed")
    check(lines[0]["command"][0] == "sqlite3", "the command line")
    check(m["wall_ns"] > 0 and m["user_ns"] > 0, "it took time: %s" % m)
    check(m["cpu_ns"] == m["user_ns"] + m["system_ns"], "user and system")
    check(4 << 20 < m["peak_rss_bytes"] < 1 << 30, "peak: %s" % m)
    check(m["peak_rss_bytes"] >= m["rss_floor_bytes"] > 0, "above the floor: %s" % m)
    check(m["rss_floor_bytes"] < 4 << 20, "a small floor: %s" % m)
    check(m["exit_status"] == 0 and m["processes_seen"] == 1, "one process: %s" % m)
    check(m["minor_faults"] > 0 and m["output_bytes"] == len("50000\n"), "the rest: %s" % m)
    readings = [line for line in lines if line["record"] == "reading"]
    check(readings and all(r["rss_bytes"] > 0 for r in readings), "a timeline")
    check(open("sqlite/" + cell["file"].replace(".jsonl", ".out")).read() == "50000\n", "output")
PY
fi

# ---- numbers that are known ---------------------------------------------------------------------
tool run -t glibc --rounds 1 -o big -- /usr/bin/python3 -c 'x = b"x" * (100 << 20)'
expect 0
tool run -t glibc --rounds 1 -o tree -- sh -c \
    '/usr/bin/python3 -c "import time; x = b\"x\" * (60 << 20); time.sleep(1)" &
     /usr/bin/python3 -c "import time; x = b\"x\" * (60 << 20); time.sleep(1)"; wait'
expect 0
tool run -t glibc --rounds 1 -o sleep -- sleep 0.25
expect 0
py <<'PY'
from cells import *
for _, _, lines in cells("big"):
    peak = metrics(lines)["peak_rss_bytes"]
    check(100 << 20 < peak < 150 << 20, "100 MiB and python's own: %d" % peak)
for _, _, lines in cells("tree"):
    m = metrics(lines)
    check(60 << 20 < m["peak_rss_bytes"] < 110 << 20, "the largest single process: %s" % m)
    check(m["peak_tree_rss_bytes"] > 120 << 20, "both at once: %s" % m)
    check(m.get("peak_tree_pss_bytes", 0) < m["peak_tree_rss_bytes"] + (2 << 20),
          "PSS counts shared pages once")
    check(m["processes_seen"] == 3 and m["wall_ns"] >= 1000000000, "a shell and two: %s" % m)
for _, _, lines in cells("sleep"):
    m = metrics(lines)
    check(m["wall_ns"] >= 250000000 > m["cpu_ns"], "a sleep takes no CPU time: %s" % m)
    check(m["rss_floor_bytes"] <= m["peak_rss_bytes"] < 16 << 20, "a small program: %s" % m)
PY

# ---- how it ends --------------------------------------------------------------------------------
tool run -t glibc --rounds 1 -o status -- sh -c 'echo "what went wrong" >&2; exit 3'
expect 4
says "glibc: exited with status 3"
says "what went wrong"
says "2 cells failed: see the report"
shows "no cell has a number"
[ "$(cat status/cells/w00.r000.t00.err)" = "what went wrong" ] || fail "its messages are not kept"

tool run -t glibc --rounds 1 --ignore-failure -o ignored -- sh -c 'exit 3'
expect 0
shows "note: exited with status 3 (ignored, as asked)"
py <<'PY'
from cells import *
check_whole("ignored", 1, 2)
check(all(metrics(lines)["exit_status"] == 3 for _, _, lines in cells("ignored")), "status 3")
PY

tool run -t glibc --rounds 1 -o signal -- sh -c 'kill -SEGV $$'
expect 4
says "glibc: killed by SIGSEGV"
tool run -t glibc --rounds 1 --timeout 300ms -o hung -- sh -c 'sleep 60 & sleep 60'
expect 4
says "glibc: hung: no end after 0.3 s"
[ -z "$(survivors)" ] || fail "still there: $(survivors)"

# What is printed need not be text.
tool run -t glibc --rounds 1 -o rubbish -- sh -c 'printf "\377\376\033[31mred" >&2; exit 1'
expect 4
says "its last words:"
! grep -q $'\033' err out || fail "an escape sequence gets through"
py <<'PY'
from cells import *
check(len(rounds("rubbish")[0]["cells"]) == 2, "both cells are in the round")
check(all("red" in cell["reason"] for _, cell, _ in cells("rubbish")), "with their reasons")
PY
tool report rubbish
expect 0
shows "failed: glibc"

# ---- what it leaves behind ----------------------------------------------------------------------
tool run -t glibc --rounds 1 -o daemon -- sh -c 'setsid sleep 60 >/dev/null 2>&1 & sleep 0.05'
expect 0
shows "processes that outlived the command"
shows "killed: 1: sleep ("
[ -z "$(survivors)" ] || fail "still there: $(survivors)"

# ---- input, arguments, folder -------------------------------------------------------------------
tool run -t glibc --rounds 1 -o arguments -- sh -c 'cat; pwd; printf "%s." "$@"' sh -t --rounds '' 'a b'
expect 0
[ "$(cat arguments/cells/w00.r000.t00.out)" = "$SCRATCH
-t.--rounds..a b." ] || fail "arguments: $(cat arguments/cells/w00.r000.t00.out)"
shows "sh -c 'cat; pwd; printf \"%s.\" \"\$@\"' sh -t --rounds '' 'a b' (command"

# A command that goes on from what its last run left is told of.
tool run -t glibc --rounds 2 -o grows -- sh -c 'echo x >>file; cat file'
expect 0
shows "its runs did not print the same (2 to 8 bytes)"
tool run -t glibc --rounds 2 -o steady -- sh -c 'echo x'
expect 0
! grep -q "did not print the same" steady/REPORT.md || fail "told of a command that always prints the same"

# What nobody waited for is in no account: a number that is known to be short is left out.
tool run -t glibc --rounds 1 -o orphans -- sh -c \
    '(/usr/bin/python3 -c "import time; x = bytearray(60 << 20); time.sleep(0.3)" &); sleep 0.8'
expect 0
shows "no user_ns, system_ns and cpu_ns"
shows "no peak_rss_bytes"
py <<'PY'
from cells import *
for _, cell, lines in cells("orphans"):
    found = metrics(lines)
    check("wall_ns" in found and found["hwm_bytes"] > 60 << 20, "what is known: %s" % found)
    for name in ("user_ns", "system_ns", "cpu_ns", "peak_rss_bytes"):
        check(name not in found, "%s is short" % name)
PY
