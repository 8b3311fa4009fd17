#!/bin/bash
# allocbench watch: CSV in a pipe, live lines on a terminal, a command's own exit status.
. "$(dirname "$0")/common.sh"

PYTHON=/usr/bin/python3
# What follows the name of a python: 64 MiB for half a second.
HOLD='import time; x = b"1" * (64 << 20); time.sleep(0.5)'

# ---- a command: CSV -----------------------------------------------------------------------------
tool watch -o watch.csv --period 20 -- $PYTHON -c "$HOLD; print('its output')"
expect 0
[ "$(cat out)" = "its output" ] || fail "its standard output is not its own"
one_line
says "python3: "
says "exit 0"
py <<'PY'
import re
from cells import *
header = open("watch.csv").readline().rstrip("\n").split(",")
rows = [dict(zip(header, line.rstrip("\n").split(","))) for line in open("watch.csv")][1:]
# Every field of abench_memory that is documented, by its name.
names = set(re.findall(r"uint64_t (\w+);", re.search(
    r"typedef struct abench_memory \{(.*?)\} abench_memory;",
    open(os.environ["PYTHONPATH"] + "/../../include/allocbench/memory.h").read(), re.S)[1]))
names = names - {"valid", "time_ns", "cost_ns"}
check(len(names) > 20, "fields of the header: %s" % names)
check(set(header) == names | {"time_ns", "processes", "cgroup_current_bytes", "cost_ns"},
      "columns: %s" % header)
check(header[:2] == ["time_ns", "processes"], "first columns: %s" % header)
check(len(rows) > 5, "%d rows" % len(rows))
check(all(len(line.split(",")) == len(header) for line in open("watch.csv")), "as many columns")
times = [int(row["time_ns"]) for row in rows]
check(times == sorted(times) and times[0] < 1e9, "time: %s" % times)
held = 64 << 20
peak = max(int(row["rss_bytes"]) for row in rows)
check(held < peak < held * 3, "peak %d" % peak)
check(max(int(row["hwm_bytes"]) for row in rows) > held, "VmHWM")
check(all(int(row["processes"]) == 1 for row in rows), "one process")
# Dear fields: in the first row, and not in each; what is not read is empty.
dear = [row for row in rows if row["pss_bytes"] != ""]
check(rows[0]["pss_bytes"] != "" and 0 < len(dear) < len(rows), "%d of %d" % (len(dear), len(rows)))
for row in rows:
    for name in ("uss_bytes", "lazyfree_bytes", "huge_bytes", "rollup_rss_bytes"):
        check((row[name] == "") == (row["pss_bytes"] == ""), "%s in %s" % (name, row))
found = re.search(r"peak RSS ([\d.]+)M \((\d+) looks\)", open("err").read())
check(found and abs(float(found[1]) - peak / 2**20) <= 1, "the summary: %s" % open("err").read())
check(int(found[2]) == len(rows), "looks of the summary")
PY

# With --dear they are in every row.
tool watch -o dear.csv --period 50 --dear -- $PYTHON -c "$HOLD"
expect 0
py <<'PY'
from cells import *
header, *rows = [line.rstrip("\n").split(",") for line in open("dear.csv")]
pss = [row[header.index("pss_bytes")] for row in rows]
check(len(pss) > 2 and "" not in pss and max(map(int, pss)) > 64 << 20, "PSS: %s" % pss)
PY

# ---- its exit status, whatever it is ------------------------------------------------------------
for number in 0 1 3 42 255; do
    tool watch -o /dev/null -- sh -c "exit $number"
    expect $number
    says "exit $number"
done
tool watch -o /dev/null -- sh -c 'kill -KILL $$'
expect 137
says "killed by SIGKILL"
tool watch -o /dev/null -- no-such-program
expect 4
one_line
says "no-such-program cannot be started: No such file or directory"
tool watch -o /dev/null -- "$SCRATCH"
expect 4
# Its standard input and error are its own as well.
status=0
echo input | "$ALLOCBENCH" watch -o /dev/null -- sh -c 'cat; echo error >&2' >out 2>err || status=$?
expect 0
[ "$(cat out)" = input ] && says error

# What is sent to the watch goes to the command; nothing survives.
tool_start watch -o /dev/null -- sleep 60
await pgrep -P "$running" -x sleep
kill -TERM "$running"
tool_end
expect 143
says "killed by SIGTERM"
[ -z "$(survivors)" ] || fail "still there: $(survivors)"

# One part in a thousand of the time goes into dear looks.
tool watch -o paced.csv --period 10 -- sleep 3
expect 0
py <<'PY'
from cells import *
header, *rows = [line.rstrip("\n").split(",") for line in open("paced.csv")]
dear = [(int(row[0]), int(row[-1])) for row in rows if row[header.index("pss_bytes")] != ""]
check(len(dear) > 1, "%d dear looks" % len(dear))
for before, now in zip(dear, dear[1:]):
    check(now[0] - before[0] >= 1000 * before[1], "too early: %s, %s" % (before, now))
PY

# --duration ends the looking; the command's end is waited for.
tool watch -o short.csv --duration 100ms --period 20 -- sh -c 'sleep 0.5; exit 5'
expect 5
[ "$(wc -l <short.csv)" -le 7 ] || fail "$(wc -l <short.csv) lines in 100 ms"

# ---- a process, and what the kernel says of it --------------------------------------------------
cat >tree.py <<'PY'
import os, signal, sys, time
# Two workers share what their parent holds, and write to a part of it.
x = bytearray(os.urandom(1)) * (48 << 20)
for worker in range(2):
    if os.fork() == 0:
        for at in range(0, 16 << 20, 4096):
            x[at] = worker
        open("ready.%d" % worker, "w").close()
        while True:
            time.sleep(60)
while not (os.path.exists("ready.0") and os.path.exists("ready.1")):
    time.sleep(0.01)
open("ready", "w").close()
time.sleep(60)
PY
CLI_TEST=$SCRATCH $PYTHON tree.py </dev/null &
tree=$!
await test -e ready
kill -STOP "$tree" $(pgrep -P "$tree")
tool watch "$tree" --period 50 --duration 200ms
expect 0
[ ! -s err ] || fail "messages"
py "$tree" <<'PY'
import subprocess
from cells import *
header, *rows = [line.rstrip("\n").split(",") for line in open("out")]
row = dict(zip(header, rows[0]))
pids = [int(sys.argv[1])] + [int(pid) for pid in
                             subprocess.check_output(["pgrep", "-P", sys.argv[1]]).split()]
check(len(pids) == 3 and int(row["processes"]) == 3, "processes: %s %s" % (pids, row))

def total(file, key):
    sum = 0
    for pid in pids:
        for line in open("/proc/%d/%s" % (pid, file)):
            if line.startswith(key + ":"):
                sum += int(line.split()[1]) * 1024
    return sum

for name, file, key in (("rss_bytes", "status", "VmRSS"), ("hwm_bytes", "status", "VmHWM"),
                        ("size_bytes", "status", "VmSize"), ("rss_anon_bytes", "status", "RssAnon"),
                        ("rss_file_bytes", "status", "RssFile"),
                        ("page_tables_bytes", "status", "VmPTE"),
                        ("swap_bytes", "status", "VmSwap"),
                        ("pss_anon_bytes", "smaps_rollup", "Pss_Anon"),
                        ("private_dirty_bytes", "smaps_rollup", "Private_Dirty"),
                        ("huge_bytes", "smaps_rollup", "AnonHugePages"),
                        ("lazyfree_bytes", "smaps_rollup", "LazyFree")):
    is_, should = int(row[name]), total(file, key)
    # Kernels before 6.16 count RSS a CPU: a few pages a process may be missing.
    slack = 3 * (1 << 18) if name in ("rss_bytes", "hwm_bytes", "rss_anon_bytes") else 4096 * 3
    check(abs(is_ - should) <= slack, "%s %d, the kernel says %d" % (name, is_, should))
# Whose the pages of files are depends on what else runs.
slack = total("status", "RssFile")
for name, should in (("pss_bytes", total("smaps_rollup", "Pss")),
                     ("uss_bytes", total("smaps_rollup", "Private_Clean") +
                      total("smaps_rollup", "Private_Dirty"))):
    check(abs(int(row[name]) - should) <= slack, "%s %s, not %d" % (name, row[name], should))
check(int(row["uss_bytes"]) == int(row["private_clean_bytes"]) + int(row["private_dirty_bytes"]),
      "USS is what is private: %s" % row)
check(int(row["rss_bytes"]) > int(row["pss_bytes"]) > 48 << 20, "shared pages: %s" % row)
faults = 0
for pid in pids:
    faults += int(open("/proc/%d/stat" % pid).read().rpartition(")")[2].split()[7])
check(int(row["minor_faults"]) == faults, "faults %s, %d" % (row["minor_faults"], faults))
check(len({tuple(row.split(",")[2:10]) for row in open("out").read().splitlines()[1:]}) == 1,
      "stopped, and it changes")
PY

# Its mappings: a title, one table, a line that explains it, and the end.
tool watch "$tree" --mappings
expect 0
[ "$(head -n 1 out)" = "mappings of process $tree: 3 processes, sizes in units of 1024" ] ||
    fail "no title"
tail -n 1 out |
    grep -q '^clean and dirty are private; eligible: .*; rss counts shared pages in each' ||
    fail "nothing explains the columns"
[ "$(wc -l <out)" -eq 10 ] || fail "a title, a head, seven categories and a line are wanted"
[ "$(wc -L <out)" -le 100 ] || fail "wider than 100 columns"
[ ! -s err ] || fail "messages"
for name in heap anonymous stacks files shared other all; do
    grep -q "^$name " out || fail "no line $name"
done
tool watch "$tree" --mappings --csv
expect 0
py "$tree" <<'PY'
import subprocess
from cells import *
header, *rows = [line.rstrip("\n").split(",") for line in open("out")]
table = {row[0]: dict(zip(header[1:], map(int, row[1:]))) for row in rows}
check(list(table) == ["heap", "anonymous", "stacks", "files", "shared", "other", "all"], table)
for name in header[1:]:
    check(sum(table[row][name] for row in table if row != "all") == table["all"][name], name)
pids = [sys.argv[1]] + subprocess.check_output(["pgrep", "-P", sys.argv[1]], text=True).split()
for name, key in (("rss_bytes", "Rss:"), ("anonymous_bytes", "Anonymous:")):
    should = sum(int(line.split()[1]) * 1024 for pid in pids
                 for line in open("/proc/%s/smaps" % pid) if line.startswith(key))
    check(table["all"][name] == should, "%s %d, not %d" % (name, table["all"][name], should))
check(table["anonymous"]["rss_bytes"] > 100 << 20, "three times 48 MiB: %s" % table["anonymous"])
PY

# A reader that goes away ends it quietly.
{ "$ALLOCBENCH" watch "$tree" --period 20 2>err; echo $? >left; } | head -n 3 >head
[ "$(cat left)" = 0 ] && [ ! -s err ] || fail "a reader who leaves: $(cat left)"
[ "$(wc -l <head)" -eq 3 ] || fail "$(wc -l <head) lines"
# An interrupt is one.
tool_start watch "$tree" --period 20
await grep -q '^[0-9]' out
kill -INT "$running"
tool_end
expect 130
[ ! -s err ] || fail "messages"
kill -0 "$tree" || fail "the process was interrupted too"
# The end of the process is no failure.
tool_start watch "$tree" --period 20
await grep -q '^[0-9]' out
kill -KILL "$tree" $(pgrep -P "$tree")
wait "$tree" 2>/dev/null || true
tool_end
expect 0
[ ! -s err ] || fail "messages"
tool watch "$tree"
expect 4
one_line
says "there is no process $tree"
[ ! -s out ] || fail "something on standard output"

# A full disk is told; the command's own status is kept.
tool watch -o /dev/full -- sh -c 'sleep 0.1'
expect 3
says "cannot write /dev/full: No space left on device"
tool watch -o /dev/full -- sh -c 'sleep 0.1; exit 9'
expect 9
says "cannot write /dev/full"
tool watch -o "$SCRATCH/none/file" -- touch started
expect 3
[ ! -e started ] || fail "the command was started"

# The tree of a command grows and falls; the mappings at its largest are at its end.
tool watch -o pipeline.csv --period 20 --mappings -- \
    sh -c "$PYTHON -c '$HOLD' | $PYTHON -c '$HOLD' | sleep 0.7"
expect 0
grep -q '^mappings of sh after [0-9.]* s: [1-9] process' err || fail "no title"
grep -q '^its RSS of ' err || fail "no share of the peak"
grep -q '^all ' err || fail "no table"
py <<'PY'
from cells import *
header, *rows = [line.rstrip("\n").split(",") for line in open("pipeline.csv")]
at = {name: header.index(name) for name in header}
check(max(int(row[at["processes"]]) for row in rows) >= 3, "processes")
check(max(int(row[at["rss_bytes"]]) for row in rows) > 128 << 20, "both of them at once")
PY

# The one look finds it small, and no other is due before its end: neither its PSS nor its mappings
# are those of its peak.
GROW="import time; time.sleep(0.5); x = b'1' * (200 << 20)"
tool watch -o grown.csv --period 10m --mappings -- $PYTHON -c "$GROW"
expect 0
says "largest process 2"
says "M by the kernel's own mark (more than the looks saw)"
says "peak PSS not seen near the peak"
grep -q '^its RSS of .* is [0-9] % of the largest, 2[0-9]*M by the kernel.s own mark$' err ||
    fail "no share of the peak"
says "the table is not of the peak: use --dear, or with it a shorter --period"
tool watch -o held.csv --period 20 --dear --mappings -- $PYTHON -c "$HOLD"
expect 0
grep -Eq '^its RSS of .* is (the largest that is known|(100|[89][0-9]) % of the largest, )' err ||
    fail "no share of the peak"
! grep -q 'the table is not of the peak' err || fail "it is"
! grep -q 'PSS not seen' err || fail "it was"

# ---- no memory to be seen -----------------------------------------------------------------------
cat >zombie.py <<'PY'
import os, time
child = os.fork()
if child == 0:
    os._exit(0)
os.waitid(os.P_PID, child, os.WEXITED | os.WNOWAIT)
with open("zombie.part", "w") as file:
    file.write(str(child))
os.rename("zombie.part", "zombie")
time.sleep(60)
PY
CLI_TEST=$SCRATCH $PYTHON zombie.py </dev/null &
parent=$!
await test -e zombie
for mappings in "" --mappings; do
    # shellcheck disable=SC2086
    tool watch "$(cat zombie)" $mappings
    expect 4
    one_line
    says "process $(cat zombie) has no memory of its own (a zombie: "
done
kill "$parent"
thread=$(pgrep -x kthreadd || true)
if [ -n "$thread" ]; then
    tool watch "$thread"
    expect 4
    one_line
    says "process $thread has no memory of its own (a kernel thread)"
else
    echo "kernel threads are not seen here: they are left out"
fi

# ---- not ours to read ---------------------------------------------------------------------------
if [ "$(id -u)" -eq 0 ] && setpriv --reuid 65534 --clear-groups true 2>/dev/null; then
    sleep 60 &
    theirs=$!
    chmod a+rx "$SCRATCH"
    as_nobody() {
        status=0
        setpriv --reuid 65534 --clear-groups "$ALLOCBENCH" "$@" >out 2>err || status=$?
    }
    if setpriv --reuid 65534 --clear-groups test -x "$ALLOCBENCH"; then
        as_nobody watch "$theirs" --duration 50ms
        expect 0
        one_line
        says "not read: pss_bytes, "
        says "/proc/$theirs/smaps_rollup: Permission denied"
        py <<'PY'
from cells import *
header, *rows = [line.rstrip("\n").split(",") for line in open("out")]
row = dict(zip(header, rows[0]))
check(row["pss_bytes"] == row["uss_bytes"] == "" and int(row["rss_bytes"]) > 0, "%s" % row)
PY
        as_nobody watch "$theirs" --mappings
        expect 3
        one_line
        says "process $theirs is not ours to read: it takes the same user, or CAP_SYS_PTRACE"
        [ ! -s out ] || fail "a table of nothing"
        # A child that can be read makes no table of its parent.
        CLI_TEST=$SCRATCH sh -c 'setpriv --reuid 65534 --clear-groups sleep 60; :' &
        family=$!
        await pgrep -P "$family" -x sleep
        as_nobody watch "$family" --mappings
        expect 3
        one_line
        says "process $family is not ours to read"
        [ ! -s out ] || fail "a table of something else"
        kill "$family" $(pgrep -P "$family")
        # A child that cannot be read is counted above the table.
        cat >family.py <<'PY'
import os, time
if os.fork() == 0:
    time.sleep(60)
os.execvp("setpriv", ["setpriv", "--reuid", "65534", "--clear-groups", "sleep", "60"])
PY
        CLI_TEST=$SCRATCH $PYTHON family.py &
        family=$!
        await grep -qx sleep "/proc/$family/comm"
        as_nobody watch "$family" --mappings
        expect 0
        grep -q "^mappings of process $family: 1 of 2 processes" out || fail "no count"
        grep -q '^all ' out || fail "no table"
        one_line
        says "1 of 2 processes could not be read"
        kill "$family" $(pgrep -P "$family")
    fi
    kill "$theirs"
fi

# ---- lines for a person -------------------------------------------------------------------------
tool watch --live --period 50 -- sh -c 'sleep 0.2; echo mine'
expect 0
[ "$(cat out)" = mine ] || fail "live lines of a command on standard output"
grep -q '^time 0\.[0-9]s  *rss [0-9.]*[KM]  *pss [0-9.]*[KM] ' err || fail "no live lines"
if type -P script >/dev/null; then
    export TERM=xterm
    sleep 60 &
    quiet=$!
    # In 48 columns time, rss, pss and peak would fill the line: they end before the terminal does.
    # The cursor is where it was at the end, and the terminal's settings are.
    script -qec "stty -g >before; stty cols 48; stty -g >before; \
        '$ALLOCBENCH' watch $quiet --duration 600ms; echo status \$?; stty -g >after" \
        typescript </dev/null >/dev/null
    kill "$quiet"
    cmp -s before after || fail "the terminal is not as it was"
    py <<'PY'
import re
from cells import *
screen, row, column, shown = [""], 0, 0, []
text = open("typescript", newline="").read()
text = text[text.index("\n") + 1:]
at = 0
# A small terminal: what is left on it at the end.
while at < len(text):
    found = re.compile(r"\033\[(\d*)([AJKm])").match(text, at)
    if found:
        if found[2] == "A":
            row -= int(found[1] or 1)
            check(row >= 0, "moved above the beginning")
        elif found[2] in "JK":
            shown.append("\n".join(screen))
            screen[row] = screen[row][:column]
            if found[2] == "J":
                del screen[row + 1:]
        at = found.end()
        continue
    if text[at] == "\r":
        column = 0
    elif text[at] == "\n":
        row += 1
        screen += [""] if row == len(screen) else []
    else:
        screen[row] = screen[row][:column].ljust(column) + text[at] + screen[row][column + 1:]
        column += 1
    at += 1
check(len(shown) >= 2, "it is drawn anew")
for name in ("time", "rss", "pss", "rss-lazy", "uss", "anon", "huge", "swap", "faults/s",
             "switches/s", "wait", "peak", "procs"):
    check(re.search(r"\b%s +[-0-9]" % name, shown[-1]), "%s is not in: %s" % (name, shown[-1]))
check(all(len(line) < 48 for line in shown[-1].split("\n")), "wider than 48: %s" % shown[-1])
check(1 < len(shown[-1].split("\n")) <= 8, "a block of lines: %s" % shown[-1])
left = "\n".join(screen)
check("rss-lazy" not in left, "still there: %s" % left)
check("it goes on" in " ".join(left.split()) and "status 0" in left, "at the end: %s" % left)
PY
    NO_COLOR=1 script -qec "'$ALLOCBENCH' watch -- sh -c 'sleep 0.1; exit 3'" typescript \
        </dev/null >/dev/null || true
    grep -q 'time 0\.[0-9]s  *rss ' typescript || fail "no live line beside a command"
    ! grep -q $'\033\\[2m' typescript || fail "NO_COLOR is not honoured"
    ! grep -q $'\033\\[[0-9]*A' typescript || fail "more than one line beside a command"
    grep -q 'exit 3' typescript || fail "no summary"
    # Ctrl-C: the command gets it, and the watch ends with it.
    $PYTHON - "$ALLOCBENCH" <<'PY' || fail "Ctrl-C on a terminal"
import os, pty, select, sys, time
pid, fd = pty.fork()
if pid == 0:
    os.execv(sys.argv[1], [sys.argv[1], "watch", "--", "sleep", "60"])
seen, sent, end = b"", False, time.time() + 20
while time.time() < end:
    if not select.select([fd], [], [], 0.1)[0]:
        continue
    try:
        part = os.read(fd, 4096)
    except OSError:
        break
    if not part:
        break
    seen += part
    if not sent and b"rss" in seen:
        os.write(fd, b"\x03")
        sent = True
status = os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
if status != 130 or b"killed by SIGINT" not in seen:
    sys.exit("status %d: %r" % (status, seen))
PY
else
    echo "script (bsdutils) is not here: the terminal is left out"
fi

# ---- usage --------------------------------------------------------------------------------------
for words in "" "1 2" "1 -- true" "--"; do
    # shellcheck disable=SC2086
    tool watch $words
    expect 2
    [ ! -s out ] || fail "something on standard output"
done
tool watch sleep
expect 2
says "'sleep' is no process's number; a command stands behind '--' (allocbench watch -- sleep)"
tool watch 1 --perod 5
expect 2
says "there is no option '--perod'; did you mean '--period'?"
tool watch 1 --period 0
expect 2
says "--period '0': a time from 1ms to 1h is wanted"
tool watch 1 --duration x
expect 2
says "--duration 'x': a time like 500ms, 10s, 2m or 1h is wanted"
tool watch 1 --csv --live
expect 2
says "-o FILE"
tool watch --help
expect 0
shows "usage: allocbench watch"
shows "on a terminal drawn anew, for a PID a block of lines, for a COMMAND one line"
