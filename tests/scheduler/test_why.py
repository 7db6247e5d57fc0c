"""Why, through `prorata simulate --explain`: the evidence behind explanations. A row is a small cluster and what is
said about it."""

import pytest
from clusters import TOPOLOGY, cluster, department, node, project, queue, rack, work
from questions import ask, explained

RECENT = "2026-01-01T11:59:30Z"  # half a minute ago


def full(gpus=2, **more):
    """Project b borrows everything; a, which deserves it, waits."""
    return cluster(
        [node("n0", gpus)],
        [project("a", gpus), project("b", 0, **more)],
        [work("r", "b", pods=gpus, on="n0", started=RECENT), work("w", "a")],
    )


GANG = {"gpuDevices": 2}

# sentence, cluster, code, what its evidence holds
EVIDENCE = [
    (
        "queue: limit of the project",
        cluster([node("n0", 4)], [project("a", 4, limit=2)], [work("r", "a", on="n0"), work("w", "a", pod=GANG)]),
        "OverLimit",
        {
            "queue": {
                "kind": "project",
                "name": "a",
                "resource": "gpu",
                "requested": 2,
                "deserved": 4,
                "limit": 2,
                "fairShare": 2,
                "allocated": 1,
                "allocatedNonPreemptible": 0,
            }
        },
    ),
    (
        "queue: limit of the department",
        cluster(
            [node("n0", 4)],
            [project("a", 4)],
            [work("r", "a", on="n0"), work("w", "a", pod=GANG)],
            [department("d", limit=2)],
        ),
        "OverLimit",
        {
            "queue": {
                "kind": "department",
                "name": "d",
                "resource": "gpu",
                "requested": 2,
                "deserved": None,
                "limit": 2,
                "fairShare": 2,
                "allocated": 1,
                "allocatedNonPreemptible": 0,
            }
        },
    ),
    (
        "queue: quota of non-preemptible work",
        cluster([node("n0", 4)], [project("a", 1)], [work("w", "a", pod=GANG, preemptibility="non-preemptible")]),
        "NonPreemptibleOverQuota",
        {
            "queue": {
                "kind": "project",
                "name": "a",
                "resource": "gpu",
                "requested": 2,
                "deserved": 1,
                "limit": None,
                "fairShare": 2,
                "allocated": 0,
                "allocatedNonPreemptible": 0,
            }
        },
    ),
    (
        "queue: fair share",
        cluster(
            [node("n0", 2)],
            [project("a", 1), project("b", 1)],
            [work("q", "a", on="n0"), work("r", "b", on="n0"), work("w", "a")],
        ),
        "OverFairShare",
        {
            "queue": {
                "kind": "project",
                "name": "a",
                "resource": "gpu",
                "requested": 1,
                "deserved": 1,
                "limit": None,
                "fairShare": 1,
                "allocated": 1,
                "allocatedNonPreemptible": 0,
            }
        },
    ),
    (
        "gang's progress",
        cluster([node("n0", 5)], [project("a", 8)], [work("w", "a", pods=8)]),
        "NotEnoughGpus",
        {
            "progress": {"placed": 5, "needed": 8, "subGroup": None},
            "nodeReasons": [{"reason": "without enough free GPUs", "nodes": 1}],
        },
    ),
    (
        "gang's progress in a sub-group",
        cluster(
            [node("n0", 3)],
            [project("a", 8)],
            [
                {
                    **work("w", "a", pods=4),
                    "subGroups": [{"name": "decode", "minPods": 2}, {"name": "prefill", "minPods": 2}],
                    "pods": [
                        {"name": f"w-{i}", "gpuDevices": 1, "subGroup": "decode" if i < 2 else "prefill"}
                        for i in range(4)
                    ],
                }
            ],
        ),
        "NotEnoughGpus",
        {"progress": {"placed": 3, "needed": 4, "subGroup": "prefill"}},
    ),
    (
        "nodes by reason",
        cluster(
            [
                node("n0", 1),
                node("n1", 8, cordoned=True),
                node("n2", 8, ready=False),
                node("n3", 8, taints=[{"key": "k"}]),
            ],
            [project("a", 8)],
            [work("w", "a", pod=GANG)],
        ),
        "NotEnoughGpus",
        {
            "nodeReasons": [
                {"reason": "not ready", "nodes": 1},
                {"reason": "cordoned", "nodes": 1},
                {"reason": "with a taint that is not tolerated", "nodes": 1},
                {"reason": "without enough free GPUs", "nodes": 1},
            ]
        },
    ),
    (
        "not ready: pods that are there",
        cluster([node("n0", 4)], [project("a", 4)], [work("w", "a", pods=2, minPods=3)]),
        "NotReady",
        {"progress": {"placed": 0, "needed": 3, "subGroup": None}},
    ),
    (
        "topology",
        cluster(
            [rack("n0", 2, "r0"), rack("n1", 2, "r1")],
            [project("a", 4)],
            [work("w", "a", pods=4, topology={"name": "dc", "required": "rack"})],
            topologies=TOPOLOGY,
        ),
        "TopologyNotSatisfiable",
        {"progress": {"placed": 0, "needed": 4, "subGroup": None}},
    ),
    (
        "minimum run time of the project",
        full(reclaimMinRuntimeSeconds=60),
        "NothingToReclaim",
        {
            "message": "Minimum run times protect work above its fair share in node pool default; the first ends at "
            "2026-01-01T12:00:30.000Z",
            "protectedUntil": "2026-01-01T12:00:30.000Z",
            "reclaim": [
                {
                    "project": "b",
                    "department": "d",
                    "gpusHeld": 2,
                    "gpusReclaimable": 0,
                    "reason": "ProtectedByMinRunTime",
                    "sentence": "2 GPUs of project b are protected by minimum run times, the first until "
                    "2026-01-01T12:00:30.000Z",
                    "protectedUntil": "2026-01-01T12:00:30.000Z",
                }
            ],
        },
    ),
    (
        "minimum run time inside a project",
        cluster(
            [node("n0", 1)],
            [project("a", 1, preemptMinRuntimeSeconds=60)],
            [work("r", "a", on="n0", started=RECENT), work("w", "a", priority=80)],
        ),
        "NothingToPreempt",
        {
            "protectedUntil": "2026-01-01T12:00:30.000Z",
            "reclaim": [
                {
                    "project": "a",
                    "department": "d",
                    "gpusHeld": 1,
                    "gpusReclaimable": 0,
                    "reason": "ProtectedByMinRunTime",
                    "sentence": "1 GPU of project a is protected by minimum run times, the first until "
                    "2026-01-01T12:00:30.000Z",
                    "protectedUntil": "2026-01-01T12:00:30.000Z",
                }
            ],
        },
    ),
    (
        "a protected gang may lose its surplus",
        cluster(
            [node("n0", 2)],
            [project("a", 2), project("b", 0, reclaimMinRuntimeSeconds=60)],
            [work("r", "b", pods=2, minPods=1, on="n0", started=RECENT), work("w", "a", pod=GANG)],
        ),
        "NothingToReclaim",
        {
            "reclaim": [
                {
                    "project": "b",
                    "department": "d",
                    "gpusHeld": 2,
                    "gpusReclaimable": 1,
                    "reason": "TopologyOrNode",
                    "sentence": "1 of the 2 GPUs that project b holds could give way, but no lawful choice makes room",
                    "protectedUntil": "2026-01-01T12:00:30.000Z",
                }
            ]
        },
    ),
    (
        "non-preemptible",
        cluster(
            [node("n0", 2)],
            [project("a", 2), project("b", 0)],
            [work("r", "b", pods=2, on="n0", preemptibility="non-preemptible"), work("w", "a")],
        ),
        "NothingToReclaim",
        {
            "reclaim": [
                {
                    "project": "b",
                    "department": "d",
                    "gpusHeld": 2,
                    "gpusReclaimable": 0,
                    "reason": "NonPreemptible",
                    "sentence": "2 GPUs of project b are held by non-preemptible work",
                    "protectedUntil": None,
                }
            ]
        },
    ),
    (
        "exactly at quota, which the last test protects",
        cluster([node("n0", 2)], [project("a", 2), project("b", 2)], [work("r", "b", pods=2, on="n0"), work("w", "a")]),
        "NothingToReclaim",
        {
            "reclaim": [
                {
                    "project": "b",
                    "department": "d",
                    "gpusHeld": 2,
                    "gpusReclaimable": 2,
                    "reason": "TopologyOrNode",
                    "sentence": "2 of the 2 GPUs that project b holds could give way, but no lawful choice makes room",
                    "protectedUntil": None,
                }
            ]
        },
    ),
    (
        "below quota",
        cluster([node("n0", 2)], [project("a", 2), project("b", 3)], [work("r", "b", pods=2, on="n0"), work("w", "a")]),
        "NothingToReclaim",
        {
            "reclaim": [
                {
                    "project": "b",
                    "department": "d",
                    "gpusHeld": 2,
                    "gpusReclaimable": 0,
                    "reason": "WithinQuota",
                    "sentence": "Project b holds 2 GPUs, within its quota of 3",
                    "protectedUntil": None,
                }
            ]
        },
    ),
    (
        "who may not reclaim at all looks at nobody",
        cluster(
            [node("n0", 4)],
            [project("a", 0), project("b", 0)],
            [
                work("r", "b", pods=2, on="n0"),
                work("q", "a", on="n0"),
                work("s", "a", on="n0", preemptibility="non-preemptible"),
                work("w", "a", priority=40),
            ],
        ),
        "OverFairShare",
        {"reclaim": []},
    ),
    (
        "no place for it whoever gives way",
        cluster(
            [node("n0", 4), node("n1", 1, cordoned=True)],
            [project("a", 0), project("b", 0)],
            [
                work("r", "b", pods=2, on="n0"),
                work("q", "a", on="n0"),
                work("s", "b", on="n1"),
                work("t", "b", pods=1, on="n0"),
                work("w", "a", pod={"nodeSelector": {"host": ["n1"]}}),
            ],
        ),
        "NothingToReclaim",
        {
            "reclaim": [
                {
                    "project": "b",
                    "department": "d",
                    "gpusHeld": 4,
                    "gpusReclaimable": 4,
                    "reason": "TopologyOrNode",
                    "sentence": "4 of the 4 GPUs that project b holds could give way, but no lawful choice makes room",
                    "protectedUntil": None,
                }
            ]
        },
    ),
    (
        "others within their fair share",
        cluster(
            [node("n0", 4)],
            [project("a", 0), project("b", 0), project("c", 0)],
            [
                work("r", "b", pods=2, on="n0"),
                work("s", "c", pods=2, on="n0", preemptibility="non-preemptible"),
                work("w", "a"),
            ],
        ),
        "NothingToReclaim",
        {
            "reclaim": [
                {
                    "project": "b",
                    "department": "d",
                    "gpusHeld": 2,
                    "gpusReclaimable": 0,
                    "reason": "WithinFairShare",
                    "sentence": "Project b holds 2 GPUs, within its fair share of 2, and project a would go over its "
                    "own quota",
                    "protectedUntil": None,
                },
                {
                    "project": "c",
                    "department": "d",
                    "gpusHeld": 2,
                    "gpusReclaimable": 0,
                    "reason": "NonPreemptible",
                    "sentence": "2 GPUs of project c are held by non-preemptible work",
                    "protectedUntil": None,
                },
            ]
        },
    ),
    (
        "the same priority",
        cluster([node("n0", 2)], [project("a", 2)], [work("r", "a", pods=2, on="n0"), work("w", "a")]),
        "NothingToPreempt",
        {
            "reclaim": [
                {
                    "project": "a",
                    "department": "d",
                    "gpusHeld": 2,
                    "gpusReclaimable": 0,
                    "reason": "HigherPriority",
                    "sentence": "2 GPUs of project a are held by work of at least the same priority",
                    "protectedUntil": None,
                }
            ]
        },
    ),
    (
        "several reasons at once",
        cluster(
            [node("n0", 4)],
            [project("a", 4)],
            [
                work("r", "a", pods=3, on="n0"),
                work("s", "a", on="n0", priority=125, preemptibility="non-preemptible"),
                work("w", "a"),
            ],
        ),
        "NothingToPreempt",
        {
            "reclaim": [
                {
                    "project": "a",
                    "department": "d",
                    "gpusHeld": 4,
                    "gpusReclaimable": 0,
                    "reason": "HigherPriority",
                    "sentence": "3 GPUs of project a are held by work of at least the same priority, 1 held by "
                    "non-preemptible work",
                    "protectedUntil": None,
                }
            ]
        },
    ),
]


def test_what_is_free_and_who_holds_it_until_when():
    document = cluster(
        [node("n0", 2), node("n1", 2)],
        [project("a", 2), project("b", 2)],
        [
            work("r", "b", on="n0", maxRunSeconds=9000, preemptibility="non-preemptible"),
            work("s", "b", on="n1", preemptibility="non-preemptible"),
            work("w", "a", pod={"gpuDevices": 2}),
        ],
    )
    waiting = next(w for w in ask(document, "--explain")["cycles"][0]["workloads"] if w["name"] == "w")
    lack, nobody = (
        next(e for e in waiting["explanation"] if e["code"] == code) for code in ("NotEnoughGpus", "NothingToReclaim")
    )
    end = "2026-01-01T12:30:00.000Z"
    assert lack["free"] == {"gpus": 2, "nodes": 2, "largestPiece": 1} and lack["roomAt"] == end and "free" not in nobody
    (holder,) = nobody["reclaim"]
    assert holder["endsAt"] == end and holder["sentence"].endswith(f"; the first of it ends at {end} by its time limit")
    assert waiting["forecast"]["at"] == end and waiting["forecast"]["kind"] == "rule"


@pytest.mark.parametrize("document,code,evidence", [pytest.param(*row[1:], id=row[0]) for row in EVIDENCE])
def test_evidence(document, code, evidence):
    entries = explained(document)
    assert code in entries, entries
    assert {key: entries[code][key] for key in evidence} == evidence


def test_evidence_is_bounded():
    names = [f"p{i:02d}" for i in range(12)]
    document = cluster(
        [node("n0", 24)],
        [project("a", 0)] + [project(name, 2) for name in names],
        [work("r" + name, name, pods=2, on="n0") for name in names] + [work("w", "a", priority=100)],
    )
    document["projects"][0]["resources"] = [queue(24)]
    entry = explained(document)["NothingToReclaim"]
    assert len(entry["reclaim"]) == 8 and entry["reclaimMore"] == 4
    assert [e["project"] for e in entry["reclaim"]] == names[:8], "the largest first, then by name"
