"""A server with a Kubernetes cluster."""

import pytest
from kube_workloads import nodes_of


@pytest.fixture
def server(kube, make_server):
    """Two nodes of 4 GPUs; team-a and team-b with a quota of 2 each."""
    server = make_server("--backend", "kubernetes", "--kubeconfig", kube.kubeconfig, "--quick-start")
    server.wait_for("nodes", lambda: len(nodes_of(server)) == 2)
    return server
