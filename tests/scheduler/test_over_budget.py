"""What a budget that is used up keeps within the quota: a row each, by docs/scheduler.md, 4.8."""

import pytest
from clusters import cases, check_first_cycle, cluster, node, project, simulate, work

SPENT = {"overBudget": "Project a has used its budget of 9 GPU hours", "overBudgetUntil": "2026-02-01T00:00:00Z"}
RUNNING, PENDING, BINDING = ("Running", "n0"), ("Pending", None), ("Binding", "n0")

# sentence, cluster, pods that are looked at after the first cycle
FIRST_CYCLE = [
    (
        "what fits the quota starts, what goes beyond it waits though there is room",
        cluster([node("n0", 8)], [project("a", 2)], [work(name, "a", age=i, **SPENT) for i, name in enumerate("wxy")]),
        {"w-0": BINDING, "x-0": BINDING, "y-0": PENDING},
    ),
    (
        "a part of a GPU beyond the quota is too much, the part up to it is not",
        cluster(
            [node("n0", 8)],
            [project("a", 1)],
            [
                work("r", "a", on="n0", pod={"gpuPortion": 0.5}),
                work("w", "a", pod={"gpuPortion": 0.6}, **SPENT),
                work("x", "a", age=1, pod={"gpuPortion": 0.5}, **SPENT),
            ],
        ),
        {"w-0": PENDING, "x-0": BINDING},
    ),
    (
        "work without GPUs, of an unlimited quota, or of another project is not kept",
        cluster(
            [node("n0", 8)],
            [project("a", 0), project("b", None), project("c", 0)],
            [work("u", "a", pod={"gpuDevices": 0}, **SPENT), work("v", "b", **SPENT), work("w", "c")],
        ),
        {"u-0": BINDING, "v-0": BINDING, "w-0": BINDING},
    ),
    (
        "a gang goes within the quota whole or not at all, and an elastic workload as far as it reaches",
        cluster(
            [node("n0", 8)],
            [project("a", 3)],
            [work("gang", "a", 4, minPods=4, **SPENT), work("w", "a", 5, age=1, minPods=1, **SPENT)],
        ),
        {"gang-0": PENDING, "w-0": BINDING, "w-2": BINDING, "w-3": PENDING},
    ),
    (
        "what runs beyond the quota goes on",
        cluster([node("n0", 8)], [project("a", 1)], [work("r", "a", 4, on="n0", **SPENT)]),
        {"r-0": RUNNING, "r-3": RUNNING},
    ),
    (
        "nobody gives way for what goes beyond it, in another project",
        cluster(
            [node("n0", 4)],
            [project("a", 0), project("b", 0)],
            [work("r", "b", 4, on="n0", minPods=1), work("w", "a", **SPENT)],
        ),
        {"r-0": RUNNING, "r-3": RUNNING, "w-0": PENDING},
    ),
    (
        "what is owed within it is still taken back",
        cluster(
            [node("n0", 4)],
            [project("a", 1), project("b", 0)],
            [work("r", "b", 4, on="n0", minPods=1), work("w", "a", **SPENT)],
        ),
        {"r-3": ("Releasing", "n0"), "w-0": ("Pipelined", "n0")},
    ),
    (
        "in its own project lower priority gives way",
        cluster(
            [node("n0", 8)],
            [project("a", 2)],
            [work("r", "a", 2, on="n0", priority=40, **SPENT), work("w", "a", 2, priority=60, minPods=2, **SPENT)],
        ),
        {"r-0": ("Releasing", "n0"), "w-0": ("Pipelined", "n0")},
    ),
    (
        "but nobody who may go beyond the quota again at once",
        cluster(
            [node("n0", 8)],
            [project("a", 2)],
            [work("r", "a", 2, on="n0", priority=40), work("w", "a", 2, priority=60, minPods=2, **SPENT)],
        ),
        {"r-0": RUNNING, "w-0": PENDING},
    ),
]


@pytest.mark.parametrize("document, expected", cases(FIRST_CYCLE))
def test_first_cycle(document, expected):
    check_first_cycle(document, expected)


def waiting(document, name="w"):
    return next(w for w in simulate(document, explain=True)["cycles"][0]["workloads"] if w["name"] == name)


def test_the_sentence_and_until_when():
    document = cluster([node("n0", 8)], [project("a", 1)], [work("w", "a", pod={"gpuDevices": 2}, **SPENT)])
    found = waiting(document)
    assert [(e["code"], e["message"]) for e in found["explanation"]] == [
        (
            "OverBudget",
            "Project a has used its budget of 9 GPU hours; what goes beyond the quota of 1 GPU of project a in node "
            "pool default waits until 2026-02-01T00:00:00.000Z",
        )
    ]
    assert (found["forecast"]["kind"], found["forecast"]["sentence"]) == (
        "rule",
        "May go beyond the quota from 2026-02-01T00:00:00.000Z; until then it starts only within it",
    )


def shares(document):
    queues = simulate(document)["cycles"][0]["queues"]
    return {q["name"]: q["gpu"]["fairShare"] for q in queues if q["kind"] == "project"}


def test_who_may_not_go_beyond_the_quota_asks_for_no_more():
    asking = [work("v", "a", pod={"gpuDevices": 8}), work("w", "b", pod={"gpuDevices": 8})]
    spent = [{**asking[0], **SPENT}, asking[1]]
    assert shares(cluster([node("n0", 8)], [project("a", 2), project("b", 2)], asking)) == {"a": 4, "b": 4}
    assert shares(cluster([node("n0", 8)], [project("a", 2), project("b", 2)], spent)) == {"a": 2, "b": 6}
