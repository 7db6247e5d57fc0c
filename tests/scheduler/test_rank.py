"""Rank within quotas, by docs/scheduler.md, 6.13: where quotas of siblings are more than there is, the higher rank
takes from the lower."""

import pytest
from clusters import cases, check_first_cycle, cluster, department, node, pods_of, project, queue, simulate, work

BY_RANK = [{"name": "default", "reclaimByRank": True}]
STAYS, GOES, COMES, WAITS = ("Running", "n0"), ("Releasing", "n0"), ("Pipelined", "n0"), ("Pending", None)


def two(
    high=200, low=100, gpus=4, quota=4, pools=BY_RANK, departments=None, lender="d", more=(), waits=None, **low_work
):
    """hi waits with one GPU; lo holds all there are, in two workloads, within its quota."""
    half = {"pod": {"gpuDevices": gpus // 2}, "on": "n0", **low_work}
    return cluster(
        [node("n0", gpus)],
        [project("hi", quota, rank=high), project("lo", quota, lender, rank=low)],
        [
            work("l0", "lo", **half),
            work("l1", "lo", age=1, **half),
            work("h", "hi", **{"age": 9, **(waits or {})}),
            *more,
        ],
        departments,
        nodePools=pools,
    )


def oversubscribed(first, second, rank_first=200, rank_second=100, **more):
    return [department("d", first, rank=rank_first, **more), department("e", second, rank=rank_second, **more)]


ROWS = [
    ("the higher rank takes from within the lower one's quota", two(), {"l0-0": STAYS, "l1-0": GOES, "h-0": COMES}),
    (
        "not where a snapshot does not say so",
        two(pools=[{"name": "default"}]),
        {"l0-0": STAYS, "l1-0": STAYS, "h-0": WAITS},
    ),
    (
        "not where the setting is off",
        two(pools=[{"name": "default", "reclaimByRank": False}]),
        {"l1-0": STAYS, "h-0": WAITS},
    ),
    ("equal ranks leave each other alone", two(high=100), {"l1-0": STAYS, "h-0": WAITS}),
    ("a lower rank takes nothing", two(high=50), {"l1-0": STAYS, "h-0": WAITS}),
    ("never from non-preemptible work", two(preemptibility="non-preemptible"), {"l1-0": STAYS, "h-0": WAITS}),
    (
        "a non-preemptible workload takes by rank too",
        two(waits={"preemptibility": "non-preemptible"}),
        {"l1-0": GOES, "h-0": COMES},
    ),
    ("not beyond its own quota", two(quota=3, waits={"pod": {"gpuDevices": 4}}), {"l1-0": STAYS, "h-0": WAITS}),
    (
        "a minimum run time protects",
        two(pools=[{"name": "default", "reclaimByRank": True, "reclaimMinRuntimeSeconds": 99999}]),
        {"l1-0": STAYS, "h-0": WAITS},
    ),
    (
        "quotas that add up to what there is are everybody's own: places alone are no reason",
        cluster(
            [node("n0", 2), node("n1", 1), node("n2", 1)],
            [project("hi", 2, rank=200), project("lo", 2)],
            [work("l", "lo", on="n0", pod={"gpuDevices": 2}), work("h", "hi", age=9, pod={"gpuDevices": 2})],
            nodePools=BY_RANK,
        ),
        {"l-0": STAYS, "h-0": WAITS},
    ),
    (
        "an unlimited quota is no number to add up, and gives nothing by rank",
        cluster(
            [node("n0", 2)],
            [project("hi", 2, rank=200), project("lo", None), project("idle", 2)],
            [work("l", "lo", on="n0", pod={"gpuDevices": 2}), work("h", "hi", age=9)],
            nodePools=BY_RANK,
        ),
        {"l-0": STAYS, "h-0": WAITS},
    ),
    (
        "what is over quota goes first",
        cluster(
            [node("n0", 4)],
            [project("hi", 2, rank=200), project("lo", 2), project("over", 1)],
            [
                work("l", "lo", on="n0", pod={"gpuDevices": 2}, age=5),
                *(work(f"o{i}", "over", on="n0", age=i) for i in range(2)),
                work("h", "hi", age=9),
            ],
            nodePools=BY_RANK,
        ),
        {"l-0": STAYS, "o0-0": STAYS, "o1-0": GOES, "h-0": COMES},
    ),
    (
        "of two lower ones the lowest rank goes first",
        cluster(
            [node("n0", 2)],
            [project("hi", 2, rank=300), project("mid", 1, rank=200), project("lo", 1)],
            [work("m", "mid", on="n0", age=5), work("l", "lo", on="n0"), work("h", "hi", age=9)],
            nodePools=BY_RANK,
        ),
        {"m-0": STAYS, "l-0": GOES, "h-0": COMES},
    ),
    (
        "a surplus pod is enough",
        cluster(
            [node("n0", 4)],
            [project("hi", 4, rank=200), project("lo", 4)],
            [work("l", "lo", pods=4, minPods=1, on="n0"), work("h", "hi", age=9)],
            nodePools=BY_RANK,
        ),
        {"l-3": GOES, "l-2": STAYS, "h-0": COMES},
    ),
    # Departments
    (
        "departments rank against each other",
        two(lender="e", departments=oversubscribed(4, 4)),
        {"l1-0": GOES, "h-0": COMES},
    ),
    (
        "a project's rank counts inside its department alone",
        two(high=300, low=50, lender="e", departments=oversubscribed(4, 4, 100, 100)),
        {"l1-0": STAYS, "h-0": WAITS},
    ),
    (
        "the higher department takes, whatever its project's rank",
        two(high=50, low=300, lender="e", departments=oversubscribed(4, 4)),
        {"l1-0": GOES, "h-0": COMES},
    ),
    (
        "a project in a department beyond its quota does not",
        two(lender="e", departments=oversubscribed(0, 8)),
        {"l1-0": STAYS, "h-0": WAITS},
    ),
    (
        "with departments off all projects are siblings",
        {**two(lender="e", departments=oversubscribed(4, 4, 100, 100)), "settings": {"fullHierarchyFairness": False}},
        {"l1-0": GOES, "h-0": COMES},
    ),
]


@pytest.mark.parametrize("document, want", cases(ROWS))
def test_first_cycle(document, want):
    check_first_cycle(document, want)


def test_what_was_taken_stays_taken():
    cycles = simulate(two(), 8)["cycles"]
    assert pods_of(cycles[-1]) == {"h-0": ("Running", "n0"), "l0-0": ("Running", "n0"), "l1-0": ("Pending", None)}
    assert [d["verb"] for cycle in cycles[1:] for d in cycle["decisions"] if d["verb"] == "evict"] == []


def test_the_sentence_and_the_receipt_name_the_rank():
    for document, sides in (
        (two(), ("project hi", "project lo")),
        (two(lender="e", departments=oversubscribed(4, 4)), ("department d", "department e")),
    ):
        decision = next(d for d in simulate(document, explain=True)["cycles"][0]["decisions"] if d["verb"] == "evict")
        assert decision["why"] == (
            "Yields to h of project hi, which held 0 of its quota of 4 GPUs; %s ranks above %s, "
            "and quotas add up to more than there is" % sides
        )
        assert decision["receipt"]["rule"] == "HigherRank"


def test_cpu_alone():
    def cores(rank):
        return [{**queue(0, rank=rank), "cpu": {"deserved": 4, "limit": None, "overQuotaWeight": 1}}]

    document = cluster(
        [node("n0", 0, cpuCores=4)],
        [{**project("hi", 0), "resources": cores(200)}, {**project("lo", 0), "resources": cores(100)}],
        [
            work("l", "lo", on="n0", pod={"gpuDevices": 0, "cpuCores": 4}),
            work("h", "hi", age=9, pod={"gpuDevices": 0, "cpuCores": 1}),
        ],
        nodePools=BY_RANK,
    )
    check_first_cycle(document, {"l-0": GOES, "h-0": COMES})
