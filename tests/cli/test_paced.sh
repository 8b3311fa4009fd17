#!/bin/bash
# A tape that sleeps is played by itself, also when it is streamed, and may be silent for longer than
# the timeout; more slices than are kept are refused before they are played.
. "$(dirname "$0")/common.sh"

tool run burst-idle:scale=quick,idle=150ms -t glibc --rounds 1 --no-floor --timeout 1s -o idle
expect 0
says "one after the other"
py <<'PY'
from cells import *
import json
check(json.load(open("idle/rounds/w00.r000.json"))["mode"] == "sequential", "by themselves")
PY

# As many operations as are streamed; the tape has pauses and so the round is a sequence.
tool run server:rate=1k,time=1s,paced=1,lifetime=loguniform:100us-50ms,peak=none -t glibc --rounds 1 \
    --no-floor -o paced
expect 0
says "one after the other"

tool run larson:rounds=1048576 --slice 1024 -t glibc --rounds 1 --no-floor -o many
expect 4
says "are more than 1000000: larger slices are needed"
