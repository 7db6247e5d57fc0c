"""Fair shares through `prorata simulate`, by docs/scheduler.md, 2."""

import pytest
from clusters import cases, cluster, department, node, project, queue, shares_of, simulate, work

# 2.5: T, then per department and its project: deserved, weight, rank; and the fair shares
SHARES = [
    ("equal", 4, [(2, 1, 100)] * 4, (2, 2, 2, 2)),
    ("a project oversubscribes its department", 4, [(3, 1, 100), (2, 1, 100), (1, 1, 100), (2, 1, 100)], (3, 3, 1, 2)),
    ("what is left over is shared", 12, [(3, 1, 100), (2, 1, 100), (1, 1, 100), (2, 1, 100)], (7, 7, 5, 5)),
    ("by weight", 12, [(3, 1, 100), (2, 1, 100), (1, 7, 100), (2, 1, 100)], (4, 4, 8, 8)),
    ("by the other weight", 12, [(3, 7, 100), (2, 1, 100), (1, 1, 100), (2, 1, 100)], (10, 10, 2, 2)),
    ("rank before weight", 12, [(1, 7, 1), (1, 1, 100), (1, 1, 2), (1, 1, 100)], (1, 1, 11, 11)),
    ("the other rank", 12, [(1, 1, 2), (1, 1, 100), (1, 7, 1), (1, 1, 100)], (11, 11, 1, 1)),
]


@pytest.mark.parametrize("total,levels,want", cases(SHARES))
def test_fair_shares_of_two_levels(total, levels, want):
    (d1, q1, d2, q2) = [dict(zip(("deserved", "weight", "rank"), level, strict=True)) for level in levels]
    document = cluster(
        [node("n0", total)],
        [project("q1", department="d1", **q1), project("q2", department="d2", **q2)],
        [work("w1", "q1", pod={"gpuDevices": 100}), work("w2", "q2", pod={"gpuDevices": 100})],
        departments=[department("d1", **d1), department("d2", **d2)],
    )
    shares = {q["name"]: q["gpu"]["fairShare"] for q in simulate(document)["cycles"][0]["queues"]}
    assert tuple(shares[name] for name in ("d1", "q1", "d2", "q2")) == want


def test_fair_shares_go_down_the_tree():
    document = cluster(
        [node("n0", 3)],
        [project("p1", 2), project("p2", 1)],
        [work("w1", "p1", pod={"gpuDevices": 2}), work("w2", "p2")],
        departments=[department("d", 3)],
    )
    assert shares_of(document) == {"d": 3, "p1": 2, "p2": 1}


def test_two_departments_divide_their_own():
    document = cluster(
        [node("n0", 4)],
        [project("p1", 1, "d"), project("p2", 1, "d"), project("p3", 0, "e"), project("p4", 0, "e")],
        [work("w1", "p1"), work("w2", "p2"), work("w4", "p4", pod={"gpuDevices": 2})],
        departments=[department("d", 2), department("e", 2)],
    )
    assert shares_of(document) == {"d": 2, "e": 2, "p1": 1, "p2": 1, "p3": 0, "p4": 2}


# 2.6: k, the usage of a and b, and what they get of 9 GPUs over quota
USAGE = [
    ("no usage", 1, 0, 0, (5, 4)),
    ("half the capacity", 1, 0.5, 0, (3, 6)),
    ("all of it", 1, 1, 0, (0, 9)),
    ("k of 0", 0, 1, 0, (5, 4)),
    ("off", None, 1, 0, (5, 4)),
    ("a larger k", 10, 0.25, 0.75, (9, 0)),
]


@pytest.mark.parametrize("k,a,b,want", cases(USAGE))
def test_past_usage_counts_over_quota(k, a, b, want):
    document = cluster(
        [node("n0", 9)],
        [project("a", 0), project("b", 0)],
        [work("v", "a", pods=9, minPods=1), work("w", "b", pods=9, minPods=1)],
        nodePools=[{"name": "default", "timeBasedFairshare": None if k is None else {"kValue": k}}],
        usage=[
            {"kind": "project", "name": name, "nodePool": "default", "gpu": used} for name, used in (("a", a), ("b", b))
        ],
    )
    shares = shares_of(document)
    assert (shares["a"], shares["b"]) == want


# 5.3, 5.4: strategy, GPUs of the nodes, GPUs in use on them; where one-GPU pods go, one after the other


def test_past_usage_of_departments_counts_between_them():
    document = cluster(
        [node("n0", 9)],
        [project("a", 0, "d"), project("b", 0, "e"), project("c", 0, "e")],
        [work(name, name, pods=9, minPods=1) for name in "abc"],
        departments=[department("d", 0), department("e", 0)],
        nodePools=[{"name": "default", "timeBasedFairshare": {"kValue": 1}}],
        usage=[
            {"kind": "department", "name": "d", "nodePool": "default", "gpu": 0.5},
            {"kind": "project", "name": "b", "nodePool": "default", "gpu": 0.5},
        ],
    )
    assert shares_of(document) == {"d": 3, "e": 6, "a": 3, "b": 2, "c": 4}


def test_each_resource_is_divided_for_itself():
    resources = [
        {
            **queue(1),
            "cpu": {"deserved": 2, "limit": 4, "overQuotaWeight": 1},
            "memory": {"deserved": 0, "limit": None, "overQuotaWeight": 0},
        }
    ]
    document = cluster(
        [node("n0", 4, cpuCores=8)],
        [{**project("a", 1), "resources": resources}, project("b", 1)],
        [
            work("w", "a", pods=3, minPods=1, pod={"cpuCores": 2, "memoryBytes": 1024}),
            work("x", "b", pods=3, minPods=1),
        ],
    )
    queues = {q["name"]: q for q in simulate(document)["cycles"][0]["queues"]}
    assert [queues["a"][resource]["fairShare"] for resource in ("gpu", "cpu", "memory")] == [2, 4, 0]
