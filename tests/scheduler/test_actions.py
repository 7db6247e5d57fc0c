"""Actions in their order, minimum run times, preemption, consolidation, stale gangs: a row each, by
docs/scheduler.md."""

import pytest
from clusters import (
    EARLIER,
    cases,
    check_first_cycle,
    cluster,
    department,
    node,
    pod,
    project,
    work,
)

# sentence, cluster, pods that are looked at after the first cycle
FIRST_CYCLE = [
    # 9.4: whose minimum run time counts
    (
        "9.4: the department's where the project says nothing",
        cluster(
            [node("n0", 1)],
            [project("a", 1), project("b", 0)],
            [work("r", "b", on="n0", started=EARLIER), work("w", "a")],
            departments=[{**department("d"), "reclaimMinRuntimeSeconds": 120}],
        ),
        {"r-0": ("Running", "n0"), "w-0": ("Pending", None)},
    ),
    (
        "9.4: the project's before the department's",
        cluster(
            [node("n0", 1)],
            [project("a", 1), project("b", 0, reclaimMinRuntimeSeconds=30)],
            [work("r", "b", on="n0", started=EARLIER), work("w", "a")],
            departments=[{**department("d"), "reclaimMinRuntimeSeconds": 120}],
        ),
        {"r-0": ("Releasing", "n0"), "w-0": ("Pipelined", "n0")},
    ),
    (
        "9.4: between departments the victim's department's",
        cluster(
            [node("n0", 1)],
            [project("a", 1, "d"), project("b", 0, "e", reclaimMinRuntimeSeconds=0)],
            [work("r", "b", on="n0", started=EARLIER), work("w", "a")],
            departments=[department("d", 1), {**department("e", 0), "reclaimMinRuntimeSeconds": 120}],
        ),
        {"r-0": ("Running", "n0"), "w-0": ("Pending", None)},
    ),
    (
        "9.4: by the method queue the project's, also between departments",
        cluster(
            [node("n0", 1)],
            [project("a", 1, "d"), project("b", 0, "e", reclaimMinRuntimeSeconds=120)],
            [work("r", "b", on="n0", started=EARLIER), work("w", "a")],
            departments=[department("d", 1), department("e", 0)],
            settings={"reclaimMinRuntimeMethod": "queue"},
        ),
        {"r-0": ("Running", "n0"), "w-0": ("Pending", None)},
    ),
    (
        "9.4: preemption asks project, department, pool",
        cluster(
            [node("n0", 1)],
            [project("a", 1)],
            [work("r", "a", on="n0", started=EARLIER), work("w", "a", priority=60)],
            departments=[{**department("d"), "preemptMinRuntimeSeconds": 30}],
            nodePools=[{"name": "default", "preemptMinRuntimeSeconds": 120}],
        ),
        {"r-0": ("Releasing", "n0"), "w-0": ("Pipelined", "n0")},
    ),
    (
        "9.4: consolidation asks nobody",
        cluster(
            [node("n0", 2), node("n1", 2)],
            [project("a", 4, reclaimMinRuntimeSeconds=120, preemptMinRuntimeSeconds=120)],
            [
                work("r", "a", on="n0", started=EARLIER),
                work("s", "a", on="n1", age=5, started=EARLIER),
                work("w", "a", pod={"gpuDevices": 2}),
            ],
        ),
        {"w-0": ("Pipelined", "n1"), "s-0": ("Pipelined", "n0"), "r-0": ("Running", "n0")},
    ),
    # 1.2: the order of the actions
    (
        "pods are moved together before another project loses one",
        cluster(
            [node("n0", 2), node("n1", 2)],
            [project("a", 2), project("b", 0)],
            [work("r", "b", on="n0"), work("s", "b", on="n1", age=5), work("w", "a", pod={"gpuDevices": 2})],
        ),
        {"r-0": ("Running", "n0"), "s-0": ("Pipelined", "n0"), "w-0": ("Pipelined", "n1")},
    ),
    (
        "an action that is not listed is not taken",
        cluster(
            [node("n0", 1)],
            [project("a", 1), project("b", 0)],
            [work("r", "b", on="n0"), work("w", "a")],
            actions=["allocate", "consolidation", "preempt"],
        ),
        {"r-0": ("Running", "n0"), "w-0": ("Pending", None)},
    ),
    (
        "in the order of the list",
        cluster(
            [node("n0", 2)],
            [project("a", 2), project("b", 0)],
            [work("r", "a", on="n0"), work("s", "b", on="n0"), work("w", "a", priority=60)],
            actions=["preempt", "reclaim"],
        ),
        {"r-0": ("Releasing", "n0"), "s-0": ("Running", "n0"), "w-0": ("Pipelined", "n0")},
    ),
    # 1.9
    (
        "only the first of a project are looked at where a depth says so",
        cluster(
            [node("n0", 1)],
            [project("a", 9), project("b", 9)],
            [work("v", "a", pod={"gpuDevices": 2}), work("w", "a", age=1), work("x", "b", pod={"gpuDevices": 2})],
            settings={"depthPerAction": {"allocate": 1}},
        ),
        {"v-0": ("Pending", None), "w-0": ("Pending", None)},
    ),
    (
        "for that action alone",
        cluster(
            [node("n0", 1)],
            [project("a", 2), project("b", 0)],
            [work("r", "b", on="n0"), work("v", "a", pod={"gpuDevices": 2}), work("w", "a", age=1)],
            settings={"depthPerAction": {"allocate": 1}},
        ),
        {"r-0": ("Releasing", "n0"), "w-0": ("Pipelined", "n0")},
    ),
    (
        "and who lost a pod in the cycle is none of them",
        cluster(
            [node("n0", 1), node("n1", 2)],
            [project("a", 1), project("b", 2)],
            [
                work("r", "b", pods=[pod("r-0", on="n1"), pod("r-1", on="n0"), pod("r-2")], minPods=1, priority=70),
                work("s", "b", on="n1", priority=50),
                work("v", "b", priority=60),
                work(
                    "w",
                    "a",
                    pod={"nodeAffinity": [{"matchExpressions": [{"key": "host", "operator": "In", "values": ["n0"]}]}]},
                ),
            ],
            settings={"depthPerAction": {"preempt": 1}},
        ),
        {
            "r-1": ("Releasing", "n0"),
            "w-0": ("Pipelined", "n0"),
            "s-0": ("Releasing", "n1"),
            "v-0": ("Pipelined", "n1"),
        },
    ),
    # 9.4 and elastic workloads
    (
        "a protected elastic workload may be preempted down to its minimum",
        cluster(
            [node("n0", 3)],
            [project("a", 3, preemptMinRuntimeSeconds=120)],
            [work("r", "a", pods=3, minPods=2, on="n0", started=EARLIER), work("w", "a", priority=60)],
        ),
        {"r-1": ("Running", "n0"), "r-2": ("Releasing", "n0"), "w-0": ("Pipelined", "n0")},
    ),
    (
        "and not below it",
        cluster(
            [node("n0", 3)],
            [project("a", 3, preemptMinRuntimeSeconds=120)],
            [
                work("r", "a", pods=3, minPods=2, on="n0", started=EARLIER),
                work("w", "a", priority=60, pod={"gpuDevices": 2}),
            ],
        ),
        {"r-1": ("Running", "n0"), "r-2": ("Running", "n0"), "w-0": ("Pending", None)},
    ),
    (
        "the earliest start of its pods counts",
        cluster(
            [node("n0", 2)],
            [project("a", 1), project("b", 0, reclaimMinRuntimeSeconds=120)],
            [work("r", "b", pods=[pod("r-0", on="n0"), pod("r-1", on="n0", started=EARLIER)]), work("w", "a")],
        ),
        {"r-0": ("Releasing", "n0"), "r-1": ("Releasing", "n0"), "w-0": ("Pipelined", "n0")},
    ),
    (
        "who has no start is not protected",
        cluster(
            [node("n0", 1)],
            [project("a", 1), project("b", 0, reclaimMinRuntimeSeconds=9999)],
            [work("r", "b", on="n0", started=None), work("w", "a")],
        ),
        {"r-0": ("Releasing", "n0"), "w-0": ("Pipelined", "n0")},
    ),
    # 7: preemption
    (
        "higher priority takes the place of lower in the same project",
        cluster([node("n0", 1)], [project("a", 1)], [work("r", "a", on="n0"), work("w", "a", priority=60)]),
        {"r-0": ("Releasing", "n0"), "w-0": ("Pipelined", "n0")},
    ),
    (
        "equal priority never does",
        cluster([node("n0", 1)], [project("a", 1)], [work("r", "a", on="n0"), work("w", "a")]),
        {"r-0": ("Running", "n0"), "w-0": ("Pending", None)},
    ),
    (
        "a minimum run time protects from preemption",
        cluster(
            [node("n0", 1)],
            [project("a", 1, preemptMinRuntimeSeconds=120)],
            [work("r", "a", on="n0", started=EARLIER), work("w", "a", priority=60)],
        ),
        {"r-0": ("Running", "n0"), "w-0": ("Pending", None)},
    ),
    # 8: consolidation
    (
        "pods move together to make room",
        cluster(
            [node("n0", 2), node("n1", 2)],
            [project("a", 4)],
            [work("r", "a", on="n0"), work("s", "a", on="n1", age=5), work("w", "a", pod={"gpuDevices": 2})],
        ),
        {"w-0": ("Pipelined", "n1"), "s-0": ("Pipelined", "n0"), "r-0": ("Running", "n0")},
    ),
    (
        "not for a non-preemptible workload",
        cluster(
            [node("n0", 2), node("n1", 2)],
            [project("a", 4)],
            [
                work("r", "a", on="n0"),
                work("s", "a", on="n1"),
                work("w", "a", pod={"gpuDevices": 2}, preemptibility="non-preemptible"),
            ],
        ),
        {"w-0": ("Pending", None), "r-0": ("Running", "n0"), "s-0": ("Running", "n1")},
    ),
    (
        "not where the setting says 0",
        cluster(
            [node("n0", 2), node("n1", 2)],
            [project("a", 4)],
            [work("r", "a", on="n0"), work("s", "a", on="n1"), work("w", "a", pod={"gpuDevices": 2})],
            settings={"maxConsolidationVictims": 0},
        ),
        {"w-0": ("Pending", None)},
    ),
    (
        "as many as the setting says, the first to give way",
        cluster(
            [node("n0", 2), node("n1", 2)],
            [project("a", 4)],
            [
                work("r", "a", on="n0"),
                work("s", "a", on="n1", age=5, pod={"nodeSelector": {"host": ["n1"]}}),
                work("w", "a", age=9, pod={"gpuDevices": 2}),
            ],
            settings={"maxConsolidationVictims": 1},
        ),
        {"r-0": ("Running", "n0"), "s-0": ("Running", "n1"), "w-0": ("Pending", None)},
    ),
    (
        "with one more it is found",
        cluster(
            [node("n0", 2), node("n1", 2)],
            [project("a", 4)],
            [
                work("r", "a", on="n0"),
                work("s", "a", on="n1", age=5, pod={"nodeSelector": {"host": ["n1"]}}),
                work("w", "a", age=9, pod={"gpuDevices": 2}),
            ],
            settings={"maxConsolidationVictims": 2},
        ),
        {"r-0": ("Pipelined", "n1"), "s-0": ("Running", "n1"), "w-0": ("Pipelined", "n0")},
    ),
    # 9.1: stale gangs
    (
        "a gang below its minimum stops after its grace",
        cluster(
            [node("n0", 2)],
            [project("a", 4)],
            [
                {
                    **work("w", "a", pods=2, minPods=2, on="n0", staleSeconds=60),
                    "pods": [
                        {"name": "w-0", "gpuDevices": 1, "status": "Running", "node": "n0"},
                        {"name": "w-1", "gpuDevices": 9},
                    ],
                }
            ],
        ),
        {"w-0": ("Releasing", "n0")},
    ),
    (
        "not before",
        cluster(
            [node("n0", 2)],
            [project("a", 4)],
            [
                {
                    **work("w", "a", pods=2, minPods=2, on="n0", staleSeconds=59),
                    "pods": [
                        {"name": "w-0", "gpuDevices": 1, "status": "Running", "node": "n0"},
                        {"name": "w-1", "gpuDevices": 9},
                    ],
                }
            ],
        ),
        {"w-0": ("Running", "n0")},
    ),
]


@pytest.mark.parametrize("document,want", cases(FIRST_CYCLE))
def test_first_cycle(document, want):
    check_first_cycle(document, want)
