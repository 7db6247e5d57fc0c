#!/usr/bin/env python3
"""What random clusters come to: how many pods are stopped and moved, and what is served of the demand, in the first
cycle and in the end. Arguments: binaries to compare (default build/prorata); OUTCOME_CLUSTERS: how many (2000),
OUTCOME_SEED: the first."""

import collections
import json
import os
import pathlib
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT / "tests"), str(ROOT / "tests/scheduler")]
from test_plain_scheduler import Maker  # noqa: E402

FIRST, COUNT = int(os.environ.get("OUTCOME_SEED", "1")), int(os.environ.get("OUTCOME_CLUSTERS", "2000"))
CYCLES = 26  # the last two tell whether a cluster is at rest


def ranks_of(document):
    return {
        (project["name"], resources["nodePool"]): resources["rank"]
        for project in document["projects"]
        for resources in project["resources"]
    }


def add_evictions(figures, when, cycles):
    decisions = [decision for cycle in cycles for decision in cycle["decisions"]]
    moved = sum(decision["verb"] == "pipeline" and "for" in decision for decision in decisions)
    figures[f"pods moved, {when}"] += moved
    figures[f"pods stopped, {when}"] += sum(decision["verb"] == "evict" for decision in decisions) - moved


def add_served(figures, when, cycle, ranks):
    for queue in cycle["queues"]:
        if queue["kind"] != "project":
            continue
        held, deserved = queue["gpu"]["allocated"], queue["gpu"]["deserved"]
        figures[f"GPUs held, {when}"] += held
        figures[f"GPUs held within quota, {when}"] += held if deserved is None else min(held, deserved)
        figures[f"GPUs held by rank 200, {when}"] += held if ranks[queue["name"], queue["nodePool"]] == 200 else 0


def live(binary, document, figures):
    done = subprocess.run(
        [binary, "simulate", "-", "--cycles", str(CYCLES)],
        input=json.dumps(document),
        capture_output=True,
        text=True,
        check=True,
    )
    cycles, ranks = json.loads(done.stdout)["cycles"], ranks_of(document)
    for when, some in (("first cycle", cycles[:1]), (f"{CYCLES} cycles", cycles)):
        add_evictions(figures, when, some)
        add_served(figures, when, some[-1], ranks)
    figures["clusters at rest"] += not any(
        decision["verb"] in ("evict", "withdraw") for cycle in cycles[-2:] for decision in cycle["decisions"]
    )


def main():
    binaries = sys.argv[1:] or [str(ROOT / "build/prorata")]
    figures = [collections.Counter() for _ in binaries]
    for seed in range(FIRST, FIRST + COUNT):
        document = Maker(seed).make()
        for binary, of in zip(binaries, figures, strict=True):
            live(binary, document, of)
    print(f"{COUNT} random clusters from seed {FIRST}")
    for name in sorted(set().union(*figures)):
        print(f"{name:<40}" + "".join(f"{of[name]:>12.6g}" for of in figures))


main()
