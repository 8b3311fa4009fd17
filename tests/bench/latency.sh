#!/bin/sh
# Prints what latency costs: recording a value in instructions and ns (DESIGN 7: 2 ns), sampling
# one operation in 1024 in percent (at most 3). Usage: latency.sh BENCH_LATENCY [WORKLOAD]; needs
# valgrind.
set -eu
bench=$1
workload=${2:-mixed:steps=200000}
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT

# Instructions spent in (and below) one function.
instructions() {
    valgrind --tool=callgrind --callgrind-out-file="$folder/$2" --collect-atstart=no \
        --toggle-collect="$1" "$bench" "$2" >"$folder/values" 2>"$folder/errors"
    awk '/^(summary|totals):/ { print $2; exit }' "$folder/$2"
}

recorded=$(instructions inline_records count)
bare=$(instructions bare_reads bare)
awk -v recorded="$recorded" -v bare="$bare" -v values="$(cat "$folder/values")" 'BEGIN {
    printf "recording a value: %.2f instructions inline, beyond %.2f for reading it\n",
        (recorded - bare) / values, bare / values }'
"$bench" record
"$bench" sampling "$workload"
