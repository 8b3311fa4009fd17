#!/bin/bash
# The same seed gives the same work to every allocator; each round has its own.
. "$(dirname "$0")/common.sh"
needs_jemalloc

tool run churn-cross:slots=500 -t glibc -t jemalloc --rounds 3 --seed 7 -o seven
expect 0
tool run churn-cross:slots=500 -t glibc -t jemalloc --rounds 2 --seed 7 --same-seed -o same
expect 0
tool run churn-cross:slots=500 -t glibc -t jemalloc --rounds 1 --seed 9 -o nine
expect 0
tool run churn-cross:slots=500 -t glibc --rounds 1 --seed 70 -o seventy
expect 0

py <<'PY'
from cells import *

def digests(directory):
    """Of each round; its cells must agree."""
    found = []
    for one in rounds(directory):
        pairs = set()
        for cell in one["cells"]:
            lines = records(directory + "/" + cell["file"])
            check(str(lines[0]["seed"]) == one["seed"], "the cell's seed is the round's")
            receipt = lines[-1]["receipt"]
            check(receipt["planned"] == receipt["executed"] > 0, "the receipt is whole")
            pairs.add((lines[0]["plan_digest"], lines[-1]["work_digest"]))
        check(len(pairs) == 1, "%s: cells of one round differ: %s" % (directory, pairs))
        found.append(pairs.pop())
    return found

seven = digests("seven")
check(len(set(seven)) == 3, "rounds differ")
check(len({work for plan, work in seven}) == 3, "rounds differ in their work")
check([len(one["cells"]) for one in rounds("seven")] == [4, 4, 4], "glibc twice, jemalloc, floor")
check([one["seed"] for one in rounds("seven")] == ["7", "8", "9"], "round r has seed S + r")
same = digests("same")
check(same == [seven[0], seven[0]], "--same-seed keeps the first seed")
check(digests("nine") == [seven[2]], "seed 9 is the third round of seed 7")
check(digests("seventy")[0] not in seven, "another seed gives other work")
PY
