"""What is said to who waits and who gives way, by docs/scheduler.md, 11."""

import pytest
from clusters import NOW, RESERVE, TOPOLOGY, cases, cluster, node, pod, project, rack, simulate, work

GATED = {"name": "w", "project": "a", "pods": [{"name": "w-0", "status": "Gated", "gpuDevices": 1}]}

# sentence, cluster, the code of the pending workload w's explanation, words of its message
EXPLANATIONS = [
    (
        "not enough GPUs",
        cluster([node("n0", 2)], [project("a", 4)], [work("r", "a", on="n0"), work("w", "a", pod={"gpuDevices": 2})]),
        "NotEnoughGpus",
        "Needs 2 GPUs in default; 1 of its 2 GPUs is free",
    ),
    (
        "a gang's progress",
        cluster([node("n0", 2)], [project("a", 4)], [work("w", "a", pods=3)]),
        "NotEnoughGpus",
        "Needs 3 pods of 1 GPU in default; 2 found a place: 2 GPUs are free, on one node",
    ),
    (
        "what is free in one piece",
        cluster(
            [node(f"n{i}", 8) for i in range(3)],
            [project("a", 24)],
            [
                work("r", "a", pods=3, on=["n0", "n1", "n2"], pod={"gpuDevices": 5}),
                work("s", "a", on="n0", pod={"gpuDevices": 2}),
                work("w", "a", pods=2, pod={"gpuDevices": 8}),
            ],
        ),
        "NotEnoughGpus",
        "Needs 2 pods of 8 GPUs in default; none found a place: 7 GPUs are free on 3 nodes, at most 3 in one piece",
    ),
    (
        "nothing is free",
        cluster(
            [node("n0", 2)], [project("a", 4)], [work("r", "a", on="n0", pod={"gpuDevices": 2}), work("w", "a", pods=2)]
        ),
        "NotEnoughGpus",
        "Needs 2 pods of 1 GPU in default; none found a place: no GPU is free",
    ),
    (
        "parts are in no piece",
        cluster(
            [node("n0", 1), node("n1", 1)],
            [project("a", 4)],
            [
                work(
                    "r",
                    "a",
                    pods=[
                        pod("r-0", on="n0", gpuPortion=0.5, gpuGroups=["0"]),
                        pod("r-1", on="n1", gpuPortion=0.5, gpuGroups=["0"]),
                    ],
                ),
                work("w", "a", pods=2, pod={"gpuPortion": 0.8}),
            ],
        ),
        "NotEnoughGpus",
        "none found a place: 1 GPU is free on 2 nodes",
    ),
    (
        "time limits leave room",
        cluster(
            [node("n0", 4), node("n1", 4)],
            [project("a", 8)],
            [
                work("r", "a", on="n0", pod={"gpuDevices": 4}, maxRunSeconds=9000),
                work("s", "a", on="n1", pod={"gpuDevices": 4}, maxRunSeconds=10800),
                work("w", "a", pods=2, pod={"gpuDevices": 4}),
            ],
        ),
        "NotEnoughGpus",
        "no GPU is free; time limits free enough GPUs by 2026-01-01T13:00:00.000Z",
    ),
    (
        "a time limit leaves room for one pod",
        cluster(
            [node("n0", 4), node("n1", 4)],
            [project("a", 8)],
            [
                work("r", "a", on="n0", pod={"gpuDevices": 4}, maxRunSeconds=9000),
                work("s", "a", on="n1", pod={"gpuDevices": 2}),
                work("w", "a", pod={"gpuDevices": 3}),
            ],
        ),
        "NotEnoughGpus",
        "; time limits free enough GPUs by 2026-01-01T12:30:00.000Z",
    ),
    (
        "who holds most",
        cluster(
            [node("n0", 2), node("n1", 2)],
            [project("a", 2), project("b", 2)],
            [
                work("r", "b", on="n0", preemptibility="non-preemptible"),
                work("s", "b", on="n1", preemptibility="non-preemptible"),
                work("w", "a", pod={"gpuDevices": 2}),
            ],
        ),
        "NothingToReclaim",
        "; project b holds most, 2 GPUs",
    ),
    (
        "over the limit",
        cluster([node("n0", 4)], [project("a", 4, limit=1)], [work("w", "a", pod={"gpuDevices": 2})]),
        "OverLimit",
        "Needs 2 GPUs; the limit of project a in node pool default is 1 GPU",
    ),
    (
        "non-preemptible over quota",
        cluster(
            [node("n0", 4)],
            [project("a", 1)],
            [work("w", "a", pod={"gpuDevices": 2}, preemptibility="non-preemptible")],
        ),
        "NonPreemptibleOverQuota",
        "the quota: project a deserves 1 GPU in node pool default, and 2 is more",
    ),
    (
        "not ready",
        cluster(
            [node("n0", 4)],
            [project("a", 4)],
            [GATED],
        ),
        "NotReady",
        "Waits for pods: 1 needed, 1 gated",
    ),
    (
        "a gate that says why",
        cluster([node("n0", 4)], [project("a", 4)], [{**GATED, "gate": "Waits for the night"}]),
        "NotReady",
        "Waits for the night",
    ),
    (
        "no matching node",
        cluster([node("n0", 4)], [project("a", 4)], [work("w", "a", pod={"nodeSelector": {"host": ["n9"]}})]),
        "NoMatchingNode",
        "None of 1 node in default may take it: 1 without the labels asked for",
    ),
    (
        "the project's list of node types",
        cluster(
            [
                {**node("n0", 4), "labels": {"run-ai/node-type": "h100"}},
                {**node("n1", 1), "labels": {"run.ai/type": "a100"}},
            ],
            [project("a", 4)],
            [work("r", "a", on="n1", pod={"nodeTypes": ["a100"]}), work("w", "a", pod={"nodeTypes": ["a100", "v100"]})],
        ),
        "NotEnoughGpus",
        "Project a lets work of this kind use nodes of type a100 or v100, 1 of 2 in node pool default, with 0 of 1 GPU "
        "free. Needs 1 GPU",
    ),
    (
        "topology",
        cluster(
            [rack("n0", 1, "r0"), rack("n1", 1, "r1")],
            [project("a", 4)],
            [work("w", "a", pods=2, topology={"name": "dc", "required": "rack"})],
            topologies=TOPOLOGY,
        ),
        "TopologyNotSatisfiable",
        "No rack of topology dc has room for 2 pods",
    ),
    (
        "a promise",
        cluster([node("n0", 1)], [project("a", 1), project("b", 0)], [work("r", "b", on="n0"), work("w", "a")]),
        "WaitingForRelease",
        "Promised a place on n0; waiting for the workload there to stop",
    ),
    (
        "over fair share",
        cluster(
            [node("n0", 1)], [project("a", 0, weight=0), project("b", 1)], [work("r", "b", on="n0"), work("w", "a")]
        ),
        "OverFairShare",
        "Project a has no fair share of what it asks for",
    ),
    (
        "more than any node has",
        cluster([node("n0", 2), node("n1", 2)], [project("a", 4)], [work("w", "a", pod={"gpuDevices": 3})]),
        "NotEnoughGpus",
        "Needs 3 GPUs on one node; the largest of default has 2",
    ),
    (
        "more than any node has, for each of a gang",
        cluster([node("n0", 2), node("n1", 2)], [project("a", 9)], [work("w", "a", pods=3, pod={"gpuDevices": 3})]),
        "NotEnoughGpus",
        "Needs 3 GPUs on one node; the largest of default has 2",
    ),
    (
        "room, but not on one node",
        cluster(
            [node("n0", 3), node("n1", 3)],
            [project("a", 6)],
            [
                work("r", "a", pods=2, on=["n0", "n1"]),
                work("w", "a", pod={"gpuDevices": 3}, preemptibility="non-preemptible"),
            ],
        ),
        "NotEnoughGpus",
        "Needs 3 GPUs on one node in default; 4 are free, at most 2 on one node",
    ),
    (
        "all of the fair share",
        cluster(
            [node("n0", 2)],
            [project("a", 1), project("b", 1)],
            [work("q", "a", on="n0"), work("r", "b", on="n0"), work("w", "a")],
        ),
        "OverFairShare",
        "Project a would exceed its fair share: it holds 1 GPU, asks for 1, its share is 1",
    ),
    (
        "nobody of lower priority",
        cluster([node("n0", 1)], [project("a", 1)], [work("r", "a", on="n0"), work("w", "a")]),
        "NothingToPreempt",
        "No workload of project a with a lower priority can be stopped in node pool default",
    ),
    (
        "a search that was cut",
        cluster(
            [node("n0", 1)],
            [project("a", 1), project("b", 0)],
            [work("r", "b", on="n0"), work("w", "a")],
            settings={"scenariosPerWorkload": 0},
        ),
        "SearchCut",
        "The search for room by reclaim was cut after 0 scenarios",
    ),
    (
        "a search that would take one GPU too many is not made",
        cluster(
            [node(f"n{i}", 4) for i in range(3)],
            [project("a", 8, weight=0), project("b", 5, weight=0)],
            [*(work(f"r{i}", "b", on=f"n{i % 3}") for i in range(12)), work("w", "a", pods=2, pod={"gpuDevices": 4})],
            settings={"scenariosPerWorkload": 0},
        ),
        "NothingToReclaim",
        "12 workloads of other projects in node pool default could give way, but no fair choice makes room",
    ),
    (
        "preemption delay",
        cluster(
            [node("n0", 1)],
            [project("a", 1), project("b", 0)],
            [work("r", "b", on="n0"), work("w", "a", preemptionDelaySeconds=86400)],
        ),
        "PreemptionDelayNotElapsed",
        "86400 seconds",
    ),
    (
        "held back by a reservation",
        cluster(
            [node("n0", 2), node("n1", 2)],
            [project("a", 0)],
            [
                work("r", "a", on="n0", maxRunSeconds=9000),
                work("v", "a", pods=2, pod={"gpuDevices": 2}),
                work("w", "a", age=1),
            ],
            nodePools=RESERVE,
        ),
        "HeldForReservation",
        "There is room, but 4 GPUs on 2 nodes in node pool default are reserved for a gang of project a, the largest "
        "one waiting, which can start at 2026-01-01T12:30:00.000Z; this workload has no time limit",
    ),
    (
        "has a reservation",
        cluster(
            [node("n0", 2), node("n1", 2)],
            [project("a", 0)],
            [work("r", "a", on="n0"), work("w", "a", pods=2, pod={"gpuDevices": 2})],
            nodePools=RESERVE,
        ),
        "HasReservation",
        "4 GPUs on 2 nodes in node pool default are reserved for it",
    ),
    (
        "a topology that is off",
        cluster(
            [rack("n0", 1, "r0"), *(node(f"n{i}", 1) for i in range(1, 6))],
            [project("a", 8)],
            [work("w", "a", pods=9)],
            nodePools=[{"name": "default", "topology": "dc"}],
            topologies=TOPOLOGY,
        ),
        "TopologyOff",
        "Topology dc is off in default: n1, n2, n3 and 2 more lack labels of its levels",
    ),
    (
        "patience",
        cluster(
            [node("n0", 1)],
            [project("a", 1), project("b", 0)],
            [work("r", "b", on="n0"), work("w", "a", displacedTimes=5, lastDisplacedAt=NOW)],
        ),
        "PreemptionDelayNotElapsed",
        "May displace nobody before 2026-01-01T12:02:00",
    ),
]


# sentence, node pools, more of the workload: a topology that is on, or that the workload does without
NOT_OFF = [
    ("every node has the labels", [{"name": "default", "topology": "dc"}], {}),
    ("the pool has none", [{"name": "default"}], {}),
    ("no gang", [{"name": "default", "topology": "dc"}], {"minPods": 1}),
    (
        "a constraint of its own",
        [{"name": "default", "topology": "dc"}],
        {"topology": {"name": "dc", "required": "rack"}},
    ),
]


@pytest.mark.parametrize("pools,more", cases(NOT_OFF))
def test_a_topology_that_is_not_off_is_not_named(pools, more):
    nodes = [rack("n0", 1, "r0"), node("n1", 1) if "topology" not in pools[0] or more else rack("n1", 1, "r1")]
    document = cluster(nodes, [project("a", 8)], [work("w", "a", pods=3, **more)], nodePools=pools, topologies=TOPOLOGY)
    (workload,) = simulate(document)["cycles"][0]["workloads"]
    assert workload["explanation"] and "TopologyOff" not in [e["code"] for e in workload["explanation"]]


def test_a_gate_with_an_end_is_forecast():
    night = "2026-01-01T22:00:00.000Z"
    gated = {**GATED, "gate": "Waits for the night", "gateUntil": night}
    document = cluster([node("n0", 4)], [project("a", 4)], [gated])
    (workload,) = simulate(document, explain=True)["cycles"][0]["workloads"]
    assert workload["forecast"] == {"kind": "rule", "at": night, "sentence": f"Joins the queue at {night}"}


@pytest.mark.parametrize("document,code,words", cases(EXPLANATIONS))
def test_explanations(document, code, words):
    workloads = {w["name"]: w for w in simulate(document)["cycles"][0]["workloads"]}
    found = {e["code"]: e["message"] for e in workloads["w"]["explanation"]}
    assert words in found.get(code, ""), found


NIC = {"example.com/nic": 1}

# what is short on the nodes that come closest: sentence, nodes, what stands there, the pod, code, words, forecast
SHORT = [
    (
        "CPU",
        [node("n0", 0, cpuCores=8)],
        [("n0", {"gpuDevices": 0, "cpuCores": 6})],
        {"gpuDevices": 0, "cpuCores": 4},
        "NotEnoughCpu",
        "Needs 4 cores on one node in default; at most 2 are free on one",
        "unknown",
    ),
    (
        "CPU beside free GPUs, and a node without GPUs has it",
        [node("cpu0", 0), node("n0", 2, cpuCores=8)],
        [("n0", {"gpuDevices": 0, "cpuCores": 6})],
        {"gpuDevices": 2, "cpuCores": 4},
        "NotEnoughCpu",
        "Needs 2 GPUs and 4 cores on one node in default; where the GPUs are free, at most 2 cores are",
        "unknown",
    ),
    (
        "CPU beside free GPUs, though more nodes lack GPUs",
        [node("n0", 1, cpuCores=8), *(node(f"n{i}", 1) for i in range(1, 4))],
        [("n0", {"gpuDevices": 0, "cpuCores": 6}), *((f"n{i}", {}) for i in range(1, 4))],
        {"cpuCores": 4},
        "NotEnoughCpu",
        "Needs 1 GPU and 4 cores on one node in default; where the GPUs are free, at most 2 cores are",
        "unknown",
    ),
    (
        "memory beside a part of a GPU",
        [node("n0", 1)],
        [("n0", {"gpuDevices": 0, "memoryBytes": 63 * 2**30})],
        {"gpuPortion": 0.5, "memoryBytes": 2 * 2**30},
        "NotEnoughMemory",
        "Needs 0.5 of a GPU and 2Gi of memory on one node in default; "
        "where the GPUs are free, at most 1Gi of memory is",
        "unknown",
    ),
    (
        "both: the GPUs come first",
        [node("n0", 1, cpuCores=8)],
        [("n0", {"cpuCores": 6})],
        {"cpuCores": 4},
        "NotEnoughGpus",
        "Needs 1 GPU in default; 0 of its 1 GPU are free",
        "unknown",
    ),
    (
        "more CPU than a node has, where GPUs are taken",
        [node("n0", 1), node("cpu0", 0, cpuCores=600)],
        [("n0", {})],
        {"cpuCores": 500},
        "NotEnoughCpu",
        "Needs 1 GPU and 500 cores on one node; the largest of default with so many GPUs has 32 cores",
        "never",
    ),
    (
        "more memory than a node has",
        [node("n0", 1)],
        [],
        {"gpuDevices": 0, "memoryBytes": 128 * 2**30},
        "NotEnoughMemory",
        "Needs 128Gi of memory on one node; the largest of default has 64Gi of memory",
        "never",
    ),
    (
        "more memory than a GPU has",
        [node("n0", 1)],
        [],
        {"gpuMemoryMib": 20000},
        "NotEnoughGpus",
        "Needs 20000 MiB of a GPU; no GPU of default has so much memory",
        "never",
    ),
    (
        "more GPUs than a node that may take it has",
        [node("n0", 1), node("n1", 4)],
        [],
        {"gpuDevices": 2, "nodeSelector": {"host": ["n0"]}},
        "NotEnoughGpus",
        "Needs 2 GPUs on one node; the largest of default that may take it has 1",
        "never",
    ),
    (
        "a resource that no node has",
        [node("n0", 1)],
        [("n0", {})],
        {"extended": NIC},
        "NotEnoughExtendedResources",
        "Needs 1 example.com/nic; no node of default has any",
        "never",
    ),
    (
        "more of it than a node has",
        [node("n0", 2, extended=NIC)],
        [],
        {"extended": {"example.com/nic": 2}},
        "NotEnoughExtendedResources",
        "Needs 2 example.com/nic on one node; the largest of default has 1",
        "never",
    ),
    (
        "a resource that is taken",
        [node("n0", 2, extended=NIC)],
        [("n0", {"extended": NIC})],
        {"extended": NIC},
        "NotEnoughExtendedResources",
        "Needs 1 example.com/nic on one node in default; at most 0 are free on one",
        "unknown",
    ),
    (
        "labels that no node has",
        [node("n0", 1)],
        [],
        {"nodeSelector": {"host": ["n7"]}},
        "NoMatchingNode",
        "None of 1 node in default may take it: 1 without the labels asked for",
        "never",
    ),
    (
        "a node that comes back is large enough",
        [node("n0", 1, cpuCores=2), node("n1", 1, ready=False)],
        [],
        {"cpuCores": 4},
        "NotEnoughCpu",
        "Needs 1 GPU and 4 cores on one node in default; where the GPUs are free, at most 2 cores are",
        "unknown",
    ),
]


@pytest.mark.parametrize("nodes,stands,pod,code,words,forecast", cases(SHORT))
def test_what_is_short(nodes, stands, pod, code, words, forecast):
    runs = [
        work(f"r{i}", "a", pod=request, on=host, preemptibility="non-preemptible")
        for i, (host, request) in enumerate(stands)
    ]
    document = cluster(nodes, [project("a", 8)], [*runs, work("w", "a", pod=pod)])
    (workload,) = (w for w in simulate(document, explain=True)["cycles"][0]["workloads"] if w["name"] == "w")
    first = workload["explanation"][0]
    assert (first["code"], first["message"]) == (code, words)
    assert workload["forecast"]["kind"] == forecast, workload


def test_a_receipt_names_both_sides():
    document = cluster(
        [node("n0", 2)],
        [project("a", 1), project("b", 1)],
        [work("r", "b", on="n0"), work("s", "b", on="n0", age=5), work("w", "a")],
    )
    evictions = [d for d in simulate(document)["cycles"][0]["decisions"] if d["verb"] == "evict"]
    assert [(d["pod"], d["for"], d["action"]) for d in evictions] == [("s-0", "w", "reclaim")]
    assert "Yields to w of project a, which held 0 of its fair share of 1 GPU" in evictions[0]["why"]
    assert "project b held 2 GPUs and deserves 1" in evictions[0]["why"]
