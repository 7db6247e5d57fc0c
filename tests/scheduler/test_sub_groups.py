"""Pools, sub-groups of several levels, stale gangs and pods without GPUs: a row each, a small cluster and who runs
where."""

import pytest
from clusters import (
    POOLS,
    cases,
    check_first_cycle,
    cluster,
    department,
    node,
    pod,
    project,
    queue,
    simulate,
    work,
)

PENDING = ("Pending", None)
MIG = "nvidia.com/mig-1g.5gb"
ZONES = [{"name": "dc", "levels": ["zone", "rack"]}]


def placed(name, gpus, zone, rack):
    return node(name, gpus, labels={"host": name, "zone": zone, "rack": rack})


def on(host):
    return {"nodeSelector": {"host": [host]}}


def part_of_y(missing, **more):
    """Sub-group x stands whole, of y one pod of two; missing: what the other one is."""
    groups = [{"name": "x", "minPods": 1}, {"name": "y", "minPods": 2}]
    pods = [pod("w-0", "x", "n0"), pod("w-1", "y", "n0"), pod("w-2", "y", **missing)]
    return cluster([node("n0", 4)], [project("a", 4)], [work("w", "a", subGroups=groups, pods=pods, **more)])


# sentence, cluster, pods that are looked at after the first cycle
FIRST_CYCLE = [
    # pools
    (
        "a pool that is preferred is tried with all actions before the next",
        cluster(
            [{**node("n0", 1), "nodePool": "big"}, node("n1", 1)],
            [
                {**project("a", 1), "resources": [queue(1), queue(1, pool="big")]},
                {**project("b", 0), "resources": [queue(0), queue(0, pool="big")]},
            ],
            [work("r", "b", on="n0", nodePools=["big"]), work("w", "a", nodePools=["big", "default"])],
            departments=[{**department("d"), "resources": [queue(None), queue(None, pool="big")]}],
            **POOLS,
        ),
        {"r-0": ("Releasing", "n0"), "w-0": ("Pipelined", "n0")},
    ),
    (
        "what a project holds in one pool says nothing about another",
        cluster(
            [{**node("n0", 2), "nodePool": "big"}, node("n1", 1)],
            [{**project("a", 1), "resources": [queue(1, limit=1), queue(0, limit=1, pool="big")]}],
            [work("r", "a", on="n0", nodePools=["big"]), work("w", "a", nodePools=["big", "default"])],
            departments=[{**department("d"), "resources": [queue(None), queue(None, pool="big")]}],
            **POOLS,
        ),
        {"w-0": ("Binding", "n1")},
    ),
    (
        "a workload that stands in a pool grows there alone",
        cluster(
            [{**node("n0", 1), "nodePool": "big"}, node("n1", 4)],
            [project("a", 4)],
            [work("w", "a", minPods=1, nodePools=["big", "default"], pods=[pod("w-0", on="n0"), pod("w-1")])],
            **POOLS,
        ),
        {"w-0": ("Running", "n0"), "w-1": PENDING},
    ),
    # sub-groups of several levels
    (
        "one set of two is enough, whole",
        cluster(
            [node("n0", 3)],
            [project("a", 4)],
            [
                work(
                    "w",
                    "a",
                    minSubGroups=1,
                    pods=[pod("w-0", "a"), pod("w-1", "b"), pod("w-2", "c"), pod("w-3", "d")],
                    subGroups=[
                        {"name": "s"},
                        {"name": "t"},
                        *({"name": n, "parent": p, "minPods": 1} for n, p in ("as", "bs", "ct", "dt")),
                    ],
                )
            ],
        ),
        {"w-0": ("Binding", "n0"), "w-1": ("Binding", "n0"), "w-2": PENDING, "w-3": PENDING},
    ),
    (
        "each set has its own minimum",
        cluster(
            [node("n0", 2)],
            [project("a", 4)],
            [
                work(
                    "w",
                    "a",
                    pods=[pod("w-0", "a"), pod("w-1", "b"), pod("w-2", "c"), pod("w-3", "d")],
                    subGroups=[
                        {"name": "s", "minSubGroups": 1},
                        {"name": "t", "minSubGroups": 1},
                        *({"name": n, "parent": p, "minPods": 1} for n, p in ("as", "bs", "ct", "dt")),
                    ],
                )
            ],
        ),
        {"w-0": ("Binding", "n0"), "w-1": PENDING, "w-2": ("Binding", "n0"), "w-3": PENDING},
    ),
    (
        "and gives its surplus before anything goes whole",
        cluster(
            [node("n0", 4)],
            [project("a", 1), project("b", 0)],
            [
                work(
                    "r",
                    "b",
                    pods=[pod(f"r-{i}", group, "n0") for i, group in enumerate("abcd")],
                    subGroups=[
                        {"name": "s", "minSubGroups": 1},
                        {"name": "t", "minSubGroups": 1},
                        *({"name": n, "parent": p, "minPods": 1} for n, p in ("as", "bs", "ct", "dt")),
                    ],
                ),
                work("w", "a"),
            ],
        ),
        {
            "r-0": ("Running", "n0"),
            "r-1": ("Running", "n0"),
            "r-2": ("Running", "n0"),
            "r-3": ("Releasing", "n0"),
            "w-0": ("Pipelined", "n0"),
        },
    ),
    (
        "a set stays in one rack, another set in another",
        cluster(
            [
                placed("n0", 1, "z", "r0"),
                placed("n1", 2, "z", "r1"),
                placed("n2", 1, "z", "r2"),
                placed("n3", 1, "z", "r2"),
            ],
            [project("a", 4)],
            [
                work(
                    "w",
                    "a",
                    pods=[pod(f"w-{i}", group) for i, group in enumerate("abcd")],
                    subGroups=[
                        *({"name": n, "topology": {"name": "dc", "required": "rack"}} for n in "st"),
                        *({"name": n, "parent": p, "minPods": 1} for n, p in ("as", "bs", "ct", "dt")),
                    ],
                )
            ],
            topologies=ZONES,
        ),
        {"w-0": ("Binding", "n1"), "w-1": ("Binding", "n1"), "w-2": ("Binding", "n2"), "w-3": ("Binding", "n3")},
    ),
    (
        "a zone whose racks are too small is left for the next",
        cluster(
            [
                *(placed(f"n{i}", 1, "z0", f"r{i}") for i in range(4)),
                placed("n4", 3, "z1", "r4"),
                placed("n5", 3, "z1", "r5"),
            ],
            [project("a", 4)],
            [
                work(
                    "w",
                    "a",
                    topology={"name": "dc", "required": "zone"},
                    pods=[pod(f"w-{i}", group) for i, group in enumerate("xxyy")],
                    subGroups=[{"name": n, "minPods": 2, "topology": {"name": "dc", "required": "rack"}} for n in "xy"],
                )
            ],
            topologies=ZONES,
        ),
        {"w-0": ("Binding", "n4"), "w-1": ("Binding", "n4"), "w-2": ("Binding", "n5"), "w-3": ("Binding", "n5")},
    ),
    (
        "sub-groups take back a rack each",
        cluster(
            [
                placed("n0", 1, "z", "r0"),
                placed("n1", 1, "z", "r0"),
                placed("n2", 1, "z", "r1"),
                placed("n3", 1, "z", "r1"),
            ],
            [project("a", 4), project("b", 0)],
            [
                *(work(f"r{i}", "b", on=f"n{i}", age=i) for i in range(4)),
                work(
                    "w",
                    "a",
                    pods=[pod(f"w-{i}", group) for i, group in enumerate("xxyy")],
                    subGroups=[{"name": n, "minPods": 2, "topology": {"name": "dc", "required": "rack"}} for n in "xy"],
                ),
            ],
            topologies=ZONES,
        ),
        {
            "w-0": ("Pipelined", "n0"),
            "w-1": ("Pipelined", "n1"),
            "w-2": ("Pipelined", "n2"),
            "w-3": ("Pipelined", "n3"),
        },
    ),
    # stale gangs
    *(
        (
            sentence,
            part_of_y(missing, minSubGroups=1, staleSeconds=stale),
            {"w-0": ("Running", "n0"), "w-1": (status, "n0")},
        )
        for sentence, stale, missing, status in (
            ("a sub-group that is not needed stops alone", 60, {"gpus": 9}, "Releasing"),
            ("not before its grace", 59, {"gpus": 9}, "Running"),
            ("nor where one of its pods has succeeded", 60, {"status": "Succeeded", "node": "n0"}, "Running"),
        )
    ),
    (
        "a set of sub-groups that is not needed stops with all that stands below it",
        cluster(
            [node("n0", 4)],
            [project("a", 4)],
            [
                work(
                    "w",
                    "a",
                    minSubGroups=1,
                    staleSeconds=60,
                    subGroups=[
                        {"name": "x", "minPods": 1},
                        {"name": "s"},
                        {"name": "y", "parent": "s", "minPods": 1},
                        {"name": "z", "parent": "s", "minPods": 1},
                    ],
                    pods=[pod("w-0", "x", "n0"), pod("w-1", "y", "n0"), pod("w-2", "z", gpus=9)],
                )
            ],
        ),
        {"w-0": ("Running", "n0"), "w-1": ("Releasing", "n0")},
    ),
    (
        "one that is needed does, non-preemptible or not",
        part_of_y({"gpus": 9}, staleSeconds=60, preemptibility="non-preemptible"),
        {"w-0": ("Releasing", "n0"), "w-1": ("Releasing", "n0")},
    ),
    (
        "what is being released counts as there",
        cluster(
            [node("n0", 4)],
            [project("a", 4)],
            [work("w", "a", staleSeconds=999, pods=[pod("w-0", on="n0"), pod("w-1", status="Releasing", node="n0")])],
        ),
        {"w-0": ("Running", "n0"), "w-1": ("Releasing", "n0")},
    ),
    (
        "a gang of which a pod has succeeded is not stale",
        cluster(
            [node("n0", 4)],
            [project("a", 4)],
            [work("w", "a", staleSeconds=999, pods=[pod("w-0", on="n0"), pod("w-1", status="Succeeded", node="n0")])],
        ),
        {"w-0": ("Running", "n0")},
    ),
    (
        "a workload's own grace counts",
        cluster(
            [node("n0", 4)],
            [project("a", 4)],
            [
                work(
                    "w", "a", staleSeconds=60, stalenessGraceSeconds=120, pods=[pod("w-0", on="n0"), pod("w-1", gpus=9)]
                ),
                work(
                    "x", "a", staleSeconds=60, stalenessGraceSeconds=30, pods=[pod("x-0", on="n0"), pod("x-1", gpus=9)]
                ),
            ],
        ),
        {"w-0": ("Running", "n0"), "x-0": ("Releasing", "n0")},
    ),
    (
        "with a grace below zero gangs are never stale",
        cluster(
            [node("n0", 4)],
            [project("a", 4)],
            [work("w", "a", staleSeconds=999, pods=[pod("w-0", on="n0"), pod("w-1", gpus=9)])],
            settings={"stalenessGraceSeconds": -1},
        ),
        {"w-0": ("Running", "n0")},
    ),
    (
        "with a grace of 0 a gang is stale in the cycle that first sees it",
        cluster(
            [node("n0", 4)],
            [project("a", 4)],
            [work("w", "a", pods=[pod("w-0", on="n0"), pod("w-1", gpus=9)])],
            settings={"stalenessGraceSeconds": 0},
        ),
        {"w-0": ("Releasing", "n0")},
    ),
    # CPU alone
    (
        "pods without GPUs preempt too",
        cluster(
            [node("n0", 0, cpuCores=2)],
            [project("a", 0)],
            [
                work("r", "a", on="n0", pod={"gpuDevices": 0, "cpuCores": 1}),
                work("s", "a", age=1, on="n0", pod={"gpuDevices": 0, "cpuCores": 1}),
                work("w", "a", priority=60, pod={"gpuDevices": 0, "cpuCores": 1}),
            ],
        ),
        {"r-0": ("Running", "n0"), "s-0": ("Releasing", "n0"), "w-0": ("Pipelined", "n0")},
    ),
    (
        "and are moved together",
        cluster(
            [node("n0", 0, cpuCores=2), node("n1", 0, cpuCores=2)],
            [project("a", 0)],
            [
                work("r", "a", on="n0", pod={"gpuDevices": 0, "cpuCores": 1}),
                work("s", "a", age=1, on="n1", pod={"gpuDevices": 0, "cpuCores": 1}),
                work("w", "a", age=2, pod={"gpuDevices": 0, "cpuCores": 2}),
            ],
        ),
        {"r-0": ("Running", "n0"), "s-0": ("Pipelined", "n0"), "w-0": ("Pipelined", "n1")},
    ),
]


def halves(name, project, host):
    return work(
        name,
        project,
        minSubGroups=1,
        staleSeconds=60,
        subGroups=[{"name": "x", "minPods": 2}, {"name": "y", "minPods": 2}],
        pods=[*(pod(f"{name}-{i}", "x", host) for i in range(2)), pod(f"{name}-2", "y", host), pod(f"{name}-3", "y")],
    )


def test_of_two_halves_that_block_each_other_one_stops():
    """What it frees makes the other whole: nobody else stops."""
    document = cluster(
        [node("n0", 3), node("n1", 3)],
        [project("a", 3), project("b", 3)],
        [halves("v", "b", "n1"), halves("w", "a", "n0")],
    )
    last = {pod["name"]: pod["status"] for pod in simulate(document, cycles=4)["cycles"][-1]["pods"]}
    assert [status for name, status in sorted(last.items()) if name.startswith("v")] == ["Running"] * 2 + [
        "Pending"
    ] * 2
    assert [status for name, status in sorted(last.items()) if name.startswith("w")] == ["Running"] * 4


@pytest.mark.parametrize("document,want", cases(FIRST_CYCLE))
def test_first_cycle(document, want):
    check_first_cycle(document, want)
