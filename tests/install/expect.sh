#!/bin/sh
# Runs a program that is examples/01_quickstart.c and checks what it prints: a status of 0, who
# serves malloc, and three metrics with a value above 0.
# usage: expect.sh PROGRAM [ARGUMENT...]
set -eu

output=$("$@")
printf '%s\n' "$output"
for wanted in 'malloc is [a-z-]+' 'time_ns_per_operation +[0-9]+\.[0-9]+' \
    'usable_per_live +1\.[0-9]+' 'rss_bytes +[1-9][0-9]+\.00'; do
    if ! printf '%s\n' "$output" | grep -Eqx "$wanted.*"; then
        echo "expect.sh: no line '$wanted' in the output of $1" >&2
        exit 1
    fi
done
