#!/bin/bash
# What there is: workloads with their scale and parameters, targets with where they are, metrics
# with units.
. "$(dirname "$0")/common.sh"

tool list
expect 0
[ ! -s err ] || fail "messages"
for name in churn-local churn-cross mixed glibc-arena2 scudo rss_per_live; do
    grep -q "^$name " out || fail "$name is not listed"
done

# A line each, that fits: name, operations, live bytes, lanes, what it shows.
tool list workloads
expect 0
shows_not "source"
py <<'PY'
from cells import *
lines = open("out", encoding="utf-8").read().split("\n")
end = lines.index("")
check(lines[0].split()[:4] == ["workload", "operations", "live", "lanes"], lines[0])
check(end > 10, "workloads: %d" % (end - 1))
for line in lines[:end]:
    check(len(line) <= 100, "%d columns: %s" % (len(line), line))
    check(line == line.rstrip(), "blanks at the end: " + line)
words = {line.split()[0]: line.split() for line in lines[1:end]}
check(len(words) == end - 1, "each once")
for name, word in words.items():
    check(float(word[1].rstrip("kMG")) > 0, name + ": operations")
    check(float(word[2]) > 0 and word[3] in ("B", "KiB", "MiB", "GiB"), name + ": live bytes")
    check(int(word[4]) >= 1, name + ": lanes")
    check(len(word) > 7, name + ": what it shows")
cross = words["churn-cross"]
check(cross[1] == "3.36M" and cross[4] == "4", str(cross))
PY

# With all that defines them.
tool list workloads --verbose
expect 0
py <<'PY'
from cells import *
text = open("out", encoding="utf-8").read()
blocks = text.split("\n\n")[:-1]
check(len(blocks) > 10, "%d blocks" % len(blocks))
for block in blocks:
    name = block.split(":")[0]
    for fact in ("version", "source", "timed", "touched", "full", "quick"):
        check("\n    %-8s " % fact in block, "%s: no %s" % (name, fact))
    check(block.count("[its length: --duration sets it]") <= 1, name + ": lengths")
    check("\n      lanes=" in block, name + ": lanes")
cross = next(block for block in blocks if block.startswith("churn-cross:"))
check("\n      slots=60000" in cross, "a parameter with its preset: " + cross)
rounds = next(line for line in cross.split("\n") if line.startswith("      rounds="))
check("(quick: " in rounds and rounds.endswith("[its length: --duration sets it]"), rounds)
check("    full     3.36M operations, " in cross and " MiB live at most, 4 lanes\n" in cross, cross)
PY

# Some of them, by name.
tool list workloads churn-cross mixed
expect 0
shows "churn-cross: "
shows "slots=60000"
shows "mixed: "
shows_not "churn-local: "
tool list workloads mixed mixd
expect 2
one_line
says "there is no workload 'mixd'; did you mean 'mixed'?"
[ ! -s out ] || fail "half of an answer"
for kind in targets metrics; do
    tool list "$kind" mixed
    expect 2
    one_line
    says "list $kind takes no more words: 'mixed'"
done

# On a terminal nothing is wider than a line; words are the same as without one.
py "$ALLOCBENCH" <<'PY'
from cells import *
import pty, subprocess
def on_terminal(*words):
    ours, theirs = pty.openpty()
    child = subprocess.Popen([sys.argv[1], *words], stdin=subprocess.DEVNULL, stdout=theirs,
                             stderr=theirs)
    os.close(theirs)
    text = b""
    while True:
        try:
            more = os.read(ours, 65536)
        except OSError:
            break
        if not more:
            break
        text += more
    child.wait()
    return text.decode().replace("\r\n", "\n")
def plain(*words):
    return subprocess.run([sys.argv[1], *words], stdin=subprocess.DEVNULL, capture_output=True,
                          text=True)
for words in (["list", "--verbose"], ["run", "no-such-" + "long-" * 3 + "name", "-o", "none"]):
    text, other = on_terminal(*words), plain(*words)
    for line in text.split("\n"):
        check(len(line) <= 100 or len(line.split()) == 1, "%d columns: %s" % (len(line), line))
        check(line == line.rstrip(), "blanks at the end: " + line)
    check(text.split() == (other.stdout + other.stderr).split(), "other words: " + text[:2000])
    check(any(len(line) > 100 for line in (other.stdout + other.stderr).split("\n")), "short: " + text)
PY

tool list targets
expect 0
shows "glibc the C library's own malloc"
[ -z "$JEMALLOC" ] || shows "$(realpath "$JEMALLOC")"
if [ -z "$(library libhoard.so)" ]; then
    shows "not found on this machine; it comes with a build of emeryberger/Hoard"
fi
shows "-t NAME=/path/lib.so"

# Every metric that is listed with a direction is one that a cell can have.
tool run -t glibc --rounds 1 -o here "$SMALL"
expect 0
tool run -t glibc --rounds 1 -o there -- sleep 0.05
expect 0
tool list metrics
expect 0
py <<'PY'
from cells import *
of_workloads, of_commands = open("out").read().split("Metrics of any command")
for folder, text in ("here", of_workloads), ("there", of_commands):
    listed = {line.split()[0] for line in text.split("\n") if line}
    found = set()
    for _, _, lines in cells(folder):
        found |= set(metrics(lines))
    check(found and found <= listed, "not listed: %s" % (found - listed))
PY
