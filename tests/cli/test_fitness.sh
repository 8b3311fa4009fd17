#!/bin/bash
# allocbench run on a machine that is not fit, or changes meanwhile: --strict, --reruns. And what
# comes back while it is left alone: --settle.
. "$(dirname "$0")/common.sh"

# ---- --strict: a machine that the doctor refuses ------------------------------------------------
limited() {
    status=0
    echo "allocbench $* (ulimit -v)" >"$SCRATCH/.command"
    (
        ulimit -v 4000000
        CLI_TEST=$SCRATCH exec "$ALLOCBENCH" "$@"
    ) >"$SCRATCH/out" 2>"$SCRATCH/err" </dev/null || status=$?
}
limited run "$SMALL" -t glibc --no-floor --rounds 1 --strict -o strict
expect 3
[ "$(wc -l <err)" -eq 1 ] || fail "not one line of messages"
says "this machine is not fit for a comparison: "
grep -q 'comparison: .*limits.*; allocbench doctor says why and what to do' err ||
    fail "what refuses is not named"
[ ! -s out ] || fail "it shows a result"
[ ! -e strict ] || fail "it made a directory"
# The same without --strict is measured, and told in the report's head.
limited run "$SMALL" -t glibc --no-floor --rounds 1 -o strict
expect 0
says "this machine is not fit for a comparison: "
told='^- \*\*refuse\*\* limits: address space 3.8 GiB.*What to do: .*ulimit -v unlimited'
grep -q "$told" strict/REPORT.md || fail "the report does not tell"
py <<'PY'
from cells import *
check_whole("strict", 1, 2)
limits = [one for one in matrix("strict")["machine"] if one["name"] == "limits"]
check(len(limits) == 1 and limits[0]["verdict"] == "refuse", "%s" % limits)
check(set(limits[0]) == {"name", "verdict", "is_key", "value", "why", "advice"}, "as doctor --json")
PY
# What is there is no way round it.
limited run "$SMALL" -t glibc --no-floor --rounds 2 --strict -o strict
expect 3
py <<'PY'
from cells import *
check_whole("strict", 1, 2)
PY

# ---- --reruns: a command that takes CPUs from the tool ------------------------------------------
cat >change.sh <<'SH'
# Does nothing while there is no file "how"; "once" in it: changes the tool's CPUs the first time.
until [ -s pid ]; do sleep 0.01; done
[ -e how ] || exit 0
pid=$(cat pid)
[ "$(cat how)" != once ] || rm how
if [ -e narrow ]; then
    rm narrow
    taskset -pc "$(cat all)" "$pid"
else
    : >narrow
    taskset -pc "$(cat first)" "$pid"
fi >taskset.out
SH
# changing HOW ARGS...: a run of it.
changing() {
    rm -f pid narrow how
    [ "$1" = never ] || echo "$1" >how
    shift
    tool_start run -t glibc --rounds 1 "$@" -- sh change.sh
    echo "$running" >pid
    tool_end
}
taskset -pc $$ 2>/dev/null | sed 's/.*: //' >all || true
sed 's/[-,].*//' all >first
if [ -s first ] && ! cmp -s all first; then
    changing never -o never
    expect 0
    says_not "(cpus: "
    changing once -o once
    expect 0
    says "again: sh change.sh, round 1: the machine changed while it ran (cpus: from "
    changing always --reruns 3 -o always
    expect 0
    changing always --reruns 0 -o kept
    expect 0
    says_not "again: "
    told='the machine changed in 1 round, which spoils them: cpus, for instance from'
    grep -q "$told" kept/REPORT.md || fail "the report does not tell"
    py <<'PY'
from cells import *
def spoilt(directory):
    return [change["verdict"] for one in rounds(directory) for cell in one["cells"]
            for change in cell.get("machine", []) if change["name"] == "cpus"]
for directory, tries, cells_spoilt in ("once", 2, 0), ("always", 4, 2), ("kept", 1, 2):
    check_whole(directory, 1, 2)
    check(rounds(directory)[0]["tries"] == tries, "%s: %s" % (directory, rounds(directory)))
    check(spoilt(directory) == ["refuse"] * cells_spoilt, "%s: %s" % (directory, spoilt(directory)))
check(spoilt("never") == [], "nothing changed its CPUs")
PY
    changing always --strict --reruns 1 -o refused
    expect 3
    # A machine that is busy with other things may be refused before.
    if ! grep -q 'this machine is not fit' err; then
        says "round 1 of sh change.sh: the machine changed while it ran, 2 times (cpus: from "
        says "it is not kept (--strict); the same command goes on"
        untouched refused
        [ -z "$(ls refused/rounds)" ] || fail "the round is kept"
    fi
else
    echo "there is one CPU only, or no taskset: --reruns is left out"
fi

# ---- --settle: what comes back by itself --------------------------------------------------------
tool run "$SMALL" -t glibc-arena2 -t glibc-trim --rounds 1 --settle 2s -o settled
expect 0
shows "what comes back"
shows " 2 s later"
grep -q '^| target .* drained.* 2 s later.* purged' settled/REPORT.md ||
    fail "the report has no columns"
for name in rss_after_1s_bytes rss_after_2s_bytes rss_purged_bytes; do
    cut -f 3 settled/summary.tsv | grep -qx $name || fail "summary.tsv has no $name"
done
tool run "$SMALL" -t glibc-arena2 --rounds 1 -o unsettled
expect 0
shows_not " s later"
# It is another measurement.
tool run "$SMALL" -t glibc-arena2 --rounds 2 --settle 1s -o unsettled
expect 3
says "settle_s"
py <<'PY'
from cells import *
settled = 0
for _, cell, lines in cells("settled"):
    names = [line["name"] for line in lines if line["record"] == "after"]
    m = metrics(lines)
    if cell["target"] is None: # nothing is allocated, and nothing comes back
        check(names == [] and "rss_after_1s_bytes" not in m, "the floor: %s" % names)
        continue
    # Had the cells settled one after the other, all but the first would lack the first second.
    check(names == ["1s", "2s", "purged"], "%s: %s, %s" % (cell["file"], names, warnings(lines)))
    for name in "drained", "after_1s", "after_2s", "purged":
        check("rss_%s_bytes" % name in m, "%s of %s" % (name, cell["file"]))
    settled += 1
check(settled == 4, "%d cells" % settled)
for _, cell, lines in cells("unsettled"):
    check(not [line for line in lines if line["record"] == "after" and line["name"] != "purged"],
          "it did not settle")
    check("rss_after_1s_bytes" not in metrics(lines), "absent, not 0")
PY
