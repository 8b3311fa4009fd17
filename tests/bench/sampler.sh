#!/bin/sh
# Prints what readings cost and what samplers disturb, at several sizes (DESIGN 7). Usage:
#   sampler.sh BENCH_SAMPLER [SIZES_MB [MAPPINGS]]     lists in one word each
# By itself "50 1024" and "100", some 3 minutes; all of it: "50 1024 8192" and "100 60000", which
# needs 9 GB and vm.max_map_count at its preset 65530. Exit: 1 a limit does not hold.
set -u
bench=$1
sizes=${2:-50 1024}
mappings=${3:-100}
result=0
for size in $sizes; do
    for number in $mappings; do
        for what in cost disturbance; do
            "$bench" "$what" "$size" "$number" || result=$?
            echo
        done
    done
done
exit $result
