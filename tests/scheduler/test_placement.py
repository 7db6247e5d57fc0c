"""Where pods go, by docs/scheduler.md, 4 and 5: a row each, a small cluster and who runs where."""

import pytest
from clusters import (
    FRAGMENTATION,
    TOPOLOGY,
    cases,
    check_first_cycle,
    cluster,
    node,
    pod,
    pods_of,
    project,
    rack,
    simulate,
    work,
)

# sentence, cluster, pods that are looked at after the first cycle
FIRST_CYCLE = [
    # 5.3, 5.4: where a pod goes
    (
        "bin-pack takes the node with least room",
        cluster([node("n0", 4), node("n1", 4)], [project("a", 8)], [work("r", "a", on="n1"), work("w", "a")]),
        {"w-0": ("Binding", "n1")},
    ),
    (
        "equal nodes go by name",
        cluster([node("n0", 4), node("n1", 4)], [project("a", 8)], [work("w", "a")]),
        {"w-0": ("Binding", "n0")},
    ),
    (
        "spread takes the node with the largest free part",
        cluster(
            [node("n0", 4), node("n1", 4)],
            [project("a", 8)],
            [work("r", "a", on="n0"), work("w", "a")],
            nodePools=[{"name": "default", "placementStrategy": {"gpu": "spread", "cpu": "spread"}}],
        ),
        {"w-0": ("Binding", "n1")},
    ),
    (
        "fragmentation: a part goes where it leaves room for the part that is typical",
        cluster(
            [node("n0", 1), node("n1", 1)],
            [project("a", 8)],
            [
                work("q", "a", on="n0", pod={"gpuPortion": 0.3}),
                work("r", "a", on="n1", pod={"gpuPortion": 0.5}),
                work("w", "a", pod={"gpuPortion": 0.5}),
            ],
            nodePools=FRAGMENTATION,
        ),
        {"w-0": ("Binding", "n1")},
    ),
    (
        "fragmentation: a part opens a device where sharing one would spoil it for the others",
        cluster(
            [node("n0", 2)],
            [project("a", 8)],
            [
                work("q", "a", on="n0", pod={"gpuPortion": 0.2}),
                work("w", "a", pod={"gpuPortion": 0.1}),
                *(work(f"x{i}", "a", age=9, pod={"gpuPortion": 0.8}) for i in range(3)),
            ],
            nodePools=FRAGMENTATION,
        ),
        {"w-0": ("Binding", "n0"), "x0-0": ("Binding", "n0"), "x1-0": ("Binding", "n0"), "x2-0": ("Pending", None)},
    ),
    (
        "fragmentation: a pod that needs much CPU goes where GPUs are taken already",
        cluster(
            [node("n0", 2, cpuCores=8), node("n1", 2, cpuCores=8)],
            [project("a", 8)],
            [
                work("q", "a", on="n1", pod={"gpuDevices": 2, "cpuCores": 1}),
                work("w", "a", pod={"gpuDevices": 0, "cpuCores": 7}),
                work("x", "a", age=9, pod={"gpuDevices": 2, "cpuCores": 4}),
            ],
            nodePools=FRAGMENTATION,
        ),
        {"w-0": ("Binding", "n1"), "x-0": ("Binding", "n0")},
    ),
    (
        "fragmentation: room now beats less waste",
        cluster(
            [node("n0", 1), node("n1", 2)],
            [project("a", 8)],
            [
                work("r", "a", pod={"status": "Releasing", "node": "n0"}, deleting=True),
                work("w", "a"),
                work("x", "a", age=9, pod={"gpuDevices": 2}),
            ],
            nodePools=FRAGMENTATION,
        ),
        {"w-0": ("Binding", "n1")},
    ),
    (
        "a pod without GPUs prefers a node without",
        cluster(
            [node("n0", 4), node("n1", 0)], [project("a", 8)], [work("w", "a", pod={"gpuDevices": 0, "cpuCores": 1})]
        ),
        {"w-0": ("Binding", "n1")},
    ),
    (
        "room now beats room to come",
        cluster(
            [node("n0", 1), node("n1", 4)],
            [project("a", 8)],
            [work("r", "a", pod={"status": "Releasing", "node": "n0"}, deleting=True), work("w", "a")],
        ),
        {"w-0": ("Binding", "n1")},
    ),
    (
        "what is being released can be promised",
        cluster(
            [node("n0", 1)],
            [project("a", 8)],
            [work("r", "a", pod={"status": "Releasing", "node": "n0"}, deleting=True), work("w", "a")],
        ),
        {"w-0": ("Pipelined", "n0")},
    ),
    (
        "what is stuck in releasing can not",
        cluster(
            [node("n0", 1)],
            [project("a", 8)],
            [work("r", "a", pod={"status": "StuckInReleasing", "node": "n0"}, deleting=True), work("w", "a")],
        ),
        {"w-0": ("Pending", None)},
    ),
    (
        "a workload that is being deleted gets nothing",
        cluster([node("n0", 1)], [project("a", 8)], [work("w", "a", deleting=True)]),
        {"w-0": ("Pending", None)},
    ),
    (
        "an absurd request waits, and nobody else",
        cluster(
            [node("n0", 1)],
            [project("a", 8)],
            [work("v", "a", pod={"gpuDevices": 1000, "memoryBytes": 2**45, "cpuCores": 100000}), work("w", "a", age=1)],
        ),
        {"v-0": ("Pending", None), "w-0": ("Binding", "n0")},
    ),
    # 5.6: shared devices
    (
        "a part joins a device that is shared already",
        cluster(
            [node("n0", 2), node("n1", 1)],
            [project("a", 8)],
            [work("r", "a", on="n0", pod={"gpuPortion": 0.5}), work("w", "a", pod={"gpuPortion": 0.5})],
        ),
        {"w-0": ("Binding", "n0")},
    ),
    (
        "two parts that are too large take two devices",
        cluster(
            [node("n0", 1), node("n1", 1)],
            [project("a", 8)],
            [work("r", "a", on="n0", pod={"gpuPortion": 0.6}), work("w", "a", pod={"gpuPortion": 0.5})],
        ),
        {"w-0": ("Binding", "n1")},
    ),
    (
        "with spread a part goes by what is free, not to a device that is shared already",
        cluster(
            [node("n0", 2), node("n1", 1)],
            [project("a", 8)],
            [work("r", "a", on="n0", pod={"gpuPortion": 0.5}), work("w", "a", pod={"gpuPortion": 0.5})],
            nodePools=[{"name": "default", "placementStrategy": {"gpu": "spread", "cpu": "spread"}}],
        ),
        {"w-0": ("Binding", "n1")},
    ),
    (
        "parts of several devices need as many",
        cluster(
            [node("n0", 1), node("n1", 2)],
            [project("a", 8)],
            [work("w", "a", pod={"gpuDevices": 2, "gpuPortion": 0.5})],
        ),
        {"w-0": ("Binding", "n1")},
    ),
    (
        "an amount of memory is a part too",
        cluster(
            [node("n0", 1)],
            [project("a", 8)],
            [
                work("r", "a", on="n0", pod={"gpuMemoryMib": 8000}),
                work("w", "a", pod={"gpuMemoryMib": 8000}),
                work("x", "a", age=1, pod={"gpuMemoryMib": 1000}),
            ],
        ),
        {"w-0": ("Binding", "n0"), "x-0": ("Pending", None)},
    ),
    # 5.1: what beats what
    (
        "sharing a device beats room now",
        cluster(
            [node("n0", 1), node("n1", 1)],
            [project("a", 8)],
            [
                work("r", "a", on="n0", pod={"gpuPortion": 0.4, "gpuGroups": ["0"], "gpuIndices": [0]}),
                work(
                    "s",
                    "a",
                    deleting=True,
                    pod={"gpuPortion": 0.5, "status": "Releasing", "node": "n0", "gpuGroups": ["0"], "gpuIndices": [0]},
                ),
                work("w", "a", pod={"gpuPortion": 0.5}),
            ],
        ),
        {"w-0": ("Pipelined", "n0")},
    ),
    (
        "topology beats sharing a device",
        cluster(
            [rack("n0", 1, "r0"), rack("n1", 4, "r1")],
            [project("a", 8)],
            [
                work("r", "a", on="n0", pod={"gpuPortion": 0.5}),
                work("w", "a", pods=5, pod={"gpuPortion": 0.5}, topology={"name": "dc", "preferred": "rack"}),
            ],
            topologies=TOPOLOGY,
        ),
        {"w-0": ("Binding", "n1"), "w-4": ("Binding", "n1")},
    ),
    (
        "a pod without GPUs is not drawn to a shared device",
        cluster(
            [node("n0", 1), node("n1", 1)],
            [project("a", 8)],
            [work("r", "a", on="n1", pod={"gpuPortion": 0.5}), work("w", "a", pod={"gpuDevices": 0, "cpuCores": 1})],
        ),
        {"w-0": ("Binding", "n0")},
    ),
    (
        "pods without GPUs are packed by CPU",
        cluster(
            [node("n0", 0), node("n1", 0, cpuCores=16)],
            [project("a", 8)],
            [work("w", "a", pod={"gpuDevices": 0, "cpuCores": 1})],
        ),
        {"w-0": ("Binding", "n1")},
    ),
    (
        "a pod that asks for nothing finds a place on a full node",
        cluster(
            [node("n0", 1)],
            [project("a", 8)],
            [work("r", "a", on="n0", pod={"cpuCores": 32}), work("w", "a", pod={"gpuDevices": 0})],
        ),
        {"w-0": ("Binding", "n0")},
    ),
    (
        "but not without a pod slot",
        cluster(
            [node("n0", 1, maxPods=1)],
            [project("a", 8)],
            [work("r", "a", on="n0", pod={"cpuCores": 32}), work("w", "a", pod={"gpuDevices": 0})],
        ),
        {"w-0": ("Pending", None)},
    ),
    (
        "a part needs a node whose device memory is known",
        cluster([node("n0", 1, gpuMemoryMib=0)], [project("a", 8)], [work("w", "a", pod={"gpuPortion": 0.5})]),
        {"w-0": ("Pending", None)},
    ),
    (
        "an amount of memory above the device's",
        cluster([node("n0", 1)], [project("a", 8)], [work("w", "a", pod={"gpuMemoryMib": 16001})]),
        {"w-0": ("Pending", None)},
    ),
    (
        "device memory counts in hundreds of MiB",
        cluster([node("n0", 1, gpuMemoryMib=16099)], [project("a", 8)], [work("w", "a", pod={"gpuMemoryMib": 16001})]),
        {"w-0": ("Pending", None)},
    ),
    (
        "a device of which all is being released takes no part, but may be promised as a new one",
        cluster(
            [node("n0", 1)],
            [project("a", 8)],
            [
                work(
                    "r",
                    "a",
                    deleting=True,
                    pod={"gpuPortion": 0.5, "status": "Releasing", "node": "n0", "gpuGroups": ["0"], "gpuIndices": [0]},
                ),
                work("w", "a", pod={"gpuPortion": 0.3}),
            ],
        ),
        {"w-0": ("Pipelined", "n0")},
    ),
    (
        "an amount of memory counts against a limit by the node it goes to",
        cluster(
            [node("n0", 1), node("n1", 1, gpuMemoryMib=32000)],
            [project("a", 8, limit=0.5)],
            [work("w", "a", pod={"gpuMemoryMib": 16000})],
        ),
        {"w-0": ("Binding", "n1")},
    ),
    (
        "with nodes of small devices alone it is over the limit",
        cluster([node("n0", 1)], [project("a", 8, limit=0.5)], [work("w", "a", pod={"gpuMemoryMib": 16000})]),
        {"w-0": ("Pending", None)},
    ),
    # 5.8: topology
    (
        "a required level keeps the pods together",
        cluster(
            [rack("n0", 1, "r0"), rack("n1", 1, "r1"), rack("n2", 1, "r1")],
            [project("a", 4)],
            [work("w", "a", pods=2, topology={"name": "dc", "required": "rack"})],
            topologies=TOPOLOGY,
        ),
        {"w-0": ("Binding", "n1"), "w-1": ("Binding", "n2")},
    ),
    (
        "no domain is large enough",
        cluster(
            [rack("n0", 1, "r0"), rack("n1", 1, "r1")],
            [project("a", 4)],
            [work("w", "a", pods=2, topology={"name": "dc", "required": "rack"})],
            topologies=TOPOLOGY,
        ),
        {"w-0": ("Pending", None), "w-1": ("Pending", None)},
    ),
    (
        "a preferred level is left where it must be",
        cluster(
            [rack("n0", 1, "r0"), rack("n1", 1, "r1")],
            [project("a", 4)],
            [work("w", "a", pods=2, topology={"name": "dc", "preferred": "rack"})],
            topologies=TOPOLOGY,
        ),
        {"w-0": ("Binding", "n1"), "w-1": ("Binding", "n0")},
    ),
    (
        "the fullest domain that has room",
        cluster(
            [rack("n0", 4, "r0"), rack("n1", 2, "r1")],
            [project("a", 4)],
            [work("w", "a", pods=2, topology={"name": "dc", "required": "rack"})],
            topologies=TOPOLOGY,
        ),
        {"w-0": ("Binding", "n1"), "w-1": ("Binding", "n1")},
    ),
    (
        "growth stays in the domain where the workload stands",
        cluster(
            [rack("n0", 2, "r0"), rack("n1", 1, "r1"), rack("n2", 4, "r1")],
            [project("a", 9)],
            [
                work("r", "a", on="n0"),
                {
                    **work("w", "a", pods=1, on="n1", topology={"name": "dc", "required": "rack"}, minPods=1),
                    "pods": [
                        {"name": "w-0", "gpuDevices": 1, "status": "Running", "node": "n1"},
                        {"name": "w-1", "gpuDevices": 1},
                    ],
                },
            ],
            topologies=TOPOLOGY,
        ),
        {"w-1": ("Binding", "n2")},
    ),
]


@pytest.mark.parametrize("document,want", cases(FIRST_CYCLE))
def test_first_cycle(document, want):
    check_first_cycle(document, want)


# 5.3, 5.4: strategy, GPUs of the nodes, GPUs in use on them; where one-GPU pods go, one after the other
PLACES = [
    ("the least free first; without GPUs never", "binpack", (4, 4, 4, 0), (4, 1, 0, 0), "1112222"),
    ("all equal: by name", "binpack", (1, 1, 1), (0, 0, 0), "012"),
    ("by what is free, not by size", "binpack", (16, 8, 16), (8, 4, 0), "1111000000002"),
    ("the largest free part first", "spread", (4, 8, 2), (2, 2, 0), "2110"),
    ("equal parts: by name", "spread", (2, 4), (0, 0), "01101"),
]


@pytest.mark.parametrize("strategy,gpus,used,want", cases(PLACES))
def test_where_pods_go(strategy, gpus, used, want):
    document = cluster(
        [node(f"n{i}", count) for i, count in enumerate(gpus)],
        [project("a", 99)],
        [work(f"r{i}", "a", on=f"n{i}", pod={"gpuDevices": count}) for i, count in enumerate(used) if count]
        + [work(f"w{i:02}", "a", age=10 + i) for i in range(len(want))],
        nodePools=[{"name": "default", "placementStrategy": {"gpu": strategy, "cpu": strategy}}],
    )
    got = pods_of(simulate(document)["cycles"][0])
    assert "".join(got[f"w{i:02}-0"][1][1:] for i in range(len(want))) == want


def test_the_lowest_healthy_devices_are_chosen():
    document = cluster(
        [node("n0", 4, unhealthyGpus=[0, 2])], [project("a", 4)], [work("w", "a", pod={"gpuDevices": 2})]
    )
    (decision,) = simulate(document)["cycles"][0]["decisions"]
    assert decision["gpuIndices"] == [1, 3]
    assert {q["name"]: q["gpu"]["fairShare"] for q in simulate(document)["cycles"][0]["queues"]}["a"] == 2


KEEPS = work("r", "a", on="n0", pod={"gpuPortion": 0.4, "gpuGroups": ["0"], "gpuIndices": [0]})
STUCK = {"gpuPortion": 0.5, "status": "Releasing", "node": "n0", "gpuGroups": ["0"], "gpuIndices": [0]}


@pytest.mark.parametrize("nodes,place", [([("n0", 1), ("n1", 1)], "n1"), ([("n0", 2)], "n0")], ids=["another", "same"])
@pytest.mark.parametrize("strategy", ["binpack", "fragmentation"])
def test_a_shared_device_is_waited_for_no_longer_than_a_cycle(nodes, place, strategy):
    """5.6: what stops on it may take its time; a device that is free elsewhere, or on the same node, does then."""
    document = cluster(
        [node(*words) for words in nodes],
        [project("a", 8)],
        [KEEPS, work("s", "a", deleting=True, pod=STUCK), work("w", "a", pod={"gpuPortion": 0.5})],
        nodePools=[{"name": "default", "placementStrategy": {"gpu": strategy, "cpu": strategy}}],
    )
    last = {pod["name"]: pod for pod in simulate(document, cycles=3)["cycles"][-1]["pods"]}
    assert (last["w-0"]["status"], last["w-0"]["node"]) == ("Running", place)
    assert last["w-0"]["gpuGroups"] != ["0"] or place != "n0"


def test_a_shared_device_is_waited_for_where_no_other_is_free():
    document = cluster(
        [node("n0", 1)],
        [project("a", 8)],
        [KEEPS, work("s", "a", deleting=True, pod=STUCK), work("w", "a", pod={"gpuPortion": 0.5})],
    )
    last = pods_of(simulate(document, cycles=3)["cycles"][-1])
    assert last["w-0"] == ("Pipelined", "n0")


LEADER_AND_WORKERS = [pod("g-m", gpus=1, role="master"), *(pod(f"g-{i}", gpus=2) for i in range(5))]
ROLES = {"subGroups": [{"name": "l", "minPods": 1}, {"name": "w", "minPods": 5}]}


@pytest.mark.parametrize(
    "more",
    [{}, {"topology": {"name": "dc", "required": "rack"}}, ROLES],
    ids=["plain", "in one rack", "by sub-groups"],
)
@pytest.mark.parametrize("strategy", ["binpack", "spread"])
def test_a_gang_of_unlike_pods_is_tried_largest_first_too(more, strategy):
    """4.1: a leader of one GPU would take from the node of two what a worker needs."""
    pods = LEADER_AND_WORKERS
    if "subGroups" in more:
        pods = [{**pod, "subGroup": "l" if pod["name"] == "g-m" else "w"} for pod in pods]
    document = cluster(
        [rack("n0", 2, "r0"), rack("n1", 4, "r0"), rack("n2", 5, "r0"), rack("n3", 1, "r1")],
        [project("a", 12)],
        [work("g", "a", pods=pods, **more)],
        topologies=TOPOLOGY,
        nodePools=[{"name": "default", "placementStrategy": {"gpu": strategy, "cpu": strategy}}],
    )
    got = pods_of(simulate(document)["cycles"][0])
    assert {status for status, _ in got.values()} == {"Binding"}, got
