#!/bin/bash
# A command that writes a result of its own: its metrics stand beside what is measured from outside.
. "$(dirname "$0")/common.sh"

# ---- in sh --------------------------------------------------------------------------------------
cat >harness <<'S'
#!/bin/sh
[ -n "$ALLOCBENCH_RESULT" ] || exit 5
nonce=${NONCE-$ALLOCBENCH_NONCE}
cat >"$ALLOCBENCH_RESULT" <<R
{"record":"manifest","schema":1,"library":"mine","name":"harness","nonce":"$nonce","seed":$ALLOCBENCH_SEED}
{"record":"metric","name":"requests","unit":"count","direction":"higher","value":$((1000 + ALLOCBENCH_SEED))}
{"record":"metric","name":"duration","unit":"ns","direction":"none","value":${ALLOCBENCH_DURATION_MS-0}}
{"record":"metric","name":"wall_ns","unit":"ns","direction":"lower","value":1.0}
{"record":"unheard of","x":[1]}
R
[ -n "${SHORT-}" ] || echo '{"record":"end"}' >>"$ALLOCBENCH_RESULT"
[ -z "${PRINTS-}" ] || [ ! -e mark ] || echo more
touch mark
S
chmod +x harness

tool run -t glibc --rounds 2 --seed 7 --duration 2s -o here -- ./harness
expect 0
py <<'PY'
from cells import *
check_whole("here", 2, 2)
for one, _, lines in cells("here"):
    m = metrics(lines)
    check(m["requests"] == 1007 + one["round"], "its own metric, on the round's seed: %s" % m)
    check(m["duration"] == 2000, "ALLOCBENCH_DURATION_MS: %s" % m)
    check(m["wall_ns"] > 1 and m["harness_wall_ns"] == 1, "a name that is taken: %s" % m)
PY
grep -q requests here/summary.tsv || fail "summary.tsv does not hold the harness's metric"

# It prints what it measured, which differs: no sign of other work. Of any other command it is one.
rm -f mark
PRINTS=1 tool run -t glibc --rounds 1 -o prints -- ./harness
expect 0
shows_not "did not print the same"
rm -f mark
PRINTS=1 SHORT=1 tool run -t glibc --rounds 1 -o doubted -- ./harness
expect 0
shows "did not print the same"

# Of another run, or not whole: left out, with a warning.
NONCE=other tool run -t glibc --rounds 1 -o other -- ./harness
expect 0
shows "the harness's result is of another run"
SHORT=1 tool run -t glibc --rounds 1 -o short -- ./harness
expect 0
shows "the harness's result is not whole and was left out"
py <<'PY'
from cells import *
for directory in ("other", "short"):
    check_whole(directory, 1, 2)
    check(all("requests" not in metrics(lines) for _, _, lines in cells(directory)), directory)
PY

# ---- in C: the library's own runs ----------------------------------------------------------------
tool run -t glibc --rounds 1 --seed 7 -o cell -- "$CELL" "$SMALL"
expect 0
tool run -t glibc --rounds 1 --seed 7 -o tape "$SMALL"
expect 0
# Only the first process that claims the result writes it; its children do not.
tool run -t glibc --rounds 1 --seed 7 -o two -- sh -c "'$CELL' $SMALL && '$CELL' $SMALL >/dev/null"
expect 0
py <<'PY'
from cells import *
tape = metrics([lines for _, _, lines in cells("tape")][0])
for directory in ("cell", "two"):
    check_whole(directory, 1, 2)
    for _, _, lines in cells(directory):
        m = metrics(lines)
        check(m["operations"] == tape["operations"], "the same work: %s" % m)
        check(m["live_bytes"] == tape["live_bytes"], "the same live set: %s" % m)
        check(m["rss_bytes"] > 0 and m["peak_rss_bytes"] > 0, "from inside and outside")
PY
