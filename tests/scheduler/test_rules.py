"""The rules of docs/scheduler.md, a row each: a small cluster, and who runs where after so many cycles."""
import json
import subprocess

import pytest

from conftest import PRORATA

NOW = "2026-01-01T12:00:00Z"
EARLIER = "2026-01-01T11:59:00Z"  # a minute ago
LONG_AGO = "2026-01-01T10:00:00Z"


def node(name, gpus, **more):
    return {"name": name, "nodePool": "default", "gpus": gpus, "gpuMemoryMib": 16000, "cpuCores": 32,
            "memoryBytes": 64 * 2**30, "labels": {"host": name}, **more}


def queue(deserved, limit=None, weight=1, rank=100, pool="default"):
    return {"nodePool": pool, "rank": rank, "gpu": {"deserved": deserved, "limit": limit, "overQuotaWeight": weight}}


def project(name, deserved, department="d", **more):
    numbers = {key: more.pop(key) for key in ("limit", "weight", "rank") if key in more}
    return {"name": name, "department": department, "createdAt": NOW, "resources": [queue(deserved, **numbers)], **more}


def department(name, deserved=None, **more):
    return {"name": name, "createdAt": NOW, "resources": [queue(deserved, **more)]}


def work(name, project, pods=1, on=None, started=LONG_AGO, age=0, pod=None, **more):
    """A workload of like pods; on: the node (or nodes) that they run on."""
    request = {"gpuDevices": 1, **(pod or {})}
    where = [on] * pods if isinstance(on, str) else on
    running = lambda i: {"status": "Running", "node": where[i], "startedAt": started} if where else {}
    return {"name": name, "project": project, "createdAt": "2026-01-01T10:00:%02dZ" % age,
            "pods": [{"name": f"{name}-{i}", **request, **running(i)} for i in range(pods)], **more}


def cluster(nodes, projects, workloads, departments=None, **more):
    return {"version": 1, "now": NOW, "nodePools": [{"name": "default"}], "nodes": nodes, "projects": projects,
            "departments": departments or [department("d")], "workloads": workloads, **more}


def simulate(document, cycles=1):
    done = subprocess.run([PRORATA, "simulate", "-", "--cycles", str(cycles)], input=json.dumps(document),
                          capture_output=True, text=True, timeout=60)
    assert (done.returncode, done.stderr) == (0, "")
    return json.loads(done.stdout)


def pods_of(cycle):
    return {pod["name"]: (pod["status"], pod.get("node")) for pod in cycle["pods"]}


TOPOLOGY = [{"name": "dc", "levels": ["rack", "host"]}]


def rack(name, gpus, rack_name, **more):
    return node(name, gpus, labels={"host": name, "rack": rack_name}, **more)


RESERVE = [{"name": "default", "reservation": True}]
FRAGMENTATION = [{"name": "default", "placementStrategy": {"gpu": "fragmentation", "cpu": "fragmentation"}}]


# sentence, cluster, pods that are looked at after the first cycle
FIRST_CYCLE = [
    # 5.3, 5.4: where a pod goes
    ("bin-pack takes the node with least room", cluster(
        [node("n0", 4), node("n1", 4)], [project("a", 8)], [work("r", "a", on="n1"), work("w", "a")]),
     {"w-0": ("Binding", "n1")}),
    ("equal nodes go by name", cluster([node("n0", 4), node("n1", 4)], [project("a", 8)], [work("w", "a")]),
     {"w-0": ("Binding", "n0")}),
    ("spread takes the node with the largest free part", cluster(
        [node("n0", 4), node("n1", 4)], [project("a", 8)], [work("r", "a", on="n0"), work("w", "a")],
        nodePools=[{"name": "default", "placementStrategy": {"gpu": "spread", "cpu": "spread"}}]),
     {"w-0": ("Binding", "n1")}),
    ("fragmentation: a part goes where it leaves room for the part that is typical", cluster(
        [node("n0", 1), node("n1", 1)], [project("a", 8)],
        [work("q", "a", on="n0", pod={"gpuPortion": 0.3}), work("r", "a", on="n1", pod={"gpuPortion": 0.5}),
         work("w", "a", pod={"gpuPortion": 0.5})], nodePools=FRAGMENTATION), {"w-0": ("Binding", "n1")}),
    ("fragmentation: a part opens a device where sharing one would spoil it for the others", cluster(
        [node("n0", 2)], [project("a", 8)],
        [work("q", "a", on="n0", pod={"gpuPortion": 0.2}), work("w", "a", pod={"gpuPortion": 0.1}),
         *(work(f"x{i}", "a", age=9, pod={"gpuPortion": 0.8}) for i in range(3))], nodePools=FRAGMENTATION),
     {"w-0": ("Binding", "n0"), "x0-0": ("Binding", "n0"), "x1-0": ("Binding", "n0"), "x2-0": ("Pending", None)}),
    ("fragmentation: a pod that needs much CPU goes where GPUs are taken already", cluster(
        [node("n0", 2, cpuCores=8), node("n1", 2, cpuCores=8)], [project("a", 8)],
        [work("q", "a", on="n1", pod={"gpuDevices": 2, "cpuCores": 1}), work("w", "a", pod={"gpuDevices": 0, "cpuCores": 7}),
         work("x", "a", age=9, pod={"gpuDevices": 2, "cpuCores": 4})], nodePools=FRAGMENTATION),
     {"w-0": ("Binding", "n1"), "x-0": ("Binding", "n0")}),
    ("fragmentation: room now beats less waste", cluster(
        [node("n0", 1), node("n1", 2)], [project("a", 8)],
        [work("r", "a", pod={"status": "Releasing", "node": "n0"}, deleting=True), work("w", "a"),
         work("x", "a", age=9, pod={"gpuDevices": 2})], nodePools=FRAGMENTATION), {"w-0": ("Binding", "n1")}),
    ("a pod without GPUs prefers a node without", cluster(
        [node("n0", 4), node("n1", 0)], [project("a", 8)], [work("w", "a", pod={"gpuDevices": 0, "cpuCores": 1})]),
     {"w-0": ("Binding", "n1")}),
    ("room now beats room to come", cluster(
        [node("n0", 1), node("n1", 4)], [project("a", 8)],
        [work("r", "a", pod={"status": "Releasing", "node": "n0"}, deleting=True), work("w", "a")]),
     {"w-0": ("Binding", "n1")}),
    ("what is being released can be promised", cluster(
        [node("n0", 1)], [project("a", 8)],
        [work("r", "a", pod={"status": "Releasing", "node": "n0"}, deleting=True), work("w", "a")]),
     {"w-0": ("Pipelined", "n0")}),
    ("what is stuck in releasing can not", cluster(
        [node("n0", 1)], [project("a", 8)],
        [work("r", "a", pod={"status": "StuckInReleasing", "node": "n0"}, deleting=True), work("w", "a")]),
     {"w-0": ("Pending", None)}),
    ("a workload that is being deleted gets nothing", cluster(
        [node("n0", 1)], [project("a", 8)], [work("w", "a", deleting=True)]), {"w-0": ("Pending", None)}),
    ("an absurd request waits, and nobody else", cluster(
        [node("n0", 1)], [project("a", 8)],
        [work("v", "a", pod={"gpuDevices": 1000, "memoryBytes": 2**45, "cpuCores": 100000}), work("w", "a", age=1)]),
     {"v-0": ("Pending", None), "w-0": ("Binding", "n0")}),
    # 4.4: who may go where
    ("a selector picks the node", cluster(
        [node("n0", 4), node("n1", 4)], [project("a", 8)], [work("w", "a", pod={"nodeSelector": {"host": ["n1"]}})]),
     {"w-0": ("Binding", "n1")}),
    ("no node with the label", cluster(
        [node("n0", 4)], [project("a", 8)], [work("w", "a", pod={"nodeSelector": {"host": ["n9"]}})]),
     {"w-0": ("Pending", None)}),
    ("a taint keeps pods away", cluster(
        [node("n0", 4, taints=[{"key": "k", "value": "v", "effect": "NoSchedule"}]), node("n1", 4)], [project("a", 8)],
        [work("w", "a")]), {"w-0": ("Binding", "n1")}),
    ("a toleration lets them in", cluster(
        [node("n0", 4, taints=[{"key": "k", "value": "v", "effect": "NoSchedule"}])], [project("a", 8)],
        [work("w", "a", pod={"tolerations": [{"key": "k", "operator": "Equal", "value": "v", "effect": "NoSchedule"}]})]),
     {"w-0": ("Binding", "n0")}),
    ("a cordoned node takes nothing new", cluster(
        [node("n0", 4, cordoned=True)], [project("a", 8)], [work("w", "a")]), {"w-0": ("Pending", None)}),
    ("no victim is evicted for a node that the pod may not use", cluster(
        [node("n0", 1), node("n1", 1)], [project("a", 1), project("b", 1)],
        [work("r", "b", on="n1"), work("s", "b", on="n0"), work("w", "a", pod={"nodeSelector": {"host": ["n1"]}})]),
     {"r-0": ("Releasing", "n1"), "s-0": ("Running", "n0"), "w-0": ("Pipelined", "n1")}),
    ("an unhealthy device is not free", cluster(
        [node("n0", 2, unhealthyGpus=[0])], [project("a", 8)], [work("w", "a", pod={"gpuDevices": 2}), work("x", "a", age=1)]),
     {"w-0": ("Pending", None), "x-0": ("Binding", "n0")}),
    ("a pod on an unhealthy device goes on", cluster(
        [node("n0", 2, unhealthyGpus=[0])], [project("a", 8)],
        [work("r", "a", on="n0", pod={"gpuIndices": [0]}), work("w", "a")]), {"r-0": ("Running", "n0"), "w-0": ("Binding", "n0")}),
    ("nobody is evicted for a device that is unhealthy", cluster(
        [node("n0", 1, unhealthyGpus=[0])], [project("a", 1), project("b", 0)],
        [work("r", "b", on="n0", pod={"gpuIndices": [0]}), work("w", "a")]), {"r-0": ("Running", "n0"), "w-0": ("Pending", None)}),
    ("a part joins no unhealthy device", cluster(
        [node("n0", 2, unhealthyGpus=[0])], [project("a", 8)],
        [work("r", "a", on="n0", pod={"gpuPortion": 0.2, "gpuGroups": ["0"], "gpuIndices": [0]}),
         work("w", "a", pod={"gpuPortion": 0.6}), work("x", "a", age=1, pod={"gpuPortion": 0.6})]),
     {"w-0": ("Binding", "n0"), "x-0": ("Pending", None)}),
    # pods of a workload together
    ("required pod affinity: in one value of the label or not at all", cluster(
        [rack("n0", 1, "r0"), rack("n1", 1, "r1"), rack("n2", 1, "r1")], [project("a", 4)],
        [work("w", "a", pods=3, podAffinity={"type": "required", "key": "rack"}, minPods=3)]),
     {"w-0": ("Pending", None), "w-1": ("Pending", None), "w-2": ("Pending", None)}),
    ("required pod affinity: growth joins the pods that stand", cluster(
        [rack("n0", 1, "r0"), rack("n1", 1, "r1"), rack("n2", 1, "r1")], [project("a", 4)],
        [{**work("w", "a", podAffinity={"type": "required", "key": "rack"}, minPods=1),
          "pods": [{"name": "w-0", "gpuDevices": 1, "status": "Running", "node": "n1"}, {"name": "w-1", "gpuDevices": 1},
                   {"name": "w-2", "gpuDevices": 1}]}]),
     {"w-1": ("Binding", "n2"), "w-2": ("Pending", None)}),
    ("required pod affinity: nodes without the label take none", cluster(
        [node("n0", 4)], [project("a", 4)], [work("w", "a", podAffinity={"type": "required", "key": "rack"})]),
     {"w-0": ("Pending", None)}),
    ("preferred pod affinity: together before packed", cluster(
        [rack("n0", 1, "r0"), rack("n1", 2, "r1"), rack("n2", 4, "r1")], [project("a", 8)],
        [{**work("w", "a", podAffinity={"type": "preferred", "key": "rack"}, minPods=1),
          "pods": [{"name": "w-0", "gpuDevices": 2, "status": "Running", "node": "n1"}, {"name": "w-1", "gpuDevices": 1}]}]),
     {"w-1": ("Binding", "n2")}),
    ("preferred pod affinity: apart rather than not", cluster(
        [rack("n0", 1, "r0"), rack("n1", 1, "r1")], [project("a", 8)],
        [work("w", "a", pods=2, podAffinity={"type": "preferred", "key": "rack"})]),
     {"w-0": ("Binding", "n0"), "w-1": ("Binding", "n1")}),
    # reservation: r runs on two of three nodes until half past twelve, w waits for all of n0 and n1
    ("without a reservation a small one takes what a gang waits for", cluster(
        [node("n0", 2), node("n1", 2)], [project("a", 0)],
        [work("r", "a", on="n0"), work("w", "a", pods=2, pod={"gpuDevices": 2}), work("x", "a", age=1)]),
     {"w-0": ("Pending", None), "x-0": ("Binding", "n0")}),
    ("a reservation keeps it", cluster(
        [node("n0", 2), node("n1", 2)], [project("a", 0)],
        [work("r", "a", on="n0"), work("w", "a", pods=2, pod={"gpuDevices": 2}), work("x", "a", age=1)], nodePools=RESERVE),
     {"w-0": ("Pending", None), "x-0": ("Pending", None)}),
    ("also from one that is older", cluster(
        [node("n0", 2), node("n1", 2)], [project("a", 0)],
        [work("r", "a", on="n0"), work("w", "a", pods=2, age=1, pod={"gpuDevices": 2}), work("x", "a")], nodePools=RESERVE),
     {"w-0": ("Pending", None), "x-0": ("Pending", None)}),
    ("nodes that are not reserved are for all", cluster(
        [node("n0", 2), node("n1", 2), node("n2", 1)], [project("a", 0)],
        [work("r", "a", on="n0"), work("w", "a", pods=2, pod={"gpuDevices": 2}), work("x", "a", age=1)], nodePools=RESERVE),
     {"w-0": ("Pending", None), "x-0": ("Binding", "n2")}),
    ("and so is what the gang leaves of a node", cluster(
        [node("n0", 2), node("n1", 3)], [project("a", 0)],
        [work("r", "a", on="n0"), work("w", "a", pods=2, pod={"gpuDevices": 2}), work("x", "a", age=1)], nodePools=RESERVE),
     {"w-0": ("Pending", None), "x-0": ("Binding", "n1")}),
    ("who is gone before the gang can start fills the gap", cluster(
        [node("n0", 2), node("n1", 2)], [project("a", 0)],
        [work("r", "a", on="n0", maxRunSeconds=9000), work("w", "a", pods=2, pod={"gpuDevices": 2}),
         work("x", "a", age=1, maxRunSeconds=1800)], nodePools=RESERVE),
     {"w-0": ("Pending", None), "x-0": ("Binding", "n0")}),
    ("a second too long", cluster(
        [node("n0", 2), node("n1", 2)], [project("a", 0)],
        [work("r", "a", on="n0", maxRunSeconds=9000), work("w", "a", pods=2, pod={"gpuDevices": 2}),
         work("x", "a", age=1, maxRunSeconds=1801)], nodePools=RESERVE),
     {"w-0": ("Pending", None), "x-0": ("Pending", None)}),
    ("the largest gang has the reservation, not the first", cluster(
        [node("n0", 2), node("n1", 2)], [project("a", 0)],
        [work("r", "a", on="n0"), work("v", "a", pod={"gpuDevices": 2}), work("q", "a", on="n1"),
         work("w", "a", age=5, pods=2, pod={"gpuDevices": 2}), work("x", "a", age=9)], nodePools=RESERVE),
     {"v-0": ("Pending", None), "w-0": ("Pending", None), "x-0": ("Pending", None)}),
    ("a gang that could never start has none", cluster(
        [node("n0", 2), node("n1", 2)], [project("a", 0)],
        [work("r", "a", on="n0"), work("w", "a", pods=3, pod={"gpuDevices": 2}), work("x", "a", age=1)], nodePools=RESERVE),
     {"w-0": ("Pending", None), "x-0": ("Binding", "n0")}),
    ("nor one that its limit stops", cluster(
        [node("n0", 2), node("n1", 2)], [project("a", 0, limit=3)],
        [work("r", "a", on="n0"), work("w", "a", pods=2, pod={"gpuDevices": 2}), work("x", "a", age=1)], nodePools=RESERVE),
     {"w-0": ("Pending", None), "x-0": ("Binding", "n0")}),
    ("who takes what it deserves is not held back for a gang beyond quota", cluster(
        [node("n0", 2), node("n1", 2)], [project("a", 0), project("b", 1)],
        [work("r", "a", on="n0"), work("w", "a", pods=2, pod={"gpuDevices": 2}), work("x", "b", age=1)], nodePools=RESERVE),
     {"w-0": ("Pending", None), "x-0": ("Binding", "n0")}),
    ("nor a higher priority of the same project", cluster(
        [node("n0", 2), node("n1", 2)], [project("a", 0)],
        [work("r", "a", on="n0"), work("w", "a", pods=2, pod={"gpuDevices": 2}), work("x", "a", age=1, priority=60)], nodePools=RESERVE),
     {"w-0": ("Pending", None), "x-0": ("Binding", "n0")}),
    ("the gang starts as soon as it can", cluster(
        [node("n0", 2), node("n1", 2)], [project("a", 0)],
        [work("x", "a"), work("w", "a", age=1, pods=2, pod={"gpuDevices": 2}, priority=60)], nodePools=RESERVE),
     {"w-0": ("Binding", "n0"), "w-1": ("Binding", "n1"), "x-0": ("Pending", None)}),
    # 5.6: shared devices
    ("a part joins a device that is shared already", cluster(
        [node("n0", 2), node("n1", 1)], [project("a", 8)],
        [work("r", "a", on="n0", pod={"gpuPortion": 0.5}), work("w", "a", pod={"gpuPortion": 0.5})]),
     {"w-0": ("Binding", "n0")}),
    ("two parts that are too large take two devices", cluster(
        [node("n0", 1), node("n1", 1)], [project("a", 8)],
        [work("r", "a", on="n0", pod={"gpuPortion": 0.6}), work("w", "a", pod={"gpuPortion": 0.5})]),
     {"w-0": ("Binding", "n1")}),
    ("with spread a part goes by what is free, not to a device that is shared already", cluster(
        [node("n0", 2), node("n1", 1)], [project("a", 8)],
        [work("r", "a", on="n0", pod={"gpuPortion": 0.5}), work("w", "a", pod={"gpuPortion": 0.5})],
        nodePools=[{"name": "default", "placementStrategy": {"gpu": "spread", "cpu": "spread"}}]),
     {"w-0": ("Binding", "n1")}),
    ("parts of several devices need as many", cluster(
        [node("n0", 1), node("n1", 2)], [project("a", 8)], [work("w", "a", pod={"gpuDevices": 2, "gpuPortion": 0.5})]),
     {"w-0": ("Binding", "n1")}),
    ("an amount of memory is a part too", cluster(
        [node("n0", 1)], [project("a", 8)],
        [work("r", "a", on="n0", pod={"gpuMemoryMib": 8000}), work("w", "a", pod={"gpuMemoryMib": 8000}),
         work("x", "a", age=1, pod={"gpuMemoryMib": 1000})]),
     {"w-0": ("Binding", "n0"), "x-0": ("Pending", None)}),
    # 4.2: limits and quota
    ("a limit stops what has room", cluster(
        [node("n0", 4)], [project("a", 4, limit=1)], [work("r", "a", on="n0"), work("w", "a")]), {"w-0": ("Pending", None)}),
    ("a department's limit does too", cluster(
        [node("n0", 4)], [project("a", 4)], [work("r", "a", on="n0"), work("w", "a")],
        departments=[department("d", 4, limit=1)]), {"w-0": ("Pending", None)}),
    ("departments off: their limit plays no role", cluster(
        [node("n0", 4)], [project("a", 4)], [work("r", "a", on="n0"), work("w", "a")],
        departments=[department("d", 4, limit=1)], settings={"fullHierarchyFairness": False}), {"w-0": ("Binding", "n0")}),
    ("non-preemptible stays within quota", cluster(
        [node("n0", 4)], [project("a", 1)],
        [work("r", "a", on="n0", preemptibility="non-preemptible"), work("w", "a", preemptibility="non-preemptible")]),
     {"w-0": ("Pending", None)}),
    ("preemptible may go over quota", cluster(
        [node("n0", 4)], [project("a", 1)], [work("r", "a", on="n0"), work("w", "a")]), {"w-0": ("Binding", "n0")}),
    # 3.2, 3.3: who is first
    ("higher priority first", cluster(
        [node("n0", 1)], [project("a", 1)], [work("w", "a"), work("x", "a", age=1, priority=60)]),
     {"w-0": ("Pending", None), "x-0": ("Binding", "n0")}),
    ("older first", cluster([node("n0", 1)], [project("a", 1)], [work("w", "a", age=1), work("x", "a")]),
     {"w-0": ("Pending", None), "x-0": ("Binding", "n0")}),
    ("whoever is owed goes before whoever is not", cluster(
        [node("n0", 2)], [project("a", 0), project("b", 2)],
        [work("w", "a"), work("r", "b", on="n0"), work("x", "b", age=9)]),
     {"w-0": ("Pending", None), "x-0": ("Binding", "n0")}),
    ("a higher rank first, both starved", cluster(
        [node("n0", 1)], [project("a", 1), project("b", 1, rank=200)], [work("w", "a"), work("x", "b")]),
     {"w-0": ("Pending", None), "x-0": ("Binding", "n0")}),
    # 10: gangs, growth, sub-groups
    ("a gang starts whole or not at all", cluster(
        [node("n0", 2)], [project("a", 4)], [work("w", "a", pods=3), work("x", "a", age=1)]),
     {"w-0": ("Pending", None), "w-2": ("Pending", None), "x-0": ("Binding", "n0")}),
    ("an elastic workload takes what there is", cluster(
        [node("n0", 2)], [project("a", 4)], [work("w", "a", pods=3, minPods=1)]),
     {"w-0": ("Binding", "n0"), "w-1": ("Binding", "n0"), "w-2": ("Pending", None)}),
    ("a gang that has to wait for one place waits whole", cluster(
        [node("n0", 2)], [project("a", 4)],
        [work("r", "a", pod={"status": "Releasing", "node": "n0"}, deleting=True), work("w", "a", pods=2)]),
     {"w-0": ("Pipelined", "n0"), "w-1": ("Pipelined", "n0")}),
    ("gated pods keep a gang from starting", cluster(
        [node("n0", 2)], [project("a", 4)],
        [{"name": "w", "project": "a", "pods": [{"name": "w-0", "gpuDevices": 1},
                                                 {"name": "w-1", "gpuDevices": 1, "status": "Gated"}]}]),
     {"w-0": ("Pending", None)}),
    ("all sub-groups or none", cluster(
        [node("n0", 2)], [project("a", 4)],
        [{"name": "w", "project": "a", "subGroups": [{"name": "a", "minPods": 1}, {"name": "b", "minPods": 2}],
          "pods": [{"name": "w-0", "gpuDevices": 1, "subGroup": "a"}, {"name": "w-1", "gpuDevices": 1, "subGroup": "b"},
                   {"name": "w-2", "gpuDevices": 1, "subGroup": "b"}]}]),
     {"w-0": ("Pending", None), "w-1": ("Pending", None)}),
    ("one sub-group is enough where one is asked for", cluster(
        [node("n0", 1)], [project("a", 4)],
        [{"name": "w", "project": "a", "minSubGroups": 1, "subGroups": [{"name": "a", "minPods": 1}, {"name": "b", "minPods": 1}],
          "pods": [{"name": "w-0", "gpuDevices": 1, "subGroup": "a"}, {"name": "w-1", "gpuDevices": 1, "subGroup": "b"}]}]),
     {"w-0": ("Binding", "n0"), "w-1": ("Pending", None)}),
    ("a master is placed first", cluster(
        [node("n0", 1), node("n1", 2)], [project("a", 4)],
        [{"name": "w", "project": "a", "pods": [{"name": "w-0", "gpuDevices": 1}, {"name": "w-1", "gpuDevices": 1, "role": "master"}]}]),
     {"w-0": ("Binding", "n1"), "w-1": ("Binding", "n0")}),
    # 5.8: topology
    ("a required level keeps the pods together", cluster(
        [rack("n0", 1, "r0"), rack("n1", 1, "r1"), rack("n2", 1, "r1")], [project("a", 4)],
        [work("w", "a", pods=2, topology={"name": "dc", "required": "rack"})], topologies=TOPOLOGY),
     {"w-0": ("Binding", "n1"), "w-1": ("Binding", "n2")}),
    ("no domain is large enough", cluster(
        [rack("n0", 1, "r0"), rack("n1", 1, "r1")], [project("a", 4)],
        [work("w", "a", pods=2, topology={"name": "dc", "required": "rack"})], topologies=TOPOLOGY),
     {"w-0": ("Pending", None), "w-1": ("Pending", None)}),
    ("a preferred level is left where it must be", cluster(
        [rack("n0", 1, "r0"), rack("n1", 1, "r1")], [project("a", 4)],
        [work("w", "a", pods=2, topology={"name": "dc", "preferred": "rack"})], topologies=TOPOLOGY),
     {"w-0": ("Binding", "n1"), "w-1": ("Binding", "n0")}),
    ("the fullest domain that has room", cluster(
        [rack("n0", 4, "r0"), rack("n1", 2, "r1")], [project("a", 4)],
        [work("w", "a", pods=2, topology={"name": "dc", "required": "rack"})], topologies=TOPOLOGY),
     {"w-0": ("Binding", "n1"), "w-1": ("Binding", "n1")}),
    ("growth stays in the domain where the workload stands", cluster(
        [rack("n0", 2, "r0"), rack("n1", 1, "r1"), rack("n2", 4, "r1")], [project("a", 9)],
        [work("r", "a", on="n0"), {**work("w", "a", pods=1, on="n1", topology={"name": "dc", "required": "rack"}, minPods=1),
          "pods": [{"name": "w-0", "gpuDevices": 1, "status": "Running", "node": "n1"}, {"name": "w-1", "gpuDevices": 1}]}],
        topologies=TOPOLOGY), {"w-1": ("Binding", "n2")}),
    # 6: reclaim
    ("an owner takes back what was lent, from the youngest", cluster(
        [node("n0", 2)], [project("a", 1), project("b", 1)],
        [work("r", "b", on="n0"), work("s", "b", on="n0", age=5), work("w", "a")]),
     {"r-0": ("Running", "n0"), "s-0": ("Releasing", "n0"), "w-0": ("Pipelined", "n0")}),
    ("nobody reclaims over its fair share", cluster(
        [node("n0", 2)], [project("a", 1), project("b", 1)],
        [work("q", "a", on="n0"), work("r", "b", on="n0"), work("w", "a")]), {"r-0": ("Running", "n0"), "w-0": ("Pending", None)}),
    ("a non-preemptible workload keeps what it has", cluster(
        [node("n0", 2)], [project("a", 1), project("b", 2)],
        [work("r", "b", pods=2, on="n0", preemptibility="non-preemptible"), work("w", "a")]),
     {"r-0": ("Running", "n0"), "w-0": ("Pending", None)}),
    ("a surplus pod goes before a whole workload", cluster(
        [node("n0", 3)], [project("a", 1), project("b", 1)],
        [work("r", "b", pods=2, on="n0", minPods=1), work("s", "b", on="n0", age=5), work("w", "a")]),
     {"r-0": ("Running", "n0"), "r-1": ("Releasing", "n0"), "s-0": ("Running", "n0"), "w-0": ("Pipelined", "n0")}),
    ("a gang goes as a whole", cluster(
        [node("n0", 2)], [project("a", 1), project("b", 0)], [work("r", "b", pods=2, on="n0"), work("w", "a")]),
     {"r-0": ("Releasing", "n0"), "r-1": ("Releasing", "n0"), "w-0": ("Pipelined", "n0")}),
    ("above its fair share by one, it loses one", cluster(
        [node("n0", 5)], [project("a", 3), project("b", 2)],
        [work("q", "a", pods=2, on="n0"), *(work(f"r{i}", "b", on="n0", age=i) for i in range(3)), work("w", "a")]),
     {"r2-0": ("Releasing", "n0"), "r1-0": ("Running", "n0"), "w-0": ("Pipelined", "n0")}),
    ("exactly at its fair share and quota, it keeps all", cluster(
        [node("n0", 4)], [project("a", 3), project("b", 2)],
        [work("q", "a", pods=2, on="n0"), work("r", "b", on="n0"), work("s", "b", on="n0"), work("w", "a")]),
     {"r-0": ("Running", "n0"), "s-0": ("Running", "n0"), "w-0": ("Pending", None)}),
    ("within quota, from someone over quota inside a fair share", cluster(
        [node("n0", 5)], [project("a", 3), project("b", 1, weight=5)],
        [work("q", "a", pods=1, on="n0"), *(work(f"r{i}", "b", on="n0", age=i) for i in range(4)), work("w", "a")]),
     {"r3-0": ("Releasing", "n0"), "w-0": ("Pipelined", "n0")}),
    ("between departments the same", cluster(
        [node("n0", 5)], [project("a", None, "d"), project("b", None, "e")],
        [work("q", "a", pods=2, on="n0"), *(work(f"r{i}", "b", on="n0", age=i) for i in range(3)), work("w", "a")],
        departments=[department("d", 3), department("e", 2)]),
     {"r2-0": ("Releasing", "n0"), "r1-0": ("Running", "n0"), "w-0": ("Pipelined", "n0")}),
    ("a department at its share keeps all", cluster(
        [node("n0", 4)], [project("a", None, "d"), project("b", None, "e")],
        [work("q", "a", pods=2, on="n0"), work("r", "b", on="n0"), work("s", "b", on="n0"), work("w", "a")],
        departments=[department("d", 3), department("e", 2)]),
     {"r-0": ("Running", "n0"), "s-0": ("Running", "n0"), "w-0": ("Pending", None)}),
    ("a non-preemptible workload reclaims within quota", cluster(
        [node("n0", 1)], [project("a", 1), project("b", 0)],
        [work("r", "b", on="n0"), work("w", "a", preemptibility="non-preemptible")]),
     {"r-0": ("Releasing", "n0"), "w-0": ("Pipelined", "n0")}),
    ("CPU over its share stops a reclaim of GPUs", cluster(
        [node("n0", 1, cpuCores=4)],
        [{**project("a", 1), "resources": [{**queue(1), "cpu": {"deserved": 0, "limit": None, "overQuotaWeight": 0}}]}, project("b", 0)],
        [work("q", "a", on="n0", pod={"gpuDevices": 0, "cpuCores": 1}), work("r", "b", on="n0"), work("w", "a")]),
     {"r-0": ("Running", "n0"), "w-0": ("Pending", None)}),
    ("a search without budget evicts nobody", cluster(
        [node("n0", 1)], [project("a", 1), project("b", 0)], [work("r", "b", on="n0"), work("w", "a")],
        settings={"scenariosPerWorkload": 0}), {"r-0": ("Running", "n0"), "w-0": ("Pending", None)}),
    ("one scenario may be enough", cluster(
        [node("n0", 1)], [project("a", 1), project("b", 0)], [work("r", "b", on="n0"), work("w", "a")],
        settings={"scenariosPerWorkload": 1}), {"r-0": ("Releasing", "n0"), "w-0": ("Pipelined", "n0")}),
    ("who waits for its delay causes no eviction", cluster(
        [node("n0", 1)], [project("a", 1), project("b", 0)],
        [work("r", "b", on="n0"), work("w", "a", preemptionDelaySeconds=86400)]), {"r-0": ("Running", "n0"), "w-0": ("Pending", None)}),
    ("who was displaced three times in a row may displace others", cluster(
        [node("n0", 1)], [project("a", 1), project("b", 0)],
        [work("r", "b", on="n0"), work("w", "a", displacedTimes=3, lastDisplacedAt=NOW)]), {"r-0": ("Releasing", "n0"), "w-0": ("Pipelined", "n0")}),
    ("the fourth time it has to be patient for a minute", cluster(
        [node("n0", 1)], [project("a", 1), project("b", 0)],
        [work("r", "b", on="n0"), work("w", "a", displacedTimes=4, lastDisplacedAt="2026-01-01T11:59:01Z")]),
     {"r-0": ("Running", "n0"), "w-0": ("Pending", None)}),
    ("and then may again", cluster(
        [node("n0", 1)], [project("a", 1), project("b", 0)],
        [work("r", "b", on="n0"), work("w", "a", displacedTimes=4, lastDisplacedAt=EARLIER)]), {"r-0": ("Releasing", "n0"), "w-0": ("Pipelined", "n0")}),
    ("half an hour at most", cluster(
        [node("n0", 1)], [project("a", 1), project("b", 0)],
        [work("r", "b", on="n0"), work("w", "a", displacedTimes=99, lastDisplacedAt="2026-01-01T11:28:00Z")]), {"r-0": ("Releasing", "n0"), "w-0": ("Pipelined", "n0")}),
    ("patience keeps nobody from free room", cluster(
        [node("n0", 1)], [project("a", 1)], [work("w", "a", displacedTimes=99, lastDisplacedAt=NOW)]), {"w-0": ("Binding", "n0")}),
    ("a minimum run time protects from reclaim", cluster(
        [node("n0", 1)], [project("a", 1), project("b", 0, reclaimMinRuntimeSeconds=120)],
        [work("r", "b", on="n0", started=EARLIER), work("w", "a")]), {"r-0": ("Running", "n0"), "w-0": ("Pending", None)}),
    ("until it is over", cluster(
        [node("n0", 1)], [project("a", 1), project("b", 0, reclaimMinRuntimeSeconds=60)],
        [work("r", "b", on="n0", started=EARLIER), work("w", "a")]), {"r-0": ("Releasing", "n0"), "w-0": ("Pipelined", "n0")}),
    ("an elastic workload gives its surplus all the same", cluster(
        [node("n0", 2)], [project("a", 1), project("b", 0, reclaimMinRuntimeSeconds=120)],
        [work("r", "b", pods=2, minPods=1, on="n0", started=EARLIER), work("w", "a")]),
     {"r-0": ("Running", "n0"), "r-1": ("Releasing", "n0"), "w-0": ("Pipelined", "n0")}),
    ("between departments a project's minimum run time does not count", cluster(
        [node("n0", 1)], [project("a", 1, "d"), project("b", 0, "e", reclaimMinRuntimeSeconds=120)],
        [work("r", "b", on="n0", started=EARLIER), work("w", "a")],
        departments=[department("d", 1), department("e", 0)]), {"r-0": ("Releasing", "n0"), "w-0": ("Pipelined", "n0")}),
    ("the node pool's minimum run time is the default", cluster(
        [node("n0", 1)], [project("a", 1), project("b", 0)], [work("r", "b", on="n0", started=EARLIER), work("w", "a")],
        nodePools=[{"name": "default", "reclaimMinRuntimeSeconds": 120}]), {"r-0": ("Running", "n0"), "w-0": ("Pending", None)}),
    # 6.3, 6.9: the worked cases that are not above
    ("6.3: exactly at its fair share afterwards", cluster(
        [node("n0", 4)], [project("a", 2), project("b", 0)],
        [work("q", "a", on="n0"), *(work(f"r{i}", "b", on="n0", age=i) for i in range(3)), work("w", "a")]),
     {"r2-0": ("Releasing", "n0"), "r1-0": ("Running", "n0"), "w-0": ("Pipelined", "n0")}),
    ("6.3: non-preemptible, quota zero, fair share free", cluster(
        [node("n0", 2)], [project("a", 0, weight=5), project("b", 0)],
        [work("r", "b", on="n0"), work("s", "b", on="n0"), work("w", "a", preemptibility="non-preemptible")]),
     {"r-0": ("Running", "n0"), "s-0": ("Running", "n0"), "w-0": ("Pending", None)}),
    ("6.3: preemptible, quota zero, fair share free", cluster(
        [node("n0", 2)], [project("a", 0), project("b", 0)],
        [work("r", "b", on="n0"), work("s", "b", on="n0", age=5), work("w", "a")]),
     {"r-0": ("Running", "n0"), "s-0": ("Releasing", "n0"), "w-0": ("Pipelined", "n0")}),
    ("6.9: both at their fair share", cluster(
        [node("n0", 6)], [project("a", 3), project("b", 3)],
        [work("q", "a", pods=3, on="n0"), *(work(f"r{i}", "b", on="n0", age=i) for i in range(3)), work("w", "a")]),
     {"r2-0": ("Running", "n0"), "w-0": ("Pending", None)}),
    ("6.9: non-preemptible, and the department's quota is used up by such", cluster(
        [node("n0", 4)], [project("a", 2, "d"), project("c", 3, "d"), project("b", 0, "e")],
        [work("q", "c", pods=3, on="n0", preemptibility="non-preemptible"), work("r", "b", on="n0"),
         work("w", "a", preemptibility="non-preemptible")],
        departments=[department("d", 3), department("e", 0)]), {"r-0": ("Running", "n0"), "w-0": ("Pending", None)}),
    ("6.9: non-preemptible, and only preemptible ones use up the department's quota", cluster(
        [node("n0", 4)], [project("a", 1, "d"), project("c", 2, "d")],
        [*(work(f"r{i}", "c", on="n0", age=i) for i in range(4)), work("w", "a", preemptibility="non-preemptible")],
        departments=[department("d", 3)]), {"r3-0": ("Releasing", "n0"), "w-0": ("Pipelined", "n0")}),
    ("6.9: its department over its share, the other at none: no", cluster(
        [node("n0", 3)], [project("a", 1, "d"), project("c", 0, "d"), project("b", 1, "e")],
        [work("q", "c", on="n0"), work("r", "b", pods=2, on="n0"), work("w", "a")],
        departments=[department("d", 1, weight=0), department("e", 1, weight=1)]),
     {"r-0": ("Running", "n0"), "q-0": ("Releasing", "n0"), "w-0": ("Pipelined", "n0")}),
    # 6.6: the topology filter
    ("6.6: victims in the one rack that can hold the gang", cluster(
        [rack("n0", 1, "r0"), rack("n1", 1, "r1"), rack("n2", 1, "r1")], [project("a", 2), project("b", 1)],
        [work("r", "b", on="n0"), work("s", "b", on="n1", age=1), work("t", "b", on="n2", age=2),
         work("w", "a", pods=2, topology={"name": "dc", "required": "rack"})], topologies=TOPOLOGY),
     {"r-0": ("Running", "n0"), "s-0": ("Releasing", "n1"), "t-0": ("Releasing", "n2"), "w-0": ("Pipelined", "n1"),
      "w-1": ("Pipelined", "n2")}),
    ("6.6: no rack can hold it, and nobody is evicted", cluster(
        [rack("n0", 1, "r0"), rack("n1", 1, "r1")], [project("a", 2), project("b", 0)],
        [work("r", "b", on="n0"), work("s", "b", on="n1"),
         work("w", "a", pods=2, topology={"name": "dc", "required": "rack"})], topologies=TOPOLOGY),
     {"r-0": ("Running", "n0"), "s-0": ("Running", "n1"), "w-0": ("Pending", None)}),
    # 9.4: whose minimum run time counts
    ("9.4: the department's where the project says nothing", cluster(
        [node("n0", 1)], [project("a", 1), project("b", 0)], [work("r", "b", on="n0", started=EARLIER), work("w", "a")],
        departments=[{**department("d"), "reclaimMinRuntimeSeconds": 120}]), {"r-0": ("Running", "n0"), "w-0": ("Pending", None)}),
    ("9.4: the project's before the department's", cluster(
        [node("n0", 1)], [project("a", 1), project("b", 0, reclaimMinRuntimeSeconds=30)],
        [work("r", "b", on="n0", started=EARLIER), work("w", "a")],
        departments=[{**department("d"), "reclaimMinRuntimeSeconds": 120}]), {"r-0": ("Releasing", "n0"), "w-0": ("Pipelined", "n0")}),
    ("9.4: between departments the victim's department's", cluster(
        [node("n0", 1)], [project("a", 1, "d"), project("b", 0, "e", reclaimMinRuntimeSeconds=0)],
        [work("r", "b", on="n0", started=EARLIER), work("w", "a")],
        departments=[department("d", 1), {**department("e", 0), "reclaimMinRuntimeSeconds": 120}]),
     {"r-0": ("Running", "n0"), "w-0": ("Pending", None)}),
    ("9.4: by the method queue the project's, also between departments", cluster(
        [node("n0", 1)], [project("a", 1, "d"), project("b", 0, "e", reclaimMinRuntimeSeconds=120)],
        [work("r", "b", on="n0", started=EARLIER), work("w", "a")],
        departments=[department("d", 1), department("e", 0)], settings={"reclaimMinRuntimeMethod": "queue"}),
     {"r-0": ("Running", "n0"), "w-0": ("Pending", None)}),
    ("9.4: preemption asks project, department, pool", cluster(
        [node("n0", 1)], [project("a", 1)], [work("r", "a", on="n0", started=EARLIER), work("w", "a", priority=60)],
        departments=[{**department("d"), "preemptMinRuntimeSeconds": 30}],
        nodePools=[{"name": "default", "preemptMinRuntimeSeconds": 120}]), {"r-0": ("Releasing", "n0"), "w-0": ("Pipelined", "n0")}),
    ("9.4: consolidation asks nobody", cluster(
        [node("n0", 2), node("n1", 2)], [project("a", 4, reclaimMinRuntimeSeconds=120, preemptMinRuntimeSeconds=120)],
        [work("r", "a", on="n0", started=EARLIER), work("s", "a", on="n1", age=5, started=EARLIER), work("w", "a", pod={"gpuDevices": 2})]),
     {"w-0": ("Pipelined", "n1"), "s-0": ("Pipelined", "n0"), "r-0": ("Running", "n0")}),
    # 7: preemption
    ("higher priority takes the place of lower in the same project", cluster(
        [node("n0", 1)], [project("a", 1)], [work("r", "a", on="n0"), work("w", "a", priority=60)]),
     {"r-0": ("Releasing", "n0"), "w-0": ("Pipelined", "n0")}),
    ("equal priority never does", cluster(
        [node("n0", 1)], [project("a", 1)], [work("r", "a", on="n0"), work("w", "a")]),
     {"r-0": ("Running", "n0"), "w-0": ("Pending", None)}),
    ("a minimum run time protects from preemption", cluster(
        [node("n0", 1)], [project("a", 1, preemptMinRuntimeSeconds=120)],
        [work("r", "a", on="n0", started=EARLIER), work("w", "a", priority=60)]), {"r-0": ("Running", "n0"), "w-0": ("Pending", None)}),
    # 8: consolidation
    ("pods move together to make room", cluster(
        [node("n0", 2), node("n1", 2)], [project("a", 4)],
        [work("r", "a", on="n0"), work("s", "a", on="n1", age=5), work("w", "a", pod={"gpuDevices": 2})]),
     {"w-0": ("Pipelined", "n1"), "s-0": ("Pipelined", "n0"), "r-0": ("Running", "n0")}),
    ("not for a non-preemptible workload", cluster(
        [node("n0", 2), node("n1", 2)], [project("a", 4)],
        [work("r", "a", on="n0"), work("s", "a", on="n1"), work("w", "a", pod={"gpuDevices": 2}, preemptibility="non-preemptible")]),
     {"w-0": ("Pending", None), "r-0": ("Running", "n0"), "s-0": ("Running", "n1")}),
    ("not where the setting says 0", cluster(
        [node("n0", 2), node("n1", 2)], [project("a", 4)],
        [work("r", "a", on="n0"), work("s", "a", on="n1"), work("w", "a", pod={"gpuDevices": 2})],
        settings={"maxConsolidationVictims": 0}), {"w-0": ("Pending", None)}),
    # 9.1: stale gangs
    ("a gang below its minimum stops after its grace", cluster(
        [node("n0", 2)], [project("a", 4)],
        [{**work("w", "a", pods=2, minPods=2, on="n0", staleSeconds=60),
          "pods": [{"name": "w-0", "gpuDevices": 1, "status": "Running", "node": "n0"}, {"name": "w-1", "gpuDevices": 9}]}]),
     {"w-0": ("Releasing", "n0")}),
    ("not before", cluster(
        [node("n0", 2)], [project("a", 4)],
        [{**work("w", "a", pods=2, minPods=2, on="n0", staleSeconds=59),
          "pods": [{"name": "w-0", "gpuDevices": 1, "status": "Running", "node": "n0"}, {"name": "w-1", "gpuDevices": 9}]}]),
     {"w-0": ("Running", "n0")}),
]


@pytest.mark.parametrize("document,want", [pytest.param(*row[1:], id=row[0]) for row in FIRST_CYCLE])
def test_first_cycle(document, want):
    got = pods_of(simulate(document)["cycles"][0])
    assert {name: got[name] for name in want} == {name: place for name, place in want.items()}


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


@pytest.mark.parametrize("total,levels,want", [pytest.param(*row[1:], id=row[0]) for row in SHARES])
def test_fair_shares_of_two_levels(total, levels, want):
    (d1, q1, d2, q2) = [dict(zip(("deserved", "weight", "rank"), level)) for level in levels]
    document = cluster(
        [node("n0", total)], [project("q1", department="d1", **q1), project("q2", department="d2", **q2)],
        [work("w1", "q1", pod={"gpuDevices": 100}), work("w2", "q2", pod={"gpuDevices": 100})],
        departments=[department("d1", **d1), department("d2", **d2)])
    shares = {q["name"]: q["gpu"]["fairShare"] for q in simulate(document)["cycles"][0]["queues"]}
    assert tuple(shares[name] for name in ("d1", "q1", "d2", "q2")) == want


def shares_of(document):
    return {q["name"]: q["gpu"]["fairShare"] for q in simulate(document)["cycles"][0]["queues"]}


def test_fair_shares_go_down_the_tree():
    document = cluster([node("n0", 3)], [project("p1", 2), project("p2", 1)],
                       [work("w1", "p1", pod={"gpuDevices": 2}), work("w2", "p2")], departments=[department("d", 3)])
    assert shares_of(document) == {"d": 3, "p1": 2, "p2": 1}


def test_two_departments_divide_their_own():
    document = cluster([node("n0", 4)], [project("p1", 1, "d"), project("p2", 1, "d"), project("p3", 0, "e"), project("p4", 0, "e")],
                       [work("w1", "p1"), work("w2", "p2"), work("w4", "p4", pod={"gpuDevices": 2})],
                       departments=[department("d", 2), department("e", 2)])
    assert shares_of(document) == {"d": 2, "e": 2, "p1": 1, "p2": 1, "p3": 0, "p4": 2}


# 2.6: k, the usage of a and b, and what they get of 9 GPUs over quota
USAGE = [("no usage", 1, 0, 0, (5, 4)), ("half the capacity", 1, 0.5, 0, (3, 6)), ("all of it", 1, 1, 0, (0, 9)),
         ("k of 0", 0, 1, 0, (5, 4)), ("off", None, 1, 0, (5, 4)), ("a larger k", 10, 0.25, 0.75, (9, 0))]


@pytest.mark.parametrize("k,a,b,want", [pytest.param(*row[1:], id=row[0]) for row in USAGE])
def test_past_usage_counts_over_quota(k, a, b, want):
    document = cluster([node("n0", 9)], [project("a", 0), project("b", 0)],
                       [work("v", "a", pods=9, minPods=1), work("w", "b", pods=9, minPods=1)],
                       nodePools=[{"name": "default", "timeBasedFairshare": None if k is None else {"kValue": k}}],
                       usage=[{"kind": "project", "name": name, "nodePool": "default", "gpu": used} for name, used in (("a", a), ("b", b))])
    shares = shares_of(document)
    assert (shares["a"], shares["b"]) == want


# 5.3, 5.4: strategy, GPUs of the nodes, GPUs in use on them; where one-GPU pods go, one after the other
PLACES = [
    ("the least free first; without GPUs never", "binpack", (4, 4, 4, 0), (4, 1, 0, 0), "1112222"),
    ("all equal: by name", "binpack", (1, 1, 1), (0, 0, 0), "012"),
    ("by what is free, not by size", "binpack", (16, 8, 16), (8, 4, 0), "1111000000002"),
    ("the largest free part first", "spread", (4, 8, 2), (2, 2, 0), "2110"),
    ("equal parts: by name", "spread", (2, 4), (0, 0), "01101"),
]


@pytest.mark.parametrize("strategy,gpus,used,want", [pytest.param(*row[1:], id=row[0]) for row in PLACES])
def test_where_pods_go(strategy, gpus, used, want):
    document = cluster(
        [node(f"n{i}", count) for i, count in enumerate(gpus)], [project("a", 99)],
        [work(f"r{i}", "a", on=f"n{i}", pod={"gpuDevices": count}) for i, count in enumerate(used) if count]
        + [work(f"w{i:02}", "a", age=10 + i) for i in range(len(want))],
        nodePools=[{"name": "default", "placementStrategy": {"gpu": strategy, "cpu": strategy}}])
    got = pods_of(simulate(document)["cycles"][0])
    assert "".join(got[f"w{i:02}-0"][1][1:] for i in range(len(want))) == want


def test_queues_give_way_in_turn_the_younger_first():
    victims = [work(f"{q}-{p}", q, on="n0", priority=p, preemptibility="preemptible") for q in ("q1", "q2") for p in (100, 99, 98)]
    document = cluster([node("n0", 6)], [project("q1", 1), {**project("q2", 1), "createdAt": "2026-01-01T11:59:59Z"}, project("q3", 4)],
                       [*victims, work("w", "q3", pod={"gpuDevices": 4})])
    evicted = [d["workload"] for d in simulate(document)["cycles"][0]["decisions"] if d["verb"] == "evict"]
    assert evicted == ["q1-98", "q2-98", "q1-99", "q2-99"]


POOLS = {"nodePools": [{"name": "big"}, {"name": "default"}]}

# sentence, cluster, the code of the pending workload w's explanation, words of its message
EXPLANATIONS = [
    ("not enough GPUs", cluster([node("n0", 1)], [project("a", 4)], [work("w", "a", pod={"gpuDevices": 2})]),
     "NotEnoughGpus", "Needs 2 GPUs in default; 1 of its 1 GPU is free"),
    ("a gang's progress", cluster([node("n0", 2)], [project("a", 4)], [work("w", "a", pods=3)]),
     "NotEnoughGpus", "Needs 3 pods of 1 GPU in default; 2 found a place"),
    ("over the limit", cluster([node("n0", 4)], [project("a", 4, limit=1)], [work("w", "a", pod={"gpuDevices": 2})]),
     "OverLimit", "Needs 2 GPUs; the limit of a is 1 GPU"),
    ("non-preemptible over quota", cluster(
        [node("n0", 4)], [project("a", 1)], [work("w", "a", pod={"gpuDevices": 2}, preemptibility="non-preemptible")]),
     "NonPreemptibleOverQuota", "a deserves 1 GPU, and 2 is more"),
    ("not ready", cluster([node("n0", 4)], [project("a", 4)],
                          [{"name": "w", "project": "a", "pods": [{"name": "w-0", "status": "Gated", "gpuDevices": 1}]}]),
     "NotReady", "Waits for pods: 1 needed, 1 gated"),
    ("no matching node", cluster([node("n0", 4)], [project("a", 4)], [work("w", "a", pod={"nodeSelector": {"host": ["n9"]}})]),
     "NoMatchingNode", "None of 1 node in default may take it: 1 without the labels asked for"),
    ("topology", cluster([rack("n0", 1, "r0"), rack("n1", 1, "r1")], [project("a", 4)],
                         [work("w", "a", pods=2, topology={"name": "dc", "required": "rack"})], topologies=TOPOLOGY),
     "TopologyNotSatisfiable", "No rack of topology dc has room for 2 pods"),
    ("a promise", cluster([node("n0", 1)], [project("a", 1), project("b", 0)], [work("r", "b", on="n0"), work("w", "a")]),
     "WaitingForRelease", "Has a place on n0 promised and waits for what stops there"),
    ("over fair share", cluster([node("n0", 1)], [project("a", 0, weight=0), project("b", 1)], [work("r", "b", on="n0"), work("w", "a")]),
     "OverFairShare", "a has no fair share of what is asked for"),
    ("room, but not on one node", cluster([node("n0", 2), node("n1", 2)], [project("a", 4)],
                                          [work("w", "a", pod={"gpuDevices": 3}, preemptibility="non-preemptible")]),
     "NotEnoughGpus", "Needs 3 GPUs on one node in default; 4 are free, at most 2 on one node"),
    ("all of the fair share", cluster([node("n0", 2)], [project("a", 1), project("b", 1)],
                                      [work("q", "a", on="n0"), work("r", "b", on="n0"), work("w", "a")]),
     "OverFairShare", "a holds 1 GPU, all of its fair share of 1, so it may not take any back"),
    ("nobody of lower priority", cluster([node("n0", 1)], [project("a", 1)], [work("r", "a", on="n0"), work("w", "a")]),
     "NothingToPreempt", "No workload of a with a lower priority can be stopped in default"),
    ("CPU", cluster([node("n0", 1, cpuCores=2)], [project("a", 1)], [work("w", "a", pod={"cpuCores": 4})]),
     "NotEnoughCpu", "Needs 4 cores on one node in default; at most 2 are free on one"),
    ("a search that was cut", cluster([node("n0", 1)], [project("a", 1), project("b", 0)], [work("r", "b", on="n0"), work("w", "a")],
                                      settings={"scenariosPerWorkload": 0}),
     "SearchCut", "The search for room by reclaim was cut after 0 scenarios"),
    ("preemption delay", cluster([node("n0", 1)], [project("a", 1), project("b", 0)],
                                 [work("r", "b", on="n0"), work("w", "a", preemptionDelaySeconds=86400)]),
     "PreemptionDelayNotElapsed", "86400 seconds"),
    ("held back by a reservation", cluster(
        [node("n0", 2), node("n1", 2)], [project("a", 0)],
        [work("r", "a", on="n0", maxRunSeconds=9000), work("v", "a", pods=2, pod={"gpuDevices": 2}), work("w", "a", age=1)],
        nodePools=RESERVE),
     "HeldForReservation", "There is room, but 4 GPUs on 2 nodes in default are reserved for a gang of a, the largest that waits, "
     "which can start at 2026-01-01T12:30:00.000Z; this names no time by which it ends"),
    ("has a reservation", cluster(
        [node("n0", 2), node("n1", 2)], [project("a", 0)], [work("r", "a", on="n0"), work("w", "a", pods=2, pod={"gpuDevices": 2})],
        nodePools=RESERVE), "HasReservation", "4 GPUs on 2 nodes in default are reserved for it"),
    ("patience", cluster([node("n0", 1)], [project("a", 1), project("b", 0)],
                         [work("r", "b", on="n0"), work("w", "a", displacedTimes=5, lastDisplacedAt=NOW)]),
     "PreemptionDelayNotElapsed", "May displace nobody before 2026-01-01T12:02:00"),
]


@pytest.mark.parametrize("document,code,words", [pytest.param(*row[1:], id=row[0]) for row in EXPLANATIONS])
def test_explanations(document, code, words):
    workloads = {w["name"]: w for w in simulate(document)["cycles"][0]["workloads"]}
    found = {e["code"]: e["message"] for e in workloads["w"]["explanation"]}
    assert words in found.get(code, ""), found


def test_a_receipt_names_both_sides():
    document = cluster([node("n0", 2)], [project("a", 1), project("b", 1)],
                       [work("r", "b", on="n0"), work("s", "b", on="n0", age=5), work("w", "a")])
    evictions = [d for d in simulate(document)["cycles"][0]["decisions"] if d["verb"] == "evict"]
    assert [(d["pod"], d["for"], d["action"]) for d in evictions] == [("s-0", "w", "reclaim")]
    assert "Yields to w of project a, which held 0 of its fair share of 1 GPU" in evictions[0]["why"]
    assert "project b held 2 GPUs and deserves 1" in evictions[0]["why"]


def test_the_lowest_healthy_devices_are_chosen():
    document = cluster([node("n0", 4, unhealthyGpus=[0, 2])], [project("a", 4)], [work("w", "a", pod={"gpuDevices": 2})])
    (decision,) = simulate(document)["cycles"][0]["decisions"]
    assert decision["gpuIndices"] == [1, 3]
    assert {q["name"]: q["gpu"]["fairShare"] for q in simulate(document)["cycles"][0]["queues"]}["a"] == 2


def test_pools_are_tried_in_order_of_preference():
    big = {**node("n0", 4), "nodePool": "big"}
    document = cluster([big, node("n1", 4)], [project("a", 4)],
                       [work("v", "a", nodePools=["default", "big"], pod={"gpuDevices": 4}),
                        work("w", "a", age=1, nodePools=["default", "big"], pod={"gpuDevices": 2})], **POOLS)
    got = pods_of(simulate(document)["cycles"][0])
    assert (got["v-0"], got["w-0"]) == (("Binding", "n1"), ("Binding", "n0"))


def test_a_promise_is_kept_in_the_next_cycle():
    document = cluster([node("n0", 1)], [project("a", 1), project("b", 0)],
                       [work("r", "b", on="n0"), work("w", "a", age=5), work("x", "a", age=9, priority=60)])
    first, second = (pods_of(cycle) for cycle in simulate(document, 2)["cycles"])
    assert (first["x-0"], first["r-0"]) == (("Pipelined", "n0"), ("Releasing", "n0"))
    assert (second["x-0"], second["r-0"]) == (("Binding", "n0"), ("Pending", None))


def test_order_of_the_files_lists_leaves_no_trace():
    document = cluster([node("n0", 2), node("n1", 2)], [project("a", 1), project("b", 3)],
                       [work("r", "b", pods=3, minPods=1, on=["n0", "n0", "n1"]), work("w", "a", pods=2), work("x", "b")])
    turned = {**document, **{key: document[key][::-1] for key in ("nodes", "projects", "workloads")}}
    assert simulate(document, 3) == simulate(turned, 3)
