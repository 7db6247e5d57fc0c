"""Rules of docs/scheduler.md that meet: a row each, a small cluster and who runs where."""

import pytest
from clusters import (
    cases,
    check_first_cycle,
    cluster,
    department,
    node,
    pod,
    pods_of,
    project,
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


# sentence, cluster, pods that are looked at after the first cycle
FIRST_CYCLE = [
    # elastic workloads
    (
        "a gang takes as many surplus pods of one workload as it needs",
        cluster(
            [node("n0", 4)],
            [project("a", 3), project("b", 1)],
            [work("r", "b", pods=4, minPods=1, on="n0"), work("w", "a", pods=2)],
        ),
        {
            "r-0": ("Running", "n0"),
            "r-1": ("Running", "n0"),
            "r-2": ("Releasing", "n0"),
            "r-3": ("Releasing", "n0"),
            "w-0": ("Pipelined", "n0"),
            "w-1": ("Pipelined", "n0"),
        },
    ),
    (
        "an elastic workload reclaims a pod a cycle",
        cluster(
            [node("n0", 3)],
            [project("a", 2), project("b", 0)],
            [*(work(f"r{i}", "b", on="n0", age=i) for i in range(3)), work("w", "a", pods=3, minPods=1)],
        ),
        {
            "r0-0": ("Running", "n0"),
            "r1-0": ("Running", "n0"),
            "r2-0": ("Releasing", "n0"),
            "w-0": ("Pipelined", "n0"),
            "w-1": PENDING,
        },
    ),
    (
        "surplus of a lower priority goes first inside a project too",
        cluster(
            [node("n0", 2)],
            [project("a", 2)],
            [work("r", "a", pods=2, minPods=1, on="n0"), work("w", "a", priority=60)],
        ),
        {"r-0": ("Running", "n0"), "r-1": ("Releasing", "n0"), "w-0": ("Pipelined", "n0")},
    ),
    (
        "the lowest priority goes first, older or not",
        cluster(
            [node("n0", 2)],
            [project("a", 2)],
            [work("r", "a", on="n0", priority=40), work("s", "a", on="n0", age=5), work("w", "a", priority=60)],
        ),
        {"r-0": ("Releasing", "n0"), "s-0": ("Running", "n0"), "w-0": ("Pipelined", "n0")},
    ),
    (
        "what stands below its minimum is served before what grows, and that by age",
        cluster(
            [node("n0", 4)],
            [project("a", 4)],
            [
                work("r", "a", pods=[pod("r-0", on="n0"), pod("r-1")], minPods=1),
                work("s", "a", age=1, pods=[pod("s-0", on="n0"), pod("s-1")], minPods=1),
                work("w", "a", age=9),
            ],
        ),
        {"w-0": ("Binding", "n0"), "r-1": ("Binding", "n0"), "s-1": PENDING},
    ),
    # quota and limit on both levels
    (
        "non-preemptible: the department's quota bounds what its projects' quotas would allow",
        cluster(
            [node("n0", 8)],
            [project("a", 2), project("c", 2)],
            [
                work("q", "a", on="n0", preemptibility="non-preemptible"),
                work("r", "c", on="n0", preemptibility="non-preemptible"),
                work("w", "c", preemptibility="non-preemptible"),
                work("x", "c", age=1),
                work("y", "c", age=2),
            ],
            departments=[department("d", 2, limit=3)],
        ),
        {"w-0": PENDING, "x-0": ("Binding", "n0"), "y-0": PENDING},
    ),
    (
        "the project's limit before the department's",
        cluster(
            [node("n0", 8)],
            [project("a", 1, limit=2), project("c", 1)],
            [work("w", "a", pods=2), work("x", "a", age=1), work("y", "c", age=2), work("z", "c", age=3)],
            departments=[department("d", 2, limit=3)],
        ),
        {"w-0": ("Binding", "n0"), "w-1": ("Binding", "n0"), "x-0": PENDING, "y-0": ("Binding", "n0"), "z-0": PENDING},
    ),
    (
        "a department that promises more than it has takes back up to its own quota",
        cluster(
            [node("n0", 2)],
            [project("a", 2, "d"), project("b", 0, "e")],
            [work("r", "b", on="n0"), work("s", "b", on="n0", age=1), work("w", "a"), work("x", "a", age=1)],
            departments=[department("d", 1), department("e", 1)],
        ),
        {"r-0": ("Running", "n0"), "s-0": ("Releasing", "n0"), "w-0": ("Pipelined", "n0"), "x-0": PENDING},
    ),
    (
        "a project at its limit takes nothing back",
        cluster(
            [node("n0", 2)],
            [project("a", 2, limit=1), project("b", 0)],
            [work("q", "a", on="n0"), work("r", "b", on="n0"), work("w", "a")],
        ),
        {"r-0": ("Running", "n0"), "w-0": PENDING},
    ),
    (
        "non-preemptible within quota preempts what is over it",
        cluster(
            [node("n0", 2)],
            [project("a", 1)],
            [work("r", "a", on="n0"), work("s", "a", on="n0", age=1), work("w", "a", priority=100)],
        ),
        {"r-0": ("Running", "n0"), "s-0": ("Releasing", "n0"), "w-0": ("Pipelined", "n0")},
    ),
    (
        "beyond quota it does not",
        cluster(
            [node("n0", 2)],
            [project("a", 1)],
            [work("r", "a", on="n0", priority=100), work("s", "a", on="n0", age=1), work("w", "a", priority=125)],
        ),
        {"s-0": ("Running", "n0"), "w-0": PENDING},
    ),
    (
        "what can be reclaimed is, before a lower priority of the own project goes",
        cluster(
            [node("n0", 2)],
            [project("a", 2), project("b", 0)],
            [work("r", "a", on="n0"), work("s", "b", on="n0"), work("w", "a", priority=60)],
        ),
        {"r-0": ("Running", "n0"), "s-0": ("Releasing", "n0"), "w-0": ("Pipelined", "n0")},
    ),
    (
        "what device memory is charged on its node counts for the rest of the gang",
        cluster(
            [node("n0", 1), node("n1", 4, gpuMemoryMib=15800)],
            [project("a", 0), project("b", 3)],
            [
                work("r", "a", on="n0"),
                work(
                    "w",
                    "b",
                    preemptibility="non-preemptible",
                    pods=[
                        pod("w-0", gpuMemoryMib=3477),
                        pod("w-1", gpuMemoryMib=13919),
                        pod("w-2", gpuMemoryMib=13919),
                        pod("w-3"),
                    ],
                ),
            ],
        ),
        {f"w-{i}": PENDING for i in range(4)},
    ),
    # parts of devices
    (
        "a part takes the place of a part of lower priority, the youngest",
        cluster(
            [node("n0", 1)],
            [project("a", 1)],
            [
                work("r", "a", on="n0", pod={"gpuPortion": 0.5, "gpuGroups": ["0"]}),
                work("s", "a", on="n0", age=1, pod={"gpuPortion": 0.5, "gpuGroups": ["0"]}),
                work("w", "a", priority=60, pod={"gpuPortion": 0.5}),
            ],
        ),
        {"r-0": ("Running", "n0"), "s-0": ("Releasing", "n0"), "w-0": ("Pipelined", "n0")},
    ),
    (
        "a whole device takes both",
        cluster(
            [node("n0", 1)],
            [project("a", 1)],
            [
                work("r", "a", on="n0", pod={"gpuPortion": 0.5, "gpuGroups": ["0"]}),
                work("s", "a", on="n0", age=1, pod={"gpuPortion": 0.5, "gpuGroups": ["0"]}),
                work("w", "a", priority=60),
            ],
        ),
        {"r-0": ("Releasing", "n0"), "s-0": ("Releasing", "n0"), "w-0": ("Pipelined", "n0")},
    ),
    (
        "parts move together for a whole device",
        cluster(
            [node("n0", 1), node("n1", 1)],
            [project("a", 2)],
            [
                work("r", "a", on="n0", pod={"gpuPortion": 0.4}),
                work("s", "a", on="n1", age=5, pod={"gpuPortion": 0.4}),
                work("w", "a", age=9),
            ],
        ),
        {"r-0": ("Running", "n0"), "s-0": ("Pipelined", "n0"), "w-0": ("Pipelined", "n1")},
    ),
    (
        "not where they are too large together",
        cluster(
            [node("n0", 1), node("n1", 1)],
            [project("a", 2)],
            [
                work("r", "a", on="n0", pod={"gpuPortion": 0.6}),
                work("s", "a", on="n1", age=5, pod={"gpuPortion": 0.5}),
                work("w", "a", age=9),
            ],
        ),
        {"r-0": ("Running", "n0"), "s-0": ("Running", "n1"), "w-0": PENDING},
    ),
    (
        "nor where they may not go to each other's node",
        cluster(
            [node("n0", 1), node("n1", 1)],
            [project("a", 2)],
            [
                work("r", "a", on="n0", pod={"gpuPortion": 0.4, **on("n0")}),
                work("s", "a", on="n1", age=5, pod={"gpuPortion": 0.4, **on("n1")}),
                work("w", "a", age=9),
            ],
        ),
        {"r-0": ("Running", "n0"), "s-0": ("Running", "n1"), "w-0": PENDING},
    ),
    (
        "parts of two devices share the same two",
        cluster(
            [node("n0", 2)],
            [project("a", 2)],
            [
                work("w", "a", pod={"gpuDevices": 2, "gpuPortion": 0.5}),
                work("x", "a", age=1, pod={"gpuDevices": 2, "gpuPortion": 0.5}),
                work("y", "a", age=2, pod={"gpuPortion": 0.1}),
            ],
        ),
        {"w-0": ("Binding", "n0"), "x-0": ("Binding", "n0"), "y-0": PENDING},
    ),
    (
        "parts of two devices are charged twice",
        cluster(
            [node("n0", 4)],
            [project("a", 4, limit=1)],
            [work("w", "a", pod={"gpuDevices": 2, "gpuPortion": 0.5}), work("x", "a", age=1, pod={"gpuPortion": 0.1})],
        ),
        {"w-0": ("Binding", "n0"), "x-0": PENDING},
    ),
    (
        "a reclaim of parts of two devices",
        cluster(
            [node("n0", 2)],
            [project("a", 1), project("b", 1)],
            [
                work("r", "b", on="n0", pod={"gpuDevices": 2, "gpuPortion": 0.5, "gpuGroups": ["0", "1"]}),
                work("s", "b", on="n0", age=1, pod={"gpuDevices": 2, "gpuPortion": 0.5, "gpuGroups": ["0", "1"]}),
                work("w", "a", pod={"gpuDevices": 2, "gpuPortion": 0.5}),
            ],
        ),
        {"r-0": ("Running", "n0"), "s-0": ("Releasing", "n0"), "w-0": ("Pipelined", "n0")},
    ),
    (
        "each device that is opened takes a pod slot",
        cluster(
            [node("n0", 2, maxPods=2)],
            [project("a", 2)],
            [
                work("w", "a", pod={"gpuDevices": 2, "gpuPortion": 0.5}),
                work("x", "a", age=1, pod={"gpuPortion": 0.5}),
                work("y", "a", age=2, pod={"gpuPortion": 0.5}),
            ],
        ),
        {"w-0": PENDING, "x-0": ("Binding", "n0"), "y-0": PENDING},
    ),
    # MIG
    (
        "MIG instances are reclaimed like GPUs",
        cluster(
            [node("n0", 0, migStrategy="mixed", migInstances={MIG: 2})],
            [project("a", 1), project("b", 0)],
            [
                work("r", "b", on="n0", pod={"gpuDevices": 0, "migInstances": {MIG: 1}}),
                work("s", "b", on="n0", age=1, pod={"gpuDevices": 0, "migInstances": {MIG: 1}}),
                work("w", "a", pod={"gpuDevices": 0, "migInstances": {MIG: 1}}),
            ],
        ),
        {"r-0": ("Running", "n0"), "s-0": ("Releasing", "n0"), "w-0": ("Pipelined", "n0")},
    ),
    (
        "and count in a limit",
        cluster(
            [node("n0", 0, migStrategy="mixed", migInstances={MIG: 2})],
            [project("a", 1, limit=1)],
            [work("w", "a", pods=2, pod={"gpuDevices": 0, "migInstances": {MIG: 1}})],
        ),
        {"w-0": PENDING, "w-1": PENDING},
    ),
    (
        "a whole device is not for a node that is cut up, nor an instance for one that is not",
        cluster(
            [node("n0", 0, migStrategy="mixed", migInstances={MIG: 2}), node("n1", 1)],
            [project("a", 9)],
            [
                work("w", "a"),
                work("x", "a", age=1, pod={"gpuDevices": 0, "migInstances": {MIG: 1}}),
                work("y", "a", age=2),
            ],
        ),
        {"w-0": ("Binding", "n1"), "x-0": ("Binding", "n0"), "y-0": PENDING},
    ),
]


@pytest.mark.parametrize("document,want", cases(FIRST_CYCLE))
def test_first_cycle(document, want):
    check_first_cycle(document, want)


def test_an_elastic_workload_grows_a_reclaim_at_a_time():
    document = cluster(
        [node("n0", 3)],
        [project("a", 2), project("b", 0)],
        [*(work(f"r{i}", "b", on="n0", age=i) for i in range(3)), work("w", "a", pods=3, minPods=1)],
    )
    cycles = simulate(document, 4)["cycles"]
    evicted = [[d["pod"] for d in cycle["decisions"] if d["verb"] == "evict"] for cycle in cycles]
    assert evicted == [["r2-0"], ["r1-0"], ["r0-0"], []]
    assert {pods_of(cycles[3])[name] for name in ("w-0", "w-1", "w-2")} == {("Running", "n0"), ("Binding", "n0")}
