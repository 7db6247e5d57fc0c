"""The rules of docs/scheduler.md on who is served and how much at a time: a row each, a small cluster and who runs
where."""

import pytest
from clusters import POOLS, cases, check_first_cycle, cluster, department, node, pod, pods_of, project, simulate, work

# sentence, cluster, pods that are looked at after the first cycle
FIRST_CYCLE = [
    # 4.2: limits and quota
    (
        "a limit stops what has room",
        cluster([node("n0", 4)], [project("a", 4, limit=1)], [work("r", "a", on="n0"), work("w", "a")]),
        {"w-0": ("Pending", None)},
    ),
    (
        "a department's limit does too",
        cluster(
            [node("n0", 4)],
            [project("a", 4)],
            [work("r", "a", on="n0"), work("w", "a")],
            departments=[department("d", 4, limit=1)],
        ),
        {"w-0": ("Pending", None)},
    ),
    (
        "departments off: their limit plays no role",
        cluster(
            [node("n0", 4)],
            [project("a", 4)],
            [work("r", "a", on="n0"), work("w", "a")],
            departments=[department("d", 4, limit=1)],
            settings={"fullHierarchyFairness": False},
        ),
        {"w-0": ("Binding", "n0")},
    ),
    (
        "non-preemptible stays within quota",
        cluster(
            [node("n0", 4)],
            [project("a", 1)],
            [
                work("r", "a", on="n0", preemptibility="non-preemptible"),
                work("w", "a", preemptibility="non-preemptible"),
            ],
        ),
        {"w-0": ("Pending", None)},
    ),
    (
        "preemptible may go over quota",
        cluster([node("n0", 4)], [project("a", 1)], [work("r", "a", on="n0"), work("w", "a")]),
        {"w-0": ("Binding", "n0")},
    ),
    (
        "a project of which nothing is said has no quota and no limit",
        cluster(
            [node("n0", 4)],
            [{"name": "a", "department": "d"}],
            [work("w", "a", pods=2), work("x", "a", age=1, preemptibility="non-preemptible")],
        ),
        {"w-0": ("Binding", "n0"), "w-1": ("Binding", "n0"), "x-0": ("Pending", None)},
    ),
    # 3.2, 3.3: who is first
    (
        "higher priority first",
        cluster([node("n0", 1)], [project("a", 1)], [work("w", "a"), work("x", "a", age=1, priority=60)]),
        {"w-0": ("Pending", None), "x-0": ("Binding", "n0")},
    ),
    (
        "older first",
        cluster([node("n0", 1)], [project("a", 1)], [work("w", "a", age=1), work("x", "a")]),
        {"w-0": ("Pending", None), "x-0": ("Binding", "n0")},
    ),
    (
        "whoever is owed goes before whoever is not",
        cluster(
            [node("n0", 2)],
            [project("a", 0), project("b", 2)],
            [work("w", "a"), work("r", "b", on="n0"), work("x", "b", age=9)],
        ),
        {"w-0": ("Pending", None), "x-0": ("Binding", "n0")},
    ),
    (
        "a higher rank first, both starved",
        cluster([node("n0", 1)], [project("a", 1), project("b", 1, rank=200)], [work("w", "a"), work("x", "b")]),
        {"w-0": ("Pending", None), "x-0": ("Binding", "n0")},
    ),
    # 10: gangs, growth, sub-groups
    (
        "a gang starts whole or not at all",
        cluster([node("n0", 2)], [project("a", 4)], [work("w", "a", pods=3), work("x", "a", age=1)]),
        {"w-0": ("Pending", None), "w-2": ("Pending", None), "x-0": ("Binding", "n0")},
    ),
    (
        "an elastic workload takes what there is",
        cluster([node("n0", 2)], [project("a", 4)], [work("w", "a", pods=3, minPods=1)]),
        {"w-0": ("Binding", "n0"), "w-1": ("Binding", "n0"), "w-2": ("Pending", None)},
    ),
    (
        "a gang that has to wait for one place waits whole",
        cluster(
            [node("n0", 2)],
            [project("a", 4)],
            [work("r", "a", pod={"status": "Releasing", "node": "n0"}, deleting=True), work("w", "a", pods=2)],
        ),
        {"w-0": ("Pipelined", "n0"), "w-1": ("Pipelined", "n0")},
    ),
    (
        "gated pods keep a gang from starting",
        cluster(
            [node("n0", 2)],
            [project("a", 4)],
            [
                {
                    "name": "w",
                    "project": "a",
                    "pods": [{"name": "w-0", "gpuDevices": 1}, {"name": "w-1", "gpuDevices": 1, "status": "Gated"}],
                }
            ],
        ),
        {"w-0": ("Pending", None)},
    ),
    (
        "all sub-groups or none",
        cluster(
            [node("n0", 2)],
            [project("a", 4)],
            [
                {
                    "name": "w",
                    "project": "a",
                    "subGroups": [{"name": "a", "minPods": 1}, {"name": "b", "minPods": 2}],
                    "pods": [
                        {"name": "w-0", "gpuDevices": 1, "subGroup": "a"},
                        {"name": "w-1", "gpuDevices": 1, "subGroup": "b"},
                        {"name": "w-2", "gpuDevices": 1, "subGroup": "b"},
                    ],
                }
            ],
        ),
        {"w-0": ("Pending", None), "w-1": ("Pending", None)},
    ),
    (
        "one sub-group is enough where one is asked for",
        cluster(
            [node("n0", 1)],
            [project("a", 4)],
            [
                {
                    "name": "w",
                    "project": "a",
                    "minSubGroups": 1,
                    "subGroups": [{"name": "a", "minPods": 1}, {"name": "b", "minPods": 1}],
                    "pods": [
                        {"name": "w-0", "gpuDevices": 1, "subGroup": "a"},
                        {"name": "w-1", "gpuDevices": 1, "subGroup": "b"},
                    ],
                }
            ],
        ),
        {"w-0": ("Binding", "n0"), "w-1": ("Pending", None)},
    ),
    (
        "each role has its own minimum, and grows beyond it",
        cluster(
            [node("n0", 4)],
            [project("a", 4)],
            [
                work(
                    "w",
                    "a",
                    pods=[pod("w-0", "master"), *(pod(f"w-{i}", "worker") for i in range(1, 5))],
                    subGroups=[{"name": "master", "minPods": 1}, {"name": "worker", "minPods": 2}],
                )
            ],
        ),
        {"w-0": ("Binding", "n0"), "w-1": ("Binding", "n0"), "w-3": ("Binding", "n0"), "w-4": ("Pending", None)},
    ),
    (
        "without room for every role's minimum nothing starts",
        cluster(
            [node("n0", 2)],
            [project("a", 4)],
            [
                work(
                    "w",
                    "a",
                    pods=[pod("w-0", "master"), *(pod(f"w-{i}", "worker") for i in range(1, 5))],
                    subGroups=[{"name": "master", "minPods": 1}, {"name": "worker", "minPods": 2}],
                )
            ],
        ),
        {f"w-{i}": ("Pending", None) for i in range(5)},
    ),
    (
        "a sub-group with too few pods is passed over",
        cluster(
            [node("n0", 4)],
            [project("a", 4)],
            [
                work(
                    "w",
                    "a",
                    minSubGroups=1,
                    pods=[pod("w-0", "a"), pod("w-1", "b")],
                    subGroups=[{"name": "a", "minPods": 2}, {"name": "b", "minPods": 1}],
                )
            ],
        ),
        {"w-0": ("Pending", None), "w-1": ("Binding", "n0")},
    ),
    (
        "the head before what has a higher priority",
        cluster(
            [node("n0", 1), node("n1", 2)],
            [project("a", 4)],
            [work("w", "a", pods=[pod("w-0", priority=9), pod("w-1", role="head")])],
        ),
        {"w-1": ("Binding", "n0"), "w-0": ("Binding", "n1")},
    ),
    (
        "a higher priority before the name, names as text",
        cluster(
            [node("n0", 1), node("n1", 3)],
            [project("a", 4)],
            [work("w", "a", pods=[pod("w-10"), pod("w-2"), pod("w-3", priority=1)], minPods=1)],
        ),
        {"w-3": ("Binding", "n0"), "w-10": ("Binding", "n1")},
    ),
    (
        "a master is placed first",
        cluster(
            [node("n0", 1), node("n1", 2)],
            [project("a", 4)],
            [
                {
                    "name": "w",
                    "project": "a",
                    "pods": [{"name": "w-0", "gpuDevices": 1}, {"name": "w-1", "gpuDevices": 1, "role": "master"}],
                }
            ],
        ),
        {"w-0": ("Binding", "n1"), "w-1": ("Binding", "n0")},
    ),
]


@pytest.mark.parametrize("document,want", cases(FIRST_CYCLE))
def test_first_cycle(document, want):
    check_first_cycle(document, want)


def test_pools_are_tried_in_order_of_preference():
    big = {**node("n0", 4), "nodePool": "big"}
    document = cluster(
        [big, node("n1", 4)],
        [project("a", 4)],
        [
            work("v", "a", nodePools=["default", "big"], pod={"gpuDevices": 4}),
            work("w", "a", age=1, nodePools=["default", "big"], pod={"gpuDevices": 2}),
        ],
        **POOLS,
    )
    got = pods_of(simulate(document)["cycles"][0])
    assert (got["v-0"], got["w-0"]) == (("Binding", "n1"), ("Binding", "n0"))


def test_a_promise_is_kept_in_the_next_cycle():
    document = cluster(
        [node("n0", 1)],
        [project("a", 1), project("b", 0)],
        [work("r", "b", on="n0"), work("w", "a", age=5), work("x", "a", age=9, priority=60)],
    )
    first, second = (pods_of(cycle) for cycle in simulate(document, 2)["cycles"])
    assert (first["x-0"], first["r-0"]) == (("Pipelined", "n0"), ("Releasing", "n0"))
    assert (second["x-0"], second["r-0"]) == (("Binding", "n0"), ("Pending", None))


def test_order_of_the_files_lists_leaves_no_trace():
    document = cluster(
        [node("n0", 2), node("n1", 2)],
        [project("a", 1), project("b", 3)],
        [work("r", "b", pods=3, minPods=1, on=["n0", "n0", "n1"]), work("w", "a", pods=2), work("x", "b")],
    )
    turned = {**document, **{key: document[key][::-1] for key in ("nodes", "projects", "workloads")}}
    assert simulate(document, 3) == simulate(turned, 3)
