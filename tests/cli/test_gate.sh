#!/bin/bash
# --fail-if: what fails, what passes, what cannot be told, and what is no threshold.
. "$(dirname "$0")/common.sh"

py <<'PY'
from results import *
M = 1 << 20
def arms(jemalloc, count=12, spread=0.01):
    return {"glibc": around(45 * M, spread, count), "glibc again": around(45 * M, spread, count, 5),
            "jemalloc": around(jemalloc * M, spread, count, 11)}
make("ten", arms(49.5))  # 10 % more
make("less", arms(40))
make("few", arms(49.5, count=3))
make("fours", dict(arms(49.5, count=3), mimalloc=[M] * 3, tcmalloc=[M] * 3))
make("gap", {"glibc": [45.0] * 11 + [0.0], "glibc again": [45.0] * 12, "jemalloc": [60.0] * 12})
make("split", {"glibc": around(45 * M, 0.001, 12), "glibc again": around(54 * M, 0.001, 12),
               "jemalloc": around(60 * M, 0.001, 12)})
make("failed", arms(49.5), failed={("jemalloc", at) for at in range(12)})
evil = "a@b>\"<script>\033"
make("evil", {"glibc": around(45 * M, 0.01, 12), "glibc again": around(45 * M, 0.01, 12, 5),
              "x@y z": around(49.5 * M, 0.01, 12)})
PY

# On report: to the baseline.
tool report ten --fail-if 'rss>+5%'
expect 1
shows 'rss>+5%: FAILED: jemalloc on mixed:lanes=1, rss_bytes: x1.10'
says '1 of 1 threshold failed'
tool report ten --fail-if 'rss>+15%' --fail-if 'time_ns_per_operation<+5%' --fail-if 'rss>1GiB'
expect 0
shows 'rss>+15%: ok'
shows 'time_ns_per_operation<+5%: ok'
shows 'rss>1GiB: ok: glibc on mixed:lanes=1'
shows 'rss>1GiB: ok: jemalloc on mixed:lanes=1'
says_not threshold
tool report ten --fail-if 'rss>+15%' --fail-if 'rss@jemalloc@mixed>48MiB' --fail-if 'rss@glibc>48MiB'
expect 1
shows 'rss@jemalloc@mixed>48MiB: FAILED'
shows 'rss@glibc>48MiB: ok'
says '1 of 3 thresholds failed'
tool report ten --fail-if 'odd_count<+9%' --fail-if 'odd_count<-9%' # not one that the tables judge
expect 0
shows 'odd_count<-9%: ok: jemalloc on mixed:lanes=1, odd_count: x1.10'
tool report less --fail-if 'rss>-20%'
expect 1
tool report less --fail-if 'rss>-5%'
expect 0

# What the rounds cannot tell passes, and is said.
tool report ten --fail-if 'rss>+10%'
expect 0
shows 'rss>+10%: cannot tell'
says '1 of 1 threshold cannot be told: that is no failure (--fail-if-unknown makes it one)'
tool report ten --fail-if 'rss>+10%' --fail-if-unknown
expect 1
says '1 of 1 threshold cannot be told'
tool report few --fail-if 'rss>+5%'
expect 0
shows 'rss>+5%: cannot tell: jemalloc on mixed:lanes=1, rss_bytes: x1.10 (3 rounds: 6 needed)'
tool report few --fail-if 'odd_count>+5%' --fail-if 'rss>1B' --fail-if-unknown
expect 1
shows 'odd_count>+5%: cannot tell: jemalloc on mixed:lanes=1, odd_count: x1.10 (3 rounds: 6 needed)'
shows 'rss>1B: cannot tell: glibc on mixed:lanes=1, rss_bytes: 45.0 MiB (3 rounds: 6 needed)'
tool report fours --fail-if 'odd_count@jemalloc>+5%' # three share alpha
expect 0
shows '(3 rounds: 7 needed)'
tool report gap --fail-if 'odd_count>+5%' # a round without a ratio was chosen by its value
expect 0
shows 'odd_count>+5%: cannot tell'
tool report split --fail-if 'rss>+5%' --fail-if 'rss>50MiB'
expect 1
shows 'rss>+5%: cannot tell: jemalloc on mixed:lanes=1, rss_bytes: x1.33'
shows 'A/A separates'
shows 'rss>50MiB: FAILED: jemalloc'
tool report failed --fail-if 'rss>+5%' --fail-if-unknown # a target without a number is not fine
expect 1
shows 'rss>+5%: cannot tell: jemalloc on mixed:lanes=1: no number'

# On compare: B by A, and B's values.
tool compare less ten --fail-if 'rss>+20%' --fail-if 'time>+30%' --fail-if 'rss>49MiB' --fail-if 'odd_count<-5%'
expect 1
shows 'rss>+20%: FAILED: jemalloc on mixed:lanes=1, rss_bytes: x1.238'
shows 'time>+30%: ok'
shows 'rss>49MiB: ok: glibc'
shows 'rss>49MiB: FAILED: jemalloc'
shows 'odd_count<-5%: ok: jemalloc'
says '2 of 5 thresholds failed'
tool compare ten less --fail-if 'rss>+5%'
expect 0
tool compare ten few --fail-if 'rss>+5%' --fail-if-unknown
expect 1
shows 'cannot tell'

# A threshold of nothing cannot fail: it is none.
for wrong in 'rss>+5%%' 'rss' 'rss>5' 'nothing>5%' 'rss@tcmalloc>5%' 'rss@*@churn>5%' 'rss>5ms' 'time>5MiB' ''; do
    for verb in "report ten" "compare less ten"; do
        # shellcheck disable=SC2086
        tool $verb --fail-if "$wrong"
        if [ "$wrong" = 'rss>5' ]; then
            expect 1 # 5 bytes
            continue
        fi
        expect 2
        one_line
        says "--fail-if '$wrong'"
    done
done
tool report ten --fail-if 'rss@jemaloc>5%'
says "did you mean 'jemalloc'?"
tool report ten --fail-if 'rss_byte>5%' # the same without its end is another name
expect 2
says "did you mean 'rss_bytes'?"
tool report ten --fail-if 'odd>5%'
expect 2
says "nothing here was measured as 'odd'; did you mean 'odd_count'?"
tool report ten --fail-if 'per_op>5%' # a part of a long name is nearer than a short one
expect 2
says "did you mean 'time_ns_per_operation'?"
tool report ten --fail-if
expect 2
tool report evil --fail-if 'rss@"x@y z">+5%'
expect 1
shows 'FAILED: x@y z on mixed:lanes=1'

# On run: after the run, which is whole.
tool run -t glibc --rounds 6 -o here --quick --no-floor --fail-if 'live_bytes>1' "$SMALL"
expect 1
shows 'live_bytes>1: FAILED: glibc on'
[ -e here/REPORT.md ] || fail "no report"
tool run -t glibc --rounds 6 -o here --quick --no-floor --fail-if 'live_bytes>1GiB' --export-json - "$SMALL"
expect 0
py <<'PY'
from cells import *
told = json.load(open("out"))
check(told["kind"] == "allocbench-report" and len(told["thresholds"]) == 1, "the export alone")
check(told["thresholds"][0]["result"] == "passed", "passed")
PY
tool run -t glibc --rounds 1 -o there --fail-if 'rss>oops' "$SMALL"
expect 2
one_line
says "--fail-if 'rss>oops', column 5"
untouched there
