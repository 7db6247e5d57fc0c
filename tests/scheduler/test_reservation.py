"""Reservations, by docs/scheduler.md, 4.6: r runs on two of three devices until half past twelve, w waits for all of
n0 and n1."""

import pytest
from clusters import RESERVE, cases, check_first_cycle, cluster, node, project, work

# sentence, cluster, pods that are looked at after the first cycle
FIRST_CYCLE = [
    # reservation: r runs on two of three nodes until half past twelve, w waits for all of n0 and n1
    (
        "without a reservation a small one takes what a gang waits for",
        cluster(
            [node("n0", 2), node("n1", 2)],
            [project("a", 0)],
            [work("r", "a", on="n0"), work("w", "a", pods=2, pod={"gpuDevices": 2}), work("x", "a", age=1)],
        ),
        {"w-0": ("Pending", None), "x-0": ("Binding", "n0")},
    ),
    (
        "a reservation keeps it",
        cluster(
            [node("n0", 2), node("n1", 2)],
            [project("a", 0)],
            [work("r", "a", on="n0"), work("w", "a", pods=2, pod={"gpuDevices": 2}), work("x", "a", age=1)],
            nodePools=RESERVE,
        ),
        {"w-0": ("Pending", None), "x-0": ("Pending", None)},
    ),
    (
        "also from one that is older",
        cluster(
            [node("n0", 2), node("n1", 2)],
            [project("a", 0)],
            [work("r", "a", on="n0"), work("w", "a", pods=2, age=1, pod={"gpuDevices": 2}), work("x", "a")],
            nodePools=RESERVE,
        ),
        {"w-0": ("Pending", None), "x-0": ("Pending", None)},
    ),
    (
        "nodes that are not reserved are for all",
        cluster(
            [node("n0", 2), node("n1", 2), node("n2", 1)],
            [project("a", 0)],
            [work("r", "a", on="n0"), work("w", "a", pods=2, pod={"gpuDevices": 2}), work("x", "a", age=1)],
            nodePools=RESERVE,
        ),
        {"w-0": ("Pending", None), "x-0": ("Binding", "n2")},
    ),
    (
        "and so is what the gang leaves of a node",
        cluster(
            [node("n0", 2), node("n1", 3)],
            [project("a", 0)],
            [work("r", "a", on="n0"), work("w", "a", pods=2, pod={"gpuDevices": 2}), work("x", "a", age=1)],
            nodePools=RESERVE,
        ),
        {"w-0": ("Pending", None), "x-0": ("Binding", "n1")},
    ),
    (
        "who is gone before the gang can start fills the gap",
        cluster(
            [node("n0", 2), node("n1", 2)],
            [project("a", 0)],
            [
                work("r", "a", on="n0", maxRunSeconds=9000),
                work("w", "a", pods=2, pod={"gpuDevices": 2}),
                work("x", "a", age=1, maxRunSeconds=1800),
            ],
            nodePools=RESERVE,
        ),
        {"w-0": ("Pending", None), "x-0": ("Binding", "n0")},
    ),
    (
        "a second too long",
        cluster(
            [node("n0", 2), node("n1", 2)],
            [project("a", 0)],
            [
                work("r", "a", on="n0", maxRunSeconds=9000),
                work("w", "a", pods=2, pod={"gpuDevices": 2}),
                work("x", "a", age=1, maxRunSeconds=1801),
            ],
            nodePools=RESERVE,
        ),
        {"w-0": ("Pending", None), "x-0": ("Pending", None)},
    ),
    (
        "the largest gang has the reservation, not the first",
        cluster(
            [node("n0", 2), node("n1", 2)],
            [project("a", 0)],
            [
                work("r", "a", on="n0"),
                work("v", "a", pod={"gpuDevices": 2}),
                work("q", "a", on="n1"),
                work("w", "a", age=5, pods=2, pod={"gpuDevices": 2}),
                work("x", "a", age=9),
            ],
            nodePools=RESERVE,
        ),
        {"v-0": ("Pending", None), "w-0": ("Pending", None), "x-0": ("Pending", None)},
    ),
    (
        "a gang that could never start has none",
        cluster(
            [node("n0", 2), node("n1", 2)],
            [project("a", 0)],
            [work("r", "a", on="n0"), work("w", "a", pods=3, pod={"gpuDevices": 2}), work("x", "a", age=1)],
            nodePools=RESERVE,
        ),
        {"w-0": ("Pending", None), "x-0": ("Binding", "n0")},
    ),
    (
        "nor one that its limit stops",
        cluster(
            [node("n0", 2), node("n1", 2)],
            [project("a", 0, limit=3)],
            [work("r", "a", on="n0"), work("w", "a", pods=2, pod={"gpuDevices": 2}), work("x", "a", age=1)],
            nodePools=RESERVE,
        ),
        {"w-0": ("Pending", None), "x-0": ("Binding", "n0")},
    ),
    (
        "nor one that its limit stops as long as others of the project run",
        cluster(
            [node("n0", 2), node("n1", 2)],
            [project("a", 0, limit=4)],
            [work("r", "a", on="n0"), work("w", "a", pods=2, pod={"gpuDevices": 2}), work("x", "a", age=1)],
            nodePools=RESERVE,
        ),
        {"w-0": ("Pending", None), "x-0": ("Binding", "n0")},
    ),
    (
        "room is kept where it is free first",
        cluster(
            [node("n0", 2), node("n1", 2)],
            [project("a", 0)],
            [
                work("r", "a", on="n0", maxRunSeconds=9000),
                work("s", "a", on="n1", maxRunSeconds=12600),
                work("w", "a", pod={"gpuDevices": 2}),
                work("x", "a", age=1),
            ],
            nodePools=RESERVE,
        ),
        {"w-0": ("Pending", None), "x-0": ("Binding", "n1")},
    ),
    (
        "who takes what it deserves is not held back for a gang beyond quota",
        cluster(
            [node("n0", 2), node("n1", 2)],
            [project("a", 0), project("b", 1)],
            [work("r", "a", on="n0"), work("w", "a", pods=2, pod={"gpuDevices": 2}), work("x", "b", age=1)],
            nodePools=RESERVE,
        ),
        {"w-0": ("Pending", None), "x-0": ("Binding", "n0")},
    ),
    (
        "what ends before the gang starts does not count against what it deserves",
        cluster(
            [node("n0", 2), node("n1", 2)],
            [project("a", 4)],
            [work("r", "a", on="n0"), work("w", "a", pods=2, pod={"gpuDevices": 2}), work("x", "a", age=1)],
            nodePools=RESERVE,
        ),
        {"w-0": ("Pending", None), "x-0": ("Pending", None)},
    ),
    (
        "a higher priority of the same project is not held back",
        cluster(
            [node("n0", 2), node("n1", 2)],
            [project("a", 0)],
            [
                work("r", "a", on="n0"),
                work("w", "a", pods=2, pod={"gpuDevices": 2}),
                work("x", "a", age=1, priority=60),
            ],
            nodePools=RESERVE,
        ),
        {"w-0": ("Pending", None), "x-0": ("Binding", "n0")},
    ),
    (
        "the gang starts as soon as it can",
        cluster(
            [node("n0", 2), node("n1", 2)],
            [project("a", 0)],
            [work("x", "a"), work("w", "a", age=1, pods=2, pod={"gpuDevices": 2}, priority=60)],
            nodePools=RESERVE,
        ),
        {"w-0": ("Binding", "n0"), "w-1": ("Binding", "n1"), "x-0": ("Pending", None)},
    ),
]


@pytest.mark.parametrize("document,want", cases(FIRST_CYCLE))
def test_first_cycle(document, want):
    check_first_cycle(document, want)
