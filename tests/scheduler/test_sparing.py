"""What is due is spared, by docs/scheduler.md, 6.12: a reclaim passes over what would leave a project below its due,
while others do."""

import pytest
from clusters import cases, check_first_cycle, cluster, department, node, project, queue, work

TWO = {"gpuDevices": 2}
STAYS, GOES = ("Running", "n0"), ("Releasing", "n0")


def lender(*sizes, name="b", **more):
    """Workloads of so many GPUs, the oldest first."""
    return [work(f"{name}{i}", name, on="n0", age=i, pod={"gpuDevices": size}, **more) for i, size in enumerate(sizes)]


def reclaim(gpus, projects, workloads, departments=None, **more):
    """Project a waits with one GPU; it holds one already."""
    return cluster(
        [node("n0", gpus)], projects, [work("q", "a", on="n0"), *workloads, work("w", "a", age=9)], departments, **more
    )


def cpu_queue(cores, gpus):
    return {**queue(gpus), "cpu": {"deserved": cores, "limit": None, "overQuotaWeight": 0}}


ROWS = [
    (
        "the youngest is passed over where its project would fall below its quota",
        reclaim(4, [project("a", 2), project("b", 2)], lender(1, 2)),
        {"b0-0": GOES, "b1-0": STAYS},
    ),
    (
        "in whatever order they came",
        reclaim(4, [project("a", 2), project("b", 2)], lender(2, 1)),
        {"b0-0": STAYS, "b1-0": GOES},
    ),
    (
        "nothing is passed over where the quota is left",
        reclaim(4, [project("a", 2), project("b", 1)], lender(1, 2)),
        {"b0-0": STAYS, "b1-0": GOES},
    ),
    (
        "exactly the quota left is enough",
        reclaim(5, [project("a", 2), project("b", 2)], lender(1, 1, 2)),
        {"b0-0": STAYS, "b1-0": STAYS, "b2-0": GOES},
    ),
    (
        "of two that are alike the younger goes",
        reclaim(5, [project("a", 2), project("b", 3)], lender(1, 1, 2)),
        {"b0-0": STAYS, "b1-0": GOES, "b2-0": STAYS},
    ),
    (
        "where nothing else does, what is due goes",
        reclaim(4, [project("a", 2), project("b", 2)], lender(3)),
        {"b0-0": GOES, "w-0": ("Pipelined", "n0")},
    ),
    (
        "nobody yields in place of a lower priority",
        reclaim(
            4,
            [project("a", 2), project("b", 2)],
            [*lender(1, priority=60), work("lo", "b", on="n0", pod=TWO, priority=40)],
        ),
        {"b0-0": STAYS, "lo-0": GOES},
    ),
    (
        "a lower priority goes first in any case",
        reclaim(
            4, [project("a", 2), project("b", 2)], [*lender(2, priority=60), work("lo", "b", on="n0", priority=40)]
        ),
        {"b0-0": STAYS, "lo-0": GOES},
    ),
    (
        "a surplus pod goes where its workload may not",
        reclaim(4, [project("a", 2), project("b", 2)], [*lender(2), work("e", "b", on="n0", age=5)]),
        {"b0-0": STAYS, "e-0": GOES},
    ),
    (
        "a gang takes what is spare of several",
        cluster([node("n0", 5)], [project("a", 2), project("b", 3)], [*lender(1, 1, 3), work("w", "a", pods=2, age=9)]),
        {"b0-0": GOES, "b1-0": GOES, "b2-0": STAYS},
    ),
    (
        "what is due to one project is taken from the other, which holds more than its own",
        reclaim(
            6,
            [project("a", 2), project("b", 2), project("c", 1)],
            [*lender(1, name="c"), *lender(3), work("c1", "c", on="n0", age=3)],
        ),
        {"b0-0": STAYS, "c0-0": STAYS, "c1-0": GOES},
    ),
    # Departments
    (
        "it is the project's own quota that the reclaimer stays in, or not",
        reclaim(
            6, [project("a", 0, "d"), project("b", 0, "e")], lender(1, 1, 3), [department("d", 3), department("e", 0)]
        ),
        {"b0-0": STAYS, "b1-0": GOES, "b2-0": STAYS},
    ),
    (
        "a department's quota is due to it",
        reclaim(
            4, [project("a", 2, "d"), project("b", 0, "e")], lender(1, 2), [department("d", 2), department("e", 2)]
        ),
        {"b0-0": GOES, "b1-0": STAYS},
    ),
    (
        "over the projects of it together",
        reclaim(
            4,
            [project("a", 2, "d"), project("b", 0, "e"), project("c", 0, "e")],
            [*lender(1), work("c1", "c", on="n0", age=5, pod=TWO)],
            [department("d", 2), department("e", 2)],
        ),
        {"b0-0": GOES, "c1-0": STAYS},
    ),
    (
        "the department of both is not looked at",
        reclaim(4, [project("a", 2), project("b", 2)], lender(1, 2), [department("d", 4)]),
        {"b0-0": GOES, "b1-0": STAYS},
    ),
    # What is due
    (
        "beyond the reclaimer's quota others keep their fair share",
        cluster(
            [node("n0", 6)],
            [project("a", 0), project("b", 0)],
            [work("q", "a", on="n0", pod=TWO), *lender(1, 1, 2), work("w", "a", age=9)],
        ),
        {"b0-0": STAYS, "b1-0": GOES, "b2-0": STAYS},
    ),
    (
        "an unlimited quota spares nothing",
        reclaim(4, [project("a", 2), project("b", None, limit=2)], lender(1, 2)),
        {"b0-0": STAYS, "b1-0": GOES},
    ),
    (
        "only what a unit holds counts",
        cluster(
            [node("n0", 4, cpuCores=4)],
            [{**project(name, 0), "resources": [cpu_queue(2, gpus)]} for name, gpus in (("a", 1), ("b", 3))],
            [
                work("q", "a", on="n0", pod={"gpuDevices": 0, "cpuCores": 1}),
                work("g", "b", on="n0"),
                *(
                    work(f"c{cores}", "b", on="n0", age=cores, pod={"gpuDevices": 0, "cpuCores": cores})
                    for cores in (1, 2)
                ),
                work("w", "a", age=9, pod={"gpuDevices": 0, "cpuCores": 1}),
            ],
        ),
        {"c1-0": GOES, "c2-0": STAYS, "g-0": STAYS},
    ),
    # Only reclaim
    (
        "preemption inside a project takes the youngest",
        cluster([node("n0", 3)], [project("b", 2)], [*lender(1, 2), work("w", "b", priority=60, age=9)]),
        {"b0-0": STAYS, "b1-0": GOES},
    ),
    (
        "half of a search's budget is left for what is due",
        cluster(
            [node("n0", 8), node("n1", 9)],
            [project("a", 2), project("b", 9)],
            [
                *lender(*[1] * 8),
                work("x", "b", on="n1", age=8, pod={"gpuDevices": 8}),
                work("w", "a", age=9, pod={"gpuDevices": 2, "nodeSelector": {"host": ["n1"]}}),
            ],
            settings={"scenariosPerWorkload": 2},
        ),
        {"b7-0": STAYS, "x-0": ("Releasing", "n1")},
    ),
]


@pytest.mark.parametrize("document, want", cases(ROWS))
def test_first_cycle(document, want):
    check_first_cycle(document, want)
