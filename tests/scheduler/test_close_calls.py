"""Rules that a small slip would break without anybody noticing: a row each."""

import pytest
from clusters import (
    EARLIER,
    TOPOLOGY,
    cases,
    check_first_cycle,
    cluster,
    department,
    node,
    project,
    queue,
    rack,
    simulate,
    work,
)

GIB = 2**30
PENDING = ("Pending", None)


def on_cpu(amount, **more):
    return {"gpuDevices": 0, "cpuCores": amount, **more}


# sentence, cluster, pods that are looked at after the first cycle
FIRST_CYCLE = [
    (
        "a limit that was lowered bounds what a project may keep",
        cluster(
            [node("n0", 3)],
            [project("a", 0), project("b", 4, limit=2)],
            [work("r", "b", on="n0"), work("s", "b", on="n0", age=1), work("t", "b", on="n0", age=2), work("w", "a")],
        ),
        {"r-0": ("Running", "n0"), "s-0": ("Running", "n0"), "t-0": ("Releasing", "n0"), "w-0": ("Pipelined", "n0")},
    ),
    (
        "more than the fair share of memory alone does not put a project last",
        cluster(
            [node("n0", 1)],
            [
                {
                    **project("a", 0),
                    "resources": [{**queue(0, rank=200), "memory": {"deserved": 0, "overQuotaWeight": 0}}],
                },
                project("b", 0),
            ],
            [work("r", "a", on="n0", pod=on_cpu(1, memoryBytes=GIB)), work("v", "b"), work("w", "a", age=9)],
        ),
        {"v-0": PENDING, "w-0": ("Binding", "n0")},
    ),
    (
        "what has not started goes before what grows",
        cluster(
            [node("n0", 2)], [project("a", 8)], [work("e", "a", pods=2, minPods=1, on=None), work("f", "a", age=9)]
        ),
        {"e-0": ("Binding", "n0"), "f-0": ("Binding", "n0"), "e-1": PENDING},
    ),
    (
        "a sub-group that lacks pods goes before one that grows",
        cluster(
            [node("n0", 2)],
            [project("a", 8)],
            [
                {
                    **work("w", "a"),
                    "minSubGroups": 1,
                    "subGroups": [{"name": "a", "minPods": 1}, {"name": "b", "minPods": 1}],
                    "pods": [
                        {"name": "w-0", "subGroup": "a", "gpuDevices": 1, "status": "Running", "node": "n0"},
                        {"name": "w-1", "subGroup": "a", "gpuDevices": 1},
                        {"name": "w-2", "subGroup": "b", "gpuDevices": 1},
                    ],
                }
            ],
        ),
        {"w-1": PENDING, "w-2": ("Binding", "n0")},
    ),
    (
        "what lost a pod in this cycle gets nothing more in it",
        cluster(
            [node("n0", 2), node("n1", 1)],
            [project("a", 8)],
            [
                {
                    **work("w", "a", minPods=1),
                    "pods": [
                        {
                            "name": f"w-{i}",
                            "gpuDevices": 1,
                            "nodeSelector": {"host": ["n0"]},
                            "status": "Running",
                            "node": "n0",
                        }
                        for i in range(2)
                    ]
                    + [{"name": "w-2", "gpuDevices": 1, "nodeSelector": {"host": ["n1"]}}],
                },
                work("h", "a", priority=75, pod={"nodeSelector": {"host": ["n0"]}}),
            ],
            actions=["preempt", "allocate"],
        ),
        {"w-0": ("Running", "n0"), "w-1": ("Releasing", "n0"), "w-2": PENDING, "h-0": ("Pipelined", "n0")},
    ),
    (
        "a pod that moves holds its old place until it has stopped",
        cluster(
            [node("n0", 3), node("n1", 3)],
            [project("a", 9)],
            [
                work("s", "a", on="n1", pod={"gpuDevices": 3}),
                work("w", "a", pod={"gpuDevices": 2, "nodeSelector": {"host": ["n1"]}}),
                work("x", "a", nodePools=["other", "default"], pod={"nodeSelector": {"host": ["n1"]}}),
            ],
            nodePools=[{"name": "default"}, {"name": "other"}],
        ),
        {"s-0": ("Pipelined", "n0"), "w-0": ("Pipelined", "n1"), "x-0": ("Pipelined", "n1")},
    ),
    (
        "pods that must be together wait for a place there",
        cluster(
            [rack("n0", 1, "r0"), rack("n1", 1, "r1")],
            [project("a", 8)],
            [
                {
                    **work("w", "a", minPods=1),
                    "podAffinity": {"type": "required", "key": "rack"},
                    "pods": [
                        {"name": "w-0", "gpuDevices": 1, "status": "Running", "node": "n0"},
                        {"name": "w-1", "gpuDevices": 1},
                    ],
                }
            ],
        ),
        {"w-1": PENDING},
    ),
    (
        "pods that would like to be together don't wait",
        cluster(
            [rack("n0", 1, "r0"), rack("n1", 1, "r1")],
            [project("a", 8)],
            [
                {
                    **work("w", "a", minPods=1),
                    "podAffinity": {"type": "preferred", "key": "rack"},
                    "pods": [
                        {"name": "w-0", "gpuDevices": 1, "status": "Running", "node": "n0"},
                        {"name": "w-1", "gpuDevices": 1},
                    ],
                }
            ],
        ),
        {"w-1": ("Binding", "n1")},
    ),
    (
        "a department beyond its share does not take from one that is less so",
        cluster(
            [node("n0", 5)],
            [project("p", 2, "dx"), project("q", 2, "dx"), project("s", 2, "dy")],
            [
                work("q", "q", pods=2, on="n0", preemptibility="non-preemptible"),
                *(work(f"s{i}", "s", on="n0", age=i) for i in range(3)),
                work("w", "p"),
            ],
            departments=[department("dx", 2, weight=0), department("dy", 2, weight=0)],
        ),
        {"s0-0": ("Running", "n0"), "s1-0": ("Running", "n0"), "s2-0": ("Running", "n0"), "w-0": PENDING},
    ),
    (
        "nothing is moved together where GPUs are spread",
        cluster(
            [node("n0", 2), node("n1", 2)],
            [project("a", 8)],
            [work("r", "a", on="n0"), work("s", "a", on="n1"), work("w", "a", priority=75, pod={"gpuDevices": 2})],
            actions=["allocate", "consolidation"],
            nodePools=[{"name": "default", "placementStrategy": {"gpu": "spread", "cpu": "binpack"}}],
        ),
        {"r-0": ("Running", "n0"), "s-0": ("Running", "n1"), "w-0": PENDING},
    ),
    (
        "nothing is moved together where CPU pods are spread",
        cluster(
            [node("n0", 2), node("n1", 2)],
            [project("a", 8)],
            [work("r", "a", on="n0"), work("s", "a", on="n1"), work("w", "a", priority=75, pod={"gpuDevices": 2})],
            actions=["allocate", "consolidation"],
            nodePools=[{"name": "default", "placementStrategy": {"gpu": "binpack", "cpu": "spread"}}],
        ),
        {"r-0": ("Running", "n0"), "s-0": ("Running", "n1"), "w-0": PENDING},
    ),
    (
        "a protected elastic workload keeps its minimum",
        cluster(
            [node("n0", 2)],
            [project("a", 2), project("b", 0, reclaimMinRuntimeSeconds=3600)],
            [work("e", "b", pods=2, minPods=1, on="n0", started=EARLIER), work("w", "a", pod={"gpuDevices": 2})],
        ),
        {"e-0": ("Running", "n0"), "e-1": ("Running", "n0"), "w-0": PENDING},
    ),
    (
        "but what is more than that may go",
        cluster(
            [node("n0", 2)],
            [project("a", 2), project("b", 0, reclaimMinRuntimeSeconds=3600)],
            [work("e", "b", pods=2, minPods=1, on="n0", started=EARLIER), work("w", "a")],
        ),
        {"e-0": ("Running", "n0"), "e-1": ("Releasing", "n0"), "w-0": ("Pipelined", "n0")},
    ),
    (
        "a preemption delay counts from the last eviction",
        cluster(
            [node("n0", 1)],
            [project("a", 8)],
            [work("r", "a", on="n0"), work("w", "a", priority=75, preemptionDelaySeconds=600, lastEvictionAt=EARLIER)],
        ),
        {"r-0": ("Running", "n0"), "w-0": PENDING},
    ),
    (
        "a preemption delay ends",
        cluster(
            [node("n0", 1)],
            [project("a", 8)],
            [work("r", "a", on="n0"), work("w", "a", priority=75, preemptionDelaySeconds=600)],
        ),
        {"r-0": ("Releasing", "n0"), "w-0": ("Pipelined", "n0")},
    ),
    (
        "several nodes are emptied together where one after the other does not do",
        cluster(
            [rack("n0", 1, "r0"), rack("n1", 1, "r1"), rack("n2", 1, "r1")],
            [project("a", 3), project("b", 0)],
            [
                work("s2", "b", on="n2"),
                work("s1", "b", on="n1", age=1),
                work("s0", "b", on="n0", age=2),
                work("w", "a", pods=2, topology={"name": "dc", "required": "rack"}),
            ],
            topologies=TOPOLOGY,
        ),
        {
            "s0-0": ("Releasing", "n0"),
            "s1-0": ("Releasing", "n1"),
            "s2-0": ("Pipelined", "n0"),
            "w-0": ("Pipelined", "n1"),
            "w-1": ("Pipelined", "n2"),
        },
    ),
    (
        "a side above a limit that was lowered yields, though one of its projects waits as before",
        cluster(
            [node("n0", 6)],
            [project("p", 0, "dy"), project("q", 1, "dy"), project("r", 0, "dx")],
            [
                *(work(f"p{i}", "p", on="n0", age=i) for i in range(5)),
                work("r0", "r", on="n0"),
                work("c", "q", preemptionDelaySeconds=600, lastEvictionAt=EARLIER),
                work("w", "r", age=9, displacedTimes=1, lastDisplacedAt=EARLIER),
            ],
            departments=[department("dx", 0), department("dy", 10, limit=3)],
        ),
        {"p3-0": ("Running", "n0"), "p4-0": ("Releasing", "n0"), "w-0": ("Pipelined", "n0"), "c-0": PENDING},
    ),
    (
        "a project above its share of CPU takes no GPUs back",
        cluster(
            [node("n0", 2)],
            [
                {
                    **project("a", 1),
                    "resources": [{**queue(1, rank=200), "cpu": {"deserved": 1, "overQuotaWeight": 0}}],
                },
                project("b", 0),
            ],
            [
                work("c", "a", on="n0", pod=on_cpu(4)),
                work("r", "b", on="n0"),
                work("s", "b", on="n0", age=1),
                work("w", "a", age=9),
            ],
        ),
        {"r-0": ("Running", "n0"), "s-0": ("Running", "n0"), "w-0": PENDING},
    ),
    (
        "who was displaced itself takes no place that its owner may take back at once",
        cluster(
            [node("n0", 4)],
            [project("p", 2, weight=0), project("r", 0)],
            [
                work("g", "p", on="n0", pod={"gpuDevices": 3}),
                work("y", "p", age=5, pod={"gpuDevices": 2}),
                work("w", "r", age=9, pod={"gpuDevices": 2}, displacedTimes=1, lastDisplacedAt=EARLIER),
            ],
        ),
        {"g-0": ("Running", "n0"), "w-0": PENDING},
    ),
    (
        "GPUs over a department's share do not count where CPU alone is taken back",
        cluster(
            [node("n0", 4)],
            [project("p", 0, "dx"), project("q", 0, "dx"), project("s", 0, "dy")],
            [
                work("q", "q", on="n0", pod={"gpuDevices": 3}),
                work("s", "s", on="n0"),
                *(work(f"c{i}", "s", on="n0", age=i, pod=on_cpu(10)) for i in range(3)),
                work("w", "p", age=9, pod=on_cpu(8)),
            ],
            departments=[
                {
                    **department("dx"),
                    "resources": [{**queue(1, weight=0), "cpu": {"deserved": 10, "overQuotaWeight": 1}}],
                },
                {**department("dy"), "resources": [{**queue(0), "cpu": {"deserved": 0, "overQuotaWeight": 1}}]},
            ],
        ),
        {"c1-0": ("Running", "n0"), "c2-0": ("Releasing", "n0"), "q-0": ("Running", "n0"), "w-0": ("Pipelined", "n0")},
    ),
    (
        "what its department does not deserve is not taken back at once",
        cluster(
            [node("n0", 4)],
            [project("p", 4, "dy"), project("r", 0, "dx")],
            [
                work("g", "p", on="n0", pod={"gpuDevices": 3}),
                work("w", "r", age=9, pod={"gpuDevices": 2}, displacedTimes=1, lastDisplacedAt=EARLIER),
            ],
            departments=[department("dx", 0), department("dy", 1, weight=0)],
        ),
        {"g-0": ("Releasing", "n0"), "w-0": ("Pipelined", "n0")},
    ),
    (
        "nor by what stands in another node pool",
        cluster(
            [node("n0", 4), node("m0", 1, nodePool="other")],
            [project("p", 2, weight=0), project("r", 0)],
            [
                work("g", "p", on="n0", pod={"gpuDevices": 3}),
                {
                    **work("e", "p", minPods=1, nodePools=["other", "default"]),
                    "pods": [
                        {"name": "e-0", "gpuDevices": 1, "status": "Running", "node": "m0"},
                        {"name": "e-1", "gpuDevices": 2},
                    ],
                },
                work("w", "r", age=9, pod={"gpuDevices": 2}, displacedTimes=1, lastDisplacedAt=EARLIER),
            ],
            nodePools=[{"name": "default"}, {"name": "other"}],
        ),
        {"g-0": ("Releasing", "n0"), "w-0": ("Pipelined", "n0"), "e-1": PENDING},
    ),
    (
        "others do",
        cluster(
            [node("n0", 4)],
            [project("p", 2, weight=0), project("r", 0)],
            [
                work("g", "p", on="n0", pod={"gpuDevices": 3}),
                work("y", "p", age=5, pod={"gpuDevices": 2}),
                work("w", "r", age=9, pod={"gpuDevices": 2}),
            ],
        ),
        {"g-0": ("Releasing", "n0"), "w-0": ("Pipelined", "n0")},
    ),
    (
        "a part waits where spreading opens a device that is still used",
        cluster(
            [node("n0", 2)],
            [project("a", 8)],
            [
                work(
                    "s", "a", on="n0", pod={"gpuPortion": 0.5, "gpuDevices": 1, "gpuGroups": ["0"], "gpuIndices": [0]}
                ),
                {
                    **work("r", "a"),
                    "deleting": True,
                    "pods": [{"name": "r-0", "gpuDevices": 1, "status": "Releasing", "node": "n0"}],
                },
                work("w", "a", pod={"gpuPortion": 0.3, "gpuDevices": 1}),
            ],
            nodePools=[{"name": "default", "placementStrategy": {"gpu": "spread", "cpu": "binpack"}}],
        ),
        {"w-0": ("Pipelined", "n0")},
    ),
    (
        "a promise is not kept outside the rack where the workload stands by now",
        cluster(
            [rack("n0", 1, "r0"), rack("n1", 1, "r0"), rack("n2", 1, "r1")],
            [project("a", 8)],
            [
                work("r", "a", on="n0"),
                {
                    **work("w", "a", minPods=1, promise=0, topology={"name": "dc", "required": "rack"}),
                    "pods": [
                        {
                            "name": "w-0",
                            "gpuDevices": 1,
                            "nodeSelector": {"host": ["n0", "n2"]},
                            "status": "Pipelined",
                            "node": "n0",
                        },
                        {"name": "w-1", "gpuDevices": 1, "status": "Pipelined", "node": "n1"},
                    ],
                },
            ],
            topologies=TOPOLOGY,
            actions=["allocate"],
        ),
        {"w-0": ("Binding", "n2"), "w-1": PENDING},
    ),
    (
        "promises are kept in their own order",
        cluster([node("n0", 1)], [project("a", 8)], [work("v", "a", promise=1), work("w", "a", age=9, promise=0)]),
        {"v-0": PENDING, "w-0": ("Binding", "n0")},
    ),
]


@pytest.mark.parametrize("document, want", cases(FIRST_CYCLE))
def test_first_cycle(document, want):
    check_first_cycle(document, want)


def taken(**more):
    return {"status": "Running", "node": "n0", **more}


# sentence, pods beside the one that is placed, its request, the devices it gets
DEVICES = [
    ("the lowest free device", [], {"gpuDevices": 1}, [0]),
    ("the lowest that is free", [taken(gpuDevices=1, gpuIndices=[0])], {"gpuDevices": 1}, [1]),
    (
        "a gap is filled",
        [taken(gpuDevices=1, gpuIndices=[0]), taken(gpuDevices=1, gpuIndices=[2])],
        {"gpuDevices": 2},
        [1, 3],
    ),
    (
        "the fullest shared device that has room",
        [
            taken(gpuPortion=0.5, gpuGroups=["0"], gpuIndices=[0]),
            taken(gpuPortion=0.2, gpuGroups=["1"], gpuIndices=[1]),
        ],
        {"gpuPortion": 0.3},
        [0],
    ),
    (
        "another where the fullest has none",
        [
            taken(gpuPortion=0.8, gpuGroups=["0"], gpuIndices=[0]),
            taken(gpuPortion=0.2, gpuGroups=["1"], gpuIndices=[1]),
        ],
        {"gpuPortion": 0.3},
        [1],
    ),
    (
        "a new one where all are too full",
        [taken(gpuPortion=0.8, gpuGroups=["0"], gpuIndices=[0])],
        {"gpuPortion": 0.3},
        [1],
    ),
]


@pytest.mark.parametrize("others, request_, want", cases(DEVICES))
def test_devices(others, request_, want):
    workloads = [
        {"name": f"r{i}", "project": "a", "pods": [{"name": f"r{i}-0", **pod}]} for i, pod in enumerate(others)
    ]
    workloads.append({"name": "w", "project": "a", "pods": [{"name": "w-0", **request_}]})
    (decision,) = simulate(cluster([node("n0", 4)], [project("a", 8)], workloads))["cycles"][0]["decisions"]
    assert (decision["verb"], decision["gpuIndices"]) == ("bind", want)
