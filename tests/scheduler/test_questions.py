"""Receipts of evictions, fair-share trees and queue orders, through `prorata simulate`. A row is a small cluster and
what is said."""

import json

import pytest
from clusters import POOLS, cluster, department, node, project, work
from questions import ask

RECENT = "2026-01-01T11:59:30Z"  # half a minute ago
GANG = {"gpuDevices": 2}


def full(gpus=2, **more):
    """Project b borrows everything; a, which deserves it, waits."""
    return cluster(
        [node("n0", gpus)],
        [project("a", gpus), project("b", 0, **more)],
        [work("r", "b", pods=gpus, on="n0", started=RECENT), work("w", "a")],
    )


# sentence, cluster, rule, numbers of the victim's and the beneficiary's project
RECEIPTS = [
    (
        "above its share",
        cluster(
            [node("n0", 2)],
            [project("a", 1), project("b", 1)],
            [work("r", "b", on="n0"), work("s", "b", on="n0", age=5), work("w", "a")],
        ),
        "AboveShare",
        {"project": "b", "deserved": 1, "limit": None, "fairShare": 1, "allocatedBefore": 2, "allocatedAfter": 1},
        {"project": "a", "deserved": 1, "limit": None, "fairShare": 1, "allocatedBefore": 0, "allocatedAfter": 1},
    ),
    (
        "inside a project",
        cluster([node("n0", 1)], [project("a", 1)], [work("r", "a", on="n0"), work("w", "a", priority=80)]),
        "HigherPriority",
        {"project": "a", "deserved": 1, "limit": None, "fairShare": 1, "allocatedBefore": 1, "allocatedAfter": 1},
        {"project": "a", "deserved": 1, "limit": None, "fairShare": 1, "allocatedBefore": 1, "allocatedAfter": 1},
    ),
    (
        "moved",
        cluster(
            [node("n0", 2), node("n1", 2)],
            [project("a", 4)],
            [work("r", "a", on="n0"), work("s", "a", on="n1"), work("w", "a", pod=GANG)],
        ),
        "Moved",
        {"project": "a", "deserved": 4, "limit": None, "fairShare": 4, "allocatedBefore": 2, "allocatedAfter": 4},
        {"project": "a", "deserved": 4, "limit": None, "fairShare": 4, "allocatedBefore": 2, "allocatedAfter": 4},
    ),
    (
        "a gang that lost pods",
        cluster(
            [node("n0", 2)],
            [project("a", 4)],
            [{**work("w", "a", pods=2, on="n0", minPods=3, staleSeconds=3600), "preemptibility": "non-preemptible"}],
        ),
        "StaleGang",
        {"project": "a", "deserved": 4, "limit": None, "fairShare": 2, "allocatedBefore": 2, "allocatedAfter": 0},
        None,
    ),
]


@pytest.mark.parametrize("document,rule,victim,beneficiary", [pytest.param(*row[1:], id=row[0]) for row in RECEIPTS])
def test_receipts(document, rule, victim, beneficiary):
    evictions = [d for d in ask(document, "--explain")["cycles"][0]["decisions"] if d["verb"] == "evict"]
    assert evictions
    for decision in evictions:
        receipt = decision["receipt"]
        assert receipt["rule"] == rule and receipt["sentence"] == decision["why"]
        assert receipt["lostSeconds"] == 7200 and receipt["gpus"] == 1
        for key, want in (("victim", victim), ("beneficiaryQueue", beneficiary)):
            got = receipt[key] and {k: v for k, v in receipt[key].items() if k != "department"}
            assert got == want, key
        assert receipt["victim"]["department"]["name"] == "d"


def test_without_explain_nothing_is_added():
    decisions = ask(RECEIPTS[0][1])["cycles"][0]["decisions"]
    assert all("receipt" not in d for d in decisions)


# sentence, cluster, names in order, rule that puts the first before the second, words
QUEUES = [
    (
        "priority",
        cluster([node("n0", 0)], [project("a", 1)], [work("u", "a"), work("v", "a", priority=80)]),
        ["v", "u"],
        "higher priority first",
        "Its priority is 80, the next workload's is 50",
    ),
    (
        "fair among people",
        cluster(
            [node("n0", 0)],
            [project("a", 1, fairAmongPeople=True)],
            [work("u", "a", submittedBy="ann"), work("v", "a", age=9, submittedBy="bob")],
            people=[{"project": "a", "name": "ann", "gpuHours": 2.5}],
        ),
        ["v", "u"],
        "fair among people: who has used least first",
        "Its submitter comes to 0 GPU hours, the next one's to 2.5: past use, and an hour of what they hold and "
        "of what of theirs comes first",
    ),
    (
        "age",
        cluster([node("n0", 0)], [project("a", 1)], [work("u", "a", age=9), work("v", "a")]),
        ["v", "u"],
        "older first",
        "It was submitted at 2026-01-01T10:00:00.000Z, the next at 2026-01-01T10:00:09.000Z",
    ),
    (
        "name",
        cluster([node("n0", 0)], [project("a", 1)], [work("u", "a"), work("v", "a")]),
        ["u", "v"],
        "name, to break every tie",
        "Its name comes before the next workload's",
    ),
    (
        "below its minimum",
        cluster(
            [node("n0", 1)],
            [project("a", 1)],
            [
                work("v", "a"),
                {
                    **work("u", "a", pods=2, minPods=1),
                    "pods": [
                        {"name": "u-0", "gpuDevices": 1, "status": "Running", "node": "n0"},
                        {"name": "u-1", "gpuDevices": 1},
                    ],
                },
            ],
        ),
        ["v", "u"],
        "below its minimum before at its minimum before above",
        "It is below its minimum with 0 pods, the next at its minimum with 1",
    ),
    (
        "owed",
        cluster(
            [node("n0", 6)],
            [project("a", 4), project("b", 4)],
            [work("r", "b", pods=4, on="n0"), work("q", "a", pods=2, on="n0"), work("u", "b"), work("v", "a")],
        ),
        ["v", "u"],
        "within its deserved quota first",
        "With its next workload project a holds 3 of its quota of 4 GPUs, project b 5 of its quota of 4 GPUs",
    ),
    (
        "rank",
        cluster([node("n0", 0)], [project("a", 0), project("b", 0, rank=200)], [work("u", "a"), work("v", "b")]),
        ["v", "u"],
        "higher rank first",
        "Project b has rank 200, project a 100",
    ),
    (
        "share with",
        cluster(
            [node("n0", 4)],
            [project("a", 1), project("b", 1)],
            [
                work("r", "b", pods=2, on="n0"),
                work("q", "a", pods=2, on="n0"),
                work("u", "b", pod=GANG),
                work("v", "a"),
            ],
        ),
        ["v", "u"],
        "smaller dominant share with its next workload first",
        "With its next workload project a holds 3 of a share of 2 GPUs, project b 4 of a share of 2 GPUs",
    ),
    (
        "departments",
        cluster(
            [node("n0", 0)],
            [project("a", 0, "d"), project("b", 0, "e")],
            [work("u", "a"), work("v", "b")],
            [department("d", 0), department("e", 0, rank=200)],
        ),
        ["v", "u"],
        "higher rank first",
        "Department e has rank 200, department d 100",
    ),
    (
        "a promise",
        cluster([node("n0", 0)], [project("a", 1)], [work("u", "a"), work("v", "a", age=9, promise=0)]),
        ["v", "u"],
        "promises of the cycle before first",
        "Has a promise from the cycle before, the next has none",
    ),
]


@pytest.mark.parametrize("document,names,rule,words", [pytest.param(*row[1:], id=row[0]) for row in QUEUES])
def test_queue_order(document, names, rule, words):
    listed = ask(document, "--queue", "default")["queue"]
    assert [entry["workload"] for entry in listed["workloads"]] == names and listed["total"] == len(names)
    assert (listed["workloads"][0]["rule"], listed["workloads"][0]["sentence"]) == (rule, words)
    assert listed["workloads"][-1]["rule"] is None


def test_queue_order_lists_each_once_and_leaves_out_what_is_not_ready():
    document = cluster(
        [node("n0", 2)],
        [project("a", 2)],
        [work("u", "a", pods=3, minPods=1), work("v", "a", pods=1, minPods=2), work("w", "a", deleting=True)],
    )
    assert [entry["workload"] for entry in ask(document, "--queue", "default")["queue"]["workloads"]] == ["u"]


def test_pools_of_later_preference_come_later():
    document = cluster(
        [node("n0", 0), {**node("n1", 0), "nodePool": "big"}],
        [project("a", 4)],
        [work("u", "a", nodePools=["default", "big"]), work("v", "a", age=9, nodePools=["big"])],
        **POOLS,
    )
    listed = ask(document, "--queue", "big")["queue"]["workloads"]
    assert [entry["workload"] for entry in listed] == ["v", "u"]
    assert listed[0]["rule"] == "node pools of earlier preference first"


def test_whom_another_pool_has_taken_after_a_search_for_victims_is_not_listed():
    document = cluster(
        [node("n0", 1), {**node("n1", 0), "nodePool": "big"}],
        [project("a", 1), project("b", 0)],
        [
            work("r", "b", on="n0", started=RECENT),
            work("u", "a", nodePools=["default", "big"]),
            work("v", "b", age=9, nodePools=["default", "big"]),
        ],
        **POOLS,
    )
    listed = ask(document, "--queue", "big")["queue"]["workloads"]
    assert [entry["workload"] for entry in listed] == ["v"]


def leaves(node):
    for child in node["children"]:
        yield child
        yield from leaves(child)


# sentence, cluster, project, (rule, given, sentence) of its terms
SHARES = [
    (
        "deserved",
        cluster([node("n0", 4)], [project("a", 2)], [work("w", "a", pods=3)]),
        "a",
        [
            ("deserved", 2, "Deserves 2 GPUs and asks for 3"),
            ("overQuota", 1, "Rank 100, round 1: 1 of 1 weights of 1 GPU is 1; it wants 1"),
        ],
    ),
    (
        "by weight",
        cluster(
            [node("n0", 4)],
            [project("a", 0), project("b", 0, weight=3)],
            [work("u", "a", pods=8), work("v", "b", pods=8)],
        ),
        "b",
        [
            ("deserved", 0, "Deserves none and asks for 8 GPUs"),
            ("overQuota", 3, "Rank 100, round 1: 3 of 4 weights of 4 GPUs is 3"),
        ],
    ),
    (
        "rounding",
        cluster(
            [node("n0", 4)],
            [project("a", 0), project("b", 0, weight=2)],
            [work("u", "a", pods=8), work("v", "b", pods=8)],
        ),
        "b",
        [
            ("deserved", 0, "Deserves none and asks for 8 GPUs"),
            ("overQuota", 2, "Rank 100, round 1: 2 of 3 weights of 4 GPUs is 2.666, rounded down to 2"),
            ("remainder", 1, "Number 1 in the order of rounding remainders, with 1 GPU left"),
        ],
    ),
    (
        "limit",
        cluster([node("n0", 4)], [project("a", 4, limit=2)], [work("w", "a", pods=3)]),
        "a",
        [("deserved", 2, "Deserves 4 GPUs and asks for 3, limit 2")],
    ),
    (
        "all it asks for",
        cluster([node("n0", 4)], [project("a", None)], [work("w", "a", pods=3)]),
        "a",
        [("deserved", 3, "Deserves what it asks for, 3 GPUs")],
    ),
    (
        "past usage",
        cluster(
            [node("n0", 3)],
            [project("a", 0), project("b", 0)],
            [work("u", "a", pods=8), work("v", "b", pods=8)],
            usage=[{"name": "a", "gpu": 0.5}],
        ),
        "a",
        [
            ("deserved", 0, "Deserves none and asks for 8 GPUs"),
            ("overQuota", 1, "Rank 100, round 1: 1 of 2 weights of 3 GPUs is 1, past usage counted"),
        ],
    ),
]


@pytest.mark.parametrize("document,name,terms", [pytest.param(*row[1:], id=row[0]) for row in SHARES])
def test_fair_share(document, name, terms):
    tree = ask(document, "--fairshare", "default")["fairShare"]
    found = next(leaf for leaf in leaves(tree["root"]) if leaf["kind"] == "project" and leaf["name"] == name)
    assert [
        (term["rule"], term["given"], term["sentence"])
        for term in found["terms"]
        if term["given"] or term["rule"] == "deserved"
    ] == terms
    assert all(sum(term["given"] for term in leaf["terms"]) == leaf["fairShare"] for leaf in leaves(tree["root"]))


def test_fair_share_of_other_resources():
    document = cluster([node("n0", 4)], [project("a", 2)], [work("w", "a", pods=3, pod={"cpuCores": 2})])
    assert ask(document, "--fairshare", "default", "--resource", "cpu")["fairShare"]["total"] == 32
    assert ask(document, "--fairshare", "default", "--resource", "memory")["fairShare"]["total"] == 64 * 2**30


def test_several_questions_at_once():
    answer = ask(full(), "--what-if", "w", "--queue", "default", "--fairshare", "default", "--pretty")
    assert set(answer) == {"whatIf", "queue", "fairShare"}


# sentence, arguments, the workload's file, words
BAD = [
    ("no such pool", ["--queue", "x"], None, '--queue: no node pool "x"'),
    ("no such pool", ["--fairshare", "x"], None, '--fairshare: no node pool "x"'),
    (
        "no such resource",
        ["--fairshare", "default", "--resource", "disk"],
        None,
        '--resource: gpu, cpu or memory, got "disk"',
    ),
    ("a file that is not there", ["--what-if", "/nowhere.json"], None, "/nowhere.json: No such file or directory"),
    ("not JSON", ["--what-if"], "{", "workload.json: "),
    ("not an object", ["--what-if"], "[]", "workload.json: workloads[2]: an object, got a list"),
    (
        "a project that is not there",
        ["--what-if"],
        json.dumps(work("x", "nobody")),
        'workloads[2].project: no project "nobody"',
    ),
    ("a name that is taken", ["--what-if"], json.dumps(work("r", "a")), "workload.json: "),
    (
        "a bad amount",
        ["--what-if"],
        json.dumps(work("x", "a", pod={"gpuDevices": -1})),
        "workloads[2].pods[0].gpuDevices: ",
    ),
    ("a value that is missing", ["--queue"], None, "--queue: needs a value"),
]


@pytest.mark.parametrize("arguments,text,words", [pytest.param(*row[1:], id=row[0]) for row in BAD])
def test_bad_questions(arguments, text, words, tmp_path):
    if text is not None:
        (tmp_path / "workload.json").write_text(text)
        arguments = [*arguments, str(tmp_path / "workload.json")]
    assert words in ask(full(), *arguments, status=2)


@pytest.mark.parametrize(
    "pools,kind", [(["default"], "never"), (["big"], "unknown"), (["default", "big"], "unknown")], ids=str
)
def test_what_no_node_is_large_enough_for(pools, kind):
    """Only where that holds of every pool that it may use."""
    document = cluster(
        [node("n0", 2), {**node("n1", 4), "nodePool": "big"}],
        [project("a", 4)],
        [
            work("r", "a", on="n1", nodePools=["big"], preemptibility="non-preemptible"),
            work("w", "a", pod={"gpuDevices": 4}, nodePools=pools),
        ],
        nodePools=[{"name": "default"}, {"name": "big"}],
    )
    workloads = {w["name"]: w for w in ask(document, "--explain")["cycles"][0]["workloads"]}
    assert workloads["w"]["forecast"]["kind"] == kind, workloads["w"]
