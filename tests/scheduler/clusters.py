"""Small clusters in few words, and what `prorata simulate` makes of them."""

import json
import subprocess

import pytest
from servers import PRORATA

NOW = "2026-01-01T12:00:00Z"
EARLIER = "2026-01-01T11:59:00Z"  # a minute ago
LONG_AGO = "2026-01-01T10:00:00Z"


def node(name, gpus, **more):
    return {
        "name": name,
        "nodePool": "default",
        "gpus": gpus,
        "gpuMemoryMib": 16000,
        "cpuCores": 32,
        "memoryBytes": 64 * 2**30,
        "labels": {"host": name},
        **more,
    }


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
    if isinstance(pods, list):
        return {"name": name, "project": project, "createdAt": "2026-01-01T10:00:%02dZ" % age, "pods": pods, **more}
    where = [on] * pods if isinstance(on, str) else on

    def running(i):
        return {"status": "Running", "node": where[i], "startedAt": started} if where else {}

    return {
        "name": name,
        "project": project,
        "createdAt": "2026-01-01T10:00:%02dZ" % age,
        "pods": [{"name": f"{name}-{i}", **request, **running(i)} for i in range(pods)],
        **more,
    }


def pod(name, group=None, on=None, gpus=1, started=LONG_AGO, **more):
    """For workloads of unlike pods: work(..., pods=[pod(...), ...])."""
    where = {"status": "Running", "node": on, "startedAt": started} if on else {}
    return {"name": name, "gpuDevices": gpus, **({"subGroup": group} if group else {}), **where, **more}


def cluster(nodes, projects, workloads, departments=None, **more):
    return {
        "version": 1,
        "now": NOW,
        "nodePools": [{"name": "default"}],
        "nodes": nodes,
        "projects": projects,
        "departments": departments or [department("d")],
        "workloads": workloads,
        **more,
    }


def simulate(document, cycles=1, explain=False):
    done = subprocess.run(
        [PRORATA, "simulate", "-", "--cycles", str(cycles), *(["--explain"] if explain else [])],
        input=json.dumps(document),
        capture_output=True,
        text=True,
        timeout=60,
    )
    assert (done.returncode, done.stderr) == (0, "")
    return json.loads(done.stdout)


def pods_of(cycle):
    return {pod["name"]: (pod["status"], pod.get("node")) for pod in cycle["pods"]}


TOPOLOGY = [{"name": "dc", "levels": ["rack", "host"]}]


def rack(name, gpus, rack_name, **more):
    return node(name, gpus, labels={"host": name, "rack": rack_name}, **more)


RESERVE = [{"name": "default", "reservation": True}]
FRAGMENTATION = [{"name": "default", "placementStrategy": {"gpu": "fragmentation", "cpu": "fragmentation"}}]
POOLS = {"nodePools": [{"name": "big"}, {"name": "default"}]}


def shares_of(document):
    return {q["name"]: q["gpu"]["fairShare"] for q in simulate(document)["cycles"][0]["queues"]}


def cases(table):
    """Rows that begin with a sentence, as parameters of a test."""
    return [pytest.param(*row[1:], id=row[0]) for row in table]


def check_first_cycle(document, want):
    got = pods_of(simulate(document)["cycles"][0])
    assert {name: got[name] for name in want} == want
