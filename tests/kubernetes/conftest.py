"""The cluster of a test: the stand-in for the API server, or the real one whose folder is $KUBE_CLUSTER."""

import json
import os
import pathlib

import pytest
from kube_clusters import Cluster, RealCluster, rules

REAL = os.environ.get("KUBE_CLUSTER")
# Rights that no test uses here: kwok's nodes have no kubelet, and some calls follow faults alone.
ELSEWHERE = {
    "get pods/log", "get pods/exec", "create pods/exec",
    "get pods/portforward", "create pods/portforward", "get pods/proxy", "get pods", "delete services",
}  # fmt: skip


def given():
    """Verbs and resources of rights.yaml."""
    for rule in rules():
        for resource in rule["resources"]:
            yield from (f"{verb} {resource}" for verb in rule["verbs"])


def asked(entry):
    about = entry.get("objectRef", {})
    under = f"/{about['subresource']}" if about.get("subresource") else ""
    return f"{entry['verb']} {about.get('resource')}{under}"


@pytest.fixture(scope="session")
def rights(request):
    """At the end: nothing was refused to the server's service account for want of a right; and where all tests ran,
    it has no right that it does not use."""
    yield
    if not REAL:
        return
    entries = [json.loads(line) for line in (pathlib.Path(REAL) / "audit.log").read_text().splitlines()]
    refused = {
        asked(entry) for entry in entries if entry["annotations"].get("authorization.k8s.io/decision") == "forbid"
    }
    assert entries and not refused, f"packaging/kubernetes/rights.yaml lacks {refused}"
    unused = set(given()) - {asked(entry) for entry in entries} - ELSEWHERE
    assert not unused or request.session.testscollected < 60, f"nobody uses the rights {unused}"


@pytest.fixture
def kube(folder, rights):
    cluster = RealCluster(REAL) if REAL else Cluster(folder)
    yield cluster
    cluster.close()
