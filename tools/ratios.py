#!/usr/bin/env python3
"""Prints what criterion measured last as a table: the time of each case on this backend, and how many times as long each
peer takes.

    python3 tools/ratios.py [GROUP...]     all groups of target/criterion in which a peer was measured, if none is named
"""

import json
import sys
from pathlib import Path

CRITERION = Path(__file__).resolve().parent.parent / "target" / "criterion"
OURS = ["mpsgraph", "f32"]
UNITS = [("s", 1e9), ("ms", 1e6), ("µs", 1e3), ("ns", 1)]


def time(nanoseconds):
    unit, length = next(unit for unit in UNITS if nanoseconds >= unit[1] or unit[0] == "ns")
    return f"{nanoseconds / length:.3g} {unit}"


def cases(group):
    """The medians of a group by case, then by backend; criterion's folders are group/backend/case/new."""
    found = {}
    for estimates in sorted(group.glob("*/*/new/estimates.json")):
        case = json.loads(estimates.with_name("benchmark.json").read_text())["value_str"]
        median = json.loads(estimates.read_text())["median"]["point_estimate"]
        found.setdefault(case, {})[estimates.parts[-4]] = median
    return found


def table(group):
    measured = cases(group)
    names = sorted({name for medians in measured.values() for name in medians})
    ours = next((name for name in OURS if name in names), None)
    peers = [name for name in names if name != ours]
    if ours is None or not peers:
        print(f"{group.name}: nothing of this backend and a peer was measured in {group}", file=sys.stderr)
        return
    print(f"| {group.name} | {ours} | " + " | ".join(f"{peer}, times as long" for peer in peers) + " |")
    print("| --- " * (len(peers) + 2) + "|")
    for case, medians in measured.items():
        if ours in medians:
            ratios = [f"{medians[peer] / medians[ours]:.2f}" if peer in medians else "" for peer in peers]
            print(f"| {case} | {time(medians[ours])} | " + " | ".join(ratios) + " |")
    print()


for group in [CRITERION / name for name in sys.argv[1:]] or sorted(CRITERION.iterdir()):
    table(group)
