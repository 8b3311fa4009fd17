#!/bin/sh
# Prints the player's cost beyond a bare loop (DESIGN 7: at most 10 instructions, about 3 ns an
# operation). Usage: player.sh BENCH_PLAYER [WORKLOAD]; needs valgrind.
set -eu
bench=$1
workload=${2:-mixed:steps=200000}
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT

# Instructions spent in (and below) one function.
instructions() {
    valgrind --tool=callgrind --callgrind-out-file="$folder/$2" --collect-atstart=no \
        --toggle-collect="$1" "$bench" "$2" "$workload" >"$folder/operations" 2>"$folder/errors"
    awk '/^(summary|totals):/ { print $2; exit }' "$folder/$2"
}

played=$(instructions abench__lane_stretch play)
bare=$(instructions bare_loop bare)
awk -v played="$played" -v bare="$bare" -v operations="$(cat "$folder/operations")" 'BEGIN {
    printf "player %.2f, bare loop %.2f, beyond it %.2f instructions an operation (at most 10)\n",
        played / operations, bare / operations, (played - bare) / operations }'
"$bench" time "$workload"
