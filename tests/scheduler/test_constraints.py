"""Who may go where and beside whom, by docs/scheduler.md, 4.4: a row each, a small cluster and who runs where."""

import pytest
from clusters import (
    TOPOLOGY,
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
    # 4.4: who may go where
    (
        "a selector picks the node",
        cluster(
            [node("n0", 4), node("n1", 4)], [project("a", 8)], [work("w", "a", pod={"nodeSelector": {"host": ["n1"]}})]
        ),
        {"w-0": ("Binding", "n1")},
    ),
    (
        "no node with the label",
        cluster([node("n0", 4)], [project("a", 8)], [work("w", "a", pod={"nodeSelector": {"host": ["n9"]}})]),
        {"w-0": ("Pending", None)},
    ),
    (
        "a taint keeps pods away",
        cluster(
            [node("n0", 4, taints=[{"key": "k", "value": "v", "effect": "NoSchedule"}]), node("n1", 4)],
            [project("a", 8)],
            [work("w", "a")],
        ),
        {"w-0": ("Binding", "n1")},
    ),
    (
        "a toleration lets them in",
        cluster(
            [node("n0", 4, taints=[{"key": "k", "value": "v", "effect": "NoSchedule"}])],
            [project("a", 8)],
            [
                work(
                    "w",
                    "a",
                    pod={"tolerations": [{"key": "k", "operator": "Equal", "value": "v", "effect": "NoSchedule"}]},
                )
            ],
        ),
        {"w-0": ("Binding", "n0")},
    ),
    (
        "a cordoned node takes nothing new",
        cluster([node("n0", 4, cordoned=True)], [project("a", 8)], [work("w", "a")]),
        {"w-0": ("Pending", None)},
    ),
    (
        "no victim is evicted for a node that the pod may not use",
        cluster(
            [node("n0", 1), node("n1", 1)],
            [project("a", 1), project("b", 1)],
            [work("r", "b", on="n1"), work("s", "b", on="n0"), work("w", "a", pod={"nodeSelector": {"host": ["n1"]}})],
        ),
        {"r-0": ("Releasing", "n1"), "s-0": ("Running", "n0"), "w-0": ("Pipelined", "n1")},
    ),
    (
        "an unhealthy device is not free",
        cluster(
            [node("n0", 2, unhealthyGpus=[0])],
            [project("a", 8)],
            [work("w", "a", pod={"gpuDevices": 2}), work("x", "a", age=1)],
        ),
        {"w-0": ("Pending", None), "x-0": ("Binding", "n0")},
    ),
    (
        "a pod on an unhealthy device goes on",
        cluster(
            [node("n0", 2, unhealthyGpus=[0])],
            [project("a", 8)],
            [work("r", "a", on="n0", pod={"gpuIndices": [0]}), work("w", "a")],
        ),
        {"r-0": ("Running", "n0"), "w-0": ("Binding", "n0")},
    ),
    (
        "nobody is evicted for a device that is unhealthy",
        cluster(
            [node("n0", 1, unhealthyGpus=[0])],
            [project("a", 1), project("b", 0)],
            [work("r", "b", on="n0", pod={"gpuIndices": [0]}), work("w", "a")],
        ),
        {"r-0": ("Running", "n0"), "w-0": ("Pending", None)},
    ),
    (
        "a part joins no unhealthy device",
        cluster(
            [node("n0", 2, unhealthyGpus=[0])],
            [project("a", 8)],
            [
                work("r", "a", on="n0", pod={"gpuPortion": 0.2, "gpuGroups": ["0"], "gpuIndices": [0]}),
                work("w", "a", pod={"gpuPortion": 0.6}),
                work("x", "a", age=1, pod={"gpuPortion": 0.6}),
            ],
        ),
        {"w-0": ("Binding", "n0"), "x-0": ("Pending", None)},
    ),
    # pods of a workload together
    (
        "required pod affinity: in one value of the label or not at all",
        cluster(
            [rack("n0", 1, "r0"), rack("n1", 1, "r1"), rack("n2", 1, "r1")],
            [project("a", 4)],
            [work("w", "a", pods=3, podAffinity={"type": "required", "key": "rack"}, minPods=3)],
        ),
        {"w-0": ("Pending", None), "w-1": ("Pending", None), "w-2": ("Pending", None)},
    ),
    (
        "required pod affinity: growth joins the pods that stand",
        cluster(
            [rack("n0", 1, "r0"), rack("n1", 1, "r1"), rack("n2", 1, "r1")],
            [project("a", 4)],
            [
                {
                    **work("w", "a", podAffinity={"type": "required", "key": "rack"}, minPods=1),
                    "pods": [
                        {"name": "w-0", "gpuDevices": 1, "status": "Running", "node": "n1"},
                        {"name": "w-1", "gpuDevices": 1},
                        {"name": "w-2", "gpuDevices": 1},
                    ],
                }
            ],
        ),
        {"w-1": ("Binding", "n2"), "w-2": ("Pending", None)},
    ),
    (
        "required pod affinity: nodes without the label take none",
        cluster([node("n0", 4)], [project("a", 4)], [work("w", "a", podAffinity={"type": "required", "key": "rack"})]),
        {"w-0": ("Pending", None)},
    ),
    (
        "required pod affinity: a half-used node does not spoil it, the next best rack is tried",
        cluster(
            [rack(f"n{i}", 4, f"r{i // 2}") for i in range(8)],
            [project("a", 32)],
            [
                work("r", "a", on="n0", pod={"gpuDevices": 2}),
                work("s", "a", on="n1", pod={"gpuDevices": 4}),
                work(
                    "w", "a", pods=3, podAffinity={"type": "required", "key": "rack"}, minPods=3, pod={"gpuDevices": 2}
                ),
            ],
        ),
        {"w-0": ("Binding", "n2"), "w-1": ("Binding", "n2"), "w-2": ("Binding", "n3")},
    ),
    (
        "required pod affinity: racks are tried from the fullest on",
        cluster(
            [rack("n0", 4, "r0"), rack("n1", 4, "r1"), rack("n2", 4, "r1"), rack("n3", 4, "r2"), rack("n4", 4, "r2")],
            [project("a", 32)],
            [
                work("r", "a", on="n0", pod={"gpuDevices": 2}),
                work("s", "a", on="n4", pod={"gpuDevices": 1}),
                work(
                    "w", "a", pods=2, podAffinity={"type": "required", "key": "rack"}, minPods=2, pod={"gpuDevices": 2}
                ),
            ],
        ),
        {"w-0": ("Binding", "n4"), "w-1": ("Binding", "n3")},
    ),
    (
        "required pod affinity: the second rack of the zone that a topology asks for",
        cluster(
            [node(f"n{i}", 4, labels={"rack": f"r{i // 2}", "zone": f"z{i // 4}"}) for i in range(8)],
            [project("a", 32)],
            [
                work("r", "a", on="n0", pod={"gpuDevices": 2}),
                work("s", "a", on="n1", pod={"gpuDevices": 4}),
                *(work(f"t{i}", "a", on=f"n{i}", pod={"gpuDevices": 4}) for i in range(4, 8)),
                work(
                    "w",
                    "a",
                    pods=3,
                    podAffinity={"type": "required", "key": "rack"},
                    minPods=3,
                    pod={"gpuDevices": 2},
                    topology={"name": "halls", "required": "zone"},
                ),
            ],
            topologies=[{"name": "halls", "levels": ["zone", "rack"]}],
        ),
        {"w-0": ("Binding", "n2"), "w-1": ("Binding", "n2"), "w-2": ("Binding", "n3")},
    ),
    (
        "required pod affinity: others stop for it where no rack is free",
        cluster(
            [rack(f"n{i}", 4, f"r{i // 2}") for i in range(4)],
            [project("a", 8), project("b", 0)],
            [
                work("r", "b", on="n0", pod={"gpuDevices": 4}, preemptibility="non-preemptible"),
                work("s", "b", on="n1", pod={"gpuDevices": 1}),
                work("t", "b", on="n2", pod={"gpuDevices": 4}),
                work("u", "b", on="n3", pod={"gpuDevices": 2}),
                work(
                    "w", "a", pods=2, podAffinity={"type": "required", "key": "rack"}, minPods=2, pod={"gpuDevices": 4}
                ),
            ],
        ),
        {"r-0": ("Running", "n0"), "w-0": ("Pipelined", "n2"), "w-1": ("Pipelined", "n3")},
    ),
    (
        "preferred pod affinity: together before packed",
        cluster(
            [rack("n0", 1, "r0"), rack("n1", 2, "r1"), rack("n2", 4, "r1")],
            [project("a", 8)],
            [
                {
                    **work("w", "a", podAffinity={"type": "preferred", "key": "rack"}, minPods=1),
                    "pods": [
                        {"name": "w-0", "gpuDevices": 2, "status": "Running", "node": "n1"},
                        {"name": "w-1", "gpuDevices": 1},
                    ],
                }
            ],
        ),
        {"w-1": ("Binding", "n2")},
    ),
    (
        "preferred pod affinity: apart rather than not",
        cluster(
            [rack("n0", 1, "r0"), rack("n1", 1, "r1")],
            [project("a", 8)],
            [work("w", "a", pods=2, podAffinity={"type": "preferred", "key": "rack"})],
        ),
        {"w-0": ("Binding", "n0"), "w-1": ("Binding", "n1")},
    ),
    (
        "together before the freest of many domains",
        cluster(
            [
                node(f"n{i:02}", 1, labels={"rack": f"r{i:02}", "host": f"n{i:02}", "zone": "z0" if i == 0 else "z1"})
                for i in range(12)
            ],
            [project("a", 99)],
            [
                work("r", "a", deleting=True, pod={"status": "Releasing", "node": "n00"}),
                work(
                    "w",
                    "a",
                    pods=[pod("w-0", on="n00", gpus=0), pod("w-1"), pod("w-2")],
                    podAffinity={"type": "preferred", "key": "zone"},
                    topology={"name": "dc", "preferred": "rack"},
                ),
            ],
            topologies=TOPOLOGY,
        ),
        {"w-1": ("Pipelined", "n00"), "w-2": ("Pipelined", "n11")},
    ),
]


@pytest.mark.parametrize("document,want", cases(FIRST_CYCLE))
def test_first_cycle(document, want):
    check_first_cycle(document, want)
