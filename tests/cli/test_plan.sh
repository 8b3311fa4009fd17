#!/bin/bash
# A plan is the command that it was made of: the same key, wherever and however it is run.
. "$(dirname "$0")/common.sh"

# same_key DIR DIR: both ask the same.
same_key() {
    py "$1" "$2" <<'PY'
from cells import *
a, b = (matrix(path) for path in sys.argv[1:3])
check(a["key"] == b["key"], "keys: %s\n%s" % (a["key"], b["key"]))
check([t["spec"] for t in a["targets"]] == [t["spec"] for t in b["targets"]], "targets")
PY
}

ask=(-t glibc -t glibc:MALLOC_ARENA_MAX=1 --seed 18446744073709551610 --slice 7000 --rounds 2
    --latency 0 "$SMALL" --no-floor -l 2)
tool plan "${ask[@]}" -o plan.json
expect 0
[ ! -s out ] && [ ! -s err ] || fail "it spoke"
[ "$(ls)" = "err
out
plan.json" ] || fail "it left more than a plan: $(ls)"
cp plan.json kept.json
tool plan "${ask[@]}"
expect 0
cmp out kept.json || fail "another plan on standard output"
tool run "${ask[@]}" -o direct
expect 0
tool run --plan plan.json -o planned
expect 0
same_key direct planned
cmp direct/plan.json kept.json || fail "another plan in the result directory"
cmp planned/plan.json kept.json || fail "another plan in the planned directory"
tool run --plan direct/plan.json -o planned
expect 0
says "2 of 2 rounds are there already"
tool run --plan=plan.json -o planned --rounds 3 --color never
expect 0
py <<'PY'
from cells import *
check_whole("planned", 3, 3)
check(json.load(open("planned/plan.json"))["rounds"] == 3, "rounds of the plan that was left")
PY

# Sweeps and lists are in it as they were asked, not what they come to.
ask=(-t glibc --lanes 1,2 --sweep MALLOC_ARENA_MAX=1,2 mixed:slots=64,steps=20000 --rounds 1)
tool run "${ask[@]}" -o swept
expect 0
grep -qF '[plan.json](plan.json)' swept/REPORT.md || fail "the report does not name the plan"
tool run --plan swept/plan.json -o again
expect 0
same_key swept again
rm -r again

# Where no target is named, the plan names those that are found.
tool plan "$SMALL" --quick -o found.json
expect 0
py <<'PY'
from cells import *
plan = json.load(open("found.json"))
check("glibc" in plan["targets"] and plan["baseline"] == "glibc", "targets: %s" % plan)
check(plan["rounds"] == 10 and plan["seed"] == 1, "what the tool chooses is in it")
check("folder" not in plan, "no folder is needed")
PY

# A command goes with its folder; -o is where the call is made.
mkdir -p home elsewhere
echo 'echo "$1" >>trace' >home/prog.sh
(cd home && tool plan -t glibc --rounds 1 -o ../command.json -- sh prog.sh $'a b\n"')
tool plan -t glibc --rounds 1 -- sh prog.sh
expect 0
(
    cd elsewhere
    tool run --plan ../command.json -o here
    expect 0
    [ -e here/matrix.json ] || fail "the result is not where -o says"
)
[ "$(grep -c '"' home/trace)" -eq 2 ] || fail "the command did not run in its folder"
sed -i 's#"folder": ".*"#"folder": "/nonexistent"#' command.json
tool run --plan command.json -o nowhere
expect 3
says 'command.json: its folder "/nonexistent" cannot be entered'

# Beside a plan stands nothing that it says.
for words in "--seed 4" "mixed" "-t glibc" "--tails" "--baseline glibc"; do
    # shellcheck disable=SC2086
    tool run --plan plan.json $words -o no
    expect 2
    one_line
    says "--plan plan.json says what is measured"
done
tool run --plan plan.json -o no -- true
expect 2
says "its command too"
untouched no

# What is wrong in a file is told by its place.
refused() {
    local text=$1
    printf '%s' "$2" >bad.json
    tool run --plan bad.json -o no
    expect 2
    one_line
    says "$text"
    untouched no
}
refused 'bad.json:2:3: ' $'{"schema": 1,\n  x}'
refused 'bad.json:2:15: options.rnds: run has no option --rnds; did you mean "' \
    $'{"schema": 1, "workloads": ["mixed"], "options":\n {   "rnds":  5}}'
refused 'did you mean "workloads"?' '{"schema": 1, "workload": ["mixed"]}'
refused "there is no workload 'mixd'; did you mean 'mixed'" '{"schema": 1, "workloads": ["mixd"]}'
refused '"--strict" is no name' '{"schema": 1, "workloads": ["--strict"]}'
refused "--latency 'many': a whole number" \
    '{"schema": 1, "workloads": ["mixed"], "options": {"latency": "many"}}'
tool run --plan gone.json -o no
expect 2
says "gone.json: cannot be read: No such file or directory"
mkfifo pipe.json
tool run --plan pipe.json -o no
expect 2
says "pipe.json: is not a regular file"

# A plan that cannot be.
tool plan mixd
expect 2
says "did you mean 'mixed'"
tool plan "$SMALL" --rounds +2
expect 2
says "a plan says how many rounds there are in all"
tool plan "$SMALL" $'--sweep=\377=1'
expect 2
says "UTF-8"
tool plan "$SMALL" -o nowhere/plan.json
expect 3
one_line
says "nowhere/plan.json"
tool run $'--color=never' -t glibc --rounds 1 -o odd -- true $'\377'
expect 0
says "no plan.json is written"
[ ! -e odd/plan.json ] || fail "a plan of what no plan can hold"

# A length that --duration chose stays chosen.
tool plan mixed:lanes=1,slots=64 -t glibc --rounds 2 --duration 20ms -o long.json
expect 0
says "the lengths that --duration chooses are not in this plan"
tool round long.json 1 -o no
expect 2
says '"options.duration" would choose another length in each round'
tool run --plan long.json -o long --rounds 1
expect 0
tool round long/plan.json 1 -o one
expect 0
tool round long/plan.json 2 -o two
expect 2 # that run had one
tool run --plan long/plan.json --rounds 2 -o again
expect 0
py <<'PY'
from cells import *
plan = json.load(open("long/plan.json"))
check(len(plan["lengths"]) == 1 and "steps=" in plan["lengths"][0], "lengths: %s" % plan)
played = [matrix(path)["workloads"][0]["played"] for path in ("long", "one", "again")]
check(len(set(played)) == 1, "other lengths: %s" % played)
PY
sed 's/steps=[0-9]*/steps=123456/' long/plan.json >changed.json
cp -r long kept
tool run --plan changed.json -o long --rounds 2
expect 3
one_line
says "long holds rounds of another length"
diff -r -x lock kept long || fail "the directory was touched"

# What is no file of its own is written into, not replaced.
mkfifo pipe
cat pipe >through &
tool plan mixed -t glibc -o pipe
expect 0
wait $!
[ -p pipe ] && grep -q '"schema": 1' through || fail "the pipe was replaced, or got nothing"
