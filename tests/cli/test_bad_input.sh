#!/bin/bash
# What was mistyped: exit 2, one line that says what, where, and the nearest name.
. "$(dirname "$0")/common.sh"

# wrong TEXT ARGS...
wrong() {
    local text=$1
    shift
    tool "$@"
    expect 2
    one_line
    says "$text"
    [ ! -s out ] || fail "something on standard output"
    [ -z "$(ls -d allocbench-results here 2>/dev/null)" ] || fail "a result directory was made"
}

# ---- names --------------------------------------------------------------------------------------
wrong "there is no command 'rnu'; did you mean 'run'?" rnu
wrong "there is no command 'reports'; did you mean 'report'?" reports
wrong "there is no workload 'mixd'; did you mean 'mixed'?" run mixd
wrong "there is no workload 'churn-corss'; did you mean 'churn-cross'?" run mixed churn-corss
wrong "there is no target 'jemaloc'; did you mean 'jemalloc'?" run mixed -t jemaloc
wrong "there is no target 'glib'; did you mean 'glibc'?" run mixed -t glib:A=1
wrong "mixed has no parameter 'lane'; did you mean 'lanes'?" run mixed:lane=1
wrong "there is no option '--round-s'; did you mean '--rounds'? (allocbench run --help)" \
    run mixed --round-s 3
wrong "there is no option '--tareget'; did you mean '--target'?" run mixed --tareget=glibc
wrong "there is no option '--colour'; did you mean '--color'? (allocbench report" report --colour x
wrong "there is no option '--verbos-e'; did you mean '--verbose'? (allocbench list" list --verbos-e
wrong "there is no option '-q'" run mixed -q
wrong "there is no option '-x'" list -x
wrong "option --rounds wants a value" run mixed --rounds
wrong "option -t wants a value" run mixed -t
wrong "option --skip-bad takes no value" run mixed --skip-bad=yes
tool list workload
expect 2
says "usage: allocbench list [workloads [NAME...]|targets|metrics]"

# ---- specs: the column --------------------------------------------------------------------------
wrong "column 13: lanes is a whole number" run mixed:lanes=x
wrong "column 13: lanes is a whole number" run mixed:lanes=0
wrong "column 21: steps" run mixed:lanes=1,steps=-1
wrong "column" run 'mixed:sizes=mix:70%1-256'
wrong "column" run 'mixed:sizes=uniform:9-1'
wrong "column" run 'mixed:lanes=1,,steps=1'
wrong "column 21: this parameter is given twice" run 'mixed:lanes=1,lanes=2'
wrong "target 'glibc:FOO', column 7: KEY=VALUE is wanted here" run mixed -t glibc:FOO
wrong "target 'glibc:A=1,thp=off', column 11: thp is never or inherit" run mixed -t glibc:A=1,thp=off
wrong "column 7: aslr is off or on" run mixed -t glibc:aslr=no
wrong "column 7: cpus is a list like 0-1,3" run mixed -t glibc:cpus=0-
wrong "column 11: cpus is a list like 0-1,3" run mixed -t glibc:A=1,cpus=3-1
wrong "column 7: LD_PRELOAD is the tool's own" run mixed -t glibc:LD_PRELOAD=/x.so
wrong "column 7: the ALLOCBENCH_ variables are the tool's own" run mixed -t glibc:ALLOCBENCH_SEED=1
wrong "column 7: a variable's name is letters, digits and _" run mixed -t 'glibc: A=1'
wrong "column 9: a variable's name is letters, digits and _" run mixed -t 'x=/none,1A=1'
wrong "target '' has no name" run mixed -t ''
wrong "target '=/x.so' has no name" run mixed -t =/x.so

# ---- numbers ------------------------------------------------------------------------------------
for value in 0 -1 1.5 x '' 10001 99999999999999999999 ' 1' 0x10; do
    wrong "--rounds '$value': a whole number from 1 to 10000 is wanted" run mixed --rounds "$value"
done
wrong "--seed '18446744073709551616': a whole number" run mixed --seed 18446744073709551616
wrong "--lanes '0'" run mixed --lanes 0
wrong "--slice '0'" run mixed --slice 0
for value in x -1s 5x nan inf 1e999 '' 's' '5 s'; do
    wrong "--timeout '$value': a time like 500ms, 10s, 2m or 1h is wanted" \
        run mixed --timeout "$value"
done
wrong "--color is auto, always or never" run mixed --color yes
wrong "-o wants a directory" run mixed -o ''
wrong "a command is wanted behind '--'" run --
wrong "a command is wanted behind '--'" run mixed --

# ---- nothing at all -----------------------------------------------------------------------------
for verb in "" run report "report a b"; do
    # shellcheck disable=SC2086
    tool $verb
    expect 2
    says "allocbench"
    [ ! -s out ] || fail "usage that nobody asked for on standard output"
done

# ---- what is asked for goes to standard output --------------------------------------------------
for verb in --help -h help "run --help" "run -h" "report --help" "list --help"; do
    # shellcheck disable=SC2086
    tool $verb
    expect 0
    shows "allocbench"
    [ ! -s err ] || fail "help on standard error"
done
tool --version
expect 0
grep -qx 'allocbench [0-9]*\.[0-9]*\.[0-9]*' out || fail "no version"

# Options may stand behind the workload, and be shortened; what follows "--" is the command's.
tool run "$SMALL" --roun 1 --no-fl -tglibc -ohere --col=never -- true --rounds 7 -h
expect 0
shows "true --rounds 7 -h (command, 1 round"

# What the machine cannot hold is not begun.
tool run mixed:slots=4,steps=10,sizes=fixed:100000G -t glibc -o live --rounds 1
expect 4
says "GiB does not fit into the memory"

# More targets than a report can hold are refused before anything is proven.
many=()
for n in $(seq 0 200); do
    many+=(-t "glibc:MALLOC_ARENA_MAX=$n")
done
tool run "$SMALL" "${many[@]}" -o many
expect 2
says "more than 200 targets"
