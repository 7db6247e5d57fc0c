"""The cluster of a test: the stand-in for the API server, or the real one whose folder is $KUBE_CLUSTER."""

import json
import os
import pathlib

import pytest
from kube_clusters import Cluster, RealCluster

REAL = os.environ.get("KUBE_CLUSTER")


@pytest.fixture(scope="session")
def rights():
    """At the end: nothing was refused to the server's service account for want of a right."""
    yield
    if REAL:
        log = (pathlib.Path(REAL) / "audit.log").read_text().splitlines()
        entries = [json.loads(line) for line in log]
        refused = {
            (entry["verb"], entry.get("objectRef", {}).get("resource"), entry.get("objectRef", {}).get("subresource"))
            for entry in entries
            if entry["annotations"].get("authorization.k8s.io/decision") == "forbid"
        }
        assert entries and not refused, f"packaging/kubernetes/rights.yaml lacks {refused}"


@pytest.fixture
def kube(folder, rights):
    cluster = RealCluster(REAL) if REAL else Cluster(folder)
    yield cluster
    cluster.close()
