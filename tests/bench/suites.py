#!/usr/bin/python3
"""The classic workloads under the usual allocators, side by side in one run.

Usage: suites.py ALLOCBENCH [ROUNDS] [WORKLOAD...]

Printed for each workload: million operations a second of each target (median over the rounds, at
its number of lanes), its spread over the rounds - (max - min) / median - of the absolute figure and
of its ratio to glibc in the same round, beside the spread that the original program showed over
quiet runs of its own on this kind of machine; the ranking found; and what the originals' description
and their robust results lead one to expect (pairs "slower < faster"), each with "yes", "no" or "tie".
"""
import json
import statistics
import subprocess
import sys
import tempfile

TARGETS = ["glibc", "jemalloc", "tcmalloc", "mimalloc"]

# Spread of the original's figure in %, in the order of TARGETS: quiet runs, at least three a cell, of
# mimalloc-bench ce5784f as it is (its printed rate; wall time of mstress and glibc-simple).
ORIGINAL = {
    "larson": (65, 42, 58, 27),
    "xmalloc": (16, 17, 23, 38),
    "mstress": (23, 64, 45, 62),
    "glibc-simple": (21, 20, 27, 24),
    "glibc-thread": (29, 42, 42, 41),
}

# What is to be expected: margins of the originals that are larger than their noise, and their texts.
EXPECTED = {
    "larson": [("glibc", "jemalloc"), ("glibc", "tcmalloc"), ("glibc", "mimalloc")],
    "xmalloc": [("tcmalloc", "jemalloc"), ("jemalloc", "mimalloc"), ("glibc", "mimalloc"),
                ("tcmalloc", "mimalloc")],
    "mstress": [("jemalloc", "tcmalloc"), ("jemalloc", "mimalloc")],
    "glibc-simple": [("glibc", "tcmalloc"), ("glibc", "mimalloc")],
    "glibc-thread": [("glibc", "mimalloc")],
}


def metrics(path):
    found = {}
    with open(path, encoding="utf-8") as lines:
        for line in lines:
            record = json.loads(line)
            if record["record"] == "metric":
                found[record["name"]] = record["value"]
    return found


def spread(values):
    return 100 * (max(values) - min(values)) / statistics.median(values)


def run(tool, workload, rounds, folder):
    command = [tool, "run", workload, "--rounds", str(rounds), "-o", folder]
    for target in TARGETS:
        command += ["-t", target]
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
    times = {target: [] for target in TARGETS + ["glibc (A/A)"]}
    for number in range(rounds):
        with open(f"{folder}/rounds/w00.r{number:03}.json", encoding="utf-8") as round_file:
            cells = json.load(round_file)["cells"]
        for cell in cells:
            if cell["target"] is None or cell["status"] != "ok":
                continue
            name = cell["target"] + (" (A/A)" if cell["again"] else "")
            times[name].append(metrics(f"{folder}/{cell['file']}")["time_ns_per_operation"])
    return times


def main():
    tool = sys.argv[1]
    rounds = int(sys.argv[2]) if len(sys.argv) > 2 else 7
    wanted = sys.argv[3:] or list(ORIGINAL)
    for workload in wanted:
        base = workload.split(":")[0]
        with tempfile.TemporaryDirectory() as folder:
            times = run(tool, workload, rounds, folder)
        print(f"\n{workload}, {rounds} rounds in lockstep")
        print(f"{'target':12} {'Mop/s a lane':>12} {'spread':>7} {'spread of x':>12} "
              f"{'original':>9} {'original / 3':>12}")
        medians, ratios = {}, {}
        for name, values in times.items():
            ratio = [value / first for value, first in zip(values, times["glibc"])]
            medians[name] = statistics.median(values)
            ratios[name] = ratio
            published = ORIGINAL.get(base, ())[TARGETS.index(name)] \
                if base in ORIGINAL and name in TARGETS else None
            print(f"{name:12} {1e3 / medians[name]:12.1f} {spread(values):6.1f}% "
                  f"{spread(ratio):11.1f}% "
                  + (f"{published:8}% {published / 3:11.1f}%" if published else ""))
        print("ranking:", " < ".join(sorted(TARGETS, key=lambda name: -medians[name])))
        for slower, faster in EXPECTED.get(base, []):
            wins = [a > b for a, b in zip(times[slower], times[faster])]
            verdict = "yes" if all(wins) else "no" if not any(wins) else "tie"
            print(f"expected {slower} < {faster}: {verdict} "
                  f"(x{statistics.median(a / b for a, b in zip(times[slower], times[faster])):.2f})")
        sys.stdout.flush()


if __name__ == "__main__":
    main()
