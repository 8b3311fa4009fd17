#!/bin/bash
# A result directory grows: by rounds, and by targets. What is there stays, and counts where it can.
. "$(dirname "$0")/common.sh"
needs_jemalloc

# shape DIR: "glibc+ jemalloc; ..." a round, "+" for the baseline that ran twice.
shape() {
    py "$1" <<'PY'
from cells import *
for one in rounds(sys.argv[1]):
    names = [cell["target"] for cell in one["cells"] if cell["target"]]
    print(" ".join(name + "+" * (names.count(name) - 1) for name in dict.fromkeys(names)), end="; ")
PY
}
is_shape() {
    [ "$(shape "$1")" = "$2" ] || fail "the rounds are: $(shape "$1")"
}

tool run -o here -r 2 -t jemalloc "$SMALL"
expect 0
cp -r here before
tool run -o here -r +1 -t jemalloc "$SMALL"
expect 0
says "2 of 3 rounds are there already and are kept"
is_shape here "jemalloc glibc+; jemalloc glibc+; jemalloc glibc+; "

# Another target: rounds of its own, with both baselines.
tool run -o here -r 2 -t glibc:A=1 "$SMALL"
expect 0
is_shape here "jemalloc glibc+; jemalloc glibc+; jemalloc glibc+; glibc+ glibc:A=1; glibc+ glibc:A=1; "
shows "jemalloc"
shows "glibc:A=1"
for file in rounds/w00.r000.json cells/w00.r001.t00.jsonl; do
    cmp "before/$file" "here/$file" || fail "$file was touched"
done
py <<'PY'
from cells import *
whole = matrix("here")
check([t["name"] for t in whole["targets"]] == ["jemalloc", "glibc", "glibc:A=1"], "the targets")
check(whole["rounds"] == 5, "rounds")
check([one["seed"] for one in rounds("here")] == list("12345"), "seeds go on")
check(os.path.exists("here/cells/w00.r004.t02.jsonl"), "a cell's name tells its place in the list")
PY

# All of them together are another question; a subset is answered.
tool run -o here -r 1 -t jemalloc -t glibc:A=1 "$SMALL"
expect 0
[ -e here/rounds/w00.r005.json ] && [ ! -e here/rounds/w00.r006.json ] || fail "not one round"
tool run -o here -r 4 -t jemalloc "$SMALL"
expect 0
says "4 of 4 rounds are there already"

# A target of the same name must be the same.
cp "$JEMALLOC" own.so
tool run -o here -r 1 -t own=own.so "$SMALL"
expect 0
cp own.so other.so
tool run -o here -r 1 -t own=other.so "$SMALL"
expect 3
says "it differs in targets.own.spec (\"own=own.so\" there, \"own=other.so\" asked)"
tool run -o here -r 1 -t jemalloc "$SMALL"
expect 0

# One that has gone is left out; what it was stays told.
mv own.so away.so
tool run -o here -r 1 -t own=own.so "$SMALL"
expect 4
says "there is no library"
tool run -o here -r 8 -t own=own.so -t jemalloc --skip-bad "$SMALL"
expect 0
py <<'PY'
from cells import *
own = [t for t in matrix("here")["targets"] if t["name"] == "own"][0]
check(own["missing"] is None and own["build_id"], "own is told as it was measured: %s" % own)
check(len([one for one in rounds("here") if any(c["target"] == "own" for c in one["cells"])]) == 1,
      "own's round")
PY

# Whoever has seen a verdict and goes on is noted.
tool run -o seen -r 7 -t jemalloc "$SMALL"
expect 0
tool run -o seen -r +1 -t jemalloc "$SMALL"
expect 0
says "rounds were added after a look: see --until-decided"
grep -q "rounds were added after a look" seen/REPORT.md || fail "REPORT.md does not say so"

# The environment of each cell has a length of its own, of 0 to 4095 bytes, which a program sees.
tool run -o padded -r 1 -t glibc -- sh -c 'printf %s "$ALLOCBENCH_PADDING" | wc -c'
expect 0
tool run -o plain -r 1 -t glibc --no-padding -- sh -c 'echo "${ALLOCBENCH_PADDING-none}"'
expect 0
py <<'PY'
from cells import *
seen = [int(open("padded/" + cell["file"].replace(".jsonl", ".out")).read())
        for _, cell, _ in cells("padded")]
check(seen == [cell["padding"] for _, cell, _ in cells("padded")], "recorded: %s" % seen)
check(len(set(seen)) == 2 and max(seen) <= 4095, "lengths: %s" % seen)
check(all("padding" not in cell for _, cell, _ in cells("plain")), "none")
check(open("plain/cells/w00.r000.t00.out").read() == "none\n", "no variable")
PY
