#!/bin/bash
# allocbench doctor: a table, JSON, and --strict, which ends with 3 where a finding refuses.
. "$(dirname "$0")/common.sh"

# Whatever this machine is like, the table, the JSON and the summary tell the same.
tool doctor --json --window 20ms
expect 0
[ ! -s err ] || fail "messages"
mv out findings.json
tool doctor --window 20
expect 0
[ ! -s err ] || fail "messages"
py <<'PY'
import json, re
from cells import *
findings = json.load(open("findings.json"))
check(len(findings) > 20, "%d findings" % len(findings))
for one in findings:
    check(set(one) == {"name", "verdict", "is_key", "value", "why", "advice"}, "fields: %s" % one)
    check(one["verdict"] in ("ok", "warn", "refuse", "unknown"), "verdict: %s" % one)
    check(isinstance(one["is_key"], bool) and one["value"] and one["why"], "values: %s" % one)
    check(one["advice"] or one["verdict"] in ("ok", "unknown"), "what to do: %s" % one)
names = [one["name"] for one in findings]
check(len(set(names)) == len(names), "each once: %s" % names)
check({"steal", "thp", "governor", "aslr", "kernel", "preload"} <= set(names), "names: %s" % names)
# Those that do not change from one look to the next stand in the table as they are in the JSON.
table = open("out").read()
lines = table.splitlines()
check(all(len(line) <= 80 for line in lines), "80 columns where no terminal is")
check("\033" not in table, "no colour where no terminal is")
for one in findings:
    if one["name"] in ("thp", "aslr", "kernel", "overcommit") and one["verdict"] == "ok":
        found = [line for line in lines if line.split()[:2] == ["ok", one["name"]]]
        check(len(found) == 1 and found[0].endswith(one["value"]), "%s: %s" % (one, found))
    if one["verdict"] == "unknown":
        told = " ".join(table[table.index("\nunknown "):].split())
        check(one["name"] in told, "%s is named: %s" % (one["name"], told))
counts = re.fullmatch(r"(\d+) ok, (\d+) warn, (\d+) refuse, (\d+) unknown", lines[-1])
check(counts is not None, "the summary: %s" % lines[-1])
check(sum(map(int, counts.groups())) == len(findings), "all are counted: %s" % lines[-1])
for word, count in zip(("ok", "warn", "refuse"), counts.groups()):
    shown = [line for line in lines if line.split()[:1] == [word]]
    check(len(shown) == int(count), "%s lines %s" % (len(shown), word))
PY

# Everything about each one.
tool doctor --verbose --window 20
expect 0
py <<'PY'
import json
from cells import *
text = " ".join(open("out").read().split())
for one in json.load(open("findings.json")):
    check(" ".join(one["why"].split()) in text, "why %s matters" % one["name"])
check("--verbose says more" not in text, "nothing more is left to say")
PY

# ---- --strict: a machine that refuses -----------------------------------------------------------
limited() {
    (
        ulimit -v 4000000
        exec "$ALLOCBENCH" "$@"
    )
}
status=0
limited doctor --window 20 >out 2>err || status=$?
expect 0
grep -q '^refuse  limits  *address space 3.8 GiB' out || fail "the limit is not refused"
grep -q '^        do:   .*ulimit -v unlimited' out || fail "what to do is not said"
status=0
limited doctor --strict --window 20 >out 2>err || status=$?
expect 3
grep -q '^refuse  limits ' out || fail "nothing is shown when it refuses"
one_line
says "a comparison here (--strict)"
status=0
limited doctor --strict --json --window 20 >findings.json 2>err || status=$?
expect 3
py <<'PY'
import json
from cells import *
limits = [one for one in json.load(open("findings.json")) if one["name"] == "limits"]
check(limits[0]["verdict"] == "refuse" and "ulimit" in limits[0]["advice"], "%s" % limits)
PY
# What only warns is no reason.
tool doctor --strict --window 20
if grep -q '^refuse ' out; then expect 3; else expect 0; fi

# A preload for every program, in an /etc of its own.
preloaded() {
    local how=-m libm
    libm=$(library libm.so.6)
    unshare -m true 2>/dev/null || how=-rm
    if ! unshare $how true 2>/dev/null || [ -z "$libm" ]; then
        echo "no mount namespace of one's own is allowed here: that part is left out"
        return
    fi
    mkdir etc
    [ ! -e /etc/ld.so.cache ] || cp /etc/ld.so.cache etc
    echo "# nothing but a comment" >etc/ld.so.preload
    # shellcheck disable=SC2016
    in_etc() {
        unshare $how sh -c 'mount --bind "$0" /etc && exec "$@"' "$SCRATCH/etc" "$ALLOCBENCH" "$@"
    }
    in_etc doctor --window 20 >out 2>err || fail "a comment alone ends it"
    grep -q '^ok      preload  *nothing$' out || fail "a comment is taken for a preload"
    echo "$libm" >etc/ld.so.preload
    status=0
    in_etc doctor --strict --window 20 >out 2>err || status=$?
    expect 3
    grep -q "^refuse  preload  *.*/etc/ld.so.preload" out || fail "the preload is not refused"
    shows "$libm"
}
preloaded

# ---- a terminal ---------------------------------------------------------------------------------
# on_terminal COLUMNS COMMAND: what it writes, with the returns taken off.
on_terminal() {
    script -qec "stty cols $1; $2" /dev/null </dev/null | tr -d '\r' >out
}
if type -P script >/dev/null; then
    export TERM=xterm
    on_terminal 120 "'$ALLOCBENCH' doctor --window 20"
    grep -q $'^\033\\[32mok     \033\\[0m thp ' out || fail "no colour on a terminal"
    on_terminal 60 "NO_COLOR=1 '$ALLOCBENCH' doctor --verbose --window 20"
    grep -q '^ok      thp ' out || fail "NO_COLOR is not honoured"
    ! grep -q $'\033' out || fail "NO_COLOR is not honoured"
    longest=$(grep -v / out | wc -L)
    [ "$longest" -gt 40 ] && [ "$longest" -le 60 ] || fail "$longest of 60 columns"
else
    echo "script (bsdutils) is not here: the terminal is left out"
fi

# A reader that has seen enough is no error; a full disk is.
{ "$ALLOCBENCH" doctor 2>err; echo $? >left; } | true
[ "$(cat left)" = 0 ] && [ ! -s err ] || fail "a reader who leaves is an error"
status=0
"$ALLOCBENCH" doctor --window 20 >/dev/full 2>err || status=$?
expect 3
says "standard output cannot be written"

# ---- usage --------------------------------------------------------------------------------------
tool doctor --jsn
expect 2
says "there is no option '--jsn'; did you mean '--json'?"
tool doctor now
expect 2
says "'now' is no option"
for value in 0 -1 x 61s 60001 '' 5m 99999999999999999999; do
    tool doctor --window "$value"
    expect 2
    one_line
    says "--window '$value': a time from 1ms to 60s is wanted"
done
tool doctor --color blue
expect 2
tool doctr
expect 2
says "did you mean 'doctor'?"
tool doctor --help
expect 0
shows "usage: allocbench doctor"
