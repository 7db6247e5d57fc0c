"""Which pods of a workload or a gang give way, and which stay: a row each, a small cluster and who runs where."""

import pytest
from clusters import (
    cases,
    check_first_cycle,
    cluster,
    node,
    pod,
    project,
    rack,
    work,
)

# sentence, cluster, pods that are looked at after the first cycle
FIRST_CYCLE = [
    # 6.8, 8.1: a pod without GPUs makes room for one with, on a node that has none
    *(
        (
            f"a pod of {whose} without GPUs moves to a node without GPUs",
            cluster(
                [node("gpu0", 2, cpuCores=16), node("cpu0", 0, cpuCores=16)],
                [project("a", 2), project("b", 0)],
                [
                    work("c", whose, pod={"gpuDevices": 0, "cpuCores": 12}, on="gpu0"),
                    work("w", "a", pod={"gpuDevices": 2, "cpuCores": 8}),
                ],
            ),
            {"c-0": ("Pipelined", "cpu0"), "w-0": ("Pipelined", "gpu0")},
        )
        for whose in ("a", "b")
    ),
    (
        "and its gang's pods with GPUs stay",
        cluster(
            [node("gpu0", 2, cpuCores=16), node("gpu1", 1, cpuCores=16), node("cpu0", 0, cpuCores=16)],
            [project("a", 2), project("b", 0)],
            [
                work(
                    "c",
                    "b",
                    pods=[pod("c-0", on="gpu0", gpus=0, cpuCores=12), pod("c-1", on="gpu1")],
                    minPods=1,
                ),
                work("w", "a", pod={"gpuDevices": 2, "cpuCores": 8}),
            ],
        ),
        {"c-0": ("Pipelined", "cpu0"), "c-1": ("Running", "gpu1"), "w-0": ("Pipelined", "gpu0")},
    ),
    (
        "a reclaim moves it instead of stopping it",
        cluster(
            [node("gpu0", 2, cpuCores=16), node("gpu1", 1, cpuCores=16), node("cpu0", 0, cpuCores=16)],
            [project("a", 2), project("b", 0)],
            [
                work("c", "b", pod={"gpuDevices": 0, "cpuCores": 12}, on="gpu0"),
                work("g", "b", pod={"gpuDevices": 1}, on="gpu0"),
                work("h", "b", pod={"gpuDevices": 1}, on="gpu1"),
                work("w", "a", pod={"gpuDevices": 2, "cpuCores": 8}),
            ],
        ),
        {"c-0": ("Pipelined", "cpu0"), "g-0": ("Releasing", "gpu0"), "w-0": ("Pipelined", "gpu0")},
    ),
    # 6.6, 10.5: which part of an elastic workload goes
    (
        "the pod in the way goes, not the surplus elsewhere",
        cluster(
            [node("n0", 1), node("n1", 1)],
            [project("a", 1), project("b", 0)],
            [
                work("r", "b", pods=2, minPods=1, on=["n0", "n1"]),
                work("w", "a", pod={"nodeSelector": {"host": ["n0"]}}),
            ],
        ),
        {"r-0": ("Releasing", "n0"), "r-1": ("Running", "n1"), "w-0": ("Pipelined", "n0")},
    ),
    (
        "where the gang would be left in part, the surplus goes with it",
        cluster(
            [node("n0", 2), node("n1", 1)],
            [project("a", 2), project("b", 0)],
            [
                work("r", "b", pods=3, minPods=2, on=["n0", "n0", "n1"]),
                work("w", "a", pod={"gpuDevices": 2, "nodeSelector": {"host": ["n0"]}}),
            ],
        ),
        {
            "r-0": ("Releasing", "n0"),
            "r-1": ("Releasing", "n0"),
            "r-2": ("Releasing", "n1"),
            "w-0": ("Pipelined", "n0"),
        },
    ),
    (
        "what is optional in a sub-group goes with what is not",
        cluster(
            [node("n0", 2), node("n1", 1)],
            [project("a", 2), project("b", 0)],
            [
                work(
                    "r",
                    "b",
                    minSubGroups=0,
                    pods=[pod("r-0", "y", "n0"), pod("r-1", "y", "n0"), pod("r-2", "z", "n1")],
                    subGroups=[{"name": "x"}, {"name": "y", "parent": "x", "minPods": 2}, {"name": "z", "parent": "x"}],
                ),
                work("w", "a", pod={"gpuDevices": 2, "nodeSelector": {"host": ["n0"]}}),
            ],
        ),
        {
            "r-0": ("Releasing", "n0"),
            "r-1": ("Releasing", "n0"),
            "r-2": ("Releasing", "n1"),
            "w-0": ("Pipelined", "n0"),
        },
    ),
    # reclaims that answer each other
    (
        "a gang goes as a whole although another of its project is entitled to a part then",
        cluster(
            [node("n0", 2)],
            [project("a", 0), project("b", 1)],
            [work("r", "b", pods=2, on="n0"), work("w", "a"), work("x", "b", age=5)],
        ),
        {"r-0": ("Releasing", "n0"), "r-1": ("Releasing", "n0"), "w-0": ("Pipelined", "n0")},
    ),
    (
        "not for one that lost its own place within the hour",
        cluster(
            [node("n0", 2)],
            [project("a", 0), project("b", 1)],
            [
                work("r", "b", pods=2, on="n0"),
                work("w", "a", displacedTimes=1, lastDisplacedAt="2026-01-01T11:00:01Z"),
                work("x", "b", age=5),
            ],
        ),
        {"r-0": ("Running", "n0"), "r-1": ("Running", "n0"), "w-0": ("Pending", None)},
    ),
    (
        "and then again",
        cluster(
            [node("n0", 2)],
            [project("a", 0), project("b", 1)],
            [
                work("r", "b", pods=2, on="n0"),
                work("w", "a", displacedTimes=1, lastDisplacedAt="2026-01-01T11:00:00Z"),
                work("x", "b", age=5),
            ],
        ),
        {"r-0": ("Releasing", "n0"), "w-0": ("Pipelined", "n0")},
    ),
    # affinity and deletion
    (
        "a reclaim takes from nodes that an affinity term allows",
        cluster(
            [rack("n0", 1, "r0"), rack("n1", 1, "r1")],
            [project("a", 1), project("b", 0)],
            [
                work("r", "b", on="n0"),
                work("s", "b", on="n1", age=5),
                work(
                    "w",
                    "a",
                    pod={
                        "nodeAffinity": [{"matchExpressions": [{"key": "rack", "operator": "NotIn", "values": ["r1"]}]}]
                    },
                ),
            ],
        ),
        {"r-0": ("Releasing", "n0"), "s-0": ("Running", "n1"), "w-0": ("Pipelined", "n0")},
    ),
    (
        "and so does a preemption",
        cluster(
            [rack("n0", 1, "r0"), rack("n1", 1, "r1")],
            [project("a", 2)],
            [
                work("r", "a", on="n0"),
                work("s", "a", on="n1", age=5),
                work(
                    "w",
                    "a",
                    priority=60,
                    pod={"nodeAffinity": [{"matchExpressions": [{"key": "rack", "operator": "In", "values": ["r0"]}]}]},
                ),
            ],
        ),
        {"r-0": ("Releasing", "n0"), "s-0": ("Running", "n1"), "w-0": ("Pipelined", "n0")},
    ),
    (
        "a pod that may stand nowhere else is not moved, another is",
        cluster(
            [rack("n0", 2, "r0"), rack("n1", 2, "r1")],
            [project("a", 4)],
            [
                work("r", "a", on="n0"),
                work(
                    "s",
                    "a",
                    age=5,
                    on="n1",
                    pod={"nodeAffinity": [{"matchExpressions": [{"key": "rack", "operator": "In", "values": ["r1"]}]}]},
                ),
                work("w", "a", age=9, pod={"gpuDevices": 2}),
            ],
        ),
        {"r-0": ("Pipelined", "n1"), "s-0": ("Running", "n1"), "w-0": ("Pipelined", "n0")},
    ),
    (
        "nobody is evicted where what is being deleted makes room",
        cluster(
            [node("n0", 2)],
            [project("a", 1), project("b", 0)],
            [
                work("r", "b", on="n0"),
                work("s", "b", deleting=True, pod={"status": "Releasing", "node": "n0"}),
                work("w", "a"),
            ],
        ),
        {"r-0": ("Running", "n0"), "w-0": ("Pipelined", "n0")},
    ),
    # Gangs in scenarios (ours)
    (
        "a surplus pod stays where its gang needs it",
        cluster(
            [node("n0", 1), node("n1", 1), node("n2", 1)],
            [project("a", 4)],
            [
                work("r", "a", pods=3, on=["n0", "n1", "n2"], minPods=2),
                work("w", "a", priority=60, pod={"nodeSelector": {"host": ["n0"]}}),
            ],
        ),
        {"r-0": ("Pipelined", "n1"), "r-1": ("Releasing", "n1"), "r-2": ("Running", "n2"), "w-0": ("Pipelined", "n0")},
    ),
    (
        "no gang is left in part: its surplus goes with it",
        cluster(
            [node("n0", 2), node("n1", 1)],
            [project("a", 4)],
            [
                work("r", "a", pods=3, on=["n0", "n0", "n1"], minPods=2),
                work("w", "a", priority=60, pod={"gpuDevices": 2}),
            ],
        ),
        {
            "r-0": ("Releasing", "n0"),
            "r-1": ("Releasing", "n0"),
            "r-2": ("Releasing", "n1"),
            "w-0": ("Pipelined", "n0"),
        },
    ),
    (
        "nor by what an earlier try put back",
        cluster(
            [node("n0", 1), node("n1", 3)],
            [project("a", 4)],
            [work("r", "a", pods=3, on=["n1", "n0", "n1"]), work("w", "a", pods=2, priority=60)],
        ),
        {
            "r-0": ("Releasing", "n1"),
            "r-1": ("Releasing", "n0"),
            "r-2": ("Releasing", "n1"),
            "w-0": ("Pipelined", "n1"),
            "w-1": ("Pipelined", "n1"),
        },
    ),
]


@pytest.mark.parametrize("document,want", cases(FIRST_CYCLE))
def test_first_cycle(document, want):
    check_first_cycle(document, want)
