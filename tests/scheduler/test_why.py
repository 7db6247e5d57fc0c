"""Why, through `prorata simulate`: evidence behind explanations, receipts of evictions, what-if with its fixes, fair-share
trees and queue orders. A row is a small cluster and what is said about it."""
import json
import subprocess

import pytest

from conftest import PRORATA
from clusters import NOW, POOLS, TOPOLOGY, cluster, department, node, project, queue, rack, work

RECENT = "2026-01-01T11:59:30Z"  # half a minute ago


def ask(document, *arguments, status=0, text=None):
    done = subprocess.run([PRORATA, "simulate", "-", *map(str, arguments)], input=text or json.dumps(document),
                          capture_output=True, text=True, timeout=60)
    assert done.returncode == status, done.stderr
    return json.loads(done.stdout) if status == 0 else done.stderr


def explained(document, name="w"):
    cycle = ask(document, "--explain")["cycles"][0]
    return {entry["code"]: entry for entry in next(w for w in cycle["workloads"] if w["name"] == name)["explanation"]}


def full(gpus=2, **more):
    """Project b borrows everything; a, which deserves it, waits."""
    return cluster([node("n0", gpus)], [project("a", gpus), project("b", 0, **more)],
                   [work("r", "b", pods=gpus, on="n0", started=RECENT), work("w", "a")])


GANG = {"gpuDevices": 2}

# sentence, cluster, code, what its evidence holds
EVIDENCE = [
    ("queue: limit of the project", cluster([node("n0", 4)], [project("a", 4, limit=2)], [work("r", "a", on="n0"), work("w", "a", pod=GANG)]),
     "OverLimit", {"queue": {"kind": "project", "name": "a", "resource": "gpu", "requested": 2, "deserved": 4, "limit": 2, "fairShare": 2,
                             "allocated": 1, "allocatedNonPreemptible": 0}}),
    ("queue: limit of the department", cluster([node("n0", 4)], [project("a", 4)], [work("r", "a", on="n0"), work("w", "a", pod=GANG)],
                                               [department("d", limit=2)]),
     "OverLimit", {"queue": {"kind": "department", "name": "d", "resource": "gpu", "requested": 2, "deserved": None, "limit": 2,
                             "fairShare": 2, "allocated": 1, "allocatedNonPreemptible": 0}}),
    ("queue: quota of non-preemptible work", cluster([node("n0", 4)], [project("a", 1)], [work("w", "a", pod=GANG, preemptibility="non-preemptible")]),
     "NonPreemptibleOverQuota", {"queue": {"kind": "project", "name": "a", "resource": "gpu", "requested": 2, "deserved": 1, "limit": None,
                                           "fairShare": 2, "allocated": 0, "allocatedNonPreemptible": 0}}),
    ("queue: fair share", cluster([node("n0", 2)], [project("a", 1), project("b", 1)], [work("q", "a", on="n0"), work("r", "b", on="n0"), work("w", "a")]),
     "OverFairShare", {"queue": {"kind": "project", "name": "a", "resource": "gpu", "requested": 1, "deserved": 1, "limit": None, "fairShare": 1,
                                 "allocated": 1, "allocatedNonPreemptible": 0}}),
    ("gang's progress", cluster([node("n0", 5)], [project("a", 8)], [work("w", "a", pods=8)]),
     "NotEnoughGpus", {"progress": {"placed": 5, "needed": 8, "subGroup": None}, "nodeReasons": [{"reason": "without enough free GPUs", "nodes": 1}]}),
    ("gang's progress in a sub-group", cluster([node("n0", 3)], [project("a", 8)], [{
        **work("w", "a", pods=4), "subGroups": [{"name": "decode", "minPods": 2}, {"name": "prefill", "minPods": 2}],
        "pods": [{"name": f"w-{i}", "gpuDevices": 1, "subGroup": "decode" if i < 2 else "prefill"} for i in range(4)]}]),
     "NotEnoughGpus", {"progress": {"placed": 3, "needed": 4, "subGroup": "prefill"}}),
    ("nodes by reason", cluster([node("n0", 1), node("n1", 8, cordoned=True), node("n2", 8, ready=False), node("n3", 8, taints=[{"key": "k"}])],
                                [project("a", 8)], [work("w", "a", pod=GANG)]),
     "NotEnoughGpus", {"nodeReasons": [{"reason": "not ready", "nodes": 1}, {"reason": "cordoned", "nodes": 1},
                                       {"reason": "with a taint that is not tolerated", "nodes": 1}, {"reason": "without enough free GPUs", "nodes": 1}]}),
    ("not ready: pods that are there", cluster([node("n0", 4)], [project("a", 4)], [work("w", "a", pods=2, minPods=3)]),
     "NotReady", {"progress": {"placed": 0, "needed": 3, "subGroup": None}}),
    ("topology", cluster([rack("n0", 2, "r0"), rack("n1", 2, "r1")], [project("a", 4)],
                         [work("w", "a", pods=4, topology={"name": "dc", "required": "rack"})], topologies=TOPOLOGY),
     "TopologyNotSatisfiable", {"progress": {"placed": 0, "needed": 4, "subGroup": None}}),
    ("minimum run time of the project", full(reclaimMinRuntimeSeconds=60), "NothingToReclaim", {
        "message": "Minimum run times protect work above its fair share in default; the first ends at 2026-01-01T12:00:30.000Z",
        "protectedUntil": "2026-01-01T12:00:30.000Z",
        "reclaim": [{"project": "b", "department": "d", "gpusHeld": 2, "gpusReclaimable": 0, "reason": "ProtectedByMinRunTime",
                     "sentence": "2 GPUs of b are protected by minimum run times, the first until 2026-01-01T12:00:30.000Z",
                     "protectedUntil": "2026-01-01T12:00:30.000Z"}]}),
    ("minimum run time inside a project", cluster(
        [node("n0", 1)], [project("a", 1, preemptMinRuntimeSeconds=60)],
        [work("r", "a", on="n0", started=RECENT), work("w", "a", priority=80)]), "NothingToPreempt", {
            "protectedUntil": "2026-01-01T12:00:30.000Z",
            "reclaim": [{"project": "a", "department": "d", "gpusHeld": 1, "gpusReclaimable": 0, "reason": "ProtectedByMinRunTime",
                         "sentence": "1 GPU of a is protected by minimum run times, the first until 2026-01-01T12:00:30.000Z",
                         "protectedUntil": "2026-01-01T12:00:30.000Z"}]}),
    ("a protected gang may lose its surplus", cluster(
        [node("n0", 2)], [project("a", 2), project("b", 0, reclaimMinRuntimeSeconds=60)],
        [work("r", "b", pods=2, minPods=1, on="n0", started=RECENT), work("w", "a", pod=GANG)]), "NothingToReclaim", {
            "reclaim": [{"project": "b", "department": "d", "gpusHeld": 2, "gpusReclaimable": 1, "reason": "TopologyOrNode",
                         "sentence": "1 of the 2 GPUs that b holds could give way, but no lawful choice makes room",
                         "protectedUntil": "2026-01-01T12:00:30.000Z"}]}),
    ("non-preemptible", cluster([node("n0", 2)], [project("a", 2), project("b", 0)],
                                [work("r", "b", pods=2, on="n0", preemptibility="non-preemptible"), work("w", "a")]), "NothingToReclaim", {
        "reclaim": [{"project": "b", "department": "d", "gpusHeld": 2, "gpusReclaimable": 0, "reason": "NonPreemptible",
                     "sentence": "2 GPUs of b are held by non-preemptible work", "protectedUntil": None}]}),
    ("exactly at quota, which the last test protects", cluster([node("n0", 2)], [project("a", 2), project("b", 2)], [work("r", "b", pods=2, on="n0"), work("w", "a")]),
     "NothingToReclaim", {"reclaim": [{"project": "b", "department": "d", "gpusHeld": 2, "gpusReclaimable": 2, "reason": "TopologyOrNode",
                                       "sentence": "2 of the 2 GPUs that b holds could give way, but no lawful choice makes room", "protectedUntil": None}]}),
    ("below quota", cluster([node("n0", 2)], [project("a", 2), project("b", 3)], [work("r", "b", pods=2, on="n0"), work("w", "a")]),
     "NothingToReclaim", {"reclaim": [{"project": "b", "department": "d", "gpusHeld": 2, "gpusReclaimable": 0, "reason": "WithinQuota",
                                       "sentence": "b holds 2 GPUs, within its quota of 3", "protectedUntil": None}]}),
    ("who may not reclaim at all looks at nobody", cluster(
        [node("n0", 4)], [project("a", 0), project("b", 0)],
        [work("r", "b", pods=2, on="n0"), work("q", "a", on="n0"), work("s", "a", on="n0", preemptibility="non-preemptible"), work("w", "a", priority=40)]),
     "OverFairShare", {"reclaim": []}),
    ("no place for it whoever gives way", cluster([node("n0", 4), node("n1", 1, cordoned=True)], [project("a", 0), project("b", 0)],
                                                  [work("r", "b", pods=2, on="n0"), work("q", "a", on="n0"), work("s", "b", on="n1"), work("t", "b", pods=1, on="n0"),
                                                   work("w", "a", pod={"nodeSelector": {"host": ["n1"]}})]),
     "NothingToReclaim", {"reclaim": [{"project": "b", "department": "d", "gpusHeld": 4, "gpusReclaimable": 4, "reason": "TopologyOrNode",
                                       "sentence": "4 of the 4 GPUs that b holds could give way, but no lawful choice makes room", "protectedUntil": None}]}),
    ("others within their fair share", cluster([node("n0", 4)], [project("a", 0), project("b", 0), project("c", 0)],
                                               [work("r", "b", pods=2, on="n0"), work("s", "c", pods=2, on="n0", preemptibility="non-preemptible"), work("w", "a")]),
     "NothingToReclaim", {"reclaim": [
         {"project": "b", "department": "d", "gpusHeld": 2, "gpusReclaimable": 0, "reason": "WithinFairShare",
          "sentence": "b holds 2 GPUs, within its fair share of 2, and a would go over its own quota", "protectedUntil": None},
         {"project": "c", "department": "d", "gpusHeld": 2, "gpusReclaimable": 0, "reason": "NonPreemptible",
          "sentence": "2 GPUs of c are held by non-preemptible work", "protectedUntil": None}]}),
    ("the same priority", cluster([node("n0", 2)], [project("a", 2)], [work("r", "a", pods=2, on="n0"), work("w", "a")]), "NothingToPreempt", {
        "reclaim": [{"project": "a", "department": "d", "gpusHeld": 2, "gpusReclaimable": 0, "reason": "HigherPriority",
                     "sentence": "2 GPUs of a are held by work of at least the same priority", "protectedUntil": None}]}),
    ("several reasons at once", cluster([node("n0", 4)], [project("a", 4)],
                                        [work("r", "a", pods=3, on="n0"), work("s", "a", on="n0", priority=125, preemptibility="non-preemptible"), work("w", "a")]), "NothingToPreempt", {
        "reclaim": [{"project": "a", "department": "d", "gpusHeld": 4, "gpusReclaimable": 0, "reason": "HigherPriority",
                     "sentence": "3 GPUs of a are held by work of at least the same priority, 1 held by non-preemptible work", "protectedUntil": None}]}),
]


def test_what_is_free_and_who_holds_it_until_when():
    document = cluster(
        [node("n0", 2), node("n1", 2)], [project("a", 2), project("b", 2)],
        [work("r", "b", on="n0", maxRunSeconds=9000, preemptibility="non-preemptible"), work("s", "b", on="n1", preemptibility="non-preemptible"),
         work("w", "a", pod={"gpuDevices": 2})])
    waiting = next(w for w in ask(document, "--explain")["cycles"][0]["workloads"] if w["name"] == "w")
    lack, nobody = (next(e for e in waiting["explanation"] if e["code"] == code) for code in ("NotEnoughGpus", "NothingToReclaim"))
    end = "2026-01-01T12:30:00.000Z"
    assert lack["free"] == {"gpus": 2, "nodes": 2, "largestPiece": 1} and lack["roomAt"] == end and "free" not in nobody
    holder, = nobody["reclaim"]
    assert holder["endsAt"] == end and holder["sentence"].endswith(f"; the first of it ends at {end} by its time limit")
    assert waiting["forecast"]["at"] == end and waiting["forecast"]["kind"] == "rule"


@pytest.mark.parametrize("document,code,evidence", [pytest.param(*row[1:], id=row[0]) for row in EVIDENCE])
def test_evidence(document, code, evidence):
    entries = explained(document)
    assert code in entries, entries
    assert {key: entries[code][key] for key in evidence} == evidence


def test_evidence_is_bounded():
    names = [f"p{i:02d}" for i in range(12)]
    document = cluster([node("n0", 24)], [project("a", 0)] + [project(name, 2) for name in names],
                       [work("r" + name, name, pods=2, on="n0") for name in names] + [work("w", "a", priority=100)])
    document["projects"][0]["resources"] = [queue(24)]
    entry = explained(document)["NothingToReclaim"]
    assert len(entry["reclaim"]) == 8 and entry["reclaimMore"] == 4
    assert [e["project"] for e in entry["reclaim"]] == names[:8], "the largest first, then by name"


# sentence, cluster, rule, numbers of the victim's and the beneficiary's project
RECEIPTS = [
    ("above its share", cluster([node("n0", 2)], [project("a", 1), project("b", 1)],
                                [work("r", "b", on="n0"), work("s", "b", on="n0", age=5), work("w", "a")]),
     "AboveShare", {"project": "b", "deserved": 1, "limit": None, "fairShare": 1, "allocatedBefore": 2, "allocatedAfter": 1},
     {"project": "a", "deserved": 1, "limit": None, "fairShare": 1, "allocatedBefore": 0, "allocatedAfter": 1}),
    ("inside a project", cluster([node("n0", 1)], [project("a", 1)], [work("r", "a", on="n0"), work("w", "a", priority=80)]),
     "HigherPriority", {"project": "a", "deserved": 1, "limit": None, "fairShare": 1, "allocatedBefore": 1, "allocatedAfter": 1},
     {"project": "a", "deserved": 1, "limit": None, "fairShare": 1, "allocatedBefore": 1, "allocatedAfter": 1}),
    ("moved", cluster([node("n0", 2), node("n1", 2)], [project("a", 4)],
                      [work("r", "a", on="n0"), work("s", "a", on="n1"), work("w", "a", pod=GANG)]),
     "Moved", {"project": "a", "deserved": 4, "limit": None, "fairShare": 4, "allocatedBefore": 2, "allocatedAfter": 4},
     {"project": "a", "deserved": 4, "limit": None, "fairShare": 4, "allocatedBefore": 2, "allocatedAfter": 4}),
    ("a gang that lost pods", cluster([node("n0", 2)], [project("a", 4)], [{
        **work("w", "a", pods=2, on="n0", minPods=3, staleSeconds=3600), "preemptibility": "non-preemptible"}]),
     "StaleGang", {"project": "a", "deserved": 4, "limit": None, "fairShare": 2, "allocatedBefore": 2, "allocatedAfter": 0}, None),
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


def what_if(document, workload, tmp_path):
    path = tmp_path / "workload.json"
    path.write_text(json.dumps(workload))
    return ask(document, "--what-if", path)["whatIf"]


def fixes_of(answer):
    return {fix["kind"]: fix for fix in answer["fixes"]}


# sentence, cluster, workload, verdict, words of the sentence, forecast
VERDICTS = [
    ("room is there", cluster([node("n0", 4)], [project("a", 4)], []), work("x", "a", pod=GANG), "Starts", "Starts at once on n0 with 2 GPUs", "now"),
    ("over two nodes", cluster([node("n0", 2), node("n1", 2)], [project("a", 4)], []), work("x", "a", pods=4), "Starts",
     "Starts at once on n0 and n1 with 4 pods and 4 GPUs", "now"),
    ("over many nodes", cluster([node(f"n{i}", 1) for i in range(4)], [project("a", 4)], []), work("x", "a", pods=4), "Starts",
     "Starts at once on n0 and 3 other nodes with 4 pods and 4 GPUs", "now"),
    ("without a GPU", cluster([node("n0", 0)], [project("a", 4)], []), work("x", "a", pod={"gpuDevices": 0, "cpuCores": 1}), "Starts",
     "Starts at once on n0", "now"),
    ("what stops already", cluster([node("n0", 1)], [project("a", 1)],
                                   [{**work("r", "a"), "pods": [{"name": "r-0", "gpuDevices": 1, "status": "Releasing", "node": "n0"}]}]),
     work("x", "a"), "StartsAfterRelease", "Starts on n0 with 1 GPU, once the workload there has stopped", "decided"),
    ("by reclaim", full(), work("w2", "a", pod=GANG), "Waits", "", "unknown"),
    ("by eviction", cluster([node("n0", 2)], [project("a", 2), project("b", 0)], [work("r", "b", pods=2, on="n0")]), work("x", "a"),
     "StartsByEviction", "Starts on n0 with 1 GPU, once 1 workload of b yields 2 GPUs", "decided"),
    ("by moving", cluster([node("n0", 2), node("n1", 2)], [project("a", 4)], [work("r", "a", on="n0"), work("s", "a", on="n1")]),
     work("x", "a", pod=GANG), "StartsByEviction", "Starts on n1 with 2 GPUs, once 1 workload moves to other nodes", "decided"),
    ("nobody gives it", cluster([node("n0", 1)], [project("a", 1)], [work("r", "a", on="n0")]), work("x", "a"), "Waits",
     "Needs 1 GPU in default; 0 of its 1 GPU are free", "unknown"),
    ("larger than any node", cluster([node("n0", 4)], [project("a", 9)], []), work("x", "a", pod={"gpuDevices": 8}), "Waits",
     "Needs 8 GPUs on one node; the largest of default has 4", "never"),
    ("above the limit", cluster([node("n0", 4)], [project("a", 1, limit=1)], []), work("x", "a", pod=GANG), "Waits",
     "Needs 2 GPUs; the limit of a is 1 GPU", "never"),
    ("protected for now", cluster([node("n0", 2)], [project("a", 2), project("b", 0, reclaimMinRuntimeSeconds=60)],
                                  [work("r", "b", pods=2, on="n0", started=RECENT)]), work("x", "a"), "Waits", "0 of its 2 GPUs are free", "rule"),
    ("room that is reserved", cluster(
        [node("n0", 2)], [project("a", 2)], [work("r", "a", on="n0", maxRunSeconds=9000)], nodePools=[{"name": "default", "reservation": True}]),
     work("x", "a", pod=GANG), "Waits", "Needs 2 GPUs", "rule"),
    ("protected for now, and no way then", cluster(
        [node("n0", 3)], [project("a", 3), project("b", 0, reclaimMinRuntimeSeconds=60)],
        [work("r", "b", on="n0", started=RECENT), work("s", "a", pods=2, on="n0", preemptibility="non-preemptible")]),
     work("x", "a", pod=GANG), "Waits", "Needs 2 GPUs", "unknown"),
]


@pytest.mark.parametrize("document,workload,verdict,words,forecast", [pytest.param(*row[1:], id=row[0]) for row in VERDICTS])
def test_what_if(document, workload, verdict, words, forecast, tmp_path):
    answer = what_if(document, workload, tmp_path)
    assert (answer["verdict"], answer["forecast"]["kind"]) == (verdict, forecast), answer
    assert words in answer["sentence"]
    assert (answer["forecast"]["at"] is not None) == (forecast == "rule")
    assert (answer["couldLoseTo"] is None) == (verdict == "Waits")
    assert (answer["explanation"] == []) == (verdict != "Waits")


def test_a_rule_ends_at_its_time(tmp_path):
    answer = what_if(VERDICTS[11][1], VERDICTS[11][2], tmp_path)
    assert answer["forecast"]["at"] == "2026-01-01T12:00:30.000Z"
    assert "Gets its place at 2026-01-01T12:00:30.000Z if nothing else changes" in answer["forecast"]["sentence"]


# What is protected by 60 s starts at these seconds; 2 GPUs are needed.
@pytest.mark.parametrize("starts,at", [((30, 30), "12:00:30"), ((30, 50), "12:00:50"), ((30, 31), "12:00:31")], ids=str)
def test_rules_that_end_one_after_the_other(starts, at, tmp_path):
    victims = [work(f"r{i}", "b", on="n0", started=f"2026-01-01T11:59:{second}Z") for i, second in enumerate(starts)]
    answer = what_if(cluster([node("n0", 2)], [project("a", 2), project("b", 0, reclaimMinRuntimeSeconds=60)], victims), work("x", "a", pod=GANG), tmp_path)
    assert (answer["forecast"]["kind"], answer["forecast"]["at"]) == ("rule", f"2026-01-01T{at}.000Z"), answer["forecast"]
    assert f"2026-01-01T{at}.000Z if nothing else changes" in answer["forecast"]["sentence"]


# sentence, workload, words
LOSS = [
    ("non-preemptible", work("x", "a", preemptibility="non-preemptible"), "Nobody: it is non-preemptible"),
    ("within quota", work("x", "a"), "Work of a with a higher priority than 50 alone: with it the project stays within its quota"),
    ("borrowed", work("x", "a", pods=4), "Projects below their fair share: with it a holds 4 of its quota of 2 GPUs, 2 of them borrowed"),
]


@pytest.mark.parametrize("workload,words", [pytest.param(*row[1:], id=row[0]) for row in LOSS])
def test_who_could_take_it_back(workload, words, tmp_path):
    document = cluster([node("n0", 4)], [project("a", 2), project("b", 2)], [])
    assert what_if(document, workload, tmp_path)["couldLoseTo"] == words


def test_numbers_before_and_with(tmp_path):
    answer = what_if(cluster([node("n0", 4)], [project("a", 2), project("b", 2)], [work("r", "a", on="n0")]), work("x", "a", pods=2), tmp_path)
    numbers = answer["queue"]["project"]
    assert (numbers["before"]["allocated"], numbers["before"]["requested"]) == (1, 1)
    assert (numbers["with"]["allocated"], numbers["with"]["requested"], numbers["with"]["fairShare"]) == (3, 3, 3)
    assert answer["nodes"] == [{"name": "n0", "gpus": 2, "pods": 2}]


TWO_POOLS = cluster([node("n0", 1), {**node("n1", 4, gpuType="NVIDIA-A100"), "nodePool": "big"}], [project("a", 0)],
                    [work("r", "a", on="n0")], **POOLS)

def roles(workers, minimum):
    """A master and workers, each role with its minimum."""
    pods = [{"name": "x-m", "subGroup": "master", "role": "master", "gpuDevices": 1}]
    pods += [{"name": f"x-w{i}", "subGroup": "worker", "gpuDevices": 1} for i in range(workers)]
    return {"name": "x", "project": "a", "subGroups": [{"name": "master", "minPods": 1}, {"name": "worker", "minPods": minimum}], "pods": pods}


# sentence, cluster, workload, kind, change, sentence, verdict
FIXES = [
    ("another pool", TWO_POOLS, work("x", "a", pod=GANG), "OtherNodePool", {"nodePools": ["big"]}, "Use node pool big", "Starts"),
    ("preemptible", cluster([node("n0", 4)], [project("a", 1)], []), work("x", "a", pod=GANG, preemptibility="non-preemptible"),
     "OtherPreemptibility", {"preemptibility": "preemptible"}, "Make it preemptible", "Starts"),
    ("fewer GPUs", cluster([node("n0", 4)], [project("a", 4)], [work("r", "a", on="n0")]), work("x", "a", pod={"gpuDevices": 4}),
     "FewerGpus", {"gpuDevicesRequest": 3}, "Ask for 3 GPUs instead of 4", "Starts"),
    ("fewer GPUs of many", cluster([node("n0", 16)], [project("a", 16)], [work("r", "a", pods=5, on="n0", preemptibility="non-preemptible")]),
     work("x", "a", pod={"gpuDevices": 16}), "FewerGpus", {"gpuDevicesRequest": 11}, "Ask for 11 GPUs instead of 16", "Starts"),
    ("fewer GPUs per pod", cluster([node("n0", 6)], [project("a", 8)], []), work("x", "a", pods=2, pod={"gpuDevices": 4}), "FewerGpus",
     {"gpuDevicesRequest": 3}, "Ask for 3 GPUs per pod instead of 4", "Starts"),
    ("fewer pods", cluster([node("n0", 4)], [project("a", 8)], []), work("x", "a", pods=6), "FewerPods", {"pods": 4}, "Run 4 pods instead of 6", "Starts"),
    ("fewer pods of an elastic one", cluster([node("n0", 2)], [project("a", 8)], []), work("x", "a", pods=6, minPods=3), "FewerPods", {"pods": 2},
     "Run 2 pods instead of 6", "Starts"),
    ("fewer workers of an elastic one with a master", cluster([node("n0", 3)], [project("a", 8)], []), roles(6, 4), "FewerPods", {"pods": 3},
     "Run 3 pods instead of 7", "Starts"),
    ("priority", cluster([node("n0", 1)], [project("a", 1)], [work("r", "a", on="n0")]), work("x", "a"), "OtherPriority", {"priority": 65},
     "Raise its priority to medium-low (65)", "StartsByEviction"),
    ("quota", cluster([node("n0", 4)], [project("a", 1)], [work("r", "a", on="n0", preemptibility="non-preemptible")]),
     work("x", "a", pod=GANG, preemptibility="non-preemptible"), "MoreQuota",
     {"nodePool": "default", "project": "a", "quotaGpus": 3, "limitGpus": None}, "Raise the quota of a from 1 to 3 GPUs in default", "Starts"),
    ("limit", cluster([node("n0", 4)], [project("a", 4, limit=1)], []), work("x", "a", pod=GANG), "MoreQuota",
     {"nodePool": "default", "project": "a", "quotaGpus": 4, "limitGpus": 2}, "Raise the limit of a from 1 to 2 GPUs in default", "Starts"),
    ("quota of both", cluster([node("n0", 4)], [project("a", 1)], [], [department("d", 1)]), work("x", "a", pod=GANG, preemptibility="non-preemptible"),
     "MoreQuota", {"nodePool": "default", "project": "a", "quotaGpus": 2, "limitGpus": None, "department": "d", "departmentQuotaGpus": 2,
                   "departmentLimitGpus": None}, "Raise the quota of a from 1 to 2 GPUs and the quota of department d from 1 to 2 GPUs in default", "Starts"),
    ("quota of the department alone", cluster([node("n0", 4)], [project("a", 2)], [], [department("d", 1)]),
     work("x", "a", pod=GANG, preemptibility="non-preemptible"), "MoreQuota",
     {"nodePool": "default", "department": "d", "departmentQuotaGpus": 2, "departmentLimitGpus": None},
     "Raise the quota of department d from 1 to 2 GPUs in default", "Starts"),
    ("quota against who borrows", cluster([node("n0", 4)], [project("a", 1, weight=0), project("b", 1)],
                                          [work("q", "a", on="n0"), *(work(f"r{i}", "b", on="n0", age=i) for i in range(3))]), work("x", "a"), "MoreQuota",
     {"nodePool": "default", "project": "a", "quotaGpus": 2, "limitGpus": None}, "Raise the quota of a from 1 to 2 GPUs in default", "StartsByEviction"),
]


@pytest.mark.parametrize("document,workload,kind,change,sentence,verdict", [pytest.param(*row[1:], id=row[0]) for row in FIXES])
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
    document = cluster([node("n0", 4)], [project("a", 4), project("b", 1)],
                       [work("q", "a", pods=2, on="n0", preemptibility="non-preemptible"), work("r", "b", on="n0")])
    kinds = [(fix["displaced"] == [], fix["kind"]) for fix in what_if(document, work("x", "a", pod={"gpuDevices": 3}), tmp_path)["fixes"]]
    assert kinds == sorted(kinds, key=lambda kind: not kind[0]) and kinds[0][0], kinds


def test_no_fix_is_said_plainly(tmp_path):
    document = cluster([node("n0", 1, labels={"host": "n0"})], [project("a", 1)], [])
    answer = what_if(document, work("x", "a", pod={"nodeSelector": {"host": ["n9"]}}), tmp_path)
    assert (answer["verdict"], answer["fixes"], answer["forecast"]["kind"]) == ("Waits", [], "never")


def test_what_if_of_one_that_waits():
    document = cluster([node("n0", 1)], [project("a", 1)], [work("r", "a", on="n0"), work("w", "a")])
    answer = ask(document, "--what-if", "w")["whatIf"]
    assert answer["verdict"] == "Waits" and fixes_of(answer)["OtherPriority"]["change"] == {"priority": 65}
    assert answer["queue"]["project"]["before"]["requested"] == 1 and answer["queue"]["project"]["with"]["requested"] == 2


# sentence, cluster, names in order, rule that puts the first before the second, words
QUEUES = [
    ("priority", cluster([node("n0", 0)], [project("a", 1)], [work("u", "a"), work("v", "a", priority=80)]), ["v", "u"],
     "higher priority first", "Its priority is 80, the next workload's is 50"),
    ("age", cluster([node("n0", 0)], [project("a", 1)], [work("u", "a", age=9), work("v", "a")]), ["v", "u"], "older first",
     "It was submitted at 2026-01-01T10:00:00.000Z, the next at 2026-01-01T10:00:09.000Z"),
    ("name", cluster([node("n0", 0)], [project("a", 1)], [work("u", "a"), work("v", "a")]), ["u", "v"], "name, to break every tie",
     "Its name comes before the next workload's"),
    ("below its minimum", cluster([node("n0", 1)], [project("a", 1)], [work("v", "a"), {
        **work("u", "a", pods=2, minPods=1), "pods": [{"name": "u-0", "gpuDevices": 1, "status": "Running", "node": "n0"}, {"name": "u-1", "gpuDevices": 1}]}]),
     ["v", "u"], "below its minimum before at its minimum before above", "It is below its minimum with 0 pods, the next at its minimum with 1"),
    ("owed", cluster([node("n0", 6)], [project("a", 4), project("b", 4)], [work("r", "b", pods=4, on="n0"), work("q", "a", pods=2, on="n0"), work("u", "b"), work("v", "a")]),
     ["v", "u"], "within its deserved quota first", "With its next workload a holds 3 of its quota of 4 GPUs, b 5 of its quota of 4 GPUs"),
    ("rank", cluster([node("n0", 0)], [project("a", 0), project("b", 0, rank=200)], [work("u", "a"), work("v", "b")]), ["v", "u"],
     "higher rank first", "b has rank 200, a 100"),
    ("share with", cluster([node("n0", 4)], [project("a", 1), project("b", 1)],
                           [work("r", "b", pods=2, on="n0"), work("q", "a", pods=2, on="n0"), work("u", "b", pod=GANG), work("v", "a")]), ["v", "u"],
     "smaller dominant share with its next workload first", "With its next workload a holds 3 of a share of 2 GPUs, b 4 of a share of 2 GPUs"),
    ("departments", cluster([node("n0", 0)], [project("a", 0, "d"), project("b", 0, "e")], [work("u", "a"), work("v", "b")],
                            [department("d", 0), department("e", 0, rank=200)]), ["v", "u"], "higher rank first", "e has rank 200, d 100"),
    ("a promise", cluster([node("n0", 0)], [project("a", 1)], [work("u", "a"), work("v", "a", age=9, promise=0)]), ["v", "u"],
     "promises of the cycle before first", "Has a promise from the cycle before, the next has none"),
]


@pytest.mark.parametrize("document,names,rule,words", [pytest.param(*row[1:], id=row[0]) for row in QUEUES])
def test_queue_order(document, names, rule, words):
    listed = ask(document, "--queue", "default")["queue"]
    assert [entry["workload"] for entry in listed["workloads"]] == names and listed["total"] == len(names)
    assert (listed["workloads"][0]["rule"], listed["workloads"][0]["sentence"]) == (rule, words)
    assert listed["workloads"][-1]["rule"] is None


def test_queue_order_lists_each_once_and_leaves_out_what_is_not_ready():
    document = cluster([node("n0", 2)], [project("a", 2)],
                       [work("u", "a", pods=3, minPods=1), work("v", "a", pods=1, minPods=2), work("w", "a", deleting=True)])
    assert [entry["workload"] for entry in ask(document, "--queue", "default")["queue"]["workloads"]] == ["u"]


def test_pools_of_later_preference_come_later():
    document = cluster([node("n0", 0), {**node("n1", 0), "nodePool": "big"}], [project("a", 4)],
                       [work("u", "a", nodePools=["default", "big"]), work("v", "a", age=9, nodePools=["big"])], **POOLS)
    listed = ask(document, "--queue", "big")["queue"]["workloads"]
    assert [entry["workload"] for entry in listed] == ["v", "u"]
    assert listed[0]["rule"] == "node pools of earlier preference first"


def leaves(node):
    for child in node["children"]:
        yield child
        yield from leaves(child)


# sentence, cluster, project, (rule, given, sentence) of its terms
SHARES = [
    ("deserved", cluster([node("n0", 4)], [project("a", 2)], [work("w", "a", pods=3)]), "a",
     [("deserved", 2, "Deserves 2 GPUs and asks for 3"), ("overQuota", 1, "Rank 100, round 1: 1 of 1 weights of 1 GPU is 1; it wants 1")]),
    ("by weight", cluster([node("n0", 4)], [project("a", 0), project("b", 0, weight=3)], [work("u", "a", pods=8), work("v", "b", pods=8)]), "b",
     [("deserved", 0, "Deserves none and asks for 8 GPUs"), ("overQuota", 3, "Rank 100, round 1: 3 of 4 weights of 4 GPUs is 3")]),
    ("rounding", cluster([node("n0", 4)], [project("a", 0), project("b", 0, weight=2)], [work("u", "a", pods=8), work("v", "b", pods=8)]), "b",
     [("deserved", 0, "Deserves none and asks for 8 GPUs"),
      ("overQuota", 2, "Rank 100, round 1: 2 of 3 weights of 4 GPUs is 2.666, rounded down to 2"),
      ("remainder", 1, "Number 1 in the order of rounding remainders, with 1 GPU left")]),
    ("limit", cluster([node("n0", 4)], [project("a", 4, limit=2)], [work("w", "a", pods=3)]), "a", [("deserved", 2, "Deserves 4 GPUs and asks for 3, limit 2")]),
    ("all it asks for", cluster([node("n0", 4)], [project("a", None)], [work("w", "a", pods=3)]), "a", [("deserved", 3, "Deserves what it asks for, 3 GPUs")]),
    ("past usage", cluster([node("n0", 3)], [project("a", 0), project("b", 0)], [work("u", "a", pods=8), work("v", "b", pods=8)],
                           usage=[{"name": "a", "gpu": 0.5}]), "a",
     [("deserved", 0, "Deserves none and asks for 8 GPUs"), ("overQuota", 1, "Rank 100, round 1: 1 of 2 weights of 3 GPUs is 1, past usage counted")]),
]


@pytest.mark.parametrize("document,name,terms", [pytest.param(*row[1:], id=row[0]) for row in SHARES])
def test_fair_share(document, name, terms):
    tree = ask(document, "--fairshare", "default")["fairShare"]
    found = next(leaf for leaf in leaves(tree["root"]) if leaf["kind"] == "project" and leaf["name"] == name)
    assert [(term["rule"], term["given"], term["sentence"]) for term in found["terms"] if term["given"] or term["rule"] == "deserved"] == terms
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
    ("no such resource", ["--fairshare", "default", "--resource", "disk"], None, '--resource: gpu, cpu or memory, got "disk"'),
    ("a file that is not there", ["--what-if", "/nowhere.json"], None, "/nowhere.json: No such file or directory"),
    ("not JSON", ["--what-if"], "{", "workload.json: "),
    ("not an object", ["--what-if"], "[]", "workload.json: workloads[2]: an object, got a list"),
    ("a project that is not there", ["--what-if"], json.dumps(work("x", "nobody")), 'workloads[2].project: no project "nobody"'),
    ("a name that is taken", ["--what-if"], json.dumps(work("r", "a")), "workload.json: "),
    ("a bad amount", ["--what-if"], json.dumps(work("x", "a", pod={"gpuDevices": -1})), "workloads[2].pods[0].gpuDevices: "),
    ("a value that is missing", ["--queue"], None, "--queue: needs a value"),
]


@pytest.mark.parametrize("arguments,text,words", [pytest.param(*row[1:], id=row[0]) for row in BAD])
def test_bad_questions(arguments, text, words, tmp_path):
    if text is not None:
        (tmp_path / "workload.json").write_text(text)
        arguments = [*arguments, str(tmp_path / "workload.json")]
    assert words in ask(full(), *arguments, status=2)


@pytest.mark.parametrize("pools,kind", [(["default"], "never"), (["big"], "unknown"), (["default", "big"], "unknown")], ids=str)
def test_what_no_node_is_large_enough_for(pools, kind):
    """Only where that holds of every pool that it may use."""
    document = cluster([node("n0", 2), {**node("n1", 4), "nodePool": "big"}], [project("a", 4)],
                       [work("r", "a", on="n1", nodePools=["big"], preemptibility="non-preemptible"), work("w", "a", pod={"gpuDevices": 4}, nodePools=pools)],
                       nodePools=[{"name": "default"}, {"name": "big"}])
    workloads = {w["name"]: w for w in ask(document, "--explain")["cycles"][0]["workloads"]}
    assert workloads["w"]["forecast"]["kind"] == kind, workloads["w"]
