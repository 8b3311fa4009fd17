#!/usr/bin/python3
"""How far off time measurements are on this machine: lockstep beside cells in sequence.

Usage: lockstep.py ALLOCBENCH [SESSIONS] [SLICES]

A session is one round of `mixed` at one lane with three children: glibc, glibc again, jemalloc. Each
session is run twice in turn, in lockstep and with its cells one after the other (--sequential), on
the same seed. Printed: the error of glibc against itself and the range of jemalloc's ratio, for

  lockstep   median over slices of the slice-by-slice ratio (what allocbench reports)
  sequence   ratio of the cells' medians over slices, and of their total times (what suites do)

A session takes some 10 s; `lockstep.py ALLOCBENCH 3 30` gives a first look. Slices are about 5 ms (160000 operations); the first of each cell is left out.
"""
import json
import statistics
import subprocess
import sys
import tempfile

SLICE = 160_000


def slices(path):
    """ns an operation of each warm slice of the timed phase, and the sum of its times."""
    found = []
    with open(path, encoding="utf-8") as lines:
        for line in lines:
            record = json.loads(line)
            if record["record"] == "slice" and record["phase"] == "steady":
                found.append((record["cpu_ns"], record["operations"]))
    return [ns / operations for ns, operations in found[1:]]


def session(tool, mode, seed, steps):
    with tempfile.TemporaryDirectory() as folder:
        command = [tool, "run", f"mixed:steps={steps},lanes=1", "-t", "glibc", "-t", "jemalloc",
                   "--rounds", "1", "--seed", str(seed), "--slice", str(SLICE), "--no-floor",
                   "-o", folder] + mode
        subprocess.run(command, check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        with open(f"{folder}/rounds/w00.r000.json", encoding="utf-8") as round_file:
            cells = json.load(round_file)["cells"]
        return [slices(f"{folder}/{cell['file']}") for cell in cells]


def paired(a, b):
    return statistics.median(x / y for x, y in zip(a, b))


def main():
    tool = sys.argv[1]
    sessions = int(sys.argv[2]) if len(sys.argv) > 2 else 20
    count = int(sys.argv[3]) if len(sys.argv) > 3 else 150
    steps = SLICE * count // 2
    rows = {"lockstep, median of slice ratios": ([], []),
            "sequence, ratio of median slices": ([], []),
            "sequence, ratio of total times": ([], [])}
    for seed in range(1, sessions + 1):
        print(f"session {seed} of {sessions}", file=sys.stderr)
        first, again, other = session(tool, [], seed, steps)
        rows["lockstep, median of slice ratios"][0].append(paired(again, first))
        rows["lockstep, median of slice ratios"][1].append(paired(other, first))
        first, again, other = session(tool, ["--sequential"], seed, steps)
        medians = [statistics.median(cell) for cell in (first, again, other)]
        totals = [sum(cell) for cell in (first, again, other)]
        for name, values in (("sequence, ratio of median slices", medians),
                             ("sequence, ratio of total times", totals)):
            rows[name][0].append(values[1] / values[0])
            rows[name][1].append(values[2] / values[0])
    print(f"{sessions} sessions of {count} slices of {SLICE} operations, one lane")
    print(f"{'':34} glibc against itself     jemalloc / glibc")
    print(f"{'':34} {'median':>8} {'worst':>8}     {'median':>8} {'from':>7} {'to':>7} {'points':>7}")
    for name, (same, ratio) in rows.items():
        errors = [abs(value - 1) * 100 for value in same]
        print(f"{name:34} {statistics.median(errors):7.2f}% {max(errors):7.2f}%     "
              f"{statistics.median(ratio):8.3f} {min(ratio):7.3f} {max(ratio):7.3f} "
              f"{(max(ratio) - min(ratio)) * 100:7.1f}")


if __name__ == "__main__":
    main()
