"""Who reclaims from whom, by docs/scheduler.md, 6: a row each, a small cluster and who runs where."""

import pytest
from clusters import (
    EARLIER,
    NOW,
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

# sentence, cluster, pods that are looked at after the first cycle
FIRST_CYCLE = [
    # 6: reclaim
    (
        "an owner takes back what was lent, from the youngest",
        cluster(
            [node("n0", 2)],
            [project("a", 1), project("b", 1)],
            [work("r", "b", on="n0"), work("s", "b", on="n0", age=5), work("w", "a")],
        ),
        {"r-0": ("Running", "n0"), "s-0": ("Releasing", "n0"), "w-0": ("Pipelined", "n0")},
    ),
    (
        "nobody reclaims over its fair share",
        cluster(
            [node("n0", 2)],
            [project("a", 1), project("b", 1)],
            [work("q", "a", on="n0"), work("r", "b", on="n0"), work("w", "a")],
        ),
        {"r-0": ("Running", "n0"), "w-0": ("Pending", None)},
    ),
    (
        "a non-preemptible workload keeps what it has",
        cluster(
            [node("n0", 2)],
            [project("a", 1), project("b", 2)],
            [work("r", "b", pods=2, on="n0", preemptibility="non-preemptible"), work("w", "a")],
        ),
        {"r-0": ("Running", "n0"), "w-0": ("Pending", None)},
    ),
    (
        "a surplus pod goes before a whole workload",
        cluster(
            [node("n0", 3)],
            [project("a", 1), project("b", 1)],
            [work("r", "b", pods=2, on="n0", minPods=1), work("s", "b", on="n0", age=5), work("w", "a")],
        ),
        {"r-0": ("Running", "n0"), "r-1": ("Releasing", "n0"), "s-0": ("Running", "n0"), "w-0": ("Pipelined", "n0")},
    ),
    (
        "a gang goes as a whole",
        cluster([node("n0", 2)], [project("a", 1), project("b", 0)], [work("r", "b", pods=2, on="n0"), work("w", "a")]),
        {"r-0": ("Releasing", "n0"), "r-1": ("Releasing", "n0"), "w-0": ("Pipelined", "n0")},
    ),
    (
        "above its fair share by one, it loses one",
        cluster(
            [node("n0", 5)],
            [project("a", 3), project("b", 2)],
            [work("q", "a", pods=2, on="n0"), *(work(f"r{i}", "b", on="n0", age=i) for i in range(3)), work("w", "a")],
        ),
        {"r2-0": ("Releasing", "n0"), "r1-0": ("Running", "n0"), "w-0": ("Pipelined", "n0")},
    ),
    (
        "exactly at its fair share and quota, it keeps all",
        cluster(
            [node("n0", 4)],
            [project("a", 3), project("b", 2)],
            [work("q", "a", pods=2, on="n0"), work("r", "b", on="n0"), work("s", "b", on="n0"), work("w", "a")],
        ),
        {"r-0": ("Running", "n0"), "s-0": ("Running", "n0"), "w-0": ("Pending", None)},
    ),
    (
        "within quota, from someone over quota inside a fair share",
        cluster(
            [node("n0", 5)],
            [project("a", 3), project("b", 1, weight=5)],
            [work("q", "a", pods=1, on="n0"), *(work(f"r{i}", "b", on="n0", age=i) for i in range(4)), work("w", "a")],
        ),
        {"r3-0": ("Releasing", "n0"), "w-0": ("Pipelined", "n0")},
    ),
    (
        "between departments the same",
        cluster(
            [node("n0", 5)],
            [project("a", None, "d"), project("b", None, "e")],
            [work("q", "a", pods=2, on="n0"), *(work(f"r{i}", "b", on="n0", age=i) for i in range(3)), work("w", "a")],
            departments=[department("d", 3), department("e", 2)],
        ),
        {"r2-0": ("Releasing", "n0"), "r1-0": ("Running", "n0"), "w-0": ("Pipelined", "n0")},
    ),
    (
        "a department at its share keeps all",
        cluster(
            [node("n0", 4)],
            [project("a", None, "d"), project("b", None, "e")],
            [work("q", "a", pods=2, on="n0"), work("r", "b", on="n0"), work("s", "b", on="n0"), work("w", "a")],
            departments=[department("d", 3), department("e", 2)],
        ),
        {"r-0": ("Running", "n0"), "s-0": ("Running", "n0"), "w-0": ("Pending", None)},
    ),
    (
        "a department that would be further over its share takes from none that is less",
        cluster(
            [node("n0", 5)],
            [project("a", 2, "d"), project("b", 2, "d"), project("c", 2, "e")],
            [work("q", "b", pods=2, on="n0"), *(work(f"r{i}", "c", on="n0", age=i) for i in range(3)), work("w", "a")],
            departments=[department("d", 2, weight=0), department("e", 2, weight=0)],
        ),
        {"r2-0": ("Running", "n0"), "w-0": ("Pending", None)},
    ),
    (
        "nor one that would be over its share of CPU alone",
        cluster(
            [node("n0", 5)],
            [project("a", 2, "d"), project("b", 2, "d"), project("c", 2, "e")],
            [
                work("q", "b", pods=2, on="n0", pod={"cpuCores": 1}),
                work("w", "a", pod={"cpuCores": 1}),
                *(work(f"r{i}", "c", on="n0", age=i, pod={"cpuCores": 1}) for i in range(3)),
            ],
            departments=[
                {
                    **department(name),
                    "resources": [
                        {**queue(gpus, weight=0), "cpu": {"deserved": 2, "limit": None, "overQuotaWeight": 0}}
                    ],
                }
                for name, gpus in (("d", 3), ("e", 2))
            ],
        ),
        {"r2-0": ("Running", "n0"), "w-0": ("Pending", None)},
    ),
    (
        "a non-preemptible workload reclaims within quota",
        cluster(
            [node("n0", 1)],
            [project("a", 1), project("b", 0)],
            [work("r", "b", on="n0"), work("w", "a", preemptibility="non-preemptible")],
        ),
        {"r-0": ("Releasing", "n0"), "w-0": ("Pipelined", "n0")},
    ),
    (
        "CPU over its share stops a reclaim of GPUs",
        cluster(
            [node("n0", 1, cpuCores=4)],
            [
                {
                    **project("a", 1),
                    "resources": [{**queue(1), "cpu": {"deserved": 0, "limit": None, "overQuotaWeight": 0}}],
                },
                project("b", 0),
            ],
            [work("q", "a", on="n0", pod={"gpuDevices": 0, "cpuCores": 1}), work("r", "b", on="n0"), work("w", "a")],
        ),
        {"r-0": ("Running", "n0"), "w-0": ("Pending", None)},
    ),
    (
        "a search without budget evicts nobody",
        cluster(
            [node("n0", 1)],
            [project("a", 1), project("b", 0)],
            [work("r", "b", on="n0"), work("w", "a")],
            settings={"scenariosPerWorkload": 0},
        ),
        {"r-0": ("Running", "n0"), "w-0": ("Pending", None)},
    ),
    (
        "one scenario may be enough",
        cluster(
            [node("n0", 1)],
            [project("a", 1), project("b", 0)],
            [work("r", "b", on="n0"), work("w", "a")],
            settings={"scenariosPerWorkload": 1},
        ),
        {"r-0": ("Releasing", "n0"), "w-0": ("Pipelined", "n0")},
    ),
    (
        "who waits for its delay causes no eviction",
        cluster(
            [node("n0", 1)],
            [project("a", 1), project("b", 0)],
            [work("r", "b", on="n0"), work("w", "a", preemptionDelaySeconds=86400)],
        ),
        {"r-0": ("Running", "n0"), "w-0": ("Pending", None)},
    ),
    (
        "who was displaced three times in a row may displace others",
        cluster(
            [node("n0", 1)],
            [project("a", 1), project("b", 0)],
            [work("r", "b", on="n0"), work("w", "a", displacedTimes=3, lastDisplacedAt=NOW)],
        ),
        {"r-0": ("Releasing", "n0"), "w-0": ("Pipelined", "n0")},
    ),
    (
        "the fourth time it has to be patient for a minute",
        cluster(
            [node("n0", 1)],
            [project("a", 1), project("b", 0)],
            [work("r", "b", on="n0"), work("w", "a", displacedTimes=4, lastDisplacedAt="2026-01-01T11:59:01Z")],
        ),
        {"r-0": ("Running", "n0"), "w-0": ("Pending", None)},
    ),
    (
        "and then may again",
        cluster(
            [node("n0", 1)],
            [project("a", 1), project("b", 0)],
            [work("r", "b", on="n0"), work("w", "a", displacedTimes=4, lastDisplacedAt=EARLIER)],
        ),
        {"r-0": ("Releasing", "n0"), "w-0": ("Pipelined", "n0")},
    ),
    (
        "half an hour at most",
        cluster(
            [node("n0", 1)],
            [project("a", 1), project("b", 0)],
            [work("r", "b", on="n0"), work("w", "a", displacedTimes=99, lastDisplacedAt="2026-01-01T11:28:00Z")],
        ),
        {"r-0": ("Releasing", "n0"), "w-0": ("Pipelined", "n0")},
    ),
    (
        "patience keeps nobody from free room",
        cluster([node("n0", 1)], [project("a", 1)], [work("w", "a", displacedTimes=99, lastDisplacedAt=NOW)]),
        {"w-0": ("Binding", "n0")},
    ),
    (
        "a minimum run time protects from reclaim",
        cluster(
            [node("n0", 1)],
            [project("a", 1), project("b", 0, reclaimMinRuntimeSeconds=120)],
            [work("r", "b", on="n0", started=EARLIER), work("w", "a")],
        ),
        {"r-0": ("Running", "n0"), "w-0": ("Pending", None)},
    ),
    (
        "until it is over",
        cluster(
            [node("n0", 1)],
            [project("a", 1), project("b", 0, reclaimMinRuntimeSeconds=60)],
            [work("r", "b", on="n0", started=EARLIER), work("w", "a")],
        ),
        {"r-0": ("Releasing", "n0"), "w-0": ("Pipelined", "n0")},
    ),
    (
        "an elastic workload gives its surplus all the same",
        cluster(
            [node("n0", 2)],
            [project("a", 1), project("b", 0, reclaimMinRuntimeSeconds=120)],
            [work("r", "b", pods=2, minPods=1, on="n0", started=EARLIER), work("w", "a")],
        ),
        {"r-0": ("Running", "n0"), "r-1": ("Releasing", "n0"), "w-0": ("Pipelined", "n0")},
    ),
    (
        "between departments a project's minimum run time does not count",
        cluster(
            [node("n0", 1)],
            [project("a", 1, "d"), project("b", 0, "e", reclaimMinRuntimeSeconds=120)],
            [work("r", "b", on="n0", started=EARLIER), work("w", "a")],
            departments=[department("d", 1), department("e", 0)],
        ),
        {"r-0": ("Releasing", "n0"), "w-0": ("Pipelined", "n0")},
    ),
    (
        "the node pool's minimum run time is the default",
        cluster(
            [node("n0", 1)],
            [project("a", 1), project("b", 0)],
            [work("r", "b", on="n0", started=EARLIER), work("w", "a")],
            nodePools=[{"name": "default", "reclaimMinRuntimeSeconds": 120}],
        ),
        {"r-0": ("Running", "n0"), "w-0": ("Pending", None)},
    ),
    # 6.3, 6.9: the worked cases that are not above
    (
        "6.3: exactly at its fair share afterwards",
        cluster(
            [node("n0", 4)],
            [project("a", 2), project("b", 0)],
            [work("q", "a", on="n0"), *(work(f"r{i}", "b", on="n0", age=i) for i in range(3)), work("w", "a")],
        ),
        {"r2-0": ("Releasing", "n0"), "r1-0": ("Running", "n0"), "w-0": ("Pipelined", "n0")},
    ),
    (
        "6.3: non-preemptible, quota zero, fair share free",
        cluster(
            [node("n0", 2)],
            [project("a", 0, weight=5), project("b", 0)],
            [work("r", "b", on="n0"), work("s", "b", on="n0"), work("w", "a", preemptibility="non-preemptible")],
        ),
        {"r-0": ("Running", "n0"), "s-0": ("Running", "n0"), "w-0": ("Pending", None)},
    ),
    (
        "6.3: preemptible, quota zero, fair share free",
        cluster(
            [node("n0", 2)],
            [project("a", 0), project("b", 0)],
            [work("r", "b", on="n0"), work("s", "b", on="n0", age=5), work("w", "a")],
        ),
        {"r-0": ("Running", "n0"), "s-0": ("Releasing", "n0"), "w-0": ("Pipelined", "n0")},
    ),
    (
        "6.9: both at their fair share",
        cluster(
            [node("n0", 6)],
            [project("a", 3), project("b", 3)],
            [work("q", "a", pods=3, on="n0"), *(work(f"r{i}", "b", on="n0", age=i) for i in range(3)), work("w", "a")],
        ),
        {"r2-0": ("Running", "n0"), "w-0": ("Pending", None)},
    ),
    (
        "6.9: non-preemptible, and the department's quota is used up by such",
        cluster(
            [node("n0", 4)],
            [project("a", 2, "d"), project("c", 3, "d"), project("b", 0, "e")],
            [
                work("q", "c", pods=3, on="n0", preemptibility="non-preemptible"),
                work("r", "b", on="n0"),
                work("w", "a", preemptibility="non-preemptible"),
            ],
            departments=[department("d", 3), department("e", 0)],
        ),
        {"r-0": ("Running", "n0"), "w-0": ("Pending", None)},
    ),
    (
        "6.9: non-preemptible, and only preemptible ones use up the department's quota",
        cluster(
            [node("n0", 4)],
            [project("a", 1, "d"), project("c", 2, "d")],
            [*(work(f"r{i}", "c", on="n0", age=i) for i in range(4)), work("w", "a", preemptibility="non-preemptible")],
            departments=[department("d", 3)],
        ),
        {"r3-0": ("Releasing", "n0"), "w-0": ("Pipelined", "n0")},
    ),
    (
        "6.9: its department over its share, the other at none: no",
        cluster(
            [node("n0", 3)],
            [project("a", 1, "d"), project("c", 0, "d"), project("b", 1, "e")],
            [work("q", "c", on="n0"), work("r", "b", pods=2, on="n0"), work("w", "a")],
            departments=[department("d", 1, weight=0), department("e", 1, weight=1)],
        ),
        {"r-0": ("Running", "n0"), "q-0": ("Releasing", "n0"), "w-0": ("Pipelined", "n0")},
    ),
    (
        "6.9: a department's quota is measured by the smallest device, whichever the pod would get",
        cluster(
            [node("n0", 1, gpuMemoryMib=8000), node("n1", 1)],
            [project("a", 2, "d"), project("b", 0, "e")],
            [
                work(
                    "q",
                    "a",
                    on="n1",
                    preemptibility="non-preemptible",
                    pod={"gpuPortion": 0.5, "gpuGroups": ["0"], "gpuIndices": [0]},
                ),
                work("r", "b", on="n1", pod={"gpuPortion": 0.5, "gpuGroups": ["0"], "gpuIndices": [0]}),
                work("s", "b", on="n0"),
                work("w", "a", preemptibility="non-preemptible", pod={"gpuMemoryMib": 8000}),
            ],
            departments=[department("d", 1), department("e", 0)],
        ),
        {"r-0": ("Running", "n1"), "s-0": ("Running", "n0"), "w-0": ("Pending", None)},
    ),
    # 6.6: the topology filter
    (
        "6.6: victims in the one rack that can hold the gang",
        cluster(
            [rack("n0", 1, "r0"), rack("n1", 1, "r1"), rack("n2", 1, "r1")],
            [project("a", 2), project("b", 1)],
            [
                work("r", "b", on="n0"),
                work("s", "b", on="n1", age=1),
                work("t", "b", on="n2", age=2),
                work("w", "a", pods=2, topology={"name": "dc", "required": "rack"}),
            ],
            topologies=TOPOLOGY,
        ),
        {
            "r-0": ("Running", "n0"),
            "s-0": ("Releasing", "n1"),
            "t-0": ("Releasing", "n2"),
            "w-0": ("Pipelined", "n1"),
            "w-1": ("Pipelined", "n2"),
        },
    ),
    (
        "6.6: no rack can hold it, and nobody is evicted",
        cluster(
            [rack("n0", 1, "r0"), rack("n1", 1, "r1")],
            [project("a", 2), project("b", 0)],
            [
                work("r", "b", on="n0"),
                work("s", "b", on="n1"),
                work("w", "a", pods=2, topology={"name": "dc", "required": "rack"}),
            ],
            topologies=TOPOLOGY,
        ),
        {"r-0": ("Running", "n0"), "s-0": ("Running", "n1"), "w-0": ("Pending", None)},
    ),
]


@pytest.mark.parametrize("document,want", cases(FIRST_CYCLE))
def test_first_cycle(document, want):
    check_first_cycle(document, want)


def test_queues_give_way_in_turn_the_younger_first():
    victims = [
        work(f"{q}-{p}", q, on="n0", priority=p, preemptibility="preemptible")
        for q in ("q1", "q2")
        for p in (100, 99, 98)
    ]
    document = cluster(
        [node("n0", 6)],
        [project("q1", 1), {**project("q2", 1), "createdAt": "2026-01-01T11:59:59Z"}, project("q3", 4)],
        [*victims, work("w", "q3", pod={"gpuDevices": 4})],
    )
    evicted = [d["workload"] for d in simulate(document)["cycles"][0]["decisions"] if d["verb"] == "evict"]
    assert evicted == ["q1-98", "q2-98", "q1-99", "q2-99"]
