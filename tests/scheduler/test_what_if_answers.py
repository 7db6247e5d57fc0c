"""What-if through `prorata simulate`, with its fixes. A row is a small cluster and what is said about it."""

import json

import pytest
from clusters import POOLS, cluster, department, node, pod, project, work
from questions import ask

RECENT = "2026-01-01T11:59:30Z"  # half a minute ago


def full(gpus=2, **more):
    """Project b borrows everything; a, which deserves it, waits."""
    return cluster(
        [node("n0", gpus)],
        [project("a", gpus), project("b", 0, **more)],
        [work("r", "b", pods=gpus, on="n0", started=RECENT), work("w", "a")],
    )


GANG = {"gpuDevices": 2}


def what_if(document, workload, tmp_path):
    path = tmp_path / "workload.json"
    path.write_text(json.dumps(workload))
    return ask(document, "--what-if", path)["whatIf"]


def fixes_of(answer):
    return {fix["kind"]: fix for fix in answer["fixes"]}


# sentence, cluster, workload, verdict, words of the sentence, forecast
VERDICTS = [
    (
        "room is there",
        cluster([node("n0", 4)], [project("a", 4)], []),
        work("x", "a", pod=GANG),
        "Starts",
        "Starts at once on n0 with 2 GPUs",
        "now",
    ),
    (
        "over two nodes",
        cluster([node("n0", 2), node("n1", 2)], [project("a", 4)], []),
        work("x", "a", pods=4),
        "Starts",
        "Starts at once on n0 and n1 with 4 pods and 4 GPUs",
        "now",
    ),
    (
        "over many nodes",
        cluster([node(f"n{i}", 1) for i in range(4)], [project("a", 4)], []),
        work("x", "a", pods=4),
        "Starts",
        "Starts at once on n0 and 3 other nodes with 4 pods and 4 GPUs",
        "now",
    ),
    (
        "without a GPU",
        cluster([node("n0", 0)], [project("a", 4)], []),
        work("x", "a", pod={"gpuDevices": 0, "cpuCores": 1}),
        "Starts",
        "Starts at once on n0",
        "now",
    ),
    (
        "what stops already",
        cluster(
            [node("n0", 1)],
            [project("a", 1)],
            [{**work("r", "a"), "pods": [{"name": "r-0", "gpuDevices": 1, "status": "Releasing", "node": "n0"}]}],
        ),
        work("x", "a"),
        "StartsAfterRelease",
        "Starts on n0 with 1 GPU, once the workload there has stopped",
        "decided",
    ),
    ("by reclaim", full(), work("w2", "a", pod=GANG), "Waits", "", "unknown"),
    (
        "by eviction",
        cluster([node("n0", 2)], [project("a", 2), project("b", 0)], [work("r", "b", pods=2, on="n0")]),
        work("x", "a"),
        "StartsByEviction",
        "Starts on n0 with 1 GPU, once 1 workload of project b yields 2 GPUs",
        "decided",
    ),
    (
        "by moving",
        cluster([node("n0", 2), node("n1", 2)], [project("a", 4)], [work("r", "a", on="n0"), work("s", "a", on="n1")]),
        work("x", "a", pod=GANG),
        "StartsByEviction",
        "Starts on n1 with 2 GPUs, once 1 workload moves to other nodes",
        "decided",
    ),
    (
        "nobody gives it",
        cluster([node("n0", 1)], [project("a", 1)], [work("r", "a", on="n0")]),
        work("x", "a"),
        "Waits",
        "Needs 1 GPU in default; 0 of its 1 GPU are free",
        "unknown",
    ),
    (
        "larger than any node",
        cluster([node("n0", 4)], [project("a", 9)], []),
        work("x", "a", pod={"gpuDevices": 8}),
        "Waits",
        "Needs 8 GPUs on one node; the largest of default has 4",
        "never",
    ),
    (
        "unlike pods that two orders find no place for: a third might",
        cluster([node(f"n{i}", 3) for i in range(3)], [project("a", 9)], []),
        work("x", "a", pods=[pod("x-0"), *(pod(f"x-{i}", gpus=2) for i in range(1, 5))]),
        "Waits",
        "Needs 5 pods in default, tried in their order and largest first; 4 found a place, and the next needs 2 GPUs",
        "unknown",
    ),
    (
        "unlike pods that are too many in all",
        cluster([node(f"n{i}", 3) for i in range(3)], [project("a", 19)], []),
        work("x", "a", pods=[pod("x-0"), *(pod(f"x-{i}", gpus=2) for i in range(1, 6))]),
        "Waits",
        "Needs 6 pods in default, tried in their order and largest first; 4 found a place, and the next needs 2 GPUs",
        "never",
    ),
    (
        "above the limit",
        cluster([node("n0", 4)], [project("a", 1, limit=1)], []),
        work("x", "a", pod=GANG),
        "Waits",
        "Needs 2 GPUs; the limit of project a in node pool default is 1 GPU",
        "never",
    ),
    (
        "protected for now",
        cluster(
            [node("n0", 2)],
            [project("a", 2), project("b", 0, reclaimMinRuntimeSeconds=60)],
            [work("r", "b", pods=2, on="n0", started=RECENT)],
        ),
        work("x", "a"),
        "Waits",
        "0 of its 2 GPUs are free",
        "rule",
    ),
    (
        "room that is reserved",
        cluster(
            [node("n0", 2)],
            [project("a", 2)],
            [work("r", "a", on="n0", maxRunSeconds=9000)],
            nodePools=[{"name": "default", "reservation": True}],
        ),
        work("x", "a", pod=GANG),
        "Waits",
        "Needs 2 GPUs",
        "rule",
    ),
    (
        "protected for now, and no way then",
        cluster(
            [node("n0", 3)],
            [project("a", 3), project("b", 0, reclaimMinRuntimeSeconds=60)],
            [
                work("r", "b", on="n0", started=RECENT),
                work("s", "a", pods=2, on="n0", preemptibility="non-preemptible"),
            ],
        ),
        work("x", "a", pod=GANG),
        "Waits",
        "Needs 2 GPUs",
        "unknown",
    ),
]


@pytest.mark.parametrize(
    "document,workload,verdict,words,forecast", [pytest.param(*row[1:], id=row[0]) for row in VERDICTS]
)
def test_what_if(document, workload, verdict, words, forecast, tmp_path):
    answer = what_if(document, workload, tmp_path)
    assert (answer["verdict"], answer["forecast"]["kind"]) == (verdict, forecast), answer
    assert words in answer["sentence"]
    assert (answer["forecast"]["at"] is not None) == (forecast == "rule")
    assert (answer["couldLoseTo"] is None) == (verdict == "Waits")
    assert (answer["explanation"] == []) == (verdict != "Waits")


def test_a_rule_ends_at_its_time(tmp_path):
    document, workload = next(row[1:3] for row in VERDICTS if row[0] == "protected for now")
    answer = what_if(document, workload, tmp_path)
    assert answer["forecast"]["at"] == "2026-01-01T12:00:30.000Z"
    assert "Gets its place at 2026-01-01T12:00:30.000Z if nothing else changes" in answer["forecast"]["sentence"]


# What is protected by 60 s starts at these seconds; 2 GPUs are needed.
@pytest.mark.parametrize("starts,at", [((30, 30), "12:00:30"), ((30, 50), "12:00:50"), ((30, 31), "12:00:31")], ids=str)
def test_rules_that_end_one_after_the_other(starts, at, tmp_path):
    victims = [work(f"r{i}", "b", on="n0", started=f"2026-01-01T11:59:{second}Z") for i, second in enumerate(starts)]
    answer = what_if(
        cluster([node("n0", 2)], [project("a", 2), project("b", 0, reclaimMinRuntimeSeconds=60)], victims),
        work("x", "a", pod=GANG),
        tmp_path,
    )
    assert (answer["forecast"]["kind"], answer["forecast"]["at"]) == ("rule", f"2026-01-01T{at}.000Z"), answer[
        "forecast"
    ]
    assert f"2026-01-01T{at}.000Z if nothing else changes" in answer["forecast"]["sentence"]


# sentence, workload, words
LOSS = [
    ("non-preemptible", work("x", "a", preemptibility="non-preemptible"), "Nobody: it is non-preemptible"),
    (
        "within quota",
        work("x", "a"),
        "Work of project a with a higher priority than 50 alone: with it the project stays within its quota",
    ),
    (
        "borrowed",
        work("x", "a", pods=4),
        "Projects below their fair share: with it project a holds 4 of its quota of 2 GPUs, 2 of them borrowed",
    ),
]


@pytest.mark.parametrize("workload,words", [pytest.param(*row[1:], id=row[0]) for row in LOSS])
def test_who_could_take_it_back(workload, words, tmp_path):
    document = cluster([node("n0", 4)], [project("a", 2), project("b", 2)], [])
    assert what_if(document, workload, tmp_path)["couldLoseTo"] == words


def test_numbers_before_and_with(tmp_path):
    answer = what_if(
        cluster([node("n0", 4)], [project("a", 2), project("b", 2)], [work("r", "a", on="n0")]),
        work("x", "a", pods=2),
        tmp_path,
    )
    numbers = answer["queue"]["project"]
    assert (numbers["before"]["allocated"], numbers["before"]["requested"]) == (1, 1)
    assert (numbers["with"]["allocated"], numbers["with"]["requested"], numbers["with"]["fairShare"]) == (3, 3, 3)
    assert answer["nodes"] == [{"name": "n0", "gpus": 2, "pods": 2}]


TWO_POOLS = cluster(
    [node("n0", 1), {**node("n1", 4, gpuType="NVIDIA-A100"), "nodePool": "big"}],
    [project("a", 0)],
    [work("r", "a", on="n0")],
    **POOLS,
)


def roles(workers, minimum):
    """A master and workers, each role with its minimum."""
    pods = [{"name": "x-m", "subGroup": "master", "role": "master", "gpuDevices": 1}]
    pods += [{"name": f"x-w{i}", "subGroup": "worker", "gpuDevices": 1} for i in range(workers)]
    return {
        "name": "x",
        "project": "a",
        "subGroups": [{"name": "master", "minPods": 1}, {"name": "worker", "minPods": minimum}],
        "pods": pods,
    }


# sentence, cluster, workload, kind, change, sentence, verdict
FIXES = [
    (
        "another pool",
        TWO_POOLS,
        work("x", "a", pod=GANG),
        "OtherNodePool",
        {"nodePools": ["big"]},
        "Use node pool big",
        "Starts",
    ),
    (
        "preemptible",
        cluster([node("n0", 4)], [project("a", 1)], []),
        work("x", "a", pod=GANG, preemptibility="non-preemptible"),
        "OtherPreemptibility",
        {"preemptibility": "preemptible"},
        "Make it preemptible",
        "Starts",
    ),
    (
        "fewer GPUs",
        cluster([node("n0", 4)], [project("a", 4)], [work("r", "a", on="n0")]),
        work("x", "a", pod={"gpuDevices": 4}),
        "FewerGpus",
        {"gpuDevicesRequest": 3},
        "Ask for 3 GPUs instead of 4",
        "Starts",
    ),
    (
        "the one of many node pools that has room",
        cluster(
            [node("n0", 2)]
            + [node(f"s{i}", 4, nodePool=f"small-{i}") for i in range(8)]
            + [node(f"f{i}", 8, nodePool=f"full-{i}") for i in range(8)]
            + [node("n9", 8, nodePool="zone")],
            [project("a", 16)],
            [
                work(
                    f"r{i}",
                    "a",
                    pod={"gpuDevices": 8},
                    on=f"f{i}",
                    nodePools=[f"full-{i}"],
                    preemptibility="non-preemptible",
                )
                for i in range(8)
            ],
            nodePools=[
                {"name": n} for n in ["default", "zone"] + [f"{w}-{i}" for w in ("small", "full") for i in range(8)]
            ],
        ),
        work("x", "a", pod={"gpuDevices": 8}),
        "OtherNodePool",
        {"nodePools": ["zone"]},
        "Use node pool zone",
        "Starts",
    ),
    (
        "fewer GPUs of many",
        cluster(
            [node("n0", 16)], [project("a", 16)], [work("r", "a", pods=5, on="n0", preemptibility="non-preemptible")]
        ),
        work("x", "a", pod={"gpuDevices": 16}),
        "FewerGpus",
        {"gpuDevicesRequest": 11},
        "Ask for 11 GPUs instead of 16",
        "Starts",
    ),
    (
        "fewer GPUs per pod",
        cluster([node("n0", 6)], [project("a", 8)], []),
        work("x", "a", pods=2, pod={"gpuDevices": 4}),
        "FewerGpus",
        {"gpuDevicesRequest": 3},
        "Ask for 3 GPUs per pod instead of 4",
        "Starts",
    ),
    (
        "fewer pods",
        cluster([node("n0", 4)], [project("a", 8)], []),
        work("x", "a", pods=6),
        "FewerPods",
        {"pods": 4},
        "Run 4 pods instead of 6",
        "Starts",
    ),
    (
        "fewer pods of an elastic one",
        cluster([node("n0", 2)], [project("a", 8)], []),
        work("x", "a", pods=6, minPods=3),
        "FewerPods",
        {"pods": 2},
        "Run 2 pods instead of 6",
        "Starts",
    ),
    (
        "fewer workers of an elastic one with a master",
        cluster([node("n0", 3)], [project("a", 8)], []),
        roles(6, 4),
        "FewerPods",
        {"pods": 3},
        "Run 3 pods instead of 7",
        "Starts",
    ),
    (
        "priority",
        cluster([node("n0", 1)], [project("a", 1)], [work("r", "a", on="n0")]),
        work("x", "a"),
        "OtherPriority",
        {"priority": 65},
        "Raise its priority to medium-low (65)",
        "StartsByEviction",
    ),
    (
        "quota",
        cluster([node("n0", 4)], [project("a", 1)], [work("r", "a", on="n0", preemptibility="non-preemptible")]),
        work("x", "a", pod=GANG, preemptibility="non-preemptible"),
        "MoreQuota",
        {"nodePool": "default", "project": "a", "quotaGpus": 3, "limitGpus": None},
        "Raise the quota of project a from 1 to 3 GPUs in node pool default",
        "Starts",
    ),
    (
        "limit",
        cluster([node("n0", 4)], [project("a", 4, limit=1)], []),
        work("x", "a", pod=GANG),
        "MoreQuota",
        {"nodePool": "default", "project": "a", "quotaGpus": 4, "limitGpus": 2},
        "Raise the limit of project a from 1 to 2 GPUs in node pool default",
        "Starts",
    ),
    (
        "quota of both",
        cluster([node("n0", 4)], [project("a", 1)], [], [department("d", 1)]),
        work("x", "a", pod=GANG, preemptibility="non-preemptible"),
        "MoreQuota",
        {
            "nodePool": "default",
            "project": "a",
            "quotaGpus": 2,
            "limitGpus": None,
            "department": "d",
            "departmentQuotaGpus": 2,
            "departmentLimitGpus": None,
        },
        "Raise the quota of project a from 1 to 2 GPUs and the quota of department d from 1 to 2 GPUs in node pool "
        "default",
        "Starts",
    ),
    (
        "quota of the department alone",
        cluster([node("n0", 4)], [project("a", 2)], [], [department("d", 1)]),
        work("x", "a", pod=GANG, preemptibility="non-preemptible"),
        "MoreQuota",
        {"nodePool": "default", "department": "d", "departmentQuotaGpus": 2, "departmentLimitGpus": None},
        "Raise the quota of department d from 1 to 2 GPUs in node pool default",
        "Starts",
    ),
    (
        "quota against who borrows",
        cluster(
            [node("n0", 4)],
            [project("a", 1, weight=0), project("b", 1)],
            [work("q", "a", on="n0"), *(work(f"r{i}", "b", on="n0", age=i) for i in range(3))],
        ),
        work("x", "a"),
        "MoreQuota",
        {"nodePool": "default", "project": "a", "quotaGpus": 2, "limitGpus": None},
        "Raise the quota of project a from 1 to 2 GPUs in node pool default",
        "StartsByEviction",
    ),
]


@pytest.mark.parametrize(
    "document,workload,kind,change,sentence,verdict", [pytest.param(*row[1:], id=row[0]) for row in FIXES]
)
def test_fixes(document, workload, kind, change, sentence, verdict, tmp_path):
    answer = what_if(document, workload, tmp_path)
    fixes = fixes_of(answer)
    assert answer["verdict"] == "Waits" and kind in fixes, answer
    fix = fixes[kind]
    assert (fix["change"], fix["sentence"], fix["verdict"]) == (change, sentence, verdict)
    assert fix["price"] and fix["effect"] and len(answer["fixes"]) <= 4
    assert (fix["displaced"] != []) == (verdict == "StartsByEviction")


def test_a_master_alone_is_no_fix(tmp_path):
    whole = {**roles(2, 2), "subGroups": None, "pods": [{**pod, "subGroup": None} for pod in roles(2, 2)["pods"]]}
    for workload in (roles(3, 2), whole):
        answer = what_if(cluster([node("n0", 1)], [project("a", 8)], []), workload, tmp_path)
        assert answer["verdict"] == "Waits" and answer["fixes"] == [], answer


def test_fixes_that_displace_nobody_come_first(tmp_path):
    document = cluster(
        [node("n0", 4)],
        [project("a", 4), project("b", 1)],
        [work("q", "a", pods=2, on="n0", preemptibility="non-preemptible"), work("r", "b", on="n0")],
    )
    kinds = [
        (fix["displaced"] == [], fix["kind"])
        for fix in what_if(document, work("x", "a", pod={"gpuDevices": 3}), tmp_path)["fixes"]
    ]
    assert kinds == sorted(kinds, key=lambda kind: not kind[0]) and kinds[0][0], kinds


def test_no_fix_is_said_plainly(tmp_path):
    document = cluster([node("n0", 1, labels={"host": "n0"})], [project("a", 1)], [])
    answer = what_if(document, work("x", "a", pod={"nodeSelector": {"host": ["n9"]}}), tmp_path)
    assert (answer["verdict"], answer["fixes"], answer["forecast"]["kind"]) == ("Waits", [], "never")


def test_what_if_of_one_that_waits():
    document = cluster([node("n0", 1)], [project("a", 1)], [work("r", "a", on="n0"), work("w", "a")])
    answer = ask(document, "--what-if", "w")["whatIf"]
    assert answer["verdict"] == "Waits" and fixes_of(answer)["OtherPriority"]["change"] == {"priority": 65}
    assert (
        answer["queue"]["project"]["before"]["requested"] == 1 and answer["queue"]["project"]["with"]["requested"] == 2
    )
