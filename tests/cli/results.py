"""results.py - result directories with chosen numbers, for tests that measure nothing.

make("A", {"glibc": values, "glibc again": values, "jemalloc": values}) writes one workload "mixed"
whose metric rss_bytes has these values by round, and time_ns_per_operation a hundredth of them;
keyword arguments change what was asked and where.
"""

import json
import os


def write(path, text):
    with open(path, "w", encoding="utf-8") as file:
        file.write(text)


def cell_text(values, plan, work):
    lines = [{"record": "manifest", "schema": 1, "lanes": 1, "plan_digest": plan}]
    for name, (unit, direction, value) in values.items():
        lines.append({"record": "metric", "name": name, "unit": unit, "direction": direction,
                      "value": float(value)})
    lines.append({"record": "end", "work_digest": work})
    return "".join(json.dumps(line) + "\n" for line in lines)


def metrics_of(rss):
    return {"time_ns_per_operation": ("ns", "lower", rss / 100),
            "rss_bytes": ("bytes", "lower", rss),
            "live_bytes": ("bytes", "none", 1000),
            "odd_count": ("count", "higher", rss)}


def make(directory, arms, label="mixed:lanes=1", kind="tape", played=None, seed="1", host=None,
         key=None, versions=None, failed=(), work="00000000000000bb", baseline="glibc",
         metrics=metrics_of, unit="w00",
         kernels=()):
    os.makedirs(directory + "/rounds")
    os.makedirs(directory + "/cells")
    names = [name for name in arms if not name.endswith(" again")]
    machine = {"kernel": "6.1.0", "machine": "x86_64", "cpu": "Some CPU", "cpus_online": 2,
               "page_bytes": 4096, "memory_bytes": 1 << 32, "hostname": "here"}
    machine.update(host or {})
    targets = [{"name": name, "spec": name, "library": "", "family": name,
                "version": (versions or {}).get(name, "1.0"), "build_id": "", "settings": "",
                "missing": None} for name in names]
    asked = {"tool_version": "0.1.0", "seed": seed, "lanes": 0, "slice_operations": "0"}
    asked.update(key or {})
    rounds = max(len(values) for values in arms.values())
    workload = {"id": unit, "label": label, "kind": kind}
    if kind == "tape":
        workload["played"] = played or label
    places = [{"name": "place %s" % kernel, "host": dict(machine, kernel=kernel)}
              for kernel in kernels]  # of a merge: the rounds are dealt out to them
    more = {"machines": places} if places else {}
    write(directory + "/matrix.json", json.dumps(dict(more, **{
        "schema": 1, "tool_version": "0.1.0", "command_line": "allocbench run mixed",
        "unix_s": "1796000000", "seed": seed, "rounds": rounds, "baseline": baseline,
        "host": machine, "notes": [], "workloads": [workload], "targets": targets,
        "key": asked})))
    for number in range(rounds):
        cells = []
        for at, (name, values) in enumerate(arms.items()):
            again = name.endswith(" again")
            bad = (name, number) in failed
            if number >= len(values):
                continue
            file = "cells/%s.r%03d.t%02d.jsonl" % (unit, number, at)
            cells.append({"target": name[:-6] if again else name, "again": again,
                          "status": "failed" if bad else "ok",
                          "reason": "it broke" if bad else None, "file": None if bad else file})
            if not bad:
                write(directory + "/" + file,
                      cell_text(metrics(values[number]), "%016x" % (0xa0 + number), work))
        write("%s/rounds/%s.r%03d.json" % (directory, unit, number), json.dumps({
            "schema": 1, "workload": unit, "round": number, "seed": seed, "mode": "sequential",
            "place": number % len(places) if places else 0, "cells": cells}))


def around(middle, spread, count, step=7):
    """count values around a middle, spread up and down in no order."""
    return [middle * (1 + spread * (((step * i) % count) - (count - 1) / 2) / count)
            for i in range(count)]
